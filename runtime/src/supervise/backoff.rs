//! How long a restart waits: exponential, jittered, capped, and back to the minimum after a quiet time.
//!
//! The delay after k restarts is `min(max, min·2^k·(1000 + jitter·u) / 1000)` with u uniform in 0 ..= 1, in whole
//! nanoseconds.
//!
//! I1 the cap comes after the jitter: no delay is above `max`.
//! I2 everything saturates: any number of failures gives `max`, never zero and nothing wrapped.
//! I3 k falls to 0 after `reset_after` of running without failure, and at no other time.
//! It does not count against a budget (that is [`super::window`]) and sets no timer.

use std::time::Duration;

use crate::rng::Rng;
use crate::time::{Instant, nanos};

/// Stands in for a minimal delay of zero, so that a crash loop lets time pass.
const DELAY_MIN_IF_ZERO: Duration = Duration::from_millis(1);

/// Says how the delay before a restart grows.
///
/// # Examples
/// ```
/// use footlights::{rng::Rng, supervise::Backoff};
/// use std::time::Duration;
/// let ms = Duration::from_millis;
/// let backoff = Backoff::new(ms(100), ms(300)).jitter_permille(0);
/// let mut rng = Rng::new(1);
/// let delays: Vec<_> = (0..4).map(|k| backoff.delay(k, &mut rng).delay).collect();
/// assert_eq!(delays, [ms(100), ms(200), ms(300), ms(300)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Backoff {
    /// The delay of the first restart; zero counts as 1 ms.
    pub min: Duration,
    /// The longest delay; less than `min` counts as `min`.
    pub max: Duration,
    /// How much chance may add, in thousandths of the delay.
    pub jitter_permille: u32,
    /// How long a child must run without failure for its delay to start from `min` again.
    pub reset_after: Duration,
}

impl Backoff {
    /// Makes a backoff from `min` to `max` with 200 ‰ jitter, reset after 10 s.
    pub const fn new(min: Duration, max: Duration) -> Self {
        Backoff { min, max, jitter_permille: 200, reset_after: Duration::from_secs(10) }
    }

    /// Sets how much chance may add, in thousandths of the delay.
    pub const fn jitter_permille(mut self, jitter: u32) -> Self {
        self.jitter_permille = jitter;
        self
    }

    /// Sets how long a child must run without failure for its delay to start from the minimum again.
    pub const fn reset_after(mut self, quiet: Duration) -> Self {
        self.reset_after = quiet;
        self
    }

    /// Computes the delay after `k` earlier restarts; draws from `rng` once if there is jitter.
    pub fn delay(&self, k: u32, rng: &mut Rng) -> Delay {
        let min = if self.min.is_zero() { DELAY_MIN_IF_ZERO } else { self.min };
        let base = Duration::from_nanos(doubled(nanos(min), k));
        let jitter = match self.jitter_permille {
            0 => Duration::ZERO,
            permille => rng.uniform(scaled(base, permille)),
        };
        Delay { k, base, jitter, delay: base.saturating_add(jitter).min(self.max.max(min)) }
    }
}

impl Default for Backoff {
    /// Gives 100 ms … 10 s with 200 ‰ jitter, reset after 10 s.
    fn default() -> Self {
        Backoff::new(Duration::from_millis(100), Duration::from_secs(10))
    }
}

/// Doubles `nanos` k times, saturating.
fn doubled(nanos: u64, k: u32) -> u64 {
    if k > nanos.leading_zeros() { u64::MAX } else { nanos << k }
}

fn scaled(base: Duration, permille: u32) -> Duration {
    let scaled = u128::from(nanos(base)) * u128::from(permille) / 1_000;
    Duration::from_nanos(u64::try_from(scaled).unwrap_or(u64::MAX))
}

/// A computed delay and how it came about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Delay {
    /// The number of doublings.
    pub k: u32,
    /// The minimum doubled k times, before jitter and cap.
    pub base: Duration,
    /// What chance added, before the cap.
    pub jitter: Duration,
    /// What is waited: base and jitter, capped.
    pub delay: Duration,
}

/// Counts the restarts of one child since it last ran quietly for long enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempts {
    k: u32,
    running_since: Option<Instant>,
}

impl Attempts {
    /// Notes that the child is RUNNING from `now` on.
    pub fn running(&mut self, now: Instant) {
        self.running_since = Some(now);
    }

    /// Notes that the child failed at `now`, which ends its quiet time.
    pub fn failed(&mut self, reset_after: Duration, now: Instant) {
        if self.running_since.take().is_some_and(|since| now - since >= reset_after) {
            self.k = 0;
        }
    }

    /// Notes that the child is restarted once more.
    pub fn restarted(&mut self) {
        self.k = self.k.saturating_add(1);
    }

    /// Gives the number of doublings that the next delay gets if the quiet time does not end first.
    pub fn k(&self) -> u32 {
        self.k
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::Rng;

    #[test]
    fn s1_restart_budget_backoff_never_overflows() {
        let backoff = Backoff::default();
        for k in [63, 64, 65, 1_000, u32::MAX] {
            assert_eq!(backoff.delay(k, &mut Rng::new(1)).delay, Duration::from_secs(10));
        }
    }

    #[test]
    fn a_zero_minimum_counts_as_a_millisecond_and_a_maximum_below_it_as_it() {
        let backoff = Backoff::new(Duration::ZERO, Duration::ZERO);
        assert_eq!(backoff.delay(9, &mut Rng::new(1)).delay, Duration::from_millis(1));
    }

    proptest! {
        #[test]
        fn every_delay_is_between_the_minimum_and_the_maximum(
            min in any::<u64>(), max in any::<u64>(), jitter in any::<u32>(), k in any::<u32>(), seed in any::<u64>(),
        ) {
            let (min, max) = (Duration::from_nanos(min), Duration::from_nanos(max));
            let backoff = Backoff::new(min, max).jitter_permille(jitter);
            let got = backoff.delay(k, &mut Rng::new(seed));
            let floor = if min.is_zero() { DELAY_MIN_IF_ZERO } else { min };
            prop_assert!(got.delay >= floor && got.delay <= max.max(floor));
            prop_assert!(got.delay <= got.base + got.jitter);
            prop_assert_eq!(got, backoff.delay(k, &mut Rng::new(seed)));
        }
    }
}
