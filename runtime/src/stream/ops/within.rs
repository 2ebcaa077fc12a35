//! `take_within`: hands on what comes within a time, then completes. `drop_within`: leaves out what comes within a time.
//!
//! Emits, backpressures and cancels std. `take_within` completes when the time is up and cancels upstream; `drop_within`
//! completes std. What comes when the time is just up is after it. Holds nothing; what is left out is used.

use std::time::Duration;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::signal::{Cause, StreamError};
use crate::time::Instant;

const DUE: u32 = 0;

/// The kernel of `take_within`.
pub struct TakeWithin<A> {
    d: Duration,
    until: Instant,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A> TakeWithin<A> {
    /// Makes the kernel.
    pub fn new(d: Duration) -> Self {
        TakeWithin { d, until: Instant::ZERO, of: std::marker::PhantomData }
    }
}

impl<A: Send + 'static> Kernel for TakeWithin<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps { pulls: false, ..Caps::TIMED };

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        self.until = cx.now() + self.d;
        if self.d.is_zero() {
            return Sig::Done;
        }
        cx.timer(DUE, self.d);
        Sig::Continue
    }

    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        if cx.now() >= self.until {
            cx.used(1);
            return Sig::Done;
        }
        out.emit(x);
        Sig::Continue
    }

    fn on_timer(&mut self, _key: u32, _out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        Sig::Done
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
}

/// The kernel of `drop_within`.
pub struct DropWithin<A> {
    d: Duration,
    until: Instant,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A> DropWithin<A> {
    /// Makes the kernel.
    pub fn new(d: Duration) -> Self {
        DropWithin { d, until: Instant::ZERO, of: std::marker::PhantomData }
    }
}

impl<A: Send + 'static> Kernel for DropWithin<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps { pulls: false, ..Caps::TIMED };

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        self.until = cx.now() + self.d;
        Sig::Continue
    }

    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        if cx.now() < self.until {
            cx.used(1);
        } else {
            out.emit(x);
        }
        Sig::Continue
    }
}
