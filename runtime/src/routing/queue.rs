//! The one queue of a balancing router: how many messages it takes, and what becomes of one that finds it full.
//!
//! I1 a message that is lost here is counted once, with its reason, and its asker hears at once.
//! I2 nobody waits for room here: a router has no door at which one could.

use std::sync::Arc;

use super::table::Table;
use crate::actor::cell::{Fate, Item};
use crate::actor::feed::{Fed, Feed, GivesUp};
use crate::id::{ActorId, MsgId};
use crate::mailbox::Envelope;
use crate::observe::{DeadLetterReason, DropReason, EventKind, Level, RouteWhy};

/// Says what happens to a message that finds the queue of a [balancing router](super::Router::balancing_bounded) full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueueFull {
    /// The new message is dropped and counted (MailboxFull); an ask hears Full.
    DropNew,
    /// The oldest queued message is dropped and counted (Evicted), the new one taken; the ask of the old one hears so.
    DropOldest,
    /// The new message becomes a dead letter (Rejected); an ask hears Full.
    Reject,
}

/// The settings of a shared queue.
#[derive(Clone, Copy)]
pub(super) struct Queue {
    pub(super) capacity: usize,
    pub(super) full: QueueFull,
}

impl Queue {
    /// Every message finds room.
    pub(super) const UNBOUNDED: Queue = Queue { capacity: usize::MAX, full: QueueFull::DropNew };

    pub(super) fn make<M: Send + 'static>(self) -> Feed<M> {
        let gives_up = match self.full {
            QueueFull::DropNew | QueueFull::Reject => GivesUp::Newest,
            QueueFull::DropOldest => GivesUp::Oldest,
        };
        Feed::new(self.capacity, gives_up)
    }
}

impl<M: Send + 'static> Table<M> {
    /// Puts a message into the shared queue, when it is visible; gives it back if nobody will take it.
    pub(super) fn queue(self: &Arc<Self>, message: M) -> Result<(), M> {
        let Some(feed) = &self.feed else { return Err(message) };
        if self.get().len() == 0 && !self.accepts() {
            return Err(message);
        }
        let shared = self.shared();
        if let Some(at) = shared.dispatcher.later() {
            self.later(at, message);
            return Ok(());
        }
        self.note(ActorId::NOBODY, RouteWhy::Shared { queued: feed.len() as u64 });
        let (id, at) = (shared.next_message(), shared.dispatcher.coarse_now());
        if shared.log.wants(Level::Message) {
            self.record(EventKind::Sent { message: id, from: shared.log.current(), visible_at: at });
        }
        match feed.push(Envelope { item: Item::Message(message), id, at }) {
            Fed::Taken => {
                // The last routee of a group may have left after the look above, and given up what was there then.
                if self.get().len() == 0 && !self.accepts() {
                    self.give_up();
                }
            }
            Fed::Closed(envelope) => return Err(into_message(envelope)),
            Fed::Full(envelope) => self.refuse(into_message(envelope), id),
            Fed::Evicted(envelope) => {
                let id = envelope.id;
                self.lose(
                    into_message(envelope),
                    id,
                    DropReason::Evicted,
                    Fate::Dropped(DropReason::Evicted),
                );
            }
        }
        Ok(())
    }

    /// Says what became of a message that found the queue full.
    fn refuse(&self, message: M, id: MsgId) {
        match self.chooser.kind.queue.map(|queue| queue.full) {
            Some(QueueFull::Reject) => {
                let owner = self.owner();
                let name = std::any::type_name::<M>();
                owner.shared.late_letter((owner.id, &owner.path), id, DeadLetterReason::Rejected, name);
                owner.shared.discarding(Fate::Refused, || self.discard(message));
            }
            _ => self.lose(message, id, DropReason::MailboxFull, Fate::Refused),
        }
    }

    fn lose(&self, message: M, id: MsgId, reason: DropReason, fate: Fate) {
        let owner = self.owner();
        owner.shared.drop_late(owner.id, id, reason);
        owner.shared.discarding(fate, || self.discard(message));
    }

    /// Makes dead letters of the shared queue: nobody is left to take from it.
    pub(super) fn give_up(&self) {
        let Some(feed) = &self.feed else { return };
        for Envelope { item, id, .. } in feed.take_all() {
            if let Item::Message(message) = item {
                self.bury(message, id, DeadLetterReason::NoRoutee);
            }
        }
    }
}

fn into_message<M>(envelope: Envelope<Item<M>>) -> M {
    match envelope.item {
        Item::Message(message) => message,
        _ => unreachable!("a message was pushed"),
    }
}
