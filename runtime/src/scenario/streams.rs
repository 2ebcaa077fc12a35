//! The streams of a run: one chain of operators per linear stream of the document, and where each node stands in it.
//!
//! A disabled boundary is no stage: its node shows what passes between its neighbours. I1 a stage's name is its node's id.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use super::behaviours::{Board, Outlet, Task};
use super::plan::{Params, Plan};
use crate::actor::AnyRef;
use crate::stream::{
    Activity, Chain, Done, EdgeSnapshot, RunError, RunOptions, StreamError, StreamHandle, StreamSnapshot,
    Value,
};
use crate::sync::Mutex;
use crate::system::ActorSystem;

/// A stream that runs.
pub(super) struct Stream {
    handle: StreamHandle,
    done: Done<Value>,
    result: Mutex<Option<Result<Value, StreamError>>>,
    /// The island actors, from upstream.
    pub(super) islands: Vec<Option<AnyRef>>,
    places: Vec<Place>,
}

/// Where a node of the chain stands in its stream.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    node: usize,
    /// Its stage; of a disabled boundary, the last stage before it.
    stage: Option<usize>,
    passes_through: bool,
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
}

impl Stream {
    /// Builds and starts the chain with the number `index` of a board's plan.
    pub(super) fn start(board: &Arc<Board>, index: usize, system: &ActorSystem) -> Result<Stream, RunError> {
        let plan = &board.plan;
        let nodes = &plan.chains[index];
        let chain = nodes.iter().fold(Chain::new(), |chain, &node| add(chain, board, node));
        let name = format!("stream{index}");
        let options = RunOptions::default().name(&name).seed(index as u64).batch(plan.batch as usize);
        let (done, handle) = chain.run_with(system, &options)?;
        let built = handle.snapshot();
        let islands = (0..built.islands.len()).map(|i| system.find(&format!("/system/{name}-{i}"))).collect();
        let places = places(plan, nodes, &built);
        Ok(Stream { handle, done, result: Mutex::new(None), islands, places })
    }

    /// Gives the node that stands first in an island.
    pub(super) fn head_of(&self, island: usize) -> Option<usize> {
        self.places.iter().find(|p| p.island == island).map(|p| p.node)
    }

    pub(super) fn snapshot(&self) -> StreamSnapshot {
        self.handle.snapshot()
    }

    /// Gives how the stream ended, if it has.
    pub(super) fn result(&self) -> Option<Result<Value, StreamError>> {
        let mut result = self.result.lock();
        if result.is_none() && self.done.is_settled() {
            *result = self.done.take();
        }
        result.clone()
    }

    /// Changes a live parameter that the schema has checked.
    pub(super) fn set(&self, node: &str, key: &str, value: &Json) {
        // A stage that is not there is a disabled boundary, which has nothing to change.
        let _ = self.handle.set(node, key, to_value(value));
    }

    /// Looks at the node with the place `at` in its chain.
    pub(super) fn look(&self, at: usize, seen: &StreamSnapshot) -> Stage {
        let Some(place) = self.places.get(at) else { return Stage::default() };
        let counts = place.stage.and_then(|s| seen.stages.get(s)).map(|s| s.counts);
        let Some(counts) = counts else { return Stage::default() };
        let ring = place.ring.and_then(|r| seen.edges.get(r));
        let activity = seen.islands.get(place.island).map_or(Activity::Ended, |i| i.activity);
        if place.passes_through {
            // What left the stage before it has passed it.
            return Stage { taken: counts.emitted, emitted: counts.emitted, activity, ..Stage::default() };
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
        }
    }

    /// Says how many elements are between two neighbours of the chain, and whether the far one takes none.
    pub(super) fn between(&self, at: usize, seen: &StreamSnapshot) -> (u64, bool) {
        let (here, next) = (self.places.get(at), self.places.get(at + 1));
        // An element that rests between two stages with a disabled boundary between them is shown on the last edge.
        let rests_here = next.is_none_or(|p| !p.passes_through);
        let stage = here.filter(|_| rests_here).and_then(|p| p.stage).and_then(|s| seen.stages.get(s));
        let resting = stage.map_or(0, |s| s.counts.resting);
        let writer = next.and_then(|p| p.writer).and_then(|s| seen.stages.get(s));
        // Elements that a boundary's writer took and could not put into the ring.
        let waiting = writer.map_or(0, |w| w.counts.held);
        let ring: Option<&EdgeSnapshot> = next.and_then(|p| p.ring).and_then(|r| seen.edges.get(r));
        (resting + waiting, ring.is_some_and(|r| r.fill >= r.capacity))
    }
}

impl Stream {
    /// Counts the elements that were lost between two neighbours of the chain: on the edge, and in a boundary's ring.
    pub(super) fn lost_between(&self, at: usize, seen: &StreamSnapshot) -> u64 {
        let (here, next) = (self.places.get(at), self.places.get(at + 1));
        let counts = |stage: Option<usize>| stage.and_then(|s| seen.stages.get(s)).map(|s| s.counts);
        // As for what rests: with a disabled boundary between two stages, it is shown on the last edge.
        let lost_here = next.is_none_or(|p| !p.passes_through);
        let on_edge = counts(here.filter(|_| lost_here).and_then(|p| p.stage)).map_or(0, |c| c.lost_on_edge);
        let written = counts(next.and_then(|p| p.writer)).map_or(0, |c| c.dropped.total() + c.lost_on_edge);
        let ring = next.and_then(|p| p.ring).and_then(|r| seen.edges.get(r)).map_or(0, |r| r.dropped);
        on_edge + written + ring
    }
}

fn places(plan: &Plan, nodes: &[usize], built: &StreamSnapshot) -> Vec<Place> {
    let stages: BTreeMap<&str, usize> = built.stages.iter().enumerate().map(|(i, s)| (&*s.name, i)).collect();
    let stage = |name: &str| stages.get(name).copied();
    let edges: BTreeMap<&str, usize> = built.edges.iter().enumerate().map(|(i, e)| (&*e.name, i)).collect();
    let (mut island, mut last) = (0, None);
    let place = |&node: &usize| {
        let id = plan.nodes[node].id.as_str();
        let found = stage(id);
        island = found.map_or(island, |s| built.stages[s].island);
        last = found.or(last);
        let (writer, ring) = (stage(&format!("{id} (writer)")), edges.get(id).copied());
        Place { node, stage: last, passes_through: found.is_none(), writer, ring, island }
    };
    nodes.iter().map(place).collect()
}

fn add(chain: Chain, board: &Arc<Board>, node: usize) -> Chain {
    let n = &board.plan.nodes[node];
    match n.kind.name {
        "to_stream" => chain.feed(&n.id, board.feed(node)),
        "to_actor" => {
            let (mut out, mut id) = (Outlet::new(board, node, "out"), 0);
            let tell = move |cx: &mut crate::stream::Cx<'_, '_>, value: Value| {
                let task = Task::new(id, value.as_int().unwrap_or(0), cx.now());
                id += 1;
                out.tell(task);
            };
            chain.tell(&n.id, tell, |_, _| {})
        }
        kind => chain.op(&n.id, kind, to_params(&n.params)),
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
