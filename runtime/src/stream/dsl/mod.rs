//! The typed language: immutable blueprints of linear streams.
//!
//! `Source → Flow → Sink`. A blueprint is a nested type, so that its run is one loop; [`Operators`] holds what can be put
//! behind a `Source` or a `Flow`. Nothing runs before `run`; running twice gives two independent streams.

mod controls;
pub(super) mod flow;
mod hubs;
mod joins;
mod operators;
pub(super) mod sink;
pub(super) mod source;

pub use controls::ControlOperators;
pub use flow::{Flow, FlowPlan, FlowThen, Identity, Via};
pub use operators::{Factory, Operators};
pub use sink::{Closed, Sink, SinkPlan};
pub use source::{BoundaryPlan, Plan, Source, SourcePlan, ThenPlan};
