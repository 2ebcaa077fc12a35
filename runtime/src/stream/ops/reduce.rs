//! `reduce`: folds all elements, beginning with the first; without any it fails (NoSuchElement). `fold_while` folds until a
//! rule no longer holds for the result.
//!
//! Emit when upstream completes; `fold_while` also where its rule fails, and then it cancels upstream. Backpressure std.
//! Complete after the result. Cancel std.

use crate::stream::done::Completer;
use crate::stream::kernel::{Caps, Cx, Kernel, Never, Out, Sig};
use crate::stream::signal::StreamError;

/// The kernel of `reduce` as a flow.
pub struct Reduce<A, F> {
    sum: Option<A>,
    f: F,
}

impl<A, F> Reduce<A, F> {
    /// Makes the kernel.
    pub fn new(f: F) -> Self {
        Reduce { sum: None, f }
    }
}

impl<A, F> Kernel for Reduce<A, F>
where
    A: Send + 'static,
    F: FnMut(A, A) -> A + Send + 'static,
{
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, _out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.sum = Some(match self.sum.take() {
            Some(sum) => (self.f)(sum, x),
            None => x,
        });
        cx.used(1);
        Sig::Continue
    }

    fn on_finish(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        if self.sum.is_none() {
            return Sig::fail(StreamError::NoSuchElement { node: cx.node() });
        }
        if out.demand() == 0 {
            return Sig::Continue;
        }
        if let Some(sum) = self.sum.take() {
            cx.made(1);
            out.emit(sum);
        }
        Sig::Done
    }

    /// Is called only after upstream has completed.
    fn on_pull(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.on_finish(out, cx)
    }
}

/// The kernel of `reduce` as a sink.
pub struct ReduceSink<A, F> {
    sum: Option<A>,
    f: F,
    done: Completer<A>,
}

impl<A, F> ReduceSink<A, F> {
    /// Makes the kernel.
    pub(crate) fn new(f: F, done: Completer<A>) -> Self {
        ReduceSink { sum: None, f, done }
    }
}

impl<A, F> Kernel for ReduceSink<A, F>
where
    A: Send + 'static,
    F: FnMut(A, A) -> A + Send + 'static,
{
    type In = A;
    type Out = Never;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        self.sum = Some(match self.sum.take() {
            Some(sum) => (self.f)(sum, x),
            None => x,
        });
        cx.used(1);
        Sig::Continue
    }

    fn on_finish(&mut self, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        let nothing = StreamError::NoSuchElement { node: cx.node() };
        let result = self.sum.take().ok_or(nothing);
        let sig = result.as_ref().map_or_else(|e| Sig::fail(e.clone()), |_| Sig::Done);
        self.done.set(result);
        sig
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        self.done.set(Err(e.clone()));
        Sig::fail(e)
    }
}

/// The kernel of `fold_while`.
pub struct FoldWhile<A, S, P, F> {
    state: Option<S>,
    goes_on: P,
    f: F,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, S, P, F> FoldWhile<A, S, P, F> {
    /// Makes the kernel.
    pub fn new(zero: S, goes_on: P, f: F) -> Self {
        FoldWhile { state: Some(zero), goes_on, f, of: std::marker::PhantomData }
    }
}

impl<A, S, P, F> Kernel for FoldWhile<A, S, P, F>
where
    A: Send + 'static,
    S: Send + 'static,
    P: FnMut(&S) -> bool + Send + 'static,
    F: FnMut(S, A) -> S + Send + 'static,
{
    type In = A;
    type Out = S;
    const CAPS: Caps = Caps { chunk: false, ..Caps::LIGHT };

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, S>, cx: &mut Cx) -> Sig {
        self.state = self.state.take().map(|s| (self.f)(s, x));
        cx.used(1);
        if self.state.as_ref().is_some_and(&mut self.goes_on) {
            return Sig::Continue;
        }
        self.on_finish(out, cx)
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
