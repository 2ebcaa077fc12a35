//! When the next messages are due, and how long handling one takes: pure functions of settings, time and a generator.
//!
//! I1 due times follow the ideal schedule; a late turn makes up what is due, [`CATCH_UP_MAX`] messages at most, and the rest
//!    is counted as skipped: a source that was held back does not flood when it is let go.
//! I2 integers only.

use std::time::Duration;

use super::super::plan::Params;
use crate::rng::Rng;
use crate::time::Instant;

/// The most messages, bursts counted as one, that a late turn makes up.
pub(crate) const CATCH_UP_MAX: u64 = 256;

/// How a source spreads its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// One each period.
    Constant(Duration),
    /// One after an exponential gap of this mean.
    Poisson(Duration),
    /// So many each interval.
    Burst(u64, Duration),
}

impl Pattern {
    /// Reads the pattern of a source.
    pub(crate) fn of(params: &Params) -> Self {
        match params.text("pattern") {
            "poisson" => Pattern::Poisson(params.period("rate_per_s")),
            "burst" => Pattern::Burst(params.count("burst"), params.millis("interval_ms")),
            _ => Pattern::Constant(params.period("rate_per_s")),
        }
    }

    fn gap(self, rng: &mut Rng) -> Duration {
        match self {
            Pattern::Constant(gap) | Pattern::Burst(_, gap) => gap,
            Pattern::Poisson(mean) => rng.exponential(mean),
        }
    }

    fn size(self) -> u64 {
        match self {
            Pattern::Burst(size, _) => size,
            _ => 1,
        }
    }
}

/// The schedule of a source.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    pattern: Pattern,
    next: Instant,
    skipped: u64,
}

impl Pacer {
    /// Starts a schedule: a burst comes at once, other messages after their first gap.
    pub(crate) fn start(pattern: Pattern, now: Instant, rng: &mut Rng) -> Self {
        let next = match pattern {
            Pattern::Burst(..) => now,
            _ => now + pattern.gap(rng),
        };
        Pacer { pattern, next, skipped: 0 }
    }

    /// Takes on another pattern; what was due stays due, the next gap is a new one.
    pub(crate) fn retune(&mut self, pattern: Pattern, now: Instant, rng: &mut Rng) {
        if pattern != self.pattern {
            self.pattern = pattern;
            self.next = self.next.min(now + pattern.gap(rng));
        }
    }

    /// Counts the messages that are due, and moves on.
    pub(crate) fn take_due(&mut self, now: Instant, rng: &mut Rng) -> u64 {
        let mut due = 0;
        while self.next <= now && self.next != Instant::FAR_FUTURE {
            if due == CATCH_UP_MAX {
                self.skipped += 1;
                self.next = now + self.pattern.gap(rng);
                break;
            }
            due += 1;
            self.next = self.next + self.pattern.gap(rng).max(Duration::from_nanos(1));
        }
        due * self.pattern.size()
    }

    /// Gives up what became due while the source was held back: the next message is due now.
    pub(crate) fn let_go(&mut self, now: Instant) {
        if self.next < now {
            self.next = now;
            self.skipped += 1;
        }
    }

    /// Tells how long it is until the next message is due.
    pub(crate) fn wait(&self, now: Instant) -> Duration {
        self.next - now
    }

    /// Counts how often the schedule was given up because the source was held back too long.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// How service times spread around their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Always the mean.
    #[default]
    Constant,
    /// From 0 to twice the mean.
    Uniform,
    /// Exponential.
    Exponential,
}

/// A service time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Service {
    spread: Spread,
    mean: Duration,
}

impl Service {
    /// Reads `service` and `mean_ms`.
    pub(crate) fn of(params: &Params) -> Self {
        let spread = match params.text("service") {
            "uniform" => Spread::Uniform,
            "exponential" => Spread::Exponential,
            _ => Spread::Constant,
        };
        Service { spread, mean: params.millis("mean_ms") }
    }

    /// Draws one; a constant draws nothing.
    pub(crate) fn draw(self, rng: &mut Rng) -> Duration {
        match self.spread {
            Spread::Constant => self.mean,
            Spread::Uniform => rng.uniform(self.mean.saturating_mul(2)),
            Spread::Exponential => rng.exponential(self.mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * u32::try_from(ms).expect("small")
    }

    #[test]
    fn a_constant_source_neither_drifts_nor_floods() {
        let mut rng = Rng::new(1);
        let mut pacer = Pacer::start(Pattern::Constant(MS * 10), at(0), &mut rng);
        assert_eq!((pacer.take_due(at(9), &mut rng), pacer.wait(at(9))), (0, MS));
        assert_eq!((pacer.take_due(at(25), &mut rng), pacer.wait(at(25))), (2, MS * 5));
        assert_eq!(pacer.take_due(at(100_000), &mut rng), CATCH_UP_MAX);
        assert_eq!((pacer.wait(at(100_000)), pacer.skipped()), (MS * 10, 1));
    }

    #[test]
    fn a_burst_comes_at_once_and_each_interval() {
        let mut rng = Rng::new(1);
        let mut pacer = Pacer::start(Pattern::Burst(7, MS * 100), at(0), &mut rng);
        assert_eq!(pacer.take_due(at(0), &mut rng), 7);
        assert_eq!(pacer.take_due(at(99), &mut rng), 0);
        assert_eq!(pacer.take_due(at(200), &mut rng), 14);
    }

    #[test]
    fn what_was_due_while_held_back_is_given_up() {
        let mut rng = Rng::new(1);
        let mut pacer = Pacer::start(Pattern::Constant(MS * 10), at(0), &mut rng);
        pacer.let_go(at(1_000));
        assert_eq!((pacer.take_due(at(1_000), &mut rng), pacer.wait(at(1_000))), (1, MS * 10));
    }

    #[test]
    fn a_faster_rate_takes_effect_at_once() {
        let mut rng = Rng::new(1);
        let mut pacer = Pacer::start(Pattern::Constant(MS * 1_000_000), at(0), &mut rng);
        pacer.retune(Pattern::Constant(MS * 10), at(500), &mut rng);
        assert_eq!(pacer.wait(at(500)), MS * 10);
    }

    #[test]
    fn a_poisson_source_keeps_its_mean() {
        let mut rng = Rng::new(5);
        let mut pacer = Pacer::start(Pattern::Poisson(MS * 10), at(0), &mut rng);
        let sent: u64 = (1..=100_000).map(|ms| pacer.take_due(at(ms), &mut rng)).sum();
        assert!((9_700..10_300).contains(&sent), "{sent} in 100 s at 100 per second");
    }
}
