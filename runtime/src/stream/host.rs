//! What an island asks of whoever runs it: time, work, timers, requests and wakes.
//!
//! Why a trait: the same islands run as actors on a Pool or a Stepper and, for tests and examples, in
//! [`LocalRun`](super::local::LocalRun). The engine itself knows neither actors nor threads.
//!
//! I1 `work` and `block` are the last calls that an island makes in a run, unless a kernel asked for something after it
//! charged: then what it asked starts after the charge. I2 an island never runs twice at once.

use std::task::Waker;
use std::time::Duration;

use super::kernel::StageId;
use super::value::Value;
use crate::time::Instant;

/// Names a timer of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerKey {
    /// The stage that set it.
    pub stage: StageId,
    /// The stage's own key.
    pub key: u32,
}

/// Names a request of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey {
    /// The stage that made it.
    pub stage: StageId,
    /// The stage's own number.
    pub number: u64,
}

/// Spends the time of a worker.
pub trait Effort {
    /// Tells the time.
    fn now(&self) -> Instant;
    /// Spends CPU time.
    fn work(&mut self, d: Duration);
    /// Occupies the worker without using the CPU.
    fn block(&mut self, d: Duration);
}

/// Runs islands.
pub trait Host: Effort {
    /// Sets a timer, replacing one of the same key.
    fn set_timer(&mut self, key: TimerKey, after: Duration);
    /// Forgets a timer; one that is not set is ignored.
    fn cancel_timer(&mut self, key: TimerKey);
    /// Starts a request; its end comes back as [`Event::Done`], exactly once, unless the island ended before.
    fn request(&mut self, key: RequestKey, request: Request);
    /// Makes a waker that may be used from anywhere, at any time: each wake comes as [`Event::Done`], unless the island
    /// ended before.
    fn waker(&mut self, key: RequestKey) -> Waker;
    /// Makes another island of the stream run.
    fn wake(&mut self, island: usize);
}

/// Something that takes time and that a stage waits for.
pub enum Request {
    /// Waits; takes no worker.
    After(Duration),
    /// Runs on a worker of its own choice, beside the island.
    Task(Task),
}

/// A piece of work that takes a worker.
pub type Task = Box<dyn FnOnce(&mut dyn Effort) + Send>;

/// What a host tells an island before it runs it.
#[derive(Clone, Debug)]
pub enum Event {
    /// A timer is due.
    Timer(TimerKey),
    /// A request is done.
    Done(RequestKey),
    /// A live-editable parameter of a stage has a new value.
    Set {
        /// The stage.
        stage: StageId,
        /// The parameter.
        key: String,
        /// Its new value.
        value: Value,
    },
}

impl Event {
    /// Gives the stage that it is for.
    pub fn stage(&self) -> StageId {
        match self {
            Event::Timer(key) => key.stage,
            Event::Done(key) => key.stage,
            Event::Set { stage, .. } => *stage,
        }
    }
}
