//! The timeouts: stages that hand on what comes, and fail when the stream is too slow.
//!
//! `idle_timeout`: a gap between elements, or before the first, reaches `d`. `initial_timeout`: no element within `d`.
//! `completion_timeout`: no end within `d`. `backpressure_timeout`: downstream has withheld demand for `d`.
//! Emits, backpressures, completes and cancels std; each fails Timeout with its kind. Holds nothing.
//! An element that comes in the very moment in which the time is up may be too late.

use std::time::Duration;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::params::millis;
use crate::stream::signal::{Cause, StreamError, TimeoutKind};
use crate::stream::value::Value;
use crate::time::Instant;

const DUE: u32 = 0;

/// The kernel of the timeouts.
pub struct Timeout<A> {
    kind: TimeoutKind,
    d: Duration,
    /// Since when it waits; none while there is nothing to wait for.
    since: Option<Instant>,
    /// The timer is set.
    armed: bool,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A> Timeout<A> {
    /// Makes the kernel.
    pub fn new(kind: TimeoutKind, d: Duration) -> Self {
        Timeout { kind, d, since: None, armed: false, of: std::marker::PhantomData }
    }

    fn arm(&mut self, after: Duration, cx: &mut Cx) {
        self.armed = true;
        cx.timer(DUE, after);
    }
}

impl<A: Send + 'static> Kernel for Timeout<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::TIMED;

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        self.since = Some(cx.now());
        self.arm(self.d, cx);
        Sig::Continue
    }

    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        match self.kind {
            TimeoutKind::Idle => self.since = Some(cx.now()),
            TimeoutKind::Initial => {
                if self.since.take().is_some() {
                    cx.cancel_timer(DUE);
                }
            }
            TimeoutKind::Completion => {}
            TimeoutKind::Backpressure => {
                self.since = Some(cx.now());
                if !self.armed {
                    self.arm(self.d, cx);
                }
            }
        }
        out.emit(x);
        Sig::Continue
    }

    fn on_pull(&mut self, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        if self.kind == TimeoutKind::Backpressure && out.demand() > 0 {
            self.since = None;
        }
        Sig::Continue
    }

    fn on_timer(&mut self, _key: u32, _out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.armed = false;
        let Some(since) = self.since else { return Sig::Continue };
        let (due, now) = (since + self.d, cx.now());
        if due <= now {
            return Sig::fail(StreamError::Timeout { kind: self.kind, node: cx.node() });
        }
        // Set again for the rest only: it is not set for each element.
        self.arm(due - now, cx);
        Sig::Continue
    }

    fn on_finish(&mut self, _out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        cx.cancel_timer(DUE);
        Sig::Done
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        cx.cancel_timer(DUE);
        Sig::fail(e)
    }

    fn on_cancel(&mut self, _cause: &Cause, cx: &mut Cx) {
        cx.cancel_timer(DUE);
    }

    /// `timeout_ms`, from the next look at the clock on.
    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, millis(value).filter(|d| !d.is_zero())) {
            ("timeout_ms", Some(d)) => {
                self.d = d;
                true
            }
            _ => false,
        }
    }
}
