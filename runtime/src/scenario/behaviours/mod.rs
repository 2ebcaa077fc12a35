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
pub(super) mod machine;
mod master;
mod outlet;
mod pace;
mod router;
mod source;
mod spec;
mod supervisor;
mod worker;

use std::sync::Arc;

pub(crate) use board::{Board, Knobs, Totals};
pub(crate) use outlet::Outlet;
pub(crate) use router::spawn_router;
pub(crate) use supervisor::{Spawn, has_actor, spawn_node};

use crate::actor::{Actor, ActorRef, Context};
use crate::pattern::Reply;
use crate::sync::Mutex;
use crate::time::Instant;

/// Names the counters of a kind, in display order.
pub(crate) fn tallies_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "source" => source::TALLIES,
        "master" => master::TALLIES,
        "worker" | "pool" => worker::TALLIES,
        "router" => door::TALLIES,
        "collector" => collector::TALLIES,
        "to_stream" => bridge::TALLIES,
        "front_end" => front_end::TALLIES,
        "machine" => machine::TALLIES,
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
    /// An ask of several routees has ended.
    First(First, Task),
}

impl Msg {
    /// Gives how urgent a message is; all others come first.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Msg::Task(task) | Msg::Answer(task) | Msg::Due(task) => task.rank,
            _ => 0,
        }
    }

    /// Is true for what belongs into the lane of the urgent.
    pub(crate) fn is_urgent(&self) -> bool {
        self.rank() == 0
    }

    /// Gives the key by which a mailbox knows two messages about the same thing.
    pub(crate) fn equal(&self) -> Option<u64> {
        match self {
            Msg::Task(task) => Some(task.key),
            _ => None,
        }
    }

    /// Gives what a message is about; all others are about nothing.
    pub(crate) fn key(&self) -> Option<u64> {
        match self {
            Msg::Task(task) | Msg::Answer(task) | Msg::Due(task) => Some(task.key),
            _ => None,
        }
    }
}

/// How an ask of several routees ended.
#[derive(Clone, Debug)]
pub(crate) enum First {
    /// With this answer.
    Answer(Task),
    /// All failed.
    Failed,
    /// The time was over.
    Late,
}

/// A message of the scenario: what travels on its edges.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// Counted by its maker from 0.
    pub(crate) id: u64,
    /// What a stream or a sum makes of it.
    pub(crate) value: i64,
    /// What it is about: routers by key keep those of one key together, mailboxes can keep one of them.
    pub(crate) key: u64,
    /// How urgent it is, 0 first; what is urgent has 0.
    pub(crate) rank: u8,
    /// When it was made.
    pub(crate) made: Instant,
    /// Whom to answer.
    pub(crate) reply: Option<Arc<ReplyTo>>,
    /// The node of a router that does not choose for the sender: who gets the message counts it on its edge.
    pub(crate) via: Option<usize>,
}

impl Task {
    /// Makes a message of no special urgency, about itself, that nobody waits for.
    pub(crate) fn new(id: u64, value: i64, made: Instant) -> Self {
        Task { id, value, key: id, rank: Marks::USUAL, made, reply: None, via: None }
    }
}

/// How a maker of messages marks them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    keys: u64,
    rank: u8,
    urgent_every: u64,
}

impl Marks {
    /// The rank of a message that says nothing else.
    pub(crate) const USUAL: u8 = 128;

    /// Reads `keys`, `priority` and `urgent_every`.
    pub(crate) fn of(params: &super::plan::Params) -> Self {
        let rank = u8::try_from(params.count("priority")).unwrap_or(u8::MAX);
        Marks { keys: params.count("keys"), rank, urgent_every: params.count("urgent_every") }
    }

    /// Marks a message by its number.
    pub(crate) fn mark(self, task: Task) -> Task {
        let key = if self.keys > 0 { task.id % self.keys } else { task.id };
        let is_urgent = self.urgent_every > 0 && (task.id + 1).is_multiple_of(self.urgent_every);
        Task { key, rank: if is_urgent { 0 } else { self.rank }, ..task }
    }
}

/// Whom to answer: carried along inside a task, whatever way it takes.
pub(crate) struct ReplyTo {
    whom: Whom,
    /// The node that asked.
    node: usize,
}

enum Whom {
    Actor(ActorRef<Msg>),
    /// An ask of a router that waits for the first of several answers.
    Ask(Mutex<Option<Reply<Task>>>),
}

impl ReplyTo {
    /// Answers go to an actor of a node, as messages.
    pub(crate) fn actor(to: ActorRef<Msg>, node: usize) -> Arc<Self> {
        Arc::new(ReplyTo { whom: Whom::Actor(to), node })
    }

    /// The first answer ends an ask.
    pub(crate) fn ask(reply: Reply<Task>, node: usize) -> Arc<Self> {
        Arc::new(ReplyTo { whom: Whom::Ask(Mutex::new(Some(reply))), node })
    }

    /// Answers; counts it on the edge from `by` to whoever asked, if there is one.
    pub(crate) fn answer<A: Actor<Msg = Msg>>(
        &self,
        cx: &mut Context<'_, A>,
        board: &Board,
        by: usize,
        task: Task,
    ) {
        if let Some(edge) = board.reply_edge(by, self.node) {
            board.edges[edge].add(1);
        }
        match &self.whom {
            Whom::Actor(actor) => cx.tell(actor, Msg::Answer(task)),
            Whom::Ask(reply) => {
                let reply = reply.lock().take();
                reply.into_iter().for_each(|reply| _ = reply.send(task.clone()));
            }
        }
    }
}

impl std::fmt::Debug for ReplyTo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReplyTo(node {})", self.node)
    }
}
