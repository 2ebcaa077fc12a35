//! What a viewer needs to know of a run before the first number: which nodes and edges there are.

use super::plan::{Plan, PlanNode};
use super::schema::Carries;

/// A node of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeMeta {
    /// The document's id.
    pub id: String,
    /// The name of its kind.
    pub kind: &'static str,
    /// What to show.
    pub label: String,
    /// The id of its supervisor.
    pub parent: Option<String>,
    /// Room in its mailbox or buffer; `None` is unbounded, or it has none.
    pub capacity: Option<u64>,
    /// The island of a stream stage, counted over all streams from 0.
    pub island: Option<u32>,
}

/// What an edge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// Messages, as drawn in the document.
    Wire,
    /// Answers by the reply reference in a message: not drawn in the document.
    Reply,
    /// Elements of a stream.
    Stream,
}

/// An edge of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeMeta {
    /// The document's id; of a reply `worker~master`.
    pub id: String,
    /// The node where it starts.
    pub from: usize,
    /// The node where it ends.
    pub to: usize,
    /// What it is.
    pub kind: EdgeKind,
    /// Room on the edge itself: one element between fused stages; `None` where it holds nothing.
    pub capacity: Option<u64>,
}

/// Describes the nodes and edges of a plan.
pub(super) fn of(plan: &Plan) -> (Vec<NodeMeta>, Vec<EdgeMeta>) {
    let islands = islands(plan);
    let node = |(i, n): (usize, &PlanNode)| NodeMeta {
        id: n.id.clone(),
        kind: n.kind.name,
        label: n.label.clone(),
        parent: n.parent.map(|p| plan.nodes[p].id.clone()),
        capacity: capacity(n),
        island: islands[i],
    };
    let wires = plan.edges.iter().map(|e| EdgeMeta {
        id: e.id.clone(),
        from: e.from.0,
        to: e.to.0,
        kind: if e.carries == Carries::Stream { EdgeKind::Stream } else { EdgeKind::Wire },
        capacity: (e.carries == Carries::Stream).then_some(1),
    });
    let replies = plan.replies.iter().map(|&(worker, master)| EdgeMeta {
        id: format!("{}~{}", plan.nodes[worker].id, plan.nodes[master].id),
        from: worker,
        to: master,
        kind: EdgeKind::Reply,
        capacity: None,
    });
    (plan.nodes.iter().enumerate().map(node).collect(), wires.chain(replies).collect())
}

fn capacity(node: &PlanNode) -> Option<u64> {
    match node.kind.name {
        "worker" | "pool" | "collector" | "front_end" => {
            Some(node.params.count("mailbox")).filter(|&c| c > 0)
        }
        "to_stream" => Some(node.params.count("buffer")),
        "buffer" => Some(node.params.count("size")),
        "async_boundary" if node.params.flag("enabled") => {
            Some(node.params.count("capacity").max(1).next_power_of_two())
        }
        "map_async" => Some(node.params.count("parallelism")),
        _ => None,
    }
}

/// Numbers the islands: an enabled boundary belongs to the island behind it.
fn islands(plan: &Plan) -> Vec<Option<u32>> {
    let (mut islands, mut next) = (vec![None; plan.nodes.len()], 0);
    for stream in &plan.streams {
        let fused: Vec<(usize, usize)> =
            stream.edges.iter().map(|&e| &plan.edges[e]).map(|e| (e.from.0, e.to.0)).collect();
        let fused: Vec<(usize, usize)> = fused.into_iter().filter(|(_, to)| !plan.cuts(*to)).collect();
        for &first in &stream.nodes {
            if islands[first].is_some() {
                continue;
            }
            let mut open = vec![first];
            while let Some(at) = open.pop() {
                if islands[at].replace(next).is_none() {
                    open.extend(fused.iter().filter(|(from, _)| *from == at).map(|(_, to)| *to));
                    open.extend(fused.iter().filter(|(_, to)| *to == at).map(|(from, _)| *from));
                }
            }
            next += 1;
        }
    }
    islands
}
