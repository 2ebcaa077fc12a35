//! Streams: typed blueprints and drawn graphs over one set of operators, run as islands with credits between them.
//!
//! An operator is written once, as a synchronous [`kernel`], and driven in two ways: by the typed driver, which makes a
//! chain one loop, and by the [`interpreter`], which runs the same kernels over [`Value`]. What lies between two
//! boundaries is an [`island`], which a [`host`] runs as one actor; a [`boundary`] is a bounded ring with credits.
//!
//! - Lossless: what a stage took is emitted, used, held, or counted as dropped with a reason ([`Counts::balanced`]).
//! - Bounded: a fused edge holds 1, a boundary its capacity, a stage what its operator says.
//! - Ends: completion never overtakes elements; a failure never becomes a success; a cancel carries its cause.
//!
//! # Examples
//! ```
//! use footlights::stream::{Operators, OverflowStrategy, Sink, Source};
//! let stream = Source::range(0..1000)
//!     .map(|n| n * 3)
//!     .async_boundary()
//!     .buffer(16, OverflowStrategy::Backpressure)
//!     .to(Sink::fold(0, |sum, n| sum + n));
//! assert_eq!(stream.run_local().take(), Some(Ok(1_498_500)));
//! ```

pub mod kernel;
pub mod signal;
pub mod value;

pub mod counts;
pub mod done;
pub mod host;
mod shared;

pub mod cell;
pub mod graph;
pub mod hub;
pub mod interpreter;
pub mod junctions;
pub mod ops;
pub mod params;
pub mod pipe;
pub mod registry;

pub mod blueprint;
pub mod boundary;
pub mod handle;
pub mod island;
pub mod local;
mod materialize;

mod ask;
mod debug;
pub mod dsl;

pub use ask::AskOperator;
pub use blueprint::Built;
pub use counts::{
    Activity, Counts, Drops, EdgeSnapshot, EdgeState, IslandSnapshot, StageSnapshot, StreamSnapshot,
};
pub use done::Done;
pub use dsl::{Closed, Elements, Flow, Operators, Plan, Recovering, Sink, SinkPlan, Source, TimedOperators};
pub use graph::{Graph, GraphBuilder, GraphError, InPort, OutPort};
pub use handle::StreamHandle;
pub use host::{Effort, Event, Host, Request, RequestKey, Task, TimerKey};
pub use interpreter::{Chain, DrawError, Drawing, Results};
pub use island::{Island, IslandState};
pub use kernel::{Cx, Kernel, Sig, StageId};
pub use local::LocalRun;
pub use materialize::{RunError, RunOptions};
pub use ops::feed::{Feed, FeedError, Offered};
pub use ops::job::Job;
pub use ops::map_async_partitioned::Order;
pub use ops::supervised::Decision;
pub use ops::throttle::{Rate, ThrottleMode};
pub use ops::worked::Time;
pub use params::{ParamError, ParamKind, ParamSchema, Params};
pub use signal::{Cause, DropReason, End, OverflowStrategy, StreamError, TimeoutKind};
pub use value::Value;

pub use dsl::ControlOperators;
pub use hub::{BroadcastHub, HubSettings, MergeHub, WhenEmpty};
pub use ops::kill_switch::KillSwitch;
pub use ops::valve::Valve;
