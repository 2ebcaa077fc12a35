//! `Operators`: what can be put behind a `Source` or a `Flow`, one line each; the meaning is in `ops/`.

use std::time::Duration;

use crate::stream::kernel::{Cx, Kernel};
use crate::stream::ops::buffer::Buffer;
use crate::stream::ops::filter::Filter;
use crate::stream::ops::fold::Fold;
use crate::stream::ops::grouped::Grouped;
use crate::stream::ops::map::{Map, MapCx, TryMap};
use crate::stream::ops::map_async::{Job, MapAsync};
use crate::stream::ops::take::Take;
use crate::stream::ops::throttle::{Rate, Throttle, ThrottleMode};
use crate::stream::ops::worked::{Time, Worked};
use crate::stream::signal::OverflowStrategy;

/// The capacity of a boundary, unless said otherwise.
pub(crate) const BOUNDARY_CAPACITY: usize = 16;

/// Makes a fresh kernel for each run: the blueprint of one stage.
pub trait Factory: Clone + Send + Sync + 'static {
    /// What the stage takes.
    type In: Send + 'static;
    /// What it emits.
    type Out: Send + 'static;
    /// Its kernel.
    type Kernel: Kernel<In = Self::In, Out = Self::Out>;
    /// Names the operator.
    fn name(&self) -> &'static str;
    /// Makes the kernel.
    fn kernel(&self) -> Self::Kernel;
}

#[derive(Clone)]
pub(in crate::stream) struct Make<F>(pub(in crate::stream) &'static str, pub(in crate::stream) F);

impl<F, K> Factory for Make<F>
where
    F: Fn() -> K + Clone + Send + Sync + 'static,
    K: Kernel,
{
    type In = K::In;
    type Out = K::Out;
    type Kernel = K;
    fn name(&self) -> &'static str {
        self.0
    }
    fn kernel(&self) -> K {
        (self.1)()
    }
}

/// The operators of [`Source`](super::Source) and [`Flow`](super::Flow).
pub trait Operators: Sized {
    /// What is emitted so far.
    type Item: Send + 'static;
    /// The same with one more stage.
    type With<F: Factory<In = Self::Item>>;
    /// The same, cut.
    type Cut;

    /// Adds a stage of one's own.
    fn stage<F: Factory<In = Self::Item>>(self, stage: F) -> Self::With<F>;

    /// Runs all that is upstream as an island of its own, behind a ring of at least `capacity` elements.
    fn async_boundary_of(self, capacity: usize) -> Self::Cut;

    /// Runs all that is upstream as an island of its own, behind a ring of 16 elements.
    ///
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let done = Source::range(0..100).async_boundary().to(Sink::fold(0, |a, n| a + n)).run_local();
    /// assert_eq!(done.take(), Some(Ok(4950)));
    /// ```
    fn async_boundary(self) -> Self::Cut {
        self.async_boundary_of(BOUNDARY_CAPACITY)
    }

    /// Emits `f` of each element.
    fn map<B, F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = B>>
    where
        B: Send + 'static,
        F: FnMut(Self::Item) -> B + Clone + Send + Sync + 'static,
    {
        self.stage(Make("map", move || Map::new(f.clone())))
    }

    /// Emits `f` of each element; the stream fails where `f` fails.
    ///
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let numbers = Source::from_iter(["1", "x"]).try_map(|t| t.parse::<i32>());
    /// assert!(numbers.to(Sink::ignore()).run_local().take().unwrap().is_err());
    /// ```
    fn try_map<B, E, F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = B>>
    where
        B: Send + 'static,
        E: std::fmt::Display + 'static,
        F: FnMut(Self::Item) -> Result<B, E> + Clone + Send + Sync + 'static,
    {
        self.stage(Make("try_map", move || TryMap::new(f.clone())))
    }

    /// Emits `f` of each element, where `f` may charge work.
    ///
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// use std::time::Duration;
    /// let slow = Source::range(0..3).map_cx(|cx, n| {
    ///     cx.work(Duration::from_millis(10));
    ///     (n, cx.now().as_nanos() / 1_000_000)
    /// });
    /// assert_eq!(slow.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![(0, 0), (1, 10), (2, 20)])));
    /// ```
    fn map_cx<B, F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = B>>
    where
        B: Send + 'static,
        F: FnMut(&mut Cx, Self::Item) -> B + Clone + Send + Sync + 'static,
    {
        self.stage(Make("map_cx", move || MapCx::new(f.clone())))
    }

    /// Hands each element on after `time` of CPU work.
    fn worked(self, time: Time) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        let none = Time::Constant(Duration::ZERO);
        self.stage(Make("worked", move || Worked::new(Map::new(|x| x), time, none)))
    }

    /// Emits the elements for which `keep` holds.
    fn filter<F>(self, keep: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(&Self::Item) -> bool + Clone + Send + Sync + 'static,
    {
        self.stage(Make("filter", move || Filter::new(keep.clone())))
    }

    /// Emits the first `n` elements, then completes and cancels upstream.
    fn take(self, n: u64) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("take", move || Take::new(n)))
    }

    /// Emits chunks of `n` elements.
    fn grouped(self, n: usize) -> Self::With<impl Factory<In = Self::Item, Out = Vec<Self::Item>>> {
        self.stage(Make("grouped", move || Grouped::new(n)))
    }

    /// Queues up to `capacity` elements; `strategy` says what happens to one more.
    fn buffer(
        self,
        capacity: usize,
        strategy: OverflowStrategy,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("buffer", move || Buffer::new(capacity, strategy)))
    }

    /// Lets at most `rate` elements pass.
    fn throttle(
        self,
        rate: Rate,
        mode: ThrottleMode,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("throttle", move || Throttle::new(rate, mode, |_: &Self::Item| 1)))
    }

    /// Lets at most `rate` cost units pass, where `cost` gives the units of an element.
    fn throttle_by<F>(
        self,
        rate: Rate,
        mode: ThrottleMode,
        cost: F,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(&Self::Item) -> u64 + Clone + Send + Sync + 'static,
    {
        self.stage(Make("throttle", move || Throttle::new(rate, mode, cost.clone())))
    }

    /// Does a job per element, at most `parallelism` at a time, and emits the results in order.
    ///
    /// ```
    /// use footlights::stream::{Job, Operators, Sink, Source};
    /// use std::time::Duration;
    /// let later = Source::range(0..3).map_async(2, |n| Job::After(Duration::from_millis(5), Ok(n * 2)));
    /// assert_eq!(later.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![0, 2, 4])));
    /// ```
    fn map_async<B, F>(self, parallelism: usize, f: F) -> Self::With<impl Factory<In = Self::Item, Out = B>>
    where
        B: Send + 'static,
        F: FnMut(Self::Item) -> Job<B> + Clone + Send + Sync + 'static,
    {
        self.stage(Make("map_async", move || MapAsync::new(parallelism, f.clone())))
    }

    /// Accumulates all elements and emits the one result at the end.
    fn fold<S, F>(self, zero: S, f: F) -> Self::With<impl Factory<In = Self::Item, Out = S>>
    where
        S: Clone + Send + Sync + 'static,
        F: FnMut(S, Self::Item) -> S + Clone + Send + Sync + 'static,
    {
        self.stage(Make("fold", move || Fold::new(zero.clone(), f.clone())))
    }
}
