//! `broadcast_hub`: a sink whose elements go to every stream that has joined, at the pace of the slowest.
//!
//! The sink takes elements while there is room in its buffer. It backpressures when some consumer is behind by the whole buffer,
//! before so many have joined as it starts after, and while there is none (`Drop`: it takes them and drops them, NoDemand). When
//! upstream completes it completes after its consumers have read what it holds; what nobody is there to read is dropped
//! (NoDemand). A failure reaches the consumers at once. It holds at most its buffer.
//!
//! A consumer's source starts at the present head; if nobody else is there, at the oldest element that nobody has got. It
//! completes or fails with the hub, at once if the hub has ended, and with [`StreamError::HubGone`] if the hub was dropped. When it is
//! cancelled it leaves, which changes nothing for the others.
//!
//! I1 an element stays until all have read it that had joined when it came, or left since.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::Bells;
use crate::stream::kernel::{Caps, Cx, Kernel, Never, Out, Park, Sig, Sleep};
use crate::stream::shared::Doorbell;
use crate::stream::signal::{Cause, DropReason, StreamError};
use crate::sync::Mutex;

/// The largest buffer of a hub.
const BUFFER_MAX: usize = 4096;

/// What a hub does while nobody is there, after it has started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenEmpty {
    /// It takes nothing.
    #[default]
    Wait,
    /// It takes what comes and drops it (NoDemand).
    Drop,
}

/// How a broadcast hub behaves.
///
/// # Examples
/// ```
/// use footlights::stream::{HubSettings, WhenEmpty};
/// let settings = HubSettings::default().buffer(100).start_after(2).when_empty(WhenEmpty::Drop);
/// assert_eq!((settings.buffer, settings.start_after), (128, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HubSettings {
    /// How far the slowest consumer may be behind: a power of two up to 4,096.
    pub buffer: usize,
    /// It takes nothing before so many have joined; afterwards one is enough.
    pub start_after: usize,
    /// What happens while nobody is there.
    pub when_empty: WhenEmpty,
}

impl Default for HubSettings {
    /// A buffer of 256, a start with the first consumer, and waiting.
    fn default() -> Self {
        HubSettings { buffer: 256, start_after: 1, when_empty: WhenEmpty::Wait }
    }
}

impl HubSettings {
    /// Sets the buffer, rounded up to a power of two and at most 4,096.
    pub fn buffer(mut self, n: usize) -> Self {
        self.buffer = n.clamp(1, BUFFER_MAX).next_power_of_two();
        self
    }

    /// Sets how many must have joined at first; 0 starts at once.
    pub fn start_after(mut self, consumers: usize) -> Self {
        self.start_after = consumers;
        self
    }

    /// Sets what happens while nobody is there.
    pub fn when_empty(mut self, what: WhenEmpty) -> Self {
        self.when_empty = what;
        self
    }
}

struct Consumer {
    /// The number of the element that it reads next.
    at: u64,
    door: Doorbell,
    waits: bool,
}

struct Entry<T> {
    x: T,
    /// How many have to read it yet.
    left: usize,
}

struct State<T> {
    settings: HubSettings,
    entries: VecDeque<Entry<T>>,
    /// The number of the first entry.
    base: u64,
    /// The number after the last element that anybody has got.
    seen: u64,
    consumers: BTreeMap<u64, Consumer>,
    next: u64,
    started: bool,
    /// Elements that were read by all, as far as the host has not counted them.
    used: u64,
    /// Likewise those that were dropped.
    lost: u64,
    /// Upstream has ended: completed, or failed.
    end: Option<Result<(), StreamError>>,
    host: Option<Doorbell>,
    host_waits: bool,
}

impl<T> State<T> {
    fn head(&self) -> u64 {
        self.base + self.entries.len() as u64
    }

    /// Says whether the host may take one more element.
    fn room(&self) -> bool {
        match (self.started, self.consumers.is_empty(), self.settings.when_empty) {
            (false, ..) | (true, true, WhenEmpty::Wait) => false,
            (true, true, WhenEmpty::Drop) => true,
            (true, false, _) => self.end.is_none() && self.entries.len() < self.settings.buffer,
        }
    }

    /// Forgets the entries that all have read.
    fn trim(&mut self) {
        while self.base < self.seen && self.entries.front().is_some_and(|entry| entry.left == 0) {
            self.entries.pop_front();
            self.base += 1;
            self.used += 1;
        }
    }

    /// Says whether a host that waits can do something.
    fn calls_host(&self) -> bool {
        match self.end {
            None => self.room(),
            Some(_) => self.entries.is_empty() || self.consumers.is_empty(),
        }
    }

    fn call_host(&mut self, bells: &mut Bells) {
        if self.calls_host() {
            bells.add(&mut self.host_waits, self.host.as_ref());
        }
    }

    fn call_consumers(&mut self, bells: &mut Bells) {
        for consumer in self.consumers.values_mut() {
            bells.add(&mut consumer.waits, Some(&consumer.door));
        }
    }

    fn join(&mut self, door: Doorbell) -> u64 {
        let at = if self.consumers.is_empty() { self.base } else { self.head() };
        let first = (at - self.base) as usize;
        self.entries.range_mut(first..).for_each(|entry| entry.left += 1);
        let id = self.next;
        self.next += 1;
        self.consumers.insert(id, Consumer { at, door, waits: false });
        self.started |= self.consumers.len() >= self.settings.start_after;
        id
    }

    fn leave(&mut self, id: u64) {
        if let Some(consumer) = self.consumers.remove(&id) {
            let first = consumer.at.saturating_sub(self.base) as usize;
            self.entries.range_mut(first..).for_each(|entry| entry.left -= 1);
            self.trim();
            if self.consumers.is_empty() && self.settings.when_empty == WhenEmpty::Drop {
                self.lose_all();
            }
        }
    }

    /// Drops what nobody is there to read.
    fn lose_all(&mut self) {
        self.lost += self.entries.len() as u64;
        self.base = self.head();
        self.entries.clear();
    }

    /// Ends it for all, whether they wait or not; what was not read is gone.
    fn fail(&mut self, e: StreamError, bells: &mut Bells) {
        self.end = Some(Err(e));
        self.base = self.head();
        self.entries.clear();
        bells.0.extend(self.consumers.values().map(|consumer| consumer.door.clone()));
    }
}

impl<T: Clone> State<T> {
    fn read(&mut self, id: u64) -> Option<T> {
        let consumer = self.consumers.get_mut(&id)?;
        let at = consumer.at.checked_sub(self.base)?;
        let entry = self.entries.get_mut(usize::try_from(at).ok()?)?;
        consumer.at += 1;
        self.seen = self.seen.max(consumer.at);
        entry.left -= 1;
        let x = entry.x.clone();
        self.trim();
        Some(x)
    }
}

/// A running broadcast hub: streams join it by its sources. Clones are the same hub.
///
/// # Examples
/// ```
/// use footlights::stream::{HubSettings, Sink, Source};
/// use footlights::system::ActorSystem;
/// let system = ActorSystem::builder("demo").stepper().build()?;
/// let numbers = Source::range(0..5).to(Sink::broadcast_hub(HubSettings::default().start_after(2)));
/// let (hub, _) = numbers.run(&system)?;
/// let (first, _) = hub.source().to(Sink::to_vec(10)).run(&system)?;
/// let (second, _) = hub.source().to(Sink::fold(0, |sum, n| sum + n)).run(&system)?;
/// assert_eq!(system.block_on(first), Ok(vec![0, 1, 2, 3, 4]));
/// assert_eq!(system.block_on(second), Ok(10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BroadcastHub<T>(Arc<Mutex<State<T>>>);

impl<T> Clone for BroadcastHub<T> {
    fn clone(&self) -> Self {
        BroadcastHub(self.0.clone())
    }
}

impl<T> BroadcastHub<T> {
    pub(crate) fn new(settings: HubSettings) -> Self {
        let settings = settings.buffer(settings.buffer);
        let (entries, consumers) = (VecDeque::new(), BTreeMap::new());
        let started = settings.start_after == 0;
        let (base, seen, next, used, lost) = (0, 0, 0, 0, 0);
        let (end, host, host_waits) = (None, None, false);
        let state = State {
            settings,
            entries,
            base,
            seen,
            consumers,
            next,
            started,
            used,
            lost,
            end,
            host,
            host_waits,
        };
        BroadcastHub(Arc::new(Mutex::new(state)))
    }

    /// Counts the streams that have joined and not left.
    pub fn consumers(&self) -> usize {
        self.0.lock().consumers.len()
    }

    /// Does something under the lock, then rings.
    fn with<R>(&self, f: impl FnOnce(&mut State<T>, &mut Bells) -> R) -> R {
        let mut bells = Bells::default();
        let result = f(&mut self.0.lock(), &mut bells);
        bells.ring();
        result
    }
}

/// The kernel of `broadcast_hub`.
pub struct HubSink<T> {
    hub: BroadcastHub<T>,
    held: usize,
    /// It waits for its consumers.
    full: bool,
    ended: bool,
}

impl<T> HubSink<T> {
    pub(crate) fn new(hub: BroadcastHub<T>) -> Self {
        HubSink { hub, held: 0, full: false, ended: false }
    }

    /// Counts what has happened outside, and says how to go on.
    fn look(&mut self, cx: &mut Cx) -> Sig {
        let hub = self.hub.clone();
        let mut s = hub.0.lock();
        if s.end.is_some() && s.consumers.is_empty() {
            s.lose_all();
        }
        cx.used(std::mem::take(&mut s.used));
        cx.dropped(DropReason::NoDemand, std::mem::take(&mut s.lost));
        self.held = s.entries.len();
        self.ended |= s.end.is_some() && s.entries.is_empty();
        self.full = !s.room();
        match (self.ended, self.full) {
            (true, _) => Sig::Done,
            (false, true) => Sig::Full,
            (false, false) => Sig::Continue,
        }
    }
}

impl<T> Drop for HubSink<T> {
    fn drop(&mut self) {
        if !self.ended {
            self.hub.with(|s, bells| s.fail(StreamError::HubGone, bells));
        }
    }
}

impl<T: Send + 'static> Kernel for HubSink<T> {
    type In = T;
    type Out = Never;
    const CAPS: Caps = Caps::EXTERNAL;

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        self.hub.0.lock().host = Some(cx.doorbell());
        Sig::Continue
    }

    fn on_push(&mut self, x: T, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        self.hub.with(|s, bells| {
            if s.consumers.is_empty() && s.settings.when_empty == WhenEmpty::Drop {
                cx.dropped(DropReason::NoDemand, 1);
                return;
            }
            let left = s.consumers.len();
            s.entries.push_back(Entry { x, left });
            s.call_consumers(bells);
        });
        self.look(cx)
    }

    fn on_pull(&mut self, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        self.look(cx)
    }

    fn on_wake(&mut self, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        self.look(cx)
    }

    fn on_finish(&mut self, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        self.hub.with(|s, bells| {
            s.end = Some(Ok(()));
            s.call_consumers(bells);
        });
        self.look(cx)
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        let _ = self.look(cx);
        self.hub.with(|s, bells| s.fail(e.clone(), bells));
        self.ended = true;
        Sig::fail(e)
    }

    fn on_park(&mut self, park: Park, _cx: &mut Cx) -> Sleep {
        let mut s = self.hub.0.lock();
        let news = self.full && s.calls_host();
        s.host_waits = park == Park::Waiting && self.full && !news;
        if park == Park::Waiting && news { Sleep::Again } else { Sleep::Deep }
    }

    fn held(&self) -> usize {
        self.held
    }
}

/// The kernel of a source that has joined a broadcast hub.
pub struct HubSource<T> {
    hub: BroadcastHub<T>,
    id: Option<u64>,
    starving: bool,
}

impl<T> HubSource<T> {
    pub(crate) fn new(hub: BroadcastHub<T>) -> Self {
        HubSource { hub, id: None, starving: false }
    }

    fn leave(&mut self) {
        if let Some(id) = self.id.take() {
            self.hub.with(|s, bells| {
                s.leave(id);
                s.call_host(bells);
            });
        }
    }
}

impl<T> Drop for HubSource<T> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl<T: Clone + Send + 'static> Kernel for HubSource<T> {
    type In = Never;
    type Out = T;
    const CAPS: Caps = Caps { source: true, ..Caps::EXTERNAL };

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        let ended = self.hub.0.lock().end.clone();
        match ended {
            Some(Ok(())) => return Sig::Done,
            Some(Err(e)) => return Sig::fail(e),
            None => {}
        }
        let door = cx.doorbell();
        self.id = Some(self.hub.with(|s, bells| {
            let id = s.join(door);
            s.call_host(bells);
            id
        }));
        Sig::Continue
    }

    fn on_push(&mut self, x: Never, _out: &mut Out<'_, T>, _cx: &mut Cx) -> Sig {
        match x {}
    }

    fn on_pull(&mut self, out: &mut Out<'_, T>, cx: &mut Cx) -> Sig {
        let Some(id) = self.id else { return Sig::Done };
        let end = self.hub.with(|s, bells| {
            while out.demand() > 0
                && let Some(x) = s.read(id)
            {
                cx.made(1);
                out.emit(x);
            }
            // Woken at half, and when this island parks: not for each element.
            if s.entries.len() <= s.settings.buffer / 2 {
                s.call_host(bells);
            }
            let at_head = s.consumers.get(&id).is_none_or(|consumer| consumer.at >= s.head());
            s.end.clone().filter(|end| at_head || end.is_err())
        });
        self.starving = out.demand() > 0;
        match end {
            None => Sig::Continue,
            Some(end) => {
                self.leave();
                end.map_or_else(Sig::fail, |()| Sig::Done)
            }
        }
    }

    fn on_wake(&mut self, _out: &mut Out<'_, T>, _cx: &mut Cx) -> Sig {
        let end = self.hub.0.lock().end.clone();
        match end {
            Some(Err(e)) if self.id.is_some() => {
                self.leave();
                Sig::fail(e)
            }
            _ => Sig::Continue,
        }
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, T>, _cx: &mut Cx) -> Sig {
        self.leave();
        Sig::fail(e)
    }

    fn on_cancel(&mut self, _cause: &Cause, _cx: &mut Cx) {
        self.leave();
    }

    fn on_park(&mut self, park: Park, _cx: &mut Cx) -> Sleep {
        let Some(id) = self.id else { return Sleep::Deep };
        let starving = self.starving;
        self.hub.with(|s, bells| {
            s.call_host(bells);
            let (head, failed) = (s.head(), matches!(s.end, Some(Err(_))));
            let ended = s.end.is_some();
            let Some(consumer) = s.consumers.get_mut(&id) else { return Sleep::Deep };
            let news = failed || (starving && (consumer.at < head || ended));
            consumer.waits = park == Park::Waiting && !news;
            if park == Park::Waiting && news { Sleep::Again } else { Sleep::Deep }
        })
    }
}
