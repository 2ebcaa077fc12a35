//! `to_stream`: an actor whose messages become the elements of a stream. The way back, `to_actor`, is a sink of the stream.
//!
//! Neither waits: a message without room in the stream's queue is lost by the queue's strategy, an element for a full mailbox
//! by the mailbox's. Both losses are counted.

use std::sync::Arc;

use super::{Board, Msg};
use crate::actor::{Actor, Context, Failure, Props};
use crate::stream::registry::overflow;
use crate::stream::{Feed, Offered, Value};

/// Names of this behaviour's counters.
pub(crate) const TALLIES: &[&str] = &["offered", "displaced", "refused"];
const OFFERED: usize = 0;
const DISPLACED: usize = 1;
const REFUSED: usize = 2;

/// Feeds a stream.
pub(crate) struct Bridge {
    board: Arc<Board>,
    node: usize,
    feed: Feed<Value>,
}

impl Bridge {
    pub(crate) fn props(board: &Arc<Board>, node: usize) -> Props<Bridge> {
        let board = board.clone();
        let feed = board.feed(node);
        Props::new(move || Bridge { board: board.clone(), node, feed: feed.clone() })
    }
}

/// Makes the queue of a `to_stream` node.
pub(crate) fn feed(params: &super::super::plan::Params) -> Feed<Value> {
    let strategy = overflow(&Value::from(params.text("overflow")));
    let capacity = usize::try_from(params.count("buffer")).unwrap_or(1).max(1);
    match Feed::new(capacity, strategy) {
        Ok(feed) => feed,
        Err(error) => unreachable!("the capacity is not 0 and the strategy does not wait: {error}"),
    }
}

impl Actor for Bridge {
    type Msg = Msg;

    fn receive(&mut self, _cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        let (Msg::Task(mut task) | Msg::Answer(mut task)) = message else { return Ok(()) };
        self.board.arrived(self.node, &mut task);
        let cell = &self.board.nodes[self.node];
        if cell.takes_break() {
            return Err(Failure::new("injected", "made to fail by hand"));
        }
        cell.add(OFFERED, 1);
        match self.feed.offer(Value::Int(task.value)) {
            Offered::Enqueued => {}
            Offered::Displaced(lost) => {
                cell.add(DISPLACED, lost);
            }
            Offered::Dropped | Offered::Failed | Offered::Closed => {
                cell.add(REFUSED, 1);
            }
        }
        Ok(())
    }
}
