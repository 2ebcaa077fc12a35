//! What patterns have decided, as plain data with one sentence each: breakers, retries, the phases of a shutdown.

use std::sync::Arc;
use std::time::Duration;

use crate::code::codes;

codes! {
    /// Says whether a circuit breaker lets calls through.
    pub enum BreakerState {
        /// All.
        Closed = 0, "closed";
        /// None.
        Open = 1, "open";
        /// One, to see how it goes.
        HalfOpen = 2, "half-open";
    }
}

codes! {
    /// Says what is done about an attempt that failed.
    pub enum RetryVerdict {
        /// It is tried again, after a delay.
        Again = 0, "again";
        /// All attempts are used up.
        Exhausted = 1, "exhausted";
        /// The next attempt would begin after the deadline.
        DeadlinePassed = 2, "deadline passed";
        /// The error is not one that another attempt could mend.
        NotRetryable = 3, "not retryable";
    }
}

/// A circuit breaker went from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakerChange {
    /// Its name.
    pub name: Arc<str>,
    /// The state it left.
    pub from: BreakerState,
    /// The state it entered.
    pub to: BreakerState,
    /// Failures in a row.
    pub failures: u32,
    /// Failures in a row that open it.
    pub failures_max: u32,
    /// How long it stays open, in nanoseconds; 0 in the other states.
    pub open_for_ns: u64,
}

impl BreakerChange {
    /// Gives the change in one sentence.
    pub fn why(&self) -> String {
        let open_for = Duration::from_nanos(self.open_for_ns);
        match (self.from, self.to) {
            (BreakerState::HalfOpen, BreakerState::Open) => {
                format!("the trial call failed; open for {open_for:?}")
            }
            (_, BreakerState::Open) => {
                format!("failure {} of {} in a row; open for {open_for:?}", self.failures, self.failures_max)
            }
            (_, BreakerState::HalfOpen) => "its time is over; one trial call".to_owned(),
            (_, BreakerState::Closed) => "the trial call went well".to_owned(),
        }
    }

    pub(super) fn words(&self) -> [u64; 2] {
        let states = u64::from(self.from.code()) | u64::from(self.to.code()) << 8;
        [states | u64::from(self.failures) << 16, self.open_for_ns]
    }
}

/// An attempt failed, and it was decided whether there is another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retried {
    /// The name of what is tried.
    pub name: Arc<str>,
    /// The attempt that failed, from 1.
    pub attempt: u32,
    /// Attempts at most.
    pub attempts: u32,
    /// What is done.
    pub verdict: RetryVerdict,
    /// The delay before the next attempt, in nanoseconds, also where the deadline forbids it; 0 if none was computed.
    pub delay_ns: u64,
}

impl Retried {
    /// Gives the decision in one sentence.
    pub fn why(&self) -> String {
        let (Retried { attempt, attempts, .. }, delay) = (self, Duration::from_nanos(self.delay_ns));
        match self.verdict {
            RetryVerdict::Again => format!("attempt {attempt} of {attempts} failed; again in {delay:?}"),
            RetryVerdict::Exhausted => format!("attempt {attempt} of {attempts} failed; no more"),
            RetryVerdict::DeadlinePassed => {
                format!("attempt {attempt} of {attempts} failed; another one in {delay:?} would be too late")
            }
            RetryVerdict::NotRetryable => {
                format!("attempt {attempt} of {attempts} failed by an error that is not tried again")
            }
        }
    }

    pub(super) fn words(&self) -> [u64; 2] {
        let numbers = u64::from(self.attempt) | u64::from(self.attempts) << 24;
        [numbers | u64::from(self.verdict.code()) << 56, self.delay_ns]
    }
}

codes! {
    /// Says how a task of a shutdown ended.
    pub enum PhaseTaskEnd {
        /// Well.
        Done = 0, "done";
        /// With an error or a panic.
        Failed = 1, "failed";
        /// It was not done in time, and was passed over.
        Late = 2, "late";
    }
}

/// A phase of a shutdown is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseEnd {
    /// The phase.
    pub phase: Arc<str>,
    /// Tasks it had.
    pub tasks: u32,
    /// Tasks that failed.
    pub failed: u32,
    /// Tasks that were not done in time.
    pub late: u32,
    /// How long it took, in nanoseconds.
    pub took_ns: u64,
    /// How long it might have taken, in nanoseconds.
    pub limit_ns: u64,
}

impl PhaseEnd {
    /// Gives the outcome in one sentence.
    pub fn why(&self) -> String {
        let PhaseEnd { phase, tasks, failed, late, .. } = self;
        let (took, limit) = (Duration::from_nanos(self.took_ns), Duration::from_nanos(self.limit_ns));
        format!("{phase} took {took:?} of {limit:?}: {tasks} tasks, {failed} failed, {late} late")
    }

    pub(super) fn words(&self) -> [u64; 2] {
        let counts = u64::from(self.tasks) | u64::from(self.failed) << 20 | u64::from(self.late) << 40;
        [counts, self.took_ns ^ self.limit_ns.rotate_left(32)]
    }
}
