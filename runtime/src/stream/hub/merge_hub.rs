//! `merge_hub`: a source of the elements of every stream that has joined.
//!
//! The source emits when any producer has an element; those that have one take turns, so a busy producer starves no other. It
//! completes after `drain`, when the producers of then have ended and all is emitted. It holds at most its buffer for each producer.
//! When it is cancelled, all producers are, with its cause.
//!
//! A producer's sink backpressures when its own buffer is full. It completes, or fails, for itself alone: what it has handed over is
//! emitted all the same. It fails with [`StreamError::HubGone`] if the hub was dropped.
//!
//! I1 the order of each producer is kept.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::Bells;
use crate::stream::done::Completer;
use crate::stream::kernel::{Caps, Cx, Kernel, Never, Out, Park, Sig, Sleep};
use crate::stream::shared::Doorbell;
use crate::stream::signal::{Cause, DropReason, StreamError};
use crate::sync::Mutex;

struct Producer<T> {
    queue: VecDeque<T>,
    door: Doorbell,
    waits: bool,
    /// It brings nothing more.
    finished: bool,
}

struct State<T> {
    /// For each producer.
    buffer: usize,
    producers: BTreeMap<u64, Producer<T>>,
    /// The producers that have elements, in the order of their turns.
    ready: VecDeque<u64>,
    next: u64,
    /// Elements that came, as far as the source has not counted them.
    made: u64,
    held: usize,
    draining: bool,
    /// Why it takes nothing more.
    closed: Option<Cause>,
    host: Option<Doorbell>,
    host_waits: bool,
}

impl<T> State<T> {
    fn call_host(&mut self, bells: &mut Bells) {
        bells.add(&mut self.host_waits, self.host.as_ref());
    }

    fn take(&mut self, bells: &mut Bells) -> Option<T> {
        let id = self.ready.pop_front()?;
        let producer = self.producers.get_mut(&id)?;
        let x = producer.queue.pop_front()?;
        self.held -= 1;
        if producer.queue.len() <= self.buffer / 2 {
            bells.add(&mut producer.waits, Some(&producer.door));
        }
        match (producer.queue.is_empty(), producer.finished) {
            (false, _) => self.ready.push_back(id),
            (true, true) => drop(self.producers.remove(&id)),
            (true, false) => {}
        }
        Some(x)
    }

    fn is_drained(&self) -> bool {
        self.draining && self.producers.is_empty()
    }

    fn close(&mut self, cause: Cause, bells: &mut Bells) {
        if self.closed.is_none() {
            self.closed = Some(cause);
            self.ready.clear();
            for producer in std::mem::take(&mut self.producers).into_values() {
                bells.0.push(producer.door);
            }
        }
    }
}

/// The way into a merge hub: streams join it by its sinks. Clones are the same hub.
///
/// # Examples
/// ```
/// use footlights::stream::{Sink, Source};
/// use footlights::system::ActorSystem;
/// let system = ActorSystem::builder("demo").stepper().build()?;
/// let (hub, merged) = Source::merge_hub::<i64>(16);
/// let (sum, _) = merged.to(Sink::fold(0, |sum, n| sum + n)).run(&system)?;
/// let (first, _) = Source::range(0..5).to(hub.sink()).run(&system)?;
/// let (second, _) = Source::range(100..102).to(hub.sink()).run(&system)?;
/// assert_eq!((system.block_on(first), system.block_on(second)), (Ok(5), Ok(2)));
/// hub.drain();
/// assert_eq!(system.block_on(sum), Ok(211));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MergeHub<T>(Arc<Mutex<State<T>>>);

impl<T> Clone for MergeHub<T> {
    fn clone(&self) -> Self {
        MergeHub(self.0.clone())
    }
}

impl<T> MergeHub<T> {
    pub(crate) fn new(buffer: usize) -> Self {
        let (producers, ready) = (BTreeMap::new(), VecDeque::new());
        let (next, made, held, draining, closed) = (0, 0, 0, false, None);
        let (buffer, host, host_waits) = (buffer.max(1), None, false);
        let state = State { buffer, producers, ready, next, made, held, draining, closed, host, host_waits };
        MergeHub(Arc::new(Mutex::new(state)))
    }

    /// Completes the hub once the producers that are there have ended; who comes later is cancelled.
    pub fn drain(&self) {
        self.with(|s, bells| {
            s.draining = true;
            s.call_host(bells);
        });
    }

    /// Counts the producers that have joined and not ended, or whose elements still wait.
    pub fn producers(&self) -> usize {
        self.0.lock().producers.len()
    }

    fn with<R>(&self, f: impl FnOnce(&mut State<T>, &mut Bells) -> R) -> R {
        let mut bells = Bells::default();
        let result = f(&mut self.0.lock(), &mut bells);
        bells.ring();
        result
    }
}

/// The kernel of `merge_hub`.
pub struct MergeSource<T> {
    hub: MergeHub<T>,
    held: usize,
    starving: bool,
    /// It is the one run that the hub is for.
    hosts: bool,
}

impl<T> MergeSource<T> {
    pub(crate) fn new(hub: MergeHub<T>) -> Self {
        MergeSource { hub, held: 0, starving: false, hosts: false }
    }

    /// Takes nothing more; counts what came until then.
    fn close(&mut self, cause: Cause, cx: &mut Cx) {
        if self.hosts {
            self.hub.with(|s, bells| {
                cx.made(std::mem::take(&mut s.made));
                self.held = s.held;
                s.close(cause, bells);
            });
        }
    }

    fn sync(&mut self, cx: &mut Cx) {
        let hub = self.hub.clone();
        let mut s = hub.0.lock();
        cx.made(std::mem::take(&mut s.made));
        self.held = s.held;
    }
}

impl<T> Drop for MergeSource<T> {
    fn drop(&mut self) {
        self.hub.with(|s, bells| {
            if self.hosts || s.host.is_none() {
                s.close(Cause::Failure(StreamError::HubGone), bells);
            }
        });
    }
}

impl<T: Send + 'static> Kernel for MergeSource<T> {
    type In = Never;
    type Out = T;
    const CAPS: Caps = Caps { source: true, ..Caps::EXTERNAL };

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        let mut s = self.hub.0.lock();
        if s.host.is_some() || s.closed.is_some() {
            return Sig::fail(StreamError::HubGone);
        }
        s.host = Some(cx.doorbell());
        self.hosts = true;
        Sig::Continue
    }

    fn on_push(&mut self, x: Never, _out: &mut Out<'_, T>, _cx: &mut Cx) -> Sig {
        match x {}
    }

    fn on_pull(&mut self, out: &mut Out<'_, T>, cx: &mut Cx) -> Sig {
        let drained = self.hub.with(|s, bells| {
            while out.demand() > 0
                && let Some(x) = s.take(bells)
            {
                out.emit(x);
            }
            s.is_drained()
        });
        self.sync(cx);
        self.starving = out.demand() > 0;
        if drained {
            self.close(Cause::StageDone, cx);
            return Sig::Done;
        }
        Sig::Continue
    }

    fn on_wake(&mut self, _out: &mut Out<'_, T>, cx: &mut Cx) -> Sig {
        self.sync(cx);
        Sig::Continue
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, T>, cx: &mut Cx) -> Sig {
        self.close(Cause::Failure(e.clone()), cx);
        Sig::fail(e)
    }

    fn on_cancel(&mut self, cause: &Cause, cx: &mut Cx) {
        self.close(cause.clone(), cx);
    }

    fn on_park(&mut self, park: Park, _cx: &mut Cx) -> Sleep {
        let mut s = self.hub.0.lock();
        let news = self.starving && (!s.ready.is_empty() || s.is_drained());
        s.host_waits = park == Park::Waiting && !news;
        if park == Park::Waiting && news { Sleep::Again } else { Sleep::Deep }
    }

    fn held(&self) -> usize {
        self.held
    }
}

/// The kernel of a sink that has joined a merge hub.
pub struct MergeSink<T> {
    hub: MergeHub<T>,
    id: Option<u64>,
    done: Completer<u64>,
    taken: u64,
    full: bool,
}

impl<T> MergeSink<T> {
    pub(crate) fn new(hub: MergeHub<T>, done: Completer<u64>) -> Self {
        MergeSink { hub, id: None, done, taken: 0, full: false }
    }

    /// Leaves; what was handed over stays.
    fn leave(&mut self) {
        if let Some(id) = self.id.take() {
            self.hub.with(|s, bells| {
                let Some(producer) = s.producers.get_mut(&id) else { return };
                producer.finished = true;
                if producer.queue.is_empty() {
                    s.producers.remove(&id);
                }
                if s.draining {
                    s.call_host(bells);
                }
            });
        }
    }

    fn look(&mut self) -> Sig {
        let closed = {
            let s = self.hub.0.lock();
            let queued = self.id.and_then(|id| s.producers.get(&id)).map(|producer| producer.queue.len());
            self.full = queued.is_some_and(|n| n >= s.buffer);
            s.closed.clone()
        };
        match closed {
            Some(cause) => self.cancelled(cause),
            None if self.full => Sig::Full,
            None => Sig::Continue,
        }
    }

    fn cancelled(&mut self, cause: Cause) -> Sig {
        self.id = None;
        self.done.set(match &cause {
            Cause::Failure(e) => Err(e.clone()),
            Cause::Killed(text) => Err(StreamError::Killed(text.clone())),
            Cause::NoMoreNeeded | Cause::StageDone => Ok(self.taken),
        });
        match cause {
            Cause::Failure(e) => Sig::fail(e),
            cause => Sig::Cancel(Box::new(cause)),
        }
    }
}

impl<T> Drop for MergeSink<T> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl<T: Send + 'static> Kernel for MergeSink<T> {
    type In = T;
    type Out = Never;
    const CAPS: Caps = Caps::EXTERNAL;

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        let door = cx.doorbell();
        let refused = {
            let mut s = self.hub.0.lock();
            if s.draining || s.closed.is_some() {
                Some(s.closed.clone().unwrap_or(Cause::StageDone))
            } else {
                let id = s.next;
                s.next += 1;
                let producer = Producer { queue: VecDeque::new(), door, waits: false, finished: false };
                s.producers.insert(id, producer);
                self.id = Some(id);
                None
            }
        };
        refused.map_or(Sig::Continue, |cause| self.cancelled(cause))
    }

    fn on_push(&mut self, x: T, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        let id = self.id;
        let handed = self.hub.with(|s, bells| {
            let (Some(id), None) = (id, &s.closed) else { return false };
            let Some(producer) = s.producers.get_mut(&id) else { return false };
            if producer.queue.is_empty() {
                s.ready.push_back(id);
            }
            producer.queue.push_back(x);
            s.made += 1;
            s.held += 1;
            s.call_host(bells);
            true
        });
        if handed {
            cx.used(1);
            self.taken += 1;
        } else {
            cx.dropped(DropReason::Cancelled, 1);
        }
        self.look()
    }

    fn on_pull(&mut self, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        self.look()
    }

    fn on_wake(&mut self, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        self.look()
    }

    fn on_finish(&mut self, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        self.leave();
        self.done.set(Ok(self.taken));
        Sig::Done
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        self.leave();
        self.done.set(Err(e.clone()));
        Sig::fail(e)
    }

    fn on_park(&mut self, park: Park, _cx: &mut Cx) -> Sleep {
        let Some(id) = self.id else { return Sleep::Deep };
        let mut s = self.hub.0.lock();
        let buffer = s.buffer;
        let Some(producer) = s.producers.get_mut(&id) else { return Sleep::Again };
        let news = self.full && producer.queue.len() < buffer;
        producer.waits = park == Park::Waiting && self.full && !news;
        if park == Park::Waiting && news { Sleep::Again } else { Sleep::Deep }
    }
}
