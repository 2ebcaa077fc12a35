//! What lies under a mailbox's lock: the queue, plain or rich, its room, and the memory it has paid for.

use std::task::Waker;

use super::budget::Budget;
use super::order::{Lane, Tag};
use super::rich::Twin;
use super::{Envelope, GROWTH, Inner, Lanes, Loss, Ordered, Pushed, Why};

impl<T: Ordered, S> Inner<T, S> {
    pub(super) fn len(&self) -> usize {
        self.rich.as_ref().map_or(self.user.len(), |rich| rich.len())
    }

    /// Counts the messages of one lane that need room in it.
    pub(super) fn queued(&self, lane: Lane) -> usize {
        match &self.rich {
            Some(rich) => rich.queued(lane),
            None => self.user.len() - self.own,
        }
    }

    pub(super) fn occupied(&mut self, lane: Lane) -> usize {
        self.queued(lane) + self.line(lane).promised()
    }

    pub(super) fn is_full(&mut self, lane: Lane, capacity: Option<usize>) -> bool {
        let capacity = match (lane, &self.rich) {
            (Lane::Control, Some(rich)) => Some(rich.control_capacity),
            _ => capacity,
        };
        capacity.is_some_and(|capacity| self.occupied(lane) >= capacity)
    }

    /// Is true if one more message would find room: in the bound, in a restart hold, and in memory, which is then paid for.
    pub(super) fn has_room(&mut self, lane: Lane, lanes: &Lanes<T, S>) -> bool {
        let promised = self.line(lane).promised();
        !self.is_full(lane, lanes.capacity)
            && self.hold.is_none_or(|left| promised < left)
            && self.pay(lanes.budget.as_deref(), false)
    }

    pub(super) fn pop(&mut self) -> Option<Envelope<T>> {
        if let Some(rich) = &mut self.rich {
            return rich.pop();
        }
        let envelope = self.user.pop_front()?;
        self.own -= usize::from(envelope.item.is_own());
        Some(envelope)
    }

    /// Takes out the one that has to go for a newcomer, if there is one that may.
    pub(super) fn evict(&mut self, newcomer: Tag, oldest: bool) -> Option<Envelope<T>> {
        if let Some(rich) = &mut self.rich {
            return rich.evict(newcomer, oldest);
        }
        let first = self.user.iter().position(|queued| !queued.item.is_own()).filter(|_| oldest)?;
        self.user.remove(first)
    }

    /// Lets a key decide, where there are keys; gives the message on if it has no equal in the queue.
    pub(super) fn meet_twin(&mut self, envelope: Envelope<T>, tag: Tag) -> Result<Envelope<T>, Pushed<T>> {
        let Some(rich) = &mut self.rich else { return Ok(envelope) };
        match rich.meet_twin(envelope, tag) {
            Twin::None(envelope) => Ok(envelope),
            Twin::Refused(envelope) => Err(Pushed::refused(Why::Duplicate, envelope)),
            Twin::Replaced(old) => {
                self.evicted += 1;
                Err(self.note_accepted(Some((old, Loss::Duplicate))))
            }
        }
    }

    /// Puts in a message that has its room.
    pub(super) fn let_in(&mut self, envelope: Envelope<T>, tag: Tag) -> Pushed<T> {
        let envelope = match self.meet_twin(envelope, tag) {
            Ok(envelope) => envelope,
            Err(pushed) => return pushed,
        };
        self.hold = self.hold.map(|left| left.saturating_sub(1));
        match &mut self.rich {
            Some(rich) => rich.push(envelope, tag),
            None => self.user.push_back(envelope),
        }
        self.note_accepted(None)
    }

    /// Counts a message that was put in.
    pub(super) fn note_accepted(&mut self, lost: Option<(Envelope<T>, Loss)>) -> Pushed<T> {
        self.accepted += 1;
        let depth = self.len();
        let high = (depth >= self.high).then(|| {
            self.high *= 2;
            depth
        });
        let budgeted = self.paid > 0;
        self.set_mark(budgeted);
        let wake = !self.paused && !self.scheduled;
        self.scheduled |= wake;
        Pushed::Accepted { wake, lost, high, full: false }
    }

    // --- memory ---

    /// Gives how many messages the memory of the queue is good for.
    pub(super) fn room(&self) -> usize {
        self.rich.as_ref().map_or(self.user.capacity(), |rich| rich.room)
    }

    pub(super) fn set_mark(&mut self, budgeted: bool) {
        let room = if budgeted { self.room() } else { usize::MAX };
        self.mark = room.min(self.high - 1);
    }

    /// Sees to memory for one more message; false if the budget has none. `anyway`: takes it beyond the limit.
    pub(super) fn pay(&mut self, budget: Option<&Budget>, anyway: bool) -> bool {
        let (Some(budget), room) = (budget, self.room()) else { return true };
        if self.len() < room {
            return true;
        }
        let size = size_of::<Envelope<T>>();
        let bytes = match budget.take(GROWTH * size, room.max(GROWTH) * size) {
            Some(bytes) => bytes,
            None if anyway => {
                budget.overdraw(GROWTH * size);
                GROWTH * size
            }
            None => return false,
        };
        let grown = self.len().max(room) + bytes / size;
        self.paid += bytes;
        match &mut self.rich {
            Some(rich) => rich.room = grown,
            None => self.user.reserve_exact(grown - self.user.len()),
        }
        self.set_mark(true);
        true
    }

    /// Gives memory back to the budget; gives those who wait for some.
    pub(super) fn give_back(&mut self, bytes: usize, budget: Option<&Budget>) -> Vec<Waker> {
        let Some(budget) = budget else { return Vec::new() };
        let bytes = bytes.min(self.paid);
        self.paid -= bytes;
        budget.give(bytes)
    }
}
