//! What all actors of one scenario share: who is where, the knobs, the counters.
//!
//! I1 counters only grow, and outlive restarts; memory does not: of the earlier actors of a node sums are kept. I2 the board opens once, after the last node got its actor.
//! I3 a lock is held for a lookup, never while something is sent.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::{Poll, Waker};

use super::super::plan::{Params, Plan};
use super::{Msg, Task};
use crate::actor::{ActorRef, AnyRef};
use crate::id::ActorId;
use crate::observe::{ActorSnapshot, ActorState, Ledger};
use crate::routing::RouterRef;
use crate::stream::{Feed, Value};
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering};

/// The most counters that one behaviour has.
const TALLIES: usize = 10;
/// Earlier actors of a node that are still known by their ids, for events that are told late.
const IDS_KEPT: usize = 64;

/// The shared state of one run.
pub(crate) struct Board {
    pub(crate) plan: Plan,
    pub(crate) nodes: Vec<NodeCell>,
    pub(crate) edges: Vec<EdgeCell>,
    /// Per node, the edges that leave it.
    outgoing: Vec<Vec<usize>>,
    /// Per node, the masters that it answers, with the edge to each.
    replies: Vec<Vec<(usize, usize)>>,
    feeds: BTreeMap<usize, Feed<Value>>,
    refs: Mutex<Refs>,
    /// Counts the times that a node got another actor: outlets look again when it moves.
    epoch: AtomicU64,
    open: AtomicBool,
}

/// What is shared of one node.
pub(crate) struct NodeCell {
    params: Mutex<Params>,
    version: AtomicU64,
    fail_next: AtomicBool,
    tallies: [AtomicU64; TALLIES],
}

/// What is counted on one edge.
#[derive(Default)]
pub(crate) struct EdgeCell {
    passed: AtomicU64,
}

struct Refs {
    by_node: Vec<Option<ActorRef<Msg>>>,
    owners: BTreeMap<ActorId, usize>,
    former: Vec<Former>,
    routers: BTreeMap<usize, RouterRef<Msg>>,
    missing: usize,
    waker: Option<Waker>,
}

/// The earlier actors of a node, which restarts of their supervisor have ended.
#[derive(Default)]
struct Former {
    /// Sums of those that can count no more.
    totals: Totals,
    /// The last one, and all that are still at something.
    actors: Vec<AnyRef>,
    ids: VecDeque<ActorId>,
}

/// What several actors have counted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) ledger: Ledger,
    pub(crate) busy_ns: u64,
    pub(crate) blocked_ns: u64,
    pub(crate) restarts: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, seen: &ActorSnapshot) {
        self.ledger += seen.ledger;
        self.busy_ns += seen.busy_ns;
        self.blocked_ns += seen.blocked_ns;
        self.restarts += seen.restarts;
    }
}

impl Former {
    /// Takes in the next one; gives back what is kept no more.
    fn push(&mut self, actor: AnyRef) -> (Vec<AnyRef>, Option<ActorId>) {
        let (mut kept, mut done) = (Vec::new(), Vec::new());
        for former in self.actors.drain(..) {
            let seen = former.snapshot();
            if seen.state == ActorState::Stopped && seen.ledger.queued == 0 {
                self.totals.add(&seen);
                done.push(former);
            } else {
                kept.push(former);
            }
        }
        self.ids.push_back(actor.id());
        kept.push(actor);
        self.actors = kept;
        // Who lives is known, however many they are.
        let kept = IDS_KEPT.max(2 * self.actors.len());
        let forgotten = if self.ids.len() > kept { self.ids.pop_front() } else { None };
        (done, forgotten)
    }
}

impl Board {
    /// Makes the board of a plan; `actors` nodes will get an actor of their own.
    pub(crate) fn new(plan: Plan, actors: usize) -> Arc<Self> {
        let nodes: Vec<NodeCell> = plan.nodes.iter().map(|n| NodeCell::new(n.params.clone())).collect();
        let edges = (0..plan.edges.len() + plan.replies.len()).map(|_| EdgeCell::default()).collect();
        let refs = Refs {
            by_node: vec![None; nodes.len()],
            owners: BTreeMap::new(),
            former: nodes.iter().map(|_| Former::default()).collect(),
            routers: BTreeMap::new(),
            missing: actors,
            waker: None,
        };
        let bridges = plan.nodes.iter().enumerate().filter(|(_, n)| n.kind.name == "to_stream");
        let feeds = bridges.map(|(i, n)| (i, super::bridge::feed(&n.params))).collect();
        let outgoing = plan.outgoing();
        let mut replies = vec![Vec::new(); nodes.len()];
        for (i, &(worker, master)) in plan.replies.iter().enumerate() {
            replies[worker].push((master, plan.edges.len() + i));
        }
        let (epoch, open) = (AtomicU64::new(1), AtomicBool::new(false));
        Arc::new(Board { plan, nodes, edges, outgoing, replies, feeds, refs: Mutex::new(refs), epoch, open })
    }

    /// Notes the actor of a node. One that takes the place of another is shown to the routers in front of it.
    pub(crate) fn register(&self, node: usize, actor: &ActorRef<Msg>) {
        let mut refs = self.refs.lock();
        refs.owners.insert(actor.id(), node);
        let former = refs.by_node[node].replace(actor.clone());
        let Some(former) = former else {
            refs.missing = refs.missing.saturating_sub(1);
            let waker = if refs.missing == 0 { refs.waker.take() } else { None };
            drop(refs);
            waker.into_iter().for_each(Waker::wake);
            return;
        };
        let (done, forgotten) = refs.former[node].push(former.any());
        forgotten.into_iter().for_each(|id| _ = refs.owners.remove(&id));
        let routers: Vec<_> = refs.routers.iter().map(|(n, r)| (*n, r.clone())).collect();
        drop(refs);
        drop(done);
        // Ordering: Release, pairs with the Acquire in epoch(): who sees the new epoch finds the new reference.
        self.epoch.fetch_add(1, Ordering::Release);
        for (router, reference) in routers {
            if self.edges_to_routees(router).any(|e| self.plan.edges[e].to.0 == node) {
                reference.set_routees(self.routees(router));
            }
        }
    }

    /// Notes the router of a node, and gives it its routees if it has not made them.
    pub(crate) fn register_router(&self, node: usize, router: &RouterRef<Msg>) {
        if self.plan.nodes[node].kind.name == "router" {
            router.set_routees(self.routees(node));
        }
        let mut refs = self.refs.lock();
        refs.owners.insert(router.actor().id(), node);
        refs.routers.insert(node, router.clone());
    }

    fn routees(&self, router: usize) -> Vec<ActorRef<Msg>> {
        self.edges_to_routees(router).filter_map(|e| self.actor(self.plan.edges[e].to.0)).collect()
    }

    /// Lists the edges from a router to its routees; a pool's output leads away from them.
    pub(crate) fn edges_to_routees(&self, router: usize) -> impl Iterator<Item = usize> {
        let is_group = self.plan.nodes[router].kind.name == "router";
        self.outgoing(router, "out").filter(move |_| is_group)
    }

    /// Lists the actors that a router leads to, those behind routers that it leads to included.
    pub(crate) fn behind(&self, router: &RouterRef<Msg>) -> Vec<ActorRef<Msg>> {
        let mut found = Vec::new();
        for routee in router.routees() {
            let next = self.owner(routee.id()).and_then(|node| self.router(node));
            // The routees of a pool are of its own node.
            match next.filter(|next| next.actor() != router.actor()) {
                Some(next) => found.extend(self.behind(&next)),
                None => found.push(routee),
            }
        }
        found
    }

    /// Notes an actor that works for a node, such as an island.
    pub(crate) fn own(&self, actor: ActorId, node: usize) {
        self.refs.lock().owners.insert(actor, node);
    }

    /// Notes a routee that a pool has made.
    pub(crate) fn join(&self, node: usize, routee: AnyRef) {
        let mut refs = self.refs.lock();
        refs.owners.insert(routee.id(), node);
        let (done, forgotten) = refs.former[node].push(routee);
        forgotten.into_iter().for_each(|id| _ = refs.owners.remove(&id));
        drop(refs);
        drop(done);
    }

    /// Notes a short-lived actor that works for a node; the last [`IDS_KEPT`] of a node are known.
    pub(crate) fn own_for_a_while(&self, actor: ActorId, node: usize) {
        let mut refs = self.refs.lock();
        refs.owners.insert(actor, node);
        refs.former[node].ids.push_back(actor);
        if refs.former[node].ids.len() > IDS_KEPT
            && let Some(forgotten) = refs.former[node].ids.pop_front()
        {
            refs.owners.remove(&forgotten);
        }
    }

    /// Gives the queue of a `to_stream` node.
    pub(crate) fn feed(&self, node: usize) -> Feed<Value> {
        self.feeds[&node].clone()
    }

    /// Gives the router of a node, if it is one.
    pub(crate) fn router(&self, node: usize) -> Option<RouterRef<Msg>> {
        self.refs.lock().routers.get(&node).cloned()
    }

    /// Is ready once every node has its actor.
    pub(crate) fn poll_complete(&self, cx: &mut std::task::Context<'_>) -> Poll<()> {
        let mut refs = self.refs.lock();
        if refs.missing == 0 {
            return Poll::Ready(());
        }
        refs.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Opens the board: everybody begins, in the order of the document.
    pub(crate) fn open(&self) {
        // Ordering: Release, pairs with is_open(): who sees it open finds every reference.
        self.open.store(true, Ordering::Release);
        for (i, node) in self.plan.nodes.iter().enumerate() {
            if let ("source" | "master", Some(actor)) = (node.kind.name, self.actor(i)) {
                actor.tell(Msg::Go);
            }
        }
    }

    /// Is true once everybody may send.
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Gives the present actor of a node.
    pub(crate) fn actor(&self, node: usize) -> Option<ActorRef<Msg>> {
        self.refs.lock().by_node[node].clone()
    }

    /// Gives all actors that a node has had: sums of those long gone, then the others, the present one last.
    pub(crate) fn all_actors(&self, node: usize) -> (Totals, Vec<AnyRef>) {
        let refs = self.refs.lock();
        let Former { totals, actors, .. } = &refs.former[node];
        let present = refs.by_node[node].as_ref().map(ActorRef::any);
        (*totals, actors.iter().cloned().chain(present).collect())
    }

    /// Finds the node that an actor is or was.
    pub(crate) fn owner(&self, actor: ActorId) -> Option<usize> {
        self.refs.lock().owners.get(&actor).copied()
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Finds the edge by which a node's answers go to one that asked.
    pub(crate) fn reply_edge(&self, by: usize, to: usize) -> Option<usize> {
        self.replies[by].iter().find(|(asker, _)| *asker == to).map(|(_, edge)| *edge)
    }

    /// Counts a message that a router has handed to a node without a choice of the sender.
    pub(crate) fn arrived(&self, node: usize, task: &mut Task) {
        let Some(router) = task.via.take() else { return };
        let edge = self.outgoing[router].iter().find(|&&edge| self.plan.edges[edge].to.0 == node);
        edge.iter().for_each(|&&edge| self.edges[edge].add(1));
    }

    /// Lists the edges that leave a port, in the order of the document.
    pub(crate) fn outgoing(&self, node: usize, port: &'static str) -> impl Iterator<Item = usize> {
        self.outgoing[node].iter().copied().filter(move |&e| self.plan.edges[e].from.1 == port)
    }

    /// Counts what has left a node on its edges, answers included.
    pub(crate) fn left(&self, node: usize) -> u64 {
        let replies = self.replies[node].iter().map(|(_, edge)| edge);
        self.outgoing[node].iter().chain(replies).map(|&e| self.edges[e].passed()).sum()
    }

    /// Replaces a parameter that the schema has checked.
    pub(crate) fn set(&self, node: usize, key: &'static str, value: serde_json::Value) {
        let cell = &self.nodes[node];
        cell.params.lock().set(key, value);
        // Ordering: Release, pairs with the Acquire in Knobs::get().
        cell.version.fetch_add(1, Ordering::Release);
    }
}

impl NodeCell {
    fn new(params: Params) -> Self {
        NodeCell {
            params: Mutex::new(params),
            version: AtomicU64::new(1),
            fail_next: AtomicBool::new(false),
            tallies: Default::default(),
        }
    }

    /// Gives the parameters in force.
    pub(crate) fn params(&self) -> Params {
        self.params.lock().clone()
    }

    /// Makes the next message fail.
    pub(crate) fn break_next(&self) {
        self.fail_next.store(true, Ordering::Relaxed);
    }

    /// Is true once after [`NodeCell::break_next`].
    pub(crate) fn takes_break(&self) -> bool {
        self.fail_next.load(Ordering::Relaxed) && self.fail_next.swap(false, Ordering::Relaxed)
    }

    /// Adds to the counter `which`, and gives its new value.
    pub(crate) fn add(&self, which: usize, n: u64) -> u64 {
        // Ordering: Relaxed, a statistic.
        self.tallies[which].fetch_add(n, Ordering::Relaxed).wrapping_add(n)
    }

    /// Takes from the counter `which`, that counts what is there and not what has been.
    pub(crate) fn take(&self, which: usize, n: u64) {
        self.tallies[which].fetch_sub(n, Ordering::Relaxed);
    }

    /// Sets `which`, that is no counter but a state.
    pub(crate) fn put(&self, which: usize, value: u64) {
        self.tallies[which].store(value, Ordering::Relaxed);
    }

    /// Raises the counter `which` to `value`, if it is less.
    pub(crate) fn raise(&self, which: usize, value: u64) {
        self.tallies[which].fetch_max(value, Ordering::Relaxed);
    }

    pub(crate) fn tally(&self, which: usize) -> u64 {
        self.tallies[which].load(Ordering::Relaxed)
    }
}

impl EdgeCell {
    pub(crate) fn add(&self, n: u64) {
        // Ordering: Relaxed, a statistic.
        self.passed.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }
}

/// A node's parameters as its behaviour wants them, read again when a knob was turned.
pub(crate) struct Knobs<T> {
    read: fn(&Params) -> T,
    version: u64,
    value: T,
}

impl<T: Copy> Knobs<T> {
    pub(crate) fn new(cell: &NodeCell, read: fn(&Params) -> T) -> Self {
        let version = cell.version.load(Ordering::Acquire);
        Knobs { read, version, value: read(&cell.params.lock()) }
    }

    pub(crate) fn get(&mut self, cell: &NodeCell) -> T {
        let version = cell.version.load(Ordering::Acquire);
        if version != self.version {
            (self.version, self.value) = (version, (self.read)(&cell.params.lock()));
        }
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::document::Scenario;
    use crate::scenario::{On, Run, validate};

    /// A group that is restarted for each message of its worker.
    const RESTARTS: &str = r#"{"version": 1, "seed": 7, "workers": 2, "nodes": [
        {"id": "s", "kind": "source", "params": {"rate_per_s": 10, "count": 300}},
        {"id": "o", "kind": "supervisor", "params": {"max_restarts": 1000}},
        {"id": "g", "kind": "supervisor", "parent": "o", "params": {"directive": "escalate"}},
        {"id": "w", "kind": "worker", "parent": "g", "params": {"then": "absorb", "failure": "nth", "nth": 1}}
    ], "edges": [{"id": "e", "from": "s.out", "to": "w.in"}]}"#;

    #[test]
    fn many_restarts_of_a_supervisor_take_no_more_memory_than_a_few() {
        let scenario = Scenario::parse(RESTARTS).expect("a document");
        let run = Run::start(validate(&scenario).expect("valid"), On::Stepper).expect("it starts");
        let mut most = 0;
        while run.system().step().is_some() {
            let lost = run.look(3).expect("the worker").lost;
            assert!(lost >= most, "totals never fall: {lost} after {most}");
            most = lost;
        }
        assert_eq!((most, run.look(2).expect("the group").restarts), (300, 300));
        let refs = run.board.refs.lock();
        assert!(refs.former[3].actors.len() <= 2, "{} actors kept", refs.former[3].actors.len());
        assert!(refs.owners.len() <= IDS_KEPT + 8, "{} owners kept", refs.owners.len());
    }
}
