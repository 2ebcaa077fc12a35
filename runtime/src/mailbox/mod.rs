//! A mailbox: a system lane and a user lane behind one lock, generic in what they carry.
//!
//! It does not schedule: a push *returns* whether the owner was idle, and the caller schedules it. The same lock guards the
//! lanes and the `scheduled` flag, so no wake-up can be lost and no owner can be scheduled twice.
//!
//! ```text
//!   idle ──push──▶ scheduled ──finish() with nothing readable──▶ idle
//!                     └──────finish() with something readable──▶ scheduled (the caller queues it again)
//! ```
//! I1 `scheduled` is true exactly while the owner is queued or running.
//! I2 a paused user lane never makes the owner scheduled; the system lane always does.
//! I3 `len(user) − own + reserved ≤ capacity`; `own` items have their room from their order on.
//! I4 everything accepted is handed out once: by `take`, `close` or as the victim of a push.
//! It does not know what a message or a signal means.

pub(crate) mod policy;
mod reserve;
mod shut;

use std::collections::VecDeque;

use crate::id::MsgId;
use crate::sync::{AtomicUsize, Mutex, Ordering};
use crate::time::Instant;

pub use policy::{Mailbox, OverflowStrategy};
use reserve::Reservations;
pub(crate) use reserve::Ticket;

/// Doublings above this depth are worth an event.
const HIGH_MARK: usize = 10_000;

/// One queued item with its stamps.
#[derive(Debug)]
pub(crate) struct Envelope<T> {
    pub(crate) item: T,
    pub(crate) id: MsgId,
    pub(crate) at: Instant,
}

impl<T> Envelope<T> {
    /// Gives the message's number and the time it was stamped with.
    pub(crate) fn stamp(&self) -> (MsgId, Instant) {
        (self.id, self.at)
    }
}

/// Says of an item whether the owner of the mailbox has ordered it itself: it then has its room beside the capacity, and
/// may not be evicted.
pub(crate) trait Ordered {
    fn is_own(&self) -> bool;
}

/// What became of a push into the user lane.
#[derive(Debug)]
pub(crate) enum Pushed<T> {
    /// Taken in. `wake`: the owner was idle and is now marked scheduled; `evicted`: the oldest had to go for it;
    /// `high`: the depth, if it passed a mark.
    Accepted { wake: bool, evicted: Option<Envelope<T>>, high: Option<usize> },
    /// No room.
    Full(Envelope<T>),
    /// The restart hold has no room.
    HoldFull(Envelope<T>),
    /// Closed for ever.
    Closed(Envelope<T>),
}

/// What became of the wish to wake an owner that has nothing in its own lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nudged {
    /// It was idle and is now marked scheduled: the caller schedules it.
    Woken,
    /// It is queued or running.
    Awake,
    /// It could not read a message now.
    Unable,
}

/// Two lanes; `T` is the user item, `S` the system signal.
pub(crate) struct Lanes<T, S> {
    inner: Mutex<Inner<T, S>>,
    signals: AtomicUsize,
    capacity: Option<usize>,
    overflow: OverflowStrategy,
}

struct Inner<T, S> {
    user: VecDeque<Envelope<T>>,
    /// How many of `user` are `own`.
    own: usize,
    system: VecDeque<S>,
    scheduled: bool,
    paused: bool,
    closed: bool,
    ended: bool,
    /// The system lane refuses what comes, though its owner has not ended.
    deaf: bool,
    /// Messages that may still come in while the owner waits for its restart.
    hold: Option<usize>,
    accepted: u64,
    /// Accepted, and pushed out by a newer one.
    evicted: u64,
    /// Accepted, but on their way: not visible yet.
    in_flight: usize,
    high: usize,
    reservations: Reservations,
}

impl<T: Ordered, S> Lanes<T, S> {
    pub(crate) fn new(settings: Mailbox) -> Self {
        Lanes {
            inner: Mutex::new(Inner {
                user: VecDeque::new(),
                own: 0,
                system: VecDeque::new(),
                scheduled: false,
                paused: true,
                closed: false,
                ended: false,
                deaf: false,
                hold: None,
                accepted: 0,
                evicted: 0,
                in_flight: 0,
                high: HIGH_MARK,
                reservations: Reservations::default(),
            }),
            signals: AtomicUsize::new(0),
            capacity: settings.capacity(),
            overflow: settings.overflow(),
        }
    }

    /// Gives the bound of the user lane, if it has one.
    pub(crate) fn capacity(&self) -> Option<usize> {
        self.capacity
    }

    /// Gives what happens when the user lane is full.
    pub(crate) fn overflow(&self) -> OverflowStrategy {
        self.overflow
    }

    /// Puts a message into an unbounded, open lane: the way that nearly all messages take. Ok(true): schedule the owner.
    /// Gives the message back if anything asks for a closer look, which [`Lanes::push`] takes.
    #[inline]
    pub(crate) fn push_plain(&self, envelope: Envelope<T>) -> Result<bool, Envelope<T>> {
        let mut inner = self.inner.lock();
        if self.capacity.is_some()
            || inner.closed
            || inner.hold.is_some()
            || inner.user.len() + 1 >= inner.high
        {
            return Err(envelope);
        }
        inner.user.push_back(envelope);
        inner.accepted += 1;
        let wake = !inner.paused && !inner.scheduled;
        inner.scheduled |= wake;
        Ok(wake)
    }

    /// Puts a message into the user lane, subject to bound and hold.
    pub(crate) fn push(&self, envelope: Envelope<T>) -> Pushed<T> {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Pushed::Closed(envelope);
        }
        if inner.hold.is_some_and(|left| left <= inner.reservations.granted()) {
            return Pushed::HoldFull(envelope);
        }
        let full = self.capacity.is_some_and(|capacity| inner.occupied() >= capacity);
        if !full {
            inner.hold = inner.hold.map(|left| left - 1);
            return inner.accept(envelope, None);
        }
        let oldest = match self.overflow {
            OverflowStrategy::DropOldest => inner.user.iter().position(|queued| !queued.item.is_own()),
            _ => None,
        };
        match oldest {
            Some(oldest) => {
                let evicted = inner.user.remove(oldest);
                inner.evicted += 1;
                inner.accept(envelope, evicted)
            }
            None => Pushed::Full(envelope),
        }
    }

    /// Puts in something that the owner has ordered itself: it has its room beside the capacity.
    pub(crate) fn push_own(&self, envelope: Envelope<T>) -> Pushed<T> {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Pushed::Closed(envelope);
        }
        inner.own += usize::from(envelope.item.is_own());
        inner.accept(envelope, None)
    }

    /// Counts a message that is accepted now and pushed when it becomes visible.
    pub(crate) fn depart(&self) {
        self.inner.lock().in_flight += 1;
    }

    /// Takes back one [`Lanes::depart`], just before its message is pushed; true if the owner has ended since.
    pub(crate) fn arrive(&self) -> bool {
        let mut inner = self.inner.lock();
        inner.in_flight -= 1;
        inner.ended
    }

    /// Puts a signal into the system lane; `Err` gives it back if the owner has ended. Ok(true): schedule the owner.
    pub(crate) fn signal(&self, signal: S) -> Result<bool, S> {
        let mut inner = self.inner.lock();
        if inner.ended || inner.deaf {
            return Err(signal);
        }
        inner.system.push_back(signal);
        // Ordering: Release, pairs with the Acquire in next_signal().
        self.signals.store(inner.system.len(), Ordering::Release);
        Ok(!std::mem::replace(&mut inner.scheduled, true))
    }

    /// Takes the next signal; costs one load if there is none.
    pub(crate) fn next_signal(&self) -> Option<S> {
        // Ordering: Acquire, pairs with the Release in signal(). A miss is no loss: finish() looks under the lock.
        if self.signals.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut inner = self.inner.lock();
        let signal = inner.system.pop_front();
        self.signals.store(inner.system.len(), Ordering::Release);
        signal
    }

    /// Takes what an activation may handle: the whole lane into `batch` if it is unbounded (one lock per batch); else one
    /// message, which makes room. Gives how many are left behind.
    pub(crate) fn take(&self, batch: &mut VecDeque<Envelope<T>>) -> usize {
        let mut inner = self.inner.lock();
        if self.capacity.is_none() && batch.is_empty() {
            std::mem::swap(&mut inner.user, batch);
            inner.own = 0;
            return 0;
        }
        if let Some(envelope) = inner.user.pop_front() {
            inner.own -= usize::from(envelope.item.is_own());
            batch.push_back(envelope);
        }
        let (left, granted) = (inner.user.len(), inner.grant(self.capacity));
        drop(inner);
        granted.into_iter().for_each(|waker| waker.wake());
        left
    }

    /// Is true if a signal waits.
    pub(crate) fn has_signals(&self) -> bool {
        // Ordering: Acquire, as in next_signal().
        self.signals.load(Ordering::Acquire) > 0
    }

    /// Looks at what is queued, in the order in which it would be taken.
    pub(crate) fn look(&self, mut see: impl FnMut(&Envelope<T>)) {
        self.inner.lock().user.iter().for_each(&mut see);
    }

    /// Takes one queued item out of turn.
    pub(crate) fn pick(&self, id: MsgId) -> Option<Envelope<T>> {
        let mut inner = self.inner.lock();
        let at = inner.user.iter().position(|envelope| envelope.id == id)?;
        let picked = inner.user.remove(at)?;
        inner.own -= usize::from(picked.item.is_own());
        let granted = inner.grant(self.capacity);
        drop(inner);
        granted.into_iter().for_each(|waker| waker.wake());
        Some(picked)
    }

    /// Counts the user messages queued here.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.inner.lock().user.len()
    }

    /// Gives queued, in flight, accepted ever, and the stamp of the oldest, in one look.
    pub(crate) fn gauge(&self) -> Gauge {
        let inner = self.inner.lock();
        Gauge {
            queued: inner.user.len(),
            in_flight: inner.in_flight,
            accepted: inner.accepted,
            evicted: inner.evicted,
            oldest: inner.user.front().map(|envelope| envelope.at),
        }
    }

    /// Ends an activation: true if the owner has something to do and stays scheduled; `more`: it holds a batch.
    pub(crate) fn finish(&self, more: bool) -> bool {
        let mut inner = self.inner.lock();
        let readable = !inner.paused && (more || !inner.user.is_empty());
        inner.scheduled = readable || !inner.system.is_empty();
        inner.scheduled
    }

    /// Marks an idle owner as scheduled, for work that lies elsewhere.
    pub(crate) fn nudge(&self) -> Nudged {
        let mut inner = self.inner.lock();
        if inner.closed || inner.paused {
            return Nudged::Unable;
        }
        if std::mem::replace(&mut inner.scheduled, true) { Nudged::Awake } else { Nudged::Woken }
    }

    /// Is true while the owner is queued or runs (I1).
    pub(crate) fn is_scheduled(&self) -> bool {
        self.inner.lock().scheduled
    }

    /// Counts a message as accepted that the owner has taken from elsewhere.
    pub(crate) fn adopt(&self) {
        self.inner.lock().accepted += 1;
    }

    /// Stops or allows the reading of the user lane. To be called by the running owner only.
    pub(crate) fn pause(&self, paused: bool) {
        self.inner.lock().paused = paused;
    }

    /// Limits what may come in from now on to `hold` messages, or lifts the limit.
    pub(crate) fn hold(&self, hold: Option<usize>) {
        let granted = {
            let mut inner = self.inner.lock();
            inner.hold = hold;
            inner.grant(self.capacity)
        };
        granted.into_iter().for_each(|waker| waker.wake());
    }

    /// Closes the user lane and gives what is left in it; waiting senders are told.
    pub(crate) fn close(&self) -> VecDeque<Envelope<T>> {
        let (left, waiters) = {
            let mut inner = self.inner.lock();
            inner.closed = true;
            inner.own = 0;
            (std::mem::take(&mut inner.user), inner.reservations.clear())
        };
        waiters.into_iter().for_each(|waker| waker.wake());
        left
    }

    /// Is true once the user lane is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.inner.lock().closed
    }

    /// Closes the system lane too, and gives the signals that nobody will handle.
    pub(crate) fn end(&self) -> VecDeque<S> {
        let mut inner = self.inner.lock();
        inner.ended = true;
        self.signals.store(0, Ordering::Release);
        std::mem::take(&mut inner.system)
    }
}

/// What a mailbox holds at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauge {
    pub(crate) queued: usize,
    pub(crate) in_flight: usize,
    pub(crate) accepted: u64,
    pub(crate) evicted: u64,
    pub(crate) oldest: Option<Instant>,
}

impl<T, S> Inner<T, S> {
    fn occupied(&self) -> usize {
        self.user.len() - self.own + self.reservations.granted()
    }

    fn accept(&mut self, envelope: Envelope<T>, evicted: Option<Envelope<T>>) -> Pushed<T> {
        self.user.push_back(envelope);
        self.accepted += 1;
        let high = (self.user.len() >= self.high).then(|| {
            self.high *= 2;
            self.user.len()
        });
        let wake = !self.paused && !self.scheduled;
        self.scheduled |= wake;
        Pushed::Accepted { wake, evicted, high }
    }
}

#[cfg(test)]
mod tests;
