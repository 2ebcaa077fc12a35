//! The doors of a cell: how a message gets into its mailbox, and what becomes of one that does not.
//!
//! I1 a message goes in once: it is queued, on its way (visible later), lost with a reason, or handed back.
//! I2 the event Sent is recorded exactly for what was not handed back.

use std::sync::Arc;

use std::task::Waker;

use super::cell::{AnyCell, Cell, Fate, Item, signal};
use super::failure::catch;
use super::letters::DiedIn;
use super::signal::Signal;
use crate::dispatch::{Due, Worker};
use crate::id::MsgId;
use crate::mailbox::order::{Lane, Tag};
use crate::mailbox::{Envelope, Granted, Loss, OverflowStrategy, Pushed, Ticket, Why};
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
    /// Hands back what is not taken, for a sender that will wait.
    Send,
    /// Hands back what is not taken, but for what the policy drops.
    Ask,
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
            Door::Try | Door::Send | Door::Ask if !evicts => {
                let lane = self.tag(&envelope.item).lane();
                match self.mailbox.reserve_now(lane) {
                    Some(ticket) => Some(ticket),
                    None if door == Door::Ask && self.fails_receiver() => None,
                    None => {
                        self.count_refused(door);
                        return Err(Refusal::Full(into_message(envelope)));
                    }
                }
            }
            _ => None,
        };
        self.send_later(at, envelope, ticket);
        Ok(())
    }

    fn fails_receiver(&self) -> bool {
        self.mailbox.overflow() == OverflowStrategy::FailReceiver
    }

    fn count_refused(&self, door: Door) {
        if door == Door::Try {
            self.head.counts.refused.fetch_add(1, Ordering::Relaxed);
        }
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
    pub(super) fn abandon(self: &Arc<Self>, envelope: Envelope<Item<M>>, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            self.release(ticket);
        }
        self.head.shared.drop_late(self.head.id, envelope.id, DropReason::Abandoned);
        self.head.discard_as(Fate::Dropped(DropReason::Abandoned), envelope);
    }

    /// Ends the way of a message that is visible from now on.
    pub(super) fn arrive(&self) {
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
            Pushed::Refused { envelope, .. } => {
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
        head.discard_as(Fate::Stopped, envelope);
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
        let (tag, stamp) = (self.tag(&envelope.item), envelope.stamp());
        match self.mailbox.push_granted(ticket, envelope, tag) {
            Pushed::Refused { envelope, why: Why::Closed, .. } => Err(envelope),
            // There is room, so only a duplicate is not taken in; it is not handed back.
            pushed => {
                drop(self.conclude(pushed, stamp, Door::Tell, Logged::Before, by));
                Ok(())
            }
        }
    }

    /// Does what room that has come leads to.
    pub(crate) fn carry_out(self: &Arc<Self>, granted: Granted<Item<M>>) {
        if granted.is_nothing() {
            return;
        }
        self.wake(granted.wake, None);
        granted.lost.into_iter().for_each(|(victim, loss)| self.lost(victim, loss));
        granted.refused.into_iter().for_each(|envelope| self.drop_at_door(envelope, DropReason::Duplicate));
        granted.wakers.into_iter().for_each(Waker::wake);
    }

    /// Asks the user's rules about a message; a panic in them is the owner's affair.
    fn tag_of(&self, message: &M) -> Tag {
        let Some(rules) = &self.rules else { return Tag::default() };
        catch(|| Ok(rules.tag(message))).unwrap_or_else(|why| {
            self.head.record(EventKind::HookFailed { hook: "order of a mailbox", text: why.report().text });
            Tag::UNKNOWN
        })
    }

    pub(super) fn tag(&self, item: &Item<M>) -> Tag {
        match item {
            Item::Message(message) => self.tag_of(message),
            _ => Tag::default(),
        }
    }

    /// Puts what the actor had set aside back into a mailbox with an order of its own; gives it back if it has none.
    pub(super) fn put_back(&self, envelope: Envelope<Item<M>>) -> Option<Envelope<Item<M>>> {
        if self.rules.is_none() {
            return Some(envelope);
        }
        let tag = self.tag(&envelope.item);
        self.mailbox.put_back(envelope, tag)
    }

    /// Gives the lane that a message belongs to.
    pub(crate) fn lane_of(&self, message: &M) -> Lane {
        self.tag_of(message).lane()
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
        let (tag, stamp) = (self.tag(&envelope.item), envelope.stamp());
        let pushed = self.mailbox.push(envelope, tag);
        self.conclude(pushed, stamp, door, logged, by)
    }

    /// Does what a push leads to.
    pub(super) fn conclude(
        self: &Arc<Self>,
        pushed: Pushed<Item<M>>,
        stamp: (MsgId, Instant),
        door: Door,
        logged: Logged,
        by: Option<&mut Worker>,
    ) -> Result<(), Refusal<M>> {
        match pushed {
            Pushed::Accepted { wake, lost, high, full } => {
                if logged == Logged::Now {
                    self.record_sent(stamp);
                }
                if let Some(depth) = high {
                    self.head.record(EventKind::MailboxHigh { depth: depth as u64 });
                }
                self.note_full(full);
                if let Some((victim, loss)) = lost {
                    self.lost(victim, loss);
                }
                self.wake(wake, by);
                Ok(())
            }
            Pushed::Refused { envelope, why, full } => {
                let handed_back = match (why, door) {
                    (Why::Duplicate, _) | (_, Door::Tell) => false,
                    (Why::Closed, _) => true,
                    (Why::Full, Door::Ask) => !self.fails_receiver(),
                    (_, Door::Try | Door::Send | Door::Ask) => true,
                    (_, Door::Route) => false,
                };
                if handed_back && why == Why::Closed {
                    return Err(Refusal::Closed(into_message(envelope)));
                }
                if door != Door::Send {
                    self.note_full(full);
                }
                if handed_back {
                    self.count_refused(door);
                    return Err(Refusal::Full(into_message(envelope)));
                }
                if logged == Logged::Now {
                    self.record_sent(stamp);
                }
                self.lose_refused(envelope, why);
                Ok(())
            }
        }
    }

    /// Records that an episode of fullness has begun.
    fn note_full(&self, full: bool) {
        if full {
            let capacity = self.mailbox.capacity().unwrap_or(0) as u64;
            self.head.record(EventKind::MailboxFull { capacity });
        }
    }

    /// Gives a message that is not taken in, and not handed back, its fate.
    fn lose_refused(self: &Arc<Self>, envelope: Envelope<Item<M>>, why: Why) {
        match why {
            Why::Closed => self.dead_on_arrival(envelope),
            Why::HoldFull => self.drop_at_door(envelope, DropReason::HoldFull),
            Why::Memory => self.drop_at_door(envelope, DropReason::MemoryBudget),
            Why::Duplicate => self.drop_at_door(envelope, DropReason::Duplicate),
            Why::Full if self.mailbox.overflow() == OverflowStrategy::RejectToSender => {
                if !self.head.counts.dead_at_door.count() {
                    self.head.shared.count_late_letter();
                }
                if let Item::Message(message) | Item::Answer(_, message) = &envelope.item {
                    let died = DiedIn::SendersHands;
                    self.note_letter(envelope.id, DeadLetterReason::Rejected, died, Some(message));
                }
                self.head.discard_as(Fate::Refused, envelope);
            }
            Why::Full => {
                self.drop_at_door(envelope, DropReason::MailboxFull);
                if self.fails_receiver() && self.mailbox.begin_overflow() {
                    let me: Arc<dyn AnyCell> = self.clone();
                    signal(&me, Signal::Overflow, None);
                }
            }
        }
    }

    /// Says what became of a message that was accepted and had to go.
    fn lost(&self, victim: Envelope<Item<M>>, loss: Loss) {
        let reason = match loss {
            Loss::Evicted => DropReason::Evicted,
            Loss::Duplicate => DropReason::Duplicate,
        };
        self.head.record(EventKind::Dropped { reason, message: victim.id });
        self.head.discard_as(Fate::Dropped(reason), victim);
    }

    /// Counts a message that was taken in and lost before it was in the mailbox.
    pub(crate) fn drop_at_door(&self, envelope: Envelope<Item<M>>, reason: DropReason) {
        if !self.head.counts.dropped_at_door.count() {
            self.head.shared.count_late_drop();
        }
        self.head.record(EventKind::Dropped { reason, message: envelope.id });
        self.head.discard_as(Fate::Dropped(reason), envelope);
    }

    /// Counts a message that waited in its sender's outbox until its time was over.
    pub(crate) fn drop_overdue(&self, message: M) {
        self.drop_at_door(self.envelope(Item::Message(message)), DropReason::Timeout);
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
        Item::Tick(_) | Item::StashedTick(..) | Item::Notice(..) | Item::LinkNotice(_) | Item::Drain => {
            unreachable!("only messages are handed back")
        }
    }
}
