//! `map_concat`: any number of elements for each one, emitted one by one. `stateful_map_concat` makes its function anew for
//! each run.
//!
//! Emits while the iterator of the last element has more. Backpressures while it has more, or downstream backpressures.
//! Completes when upstream completed and the iterator is at its end. Cancels std. Holds no element but the iterator: what
//! it is asked for is made, what was taken is used.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `map_concat`.
pub struct MapConcat<A, I: IntoIterator, F> {
    f: F,
    rest: Option<I::IntoIter>,
    finished: bool,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, I: IntoIterator, F> MapConcat<A, I, F> {
    /// Makes the kernel.
    pub fn new(f: F) -> Self {
        MapConcat { f, rest: None, finished: false, of: std::marker::PhantomData }
    }

    fn emit(&mut self, out: &mut Out<'_, I::Item>, cx: &mut Cx) -> Sig {
        while let Some(rest) = &mut self.rest {
            if out.demand() == 0 {
                return Sig::Full;
            }
            match rest.next() {
                Some(y) => {
                    cx.made(1);
                    out.emit(y);
                }
                None => self.rest = None,
            }
        }
        if self.finished { Sig::Done } else { Sig::Continue }
    }
}

impl<A, I, F> Kernel for MapConcat<A, I, F>
where
    A: Send + 'static,
    I: IntoIterator + 'static,
    I::IntoIter: Send + 'static,
    I::Item: Send + 'static,
    F: FnMut(A) -> I + Send + 'static,
{
    type In = A;
    type Out = I::Item;
    const CAPS: Caps = Caps::TIMED;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, I::Item>, cx: &mut Cx) -> Sig {
        self.rest = Some((self.f)(x).into_iter());
        cx.used(1);
        self.emit(out, cx)
    }

    #[inline]
    fn on_pull(&mut self, out: &mut Out<'_, I::Item>, cx: &mut Cx) -> Sig {
        self.emit(out, cx)
    }

    fn on_finish(&mut self, out: &mut Out<'_, I::Item>, cx: &mut Cx) -> Sig {
        self.finished = true;
        self.emit(out, cx)
    }
}
