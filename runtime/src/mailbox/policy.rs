//! How large a mailbox is, and what happens when it is full: plain settings.

use std::num::NonZeroUsize;
use std::time::Duration;

/// Says what happens to a message that finds a bounded mailbox full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OverflowStrategy {
    /// A `send` or an ask waits for room; a `tell` is dropped and counted; a `try_tell` gives the message back.
    Backpressure,
    /// As Backpressure, but nobody waits longer than this.
    Timeout(Duration),
    /// The new message is dropped and counted; in a mailbox with priorities, the least urgent one.
    DropNew,
    /// The oldest queued message is dropped and counted, the new one taken; in a mailbox with priorities the oldest of the
    /// least urgent.
    DropOldest,
    /// A `tell` becomes a dead letter, a `try_tell` or `ask` says so at once.
    RejectToSender,
    /// The new message is dropped, and the receiver fails (kind Overflow), once until it is below half. A restart then gives
    /// its queue up; Resume keeps it.
    FailReceiver,
}

impl OverflowStrategy {
    /// Gives the name used in documents: `backpressure`, `timeout`, `drop_new`, `drop_oldest`, `reject_to_sender`,
    /// `fail_receiver`.
    pub fn name(self) -> &'static str {
        match self {
            OverflowStrategy::Backpressure => "backpressure",
            OverflowStrategy::Timeout(_) => "timeout",
            OverflowStrategy::DropNew => "drop_new",
            OverflowStrategy::DropOldest => "drop_oldest",
            OverflowStrategy::RejectToSender => "reject_to_sender",
            OverflowStrategy::FailReceiver => "fail_receiver",
        }
    }

    /// Finds the strategy with this [`name`](OverflowStrategy::name); `timeout` is not among them, for it needs a time.
    pub fn from_name(name: &str) -> Option<Self> {
        use OverflowStrategy::{Backpressure, DropNew, DropOldest, FailReceiver, RejectToSender};
        [Backpressure, DropNew, DropOldest, RejectToSender, FailReceiver]
            .into_iter()
            .find(|strategy| strategy.name() == name)
    }

    /// Is true if a `send` waits for room.
    pub fn makes_wait(self) -> bool {
        matches!(self, OverflowStrategy::Backpressure | OverflowStrategy::Timeout(_))
    }

    /// Gives how long a `send` waits at most, if that has a limit.
    pub(crate) fn patience(self) -> Option<Duration> {
        match self {
            OverflowStrategy::Timeout(d) => Some(d),
            _ => None,
        }
    }
}

/// The settings of an actor's mailbox. Its order is set beside it, where the type of the messages is known: see
/// [`Props::priority`](crate::actor::Props::priority), [`Props::control`](crate::actor::Props::control) and
/// [`Props::dedup`](crate::actor::Props::dedup).
///
/// # Examples
/// ```
/// use footlights::mailbox::{Mailbox, OverflowStrategy};
/// let small = Mailbox::bounded(64, OverflowStrategy::DropOldest);
/// assert_eq!(small.capacity(), Some(64));
/// assert_eq!(Mailbox::unbounded().capacity(), None);
/// assert!(Mailbox::default().is_budgeted());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mailbox {
    bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// The system's message memory, shared with all others of this kind.
    Budget,
    None,
    Messages(NonZeroUsize, OverflowStrategy),
}

impl Mailbox {
    /// Takes messages as long as the system's message memory has room
    /// ([`Builder::message_memory`](crate::system::Builder::message_memory)); the default.
    pub const fn budgeted() -> Self {
        Mailbox { bound: Bound::Budget }
    }

    /// Takes every message, outside the system's message memory; its growth shows in the depth, the age of the oldest
    /// message, and the event MailboxHigh.
    pub const fn unbounded() -> Self {
        Mailbox { bound: Bound::None }
    }

    /// Takes at most `capacity` messages, then does as `overflow` says. A capacity of 0 is taken as 1.
    pub fn bounded(capacity: usize, overflow: OverflowStrategy) -> Self {
        let capacity = NonZeroUsize::new(capacity).unwrap_or(NonZeroUsize::MIN);
        Mailbox { bound: Bound::Messages(capacity, overflow) }
    }

    /// Gives the bound, if it is a number of messages.
    pub fn capacity(&self) -> Option<usize> {
        match self.bound {
            Bound::Messages(capacity, _) => Some(capacity.get()),
            Bound::Budget | Bound::None => None,
        }
    }

    /// Gives what happens when it is full; `Backpressure` where there is no bound, for there a `send` waits for memory or
    /// for the end of a restart.
    pub fn overflow(&self) -> OverflowStrategy {
        match self.bound {
            Bound::Messages(_, overflow) => overflow,
            Bound::Budget | Bound::None => OverflowStrategy::Backpressure,
        }
    }

    /// Is true if it shares the system's message memory.
    pub fn is_budgeted(&self) -> bool {
        self.bound == Bound::Budget
    }
}

impl Default for Mailbox {
    fn default() -> Self {
        Mailbox::budgeted()
    }
}
