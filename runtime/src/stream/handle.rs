//! The handle of a running stream: look at it, change it, stop it.
//!
//! I1 `stop` and `abort` always work: each island looks at them before anything else in its turn.

use std::sync::Arc;

use super::blueprint::Built;
use super::counts::StreamSnapshot;
use super::host::Event;
use super::params::{ParamError, check_time};
use super::shared::{Control, Shared};
use super::signal::StreamError;
use super::value::Value;
use crate::id::StreamId;

/// A running stream, seen from outside; clones are the same stream.
///
/// # Examples
/// ```
/// use footlights::id::StreamId;
/// use footlights::stream::{LocalRun, Operators, Sink, Source, StreamHandle};
/// use footlights::time::Instant;
/// use std::time::Duration;
/// let endless = Source::tick(Duration::ZERO, Duration::from_millis(10), 1).to(Sink::fold(0, |n, x| n + x));
/// let (built, done) = endless.build(1);
/// let handle = StreamHandle::new(StreamId(1), &built);
/// let mut run = LocalRun::new(built, 1);
/// run.run_until(Instant::from_nanos(95_000_000));
/// handle.stop();
/// run.run();
/// assert_eq!(done.take(), Some(Ok(10)));
/// ```
#[derive(Clone)]
pub struct StreamHandle {
    id: StreamId,
    shared: Arc<Shared>,
}

impl StreamHandle {
    /// Makes the handle of a built stream.
    pub fn new(id: StreamId, built: &Built) -> Self {
        StreamHandle { id, shared: built.shared.clone() }
    }

    /// Gives the stream's number.
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// Completes the stream at its source: what is under way still arrives.
    pub fn stop(&self) {
        self.shared.set_control(Control::Stop);
    }

    /// Fails the stream at once; what is under way is dropped and counted.
    pub fn abort(&self, why: &str) {
        self.shared.set_control(Control::Abort(StreamError::Killed(why.into())));
    }

    /// Changes a live-editable parameter of a stage; it takes effect at the island's next turn.
    ///
    /// # Errors
    /// If there is no such stage, or a time is negative, endless or no number. Another value that the stage does not take changes nothing: check it by the schema.
    pub fn set(&self, stage: &str, key: &str, value: Value) -> Result<(), ParamError> {
        let Some((stage, island)) = self.shared.find(stage) else {
            return Err(ParamError { key: key.into(), reason: format!("there is no stage {stage}") });
        };
        check_time(key, &value)?;
        self.shared.post(island, Event::Set { stage, key: key.into(), value });
        Ok(())
    }

    /// Gives the counters as of the islands' last turns.
    pub fn snapshot(&self) -> StreamSnapshot {
        self.shared.snapshot()
    }
}
