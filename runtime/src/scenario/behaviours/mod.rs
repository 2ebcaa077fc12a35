//! The built-in actors of a scenario, and what they share.
//!
//! All speak one protocol, [`Msg`], so that any of them can stand behind any other. What outlives an instance, its knobs and
//! its counters, is on the [`Board`]; what a handler needs it keeps itself.
//!
//! I1 a behaviour sends only through its outlets, which count every message on its edge.
//! I2 nobody sends before the board is open, that is before every node of the document has its actor.

mod board;
mod bridge;
mod collector;
mod door;
mod front_end;
mod master;
mod outlet;
mod pace;
mod source;
mod spec;
mod supervisor;
mod worker;

use std::sync::Arc;

pub(crate) use board::{Board, Knobs, Totals};
pub(crate) use outlet::Outlet;
pub(crate) use supervisor::{Spawn, has_actor, spawn_node};

use crate::actor::ActorRef;
use crate::time::Instant;

/// Names the counters of a kind, in display order.
pub(crate) fn tallies_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "source" => source::TALLIES,
        "master" => master::TALLIES,
        "worker" => worker::TALLIES,
        "collector" => collector::TALLIES,
        "to_stream" => bridge::TALLIES,
        "front_end" => front_end::TALLIES,
        _ => &[],
    }
}

/// What the actors of a scenario say to each other.
#[derive(Clone, Debug)]
pub(crate) enum Msg {
    /// A message of the scenario.
    Task(Task),
    /// The answer to one.
    Answer(Task),
    /// A message refused by a full mailbox that rejects to the sender.
    Rejected,
    /// The board is open: begin.
    Go,
    /// A knob was turned: plan anew.
    Retune,
    /// Something of one's own is due: the next message, the rest of a batch.
    Tick,
    /// The timer between a message and its answer is over.
    Due(Task),
    /// The job took too long.
    TooLate,
    /// A watched actor has ended.
    Gone,
}

/// A message of the scenario: what travels on its edges.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// Counted by its maker from 0.
    pub(crate) id: u64,
    /// What a stream or a sum makes of it.
    pub(crate) value: i64,
    /// When it was made.
    pub(crate) made: Instant,
    /// Whom to answer.
    pub(crate) reply: Option<Arc<ReplyTo>>,
}

impl Task {
    /// Makes a message of no special urgency, about itself, that nobody waits for.
    pub(crate) fn new(id: u64, value: i64, made: Instant) -> Self {
        Task { id, value, made, reply: None }
    }
}

/// Whom to answer: carried along inside a task, whatever way it takes.
#[derive(Debug)]
pub(crate) struct ReplyTo {
    /// The actor.
    pub(crate) to: ActorRef<Msg>,
    /// Its node.
    pub(crate) node: usize,
}
