//! The cell: what a reference points to. It outlives every instance of the user's state behind it.
//!
//! A [`Cell`] is generic in the message only: the actor's own type is behind one boxed [`Behaviour`], called once per
//! activation. [`AnyCell`] is the face without the message type, for parents, watchers and snapshots.
//!
//! I1 the behaviour's lock is taken by the worker that runs the activation, and by snapshots of a parked system; never twice.
//! I2 every accepted message is counted once: in the mailbox, in the batch, or in one of the fates below.

use std::collections::VecDeque;
use std::sync::Arc;

use super::failure::catch;
use super::feed::Post;
use super::head::Head;
pub(crate) use super::head::{Fate, Orphan};
use super::letters::{DiedIn, LetterRules};
use super::path::SpawnError;
use super::queue::Outlook;
use super::signal::Signal;
use super::{AnyRef, Terminated};
use crate::dispatch::{Due, Next, OnTimer, Run, Runnable, Task, Worker};
use crate::id::{ActorId, MsgId};
use crate::mailbox::order::Rules;
use crate::mailbox::{Envelope, Lanes, Ordered};
use crate::observe::{ActorSnapshot, DeadLetterReason, DropReason, EventKind, Ledger, StopReason};
use crate::supervise::SignalOrder;
use crate::sync::{Mutex, Ordering};

/// What lies in a user lane.
pub(crate) enum Item<M> {
    /// What somebody told.
    Message(M),
    /// The actor's own timer with this token is due.
    Tick(u64),
    /// The end of a watched actor, under a registration.
    Notice(u64, Box<Terminated>),
    /// The end of a linked actor: this one is to fail.
    LinkNotice(Box<Terminated>),
    /// An answer ordered by an earlier run, of this incarnation.
    Answer(u32, M),
    /// A tick that this incarnation has stashed.
    StashedTick(u32, M),
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
    /// The order of the mailbox, if it is not first in, first out.
    pub(crate) rules: Option<Box<Rules<M>>>,
    pub(crate) behaviour: Mutex<Box<dyn Behaviour<M>>>,
    /// What a router has given it.
    pub(crate) post: Post<M>,
    pub(super) letters: Option<Box<LetterRules<M>>>,
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
    /// Lends the batch, while the user lane is read.
    fn readable_batch(&mut self) -> Option<&mut VecDeque<Envelope<Item<M>>>>;
    /// Gives the state that the actor says it is in.
    fn doing(&self) -> Option<Arc<str>>;
    /// Lets go of what a user has made, each by itself, so that a panic in the drop of one does not meet the next.
    fn dismantle(&mut self, head: &Head);
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

    fn readable_batch(&mut self) -> Option<&mut VecDeque<Envelope<Item<M>>>> {
        None
    }

    fn doing(&self) -> Option<Arc<str>> {
        None
    }

    fn dismantle(&mut self, _head: &Head) {}
}

/// A cell whose message type is not known.
pub(crate) trait AnyCell: Send + Sync {
    fn head(&self) -> &Head;
    /// Puts a signal into the system lane; gives it back if the actor has ended.
    fn put(&self, signal: Signal) -> Result<bool, Signal>;
    fn task(self: Arc<Self>) -> Task;
    fn into_any(self: Arc<Self>) -> Arc<dyn std::any::Any + Send + Sync>;
    fn on_timer_target(self: Arc<Self>) -> Arc<dyn OnTimer>;
    /// Puts a termination notice into the user lane, unless it is closed; where notices overtake, into the system lane.
    fn notice(self: Arc<Self>, registration: u64, news: Terminated);
    /// Puts the end of a linked actor into the user lane, unless it is closed.
    fn link_notice(self: Arc<Self>, news: Terminated);
    fn drain(self: Arc<Self>);
    fn snapshot(&self) -> ActorSnapshot;
    fn is_closed(&self) -> bool;
    /// Closes both lanes of an actor whose run does not return; see [`Lanes::deafen`].
    fn deafen(&self) -> (VecDeque<Signal>, bool);
    /// Says what it would do in its next turn.
    fn outlook(&self) -> Outlook;
    /// Puts a queued message at the head of the queue; false if it is not there, or if the queue is not read now.
    fn prefer(self: Arc<Self>, message: MsgId) -> bool;
    /// Lets go of everything that could keep other cells alive, without running user code but for drops.
    fn dismantle(&self);
}

/// What a panic in the drop of a message is reported as.
pub(crate) const MESSAGE_DROP: &str = "drop of a message";

impl<M: Send + 'static> Cell<M> {
    /// Counts what was accepted and has no fate yet, the message in hand included.
    pub(crate) fn pending(&self) -> u64 {
        let (counts, gauge) = (&self.head.counts, self.mailbox.gauge());
        let consumed = counts.handled.get()
            + counts.failed.get()
            + counts.dead_lettered.get()
            + counts.dropped_own.get()
            + counts.rerouted.get()
            + counts.stashed.get()
            + gauge.evicted;
        (gauge.accepted + gauge.in_flight as u64 + counts.stash_took.get()).saturating_sub(consumed)
    }

    /// Gives this actor's part of the ledger; `batch` messages are in its behaviour's hands, `outbox` wait to go out.
    pub(crate) fn ledger(&self, batch: usize, outbox: usize) -> Ledger {
        let (gauge, counts) = (self.mailbox.gauge(), &self.head.counts);
        let in_flight = (gauge.in_flight + gauge.in_line) as u64;
        // What lies in an annex is sent and queued; what was passed on is in the books of whoever took it.
        let aside = self.head.annexed();
        // Each is read once: what is sent and lost in the same instant is in both or in neither.
        let (dead, dropped) = (counts.dead_at_door.get(), counts.dropped_at_door.get());
        Ledger {
            sent: (gauge.accepted + in_flight + outbox as u64 + counts.stash_took.get() + dead + dropped)
                .saturating_sub(counts.rerouted.get())
                + aside,
            handled: counts.handled.get(),
            queued: (gauge.queued + batch + outbox) as u64 + in_flight + aside,
            stashed: counts.stashed.get(),
            failed: counts.failed.get(),
            dead_lettered: counts.dead_lettered.get() + dead,
            dropped: counts.dropped_own.get() + dropped + gauge.evicted,
            unhandled: counts.unhandled.get(),
            refused: counts.refused.load(Ordering::Relaxed),
            suppressed: 0, // counted in the totals of the system
        }
    }
}

impl<M: Send + 'static> Cell<M> {
    /// Gives this actor's part of the ledger for ever: what is lost at its door from now on is in the system's books.
    pub(super) fn last_ledger(&self) -> Ledger {
        self.head.counts.dead_at_door.close();
        self.head.counts.dropped_at_door.close();
        self.ledger(0, 0)
    }
}

impl<M: Send + 'static> Runnable for Cell<M> {
    fn run(self: Arc<Self>, run: &mut Run<'_>) -> Next {
        let mut behaviour = self.behaviour.lock();
        behaviour.activate(&self, run)
    }

    fn actor(&self) -> ActorId {
        self.head.id
    }

    fn finish(self: Arc<Self>) -> Next {
        let mut behaviour = self.behaviour.lock();
        behaviour.finish(&self)
    }

    fn ran_long(&self, ns: u64) {
        self.head.ran_long(ns);
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

    fn into_any(self: Arc<Self>) -> Arc<dyn std::any::Any + Send + Sync> {
        self
    }

    fn on_timer_target(self: Arc<Self>) -> Arc<dyn OnTimer> {
        self
    }

    fn notice(self: Arc<Self>, registration: u64, news: Terminated) {
        let news = Box::new(news);
        // A dead watcher is told nothing.
        match self.head.shared.signal_order {
            SignalOrder::InOrder => drop(self.send_own(Item::Notice(registration, news), None)),
            SignalOrder::Overtaking => {
                let me: Arc<dyn AnyCell> = self;
                signal(&me, Signal::Notice(registration, news), None);
            }
        }
    }

    fn link_notice(self: Arc<Self>, news: Terminated) {
        // The dead share nobody's fate.
        let _ = self.send_own(Item::LinkNotice(Box::new(news)), None);
    }

    fn drain(self: Arc<Self>) {
        // A dead actor is drained.
        let _ = self.send_own(Item::Drain, None);
    }

    fn is_closed(&self) -> bool {
        self.mailbox.is_closed()
    }

    fn deafen(&self) -> (VecDeque<Signal>, bool) {
        self.mailbox.deafen(Signal::Abandoned)
    }

    fn outlook(&self) -> Outlook {
        Outlook { signals: self.mailbox.has_signals(), messages: self.queue() }
    }

    fn prefer(self: Arc<Self>, message: MsgId) -> bool {
        self.move_to_front(message)
    }

    fn dismantle(&self) {
        let children = std::mem::take(&mut *self.head.children.lock());
        let (left, signals) = (self.mailbox.close(), self.mailbox.end());
        let behaviour = self.behaviour.try_lock().map(|mut old| std::mem::replace(&mut *old, Box::new(Gone)));
        drop((children, signals));
        let head = &self.head;
        left.into_iter().for_each(|envelope| head.discard(MESSAGE_DROP, envelope));
        if let Some(mut behaviour) = behaviour {
            behaviour.dismantle(head);
            head.discard("drop of an actor", behaviour);
        }
        // What it lets go of here is a queue of messages; a panic in the drop of one decides nothing.
        let _ = catch(|| {
            self.post.clear();
            Ok(())
        });
        head.discard(MESSAGE_DROP, head.take_annex());
        let mourners = std::mem::take(&mut *head.mourners.lock());
        head.discard("drop of a watch", mourners);
    }

    fn snapshot(&self) -> ActorSnapshot {
        let (batch, batch_oldest, outbox, doing, exact) = match self.behaviour.try_lock() {
            Some(behaviour) => {
                let (batch, oldest) = behaviour.batch();
                (batch, oldest, behaviour.outbox(), behaviour.doing(), true)
            }
            None => (0, None, 0, None, false),
        };
        let (head, counts, gauge) = (&self.head, &self.head.counts, self.mailbox.gauge());
        ActorSnapshot {
            id: head.id,
            path: head.path.clone(),
            parent: head.parent.as_ref().map_or(ActorId::NOBODY, |parent| parent.head().id),
            state: head.state(),
            incarnation: head.incarnation.load(Ordering::Relaxed),
            restarts: counts.restarts.get(),
            capacity: self.mailbox.capacity(),
            overflow: self.mailbox.overflow(),
            control: gauge.control,
            own: gauge.own,
            exact,
            waits_on: head.waits_on(),
            oldest: batch_oldest.or(gauge.oldest),
            ledger: self.ledger(batch, outbox),
            outbox,
            doing,
            busy_ns: counts.busy_ns.get(),
            blocked_ns: counts.blocked_ns.get(),
            router: head.annex().and_then(|annex| annex.snapshot()).map(Box::new),
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
        Ok(true) => {
            let head = target.head();
            head.shared.dispatcher.schedule(target.clone().task(), head.home, by);
        }
        Ok(false) => {}
        Err(signal) => unheard(target, signal),
    }
}

/// Answers a signal that comes after the last run, where somebody waits for an answer.
pub(crate) fn unheard(target: &Arc<dyn AnyCell>, signal: Signal) {
    let mut mourners = target.head().mourners.lock();
    match signal {
        // The end is not told yet, and the name may still be taken.
        Signal::Watch(watcher, registration) if !mourners.have_heard() => mourners.add(watcher, registration),
        Signal::OnEnd(call) if !mourners.have_heard() => mourners.call(call),
        Signal::Unwatch(watcher) => mourners.remove(watcher),
        late => {
            drop(mourners);
            answer_late(target, late);
        }
    }
}

fn answer_late(target: &Arc<dyn AnyCell>, signal: Signal) {
    match signal {
        Signal::Watch(watcher, registration) => {
            let news = Terminated { target: AnyRef(target.clone()), reason: StopReason::AlreadyGone };
            watcher.notice(registration, news);
        }
        Signal::OnEnd(call) => call(StopReason::AlreadyGone),
        Signal::TellReady(tell) => tell(Err(SpawnError::StartFailed("it has ended".to_owned()))),
        _ => {}
    }
}

/// Left-over items of a closed mailbox become dead letters, except what the dead had ordered itself.
pub(crate) fn bury<M: Send + 'static>(cell: &Cell<M>, left: VecDeque<Envelope<Item<M>>>) {
    let head = &cell.head;
    let heir = cell.post.heir();
    for envelope in left {
        let Some(envelope) = cell.pass_on(heir.as_ref(), envelope) else {
            head.counts.rerouted.add(1);
            continue;
        };
        match &envelope.item {
            Item::Tick(_) | Item::StashedTick(..) | Item::Drain => {
                head.counts.dropped_own.add(1);
                head.record(EventKind::Dropped { reason: DropReason::StaleTimer, message: envelope.id });
            }
            Item::Notice(..) | Item::LinkNotice(_) => {
                head.counts.dropped_own.add(1);
                head.record(EventKind::Dropped { reason: DropReason::Unwatched, message: envelope.id });
            }
            Item::Message(message) | Item::Answer(_, message) => {
                head.counts.dead_lettered.add(1);
                let reason = DeadLetterReason::StoppedWithMail;
                cell.note_letter(envelope.id, reason, DiedIn::Mailbox, Some(message));
            }
        }
        head.discard_as(Fate::Stopped, envelope);
    }
}

impl<M: Send + 'static> Cell<M> {
    /// Gives up what is queued, as a restart may do, for `reason`; what the actor has ordered itself stays.
    pub(super) fn give_up_queue(
        self: &Arc<Self>,
        batch: &mut VecDeque<Envelope<Item<M>>>,
        reason: DeadLetterReason,
        fate: Fate,
    ) {
        let (given_up, granted) = self.mailbox.give_up();
        let (own, others): (VecDeque<_>, VecDeque<_>) =
            batch.drain(..).partition(|envelope| envelope.item.is_own());
        *batch = own;
        let head = &self.head;
        for envelope in others.into_iter().chain(given_up) {
            head.counts.dead_lettered.add(1);
            if let Item::Message(message) | Item::Answer(_, message) = &envelope.item {
                self.note_letter(envelope.id, reason, DiedIn::Mailbox, Some(message));
            }
            head.discard_as(fate, envelope);
        }
        self.carry_out(granted);
    }
}
