//! `collector`: the end of the line; counts messages and how old they were.

use std::sync::Arc;
use std::time::Duration;

use super::{Board, Knobs, Msg};
use crate::actor::{Actor, Context, Failure, Props};
use crate::time::nanos;

/// Names of this behaviour's counters.
pub(crate) const TALLIES: &[&str] = &["collected", "age_ns_total", "age_ns_max"];
const COLLECTED: usize = 0;
const AGE_TOTAL: usize = 1;
const AGE_MAX: usize = 2;

/// Takes and counts.
pub(crate) struct Collector {
    board: Arc<Board>,
    node: usize,
    knobs: Knobs<Duration>,
}

impl Collector {
    pub(crate) fn props(board: &Arc<Board>, node: usize) -> Props<Collector> {
        let board = board.clone();
        Props::new(move || Collector {
            knobs: Knobs::new(&board.nodes[node], |p| p.millis("work_ms")),
            board: board.clone(),
            node,
        })
    }
}

impl Actor for Collector {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        let cell = &self.board.nodes[self.node];
        let (Msg::Task(mut task) | Msg::Answer(mut task)) = message else { return Ok(()) };
        self.board.arrived(self.node, &mut task);
        let age = nanos(cx.now() - task.made);
        cx.work(self.knobs.get(cell));
        if cell.takes_break() {
            return Err(Failure::new("injected", "made to fail by hand"));
        }
        cell.add(COLLECTED, 1);
        cell.add(AGE_TOTAL, age);
        cell.raise(AGE_MAX, age);
        Ok(())
    }
}
