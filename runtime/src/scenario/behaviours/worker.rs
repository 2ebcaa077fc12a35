//! `worker`: spends its service time on each message, may fail, then forwards, replies or keeps it.
//!
//! It fails *after* the service time, as a real one would. A failing worker hands the message to `pre_restart`, which may
//! forward it to the worker itself: to the back of the mailbox, with the reply reference inside it unchanged.
//! I1 `nth`, failing starts and the end of its own count over restarts: the counters are on the board.

use std::sync::Arc;
use std::time::Duration;

use super::super::plan::Params;
use super::board::NodeCell;
use super::pace::Service;
use super::{Board, Knobs, Msg, Outlet, Task};
use crate::actor::{Actor, Context, Failure, Props};
use crate::rng::Rng;

/// Names of this behaviour's counters.
pub(crate) const TALLIES: &[&str] =
    &["served", "failed", "retried", "replied", "unanswerable", "rejected", "failed_starts"];
const SERVED: usize = 0;
const FAILED: usize = 1;
const RETRIED: usize = 2;
const REPLIED: usize = 3;
const UNANSWERABLE: usize = 4;
const REJECTED: usize = 5;
const FAILED_STARTS: usize = 6;

#[derive(Clone, Copy)]
struct Settings {
    blocks: bool,
    service: Service,
    fails: Fails,
    retry: bool,
    then: Then,
    fail_starts: u64,
    stop_after: u64,
}

/// When handling a message fails.
#[derive(Clone, Copy)]
pub(super) enum Fails {
    Never,
    Nth(u64),
    PerMillion(u32),
}

impl Fails {
    /// Reads `failure`, `nth` and `percent`.
    pub(super) fn of(params: &Params) -> Self {
        match params.text("failure") {
            "nth" => Fails::Nth(params.count("nth").max(1)),
            "probability" => Fails::PerMillion(params.per_million("percent")),
            _ => Fails::Never,
        }
    }
}

/// Tells whether the message with this number fails, by the knobs or by hand.
pub(super) fn fails(fails: Fails, served: u64, cell: &NodeCell, rng: &mut Rng) -> bool {
    let broken = cell.takes_break();
    let failed = match fails {
        Fails::Never => false,
        Fails::Nth(n) => served.is_multiple_of(n),
        Fails::PerMillion(chance) => rng.chance_per_million(chance),
    };
    failed || broken
}

#[derive(Clone, Copy)]
enum Then {
    Forward,
    Reply,
    ReplyAfter(Duration),
    Absorb,
}

impl Settings {
    fn of(params: &Params) -> Self {
        let then = match params.text("then") {
            "reply" => Then::Reply,
            "reply_after" => Then::ReplyAfter(params.millis("delay_ms")),
            "absorb" => Then::Absorb,
            _ => Then::Forward,
        };
        let blocks = params.text("cost") == "block";
        let (fail_starts, stop_after) = (params.count("fail_starts"), params.count("stop_after"));
        let (service, retry) = (Service::of(params), params.flag("retry"));
        Settings { blocks, service, fails: Fails::of(params), retry, then, fail_starts, stop_after }
    }
}

/// Does the work.
pub(crate) struct Worker {
    board: Arc<Board>,
    node: usize,
    knobs: Knobs<Settings>,
    out: Outlet,
}

impl Worker {
    pub(crate) fn props(board: &Arc<Board>, node: usize) -> Props<Worker> {
        let board = board.clone();
        Props::new(move || Worker {
            knobs: Knobs::new(&board.nodes[node], Settings::of),
            out: Outlet::new(&board, node, "out"),
            board: board.clone(),
            node,
        })
    }

    fn serve(&mut self, cx: &mut Context<'_, Self>, task: Task) -> Result<(), Failure> {
        let settings = self.knobs.get(&self.board.nodes[self.node]);
        let time = settings.service.draw(cx.rng());
        match settings.blocks {
            true => cx.block(time),
            false => cx.work(time),
        }
        let cell = &self.board.nodes[self.node];
        if fails(settings.fails, cell.add(SERVED, 1), cell, cx.rng()) {
            cell.add(FAILED, 1);
            let text = format!("task {} failed", task.id);
            return Err(Failure::new("task", text).returning(Msg::Task(task)));
        }
        match settings.then {
            Then::Forward => self.out.send(cx, task),
            Then::Reply => self.reply(cx, task),
            Then::ReplyAfter(delay) => {
                let me = cx.myself();
                cx.tell_after(delay, &me, Msg::Due(task));
            }
            Then::Absorb => {}
        }
        if settings.stop_after > 0
            && self.board.nodes[self.node].tally(SERVED).is_multiple_of(settings.stop_after)
        {
            cx.stop();
        }
        Ok(())
    }

    fn reply(&self, cx: &mut Context<'_, Self>, mut task: Task) {
        let cell = &self.board.nodes[self.node];
        let Some(reply) = task.reply.take() else {
            cell.add(UNANSWERABLE, 1);
            return;
        };
        cell.add(REPLIED, 1);
        reply.answer(cx, &self.board, self.node, task);
    }
}

impl Actor for Worker {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if cx.incarnation() == 1 && self.board.plan.nodes[self.node].kind.name == "pool" {
            self.board.join(self.node, cx.myself().any());
        }
        let failing = self.knobs.get(&self.board.nodes[self.node]).fail_starts;
        let cell = &self.board.nodes[self.node];
        if cell.tally(FAILED_STARTS) >= failing {
            return Ok(());
        }
        let n = cell.add(FAILED_STARTS, 1);
        Err(Failure::new("no_start", format!("start {n} of {failing} that fail")))
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        match message {
            Msg::Task(mut task) => {
                self.board.arrived(self.node, &mut task);
                self.serve(cx, task)?;
            }
            Msg::Due(task) => self.reply(cx, task),
            Msg::Rejected => {
                self.board.nodes[self.node].add(REJECTED, 1);
            }
            _ => {}
        }
        Ok(())
    }

    fn pre_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure, message: Option<Msg>) {
        let retry = self.knobs.get(&self.board.nodes[self.node]).retry;
        if let Some(message) = message.filter(|_| retry) {
            self.board.nodes[self.node].add(RETRIED, 1);
            let me = cx.myself();
            cx.forward(&me, message);
        }
    }
}
