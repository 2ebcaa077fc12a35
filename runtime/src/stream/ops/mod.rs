//! The operators, one per file. Each says when it emits, backpressures, completes and cancels.
//!
//! "std" in these docs: emits when upstream emits, backpressures when downstream backpressures, completes when upstream
//! completes, cancels upstream when downstream cancels.

pub mod buffer;
pub mod compute;
pub mod feed;
pub mod filter;
pub mod fold;
pub mod for_each;
pub mod from_iter;
pub mod grouped;
pub mod map;
pub mod map_async;
pub mod range;
pub mod take;
pub mod throttle;
pub mod tick;
pub mod timed_request;
pub mod worked;

pub mod kill_switch;
pub mod valve;
pub mod watch_termination;
