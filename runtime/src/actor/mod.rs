//! Actors: state that nobody shares, behind references that anybody may hold.
//!
//! An [`Actor`] is made by its [`Props`], again and again if need be; what lives on is its [`ActorRef`], its name and its
//! mailbox. Runs of one actor never overlap. A failing run suspends the actor, and its parent decides by its
//! [`Strategy`]: resume, restart, stop or escalate.
//!
//! ```text
//!  spawn ─▶ Starting ──▶ Running ──run fails──▶ Suspended ──Restart──▶ Restarting ──▶ Backoff ──▶ Running
//!                           │                       │ Stop                              (a new instance)
//!                           └──stop──▶ Stopping ◀───┘──▶ Stopped
//! ```
//! The pages of this room, in reading order: [`Actor`], `failure`, `path`, `actor_ref`, `head`, `cell`, `life`, `activation`, `run`, `ending`, `conduct`, `keep`, `declared`, `dialect`,
//! `context`, `handlers`, `timers`, `receive_timeout`, `stash`, `watch`, `outbox`, `placement`, `feed`, `letters`, `groups`.

mod activation;
mod actor_ref;
pub(crate) mod budget;
pub(crate) mod cell;
pub(crate) mod children;
mod conduct;
pub(crate) mod context;
mod deadlock;
mod declared;
mod dialect;
pub(crate) mod doors;
mod ending;
pub(crate) mod failure;
pub(crate) mod faults;
pub(crate) mod feed;
pub(crate) mod forced;
pub(crate) mod groups;
mod handlers;
pub(crate) mod head;
mod keep;
pub(crate) mod letters;
pub(crate) mod life;
pub(crate) mod line;
mod links;
mod order;
mod outbox;
pub(crate) mod path;
mod placement;
pub(crate) mod queue;
pub(crate) mod ready;
mod receive_timeout;
mod room;
mod run;
pub(crate) mod shared;
pub(crate) mod signal;
pub(crate) mod spawn;
mod stash;
mod tasks;
pub(crate) mod timers;
pub(crate) mod watch;

use std::fmt;
use std::sync::Arc;

pub use actor_ref::{ActorRef, AnyRef, Recipient, Tell, TellError, Via};
pub use budget::Shutdown;
pub use context::Context;
pub use declared::Supervisor;
pub use failure::Failure;
pub use groups::JoinError;
pub use handlers::{BecomeError, Handler};
pub use letters::{DeadLetter, DeadLetterLog};
pub use links::LinkError;
pub use path::SpawnError;
pub use ready::{Outcome, StopTimeout};
pub use receive_timeout::ReceiveTimeout;
pub use room::{Permit, Permits, Reserve, Send, SendError};
pub use shared::Exit;
pub use stash::StashFull;
pub use timers::{Key, MissedTicks, TimerError, TimerScope};
pub use watch::{Terminated, WatchError};

use crate::mailbox::Mailbox;
use crate::mailbox::order::Rules;
use crate::supervise::{Backoff, MailboxOnRestart, RestartType, StopOrder, Strategy};

/// Something that handles messages one at a time.
///
/// # Examples
/// ```
/// use footlights::actor::{Actor, Context, Failure, Props};
/// use footlights::system::ActorSystem;
///
/// struct Greeter;
/// impl Actor for Greeter {
///     type Msg = &'static str;
///     fn receive(&mut self, _cx: &mut Context<'_, Self>, name: &'static str) -> Result<(), Failure> {
///         assert_eq!(name, "Ada");
///         Ok(())
///     }
/// }
/// let system = ActorSystem::builder("demo").stepper().build()?;
/// let greeter = system.spawn("greeter", Props::new(|| Greeter))?;
/// greeter.tell("Ada");
/// system.run_until_quiet(1_000);
/// assert_eq!(system.snapshot().ledger.handled, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Actor: Sized + std::marker::Send + 'static {
    /// What it understands; one type per actor, usually an enum.
    type Msg: std::marker::Send + 'static;

    /// Runs before the first message; an error here is a failure of kind Start, in the same restart budget.
    fn started(&mut self, _cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }

    /// Handles one message. An error or a panic suspends the actor until its supervisor has decided.
    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Self::Msg) -> Result<(), Failure>;

    /// Runs on the failed instance before it is replaced; `message` is the one it failed on, if it was kept
    /// ([`Failure::returning`], [`Props::keep_failing_message`]). It may send, but not spawn. Default: `stopped`.
    fn pre_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure, _message: Option<Self::Msg>) {
        self.stopped(cx);
    }

    /// Runs on the new instance in place of `started`. Default: `started`.
    fn post_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure) -> Result<(), Failure> {
        self.started(cx)
    }

    /// Runs last, when all children have stopped.
    fn stopped(&mut self, _cx: &mut Context<'_, Self>) {}
}

/// Something that a stop or a restart of its owner cancels.
pub(crate) trait Cancel: std::marker::Send + Sync {
    fn cancel(&self);
    /// Is true once there is nothing left to cancel.
    fn is_over(&self) -> bool;
}

/// Copies a message, so that the one that fails is still at hand.
type Keep<A> = fn(&<A as Actor>::Msg) -> <A as Actor>::Msg;

type Factory<A> = Arc<dyn Fn() -> Result<A, Failure> + std::marker::Send + Sync>;

/// How to make an actor, and how it is to be kept.
///
/// # Examples
/// ```
/// use footlights::actor::{Actor, Context, Failure, Props};
/// use footlights::mailbox::{Mailbox, OverflowStrategy};
/// use footlights::supervise::Strategy;
/// use std::time::Duration;
/// # struct Pool;
/// # impl Actor for Pool {
/// #     type Msg = ();
/// #     fn receive(&mut self, _: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> { Ok(()) }
/// # }
/// let props = Props::new(|| Pool)
///     .mailbox(Mailbox::bounded(64, OverflowStrategy::DropOldest))
///     .supervise(Strategy::one_for_one().max_restarts(3, Duration::from_secs(10)));
/// ```
pub struct Props<A: Actor> {
    pub(crate) factory: Factory<A>,
    pub(crate) strategy: Strategy,
    pub(crate) mailbox: Mailbox,
    pub(crate) rules: Rules<A::Msg>,
    pub(crate) restart_type: RestartType,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) keep: Option<Keep<A>>,
    pub(crate) hold: u32,
    pub(crate) letters: letters::LetterRules<A::Msg>,
    pub(crate) shutdown: Shutdown,
    pub(crate) stop_order: StopOrder,
    pub(crate) on_restart: MailboxOnRestart,
    named: dialect::Named,
    keep_children: bool,
    pub(crate) significant: bool,
    declared: Option<Arc<Vec<declared::Declared>>>,
    pub(crate) dispatcher: Option<Arc<str>>,
    pub(crate) stash: u32,
}

/// Messages that a mailbox takes while its actor waits for a restart.
const HOLD: u32 = 1_000;

impl<A: Actor> Props<A> {
    /// Makes each instance by `factory`.
    pub fn new(factory: impl Fn() -> A + std::marker::Send + Sync + 'static) -> Self {
        Props::try_new(move || Ok(factory()))
    }

    /// Makes each instance by a `factory` that may fail (a failure of kind Start).
    pub fn try_new(factory: impl Fn() -> Result<A, Failure> + std::marker::Send + Sync + 'static) -> Self {
        Props {
            factory: Arc::new(factory),
            strategy: Strategy::one_for_one(),
            mailbox: Mailbox::default(),
            rules: Rules::default(),
            restart_type: RestartType::Transient,
            backoff: None,
            keep: None,
            hold: HOLD,
            letters: letters::LetterRules::default(),
            shutdown: Shutdown::default(),
            stop_order: StopOrder::LastFirst,
            on_restart: MailboxOnRestart::Kept,
            named: dialect::Named::default(),
            keep_children: false,
            significant: false,
            declared: None,
            dispatcher: None,
            stash: stash::STASH,
        }
    }

    /// Decides by `strategy` about the failures of this actor's children.
    pub fn supervise(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self.named.strategy = true;
        self
    }

    /// Gives the actor this mailbox; the default is [`Mailbox::budgeted`].
    pub fn mailbox(mut self, mailbox: Mailbox) -> Self {
        self.mailbox = mailbox;
        self
    }

    /// Says which ends of this actor are undone by a restart.
    pub fn restart_type(mut self, restart_type: RestartType) -> Self {
        self.restart_type = restart_type;
        self.named.restart_type = true;
        self
    }

    /// Delays this actor's restarts, whatever its supervisor's strategy says.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = Some(backoff);
        self
    }

    /// Takes at most `messages` more while the actor waits for a restart (default 1,000); the rest is dropped (HoldFull).
    pub fn hold(mut self, messages: u32) -> Self {
        self.hold = messages;
        self
    }

    /// Says how long this actor may take to stop when it is ordered to from above (default 5 s of its own work).
    pub fn shutdown(mut self, budget: Shutdown) -> Self {
        self.shutdown = budget;
        self
    }

    /// Keeps a copy of each message while it is handled, so that `pre_restart` gets the one that failed, panics included.
    /// Costs one clone per message.
    pub fn keep_failing_message(mut self) -> Self
    where
        A::Msg: Clone,
    {
        self.keep = Some(Clone::clone);
        self
    }
}

impl<A: Actor> Clone for Props<A> {
    fn clone(&self) -> Self {
        Props {
            factory: self.factory.clone(),
            strategy: self.strategy.clone(),
            mailbox: self.mailbox,
            rules: self.rules,
            restart_type: self.restart_type,
            backoff: self.backoff,
            keep: self.keep,
            hold: self.hold,
            letters: self.letters,
            shutdown: self.shutdown,
            stop_order: self.stop_order,
            on_restart: self.on_restart,
            named: self.named,
            keep_children: self.keep_children,
            significant: self.significant,
            declared: self.declared.clone(),
            dispatcher: self.dispatcher.clone(),
            stash: self.stash,
        }
    }
}

impl<A: Actor> fmt::Debug for Props<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Props")
            .field("mailbox", &self.mailbox)
            .field("strategy", &self.strategy)
            .finish_non_exhaustive()
    }
}
