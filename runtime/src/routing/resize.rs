//! What changes the size of a pool by itself, and the pressure resizer: more routees while all are busy, fewer while few are. A pure function of what was observed.
//!
//! A routee is *busy* if it runs and has messages waiting. Every interval one observation is made, and one decision at most:
//! all busy: ⌈n·grow⌉ more; a smaller share than `low` busy: ⌈n·shrink⌉ fewer. Routees that wait for a restart count as neither
//! busy nor free.
//!
//! I1 the size is within the bounds after every decision.
//! I2 two decisions in opposite directions are at least [`Pressure::PATIENCE`] observations apart: a pool does not flap.
//! I3 integers only: every target decides alike.

use std::collections::BTreeMap;
use std::time::Duration;

use super::explore::{Explorer, Record};
use super::member::Load;
use crate::id::ActorId;
use crate::observe::{ResizeWhy, Resized};
use crate::rng::Rng;
use crate::time::Instant;

/// Says when a pool gets more or fewer routees by the pressure on them. The default keeps 1 to 10 routees, looks every 100 ms,
/// adds a fifth when all are busy, and retires a tenth when fewer than three tenths are.
///
/// # Examples
/// ```
/// use footlights::routing::Pressure;
/// let resizer = Pressure::default().bounds(2, 15);
/// assert_eq!((resizer.min(), resizer.max()), (2, 15));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pressure {
    min: usize,
    max: usize,
    interval: Duration,
    grow_permille: u64,
    shrink_permille: u64,
    low_permille: u64,
}

impl Default for Pressure {
    fn default() -> Self {
        Pressure {
            min: 1,
            max: 10,
            interval: Duration::from_millis(100),
            grow_permille: 200,
            shrink_permille: 100,
            low_permille: 300,
        }
    }
}

/// What changes the size of a pool by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Resizer {
    /// By the pressure on the routees.
    Pressure(Pressure),
    /// By trying sizes out.
    Explorer(Explorer),
}

impl From<Pressure> for Resizer {
    fn from(pressure: Pressure) -> Self {
        Resizer::Pressure(pressure)
    }
}

impl From<Explorer> for Resizer {
    fn from(explorer: Explorer) -> Self {
        Resizer::Explorer(explorer)
    }
}

impl Resizer {
    /// Gives the least and the largest number of routees.
    pub fn bounds(&self) -> (usize, usize) {
        match self {
            Resizer::Pressure(pressure) => (pressure.min, pressure.max),
            Resizer::Explorer(explorer) => (explorer.min(), explorer.max()),
        }
    }

    pub(super) fn every(&self) -> Duration {
        match self {
            Resizer::Pressure(pressure) => pressure.interval,
            Resizer::Explorer(explorer) => explorer.every(),
        }
    }
}

/// A resizer at work: what it remembers.
#[derive(Debug, Default)]
pub(super) struct Resizing {
    memory: Memory,
    record: Record,
    /// Messages that each routee had handled when it was last looked at.
    handled: BTreeMap<ActorId, u64>,
}

impl Resizing {
    /// Begins at `now`.
    pub(super) fn new(now: Instant) -> Self {
        Resizing { record: Record::new(now), ..Resizing::default() }
    }

    /// Decides about one observation; `handled` counts, for each routee, the messages that it has handled ever.
    pub(super) fn decide(
        &mut self,
        resizer: &Resizer,
        seen: &Observed,
        handled: BTreeMap<ActorId, u64>,
        now: Instant,
        rng: &mut Rng,
    ) -> Option<Resized> {
        match resizer {
            Resizer::Pressure(pressure) => pressure.decide(&mut self.memory, seen),
            Resizer::Explorer(explorer) => {
                let before = |id: &ActorId| self.handled.get(id).copied().unwrap_or(0);
                let new = handled.iter().map(|(id, n)| n.saturating_sub(before(id))).sum();
                self.handled = handled;
                explorer.decide(&mut self.record, seen, new, now, rng)
            }
        }
    }
}

impl Pressure {
    /// Observations between two decisions in opposite directions.
    pub const PATIENCE: u64 = 5;

    /// Keeps `min` to `max` routees; 0 counts as 1, and a maximum below the minimum as the minimum.
    pub fn bounds(mut self, min: usize, max: usize) -> Self {
        self.min = min.max(1);
        self.max = max.max(self.min);
        self
    }

    /// Looks so often; zero counts as 1 ms.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = if interval.is_zero() { Duration::from_millis(1) } else { interval };
        self
    }

    /// Adds so many thousandths when all are busy.
    pub fn grow_permille(mut self, permille: u32) -> Self {
        self.grow_permille = permille.into();
        self
    }

    /// Retires so many thousandths when few are busy.
    pub fn shrink_permille(mut self, permille: u32) -> Self {
        self.shrink_permille = permille.into();
        self
    }

    /// Takes a busy share below so many thousandths for few.
    pub fn low_permille(mut self, permille: u32) -> Self {
        self.low_permille = permille.into();
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

    /// Decides about one observation.
    pub(super) fn decide(&self, memory: &mut Memory, seen: &Observed) -> Option<Resized> {
        memory.observations += 1;
        let n = seen.routees;
        let (min, max) = (self.min as u64, self.max as u64);
        if n < min || n > max {
            return Some(Resized { from: n, to: n.clamp(min, max), why: ResizeWhy::Bounds { min, max } });
        }
        let (way, to, why) = if seen.able > 0 && seen.busy == seen.able {
            let to = (n + share(n, self.grow_permille)).min(max);
            (Way::More, to, ResizeWhy::AllBusy { busy: seen.busy, grow_permille: self.grow_permille })
        } else if seen.able > 0 && seen.busy * 1_000 < seen.able * self.low_permille {
            let to = n.saturating_sub(share(n, self.shrink_permille)).max(min);
            let (busy, able, below_permille) = (seen.busy, seen.able, self.low_permille);
            (Way::Fewer, to, ResizeWhy::FewBusy { busy, able, below_permille })
        } else {
            return None;
        };
        if to == n || memory.must_wait(way) {
            return None;
        }
        memory.last = Some((way, memory.observations));
        Some(Resized { from: n, to, why })
    }
}

/// Gives so many thousandths of `n`, rounded up.
fn share(n: u64, permille: u64) -> u64 {
    n.saturating_mul(permille).div_ceil(1_000)
}

/// What was seen of the routees at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Observed {
    /// In the table.
    pub(super) routees: u64,
    /// Those that do not wait for a restart or a decision.
    pub(super) able: u64,
    /// Those of them that run and have messages waiting.
    pub(super) busy: u64,
    /// Those of them that run.
    pub(super) running: u64,
}

impl Observed {
    /// Sums up; with a shared queue what waits there waits for each.
    pub(super) fn of(loads: impl Iterator<Item = Load>, shared: u64) -> Self {
        loads.fold(Observed::default(), |seen, load| {
            let able = u64::from(!load.suspended);
            let running = able * u64::from(load.running);
            Observed {
                routees: seen.routees + 1,
                able: seen.able + able,
                busy: seen.busy + running * u64::from(load.behind + shared > 0),
                running: seen.running + running,
            }
        })
    }
}

/// What a pressure resizer remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    observations: u64,
    last: Option<(Way, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    More,
    Fewer,
}

impl Memory {
    /// I2.
    fn must_wait(&self, way: Way) -> bool {
        self.last.is_some_and(|(last, at)| last != way && self.observations - at < Pressure::PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(routees: u64, able: u64, busy: u64) -> Observed {
        Observed { routees, able, busy, running: busy }
    }

    #[test]
    fn all_busy_adds_a_fifth_and_few_busy_retires_a_tenth() {
        let to = |routees, able, busy| {
            Pressure::default().decide(&mut Memory::default(), &seen(routees, able, busy)).map(|r| r.to)
        };
        assert_eq!(
            [to(1, 1, 1), to(5, 5, 5), to(6, 6, 6), to(9, 9, 9), to(10, 10, 10)],
            [Some(2), Some(6), Some(8), Some(10), None]
        );
        assert_eq!([to(10, 10, 2), to(10, 10, 3), to(3, 3, 0), to(1, 1, 0)], [Some(9), None, Some(2), None]);
        assert_eq!([to(0, 0, 0), to(12, 12, 6)], [Some(1), Some(10)]);
    }

    #[test]
    fn failing_routees_count_as_neither() {
        let decide = |able, busy| {
            Pressure::default().decide(&mut Memory::default(), &seen(8, able, busy)).map(|r| r.to)
        };
        assert_eq!(decide(2, 2), Some(10), "all that can work are busy");
        assert_eq!(decide(0, 0), None, "nobody can say");
        assert_eq!(decide(3, 1), None, "a third of those who can work");
    }

    #[test]
    fn a_change_of_direction_waits_five_observations() {
        let (resizer, mut memory) = (Pressure::default(), Memory::default());
        let mut size = 5;
        let mut look = |busy: bool| {
            let seen = seen(size, size, if busy { size } else { 0 });
            if let Some(resized) = resizer.decide(&mut memory, &seen) {
                size = resized.to;
            }
            size
        };
        assert_eq!([look(true), look(true)], [6, 8]);
        assert_eq!([look(false), look(false), look(false), look(false), look(false)], [8, 8, 8, 8, 7]);
        assert_eq!([look(false), look(true)], [6, 6]);
    }

    #[test]
    fn decisions_say_their_numbers() {
        let all = Pressure::default().decide(&mut Memory::default(), &seen(5, 4, 4)).expect("a decision");
        let text = "5 routees become 6: all 4 that can work have messages waiting, so there are 200 ‰ more";
        assert_eq!(all.why(), text);
        let few = Pressure::default().decide(&mut Memory::default(), &seen(5, 4, 1)).expect("a decision");
        let text = "5 routees become 4: 1 of 4 that can work have messages waiting, fewer than 300 ‰";
        assert_eq!(few.why(), text);
    }

    proptest! {
        #[test]
        fn a_pool_stays_in_its_bounds_and_does_not_flap(
            min in 0..6usize, more in 0..20usize, start in 0..40u64,
            busy in proptest::collection::vec((0..1_001u64, 0..1_001u64), 1..200),
        ) {
            let resizer = Pressure::default().bounds(min, min + more);
            let (mut memory, mut size, mut last) = (Memory::default(), start, None);
            for (n, (able, busy)) in busy.into_iter().enumerate() {
                let able = size * able / 1_000;
                let Some(resized) = resizer.decide(&mut memory, &seen(size, able, able * busy / 1_000)) else {
                    continue;
                };
                prop_assert_eq!(resized.from, size);
                prop_assert!(resized.to != size);
                prop_assert!((resizer.min() as u64..=resizer.max() as u64).contains(&resized.to));
                if !matches!(resized.why, ResizeWhy::Bounds { .. }) {
                    let up = resized.to > size;
                    if let Some((was_up, at)) = last {
                        prop_assert!(was_up == up || n - at >= Pressure::PATIENCE as usize);
                    }
                    last = Some((up, n));
                }
                size = resized.to;
            }
        }
    }
}
