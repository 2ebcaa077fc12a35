//! Footlights: an actor and stream runtime that you can watch.

pub mod actor;
mod code;
mod dispatch;
pub mod id;
pub mod mailbox;
pub mod observe;
pub mod pattern;
pub mod rng;
pub mod routing;
#[cfg(feature = "scenario")]
pub mod scenario;
pub mod stream;
pub mod supervise;
mod sync;
pub mod system;
pub mod testkit;
pub mod time;
