//! Checks of the graph as a whole: stream chains, and the implicit edges of replies.

use std::collections::BTreeSet;

use super::super::error::{DocError, Place};
use super::super::plan::{Plan, StreamPlan};
use super::super::schema::{Carries, Direction};

/// The most implicit reply edges of a plan.
const REPLIES_MAX: usize = 20_000;

/// Finds chains and replies, and writes them into the plan.
pub(super) fn check(plan: &mut Plan, errors: &mut Vec<DocError>) {
    settings(plan, errors);
    sizes(plan, errors);
    let wires = Wires::of(plan);
    plan.streams = streams(plan, &wires);
    let mut reached = vec![false; plan.nodes.len()];
    plan.streams.iter().flat_map(|stream| &stream.nodes).for_each(|&i| reached[i] = true);
    for i in (0..plan.nodes.len()).filter(|&i| !wires.before[i].is_empty() && !reached[i]) {
        if on_circle(i, &wires.next) {
            let reason = "its stream is a circle that no source feeds";
            errors
                .push(DocError::new(Place::node(&plan.nodes[i].id), reason).mend("remove one of its edges"));
        }
    }
    for stream in &plan.streams {
        let ends = |&&i: &&usize| wires.next[i].is_empty();
        let circle = stream.nodes.iter().find(ends).is_none().then(|| stream.nodes[0]);
        errors.extend(circle.map(|i| {
            let reason = "its stream has no sink: elements go round for ever";
            DocError::new(Place::node(&plan.nodes[i].id), reason)
                .mend("lead a way out of the circle to a sink")
        }));
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
    /// Per node, the next ones of its stream.
    next: Vec<Vec<usize>>,
    /// Per node, those of its stream that feed it.
    before: Vec<Vec<usize>>,
}

impl Wires {
    fn of(plan: &Plan) -> Self {
        let n = plan.nodes.len();
        let mut wires =
            Wires { messages: vec![Vec::new(); n], next: vec![Vec::new(); n], before: vec![Vec::new(); n] };
        for e in &plan.edges {
            match e.carries {
                Carries::Message if matches!(e.from.1, "out" | "parts") => {
                    wires.messages[e.from.0].push(e.to.0)
                }
                Carries::Message => {}
                Carries::Stream => {
                    wires.next[e.from.0].push(e.to.0);
                    wires.before[e.to.0].push(e.from.0);
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

/// Finds what hangs together by stream edges, in the order of the first sources.
fn streams(plan: &Plan, wires: &Wires) -> Vec<StreamPlan> {
    let mut stream_of = vec![None; plan.nodes.len()];
    let mut found: Vec<StreamPlan> = Vec::new();
    for head in (0..plan.nodes.len()).filter(|&i| is_stream_source(plan, i)) {
        if stream_of[head].is_some() {
            continue;
        }
        let index = found.len();
        let mut nodes = Vec::new();
        // Downstream first, so that a chain is listed from its source to its sink.
        let mut open = vec![head];
        while let Some(at) = open.pop() {
            if stream_of[at].replace(index).is_none() {
                nodes.push(at);
                open.extend(wires.before[at].iter().rev().chain(wires.next[at].iter().rev()));
            }
        }
        found.push(StreamPlan { nodes, edges: Vec::new() });
    }
    for (i, edge) in plan.edges.iter().enumerate().filter(|(_, e)| e.carries == Carries::Stream) {
        if let Some(stream) = stream_of[edge.from.0] {
            found[stream].edges.push(i);
        }
    }
    found
}

fn on_circle(start: usize, next: &[Vec<usize>]) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), next[start].clone());
    while let Some(at) = open.pop() {
        if at == start {
            return true;
        }
        if seen.insert(at) {
            open.extend(&next[at]);
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
