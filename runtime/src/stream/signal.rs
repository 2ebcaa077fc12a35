//! How a stream ends and why elements are lost: errors, causes, ends and reasons, as plain data.
//!
//! I1 an edge ends exactly once. I2 a cancel always carries its cause. I3 a failure never becomes a success: an error is
//! handed on as it is, from stage to stage and across boundaries.

use std::fmt;
use std::sync::Arc;

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
}

impl DropReason {
    /// All reasons, in the order of their counters.
    pub const ALL: [DropReason; 4] =
        [DropReason::Overflow, DropReason::NoDemand, DropReason::StageFailed, DropReason::Cancelled];
}
