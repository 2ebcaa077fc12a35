//! Observation as plain data: what was counted, hashed and measured, for any viewer.
//!
//! It never formats for a screen, prints, or knows who looks.

pub mod hash;
pub mod histogram;
pub mod ledger;

pub use hash::LogHash;
pub use histogram::Histogram;
pub use ledger::{Asks, DeadLetterReason, DropReason, Ledger};
