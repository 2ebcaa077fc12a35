//! `from_iter`: the elements of an iterator.
//!
//! Emits on demand. Backpressures: it is pulled. Completes when the iterator ends, seen at the demand after the last
//! element. Cancels: drops the iterator at the end of the stream.

use crate::stream::kernel::{Caps, Cx, Kernel, Never, Out, Sig};

/// The kernel of `from_iter`.
pub struct FromIter<I> {
    elements: I,
}

impl<I> FromIter<I> {
    /// Makes the kernel.
    pub fn new(elements: I) -> Self {
        FromIter { elements }
    }
}

impl<I> Kernel for FromIter<I>
where
    I: Iterator + Send + 'static,
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
            let Some(x) = self.elements.next() else { return Sig::Done };
            cx.made(1);
            out.emit(x);
        }
        Sig::Continue
    }
}
