//! A seeded, splittable random number generator: the same seed gives the same numbers on every target.
//!
//! It is xoshiro256** seeded by splitmix64 (Blackman and Vigna, public domain algorithms). Why our own: the sequence is
//! part of the event log's contract, so it must never change with a dependency's version.
//!
//! I1 every consumer owns its generator, made by [`Rng::split`] with a fixed label: one more consumer never shifts another.
//! I2 no float takes part: durations are drawn with integers, so no target can round differently.
//! It is not for cryptography.

use std::time::Duration;

/// Draws numbers from a seed.
///
/// # Examples
/// ```
/// use footlights::rng::Rng;
/// let (mut a, mut b) = (Rng::new(7), Rng::new(7));
/// assert_eq!(a.next_u64(), b.next_u64());
/// assert!(a.below(10) < 10);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Makes a generator from a seed; every seed is as good as any other, 0 too.
    pub fn new(seed: u64) -> Self {
        let mut s = seed;
        Rng { state: [splitmix(&mut s), splitmix(&mut s), splitmix(&mut s), splitmix(&mut s)] }
    }

    /// Makes an independent generator for the consumer `label` without advancing this one.
    pub fn split(&self, label: u64) -> Self {
        let mut s = self.state[0] ^ self.state[3].rotate_left(17);
        let base = splitmix(&mut s);
        Rng::new(base ^ label.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Draws 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Draws a uniform number in `0..n` (multiply-shift; the bias is below n / 2^64).
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "below(0) has no value to give");
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Is true with the chance `per_million` / 1,000,000.
    pub fn chance_per_million(&mut self, per_million: u32) -> bool {
        self.below(1_000_000) < u64::from(per_million)
    }

    /// Draws a uniform duration in `0..=max`, by nanoseconds.
    pub fn uniform(&mut self, max: Duration) -> Duration {
        let max = u64::try_from(max.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(if max == u64::MAX { self.next_u64() } else { self.below(max + 1) })
    }

    /// Draws an exponentially distributed duration with the given mean, by von Neumann's comparison method (1951): only
    /// comparisons of uniform numbers, hence exact and the same everywhere. Saturates at 64 means.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        let mean = mean.as_nanos().min(u128::from(u64::MAX));
        let mut whole = 0u128;
        while whole < 64 {
            let first = self.next_u64();
            if self.falling_run_is_odd(first) {
                let nanos = mean * whole + ((mean * u128::from(first)) >> 64);
                return Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
            }
            whole += 1;
        }
        Duration::from_nanos(u64::try_from(mean * 64).unwrap_or(u64::MAX))
    }

    /// Draws until the run `first > u2 > u3 …` ends; true if it had an odd length.
    fn falling_run_is_odd(&mut self, first: u64) -> bool {
        let (mut last, mut length) = (first, 1u32);
        loop {
            let next = self.next_u64();
            if next >= last {
                return length % 2 == 1;
            }
            last = next;
            length += 1;
        }
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_a_seed_never_changes() {
        let mut rng = Rng::new(1);
        let got: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(got, [12_966_619_160_104_079_557, 9_600_361_134_598_540_522, 10_590_380_919_521_690_900]);
    }

    #[test]
    fn splits_differ_and_do_not_advance_the_parent() {
        let rng = Rng::new(9);
        assert_ne!(rng.split(1).next_u64(), rng.split(2).next_u64());
        assert_eq!(rng.split(1).next_u64(), rng.split(1).next_u64());
    }

    #[test]
    fn exponential_draws_have_the_mean_and_the_tail() {
        let (mut rng, n, mean) = (Rng::new(3), 100_000u64, Duration::from_millis(10));
        let draws: Vec<u64> = (0..n).map(|_| rng.exponential(mean).as_nanos() as u64).collect();
        let average = draws.iter().sum::<u64>() / n;
        assert!((9_900_000..10_100_000).contains(&average), "mean {average} ns");
        let above = draws.iter().filter(|&&d| d > 10_000_000).count();
        assert!((36_200..37_400).contains(&above), "{above} of {n} above the mean, 36,788 expected");
    }

    #[test]
    fn uniform_covers_its_whole_range() {
        let mut rng = Rng::new(4);
        let draws: Vec<u64> =
            (0..200).map(|_| rng.uniform(Duration::from_nanos(3)).as_nanos() as u64).collect();
        assert!((0..=3).all(|v| draws.contains(&v)) && draws.iter().all(|&v| v <= 3));
    }
}
