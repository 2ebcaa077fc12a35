//! A bound on how many wait at once.
//!
//! I1 a [`Waiting`] counts from the moment it is given out to its drop, once.

use std::sync::Arc;

use crate::sync::{AtomicUsize, Ordering};

/// Lets a bounded number in.
#[derive(Debug)]
pub(crate) struct Gate {
    limit: usize,
    waiting: AtomicUsize,
}

/// One of those who wait; dropping it lets another one in.
#[derive(Debug)]
pub(crate) struct Waiting(Arc<Gate>);

impl Gate {
    pub(crate) fn new(limit: usize) -> Self {
        Gate { limit, waiting: AtomicUsize::new(0) }
    }

    /// Lets one more in, unless too many wait already.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Waiting> {
        // Ordering: Relaxed, a count; what waits is handed over by the queues.
        let add = |waiting: usize| (waiting < self.limit).then_some(waiting + 1);
        let entered = self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        entered.ok().map(|_| Waiting(self.clone()))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
