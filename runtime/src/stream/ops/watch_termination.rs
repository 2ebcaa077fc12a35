//! `watch_termination`: tells how a stream ended at this place, as a value.
//!
//! Emits, backpressures, completes and cancels std. Holds nothing.
//! What it tells is the real end: a cancel whose cause is a failure is that failure, and a stream that was stopped by force is
//! `Killed`. A completion, and a downstream that wanted no more, are a success.

use std::marker::PhantomData;

use crate::stream::done::Completer;
use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::signal::{Cause, StreamError};

/// The kernel of `watch_termination`.
pub struct Watched<A> {
    done: Completer<()>,
    of: PhantomData<fn(A)>,
}

impl<A> Watched<A> {
    pub(crate) fn new(done: Completer<()>) -> Self {
        Watched { done, of: PhantomData }
    }
}

impl<A: Send + 'static> Kernel for Watched<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps { chunk: false, ..Caps::LIGHT };

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        out.emit(x);
        Sig::Continue
    }

    fn on_finish(&mut self, _out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        self.done.set(Ok(()));
        Sig::Done
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        self.done.set(Err(e.clone()));
        Sig::fail(e)
    }

    fn on_cancel(&mut self, cause: &Cause, _cx: &mut Cx) {
        self.done.set(match cause {
            Cause::NoMoreNeeded | Cause::StageDone => Ok(()),
            Cause::Failure(e) => Err(e.clone()),
            Cause::Killed(text) => Err(StreamError::Killed(text.clone())),
        });
    }
}
