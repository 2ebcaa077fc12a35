//! A histogram of durations in 64 buckets, each twice as wide as the one before.
//!
//! Bucket 0 holds 0 and 1 ns, bucket i holds 2^i … 2^(i+1) − 1 ns. Why so coarse: 64 counters, one leading-zeros
//! instruction to record, no configuration, and any two can be added.
//!
//! I1 count and maximum are exact.
//! I2 a quantile is an upper bound, never above the maximum and less than twice the true one (1 ns for 0): none is interpolated.
//! I3 counters saturate, nothing wraps.
//! It keeps no single value and no time of recording.

use std::ops::AddAssign;
use std::time::Duration;

use crate::time::nanos;

/// Counts durations by their order of magnitude.
///
/// # Examples
/// ```
/// use footlights::observe::Histogram;
/// use std::time::Duration;
/// let mut took = Histogram::new();
/// (1..=100).for_each(|n| took.record(Duration::from_nanos(n)));
/// assert_eq!((took.p50(), took.p99()), (Duration::from_nanos(63), Duration::from_nanos(100)));
/// assert_eq!((took.count(), took.max()), (100, Duration::from_nanos(100)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: [u64; Histogram::BUCKETS],
    count: u64,
    max_ns: u64,
}

impl Histogram {
    /// The number of buckets.
    pub const BUCKETS: usize = 64;

    /// Makes an empty histogram.
    pub const fn new() -> Self {
        Histogram { buckets: [0; Histogram::BUCKETS], count: 0, max_ns: 0 }
    }

    /// Counts one duration; more than 584 years count as that.
    #[inline]
    pub fn record(&mut self, duration: Duration) {
        self.record_ns(nanos(duration));
    }

    /// Counts one duration in nanoseconds.
    #[inline]
    pub fn record_ns(&mut self, ns: u64) {
        let bucket = &mut self.buckets[(ns | 1).ilog2() as usize];
        *bucket = bucket.saturating_add(1);
        self.count = self.count.saturating_add(1);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Gives how many durations were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Gives the longest duration, zero if none was counted.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.max_ns)
    }

    /// Gives the counts, shortest durations first.
    pub fn buckets(&self) -> &[u64; Histogram::BUCKETS] {
        &self.buckets
    }

    /// Bounds the duration that half of the counted ones do not exceed.
    pub fn p50(&self) -> Duration {
        self.quantile(500)
    }

    /// Bounds the duration that 99 of 100 do not exceed.
    pub fn p99(&self) -> Duration {
        self.quantile(990)
    }

    /// Bounds the duration that `permille` of 1,000 do not exceed; zero if none was counted.
    pub fn quantile(&self, permille: u32) -> Duration {
        let wanted = (u128::from(self.count) * u128::from(permille.min(1_000))).div_ceil(1_000).max(1);
        let mut seen = 0u128;
        for (&count, bucket) in self.buckets.iter().zip(0u32..) {
            seen += u128::from(count);
            if seen >= wanted {
                return Duration::from_nanos(bucket_end(bucket).min(self.max_ns));
            }
        }
        self.max()
    }
}

/// Gives the longest duration of a bucket, in nanoseconds.
fn bucket_end(bucket: u32) -> u64 {
    u64::MAX >> (63 - bucket)
}

impl AddAssign<&Histogram> for Histogram {
    fn add_assign(&mut self, other: &Histogram) {
        for (mine, theirs) in self.buckets.iter_mut().zip(other.buckets) {
            *mine = mine.saturating_add(theirs);
        }
        self.count = self.count.saturating_add(other.count);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(durations: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        durations.iter().for_each(|&ns| histogram.record_ns(ns));
        histogram
    }

    #[test]
    fn the_ends_of_the_range_have_buckets() {
        let histogram = of(&[0, 1, 2, u64::MAX]);
        assert_eq!((histogram.buckets()[0], histogram.buckets()[1], histogram.buckets()[63]), (2, 1, 1));
        assert_eq!(histogram.quantile(1_000), Duration::from_nanos(u64::MAX));
        assert_eq!(Histogram::new().p99(), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn a_quantile_bounds_the_true_one(
            mut durations in proptest::collection::vec((0..64u32, any::<u64>()).prop_map(|(s, ns)| ns >> s), 1..200),
            permille in 1..=1_000u32,
        ) {
            let histogram = of(&durations);
            durations.sort_unstable();
            let rank = (durations.len() * permille as usize).div_ceil(1_000) - 1;
            let (truth, got) = (durations[rank], nanos(histogram.quantile(permille)));
            prop_assert!(got >= truth && got / 2 <= truth, "{} for {}", got, truth);
            prop_assert!(got <= nanos(histogram.max()));
        }

        #[test]
        fn adding_is_recording_both(a in proptest::collection::vec(any::<u64>(), 0..50), b in proptest::collection::vec(any::<u64>(), 0..50)) {
            let mut sum = of(&a);
            sum += &of(&b);
            prop_assert_eq!(sum, of(&[a, b].concat()));
        }
    }
}
