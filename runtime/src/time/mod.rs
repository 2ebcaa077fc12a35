//! Monotonic time of a system: nanoseconds since it was built, on every target.
//!
//! I1 an [`Instant`] never goes back; arithmetic saturates, nothing wraps.
//! It is no wall clock and knows no time zone.

#[cfg(not(target_family = "wasm"))]
pub(crate) mod system;
mod timer_queue;

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

pub use timer_queue::{TimerKey, TimerQueue};

/// A point in a system's time: nanoseconds since the system was built.
///
/// # Examples
/// ```
/// use footlights::time::Instant;
/// use std::time::Duration;
/// let t = Instant::ZERO + Duration::from_millis(5);
/// assert_eq!(t - Instant::ZERO, Duration::from_millis(5));
/// assert_eq!(Instant::ZERO - t, Duration::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The moment at which the system was built.
    pub const ZERO: Instant = Instant(0);
    /// The end of time, some 584 years after the start: what is due then is never due.
    pub const FAR_FUTURE: Instant = Instant(u64::MAX);

    /// Makes an instant from nanoseconds since the start of the system.
    pub const fn from_nanos(nanos: u64) -> Self {
        Instant(nanos)
    }

    /// Gives the nanoseconds since the start of the system.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, d: Duration) -> Instant {
        Instant(self.0.saturating_add(nanos(d)))
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// Gives a duration in nanoseconds, saturating at u64::MAX (584 years).
pub fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}
