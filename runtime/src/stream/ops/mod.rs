//! The operators, one per file. Each says when it emits, backpressures, completes and cancels.
//!
//! "std" in these docs: emits when upstream emits, backpressures when downstream backpressures, completes when upstream
//! completes, cancels upstream when downstream cancels.

pub mod buffer;
pub mod collect;
pub mod compute;
pub mod conflate;
pub mod decide;
pub mod delay;
pub mod drop_first;
pub mod drop_repeated;
pub mod expand;
pub mod feed;
pub mod filter;
pub mod fold;
pub mod for_each;
pub mod from_iter;
pub mod grouped;
pub mod grouped_weighted;
pub mod grouped_within;
pub mod inspect;
pub mod intersperse;
pub mod job;
pub mod keep_alive;
pub mod latest;
pub mod limit;
pub mod map;
pub mod map_async;
pub mod map_async_partitioned;
pub mod map_async_unordered;
pub mod map_concat;
pub mod range;
pub mod recover;
pub mod reduce;
pub mod scan;
pub mod single;
pub mod sliding;
pub mod stateful_map;
pub mod supervised;
pub mod take;
pub mod take_last;
pub mod take_while;
pub mod throttle;
pub mod tick;
pub mod timed_request;
pub mod timeouts;
pub mod unfold;
pub mod within;
pub mod worked;
pub mod zip_with_index;

pub mod kill_switch;
pub mod valve;
pub mod watch_termination;
