//! `inspect`: an effect on each element, which is then handed on. std.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `inspect`.
pub struct Inspect<A, F>(F, std::marker::PhantomData<fn(A)>);

impl<A, F> Inspect<A, F> {
    /// Makes the kernel.
    pub fn new(f: F) -> Self {
        Inspect(f, std::marker::PhantomData)
    }
}

impl<A, F> Kernel for Inspect<A, F>
where
    A: Send + 'static,
    F: FnMut(&A) + Send + 'static,
{
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        (self.0)(&x);
        out.emit(x);
        Sig::Continue
    }
}
