//! `keep_alive`: puts an element of its own into a stream that is silent.
//!
//! Emits when upstream emits, or when nothing was emitted for `d` and there is demand: without demand nobody waits, so
//! nothing is put in before the next `d` is over. Backpressures, completes and cancels std. Holds nothing.

use std::time::Duration;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::params::millis;
use crate::stream::signal::{Cause, StreamError};
use crate::stream::value::Value;
use crate::time::Instant;

const DUE: u32 = 0;
/// The shortest silence.
const SILENCE_MIN: Duration = Duration::from_nanos(1);

/// The kernel of `keep_alive`.
pub struct KeepAlive<A, F> {
    d: Duration,
    f: F,
    last: Instant,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, F> KeepAlive<A, F> {
    /// Makes the kernel; a time of 0 counts as 1 ns.
    pub fn new(d: Duration, f: F) -> Self {
        KeepAlive { d: d.max(SILENCE_MIN), f, last: Instant::ZERO, of: std::marker::PhantomData }
    }
}

impl<A, F> Kernel for KeepAlive<A, F>
where
    A: Send + 'static,
    F: FnMut() -> A + Send + 'static,
{
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps { pulls: false, ..Caps::TIMED };

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        self.last = cx.now();
        cx.timer(DUE, self.d);
        Sig::Continue
    }

    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.last = cx.now();
        out.emit(x);
        Sig::Continue
    }

    fn on_timer(&mut self, _key: u32, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        let now = cx.now();
        if self.last + self.d <= now {
            if out.demand() > 0 {
                cx.made(1);
                out.emit((self.f)());
            }
            self.last = now;
        }
        cx.timer(DUE, self.last + self.d - now);
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

    /// `silence_ms`, from the next element on.
    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, millis(value).filter(|d| !d.is_zero())) {
            ("silence_ms", Some(d)) => {
                self.d = d;
                true
            }
            _ => false,
        }
    }
}
