//! The conservation ledger: every accepted message has exactly one fate, and the sums prove it.
//!
//! `sent = handled + queued + stashed + failed + dead_lettered + dropped`, and for asks
//! `asks = replied + timed_out + failed + cancelled + pending`. It is on screen and the main oracle of tests.
//!
//! I1 `refused` and `late_replies` are outside the sums; `unhandled` is a part of `handled`.
//! I2 sums are made in 128 bits and counts saturate: a ledger never looks balanced because something wrapped.
//! It counts nothing itself: whoever moves a message does.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use crate::code::codes;

codes! {
    /// Says why a message became a dead letter.
    pub enum DeadLetterReason {
        /// The actor was stopping or stopped.
        Closed = 0, "closed";
        /// Nobody has ever had this name.
        NoSuchActor = 1, "no such actor";
        /// The router had no routee.
        NoRoutee = 2, "no routee";
        /// The consistent-hash router got no key for it.
        NoKey = 3, "no key";
        /// It was still queued or stashed when the actor stopped.
        StoppedWithMail = 4, "stopped with mail";
        /// It was the result of an ask or task of an earlier incarnation.
        StaleIncarnation = 5, "stale incarnation";
        /// The full mailbox rejects to the sender.
        Rejected = 6, "rejected";
        /// The adapter of the receiver panicked on it.
        AdapterFailed = 7, "adapter failed";
        /// The queue was given up by a restart after an overflow.
        Overflow = 8, "overflow";
        /// The restart discards the mailbox, as OTP does.
        Discarded = 9, "discarded";
    }
}

codes! {
    /// Says why a message was dropped.
    pub enum DropReason {
        /// The mailbox was full.
        MailboxFull = 0, "mailbox full";
        /// It was the oldest when a newer message needed the room.
        Evicted = 1, "evicted";
        /// No room was found in time.
        Timeout = 2, "timeout";
        /// An equal message was queued.
        Duplicate = 3, "duplicate";
        /// The stash was full.
        StashFull = 4, "stash full";
        /// The hold of a restarting actor was full.
        HoldFull = 5, "hold full";
        /// It was the tick of a timer that is cancelled, replaced or ended.
        StaleTimer = 6, "stale timer";
        /// It was the notice of a watch that was withdrawn.
        Unwatched = 7, "unwatched";
        /// The system's message memory was used up.
        MemoryBudget = 8, "memory budget";
        /// A fault was injected.
        FaultInjected = 9, "fault injected";
        /// It was sent by, or left in, an actor that was forced to stop.
        Abandoned = 10, "abandoned";
    }
}

/// Counts the fates of user messages.
///
/// # Examples
/// ```
/// use footlights::observe::Ledger;
/// let mut ledger = Ledger { sent: 3, handled: 2, queued: 1, ..Ledger::default() };
/// assert!(ledger.balanced());
/// ledger.sent += 1;
/// assert_eq!(ledger.difference(), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Ledger {
    /// Taken in by any door.
    pub sent: u64,
    /// `receive` returned Ok.
    pub handled: u64,
    /// In a lane, hold or outbox, not yet visible, or in hand.
    pub queued: u64,
    /// In a stash.
    pub stashed: u64,
    /// `receive` failed on it.
    pub failed: u64,
    /// Became a dead letter.
    pub dead_lettered: u64,
    /// Dropped, with a reason.
    pub dropped: u64,
    /// Outside the sum: handed back to the caller.
    pub refused: u64,
    /// Part of `handled`: the actor said that it has no use for it.
    #[cfg_attr(feature = "scenario", serde(default))]
    pub unhandled: u64,
}

impl Ledger {
    /// Tells whether every message that was sent has exactly one fate.
    pub fn balanced(&self) -> bool {
        self.difference() == 0
    }

    /// Gives sent minus all fates: above 0 messages are missing, below 0 some have two fates.
    pub fn difference(&self) -> i128 {
        let fates = [self.handled, self.queued, self.stashed, self.failed, self.dead_lettered, self.dropped];
        i128::from(self.sent) - fates.into_iter().map(i128::from).sum::<i128>()
    }
}

impl Add for Ledger {
    type Output = Ledger;
    fn add(self, other: Ledger) -> Ledger {
        Ledger {
            sent: self.sent.saturating_add(other.sent),
            handled: self.handled.saturating_add(other.handled),
            queued: self.queued.saturating_add(other.queued),
            stashed: self.stashed.saturating_add(other.stashed),
            failed: self.failed.saturating_add(other.failed),
            dead_lettered: self.dead_lettered.saturating_add(other.dead_lettered),
            dropped: self.dropped.saturating_add(other.dropped),
            refused: self.refused.saturating_add(other.refused),
            unhandled: self.unhandled.saturating_add(other.unhandled),
        }
    }
}

impl AddAssign for Ledger {
    fn add_assign(&mut self, other: Ledger) {
        *self = *self + other;
    }
}

impl Sum for Ledger {
    fn sum<I: Iterator<Item = Ledger>>(ledgers: I) -> Ledger {
        ledgers.fold(Ledger::default(), Add::add)
    }
}

/// Counts the fates of asks.
///
/// # Examples
/// ```
/// use footlights::observe::Asks;
/// let asks = Asks { asks: 2, replied: 1, pending: 1, late_replies: 7, ..Asks::default() };
/// assert!(asks.balanced());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Asks {
    /// Asks begun.
    pub asks: u64,
    /// Answered in time.
    pub replied: u64,
    /// Not answered in time.
    pub timed_out: u64,
    /// Ended at once because no answer can come.
    pub failed: u64,
    /// Given up by the asker.
    pub cancelled: u64,
    /// Not ended yet.
    pub pending: u64,
    /// Outside the sum: second answers, and answers to asks that had ended.
    pub late_replies: u64,
}

impl Asks {
    /// Tells whether every ask that was begun has exactly one fate.
    pub fn balanced(&self) -> bool {
        self.difference() == 0
    }

    /// Gives asks minus all fates: above 0 some are missing, below 0 some have two fates.
    pub fn difference(&self) -> i128 {
        let fates = [self.replied, self.timed_out, self.failed, self.cancelled, self.pending];
        i128::from(self.asks) - fates.into_iter().map(i128::from).sum::<i128>()
    }
}

impl Add for Asks {
    type Output = Asks;
    fn add(self, other: Asks) -> Asks {
        Asks {
            asks: self.asks.saturating_add(other.asks),
            replied: self.replied.saturating_add(other.replied),
            timed_out: self.timed_out.saturating_add(other.timed_out),
            failed: self.failed.saturating_add(other.failed),
            cancelled: self.cancelled.saturating_add(other.cancelled),
            pending: self.pending.saturating_add(other.pending),
            late_replies: self.late_replies.saturating_add(other.late_replies),
        }
    }
}

impl AddAssign for Asks {
    fn add_assign(&mut self, other: Asks) {
        *self = *self + other;
    }
}

impl Sum for Asks {
    fn sum<I: Iterator<Item = Asks>>(asks: I) -> Asks {
        asks.fold(Asks::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_of_each() -> Ledger {
        let fates = Ledger { handled: 1, queued: 1, stashed: 1, failed: 1, ..Ledger::default() };
        Ledger { sent: 6, dead_lettered: 1, dropped: 1, refused: 9, ..fates }
    }

    #[test]
    fn every_fate_is_in_the_sum_and_the_rest_is_not() {
        let sum: Ledger = [one_of_each(), one_of_each()].into_iter().sum();
        assert!(sum.balanced());
        assert_eq!((sum.sent, sum.refused), (12, 18));
        assert_eq!(Ledger { sent: 5, ..one_of_each() }.difference(), -1);
    }

    #[test]
    fn every_ask_fate_is_in_the_sum() {
        let asks =
            Asks { asks: 5, replied: 1, timed_out: 1, failed: 1, cancelled: 1, pending: 1, late_replies: 3 };
        assert!((asks + asks).balanced());
        assert_eq!(Asks { pending: 0, ..asks }.difference(), 1);
    }

    #[test]
    fn reasons_have_stable_codes() {
        let names =
            |codes: &[DropReason]| codes.iter().map(|r| format!("{} {r}", r.code())).collect::<Vec<_>>();
        let dropped = names(DropReason::ALL);
        assert_eq!(
            (dropped.len(), dropped[0].as_str(), dropped[10].as_str()),
            (11, "0 mailbox full", "10 abandoned")
        );
        assert_eq!(DeadLetterReason::from_code(9), Some(DeadLetterReason::Discarded));
        assert_eq!(DeadLetterReason::from_code(10), None);
    }
}
