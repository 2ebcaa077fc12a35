//! The exploring resizer: it tries sizes out, remembers how fast each was, and goes towards the fastest nearby.
//!
//! Every interval: if all routees ran, the time per message at this size is noted, the latest measure weighing as much as all
//! before it. Then one of three: after a long time of routees to spare, down to a share of the most that were in use; by chance,
//! a step to a size not far away; else half of the way to the best of the neighbouring sizes that were measured.
//!
//! I1 the size is within the bounds after every decision.
//! I2 integers only, and chance from the router's own seed: the same run decides alike everywhere.
//! I3 what is remembered is bounded by the number of sizes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::resize::Observed;
use crate::observe::{ResizeWhy, Resized};
use crate::rng::Rng;
use crate::time::{Instant, nanos};

/// Says when a pool tries out other sizes. The default keeps 1 to 10 routees, decides every 5 s, explores with chance 0.4 in
/// steps of a tenth, chooses among 16 neighbouring sizes, and after an hour with routees to spare goes down to 0.8 of the most
/// that were in use.
///
/// # Examples
/// ```
/// use footlights::routing::Explorer;
/// let resizer = Explorer::default().bounds(2, 50).explore_permille(100);
/// assert_eq!((resizer.min(), resizer.max()), (2, 50));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Explorer {
    min: usize,
    max: usize,
    interval: Duration,
    explore_permille: u64,
    step_permille: u64,
    neighbours: usize,
    spare_after: Duration,
    spare_permille: u64,
}

impl Default for Explorer {
    fn default() -> Self {
        Explorer {
            min: 1,
            max: 10,
            interval: Duration::from_secs(5),
            explore_permille: 400,
            step_permille: 100,
            neighbours: 16,
            spare_after: Duration::from_secs(3_600),
            spare_permille: 800,
        }
    }
}

/// The weight of the latest measure, in thousandths.
const LATEST_PERMILLE: u128 = 500;

impl Explorer {
    /// Keeps `min` to `max` routees; 0 counts as 1, and a maximum below the minimum as the minimum.
    pub fn bounds(mut self, min: usize, max: usize) -> Self {
        self.min = min.max(1);
        self.max = max.max(self.min);
        self
    }

    /// Decides so often; zero counts as 1 ms.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = if interval.is_zero() { Duration::from_millis(1) } else { interval };
        self
    }

    /// Tries a size out with this chance, in thousandths.
    pub fn explore_permille(mut self, permille: u32) -> Self {
        self.explore_permille = permille.into();
        self
    }

    /// Goes at most so far when it tries a size out, in thousandths of the present one; at least by one routee.
    pub fn step_permille(mut self, permille: u32) -> Self {
        self.step_permille = permille.into();
        self
    }

    /// Gives up routees to spare after so long without all of them in use.
    pub fn spare_after(mut self, d: Duration) -> Self {
        self.spare_after = d;
        self
    }

    /// Gives the least number of routees.
    pub fn min(&self) -> usize {
        self.min
    }

    /// Gives the largest number of routees.
    pub fn max(&self) -> usize {
        self.max
    }

    pub(super) fn every(&self) -> Duration {
        self.interval
    }

    /// Decides about one observation; `handled` counts the messages that the routees have handled since the one before.
    pub(super) fn decide(
        &self,
        record: &mut Record,
        seen: &Observed,
        handled: u64,
        now: Instant,
        rng: &mut Rng,
    ) -> Option<Resized> {
        let n = seen.routees;
        let (min, max) = (self.min as u64, self.max as u64);
        let elapsed = now - record.since;
        record.since = now;
        if n < min || n > max {
            return Some(Resized { from: n, to: n.clamp(min, max), why: ResizeWhy::Bounds { min, max } });
        }
        record.look(seen, handled, elapsed, now);
        let (to, why) = match record.spare {
            Some(spare) if now - spare.since >= self.spare_after => {
                record.spare = None;
                let to = (spare.peak * self.spare_permille).div_ceil(1_000);
                (to.min(n), ResizeWhy::Underused { peak: spare.peak, for_ns: nanos(now - spare.since) })
            }
            Some(_) => return None,
            None if record.times.is_empty() => return None,
            None => {
                let drawn = rng.below(1_000);
                match drawn < self.explore_permille {
                    true => (self.explore(n, rng), self.explored(drawn)),
                    false => self.optimise(record, n)?,
                }
            }
        };
        let to = to.clamp(min, max);
        (to != n).then_some(Resized { from: n, to, why })
    }

    fn explored(&self, drawn: u64) -> ResizeWhy {
        ResizeWhy::Explored { drawn, chance_permille: self.explore_permille }
    }

    /// Draws a size not far away, in either direction.
    fn explore(&self, n: u64, rng: &mut Rng) -> u64 {
        let widest = n.saturating_mul(self.step_permille).div_ceil(1_000).max(1);
        let step = 1 + rng.below(widest);
        if rng.below(2) == 0 { n.saturating_sub(step) } else { n + step }
    }

    /// Goes half of the way, rounded up, to the fastest of the sizes around.
    fn optimise(&self, record: &Record, n: u64) -> Option<(u64, ResizeWhy)> {
        let half = self.neighbours / 2;
        let below = record.times.range(..n).rev().take(half);
        let around = below.chain(record.times.range(n..=n)).chain(record.times.range(n + 1..).take(half));
        // Of equally fast ones the smallest.
        let (&best, &best_ns) = around.min_by_key(|&(&size, &ns)| (ns, size))?;
        let to = match best >= n {
            true => n + (best - n).div_ceil(2),
            false => n - (n - best).div_ceil(2),
        };
        let now_ns = record.times.get(&n).copied().unwrap_or(0);
        Some((to, ResizeWhy::Optimised { best, best_ns, now_ns }))
    }
}

/// What an exploring resizer remembers.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// Time per message by size, in nanoseconds.
    times: BTreeMap<u64, u64>,
    /// Since when not all routees were in use.
    spare: Option<Spare>,
    /// The last observation.
    since: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spare {
    since: Instant,
    peak: u64,
}

impl Record {
    /// Begins at `now`.
    pub(super) fn new(now: Instant) -> Self {
        Record { since: now, ..Record::default() }
    }

    fn look(&mut self, seen: &Observed, handled: u64, elapsed: Duration, now: Instant) {
        if seen.able == 0 {
            return; // failing routees say nothing
        }
        if seen.running < seen.able {
            let spare = self.spare.get_or_insert(Spare { since: now, peak: 0 });
            spare.peak = spare.peak.max(seen.running);
            return;
        }
        self.spare = None;
        if let Some(latest) = nanos(elapsed).checked_div(handled) {
            let time = self.times.entry(seen.routees).or_insert(latest);
            let weighed = (u128::from(latest) * LATEST_PERMILLE
                + u128::from(*time) * (1_000 - LATEST_PERMILLE))
                / 1_000;
            *time = u64::try_from(weighed).unwrap_or(u64::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::Rng;

    fn full(n: u64) -> Observed {
        Observed { routees: n, able: n, busy: n, running: n }
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn the_size_settles_where_messages_take_the_least_time() {
        // Beyond 6 routees the work does not get faster: it gets slower.
        let speed = |n: u64| if n <= 6 { n * 100 } else { 600 - (n - 6) * 50 };
        let (resizer, mut record, mut rng) = (Explorer::default(), Record::default(), Rng::new(1));
        let (mut size, mut spent) = (1, BTreeMap::<u64, u64>::new());
        for n in 1..=2_000 {
            let seen = full(size);
            if let Some(resized) = resizer.decide(&mut record, &seen, speed(size) * 5, at(n * 5), &mut rng) {
                size = resized.to;
            }
            *spent.entry(size).or_insert(0) += u64::from(n > 200);
        }
        let near = (5..=7).map(|n| spent.get(&n).copied().unwrap_or(0)).sum::<u64>();
        assert!(near > 1_600, "mostly about 6: {spent:?}");
    }

    #[test]
    fn routees_to_spare_for_an_hour_are_given_up_to_eight_tenths_of_the_peak() {
        let (resizer, mut record, mut rng) = (Explorer::default(), Record::default(), Rng::new(1));
        let mut decide = |seconds, running| {
            let seen = Observed { routees: 10, able: 10, busy: 0, running };
            resizer.decide(&mut record, &seen, 1, at(seconds), &mut rng)
        };
        assert_eq!(decide(0, 3), None);
        assert_eq!(decide(1_800, 5), None);
        assert_eq!(decide(3_599, 2), None);
        let resized = decide(3_600, 1).expect("an hour has passed");
        assert_eq!((resized.from, resized.to), (10, 4));
        assert_eq!(resized.why(), "10 routees become 4: at most 5 were in use for 3600 s");
    }

    #[test]
    fn the_latest_measure_weighs_half() {
        let mut record = Record::default();
        record.look(&full(4), 10, Duration::from_nanos(1_000), at(0));
        record.look(&full(4), 10, Duration::from_nanos(3_000), at(1));
        assert_eq!(record.times.get(&4), Some(&200));
        record.look(&full(4), 0, Duration::from_nanos(3_000), at(2));
        assert_eq!(record.times.get(&4), Some(&200), "an interval without messages measures nothing");
    }

    #[test]
    fn the_best_neighbour_is_approached_by_half() {
        let (resizer, mut record) = (Explorer::default().bounds(1, 100), Record::default());
        record.times = BTreeMap::from([(10, 50), (20, 40), (40, 30)]);
        let to = |record: &Record, n| resizer.optimise(record, n).map(|(to, _)| to);
        assert_eq!([to(&record, 10), to(&record, 41), to(&record, 40)], [Some(25), Some(40), Some(40)]);
        // Of many only the 8 on each side are looked at.
        record.times = (1..=100).map(|n| (n, 1_000 - n)).collect();
        assert_eq!(to(&record, 10), Some(14));
    }

    proptest! {
        #[test]
        fn an_explorer_stays_in_its_bounds_and_repeats_with_its_seed(
            seed: u64, min in 0..5usize, more in 0..30usize, start in 0..50u64,
            seen in proptest::collection::vec((0..1_001u64, 0..1_001u64, 0..10_000u64), 1..150),
        ) {
            let resizer = Explorer::default().bounds(min, min + more).spare_after(Duration::from_secs(20));
            let run = || {
                let (mut record, mut rng, mut size) = (Record::default(), Rng::new(seed), start);
                let mut sizes = Vec::new();
                for (n, &(able, running, handled)) in seen.iter().enumerate() {
                    let able = size * able / 1_000;
                    let running = able * running / 1_000;
                    let seen = Observed { routees: size, able, busy: running, running };
                    if let Some(r) = resizer.decide(&mut record, &seen, handled, at(n as u64 * 5), &mut rng) {
                        assert_ne!(r.to, size);
                        size = r.to;
                        assert!((resizer.min() as u64..=resizer.max() as u64).contains(&size), "{r:?}");
                    }
                    sizes.push(size);
                }
                sizes
            };
            prop_assert_eq!(run(), run());
        }
    }
}
