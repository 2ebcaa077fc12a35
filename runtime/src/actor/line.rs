//! The line for room at a cell's doors: an ask whose message waits in it, a sender who waits with a ticket.
//!
//! I1 what waits in line counts as sent and queued; withdrawn from it, it is dropped (Timeout).

use std::sync::Arc;
use std::task::{Poll, Waker};

use super::cell::{Cell, Item};
use super::doors::{Door, Logged, Refusal};
use crate::dispatch::Due;
use crate::mailbox::order::Lane;
use crate::mailbox::{Closed, Envelope, Ticket};
use crate::observe::DropReason;
use crate::sync::Ordering;

impl<M: Send + 'static> Cell<M> {
    /// Sends the message of an ask: where senders wait for room it waits in line itself, and `asking` gets the ticket.
    ///
    /// # Errors
    /// Hands back what is not taken.
    pub(crate) fn send_ask(self: &Arc<Self>, message: M, asking: Arc<dyn Asking>) -> Result<(), Refusal<M>> {
        let shared = &self.head.shared;
        if !self.mailbox.overflow().makes_wait() || shared.faults.armed() {
            return self.send(message, Door::Ask, None);
        }
        let at = shared.dispatcher.later().filter(|_| !self.mailbox.is_closed());
        let envelope = self.envelope(Item::Message(message));
        let stamp = envelope.stamp();
        let Some(at) = at else {
            return match self.mailbox.push_plain(envelope) {
                Ok(wake) => {
                    self.record_sent(stamp);
                    self.wake(wake, None);
                    Ok(())
                }
                Err(envelope) => self.enqueue_ask(envelope, &asking, Logged::Now),
            };
        };
        self.record_sent(stamp);
        self.mailbox.depart();
        let (cell, abandoned) = (self.clone(), shared.effects());
        let arrive = move || {
            cell.arrive();
            if abandoned.load(Ordering::Relaxed) {
                return cell.abandon(envelope, None);
            }
            // What is not taken in now is lost: there is nobody left to hand back to.
            let _ = cell.enqueue_ask(envelope, &asking, Logged::Before);
        };
        shared.dispatcher.set_timer(at, Due::Call(Box::new(arrive)));
        Ok(())
    }

    fn enqueue_ask(
        self: &Arc<Self>,
        envelope: Envelope<Item<M>>,
        asking: &Arc<dyn Asking>,
        logged: Logged,
    ) -> Result<(), Refusal<M>> {
        let (tag, stamp) = (self.tag(&envelope.item), envelope.stamp());
        let door = if logged == Logged::Before { Door::Tell } else { Door::Ask };
        match self.mailbox.push_or_wait(envelope, tag) {
            Ok(pushed) => self.conclude(pushed, stamp, door, logged, None),
            Err(ticket) => {
                if logged == Logged::Now {
                    self.record_sent(stamp);
                }
                asking.waits(self.clone(), ticket);
                Ok(())
            }
        }
    }

    /// Asks for room for `n` messages; see [`Lanes::poll_reserve`](crate::mailbox::Lanes::poll_reserve).
    pub(crate) fn poll_room(
        self: &Arc<Self>,
        ticket: &mut Ticket,
        lane: Lane,
        n: usize,
        waker: &Waker,
    ) -> Poll<Result<(), Closed>> {
        let (polled, granted) = self.mailbox.poll_reserve(ticket, lane, n, waker);
        self.carry_out(granted);
        polled
    }

    /// Gives up a place in line, or room that is not used.
    pub(crate) fn release(self: &Arc<Self>, ticket: Ticket) {
        let (withdrawn, granted) = self.mailbox.release(ticket);
        self.carry_out(granted);
        if let Some(envelope) = withdrawn {
            self.drop_at_door(envelope, DropReason::Timeout);
        }
    }
}

/// Who is told that the message of an ask waits in line for room.
pub(crate) trait Asking: Send + Sync {
    fn waits(&self, line: Arc<dyn Line>, ticket: Ticket);
    /// The mailbox is full, and its policy lets nobody wait.
    fn found_full(self: Arc<Self>);
}

/// A mailbox in whose line a message waits.
pub(crate) trait Line: Send + Sync {
    /// Gives the place up, and drops the message.
    fn withdraw(self: Arc<Self>, ticket: Ticket);
    /// Gives how long a message may wait, if that has a limit.
    fn patience(&self) -> Option<std::time::Duration>;
}

impl<M: Send + 'static> Line for Cell<M> {
    fn withdraw(self: Arc<Self>, ticket: Ticket) {
        self.release(ticket);
    }

    fn patience(&self) -> Option<std::time::Duration> {
        self.mailbox.overflow().patience()
    }
}
