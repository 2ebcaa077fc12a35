//! `supervisor`: an actor whose children are the nodes that name it as their parent; and how any node gets its actor.
//!
//! I1 children start in the order of the document. I2 a supervisor that is restarted makes its children anew, and the board
//! learns of it.

use std::sync::Arc;

use super::super::plan::Plan;
use super::bridge::Bridge;
use super::collector::Collector;
use super::door::Door;
use super::front_end::FrontEnd;
use super::machine::Machine;
use super::master::Master;
use super::source::Source;
use super::spec::{apply, strategy};
use super::worker::Worker;
use super::{Board, Msg};
use crate::actor::{Actor, ActorRef, Context, Failure, Props, SpawnError};

/// Makes actors: a system, or a supervisor its children.
pub(crate) trait Spawn {
    /// Spawns under this spawner.
    fn spawn<A: Actor<Msg = Msg>>(
        &mut self,
        name: &str,
        props: Props<A>,
    ) -> Result<ActorRef<Msg>, SpawnError>;
}

impl Spawn for Context<'_, Supervisor> {
    fn spawn<A: Actor<Msg = Msg>>(
        &mut self,
        name: &str,
        props: Props<A>,
    ) -> Result<ActorRef<Msg>, SpawnError> {
        Context::spawn(self, name, props)
    }
}

/// Gives a node its actor; a node without one of its own, such as a router that stands behind none, is passed over.
pub(crate) fn spawn_node(board: &Arc<Board>, node: usize, by: &mut impl Spawn) -> Result<(), SpawnError> {
    let plan = &board.plan.nodes[node];
    let name = plan.id.as_str();
    let actor = match plan.kind.name {
        "source" => by.spawn(name, apply(plan, Source::props(board, node)))?,
        "master" => by.spawn(name, apply(plan, Master::props(board, node)))?,
        "worker" => by.spawn(name, apply(plan, Worker::props(board, node)))?,
        "collector" => by.spawn(name, apply(plan, Collector::props(board, node)))?,
        "front_end" => by.spawn(name, apply(plan, FrontEnd::props(board, node)))?,
        "machine" => by.spawn(name, apply(plan, Machine::props(board, node)))?,
        "supervisor" => by.spawn(name, apply(plan, Supervisor::props(board, node)))?,
        "to_stream" => by.spawn(name, apply(plan, Bridge::props(board, node)))?,
        "router" | "pool" if board.plan.has_door(node) => {
            by.spawn(&format!("{name}.door"), Door::props(board, node))?
        }
        _ => return Ok(()),
    };
    board.register(node, &actor);
    Ok(())
}

/// Tells whether a node gets an actor by [`spawn_node`].
pub(crate) fn has_actor(plan: &Plan, node: usize) -> bool {
    match plan.nodes[node].kind.name {
        "source" | "master" | "worker" | "collector" | "front_end" | "machine" | "supervisor"
        | "to_stream" => true,
        "router" | "pool" => plan.has_door(node),
        _ => false,
    }
}

/// Supervises its children and does nothing else.
pub(crate) struct Supervisor {
    board: Arc<Board>,
    node: usize,
}

impl Supervisor {
    fn props(board: &Arc<Board>, node: usize) -> Props<Supervisor> {
        let strategy = strategy(&board.plan.nodes[node].params);
        let board = board.clone();
        Props::new(move || Supervisor { board: board.clone(), node }).supervise(strategy)
    }
}

impl Actor for Supervisor {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let board = self.board.clone();
        let children = (0..board.plan.nodes.len()).filter(|&i| board.plan.nodes[i].parent == Some(self.node));
        for child in children {
            spawn_node(&board, child, cx)?;
        }
        Ok(())
    }

    fn receive(&mut self, _cx: &mut Context<'_, Self>, _message: Msg) -> Result<(), Failure> {
        match self.board.nodes[self.node].takes_break() {
            true => Err(Failure::new("injected", "made to fail by hand")),
            false => Ok(()),
        }
    }
}
