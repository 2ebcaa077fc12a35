//! A mailbox: a system lane and a user lane behind one lock, generic in what they carry.
//!
//! It does not schedule: a push *returns* whether the owner was idle, and the caller schedules it. The same lock guards the
//! lanes and the `scheduled` flag, so no wake-up can be lost and no owner can be scheduled twice.
//!
//! ```text
//!   idle ──push──▶ scheduled ──finish() with nothing readable──▶ idle
//!                     └──────finish() with something readable──▶ scheduled (the caller queues it again)
//! ```
//! The user lane is a plain queue, or the `rich` one where the user has asked for an order of their own.
//! I1 `scheduled` is true exactly while the owner is queued or running.
//! I2 a paused user lane never makes the owner scheduled; the system lane always does.
//! I3 messages queued + room promised ≤ capacity, in each lane; what the owner has ordered is beside it.
//! I4 everything accepted is handed out once: by `take`, `close`, `give_up` or as the loser against a newer one.
//! I5 a push below `mark` needs no look at marks or memory.
//! It does not know what a message or a signal means.

pub(crate) mod budget;
pub(crate) mod order;
pub(crate) mod policy;
mod push;
mod queue;
mod reserve;
mod rich;
mod shut;

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use crate::id::MsgId;
use crate::sync::{AtomicUsize, Mutex, Ordering};
use crate::time::Instant;

use budget::Budget;
pub use order::Keep;
use order::Lane;
#[cfg(test)]
use order::Tag;
pub use policy::{Mailbox, OverflowStrategy};
use reserve::Reservations;
pub(crate) use reserve::{Closed, Ticket};
use rich::Rich;

/// Doublings above this depth are worth an event.
const HIGH_MARK: usize = 10_000;

/// Messages that a queue grows by, at least.
const GROWTH: usize = 4;

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

/// Why a message was not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// No room.
    Full,
    /// The restart hold has no room.
    HoldFull,
    /// The system's message memory has none.
    Memory,
    /// An equal message is queued, and stays.
    Duplicate,
    /// Closed for ever.
    Closed,
}

/// Why an accepted message had to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// A newer one needed its room.
    Evicted,
    /// A newer one with the same key has its place.
    Duplicate,
}

/// What became of a push into the user lane. `full`: it found the lane full for the first time since it was last below half.
#[derive(Debug)]
pub(crate) enum Pushed<T> {
    /// Taken in. `wake`: the owner was idle and is now marked scheduled; `high`: the depth, if it passed a mark.
    Accepted { wake: bool, lost: Option<(Envelope<T>, Loss)>, high: Option<usize>, full: bool },
    /// Not taken in.
    Refused { envelope: Envelope<T>, why: Why, full: bool },
}

impl<T> Pushed<T> {
    fn refused(why: Why, envelope: Envelope<T>) -> Self {
        Pushed::Refused { envelope, why, full: false }
    }
}

/// What room that has come leads to: to be carried out when the lock is free.
pub(crate) struct Granted<T> {
    /// The owner is to be scheduled.
    pub(crate) wake: bool,
    /// Those who have got what they waited for.
    pub(crate) wakers: Vec<Waker>,
    /// Accepted, and lost to one that had waited.
    pub(crate) lost: Vec<(Envelope<T>, Loss)>,
    /// Had waited, and were refused as duplicates.
    pub(crate) refused: Vec<Envelope<T>>,
}

impl<T> Default for Granted<T> {
    fn default() -> Self {
        Granted { wake: false, wakers: Vec::new(), lost: Vec::new(), refused: Vec::new() }
    }
}

impl<T> Granted<T> {
    pub(crate) fn is_nothing(&self) -> bool {
        !self.wake && self.wakers.is_empty() && self.lost.is_empty() && self.refused.is_empty()
    }

    fn add(&mut self, other: Granted<T>) {
        self.wake |= other.wake;
        self.wakers.extend(other.wakers);
        self.lost.extend(other.lost);
        self.refused.extend(other.refused);
    }
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
    budget: Option<Arc<Budget>>,
    /// False where the user lane is bounded or has an order of its own: every push then needs a closer look.
    plain: bool,
}

struct Inner<T, S> {
    /// The queue, unless there is a rich one.
    user: VecDeque<Envelope<T>>,
    rich: Option<Box<Rich<T>>>,
    /// How many of `user` are `own`.
    own: usize,
    system: VecDeque<S>,
    scheduled: bool,
    paused: bool,
    closed: bool,
    ended: bool,
    /// It has been full since it was last below half.
    was_full: bool,
    /// Its owner has failed for it since it was last below half.
    overflowed: bool,
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
    /// The depth at which a push needs a closer look: the next mark, or the end of the memory that is paid for.
    mark: usize,
    /// Bytes taken from the budget.
    paid: usize,
    reservations: Reservations<T>,
}

/// What the order of a mailbox needs besides the tags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrangement {
    /// There are ranks, a control lane, or keys.
    pub(crate) rich: bool,
    pub(crate) keep: Option<Keep>,
}

impl<T: Ordered, S> Lanes<T, S> {
    pub(crate) fn new(settings: Mailbox, arrangement: Arrangement, budget: &Arc<Budget>) -> Self {
        let capacity = settings.capacity();
        let rich = arrangement.rich.then(|| Box::new(Rich::new(capacity, arrangement.keep)));
        let mut inner = Inner {
            user: VecDeque::new(),
            rich,
            own: 0,
            system: VecDeque::new(),
            scheduled: false,
            paused: true,
            closed: false,
            ended: false,
            deaf: false,
            was_full: false,
            overflowed: false,
            hold: None,
            accepted: 0,
            evicted: 0,
            in_flight: 0,
            high: HIGH_MARK,
            mark: 0,
            paid: 0,
            reservations: Reservations::default(),
        };
        inner.set_mark(settings.is_budgeted());
        Lanes {
            inner: Mutex::new(inner),
            signals: AtomicUsize::new(0),
            capacity,
            overflow: settings.overflow(),
            budget: settings.is_budgeted().then(|| budget.clone()),
            plain: capacity.is_none() && !arrangement.rich,
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

    /// Is true if a sender may have to wait: there is a bound, or an order with a bounded control lane, or a budget.
    pub(crate) fn may_be_full(&self) -> bool {
        !self.plain || self.budget.is_some()
    }

    /// Puts a message into an unbounded, open lane: the way that nearly all messages take. Ok(true): schedule the owner.
    /// Gives the message back if anything asks for a closer look, which [`Lanes::push`] takes.
    #[inline]
    pub(crate) fn push_plain(&self, envelope: Envelope<T>) -> Result<bool, Envelope<T>> {
        let mut inner = self.inner.lock();
        if !self.plain || inner.closed || inner.hold.is_some() || inner.user.len() >= inner.mark {
            return Err(envelope);
        }
        inner.user.push_back(envelope);
        inner.accepted += 1;
        let wake = !inner.paused && !inner.scheduled;
        inner.scheduled |= wake;
        Ok(wake)
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

    /// Takes what an activation may handle: the whole lane into `batch` if it is plain and unbounded (one lock per batch);
    /// else one message, which makes room. Gives how many are left behind.
    pub(crate) fn take(&self, batch: &mut VecDeque<Envelope<T>>) -> (usize, Granted<T>) {
        let mut inner = self.inner.lock();
        if self.plain && batch.is_empty() {
            std::mem::swap(&mut inner.user, batch);
            inner.own = 0;
            let mut granted = Granted { wakers: self.slim(&mut inner), ..Granted::default() };
            if inner.reservations.is_waited_for() {
                granted.add(inner.grant(self));
            }
            return (0, granted);
        }
        if let Some(envelope) = inner.pop() {
            batch.push_back(envelope);
        }
        if self.capacity.is_some_and(|capacity| inner.occupied(Lane::Main) * 2 < capacity) {
            (inner.was_full, inner.overflowed) = (false, false);
        }
        let mut granted = inner.grant(self);
        if inner.len() == 0 {
            granted.wakers.extend(self.slim(&mut inner));
        }
        (inner.len(), granted)
    }

    /// Lets go of a drained queue that is too large to be kept for the next messages.
    fn slim(&self, inner: &mut Inner<T, S>) -> Vec<Waker> {
        let budget = self.budget.as_deref();
        let room = inner.room();
        let bytes = room * size_of::<Envelope<T>>();
        let mut wakers = Vec::new();
        if budget::is_too_large(bytes, budget) {
            inner.user = VecDeque::new();
            if let Some(rich) = &mut inner.rich {
                rich.room = 0;
            }
            wakers = inner.give_back(bytes, budget);
        }
        inner.set_mark(budget.is_some());
        wakers
    }

    /// Takes back the memory of an owner's emptied batch, if that is too large to be kept.
    pub(crate) fn slim_batch(&self, batch: &mut VecDeque<Envelope<T>>) {
        let bytes = batch.capacity() * size_of::<Envelope<T>>();
        if !budget::is_too_large(bytes, self.budget.as_deref()) {
            return;
        }
        *batch = VecDeque::new();
        let wakers = self.inner.lock().give_back(bytes, self.budget.as_deref());
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Is true if a signal waits.
    pub(crate) fn has_signals(&self) -> bool {
        // Ordering: Acquire, as in next_signal().
        self.signals.load(Ordering::Acquire) > 0
    }

    /// Counts the user messages queued here.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.inner.lock().len()
    }

    /// Gives queued, in flight, accepted ever, and the stamp of the oldest, in one look.
    pub(crate) fn gauge(&self) -> Gauge {
        let mut inner = self.inner.lock();
        let control = inner.rich.as_ref().map_or(0, |rich| rich.queued(Lane::Control));
        let waiting = inner.rich.as_ref().map_or(0, |rich| rich.waiting.messages());
        Gauge {
            queued: inner.len(),
            control,
            own: inner.len() - control - inner.queued(Lane::Main),
            in_line: waiting + inner.line(Lane::Main).messages(),
            in_flight: inner.in_flight,
            accepted: inner.accepted,
            evicted: inner.evicted,
            oldest: match &inner.rich {
                Some(rich) => rich.oldest(),
                None => inner.user.front().map(|envelope| envelope.at),
            },
        }
    }

    /// Ends an activation: true if the owner has something to do and stays scheduled; `more`: it holds a batch.
    pub(crate) fn finish(&self, more: bool) -> bool {
        let mut inner = self.inner.lock();
        let readable = !inner.paused && (more || inner.len() > 0);
        inner.scheduled = readable || !inner.system.is_empty();
        inner.scheduled
    }

    /// Stops or allows the reading of the user lane. To be called by the running owner only.
    pub(crate) fn pause(&self, paused: bool) {
        self.inner.lock().paused = paused;
    }

    /// Limits what may come in from now on to `hold` messages, or lifts the limit.
    pub(crate) fn hold(&self, hold: Option<usize>) -> Granted<T> {
        let mut inner = self.inner.lock();
        inner.hold = match (hold, self.capacity) {
            (Some(hold), Some(capacity)) => Some(hold.min(capacity)),
            (hold, _) => hold,
        };
        inner.grant(self)
    }

    /// Gives up what is queued, but for what the owner has ordered.
    pub(crate) fn give_up(&self) -> (VecDeque<Envelope<T>>, Granted<T>) {
        let mut inner = self.inner.lock();
        let given_up = match &mut inner.rich {
            Some(rich) => rich.drain(true),
            None => {
                let (own, others) = inner.user.drain(..).partition(|envelope| envelope.item.is_own());
                inner.user = own;
                others
            }
        };
        (inner.was_full, inner.overflowed) = (false, false);
        inner.set_mark(self.budget.is_some());
        (given_up, inner.grant(self))
    }

    /// Is true if the owner is to fail because its mailbox is full: once until that is below half.
    pub(crate) fn begin_overflow(&self) -> bool {
        !std::mem::replace(&mut self.inner.lock().overflowed, true)
    }

    /// Closes the user lane and gives what is left in it, and what waited for room in it; waiting senders are told.
    pub(crate) fn close(&self) -> VecDeque<Envelope<T>> {
        let (left, wakers) = {
            let mut inner = self.inner.lock();
            inner.closed = true;
            let mut wakers = inner.end_lines();
            let left = match inner.rich.take() {
                Some(mut rich) => rich.drain(false),
                None => std::mem::take(&mut inner.user),
            };
            inner.own = 0;
            let paid = inner.paid;
            wakers.extend(inner.give_back(paid, self.budget.as_deref()));
            (left, wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
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
    /// Of `queued`: in the control lane.
    pub(crate) control: usize,
    /// Of `queued`: ordered by the owner.
    pub(crate) own: usize,
    /// Messages of asks that wait for room, not among `queued`.
    pub(crate) in_line: usize,
    pub(crate) in_flight: usize,
    pub(crate) accepted: u64,
    pub(crate) evicted: u64,
    pub(crate) oldest: Option<Instant>,
}

#[cfg(test)]
mod tests;
