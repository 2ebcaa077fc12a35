//! A handle on the system from anywhere: from a handler, from a task, from outside.
//!
//! It gives what patterns need of a system; of its end, only the coordinated one. It keeps no actor alive.

use std::fmt;
use std::sync::Arc;

use crate::actor::shared::Shared;
use crate::actor::{Actor, Context};
use crate::rng::Rng;
use crate::sync::{AtomicU64, Ordering};
use crate::time::Instant;

/// Names a system. Cheap to clone; got by [`Context::system`] or by the system's own `handle()`.
///
/// # Examples
/// ```
/// use footlights::system::ActorSystem;
/// let system = ActorSystem::builder("demo").stepper().build()?;
/// let handle = system.handle();
/// assert_eq!(handle.name(), "demo");
/// assert_eq!(handle.now(), system.now());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SystemHandle(pub(crate) Arc<Shared>);

impl SystemHandle {
    /// Gives the system's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Gives the system's time.
    pub fn now(&self) -> Instant {
        self.0.now()
    }
}

/// Labels the generators of patterns that are no actors.
const RNG_PATTERNS: u64 = 4 << 60;

/// Numbers such patterns in the order of their creation.
#[derive(Default)]
struct Numbers(AtomicU64);

impl SystemHandle {
    /// Gives a generator for one consumer that is no actor.
    pub(super) fn own_rng(&self) -> Rng {
        let numbers = self.0.groups.get(Numbers::default);
        // Ordering: Relaxed, only uniqueness matters.
        self.0.rng(RNG_PATTERNS | numbers.0.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Debug for SystemHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SystemHandle({})", self.0.name)
    }
}

impl<A: Actor> Context<'_, A> {
    /// Gives a handle on the system.
    pub fn system(&self) -> SystemHandle {
        SystemHandle(self.cell.head.shared.clone())
    }
}
