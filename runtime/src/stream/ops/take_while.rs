//! `take_while`: the elements up to the first for which a rule does not hold; that one is left out (used), or emitted as
//! the last one.
//!
//! Emits while the rule holds. Backpressures std. Completes at the first element that breaks the rule, and cancels
//! upstream; or std. Cancels std.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// What happens to the element that breaks the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaker {
    /// It is left out.
    Excluded,
    /// It is the last one.
    Included,
}

/// The kernel of `take_while`.
pub struct TakeWhile<A, F> {
    holds: F,
    breaker: Breaker,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, F> TakeWhile<A, F> {
    /// Makes the kernel.
    pub fn new(holds: F, breaker: Breaker) -> Self {
        TakeWhile { holds, breaker, of: std::marker::PhantomData }
    }
}

impl<A, F> Kernel for TakeWhile<A, F>
where
    A: Send + 'static,
    F: FnMut(&A) -> bool + Send + 'static,
{
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps { chunk: false, ..Caps::LIGHT };

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        if (self.holds)(&x) {
            out.emit(x);
            return Sig::Continue;
        }
        match self.breaker {
            Breaker::Included => {
                out.emit(x);
            }
            Breaker::Excluded => cx.used(1),
        }
        Sig::Done
    }
}
