//! Footlights: an actor and stream runtime that you can watch.

pub mod id;
pub mod rng;
#[cfg(feature = "scenario")]
pub mod scenario;
pub mod stream;
pub mod time;
