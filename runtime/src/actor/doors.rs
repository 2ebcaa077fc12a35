//! The doors of a cell: how a message gets into its mailbox, and what becomes of one that does not.
//!
//! I1 a message goes in once: it is queued, on its way (visible later), lost with a reason, or handed back.
//! I2 the event Sent is recorded exactly for what was not handed back.

use std::sync::Arc;

use super::cell::{Cell, Item, MESSAGE_DROP};
use super::letters::DiedIn;
use crate::dispatch::{Due, Worker};
use crate::id::MsgId;
use crate::mailbox::{Envelope, OverflowStrategy, Pushed, Ticket};
use crate::observe::{DeadLetterReason, DropReason, EventKind, Level};
use crate::sync::{AtomicU64, Ordering};
use crate::time::Instant;

/// Which door a message came by, hence what happens when there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// Never hands back.
    Tell,
    /// Hands back what is not taken.
    Try,
    /// Hands back what is closed, as routers need it.
    Route,
}

/// Whether the event Sent has been recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Logged {
    /// When it departed.
    Before,
    /// Not yet: it is due when the message is taken in.
    Now,
}

/// Counts what is taken in and lost at the door, which no mailbox counts. Its senders are other threads: one of them may
/// count when the actor has ended meanwhile and its books are closed.
#[derive(Debug, Default)]
pub(crate) struct DoorCount(AtomicU64);

/// The books are closed.
const CLOSED: u64 = 1 << 63;

impl DoorCount {
    /// Counts one more; false if that is too late.
    pub(super) fn count(&self) -> bool {
        let one_more = |n: u64| (n & CLOSED == 0).then_some(n + 1);
        // Ordering: Relaxed, one word is all there is.
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed) & !CLOSED
    }

    /// Lets nothing be counted any more.
    pub(super) fn close(&self) {
        self.0.fetch_or(CLOSED, Ordering::Relaxed);
    }
}

/// Why a message was handed back.
pub(crate) enum Refusal<M> {
    Full(M),
    Closed(M),
}

impl<M: Send + 'static> Cell<M> {
    /// Sends a message; what is done now by a run that charged work becomes visible later.
    pub(crate) fn send(
        self: &Arc<Self>,
        message: M,
        door: Door,
        by: Option<&mut Worker>,
    ) -> Result<(), Refusal<M>> {
        let shared = &self.head.shared;
        let Some(at) = shared.dispatcher.later() else {
            let envelope = self.envelope(Item::Message(message));
            let stamp = envelope.stamp();
            // Faults are planted where messages are numbered.
            if stamp.0 != MsgId(0) && shared.faults.armed() {
                return self.send_past_faults(envelope, door, by);
            }
            return match self.mailbox.push_plain(envelope) {
                Ok(wake) => {
                    self.record_sent(stamp);
                    self.wake(wake, by);
                    Ok(())
                }
                Err(envelope) => self.enqueue(envelope, door, Logged::Now, by),
            };
        };
        if shared.faults.armed() {
            let envelope = self.envelope(Item::Message(message));
            return self.send_past_faults(envelope, door, by);
        }
        self.send_at(at, self.envelope(Item::Message(message)), door)
    }

    /// Sends a message that becomes visible at `at`.
    pub(super) fn send_at(
        self: &Arc<Self>,
        at: Instant,
        envelope: Envelope<Item<M>>,
        door: Door,
    ) -> Result<(), Refusal<M>> {
        if self.mailbox.is_closed() {
            // Its fate is known now, so nothing of it need be on its way.
            return self.enqueue(envelope, door, Logged::Now, None);
        }
        let evicts = self.mailbox.overflow() == OverflowStrategy::DropOldest;
        let ticket = match door {
            // What is accepted now must find its room when it arrives.
            Door::Try if !evicts => match self.mailbox.reserve_now() {
                Some(ticket) => Some(ticket),
                None => {
                    self.head.counts.refused.fetch_add(1, Ordering::Relaxed);
                    return Err(Refusal::Full(into_message(envelope)));
                }
            },
            _ => None,
        };
        self.send_later(at, envelope, ticket);
        Ok(())
    }

    /// Lets a message arrive at `at`, into the room of its ticket if it has one.
    fn send_later(self: &Arc<Self>, at: Instant, envelope: Envelope<Item<M>>, ticket: Option<Ticket>) {
        self.record_sent(envelope.stamp());
        self.mailbox.depart();
        let (cell, abandoned) = (self.clone(), self.head.shared.effects());
        let arrive = move || {
            cell.arrive();
            if abandoned.load(Ordering::Relaxed) {
                return cell.abandon(envelope, ticket);
            }
            match ticket {
                Some(ticket) => {
                    if let Err(envelope) = cell.land(ticket, envelope, None) {
                        cell.dead_on_arrival(envelope);
                    }
                }
                // The door is Tell from here on: there is nobody left to hand back to.
                None => drop(cell.enqueue(envelope, Door::Tell, Logged::Before, None)),
            }
        };
        self.head.shared.dispatcher.set_timer(at, Due::Call(Box::new(arrive)));
    }

    /// Drops what a forced run had sent before anybody saw it.
    fn abandon(&self, envelope: Envelope<Item<M>>, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            self.mailbox.release(ticket);
        }
        self.head.shared.drop_late(self.head.id, envelope.id, DropReason::Abandoned);
        self.head.discard(MESSAGE_DROP, envelope);
    }

    /// Ends the way of a message that is visible from now on.
    fn arrive(&self) {
        if self.mailbox.arrive() {
            self.head.shared.landed();
        }
    }

    /// Puts in an item that was ordered by this actor itself, or that has room by a ticket.
    pub(crate) fn send_own(self: &Arc<Self>, item: Item<M>, by: Option<&mut Worker>) -> Result<(), ()> {
        let envelope = self.envelope(item);
        let shared = &self.head.shared;
        if let Some(at) = shared.dispatcher.later()
            && !self.mailbox.is_closed()
        {
            let cell = self.clone();
            self.mailbox.depart();
            self.record_sent(envelope.stamp());
            let arrive = move || {
                cell.arrive();
                let _ = cell.enqueue_own(envelope, None);
            };
            shared.dispatcher.set_timer(at, Due::Call(Box::new(arrive)));
            return Ok(());
        }
        self.record_sent(envelope.stamp());
        self.enqueue_own(envelope, by)
    }

    fn enqueue_own(self: &Arc<Self>, envelope: Envelope<Item<M>>, by: Option<&mut Worker>) -> Result<(), ()> {
        match self.mailbox.push_own(envelope) {
            Pushed::Accepted { wake, .. } => {
                self.wake(wake, by);
                Ok(())
            }
            Pushed::Closed(envelope) | Pushed::Full(envelope) | Pushed::HoldFull(envelope) => {
                self.dead_on_arrival(envelope);
                Err(())
            }
        }
    }

    /// Counts what reached a closed mailbox. Ticks and notices were ordered by the dead: they leave no dead letter.
    fn dead_on_arrival(&self, envelope: Envelope<Item<M>>) {
        let head = &self.head;
        let Some(envelope) = self.pass_on(self.post.heir().as_ref(), envelope) else { return };
        if let Item::Message(message) | Item::Answer(_, message) = &envelope.item {
            self.late_letter(envelope.id, DeadLetterReason::Closed, Some(message));
        }
        head.discard(MESSAGE_DROP, envelope);
    }

    /// Puts a message into the room that `ticket` holds.
    pub(crate) fn send_granted(
        self: &Arc<Self>,
        ticket: Ticket,
        message: M,
        by: Option<&mut Worker>,
    ) -> Result<(), M> {
        let envelope = self.envelope(Item::Message(message));
        let shared = &self.head.shared;
        if envelope.id != MsgId(0) && shared.faults.armed() {
            return self.send_granted_past_faults(ticket, envelope, by);
        }
        self.send_into(shared.dispatcher.later(), ticket, envelope, by)
    }

    /// Uses granted room now, or at `at`.
    pub(super) fn send_into(
        self: &Arc<Self>,
        at: Option<Instant>,
        ticket: Ticket,
        envelope: Envelope<Item<M>>,
        by: Option<&mut Worker>,
    ) -> Result<(), M> {
        if let Some(at) = at {
            self.send_later(at, envelope, Some(ticket));
            return Ok(());
        }
        let stamp = envelope.stamp();
        self.land(ticket, envelope, by).map_err(into_message)?;
        self.record_sent(stamp);
        Ok(())
    }

    /// Pushes into granted room; gives the message back if the mailbox has closed.
    fn land(
        self: &Arc<Self>,
        ticket: Ticket,
        envelope: Envelope<Item<M>>,
        by: Option<&mut Worker>,
    ) -> Result<(), Envelope<Item<M>>> {
        match self.mailbox.push_granted(ticket, envelope) {
            Pushed::Accepted { wake, .. } => {
                self.wake(wake, by);
                Ok(())
            }
            Pushed::Closed(envelope) | Pushed::Full(envelope) | Pushed::HoldFull(envelope) => Err(envelope),
        }
    }

    pub(super) fn envelope(&self, item: Item<M>) -> Envelope<Item<M>> {
        let shared = &self.head.shared;
        Envelope { item, id: shared.next_message(), at: shared.dispatcher.coarse_now() }
    }

    /// Logs that a message was taken in.
    #[inline]
    pub(super) fn record_sent(&self, (message, visible_at): (MsgId, Instant)) {
        let shared = &self.head.shared;
        if shared.log.wants(Level::Message) {
            self.head.record(EventKind::Sent { message, from: shared.log.current(), visible_at });
        }
    }

    pub(super) fn enqueue(
        self: &Arc<Self>,
        envelope: Envelope<Item<M>>,
        door: Door,
        logged: Logged,
        by: Option<&mut Worker>,
    ) -> Result<(), Refusal<M>> {
        let stamp = envelope.stamp();
        let pushed = self.mailbox.push(envelope);
        let handed_back = match &pushed {
            Pushed::Closed(_) => door != Door::Tell,
            Pushed::Full(_) | Pushed::HoldFull(_) => door == Door::Try,
            Pushed::Accepted { .. } => false,
        };
        if logged == Logged::Now && !handed_back {
            self.record_sent(stamp);
        }
        match pushed {
            Pushed::Accepted { wake, evicted, high } => {
                if let Some(depth) = high {
                    self.head.record(EventKind::MailboxHigh { depth: depth as u64 });
                }
                if let Some(victim) = evicted {
                    self.head.record(EventKind::Dropped { reason: DropReason::Evicted, message: victim.id });
                    self.head.discard(MESSAGE_DROP, victim);
                }
                self.wake(wake, by);
                Ok(())
            }
            Pushed::Closed(envelope) if door != Door::Tell => Err(Refusal::Closed(into_message(envelope))),
            Pushed::Full(envelope) | Pushed::HoldFull(envelope) if door == Door::Try => {
                self.head.counts.refused.fetch_add(1, Ordering::Relaxed);
                Err(Refusal::Full(into_message(envelope)))
            }
            Pushed::Closed(envelope) => {
                self.dead_on_arrival(envelope);
                Ok(())
            }
            Pushed::Full(envelope) if self.mailbox.overflow() == OverflowStrategy::RejectToSender => {
                if !self.head.counts.dead_at_door.count() {
                    self.head.shared.count_late_letter();
                }
                if let Item::Message(message) | Item::Answer(_, message) = &envelope.item {
                    let died = DiedIn::SendersHands;
                    self.note_letter(envelope.id, DeadLetterReason::Rejected, died, Some(message));
                }
                self.head.discard(MESSAGE_DROP, envelope);
                Ok(())
            }
            Pushed::Full(envelope) => {
                self.drop_at_door(envelope, DropReason::MailboxFull);
                Ok(())
            }
            Pushed::HoldFull(envelope) => {
                self.drop_at_door(envelope, DropReason::HoldFull);
                Ok(())
            }
        }
    }

    pub(super) fn drop_at_door(&self, envelope: Envelope<Item<M>>, reason: DropReason) {
        if !self.head.counts.dropped_at_door.count() {
            self.head.shared.count_late_drop();
        }
        self.head.record(EventKind::Dropped { reason, message: envelope.id });
        self.head.discard(MESSAGE_DROP, envelope);
    }

    pub(crate) fn wake(self: &Arc<Self>, wake: bool, by: Option<&mut Worker>) {
        if wake {
            self.head.shared.dispatcher.schedule(self.clone(), self.head.home, by);
        }
    }
}

fn into_message<M>(envelope: Envelope<Item<M>>) -> M {
    match envelope.item {
        Item::Message(message) | Item::Answer(_, message) => message,
        Item::Tick(_) | Item::StashedTick(..) | Item::Notice(..) | Item::Drain => {
            unreachable!("only messages are handed back")
        }
    }
}
