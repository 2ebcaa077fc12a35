//! The queue of pending timers: pure data, told the time by its owner.
//!
//! It is a heap of (due, sequence, slot) over a slab of values. Why a heap and not a hierarchical wheel: the order is
//! exact to the nanosecond, which virtual time relies on, inserting is O(1) on average and O(log n) at worst, and it is
//! short. A cancelled timer gives its value and slot back at once; its heap entry goes when it reaches the top, or when
//! more than half of the entries are dead, which makes cancelling O(1) amortised apart from entries at the top.
//!
//! I1 the top of the heap is a pending timer, so `next_deadline` is exact and needs no `mut`.
//! I2 timers come out by due time, equal ones in the order of insertion.
//! I3 at most `len()` + 64 heap entries are dead, and an empty queue holds no entry and little memory.
//! I4 a key names one timer for ever: sequence numbers are never used twice, slots are.
//!
//! It has no thread and no clock, and it does not know what a value means.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::time::Instant;

/// Dead heap entries that are tolerated whatever the number of pending timers.
const SLACK: usize = 64;
/// Entries whose memory an empty queue keeps.
const KEPT_WHEN_EMPTY: usize = 1_024;
/// The slot of timers that are never due.
const NO_SLOT: u32 = u32::MAX;

/// Names one timer of one [`TimerQueue`]; stays harmless after the timer fired or was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerKey {
    seq: u64,
    slot: u32,
}

/// Holds values until they are due.
///
/// # Examples
/// ```
/// use footlights::time::{Instant, TimerQueue};
/// let at = Instant::from_nanos;
/// let mut timers = TimerQueue::new();
/// let late = timers.insert(at(20), "late");
/// timers.insert(at(10), "early");
/// assert_eq!(timers.next_deadline(), Some(at(10)));
/// assert_eq!(timers.pop_due(at(15)).map(|(_, _, v)| v), Some("early"));
/// assert_eq!(timers.pop_due(at(15)), None);
/// assert_eq!(timers.cancel(late), Some("late"));
/// assert_eq!(timers.cancel(late), None);
/// ```
#[derive(Clone, Debug)]
pub struct TimerQueue<T> {
    heap: BinaryHeap<Entry>,
    slots: Vec<Slot<T>>,
    first_free: u32,
    pending: usize,
    next_seq: u64,
}

impl<T> TimerQueue<T> {
    /// Makes an empty queue.
    pub fn new() -> Self {
        TimerQueue {
            heap: BinaryHeap::new(),
            slots: Vec::new(),
            first_free: NO_SLOT,
            pending: 0,
            next_seq: 0,
        }
    }

    /// Adds a timer. One that is due at [`Instant::FAR_FUTURE`] is never due: its value is dropped and it takes no entry.
    ///
    /// # Panics
    /// If 2³² − 1 timers are pending already.
    pub fn insert(&mut self, due: Instant, value: T) -> TimerKey {
        let seq = self.next_seq;
        self.next_seq += 1;
        if due == Instant::FAR_FUTURE {
            return TimerKey { seq, slot: NO_SLOT };
        }
        let slot = self.fill_slot(seq, value);
        self.heap.push(Entry { due, seq, slot });
        self.pending += 1;
        TimerKey { seq, slot }
    }

    /// Takes a pending timer out; `None` if it fired, was cancelled, or is never due.
    pub fn cancel(&mut self, key: TimerKey) -> Option<T> {
        let value = self.empty_slot(key.slot, key.seq)?;
        self.pending -= 1;
        self.tidy();
        Some(value)
    }

    /// Takes out the earliest timer that is due at `now`, with its due time.
    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, TimerKey, T)> {
        if self.next_deadline()? > now {
            return None;
        }
        let Entry { due, seq, slot } = self.heap.pop()?;
        let value = self.empty_slot(slot, seq).expect("I1: the top of the heap is pending");
        self.pending -= 1;
        self.tidy();
        Some((due, TimerKey { seq, slot }, value))
    }

    /// Tells when the earliest pending timer is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.heap.peek().map(|entry| entry.due)
    }

    /// Tells whether a timer has neither fired nor been cancelled.
    pub fn contains(&self, key: TimerKey) -> bool {
        is_pending(&self.slots, key.slot, key.seq)
    }

    /// Counts the pending timers.
    pub fn len(&self) -> usize {
        self.pending
    }

    /// Tells whether no timer is pending.
    pub fn is_empty(&self) -> bool {
        self.pending == 0
    }

    fn fill_slot(&mut self, seq: u64, value: T) -> u32 {
        let taken = Slot::Taken { seq, value };
        if self.first_free == NO_SLOT {
            let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 timers");
            assert!(slot != NO_SLOT, "fewer than 2^32 - 1 timers");
            self.slots.push(taken);
            return slot;
        }
        let slot = self.first_free;
        let Slot::Free { next } = std::mem::replace(&mut self.slots[slot as usize], taken) else {
            unreachable!("the free list holds free slots only")
        };
        self.first_free = next;
        slot
    }

    fn empty_slot(&mut self, slot: u32, seq: u64) -> Option<T> {
        if !is_pending(&self.slots, slot, seq) {
            return None;
        }
        let free = Slot::Free { next: self.first_free };
        let Slot::Taken { value, .. } = std::mem::replace(&mut self.slots[slot as usize], free) else {
            return None;
        };
        self.first_free = slot;
        Some(value)
    }

    /// Restores I1 and I3 after a timer has gone.
    fn tidy(&mut self) {
        if self.pending == 0 {
            return self.clear();
        }
        if self.heap.len() > 2 * self.pending + SLACK {
            let slots = &self.slots;
            self.heap.retain(|entry| is_pending(slots, entry.slot, entry.seq));
            self.heap.shrink_to(4 * self.pending + KEPT_WHEN_EMPTY);
        }
        while self.heap.peek().is_some_and(|top| !is_pending(&self.slots, top.slot, top.seq)) {
            self.heap.pop();
        }
    }

    fn clear(&mut self) {
        self.heap.clear();
        self.slots.clear();
        self.first_free = NO_SLOT;
        self.heap.shrink_to(KEPT_WHEN_EMPTY);
        self.slots.shrink_to(KEPT_WHEN_EMPTY);
    }
}

impl<T> Default for TimerQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Clone, Debug)]
enum Slot<T> {
    Taken { seq: u64, value: T },
    Free { next: u32 },
}

fn is_pending<T>(slots: &[Slot<T>], slot: u32, seq: u64) -> bool {
    matches!(slots.get(slot as usize), Some(Slot::Taken { seq: found, .. }) if *found == seq)
}

/// A heap entry; the greatest is the earliest, since the heap of the standard library gives the greatest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    due: Instant,
    seq: u64,
    slot: u32,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.due, other.seq).cmp(&(self.due, self.seq))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    fn drain(timers: &mut TimerQueue<u64>) -> Vec<u64> {
        std::iter::from_fn(|| timers.pop_due(Instant::FAR_FUTURE)).map(|(_, _, v)| v).collect()
    }

    #[test]
    fn equal_due_times_come_out_in_order_of_insertion() {
        let mut timers = TimerQueue::new();
        for value in 0..100 {
            timers.insert(at(5), value);
        }
        timers.insert(at(4), 100);
        let mut expected = vec![100];
        expected.extend(0..100);
        assert_eq!(drain(&mut timers), expected);
    }

    #[test]
    fn t1_start_cancel_pairs_leave_no_entries() {
        let mut timers = TimerQueue::new();
        let kept = timers.insert(at(1), 0);
        for n in 0..100_000 {
            let key = timers.insert(at(1_000 + n), n);
            assert_eq!(timers.cancel(key), Some(n));
        }
        assert_eq!(timers.len(), 1);
        assert!(timers.heap.len() <= 2 + SLACK && timers.slots.len() == 2);
        assert_eq!(timers.cancel(kept), Some(0));
        assert!(timers.is_empty() && timers.heap.is_empty() && timers.slots.is_empty());
    }

    #[test]
    fn t1_a_key_does_not_reach_the_next_timer_in_its_slot() {
        let mut timers = TimerQueue::new();
        let first = timers.insert(at(10), 1);
        assert_eq!(timers.pop_due(at(10)).map(|(_, key, _)| key), Some(first));
        let second = timers.insert(at(20), 2);
        assert_eq!((timers.cancel(first), timers.contains(first)), (None, false));
        assert!(timers.contains(second));
    }

    #[test]
    fn a_timer_at_the_end_of_time_takes_no_entry() {
        let mut timers = TimerQueue::new();
        let never = timers.insert(Instant::FAR_FUTURE, 1);
        assert_eq!((timers.len(), timers.next_deadline()), (0, None));
        assert_eq!((timers.cancel(never), timers.pop_due(Instant::FAR_FUTURE)), (None, None));
    }

    #[test]
    fn a_million_timers_cancelled_backwards_leave_no_memory() {
        let mut timers = TimerQueue::new();
        let keys: Vec<_> = (0..1_000_000).map(|n| timers.insert(at(n), n)).collect();
        for key in keys.into_iter().rev() {
            assert!(timers.cancel(key).is_some());
        }
        assert!(timers.heap.capacity() <= KEPT_WHEN_EMPTY && timers.slots.capacity() <= KEPT_WHEN_EMPTY);
    }

    #[derive(Clone, Debug)]
    enum Op {
        Insert(u64),
        Cancel(usize),
        Pop(u64),
    }

    fn ops() -> impl Strategy<Value = Vec<Op>> {
        let op = prop_oneof![
            4 => (0..50u64).prop_map(Op::Insert),
            3 => any::<usize>().prop_map(Op::Cancel),
            2 => (0..60u64).prop_map(Op::Pop),
        ];
        proptest::collection::vec(op, 0..400)
    }

    /// The model: a list kept sorted by (due, sequence).
    #[derive(Default)]
    struct Model(Vec<(Instant, u64, TimerKey)>);

    impl Model {
        fn insert(&mut self, due: Instant, value: u64, key: TimerKey) {
            let place = self.0.partition_point(|&(d, v, _)| (d, v) < (due, value));
            self.0.insert(place, (due, value, key));
        }

        fn cancel(&mut self, key: TimerKey) -> Option<u64> {
            let place = self.0.iter().position(|&(_, _, k)| k == key)?;
            Some(self.0.remove(place).1)
        }

        fn pop_due(&mut self, now: Instant) -> Option<(Instant, TimerKey, u64)> {
            let &(due, value, key) = self.0.first().filter(|&&(due, _, _)| due <= now)?;
            self.0.remove(0);
            Some((due, key, value))
        }
    }

    proptest! {
        #[test]
        fn behaves_like_a_sorted_list(ops in ops()) {
            let (mut timers, mut model, mut keys) = (TimerQueue::new(), Model::default(), Vec::new());
            for (value, op) in (0u64..).zip(ops) {
                match op {
                    Op::Insert(due) => {
                        let key = timers.insert(at(due), value);
                        model.insert(at(due), value, key);
                        keys.push(key);
                    }
                    Op::Cancel(n) if !keys.is_empty() => {
                        let key = keys[n % keys.len()];
                        prop_assert_eq!(timers.cancel(key), model.cancel(key));
                    }
                    Op::Cancel(_) => {}
                    Op::Pop(now) => prop_assert_eq!(timers.pop_due(at(now)), model.pop_due(at(now))),
                }
                prop_assert_eq!(timers.len(), model.0.len());
                prop_assert_eq!(timers.next_deadline(), model.0.first().map(|&(due, _, _)| due));
                prop_assert!(timers.heap.len() <= 2 * timers.len() + SLACK.max(timers.len()));
            }
        }
    }
}
