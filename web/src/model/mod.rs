//! What the page knows and how it changes: plain Rust, no Yew, no browser, tested natively.
//!
//! [`state::State`] changes only by [`reduce::reduce`], which hands back effects for the page to carry out. What
//! changes many times a second, the counters, is [`live::Live`] and stays outside of the state.

pub mod builtin;
pub mod connect;
pub mod edit;
pub mod edits;
pub mod format;
pub mod geometry;
pub mod history;
pub mod live;
#[expect(missing_docs, reason = "each text says itself what it is")]
pub mod locale;
pub mod reduce;
pub mod regime;
pub mod runs;
pub mod state;
pub mod viewport;
