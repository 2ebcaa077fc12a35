//! The cell: what a reference points to. It outlives every instance of the user's state behind it.
//!
//! A [`Cell`] is generic in the message only: the actor's own type is behind one boxed [`Behaviour`], called once per
//! activation. [`AnyCell`] is the face without the message type, for parents, watchers and snapshots.
//!
//! I1 the behaviour's lock is taken by the worker that runs the activation, and by snapshots of a parked system; never twice.
//! I2 every accepted message is counted once: in the mailbox, in the batch, or in one of the fates below.

use std::collections::VecDeque;
use std::sync::Arc;

use super::head::Head;
pub(crate) use super::head::{Fate, Orphan};
use super::signal::Signal;
use super::{AnyRef, Terminated};
use crate::dispatch::{Due, Next, OnTimer, Run, Runnable, Task, Worker};
use crate::id::{ActorId, MsgId};
use crate::mailbox::{Envelope, Lanes, Ordered, OverflowStrategy, Pushed, Ticket};
use crate::observe::{ActorSnapshot, DeadLetterReason, DropReason, EventKind, Ledger, Level, StopReason};
use crate::sync::{AtomicU64, Mutex, Ordering};
use crate::time::Instant;

/// What lies in a user lane.
pub(crate) enum Item<M> {
    /// What somebody told.
    Message(M),
    /// The actor's own timer with this token is due.
    Tick(u64),
    /// The end of a watched actor, under a registration.
    Notice(u64, Box<Terminated>),
    /// An answer ordered by an earlier run, of this incarnation.
    Answer(u32, M),
    /// Stop when everything before this has been handled.
    Drain,
}

impl<M> Ordered for Item<M> {
    fn is_own(&self) -> bool {
        !matches!(self, Item::Message(_))
    }
}

/// A cell for messages of type `M`.
pub(crate) struct Cell<M: Send + 'static> {
    pub(crate) head: Head,
    pub(crate) mailbox: Lanes<Item<M>, Signal>,
    pub(crate) behaviour: Mutex<Box<dyn Behaviour<M>>>,
}

/// The actor's side of a cell.
pub(crate) trait Behaviour<M: Send + 'static>: Send {
    /// Runs one activation, or a part of it.
    fn activate(&mut self, cell: &Arc<Cell<M>>, run: &mut Run<'_>) -> Next;
    /// Ends an activation, or a part of it: says whether there is more to do.
    fn finish(&mut self, cell: &Arc<Cell<M>>) -> Next;
    /// Counts the messages taken from the mailbox and not handled yet, and the stamp of the oldest.
    fn batch(&self) -> (usize, Option<crate::time::Instant>);
    /// Counts what waits in the outbox.
    fn outbox(&self) -> usize;
}

/// The behaviour of a cell that was dismantled.
struct Gone;

impl<M: Send + 'static> Behaviour<M> for Gone {
    fn activate(&mut self, _cell: &Arc<Cell<M>>, _run: &mut Run<'_>) -> Next {
        Next::Idle
    }

    fn finish(&mut self, _cell: &Arc<Cell<M>>) -> Next {
        Next::Idle
    }

    fn batch(&self) -> (usize, Option<crate::time::Instant>) {
        (0, None)
    }

    fn outbox(&self) -> usize {
        0
    }
}

/// A cell whose message type is not known.
pub(crate) trait AnyCell: Send + Sync {
    fn head(&self) -> &Head;
    /// Puts a signal into the system lane; gives it back if the actor has ended.
    fn put(&self, signal: Signal) -> Result<bool, Signal>;
    fn task(self: Arc<Self>) -> Task;
    fn on_timer_target(self: Arc<Self>) -> Arc<dyn OnTimer>;
    /// Puts a termination notice into the user lane, unless it is closed.
    fn notice(self: Arc<Self>, registration: u64, news: Terminated);
    fn drain(self: Arc<Self>);
    fn snapshot(&self) -> ActorSnapshot;
    fn is_closed(&self) -> bool;
    /// Lets go of everything that could keep other cells alive, without running user code but for drops.
    fn dismantle(&self);
}

/// What a panic in the drop of a message is reported as.
pub(super) const MESSAGE_DROP: &str = "drop of a message";

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
enum Logged {
    /// When it departed.
    Before,
    /// Not yet: it is due when the message is taken in.
    Now,
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
            return match self.mailbox.push_plain(envelope) {
                Ok(wake) => {
                    self.record_sent(stamp);
                    self.wake(wake, by);
                    Ok(())
                }
                Err(envelope) => self.enqueue(envelope, door, Logged::Now, by),
            };
        };
        if self.mailbox.is_closed() {
            // Its fate is known now, so nothing of it need be on its way.
            let envelope = self.envelope(Item::Message(message));
            return self.enqueue(envelope, door, Logged::Now, None);
        }
        let evicts = self.mailbox.overflow() == OverflowStrategy::DropOldest;
        let ticket = match door {
            // What is accepted now must find its room when it arrives.
            Door::Try if !evicts => match self.mailbox.reserve_now() {
                Some(ticket) => Some(ticket),
                None => {
                    self.head.counts.refused.fetch_add(1, Ordering::Relaxed);
                    return Err(Refusal::Full(message));
                }
            },
            _ => None,
        };
        self.send_later(at, self.envelope(Item::Message(message)), ticket);
        Ok(())
    }

    /// Lets a message arrive at `at`, into the room of its ticket if it has one.
    fn send_later(self: &Arc<Self>, at: Instant, envelope: Envelope<Item<M>>, ticket: Option<Ticket>) {
        self.record_sent(envelope.stamp());
        self.mailbox.depart();
        let cell = self.clone();
        let arrive = move || {
            cell.arrive();
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
        if matches!(envelope.item, Item::Message(_) | Item::Answer(..)) {
            head.shared.late_dead_letter(head.id, &head.path, envelope.id, DeadLetterReason::Closed);
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
        if let Some(at) = self.head.shared.dispatcher.later() {
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

    fn envelope(&self, item: Item<M>) -> Envelope<Item<M>> {
        let shared = &self.head.shared;
        Envelope { item, id: shared.next_message(), at: shared.dispatcher.coarse_now() }
    }

    /// Logs that a message was taken in.
    #[inline]
    fn record_sent(&self, (message, visible_at): (MsgId, Instant)) {
        let shared = &self.head.shared;
        if shared.log.wants(Level::Message) {
            self.head.record(EventKind::Sent { message, from: shared.log.current(), visible_at });
        }
    }

    fn enqueue(
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
                self.lose(&self.head.counts.dead_at_door);
                let (head, reason) = (&self.head, DeadLetterReason::Rejected);
                head.shared.note_dead_letter(head.id, &head.path, envelope.id, reason);
                head.discard(MESSAGE_DROP, envelope);
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

    fn drop_at_door(&self, envelope: Envelope<Item<M>>, reason: DropReason) {
        self.lose(&self.head.counts.dropped_at_door);
        self.head.record(EventKind::Dropped { reason, message: envelope.id });
        self.head.discard(MESSAGE_DROP, envelope);
    }

    fn lose(&self, fate: &AtomicU64) {
        self.head.counts.lost_at_door.fetch_add(1, Ordering::Relaxed);
        fate.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn wake(self: &Arc<Self>, wake: bool, by: Option<&mut Worker>) {
        if wake {
            self.head.shared.dispatcher.schedule(self.clone(), by);
        }
    }

    /// Counts what was accepted and has no fate yet, the message in hand included.
    pub(crate) fn pending(&self) -> u64 {
        let (counts, gauge) = (&self.head.counts, self.mailbox.gauge());
        let consumed = counts.handled.get()
            + counts.failed.get()
            + counts.dead_lettered.get()
            + counts.dropped_own.get()
            + gauge.evicted;
        (gauge.accepted + gauge.in_flight as u64).saturating_sub(consumed)
    }

    /// Gives this actor's part of the ledger; `batch` messages are in its behaviour's hands, `outbox` wait to go out.
    pub(crate) fn ledger(&self, batch: usize, outbox: usize) -> Ledger {
        let (gauge, counts) = (self.mailbox.gauge(), &self.head.counts);
        let in_flight = gauge.in_flight as u64;
        Ledger {
            sent: gauge.accepted + in_flight + outbox as u64 + counts.lost_at_door.load(Ordering::Relaxed),
            handled: counts.handled.get(),
            queued: (gauge.queued + batch + outbox) as u64 + in_flight,
            failed: counts.failed.get(),
            dead_lettered: counts.dead_lettered.get() + counts.dead_at_door.load(Ordering::Relaxed),
            dropped: counts.dropped_own.get()
                + counts.dropped_at_door.load(Ordering::Relaxed)
                + gauge.evicted,
            refused: counts.refused.load(Ordering::Relaxed),
            ..Ledger::default()
        }
    }
}

fn into_message<M>(envelope: Envelope<Item<M>>) -> M {
    match envelope.item {
        Item::Message(message) | Item::Answer(_, message) => message,
        Item::Tick(_) | Item::Notice(..) | Item::Drain => unreachable!("only messages are handed back"),
    }
}

impl<M: Send + 'static> Runnable for Cell<M> {
    fn run(self: Arc<Self>, run: &mut Run<'_>) -> Next {
        let mut behaviour = self.behaviour.lock();
        behaviour.activate(&self, run)
    }

    fn finish(self: Arc<Self>) -> Next {
        let mut behaviour = self.behaviour.lock();
        behaviour.finish(&self)
    }
}

impl<M: Send + 'static> OnTimer for Cell<M> {
    fn on_timer(self: Arc<Self>, token: u64) {
        self.head.record(EventKind::TimerFired);
        // A tick for the dead is nobody's loss: its timer died with the actor.
        let _ = self.send_own(Item::Tick(token), None);
    }
}

impl<M: Send + 'static> AnyCell for Cell<M> {
    fn head(&self) -> &Head {
        &self.head
    }

    fn put(&self, signal: Signal) -> Result<bool, Signal> {
        self.mailbox.signal(signal)
    }

    fn task(self: Arc<Self>) -> Task {
        self
    }

    fn on_timer_target(self: Arc<Self>) -> Arc<dyn OnTimer> {
        self
    }

    fn notice(self: Arc<Self>, registration: u64, news: Terminated) {
        // A dead watcher is told nothing.
        let _ = self.send_own(Item::Notice(registration, Box::new(news)), None);
    }

    fn drain(self: Arc<Self>) {
        // A dead actor is drained.
        let _ = self.send_own(Item::Drain, None);
    }

    fn is_closed(&self) -> bool {
        self.mailbox.is_closed()
    }

    fn dismantle(&self) {
        let children = std::mem::take(&mut *self.head.children.lock());
        let (left, signals) = (self.mailbox.close(), self.mailbox.end());
        let behaviour = self.behaviour.try_lock().map(|mut old| std::mem::replace(&mut *old, Box::new(Gone)));
        drop((children, left, signals, behaviour));
    }

    fn snapshot(&self) -> ActorSnapshot {
        let (batch, batch_oldest, outbox) = match self.behaviour.try_lock() {
            Some(behaviour) => {
                let (batch, oldest) = behaviour.batch();
                (batch, oldest, behaviour.outbox())
            }
            None => (0, None, 0),
        };
        let (head, counts) = (&self.head, &self.head.counts);
        ActorSnapshot {
            id: head.id,
            path: head.path.clone(),
            parent: head.parent.as_ref().map_or(ActorId::NOBODY, |parent| parent.head().id),
            state: head.state(),
            incarnation: head.incarnation.load(Ordering::Relaxed),
            restarts: counts.restarts.get(),
            capacity: self.mailbox.capacity(),
            overflow: self.mailbox.overflow(),
            oldest: batch_oldest.or(self.mailbox.gauge().oldest),
            ledger: self.ledger(batch, outbox),
            outbox,
            busy_ns: counts.busy_ns.get(),
            blocked_ns: counts.blocked_ns.get(),
        }
    }
}

/// Sends a signal; on a Stepper it is visible when the running turn's work is done.
pub(crate) fn signal(target: &Arc<dyn AnyCell>, signal: Signal, by: Option<&mut Worker>) {
    let dispatcher = &target.head().shared.dispatcher;
    match dispatcher.later() {
        None => signal_now(target, signal, by),
        Some(at) => {
            let target = target.clone();
            dispatcher.set_timer(at, Due::Call(Box::new(move || signal_now(&target, signal, None))));
        }
    }
}

fn signal_now(target: &Arc<dyn AnyCell>, signal: Signal, by: Option<&mut Worker>) {
    match target.put(signal) {
        Ok(true) => target.head().shared.dispatcher.schedule(target.clone().task(), by),
        Ok(false) => {}
        Err(signal) => unheard(target, signal),
    }
}

/// Answers a signal that came after the end, where somebody waits for an answer.
pub(crate) fn unheard(target: &Arc<dyn AnyCell>, signal: Signal) {
    if let Signal::Watch(watcher, registration) = signal {
        let news = Terminated { target: AnyRef(target.clone()), reason: StopReason::AlreadyGone };
        watcher.notice(registration, news);
    }
}

/// Left-over items of a closed mailbox become dead letters, except what the dead had ordered itself.
pub(crate) fn bury<M: Send + 'static>(cell: &Cell<M>, left: VecDeque<Envelope<Item<M>>>) {
    let head = &cell.head;
    for envelope in left {
        match &envelope.item {
            Item::Tick(_) | Item::Drain => {
                head.counts.dropped_own.add(1);
                head.record(EventKind::Dropped { reason: DropReason::StaleTimer, message: envelope.id });
            }
            Item::Notice(..) => {
                head.counts.dropped_own.add(1);
                head.record(EventKind::Dropped { reason: DropReason::Unwatched, message: envelope.id });
            }
            Item::Message(_) | Item::Answer(..) => {
                head.counts.dead_lettered.add(1);
                let reason = DeadLetterReason::StoppedWithMail;
                head.shared.note_dead_letter(head.id, &head.path, envelope.id, reason);
            }
        }
        head.discard(MESSAGE_DROP, envelope);
    }
}
