//! `take_last`: the last `n` elements.
//!
//! Emits when upstream has completed. Backpressures std. Completes when the last one is out. Cancels std. Holds at most
//! `n`; an element that `n` others followed counts as used.

use std::collections::VecDeque;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `take_last`.
pub struct TakeLast<A> {
    n: usize,
    held: VecDeque<A>,
}

impl<A> TakeLast<A> {
    /// Makes the kernel.
    pub fn new(n: usize) -> Self {
        TakeLast { n, held: VecDeque::new() }
    }
}

impl<A: Send + 'static> Kernel for TakeLast<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps { pulls: false, ..Caps::TIMED };

    fn on_push(&mut self, x: A, _out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        if self.held.len() >= self.n {
            // With n = 0 the newcomer goes, else the oldest.
            cx.used(1);
            self.held.pop_front();
        }
        if self.n > 0 {
            self.held.push_back(x);
        }
        Sig::Continue
    }

    fn on_finish(&mut self, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        while out.demand() > 0 {
            let Some(x) = self.held.pop_front() else { break };
            out.emit(x);
        }
        if self.held.is_empty() { Sig::Done } else { Sig::Continue }
    }

    /// Is called only after upstream has completed.
    fn on_pull(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.on_finish(out, cx)
    }

    fn held(&self) -> usize {
        self.held.len()
    }
}
