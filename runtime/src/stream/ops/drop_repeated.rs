//! `drop_repeated`: no element that equals the one emitted last.
//!
//! Emits when it differs. Backpressures when it differs and downstream backpressures. std otherwise. Keeps a copy of the
//! element emitted last; repeated ones count as used.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `drop_repeated`.
pub struct DropRepeated<A, F> {
    same: F,
    last: Option<A>,
}

impl<A, F> DropRepeated<A, F> {
    /// Makes the kernel.
    pub fn new(same: F) -> Self {
        DropRepeated { same, last: None }
    }
}

impl<A, F> Kernel for DropRepeated<A, F>
where
    A: Clone + Send + 'static,
    F: FnMut(&A, &A) -> bool + Send + 'static,
{
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        if self.last.as_ref().is_some_and(|last| (self.same)(last, &x)) {
            cx.used(1);
        } else {
            self.last = Some(x.clone());
            out.emit(x);
        }
        Sig::Continue
    }
}
