//! `TimedOperators`: time, requests and rates behind a `Source` or a `Flow`, one line each; the meaning is in `ops/`.

use std::time::Duration;

use super::operators::{Factory, Make, Operators};
use crate::stream::ops::buffer::Buffer;
use crate::stream::ops::conflate::Conflate;
use crate::stream::ops::delay::Delay;
use crate::stream::ops::expand::Expand;
use crate::stream::ops::grouped_within::GroupedWithin;
use crate::stream::ops::job::Job;
use crate::stream::ops::keep_alive::KeepAlive;
use crate::stream::ops::latest::{Latest, When};
use crate::stream::ops::map_async::MapAsync;
use crate::stream::ops::map_async_partitioned::{MapAsyncPartitioned, Order};
use crate::stream::ops::map_async_unordered::MapAsyncUnordered;
use crate::stream::ops::timeouts::Timeout;
use crate::stream::ops::within::{DropWithin, TakeWithin};
use crate::stream::signal::{OverflowStrategy, TimeoutKind};

/// The operators of time, requests and rates; every [`Operators`] has them.
pub trait TimedOperators: Operators {
    /// Does a job per element, at most `parallelism` at a time, and emits the results as they come.
    ///
    /// ```
    /// use footlights::stream::{Job, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let late_first = |n: i64| Job::After(Duration::from_millis(30 - 10 * n as u64), Ok(n));
    /// let any = Source::range(0..3).map_async_unordered(3, late_first);
    /// assert_eq!(any.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![2, 1, 0])));
    /// ```
    #[doc(alias = "buffer_unordered")]
    fn map_async_unordered<B, F>(
        self,
        parallelism: usize,
        f: F,
    ) -> Self::With<impl Factory<In = Self::Item, Out = B>>
    where
        B: Send + 'static,
        F: FnMut(Self::Item) -> Job<B> + Clone + Send + Sync + 'static,
    {
        self.stage(Make("map_async_unordered", move || MapAsyncUnordered::new(parallelism, f.clone())))
    }

    /// As `map_async`, where done results that wait for an older one do not take a place of the `parallelism`, until
    /// `window` elements are running or done.
    ///
    /// ```
    /// use footlights::stream::{Job, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let first_is_slow = |n: i64| Job::After(Duration::from_millis(if n == 0 { 20 } else { 5 }), Ok(n));
    /// let stream = Source::range(0..4).map_async_window(2, 4, first_is_slow);
    /// assert_eq!(stream.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![0, 1, 2, 3])));
    /// ```
    #[doc(alias = "buffered")]
    fn map_async_window<B, F>(
        self,
        parallelism: usize,
        window: usize,
        f: F,
    ) -> Self::With<impl Factory<In = Self::Item, Out = B>>
    where
        B: Send + 'static,
        F: FnMut(Self::Item) -> Job<B> + Clone + Send + Sync + 'static,
    {
        self.stage(Make("map_async", move || MapAsync::new(parallelism, f.clone()).window(window)))
    }

    /// Does a job per element, at most `parallelism` at a time and one per key; `order` says how results go out.
    ///
    /// ```
    /// use footlights::stream::{Job, Order, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let job = |n: i64| Job::After(Duration::from_millis(5), Ok(n));
    /// let stream = Source::range(0..6).map_async_partitioned(4, Order::Input, |n| n % 2, job);
    /// assert_eq!(stream.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![0, 1, 2, 3, 4, 5])));
    /// ```
    fn map_async_partitioned<B, K, G, F>(
        self,
        parallelism: usize,
        order: Order,
        key: G,
        f: F,
    ) -> Self::With<impl Factory<In = Self::Item, Out = B>>
    where
        B: Send + 'static,
        K: Ord + Clone + Send + 'static,
        G: FnMut(&Self::Item) -> K + Clone + Send + Sync + 'static,
        F: FnMut(Self::Item) -> Job<B> + Clone + Send + Sync + 'static,
    {
        let make = move || MapAsyncPartitioned::new(parallelism, order, key.clone(), f.clone());
        self.stage(Make("map_async_partitioned", make))
    }

    /// While downstream is slow, folds what arrives into one element.
    ///
    /// ```
    /// use footlights::stream::{Operators, Sink, Source, Time, TimedOperators};
    /// use std::time::Duration;
    /// let sums = Source::range(1..101).conflate(|a, b| a + b).async_boundary_of(1);
    /// let slow = sums.worked(Time::Constant(Duration::from_millis(1))).to(Sink::fold(0, |a, n| a + n));
    /// assert_eq!(slow.run_local().take(), Some(Ok(5050)));
    /// ```
    fn conflate<F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(Self::Item, Self::Item) -> Self::Item + Clone + Send + Sync + 'static,
    {
        self.stage(Make("conflate", move || Conflate::new(None, |_: &Self::Item| 0, |x| x, f.clone())))
    }

    /// As [`conflate`](Self::conflate), where `seed` makes a summary of its first element.
    ///
    /// ```
    /// use footlights::stream::{Operators, Sink, Source, TimedOperators};
    /// let counts = Source::range(0..100).conflate_with_seed(|_| 1, |n, _| n + 1).async_boundary_of(1);
    /// assert_eq!(counts.to(Sink::fold(0, |sum, n| sum + n)).run_local().take(), Some(Ok(100)));
    /// ```
    fn conflate_with_seed<S, Z, F>(self, seed: Z, f: F) -> Self::With<impl Factory<In = Self::Item, Out = S>>
    where
        S: Send + 'static,
        Z: FnMut(Self::Item) -> S + Clone + Send + Sync + 'static,
        F: FnMut(S, Self::Item) -> S + Clone + Send + Sync + 'static,
    {
        self.stage(Make("conflate", move || Conflate::new(None, |_: &Self::Item| 0, seed.clone(), f.clone())))
    }

    /// As [`conflate_with_seed`](Self::conflate_with_seed), but a summary of `max` elements backpressures.
    ///
    /// ```
    /// use footlights::stream::{Operators, Sink, Source, TimedOperators};
    /// let texts = Source::range(0..20).batch(5, |n| n.to_string(), |text, n| format!("{text} {n}"));
    /// let most = texts.async_boundary_of(1).map(|text| text.split(' ').count()).to(Sink::fold(0, usize::max));
    /// assert!(most.run_local().take().unwrap().unwrap() <= 5);
    /// ```
    #[doc(alias = "ready_chunks")]
    fn batch<S, Z, F>(self, max: u64, seed: Z, f: F) -> Self::With<impl Factory<In = Self::Item, Out = S>>
    where
        S: Send + 'static,
        Z: FnMut(Self::Item) -> S + Clone + Send + Sync + 'static,
        F: FnMut(S, Self::Item) -> S + Clone + Send + Sync + 'static,
    {
        self.batch_weighted(max, |_: &Self::Item| 1, seed, f)
    }

    /// As [`batch`](Self::batch), where `cost` says what an element takes of `max`; a dearer one is a summary of its own.
    ///
    /// ```
    /// use footlights::stream::{Operators, Sink, Source, TimedOperators};
    /// let sums = Source::range(1..8).batch_weighted(9, |n| *n as u64, |n| n, |a, b| a + b).async_boundary_of(1);
    /// assert!(sums.to(Sink::to_vec(9)).run_local().take().unwrap().unwrap().iter().all(|sum| *sum <= 9));
    /// ```
    fn batch_weighted<S, C, Z, F>(
        self,
        max: u64,
        cost: C,
        seed: Z,
        f: F,
    ) -> Self::With<impl Factory<In = Self::Item, Out = S>>
    where
        S: Send + 'static,
        C: FnMut(&Self::Item) -> u64 + Clone + Send + Sync + 'static,
        Z: FnMut(Self::Item) -> S + Clone + Send + Sync + 'static,
        F: FnMut(S, Self::Item) -> S + Clone + Send + Sync + 'static,
    {
        let make = move || Conflate::new(Some(max), cost.clone(), seed.clone(), f.clone());
        self.stage(Make("batch", make))
    }

    /// Pulls one element before downstream asks.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source, TimedOperators};
    /// assert_eq!(Source::range(0..3).detach().to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![0, 1, 2])));
    /// ```
    fn detach(self) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("detach", || Buffer::new(1, OverflowStrategy::Backpressure)))
    }

    /// Hands each element on `d` after it arrived, and holds at most `buffer` meanwhile.
    ///
    /// ```
    /// use footlights::stream::{LocalRun, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let (built, done) = Source::range(0..3).delay(Duration::from_millis(100), 16).to(Sink::ignore()).build(1);
    /// let mut run = LocalRun::new(built, 1);
    /// run.run();
    /// assert_eq!((run.now().as_nanos(), done.take()), (100_000_000, Some(Ok(3))));
    /// ```
    fn delay(
        self,
        d: Duration,
        buffer: usize,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("delay", move || Delay::new(d, buffer)))
    }

    /// Emits chunks of `n` elements, or of what came within `d` of a chunk's first element.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let chunks = Source::range(0..5).grouped_within(2, Duration::from_secs(1));
    /// assert_eq!(chunks.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![vec![0, 1], vec![2, 3], vec![4]])));
    /// ```
    #[doc(alias = "chunks_timeout")]
    fn grouped_within(
        self,
        n: usize,
        d: Duration,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Vec<Self::Item>>> {
        let make = move || GroupedWithin::new(n as u64, d, |_: &Self::Item| 1);
        self.stage(Make("grouped_within", make))
    }

    /// As [`grouped_within`](Self::grouped_within), where a chunk weighs at most `max`; a heavier element is alone.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let chunks = Source::range(1..5).grouped_weighted_within(5, Duration::from_secs(1), |n| *n as u64);
    /// assert_eq!(chunks.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![vec![1, 2], vec![3], vec![4]])));
    /// ```
    fn grouped_weighted_within<W>(
        self,
        max: u64,
        d: Duration,
        weight: W,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Vec<Self::Item>>>
    where
        W: FnMut(&Self::Item) -> u64 + Clone + Send + Sync + 'static,
    {
        self.stage(Make("grouped_weighted_within", move || GroupedWithin::new(max, d, weight.clone())))
    }

    /// Fails if no element comes for `d`.
    ///
    /// ```
    /// use footlights::stream::{Job, Operators, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let late = Source::range(0..1).map_async(1, |n| Job::After(Duration::from_secs(2), Ok(n)));
    /// let stream = late.idle_timeout(Duration::from_secs(1)).to(Sink::ignore());
    /// assert_eq!(stream.run_local().take().unwrap().unwrap_err().to_string(), "idle timeout at idle_timeout");
    /// ```
    #[doc(alias = "timeout")]
    fn idle_timeout(self, d: Duration) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("idle_timeout", move || Timeout::new(TimeoutKind::Idle, d)))
    }

    /// Fails if the first element does not come within `d`.
    ///
    /// ```
    /// use footlights::stream::{Job, Operators, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let slow = Source::range(0..3).map_async(1, |n| Job::After(Duration::from_secs(1), Ok(n)));
    /// let done = slow.initial_timeout(Duration::from_millis(900)).to(Sink::ignore()).run_local();
    /// assert_eq!(done.take().unwrap().unwrap_err().to_string(), "initial timeout at initial_timeout");
    /// ```
    fn initial_timeout(self, d: Duration) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("initial_timeout", move || Timeout::new(TimeoutKind::Initial, d)))
    }

    /// Fails if the stream has not ended within `d`.
    ///
    /// ```
    /// use footlights::stream::{Job, Operators, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let slow = Source::range(0..3).map_async(1, |n| Job::After(Duration::from_secs(1), Ok(n)));
    /// let done = slow.completion_timeout(Duration::from_secs(2)).to(Sink::ignore()).run_local();
    /// assert!(done.take().unwrap().is_err());
    /// ```
    fn completion_timeout(self, d: Duration) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("completion_timeout", move || Timeout::new(TimeoutKind::Completion, d)))
    }

    /// Fails if downstream asks for nothing for `d`.
    ///
    /// ```
    /// use footlights::stream::{Operators, Sink, Source, Time, TimedOperators};
    /// use std::time::Duration;
    /// let cut = Source::range(0..9).backpressure_timeout(Duration::from_secs(1)).async_boundary_of(1);
    /// let slow = cut.worked(Time::Constant(Duration::from_secs(2))).to(Sink::ignore());
    /// assert!(slow.run_local().take().unwrap().is_err());
    /// ```
    fn backpressure_timeout(
        self,
        d: Duration,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("backpressure_timeout", move || Timeout::new(TimeoutKind::Backpressure, d)))
    }

    /// Emits what comes within `d`, then completes and cancels upstream.
    ///
    /// ```
    /// use footlights::stream::{Job, Operators, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let slow = Source::range(0..3).map_async(1, |n| Job::After(Duration::from_secs(1), Ok(n)));
    /// let two = slow.take_within(Duration::from_millis(2_500)).to(Sink::to_vec(9));
    /// assert_eq!(two.run_local().take(), Some(Ok(vec![0, 1])));
    /// ```
    fn take_within(self, d: Duration) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("take_within", move || TakeWithin::new(d)))
    }

    /// Leaves out what comes within `d`.
    ///
    /// ```
    /// use footlights::stream::{Job, Operators, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let slow = Source::range(0..3).map_async(1, |n| Job::After(Duration::from_secs(1), Ok(n)));
    /// let last = slow.drop_within(Duration::from_millis(2_500)).to(Sink::to_vec(9));
    /// assert_eq!(last.run_local().take(), Some(Ok(vec![2])));
    /// ```
    #[doc(alias = "skip_within")]
    fn drop_within(self, d: Duration) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("drop_within", move || DropWithin::new(d)))
    }

    /// Emits what `f` gives whenever nothing else was emitted for `d`.
    ///
    /// ```
    /// use footlights::stream::{Job, Operators, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let slow = Source::range(0..3).map_async(1, |n| Job::After(Duration::from_secs(1), Ok(n)));
    /// let filled = slow.keep_alive(Duration::from_millis(600), || -1).to(Sink::to_vec(9));
    /// assert_eq!(filled.run_local().take(), Some(Ok(vec![-1, 0, -1, 1, -1, 2])));
    /// ```
    fn keep_alive<F>(self, d: Duration, f: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut() -> Self::Item + Clone + Send + Sync + 'static,
    {
        self.stage(Make("keep_alive", move || KeepAlive::new(d, f.clone())))
    }

    /// Fills demand that upstream does not serve from the iterator that `f` makes of the last element.
    ///
    /// ```
    /// use footlights::stream::{Job, Operators, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let slow = Source::range(1..3).map_async(1, |n| Job::After(Duration::from_secs(1), Ok(n)));
    /// let more = slow.expand(|n| [n, 10 * n, 100 * n].into_iter());
    /// assert_eq!(more.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1, 10, 100, 2])));
    /// ```
    fn expand<I, F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = I::Item>>
    where
        I: Iterator + Send + 'static,
        I::Item: Send + 'static,
        F: FnMut(Self::Item) -> I + Clone + Send + Sync + 'static,
    {
        self.stage(Make("expand", move || Expand::new(f.clone())))
    }

    /// As [`expand`](Self::expand) with the elements themselves first; `initial` serves the demand before the first one.
    ///
    /// ```
    /// use footlights::stream::{Job, Operators, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let slow = Source::range(0..3).map_async(1, |n| Job::After(Duration::from_secs(1), Ok(n)));
    /// let more = slow.extrapolate(Some(-1), |n| [n].into_iter()).take(5).to(Sink::to_vec(9));
    /// assert_eq!(more.run_local().take(), Some(Ok(vec![-1, -1, 0, 0, 1])));
    /// ```
    fn extrapolate<I, F>(
        self,
        initial: Option<Self::Item>,
        f: F,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        Self::Item: Clone + Sync,
        I: Iterator<Item = Self::Item> + Send + 'static,
        F: FnMut(Self::Item) -> I + Clone + Send + Sync + 'static,
    {
        let make = move || {
            let mut f = f.clone();
            let mut all = move |x: Self::Item| std::iter::once(x.clone()).chain(f(x));
            Expand::starting(initial.clone().map(&mut all), all)
        };
        self.stage(Make("extrapolate", make))
    }

    /// Emits the last element before nothing comes for `d`.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let last = Source::range(0..9).debounce(Duration::from_secs(1)).to(Sink::to_vec(9));
    /// assert_eq!(last.run_local().take(), Some(Ok(vec![8])));
    /// ```
    fn debounce(self, d: Duration) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("debounce", move || Latest::new(When::Quiet, d)))
    }

    /// Emits the last element of each period of `d`.
    ///
    /// ```
    /// use footlights::stream::{Job, Operators, Sink, Source, TimedOperators};
    /// use std::time::Duration;
    /// let slow = Source::range(0..3).map_async(1, |n| Job::After(Duration::from_secs(1), Ok(n)));
    /// let some = slow.sample(Duration::from_millis(1_600)).to(Sink::to_vec(9));
    /// assert_eq!(some.run_local().take(), Some(Ok(vec![0, 2])));
    /// ```
    #[doc(alias = "audit")]
    fn sample(self, d: Duration) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("sample", move || Latest::new(When::Period, d)))
    }
}

impl<T: Operators> TimedOperators for T {}
