//! What joins a source with others, or splits off a sink: short words for small graphs.
//!
//! Each becomes a junction with fused edges; a boundary before or behind it makes an island of that side. A wider graph,
//! or one in which the split-off sink's result is wanted, is a [`Graph`](crate::stream::Graph).

use std::sync::Arc;

use super::sink::{Sink, SinkPlan};
use super::source::{Plan, Source};
use crate::stream::blueprint::Builder;
use crate::stream::graph::junction::{FanOutOf, Inputs, Junction};
use crate::stream::graph::node::Inlet;
use crate::stream::junctions::{Broadcast, Concat, Interleave, Merge, Partition, ZipWith};
use crate::stream::junctions::{MergeLatest, MergePrioritized, MergeSorted, OrElse, WithLatest, ZipLatest};
use crate::stream::pipe::Then;

/// The plan of two sources that become one.
#[derive(Clone)]
struct Join<L, R, F> {
    left: L,
    right: R,
    name: &'static str,
    make: F,
}

impl<L, R, J, F, C> Plan for Join<L, R, F>
where
    L: Plan,
    R: Plan,
    J: Junction,
    C: Send + 'static,
    F: Fn() -> (J, std::marker::PhantomData<fn() -> C>) + Clone + Send + Sync + 'static,
{
    type Out = C;
    type Pipe = Inlet<C>;
    fn build(&self, b: &mut Builder) -> Inlet<C> {
        let left = self.left.build(b);
        let left = b.open(left, self.name.into());
        let right = self.right.build(b);
        let right = b.open(right, self.name.into());
        let name: Arc<str> = format!("{} {}", self.name, b.part()).into();
        let inputs = Inputs::default().of::<L::Out>(1).of::<R::Out>(1);
        let ports = [name.clone(), name.clone()];
        let (ins, outs) = b.junction(&name, (self.make)().0, inputs, (&ports, &ports[..1]));
        for (outlet, edge) in [left, right].into_iter().zip(ins) {
            b.wire(outlet, edge);
        }
        let edge = b.inlet::<C>(name);
        outs.into_iter().for_each(|out| b.wire(out, edge));
        Inlet::new(edge)
    }
}

fn emits<C, J>(junction: J) -> (J, std::marker::PhantomData<fn() -> C>) {
    (junction, std::marker::PhantomData)
}

/// The plan of a source with a sink split off.
#[derive(Clone)]
pub(super) struct Split<U, S, F> {
    pub(super) up: U,
    pub(super) sink: S,
    pub(super) name: &'static str,
    pub(super) make: F,
}

impl<U, S, J, F> Plan for Split<U, S, F>
where
    U: Plan,
    S: SinkPlan<In = U::Out>,
    J: FanOutOf<In = U::Out, Out = U::Out>,
    F: Fn() -> J + Clone + Send + Sync + 'static,
{
    type Out = U::Out;
    type Pipe = Inlet<U::Out>;
    fn build(&self, b: &mut Builder) -> Inlet<U::Out> {
        let up = self.up.build(b);
        let up = b.open(up, self.name.into());
        let name: Arc<str> = format!("{} {}", self.name, b.part()).into();
        let ports = [name.clone(), name.clone()];
        let inputs = Inputs::default().of::<U::Out>(1);
        let (ins, outs) = b.junction(&name, (self.make)(), inputs, (&ports[..1], &ports));
        ins.into_iter().zip([up]).for_each(|(edge, up)| b.wire(up, edge));
        let side = b.inlet::<U::Out>(name.clone());
        let cell = b.typed(self.sink.name(), self.sink.build().0);
        b.close(Then { up: Inlet::new(side), cell });
        let main = b.inlet::<U::Out>(name);
        outs.into_iter().zip([main, side]).for_each(|(out, edge)| b.wire(out, edge));
        Inlet::new(main)
    }
}

impl<P: Plan> Source<P> {
    fn join<R, J, C>(
        self,
        name: &'static str,
        other: Source<R>,
        make: impl Fn() -> J + Clone + Send + Sync + 'static,
    ) -> Source<impl Plan<Out = C>>
    where
        R: Plan,
        J: Junction,
        C: Send + 'static,
    {
        Source {
            plan: Join { left: self.plan, right: other.plan, name, make: move || emits::<C, J>(make()) },
        }
    }

    /// Emits the elements of both, whoever has one; completes when both have.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source};
    /// let both = Source::range(0..3).merge(Source::range(10..13));
    /// assert_eq!(both.to(Sink::fold(0, |sum, n| sum + n)).run_local().take(), Some(Ok(36)));
    /// ```
    #[doc(alias = "select")]
    pub fn merge<R: Plan<Out = P::Out>>(self, other: Source<R>) -> Source<impl Plan<Out = P::Out>> {
        self.join("merge", other, Merge::<P::Out>::new)
    }

    /// Emits all elements of this one, then all of the other, of which one is asked for ahead.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source};
    /// let both = Source::range(0..2).concat(Source::range(5..7));
    /// assert_eq!(both.to(Sink::to_vec(10)).run_local().take(), Some(Ok(vec![0, 1, 5, 6])));
    /// ```
    #[doc(alias = "chain")]
    pub fn concat<R: Plan<Out = P::Out>>(self, other: Source<R>) -> Source<impl Plan<Out = P::Out>> {
        self.join("concat", other, Concat::<P::Out>::new)
    }

    /// As [`concat`](Source::concat), and asks the other for nothing before its turn.
    pub fn concat_lazy<R: Plan<Out = P::Out>>(self, other: Source<R>) -> Source<impl Plan<Out = P::Out>> {
        self.join("concat_lazy", other, || Concat::<P::Out>::new().lazy())
    }

    /// Emits all elements of the other, then all of this one.
    pub fn prepend<R: Plan<Out = P::Out>>(self, other: Source<R>) -> Source<impl Plan<Out = P::Out>> {
        other.concat(self)
    }

    /// Emits `segment` elements of this one, as many of the other, and so on; 0 counts as 1.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source};
    /// let both = Source::range(0..3).interleave(Source::range(10..13), 2);
    /// assert_eq!(both.to(Sink::to_vec(10)).run_local().take(), Some(Ok(vec![0, 1, 10, 11, 2, 12])));
    /// ```
    pub fn interleave<R: Plan<Out = P::Out>>(
        self,
        other: Source<R>,
        segment: usize,
    ) -> Source<impl Plan<Out = P::Out>> {
        self.join("interleave", other, move || Interleave::<P::Out>::new(segment))
    }

    /// Emits pairs, in lock step; completes with the shorter side.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source};
    /// let pairs = Source::range(0..9).zip(Source::from_iter(["a", "b"]));
    /// assert_eq!(pairs.to(Sink::to_vec(10)).run_local().take(), Some(Ok(vec![(0, "a"), (1, "b")])));
    /// ```
    pub fn zip<R: Plan>(self, other: Source<R>) -> Source<impl Plan<Out = (P::Out, R::Out)>> {
        self.zip_with(other, |a, b| (a, b))
    }

    /// Emits `f` of an element of each side, in lock step; completes with the shorter side.
    pub fn zip_with<R, C, F>(self, other: Source<R>, f: F) -> Source<impl Plan<Out = C>>
    where
        R: Plan,
        C: Send + 'static,
        F: FnMut(P::Out, R::Out) -> C + Clone + Send + Sync + 'static,
    {
        self.join("zip_with", other, move || ZipWith::new(f.clone()))
    }

    /// Hands every element to a sink as well, at the pace of the slower; the sink's result is not kept. If either side cancels, the
    /// other is completed.
    ///
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let stream = Source::range(0..5).also_to(Sink::for_each(|_cx, n| assert!(n < 5)));
    /// assert_eq!(stream.to(Sink::fold(0, |sum, n| sum + n)).run_local().take(), Some(Ok(10)));
    /// ```
    pub fn also_to<S>(self, sink: Sink<S>) -> Source<impl Plan<Out = P::Out>>
    where
        P::Out: Clone,
        S: SinkPlan<In = P::Out>,
    {
        let make = || Broadcast::<P::Out>::new().eager_cancel();
        Source { plan: Split { up: self.plan, sink: sink.plan, name: "also_to", make } }
    }

    /// Hands the elements for which `pred` holds to a sink, and the others on: errors as data. The sink's result is not kept.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source};
    /// let good = Source::range(0..6).divert_to(Sink::ignore(), |n| n % 3 == 0);
    /// assert_eq!(good.to(Sink::to_vec(10)).run_local().take(), Some(Ok(vec![1, 2, 4, 5])));
    /// ```
    pub fn divert_to<S, F>(self, sink: Sink<S>, pred: F) -> Source<impl Plan<Out = P::Out>>
    where
        S: SinkPlan<In = P::Out>,
        F: FnMut(&P::Out) -> bool + Clone + Send + Sync + 'static,
    {
        let make = move || {
            let mut pred = pred.clone();
            Partition::new(move |x: &P::Out| usize::from(pred(x)))
        };
        Source { plan: Split { up: self.plan, sink: sink.plan, name: "divert_to", make } }
    }

    /// Merges two sorted sources into one.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source};
    /// let both = Source::from_iter([1, 4, 9]).merge_sorted(Source::from_iter([2, 4, 5]));
    /// assert_eq!(both.to(Sink::to_vec(10)).run_local().take(), Some(Ok(vec![1, 2, 4, 4, 5, 9])));
    /// ```
    pub fn merge_sorted<R: Plan<Out = P::Out>>(self, other: Source<R>) -> Source<impl Plan<Out = P::Out>>
    where
        P::Out: Ord,
    {
        self.join("merge_sorted", other, MergeSorted::<P::Out>::new)
    }

    /// Emits the other's elements if this one completes without any.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source};
    /// let some = Source::range(0..0).or_else(Source::range(5..7));
    /// assert_eq!(some.to(Sink::to_vec(10)).run_local().take(), Some(Ok(vec![5, 6])));
    /// ```
    #[doc(alias = "switch_if_empty")]
    pub fn or_else<R: Plan<Out = P::Out>>(self, other: Source<R>) -> Source<impl Plan<Out = P::Out>> {
        self.join("or_else", other, OrElse::<P::Out>::new)
    }

    /// Emits the latest elements of both, on each new one; completes when both have.
    #[doc(alias = "combine_latest")]
    pub fn merge_latest<R: Plan<Out = P::Out>>(self, other: Source<R>) -> Source<impl Plan<Out = Vec<P::Out>>>
    where
        P::Out: Clone,
    {
        self.join("merge_latest", other, || MergeLatest::new(|row: Vec<P::Out>| row))
    }

    /// Emits the elements of both; while both have one, chance chooses by these weights (0 counts as 1).
    pub fn merge_prioritized<R: Plan<Out = P::Out>>(
        self,
        other: Source<R>,
        weights: [u32; 2],
    ) -> Source<impl Plan<Out = P::Out>> {
        self.join("merge_prioritized", other, move || MergePrioritized::<P::Out>::new(&weights))
    }

    /// Emits `f` of the latest elements of both, on each new one; completes with the first end.
    pub fn zip_latest_with<R, C, F>(self, other: Source<R>, f: F) -> Source<impl Plan<Out = C>>
    where
        R: Plan,
        C: Send + 'static,
        F: FnMut(&P::Out, &R::Out) -> C + Clone + Send + Sync + 'static,
    {
        self.join("zip_latest", other, move || ZipLatest::new(f.clone()))
    }

    /// Emits `f` of each element and the latest of the other; waits for the other's first.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source};
    /// let sums = Source::range(0..3).with_latest_from(Source::range(10..11), |n, ten| n + ten);
    /// assert_eq!(sums.to(Sink::to_vec(10)).run_local().take(), Some(Ok(vec![10, 11, 12])));
    /// ```
    pub fn with_latest_from<R, C, F>(self, other: Source<R>, f: F) -> Source<impl Plan<Out = C>>
    where
        R: Plan,
        C: Send + 'static,
        F: FnMut(P::Out, &R::Out) -> C + Clone + Send + Sync + 'static,
    {
        self.join("with_latest_from", other, move || WithLatest::new(f.clone()))
    }
}
