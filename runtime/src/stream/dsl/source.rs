//! `Source`: where elements come from, and the plans that a source is nested of.

use std::ops::Range as Numbers;
use std::time::Duration;

use super::flow::{Flow, FlowPlan};
use super::operators::{Factory, Operators};
use super::sink::{Closed, Sink, SinkPlan};
use crate::stream::blueprint::Builder;
use crate::stream::boundary::RingReader;
use crate::stream::kernel::{Kernel, Never};
use crate::stream::ops::feed::{Feed, FeedError, FeedSource};
use crate::stream::ops::from_iter::FromIter;
use crate::stream::ops::range::Range;
use crate::stream::ops::tick::Tick;
use crate::stream::pipe::{Head, Pipe, Then};
use crate::stream::signal::OverflowStrategy;

/// The blueprint of a chain that ends open.
pub trait Plan: Clone + Send + Sync + 'static {
    /// What it emits.
    type Out: Send + 'static;
    /// What it becomes.
    type Pipe: Pipe<Out = Self::Out>;
    /// Builds it.
    fn build(&self, b: &mut Builder) -> Self::Pipe;
}

/// The plan of a source kernel.
#[derive(Clone)]
pub struct SourcePlan<F>(pub(super) F, pub(super) &'static str);

impl<F, K> Plan for SourcePlan<F>
where
    F: Fn(&mut Builder) -> K + Clone + Send + Sync + 'static,
    K: Kernel<In = Never>,
{
    type Out = K::Out;
    type Pipe = Head<K>;
    fn build(&self, b: &mut Builder) -> Head<K> {
        let kernel = (self.0)(b);
        Head(b.typed(self.1, kernel))
    }
}

/// The plan of a chain with one more stage.
#[derive(Clone)]
pub struct ThenPlan<U, F> {
    pub(super) up: U,
    pub(super) stage: F,
}

impl<U: Plan, F: Factory<In = U::Out>> Plan for ThenPlan<U, F> {
    type Out = F::Out;
    type Pipe = Then<U::Pipe, F::Kernel>;
    fn build(&self, b: &mut Builder) -> Self::Pipe {
        let up = self.up.build(b);
        Then { up, cell: b.typed(self.stage.name(), self.stage.kernel()) }
    }
}

/// The plan of a chain that is cut here.
#[derive(Clone)]
pub struct BoundaryPlan<U> {
    pub(super) up: U,
    pub(super) capacity: usize,
}

impl<U: Plan> Plan for BoundaryPlan<U> {
    type Out = U::Out;
    type Pipe = Head<RingReader<U::Out>>;
    fn build(&self, b: &mut Builder) -> Self::Pipe {
        let up = self.up.build(b);
        b.cut(up, self.capacity)
    }
}

/// A blueprint of elements.
///
/// # Examples
/// ```
/// use footlights::stream::{Operators, Sink, Source};
/// let squares = Source::range(0..5).map(|n| n * n).filter(|n| n % 2 == 0);
/// assert_eq!(squares.to(Sink::to_vec(100)).run_local().take(), Some(Ok(vec![0, 4, 16])));
/// ```
#[derive(Clone)]
pub struct Source<P> {
    pub(super) plan: P,
}

impl Source<()> {
    /// Emits the numbers of a range.
    pub fn range(numbers: Numbers<i64>) -> Source<impl Plan<Out = i64>> {
        Source { plan: SourcePlan(move |_: &mut Builder| Range::new(numbers.clone()), "range") }
    }

    /// Emits the elements of a collection; each run iterates over its own clone.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let done = Source::from_iter(["a", "b"]).to(Sink::to_vec(10)).run_local();
    /// assert_eq!(done.take(), Some(Ok(vec!["a", "b"])));
    /// ```
    #[allow(clippy::should_implement_trait)]
    pub fn from_iter<I>(elements: I) -> Source<impl Plan<Out = I::Item>>
    where
        I: IntoIterator + Clone + Send + Sync + 'static,
        I::IntoIter: Send + 'static,
        I::Item: Send + 'static,
    {
        let make = move |_: &mut Builder| FromIter::new(elements.clone().into_iter());
        Source { plan: SourcePlan(make, "from_iter") }
    }

    /// Emits `x` after `initial` and then every `interval`, if there is demand.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// use std::time::Duration;
    /// let ticks = Source::tick(Duration::ZERO, Duration::from_millis(10), 1).take(3);
    /// assert_eq!(ticks.to(Sink::fold(0, |n, x| n + x)).run_local().take(), Some(Ok(3)));
    /// ```
    pub fn tick<T>(initial: Duration, interval: Duration, x: T) -> Source<impl Plan<Out = T>>
    where
        T: Clone + Send + Sync + 'static,
    {
        let make = move |_: &mut Builder| Tick::new(initial, interval, x.clone());
        Source { plan: SourcePlan(make, "tick") }
    }

    /// Makes a source that is fed through a handle, for one run: a second run shares its queue.
    ///
    /// # Errors
    /// If the strategy is Backpressure, or the capacity 0.
    pub fn feed<T: Send + 'static>(
        capacity: usize,
        strategy: OverflowStrategy,
    ) -> Result<(Feed<T>, Source<impl Plan<Out = T>>), FeedError> {
        let feed = Feed::new(capacity, strategy)?;
        let own = feed.clone();
        let make = move |b: &mut Builder| {
            own.attach(b.shared().clone(), b.part());
            FeedSource::new(own.clone())
        };
        Ok((feed, Source { plan: SourcePlan(make, "feed") }))
    }
}

impl<P: Plan> Source<P> {
    pub(crate) fn plan(&self) -> &P {
        &self.plan
    }

    /// Puts a flow behind it.
    pub fn via<G: FlowPlan<In = P::Out>>(self, flow: Flow<G>) -> Source<G::Attached<P>> {
        Source { plan: flow.plan.attach(self.plan) }
    }

    /// Closes it with a sink.
    pub fn to<S: SinkPlan<In = P::Out>>(self, sink: Sink<S>) -> Closed<P, S> {
        Closed { plan: self.plan, sink: sink.plan }
    }
}

impl<P: Plan> Operators for Source<P> {
    type Item = P::Out;
    type With<F: Factory<In = P::Out>> = Source<ThenPlan<P, F>>;
    type Cut = Source<BoundaryPlan<P>>;

    fn stage<F: Factory<In = P::Out>>(self, stage: F) -> Self::With<F> {
        Source { plan: ThenPlan { up: self.plan, stage } }
    }

    fn async_boundary_of(self, capacity: usize) -> Self::Cut {
        Source { plan: BoundaryPlan { up: self.plan, capacity } }
    }
}
