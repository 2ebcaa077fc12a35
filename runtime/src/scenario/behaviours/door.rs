//! The door of a router: an actor that takes a message and routes it on at once.
//!
//! A router chooses among actors, so a router that is a routee needs one. So does a router that asks several routees for the
//! first answer: somebody has to ask. The answer goes to whoever asked the door, or on by a pool's output.
//! It has no settings of its own.

use std::sync::Arc;
use std::time::Duration;

use super::{Board, First, Msg, Outlet, ReplyTo, Task};
use crate::actor::{Actor, Context, Failure, Props};
use crate::pattern::AskError;
use crate::routing::RouterRef;

/// Names of this behaviour's counters.
pub(crate) const TALLIES: &[&str] = &["asked", "first_answers", "all_failed", "timed_out"];
const ASKED: usize = 0;
const ANSWERED: usize = 1;
const FAILED: usize = 2;
const LATE: usize = 3;

/// Hands messages to a router.
pub(crate) struct Door {
    board: Arc<Board>,
    node: usize,
    into: Outlet,
    out: Outlet,
    /// How long an ask may take; none if the router takes messages as they are.
    asks: Option<Duration>,
}

impl Door {
    pub(crate) fn props(board: &Arc<Board>, router: usize) -> Props<Door> {
        let board = board.clone();
        let asks = board.plan.asks(router).then(|| board.plan.nodes[router].params.millis("answer_ms"));
        Props::new(move || Door {
            into: Outlet::into_router(&board, router),
            out: Outlet::new(&board, router, "out"),
            board: board.clone(),
            node: router,
            asks,
        })
    }

    fn ask(&mut self, cx: &mut Context<'_, Self>, router: &RouterRef<Msg>, task: Task, limit: Duration) {
        self.tally(ASKED);
        let (asked, node) = (task.clone(), self.node);
        let make = move |reply| {
            let reply = Some(ReplyTo::ask(reply, node));
            Msg::Task(Task { reply, via: Some(node), ..asked.clone() })
        };
        cx.ask_router(router, make, limit, move |outcome| {
            let first = match outcome {
                Ok(answer) => First::Answer(answer),
                Err(AskError::Timeout) => First::Late,
                Err(_) => First::Failed,
            };
            Msg::First(first, task)
        });
    }

    fn first(&mut self, cx: &mut Context<'_, Self>, first: First, task: &Task) {
        let answer = match first {
            First::Answer(answer) => answer,
            First::Failed => return self.tally(FAILED),
            First::Late => return self.tally(LATE),
        };
        self.tally(ANSWERED);
        match &task.reply {
            Some(reply) => reply.answer(cx, &self.board, self.node, answer),
            // The routees of a group stand at its output: they are asked, not answered.
            None if self.board.plan.nodes[self.node].kind.name == "pool" => self.out.send(cx, answer),
            None => {}
        }
    }

    fn tally(&self, which: usize) {
        // A pool's counters are those of its workers.
        if self.board.plan.nodes[self.node].kind.name == "router" {
            self.board.nodes[self.node].add(which, 1);
        }
    }
}

impl Actor for Door {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        match message {
            Msg::Task(mut task) => {
                self.board.arrived(self.node, &mut task);
                match (self.asks, self.board.router(self.node)) {
                    (Some(limit), Some(router)) => self.ask(cx, &router, task, limit),
                    _ => self.into.send(cx, task),
                }
            }
            Msg::First(first, task) => self.first(cx, first, &task),
            _ => {}
        }
        Ok(())
    }
}
