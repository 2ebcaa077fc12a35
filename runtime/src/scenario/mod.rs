//! Scenarios: the JSON document that the playground, the benchmark binary and the tests share.
//!
//! ```text
//! text ── parse ──▶ Scenario ── validate ──▶ Plan ── build ──▶ Run on a Stepper or a Pool
//!                      ▲ schema: kinds, ports, parameters (also of palette and forms)
//! ```
//! Nothing else in the runtime knows that scenarios exist.

mod behaviours;
mod build;
pub mod document;
mod error;
mod live;
pub mod meta;
pub mod parse;
pub mod plan;
pub mod schema;
mod streams;
mod validate;
mod view;

pub use build::{On, Run, RunError};
pub use error::{DocError, Place};
pub use live::Breakage;
pub use validate::{LABEL_CHARS_MAX, WORKERS_MAX, can_connect, is_id, validate};
pub use view::{EdgeEnd, EdgeSnapshot, NodeSnapshot, NodeState, View};
