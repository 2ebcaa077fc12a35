//! The scheduling algorithm of one worker; it knows no threads, so that Pool and Stepper share it to the letter.
//!
//! Order of search: every 61st time the injector first; then the slot (three times in a row at most while others wait),
//! the ring, the injector, and the other workers' rings, oldest first, half of a ring at a time; last their slots.
//! I1 a ready task of a ring waits for at most three tasks of the slot and a bounded number before it in the ring.
//! I2 the injector is looked at after at most 61 activations.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Task;
use super::run_queue::{Injector, RunQueue, Taken};
use super::running::Running;
use crate::rng::Rng;

/// Activations between two looks at the injector while there is local work (a prime, as in Go's scheduler).
const INJECTOR_EVERY: u32 = 61;
/// Tasks from the slot in a row while the ring has others.
const LIFO_RUNS: u32 = 3;

/// All queues of a dispatcher.
pub(crate) struct Queues {
    pub(crate) local: Vec<RunQueue>,
    pub(crate) injector: Injector,
}

impl Queues {
    pub(crate) fn new(workers: usize) -> Self {
        Queues { local: (0..workers).map(|_| RunQueue::default()).collect(), injector: Injector::default() }
    }

    /// Is true if some queue has a task.
    pub(crate) fn any(&self) -> bool {
        !self.injector.is_empty() || self.local.iter().any(|queue| !queue.is_empty())
    }

    /// Queues a task woken by this worker into its slot. Is true if others may now find work.
    pub(crate) fn push_lifo(&self, worker: usize, task: Task) -> bool {
        let displaced = self.local[worker].push_lifo(task);
        self.overflow(displaced.overflow);
        displaced.moved
    }

    /// Queues a task at the back of the worker's ring.
    pub(crate) fn push_back(&self, worker: usize, task: Task) {
        self.overflow(self.local[worker].push_back(task));
    }

    /// Takes everything.
    pub(crate) fn drain(&self) -> Vec<Task> {
        let mut all: Vec<Task> = std::iter::from_fn(|| self.injector.pop()).collect();
        for queue in &self.local {
            all.extend(std::iter::from_fn(|| queue.pop(false).map(|(task, _)| task)));
        }
        all
    }

    fn overflow(&self, tasks: Vec<Task>) {
        if !tasks.is_empty() {
            self.injector.push(tasks);
        }
    }
}

/// One worker's own part of the algorithm.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) index: usize,
    /// Whose run this worker is in.
    pub(crate) running: Arc<Running>,
    searches: u32,
    lifo_runs: u32,
    /// Decides between the slot and the ring, in a Stepper's seeded order.
    chance: Option<Rng>,
}

impl Worker {
    pub(crate) fn new(index: usize, chance: Option<Rng>) -> Self {
        Worker { index, running: Arc::default(), searches: 0, lifo_runs: 0, chance }
    }

    /// Finds the next task to run.
    pub(crate) fn find_task(&mut self, queues: &Queues) -> Option<Task> {
        self.searches = self.searches.wrapping_add(1);
        if self.searches.is_multiple_of(INJECTOR_EVERY)
            && let Some(task) = queues.injector.pop()
        {
            return Some(task);
        }
        self.own(queues).or_else(|| queues.injector.pop()).or_else(|| self.steal(queues))
    }

    fn own(&mut self, queues: &Queues) -> Option<Task> {
        let skip_slot = self.lifo_runs >= LIFO_RUNS || self.chance.as_mut().is_some_and(|c| c.below(2) == 0);
        let (task, taken) = queues.local[self.index].pop(skip_slot)?;
        self.lifo_runs = if taken == Taken::Slot { self.lifo_runs + 1 } else { 0 };
        Some(task)
    }

    fn steal(&mut self, queues: &Queues) -> Option<Task> {
        self.steal_pass(queues, false).or_else(|| self.steal_pass(queues, true))
    }

    fn steal_pass(&mut self, queues: &Queues, and_slot: bool) -> Option<Task> {
        let n = queues.local.len();
        let victims = (1..n).map(|k| (self.index + k) % n);
        for victim in victims {
            let mut stolen: VecDeque<Task> = queues.local[victim].steal(and_slot);
            if let Some(first) = stolen.pop_front() {
                for task in stolen {
                    queues.push_back(self.index, task);
                }
                return Some(first);
            }
        }
        None
    }
}
