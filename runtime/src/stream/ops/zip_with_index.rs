//! `zip_with_index`: each element with its number, counted from 0. std.

use std::marker::PhantomData;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `zip_with_index`.
pub struct ZipWithIndex<A> {
    next: u64,
    of: PhantomData<fn(A)>,
}

impl<A> ZipWithIndex<A> {
    /// Makes the kernel.
    pub fn new() -> Self {
        ZipWithIndex { next: 0, of: PhantomData }
    }
}

impl<A> Default for ZipWithIndex<A> {
    fn default() -> Self {
        ZipWithIndex::new()
    }
}

impl<A: Send + 'static> Kernel for ZipWithIndex<A> {
    type In = A;
    type Out = (A, u64);
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, (A, u64)>, _cx: &mut Cx) -> Sig {
        out.emit((x, self.next));
        self.next += 1;
        Sig::Continue
    }
}
