//! `partition`: each element to the output that a function names.
//!
//! Emits when the chosen output asks; backpressures when it does not. Fails with OutOfRange if there is no such output.
//! An element for an output that was cancelled is dropped (Cancelled). Completes when upstream has and nothing waits.
//! The last output cancels upstream, eager: the first one does. Holds at most 1, the element whose output does not ask.

use crate::stream::graph::junction::{FanOutOf, Junction, Ports};
use crate::stream::signal::{Cause, DropReason, StreamError};

/// The junction `partition`.
#[derive(Clone, Debug)]
pub struct Partition<T, F> {
    f: F,
    waiting: Option<(usize, T)>,
    eager_cancel: bool,
}

impl<T, F: FnMut(&T) -> usize> Partition<T, F> {
    /// Makes a partition by the number of an output.
    pub fn new(f: F) -> Self {
        Partition { f, waiting: None, eager_cancel: false }
    }

    /// Ends as soon as one output is cancelled.
    pub fn eager_cancel(self) -> Self {
        Partition { eager_cancel: true, ..self }
    }
}

impl<T, F> Partition<T, F> {
    /// Lets the waiting element go, if its output asks or is gone.
    fn let_go(&mut self, ports: &mut Ports)
    where
        T: Send + 'static,
    {
        if let Some((out, x)) = self.waiting.take() {
            if !ports.is_live(out) {
                ports.cx().dropped(DropReason::Cancelled, 1);
            } else if ports.demand(out) {
                ports.emit(out, x);
            } else {
                self.waiting = Some((out, x));
            }
        }
    }
}

impl<T: Send + 'static, F: FnMut(&T) -> usize + Send + 'static> Junction for Partition<T, F> {
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.outputs();
        self.let_go(ports);
        while self.waiting.is_none() && (0..n).any(|out| ports.demand(out)) {
            ports.pull(0);
            let Some(x) = ports.take::<T>(0) else { break };
            let port = (self.f)(&x);
            if port >= n {
                ports.cx().used(1);
                let node = ports.cx().node();
                ports.fail(StreamError::OutOfRange { node, port });
                return;
            }
            self.waiting = Some((port, x));
            self.let_go(ports);
        }
        if self.waiting.is_none() && !ports.is_open(0) {
            ports.complete();
        }
    }

    fn on_cancel(&mut self, _output: usize, cause: &Cause, ports: &mut Ports) {
        if self.eager_cancel {
            ports.cancel_all(cause);
        }
    }

    fn held(&self) -> usize {
        usize::from(self.waiting.is_some())
    }
}

impl<T: Send + 'static, F: FnMut(&T) -> usize + Send + 'static> FanOutOf for Partition<T, F> {
    type In = T;
    type Out = T;
}
