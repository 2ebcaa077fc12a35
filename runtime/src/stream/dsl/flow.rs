//! `Flow`: a piece of a chain, open at both ends, to be put behind a source.

use super::operators::{Factory, Operators};
use super::source::{BoundaryPlan, Plan, ThenPlan};

/// The blueprint of a flow.
pub trait FlowPlan: Clone + Send + Sync + 'static {
    /// What it takes.
    type In: Send + 'static;
    /// What it emits.
    type Out: Send + 'static;
    /// A chain `U` with this flow behind it.
    type Attached<U: Plan<Out = Self::In>>: Plan<Out = Self::Out>;
    /// Puts it behind a chain.
    fn attach<U: Plan<Out = Self::In>>(self, up: U) -> Self::Attached<U>;
}

/// The flow that changes nothing.
pub struct Identity<T>(std::marker::PhantomData<fn(T)>);

impl<T> Clone for Identity<T> {
    fn clone(&self) -> Self {
        Identity(std::marker::PhantomData)
    }
}

impl<T: Send + 'static> FlowPlan for Identity<T> {
    type In = T;
    type Out = T;
    type Attached<U: Plan<Out = T>> = U;
    fn attach<U: Plan<Out = T>>(self, up: U) -> U {
        up
    }
}

/// A flow with one more stage.
#[derive(Clone)]
pub struct FlowThen<G, F> {
    up: G,
    stage: F,
}

impl<G: FlowPlan, F: Factory<In = G::Out>> FlowPlan for FlowThen<G, F> {
    type In = G::In;
    type Out = F::Out;
    type Attached<U: Plan<Out = G::In>> = ThenPlan<G::Attached<U>, F>;
    fn attach<U: Plan<Out = G::In>>(self, up: U) -> Self::Attached<U> {
        ThenPlan { up: self.up.attach(up), stage: self.stage }
    }
}

/// A flow that is cut.
#[derive(Clone)]
pub struct Via<G> {
    up: G,
    capacity: usize,
}

impl<G: FlowPlan> FlowPlan for Via<G> {
    type In = G::In;
    type Out = G::Out;
    type Attached<U: Plan<Out = G::In>> = BoundaryPlan<G::Attached<U>>;
    fn attach<U: Plan<Out = G::In>>(self, up: U) -> Self::Attached<U> {
        BoundaryPlan { up: self.up.attach(up), capacity: self.capacity }
    }
}

/// A blueprint of a piece of a chain.
///
/// # Examples
/// ```
/// use footlights::stream::{Flow, Operators, Sink, Source};
/// let pairs = Flow::of::<i64>().map(|n| n + 1).grouped(2);
/// let done = Source::range(0..3).via(pairs).to(Sink::to_vec(10)).run_local();
/// assert_eq!(done.take(), Some(Ok(vec![vec![1, 2], vec![3]])));
/// ```
#[derive(Clone)]
pub struct Flow<G> {
    pub(super) plan: G,
}

impl Flow<()> {
    /// Starts a flow that takes elements of type `T`.
    pub fn of<T: Send + 'static>() -> Flow<Identity<T>> {
        Flow { plan: Identity(std::marker::PhantomData) }
    }
}

impl<G: FlowPlan> Flow<G> {
    pub(crate) fn into_plan(self) -> G {
        self.plan
    }
}

impl<G: FlowPlan> Operators for Flow<G> {
    type Item = G::Out;
    type With<F: Factory<In = G::Out>> = Flow<FlowThen<G, F>>;
    type Cut = Flow<Via<G>>;

    fn stage<F: Factory<In = G::Out>>(self, stage: F) -> Self::With<F> {
        Flow { plan: FlowThen { up: self.plan, stage } }
    }

    fn async_boundary_of(self, capacity: usize) -> Self::Cut {
        Flow { plan: Via { up: self.plan, capacity } }
    }
}
