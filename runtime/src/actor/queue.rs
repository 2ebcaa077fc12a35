//! A look at what an actor has queued, and a change of its order: doors for tests that script the order of delivery.
//!
//! I1 looking changes nothing; a message that is preferred moves, and is neither lost nor doubled.
//! They are meant for a Stepper between two turns: an actor that is running shows nothing.

use std::collections::BTreeSet;

use super::cell::{Cell, Item};
use crate::id::MsgId;
use crate::mailbox::Envelope;

/// What an actor would do in its next turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outlook {
    /// Signals wait: they come first.
    pub(crate) signals: bool,
    /// What is queued, in the order in which it will be handled; empty while the queue is not read.
    pub(crate) messages: Vec<MsgId>,
}

impl<M: Send + 'static> Cell<M> {
    /// Lists what is queued, unless the queue is not read now.
    pub(super) fn queue(&self) -> Vec<MsgId> {
        let mut messages = Vec::new();
        self.look_at_queue(|envelope| messages.push(envelope.id));
        messages
    }

    /// Lists the queued messages that fit. A tick and a notice are no messages before they are handled.
    pub(crate) fn fitting(&self, pattern: impl Fn(&M) -> bool) -> BTreeSet<MsgId> {
        let mut fitting = BTreeSet::new();
        self.look_at_queue(|envelope| match &envelope.item {
            Item::Message(queued) | Item::Answer(_, queued) | Item::StashedTick(_, queued)
                if pattern(queued) =>
            {
                fitting.insert(envelope.id);
            }
            _ => {}
        });
        fitting
    }

    fn look_at_queue(&self, mut see: impl FnMut(&Envelope<Item<M>>)) {
        let Some(mut behaviour) = self.behaviour.try_lock() else { return };
        let Some(batch) = behaviour.readable_batch() else { return };
        batch.iter().for_each(&mut see);
        self.mailbox.look(see);
    }

    /// Moves a queued message to the head of the queue.
    pub(super) fn move_to_front(self: &std::sync::Arc<Self>, message: MsgId) -> bool {
        let Some(mut behaviour) = self.behaviour.try_lock() else { return false };
        let Some(batch) = behaviour.readable_batch() else { return false };
        let in_batch = batch.iter().position(|envelope| envelope.id == message);
        let found = match in_batch {
            Some(at) => batch.remove(at),
            None => {
                let (found, granted) = self.mailbox.pick(message);
                self.carry_out(granted);
                found
            }
        };
        let Some(found) = found else { return false };
        batch.push_front(found);
        true
    }
}
