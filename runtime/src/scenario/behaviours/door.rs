//! The door of a router that stands behind a router: an actor that takes a message and routes it on at once.
//!
//! A router chooses among actors, so a router that is a routee needs one. It has no settings of its own.

use std::sync::Arc;

use super::{Board, Msg, Outlet};
use crate::actor::{Actor, Context, Failure, Props};

/// Hands messages to a router.
pub(crate) struct Door {
    out: Outlet,
}

impl Door {
    pub(crate) fn props(board: &Arc<Board>, router: usize) -> Props<Door> {
        let board = board.clone();
        Props::new(move || Door { out: Outlet::into_router(&board, router) })
    }
}

impl Actor for Door {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        if let Msg::Task(task) = message {
            self.out.send(cx, task);
        }
        Ok(())
    }
}
