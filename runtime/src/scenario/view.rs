//! A node of a run at one moment, as plain data: counters, queue, state, whatever actor stands behind it.
//!
//! I1 every number was counted; where there is nothing to count there is `None`, not 0.
//! I2 totals never fall: those of actors that a restart of their supervisor has replaced are added.

use super::behaviours::tallies_of;
use super::build::Run;
use super::plan::Params;
use crate::actor::AnyRef;
use crate::observe::{ActorSnapshot, ActorState, Ledger};
use crate::time::Instant;

/// Where a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// Its actor stands there.
    Actor(ActorState),
    /// Its job or stream is done.
    Completed,
    /// Its job was aborted, or its stream failed.
    Failed,
}

/// A node at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSnapshot {
    /// Where it stands.
    pub state: NodeState,
    /// Messages or elements handled.
    pub handled: u64,
    /// Messages or elements that wait.
    pub queued: u64,
    /// Messages stashed.
    pub stashed: u64,
    /// When the oldest waiting message was sent.
    pub oldest: Option<Instant>,
    /// CPU time charged.
    pub busy_ns: u64,
    /// Blocking time charged.
    pub blocked_ns: u64,
    /// Restarts.
    pub restarts: u64,
    /// Messages that failed, became dead letters or were dropped, elements dropped.
    pub lost: u64,
    /// Room in its mailbox or buffer.
    pub capacity: Option<u64>,
    /// What a full mailbox does, as the schema spells it; empty where there is no bound.
    pub overflow: &'static str,
    /// What its behaviour counts, in display order.
    pub tallies: Vec<(&'static str, u64)>,
}

/// An edge at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeSnapshot {
    /// Messages or elements that passed.
    pub passed: u64,
    /// Elements that have left one stage and not reached the next.
    pub in_flight: u64,
    /// The far end takes nothing at present.
    pub is_blocked: bool,
    /// 0 open, 1 completed, 2 failed, 3 cancelled.
    pub end: u8,
    /// Elements lost on the way.
    pub dropped: u64,
}

impl Run {
    /// Looks at a node; `None` if there is no such node.
    pub fn look(&self, node: usize) -> Option<NodeSnapshot> {
        let kind = self.plan().nodes.get(node)?.kind.name;
        if let Some(router) = self.board.router(node) {
            let passed = self.plan().outgoing(node, "out").map(|e| self.passed(e)).sum();
            let actor = snapshot_of(&[router.actor()], self.base(node));
            return Some(NodeSnapshot { handled: passed, ..actor });
        }
        let mut actors = self.board.former(node);
        actors.extend(self.board.actor(node).map(|actor| actor.any()));
        let seen = snapshot_of(&actors, self.base(node));
        let state = match kind {
            "master" if tally(&seen, "done") > 0 => NodeState::Completed,
            "master" if tally(&seen, "aborted") > 0 => NodeState::Failed,
            _ => seen.state,
        };
        Some(NodeSnapshot { state, ..seen })
    }

    /// Counts what a node has handled, failures included; cheaper than [`Run::look`].
    pub fn handled(&self, node: usize) -> Option<u64> {
        self.look(node).map(|seen| seen.handled + seen.lost)
    }

    /// Looks at an edge.
    pub fn look_at_edge(&self, edge: usize) -> EdgeSnapshot {
        EdgeSnapshot { passed: self.passed(edge), ..EdgeSnapshot::default() }
    }

    /// Is true for nodes with a mailbox.
    pub fn has_mailbox(&self, node: usize) -> bool {
        self.board.actor(node).is_some()
    }

    /// Gives the parameters of a node that are in force.
    pub fn params(&self, node: usize) -> Option<Params> {
        self.board.nodes.get(node).map(|cell| cell.params())
    }

    /// What is known of a node without an actor.
    fn base(&self, node: usize) -> NodeSnapshot {
        let names = tallies_of(self.plan().nodes[node].kind.name);
        let cell = &self.board.nodes[node];
        NodeSnapshot {
            state: NodeState::Actor(ActorState::Stopped),
            handled: 0,
            queued: 0,
            stashed: 0,
            oldest: None,
            busy_ns: 0,
            blocked_ns: 0,
            restarts: 0,
            lost: 0,
            capacity: self.nodes()[node].capacity,
            overflow: "",
            tallies: names.iter().enumerate().map(|(i, name)| (*name, cell.tally(i))).collect(),
        }
    }
}

fn tally(seen: &NodeSnapshot, name: &str) -> u64 {
    seen.tallies.iter().find(|(n, _)| *n == name).map_or(0, |(_, value)| *value)
}

/// Adds up the actors of a node; the last one is the present one.
fn snapshot_of(actors: &[AnyRef], base: NodeSnapshot) -> NodeSnapshot {
    let all: Vec<ActorSnapshot> = actors.iter().map(AnyRef::snapshot).collect();
    let Some(present) = all.last() else { return base };
    let ledger: Ledger = all.iter().map(|a| a.ledger).sum();
    NodeSnapshot {
        state: NodeState::Actor(present.state),
        handled: ledger.handled,
        queued: ledger.queued,
        stashed: ledger.stashed,
        oldest: present.oldest,
        busy_ns: all.iter().map(|a| a.busy_ns).sum(),
        blocked_ns: all.iter().map(|a| a.blocked_ns).sum(),
        restarts: all.iter().map(|a| a.restarts).sum(),
        lost: ledger.failed + ledger.dead_lettered + ledger.dropped,
        overflow: present.capacity.map_or("", |_| present.overflow.name()),
        ..base
    }
}
