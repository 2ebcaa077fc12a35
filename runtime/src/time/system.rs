//! The machine's monotonic clock, counted from its making; one of the two places that ask the operating system for time.

use super::Instant;

/// Reads the machine's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock {
    start: std::time::Instant,
}

impl SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one clock of a Pool")]
    pub(crate) fn new() -> Self {
        SystemClock { start: std::time::Instant::now() }
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::ZERO + self.start.elapsed()
    }
}
