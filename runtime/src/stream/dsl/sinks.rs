//! More sinks: folds of all elements, and results that may be known early. The meaning is in `ops/`.

use super::sink::{Make, Sink, SinkPlan};
use crate::stream::done::{Completer, Done, done};
use crate::stream::kernel::{Cx, Kernel, Never};
use crate::stream::ops::decide::{Decide, Refusal, Refuse};
use crate::stream::ops::reduce::ReduceSink;
use crate::stream::signal::End;

/// Makes the plan of a sink whose kernel takes the completer of its result.
fn plan<K, T>(
    name: &'static str,
    kernel: impl Fn(Completer<T>) -> K + Clone + Send + Sync + 'static,
) -> Sink<impl SinkPlan<In = K::In, Mat = Done<T>>>
where
    K: Kernel<Out = Never>,
    T: 'static,
{
    let make = move || {
        let (completer, result) = done();
        (kernel(completer), result)
    };
    Sink { plan: Make(name, make) }
}

impl Sink<()> {
    /// Counts the elements.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::range(0..7).to(Sink::count()).run_local().take(), Some(Ok(7)));
    /// ```
    pub fn count<A: Send + 'static>() -> Sink<impl SinkPlan<In = A, Mat = Done<u64>>> {
        Sink::fold(0, |n, _: A| n + 1)
    }

    /// Accumulates all elements, beginning with the first; fails without any (NoSuchElement).
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::from_iter([3, 8, 5]).to(Sink::reduce(i32::max)).run_local().take(), Some(Ok(8)));
    /// ```
    pub fn reduce<A, F>(f: F) -> Sink<impl SinkPlan<In = A, Mat = Done<A>>>
    where
        A: Send + 'static,
        F: FnMut(A, A) -> A + Clone + Send + Sync + 'static,
    {
        plan("reduce", move |done| ReduceSink::new(f.clone(), done))
    }

    /// Keeps the last element; fails without any (NoSuchElement).
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::range(0..7).to(Sink::last()).run_local().take(), Some(Ok(6)));
    /// ```
    pub fn last<A: Send + 'static>() -> Sink<impl SinkPlan<In = A, Mat = Done<A>>> {
        plan("last", |done| ReduceSink::new(|_: A, x| x, done))
    }

    /// Keeps the first element and cancels; fails without any (NoSuchElement).
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::repeat("a").to(Sink::head()).run_local().take(), Some(Ok("a")));
    /// ```
    #[doc(alias = "first")]
    pub fn head<A: Send + 'static>() -> Sink<impl SinkPlan<In = A, Mat = Done<A>>> {
        plan("head", |done| Decide::new(|x: A| Some(x), None, done))
    }

    /// Keeps the first element, if there is one, and cancels.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::empty::<i64>().to(Sink::head_option()).run_local().take(), Some(Ok(None)));
    /// ```
    pub fn head_option<A: Send + 'static>() -> Sink<impl SinkPlan<In = A, Mat = Done<Option<A>>>> {
        plan("head_option", |done| Decide::new(|x: A| Some(Some(x)), Some(None), done))
    }

    /// Says whether `holds` for an element, and cancels at the first one.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let found = Source::range(0..i64::MAX).to(Sink::exists(|n| *n > 5)).run_local();
    /// assert_eq!(found.take(), Some(Ok(true)));
    /// ```
    #[doc(alias = "any")]
    pub fn exists<A, F>(holds: F) -> Sink<impl SinkPlan<In = A, Mat = Done<bool>>>
    where
        A: Send + 'static,
        F: FnMut(&A) -> bool + Clone + Send + Sync + 'static,
    {
        verdict("exists", holds, true, true)
    }

    /// Says whether `holds` for all elements, and cancels at the first for which it does not.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let small = Source::range(0..i64::MAX).to(Sink::forall(|n| *n < 5)).run_local();
    /// assert_eq!(small.take(), Some(Ok(false)));
    /// ```
    #[doc(alias = "all")]
    pub fn forall<A, F>(holds: F) -> Sink<impl SinkPlan<In = A, Mat = Done<bool>>>
    where
        A: Send + 'static,
        F: FnMut(&A) -> bool + Clone + Send + Sync + 'static,
    {
        verdict("forall", holds, false, false)
    }

    /// Says whether `holds` for no element, and cancels at the first for which it does.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::range(0..9).to(Sink::none(|n| *n > 9)).run_local().take(), Some(Ok(true)));
    /// ```
    pub fn none<A, F>(holds: F) -> Sink<impl SinkPlan<In = A, Mat = Done<bool>>>
    where
        A: Send + 'static,
        F: FnMut(&A) -> bool + Clone + Send + Sync + 'static,
    {
        verdict("none", holds, true, false)
    }

    /// Consumes all elements and calls `f` once, with how the stream ended; the result counts them.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{End, Operators, Sink, Source};
    /// let sink = Sink::on_complete(|end| assert_eq!(*end, End::Completed));
    /// assert_eq!(Source::range(0..7).to(sink).run_local().take(), Some(Ok(7)));
    /// ```
    pub fn on_complete<A, F>(mut f: F) -> Sink<impl SinkPlan<In = A, Mat = Done<u64>>>
    where
        A: Send + 'static,
        F: FnMut(&End) + Clone + Send + Sync + 'static,
    {
        Sink::for_each_and_end(|_: &mut Cx, _: A| {}, move |_: &mut Cx, end: &End| f(end))
    }

    /// Cancels at once.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::repeat(1).to(Sink::cancelled()).run_local().take(), Some(Ok(())));
    /// ```
    pub fn cancelled<A: Send + 'static>() -> Sink<impl SinkPlan<In = A, Mat = Done<()>>> {
        plan("cancelled", |done| Refuse::<A, ()>::new(Refusal::Cancels, done))
    }

    /// Never asks for an element: it ends only if upstream ends or fails without being asked, or is stopped. One that
    /// looks for its end on demand, as an empty `from_iter` does, never ends here.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// assert_eq!(Source::empty::<i64>().to(Sink::never()).run_local().take(), Some(Ok(())));
    /// ```
    pub fn never<A: Send + 'static>() -> Sink<impl SinkPlan<In = A, Mat = Done<()>>> {
        plan("never", |done| Refuse::<A, ()>::new(Refusal::NeverAsks, done))
    }
}

/// Gives `early` at the first element for which the rule `holds` as `decisive`, else the opposite.
fn verdict<A, F>(
    name: &'static str,
    holds: F,
    decisive: bool,
    early: bool,
) -> Sink<impl SinkPlan<In = A, Mat = Done<bool>>>
where
    A: Send + 'static,
    F: FnMut(&A) -> bool + Clone + Send + Sync + 'static,
{
    plan(name, move |done| {
        let mut holds = holds.clone();
        Decide::new(move |x: A| (holds(&x) == decisive).then_some(early), Some(!early), done)
    })
}
