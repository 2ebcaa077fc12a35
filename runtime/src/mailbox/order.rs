//! In which order a mailbox is read, and which of two equal messages stays: functions of the user's message.
//!
//! The functions are called once per message, on the sender's side and outside of all locks; what they say travels with the
//! message as a [`Tag`], so the queue itself compares numbers only.

/// Says which of two messages with one key stays in the mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The one that is queued; the new one is dropped.
    First,
    /// The new one, in the place of the one that is queued.
    Last,
}

/// Gives a message's key, if it has one.
type KeyOf<M> = fn(&M) -> Option<u64>;

/// What a user has asked of the order.
pub(crate) struct Rules<M> {
    pub(crate) rank: Option<fn(&M) -> u8>,
    pub(crate) urgent: Option<fn(&M) -> bool>,
    pub(crate) key: Option<(Keep, KeyOf<M>)>,
}

impl<M> Rules<M> {
    /// Is true if nothing was asked: first in, first out.
    pub(crate) fn is_plain(&self) -> bool {
        self.rank.is_none() && self.urgent.is_none() && self.key.is_none()
    }

    /// Asks the user's functions about a message.
    pub(crate) fn tag(&self, message: &M) -> Tag {
        Tag {
            rank: self.rank.map_or(0, |rank| rank(message)),
            urgent: self.urgent.is_some_and(|urgent| urgent(message)),
            key: self.key.and_then(|(_, key)| key(message)),
        }
    }
}

impl<M> Clone for Rules<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Rules<M> {}

impl<M> Default for Rules<M> {
    fn default() -> Self {
        Rules { rank: None, urgent: None, key: None }
    }
}

/// What the rules say of one message; all zero where there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) rank: u8,
    pub(crate) urgent: bool,
    pub(crate) key: Option<u64>,
}

impl Tag {
    /// The tag of a message whose rules panicked: last of all, in the main lane, equal to none.
    pub(crate) const UNKNOWN: Tag = Tag { rank: u8::MAX, urgent: false, key: None };

    /// Gives the lane that the message belongs to.
    pub(crate) fn lane(self) -> Lane {
        if self.urgent { Lane::Control } else { Lane::Main }
    }
}

/// The two lanes of user messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lane {
    #[default]
    Main,
    /// Read first.
    Control,
}
