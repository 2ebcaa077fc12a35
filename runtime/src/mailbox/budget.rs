//! The message memory of a system: what all budgeted mailboxes together may take.
//!
//! It is counted where a queue grows or goes back, never per message.
//! I1 `used` is the sum of what the mailboxes have been given and not given back.
//! I2 whoever waits for memory registers first and looks again after: a return in between is not missed.
//! What the owner of a mailbox has ordered, and what has room by a ticket, is taken in even beyond the limit, and counted.

use std::task::Waker;

use crate::sync::{AtomicUsize, Mutex, Ordering};

/// Bytes of drained queues that each worker may keep for the next messages.
const IDLE_PER_WORKER: usize = 1 << 20;

/// Bytes of a drained queue that are not worth giving back.
const SMALL: usize = 4_096;

/// The memory of drained mailboxes outside the budget, each.
const IDLE_UNBOUNDED: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Budget {
    used: AtomicUsize,
    limit: usize,
    idle: usize,
    waiting: Mutex<Vec<Waker>>,
}

impl Budget {
    pub(crate) fn new(limit: usize, workers: usize) -> Self {
        let idle = IDLE_PER_WORKER.saturating_mul(workers).min(limit / 4);
        Budget { used: AtomicUsize::new(0), limit, idle, waiting: Mutex::default() }
    }

    /// Gives the bytes in use.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes up to `want` bytes, but no fewer than `least`; gives how many, or `None` if there are not so many.
    pub(super) fn take(&self, least: usize, want: usize) -> Option<usize> {
        let mut used = self.used();
        loop {
            let left = self.limit.saturating_sub(used);
            if left < least {
                return None;
            }
            let taken = want.min(left);
            // Ordering: SeqCst, ordered with the list of those who wait (I2).
            match self.used.compare_exchange(used, used + taken, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return Some(taken),
                Err(now) => used = now,
            }
        }
    }

    /// Takes bytes whatever the limit.
    pub(super) fn overdraw(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::SeqCst);
    }

    /// Takes bytes back; gives those who wait for some.
    pub(super) fn give(&self, bytes: usize) -> Vec<Waker> {
        if bytes == 0 {
            return Vec::new();
        }
        self.used.fetch_sub(bytes, Ordering::SeqCst);
        std::mem::take(&mut *self.waiting.lock())
    }

    /// Will wake `waker` when memory has come back.
    pub(super) fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting.lock();
        if !waiting.iter().any(|known| known.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }
}

/// Says whether a drained queue of `bytes` is to be let go.
pub(super) fn is_too_large(bytes: usize, budget: Option<&Budget>) -> bool {
    match budget {
        Some(budget) => bytes > SMALL && budget.used() > budget.idle,
        None => bytes > IDLE_UNBOUNDED,
    }
}
