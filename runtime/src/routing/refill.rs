//! What a pool does when one of its routees has ended for good.

use std::time::Duration;

use crate::rng::Rng;
use crate::supervise::{Backoff, Limit, RestartLog, Window};
use crate::time::Instant;

/// Says what a pool does when a routee has ended for good: by itself, or because its supervision gave it up. Whatever is said
/// here, a pool without routees stops.
///
/// # Examples
/// ```
/// use footlights::routing::Refill;
/// use footlights::supervise::Limit;
/// use std::time::Duration;
/// let refill = Refill::replace().within(Limit::Within { count: 3, within: Duration::from_secs(60) });
/// assert_ne!(refill, Refill::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refill {
    /// Makes another one of the same name, after a delay; a pool that has made too many in a while shrinks instead. The
    /// default, with 10 in 10 s, and delays of 100 ms that double up to 10 s.
    Replace {
        /// How many replacements are allowed.
        limit: Limit,
        /// The delay before each.
        backoff: Backoff,
    },
    /// Goes on with those that are left.
    Shrink,
    /// Stops the pool when the first routee has ended.
    StopWithFirst,
}

impl Refill {
    /// Replaces what has ended: at most 10 in 10 s, after 100 ms the first time.
    pub const fn replace() -> Self {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(10)).jitter_permille(0);
        Refill::Replace { limit: Limit::DEFAULT, backoff }
    }

    /// Allows so many replacements; without effect on the other two.
    pub const fn within(self, limit: Limit) -> Self {
        match self {
            Refill::Replace { backoff, .. } => Refill::Replace { limit, backoff },
            other => other,
        }
    }

    /// Decides about a replacement at `now`: after which delay, or `None` if there is none.
    pub(super) fn next(self, log: &mut RestartLog, now: Instant, rng: &mut Rng) -> Option<Duration> {
        let Refill::Replace { limit, backoff } = self else { return None };
        let before = log.count(limit, Window::Sliding, now);
        log.try_record(limit, Window::Sliding, now).then(|| backoff.delay(before, rng).delay)
    }
}

impl Default for Refill {
    fn default() -> Self {
        Refill::replace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_wait_longer_each_time_and_end_with_the_budget() {
        let (mut log, mut rng) = (RestartLog::new(), Rng::new(0));
        let refill = Refill::replace().within(Limit::Within { count: 3, within: Duration::from_secs(10) });
        let mut at = |ms| refill.next(&mut log, Instant::ZERO + Duration::from_millis(ms), &mut rng);
        let delays: Vec<_> = [0, 1, 2, 3, 9_999].into_iter().map(&mut at).collect();
        let ms = |n| Some(Duration::from_millis(n));
        assert_eq!(delays, [ms(100), ms(200), ms(400), None, None]);
        assert_eq!(at(10_000), ms(400), "the first has left the window, two are in it");
        assert_eq!(Refill::Shrink.next(&mut log, Instant::ZERO, &mut rng), None);
    }
}
