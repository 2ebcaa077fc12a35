//! The restart budget: how many restarts there were, and whether one more is allowed.
//!
//! For at most N restarts in a window W, a failure at t that asks for a restart is allowed iff `count < N`, compared
//! *before* adding, where count is by [`Window`]:
//! - **Sliding**: the restarts r with t − r < W.
//! - **Tumbling**: the first restart opens [o, o + W); the first one after it opens the next, count 0.
//! - **Gap**: count falls to 0 only if t − the last restart > W.
//!
//! I1 only restarts count: a failure that is resumed, stopped, escalated or refused leaves no mark.
//! I2 memory is bounded: [`Limit::COUNT_MAX`] times for a sliding window, 16 for everything else.
//! I3 reading changes nothing.
//! It does not decide (that is [`super::decide()`]) and knows no clock.

use std::collections::VecDeque;
use std::time::Duration;

use crate::code::codes;
use crate::time::Instant;

/// How many restart times are kept for the explanation of a decision.
pub const RECENT_MAX: usize = 16;

codes! {
    /// Says how restarts are counted against time.
    pub enum Window {
        /// Counts the restarts of the last W. The default.
        Sliding = 0, "sliding";
        /// Counts the restarts since a window was opened, windows do not overlap.
        Tumbling = 1, "tumbling";
        /// Counts the restarts since there was none for longer than W.
        Gap = 2, "gap";
    }
}

/// Says how many restarts are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// At most `count` restarts `within` a window.
    Within {
        /// The number of restarts that are allowed; more than [`Limit::COUNT_MAX`] counts as that.
        count: u32,
        /// The length of the window; zero never limits, unless `count` is 0.
        within: Duration,
    },
    /// At most so many restarts ever: n + 1 instances are started.
    Lifetime(u32),
    /// Restarts for ever.
    Unlimited,
}

impl Limit {
    /// The largest number of restarts that a window can allow, since a sliding window remembers each.
    pub const COUNT_MAX: u32 = 65_536;
    /// The default: 10 restarts in 10 s.
    pub const DEFAULT: Limit = Limit::Within { count: 10, within: Duration::from_secs(10) };

    /// Gives the largest number of restarts allowed, `None` if there is none.
    pub fn count(self) -> Option<u32> {
        match self {
            Limit::Within { count, .. } => Some(count.min(Limit::COUNT_MAX)),
            Limit::Lifetime(count) => Some(count),
            Limit::Unlimited => None,
        }
    }

    /// Gives the length of the window, `None` if time plays no part.
    pub fn within(self) -> Option<Duration> {
        match self {
            Limit::Within { within, .. } => Some(within),
            Limit::Lifetime(_) | Limit::Unlimited => None,
        }
    }

    /// Tells whether a child that always fails would be restarted for ever at one instant.
    pub fn is_endless(self) -> bool {
        match self {
            Limit::Within { count, within } => count > 0 && within.is_zero(),
            Limit::Lifetime(_) => false,
            Limit::Unlimited => true,
        }
    }
}

impl Default for Limit {
    fn default() -> Self {
        Limit::DEFAULT
    }
}

/// Remembers the restarts that count.
///
/// # Examples
/// ```
/// use footlights::supervise::{Limit, RestartLog, Window};
/// use footlights::time::Instant;
/// use std::time::Duration;
/// let ms = |n| Instant::ZERO + Duration::from_millis(n);
/// let limit = Limit::Within { count: 1, within: Duration::from_millis(100) };
/// let mut log = RestartLog::new();
/// assert!(log.try_record(limit, Window::Sliding, ms(0)));
/// assert!(!log.try_record(limit, Window::Sliding, ms(99)));
/// assert!(log.try_record(limit, Window::Sliding, ms(100)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestartLog {
    /// The restarts of the present window, oldest first; only the last ones where the count alone decides.
    times: VecDeque<Instant>,
    /// The number of restarts in the present window (sliding: `times` alone decides).
    count: u32,
    /// When the present tumbling window was opened.
    opened: Instant,
}

impl RestartLog {
    /// Makes an empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a restart at `now` if it is allowed, and tells whether it is.
    pub fn try_record(&mut self, limit: Limit, window: Window, now: Instant) -> bool {
        let count = self.count(limit, window, now);
        if limit.count().is_some_and(|max| count >= max) {
            return false;
        }
        self.forget(limit, window, now);
        if count == 0 {
            self.opened = now;
        }
        self.times.push_back(now);
        self.count = count.saturating_add(1);
        true
    }

    /// Counts the restarts that a failure at `now` is compared with.
    pub fn count(&self, limit: Limit, window: Window, now: Instant) -> u32 {
        match limit.within() {
            Some(within) if window == Window::Sliding => {
                u32::try_from(self.times.len() - self.expired(within, now)).unwrap_or(u32::MAX)
            }
            Some(within) if self.is_over(within, window, now) => 0,
            _ => self.count,
        }
    }

    /// Gives the last restarts that a failure at `now` is compared with, at most [`RECENT_MAX`], oldest first.
    pub fn recent(&self, limit: Limit, window: Window, now: Instant) -> Vec<Instant> {
        let count = usize::try_from(self.count(limit, window, now)).unwrap_or(usize::MAX);
        let shown = count.min(RECENT_MAX).min(self.times.len());
        self.times.range(self.times.len() - shown..).copied().collect()
    }

    /// Forgets what can no longer count.
    fn forget(&mut self, limit: Limit, window: Window, now: Instant) {
        let forgotten = match limit.within() {
            Some(within) if window == Window::Sliding => self.expired(within, now),
            Some(within) if self.is_over(within, window, now) => self.times.len(),
            _ => (self.times.len() + 1).saturating_sub(RECENT_MAX),
        };
        self.times.drain(..forgotten);
    }

    /// Counts the times that have left a sliding window.
    fn expired(&self, within: Duration, now: Instant) -> usize {
        self.times.partition_point(|&restart| now - restart >= within)
    }

    /// Tells whether the present tumbling or gap window has ended.
    fn is_over(&self, within: Duration, window: Window, now: Instant) -> bool {
        match window {
            Window::Sliding => false,
            Window::Tumbling => now - self.opened >= within,
            Window::Gap => self.times.back().is_none_or(|&last| now - last > within),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    fn within(count: u32, window_ms: u64) -> Limit {
        Limit::Within { count, within: Duration::from_millis(window_ms) }
    }

    fn run(limit: Limit, window: Window, failures_ms: &[u64]) -> Vec<bool> {
        let mut log = RestartLog::new();
        failures_ms.iter().map(|&t| log.try_record(limit, window, ms(t))).collect()
    }

    #[test]
    fn s1_restart_budget_tumbling_window_opens_anew_after_its_end() {
        let got = run(within(2, 100), Window::Tumbling, &[50, 90, 149, 150, 160, 249, 250]);
        assert_eq!(got, [true, true, false, true, true, false, true]);
    }

    #[test]
    fn s1_restart_budget_gap_resets_only_after_a_pause_longer_than_the_window() {
        let got = run(within(2, 100), Window::Gap, &[0, 100, 200, 201, 301, 401]);
        assert_eq!(got, [true, true, false, true, true, false]);
    }

    #[test]
    fn s1_restart_budget_lifetime_never_resets() {
        assert_eq!(run(Limit::Lifetime(2), Window::Sliding, &[0, 100_000, 9_000_000]), [true, true, false]);
    }

    #[test]
    fn s1_restart_budget_memory_is_bounded() {
        let mut log = RestartLog::new();
        for n in 0..100_000 {
            log.try_record(Limit::Unlimited, Window::Sliding, ms(n));
        }
        assert_eq!(log.count(Limit::Unlimited, Window::Sliding, ms(0)), 100_000);
        assert_eq!(log.times.len(), RECENT_MAX);
        let sliding = within(u32::MAX, u64::MAX / 2_000_000);
        let mut log = RestartLog::new();
        let allowed = (0..100_000).filter(|_| log.try_record(sliding, Window::Sliding, ms(0))).count();
        assert_eq!((allowed, log.times.len()), (65_536, 65_536));
    }

    /// The rules of the module doc over the list of all restarts ever, word by word.
    fn model(restarts: &[u64], window: Window, w: u64, t: u64) -> usize {
        match window {
            Window::Sliding => restarts.iter().filter(|&&r| t - r < w).count(),
            Window::Tumbling => {
                let (mut opened, mut count) = (None, 0);
                for &r in restarts {
                    if opened.is_none_or(|o| r >= o + w) {
                        (opened, count) = (Some(r), 0);
                    }
                    count += 1;
                }
                if opened.is_none_or(|o| t >= o + w) { 0 } else { count }
            }
            Window::Gap => {
                let times: Vec<u64> = restarts.iter().copied().chain([t]).collect();
                let run = times.windows(2).rev().take_while(|pair| pair[1] - pair[0] <= w).count();
                run.min(restarts.len())
            }
        }
    }

    proptest! {
        #[test]
        fn every_window_counts_by_its_rule(
            gaps in proptest::collection::vec(0..120u64, 0..100), max in 0..25u32, w in 0..200u64, code in 0..3u8,
        ) {
            let window = Window::from_code(code).expect("three windows");
            let (mut log, mut restarts, mut t) = (RestartLog::new(), Vec::new(), 0);
            for gap in gaps {
                t += gap;
                let expected = model(&restarts, window, w, t);
                let limit = within(max, w);
                prop_assert_eq!(log.count(limit, window, ms(t)) as usize, expected);
                let recent: Vec<_> = restarts[restarts.len() - expected.min(RECENT_MAX)..].iter().map(|&r| ms(r)).collect();
                prop_assert_eq!(log.recent(limit, window, ms(t)), recent);
                let allowed = log.try_record(limit, window, ms(t));
                prop_assert_eq!(allowed, expected < max as usize);
                if allowed {
                    restarts.push(t);
                }
                prop_assert!(log.times.len() <= RECENT_MAX.max(max as usize));
            }
        }
    }
}
