//! `filter`: the elements for which a predicate holds. Emits when it holds; backpressures when it holds and downstream
//! backpressures; completes and cancels std. Rejected elements count as used.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `filter`.
pub struct Filter<A, F>(F, std::marker::PhantomData<fn(A)>);

impl<A, F> Filter<A, F> {
    /// Makes the kernel.
    pub fn new(keep: F) -> Self {
        Filter(keep, std::marker::PhantomData)
    }
}

impl<A, F> Kernel for Filter<A, F>
where
    A: Send + 'static,
    F: FnMut(&A) -> bool + Send + 'static,
{
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        if (self.0)(&x) {
            out.emit(x);
        } else {
            cx.used(1);
        }
        Sig::Continue
    }
}
