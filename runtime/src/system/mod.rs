//! A system: guardians, settings, and the doors for whoever stands outside.
//!
//! A system is driven by a Pool (threads) or by a Stepper (the caller, in virtual time); actors cannot tell which.

mod builder;
mod coordinated;
mod patterns;
mod phases;
mod shutdown;
mod stepping;

use std::fmt;
use std::sync::Arc;

pub use crate::dispatch::{CostModel, DispatcherSettings, Turn};
pub use builder::{BuildError, Builder};
pub use coordinated::{CoordinatedShutdown, FailedTask, ShutdownReport};
pub use phases::ShutdownPhase;
pub use shutdown::ShutdownError;

use crate::actor::cell::AnyCell;
use crate::actor::ready::{Outcome, ready};
use crate::actor::shared::Shared;
use crate::actor::spawn::{begin, prepare_child, spawn_child, spawn_guardian};
use crate::actor::{Actor, ActorRef, AnyRef, Context, DeadLetter, Failure, Props, SpawnError, Via};
use crate::dispatch::Dispatcher;
use crate::observe::{Event, EventKind, Ledger, Level, Snapshot};
use crate::routing::{RouterRef, SpawnRouter};
use crate::supervise::{Directive, FailureKind, RestartType, StopOrder, Strategy};
use crate::time::Instant;

/// A running system of actors.
///
/// # Examples
/// ```
/// use footlights::system::ActorSystem;
/// let system = ActorSystem::builder("demo").workers(2).build()?;
/// system.shutdown(std::time::Duration::from_secs(5))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ActorSystem {
    pub(crate) shared: Arc<Shared>,
    root: ActorRef<Never>,
    user: AnyRef,
    streams: AnyRef,
}

/// A message that does not exist: guardians handle none.
#[derive(Clone, Copy, Debug)]
enum Never {}

struct Guardian;

impl Actor for Guardian {
    type Msg = Never;

    fn receive(&mut self, _cx: &mut Context<'_, Self>, message: Never) -> Result<(), Failure> {
        match message {}
    }
}

/// Gives the props of a guardian; what they do not name is as the system's dialect says.
fn guardian() -> Props<Guardian> {
    Props::new(|| Guardian).restart_type(RestartType::Transient)
}

impl ActorSystem {
    /// Begins to set up a system.
    pub fn builder(name: &str) -> Builder {
        Builder::new(name)
    }

    fn start(shared: Shared) -> Result<Self, SpawnError> {
        let shared = Arc::new(shared);
        // Whatever reaches the root ends the system.
        let mut escalate = Strategy::one_for_one().default_directive(Directive::Escalate);
        for kind in [FailureKind::Killed, FailureKind::Linked] {
            escalate = escalate.on(kind, Directive::Escalate);
        }
        let root =
            spawn_guardian(&shared, "", guardian().supervise(escalate).stop_order(StopOrder::LastFirst));
        let cell: Arc<dyn AnyCell> = root.0.clone();
        // The user guardian is started last, so that it is stopped first.
        let system = spawn_child(
            &cell,
            "system",
            guardian().supervise(Strategy::one_for_one()).stop_order(StopOrder::LastFirst),
            None,
        )?;
        let user = spawn_child(&cell, "user", guardian(), None)?;
        Ok(ActorSystem { shared, root, user: user.any(), streams: system.any() })
    }

    /// Gives the system's name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Gives the seed of all random choices.
    pub fn seed(&self) -> u64 {
        self.shared.seed
    }

    /// Gives the time since the system was built; virtual on a Stepper.
    pub fn now(&self) -> Instant {
        self.shared.now()
    }

    /// Makes an actor under `/user`; an empty name asks for a generated one. It starts on its own.
    ///
    /// # Errors
    /// If the name is bad or taken, or the system is stopping.
    pub fn spawn<A: Actor>(&self, name: &str, props: Props<A>) -> Result<ActorRef<A::Msg>, SpawnError> {
        spawn_child(&self.user.0, name, props, None)
    }

    /// Makes an actor under `/user`, and waits until it runs: until `started` has said Ok.
    ///
    /// # Errors
    /// As [`ActorSystem::spawn`], at once; [`SpawnError::StartFailed`] if it has ended before it ever ran.
    ///
    /// # Examples
    /// ```
    /// # use footlights::{actor::*, system::ActorSystem};
    /// # struct Echo;
    /// # impl Actor for Echo {
    /// #     type Msg = u32;
    /// #     fn receive(&mut self, _: &mut Context<'_, Self>, _: u32) -> Result<(), Failure> { Ok(()) }
    /// # }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let echo = system.block_on(system.spawn_ready("echo", Props::new(|| Echo)))?;
    /// assert_eq!(echo.path(), "/user/echo");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn_ready<A: Actor>(
        &self,
        name: &str,
        props: Props<A>,
    ) -> Outcome<Result<ActorRef<A::Msg>, SpawnError>> {
        match prepare_child(&self.user.0, name, props) {
            // It is told before it starts who waits, so that it cannot have ended by then.
            Ok(actor) => {
                let outcome = ready(actor.clone());
                begin(&actor.any(), None);
                outcome
            }
            Err(error) => Outcome::done(Err(error)),
        }
    }

    /// Makes an actor under `/system`, for what serves others, as streams do.
    ///
    /// # Errors
    /// As [`ActorSystem::spawn`].
    pub fn spawn_system<A: Actor>(
        &self,
        name: &str,
        props: Props<A>,
    ) -> Result<ActorRef<A::Msg>, SpawnError> {
        spawn_child(&self.streams.0, name, props, None)
    }

    /// Makes a router under `/user`.
    ///
    /// # Errors
    /// As [`ActorSystem::spawn`].
    pub fn spawn_router<R: SpawnRouter>(
        &self,
        name: &str,
        router: R,
    ) -> Result<RouterRef<R::Msg>, SpawnError> {
        router.spawn_under(&self.user, name, Via::default())
    }

    /// Finds a living actor by its path, such as `/user/pool/r1`.
    pub fn find(&self, path: &str) -> Option<AnyRef> {
        let mut at: Arc<dyn AnyCell> = self.root.0.clone();
        for name in path.strip_prefix('/')?.split('/') {
            let next = at.head().children.lock().named(name)?;
            at = next;
        }
        Some(AnyRef(at))
    }

    /// Gives the state of every living actor, and all sums.
    pub fn snapshot(&self) -> Snapshot {
        let actors: Vec<_> = self.shared.living().iter().map(|cell| cell.snapshot()).collect();
        let ledger = actors.iter().map(|actor| actor.ledger).sum::<Ledger>() + self.shared.retired();
        Snapshot {
            now: self.now(),
            turns: self.turns(),
            log_hash: self.log_hash(),
            ledger,
            asks: *self.shared.asks.0.lock(),
            timers: self.shared.dispatcher.timers(),
            dispatchers: self.shared.dispatcher.snapshot(),
            actors,
        }
    }

    /// Gives the conservation ledger: exact on a Stepper after every turn, on a Pool when all workers are parked.
    pub fn ledger(&self) -> Ledger {
        self.snapshot().ledger
    }

    /// Gives the hash over the event log so far; two runs with equal hashes had equal events.
    pub fn log_hash(&self) -> u64 {
        self.shared.log.hash()
    }

    /// Gives the rare events from number `seq` on that are still kept, and the number that the next event will have.
    pub fn rare_events(&self, seq: u64) -> (Vec<Event>, u64) {
        self.shared.log.rare_since(seq)
    }

    /// Gives all kept events from number `seq` on, at most `max`.
    pub fn events(&self, seq: u64, max: usize) -> Vec<Event> {
        self.shared.log.since(seq, max)
    }

    /// Gives the kept message events from number `seq` on that `wanted` picks, the last `max` of them, in order.
    pub fn message_events(&self, seq: u64, max: usize, wanted: &dyn Fn(&Event) -> bool) -> Vec<Event> {
        self.shared.log.messages_since(seq, max, wanted)
    }

    /// Writes a command from outside into the event log, so that a replay shows it.
    pub fn record_command(&self, what: &str) {
        self.shared.record(crate::id::ActorId::NOBODY, EventKind::Command { what: what.into() });
    }

    /// Gives the last dead letters, at most 100.
    pub fn dead_letters(&self) -> Vec<DeadLetter> {
        self.shared.letters.kept()
    }

    /// Counts the living actors, guardians not included.
    pub fn live_actors(&self) -> usize {
        self.shared.living().len().saturating_sub(3)
    }

    /// Is true if every message is an event of the log.
    pub(crate) fn logs_messages(&self) -> bool {
        self.shared.log.wants(Level::Message)
    }

    /// Is true if this system runs in virtual time.
    pub fn is_stepper(&self) -> bool {
        matches!(self.shared.dispatcher, Dispatcher::Stepper(_))
    }
}

impl fmt::Debug for ActorSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActorSystem({}, {:?})", self.shared.name, self.now())
    }
}
