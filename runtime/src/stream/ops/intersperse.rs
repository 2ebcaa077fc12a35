//! `intersperse`: a separator between two elements, and if wanted one element before all and one behind.
//!
//! Emits std, and the extras. Backpressures while it holds an element, and std. Completes std, behind the last extra.
//! Cancels std. Holds at most 2, extras included; with nothing between them the first and the last extra remain.

use std::collections::VecDeque;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `intersperse`.
pub struct Intersperse<A> {
    start: Option<A>,
    between: A,
    end: Option<A>,
    held: VecDeque<A>,
    started: bool,
    finished: bool,
}

impl<A> Intersperse<A> {
    /// Makes the kernel.
    pub fn new(start: Option<A>, between: A, end: Option<A>) -> Self {
        let (started, finished) = (false, false);
        Intersperse { start, between, end, held: VecDeque::new(), started, finished }
    }

    fn make(&mut self, extra: Option<A>, cx: &mut Cx) {
        cx.made(u64::from(extra.is_some()));
        self.held.extend(extra);
    }

    fn emit(&mut self, out: &mut Out<'_, A>) -> Sig {
        while out.demand() > 0 {
            let Some(x) = self.held.pop_front() else { break };
            out.emit(x);
        }
        match (self.held.is_empty(), self.finished) {
            (false, _) => Sig::Full,
            (true, false) => Sig::Continue,
            (true, true) => Sig::Done,
        }
    }
}

impl<A: Clone + Send + 'static> Kernel for Intersperse<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::TIMED;

    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        let first = !std::mem::replace(&mut self.started, true);
        let extra = if first { self.start.take() } else { Some(self.between.clone()) };
        self.make(extra, cx);
        self.held.push_back(x);
        self.emit(out)
    }

    fn on_pull(&mut self, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        self.emit(out)
    }

    fn on_finish(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.finished = true;
        let (start, end) = (self.start.take(), self.end.take());
        self.make(start, cx);
        self.make(end, cx);
        self.emit(out)
    }

    fn held(&self) -> usize {
        self.held.len()
    }
}
