//! `source`: sends messages at a constant, random or bursty rate.
//!
//! A turn sends [`BATCH`] messages at most and asks itself for the rest, so that it can be stopped and a full mailbox can
//! hold it back. I1 `count` is kept over restarts: the counter is on the board.

use std::sync::Arc;

use super::pace::{Pacer, Pattern};
use super::{Board, Knobs, Msg, Outlet, Task};
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
    out: Outlet,
    pacer: Option<Pacer>,
    owed: u64,
}

impl Source {
    pub(crate) fn props(board: &Arc<Board>, node: usize) -> Props<Source> {
        let board = board.clone();
        Props::new(move || Source {
            knobs: Knobs::new(&board.nodes[node], |p| (Pattern::of(p), p.count("count"))),
            out: Outlet::new(&board, node, "out"),
            board: board.clone(),
            node,
            pacer: None,
            owed: 0,
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
        let (now, cell) = (cx.now(), &self.board.nodes[self.node]);
        let Some(pacer) = &mut self.pacer else { return };
        pacer.retune(pattern, now, cx.rng());
        let before = pacer.skipped();
        self.owed += pacer.take_due(now, cx.rng());
        cell.add(SKIPPED, pacer.skipped() - before);
        let left = if count == 0 { u64::MAX } else { count.saturating_sub(cell.tally(MADE)) };
        let batch = self.owed.min(left).min(BATCH);
        self.owed = self.owed.min(left) - batch;
        let wait = pacer.wait(now);
        for _ in 0..batch {
            let id = self.board.nodes[self.node].add(MADE, 1) - 1;
            self.out.send(cx, Task { id, value: id as i64, made: now, reply: None });
        }
        if self.owed > 0 {
            cx.timers().once("next", std::time::Duration::ZERO, Msg::Tick);
        } else if batch < left {
            cx.timers().once("next", wait, Msg::Tick);
        }
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
