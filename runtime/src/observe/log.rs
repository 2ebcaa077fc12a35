//! The event log of one system: a bounded ring of events, and a hash over all that ever happened.
//!
//! I1 the hash runs over every event of its level, kept or not; two runs with the same hash had the same events.
//! I2 the rings are bounded: the oldest events go, and how many went is known from the sequence numbers.
//! Off costs one branch: [`Log::wants`].

use std::collections::VecDeque;

use super::{Event, EventKind, Level, LogHash};
use crate::id::ActorId;
use crate::sync::{AtomicU64, Mutex, Ordering};
use crate::time::Instant;

/// Rare events kept.
const RARE_KEPT: usize = 65_536;

/// Records what happens.
pub(crate) struct Log {
    level: Level,
    inner: Mutex<Inner>,
    /// The actor whose run it is, on a Stepper: the sender of what is told through a plain reference.
    current: AtomicU64,
    turn: AtomicU64,
}

struct Inner {
    hash: LogHash,
    seq: u64,
    rare: VecDeque<Event>,
    messages: VecDeque<Event>,
    messages_kept: usize,
}

impl Log {
    pub(crate) fn new(level: Level, messages_kept: usize) -> Self {
        let inner = Inner {
            hash: LogHash::new(),
            seq: 0,
            rare: VecDeque::new(),
            messages: VecDeque::new(),
            messages_kept,
        };
        Log { level, inner: Mutex::new(inner), current: AtomicU64::new(0), turn: AtomicU64::new(0) }
    }

    /// Is true if events of this level are recorded.
    pub(crate) fn wants(&self, level: Level) -> bool {
        self.level >= level
    }

    /// Records an event, if its level is wanted.
    pub(crate) fn record(&self, at: Instant, actor: ActorId, kind: EventKind) {
        let level = kind.level();
        if !self.wants(level) {
            return;
        }
        let [code, a, b, c] = kind.words();
        let mut inner = self.inner.lock();
        inner.hash.add(&[code, at.as_nanos(), actor.0, a, b, c]);
        let event = Event { seq: inner.seq, turn: self.turn.load(Ordering::Relaxed), at, actor, kind };
        inner.seq += 1;
        let (ring, kept) = match level {
            Level::Message => (true, inner.messages_kept),
            _ => (false, RARE_KEPT),
        };
        let ring = if ring { &mut inner.messages } else { &mut inner.rare };
        if kept > 0 {
            if ring.len() == kept {
                ring.pop_front();
            }
            ring.push_back(event);
        }
    }

    /// Notes which turn the next events belong to.
    pub(crate) fn set_turn(&self, turn: u64) {
        self.turn.store(turn, Ordering::Relaxed);
    }

    /// Notes whose run it is; gives whose it was.
    pub(crate) fn set_current(&self, actor: ActorId) -> ActorId {
        // Ordering: Relaxed, and no exchange: meaningful on a Stepper only, which has one thread.
        let before = self.current();
        if self.wants(Level::Message) {
            self.current.store(actor.0, Ordering::Relaxed);
        }
        before
    }

    /// Gives whose run it is, on a Stepper.
    pub(crate) fn current(&self) -> ActorId {
        ActorId(self.current.load(Ordering::Relaxed))
    }

    pub(crate) fn hash(&self) -> u64 {
        self.inner.lock().hash.value()
    }

    /// Gives the rare events from `seq` on that are still kept, and the number after the last event.
    pub(crate) fn rare_since(&self, seq: u64) -> (Vec<Event>, u64) {
        let inner = self.inner.lock();
        let first = inner.rare.partition_point(|event| event.seq < seq);
        (inner.rare.range(first..).cloned().collect(), inner.seq)
    }

    /// Gives the kept message events from `seq` on that `wanted` picks, the last `max` of them, in order.
    pub(crate) fn messages_since(&self, seq: u64, max: usize, wanted: &dyn Fn(&Event) -> bool) -> Vec<Event> {
        let inner = self.inner.lock();
        let new = inner.messages.iter().rev().take_while(|event| event.seq >= seq);
        let mut found: Vec<Event> = new.filter(|event| wanted(event)).take(max).cloned().collect();
        found.reverse();
        found
    }

    /// Gives all kept events from `seq` on, in order, at most `max`.
    pub(crate) fn since(&self, seq: u64, max: usize) -> Vec<Event> {
        let inner = self.inner.lock();
        let from = |ring: &VecDeque<Event>| ring.partition_point(|event| event.seq < seq);
        let (rare, messages) = (from(&inner.rare), from(&inner.messages));
        let mut all: Vec<Event> = inner.rare.range(rare..).take(max).cloned().collect();
        all.extend(inner.messages.range(messages..).take(max).cloned());
        all.sort_by_key(|event| event.seq);
        all.truncate(max);
        all
    }
}
