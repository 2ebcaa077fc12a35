//! What the page is told of a run in words and lists: nodes and edges, one node in full, faults, who waits.

use footlights::id::ActorId;
use footlights::observe::ActorState;
use footlights::scenario::meta::EdgeKind as Drawn;
use footlights::scenario::{self, NodeSnapshot, NodeState as Seen, Run};

use super::protocol::{
    Counter, Decision, DocError, EdgeKind, EdgeMeta, Fact, MailboxDetail, NodeDetail, NodeMeta, Turn,
};
use super::{rows, why};

/// Routees of a router that are listed one by one.
const ROUTEES_SHOWN: usize = 20;

impl From<scenario::DocError> for DocError {
    fn from(error: scenario::DocError) -> Self {
        let place = error.place;
        let mut reason = error.reason;
        if !error.mend.is_empty() {
            reason = format!("{reason}; {}", error.mend);
        }
        if let Some((line, column)) = place.line {
            reason = format!("line {line} column {column}: {reason}");
        }
        let text = |part: Option<Box<str>>| part.map(String::from);
        let node = text(place.node).or(text(place.edge));
        DocError { node, port: text(place.port), key: text(place.param), reason }
    }
}

/// Puts faults into the protocol's form.
pub fn errors(errors: Vec<scenario::DocError>) -> Vec<DocError> {
    errors.into_iter().map(DocError::from).collect()
}

/// Lists nodes and edges in the order of telemetry.
pub fn metas(run: &Run) -> (Vec<NodeMeta>, Vec<EdgeMeta>) {
    let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let nodes = run.nodes().iter().map(|n| NodeMeta {
        id: n.id.clone(),
        kind: n.kind.into(),
        label: n.label.clone(),
        parent: n.parent.clone(),
        capacity: n.capacity.map(narrow),
        island: n.island,
    });
    let edges = run.edges().iter().map(|e| EdgeMeta {
        id: e.id.clone(),
        from: run.nodes()[e.from].id.clone(),
        to: run.nodes()[e.to].id.clone(),
        kind: match e.kind {
            Drawn::Wire => EdgeKind::Wire,
            Drawn::Reply => EdgeKind::Reply,
            Drawn::Stream => EdgeKind::Stream,
        },
        capacity: e.capacity.map(narrow),
    });
    (nodes.collect(), edges.collect())
}

/// Describes one node in full.
pub fn of(run: &Run, node: usize, turn: Turn, decisions: Vec<Decision>) -> Option<NodeDetail> {
    let seen = run.look(node)?;
    let counter = |name: &str, value: u64| Counter { name: name.into(), value };
    let mut counters =
        vec![counter("handled", seen.handled), counter("sent", seen.sent), counter("lost", seen.lost)];
    counters.extend(seen.tallies.iter().map(|(name, value)| counter(name, *value)));
    let now = run.system().now();
    let mailbox = run.has_mailbox(node).then(|| MailboxDetail {
        depth: seen.queued,
        capacity: seen.capacity,
        policy: seen.overflow.into(),
        oldest_age_ns: seen.oldest.map(|at| (now - at).as_nanos() as u64),
    });
    Some(NodeDetail {
        node: run.nodes()[node].id.clone(),
        turn,
        params: run.params(node)?.iter().map(|(key, value)| (key.to_owned(), value.clone())).collect(),
        counters,
        mailbox,
        state: rows::state(seen.state).name().into(),
        restarts: seen.restarts,
        decisions,
        facts: facts(run, node, &seen),
    })
}

/// Says what else there is to know of a node.
fn facts(run: &Run, node: usize, seen: &NodeSnapshot) -> Vec<Fact> {
    let fact = |name: &str, value: String| Fact { name: name.into(), value };
    let plan = &run.plan().nodes[node];
    let params = &plan.params;
    let mut facts = Vec::new();
    if plan.kind.may_have_dispatcher() {
        facts.push(fact("dispatcher", plan.dispatcher.clone().unwrap_or_else(|| "default".into())));
    }
    if let Some(order) = Some(params.text("order")).filter(|o| !o.is_empty()) {
        facts.push(fact("order", order.replace('_', " ")));
    }
    if seen.control > 0 {
        facts.push(fact("urgent ones waiting", seen.control.to_string()));
    }
    if let Some(state) = &seen.machine {
        facts.push(fact("in the state", state.clone()));
    }
    if seen.stashed > 0 {
        facts.push(fact("stashed", seen.stashed.to_string()));
    }
    if let Some(router) = &seen.router {
        facts.push(fact("routees", router.size().to_string()));
        for routee in router.routees.iter().take(ROUTEES_SHOWN) {
            facts.push(fact(&format!("chose {}", why::who(run, routee.id)), routee.chosen.to_string()));
        }
        if let Some((routee, reason)) = router.last {
            let whom = if routee == ActorId::NOBODY { "nobody yet".into() } else { why::who(run, routee) };
            facts.push(fact("last choice", format!("{whom}: {}", reason.why())));
        }
        if router.queued > 0 {
            facts.push(fact("waits with the router", router.queued.to_string()));
        }
    }
    facts
}

/// Lists the nodes that wait for room although nothing can happen any more.
pub fn waiting(run: &Run) -> Vec<String> {
    let waits =
        |i: &usize| run.look(*i).is_some_and(|seen| seen.state == Seen::Actor(ActorState::AwaitingRoom));
    (0..run.nodes().len()).filter(waits).map(|i| run.nodes()[i].id.clone()).collect()
}

/// Lists the masters whose job was given up.
pub fn aborted(run: &Run) -> Vec<String> {
    let gave_up = |i: &usize| {
        run.nodes()[*i].kind == "master" && run.look(*i).is_some_and(|seen| seen.state == Seen::Failed)
    };
    (0..run.nodes().len()).filter(gave_up).map(|i| run.nodes()[i].id.clone()).collect()
}
