//! `stateful_map`: a function of a state and each element; when upstream completes, the state may become one last element.
//!
//! Emits std. Backpressures std. Completes std, behind the last element. Cancels std. A failure drops the state.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `stateful_map`.
pub struct StatefulMap<A, S, F, E> {
    state: Option<S>,
    f: F,
    at_end: E,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, S, F, E> StatefulMap<A, S, F, E> {
    /// Makes the kernel with the state of this run.
    pub fn new(state: S, f: F, at_end: E) -> Self {
        StatefulMap { state: Some(state), f, at_end, of: std::marker::PhantomData }
    }
}

impl<A, B, S, F, E> Kernel for StatefulMap<A, S, F, E>
where
    A: Send + 'static,
    B: Send + 'static,
    S: Send + 'static,
    F: FnMut(&mut S, A) -> B + Send + 'static,
    E: FnMut(S) -> Option<B> + Send + 'static,
{
    type In = A;
    type Out = B;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, B>, _cx: &mut Cx) -> Sig {
        if let Some(state) = &mut self.state {
            out.emit((self.f)(state, x));
        }
        Sig::Continue
    }

    fn on_finish(&mut self, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        if out.demand() == 0 {
            return Sig::Continue;
        }
        if let Some(last) = self.state.take().and_then(&mut self.at_end) {
            cx.made(1);
            out.emit(last);
        }
        Sig::Done
    }

    /// Is called only after upstream has completed.
    fn on_pull(&mut self, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        self.on_finish(out, cx)
    }
}
