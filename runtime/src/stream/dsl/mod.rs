//! The typed language: immutable blueprints of linear streams.
//!
//! `Source → Flow → Sink`. A blueprint is a nested type, so that its run is one loop; [`Operators`] holds what can be put
//! behind a `Source` or a `Flow`. Nothing runs before `run`; running twice gives two independent streams.

mod controls;
mod elements;
pub(super) mod flow;
mod hubs;
mod joins;
pub(super) mod operators;
mod recovering;
pub(super) mod sink;
mod sinks;
pub(super) mod source;
mod sources;
mod timed;

pub use controls::ControlOperators;
pub use elements::Elements;
pub use flow::{Flow, FlowPlan, FlowThen, Identity, Via};
pub use operators::{Factory, Operators};
pub use recovering::{Blank, Filled, Recovering};
pub use sink::{Closed, Sink, SinkPlan};
pub use source::{BoundaryPlan, Plan, Source, SourcePlan, ThenPlan};
pub use timed::TimedOperators;
