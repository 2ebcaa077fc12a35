//! What happens in a system, as plain data: one [`Event`] per fact, in three levels.
//!
//! *Rare* facts are the ones a person asks about (a restart, a drop, a decision); *message* facts follow every message. The
//! log hash runs over both, by `EventKind::words`, so the order and the content of those words are a contract: a changed
//! word is a new version of the log.

use std::sync::Arc;

use super::snapshot::ActorState;
use super::{
    BreakerChange, DeadLetterReason, DropReason, PhaseEnd, PhaseTaskEnd, Resized, Retried, RouteWhy,
};
use crate::code::codes;
use crate::id::{ActorId, MsgId};
use crate::supervise::{AutoShutdown, Decision, FailureKind};
use crate::time::Instant;

/// One fact of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its number in the log, from 0.
    pub seq: u64,
    /// The turn in which it happened; 0 on a Pool.
    pub turn: u64,
    /// When it happened.
    pub at: Instant,
    /// The actor that it happened to.
    pub actor: ActorId,
    /// What happened.
    pub kind: EventKind,
}

/// Says how much a log records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    Off,
    /// Life cycle, decisions, losses.
    Rare,
    /// Also every message.
    Message,
}

codes! {
    /// Says which fault has hit a message.
    pub enum FaultKind {
        /// Its handling was made to fail.
        Fail = 0, "fail";
        /// Its handling was made to take longer.
        Slow = 1, "slow";
        /// It was lost on its way.
        Drop = 2, "drop";
        /// It arrived twice.
        Double = 3, "double";
        /// It arrived later.
        Delay = 4, "delay";
    }
}

/// Says why an actor's life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It stopped itself, or was asked to.
    Stopped,
    /// A failure that its supervisor answered by Stop.
    Failed(FailureKind),
    /// Its parent stopped.
    ParentStopped,
    /// The system shut down.
    SystemShutdown,
    /// It was killed, and its supervisor stopped it for that.
    Killed,
    /// It did not stop in time, and was left behind.
    Forced,
    /// It had ended before it was watched.
    AlreadyGone,
}

impl StopReason {
    /// Gives the reason of an actor that was stopped for a failure of this kind.
    pub(crate) fn failed(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Killed => StopReason::Killed,
            kind => StopReason::Failed(kind),
        }
    }

    fn word(self) -> u64 {
        match self {
            StopReason::Stopped => 0,
            StopReason::Failed(kind) => 0x100 + u64::from(kind.code()),
            StopReason::ParentStopped => 1,
            StopReason::SystemShutdown => 2,
            StopReason::AlreadyGone => 3,
            StopReason::Killed => 4,
            StopReason::Forced => 5,
        }
    }
}

/// A habit that costs others; it is reported once per actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Lint {
    /// A run lasted for more than 100 ms on workers that others share.
    SlowHandler,
    /// `block` was called on workers that others share.
    BlockOnShared,
}

impl Lint {
    /// Says in one sentence what is wrong and what helps.
    pub fn why(self) -> &'static str {
        match self {
            Lint::SlowHandler => {
                "a run kept its worker from others for more than 100 ms: split the work into messages to oneself, or give it \
                 to a task"
            }
            Lint::BlockOnShared => {
                "a run blocks a worker that others share: use spawn_blocking, or the dispatcher \"blocking\""
            }
        }
    }
}

/// What happened; times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields say what they are; the variants say what happened")]
pub enum EventKind {
    /// A name was taken and a reference given out.
    Spawned { parent: ActorId, path: Arc<str> },
    /// `started` said Ok, for the first time.
    Started,
    /// The actor's user lane is no longer read.
    Suspended,
    /// The actor's user lane is read again.
    Resumed,
    /// A run failed; `message` is the one that was in hand.
    Failed { kind: FailureKind, code: &'static str, text: Arc<str>, message: MsgId },
    /// A supervisor decided about a child.
    Decided(Box<Decided>),
    /// The old instance is being stopped.
    RestartBegan,
    /// The restart waits.
    BackoffBegan { delay_ns: u64 },
    /// A new instance runs.
    Restarted { incarnation: u32 },
    /// The actor begins to stop.
    StopBegan,
    /// The actor has ended.
    Stopped { reason: StopReason },
    /// The actor did not stop in time and was left behind; `state` is what it was in, `running_for_ns` how long it had worked
    /// since it was told to stop.
    Forced { path: Arc<str>, state: ActorState, running_for_ns: u64 },
    /// A hook or a drop panicked; nothing is decided on it.
    HookFailed { hook: &'static str, text: Arc<str> },
    /// A message had nobody to go to.
    DeadLettered { reason: DeadLetterReason, message: MsgId },
    /// A message was dropped.
    Dropped { reason: DropReason, message: MsgId },
    /// A mailbox passed a mark of 10,000 or a doubling of it.
    MailboxHigh { depth: u64 },
    /// The actor has no use for a message, and said so.
    Unhandled { message: MsgId },
    /// A message found the bounded mailbox full, for the first time since it was last below half.
    MailboxFull { capacity: u64 },
    /// Actors wait for room in each other's mailboxes, each for the next and the last for the first: none of them will
    /// handle anything. Nothing is broken by force.
    Deadlock { cycle: Arc<[(ActorId, Arc<str>)]> },
    /// The actor waits for room in a mailbox.
    AwaitingRoom { target: ActorId },
    /// The room came.
    RoomFound { target: ActorId },
    /// The actor watches another.
    Watched { target: ActorId },
    /// The actor no longer watches another.
    Unwatched { target: ActorId },
    /// The actor was told of an end.
    Notified { target: ActorId, reason: StopReason },
    /// The actor shares another's fate.
    Linked { target: ActorId },
    /// The actor no longer shares another's fate.
    Unlinked { target: ActorId },
    /// A router's members changed.
    RouteesChanged { routees: u64 },
    /// A router has one more routee.
    RouteeAdded { routee: ActorId, routees: u64 },
    /// A router has taken a routee out of its table; a pool's own stops when it has handled what it has.
    RouteeRetired { routee: ActorId, routees: u64 },
    /// A resizer has decided.
    Resized(Box<Resized>),
    /// A message that came too late for a retired routee goes to another one.
    Rerouted { message: MsgId },
    /// A router chose; `routee` is nobody where the choice is made later.
    Routed { routee: ActorId, why: RouteWhy },
    /// Ticks of a fixed-rate timer fell due while one was queued, and were left out.
    TimerSkipped { ticks: u64 },
    /// Something that the built-in behaviours of scenarios have to say.
    Note { what: &'static str, value: u64 },
    /// A run lasted for more than 100 ms.
    SlowHandler { took_ns: u64 },
    /// An actor does what costs others; `ns` is the time it took, or is about to take.
    LintRaised { lint: Lint, ns: u64 },
    /// Too much free work at one instant: every further run costs 1 µs until nothing is left to do.
    ClockPushed,
    /// A fault that a test had planted has hit a message; `value` is a time where the fault is one.
    FaultInjected { fault: FaultKind, message: MsgId, value_ns: u64 },
    /// A test has moved the clock, whatever should have happened meanwhile.
    ClockJumped { by_ns: u64 },
    /// A command from outside was applied, such as a changed knob.
    Command { what: Arc<str> },
    /// A message was accepted.
    Sent { message: MsgId, from: ActorId, visible_at: Instant },
    /// A message was taken from the mailbox.
    Received { message: MsgId, waited_ns: u64 },
    /// A run ended well.
    Handled { message: MsgId, took_ns: u64 },
    /// An ask began.
    AskBegan { target: ActorId },
    /// An ask ended; 0 is a reply, other codes are errors.
    AskEnded { outcome: u64 },
    /// The message was put into the stash.
    Stashed { message: MsgId },
    /// So many messages went from the stash to the front of the mailbox.
    Unstashed { messages: u64 },
    /// A state machine went from one state to another, or anew to the same.
    Transition { from: Arc<str>, to: Arc<str> },
    /// A timer was armed.
    TimerSet { due: Instant },
    /// A timer fired.
    TimerFired,
    /// A timer was disarmed.
    TimerCancelled,
    /// Something was published to so many subscribers.
    Published { topic: &'static str, subscribers: u64 },
    /// The actor offers a service, as one of so many.
    Registered { key: Arc<str>, members: u64 },
    /// The actor no longer offers a service; so many still do.
    Unregistered { key: Arc<str>, members: u64 },
    /// A circuit breaker changed its state.
    BreakerChanged(Box<BreakerChange>),
    /// An attempt failed, and it was decided whether there is another.
    Retried(Box<Retried>),
    /// A phase of the shutdown began.
    PhaseBegan { phase: Arc<str>, tasks: u64 },
    /// A task of the shutdown was not done, and was passed over.
    PhaseTaskFailed { phase: Arc<str>, task: Arc<str>, how: PhaseTaskEnd },
    /// A phase of the shutdown is over.
    PhaseEnded(Box<PhaseEnd>),
    /// A supervisor stops itself, since significant children of it have ended.
    AutoShutdown(Box<AutoShutdownBegan>),
}

/// A supervisor's decision, with whom it is about and whom it acts on.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// Who decided.
    pub supervisor: ActorId,
    /// The supervisor's path.
    pub supervisor_path: Arc<str>,
    /// The child that failed.
    pub child: ActorId,
    /// Its path.
    pub path: Arc<str>,
    /// Which instance of it failed, from 1.
    pub incarnation: u32,
    /// What it failed with.
    pub kind: FailureKind,
    /// The failure's code.
    pub code: &'static str,
    /// The failure's text.
    pub text: Arc<str>,
    /// The decision and its numbers.
    pub decision: Decision,
    /// The actors that it acts on, in start order.
    pub affected: Vec<ActorId>,
    /// When it was made.
    pub at: Instant,
}

impl Decided {
    /// Gives the decision in one sentence.
    pub fn why(&self) -> String {
        self.decision.why()
    }
}

/// Why a supervisor stops itself without being told to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoShutdownBegan {
    /// What the supervisor's strategy says.
    pub mode: AutoShutdown,
    /// The significant child that was the last to end.
    pub child: ActorId,
    /// Its path.
    pub path: Arc<str>,
    /// How many significant children have ended for good.
    pub ended: u32,
}

impl AutoShutdownBegan {
    /// Gives the reason in one sentence.
    pub fn why(&self) -> String {
        let path = &self.path;
        match self.mode {
            AutoShutdown::AllSignificant if self.ended == 1 => {
                format!("{path} has ended, the only significant child; stopping")
            }
            AutoShutdown::AllSignificant => {
                format!("all {} significant children have ended, {path} as the last; stopping", self.ended)
            }
            mode => format!("{path} has ended, a significant child, and shutdown is by {mode}; stopping"),
        }
    }
}

impl EventKind {
    /// Gives the event's level.
    pub fn level(&self) -> Level {
        use EventKind::*;
        match self {
            Sent { .. } | Received { .. } | Handled { .. } | Routed { .. } => Level::Message,
            Stashed { .. } | Unstashed { .. } | Transition { .. } => Level::Message,
            AskBegan { .. } | AskEnded { .. } | TimerSet { .. } | TimerFired | TimerCancelled => {
                Level::Message
            }
            _ => Level::Rare,
        }
    }

    /// Gives the words that the log hash runs over: a code, then the fields.
    pub(crate) fn words(&self) -> [u64; 4] {
        use EventKind::*;
        match self {
            Spawned { parent, path } => [1, parent.0, text(path), 0],
            Started => [2, 0, 0, 0],
            Suspended => [3, 0, 0, 0],
            Resumed => [4, 0, 0, 0],
            Failed { kind, code, text: why, message } => {
                [5, u64::from(kind.code()), text(code) ^ text(why).rotate_left(32), message.0]
            }
            Decided(d) => {
                let taken = u64::from(d.decision.taken.code());
                [
                    6,
                    d.child.0,
                    taken | crate::time::nanos(d.decision.delay.delay) << 8,
                    d.affected.iter().map(|a| a.0).sum(),
                ]
            }
            RestartBegan => [7, 0, 0, 0],
            BackoffBegan { delay_ns } => [8, *delay_ns, 0, 0],
            Restarted { incarnation } => [9, u64::from(*incarnation), 0, 0],
            StopBegan => [10, 0, 0, 0],
            Stopped { reason } => [11, reason.word(), 0, 0],
            HookFailed { hook, text: why } => [12, text(hook), text(why), 0],
            DeadLettered { reason, message } => [13, u64::from(reason.code()), message.0, 0],
            Dropped { reason, message } => [14, u64::from(reason.code()), message.0, 0],
            MailboxHigh { depth } => [15, *depth, 0, 0],
            AwaitingRoom { target } => [16, target.0, 0, 0],
            RoomFound { target } => [17, target.0, 0, 0],
            Watched { target } => [18, target.0, 0, 0],
            Unwatched { target } => [19, target.0, 0, 0],
            Notified { target, reason } => [20, target.0, reason.word(), 0],
            RouteesChanged { routees } => [21, *routees, 0, 0],
            Note { what, value } => [22, text(what), *value, 0],
            Command { what } => [23, text(what), 0, 0],
            Sent { message, from, visible_at } => [24, message.0, from.0, visible_at.as_nanos()],
            Received { message, waited_ns } => [25, message.0, *waited_ns, 0],
            Handled { message, took_ns } => [26, message.0, *took_ns, 0],
            AskBegan { target } => [27, target.0, 0, 0],
            AskEnded { outcome } => [28, *outcome, 0, 0],
            TimerSet { due } => [29, due.as_nanos(), 0, 0],
            TimerFired => [30, 0, 0, 0],
            TimerCancelled => [31, 0, 0, 0],
            Unhandled { message } => [52, message.0, 0, 0],
            MailboxFull { capacity } => [50, *capacity, 0, 0],
            Deadlock { cycle } => {
                let ids = cycle.iter().fold(0, |h: u64, (id, _)| h.wrapping_mul(31).wrapping_add(id.0));
                [51, cycle.len() as u64, ids, 0]
            }
            Forced { path, state, running_for_ns } => [40, text(path), *state as u64, *running_for_ns],
            Linked { target } => [41, target.0, 0, 0],
            Unlinked { target } => [42, target.0, 0, 0],
            RouteeAdded { routee, routees } => [80, routee.0, *routees, 0],
            RouteeRetired { routee, routees } => [81, routee.0, *routees, 0],
            Resized(resized) => [82, resized.from, resized.to, resized.why.word()],
            Rerouted { message } => [83, message.0, 0, 0],
            Routed { routee, why } => {
                let (code, number) = why.words();
                [84, routee.0, code, number]
            }
            Published { topic, subscribers } => [70, text(topic), *subscribers, 0],
            Registered { key, members } => [71, text(key), *members, 0],
            Unregistered { key, members } => [72, text(key), *members, 0],
            BreakerChanged(change) => {
                let [states, open_for] = change.words();
                [73, text(&change.name), states, open_for]
            }
            Retried(retried) => {
                let [numbers, delay] = retried.words();
                [74, text(&retried.name), numbers, delay]
            }
            PhaseBegan { phase, tasks } => [75, text(phase), *tasks, 0],
            PhaseTaskFailed { phase, task, how } => [76, text(phase), text(task), u64::from(how.code())],
            PhaseEnded(end) => {
                let [counts, took] = end.words();
                [77, text(&end.phase), counts, took]
            }
            SlowHandler { took_ns } => [90, *took_ns, 0, 0],
            LintRaised { lint, ns } => [91, *lint as u64, *ns, 0],
            ClockPushed => [92, 0, 0, 0],
            Transition { from, to } => [60, text(from), text(to), 0],
            Stashed { message } => [61, message.0, 0, 0],
            Unstashed { messages } => [62, *messages, 0, 0],
            TimerSkipped { ticks } => [63, *ticks, 0, 0],
            FaultInjected { fault, message, value_ns } => {
                [100, u64::from(fault.code()), message.0, *value_ns]
            }
            ClockJumped { by_ns } => [101, *by_ns, 0, 0],
            AutoShutdown(why) => [110, why.child.0, u64::from(why.ended), u64::from(why.mode.code())],
        }
    }
}

/// Folds a text into one word (FNV-1a, 64 bits).
fn text(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
