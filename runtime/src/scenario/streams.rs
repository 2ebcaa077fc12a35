//! The streams of a run: one drawing for what hangs together in the document, and where each node and edge stands in it.
//!
//! A disabled boundary is no stage: its node shows what passes between its neighbours. I1 a stage's name is its node's id.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::Value as Json;

use super::behaviours::{Board, Outlet, Task};
use super::plan::{Params, Plan, StreamPlan};
use crate::actor::AnyRef;
use crate::stream::{
    Activity, Counts, Drawing, EdgeSnapshot, Results, RunError, RunOptions, StreamError, StreamHandle,
    StreamSnapshot, Value,
};
use crate::sync::Mutex;
use crate::system::ActorSystem;

/// A stream that runs.
pub(super) struct Stream {
    handle: StreamHandle,
    /// The results of the sinks that have not ended yet.
    open: Mutex<Results>,
    result: Mutex<Option<Result<Value, StreamError>>>,
    /// The island actors, from upstream.
    pub(super) islands: Vec<Option<AnyRef>>,
    places: Vec<Place>,
    /// Per edge of the plan at a junction: the fused edge that it is.
    fused: BTreeMap<usize, usize>,
}

/// Where a node stands in its stream.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    node: usize,
    /// Its stage; of a disabled boundary, the last stage before it.
    stage: Option<usize>,
    passes_through: bool,
    is_source: bool,
    /// Of a disabled boundary at a junction: the fused edge that it is.
    fused: Option<usize>,
    /// The writing half of a boundary.
    writer: Option<usize>,
    ring: Option<usize>,
    island: usize,
}

/// What is seen of one node of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stage {
    pub(super) taken: u64,
    pub(super) emitted: u64,
    pub(super) held: u64,
    pub(super) dropped: u64,
    pub(super) work_ns: u64,
    pub(super) block_ns: u64,
    pub(super) activity: Activity,
    pub(super) capacity: Option<u64>,
    pub(super) is_source: bool,
}

/// What is seen of one edge of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Between {
    pub(super) passed: u64,
    pub(super) in_flight: u64,
    pub(super) is_blocked: bool,
    pub(super) lost: u64,
}

impl Stream {
    /// Builds and starts the stream with the number `index` of a board's plan.
    pub(super) fn start(board: &Arc<Board>, index: usize, system: &ActorSystem) -> Result<Stream, RunError> {
        let plan = &board.plan;
        let StreamPlan { nodes, edges } = &plan.streams[index];
        let drawing = nodes.iter().fold(Drawing::new(), |drawing, &node| add(drawing, board, node));
        let wire = |drawing: Drawing, &edge: &usize| {
            let (from, to) = (plan.edges[edge].from.0, plan.edges[edge].to.0);
            drawing.wire(&plan.nodes[from].id, &plan.nodes[to].id)
        };
        let drawing = edges.iter().fold(drawing, wire);
        let name = format!("stream{index}");
        let options = RunOptions::default().name(&name).seed(index as u64).batch(plan.batch as usize);
        let (open, handle) = drawing.run_with(system, &options)?;
        let built = handle.snapshot();
        let islands = (0..built.islands.len()).map(|i| system.find(&format!("/system/{name}-{i}"))).collect();
        let fused = fused(plan, edges, &built);
        let places = places(plan, &plan.streams[index], &built, &fused);
        Ok(Stream { handle, open: Mutex::new(open), result: Mutex::new(None), islands, places, fused })
    }

    /// Gives the node that stands first in an island.
    pub(super) fn head_of(&self, island: usize) -> Option<usize> {
        self.places.iter().find(|p| p.island == island).map(|p| p.node)
    }

    pub(super) fn snapshot(&self) -> StreamSnapshot {
        self.handle.snapshot()
    }

    /// Gives how the stream ended: by the first failure, or when all sinks have completed.
    pub(super) fn result(&self) -> Option<Result<Value, StreamError>> {
        let (mut open, mut result) = (self.open.lock(), self.result.lock());
        open.retain(|(_, done)| {
            if done.is_settled()
                && let Some(end) = done.take()
                && !matches!(*result, Some(Err(_)))
            {
                *result = Some(end);
            }
            !done.is_settled()
        });
        result.clone().filter(|result| open.is_empty() || result.is_err())
    }

    /// Changes a live parameter that the schema has checked.
    pub(super) fn set(&self, node: &str, key: &str, value: &Json) {
        // A stage that is not there is a disabled boundary, which has nothing to change.
        let _ = self.handle.set(node, key, to_value(value));
    }

    /// Looks at the node with the place `at` in its stream.
    pub(super) fn look(&self, at: usize, seen: &StreamSnapshot) -> Stage {
        let Some(place) = self.places.get(at) else { return Stage::default() };
        let counts = place.stage.and_then(|s| seen.stages.get(s)).map(|s| s.counts);
        let Some(counts) = counts else { return Stage::default() };
        let ring = place.ring.and_then(|r| seen.edges.get(r));
        let activity = seen.islands.get(place.island).map_or(Activity::Ended, |i| i.activity);
        if place.passes_through {
            // What left the stage before it has passed it.
            let passed = place.fused.and_then(|e| seen.edges.get(e)).map_or(counts.emitted, |e| e.taken);
            return Stage { taken: passed, emitted: passed, activity, ..Stage::default() };
        }
        Stage {
            taken: ring.map_or(counts.taken, |r| r.pushed),
            emitted: counts.emitted,
            held: ring.map_or(counts.held, |r| r.fill),
            dropped: counts.dropped.total() + counts.lost_on_edge + ring.map_or(0, |r| r.dropped),
            work_ns: counts.work_ns,
            block_ns: counts.block_ns,
            activity,
            capacity: ring.map(|r| r.capacity),
            is_source: place.is_source,
        }
    }

    /// Looks at an edge of the plan, between two places of this stream.
    pub(super) fn between(&self, edge: usize, (from, to): (usize, usize), seen: &StreamSnapshot) -> Between {
        let (Some(here), Some(next)) = (self.places.get(from), self.places.get(to)) else {
            return Between::default();
        };
        let counts = |stage: Option<usize>| {
            stage.and_then(|s| seen.stages.get(s)).map(|s| s.counts).unwrap_or_default()
        };
        let writer = counts(next.writer);
        let ring: Option<&EdgeSnapshot> = next.ring.and_then(|r| seen.edges.get(r));
        // Elements that a boundary's writer took and could not put into the ring, and what was lost there.
        let waiting = writer.held;
        let lost = writer.dropped.total() + writer.lost_on_edge + ring.map_or(0, |r| r.dropped);
        let is_blocked = ring.is_some_and(|r| r.fill >= r.capacity);
        if let Some(fused) = self.fused.get(&edge).and_then(|&e| seen.edges.get(e)) {
            let (passed, in_flight) = (fused.taken, fused.fill + waiting);
            return Between { passed, in_flight, is_blocked, lost: fused.dropped + lost };
        }
        // With a disabled boundary between two stages, what rests between them is shown on the last edge.
        let above = if next.passes_through { Counts::default() } else { counts(here.stage) };
        Between {
            passed: self.look(to, seen).taken,
            in_flight: above.resting + waiting,
            is_blocked,
            lost: above.lost_on_edge + lost,
        }
    }
}

/// Finds the edges of the plan that are fused edges of the graph: those at junctions.
fn fused(plan: &Plan, edges: &[usize], built: &StreamSnapshot) -> BTreeMap<usize, usize> {
    let mut by_name: BTreeMap<&str, VecDeque<usize>> = BTreeMap::new();
    for (i, edge) in built.edges.iter().enumerate() {
        by_name.entry(&edge.name).or_default().push_back(i);
    }
    let find = |&edge: &usize| {
        let (from, to) = (plan.edges[edge].from.0, plan.edges[edge].to.0);
        let name = format!("{} → {}", plan.nodes[from].id, plan.nodes[to].id);
        Some((edge, by_name.get_mut(name.as_str())?.pop_front()?))
    };
    edges.iter().filter_map(find).collect()
}

fn places(
    plan: &Plan,
    stream: &StreamPlan,
    built: &StreamSnapshot,
    fused: &BTreeMap<usize, usize>,
) -> Vec<Place> {
    let stages: BTreeMap<&str, usize> = built.stages.iter().enumerate().map(|(i, s)| (&*s.name, i)).collect();
    let stage = |name: &str| stages.get(name).copied();
    let rings: BTreeMap<&str, usize> = built.edges.iter().enumerate().map(|(i, e)| (&*e.name, i)).collect();
    let above = |node: usize| stream.edges.iter().copied().find(|&e| plan.edges[e].to.0 == node);
    let place = |&node: &usize| {
        let id = plan.nodes[node].id.as_str();
        // A disabled boundary is no stage: it stands where the stage above it does.
        let (mut found, mut at) = (stage(id), node);
        while found.is_none()
            && let Some(edge) = above(at)
        {
            at = plan.edges[edge].from.0;
            found = stage(&plan.nodes[at].id);
        }
        Place {
            node,
            stage: found,
            passes_through: at != node,
            is_source: above(node).is_none(),
            fused: above(node).and_then(|edge| fused.get(&edge).copied()),
            writer: stage(&format!("{id} (writer)")),
            ring: rings.get(id).copied(),
            island: found.map_or(0, |s| built.stages[s].island),
        }
    };
    stream.nodes.iter().map(place).collect()
}

fn add(drawing: Drawing, board: &Arc<Board>, node: usize) -> Drawing {
    let n = &board.plan.nodes[node];
    match n.kind.name {
        "to_stream" => drawing.feed(&n.id, board.feed(node)),
        "to_actor" => {
            let (mut out, mut id) = (Outlet::new(board, node, "out"), 0);
            let tell = move |cx: &mut crate::stream::Cx<'_, '_>, value: Value| {
                let task = Task::new(id, value.as_int().unwrap_or(0), cx.now());
                id += 1;
                out.tell(task);
            };
            drawing.tell(&n.id, tell, |_, _| {})
        }
        kind => drawing.op(&n.id, kind, to_params(&n.params)),
    }
}

fn to_params(params: &Params) -> crate::stream::Params {
    params.iter().map(|(key, value)| (key.to_owned(), to_value(value))).collect()
}

fn to_value(value: &Json) -> Value {
    match value {
        Json::Bool(b) => Value::Bool(*b),
        Json::String(s) => Value::from(s.as_str()),
        Json::Number(n) => n.as_i64().map_or_else(|| Value::Num(n.as_f64().unwrap_or(0.0)), Value::Int),
        _ => Value::Unit,
    }
}
