//! Messages that wait for room in other mailboxes; while there are some, their actor reads no new messages.
//!
//! I1 order is kept: what waits goes out first in, first out; the actor's user lane is paused until all is out.
//! I2 it holds at most [`OUTBOX_MAX`] messages; beyond that the run fails (Overflow).

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::task::{Poll, Wake, Waker};

use super::cell::{AnyCell, Cell, MESSAGE_DROP, signal};
use super::signal::Signal;
use crate::dispatch::Worker;
use crate::id::ActorId;
use crate::mailbox::Ticket;

/// Messages that may wait, at most.
const OUTBOX_MAX: usize = 1_024;

#[derive(Default)]
pub(crate) struct Outbox {
    waiting: VecDeque<Box<dyn Waiting>>,
    /// Messages that found it full in the present run, which will fail for it.
    lost: usize,
}

/// One message on its way to one mailbox.
pub(crate) trait Waiting: Send {
    /// Tries to go; true if it went (or the target is closed and it became a dead letter).
    fn go(&mut self, waker: &Waker, by: &mut Worker) -> bool;
    fn target(&self) -> ActorId;
    /// Gives up the place in line.
    fn cancel(&mut self);
}

struct Parcel<M: Send + 'static> {
    target: Arc<Cell<M>>,
    message: Option<M>,
    ticket: Ticket,
}

impl<M: Send + 'static> Waiting for Parcel<M> {
    fn go(&mut self, waker: &Waker, by: &mut Worker) -> bool {
        match self.target.mailbox.poll_reserve(&mut self.ticket, waker) {
            Poll::Pending => false,
            Poll::Ready(granted) => {
                if let Some(message) = self.message.take() {
                    let refused = match granted {
                        Ok(()) => self.target.send_granted(self.ticket, message, Some(by)).err(),
                        Err(_) => Some(message),
                    };
                    if let Some(message) = refused {
                        // Closed: a tell makes it a dead letter, as it would any other.
                        let _ = self.target.send(message, super::doors::Door::Tell, None);
                    }
                }
                true
            }
        }
    }

    fn target(&self) -> ActorId {
        self.target.head.id
    }

    fn cancel(&mut self) {
        self.target.mailbox.release(self.ticket);
    }
}

/// Wakes an actor whose outbox may move on.
struct RoomWaker(Weak<dyn AnyCell>);

impl Wake for RoomWaker {
    fn wake(self: Arc<Self>) {
        if let Some(cell) = self.0.upgrade() {
            signal(&cell, Signal::Flush, None);
        }
    }
}

impl Outbox {
    /// Puts a message at the end of the line; one that finds it full is lost.
    pub(crate) fn push<M: Send + 'static>(&mut self, target: Arc<Cell<M>>, message: M) {
        if self.waiting.len() >= OUTBOX_MAX {
            self.lost += 1;
            return target.head.discard(MESSAGE_DROP, message);
        }
        let parcel = Parcel { target, message: Some(message), ticket: Ticket::default() };
        self.waiting.push_back(Box::new(parcel));
    }

    /// Is true if a message to `target` waits: later ones must queue behind it.
    pub(crate) fn holds_for(&self, target: ActorId) -> bool {
        self.waiting.iter().any(|parcel| parcel.target() == target)
    }

    /// Counts what was lost, since last asked.
    pub(crate) fn take_lost(&mut self) -> usize {
        std::mem::take(&mut self.lost)
    }

    /// Is true if something was lost.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost > 0
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Gives whom the first in line waits for.
    pub(crate) fn waits_on(&self) -> Option<ActorId> {
        self.waiting.front().map(|parcel| parcel.target())
    }

    /// Sends what finds room, in order; true if nothing waits any more.
    pub(crate) fn flush(&mut self, me: &Arc<dyn AnyCell>, by: &mut Worker) -> bool {
        if self.waiting.is_empty() {
            return true;
        }
        let waker = Waker::from(Arc::new(RoomWaker(Arc::downgrade(me))));
        while let Some(first) = self.waiting.front_mut() {
            if !first.go(&waker, by) {
                return false;
            }
            self.waiting.pop_front();
        }
        true
    }

    /// Gives up what waits, and gives it to be dropped.
    pub(crate) fn clear(&mut self) -> VecDeque<Box<dyn Waiting>> {
        self.waiting.iter_mut().for_each(|parcel| parcel.cancel());
        std::mem::take(&mut self.waiting)
    }
}
