//! Faults as commands: what goes wrong, and when, is part of the run and can be run again.
//!
//! I1 each command is an event of the log, with the number of turns before it, so that a log says how to repeat its run.
//! I2 faults change what happens to messages and never how they are counted: the ledger stays exact.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::actor::faults::{LinkFault, Mishap};
use crate::actor::{ActorRef, AnyRef};
use crate::id::ActorId;
use crate::observe::EventKind;
use crate::system::ActorSystem;
use crate::time::{Instant, nanos};

/// One thing that goes wrong. Actors are named by their paths, `outside` stands for senders that are no actors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The `nth` message from now that the actor handles fails (code `fault`); 1 is the next one.
    Fail {
        /// The actor's path.
        actor: String,
        /// Which message.
        nth: u64,
    },
    /// Every message from now on costs the actor so much more work; zero heals it.
    Slow {
        /// The actor's path.
        actor: String,
        /// How much more.
        by: Duration,
    },
    /// The next messages from one actor to another are lost: dropped (FaultInjected).
    Drop {
        /// The sender's path.
        from: String,
        /// The receiver's path.
        to: String,
        /// How many.
        messages: u64,
    },
    /// The next messages from one actor to another arrive twice; see [`Faults::teach`].
    Double {
        /// The sender's path.
        from: String,
        /// The receiver's path.
        to: String,
        /// How many.
        messages: u64,
    },
    /// The next messages from one actor to another arrive later, and may be overtaken by those after them.
    Delay {
        /// The sender's path.
        from: String,
        /// The receiver's path.
        to: String,
        /// How many.
        messages: u64,
        /// How much later.
        by: Duration,
    },
    /// The clock jumps: what was due meanwhile is late, and comes in due order.
    Jump {
        /// How far.
        by: Duration,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Fail { actor, nth } => write!(f, "fail {actor} {nth}"),
            Fault::Slow { actor, by } => write!(f, "slow {actor} {}ns", nanos(*by)),
            Fault::Drop { from, to, messages } => write!(f, "drop {from} {to} {messages}"),
            Fault::Double { from, to, messages } => write!(f, "double {from} {to} {messages}"),
            Fault::Delay { from, to, messages, by } => {
                write!(f, "delay {from} {to} {messages} {}ns", nanos(*by))
            }
            Fault::Jump { by } => write!(f, "jump {}ns", nanos(*by)),
        }
    }
}

/// Says why a fault could not be planted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultError {
    /// No living actor has this path.
    NoSuchActor(String),
    /// Nobody has said how to copy this actor's messages; see [`Faults::teach`].
    NoCopy(String),
    /// The first message is number 1.
    Zeroth,
    /// The text is no fault.
    Unreadable(String),
}

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultError::NoSuchActor(path) => write!(f, "no living actor is called {path}"),
            FaultError::NoCopy(path) => {
                write!(f, "nobody has said how to copy the messages of {path}: teach it")
            }
            FaultError::Zeroth => write!(f, "there is no message number 0: the next one is number 1"),
            FaultError::Unreadable(text) => write!(f, "this is no fault: {text}"),
        }
    }
}

impl std::error::Error for FaultError {}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let words: Vec<&str> = text.split(' ').collect();
        let bad = || FaultError::Unreadable(text.to_owned());
        let number = |word: &str| word.parse::<u64>().map_err(|_| bad());
        let time =
            |word: &str| word.strip_suffix("ns").ok_or_else(bad).and_then(number).map(Duration::from_nanos);
        let path = |word: &str| word.to_owned();
        Ok(match words[..] {
            ["fail", actor, nth] => Fault::Fail { actor: path(actor), nth: number(nth)? },
            ["slow", actor, by] => Fault::Slow { actor: path(actor), by: time(by)? },
            ["drop", from, to, n] => Fault::Drop { from: path(from), to: path(to), messages: number(n)? },
            ["double", from, to, n] => Fault::Double { from: path(from), to: path(to), messages: number(n)? },
            ["delay", from, to, n, by] => {
                Fault::Delay { from: path(from), to: path(to), messages: number(n)?, by: time(by)? }
            }
            ["jump", by] => Fault::Jump { by: time(by)? },
            _ => return Err(bad()),
        })
    }
}

/// A fault with its place in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// How many turns had run before.
    pub after_turns: u64,
    /// When.
    pub at: Instant,
    /// What.
    pub fault: Fault,
}

type Copier = Box<dyn Fn() -> Box<dyn Any + Send>>;

/// Makes things go wrong in a system in virtual time, reproducibly.
///
/// # Examples
/// ```
/// use footlights::system::ActorSystem;
/// use footlights::testkit::{Fault, Faults, Probe};
/// let build = || ActorSystem::builder("test").stepper().build();
/// let system = build()?;
/// let probe = Probe::new(&system, "probe");
/// let mut faults = Faults::on(&system);
/// faults.teach(probe.actor());
/// faults.inject(Fault::Drop { from: "outside".into(), to: "/user/probe".into(), messages: 1 })?;
/// faults.inject(Fault::Double { from: "outside".into(), to: "/user/probe".into(), messages: 1 })?;
/// (1..=3).for_each(|n| probe.actor().tell(n));
/// system.run_until_quiet(100);
/// assert_eq!(probe.take(), [2, 2, 3]);
///
/// // The log knows what was done to the run, so that it can be done again.
/// let again = build()?;
/// let probe = Probe::new(&again, "probe");
/// let mut faults = Faults::on(&again);
/// faults.teach(probe.actor());
/// faults.replay(&Faults::planted_in(&system), |_| {})?;
/// (1..=3).for_each(|n| probe.actor().tell(n));
/// again.run_until_quiet(100);
/// assert_eq!(again.log_hash(), system.log_hash());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Faults<'s> {
    system: &'s ActorSystem,
    copiers: BTreeMap<ActorId, Copier>,
}

impl<'s> Faults<'s> {
    /// Makes faults for a system.
    ///
    /// # Panics
    /// If it runs on a Pool, or does not log messages.
    #[track_caller]
    pub fn on(system: &'s ActorSystem) -> Self {
        assert!(system.is_stepper(), "faults need virtual time: build the system with stepper()");
        assert!(system.logs_messages(), "faults need the log of messages: build with Level::Message");
        Faults { system, copiers: BTreeMap::new() }
    }

    /// Says how the messages to an actor are copied, for [`Fault::Double`].
    pub fn teach<M: Clone + Send + 'static>(&mut self, actor: &ActorRef<M>) {
        let copier: fn(&M) -> M = M::clone;
        self.copiers.insert(actor.id(), Box::new(move || Box::new(copier)));
    }

    /// Plants a fault now, as a command of the run.
    ///
    /// # Errors
    /// If an actor that it names does not live, or cannot have it; then nothing is planted or logged.
    pub fn inject(&self, fault: Fault) -> Result<(), FaultError> {
        let command = format!("fault@{} {fault}", self.system.turns());
        let faults = &self.system.shared.faults;
        match fault {
            Fault::Fail { actor, nth } => {
                let after = nth.checked_sub(1).ok_or(FaultError::Zeroth)?;
                let actor = self.find(&actor)?.id();
                faults.plant_on_actor(actor, |planted| planted.fail_after = Some(after));
            }
            Fault::Slow { actor, by } => {
                faults.plant_on_actor(self.find(&actor)?.id(), |planted| planted.slow = by);
            }
            Fault::Drop { from, to, messages } => {
                self.plant(&from, &to, |_| Ok(LinkFault { messages, what: Mishap::Drop }))?;
            }
            Fault::Delay { from, to, messages, by } => {
                self.plant(&from, &to, |_| Ok(LinkFault { messages, what: Mishap::Delay(by) }))?;
            }
            Fault::Double { from, to, messages } => self.plant(&from, &to, |target| {
                let copier = self.copiers.get(&target.id());
                let copier = copier.ok_or_else(|| FaultError::NoCopy(target.path().to_owned()))?;
                Ok(LinkFault { messages, what: Mishap::Double(copier()) })
            })?,
            Fault::Jump { by } => {
                self.system.record_command(&command);
                self.system.set_clock(self.system.now() + by);
                self.system.shared.record(ActorId::NOBODY, EventKind::ClockJumped { by_ns: nanos(by) });
                return Ok(());
            }
        }
        self.system.record_command(&command);
        Ok(())
    }

    fn plant(
        &self,
        from: &str,
        to: &str,
        fault: impl FnOnce(&AnyRef) -> Result<LinkFault, FaultError>,
    ) -> Result<(), FaultError> {
        let from = if from == "outside" { ActorId::NOBODY } else { self.find(from)?.id() };
        let to = self.find(to)?;
        self.system.shared.faults.plant_on_link(from, to.id(), fault(&to)?);
        Ok(())
    }

    fn find(&self, path: &str) -> Result<AnyRef, FaultError> {
        self.system.find(path).ok_or_else(|| FaultError::NoSuchActor(path.to_owned()))
    }

    /// Reads from a system's log which faults were planted in its run, and when.
    pub fn planted_in(system: &ActorSystem) -> Vec<Planted> {
        let commands = system.rare_events(0).0.into_iter().filter_map(|event| {
            let EventKind::Command { what } = event.kind else { return None };
            let (turns, fault) = what.strip_prefix("fault@")?.split_once(' ')?;
            Some(Planted { after_turns: turns.parse().ok()?, at: event.at, fault: fault.parse().ok()? })
        });
        commands.collect()
    }

    /// Runs the system and plants each fault where it was planted before; `then` is called after each with the number of
    /// those planted, to do what the test had done in between.
    ///
    /// # Errors
    /// As [`Faults::inject`].
    pub fn replay(&self, planted: &[Planted], mut then: impl FnMut(usize)) -> Result<(), FaultError> {
        for (n, Planted { after_turns, at, fault }) in planted.iter().enumerate() {
            while self.system.turns() < *after_turns && self.system.step().is_some() {}
            self.system.set_clock(*at);
            self.inject(fault.clone())?;
            then(n + 1);
        }
        Ok(())
    }
}

impl fmt::Debug for Faults<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults").field("system", self.system).finish_non_exhaustive()
    }
}
