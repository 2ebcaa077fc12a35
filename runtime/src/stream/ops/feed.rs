//! `feed`: a source that is fed from outside, by actors or by a thread, into a bounded queue.
//!
//! Emits when it holds something and there is demand. Backpressures never: a full queue drops by its strategy or fails.
//! Completes after `complete`, drained. Cancels: later offers are answered `Closed`. Holds at most `n`.
//! `Backpressure` is refused when it is made: an actor cannot be made to wait by a queue.

use std::collections::VecDeque;
use std::sync::Arc;

use super::buffer::offer;
use crate::stream::kernel::{Caps, Cx, Kernel, Never, Out, Sig};
use crate::stream::shared::Shared;
use crate::stream::signal::{Cause, DropReason, OverflowStrategy, StreamError};
use crate::sync::{Mutex, MutexGuard};

/// The answer to an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Offered {
    /// It is in the queue.
    Enqueued,
    /// It is in the queue, and this many others were dropped for it.
    Displaced(u64),
    /// It was dropped.
    Dropped,
    /// It was one too many for the strategy Fail: the stream fails.
    Failed,
    /// The stream has ended.
    Closed,
}

/// A feed could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeedError {
    /// The strategy Backpressure needs somebody who waits.
    BackpressureRefused,
    /// A queue of 0 would drop everything.
    ZeroCapacity,
}

impl std::fmt::Display for FeedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FeedError::BackpressureRefused => {
                "a feed cannot backpressure: choose a dropping strategy, or Fail"
            }
            FeedError::ZeroCapacity => "a feed needs room for at least 1 element",
        })
    }
}

impl std::error::Error for FeedError {}

struct State<T> {
    queue: VecDeque<T>,
    capacity: usize,
    strategy: OverflowStrategy,
    made: u64,
    dropped: u64,
    end: Option<Result<(), StreamError>>,
    closed: bool,
    waits: bool,
    bell: Option<(Arc<Shared>, usize)>,
}

/// The outside of a feed; clones share it.
///
/// # Examples
/// ```
/// use footlights::stream::{Operators, Offered, OverflowStrategy, Sink, Source};
/// let (feed, source) = Source::feed(2, OverflowStrategy::DropNew).unwrap();
/// assert_eq!(feed.offer(1), Offered::Enqueued);
/// assert_eq!(feed.offer(2), Offered::Enqueued);
/// assert_eq!(feed.offer(3), Offered::Dropped);
/// feed.complete();
/// let done = source.to(Sink::fold(0, |sum, n| sum + n)).run_local();
/// assert_eq!(done.take(), Some(Ok(3)));
/// ```
pub struct Feed<T>(Arc<Mutex<State<T>>>);

impl<T> Clone for Feed<T> {
    fn clone(&self) -> Self {
        Feed(self.0.clone())
    }
}

impl<T> Feed<T> {
    /// Makes a feed with a queue of `capacity`.
    ///
    /// # Errors
    /// If the strategy is Backpressure, or the capacity 0.
    pub fn new(capacity: usize, strategy: OverflowStrategy) -> Result<Self, FeedError> {
        match (capacity, strategy) {
            (0, _) => return Err(FeedError::ZeroCapacity),
            (_, OverflowStrategy::Backpressure) => return Err(FeedError::BackpressureRefused),
            _ => {}
        }
        let (queue, end, bell) = (VecDeque::new(), None, None);
        let (made, dropped, closed, waits) = (0, 0, false, false);
        let state = State { queue, capacity, strategy, made, dropped, end, closed, waits, bell };
        Ok(Feed(Arc::new(Mutex::new(state))))
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock()
    }

    /// Offers an element; never waits. Offer before you charge work: what is offered is there at once.
    pub fn offer(&self, x: T) -> Offered {
        let mut s = self.lock();
        if s.closed || s.end.is_some() {
            return Offered::Closed;
        }
        s.made += 1;
        let (capacity, strategy, len) = (s.capacity, s.strategy, s.queue.len());
        let offered = match offer(&mut s.queue, capacity, strategy, x) {
            Ok(0) => Offered::Enqueued,
            Ok(_) if strategy == OverflowStrategy::DropNew => Offered::Dropped,
            Ok(lost) => Offered::Displaced(lost),
            Err(_) => Offered::Failed,
        };
        match offered {
            Offered::Failed => {
                let node = "feed".into();
                s.end = Some(Err(StreamError::BufferOverflow { node, capacity }));
                s.dropped += 1;
                s.waits = true;
            }
            Offered::Dropped => s.dropped += 1,
            _ => s.dropped += (len + 1 - s.queue.len()) as u64,
        }
        wake(s);
        offered
    }

    /// Completes the stream after what is queued.
    pub fn complete(&self) {
        self.end(Ok(()));
    }

    /// Fails the stream at once; what is queued is dropped.
    pub fn fail(&self, text: &str) {
        self.end(Err(StreamError::Stage { node: "feed".into(), text: text.into() }));
    }

    fn end(&self, end: Result<(), StreamError>) {
        let mut s = self.lock();
        if s.end.is_none() {
            s.end = Some(end);
            s.waits = true;
        }
        wake(s);
    }

    pub(crate) fn attach(&self, shared: Arc<Shared>, part: usize) {
        self.lock().bell = Some((shared, part));
    }
}

/// Wakes the island, if it waits for elements; the lock is released first.
fn wake<T>(mut s: MutexGuard<'_, State<T>>) {
    let bell = if std::mem::replace(&mut s.waits, false) { s.bell.clone() } else { None };
    drop(s);
    if let Some((shared, part)) = bell {
        shared.ring_part(part);
    }
}

/// The kernel of `feed`.
pub struct FeedSource<T> {
    feed: Feed<T>,
    held: usize,
}

impl<T> FeedSource<T> {
    /// Makes the kernel.
    pub fn new(feed: Feed<T>) -> Self {
        FeedSource { feed, held: 0 }
    }

    fn sync(&mut self, s: &mut State<T>, cx: &mut Cx) {
        cx.made(std::mem::take(&mut s.made));
        cx.dropped(DropReason::Overflow, std::mem::take(&mut s.dropped));
        self.held = s.queue.len();
    }
}

impl<T: Send + 'static> Kernel for FeedSource<T> {
    type In = Never;
    type Out = T;
    const CAPS: Caps = Caps { source: true, ..Caps::EXTERNAL };

    fn on_push(&mut self, x: Never, _out: &mut Out<'_, T>, _cx: &mut Cx) -> Sig {
        match x {}
    }

    fn on_pull(&mut self, out: &mut Out<'_, T>, cx: &mut Cx) -> Sig {
        let feed = self.feed.clone();
        let mut s = feed.lock();
        while out.demand() > 0 && !matches!(s.end, Some(Err(_))) {
            let Some(x) = s.queue.pop_front() else { break };
            out.emit(x);
        }
        self.sync(&mut s, cx);
        match &s.end {
            Some(Err(e)) => {
                let e = e.clone();
                s.closed = true;
                s.queue.clear();
                Sig::fail(e)
            }
            Some(Ok(())) if s.queue.is_empty() => Sig::Done,
            _ => {
                s.waits = s.queue.is_empty();
                Sig::Continue
            }
        }
    }

    fn on_wake(&mut self, _out: &mut Out<'_, T>, cx: &mut Cx) -> Sig {
        let feed = self.feed.clone();
        self.sync(&mut feed.lock(), cx);
        Sig::Continue
    }

    fn on_cancel(&mut self, _cause: &Cause, cx: &mut Cx) {
        let feed = self.feed.clone();
        let mut s = feed.lock();
        self.sync(&mut s, cx);
        s.closed = true;
        s.queue.clear();
    }

    fn held(&self) -> usize {
        self.held
    }
}
