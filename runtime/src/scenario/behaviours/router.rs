//! Routers of a document: groups of the nodes at their output, and pools that make their workers.

use std::sync::Arc;

use super::super::plan::Params;
use super::spec::{apply, budget, strategy};
use super::worker::Worker;
use super::{Board, Msg};
use crate::actor::SpawnError;
use crate::routing::{Explorer, Pool, Pressure, Refill, Router};
use crate::system::ActorSystem;

/// Makes the router of a node and gives it its routees.
pub(crate) fn spawn_router(board: &Arc<Board>, node: usize, system: &ActorSystem) -> Result<(), SpawnError> {
    let plan = &board.plan.nodes[node];
    let params = &plan.params;
    let router = router(params);
    // Ids are unique in the document, so a router of a group finds its name free beside the group.
    let spawned = match plan.kind.name {
        "pool" => {
            let size = usize::try_from(params.count("size")).unwrap_or(1);
            let pool = router.pool(size, apply(plan, Worker::props(board, node)));
            let pool = pool.supervise(strategy(params)).refill(refill(params));
            system.spawn_router(&plan.id, with_resizer(params, pool))?
        }
        _ => system.spawn_router(&plan.id, router.group([]))?,
    };
    board.register_router(node, &spawned);
    Ok(())
}

fn router(params: &Params) -> Router<Msg> {
    let router = match params.text("logic") {
        "random" => Router::random(),
        "broadcast" => Router::broadcast(),
        "smallest_mailbox" => Router::smallest_mailbox(),
        "balancing" => Router::balancing(),
        "scatter_gather_first" => Router::scatter_gather_first(),
        "tail_chopping" => Router::tail_chopping(),
        "consistent_hash" => Router::consistent_hash(Msg::key),
        _ => Router::round_robin(),
    };
    router.within(params.millis("answer_ms")).every(params.millis("next_ms"))
}

fn with_resizer(params: &Params, pool: Pool<Worker>) -> Pool<Worker> {
    let size = |key| usize::try_from(params.count(key)).unwrap_or(usize::MAX);
    let (min, max, every) = (size("size_min"), size("size_max"), params.millis("resize_ms"));
    match params.text("resizer") {
        "pressure" => pool.resizer(Pressure::default().bounds(min, max).interval(every)),
        "explorer" => pool.resizer(Explorer::default().bounds(min, max).interval(every)),
        _ => pool,
    }
}

fn refill(params: &Params) -> Refill {
    match params.text("refill") {
        "shrink" => Refill::Shrink,
        "stop" => Refill::StopWithFirst,
        _ => Refill::replace().within(budget(params)),
    }
}
