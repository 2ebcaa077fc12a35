//! The rules of a circuit breaker: pure functions of calls, outcomes and time.
//!
//! ```text
//!  Closed ──failures in a row──▶ Open ──its time is over, somebody calls──▶ HalfOpen ──trial went well──▶ Closed
//!                                  ▲────────────────trial failed: a longer time──┘
//! ```
//! I1 half-open lets exactly one call through; the others are turned away as if it were open.
//! I2 an outcome counts only in the state in which its call began: what comes late changes nothing.
//! I3 a trial that is given up frees its place for another.
//! The way from Open to HalfOpen takes no timer: it is gone by the first call after the time, so a breaker that nobody calls
//! costs nothing.

use std::time::Duration;

use super::breaker::BreakerSettings;
use crate::observe::BreakerState;
use crate::rng::Rng;
use crate::time::{Instant, nanos};

/// A state and what belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Closed { failures: u32 },
    Open { until: Instant },
    HalfOpen { trial_since: Option<Instant> },
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Succeeded,
    Failed,
    /// Nobody waited for its end.
    GivenUp,
}

/// A call that was let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admission {
    era: u64,
    pub(super) since: Instant,
}

/// A change of state, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) from: BreakerState,
    pub(super) to: BreakerState,
    pub(super) failures: u32,
    pub(super) open_for: Duration,
}

/// A breaker without its doors.
#[derive(Debug)]
pub(super) struct Machine {
    settings: BreakerSettings,
    phase: Phase,
    /// Changes of state so far.
    era: u64,
    /// How long it stays open the next time, before chance.
    reset: Duration,
}

impl Machine {
    pub(super) fn new(settings: BreakerSettings) -> Self {
        let reset = settings.reset_after.min(settings.reset_max);
        Machine { settings, phase: Phase::Closed { failures: 0 }, era: 0, reset }
    }

    pub(super) fn state(&self) -> BreakerState {
        match self.phase {
            Phase::Closed { .. } => BreakerState::Closed,
            Phase::Open { .. } => BreakerState::Open,
            Phase::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    /// Lets a call through, or says when to try again.
    pub(super) fn admit(&mut self, now: Instant) -> Result<(Admission, Option<Change>), Duration> {
        let mut change = None;
        match &mut self.phase {
            Phase::Closed { .. } => {}
            Phase::Open { until } if now < *until => return Err(*until - now),
            Phase::Open { .. } => {
                change = Some(self.enter(Phase::HalfOpen { trial_since: Some(now) }, 0, Duration::ZERO));
            }
            Phase::HalfOpen { trial_since: Some(since) } => {
                return Err(*since + self.settings.call_timeout - now);
            }
            Phase::HalfOpen { trial_since } => *trial_since = Some(now),
        }
        Ok((Admission { era: self.era, since: now }, change))
    }

    /// Counts the end of a call.
    pub(super) fn conclude(
        &mut self,
        call: Admission,
        outcome: Outcome,
        now: Instant,
        rng: &mut Rng,
    ) -> Option<Change> {
        if call.era != self.era {
            return None; // I2
        }
        let slow = now - call.since > self.settings.call_timeout;
        let outcome = if slow && outcome == Outcome::Succeeded { Outcome::Failed } else { outcome };
        match (&mut self.phase, outcome) {
            (Phase::Closed { failures }, Outcome::Succeeded) => *failures = 0,
            (Phase::Closed { failures }, Outcome::Failed) => {
                *failures += 1;
                let failures = *failures;
                if failures >= self.settings.max_failures.max(1) {
                    return Some(self.open(failures, now, rng));
                }
            }
            (Phase::HalfOpen { .. }, Outcome::Succeeded) => {
                self.reset = self.settings.reset_after.min(self.settings.reset_max);
                return Some(self.enter(Phase::Closed { failures: 0 }, 0, Duration::ZERO));
            }
            (Phase::HalfOpen { .. }, Outcome::Failed) => {
                self.reset = grown(self.reset, self.settings.factor_permille).min(self.settings.reset_max);
                return Some(self.open(1, now, rng));
            }
            (Phase::HalfOpen { trial_since }, Outcome::GivenUp) => *trial_since = None,
            (Phase::Closed { .. } | Phase::Open { .. }, _) => {}
        }
        None
    }

    fn open(&mut self, failures: u32, now: Instant, rng: &mut Rng) -> Change {
        let chance = match self.settings.jitter_permille {
            0 => Duration::ZERO,
            permille => rng.uniform(grown(self.reset, permille)),
        };
        let open_for = self.reset.saturating_add(chance).min(self.settings.reset_max);
        self.enter(Phase::Open { until: now + open_for }, failures, open_for)
    }

    fn enter(&mut self, phase: Phase, failures: u32, open_for: Duration) -> Change {
        let from = self.state();
        self.phase = phase;
        self.era += 1;
        Change { from, to: self.state(), failures, open_for }
    }
}

/// Multiplies by thousandths, saturating.
fn grown(d: Duration, permille: u32) -> Duration {
    let grown = u128::from(nanos(d)) * u128::from(permille) / 1_000;
    Duration::from_nanos(u64::try_from(grown).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn at(seconds: u32) -> Instant {
        Instant::ZERO + S * seconds
    }

    fn machine(settings: BreakerSettings) -> (Machine, Rng) {
        (Machine::new(settings), Rng::new(1))
    }

    fn call(m: &mut Machine, rng: &mut Rng, now: Instant, outcome: Outcome) -> Option<Change> {
        let (call, before) = m.admit(now).expect("let through");
        m.conclude(call, outcome, now, rng).or(before)
    }

    #[test]
    fn failures_in_a_row_open_it_and_a_success_between_them_does_not() {
        let (mut m, mut rng) = machine(BreakerSettings::default());
        for _ in 0..9 {
            assert_eq!(call(&mut m, &mut rng, at(0), Outcome::Failed), None);
        }
        call(&mut m, &mut rng, at(0), Outcome::Succeeded);
        for _ in 0..9 {
            assert_eq!(call(&mut m, &mut rng, at(0), Outcome::Failed), None);
        }
        let opened = call(&mut m, &mut rng, at(0), Outcome::Failed).expect("the tenth");
        assert_eq!((opened.to, opened.failures, opened.open_for), (BreakerState::Open, 10, S * 15));
        assert_eq!(m.admit(at(5)), Err(S * 10));
    }

    #[test]
    fn half_open_lets_one_call_through_and_a_trial_given_up_frees_its_place() {
        let (mut m, mut rng) = machine(BreakerSettings::default().max_failures(1));
        call(&mut m, &mut rng, at(0), Outcome::Failed);
        let (trial, change) = m.admit(at(15)).expect("its time is over");
        assert_eq!(change.map(|c| c.to), Some(BreakerState::HalfOpen));
        assert_eq!(m.admit(at(16)), Err(S * 9), "the trial ends within the 10 s of a call");
        m.conclude(trial, Outcome::GivenUp, at(17), &mut rng);
        let (trial, _) = m.admit(at(17)).expect("the place is free");
        let closed = m.conclude(trial, Outcome::Succeeded, at(18), &mut rng);
        assert_eq!(closed.map(|c| c.to), Some(BreakerState::Closed));
    }

    #[test]
    fn failed_trials_lengthen_the_time_up_to_the_cap_and_a_good_one_resets_it() {
        let settings = BreakerSettings::default().max_failures(1).factor_permille(3_000).reset_max(S * 60);
        let (mut m, mut rng) = machine(settings);
        let mut now = at(0);
        let mut spans = Vec::new();
        for _ in 0..4 {
            let opened = call(&mut m, &mut rng, now, Outcome::Failed).expect("opened");
            spans.push(opened.open_for);
            now = now + opened.open_for;
        }
        assert_eq!(spans, [S * 15, S * 45, S * 60, S * 60]);
        call(&mut m, &mut rng, now, Outcome::Succeeded);
        let opened = call(&mut m, &mut rng, now, Outcome::Failed).expect("opened");
        assert_eq!(opened.open_for, S * 15);
    }

    #[test]
    fn a_late_outcome_of_an_earlier_state_changes_nothing() {
        let (mut m, mut rng) = machine(BreakerSettings::default().max_failures(1));
        let (early, _) = m.admit(at(0)).expect("closed");
        call(&mut m, &mut rng, at(0), Outcome::Failed);
        assert_eq!(m.conclude(early, Outcome::Succeeded, at(1), &mut rng), None);
        assert_eq!(m.state(), BreakerState::Open);
        let (_, _) = m.admit(at(15)).expect("a trial");
        assert_eq!(m.conclude(early, Outcome::Failed, at(15), &mut rng), None);
        assert_eq!(m.state(), BreakerState::HalfOpen);
    }

    #[test]
    fn a_call_that_took_too_long_is_a_failure_however_it_ended() {
        let (mut m, mut rng) = machine(BreakerSettings::default().max_failures(1));
        let (slow, _) = m.admit(at(0)).expect("closed");
        assert_eq!(m.conclude(slow, Outcome::Succeeded, at(10), &mut rng), None, "ten seconds are in time");
        let (slow, _) = m.admit(at(10)).expect("closed");
        let opened = m.conclude(slow, Outcome::Succeeded, at(21), &mut rng);
        assert_eq!(opened.map(|c| c.to), Some(BreakerState::Open));
    }

    #[test]
    fn jitter_adds_at_most_its_share_and_never_exceeds_the_cap() {
        let settings = BreakerSettings::default().max_failures(1).jitter_permille(500).reset_max(S * 20);
        let mut drawn = Vec::new();
        for seed in 0..50 {
            let (mut m, mut rng) = (Machine::new(settings), Rng::new(seed));
            drawn.push(call(&mut m, &mut rng, at(0), Outcome::Failed).expect("opened").open_for);
        }
        assert!(drawn.iter().all(|d| (S * 15..=S * 20).contains(d)));
        assert!(drawn.contains(&(S * 20)) && drawn.iter().any(|d| *d < S * 20), "both sides of the cap");
    }
}
