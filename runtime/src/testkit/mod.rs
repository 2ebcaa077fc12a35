//! Tools for tests of actors.
//!
//! - [`on_each_dispatcher`] runs one body in virtual time, with many seeds, and on threads.
//! - A [`Probe`] is an actor that a test can question.
//! - [`Stepping`] moves virtual time by hand; a [`Script`] says which message comes next.
//! - [`Faults`] make things go wrong, the same way each time.
//! - [`assert_log`] and [`assert_log_file`] compare a whole run with one that is known to be right.

mod each_dispatcher;
mod faults;
mod golden;
mod probe;
mod readable;
mod script;
mod stepping;

pub use each_dispatcher::{on_each_dispatcher, on_each_dispatcher_with, on_steppers};
pub use faults::{Fault, FaultError, Faults, Planted};
pub use golden::{assert_log, assert_log_file, readable_log};
pub use probe::Probe;
pub use script::{Delivery, Origin, Script};
pub use stepping::Stepping;
