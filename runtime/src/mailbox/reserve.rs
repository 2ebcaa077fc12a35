//! Room promised to those who wait, first come, first served.
//!
//! A sender holds a [`Ticket`] for one or more messages; when room comes, it goes to the oldest in line, and a sender that has
//! all it asked for is woken. The message of an ask waits in line itself, and goes in where its room comes; what the owner has
//! ordered does so only to keep its place behind such a message.
//! I1 promised room counts as occupied until it is used or given back.
//! I2 a ticket is granted (wholly or in part), waiting, or unknown; giving an unknown one back does nothing.
//! I3 while somebody waits in a bounded lane, that lane has no room for others.

use std::collections::{BTreeMap, VecDeque};
use std::task::{Poll, Waker};

use super::order::{Lane, Tag};
use super::{Envelope, Granted, Inner, Lanes, Pushed};

/// A sender's place in the queue for room; 0 is "none yet".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticket {
    id: u64,
    lane: Lane,
}

pub(super) struct Reservations<T> {
    last: u64,
    granted: BTreeMap<u64, usize>,
    /// The sum of `granted`.
    promised: usize,
    waiting: VecDeque<Waiter<T>>,
}

struct Waiter<T> {
    id: u64,
    missing: usize,
    what: What<T>,
}

enum What<T> {
    Sender(Waker),
    Message(Envelope<T>, Tag),
    /// What the owner has ordered, and is due behind messages in line. It needs no room.
    Own(Envelope<T>),
}

impl<T> Default for Reservations<T> {
    fn default() -> Self {
        Reservations { last: 0, granted: BTreeMap::new(), promised: 0, waiting: VecDeque::new() }
    }
}

impl<T> Reservations<T> {
    pub(super) fn promised(&self) -> usize {
        self.promised
    }

    pub(super) fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Counts the messages that wait in line themselves.
    pub(super) fn messages(&self) -> usize {
        self.waiting.iter().filter(|waiter| !matches!(waiter.what, What::Sender(_))).count()
    }

    /// Ends all promises; gives the waiting messages, and those who are to be woken.
    pub(super) fn clear(&mut self) -> (Vec<Envelope<T>>, Vec<Waker>) {
        self.granted.clear();
        self.promised = 0;
        let (mut messages, mut wakers) = (Vec::new(), Vec::new());
        for waiter in self.waiting.drain(..) {
            match waiter.what {
                What::Sender(waker) => wakers.push(waker),
                What::Message(envelope, _) | What::Own(envelope) => messages.push(envelope),
            }
        }
        (messages, wakers)
    }

    /// Says whether the first in line needs room; `None` if nobody waits.
    fn next_needs_room(&self) -> Option<bool> {
        self.waiting.front().map(|first| !matches!(first.what, What::Own(_)))
    }

    fn next_id(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn wait(&mut self, missing: usize, what: What<T>) -> u64 {
        let id = self.next_id();
        self.waiting.push_back(Waiter { id, missing, what });
        id
    }

    fn promise(&mut self, id: u64) {
        *self.granted.entry(id).or_default() += 1;
        self.promised += 1;
    }

    /// Uses one message's room of a ticket.
    fn spend(&mut self, id: u64) {
        if let Some(left) = self.granted.get_mut(&id) {
            *left -= 1;
            self.promised -= 1;
            if *left == 0 {
                self.granted.remove(&id);
            }
        }
    }

    fn forget(&mut self, id: u64) -> Option<Envelope<T>> {
        self.promised -= self.granted.remove(&id).unwrap_or(0);
        let at = self.waiting.iter().position(|waiter| waiter.id == id)?;
        match self.waiting.remove(at)?.what {
            What::Message(envelope, _) => Some(envelope),
            What::Sender(_) | What::Own(_) => None,
        }
    }
}

/// The mailbox was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed;

impl<T: super::Ordered, S> Inner<T, S> {
    pub(super) fn line(&mut self, lane: Lane) -> &mut Reservations<T> {
        match (lane, &mut self.rich) {
            (Lane::Control, Some(rich)) => &mut rich.waiting,
            _ => &mut self.reservations,
        }
    }

    /// Grants room to those who wait while there is some.
    pub(super) fn grant(&mut self, lanes: &Lanes<T, S>) -> Granted<T> {
        let mut granted = Granted::default();
        self.grant_in(Lane::Main, lanes, &mut granted);
        if self.rich.is_some() {
            self.grant_in(Lane::Control, lanes, &mut granted);
        }
        granted
    }

    fn grant_in(&mut self, lane: Lane, lanes: &Lanes<T, S>, granted: &mut Granted<T>) {
        while let Some(needs_room) = self.line(lane).next_needs_room() {
            if needs_room && !self.has_room(lane, lanes) {
                return;
            }
            let line = self.line(lane);
            let Some(mut first) = line.waiting.pop_front() else { return };
            match first.what {
                What::Own(envelope) => granted.wake |= self.let_own_in(envelope),
                What::Message(envelope, tag) => match self.let_in(envelope, tag) {
                    Pushed::Accepted { wake, lost, .. } => {
                        granted.wake |= wake;
                        granted.lost.extend(lost);
                    }
                    Pushed::Refused { envelope, .. } => granted.refused.push(envelope),
                },
                What::Sender(waker) => {
                    line.promise(first.id);
                    first.missing -= 1;
                    match first.missing {
                        0 => granted.wakers.push(waker),
                        missing => {
                            let what = What::Sender(waker);
                            line.waiting.push_front(Waiter { id: first.id, missing, what });
                        }
                    }
                }
            }
        }
    }

    /// Ends all waits for room: what waits in line itself is let in; gives those who are to be woken.
    pub(super) fn end_lines(&mut self) -> Vec<Waker> {
        let (mut messages, mut wakers) = self.reservations.clear();
        if let Some(rich) = &mut self.rich {
            let (more, woken) = rich.waiting.clear();
            messages.extend(more);
            wakers.extend(woken);
        }
        self.accepted += messages.len() as u64;
        for envelope in messages {
            match (&mut self.rich, envelope.item.is_own()) {
                (Some(rich), true) => rich.push_own(envelope),
                (Some(rich), false) => rich.push(envelope, Tag::default()),
                (None, own) => {
                    self.own += usize::from(own);
                    self.user.push_back(envelope);
                }
            }
        }
        wakers
    }

    /// Puts what the owner has ordered behind the messages in line, if there are some; else it goes in at once. True: wake the
    /// owner.
    pub(super) fn push_own(&mut self, envelope: Envelope<T>) -> Pushed<T> {
        if self.reservations.messages() > 0 {
            self.reservations.wait(0, What::Own(envelope));
            return Pushed::Accepted { wake: false, lost: None, high: None, full: false };
        }
        let wake = self.let_own_in(envelope);
        Pushed::Accepted { wake, lost: None, high: None, full: false }
    }

    fn let_own_in(&mut self, envelope: Envelope<T>) -> bool {
        match &mut self.rich {
            Some(rich) => rich.push_own(envelope),
            None => {
                self.own += usize::from(envelope.item.is_own());
                self.user.push_back(envelope);
            }
        }
        matches!(self.note_accepted(None), Pushed::Accepted { wake: true, .. })
    }

    /// Puts a message into the line for room.
    pub(super) fn wait_in_line(&mut self, envelope: Envelope<T>, tag: Tag) -> Ticket {
        let lane = tag.lane();
        Ticket { id: self.line(lane).wait(1, What::Message(envelope, tag)), lane }
    }
}

impl<T: super::Ordered, S> Lanes<T, S> {
    /// Asks for room for `n` messages in a lane: ready once `ticket` has all of it. The caller then uses it with
    /// [`Lanes::push_granted`].
    pub(crate) fn poll_reserve(
        &self,
        ticket: &mut Ticket,
        lane: Lane,
        n: usize,
        waker: &Waker,
    ) -> (Poll<Result<(), Closed>>, Granted<T>) {
        let mut inner = self.inner.lock();
        if inner.closed {
            return (Poll::Ready(Err(Closed)), Granted::default());
        }
        if ticket.id == 0 {
            let what = What::Sender(Waker::noop().clone());
            *ticket = Ticket { id: inner.line(lane).wait(n, what), lane };
            if n == 0 {
                inner.line(lane).forget(ticket.id);
            }
        }
        let mut granted = inner.grant(self);
        for again in [true, false] {
            let waiting = inner.line(lane).waiting.iter_mut().find(|waiter| waiter.id == ticket.id);
            let Some(Waiter { what: What::Sender(known), .. }) = waiting else {
                return (Poll::Ready(Ok(())), granted);
            };
            known.clone_from(waker);
            if let (true, Some(budget)) = (again, &self.budget) {
                budget.wait(waker); // and look again: memory may have come back before this
                granted.add(inner.grant(self));
            }
        }
        (Poll::Pending, granted)
    }

    /// Takes room now or not at all, for a message that arrives later.
    pub(crate) fn reserve_now(&self, lane: Lane) -> Option<Ticket> {
        let mut inner = self.inner.lock();
        if inner.closed || inner.line(lane).is_waited_for() || !inner.has_room(lane, self) {
            return None;
        }
        let line = inner.line(lane);
        let id = line.next_id();
        line.promise(id);
        Some(Ticket { id, lane })
    }

    /// Gives back a ticket, used or not, and the message that waited by it; what it had goes to the next in line.
    pub(crate) fn release(&self, ticket: Ticket) -> (Option<Envelope<T>>, Granted<T>) {
        let mut inner = self.inner.lock();
        let withdrawn = inner.line(ticket.lane).forget(ticket.id);
        let granted = inner.grant(self);
        (withdrawn, granted)
    }

    /// Puts an item into the room that `ticket` was granted.
    pub(crate) fn push_granted(&self, ticket: Ticket, envelope: Envelope<T>, tag: Tag) -> Pushed<T> {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Pushed::refused(super::Why::Closed, envelope);
        }
        inner.line(ticket.lane).spend(ticket.id);
        inner.pay(self.budget.as_deref(), true);
        inner.let_in(envelope, Tag { urgent: ticket.lane == Lane::Control, ..tag })
    }
}
