//! Takes two times of a run: how long it took, and how much processor time it had.
//!
//! On a machine that others use too the first says more about them; the second does not count what they took.
//! The second is Linux's, over all threads of the process that live at the end; workers that spin for work count as busy.

use std::fs;
use std::time::{Duration, Instant};

/// What a run took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Took {
    /// From begin to end.
    pub wall: Duration,
    /// Of all threads together; `None` where the system does not tell.
    pub cpu: Option<Duration>,
}

/// A running stopwatch.
#[derive(Debug)]
pub(super) struct Stopwatch {
    cpu: Option<Duration>,
    began: Instant,
}

impl Stopwatch {
    /// Starts; the clock last, so that it does not see the rest.
    pub(super) fn start() -> Self {
        let cpu = cpu_time();
        Stopwatch { cpu, began: Instant::now() }
    }

    /// Stops; the clock first.
    pub(super) fn stop(self) -> Took {
        let wall = self.began.elapsed();
        let cpu = cpu_time().zip(self.cpu).map(|(now, then)| now.saturating_sub(then));
        Took { wall, cpu }
    }
}

/// Sums up the processor time of the process's living threads.
fn cpu_time() -> Option<Duration> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    // A thread that ends while we look has no file any more.
    let stats = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("schedstat")).ok());
    let nanos: Vec<u64> = stats.filter_map(|text| text.split(' ').next()?.parse().ok()).collect();
    (!nanos.is_empty()).then(|| Duration::from_nanos(nanos.iter().sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_takes_both_times() {
        let stopwatch = Stopwatch::start();
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(2) {
            std::hint::spin_loop();
        }
        let took = stopwatch.stop();
        assert!(took.wall >= Duration::from_millis(2), "{took:?}");
        assert_eq!(took.cpu.is_some(), cfg!(target_os = "linux"), "{took:?}");
    }
}
