//! `Sink`: where elements go; and `Closed`, a whole stream.

use super::source::Plan;
use crate::stream::blueprint::{Builder, Built};
use crate::stream::done::{Done, done};
use crate::stream::kernel::{Cx, Kernel, Never};
use crate::stream::local::LocalRun;
use crate::stream::ops::fold::FoldSink;
use crate::stream::ops::for_each::ForEach;
use crate::stream::pipe::Then;
use crate::stream::signal::End;

/// The blueprint of a sink.
pub trait SinkPlan: Clone + Send + Sync + 'static {
    /// What it takes.
    type In: Send + 'static;
    /// Its kernel.
    type Kernel: Kernel<In = Self::In, Out = Never>;
    /// What a run gives back.
    type Mat;
    /// Names the operator.
    fn name(&self) -> &'static str;
    /// Makes the kernel and its result.
    fn build(&self) -> (Self::Kernel, Self::Mat);
}

#[derive(Clone)]
pub(super) struct Make<F>(pub(super) &'static str, pub(super) F);

impl<F, K, M> SinkPlan for Make<F>
where
    F: Fn() -> (K, M) + Clone + Send + Sync + 'static,
    K: Kernel<Out = Never>,
{
    type In = K::In;
    type Kernel = K;
    type Mat = M;
    fn name(&self) -> &'static str {
        self.0
    }
    fn build(&self) -> (K, M) {
        (self.1)()
    }
}

/// A blueprint of what happens to the elements in the end.
#[derive(Clone)]
pub struct Sink<S> {
    pub(super) plan: S,
}

impl Sink<()> {
    /// Accumulates all elements into one result.
    pub fn fold<A, S, F>(zero: S, f: F) -> Sink<impl SinkPlan<In = A, Mat = Done<S>>>
    where
        A: Send + 'static,
        S: Clone + Send + Sync + 'static,
        F: FnMut(S, A) -> S + Clone + Send + Sync + 'static,
    {
        let make = move || {
            let (completer, result) = done();
            (FoldSink::new(zero.clone(), f.clone(), completer), result)
        };
        Sink { plan: Make("fold", make) }
    }

    /// Collects at most `max` elements; those beyond are consumed and forgotten.
    pub fn to_vec<A>(max: usize) -> Sink<impl SinkPlan<In = A, Mat = Done<Vec<A>>>>
    where
        A: Clone + Send + Sync + 'static,
    {
        Sink::fold(Vec::new(), move |mut all, x| {
            if all.len() < max {
                all.push(x);
            }
            all
        })
    }

    /// Calls `f` for each element; the result counts them.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let done = Source::range(0..7).to(Sink::for_each(|_cx, n| assert!(n < 7))).run_local();
    /// assert_eq!(done.take(), Some(Ok(7)));
    /// ```
    pub fn for_each<A, F>(f: F) -> Sink<impl SinkPlan<In = A, Mat = Done<u64>>>
    where
        A: Send + 'static,
        F: FnMut(&mut Cx, A) + Clone + Send + Sync + 'static,
    {
        Sink::for_each_and_end(f, |_: &mut Cx, _: &End| {})
    }

    /// Calls `f` for each element and `at_end` once, with how the stream ended: the bridge to an actor.
    pub fn for_each_and_end<A, F, E>(f: F, at_end: E) -> Sink<impl SinkPlan<In = A, Mat = Done<u64>>>
    where
        A: Send + 'static,
        F: FnMut(&mut Cx, A) + Clone + Send + Sync + 'static,
        E: FnMut(&mut Cx, &End) + Clone + Send + Sync + 'static,
    {
        let make = move || {
            let (completer, result) = done();
            (ForEach::new(f.clone(), at_end.clone(), completer), result)
        };
        Sink { plan: Make("for_each", make) }
    }

    /// Consumes all elements; the result counts them.
    pub fn ignore<A: Send + 'static>() -> Sink<impl SinkPlan<In = A, Mat = Done<u64>>> {
        Sink::for_each(|_: &mut Cx, _: A| {})
    }
}

impl<S: SinkPlan> Sink<S> {
    pub(crate) fn plan(&self) -> &S {
        &self.plan
    }
}

/// A blueprint of a whole stream.
#[derive(Clone)]
pub struct Closed<P, S> {
    pub(super) plan: P,
    pub(super) sink: S,
}

impl<P: Plan, S: SinkPlan<In = P::Out>> Closed<P, S> {
    /// Builds the islands of one run, and its result.
    pub fn build(&self, seed: u64) -> (Built, S::Mat) {
        let mut b = Builder::new(seed);
        let up = self.plan.build(&mut b);
        let (kernel, mat) = self.sink.build();
        let cell = b.typed(self.sink.name(), kernel);
        b.close(Then { up, cell });
        (b.finish(), mat)
    }

    /// Runs it on the calling thread to its end, in virtual time with one worker: for tests, examples and floors.
    pub fn run_local(&self) -> S::Mat {
        let (built, mat) = self.build(0);
        LocalRun::new(built, 1).run();
        mat
    }
}
