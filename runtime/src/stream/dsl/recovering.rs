//! `Recovering`: what can be made of a failure of upstream, one line each; the meaning is in `ops/recover.rs`.

use super::operators::{Factory, Make, Operators};
use crate::stream::ops::recover::Recover;
use crate::stream::ops::supervised::{Decision, Supervised};
use crate::stream::signal::StreamError;

/// A place for exactly one stage of elements of type `A`.
pub struct Blank<A>(std::marker::PhantomData<fn(A)>);

/// One stage, in its place.
pub struct Filled<F>(F);

impl<A: Send + 'static> Operators for Blank<A> {
    type Item = A;
    type With<F: Factory<In = A>> = Filled<F>;
    /// There is nothing to cut.
    type Cut = ();

    fn stage<F: Factory<In = A>>(self, stage: F) -> Filled<F> {
        Filled(stage)
    }

    fn async_boundary_of(self, _capacity: usize) {}
}

/// More operators of [`Source`](super::Source) and [`Flow`](super::Flow): failures.
pub trait Recovering: Operators {
    /// Replaces a failure of upstream by a last element, if `f` gives one; else the failure passes.
    ///
    /// ```
    /// use footlights::stream::{Operators, Recovering, Sink, Source};
    /// let numbers = Source::from_iter(["1", "x", "3"]).try_map(|t| t.parse::<i32>()).recover(|_| Some(-1));
    /// assert_eq!(numbers.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1, -1])));
    /// ```
    #[doc(alias = "catch_error")]
    fn recover<F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(&StreamError) -> Option<Self::Item> + Clone + Send + Sync + 'static,
    {
        let make = move || {
            let mut f = f.clone();
            Recover::new(move |e: StreamError| f(&e).map(Some).ok_or(e))
        };
        self.stage(Make("recover", make))
    }

    /// Replaces a failure of upstream by another.
    ///
    /// ```
    /// use footlights::stream::{Operators, Recovering, Sink, Source, StreamError};
    /// let failed = Source::failed::<i64>("bad").map_error(|_| StreamError::Abrupt);
    /// assert_eq!(failed.to(Sink::ignore()).run_local().take(), Some(Err(StreamError::Abrupt)));
    /// ```
    #[doc(alias = "map_err")]
    fn map_error<F>(self, f: F) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>>
    where
        F: FnMut(StreamError) -> StreamError + Clone + Send + Sync + 'static,
    {
        let make = move || {
            let mut f = f.clone();
            Recover::new(move |e| Err(f(e)))
        };
        self.stage(Make("map_error", make))
    }

    /// Completes where upstream fails: what passed before is all there is.
    ///
    /// ```
    /// use footlights::stream::{Operators, Recovering, Sink, Source};
    /// let numbers = Source::from_iter(["1", "x", "3"]).try_map(|t| t.parse::<i32>()).on_error_complete();
    /// assert_eq!(numbers.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1])));
    /// ```
    fn on_error_complete(self) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("on_error_complete", || Recover::new(|_| Ok(None))))
    }

    /// Adds one stage, with a decider: it says what happens where the stage fails for an element.
    ///
    /// ```
    /// use footlights::stream::{Decision, Operators, Recovering, Sink, Source};
    /// let numbers = Source::from_iter(["1", "x", "3"])
    ///     .supervised(|_| Decision::Resume, |s| s.try_map(|t| t.parse::<i32>()));
    /// assert_eq!(numbers.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![1, 3])));
    /// ```
    #[doc(alias = "with_decider")]
    fn supervised<F, D>(
        self,
        decide: D,
        stage: impl FnOnce(Blank<Self::Item>) -> Filled<F>,
    ) -> Self::With<impl Factory<In = Self::Item, Out = F::Out>>
    where
        F: Factory<In = Self::Item>,
        D: FnMut(&StreamError) -> Decision + Clone + Send + Sync + 'static,
    {
        let Filled(stage) = stage(Blank(std::marker::PhantomData));
        self.stage(Make(stage.name(), move || Supervised::new(stage.clone(), decide.clone())))
    }
}

impl<T: Operators> Recovering for T {}
