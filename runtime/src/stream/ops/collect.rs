//! `collect`, `collect_while`, `collect_first`: a function that is not defined for every element (`None`).
//!
//! `collect` emits where it is defined; the others count as used. `collect_while` completes at the first element for which
//! it is not defined, `collect_first` behind the first for which it is; both then cancel upstream. std otherwise.

use std::marker::PhantomData;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `collect`.
pub struct Collect<A, F>(F, PhantomData<fn(A)>);

impl<A, F> Collect<A, F> {
    /// Makes the kernel.
    pub fn new(f: F) -> Self {
        Collect(f, PhantomData)
    }
}

impl<A, B, F> Kernel for Collect<A, F>
where
    A: Send + 'static,
    B: Send + 'static,
    F: FnMut(A) -> Option<B> + Send + 'static,
{
    type In = A;
    type Out = B;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        match (self.0)(x) {
            Some(y) => {
                out.emit(y);
            }
            None => cx.used(1),
        }
        Sig::Continue
    }
}

/// Where a collecting stage ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Behind the first element for which the function is defined.
    Defined,
    /// At the first element for which it is not.
    Undefined,
}

/// The kernel of `collect_while` and `collect_first`.
pub struct CollectUntil<A, F>(F, Until, PhantomData<fn(A)>);

impl<A, F> CollectUntil<A, F> {
    /// Makes the kernel.
    pub fn new(f: F, until: Until) -> Self {
        CollectUntil(f, until, PhantomData)
    }
}

impl<A, B, F> Kernel for CollectUntil<A, F>
where
    A: Send + 'static,
    B: Send + 'static,
    F: FnMut(A) -> Option<B> + Send + 'static,
{
    type In = A;
    type Out = B;
    const CAPS: Caps = Caps { chunk: false, ..Caps::LIGHT };

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        let here = match (self.0)(x) {
            Some(y) => {
                out.emit(y);
                Until::Defined
            }
            None => {
                cx.used(1);
                Until::Undefined
            }
        };
        if here == self.1 { Sig::Done } else { Sig::Continue }
    }
}
