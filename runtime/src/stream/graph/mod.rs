//! Graphs: chains and junctions that are wired by ports, fused into islands of many nodes.
//!
//! ```text
//!   source ─▶ broadcast ─▶ flow ─▶ zip ─▶ sink      nodes: chains (typed or drawn) and junctions
//!                  └──────────────▶─┘               every arrow: a fused edge that holds one element
//! ```
//!
//! An island looks at the nodes that have something to do, first come first served, so that a busy part starves no other
//! and cycles run. It uses no stack for the length of a path: a node that moved something queues its neighbour.
//!
//! I1 the nodes between boundaries are one island and never run in parallel. I2 a turn moves at most its budget.
//! I3 the order of visits depends on nothing but the graph and what happened to it.

mod builder;
pub(crate) mod edges;
pub mod junction;
pub(crate) mod node;

use std::sync::Arc;

pub use builder::{Graph, GraphBuilder, GraphError, InPort, OutPort, TwoInPorts, TwoOutPorts};
pub use edges::EdgeId;
use edges::{Edge, Edges, Order};
use node::{Home, Node};

use super::cell::Answer;
use super::counts::Counts;
use super::host::Event;
use super::island::{Island, PipeIsland};
use super::kernel::{Never, Park, Run, Sleep, StageId};
use super::pipe::{Pipe, Push};
use super::signal::{Cause, End, StreamError};
use crate::rng::Rng;

/// The nodes of one island and the edges between them.
pub(crate) struct FusedGraph {
    nodes: Vec<Box<dyn Node>>,
    edges: Edges,
    /// The first stage of each node, rising.
    first_stages: Vec<StageId>,
    external: Vec<usize>,
    /// Nodes that have not ended.
    living: usize,
    end: Option<End>,
}

impl FusedGraph {
    /// Makes a graph; `first_stages` says which stage is the first of each node.
    pub(crate) fn new(nodes: Vec<Box<dyn Node>>, edges: Vec<Edge>, first_stages: Vec<StageId>) -> Self {
        let external = (0..nodes.len()).filter(|&i| nodes[i].is_external()).collect();
        let (living, edges) = (nodes.len(), Edges::new(edges, nodes.len()));
        FusedGraph { nodes, edges, first_stages, external, living, end: None }
    }

    /// Makes a graph of one node without edges.
    pub(crate) fn of(node: Box<dyn Node>) -> Self {
        FusedGraph::new(vec![node], Vec::new(), vec![StageId(0)])
    }

    /// Makes it an island.
    pub(crate) fn into_island(self, home: Home) -> Box<dyn Island> {
        Box::new(PipeIsland::new(home.index, self, home.shared, home.seed))
    }

    /// Calls `f` while the run holds the edges.
    fn with<'h, R>(
        &mut self,
        run: &mut Run<'h>,
        f: impl FnOnce(&mut [Box<dyn Node>], &mut Run<'h>) -> R,
    ) -> R {
        let lent = Lent::new(run, &mut self.edges);
        f(&mut self.nodes, lent.run)
    }

    fn node_of(&self, stage: StageId) -> Option<usize> {
        self.first_stages.partition_point(|first| *first <= stage).checked_sub(1)
    }
}

/// The edges in the hands of a run; they come back also if the call unwinds.
struct Lent<'a, 'h> {
    run: &'a mut Run<'h>,
    home: &'a mut Edges,
}

impl<'a, 'h> Lent<'a, 'h> {
    fn new(run: &'a mut Run<'h>, home: &'a mut Edges) -> Self {
        std::mem::swap(&mut run.edges, home);
        Lent { run, home }
    }
}

impl Drop for Lent<'_, '_> {
    fn drop(&mut self) {
        std::mem::swap(&mut self.run.edges, self.home);
    }
}

impl Pipe for FusedGraph {
    type Out = Never;
    const LIGHT: bool = false;

    fn is_plain(&self) -> bool {
        false
    }

    fn pump<D: Push<Never>>(&mut self, _down: &mut D, _run: &mut Run) {}

    fn poll(&mut self, _demand: bool, run: &mut Run) -> Answer<Never> {
        let (mut ended, mut answer) = (0, Answer::Blocked);
        self.with(run, |nodes, run| {
            while let Some(at) = run.edges.next() {
                let node = &mut nodes[at];
                let before = node.has_ended();
                if node.visit(run) {
                    run.edges.queue(at);
                }
                ended += usize::from(!before && node.has_ended());
                if run.left == 0 || run.charge.any {
                    answer = Answer::Yield;
                    break;
                }
            }
        });
        self.living -= ended;
        if self.living == 0 && self.end.is_none() {
            self.end = Some(End::Completed);
        }
        match &self.end {
            Some(end) => Answer::End(Box::new(end.clone())),
            None => answer,
        }
    }

    fn start(&mut self, run: &mut Run) {
        self.with(run, |nodes, run| {
            for (at, node) in nodes.iter_mut().enumerate() {
                node.start(run);
                run.edges.queue(at);
            }
        });
    }

    fn wake(&mut self, run: &mut Run) {
        let external = std::mem::take(&mut self.external);
        self.with(run, |nodes, run| {
            for &at in &external {
                nodes[at].wake(run);
                run.edges.queue(at);
            }
        });
        self.external = external;
    }

    fn event(&mut self, event: &Event, run: &mut Run) {
        if let Some(at) = self.node_of(event.stage()) {
            self.with(run, |nodes, run| {
                nodes[at].event(event, run);
                run.edges.queue(at);
            });
        }
    }

    fn park(&mut self, park: Park, run: &mut Run) -> Sleep {
        let external = std::mem::take(&mut self.external);
        let sleep = self.with(run, |nodes, run| {
            let mut sleep = Sleep::Deep;
            for &at in &external {
                if nodes[at].park(park, run) == Sleep::Again {
                    sleep = Sleep::Again;
                }
            }
            sleep
        });
        self.external = external;
        sleep
    }

    fn cancel(&mut self, cause: Cause, run: &mut Run) {
        self.stop(&cause, run);
    }

    fn stop(&mut self, cause: &Cause, run: &mut Run) {
        self.with(run, |nodes, run| {
            for (at, node) in nodes.iter_mut().enumerate() {
                node.stop(cause, run);
                run.edges.queue(at);
            }
        });
    }

    fn abort(&mut self, e: StreamError, run: &mut Run) {
        self.with(run, |nodes, run| nodes.iter_mut().for_each(|node| node.abort(e.clone(), run)));
        self.end = Some(End::Failed(e));
    }

    fn ended(&self) -> Option<&End> {
        self.end.as_ref()
    }

    fn is_full(&self) -> bool {
        self.nodes.iter().any(|node| node.is_full())
    }

    fn is_external(&self) -> bool {
        !self.external.is_empty()
    }

    fn first_stage(&self) -> Option<StageId> {
        self.first_stages.first().copied()
    }

    fn report(&mut self, into: &mut [Counts]) {
        self.nodes.iter_mut().for_each(|node| node.report(into));
        self.edges.report();
    }

    fn fuzz(&mut self, rng: Rng) {
        self.edges.set_order(Order::Fuzzed(rng));
    }
}

/// Names what flows from one port to another.
pub(crate) fn edge_name(from: &str, to: &str) -> Arc<str> {
    format!("{from} → {to}").into()
}
