//! `debounce`: the last element before a silence. `sample`: the last element of each period.
//!
//! Emits when nothing came for `d` (`debounce`) or a period of `d` is over (`sample`), if there is an element and demand;
//! without demand, when it comes. Backpressures never: an element that a newer one takes the place of is dropped (Overflow).
//! Completes when upstream completed and the last one is out, at once. Cancels std. Holds at most 1.
//! Periods follow the ideal schedule: a late timer does not shift those after it.

use std::time::Duration;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::params::millis;
use crate::stream::signal::{Cause, DropReason, StreamError};
use crate::stream::value::Value;
use crate::time::Instant;

const DUE: u32 = 0;
/// The shortest time.
const MIN: Duration = Duration::from_nanos(1);

/// When the last element goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Nothing has come for a time.
    Quiet,
    /// A period is over.
    Period,
}

/// The kernel of `debounce` and `sample`.
pub struct Latest<A> {
    when: When,
    d: Duration,
    held: Option<A>,
    /// It may go.
    ready: bool,
    /// When the last element came, or the last period ended.
    since: Instant,
    armed: bool,
    finished: bool,
}

impl<A> Latest<A> {
    /// Makes the kernel; a time of 0 counts as 1 ns.
    pub fn new(when: When, d: Duration) -> Self {
        let since = Instant::ZERO;
        Latest { when, d: d.max(MIN), held: None, ready: false, since, armed: false, finished: false }
    }

    fn emit(&mut self, out: &mut Out<'_, A>) -> Sig {
        if out.demand() > 0
            && (self.ready || self.finished)
            && let Some(x) = self.held.take()
        {
            self.ready = false;
            out.emit(x);
        }
        if self.finished && self.held.is_none() { Sig::Done } else { Sig::Continue }
    }

    fn arm(&mut self, cx: &mut Cx) {
        self.armed = true;
        cx.timer(DUE, self.since + self.d - cx.now());
    }

    /// Counts the periods that are over since then.
    fn pass(&mut self, now: Instant) {
        let over = (now - self.since).as_nanos() / self.d.as_nanos() * self.d.as_nanos();
        self.since = self.since + Duration::from_nanos(u64::try_from(over).unwrap_or(u64::MAX));
    }
}

impl<A: Send + 'static> Kernel for Latest<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::EAGER;

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        self.since = cx.now();
        if self.when == When::Period {
            self.arm(cx);
        }
        Sig::Continue
    }

    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        cx.dropped(DropReason::Overflow, u64::from(self.held.replace(x).is_some()));
        if self.when == When::Quiet {
            (self.ready, self.since) = (false, cx.now());
            if !self.armed {
                self.arm(cx);
            }
        }
        self.emit(out)
    }

    fn on_pull(&mut self, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        self.emit(out)
    }

    fn on_timer(&mut self, _key: u32, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.armed = false;
        let now = cx.now();
        let due = self.since + self.d <= now;
        self.ready |= due && self.held.is_some();
        match self.when {
            When::Quiet if due => {}
            When::Quiet => self.arm(cx),
            When::Period => {
                self.pass(now);
                self.arm(cx);
            }
        }
        self.emit(out)
    }

    fn on_finish(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.finished = true;
        cx.cancel_timer(DUE);
        self.emit(out)
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        cx.cancel_timer(DUE);
        Sig::fail(e)
    }

    fn on_cancel(&mut self, _cause: &Cause, cx: &mut Cx) {
        cx.cancel_timer(DUE);
    }

    fn held(&self) -> usize {
        usize::from(self.held.is_some())
    }

    /// `quiet_ms` or `every_ms`, from the next look at the clock on.
    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, millis(value).filter(|d| !d.is_zero())) {
            ("quiet_ms" | "every_ms", Some(d)) => {
                self.d = d;
                true
            }
            _ => false,
        }
    }
}
