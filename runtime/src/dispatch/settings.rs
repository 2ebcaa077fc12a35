//! What a named dispatcher is, and the roster of those that a system has.
//!
//! Every system has three to begin with: `default`, for all who name none; `blocking`, whose threads may be kept waiting;
//! `pinned`, which gives each of its actors a worker of its own. More are added by name.
//!
//! I1 a [`Home`] below the number of crews is that crew's index, in the order of the roster; any other is one pinned
//!    actor's, and is never used twice.

use std::sync::Arc;
use std::time::Duration;

use super::gate::Gate;
use crate::sync::{AtomicU64, Ordering};

/// Workers of one dispatcher, at most.
pub(crate) const WORKERS_MAX: usize = 64;
/// Messages per activation, by default.
pub(crate) const THROUGHPUT: u32 = 64;
/// Threads of the built-in blocking dispatcher.
const BLOCKING_THREADS: usize = 16;
/// Jobs that wait for a blocking thread, by default.
pub(crate) const BLOCKING_QUEUE: usize = 1_024;

/// The name of the dispatcher of whoever names none.
pub(crate) const DEFAULT: &str = "default";
/// The name of the dispatcher for what keeps a thread waiting.
pub(crate) const BLOCKING: &str = "blocking";
/// The name of the dispatcher that gives each actor its own worker.
pub(crate) const PINNED: &str = "pinned";

/// Says what kind of dispatcher a name stands for, and how it treats its actors.
///
/// # Examples
/// ```
/// use footlights::system::{ActorSystem, DispatcherSettings};
/// let system = ActorSystem::builder("shop")
///     .stepper()
///     .dispatcher("back", DispatcherSettings::pool(4).throughput(5))
///     .build()?;
/// let names: Vec<_> = system.snapshot().dispatchers.iter().map(|d| d.name.to_string()).collect();
/// assert_eq!(names, ["default", "blocking", "back"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatcherSettings {
    pub(crate) kind: Kind,
    pub(crate) workers: usize,
    pub(crate) throughput: u32,
    pub(crate) deadline: Duration,
}

/// How a dispatcher finds workers for its actors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its actors share workers that are there from the start.
    Pool,
    /// Each of its actors has a worker.
    Pinned,
    /// Its actors and jobs share threads that come when they are needed, and that may be kept waiting.
    Blocking,
}

impl DispatcherSettings {
    /// Makes a dispatcher of so many workers, 1 to 64, that its actors share; throughput 64.
    pub fn pool(workers: usize) -> Self {
        DispatcherSettings { kind: Kind::Pool, workers, throughput: THROUGHPUT, deadline: Duration::ZERO }
    }

    /// Gives every actor a worker of its own, made with the actor and ended with it: on a Pool a thread, on a Stepper a
    /// virtual worker; throughput 64.
    pub fn pinned() -> Self {
        DispatcherSettings { kind: Kind::Pinned, ..DispatcherSettings::pool(1) }
    }

    /// Makes a dispatcher for actors that keep their thread waiting: at most so many threads, 1 to 64, each started when
    /// there is nobody free for what comes; throughput 1.
    pub fn blocking(threads: usize) -> Self {
        DispatcherSettings { kind: Kind::Blocking, throughput: 1, ..DispatcherSettings::pool(threads) }
    }

    /// Lets an actor handle so many messages in a row, never more than were queued when it began.
    pub fn throughput(mut self, messages: u32) -> Self {
        self.throughput = messages;
        self
    }

    /// Ends an actor's row of messages when it has lasted for `limit`, though the throughput is not reached; the clock is
    /// read after every 16 messages. Zero, the default, means never.
    pub fn throughput_deadline(mut self, limit: Duration) -> Self {
        self.deadline = limit;
        self
    }
}

/// Where a task runs: a crew's index, or a pinned actor's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Home(pub(crate) u64);

impl Home {
    /// The crew of whoever names none.
    pub(crate) const DEFAULT: Home = Home(0);
    /// The crew of blocking jobs.
    pub(crate) const BLOCKING: Home = Home(1);

    /// Gives the crew's index, if this is a crew's.
    pub(crate) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// Where the actors of a name go.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// To the workers of a crew.
    Crew(Home),
    /// Each to a worker of its own.
    Own(DispatcherSettings),
}

/// A dispatcher by its name.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: Arc<str>,
    pub(crate) settings: DispatcherSettings,
}

/// The dispatchers of one system.
pub(crate) struct Roster {
    crews: Vec<Named>,
    pinned: Vec<Named>,
    /// Bounds the jobs that wait for a blocking thread.
    pub(crate) gate: Arc<Gate>,
    pinned_so_far: AtomicU64,
}

impl Roster {
    /// Lists the built-in dispatchers and those of a user, which may redefine the built-in ones but the default.
    pub(crate) fn new(default: DispatcherSettings, users: Vec<Named>, blocking_queue: usize) -> Self {
        let named = |name: &str, settings| Named { name: name.into(), settings };
        let mut crews =
            vec![named(DEFAULT, default), named(BLOCKING, DispatcherSettings::blocking(BLOCKING_THREADS))];
        let mut pinned = vec![named(PINNED, DispatcherSettings::pinned())];
        for user in users {
            let list = if user.settings.kind == Kind::Pinned { &mut pinned } else { &mut crews };
            match list.iter_mut().find(|named| named.name == user.name) {
                Some(built_in) => *built_in = user,
                None => list.push(user),
            }
        }
        let gate = Arc::new(Gate::new(blocking_queue));
        Roster { crews, pinned, gate, pinned_so_far: AtomicU64::new(0) }
    }

    /// Lists the crews, in the order of their homes.
    pub(crate) fn crews(&self) -> &[Named] {
        &self.crews
    }

    /// Finds where the actors of a dispatcher go.
    pub(crate) fn place(&self, name: &str) -> Option<Place> {
        let crew = self.crews.iter().position(|named| &*named.name == name);
        let own = || self.pinned.iter().find(|named| &*named.name == name);
        crew.map(|index| Place::Crew(Home(index as u64)))
            .or_else(|| own().map(|named| Place::Own(named.settings.clone())))
    }

    /// Makes a home for one more pinned actor.
    pub(crate) fn next_pinned(&self) -> Home {
        // Ordering: Relaxed, only uniqueness matters.
        Home(self.crews.len() as u64 + self.pinned_so_far.fetch_add(1, Ordering::Relaxed))
    }

    /// Is true if actors of other homes are kept waiting by one that blocks there.
    pub(crate) fn is_shared(&self, home: Home) -> bool {
        self.crews.get(home.index()).is_some_and(|crew| crew.settings.kind == Kind::Pool)
    }
}
