//! `sliding`: windows of `n` elements, each `step` elements further; a last shorter one if it holds an element that no
//! window has shown.
//!
//! Emits when a window is full, or upstream completes with an element that was not shown. Backpressures when a window is
//! full and downstream backpressures. Completes after the last window. Cancels std. Holds at most `n`. A window is made
//! of copies; an element is used when it leaves the window, or was never in one.

use std::collections::VecDeque;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `sliding`.
pub struct Sliding<A> {
    n: usize,
    step: usize,
    window: VecDeque<A>,
    /// Elements to pass over before the next window.
    skip: usize,
    /// The last so many of the window were in no window yet.
    fresh: usize,
}

impl<A: Clone> Sliding<A> {
    /// Makes the kernel; 0 counts as 1.
    pub fn new(n: usize, step: usize) -> Self {
        Sliding { n: n.max(1), step: step.max(1), window: VecDeque::new(), skip: 0, fresh: 0 }
    }

    fn show(&mut self, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) {
        cx.made(1);
        out.emit(self.window.iter().cloned().collect());
        self.fresh = 0;
    }

    fn leave(&mut self, n: usize, cx: &mut Cx) {
        cx.used(self.window.drain(..n).len() as u64);
    }
}

impl<A: Clone + Send + 'static> Kernel for Sliding<A> {
    type In = A;
    type Out = Vec<A>;
    const CAPS: Caps = Caps { pulls: false, ..Caps::TIMED };

    fn on_push(&mut self, x: A, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        if self.skip > 0 {
            self.skip -= 1;
            cx.used(1);
            return Sig::Continue;
        }
        self.window.push_back(x);
        self.fresh += 1;
        if self.window.len() == self.n {
            self.show(out, cx);
            self.leave(self.step.min(self.n), cx);
            self.skip = self.step.saturating_sub(self.n);
        }
        Sig::Continue
    }

    fn on_finish(&mut self, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        if self.fresh > 0 {
            if out.demand() == 0 {
                return Sig::Continue;
            }
            self.show(out, cx);
        }
        self.leave(self.window.len(), cx);
        Sig::Done
    }

    /// Is called only after upstream has completed, for the last window.
    fn on_pull(&mut self, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        self.on_finish(out, cx)
    }

    fn held(&self) -> usize {
        self.window.len()
    }
}
