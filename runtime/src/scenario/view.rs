//! A node of a run at one moment, as plain data: counters, queue, state, whatever actor stands behind it.
//!
//! I1 every number was counted; where there is nothing to count there is `None`, not 0.
//! I2 totals never fall: those of actors that a restart of their supervisor has replaced are added.

use super::behaviours::{Totals, machine, tallies_of};
use super::build::Run;
use super::meta::EdgeKind;
use super::plan::Params;
use super::streams::Stream;
use crate::actor::AnyRef;
use crate::observe::{ActorState, RouterSnapshot};
use crate::stream::{Activity, StreamError, StreamSnapshot, Value};
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
    /// Messages or elements sent on.
    pub sent: u64,
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
    /// Messages in the lane of the urgent; part of what is queued.
    pub control: u64,
    /// Its table and its choices, if it is a router.
    pub router: Option<RouterSnapshot>,
    /// The state that it is in, if it is a machine.
    pub machine: Option<String>,
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
    /// Whether it has ended, and how.
    pub end: EdgeEnd,
    /// Elements lost on the way; `None` where messages go, whose fates mailboxes count.
    pub dropped: Option<u64>,
}

/// How an edge has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EdgeEnd {
    /// It has not.
    #[default]
    Open,
    /// The stream is done.
    Completed,
    /// The stream has failed.
    Failed,
}

/// A whole run at one moment: streams are looked at once, for all their nodes.
pub struct View<'a> {
    run: &'a Run,
    streams: Vec<StreamSnapshot>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("streams", &self.streams).finish_non_exhaustive()
    }
}

impl Run {
    /// Looks at the whole run.
    pub fn view(&self) -> View<'_> {
        View { run: self, streams: self.streams.iter().map(Stream::snapshot).collect() }
    }

    /// Looks at a node; `None` if there is no such node.
    pub fn look(&self, node: usize) -> Option<NodeSnapshot> {
        let stream = self.places.get(node)?.map(|(stream, _)| stream);
        let seen = |(i, s): (usize, &Stream)| {
            if Some(i) == stream { s.snapshot() } else { StreamSnapshot::default() }
        };
        View { run: self, streams: self.streams.iter().enumerate().map(seen).collect() }.node(node)
    }

    /// Counts what a node has handled, failures included.
    pub fn handled(&self, node: usize) -> Option<u64> {
        self.look(node).map(|seen| seen.handled + seen.lost)
    }

    /// Is true for nodes with a mailbox.
    pub fn has_mailbox(&self, node: usize) -> bool {
        self.board.actor(node).is_some()
    }

    /// Gives the parameters of a node that are in force.
    pub fn params(&self, node: usize) -> Option<Params> {
        self.board.nodes.get(node).map(|cell| cell.params())
    }

    fn actor_snapshot(&self, node: usize) -> NodeSnapshot {
        if let Some(router) = self.board.router(node) {
            let passed = self.board.left(node);
            let (gone, mut actors) = self.board.all_actors(node);
            actors.push(router.actor());
            let seen = snapshot_of(gone, &actors, self.base(node));
            // What a pool handles its workers handle; a router of nodes handles nothing itself.
            let handled = if self.plan().nodes[node].kind.name == "pool" { seen.handled } else { passed };
            return NodeSnapshot { handled, router: Some(router.snapshot()), ..seen };
        }
        let (gone, actors) = self.board.all_actors(node);
        let seen = snapshot_of(gone, &actors, self.base(node));
        let state = match self.plan().nodes[node].kind.name {
            "master" if tally(&seen, "done") > 0 => NodeState::Completed,
            "master" if tally(&seen, "aborted") > 0 => NodeState::Failed,
            _ => seen.state,
        };
        NodeSnapshot { state, ..seen }
    }

    fn machine_state(&self, node: usize) -> Option<String> {
        let plan = &self.plan().nodes[node];
        let at = usize::try_from(self.board.nodes[node].tally(machine::STATE)).unwrap_or(usize::MAX);
        (plan.kind.name == "machine")
            .then(|| machine::names(&plan.params).get(at).map(|s| (*s).to_owned()))?
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
            sent: self.board.left(node),
            oldest: None,
            busy_ns: 0,
            blocked_ns: 0,
            restarts: 0,
            lost: 0,
            capacity: self.nodes()[node].capacity,
            overflow: "",
            control: 0,
            router: None,
            machine: self.machine_state(node),
            tallies: names.iter().enumerate().map(|(i, name)| (*name, cell.tally(i))).collect(),
        }
    }
}

impl View<'_> {
    /// Gives a node; `None` if there is no such node.
    pub fn node(&self, node: usize) -> Option<NodeSnapshot> {
        match *self.run.places.get(node)? {
            None => Some(self.run.actor_snapshot(node)),
            Some((stream, at)) => Some(self.stage(node, stream, at)),
        }
    }

    fn stage(&self, node: usize, stream: usize, at: usize) -> NodeSnapshot {
        let chain = &self.run.streams[stream];
        let stage = chain.look(at, &self.streams[stream]);
        let mut seen = self.run.base(node);
        if self.run.has_mailbox(node) {
            seen = self.run.actor_snapshot(node);
            seen.queued += stage.held;
        } else {
            seen.handled = if stage.is_source { stage.emitted } else { stage.taken };
            seen.queued = stage.held;
            seen.sent += stage.emitted;
            seen.state = stage_state(stage.activity, chain.result());
            (seen.busy_ns, seen.blocked_ns) = (stage.work_ns, stage.block_ns);
        }
        seen.lost += stage.dropped;
        seen.capacity = stage.capacity.or(seen.capacity);
        seen
    }

    /// Gives an edge; all zero if there is no such edge.
    pub fn edge(&self, edge: usize) -> EdgeSnapshot {
        let passed = self.run.passed(edge);
        let Some(meta) = self.run.edges().get(edge).filter(|e| e.kind == EdgeKind::Stream) else {
            return EdgeSnapshot { passed, ..EdgeSnapshot::default() };
        };
        let (Some((stream, from)), Some((_, to))) = (self.run.places[meta.from], self.run.places[meta.to])
        else {
            return EdgeSnapshot::default();
        };
        let (stream, seen) = (&self.run.streams[stream], &self.streams[stream]);
        let between = stream.between(edge, (from, to), seen);
        let end = match (stream.look(to, seen).activity, stream.result()) {
            (Activity::Ended, Some(Err(_))) => EdgeEnd::Failed,
            (Activity::Ended, _) => EdgeEnd::Completed,
            _ => EdgeEnd::Open,
        };
        EdgeSnapshot {
            passed: between.passed,
            in_flight: between.in_flight,
            is_blocked: between.is_blocked,
            end,
            dropped: Some(between.lost),
        }
    }
}

fn stage_state(activity: Activity, result: Option<Result<Value, StreamError>>) -> NodeState {
    match (activity, result) {
        (Activity::Ended, Some(Err(_))) => NodeState::Failed,
        (Activity::Ended, _) => NodeState::Completed,
        (Activity::New, _) => NodeState::Actor(ActorState::Starting),
        (Activity::Backpressured, _) => NodeState::Actor(ActorState::AwaitingRoom),
        (Activity::Busy | Activity::Idle, _) => NodeState::Actor(ActorState::Running),
    }
}

fn tally(seen: &NodeSnapshot, name: &str) -> u64 {
    seen.tallies.iter().find(|(n, _)| *n == name).map_or(0, |(_, value)| *value)
}

/// Adds up the actors of a node; the last one is the present one.
fn snapshot_of(gone: Totals, actors: &[AnyRef], base: NodeSnapshot) -> NodeSnapshot {
    let mut totals = gone;
    let all = actors.iter().map(AnyRef::snapshot).inspect(|seen| totals.add(seen));
    let Some(present) = all.last() else { return base };
    let Totals { ledger, busy_ns, blocked_ns, restarts } = totals;
    NodeSnapshot {
        state: NodeState::Actor(present.state),
        handled: ledger.handled,
        queued: ledger.queued,
        stashed: ledger.stashed,
        control: present.control as u64,
        oldest: present.oldest,
        busy_ns,
        blocked_ns,
        restarts,
        lost: ledger.failed + ledger.dead_lettered + ledger.dropped,
        overflow: present.capacity.map_or("", |_| present.overflow.name()),
        ..base
    }
}
