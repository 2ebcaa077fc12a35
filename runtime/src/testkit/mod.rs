//! Tools for tests of actors: one body on every dispatcher, and a probe to talk to.

mod each_dispatcher;
mod probe;

pub use each_dispatcher::{on_each_dispatcher, on_steppers};
pub use probe::{Probe, ProbeMsg};
