//! `scan`: the first state, then the state after each element.
//!
//! Emits the first state on the first demand, and one for each element. Backpressures until the first state is out, and
//! std. Completes std, behind the first state. Cancels std. Holds nothing.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `scan`.
pub struct Scan<A, S, F> {
    state: Option<S>,
    f: F,
    started: bool,
    finished: bool,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, S, F> Scan<A, S, F> {
    /// Makes the kernel.
    pub fn new(zero: S, f: F) -> Self {
        Scan { state: Some(zero), f, started: false, finished: false, of: std::marker::PhantomData }
    }
}

impl<A, S, F> Kernel for Scan<A, S, F>
where
    A: Send + 'static,
    S: Clone + Send + 'static,
    F: FnMut(S, A) -> S + Send + 'static,
{
    type In = A;
    type Out = S;
    const CAPS: Caps = Caps::TIMED;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, S>, _cx: &mut Cx) -> Sig {
        self.state = self.state.take().map(|s| (self.f)(s, x));
        self.state.iter().for_each(|s| {
            out.emit(s.clone());
        });
        Sig::Continue
    }

    fn on_pull(&mut self, out: &mut Out<'_, S>, cx: &mut Cx) -> Sig {
        if !self.started {
            if out.demand() == 0 {
                return Sig::Full;
            }
            self.started = true;
            self.state.iter().for_each(|s| {
                cx.made(1);
                out.emit(s.clone());
            });
        }
        if self.finished { Sig::Done } else { Sig::Continue }
    }

    fn on_finish(&mut self, out: &mut Out<'_, S>, cx: &mut Cx) -> Sig {
        self.finished = true;
        self.on_pull(out, cx)
    }
}
