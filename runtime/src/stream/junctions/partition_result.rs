//! `partition_result`: values to the first output, errors to the second: errors as data.
//!
//! Emits when the chosen output asks; backpressures when it does not. An element for an output that was cancelled is dropped
//! (Cancelled). Completes when upstream has and nothing waits. The last output cancels upstream. Holds at most 1.

use crate::stream::graph::junction::{Junction, Ports, TwoOutOf};
use crate::stream::signal::DropReason;

const OK: usize = 0;
const ERR: usize = 1;

/// The junction `partition_result`.
#[derive(Clone, Debug)]
pub struct PartitionResult<T, E> {
    waiting: Option<Result<T, E>>,
}

impl<T, E> Default for PartitionResult<T, E> {
    fn default() -> Self {
        PartitionResult { waiting: None }
    }
}

impl<T: Send + 'static, E: Send + 'static> PartitionResult<T, E> {
    /// Makes the junction.
    pub fn new() -> Self {
        PartitionResult::default()
    }

    /// Lets the waiting element go, if its output asks or is gone.
    fn let_go(&mut self, ports: &mut Ports) {
        let Some(waiting) = self.waiting.take() else { return };
        let out = if waiting.is_ok() { OK } else { ERR };
        if !ports.is_live(out) {
            ports.cx().dropped(DropReason::Cancelled, 1);
        } else if ports.demand(out) {
            match waiting {
                Ok(x) => ports.emit(OK, x),
                Err(e) => ports.emit(ERR, e),
            }
        } else {
            self.waiting = Some(waiting);
        }
    }
}

impl<T: Send + 'static, E: Send + 'static> Junction for PartitionResult<T, E> {
    fn step(&mut self, ports: &mut Ports) {
        self.let_go(ports);
        while self.waiting.is_none() && (ports.demand(OK) || ports.demand(ERR)) {
            ports.pull(0);
            self.waiting = ports.take::<Result<T, E>>(0);
            if self.waiting.is_none() {
                break;
            }
            self.let_go(ports);
        }
        if self.waiting.is_none() && !ports.is_open(0) {
            ports.complete();
        }
    }

    fn held(&self) -> usize {
        usize::from(self.waiting.is_some())
    }
}

impl<T: Send + 'static, E: Send + 'static> TwoOutOf for PartitionResult<T, E> {
    type In = Result<T, E>;
    type Left = T;
    type Right = E;
}
