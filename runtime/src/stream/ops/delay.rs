//! `delay`: hands each element on a fixed time after it arrived.
//!
//! Emits when the oldest element is due and there is demand. Backpressures when it holds `buffer` elements. Completes when
//! upstream completed and it is drained, at the due times. Cancels std, and forgets its timer. Holds at most `buffer`.
//! An upstream that is held back arrives late: a buffer below rate × delay lowers the rate.

use std::collections::VecDeque;
use std::time::Duration;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::params::millis;
use crate::stream::signal::{Cause, StreamError};
use crate::stream::value::Value;
use crate::time::Instant;

const DUE: u32 = 0;

/// The kernel of `delay`.
pub struct Delay<A> {
    d: Duration,
    buffer: usize,
    /// With their due times, which never fall.
    held: VecDeque<(Instant, A)>,
    /// The timer is set for then.
    armed: Option<Instant>,
    finished: bool,
}

impl<A> Delay<A> {
    /// Makes the kernel; a buffer of 0 counts as 1.
    pub fn new(d: Duration, buffer: usize) -> Self {
        Delay { d, buffer: buffer.max(1), held: VecDeque::new(), armed: None, finished: false }
    }

    fn emit(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        let now = cx.now();
        while out.demand() > 0 && self.held.front().is_some_and(|(due, _)| *due <= now) {
            if let Some((_, x)) = self.held.pop_front() {
                out.emit(x);
            }
        }
        if let Some((due, _)) = self.held.front()
            && *due > now
            && self.armed != Some(*due)
        {
            self.armed = Some(*due);
            cx.timer(DUE, *due - now);
        }
        match (self.finished && self.held.is_empty(), self.held.len() >= self.buffer) {
            (true, _) => Sig::Done,
            (false, true) => Sig::Full,
            (false, false) => Sig::Continue,
        }
    }
}

impl<A: Send + 'static> Kernel for Delay<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::EAGER;

    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        let due = cx.now() + self.d;
        let due = self.held.back().map_or(due, |(last, _)| due.max(*last));
        self.held.push_back((due, x));
        self.emit(out, cx)
    }

    fn on_pull(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.emit(out, cx)
    }

    fn on_timer(&mut self, _key: u32, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.armed = None;
        self.emit(out, cx)
    }

    fn on_finish(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.finished = true;
        self.emit(out, cx)
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        cx.cancel_timer(DUE);
        Sig::fail(e)
    }

    fn on_cancel(&mut self, _cause: &Cause, cx: &mut Cx) {
        cx.cancel_timer(DUE);
    }

    fn held(&self) -> usize {
        self.held.len()
    }

    /// `delay_ms`, for elements that come from then on; order is kept, so a shorter one waits for those before.
    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, millis(value)) {
            ("delay_ms", Some(d)) => {
                self.d = d;
                true
            }
            _ => false,
        }
    }
}
