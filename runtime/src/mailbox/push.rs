//! How a message gets into a mailbox that is not simply open: bound, hold, memory, policy, and the line for room.
//!
//! The order of the looks: closed, an equal in the queue, the bound, the hold, the memory. So a duplicate is one even where
//! there is no room, and what a full mailbox drops does not use up a hold.

use super::order::Tag;
use super::{Envelope, Granted, Inner, Lanes, Loss, Nudged, Ordered, OverflowStrategy, Pushed, Ticket, Why};
use crate::id::MsgId;

impl<T: Ordered, S> Lanes<T, S> {
    /// Puts a message into the user lane, subject to bound, hold and memory.
    pub(crate) fn push(&self, envelope: Envelope<T>, tag: Tag) -> Pushed<T> {
        self.push_into(&mut self.inner.lock(), envelope, tag)
    }

    fn push_into(&self, inner: &mut Inner<T, S>, envelope: Envelope<T>, tag: Tag) -> Pushed<T> {
        if inner.closed {
            return Pushed::refused(Why::Closed, envelope);
        }
        let envelope = match inner.meet_twin(envelope, tag) {
            Ok(envelope) => envelope,
            Err(pushed) => return pushed,
        };
        if inner.is_full(tag.lane(), self.capacity) {
            return self.push_into_full(inner, envelope, tag);
        }
        let promised = inner.line(tag.lane()).promised();
        if inner.hold.is_some_and(|left| left <= promised) {
            return Pushed::refused(Why::HoldFull, envelope);
        }
        if !inner.pay(self.budget.as_deref(), false) {
            return Pushed::refused(Why::Memory, envelope);
        }
        inner.let_in(envelope, tag)
    }

    fn push_into_full(&self, inner: &mut Inner<T, S>, envelope: Envelope<T>, tag: Tag) -> Pushed<T> {
        let first = !std::mem::replace(&mut inner.was_full, true);
        let victim = match self.overflow {
            OverflowStrategy::DropOldest => inner.evict(tag, true),
            OverflowStrategy::DropNew => inner.evict(tag, false),
            _ => None,
        };
        let Some(victim) = victim else { return Pushed::Refused { envelope, why: Why::Full, full: first } };
        inner.evicted += 1;
        // It takes the place of one that was let in: a hold does not shrink for it.
        inner.hold = inner.hold.map(|left| left + 1);
        match inner.let_in(envelope, tag) {
            Pushed::Accepted { wake, high, .. } => {
                Pushed::Accepted { wake, lost: Some((victim, Loss::Evicted)), high, full: first }
            }
            refused => refused,
        }
    }

    /// As [`Lanes::push`], but a message that must wait for room does so in line; its ticket withdraws it.
    pub(crate) fn push_or_wait(&self, envelope: Envelope<T>, tag: Tag) -> Result<Pushed<T>, Ticket> {
        let mut inner = self.inner.lock();
        match self.push_into(&mut inner, envelope, tag) {
            Pushed::Refused { envelope, why: Why::Full | Why::HoldFull, .. }
                if self.overflow.makes_wait() =>
            {
                Err(inner.wait_in_line(envelope, tag))
            }
            pushed => Ok(pushed),
        }
    }

    /// Puts in something that the owner has ordered itself: it has its room beside the capacity.
    pub(crate) fn push_own(&self, envelope: Envelope<T>) -> Pushed<T> {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Pushed::refused(Why::Closed, envelope);
        }
        inner.pay(self.budget.as_deref(), true);
        inner.push_own(envelope)
    }

    /// Puts what was taken out, and has its room no more, to the front of its rank; gives it back if the lane has no ranks.
    pub(crate) fn put_back(&self, envelope: Envelope<T>, tag: Tag) -> Option<Envelope<T>> {
        let mut inner = self.inner.lock();
        inner.pay(self.budget.as_deref(), true);
        let Some(rich) = &mut inner.rich else { return Some(envelope) };
        match envelope.item.is_own() {
            true => rich.put_back_own(envelope),
            false => rich.put_back(envelope, tag),
        }
        None
    }

    /// Looks at what is queued, in the order in which it would be taken.
    pub(crate) fn look(&self, mut see: impl FnMut(&Envelope<T>)) {
        let inner = self.inner.lock();
        match &inner.rich {
            Some(rich) => rich.iter().for_each(&mut see),
            None => inner.user.iter().for_each(&mut see),
        }
    }

    /// Takes one queued item out of turn.
    pub(crate) fn pick(&self, id: MsgId) -> (Option<Envelope<T>>, Granted<T>) {
        let mut inner = self.inner.lock();
        let picked = match &mut inner.rich {
            Some(rich) => rich.pick(id),
            None => {
                let at = inner.user.iter().position(|envelope| envelope.id == id);
                at.and_then(|at| inner.user.remove(at))
            }
        };
        if inner.rich.is_none() {
            inner.own -= usize::from(picked.as_ref().is_some_and(|picked| picked.item.is_own()));
        }
        let granted = inner.grant(self);
        (picked, granted)
    }

    /// Marks an idle owner as scheduled, for work that lies elsewhere.
    pub(crate) fn nudge(&self) -> Nudged {
        let mut inner = self.inner.lock();
        if inner.closed || inner.paused {
            return Nudged::Unable;
        }
        if std::mem::replace(&mut inner.scheduled, true) { Nudged::Awake } else { Nudged::Woken }
    }

    /// Counts a message as accepted that the owner has taken from elsewhere.
    pub(crate) fn adopt(&self) {
        self.inner.lock().accepted += 1;
    }

    /// Is true while the owner is queued or runs (I1).
    pub(crate) fn is_scheduled(&self) -> bool {
        self.inner.lock().scheduled
    }
}
