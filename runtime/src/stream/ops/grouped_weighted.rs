//! `grouped_weighted`: chunks that weigh at least `weight`; the last one may weigh less, and is never empty.
//!
//! Emits when the chunk is heavy enough, or upstream completes with any held. Backpressures when a chunk is ready and
//! downstream backpressures. Completes after the last chunk. Cancels std. An element weighs at least 1, so it holds at
//! most `weight` elements. A chunk is made, its elements are used.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `grouped_weighted`.
pub struct GroupedWeighted<A, F> {
    weight: u64,
    weigh: F,
    held: Vec<A>,
    weighs: u64,
}

impl<A, F> GroupedWeighted<A, F> {
    /// Makes the kernel; a weight of 0 counts as 1.
    pub fn new(weight: u64, weigh: F) -> Self {
        GroupedWeighted { weight: weight.max(1), weigh, held: Vec::new(), weighs: 0 }
    }

    fn flush(&mut self, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) {
        cx.used(self.held.len() as u64);
        cx.made(1);
        self.weighs = 0;
        out.emit(std::mem::take(&mut self.held));
    }
}

impl<A, F> Kernel for GroupedWeighted<A, F>
where
    A: Send + 'static,
    F: FnMut(&A) -> u64 + Send + 'static,
{
    type In = A;
    type Out = Vec<A>;
    const CAPS: Caps = Caps { pulls: false, ..Caps::TIMED };

    fn on_push(&mut self, x: A, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        self.weighs = self.weighs.saturating_add((self.weigh)(&x).max(1));
        self.held.push(x);
        if self.weighs >= self.weight {
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
