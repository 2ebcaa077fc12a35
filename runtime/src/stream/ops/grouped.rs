//! `grouped`: chunks of `n` elements; the last one may be smaller, and is never empty.
//!
//! Emits when `n` are held, or upstream completes with any held. Backpressures when a chunk is ready and downstream
//! backpressures. Completes after the last chunk. Cancels std. Holds at most `n`. A chunk is made, its elements are used.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `grouped`.
pub struct Grouped<A> {
    n: usize,
    held: Vec<A>,
}

impl<A> Grouped<A> {
    /// Makes the kernel; `n` = 0 counts as 1.
    pub fn new(n: usize) -> Self {
        Grouped { n: n.max(1), held: Vec::new() }
    }

    fn flush(&mut self, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) {
        cx.used(self.held.len() as u64);
        cx.made(1);
        out.emit(std::mem::take(&mut self.held));
    }
}

impl<A: Send + 'static> Kernel for Grouped<A> {
    type In = A;
    type Out = Vec<A>;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        self.held.push(x);
        if self.held.len() >= self.n {
            self.flush(out, cx);
        }
        Sig::Continue
    }

    fn on_finish(&mut self, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        match (self.held.is_empty(), out.demand()) {
            (true, _) => Sig::Done,
            (false, 0) => Sig::Continue,
            (false, _) => {
                self.flush(out, cx);
                Sig::Done
            }
        }
    }

    /// Is called only after upstream has completed, for the last chunk.
    fn on_pull(&mut self, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        self.on_finish(out, cx)
    }

    fn held(&self) -> usize {
        self.held.len()
    }
}
