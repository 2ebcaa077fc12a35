//! `front_end`: answers each request when all its parts are answered, by waiting for them or by an aggregator.
//!
//! A request goes as one part to each node that the port `parts` leads to. *Waiting* means that the handler keeps its worker
//! for the time that an answer usually takes, as a blocking call would; the next request waits that long. An *aggregator* is
//! an actor made for one request: it gets the answers, replies to whoever asked, and stops; the front end is free meanwhile.
//!
//! I1 each request is answered once: whole, or with what is there when the time is over.
//! I2 no aggregator outlives its request by more than its timeout.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::super::plan::Params;
use super::{Board, Knobs, Msg, Outlet, ReplyTo, Task};
use crate::actor::{Actor, Context, Failure, Props};

/// Names of this behaviour's counters.
pub(crate) const TALLIES: &[&str] =
    &["requests", "answered", "partial", "aggregators", "aggregators_alive", "late"];
const REQUESTS: usize = 0;
const ANSWERED: usize = 1;
const PARTIAL: usize = 2;
const AGGREGATORS: usize = 3;
const ALIVE: usize = 4;
const LATE: usize = 5;

#[derive(Clone, Copy)]
struct Settings {
    /// The time that it waits with its worker in hand; none if it makes aggregators.
    blocks: Option<Duration>,
    work: Duration,
    timeout: Duration,
}

impl Settings {
    fn of(params: &Params) -> Self {
        let blocks = (params.text("mode") == "block").then(|| params.millis("block_ms"));
        Settings { blocks, work: params.millis("work_ms"), timeout: params.millis("timeout_ms") }
    }
}

/// Takes requests.
pub(crate) struct FrontEnd {
    board: Arc<Board>,
    node: usize,
    knobs: Knobs<Settings>,
    parts: Vec<Outlet>,
    /// Requests that it waits for itself, by their number.
    open: BTreeMap<u64, Request>,
}

/// A request and the answers so far.
struct Request {
    task: Task,
    missing: usize,
    sum: i64,
}

impl FrontEnd {
    pub(crate) fn props(board: &Arc<Board>, node: usize) -> Props<FrontEnd> {
        let board = board.clone();
        Props::new(move || FrontEnd {
            knobs: Knobs::new(&board.nodes[node], Settings::of),
            parts: board.outgoing(node, "parts").map(|edge| Outlet::of_edge(&board, node, edge)).collect(),
            board: board.clone(),
            node,
            open: BTreeMap::new(),
        })
    }

    fn request(&mut self, cx: &mut Context<'_, Self>, task: Task) -> Result<(), Failure> {
        let settings = self.knobs.get(&self.board.nodes[self.node]);
        // Counted over restarts, so that no late answer meets another request.
        let number = self.board.nodes[self.node].add(REQUESTS, 1);
        cx.work(settings.work);
        match settings.blocks {
            Some(time) => {
                let reply = ReplyTo::actor(cx.myself(), self.node);
                let request = Request { missing: self.parts.len(), sum: 0, task: task.clone() };
                self.open.insert(number, request);
                self.send_parts(cx, number, &task, &reply);
                cx.block(time);
            }
            None => {
                let request = Request { missing: self.parts.len(), sum: 0, task: task.clone() };
                let aggregator = Aggregator::props(&self.board, self.node, request, settings.timeout);
                let aggregator = match &self.board.plan.nodes[self.node].dispatcher {
                    Some(name) => aggregator.dispatcher(name),
                    None => aggregator,
                };
                let aggregator = cx.spawn(&format!("a{number}"), aggregator)?;
                self.board.own_for_a_while(aggregator.id(), self.node);
                let reply = ReplyTo::actor(aggregator, self.node);
                self.send_parts(cx, number, &task, &reply);
            }
        }
        Ok(())
    }

    fn send_parts(&mut self, cx: &mut Context<'_, Self>, id: u64, task: &Task, reply: &Arc<ReplyTo>) {
        for part in &mut self.parts {
            part.send(cx, Task { id, reply: Some(reply.clone()), ..task.clone() });
        }
    }

    fn part(&mut self, cx: &mut Context<'_, Self>, answer: &Task) {
        let cell = &self.board.nodes[self.node];
        let Some(request) = self.open.get_mut(&answer.id) else {
            cell.add(LATE, 1);
            return;
        };
        if request.take(answer) {
            cell.add(ANSWERED, 1);
            let request = self.open.remove(&answer.id);
            request.into_iter().for_each(|request| request.answer(&self.board, self.node, cx));
        }
    }
}

impl Request {
    /// Takes in an answer; true if it was the last one.
    fn take(&mut self, answer: &Task) -> bool {
        self.missing = self.missing.saturating_sub(1);
        self.sum = self.sum.wrapping_add(answer.value);
        self.missing == 0
    }

    /// Replies to whoever asked.
    fn answer<A: Actor<Msg = Msg>>(self, board: &Board, node: usize, cx: &mut Context<'_, A>) {
        let Some(reply) = self.task.reply.clone() else { return };
        reply.answer(cx, board, node, Task { value: self.sum, reply: None, ..self.task });
    }
}

impl Actor for FrontEnd {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        if self.board.nodes[self.node].takes_break() {
            return Err(Failure::new("injected", "made to fail by hand"));
        }
        match message {
            Msg::Task(mut task) => {
                self.board.arrived(self.node, &mut task);
                self.request(cx, task)?;
            }
            Msg::Answer(answer) => self.part(cx, &answer),
            _ => {}
        }
        Ok(())
    }
}

/// Collects the answers to one request.
struct Aggregator {
    board: Arc<Board>,
    node: usize,
    request: Option<Request>,
    timeout: Duration,
}

impl Aggregator {
    fn props(board: &Arc<Board>, node: usize, request: Request, timeout: Duration) -> Props<Aggregator> {
        let (board, request) = (board.clone(), crate::sync::Mutex::new(Some(request)));
        Props::new(move || {
            let request = request.lock().take();
            Aggregator { board: board.clone(), node, request, timeout }
        })
    }

    fn end(&mut self, cx: &mut Context<'_, Self>, tally: usize) {
        if let Some(request) = self.request.take() {
            self.board.nodes[self.node].add(tally, 1);
            request.answer(&self.board, self.node, cx);
        }
        cx.stop();
    }
}

impl Actor for Aggregator {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        self.board.nodes[self.node].add(AGGREGATORS, 1);
        self.board.nodes[self.node].add(ALIVE, 1);
        cx.timers().once("timeout", self.timeout, Msg::TooLate);
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        match message {
            Msg::Answer(answer) => {
                let is_whole = self.request.as_mut().is_some_and(|request| request.take(&answer));
                if is_whole {
                    self.end(cx, ANSWERED);
                }
            }
            Msg::TooLate => self.end(cx, PARTIAL),
            _ => {}
        }
        Ok(())
    }

    fn stopped(&mut self, _cx: &mut Context<'_, Self>) {
        self.board.nodes[self.node].take(ALIVE, 1);
    }
}
