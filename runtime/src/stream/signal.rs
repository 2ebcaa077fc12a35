//! How a stream ends and why elements are lost: errors, causes, ends and reasons, as plain data.
//!
//! I1 an edge ends exactly once. I2 a cancel always carries its cause. I3 a failure never becomes a success: an error is
//! handed on as it is, from stage to stage and across boundaries.

use std::fmt;
use std::sync::Arc;

use crate::pattern::AskError;

/// Why a stream failed. Every variant that comes from a stage names it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// The function of a stage returned an error.
    Stage {
        /// The stage.
        node: Arc<str>,
        /// What its function said.
        text: Arc<str>,
    },
    /// The code of a stage panicked.
    Panic {
        /// The stage.
        node: Arc<str>,
        /// What it said.
        text: Arc<str>,
    },
    /// A buffer with the strategy Fail was full.
    BufferOverflow {
        /// The stage.
        node: Arc<str>,
        /// How much it holds.
        capacity: usize,
    },
    /// An enforcing throttle saw an element before its time.
    RateExceeded {
        /// The stage.
        node: Arc<str>,
    },
    /// An element had a type that the stage cannot take.
    WrongType {
        /// The stage.
        node: Arc<str>,
        /// What it takes.
        expected: &'static str,
    },
    /// A partition named an output that it does not have.
    OutOfRange {
        /// The stage.
        node: Arc<str>,
        /// The output it named, counted from 0.
        port: usize,
    },
    /// There was no element where one is needed.
    NoSuchElement {
        /// The stage.
        node: Arc<str>,
    },
    /// There were more elements than a limit allows.
    LimitReached {
        /// The stage.
        node: Arc<str>,
        /// How many it allows, or how much they may cost.
        limit: u64,
    },
    /// Something took too long.
    Timeout {
        /// What.
        kind: TimeoutKind,
        /// The stage that waited for it.
        node: Arc<str>,
    },
    /// An actor gave no answer to a stage that asked it.
    Ask {
        /// The stage.
        node: Arc<str>,
        /// Why there is none.
        error: AskError,
    },
    /// The actor that a stage asks has ended.
    TargetStopped {
        /// The stage.
        node: Arc<str>,
        /// The actor's path.
        path: Arc<str>,
    },
    /// The inputs of a merge by number had a gap, or a number twice.
    SequenceGap {
        /// The stage.
        node: Arc<str>,
        /// The number that was due.
        expected: u64,
    },
    /// The hub that the stream had joined was dropped before its end.
    HubGone,
    /// The stream was aborted with this text.
    Killed(Arc<str>),
    /// The host or the system was gone before the stream ended.
    Abrupt,
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamError::Stage { node, text } => write!(f, "stage {node} failed: {text}"),
            StreamError::Panic { node, text } => write!(f, "stage {node} panicked: {text}"),
            StreamError::BufferOverflow { node, capacity } => {
                write!(f, "buffer {node} is full: it holds {capacity}")
            }
            StreamError::RateExceeded { node } => write!(f, "element above the rate of {node}"),
            StreamError::WrongType { node, expected } => write!(f, "{node} takes {expected}"),
            StreamError::OutOfRange { node, port } => write!(f, "{node} has no output {port}"),
            StreamError::NoSuchElement { node } => write!(f, "{node} got no element"),
            StreamError::LimitReached { node, limit } => write!(f, "{node} lets no more than {limit} pass"),
            StreamError::Timeout { kind, node } => write!(f, "{kind} timeout at {node}"),
            StreamError::Ask { node, error } => write!(f, "{node} asked in vain: {error}"),
            StreamError::TargetStopped { node, path } => write!(f, "{node} asks {path}, which has ended"),
            StreamError::SequenceGap { node, expected } => {
                write!(f, "no input of {node} has number {expected}")
            }
            StreamError::HubGone => write!(f, "the hub was gone before its end"),
            StreamError::Killed(text) => write!(f, "stream aborted: {text}"),
            StreamError::Abrupt => write!(f, "the host ended before the stream"),
        }
    }
}

impl std::error::Error for StreamError {}

/// What took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    /// The gap between two elements, or before the first.
    Idle,
    /// The first element.
    Initial,
    /// The end of the stream.
    Completion,
    /// Demand from downstream.
    Backpressure,
}

impl fmt::Display for TimeoutKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeoutKind::Idle => "idle",
            TimeoutKind::Initial => "initial",
            TimeoutKind::Completion => "completion",
            TimeoutKind::Backpressure => "backpressure",
        })
    }
}

/// Why downstream wants no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The consumer has what it wanted.
    NoMoreNeeded,
    /// A stage in between ended by itself.
    StageDone,
    /// Something downstream failed.
    Failure(StreamError),
    /// Somebody stopped the stream.
    Killed(Arc<str>),
}

/// How an edge ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Upstream has no more elements.
    Completed,
    /// Upstream failed.
    Failed(StreamError),
    /// Downstream cancelled.
    Cancelled(Cause),
}

/// What a full buffer does with a newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverflowStrategy {
    /// Takes nothing more until there is room: lossless.
    Backpressure,
    /// Drops the oldest held element.
    DropHead,
    /// Drops the youngest held element; the newcomer takes its place.
    DropTail,
    /// Drops all held elements.
    DropBuffer,
    /// Drops the newcomer.
    DropNew,
    /// Fails the stream.
    Fail,
}

/// Why an element was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum DropReason {
    /// A full buffer dropped it by its strategy.
    Overflow,
    /// It came at a moment without demand.
    NoDemand,
    /// A stage held it when a failure passed.
    StageFailed,
    /// A stage, edge or ring held it when a cancel passed.
    Cancelled,
    /// A decider dropped it, as its stage failed for it.
    Decider,
}

impl DropReason {
    /// All reasons, in the order of their counters.
    pub const ALL: [DropReason; 5] = [
        DropReason::Overflow,
        DropReason::NoDemand,
        DropReason::StageFailed,
        DropReason::Cancelled,
        DropReason::Decider,
    ];
}
