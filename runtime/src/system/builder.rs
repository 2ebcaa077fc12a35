//! The settings of a system.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::ActorSystem;
use crate::actor::shared::{ACTORS_MAX, Shared};
use crate::dispatch::settings::{
    BLOCKING, BLOCKING_QUEUE, DEFAULT, Kind, Named, PINNED, THROUGHPUT, WORKERS_MAX,
};
use crate::dispatch::{CostModel, Dispatcher, DispatcherSettings, Roster, Stepper};
use crate::mailbox::budget::Budget;
use crate::observe::{Level, Log};
use crate::rng::Rng;
use crate::supervise::{Dialect, SignalOrder};

/// Message events kept on a Stepper, by default.
const MESSAGES_KEPT: usize = 10_000;

/// Message memory of all budgeted mailboxes together, by default.
const MEMORY: usize = 1 << 30;
/// The same where addresses have 32 bits, as in a browser tab.
const MEMORY_SMALL: usize = 256 << 20;

/// Labels the generator of a Stepper's seeded order.
const ORDER: u64 = 3 << 60;

/// Sets up a system; got by [`ActorSystem::builder`].
#[derive(Clone, Debug)]
pub struct Builder {
    name: String,
    workers: Option<usize>,
    throughput: u32,
    deadline: Duration,
    dispatchers: Vec<Named>,
    blocking_queue: usize,
    costs: CostModel,
    seed: u64,
    stepper: bool,
    level: Option<Level>,
    messages_kept: usize,
    seeded_order: bool,
    message_memory: usize,
    actors_max: usize,
    dialect: Dialect,
    signal_order: Option<SignalOrder>,
}

/// Says why a system could not be built. Nothing was started.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// Workers are 1 to 64.
    Workers(usize),
    /// Throughput is at least 1.
    Throughput,
    /// A dispatcher has no name or one that is taken; `default` is set up by the builder itself.
    DispatcherName(String),
    /// The built-in `blocking` and `pinned` may be changed, but not in kind.
    DispatcherKind(String),
    /// The operating system refused a thread.
    Thread(std::io::Error),
    /// There are no threads here: use a Stepper.
    NoThreads,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Workers(n) => write!(f, "{n} workers: choose 1 to {WORKERS_MAX}"),
            BuildError::Throughput => write!(f, "a throughput of 0 would handle nothing: choose 1 or more"),
            BuildError::DispatcherName(name) => write!(f, "\"{name}\" is no free name for a dispatcher"),
            BuildError::DispatcherKind(name) => write!(f, "the dispatcher \"{name}\" is of another kind"),
            BuildError::Thread(error) => write!(f, "no thread to be had: {error}"),
            BuildError::NoThreads => write!(f, "this target has no threads: build with stepper()"),
        }
    }
}

impl std::error::Error for BuildError {}

impl Builder {
    pub(super) fn new(name: &str) -> Self {
        Builder {
            name: name.to_owned(),
            workers: None,
            throughput: THROUGHPUT,
            deadline: Duration::ZERO,
            dispatchers: Vec::new(),
            blocking_queue: BLOCKING_QUEUE,
            costs: CostModel::free(),
            seed: 0,
            stepper: cfg!(target_family = "wasm"),
            level: None,
            messages_kept: MESSAGES_KEPT,
            seeded_order: false,
            message_memory: if cfg!(target_pointer_width = "32") { MEMORY_SMALL } else { MEMORY },
            actors_max: ACTORS_MAX,
            dialect: Dialect::Footlights,
            signal_order: None,
        }
    }

    /// Takes so many workers, 1 to 64: threads of a Pool (default: the machine's cores), virtual ones of a Stepper (4).
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Allows so many living actors at a time (default 16,777,216); a spawn beyond is refused.
    pub fn max_actors(mut self, actors: usize) -> Self {
        self.actors_max = actors;
        self
    }

    /// Takes the defaults of another system for what an actor's props do not name: strategy, restart type, what becomes of
    /// the mailbox on a restart, how children stop; and for the order of signals. `/user` supervises as it says, too.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Says where termination notices stand among messages, whatever the dialect says.
    pub fn signal_order(mut self, order: SignalOrder) -> Self {
        self.signal_order = Some(order);
        self
    }

    /// Lets an actor handle so many messages in a row before others have their turn (default 64).
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

    /// Adds a dispatcher, for actors whose [`Props::dispatcher`](crate::actor::Props::dispatcher) names it; or sets up
    /// `blocking` or `pinned` otherwise than they are.
    pub fn dispatcher(mut self, name: &str, settings: DispatcherSettings) -> Self {
        self.dispatchers.push(Named { name: name.into(), settings });
        self
    }

    /// Lets so many jobs of [`Context::spawn_blocking`](crate::actor::Context::spawn_blocking) wait for a thread (default
    /// 1,024); what comes beyond is refused.
    pub fn blocking_queue(mut self, jobs: usize) -> Self {
        self.blocking_queue = jobs;
        self
    }

    /// Prices the runtime's own work on a Stepper (default: free); a Pool pays what it costs.
    pub fn costs(mut self, costs: CostModel) -> Self {
        self.costs = costs;
        self
    }

    /// Seeds all random choices (default 0).
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Runs in virtual time, on the caller's thread.
    pub fn stepper(mut self) -> Self {
        self.stepper = true;
        self
    }

    /// Lets the seed decide between turns of a Stepper that may come in any order: another seed, another schedule. Without
    /// it the order is fixed, whatever the seed.
    pub fn seeded_order(mut self) -> Self {
        self.seeded_order = true;
        self
    }

    /// Runs on threads of its own (the default, where there are threads).
    pub fn pool(mut self) -> Self {
        self.stepper = false;
        self
    }

    /// Records events of this level and above; default: all on a Stepper, rare ones on a Pool.
    pub fn log(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// Keeps so many message events for inspection (default 10,000); the hash runs over all of them.
    pub fn keep_messages(mut self, events: usize) -> Self {
        self.messages_kept = events;
        self
    }

    /// Lets all budgeted mailboxes together take so many bytes for messages (default 1 GiB; 256 MiB in a browser tab). It is
    /// counted where a queue grows, so what a message owns elsewhere is not in it.
    pub fn message_memory(mut self, bytes: usize) -> Self {
        self.message_memory = bytes;
        self
    }

    /// Starts the system.
    ///
    /// # Errors
    /// If a setting is out of range, or the machine refuses a thread.
    pub fn build(self) -> Result<ActorSystem, BuildError> {
        let workers = self.workers.unwrap_or_else(|| self.default_workers());
        let default = DispatcherSettings::pool(workers).throughput(self.throughput);
        let default = default.throughput_deadline(self.deadline);
        check(&default)?;
        self.check_dispatchers()?;
        let level = self.level.unwrap_or(if self.stepper { Level::Message } else { Level::Rare });
        let dispatcher = self.driver(default)?;
        let mut shared = Shared::new(self.name, self.seed, dispatcher, Log::new(level, self.messages_kept));
        shared.memory = Arc::new(Budget::new(self.message_memory, workers));
        shared.actors_max = self.actors_max;
        shared.dialect = self.dialect;
        shared.signal_order = self.signal_order.unwrap_or(self.dialect.signal_order());
        match ActorSystem::start(shared) {
            Ok(system) => Ok(system),
            Err(error) => unreachable!("the guardians' names are free and good: {error}"),
        }
    }

    fn default_workers(&self) -> usize {
        match self.stepper {
            true => 4,
            false => std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS_MAX),
        }
    }

    fn check_dispatchers(&self) -> Result<(), BuildError> {
        for (n, Named { name, settings }) in self.dispatchers.iter().enumerate() {
            let built_in = match &**name {
                BLOCKING => Kind::Blocking,
                PINNED => Kind::Pinned,
                _ => settings.kind,
            };
            let taken = &**name == DEFAULT || self.dispatchers[..n].iter().any(|other| other.name == *name);
            if taken || name.is_empty() {
                return Err(BuildError::DispatcherName(name.to_string()));
            }
            if settings.kind != built_in {
                return Err(BuildError::DispatcherKind(name.to_string()));
            }
            check(settings)?;
        }
        Ok(())
    }

    fn driver(&self, default: DispatcherSettings) -> Result<Dispatcher, BuildError> {
        let roster = Roster::new(default, self.dispatchers.clone(), self.blocking_queue);
        if self.stepper {
            let order = self.seeded_order.then(|| Rng::new(self.seed).split(ORDER));
            return Ok(Dispatcher::Stepper(Stepper::new(roster, self.costs, order)));
        }
        Dispatcher::threads(&self.name, roster).ok_or(BuildError::NoThreads)?.map_err(BuildError::Thread)
    }
}

/// Checks the numbers of a dispatcher.
fn check(settings: &DispatcherSettings) -> Result<(), BuildError> {
    if !(1..=WORKERS_MAX).contains(&settings.workers) {
        return Err(BuildError::Workers(settings.workers));
    }
    if settings.throughput == 0 {
        return Err(BuildError::Throughput);
    }
    Ok(())
}
