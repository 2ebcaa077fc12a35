//! Checks of the graph as a whole: stream chains, and the implicit edges of replies.

use std::collections::BTreeSet;

use super::super::error::{DocError, Place};
use super::super::plan::Plan;
use super::super::schema::{Carries, Direction};

/// The most implicit reply edges of a plan.
const REPLIES_MAX: usize = 20_000;

/// Finds chains and replies, and writes them into the plan.
pub(super) fn check(plan: &mut Plan, errors: &mut Vec<DocError>) {
    settings(plan, errors);
    sizes(plan, errors);
    let wires = Wires::of(plan);
    let heads: Vec<usize> = (0..plan.nodes.len()).filter(|&i| is_stream_source(plan, i)).collect();
    plan.chains = heads.into_iter().map(|head| walk(head, &wires.next)).collect();
    let mut reached = vec![false; plan.nodes.len()];
    plan.chains.iter().flatten().for_each(|&i| reached[i] = true);
    for i in (0..plan.nodes.len()).filter(|&i| wires.has_stream_input[i] && !reached[i]) {
        if on_circle(i, &wires.next) {
            let reason = "its stream is a circle: it has no source and no sink";
            errors
                .push(DocError::new(Place::node(&plan.nodes[i].id), reason).mend("remove one of its edges"));
        }
    }
    circles_of_routers(plan, &wires, errors);
    plan.replies = replies(plan, &wires);
    if plan.replies.len() > REPLIES_MAX {
        let reason = format!("workers reply to masters in more than {REPLIES_MAX} ways");
        errors.push(DocError::new(Place::document(), reason).mend("use fewer masters"));
    }
}

/// The plan's edges, looked up by node.
struct Wires {
    /// Per node, where its message edges lead; the port `result` of a master is left out.
    messages: Vec<Vec<usize>>,
    /// Per node, the next one of its stream; a node has one stream output at most.
    next: Vec<Option<usize>>,
    has_stream_input: Vec<bool>,
}

impl Wires {
    fn of(plan: &Plan) -> Self {
        let n = plan.nodes.len();
        let mut wires =
            Wires { messages: vec![Vec::new(); n], next: vec![None; n], has_stream_input: vec![false; n] };
        for e in &plan.edges {
            match e.carries {
                Carries::Message if matches!(e.from.1, "out" | "parts") => {
                    wires.messages[e.from.0].push(e.to.0)
                }
                Carries::Message => {}
                Carries::Stream => {
                    wires.next[e.from.0] = Some(e.to.0);
                    wires.has_stream_input[e.to.0] = true;
                }
            }
        }
        wires
    }
}

fn settings(plan: &Plan, errors: &mut Vec<DocError>) {
    for n in plan.nodes.iter().filter(|n| matches!(n.kind.name, "supervisor" | "pool")) {
        if n.params.millis("backoff_min_ms") > n.params.millis("backoff_max_ms") {
            let place = Place::param(&n.id, "backoff_min_ms");
            errors.push(DocError::new(place, "must not be more than backoff_max_ms"));
        }
    }
}

/// A resizer's bounds are in order.
fn sizes(plan: &Plan, errors: &mut Vec<DocError>) {
    for n in plan.nodes.iter().filter(|n| n.kind.name == "pool" && n.params.text("resizer") != "none") {
        if n.params.count("size_min") > n.params.count("size_max") {
            errors.push(DocError::new(Place::param(&n.id, "size_min"), "must not be more than size_max"));
        }
    }
}

fn is_stream_source(plan: &Plan, node: usize) -> bool {
    let has =
        |d| plan.nodes[node].kind.ports.iter().any(|p| p.carries == Carries::Stream && p.direction == d);
    has(Direction::Out) && !has(Direction::In)
}

fn walk(head: usize, next: &[Option<usize>]) -> Vec<usize> {
    let mut chain = vec![head];
    let mut at = head;
    while let Some(n) = next[at].filter(|_| chain.len() < next.len()) {
        chain.push(n);
        at = n;
    }
    chain
}

fn on_circle(start: usize, next: &[Option<usize>]) -> bool {
    let mut at = next[start];
    for _ in 0..next.len() {
        match at {
            Some(n) if n == start => return true,
            Some(n) => at = next[n],
            None => return false,
        }
    }
    false
}

/// Refuses routers that lead to nothing but each other: what enters such a circle would go round for ever.
fn circles_of_routers(plan: &Plan, wires: &Wires, errors: &mut Vec<DocError>) {
    let is_router = |i: usize| plan.nodes[i].kind.name == "router";
    for router in (0..plan.nodes.len()).filter(|&i| is_router(i)) {
        if reach(wires, router, &is_router).contains(&router) {
            let reason = "it is behind itself: its routers form a circle";
            errors.push(
                DocError::new(Place::node(&plan.nodes[router].id), reason).mend("remove one of their edges"),
            );
        }
    }
}

/// Replies travel by the reference inside the message: from every node that replies to every one that asks and reaches it.
fn replies(plan: &Plan, wires: &Wires) -> Vec<(usize, usize)> {
    let kind = |i: usize| plan.nodes[i].kind.name;
    let then = |i: usize| plan.nodes[i].params.text("then");
    let works = |i: usize| matches!(kind(i), "worker" | "pool");
    let passes = |i: usize| matches!(kind(i), "router" | "machine") || (works(i) && then(i) == "forward");
    // A router that asks hands the answer on; so does a pool of that kind, whatever its workers do.
    let replies =
        |i: usize| kind(i) == "front_end" || plan.asks(i) || (works(i) && then(i).starts_with("reply"));
    let mut found = Vec::new();
    for asker in (0..plan.nodes.len()).filter(|&i| matches!(kind(i), "master" | "front_end")) {
        let reached = reach(wires, asker, &passes);
        found.extend(reached.into_iter().filter(|&w| replies(w)).map(|w| (w, asker)));
        if found.len() > REPLIES_MAX {
            break;
        }
    }
    found
}

/// Lists the nodes that messages from `start` reach, going on through those that `passes`.
fn reach(wires: &Wires, start: usize, passes: &dyn Fn(usize) -> bool) -> BTreeSet<usize> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(at) = open.pop() {
        let fresh: Vec<usize> = wires.messages[at].iter().copied().filter(|&to| seen.insert(to)).collect();
        open.extend(fresh.into_iter().filter(|&to| passes(to)));
    }
    seen
}
