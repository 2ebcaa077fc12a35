//! `take`: the first `n` elements, then it completes and cancels upstream; `take(0)` does so at once. std otherwise.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `take`.
pub struct Take<A> {
    left: u64,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A> Take<A> {
    /// Makes the kernel.
    pub fn new(n: u64) -> Self {
        Take { left: n, of: std::marker::PhantomData }
    }
}

impl<A: Send + 'static> Kernel for Take<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps { chunk: false, ..Caps::LIGHT };

    fn on_start(&mut self, _cx: &mut Cx) -> Sig {
        if self.left == 0 { Sig::Done } else { Sig::Continue }
    }

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        out.emit(x);
        self.left -= 1;
        if self.left == 0 { Sig::Done } else { Sig::Continue }
    }
}
