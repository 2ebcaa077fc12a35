//! Observation as plain data: what was counted, hashed and measured, for any viewer.
//!
//! It never formats for a screen, prints, or knows who looks.

pub mod event;
pub mod hash;
pub mod ledger;
mod log;
pub mod patterns;
pub mod route;
pub mod snapshot;

pub use event::{AutoShutdownBegan, Decided, Event, EventKind, FaultKind, Level, Lint, StopReason};
pub use hash::LogHash;
pub use ledger::{Asks, DeadLetterReason, DropReason, Ledger};
pub(crate) use log::Log;
pub use patterns::{BreakerChange, BreakerState, PhaseEnd, PhaseTaskEnd, Retried, RetryVerdict};
pub use route::{ResizeWhy, Resized, RouteWhy, RouteeSnapshot, RouterSnapshot};
pub use snapshot::{ActorSnapshot, ActorState, DispatcherSnapshot, Snapshot, WorkerSnapshot};
