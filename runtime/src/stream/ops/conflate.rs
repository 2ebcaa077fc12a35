//! `conflate`: while downstream is slow, folds what arrives into one summary. `batch`: the same with a cap.
//!
//! Emits when there is a summary and demand. Backpressures never (`conflate`); with a cap, when the summary is full, one
//! element waits behind it and downstream backpressures. Completes when upstream completed and the summary is out. Cancels
//! std; the summary is dropped. Holds at most the summary, and with a cap one element. What is folded into a summary is used.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `conflate` and `batch`.
pub struct Conflate<A, S, C, Z, F> {
    /// The cost of a full summary; none for no cap.
    max: Option<u64>,
    cost: C,
    seed: Z,
    f: F,
    summary: Option<(S, u64)>,
    pending: Option<A>,
    finished: bool,
}

impl<A, S, C, Z, F> Conflate<A, S, C, Z, F>
where
    C: FnMut(&A) -> u64,
    Z: FnMut(A) -> S,
    F: FnMut(S, A) -> S,
{
    /// Makes the kernel; `max` caps the sum of what `cost` gives for the elements of a summary.
    pub fn new(max: Option<u64>, cost: C, seed: Z, f: F) -> Self {
        Conflate { max, cost, seed, f, summary: None, pending: None, finished: false }
    }

    fn take(&mut self, x: A, cx: &mut Cx) {
        let cost = (self.cost)(&x);
        let summary = match self.summary.take() {
            None => Some(((self.seed)(x), cost)),
            Some((s, so_far)) if self.max.is_none_or(|max| so_far.saturating_add(cost) <= max) => {
                cx.used(1);
                Some(((self.f)(s, x), so_far.saturating_add(cost)))
            }
            full => {
                self.pending = Some(x);
                full
            }
        };
        self.summary = summary;
    }

    fn emit(&mut self, out: &mut Out<'_, S>, cx: &mut Cx) -> Sig {
        while out.demand() > 0 {
            let Some((s, _)) = self.summary.take() else { break };
            out.emit(s);
            if let Some(x) = self.pending.take() {
                self.take(x, cx);
            }
        }
        match (self.finished && self.summary.is_none(), self.pending.is_some()) {
            (true, _) => Sig::Done,
            (false, true) => Sig::Full,
            (false, false) => Sig::Continue,
        }
    }
}

impl<A, S, C, Z, F> Kernel for Conflate<A, S, C, Z, F>
where
    A: Send + 'static,
    S: Send + 'static,
    C: FnMut(&A) -> u64 + Send + 'static,
    Z: FnMut(A) -> S + Send + 'static,
    F: FnMut(S, A) -> S + Send + 'static,
{
    type In = A;
    type Out = S;
    const CAPS: Caps = Caps::EAGER;

    fn on_push(&mut self, x: A, out: &mut Out<'_, S>, cx: &mut Cx) -> Sig {
        self.take(x, cx);
        self.emit(out, cx)
    }

    fn on_pull(&mut self, out: &mut Out<'_, S>, cx: &mut Cx) -> Sig {
        self.emit(out, cx)
    }

    fn on_finish(&mut self, out: &mut Out<'_, S>, cx: &mut Cx) -> Sig {
        self.finished = true;
        self.emit(out, cx)
    }

    fn held(&self) -> usize {
        usize::from(self.summary.is_some()) + usize::from(self.pending.is_some())
    }
}
