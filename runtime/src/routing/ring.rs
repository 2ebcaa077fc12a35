//! The ring of a consistent-hash router: which routee a key belongs to. A pure function of the routees' labels.
//!
//! Every label owns [`POINTS`] places on a circle of 2^64; a key belongs to the owner of the first place at or after its
//! own. Hash and places are fixed for ever: they depend on the labels alone, not on their order, a process or a target.
//!
//! I1 taking a label out moves its own keys only; putting one in moves keys to it only.
//! I2 of two equal places the smaller label has it, so the order of insertion never shows.

/// Places on the ring per routee.
pub(super) const POINTS: u64 = 128;

/// Who owns which part of the circle.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Place and index of the owner, by place.
    points: Vec<(u64, u32)>,
}

impl Ring {
    /// Makes the ring of these labels; owners are given by their index.
    pub(super) fn new<'a>(labels: impl IntoIterator<Item = &'a str>) -> Self {
        let labels: Vec<&str> = labels.into_iter().collect();
        let mut points = Vec::with_capacity(labels.len() * POINTS as usize);
        for (index, label) in labels.iter().enumerate() {
            let base = key_of(label);
            let index = u32::try_from(index).expect("routers have fewer routees than that");
            points.extend((0..POINTS).map(|n| (place(base ^ place(n)), index)));
        }
        let at = |index: u32| labels[index as usize];
        points.sort_unstable_by(|a, b| (a.0, at(a.1), a.1).cmp(&(b.0, at(b.1), b.1)));
        Ring { points }
    }

    /// Gives the owner of a key.
    #[cfg(test)]
    pub(super) fn owner(&self, key: u64) -> Option<usize> {
        self.owner_where(key, |_| true)
    }

    /// Gives the first owner at or after the key's place that is `good`.
    pub(super) fn owner_where(&self, key: u64, good: impl Fn(usize) -> bool) -> Option<usize> {
        let start = self.points.partition_point(|&(at, _)| at < place(key));
        let (before, after) = self.points.split_at(start);
        let mut bad: Option<usize> = None;
        for &(_, owner) in after.iter().chain(before) {
            let owner = owner as usize;
            if bad == Some(owner) {
                continue;
            }
            if good(owner) {
                return Some(owner);
            }
            bad = Some(owner);
        }
        None
    }

    /// Gives a key's place on the circle.
    pub(super) fn place_of(key: u64) -> u64 {
        place(key)
    }
}

/// Gives a fixed 64-bit number for a text, to be used as a key of a consistent-hash router (FNV-1a).
///
/// # Examples
/// ```
/// assert_eq!(footlights::routing::key_of("a"), 0xaf63_dc4c_8601_ec8c);
/// ```
pub fn key_of(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Spreads a number over the circle (splitmix64's finaliser, a bijection).
fn place(key: u64) -> u64 {
    let mut z = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(n: usize) -> Vec<String> {
        (0..n).map(|n| format!("r{n}")).collect()
    }

    fn ring(labels: &[String]) -> Ring {
        Ring::new(labels.iter().map(String::as_str))
    }

    fn owners<'a>(labels: &'a [String], keys: &[u64]) -> Vec<&'a str> {
        let ring = ring(labels);
        keys.iter().map(|&key| labels[ring.owner(key).expect("an owner")].as_str()).collect()
    }

    #[test]
    fn r1_the_owners_of_keys_are_the_same_in_every_process_and_version() {
        let labels = labels(5);
        let keys: Vec<u64> = (0..12).map(|n| key_of(&format!("user-{n}"))).collect();
        let got = owners(&labels, &keys);
        assert_eq!(got, ["r3", "r2", "r2", "r3", "r0", "r4", "r1", "r1", "r3", "r1", "r4", "r4"]);
    }

    #[test]
    fn r1_nobody_owns_a_key_of_an_empty_ring_and_one_owns_all() {
        assert_eq!(ring(&[]).owner(7), None);
        let one = ring(&labels(1));
        assert!((0..1_000).all(|key| one.owner(key) == Some(0)));
        assert_eq!(one.owner_where(7, |_| false), None);
    }

    #[test]
    fn r1_shares_lie_between_half_and_one_and_a_half_of_the_mean() {
        for n in [2, 3, 10, 50] {
            let ring = ring(&labels(n));
            let mut shares = vec![0u32; n];
            (0..10_000).for_each(|key| shares[ring.owner(key).expect("an owner")] += 1);
            let mean = 10_000 / n as u32;
            assert!(shares.iter().all(|&share| share * 2 >= mean && share * 2 <= mean * 3), "{shares:?}");
        }
    }

    #[test]
    fn r1_of_ten_thousand_keys_only_those_move_that_must() {
        let (ten, keys) = (labels(10), (0..10_000).collect::<Vec<u64>>());
        let moved = |before: &[&str], after: &[&str]| -> Vec<(String, String)> {
            let pairs = before.iter().zip(after).filter(|(before, after)| before != after);
            pairs.map(|(before, after)| (before.to_string(), after.to_string())).collect()
        };
        let before = owners(&ten, &keys);
        let nine: Vec<String> = ten.iter().filter(|label| *label != "r4").cloned().collect();
        let gone = moved(&before, &owners(&nine, &keys));
        assert_eq!(gone.len(), before.iter().filter(|owner| **owner == "r4").count());
        assert!(gone.iter().all(|(from, _)| from == "r4"));
        let eleven = labels(11);
        let come = moved(&before, &owners(&eleven, &keys));
        assert!(come.iter().all(|(_, to)| to == "r10"));
        assert!((500..=1_500).contains(&come.len()), "{} of 10,000 moved", come.len());
    }

    proptest! {
        #[test]
        fn r1_a_change_of_the_set_moves_only_what_it_must(
            n in 1..20usize, gone in 0..20usize, keys in proptest::collection::vec(any::<u64>(), 1..300),
        ) {
            let all = labels(n + 1);
            let gone = gone % (n + 1);
            let mut left = all.clone();
            let name = left.remove(gone);
            let (before, after) = (owners(&all, &keys), owners(&left, &keys));
            for (before, after) in before.iter().zip(&after) {
                // Read forwards it is a removal, read backwards an addition.
                prop_assert_eq!(*before == name, before != after);
            }
        }

        #[test]
        fn r1_the_order_of_insertion_never_shows(
            n in 1..20usize, turn in 0..20usize, keys in proptest::collection::vec(any::<u64>(), 1..100),
        ) {
            let labels = labels(n);
            let mut turned = labels.clone();
            turned.rotate_left(turn % n);
            turned.reverse();
            prop_assert_eq!(owners(&labels, &keys), owners(&turned, &keys));
        }

        #[test]
        fn the_next_owner_is_the_one_that_a_smaller_ring_gives(
            n in 2..12usize, bad in proptest::collection::vec(any::<bool>(), 12), key: u64,
        ) {
            let all = labels(n);
            let good: Vec<String> = (0..n).filter(|&i| !bad[i]).map(|i| all[i].clone()).collect();
            let got = ring(&all).owner_where(key, |i| !bad[i]).map(|i| all[i].clone());
            let expected = ring(&good).owner(key).map(|i| good[i].clone());
            prop_assert_eq!(got, expected);
        }
    }
}
