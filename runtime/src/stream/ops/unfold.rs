//! `unfold`: elements made from a state, until there is none; `iterate` is one. `cycle`: a collection over and over.
//!
//! Emit on demand. Backpressure: they are pulled. `unfold` completes where its function gives `None`; `cycle` never does,
//! but fails (NoSuchElement) if the collection is empty. Cancel: stop.

use crate::stream::kernel::{Caps, Cx, Kernel, Never, Out, Sig};
use crate::stream::signal::StreamError;

/// The kernel of `unfold`.
pub struct Unfold<S, F> {
    state: Option<S>,
    f: F,
}

impl<S, F> Unfold<S, F> {
    /// Makes the kernel.
    pub fn new(seed: S, f: F) -> Self {
        Unfold { state: Some(seed), f }
    }
}

impl<S, A, F> Kernel for Unfold<S, F>
where
    S: Send + 'static,
    A: Send + 'static,
    F: FnMut(S) -> Option<(S, A)> + Send + 'static,
{
    type In = Never;
    type Out = A;
    const CAPS: Caps = Caps::LIGHT_SOURCE;

    fn on_push(&mut self, x: Never, _out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        match x {}
    }

    #[inline]
    fn on_pull(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        while out.demand() > 0 {
            let Some((state, x)) = self.state.take().and_then(&mut self.f) else { return Sig::Done };
            self.state = Some(state);
            cx.made(1);
            out.emit(x);
        }
        Sig::Continue
    }
}

/// The kernel of `cycle`.
pub struct Cycle<I> {
    all: I,
    round: I,
}

impl<I: Clone> Cycle<I> {
    /// Makes the kernel.
    pub fn new(all: I) -> Self {
        Cycle { round: all.clone(), all }
    }
}

impl<I> Kernel for Cycle<I>
where
    I: Iterator + Clone + Send + 'static,
    I::Item: Send + 'static,
{
    type In = Never;
    type Out = I::Item;
    const CAPS: Caps = Caps::LIGHT_SOURCE;

    fn on_push(&mut self, x: Never, _out: &mut Out<'_, I::Item>, _cx: &mut Cx) -> Sig {
        match x {}
    }

    #[inline]
    fn on_pull(&mut self, out: &mut Out<'_, I::Item>, cx: &mut Cx) -> Sig {
        while out.demand() > 0 {
            let x = self.round.next().or_else(|| {
                self.round = self.all.clone();
                self.round.next()
            });
            let Some(x) = x else { return Sig::fail(StreamError::NoSuchElement { node: cx.node() }) };
            cx.made(1);
            out.emit(x);
        }
        Sig::Continue
    }
}
