//! The workloads, one file each, and what they have in common.
//!
//! A workload builds a system, times from the first message to the last (or from the start of a stream to its result), shuts
//! down, and checks. What is counted (`n`) is what is asked for, rounded to what the workload can divide evenly where it must.

mod actors;
mod idle_actors;
mod memory;
mod s1_fused;
mod s2_boundaries;
mod stopwatch;
mod streams;
mod w1_pingpong_pairs;
mod w2_pingpong;
mod w3_counting;
mod w4_fan_in;
mod w5_create;

use std::fmt;
use std::ops::RangeInclusive;

pub use memory::Memory;
pub use stopwatch::Took;

/// A workload: what it is, its sizes, and how to run it once.
#[derive(Debug)]
pub struct Workload {
    /// Its short name, such as `W1`.
    pub id: &'static str,
    /// Its long name, such as `pingpong-pairs`.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// What is counted.
    pub unit: &'static str,
    /// How many are counted, if nobody says otherwise.
    pub n: u64,
    /// Its parameters, at least one; the first is always shown, and is meant where a number stands alone.
    pub params: &'static [Param],
    /// Runs it once.
    pub run: fn(&Setup) -> Result<Outcome, Wrong>,
}

/// A number that changes what a workload does.
#[derive(Debug)]
pub struct Param {
    /// Its name, such as `K`.
    pub name: &'static str,
    /// Its value, if nobody says otherwise.
    pub default: u64,
    /// The values that make sense.
    pub range: RangeInclusive<u64>,
    /// What it means.
    pub about: &'static str,
}

/// The sizes of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many to count.
    pub n: u64,
    /// The parameters' values, in the workload's order.
    pub params: Vec<u64>,
    /// Threads.
    pub workers: usize,
    /// Messages that an actor handles in a row.
    pub throughput: u32,
}

/// What one run gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was counted; every one was seen by the workload itself.
    pub n: u64,
    /// What it took, from the first message to the last.
    pub took: Took,
    /// Memory, where that is what the workload is about and the system tells.
    pub memory: Option<Memory>,
}

/// Says why a run gave no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(pub String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

impl Wrong {
    fn of(error: impl fmt::Display) -> Self {
        Wrong(error.to_string())
    }
}

/// All workloads: of actors, then of streams.
pub const ALL: &[Workload] = &[
    w1_pingpong_pairs::WORKLOAD,
    w2_pingpong::WORKLOAD,
    w3_counting::WORKLOAD,
    w4_fan_in::WORKLOAD,
    w5_create::WORKLOAD,
    idle_actors::WORKLOAD,
    s1_fused::WORKLOAD,
    s2_boundaries::WORKLOAD,
];

/// Finds a workload by its id or its name, in any case.
///
/// # Examples
/// ```
/// use footlights_bench::workloads::find;
/// assert_eq!(find("w1").map(|w| w.name), Some("pingpong-pairs"));
/// assert_eq!(find("fan-in").map(|w| w.id), Some("W4"));
/// assert!(find("W77").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static Workload> {
    ALL.iter().find(|w| name.eq_ignore_ascii_case(w.id) || name.eq_ignore_ascii_case(w.name))
}

impl Workload {
    /// Gives the sizes that hold if nobody says otherwise.
    pub fn setup(&self, workers: usize) -> Setup {
        let params = self.params.iter().map(|param| param.default).collect();
        Setup { n: self.n, params, workers, throughput: 64 }
    }

    /// Sets parameters as people write them: `100`, `K=100` or `K=100,pairs=8`.
    ///
    /// # Errors
    /// Names what is unknown, no number, or too small.
    pub fn set_params(&self, setup: &mut Setup, text: &str) -> Result<(), Wrong> {
        for part in text.split(',') {
            let (name, number) = part.split_once('=').map_or((None, part), |(name, n)| (Some(name), n));
            let named = |param: &Param| name.is_none_or(|name| param.name.eq_ignore_ascii_case(name));
            let index = self.params.iter().position(named).ok_or_else(|| self.no_such_param(part))?;
            let param = &self.params[index];
            let value = number.parse().ok().filter(|value| param.range.contains(value));
            setup.params[index] = value.ok_or_else(|| {
                let (name, from, to) = (param.name, param.range.start(), param.range.end());
                let text = format!("\"{number}\" is no value for {name} of {}", self.id);
                Wrong(format!("{text}: write a whole number from {from} to {to}"))
            })?;
        }
        Ok(())
    }

    fn no_such_param(&self, part: &str) -> Wrong {
        let names: Vec<_> = self.params.iter().map(|param| param.name).collect();
        Wrong(format!("{} has no parameter \"{part}\"; it has: {}", self.id, names.join(", ")))
    }

    /// Writes the parameters that tell runs apart: the first, and those that differ from their defaults.
    pub fn label(&self, setup: &Setup) -> String {
        let all = self.params.iter().zip(&setup.params).enumerate();
        let told = all.filter(|(index, (param, value))| *index == 0 || param.default != **value);
        let parts: Vec<_> = told.map(|(_, (param, value))| format!("{}={value}", param.name)).collect();
        parts.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(id: &str, text: &str) -> Result<String, String> {
        let workload = find(id).expect("it exists");
        let mut setup = workload.setup(2);
        workload.set_params(&mut setup, text).map_err(|wrong| wrong.0)?;
        Ok(workload.label(&setup))
    }

    #[test]
    fn parameters_are_read_as_people_write_them() {
        assert_eq!(set("W1", "7"), Ok("K=7".into()));
        assert_eq!(set("W1", "k=1,pairs=8"), Ok("K=1,pairs=8".into()));
        assert_eq!(set("W1", "pairs=48"), Ok("K=100".into()));
    }

    #[test]
    fn a_bad_parameter_is_named() {
        assert_eq!(set("W1", "x=3"), Err("W1 has no parameter \"x=3\"; it has: K, pairs".into()));
        assert!(set("W1", "ten").is_err_and(|text| text.contains("\"ten\" is no value for K")));
        assert!(set("W1", "0").is_err_and(|text| text.contains("from 1")));
    }

    #[test]
    fn every_workload_passes_its_checks_on_a_small_size() {
        for workload in ALL {
            for workers in [1, 2] {
                let setup = Setup { n: 1_000, ..workload.setup(workers) };
                let outcome =
                    (workload.run)(&setup).unwrap_or_else(|wrong| panic!("{}: {wrong}", workload.id));
                assert!(outcome.n >= 1_000, "{}: {outcome:?}", workload.id);
            }
        }
    }
}
