//! The choice of a routee, by kind of router.
//!
//! I1 round robin rotates strictly: the counter is kept below the number of routees, so it cannot wrap out of step.
//! I2 nothing here allocates.

use std::fmt;
use std::time::Duration;

use super::member::Routes;
use super::queue::Queue;
use super::ring::Ring;
use crate::observe::RouteWhy;
use crate::rng::Rng;
use crate::sync::{AtomicU64, Mutex, Ordering};

/// A kind of router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Logic {
    /// In turn.
    RoundRobin,
    /// Any, by the seed.
    Random,
    /// All of them.
    Broadcast,
    /// One with nothing to do, else the one with the fewest messages; one that waits for its restart comes last.
    SmallestMailbox,
    /// Whoever is free first takes the oldest message of one shared queue.
    Balancing,
    /// An ask goes to all, and the first answer counts.
    ScatterGatherFirst,
    /// An ask goes to one after another, and the first answer counts.
    TailChopping,
    /// Messages with the same key go to the same routee.
    ConsistentHash,
}

impl Logic {
    /// Gives the name used on screens and in documents with spaces turned to underscores, such as `round robin`.
    pub fn name(self) -> &'static str {
        match self {
            Logic::RoundRobin => "round robin",
            Logic::Random => "random",
            Logic::Broadcast => "broadcast",
            Logic::SmallestMailbox => "smallest mailbox",
            Logic::Balancing => "balancing",
            Logic::ScatterGatherFirst => "scatter gather first",
            Logic::TailChopping => "tail chopping",
            Logic::ConsistentHash => "consistent hash",
        }
    }
}

impl fmt::Display for Logic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Gives the key of a message, if it has one.
pub(super) type KeyOf<M> = fn(&M) -> Option<u64>;

/// What a kind of router needs to know.
pub(super) struct Kind<M> {
    pub(super) logic: Logic,
    /// Makes copies, for the kind that sends to all.
    pub(super) copy: Option<fn(&M) -> M>,
    pub(super) key: Option<KeyOf<M>>,
    /// The shared queue, for the kind that has one.
    pub(super) queue: Option<Queue>,
    /// How long an ask of several may take in all.
    pub(super) within: Duration,
    /// When the next one is asked, if the one before has not answered.
    pub(super) every: Duration,
}

/// A kind of router with its memory.
pub(super) struct Chooser<M> {
    pub(super) kind: Kind<M>,
    next: AtomicU64,
    rng: Mutex<Rng>,
}

impl<M: Send + 'static> Chooser<M> {
    pub(super) fn new(kind: Kind<M>) -> Self {
        Chooser { kind, next: AtomicU64::new(0), rng: Mutex::new(Rng::new(0)) }
    }

    /// Gives the source of chance, before the first choice.
    pub(super) fn seed(&self, rng: Rng) {
        *self.rng.lock() = rng;
    }

    pub(super) fn set_counter(&self, value: u64) {
        self.next.store(value, Ordering::Relaxed);
    }

    /// Gives the index of the routee to try first, and why; the key is that of the message. `None` if there is none.
    pub(super) fn first(&self, routes: &Routes<M>, key: u64) -> Option<(usize, RouteWhy)> {
        let of = routes.len() as u64;
        if of == 0 {
            return None;
        }
        let (index, why) = match self.kind.logic {
            Logic::Random | Logic::TailChopping => {
                let index = if of == 1 { 0 } else { self.rng.lock().below(of) };
                (index, RouteWhy::Chance { index, of })
            }
            Logic::SmallestMailbox => {
                let (index, why) = self.smallest(routes);
                (index as u64, why)
            }
            Logic::ConsistentHash => {
                let index = routes.owner(key, |_| true)?;
                (index as u64, RouteWhy::Key { hash: Ring::place_of(key) })
            }
            Logic::RoundRobin | Logic::Broadcast | Logic::Balancing | Logic::ScatterGatherFirst => {
                let index = self.turn(of);
                (index, RouteWhy::Turn { index, of })
            }
        };
        Some((index as usize, why))
    }

    /// Gives the routee to try after `index` was found closed, as `passed` others before it.
    pub(super) fn next(&self, routes: &Routes<M>, key: u64, index: usize) -> Option<usize> {
        match self.kind.logic {
            Logic::ConsistentHash => routes.owner(key, |index| !routes.members[index].is_closed()),
            _ => Some((index + 1) % routes.len()),
        }
    }

    /// Gives the routees in an order of chance.
    pub(super) fn shuffled(&self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        let mut rng = self.rng.lock();
        for last in (1..n).rev() {
            order.swap(last, rng.below(last as u64 + 1) as usize);
        }
        order
    }

    fn smallest(&self, routes: &Routes<M>) -> (usize, RouteWhy) {
        let n = routes.len();
        let first = self.turn(n as u64) as usize;
        let mut best: Option<(usize, super::member::Load)> = None;
        for index in (0..n).map(|step| (first + step) % n) {
            let load = routes.members[index].load();
            if best.as_ref().is_none_or(|(_, least)| load < *least) {
                best = Some((index, load));
            }
        }
        let Some((index, load)) = best else { return (first, RouteWhy::Idle) };
        let queued = load.queued;
        let why = match (load.suspended, load.occupied) {
            (true, _) => RouteWhy::AllSuspended { queued },
            (false, false) => RouteWhy::Idle,
            (false, true) => RouteWhy::Fewest { queued },
        };
        (index, why)
    }

    /// Gives 0 … n-1 in strict rotation.
    fn turn(&self, n: u64) -> u64 {
        if n < 2 {
            return 0;
        }
        // Ordering: Relaxed, only the sequence of this one word matters.
        let step = |next: u64| Some((next % n + 1) % n);
        match self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step) {
            Ok(now) | Err(now) => now % n,
        }
    }
}
