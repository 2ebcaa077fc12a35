//! Messages that wait for room in other mailboxes; while there are some, their actor reads no new messages.
//!
//! I1 order is kept: what waits goes out first in, first out; the actor's user lane is paused until all is out.
//! I2 what may wait only so long (policy Timeout) is dropped when that is over, wherever in line.
//! I3 it holds at most [`OUTBOX_MAX`] messages; beyond that the run fails (Overflow).

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::task::{Poll, Wake, Waker};

use super::cell::{AnyCell, Cell, Fate, signal};
use super::doors::{Door, Refusal};
use super::signal::Signal;
use super::{Actor, ActorRef, Context};
use crate::dispatch::{Due, Worker};
use crate::id::ActorId;
use crate::mailbox::Ticket;
use crate::mailbox::order::Lane;
use crate::observe::DropReason;
use crate::time::Instant;

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
    /// Has `me` look again when its time is over, if it has a limit.
    fn arm(&mut self, me: &Arc<dyn AnyCell>);
    /// Is true if it may not wait any longer.
    fn is_overdue(&self) -> bool;
    /// Drops it for that.
    fn expire(&mut self);
    /// Gives up the place in line.
    fn cancel(&mut self);
}

struct Parcel<M: Send + 'static> {
    target: Arc<Cell<M>>,
    message: Option<M>,
    lane: Lane,
    ticket: Ticket,
    /// When it must be out, if the mailbox's policy says so.
    due: Option<Instant>,
    armed: bool,
}

impl<M: Send + 'static> Waiting for Parcel<M> {
    fn go(&mut self, waker: &Waker, by: &mut Worker) -> bool {
        match self.target.poll_room(&mut self.ticket, self.lane, 1, waker) {
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

    fn arm(&mut self, me: &Arc<dyn AnyCell>) {
        if let Some(due) = self.due.filter(|_| !self.armed) {
            self.armed = true;
            let waker = RoomWaker(Arc::downgrade(me));
            let look = Due::Wish(Box::new(move || waker.look()));
            self.target.head.shared.dispatcher.set_timer(due, look);
        }
    }

    fn is_overdue(&self) -> bool {
        self.due.is_some_and(|due| self.target.head.shared.now() >= due)
    }

    fn expire(&mut self) {
        self.cancel();
        if let Some(message) = self.message.take() {
            self.target.drop_overdue(message);
        }
    }

    fn cancel(&mut self) {
        self.target.release(self.ticket);
    }
}

/// Wakes an actor whose outbox may move on.
struct RoomWaker(Weak<dyn AnyCell>);

impl RoomWaker {
    fn look(&self) {
        if let Some(cell) = self.0.upgrade() {
            signal(&cell, Signal::Flush, None);
        }
    }
}

impl Wake for RoomWaker {
    fn wake(self: Arc<Self>) {
        self.look();
    }
}

impl Outbox {
    /// Puts a message at the end of the line; one that finds it full is lost.
    pub(crate) fn push<M: Send + 'static>(&mut self, target: Arc<Cell<M>>, message: M) {
        if self.waiting.len() >= OUTBOX_MAX {
            self.lost += 1;
            return target.head.discard_as(Fate::Dropped(DropReason::MailboxFull), message);
        }
        let patience = target.mailbox.overflow().patience();
        let due = patience.map(|patience| target.head.shared.now() + patience);
        let (lane, ticket) = (target.lane_of(&message), Ticket::default());
        self.waiting.push_back(Box::new(Parcel {
            target,
            message: Some(message),
            lane,
            ticket,
            due,
            armed: false,
        }));
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
        loop {
            while let Some(first) = self.waiting.front_mut() {
                if !first.go(&waker, by) {
                    break;
                }
                self.waiting.pop_front();
            }
            if !self.expire() {
                break;
            }
        }
        self.waiting.iter_mut().for_each(|parcel| parcel.arm(me));
        self.waiting.is_empty()
    }

    /// Drops what may not wait any longer, wherever in line; true if there was some.
    fn expire(&mut self) -> bool {
        let before = self.waiting.len();
        self.waiting.retain_mut(|parcel| {
            let overdue = parcel.is_overdue();
            if overdue {
                parcel.expire();
            }
            !overdue
        });
        self.waiting.len() < before
    }

    /// Gives up what waits, and gives it to be dropped.
    pub(crate) fn clear(&mut self) -> VecDeque<Box<dyn Waiting>> {
        self.waiting.iter_mut().for_each(|parcel| parcel.cancel());
        std::mem::take(&mut self.waiting)
    }
}

impl<A: Actor> Context<'_, A> {
    /// Sends a message; if its mailbox makes senders wait (Backpressure, Timeout, or no message memory is left) it waits in
    /// this actor's outbox, and the actor reads no further messages until it is out. To any other mailbox it does as
    /// [`Context::tell`]. With the policy Timeout the wait has an end: the message is then dropped (Timeout). More than
    /// 1,024 waiting messages are a failure of kind Overflow.
    pub fn send<N: Send + 'static>(&mut self, target: &ActorRef<N>, message: N) {
        let mailbox = &target.0.mailbox;
        if !mailbox.overflow().makes_wait() || !mailbox.may_be_full() {
            return self.tell(target, message);
        }
        if self.cell.head.is_forced() {
            return self.cell.head.abandon(message);
        }
        let first = self.own.outbox.is_empty();
        let message = match first {
            false => message,
            true => match target.0.send(message, Door::Send, Some(&mut *self.worker)) {
                Ok(()) => return,
                Err(Refusal::Closed(message)) => return self.tell(target, message),
                Err(Refusal::Full(message)) => message,
            },
        };
        self.own.outbox.push(target.0.clone(), message);
        if first {
            let me: Arc<dyn AnyCell> = self.cell.clone();
            self.own.outbox.flush(&me, self.worker);
        }
    }

    /// Is true while messages of this actor wait for room: it will read no further ones before they are out.
    pub fn awaits_room(&self) -> bool {
        !self.own.outbox.is_empty()
    }

    /// Sends a message, or has `back` turn it into one of this actor's own if it is refused: if there is no room, or
    /// something of this actor waits for room there already, or if the target has ended.
    pub fn tell_or<N: Send + 'static>(
        &mut self,
        target: &ActorRef<N>,
        message: N,
        back: impl FnOnce(N) -> A::Msg,
    ) {
        if self.cell.head.is_forced() {
            return self.cell.head.abandon(message);
        }
        let refused = match self.own.outbox.holds_for(target.id()) {
            true => Some(message),
            false => match target.0.send(message, Door::Try, Some(&mut *self.worker)) {
                Ok(()) => None,
                Err(Refusal::Full(message) | Refusal::Closed(message)) => Some(message),
            },
        };
        if let Some(message) = refused {
            let message = back(message);
            self.tell_own(message);
        }
    }

    /// Sees to it that a question does not overtake what this actor has sent there before: it queues behind what waits for
    /// room, and where it becomes visible later it takes its room now, or waits for it as a send does. Gives it back if it
    /// may go as any other.
    pub(crate) fn keep_in_order<N: Send + 'static>(&mut self, target: &ActorRef<N>, message: N) -> Option<N> {
        if self.own.outbox.holds_for(target.id()) {
            self.own.outbox.push(target.0.clone(), message);
            return None;
        }
        let mailbox = &target.0.mailbox;
        let later = self.cell.head.shared.dispatcher.later().is_some();
        if !later || !mailbox.overflow().makes_wait() || !mailbox.may_be_full() {
            return Some(message);
        }
        match target.0.send(message, Door::Send, Some(&mut *self.worker)) {
            Ok(()) => None,
            Err(Refusal::Closed(message)) => Some(message),
            Err(Refusal::Full(message)) => {
                self.own.outbox.push(target.0.clone(), message);
                None
            }
        }
    }
}
