//! Room promised to waiting senders, first come, first served.
//!
//! A sender holds a [`Ticket`]; when a message is taken out, the oldest waiting ticket is granted and its waker called.
//! I1 a granted ticket counts as occupied until it is used or given back.
//! I2 a ticket is granted, waiting, or unknown; giving an unknown one back does nothing.

use std::collections::{BTreeSet, VecDeque};
use std::task::{Poll, Waker};

use super::{Inner, Lanes};

/// A sender's place in the queue for room; 0 is "none yet".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

#[derive(Debug, Default)]
pub(super) struct Reservations {
    last: u64,
    granted: BTreeSet<u64>,
    waiting: VecDeque<(u64, Waker)>,
}

impl Reservations {
    pub(super) fn granted(&self) -> usize {
        self.granted.len()
    }

    pub(super) fn clear(&mut self) -> Vec<Waker> {
        self.granted.clear();
        self.waiting.drain(..).map(|(_, waker)| waker).collect()
    }
}

impl<T, S> Inner<T, S> {
    /// Is true if one more message would find room, in the bound and in a restart hold.
    fn has_room(&self, capacity: Option<usize>) -> bool {
        capacity.is_none_or(|capacity| self.occupied() < capacity)
            && self.hold.is_none_or(|left| self.reservations.granted() < left)
    }

    /// Grants room to waiting tickets while there is some.
    pub(super) fn grant(&mut self, capacity: Option<usize>) -> Vec<Waker> {
        let mut wakers = Vec::new();
        while self.has_room(capacity)
            && let Some((ticket, waker)) = self.reservations.waiting.pop_front()
        {
            self.reservations.granted.insert(ticket);
            wakers.push(waker);
        }
        wakers
    }
}

/// The mailbox was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed;

impl<T: super::Ordered, S> Lanes<T, S> {
    /// Asks for room: ready once `ticket` is granted. The caller then uses it with [`Lanes::push_granted`].
    pub(crate) fn poll_reserve(&self, ticket: &mut Ticket, waker: &Waker) -> Poll<Result<(), Closed>> {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Poll::Ready(Err(Closed));
        }
        if inner.reservations.granted.contains(&ticket.0) {
            return Poll::Ready(Ok(()));
        }
        if let Some((_, old)) = inner.reservations.waiting.iter_mut().find(|(id, _)| *id == ticket.0) {
            old.clone_from(waker);
            return Poll::Pending;
        }
        inner.reservations.last += 1;
        let id = inner.reservations.last;
        *ticket = Ticket(id);
        if inner.has_room(self.capacity) && inner.reservations.waiting.is_empty() {
            inner.reservations.granted.insert(id);
            return Poll::Ready(Ok(()));
        }
        inner.reservations.waiting.push_back((id, waker.clone()));
        Poll::Pending
    }

    /// Takes room now or not at all, for a message that arrives later.
    pub(crate) fn reserve_now(&self) -> Option<Ticket> {
        let mut inner = self.inner.lock();
        if inner.closed || !inner.has_room(self.capacity) || !inner.reservations.waiting.is_empty() {
            return None;
        }
        inner.reservations.last += 1;
        let id = inner.reservations.last;
        inner.reservations.granted.insert(id);
        Some(Ticket(id))
    }

    /// Gives back a ticket, used or not; an unused grant goes to the next in line.
    pub(crate) fn release(&self, ticket: Ticket) {
        let granted = {
            let mut inner = self.inner.lock();
            inner.reservations.granted.remove(&ticket.0);
            inner.reservations.waiting.retain(|(id, _)| *id != ticket.0);
            inner.grant(self.capacity)
        };
        granted.into_iter().for_each(|waker| waker.wake());
    }

    /// Puts an item into the room that `ticket` was granted.
    pub(crate) fn push_granted(&self, ticket: Ticket, envelope: super::Envelope<T>) -> super::Pushed<T> {
        let mut inner = self.inner.lock();
        if inner.closed {
            return super::Pushed::Closed(envelope);
        }
        inner.reservations.granted.remove(&ticket.0);
        inner.hold = inner.hold.map(|left| left.saturating_sub(1));
        inner.accept(envelope, None)
    }
}
