//! `drop` and `drop_while`: all elements but the first `n`, or but the first for which a rule holds. What is passed over
//! counts as used. std otherwise.

use std::marker::PhantomData;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `drop`.
pub struct DropFirst<A> {
    left: u64,
    of: PhantomData<fn(A)>,
}

impl<A> DropFirst<A> {
    /// Makes the kernel.
    pub fn new(n: u64) -> Self {
        DropFirst { left: n, of: PhantomData }
    }
}

impl<A: Send + 'static> Kernel for DropFirst<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        if self.left > 0 {
            self.left -= 1;
            cx.used(1);
        } else {
            out.emit(x);
        }
        Sig::Continue
    }
}

/// The kernel of `drop_while`.
pub struct DropWhile<A, F> {
    holds: F,
    dropping: bool,
    of: PhantomData<fn(A)>,
}

impl<A, F> DropWhile<A, F> {
    /// Makes the kernel.
    pub fn new(holds: F) -> Self {
        DropWhile { holds, dropping: true, of: PhantomData }
    }
}

impl<A, F> Kernel for DropWhile<A, F>
where
    A: Send + 'static,
    F: FnMut(&A) -> bool + Send + 'static,
{
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.dropping = self.dropping && (self.holds)(&x);
        if self.dropping {
            cx.used(1);
        } else {
            out.emit(x);
        }
        Sig::Continue
    }
}
