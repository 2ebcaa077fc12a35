//! The ring between two islands: bounded, single producer, single consumer, with credits.
//!
//! ```text
//!  island A … ─▶ RingWriter ─▶ batch ─publish─▶ [ ring ] ─take─▶ batch ─▶ RingReader ─▶ … island B
//!                     ▲                                                       │
//!                     └──────────────────── credits ──────────────────────────┘
//! ```
//!
//! - The capacity is rounded up to a power of two; 1 is stop and wait. At the start the producer has all credits.
//! - The producer publishes its batch at 64 elements, at the end of its credits, at the end of its run and before an end
//!   signal. Charged work comes last in a run (see `island.rs`), so a batch never waits for it.
//! - The consumer gives credits back when half the capacity was taken, or when its run ends with any taken. (With half
//!   batches alone, a source that drops without demand would starve: the lesson of apache/pekko#3459.)
//! - One wake per empty → non-empty, and only if the consumer waits for elements; likewise for credits.
//! - End signals travel behind the elements; a cancel is a flag with its cause, and a wake.
//!
//! I1 `pushed − taken ≤ capacity` at every moment. I2 one lock per batch, none per element.
//! I3 whoever waits was seen to wait under the same lock that the other side publishes under: no wake is lost.

use std::collections::VecDeque;
use std::sync::Arc;

use super::counts::{EdgeSnapshot, EdgeState};
use super::kernel::{Caps, Cx, Kernel, Never, Out, Park, Sig, Sleep};
use super::shared::{EdgeView, Homes};
use super::signal::{Cause, End, StreamError};
use super::value::Value;
use crate::sync::{Mutex, MutexGuard};

/// The most elements that a producer keeps before it publishes them.
const PUBLISH_MAX: usize = 64;
/// The largest capacity.
pub(crate) const CAPACITY_MAX: usize = 1 << 20;

pub(crate) struct Ring<T> {
    name: Arc<str>,
    state: Mutex<State<T>>,
    /// The parts on both sides, and where they are.
    producer: usize,
    consumer: usize,
    homes: Arc<Homes>,
}

struct State<T> {
    queue: VecDeque<T>,
    capacity: usize,
    pushed: u64,
    /// Elements that the consumer has passed on, as far as it told: credits are `capacity − (pushed − taken)`.
    taken: u64,
    end: Option<End>,
    cancel: Option<Cause>,
    consumer_waits: bool,
    producer_waits: bool,
    high_water: u64,
    dropped: u64,
}

impl<T> State<T> {
    fn state(&self) -> EdgeState {
        match (&self.cancel, &self.end) {
            (Some(_), _) => EdgeState::Cancelled,
            _ if !self.queue.is_empty() => EdgeState::Holding,
            (None, Some(End::Failed(_))) => EdgeState::Failed,
            (None, Some(_)) => EdgeState::Completed,
            (None, None) if self.consumer_waits => EdgeState::Pulling,
            (None, None) => EdgeState::NoDemand,
        }
    }

    fn credits(&self) -> usize {
        self.capacity.saturating_sub((self.pushed - self.taken) as usize)
    }
}

impl<T> Ring<T> {
    /// Makes a ring of at least `capacity` (0 counts as 1) from the part `producer` to the next one.
    pub(crate) fn new(name: Arc<str>, capacity: usize, producer: usize, homes: Arc<Homes>) -> Arc<Self> {
        let state = State {
            queue: VecDeque::new(),
            capacity: effective(capacity),
            pushed: 0,
            taken: 0,
            end: None,
            cancel: None,
            consumer_waits: false,
            producer_waits: false,
            high_water: 0,
            dropped: 0,
        };
        Arc::new(Ring { name, state: Mutex::new(state), producer, consumer: producer + 1, homes })
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }

    fn wake(&self, part: usize, cx: &mut Cx) {
        cx.wake(self.homes.island_of(part));
    }
}

/// Gives the capacity that a ring really has.
pub(crate) fn effective(capacity: usize) -> usize {
    capacity.clamp(1, CAPACITY_MAX).next_power_of_two()
}

impl<T: Send> EdgeView for Ring<T> {
    fn view(&self) -> EdgeSnapshot {
        let s = self.lock();
        EdgeSnapshot {
            name: self.name.clone(),
            pushed: s.pushed,
            taken: s.taken,
            fill: s.pushed - s.taken - s.dropped,
            capacity: s.capacity as u64,
            high_water: s.high_water,
            dropped: s.dropped,
            state: s.state(),
        }
    }
}

/// The producer's end of a ring: the sink of the upper island.
pub struct RingWriter<T> {
    ring: Arc<Ring<T>>,
    batch: VecDeque<T>,
    credits: usize,
}

impl<T> RingWriter<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>) -> Self {
        let credits = ring.lock().credits();
        RingWriter { ring, batch: VecDeque::new(), credits }
    }

    /// Moves the batch and an end into the ring, and wakes a consumer that waits.
    fn publish(&mut self, end: Option<End>, cx: &mut Cx) {
        let mut s = self.ring.lock();
        if s.cancel.is_some() {
            s.dropped += self.batch.len() as u64;
            s.pushed += self.batch.len() as u64;
            self.batch.clear();
            return;
        }
        s.pushed += self.batch.len() as u64;
        s.queue.append(&mut self.batch);
        s.high_water = s.high_water.max(s.pushed - s.taken);
        let wake = end.is_some() || (s.consumer_waits && !s.queue.is_empty());
        s.end = s.end.take().or(end);
        s.consumer_waits &= !wake;
        self.credits = s.credits();
        drop(s);
        if wake {
            self.ring.wake(self.ring.consumer, cx);
        }
    }

    /// Looks for a cancel and for credits.
    fn look(&mut self) -> Sig {
        let s = self.ring.lock();
        if let Some(cause) = &s.cancel {
            return Sig::Cancel(Box::new(cause.clone()));
        }
        self.credits = s.credits().saturating_sub(self.batch.len());
        if self.credits == 0 { Sig::Full } else { Sig::Continue }
    }
}

impl<T: Send + 'static> Kernel for RingWriter<T> {
    type In = T;
    type Out = Never;
    const CAPS: Caps = Caps { chunk: true, ..Caps::EXTERNAL };

    fn chunk(&self) -> usize {
        self.credits
    }

    fn on_push(&mut self, x: T, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        self.batch.push_back(x);
        cx.counts.emitted += 1;
        self.credits -= 1;
        if self.credits == 0 || self.batch.len() >= PUBLISH_MAX {
            self.publish(None, cx);
        }
        if self.credits == 0 { Sig::Full } else { Sig::Continue }
    }

    fn on_pull(&mut self, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        if self.credits == 0 { Sig::Full } else { Sig::Continue }
    }

    fn on_finish(&mut self, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        self.publish(Some(End::Completed), cx);
        Sig::Done
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        self.publish(Some(End::Failed(e.clone())), cx);
        Sig::fail(e)
    }

    fn on_wake(&mut self, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        self.look()
    }

    fn on_park(&mut self, park: Park, cx: &mut Cx) -> Sleep {
        if !self.batch.is_empty() {
            self.publish(None, cx);
        }
        let mut s = self.ring.lock();
        let blocked = s.credits() == 0 && s.cancel.is_none();
        s.producer_waits = park == Park::Waiting && blocked;
        let news = s.cancel.is_some() || (self.credits == 0 && !blocked);
        if park == Park::Waiting && news { Sleep::Again } else { Sleep::Deep }
    }
}

/// The consumer's end of a ring: the source of the lower island.
pub struct RingReader<T> {
    ring: Arc<Ring<T>>,
    batch: VecDeque<T>,
    /// Taken since credits were last given back.
    taken: u64,
    half: u64,
    starving: bool,
}

impl<T> RingReader<T> {
    pub(crate) fn new(ring: Arc<Ring<T>>) -> Self {
        let half = (ring.lock().capacity as u64 / 2).max(1);
        RingReader { ring, batch: VecDeque::new(), taken: 0, half, starving: false }
    }

    /// Gives credits back, and wakes a producer that waits for them.
    fn give_back(&mut self, cx: &mut Cx) {
        let mut s = self.ring.lock();
        s.taken += std::mem::take(&mut self.taken);
        let wake = s.producer_waits && s.credits() > 0;
        s.producer_waits &= !wake;
        drop(s);
        if wake {
            self.ring.wake(self.ring.producer, cx);
        }
    }

    /// Takes what is in the ring; if there is nothing, tells how the ring ended.
    fn refill(&mut self) -> Option<Sig> {
        let mut s = self.ring.lock();
        self.batch.append(&mut s.queue);
        if !self.batch.is_empty() {
            return None;
        }
        if s.end.is_some() {
            s.taken += std::mem::take(&mut self.taken);
        }
        match &s.end {
            None => None,
            Some(End::Failed(e)) => Some(Sig::fail(e.clone())),
            Some(_) => Some(Sig::Done),
        }
    }
}

impl<T: Send + 'static> Kernel for RingReader<T> {
    type In = Never;
    type Out = T;
    const CAPS: Caps = Caps { chunk: true, ..Caps::EXTERNAL };

    fn chunk(&self) -> usize {
        usize::MAX
    }

    fn on_push(&mut self, x: Never, _out: &mut Out<'_, T>, _cx: &mut Cx) -> Sig {
        match x {}
    }

    fn on_pull(&mut self, out: &mut Out<'_, T>, cx: &mut Cx) -> Sig {
        if self.batch.is_empty()
            && let Some(end) = self.refill()
        {
            return end;
        }
        while out.demand() > 0 {
            let Some(x) = self.batch.pop_front() else { break };
            out.emit(x);
            cx.counts.taken += 1;
            self.taken += 1;
        }
        if self.taken >= self.half {
            self.give_back(cx);
        }
        self.starving = out.demand() > 0;
        Sig::Continue
    }

    fn on_cancel(&mut self, cause: &Cause, cx: &mut Cx) {
        let mut s = self.ring.lock();
        s.taken += std::mem::take(&mut self.taken);
        s.dropped += (s.queue.len() + self.batch.len()) as u64;
        s.queue.clear();
        self.batch.clear();
        s.cancel = Some(cause.clone());
        let ended = s.end.is_some();
        drop(s);
        if !ended {
            self.ring.wake(self.ring.producer, cx);
        }
    }

    fn on_park(&mut self, park: Park, cx: &mut Cx) -> Sleep {
        self.give_back(cx);
        let mut s = self.ring.lock();
        let empty = s.queue.is_empty() && s.end.is_none();
        s.consumer_waits = park == Park::Waiting && self.starving && empty;
        if park == Park::Waiting && self.starving && !empty { Sleep::Again } else { Sleep::Deep }
    }

    /// `capacity` may change while the stream runs; a ring never drops for it.
    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, value.as_int().and_then(|n| usize::try_from(n).ok())) {
            ("capacity", Some(n)) if n > 0 => {
                let mut s = self.ring.lock();
                s.capacity = effective(n);
                self.half = (s.capacity as u64 / 2).max(1);
                true
            }
            _ => false,
        }
    }
}
