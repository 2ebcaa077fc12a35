//! `fold`: accumulates all elements into one result. As a flow it emits the result when upstream completes; as a sink it
//! gives it to a [`Done`](crate::stream::Done).
//!
//! Emits when upstream completes. Backpressures std. Completes after the result. Cancels std.

use crate::stream::done::Completer;
use crate::stream::kernel::{Caps, Cx, Kernel, Never, Out, Sig};
use crate::stream::signal::{Cause, StreamError};

/// The kernel of `fold` as a flow.
pub struct Fold<A, S, F> {
    state: Option<S>,
    f: F,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, S, F> Fold<A, S, F> {
    /// Makes the kernel.
    pub fn new(zero: S, f: F) -> Self {
        Fold { state: Some(zero), f, of: std::marker::PhantomData }
    }
}

impl<A, S, F> Kernel for Fold<A, S, F>
where
    A: Send + 'static,
    S: Send + 'static,
    F: FnMut(S, A) -> S + Send + 'static,
{
    type In = A;
    type Out = S;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, _out: &mut Out<'_, S>, cx: &mut Cx) -> Sig {
        self.state = self.state.take().map(|s| (self.f)(s, x));
        cx.used(1);
        Sig::Continue
    }

    fn on_finish(&mut self, out: &mut Out<'_, S>, cx: &mut Cx) -> Sig {
        if out.demand() == 0 {
            return Sig::Continue;
        }
        if let Some(s) = self.state.take() {
            cx.made(1);
            out.emit(s);
        }
        Sig::Done
    }

    /// Is called only after upstream has completed.
    fn on_pull(&mut self, out: &mut Out<'_, S>, cx: &mut Cx) -> Sig {
        self.on_finish(out, cx)
    }
}

/// The kernel of `fold` as a sink.
pub struct FoldSink<A, S, F> {
    state: Option<S>,
    f: F,
    done: Completer<S>,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, S, F> FoldSink<A, S, F> {
    /// Makes the kernel.
    pub(crate) fn new(zero: S, f: F, done: Completer<S>) -> Self {
        FoldSink { state: Some(zero), f, done, of: std::marker::PhantomData }
    }
}

impl<A, S, F> Kernel for FoldSink<A, S, F>
where
    A: Send + 'static,
    S: Send + 'static,
    F: FnMut(S, A) -> S + Send + 'static,
{
    type In = A;
    type Out = Never;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        self.state = self.state.take().map(|s| (self.f)(s, x));
        cx.used(1);
        Sig::Continue
    }

    fn on_finish(&mut self, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        if let Some(s) = self.state.take() {
            self.done.set(Ok(s));
        }
        Sig::Done
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        self.done.set(Err(e.clone()));
        Sig::fail(e)
    }

    fn on_cancel(&mut self, _cause: &Cause, _cx: &mut Cx) {}
}
