//! Whose run a thread is in: what a worker notes when it begins an activation, and how a thread finds its own note.
//!
//! Nothing is scheduled by it. It is there for two questions that no argument can answer: which run dropped a reply handle
//! (a drop has no context), and whether a blocking call would stop a worker.
//! I1 a note is written by its own worker only, and is empty between two activations.

use std::thread::ThreadId;

use crate::id::ActorId;
use crate::sync::{AtomicU64, Mutex, Ordering};

/// Names the calling thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(ThreadId);

impl Place {
    #[expect(
        clippy::disallowed_methods,
        reason = "a drop has no context to be told by; see the module's page"
    )]
    pub(crate) fn here() -> Self {
        Place(std::thread::current().id())
    }
}

/// One worker's note.
#[derive(Debug, Default)]
pub(crate) struct Running {
    actor: AtomicU64,
    place: Mutex<Option<Place>>,
}

impl Running {
    /// Notes that the calling thread is this worker's.
    #[allow(dead_code, reason = "only a Pool has threads to tell apart")]
    pub(crate) fn settle_here(&self) {
        *self.place.lock() = Some(Place::here());
    }

    /// Is true if the calling thread is this worker's.
    #[allow(dead_code, reason = "only a Pool has threads to tell apart")]
    pub(crate) fn is_here(&self) -> bool {
        *self.place.lock() == Some(Place::here())
    }

    /// Notes whose run begins, or that it has ended; gives whose it was before.
    pub(crate) fn set(&self, actor: ActorId) -> ActorId {
        // Ordering: Relaxed, read by the same thread.
        let before = self.actor();
        self.actor.store(actor.0, Ordering::Relaxed);
        before
    }

    pub(crate) fn actor(&self) -> ActorId {
        ActorId(self.actor.load(Ordering::Relaxed))
    }
}
