//! `supervisor`: an actor whose children are the nodes that name it as their parent; and how any node gets its actor.
//!
//! I1 children start in the order of the document. I2 a supervisor that is restarted makes its children anew, and the board
//! learns of it.

use std::sync::Arc;
use std::time::Duration;

use super::super::plan::Params;
use super::bridge::Bridge;
use super::collector::Collector;
use super::master::Master;
use super::source::Source;
use super::worker::Worker;
use super::{Board, Msg};
use crate::actor::{Actor, ActorRef, Context, Failure, Props, SpawnError};
use crate::mailbox::{Mailbox, OverflowStrategy};
use crate::supervise::{Backoff, Directive, Strategy};

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

/// Gives a node its actor; a node without one of its own, such as a router, is passed over.
pub(crate) fn spawn_node(board: &Arc<Board>, node: usize, by: &mut impl Spawn) -> Result<(), SpawnError> {
    let plan = &board.plan.nodes[node];
    let (name, mailbox) = (plan.id.as_str(), mailbox(&plan.params));
    let actor = match plan.kind.name {
        "source" => by.spawn(name, Source::props(board, node))?,
        "master" => by.spawn(name, Master::props(board, node))?,
        "worker" => by.spawn(name, Worker::props(board, node).mailbox(mailbox))?,
        "collector" => by.spawn(name, Collector::props(board, node).mailbox(mailbox))?,
        "supervisor" => by.spawn(name, Supervisor::props(board, node))?,
        "to_stream" => by.spawn(name, Bridge::props(board, node))?,
        _ => return Ok(()),
    };
    board.register(node, &actor);
    Ok(())
}

/// Tells whether a node of this kind gets an actor by [`spawn_node`].
pub(crate) fn has_actor(kind: &str) -> bool {
    matches!(kind, "source" | "master" | "worker" | "collector" | "supervisor" | "to_stream")
}

fn mailbox(params: &Params) -> Mailbox {
    let overflow = OverflowStrategy::from_name(params.text("overflow"));
    let overflow = overflow.unwrap_or(OverflowStrategy::Backpressure);
    match usize::try_from(params.count("mailbox")) {
        Ok(0) | Err(_) => Mailbox::unbounded(),
        Ok(capacity) => Mailbox::bounded(capacity, overflow),
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

fn strategy(params: &Params) -> Strategy {
    let base = match params.text("strategy") {
        "all_for_one" => Strategy::all_for_one(),
        _ => Strategy::one_for_one(),
    };
    let directive = match params.text("directive") {
        "resume" => Directive::Resume,
        "stop" => Directive::Stop,
        "escalate" => Directive::Escalate,
        _ => Directive::Restart,
    };
    let restarts = u32::try_from(params.count("max_restarts")).unwrap_or(u32::MAX);
    let strategy = base.default_directive(directive).max_restarts(restarts, params.millis("within_ms"));
    match params.millis("backoff_min_ms") {
        Duration::ZERO => strategy,
        min => strategy.backoff(Backoff::new(min, params.millis("backoff_max_ms"))),
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
