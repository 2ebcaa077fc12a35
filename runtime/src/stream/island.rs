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

use std::any::Any;
use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::cell::Answer;
use super::counts::Activity;
use super::host::{Event, Host};
use super::kernel::{Charge, Never, Park, Run, Sleep};
use super::pipe::{Bottom, Pipe};
use super::shared::{Control, Shared};
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
}

/// An island over a chain, typed or dynamic.
pub(crate) struct PipeIsland<P> {
    index: usize,
    pipe: P,
    shared: Arc<Shared>,
    seed: Rng,
    started: bool,
    control: Control,
    runs: u64,
}

impl<P: Pipe<Out = Never>> PipeIsland<P> {
    /// Makes the island number `index`.
    pub(crate) fn new(index: usize, pipe: P, shared: Arc<Shared>, seed: Rng) -> Self {
        PipeIsland { index, pipe, shared, seed, started: false, control: Control::Run, runs: 0 }
    }

    fn obey(&mut self, control: Control, run: &mut Run) {
        match &control {
            Control::Run => {}
            Control::Stop => self.pipe.stop(&Cause::Killed("stopped".into()), run),
            Control::Abort(error) => self.pipe.abort(error.clone(), run),
        }
        self.control = control;
    }

    /// The code of a stage has panicked: fails the whole stream, then lets the panic go on to the host.
    fn fail(&mut self, panic: Box<dyn Any + Send>, run: &mut Run) -> ! {
        let node = run.blamed.get().cloned().unwrap_or_else(|| "unknown".into());
        let error = StreamError::Panic { node, text: panic_text(&*panic).into() };
        self.shared.set_control(Control::Abort(error.clone()));
        // What a stage that has panicked does now is of no interest.
        let _ = caught(|| self.pipe.abort(error, run));
        self.runs += 1;
        self.shared.report(self.index, Activity::Ended, self.runs, |counts| self.pipe.report(counts));
        resume_unwind(panic)
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

impl<P: Pipe<Out = Never>> Island for PipeIsland<P> {
    fn run(&mut self, event: Option<Event>, host: &mut dyn Host, budget: usize) -> IslandState {
        if self.pipe.ended().is_some() && self.started {
            return IslandState::Ended;
        }
        let (seed, blamed) = (self.seed.clone(), OnceCell::new());
        let mut run =
            Run { host, seed: &seed, left: budget.max(1), charge: Charge::default(), blamed: &blamed };
        let activity = match caught(|| self.turn(event, &mut run)) {
            Ok(activity) => activity,
            Err(panic) => self.fail(panic, &mut run),
        };
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
}

/// Calls a pipe; gives the panic of a stage. On a target that aborts on panic nothing is caught.
fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    // A pipe that has panicked is only aborted and counted, then dropped.
    catch_unwind(AssertUnwindSafe(call))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a value that is no text")
}
