//! What page and engine say to each other: two closed enums of plain data, [`Command`] and [`Update`].
//!
//! Both travel as JSON text: they are rare, readable, and ready for a host behind a WebSocket. Counters alone are binary
//! (`telemetry`): a frame is a transferred `ArrayBuffer`, and the same buffer coming back is its acknowledgement.
//! I1 the page posts nothing before [`Update::Ready`]; I2 every [`Envelope`] is answered by exactly one `Done` or
//! `Refused` with its `seq`; I3 a refused command has changed nothing. This file knows neither Yew nor the browser.

use std::collections::BTreeMap;

use footlights::scenario::document::Scenario;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of these enums; page and engine must agree on it.
pub const PROTOCOL: u16 = 1;

/// Rare events that one [`Update::Rare`] carries at most.
pub const RARE_MAX: usize = 256;

/// Rows that one [`Update::LogPage`] carries at most.
pub const LOG_PAGE_MAX: u16 = 200;

/// The number of a turn: one event of the discrete clock. Turn 0 is the state before the first.
pub type Turn = u64;

/// A command and the number that its answer carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// Counted by the page from 1.
    pub seq: u32,
    /// What the engine shall do.
    pub cmd: Command,
}

/// What the page asks of the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Command {
    /// The page's half of the handshake; refused where protocol or build differ.
    Hello {
        /// [`PROTOCOL`] of the page.
        protocol: u16,
        /// Build name of the page.
        build: String,
    },
    /// Starts a new run, paused: builds the system, replays `commands`, stops at turn `at`.
    Load {
        /// The document; its `seed` and `workers` hold.
        scenario: Scenario,
        /// Changes of an earlier run, oldest first, each with the turn before which it was made.
        commands: Vec<Logged>,
        /// Where to stop; 0 for a fresh run.
        at: Turn,
    },
    /// Changes the running system between two turns; logged, so that a replay repeats it.
    Change(Change),
    /// Lets the clock run.
    Play {
        /// How fast.
        speed: Speed,
    },
    /// Stops the clock between two turns.
    Pause,
    /// Pauses, then runs one unit.
    Step(Unit),
    /// Runs as fast as possible until the target, then pauses.
    RunTo(Target),
    /// Goes to a turn, earlier or later, by replay; ends paused.
    Seek(Turn),
    /// Names the node whose [`NodeDetail`] comes about four times a second.
    Watch {
        /// `None` stops the details.
        node: Option<String>,
    },
    /// Asks for log rows from a turn on.
    Log {
        /// First turn wanted.
        from: Turn,
        /// Rows wanted, at most [`LOG_PAGE_MAX`].
        len: u16,
    },
    /// Asks for a [`Update::Pong`].
    Ping,
    /// Panics in the engine, for tests of the page's recovery.
    DebugPanic,
}

/// A change and the turn before which it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logged {
    /// Turns executed when the change was made.
    pub turn: Turn,
    /// Virtual time at which it was made: between two turns the clock moves on.
    #[serde(default)]
    pub at_ns: u64,
    /// The change.
    pub change: Change,
}

/// A live change of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Change {
    /// Sets a parameter that the schema marks as live.
    Set {
        /// The node.
        node: String,
        /// The parameter's key in the schema.
        key: String,
        /// Its new value.
        value: Value,
    },
    /// Sends one message to a node from outside.
    Inject {
        /// The node.
        node: String,
        /// The message's number.
        value: u64,
    },
    /// Breaks a node.
    Break {
        /// The node.
        node: String,
        /// In which way.
        how: Breakage,
    },
}

/// Ways to break a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Breakage {
    /// Its next message fails.
    FailNext,
    /// It stops, as if told to.
    Stop,
}

/// Virtual time per wall time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Speed {
    /// Thousandths: 1 is ×0.001, 1,000 is ×1, 10,000 is ×10.
    Permille(u32),
    /// As fast as the device can.
    Max,
}

/// What one step is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Unit {
    /// One turn.
    Turn,
    /// Until the node has handled its next message.
    Message {
        /// The node.
        node: String,
    },
}

/// Where [`Command::RunTo`] stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// The first moment at or after this virtual time.
    TimeNs(u64),
    /// This turn.
    Turn(Turn),
}

/// What the engine tells the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Update {
    /// The first message: from now on the page may post.
    Ready {
        /// [`PROTOCOL`] of the engine.
        protocol: u16,
        /// Build name of the engine.
        build: String,
    },
    /// The command with this number was done.
    Done {
        /// [`Envelope::seq`].
        seq: u32,
        /// Turns executed when it was done: what a change is logged with.
        at: Turn,
        /// Virtual time when it was done: what a change is logged with.
        at_ns: u64,
    },
    /// The command with this number was refused and changed nothing.
    Refused {
        /// [`Envelope::seq`].
        seq: u32,
        /// Every reason.
        errors: Vec<DocError>,
    },
    /// A run is ready; the order of both lists is the order in telemetry.
    Loaded {
        /// Counted from 1 by the engine.
        run: u32,
        /// What telemetry's node rows are.
        nodes: Vec<NodeMeta>,
        /// What telemetry's edge rows are.
        edges: Vec<EdgeMeta>,
    },
    /// Rare events since the last such update, oldest first, never sampled up to [`RARE_MAX`].
    Rare {
        /// The events.
        events: Vec<RareEvent>,
        /// How many more there were.
        lost: u32,
    },
    /// The watched node in full.
    Detail(NodeDetail),
    /// A page of the event log.
    LogPage(Vec<EventRow>),
    /// The clock stopped.
    Stopped {
        /// Turns executed.
        at: Turn,
        /// Why.
        why: StopReason,
    },
    /// The engine panicked and is gone.
    Fault {
        /// The panic's message and place.
        message: String,
        /// Turns executed.
        at: Turn,
    },
    /// Answers a ping.
    Pong,
}

/// What is wrong with a document or command, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocError {
    /// The node, or the edge by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The port, if it is one's fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// The parameter, if it is one's fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The reason, in words.
    pub reason: String,
}

/// A node of the run; its row in telemetry is its place in the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeMeta {
    /// The document's id, or one that the engine made, such as `pool/3`.
    pub id: String,
    /// The schema's kind.
    pub kind: String,
    /// What to show.
    pub label: String,
    /// The supervisor.
    pub parent: Option<String>,
    /// Room in the mailbox; `None` is unbounded or no mailbox.
    pub capacity: Option<u32>,
    /// The island of a stream stage, counted from 0.
    pub island: Option<u32>,
}

/// An edge of the run; its row in telemetry is its place in the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeMeta {
    /// The document's id, or one that the engine made for an implicit edge.
    pub id: String,
    /// The node where it starts.
    pub from: String,
    /// The node where it ends.
    pub to: String,
    /// What travels on it.
    pub kind: EdgeKind,
    /// Room between two islands, or in a buffer; `None` where it holds nothing.
    pub capacity: Option<u32>,
}

/// What an edge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeKind {
    /// Messages between actors, as drawn in the document.
    Wire,
    /// Replies that take no wire of the document.
    Reply,
    /// Stream elements.
    Stream,
}

/// One rare event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RareEvent {
    /// Its turn.
    pub turn: Turn,
    /// Its virtual time.
    pub at_ns: u64,
    /// Whom it befell.
    pub node: String,
    /// Of which sort it is.
    pub kind: RareKind,
    /// The decision as a sentence: rule, inputs, result.
    pub why: String,
}

/// Sorts of rare events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RareKind {
    /// A handler failed.
    Failed,
    /// A supervisor decided.
    Decided,
    /// An actor was restarted.
    Restarted,
    /// An actor or stream stopped.
    Stopped,
    /// A message was dropped by a full mailbox or buffer.
    Dropped,
    /// A message reached nobody.
    DeadLettered,
    /// Actors wait for each other and nothing can run.
    Stalled,
    /// A person changed the run.
    Changed,
    /// A node has something to say, such as the end of its job.
    Noted,
    /// A run kept its worker for long, or a habit costs others.
    Slow,
    /// Too much free work at one instant: the clock is pushed on.
    ClockPushed,
    /// A mailbox is full, or a mark of its growth was passed.
    Full,
    /// A router's members changed.
    Routees,
    /// A resizer decided.
    Resized,
    /// A machine went from one state to another.
    Moved,
    /// A router chose; told of the selected node alone, the last ones of each look.
    Routed,
}

/// The watched node in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeDetail {
    /// Which node.
    pub node: String,
    /// Turns executed.
    pub turn: Turn,
    /// Parameters in force, defaults included.
    pub params: BTreeMap<String, Value>,
    /// Totals in display order: `handled`, `sent`, what the behaviour counts.
    pub counters: Vec<Counter>,
    /// Its queue; `None` for a fused stream stage.
    pub mailbox: Option<MailboxDetail>,
    /// Life-cycle state in a word: `running`, `suspended`, `restarting`, `stopped`, `completed`, `failed`.
    pub state: String,
    /// Restarts so far.
    pub restarts: u64,
    /// Latest decisions, newest first, at most 20.
    pub decisions: Vec<Decision>,
    /// What else there is to know of it, in words: its dispatcher, a router's choices, a machine's state.
    pub facts: Vec<Fact>,
}

/// Something to know of a node, with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The name, lower case.
    pub name: String,
    /// What is so.
    pub value: String,
}

/// A total with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// The name, lower case.
    pub name: String,
    /// The total.
    pub value: u64,
}

/// A node's queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailboxDetail {
    /// Messages in it.
    pub depth: u64,
    /// Room; `None` is unbounded.
    pub capacity: Option<u64>,
    /// What happens when it is full, as the schema spells it.
    pub policy: String,
    /// Age of the oldest message; `None` when empty.
    pub oldest_age_ns: Option<u64>,
}

/// A decision and its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Its turn.
    pub turn: Turn,
    /// Its virtual time.
    pub at_ns: u64,
    /// Rule, inputs, result, as a sentence.
    pub why: String,
}

/// A row of the event log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRow {
    /// Its turn.
    pub turn: Turn,
    /// Its virtual time.
    pub at_ns: u64,
    /// The node, if it has one.
    pub node: Option<String>,
    /// The event's name.
    pub kind: String,
    /// The rest in words.
    pub text: String,
}

/// Why the clock stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// A pause was asked for.
    Paused,
    /// The step or target was reached.
    Reached,
    /// Nothing can happen any more.
    Finished,
    /// Nothing can happen any more, and jobs were given up.
    Aborted {
        /// The masters whose jobs they were.
        nodes: Vec<String>,
        /// Why the last one was.
        why: String,
    },
    /// Nothing can happen, though work is left: who waits, in words.
    Stalled {
        /// The nodes that wait.
        nodes: Vec<String>,
        /// What for.
        why: String,
    },
}

/// What the page's end of the line makes of all this, besides frames.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// The handshake is done.
    Ready,
    /// No [`Update::Ready`] came in time.
    Silent,
    /// Pings have gone unanswered for a while.
    Hung,
    /// Pings are answered again.
    Back,
    /// The engine is of another build than the page.
    Outdated,
    /// A command was done, at a turn and a virtual time, or refused.
    Answered(Command, Result<(Turn, u64), Vec<DocError>>),
    /// Any other update.
    Update(Update),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Serialize + for<'a> Deserialize<'a> + PartialEq + std::fmt::Debug>(value: &T) {
        let text = serde_json::to_string(value).expect("plain data can be written");
        assert_eq!(&serde_json::from_str::<T>(&text).expect("what was written can be read"), value);
    }

    #[test]
    fn commands_survive_the_wire_with_every_bit_of_a_turn() {
        let change = Change::Set { node: "w".into(), key: "fail".into(), value: Value::from(0.1) };
        for cmd in [
            Command::Hello { protocol: PROTOCOL, build: "b".into() },
            Command::Change(change),
            Command::Play { speed: Speed::Permille(1) },
            Command::Play { speed: Speed::Max },
            Command::Step(Unit::Message { node: "w".into() }),
            Command::RunTo(Target::TimeNs(u64::MAX)),
            Command::Seek(u64::MAX - 1),
            Command::Watch { node: None },
            Command::Ping,
        ] {
            round_trip(&Envelope { seq: 7, cmd });
        }
    }

    #[test]
    fn updates_survive_the_wire() {
        let errors =
            vec![DocError { node: Some("n".into()), reason: "no such kind".into(), ..DocError::default() }];
        round_trip(&Update::Refused { seq: 1, errors });
        round_trip(&Update::Done { seq: 1, at: u64::MAX, at_ns: u64::MAX });
        round_trip(&Update::Stopped { at: u64::MAX, why: StopReason::Finished });
        let why = StopReason::Aborted { nodes: vec!["m".into()], why: "the time is over".into() };
        round_trip(&Update::Stopped { at: 1, why });
        round_trip(&Update::Rare { events: Vec::new(), lost: 3 });
    }

    #[test]
    fn both_enums_are_closed() {
        for text in [
            r#"{"seq":1,"cmd":"Explode"}"#,
            r#"{"seq":1,"cmd":"Ping","x":1}"#,
            r#"{"seq":1,"cmd":{"Seek":-1}}"#,
            r#"{"seq":1,"cmd":{"Log":{"from":0,"len":1,"x":1}}}"#,
        ] {
            assert!(serde_json::from_str::<Envelope>(text).is_err(), "{text}");
        }
        assert!(serde_json::from_str::<Update>(r#"{"Explode":1}"#).is_err());
    }
}
