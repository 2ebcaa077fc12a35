//! The queues that workers take tasks from: one per worker (a LIFO slot and a ring), and one injector for all.
//!
//! Both start as deques behind a lock; the length is kept beside it so that looking at an empty queue costs one load.
//! I1 a ring holds at most [`RING`] tasks; what does not fit goes to the injector, half of the ring with it.
//! I2 the slot is taken by a thief only when it asks for it (its last pass).

use std::collections::VecDeque;

use super::Task;
use crate::id::ActorId;
use crate::sync::{AtomicUsize, Mutex, Ordering};

/// Tasks in a worker's ring, at most.
pub(crate) const RING: usize = 256;
/// Tasks moved by one steal, at most.
const STEAL: usize = 32;

/// One worker's queue: the slot for the task woken last, and a ring, first in first out.
#[derive(Default)]
pub(crate) struct RunQueue {
    inner: Mutex<Inner>,
    len: AtomicUsize,
}

#[derive(Default)]
struct Inner {
    lifo: Option<Task>,
    ring: VecDeque<Task>,
}

impl RunQueue {
    /// Puts a task into the slot; the one that was there goes to the ring. Gives back what overflowed.
    pub(crate) fn push_lifo(&self, task: Task) -> Displaced {
        let mut inner = self.inner.lock();
        let displaced = inner.lifo.replace(task);
        let moved = displaced.is_some();
        let overflow = displaced.map(|old| inner.push_back(old)).unwrap_or_default();
        self.publish(&inner);
        Displaced { moved, overflow }
    }

    /// Puts a task at the back of the ring. Gives back what overflowed.
    pub(crate) fn push_back(&self, task: Task) -> Vec<Task> {
        let mut inner = self.inner.lock();
        let overflow = inner.push_back(task);
        self.publish(&inner);
        overflow
    }

    /// Takes the slot's task; if there is none, the ring's oldest.
    pub(crate) fn pop(&self) -> Option<(Task, Taken)> {
        self.pop_with(|inner| inner.take_slot().or_else(|| inner.take_ring()))
    }

    /// Takes the ring's oldest task, past the one in the slot; if there is none, that one.
    pub(crate) fn pop_past_slot(&self) -> Option<(Task, Taken)> {
        self.pop_with(|inner| inner.take_ring().or_else(|| inner.take_slot()))
    }

    /// As [`RunQueue::pop_past_slot`]; the slot's task goes to the back of the ring, behind all who waited.
    pub(crate) fn pop_ring_first(&self) -> Option<(Task, Taken)> {
        self.pop_with(|inner| {
            let first = inner.take_ring();
            if first.is_some() {
                // There is room: one task has just left the ring.
                inner.ring.extend(inner.lifo.take());
            }
            first.or_else(|| inner.take_slot())
        })
    }

    /// Takes the ring's oldest task, if the ring has one.
    pub(crate) fn take_one(&self) -> Option<Task> {
        self.pop_with(|inner| inner.ring.pop_front())
    }

    fn pop_with<T>(&self, take: impl FnOnce(&mut Inner) -> Option<T>) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut inner = self.inner.lock();
        let taken = take(&mut inner);
        self.publish(&inner);
        taken
    }

    /// Takes half of the ring, at most 32, oldest first; with `and_slot`, the slot's task if the ring is empty.
    pub(crate) fn steal(&self, and_slot: bool) -> VecDeque<Task> {
        if self.is_empty() {
            return VecDeque::new();
        }
        let mut inner = self.inner.lock();
        let n = inner.ring.len().div_ceil(2).min(STEAL);
        let mut stolen: VecDeque<Task> = inner.ring.drain(..n).collect();
        if stolen.is_empty() && and_slot {
            stolen.extend(inner.lifo.take());
        }
        self.publish(&inner);
        stolen
    }

    /// Takes the first task that is `wanted`, out of turn.
    pub(crate) fn take(&self, wanted: impl Fn(&Task) -> bool) -> Option<Task> {
        let mut inner = self.inner.lock();
        let taken = match inner.lifo.take_if(|task| wanted(task)) {
            Some(task) => Some(task),
            None => inner.ring.iter().position(wanted).and_then(|at| inner.ring.remove(at)),
        };
        self.publish(&inner);
        taken
    }

    /// Lists whose tasks are queued.
    pub(crate) fn actors(&self) -> Vec<ActorId> {
        let inner = self.inner.lock();
        inner.lifo.iter().chain(&inner.ring).map(|task| task.actor()).collect()
    }

    /// Counts the queued tasks.
    pub(crate) fn len(&self) -> usize {
        // Ordering: Acquire, pairs with the Release in publish(): who sees a length sees the task under the lock.
        self.len.load(Ordering::Acquire)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn publish(&self, inner: &Inner) {
        // Ordering: Release, pairs with the Acquire in len().
        self.len.store(inner.ring.len() + usize::from(inner.lifo.is_some()), Ordering::Release);
    }
}

impl Inner {
    fn take_slot(&mut self) -> Option<(Task, Taken)> {
        let task = self.lifo.take()?;
        Some((task, if self.ring.is_empty() { Taken::LastSlot } else { Taken::Slot }))
    }

    fn take_ring(&mut self) -> Option<(Task, Taken)> {
        self.ring.pop_front().map(|task| (task, Taken::Ring))
    }

    fn push_back(&mut self, task: Task) -> Vec<Task> {
        if self.ring.len() < RING {
            self.ring.push_back(task);
            return Vec::new();
        }
        let mut overflow: Vec<Task> = self.ring.drain(..RING / 2).collect();
        overflow.push(task);
        overflow
    }
}

/// What a push into the slot pushed out of it.
#[derive(Default)]
pub(crate) struct Displaced {
    /// True if a task moved from the slot to where others can take it.
    pub(crate) moved: bool,
    /// What did not fit into the ring.
    pub(crate) overflow: Vec<Task>,
}

/// Where a task came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The slot, while the ring had others waiting.
    Slot,
    /// The slot, with nobody waiting.
    LastSlot,
    /// The ring.
    Ring,
}

/// The queue for what comes from outside the workers.
#[derive(Default)]
pub(crate) struct Injector {
    tasks: Mutex<VecDeque<Task>>,
    len: AtomicUsize,
}

impl Injector {
    pub(crate) fn push(&self, new: impl IntoIterator<Item = Task>) {
        let mut tasks = self.tasks.lock();
        tasks.extend(new);
        // Ordering: Release, pairs with the Acquire in len().
        self.len.store(tasks.len(), Ordering::Release);
    }

    pub(crate) fn pop(&self) -> Option<Task> {
        if self.is_empty() {
            return None;
        }
        let mut tasks = self.tasks.lock();
        let task = tasks.pop_front();
        // Ordering: Release, as in push().
        self.len.store(tasks.len(), Ordering::Release);
        task
    }

    /// Takes the first task that is `wanted`, out of turn.
    pub(crate) fn take(&self, wanted: impl Fn(&Task) -> bool) -> Option<Task> {
        let mut tasks = self.tasks.lock();
        let taken = tasks.iter().position(wanted).and_then(|at| tasks.remove(at));
        // Ordering: Release, as in push().
        self.len.store(tasks.len(), Ordering::Release);
        taken
    }

    /// Lists whose tasks are queued.
    pub(crate) fn actors(&self) -> Vec<ActorId> {
        self.tasks.lock().iter().map(|task| task.actor()).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts the queued tasks.
    pub(crate) fn len(&self) -> usize {
        // Ordering: Acquire, pairs with the Release in push() and pop().
        self.len.load(Ordering::Acquire)
    }
}
