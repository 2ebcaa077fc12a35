//! `source`: sends messages at a constant, random or bursty rate.
//!
//! A turn sends [`BATCH`] messages at most and asks itself for the rest, so that it can be stopped and a full mailbox can
//! hold it back: a source that was held back gives up what became due meanwhile, bursts excepted.
//! I1 `count` is kept over restarts: the counter is on the board. I2 at most one message waits for room.

use std::sync::Arc;
use std::time::Duration;

use super::pace::{Pacer, Pattern};
use super::{Board, Knobs, Marks, Msg, Outlet, Task};
use crate::actor::{Actor, Context, Failure, Props};

/// Names of this behaviour's counters.
pub(crate) const TALLIES: &[&str] = &["made", "skipped", "rejected"];
const MADE: usize = 0;
const SKIPPED: usize = 1;
const REJECTED: usize = 2;

/// Messages of one turn, at most.
const BATCH: u64 = 256;

/// Sends messages by a schedule.
pub(crate) struct Source {
    board: Arc<Board>,
    node: usize,
    knobs: Knobs<(Pattern, u64)>,
    marks: Marks,
    out: Outlet,
    pacer: Option<Pacer>,
    owed: u64,
    /// The last turn ended with messages that wait for room.
    held_back: bool,
}

impl Source {
    pub(crate) fn props(board: &Arc<Board>, node: usize) -> Props<Source> {
        let board = board.clone();
        Props::new(move || Source {
            knobs: Knobs::new(&board.nodes[node], |p| (Pattern::of(p), p.count("count"))),
            marks: Marks::of(&board.plan.nodes[node].params),
            out: Outlet::new(&board, node, "out"),
            board: board.clone(),
            node,
            pacer: None,
            owed: 0,
            held_back: false,
        })
    }

    fn begin(&mut self, cx: &mut Context<'_, Self>) {
        if self.pacer.is_none() {
            let (pattern, _) = self.knobs.get(&self.board.nodes[self.node]);
            let now = cx.now();
            self.pacer = Some(Pacer::start(pattern, now, cx.rng()));
            self.go_on(cx);
        }
    }

    fn go_on(&mut self, cx: &mut Context<'_, Self>) {
        let (pattern, count) = self.knobs.get(&self.board.nodes[self.node]);
        let now = cx.now();
        let Some(pacer) = &mut self.pacer else { return };
        let before = pacer.skipped();
        pacer.retune(pattern, now, cx.rng());
        if std::mem::take(&mut self.held_back) {
            pacer.let_go(now);
        }
        self.owed += pacer.take_due(now, cx.rng());
        let (wait, skipped) = (pacer.wait(now), pacer.skipped() - before);
        self.board.nodes[self.node].add(SKIPPED, skipped);
        let made = self.board.nodes[self.node].tally(MADE);
        let left = if count == 0 { u64::MAX } else { count.saturating_sub(made) };
        self.owed = self.owed.min(left);
        let sent = self.send(cx, made);
        if self.owed > 0 {
            cx.timers().once("next", Duration::ZERO, Msg::Tick);
        } else if sent < left {
            cx.timers().once("next", wait, Msg::Tick);
        }
    }

    /// Sends what is owed, [`BATCH`] messages at most, and none after one that waits for room.
    fn send(&mut self, cx: &mut Context<'_, Self>, first: u64) -> u64 {
        let mut sent = 0;
        while sent < self.owed.min(BATCH) && !self.held_back {
            let id = first + sent;
            let task = self.marks.mark(Task::new(id, id as i64, cx.now()));
            self.out.send(cx, task);
            sent += 1;
            self.held_back = cx.awaits_room();
        }
        self.owed -= sent;
        self.board.nodes[self.node].add(MADE, sent);
        sent
    }
}

impl Actor for Source {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if self.board.is_open() {
            self.begin(cx);
        }
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        if self.board.nodes[self.node].takes_break() {
            return Err(Failure::new("injected", "made to fail by hand"));
        }
        match message {
            Msg::Go => self.begin(cx),
            Msg::Tick | Msg::Retune => self.go_on(cx),
            Msg::Rejected => {
                self.board.nodes[self.node].add(REJECTED, 1);
            }
            _ => {}
        }
        Ok(())
    }
}
