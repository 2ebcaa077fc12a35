//! `Elements`: the operators that look at one element after the other, one line each; the meaning is in `ops/`. A trait of
//! its own, so that no file grows too long.

use super::operators::{Factory, Make, Operators};
use crate::stream::ops::collect::{Collect, CollectUntil, Until};
use crate::stream::ops::drop_first::{DropFirst, DropWhile};
use crate::stream::ops::drop_repeated::DropRepeated;
use crate::stream::ops::filter::Filter;
use crate::stream::ops::grouped_weighted::GroupedWeighted;
use crate::stream::ops::inspect::Inspect;
use crate::stream::ops::intersperse::Intersperse;
use crate::stream::ops::limit::Limit;
use crate::stream::ops::map_concat::MapConcat;
use crate::stream::ops::reduce::{FoldWhile, Reduce};
use crate::stream::ops::scan::Scan;
use crate::stream::ops::sliding::Sliding;
use crate::stream::ops::stateful_map::StatefulMap;
use crate::stream::ops::take::Take;
use crate::stream::ops::take_last::TakeLast;
use crate::stream::ops::take_while::{Breaker, TakeWhile};
use crate::stream::ops::zip_with_index::ZipWithIndex;

/// More operators of [`Source`](super::Source) and [`Flow`](super::Flow): element by element.
///
/// ```
/// use footlights::stream::{Elements, Operators, Sink, Source};
/// let words = Source::from_iter(["a b", "c"]).map_concat(|line| line.split(' ')).intersperse("-");
/// assert_eq!(words.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec!["a", "-", "b", "-", "c"])));
/// ```
pub trait Elements: Operators {
    /// Emits the elements for which `leave_out` does not hold.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let odd = Source::range(0..5).filter_not(|n| n % 2 == 0);
    /// assert_eq!(odd.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1, 3])));
    /// ```
    #[doc(alias = "reject")]
    fn filter_not<F>(self, leave_out: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(&Self::Item) -> bool + Clone + Send + Sync + 'static,
    {
        let make = move || {
            let mut leave_out = leave_out.clone();
            Filter::new(move |x: &Self::Item| !leave_out(x))
        };
        self.stage(Make("filter_not", make))
    }

    /// Emits what `f` gives and leaves out the elements for which it gives nothing: the advised way with bad input.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let numbers = Source::from_iter(["1", "x", "3"]).collect(|t| t.parse::<i32>().ok());
    /// assert_eq!(numbers.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1, 3])));
    /// ```
    #[doc(alias = "filter_map")]
    #[doc(alias = "map_option")]
    fn collect<B, F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = B>>
    where
        B: Send + 'static,
        F: FnMut(Self::Item) -> Option<B> + Clone + Send + Sync + 'static,
    {
        self.stage(Make("collect", move || Collect::new(f.clone())))
    }

    /// Emits what `f` gives; at the first element for which it gives nothing, completes and cancels upstream.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let numbers = Source::from_iter(["1", "x", "3"]).collect_while(|t| t.parse::<i32>().ok());
    /// assert_eq!(numbers.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1])));
    /// ```
    #[doc(alias = "map_while")]
    fn collect_while<B, F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = B>>
    where
        B: Send + 'static,
        F: FnMut(Self::Item) -> Option<B> + Clone + Send + Sync + 'static,
    {
        self.stage(Make("collect_while", move || CollectUntil::new(f.clone(), Until::Undefined)))
    }

    /// Emits the first thing that `f` gives, then completes and cancels upstream.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let number = Source::from_iter(["x", "2", "3"]).collect_first(|t| t.parse::<i32>().ok());
    /// assert_eq!(number.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![2])));
    /// ```
    #[doc(alias = "find_map")]
    fn collect_first<B, F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = B>>
    where
        B: Send + 'static,
        F: FnMut(Self::Item) -> Option<B> + Clone + Send + Sync + 'static,
    {
        self.stage(Make("collect_first", move || CollectUntil::new(f.clone(), Until::Defined)))
    }

    /// Emits all that `f` makes of each element, one by one.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let copies = Source::range(0..4).map_concat(|n| vec![n; n as usize]);
    /// assert_eq!(copies.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1, 2, 2, 3, 3, 3])));
    /// ```
    #[doc(alias = "flat_map_iter")]
    #[doc(alias = "flatten")]
    fn map_concat<I, F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = I::Item>>
    where
        I: IntoIterator + 'static,
        I::IntoIter: Send + 'static,
        I::Item: Send + 'static,
        F: FnMut(Self::Item) -> I + Clone + Send + Sync + 'static,
    {
        self.stage(Make("map_concat", move || MapConcat::<_, I, _>::new(f.clone())))
    }

    /// As `map_concat`, with a function that is made for each run and may keep a state.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let numbered = Source::from_iter(["a", "b"]).stateful_map_concat(|| {
    ///     let mut seen = 0;
    ///     move |text| {
    ///         seen += 1;
    ///         vec![text; seen]
    ///     }
    /// });
    /// assert_eq!(numbered.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec!["a", "b", "b"])));
    /// ```
    fn stateful_map_concat<I, C, F>(
        self,
        create: C,
    ) -> Self::With<impl Factory<In = Self::Item, Out = I::Item>>
    where
        I: IntoIterator + 'static,
        I::IntoIter: Send + 'static,
        I::Item: Send + 'static,
        C: Fn() -> F + Clone + Send + Sync + 'static,
        F: FnMut(Self::Item) -> I + Send + 'static,
    {
        self.stage(Make("stateful_map_concat", move || MapConcat::<_, I, _>::new(create())))
    }

    /// Emits `f` of a state and each element, and at completion what `on_complete` makes of the state.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let sums = Source::range(1..4).stateful_map(
    ///     || 0,
    ///     |sum, n| {
    ///         *sum += n;
    ///         n
    ///     },
    ///     |sum| Some(sum),
    /// );
    /// assert_eq!(sums.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1, 2, 3, 6])));
    /// ```
    fn stateful_map<S, B, C, F, E>(
        self,
        create: C,
        f: F,
        on_complete: E,
    ) -> Self::With<impl Factory<In = Self::Item, Out = B>>
    where
        S: Send + 'static,
        B: Send + 'static,
        C: Fn() -> S + Clone + Send + Sync + 'static,
        F: FnMut(&mut S, Self::Item) -> B + Clone + Send + Sync + 'static,
        E: FnMut(S) -> Option<B> + Clone + Send + Sync + 'static,
    {
        let make = move || StatefulMap::new(create(), f.clone(), on_complete.clone());
        self.stage(Make("stateful_map", make))
    }

    /// Emits `zero`, and the accumulated value after each element.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let sums = Source::range(1..4).scan(0, |sum, n| sum + n);
    /// assert_eq!(sums.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![0, 1, 3, 6])));
    /// ```
    fn scan<S, F>(self, zero: S, f: F) -> Self::With<impl Factory<In = Self::Item, Out = S>>
    where
        S: Clone + Send + Sync + 'static,
        F: FnMut(S, Self::Item) -> S + Clone + Send + Sync + 'static,
    {
        self.stage(Make("scan", move || Scan::new(zero.clone(), f.clone())))
    }

    /// Accumulates all elements, beginning with the first, and emits the one result; fails without any element.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let largest = Source::from_iter([3, 8, 5]).reduce(i32::max);
    /// assert_eq!(largest.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![8])));
    /// ```
    fn reduce<F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(Self::Item, Self::Item) -> Self::Item + Clone + Send + Sync + 'static,
    {
        self.stage(Make("reduce", move || Reduce::new(f.clone())))
    }

    /// Accumulates elements while `goes_on` holds for the value after an element, and emits the one result.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let sum = Source::range(1..i64::MAX).fold_while(0, |sum| *sum < 10, |sum, n| sum + n);
    /// assert_eq!(sum.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![10])));
    /// ```
    fn fold_while<S, P, F>(
        self,
        zero: S,
        goes_on: P,
        f: F,
    ) -> Self::With<impl Factory<In = Self::Item, Out = S>>
    where
        S: Clone + Send + Sync + 'static,
        P: FnMut(&S) -> bool + Clone + Send + Sync + 'static,
        F: FnMut(S, Self::Item) -> S + Clone + Send + Sync + 'static,
    {
        self.stage(Make("fold_while", move || FoldWhile::new(zero.clone(), goes_on.clone(), f.clone())))
    }

    /// Emits chunks that weigh at least `weight`, where an element weighs at least 1.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let chunks = Source::from_iter([1, 3, 9, 2]).grouped_weighted(4, |n| *n);
    /// assert_eq!(chunks.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![vec![1, 3], vec![9], vec![2]])));
    /// ```
    fn grouped_weighted<F>(
        self,
        weight: u64,
        weigh: F,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Vec<Self::Item>>>
    where
        F: FnMut(&Self::Item) -> u64 + Clone + Send + Sync + 'static,
    {
        self.stage(Make("grouped_weighted", move || GroupedWeighted::new(weight, weigh.clone())))
    }

    /// Emits windows of `n` elements, each `step` elements further.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let windows = Source::range(0..4).sliding(2, 1);
    /// let expected = vec![vec![0, 1], vec![1, 2], vec![2, 3]];
    /// assert_eq!(windows.to(Sink::to_vec(9)).run_local().take(), Some(Ok(expected)));
    /// ```
    #[doc(alias = "windows")]
    fn sliding(
        self,
        n: usize,
        step: usize,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Vec<Self::Item>>>
    where
        Self::Item: Clone,
    {
        self.stage(Make("sliding", move || Sliding::new(n, step)))
    }

    /// Emits elements while `holds`, then completes and cancels upstream; the one that breaks the rule is left out.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let few = Source::range(0..9).take_while(|n| *n < 2);
    /// assert_eq!(few.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![0, 1])));
    /// ```
    fn take_while<F>(self, holds: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(&Self::Item) -> bool + Clone + Send + Sync + 'static,
    {
        self.stage(Make("take_while", move || TakeWhile::new(holds.clone(), Breaker::Excluded)))
    }

    /// As `take_while`; the one that breaks the rule is the last.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let few = Source::range(0..9).take_through(|n| *n < 2);
    /// assert_eq!(few.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![0, 1, 2])));
    /// ```
    #[doc(alias = "take_while_inclusive")]
    #[doc(alias = "take_until")]
    fn take_through<F>(self, holds: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(&Self::Item) -> bool + Clone + Send + Sync + 'static,
    {
        self.stage(Make("take_through", move || TakeWhile::new(holds.clone(), Breaker::Included)))
    }

    /// Emits the last `n` elements, when upstream has completed.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let tail = Source::range(0..9).take_last(2);
    /// assert_eq!(tail.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![7, 8])));
    /// ```
    #[doc(alias = "last")]
    fn take_last(self, n: usize) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("take_last", move || TakeLast::new(n)))
    }

    /// Emits the first element, if there is one, then completes and cancels upstream.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// assert_eq!(Source::range(4..9).first().to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![4])));
    /// ```
    #[doc(alias = "head")]
    #[doc(alias = "next")]
    fn first(self) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("first", || Take::new(1)))
    }

    /// Leaves out the first `n` elements.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// assert_eq!(Source::range(0..5).drop(3).to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![3, 4])));
    /// ```
    #[doc(alias = "skip")]
    fn drop(self, n: u64) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("drop", move || DropFirst::new(n)))
    }

    /// Leaves out the first elements, while `holds`.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let rest = Source::from_iter([1, 2, 9, 1]).drop_while(|n| *n < 5);
    /// assert_eq!(rest.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![9, 1])));
    /// ```
    #[doc(alias = "skip_while")]
    fn drop_while<F>(self, holds: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(&Self::Item) -> bool + Clone + Send + Sync + 'static,
    {
        self.stage(Make("drop_while", move || DropWhile::new(holds.clone())))
    }

    /// Leaves out elements that equal the one before.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let changes = Source::from_iter([1, 1, 2, 1]).drop_repeated();
    /// assert_eq!(changes.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1, 2, 1])));
    /// ```
    #[doc(alias = "distinct_until_changed")]
    #[doc(alias = "dedup")]
    fn drop_repeated(self) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        Self::Item: Clone + PartialEq,
    {
        self.stage(Make("drop_repeated", || DropRepeated::new(<Self::Item as PartialEq>::eq)))
    }

    /// Leaves out elements that are the `same` as the one emitted before.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let signs = Source::from_iter([1, 5, -2, -3, 4]).drop_repeated_by(|a: &i32, b| a.signum() == b.signum());
    /// assert_eq!(signs.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1, -2, 4])));
    /// ```
    #[doc(alias = "dedup_by")]
    fn drop_repeated_by<F>(self, same: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        Self::Item: Clone,
        F: FnMut(&Self::Item, &Self::Item) -> bool + Clone + Send + Sync + 'static,
    {
        self.stage(Make("drop_repeated", move || DropRepeated::new(same.clone())))
    }

    /// Fails at the first element beyond `max`: unlike `take`, it never makes a stream look complete.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source, StreamError};
    /// let long = Source::range(0..9).limit(3).to(Sink::ignore()).run_local();
    /// assert_eq!(long.take(), Some(Err(StreamError::LimitReached { node: "limit".into(), limit: 3 })));
    /// ```
    fn limit(self, max: u64) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("limit", move || Limit::new(max, |_: &Self::Item| 1)))
    }

    /// Fails at the first element with which all together cost more than `max`.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let texts = Source::from_iter(["ab", "cde"]).limit_weighted(5, |t| t.len() as u64);
    /// assert_eq!(texts.to(Sink::ignore()).run_local().take(), Some(Ok(2)));
    /// ```
    fn limit_weighted<F>(
        self,
        max: u64,
        cost: F,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(&Self::Item) -> u64 + Clone + Send + Sync + 'static,
    {
        self.stage(Make("limit_weighted", move || Limit::new(max, cost.clone())))
    }

    /// Emits each element with its number, counted from 0.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let numbered = Source::from_iter(["a", "b"]).zip_with_index();
    /// assert_eq!(numbered.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![("a", 0), ("b", 1)])));
    /// ```
    #[doc(alias = "enumerate")]
    fn zip_with_index(self) -> Self::With<impl Factory<In = Self::Item, Out = (Self::Item, u64)>> {
        self.stage(Make("zip_with_index", ZipWithIndex::new))
    }

    /// Puts a copy of `between` between two elements.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let list = Source::from_iter(["1", "2"]).intersperse(", ");
    /// assert_eq!(list.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec!["1", ", ", "2"])));
    /// ```
    fn intersperse(self, between: Self::Item) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        Self::Item: Clone + Sync,
    {
        self.stage(Make("intersperse", move || Intersperse::new(None, between.clone(), None)))
    }

    /// Puts `start` before all elements, a copy of `between` between two, and `end` behind all.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let list = Source::from_iter(["1", "2"]).intersperse_within("[", ", ", "]");
    /// let text = list.to(Sink::fold(String::new(), |text, part| text + part)).run_local();
    /// assert_eq!(text.take(), Some(Ok("[1, 2]".to_string())));
    /// ```
    fn intersperse_within(
        self,
        start: Self::Item,
        between: Self::Item,
        end: Self::Item,
    ) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        Self::Item: Clone + Sync,
    {
        let make = move || Intersperse::new(Some(start.clone()), between.clone(), Some(end.clone()));
        self.stage(Make("intersperse", make))
    }

    /// Calls `f` for each element, which is then handed on.
    ///
    /// ```
    /// use footlights::stream::{Elements, Operators, Sink, Source};
    /// let checked = Source::range(0..4).inspect(|n| assert!(*n < 4));
    /// assert_eq!(checked.to(Sink::ignore()).run_local().take(), Some(Ok(4)));
    /// ```
    #[doc(alias = "tap")]
    #[doc(alias = "wire_tap")]
    fn inspect<F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(&Self::Item) + Clone + Send + Sync + 'static,
    {
        self.stage(Make("inspect", move || Inspect::new(f.clone())))
    }
}

impl<T: Operators> Elements for T {}
