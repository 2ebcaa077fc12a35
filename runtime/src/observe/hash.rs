//! The log hash: 64 bits that two runs share iff, for all practical purposes, they had the same events.
//!
//! An event is added as a short list of words, the same on every target. For each event the state is advanced by
//! `state += (length + 1)·L`, then for each pair of words (a, b), with b = 0 after an odd last one, by
//! `state = (state ^ a·A ^ rotate(b·B, 32))·M; state ^= state >> 29`, all modulo 2^64. The value is the state through
//! splitmix64's finaliser. Why our own: it goes into share links, so it may never change, it must not depend on the size
//! of a pointer or the order of bytes, and it costs three 64-bit multiplications a pair, which a browser has as well.
//!
//! I1 same words in the same lists in the same order, same value, on every target and in every version.
//! I2 every step is a bijection of the state and of each word: two logs that differ in one word differ in value.
//! It is not for cryptography: whoever wants a collision can make one.

use std::fmt;

const LENGTH: u64 = 0x9e37_79b9_7f4a_7c15;
const FIRST: u64 = 0xd6e8_feb8_6659_fd93;
const SECOND: u64 = 0xa076_1d64_78bd_642f;
const MIX: u64 = 0xe703_7ed1_a0b4_28db;

/// Hashes a sequence of events.
///
/// # Examples
/// ```
/// use footlights::observe::LogHash;
/// let (mut a, mut b) = (LogHash::new(), LogHash::new());
/// a.add(&[1, 2]);
/// b.add(&[1]);
/// b.add(&[2]);
/// assert_ne!(a, b);
/// assert_eq!(a.to_string().len(), 16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogHash {
    state: u64,
}

impl LogHash {
    /// Makes the hash of a log without events.
    pub const fn new() -> Self {
        LogHash { state: 0 }
    }

    /// Adds one event.
    #[inline]
    pub fn add(&mut self, words: &[u64]) {
        let length = words.len() as u64 + 1;
        let mut state = self.state.wrapping_add(length.wrapping_mul(LENGTH));
        let (pairs, last) = words.as_chunks::<2>();
        for &[a, b] in pairs {
            state = mix(state, a, b);
        }
        if let &[a] = last {
            state = mix(state, a, 0);
        }
        self.state = state;
    }

    /// Gives the hash of all events so far.
    pub fn value(&self) -> u64 {
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[inline]
fn mix(state: u64, a: u64, b: u64) -> u64 {
    let words = a.wrapping_mul(FIRST) ^ b.wrapping_mul(SECOND).rotate_left(32);
    let mixed = (state ^ words).wrapping_mul(MIX);
    mixed ^ (mixed >> 29)
}

impl Default for LogHash {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for LogHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.value())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn hash(events: &[&[u64]]) -> LogHash {
        let mut hash = LogHash::new();
        events.iter().for_each(|event| hash.add(event));
        hash
    }

    #[test]
    fn the_value_of_a_log_never_changes() {
        let golden = |events: &[&[u64]]| hash(events).to_string();
        assert_eq!(golden(&[]), "0000000000000000");
        assert_eq!(golden(&[&[]]), "e220a8397b1dcdaf");
        assert_eq!(golden(&[&[1]]), "9d87d6d05d6ff2a6");
        assert_eq!(golden(&[&[1, 2, 3, 4, 5], &[u64::MAX, 0], &[7]]), "e1b2edf213f6256f");
    }

    #[test]
    fn lists_are_framed() {
        let logs: [&[&[u64]]; 7] =
            [&[], &[&[]], &[&[], &[]], &[&[0]], &[&[0, 0]], &[&[0], &[0]], &[&[0, 0, 0]]];
        let values: BTreeSet<u64> = logs.iter().map(|log| hash(log).value()).collect();
        assert_eq!(values.len(), logs.len());
    }

    #[test]
    fn many_small_logs_do_not_collide() {
        let mut values = BTreeSet::new();
        for n in 0..1_000_000u64 {
            assert!(values.insert(hash(&[&[n % 100, n / 100 % 100, n / 10_000]]).value()), "{n}");
        }
    }

    proptest! {
        #[test]
        fn one_changed_word_changes_the_value(
            mut log in proptest::collection::vec(proptest::collection::vec(any::<u64>(), 1..7), 1..20),
            event in any::<usize>(), word in any::<usize>(), flip in 1..=u64::MAX,
        ) {
            let value = |log: &[Vec<u64>]| hash(&log.iter().map(Vec::as_slice).collect::<Vec<_>>()).value();
            let before = value(&log);
            let event = event % log.len();
            let word = word % log[event].len();
            log[event][word] ^= flip;
            prop_assert_ne!(value(&log), before);
        }
    }
}
