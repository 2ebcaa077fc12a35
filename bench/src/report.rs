//! How results are written: one JSON line each for machines, a summary for people.
//!
//! I1 the first keys of a line are always the same and in the same order; further keys only follow.
//! I2 a summary is of medians: one disturbed round does not move it.

use serde::Serialize;

use crate::workloads::{Outcome, Setup, Workload};

/// One result, as it is written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The runtime that was measured.
    pub runtime: &'static str,
    /// The workload's id.
    pub workload: &'static str,
    /// The parameters that tell runs apart.
    pub param: String,
    /// How many were counted.
    pub n: u64,
    /// In how many seconds.
    pub secs: f64,
    /// How many a second.
    pub per_sec: u64,
    /// Worker threads.
    pub threads: usize,
    /// Messages that an actor handles in a row.
    pub throughput: u32,
    /// The round, from 1.
    pub round: u32,
    /// Processor time of all threads, in seconds, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_secs: Option<f64>,
    /// Resident bytes for each of what was counted, where the workload is about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_each: Option<u64>,
    /// Resident bytes of the process at the end of the run, where the workload is about memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident_bytes: Option<u64>,
    /// The most that the process has had resident so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
}

impl Line {
    /// Writes up one outcome.
    pub fn new(workload: &Workload, setup: &Setup, outcome: Outcome, round: u32) -> Self {
        let secs = outcome.took.wall.as_secs_f64();
        Line {
            runtime: "footlights",
            workload: workload.id,
            param: workload.label(setup),
            n: outcome.n,
            secs: micros(secs),
            per_sec: per_sec(outcome.n, secs),
            threads: setup.workers,
            throughput: setup.throughput,
            round,
            cpu_secs: outcome.took.cpu.map(|cpu| micros(cpu.as_secs_f64())),
            bytes_each: outcome.memory.map(|memory| memory.each),
            resident_bytes: outcome.memory.map(|memory| memory.resident),
            peak_bytes: outcome.memory.map(|memory| memory.peak),
        }
    }

    /// Writes the line as JSON, without a line end.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| unreachable!("plain data is JSON: {error}"))
    }
}

/// Rounds seconds to what a run can be measured to.
fn micros(secs: f64) -> f64 {
    (secs * 1e6).round() / 1e6
}

fn per_sec(n: u64, secs: f64) -> u64 {
    if secs > 0.0 { (n as f64 / secs).round() as u64 } else { 0 }
}

/// What several rounds say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The middle rate.
    pub median: u64,
    /// The lowest rate.
    pub min: u64,
    /// The highest rate.
    pub max: u64,
    /// The middle distance from the median.
    pub mad: u64,
}

impl Summary {
    /// Sums up rates; `None` if there are none.
    pub fn of(rates: &[u64]) -> Option<Self> {
        let median = median(rates)?;
        let distances: Vec<_> = rates.iter().map(|rate| rate.abs_diff(median)).collect();
        Some(Summary {
            median,
            min: *rates.iter().min()?,
            max: *rates.iter().max()?,
            mad: self::median(&distances)?,
        })
    }

    /// Writes the summary for people.
    pub fn to_text(&self, unit: &str) -> String {
        let nanos = if self.median > 0 { 1e9 / self.median as f64 } else { f64::INFINITY };
        format!(
            "median {} {unit}/s ({nanos:.1} ns each), min {}, max {}, MAD {}",
            grouped(self.median),
            grouped(self.min),
            grouped(self.max),
            grouped(self.mad)
        )
    }
}

fn median(values: &[u64]) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some(low.midpoint(*high))
}

/// Writes a number with a comma after every three digits.
///
/// # Examples
/// ```
/// use footlights_bench::report::grouped;
/// assert_eq!(grouped(81_037_277), "81,037,277");
/// assert_eq!(grouped(999), "999");
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{Took, find};
    use std::time::Duration;

    #[test]
    fn a_line_begins_with_the_keys_of_all_results() {
        let workload = find("W1").expect("it exists");
        let setup = workload.setup(2);
        let outcome = Outcome {
            n: 10_000_000,
            took: Took { wall: Duration::from_nanos(123_400_000), cpu: None },
            memory: None,
        };
        assert_eq!(
            Line::new(workload, &setup, outcome, 1).to_json(),
            r#"{"runtime":"footlights","workload":"W1","param":"K=100","n":10000000,"secs":0.1234,"per_sec":81037277,"threads":2,"throughput":64,"round":1}"#
        );
    }

    #[test]
    fn a_summary_is_of_medians() {
        let summary = Summary::of(&[10, 1_000_000, 12, 11, 9]).expect("there are rates");
        assert_eq!(summary, Summary { median: 11, min: 9, max: 1_000_000, mad: 1 });
        assert_eq!(Summary::of(&[4, 8]).map(|s| (s.median, s.mad)), Some((6, 2)));
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn a_summary_names_its_unit() {
        let summary = Summary { median: 50_000_000, min: 1_234, max: 60_000_000, mad: 0 };
        assert_eq!(
            summary.to_text("messages"),
            "median 50,000,000 messages/s (20.0 ns each), min 1,234, max 60,000,000, MAD 0"
        );
    }
}
