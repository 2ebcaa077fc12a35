//! The choice of a routee, by kind of router.

use std::fmt;

use crate::actor::ActorRef;
use crate::observe::ActorState;
use crate::rng::Rng;
use crate::sync::{AtomicU64, Mutex, Ordering};

/// A kind of router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    /// In turn.
    RoundRobin,
    /// Any, by the seed.
    Random,
    /// All of them.
    Broadcast,
    /// The one with the fewest messages; one that waits for its restart comes last.
    SmallestMailbox,
}

impl fmt::Display for Logic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Logic::RoundRobin => "round robin",
            Logic::Random => "random",
            Logic::Broadcast => "broadcast",
            Logic::SmallestMailbox => "smallest mailbox",
        })
    }
}

/// A kind of router with its memory.
pub(super) struct Chooser {
    logic: Logic,
    next: AtomicU64,
    rng: Mutex<Rng>,
}

impl Chooser {
    pub(super) fn new(logic: Logic) -> Self {
        Chooser { logic, next: AtomicU64::new(0), rng: Mutex::new(Rng::new(0)) }
    }

    /// Gives the source of chance, before the first choice.
    pub(super) fn seed(&self, rng: Rng) {
        *self.rng.lock() = rng;
    }

    pub(super) fn logic(&self) -> Logic {
        self.logic
    }

    pub(super) fn set_counter(&self, value: u64) {
        self.next.store(value, Ordering::Relaxed);
    }

    /// Gives the index of the routee to try first; 0 if there is none.
    pub(super) fn choose<M: Send + 'static>(&self, routees: &[ActorRef<M>]) -> usize {
        let n = routees.len() as u64;
        match self.logic {
            _ if n < 2 => 0,
            Logic::RoundRobin | Logic::Broadcast => self.turn(n) as usize,
            Logic::Random => self.rng.lock().below(n) as usize,
            Logic::SmallestMailbox => {
                let first = self.turn(n) as usize;
                let order = (0..routees.len()).map(|step| (first + step) % routees.len());
                order.min_by_key(|&index| load(&routees[index])).unwrap_or(0)
            }
        }
    }

    /// Gives 0 … n-1 in strict rotation. The counter is kept below `n`, so that it never wraps out of step.
    fn turn(&self, n: u64) -> u64 {
        // Ordering: Relaxed, only the sequence of this one word matters.
        let step = |next: u64| Some((next % n + 1) % n);
        match self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step) {
            Ok(now) | Err(now) => now % n,
        }
    }
}

/// Orders routees by their load: those that handle nothing at present are after all others.
fn load<M: Send + 'static>(routee: &ActorRef<M>) -> (bool, u64) {
    let state = routee.0.head.state();
    let suspended = matches!(state, ActorState::Suspended | ActorState::Restarting | ActorState::Backoff);
    (suspended, routee.queued())
}
