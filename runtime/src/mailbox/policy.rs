//! How large a mailbox is, and what happens when it is full: plain settings.

use std::num::NonZeroUsize;

/// Says what happens to a message that finds a bounded mailbox full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OverflowStrategy {
    /// A `send` waits for room; a `tell` is dropped and counted; a `try_tell` gives the message back.
    Backpressure,
    /// The new message is dropped and counted.
    DropNew,
    /// The oldest queued message is dropped and counted, the new one taken.
    DropOldest,
    /// A `tell` becomes a dead letter, a `try_tell` or `ask` says so at once.
    RejectToSender,
}

impl OverflowStrategy {
    /// Gives the name used in documents: `backpressure`, `drop_new`, `drop_oldest`, `reject_to_sender`.
    pub fn name(self) -> &'static str {
        match self {
            OverflowStrategy::Backpressure => "backpressure",
            OverflowStrategy::DropNew => "drop_new",
            OverflowStrategy::DropOldest => "drop_oldest",
            OverflowStrategy::RejectToSender => "reject_to_sender",
        }
    }

    /// Finds the strategy with this [`name`](OverflowStrategy::name).
    pub fn from_name(name: &str) -> Option<Self> {
        use OverflowStrategy::{Backpressure, DropNew, DropOldest, RejectToSender};
        [Backpressure, DropNew, DropOldest, RejectToSender]
            .into_iter()
            .find(|strategy| strategy.name() == name)
    }
}

/// The settings of an actor's mailbox.
///
/// # Examples
/// ```
/// use footlights::mailbox::{Mailbox, OverflowStrategy};
/// let small = Mailbox::bounded(64, OverflowStrategy::DropOldest);
/// assert_eq!(small.capacity(), Some(64));
/// assert_eq!(Mailbox::unbounded().capacity(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mailbox {
    bound: Option<(NonZeroUsize, OverflowStrategy)>,
}

impl Mailbox {
    /// Takes every message; its growth shows in the depth, the age of the oldest message, and the event MailboxHigh.
    pub const fn unbounded() -> Self {
        Mailbox { bound: None }
    }

    /// Takes at most `capacity` messages, then does as `overflow` says. A capacity of 0 is taken as 1.
    pub fn bounded(capacity: usize, overflow: OverflowStrategy) -> Self {
        Mailbox { bound: Some((NonZeroUsize::new(capacity).unwrap_or(NonZeroUsize::MIN), overflow)) }
    }

    /// Gives the bound, if there is one.
    pub fn capacity(&self) -> Option<usize> {
        self.bound.map(|(capacity, _)| capacity.get())
    }

    /// Gives what happens when it is full; meaningless, and `Backpressure`, where there is no bound.
    pub fn overflow(&self) -> OverflowStrategy {
        self.bound.map_or(OverflowStrategy::Backpressure, |(_, overflow)| overflow)
    }
}

impl Default for Mailbox {
    fn default() -> Self {
        Mailbox::unbounded()
    }
}
