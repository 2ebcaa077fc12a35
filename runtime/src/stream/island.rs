//! An island: what lies between two boundaries and runs as one actor.
//!
//! A host gives it turns. A turn hands over at most one event, lets the stages move at most `budget` elements, and ends
//! early with the first call that charged work:
//!
//! - **Everything that a run makes visible happens before its charge.** The run ends with the call that charged; what
//!   that call emitted rests on its edge and moves on in the next run, which the host starts when the worker is free
//!   again. So rings, credits, wakes, timers and requests need no time stamps: what is in them was there at that time.
//! - The host is told of the charge last ([`Effort::work`](super::host::Effort)), after the rings were published.
//!
//! I1 after `Ended` an island does nothing. I2 the stages of one island never run in parallel.
//! It does not know what an actor is.

use std::sync::{Arc, OnceLock};

use super::cell::Answer;
use super::counts::Activity;
use super::host::{Event, Host};
use super::kernel::{Park, Run, Sleep};
use super::pipe::{Bottom, Pipe};
use super::shared::{Control, Doorbell, Shared};
use super::signal::{Cause, StreamError};
use crate::rng::Rng;

/// What an island does after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IslandState {
    /// It wants another turn, after what it charged.
    Ready,
    /// It waits for elements, a timer or an answer.
    Idle,
    /// It waits for demand.
    Backpressured,
    /// It has ended; forget its timers and requests.
    Ended,
}

/// A part of a stream that a host can run.
pub trait Island: Send {
    /// Gives it a turn.
    fn run(&mut self, event: Option<Event>, host: &mut dyn Host, budget: usize) -> IslandState;
    /// Fails the whole stream: a turn ended with a panic that said this. It gets no turn any more.
    fn fail(&mut self, text: &str, host: &mut dyn Host);
    /// Takes whatever order is not promised by chance, for tests.
    fn fuzz(&mut self, rng: Rng);
}

/// An island over a chain, typed or dynamic, that ends in a sink; or over a graph.
pub(crate) struct PipeIsland<P> {
    index: usize,
    pipe: P,
    shared: Arc<Shared>,
    seed: Rng,
    started: bool,
    control: Control,
    runs: u64,
    /// The stage whose kernel has panicked.
    blamed: Arc<OnceLock<Arc<str>>>,
    door: Doorbell,
}

impl<P: Pipe> PipeIsland<P> {
    /// Makes the island number `index`.
    pub(crate) fn new(index: usize, pipe: P, shared: Arc<Shared>, seed: Rng) -> Self {
        let (control, blamed) = (Control::Run, Arc::default());
        let door = Doorbell::new(shared.clone(), index);
        PipeIsland { index, pipe, shared, seed, started: false, control, runs: 0, blamed, door }
    }

    fn obey(&mut self, control: Control, run: &mut Run) {
        match &control {
            Control::Run => {}
            Control::Stop => self.pipe.stop(&Cause::Killed("stopped".into()), run),
            Control::Abort(error) => self.pipe.abort(error.clone(), run),
        }
        self.control = control;
    }

    fn turn(&mut self, event: Option<Event>, run: &mut Run) -> Activity {
        if !std::mem::replace(&mut self.started, true) {
            self.pipe.start(run);
        }
        let (control, posted) = self.shared.news(self.index, &self.control);
        if let Some(control) = control {
            self.obey(control, run);
        }
        for event in posted.iter().chain(&event) {
            self.pipe.event(event, run);
        }
        self.pipe.wake(run);
        if P::LIGHT && self.pipe.is_plain() {
            self.pipe.pump(&mut Bottom, run);
        }
        let answer = if run.charge.any { Answer::Yield } else { self.pipe.poll(true, run) };
        let (activity, park) = match answer {
            Answer::End(_) => (Activity::Ended, Park::Pausing),
            Answer::Blocked if self.pipe.is_full() => (Activity::Backpressured, Park::Waiting),
            Answer::Blocked => (Activity::Idle, Park::Waiting),
            _ => (Activity::Busy, Park::Pausing),
        };
        match self.pipe.park(park, run) {
            Sleep::Again if activity != Activity::Ended => Activity::Busy,
            _ => activity,
        }
    }
}

impl<P: Pipe> Island for PipeIsland<P> {
    fn run(&mut self, event: Option<Event>, host: &mut dyn Host, budget: usize) -> IslandState {
        if self.pipe.ended().is_some() && self.started {
            return IslandState::Ended;
        }
        let (seed, blamed, door) = (self.seed.clone(), self.blamed.clone(), self.door.clone());
        let mut run = Run::new(host, &seed, budget, &blamed, &door);
        let activity = self.turn(event, &mut run);
        run.settle();
        self.runs += 1;
        self.shared.report(self.index, activity, self.runs, |counts| self.pipe.report(counts));
        match activity {
            Activity::Ended => IslandState::Ended,
            Activity::Backpressured => IslandState::Backpressured,
            Activity::Idle => IslandState::Idle,
            Activity::Busy | Activity::New => IslandState::Ready,
        }
    }

    fn fail(&mut self, text: &str, host: &mut dyn Host) {
        let (seed, blamed, door) = (self.seed.clone(), self.blamed.clone(), self.door.clone());
        let node = blamed.get().cloned().unwrap_or_else(|| "unknown".into());
        let error = StreamError::Panic { node, text: text.into() };
        self.shared.leave(self.index, Control::Abort(error.clone()));
        let mut run = Run::new(host, &seed, 1, &blamed, &door);
        self.pipe.abort(error, &mut run);
        self.shared.report(self.index, Activity::Ended, self.runs, |counts| self.pipe.report(counts));
    }

    fn fuzz(&mut self, rng: Rng) {
        self.pipe.fuzz(rng);
    }
}
