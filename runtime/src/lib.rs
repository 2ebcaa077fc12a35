//! Footlights: an actor and stream runtime that you can watch.

mod code;
pub mod id;
pub mod observe;
pub mod rng;
#[cfg(feature = "scenario")]
pub mod scenario;
pub mod supervise;
pub mod time;
