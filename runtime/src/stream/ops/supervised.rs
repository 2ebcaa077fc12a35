//! The attribute `decider`: what happens to an element for which a stage fails.
//!
//! Resume drops the element (Decider) and keeps the stage's state; Restart drops also what the stage holds and makes its
//! kernel anew; Stop fails the stage. Emits, backpressures, completes, cancels and holds as the kernel inside.
//! It is asked where the kernel fails on an element that it takes; neither for a failure of upstream, nor for a request
//! that fails, nor for a panic: those end the stream.
//! It is for stages whose function is called with the element; timers and requests of a stage outlive its Restart.

use crate::stream::dsl::Factory;
use crate::stream::kernel::{Caps, Cx, Kernel, Out, Park, Sig, Sleep};
use crate::stream::signal::{Cause, DropReason, StreamError};
use crate::stream::value::Value;

/// What a decider says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The stage fails.
    Stop,
    /// The element is dropped; the stage goes on.
    Resume,
    /// The element is dropped, and what the stage holds; it begins again.
    Restart,
}

/// A kernel with a decider.
pub struct Supervised<F: Factory, D> {
    stage: F,
    inner: F::Kernel,
    decide: D,
}

impl<F: Factory, D> Supervised<F, D> {
    /// Makes the kernel.
    pub fn new(stage: F, decide: D) -> Self {
        Supervised { inner: stage.kernel(), stage, decide }
    }
}

impl<F, D> Kernel for Supervised<F, D>
where
    F: Factory,
    D: FnMut(&StreamError) -> Decision + Send + 'static,
{
    type In = F::In;
    type Out = F::Out;
    /// Counted, for what it drops.
    const CAPS: Caps = Caps { light: false, ..F::Kernel::CAPS };

    fn chunk(&self) -> usize {
        self.inner.chunk()
    }

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        self.inner.on_start(cx)
    }

    #[inline]
    fn on_push(&mut self, x: F::In, out: &mut Out<'_, F::Out>, cx: &mut Cx) -> Sig {
        let used = cx.counts.used;
        let error = match self.inner.on_push(x, out, cx) {
            Sig::Fail(error) => error,
            sig => return sig,
        };
        let decision = (self.decide)(&error);
        if decision == Decision::Stop {
            return Sig::Fail(error);
        }
        // The stage has counted the element as used; it was dropped instead.
        if cx.counts.used > used {
            cx.counts.used -= 1;
            cx.dropped(DropReason::Decider, 1);
        }
        if decision == Decision::Restart {
            cx.dropped(DropReason::Decider, self.inner.held() as u64);
            self.inner = self.stage.kernel();
            return self.inner.on_start(cx);
        }
        Sig::Continue
    }

    fn on_pull(&mut self, out: &mut Out<'_, F::Out>, cx: &mut Cx) -> Sig {
        self.inner.on_pull(out, cx)
    }

    fn on_finish(&mut self, out: &mut Out<'_, F::Out>, cx: &mut Cx) -> Sig {
        self.inner.on_finish(out, cx)
    }

    fn on_fail(&mut self, e: StreamError, out: &mut Out<'_, F::Out>, cx: &mut Cx) -> Sig {
        self.inner.on_fail(e, out, cx)
    }

    fn on_cancel(&mut self, cause: &Cause, cx: &mut Cx) {
        self.inner.on_cancel(cause, cx);
    }

    fn on_timer(&mut self, key: u32, out: &mut Out<'_, F::Out>, cx: &mut Cx) -> Sig {
        self.inner.on_timer(key, out, cx)
    }

    fn on_done(&mut self, request: u64, out: &mut Out<'_, F::Out>, cx: &mut Cx) -> Sig {
        self.inner.on_done(request, out, cx)
    }

    fn on_wake(&mut self, out: &mut Out<'_, F::Out>, cx: &mut Cx) -> Sig {
        self.inner.on_wake(out, cx)
    }

    fn on_park(&mut self, park: Park, cx: &mut Cx) -> Sleep {
        self.inner.on_park(park, cx)
    }

    fn held(&self) -> usize {
        self.inner.held()
    }

    fn set(&mut self, key: &str, value: &Value) -> bool {
        self.inner.set(key, value)
    }
}
