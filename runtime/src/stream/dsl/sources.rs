//! More sources: one element or none, elements made from a state or over and over. The meaning is in `ops/`.

use super::source::{Plan, Source, SourcePlan};
use crate::stream::blueprint::Builder;
use crate::stream::ops::from_iter::FromIter;
use crate::stream::ops::single::{Mute, Single};
use crate::stream::ops::unfold::{Cycle, Unfold};
use crate::stream::signal::StreamError;

impl Source<()> {
    /// Emits one element.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::single(7).to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![7])));
    /// ```
    #[doc(alias = "once")]
    pub fn single<T: Clone + Send + Sync + 'static>(x: T) -> Source<impl Plan<Out = T>> {
        Source { plan: SourcePlan(move |_: &mut Builder| Single::new(Some(x.clone())), "single") }
    }

    /// Emits the element, if there is one.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::from_option(None::<i64>).to(Sink::ignore()).run_local().take(), Some(Ok(0)));
    /// ```
    pub fn from_option<T: Clone + Send + Sync + 'static>(x: Option<T>) -> Source<impl Plan<Out = T>> {
        Source { plan: SourcePlan(move |_: &mut Builder| Single::new(x.clone()), "from_option") }
    }

    /// Emits nothing and completes.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::empty::<i64>().to(Sink::ignore()).run_local().take(), Some(Ok(0)));
    /// ```
    pub fn empty<T: Send + 'static>() -> Source<impl Plan<Out = T>> {
        Source { plan: SourcePlan(|_: &mut Builder| Single::<T>::new(None), "empty") }
    }

    /// Fails at once.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let done = Source::failed::<i64>("no data").to(Sink::ignore()).run_local();
    /// assert_eq!(done.take().unwrap().unwrap_err().to_string(), "stage failed failed: no data");
    /// ```
    #[doc(alias = "throw_error")]
    pub fn failed<T: Send + 'static>(text: &str) -> Source<impl Plan<Out = T>> {
        let error = StreamError::Stage { node: "failed".into(), text: text.into() };
        Source { plan: SourcePlan(move |_: &mut Builder| Mute::<T>::new(Some(error.clone())), "failed") }
    }

    /// Emits nothing and does not end before it is stopped or cancelled.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let nothing = Source::never::<i64>().take(0).to(Sink::ignore()).run_local();
    /// assert_eq!(nothing.take(), Some(Ok(0)));
    /// ```
    #[doc(alias = "pending")]
    pub fn never<T: Send + 'static>() -> Source<impl Plan<Out = T>> {
        Source { plan: SourcePlan(|_: &mut Builder| Mute::<T>::new(None), "never") }
    }

    /// Emits the same element for ever.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::repeat("a").take(2).to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec!["a", "a"])));
    /// ```
    pub fn repeat<T: Clone + Send + Sync + 'static>(x: T) -> Source<impl Plan<Out = T>> {
        Source {
            plan: SourcePlan(move |_: &mut Builder| FromIter::new(std::iter::repeat(x.clone())), "repeat"),
        }
    }

    /// Emits the elements of a collection over and over; an empty one fails (NoSuchElement).
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let turns = Source::cycle([1, 2]).take(3).to(Sink::to_vec(9)).run_local();
    /// assert_eq!(turns.take(), Some(Ok(vec![1, 2, 1])));
    /// ```
    pub fn cycle<I>(elements: I) -> Source<impl Plan<Out = I::Item>>
    where
        I: IntoIterator + Clone + Send + Sync + 'static,
        I::IntoIter: Clone + Send + 'static,
        I::Item: Send + 'static,
    {
        let make = move |_: &mut Builder| Cycle::new(elements.clone().into_iter());
        Source { plan: SourcePlan(make, "cycle") }
    }

    /// Emits what `f` makes of a state, with the state to go on with, until it gives nothing.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let halves = Source::unfold(9, |n| (n > 0).then_some((n / 2, n)));
    /// assert_eq!(halves.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![9, 4, 2, 1])));
    /// ```
    pub fn unfold<S, T, F>(seed: S, f: F) -> Source<impl Plan<Out = T>>
    where
        S: Clone + Send + Sync + 'static,
        T: Send + 'static,
        F: FnMut(S) -> Option<(S, T)> + Clone + Send + Sync + 'static,
    {
        Source { plan: SourcePlan(move |_: &mut Builder| Unfold::new(seed.clone(), f.clone()), "unfold") }
    }

    /// Emits `seed`, `next` of it, and so on, while `goes_on` holds.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let powers = Source::iterate(1, |n| *n < 10, |n| n * 3);
    /// assert_eq!(powers.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1, 3, 9])));
    /// ```
    #[doc(alias = "successors")]
    pub fn iterate<T, P, F>(seed: T, goes_on: P, next: F) -> Source<impl Plan<Out = T>>
    where
        T: Clone + Send + Sync + 'static,
        P: FnMut(&T) -> bool + Clone + Send + Sync + 'static,
        F: FnMut(&T) -> T + Clone + Send + Sync + 'static,
    {
        let make = move |_: &mut Builder| {
            let (mut goes_on, mut next) = (goes_on.clone(), next.clone());
            Unfold::new(seed.clone(), move |x: T| goes_on(&x).then(|| (next(&x), x)))
        };
        Source { plan: SourcePlan(make, "iterate") }
    }
}
