//! One run and the changes made to it: plays, and plays again what was played.
//!
//! A change is logged with the turns executed *and* the virtual time at which it was made, because between two turns the
//! clock moves on while a person watches. To replay a change, the run is taken to that turn, the clock to that time, and the
//! change is made: then everything after it is the same again.
//!
//! I1 `shown` is never behind the system's clock, and ahead of it only where no turn lies between.
//! I2 a change in the past forgets the changes that came after it: that is a fork.

use std::collections::VecDeque;

use footlights::scenario::document::Scenario;
use footlights::scenario::{self, DocError, On, Run, RunError, validate};
use footlights::time::Instant;

use super::protocol::{Breakage, Change, Logged, Turn};

/// Message events kept for the log page.
const MESSAGES_KEPT: usize = 20_000;
/// Changes that one run may have.
pub const CHANGES_MAX: usize = 10_000;

/// What one move of a session did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// One turn was run.
    Turn,
    /// A logged change was made again.
    Change,
    /// Nothing happens up to the limit.
    Quiet,
    /// Nothing can happen any more.
    Finished,
}

/// A run with its log of changes.
#[derive(Debug)]
pub struct Session {
    scenario: Scenario,
    run: Run,
    made: Vec<Logged>,
    to_come: VecDeque<Logged>,
    shown: Instant,
}

impl Session {
    /// Validates and builds a scenario; `changes` will be made again when their turns come.
    ///
    /// # Errors
    /// Everything that is wrong with the document; nothing has been started then.
    pub fn start(scenario: Scenario, changes: Vec<Logged>) -> Result<Self, Vec<DocError>> {
        let run = build(&scenario)?;
        let to_come = changes.into_iter().take(CHANGES_MAX).collect();
        Ok(Session { scenario, run, made: Vec::new(), to_come, shown: Instant::ZERO })
    }

    /// Goes back to turn 0 with all changes to come again.
    ///
    /// # Errors
    /// As [`Session::start`]; it was built before, so there should be none.
    pub fn rewind(&mut self) -> Result<(), Vec<DocError>> {
        self.run = build(&self.scenario)?;
        let made = std::mem::take(&mut self.made);
        made.into_iter().rev().for_each(|change| self.to_come.push_front(change));
        self.shown = Instant::ZERO;
        Ok(())
    }

    /// Gives the run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Counts the turns executed.
    pub fn turn(&self) -> Turn {
        self.run.turn()
    }

    /// Gives the virtual time to show.
    pub fn now(&self) -> Instant {
        self.shown
    }

    /// Is true while changes that were made at this turn or before are still to come.
    pub fn owes_change(&self, turn: Turn) -> bool {
        self.to_come.front().is_some_and(|next| next.turn <= turn)
    }

    /// Runs one turn that begins at `limit` at the latest, or makes one logged change again.
    pub fn advance(&mut self, limit: Instant) -> Moved {
        if self.to_come.front().is_some_and(|next| next.turn <= self.turn()) {
            return self.replay(limit);
        }
        let system = self.run.system();
        match system.step_until(limit) {
            Some(turn) => {
                self.shown = self.shown.max(turn.at);
                Moved::Turn
            }
            None if system.next_moment().is_none() => Moved::Finished,
            None => {
                self.shown = self.shown.max(limit);
                Moved::Quiet
            }
        }
    }

    fn replay(&mut self, limit: Instant) -> Moved {
        let at = self.to_come.front().map_or(Instant::ZERO, |next| Instant::from_nanos(next.at_ns));
        if at > limit {
            self.shown = self.shown.max(limit);
            return Moved::Quiet;
        }
        // In a log of this run no turn lies before that time. In a forged one it may: then turns are run one by one, so that
        // whoever drives can stop it.
        if at > self.run.system().now()
            && let Some(turn) = self.run.system().step_until(at)
        {
            self.shown = self.shown.max(turn.at);
            return Moved::Turn;
        }
        if let Some(next) = self.to_come.pop_front() {
            self.shown = self.shown.max(at);
            // It was accepted when it was made; a log from elsewhere may hold anything, and what is refused changes nothing.
            let _ = self.apply(next.change);
        }
        Moved::Change
    }

    /// Makes a change now and logs it.
    ///
    /// # Errors
    /// If it is refused; then nothing has changed.
    pub fn change(&mut self, change: Change) -> Result<(), DocError> {
        if self.made.len() >= CHANGES_MAX {
            let reason = format!("a run takes {CHANGES_MAX} changes at most");
            return Err(DocError::new(scenario::Place::document(), reason));
        }
        self.apply(change)?;
        self.to_come.clear();
        Ok(())
    }

    fn apply(&mut self, change: Change) -> Result<(), DocError> {
        if self.shown > self.run.system().now() {
            // No turn lies before that time (I1): this moves the clock and fires what is due without a turn.
            self.run.system().run_until(self.shown);
        }
        match &change {
            Change::Set { node, key, value } => self.run.set(node, key, value)?,
            Change::Inject { node, value } => self.run.inject(node, *value)?,
            Change::Break { node, how } => self.run.break_node(node, breakage(*how))?,
        }
        self.made.push(Logged { turn: self.turn(), at_ns: self.shown.as_nanos(), change });
        Ok(())
    }
}

fn breakage(how: Breakage) -> scenario::Breakage {
    match how {
        Breakage::FailNext => scenario::Breakage::FailNext,
        Breakage::Stop => scenario::Breakage::Stop,
    }
}

fn build(scenario: &Scenario) -> Result<Run, Vec<DocError>> {
    let plan = validate(scenario)?;
    let started = Run::start_with(plan, On::Stepper, |builder| builder.keep_messages(MESSAGES_KEPT));
    started.map_err(|e: RunError| vec![DocError::new(scenario::Place::document(), e.to_string())])
}
