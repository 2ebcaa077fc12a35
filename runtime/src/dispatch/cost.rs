//! What the runtime itself costs in virtual time.
//!
//! A Stepper's overheads are free unless they are priced: then a batch, a message or a task takes the time that it would
//! take on some real machine, and lessons about throughput come out in numbers. A Pool pays its real costs and reads no price.

use std::time::Duration;

use crate::time::nanos;

/// Prices of the runtime's own work on a Stepper; all zero unless set.
///
/// # Examples
/// ```
/// use footlights::system::CostModel;
/// use std::time::Duration;
/// let costs = CostModel::free().activation(Duration::from_nanos(9_600)).message(Duration::from_nanos(480));
/// assert_eq!(costs, CostModel::dispatch_2012());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostModel {
    pub(crate) activation_ns: u64,
    pub(crate) message_ns: u64,
    pub(crate) task_ns: u64,
}

impl CostModel {
    /// Charges nothing.
    pub fn free() -> Self {
        CostModel::default()
    }

    /// Prices message passing as it was on a large server of 2012: 9,600 ns for an activation and 480 ns for a message, so
    /// that a throughput of 20 moves 2.5 times as much as one of 5.
    pub fn dispatch_2012() -> Self {
        CostModel { activation_ns: 9_600, message_ns: 480, task_ns: 0 }
    }

    /// Charges so much for each activation: an actor, future or job that gets hold of a worker.
    pub fn activation(mut self, price: Duration) -> Self {
        self.activation_ns = nanos(price);
        self
    }

    /// Charges so much for each message handled; a hook and a poll of a future count as one.
    pub fn message(mut self, price: Duration) -> Self {
        self.message_ns = nanos(price);
        self
    }

    /// Charges so much for each job given to [`Context::spawn_task`](crate::actor::Context) or `spawn_blocking`, when it
    /// begins.
    pub fn task(mut self, price: Duration) -> Self {
        self.task_ns = nanos(price);
        self
    }
}
