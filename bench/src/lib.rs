//! Measures Footlights natively, and runs the playground's scenario files on all cores.
//!
//! The library holds what the binary `footlights-bench` and the tests share: the [`workloads`], how a [`run`] is timed, how
//! a result is reported ([`report`]), how a [`scenario`] is run, the stream [`experiments`], and on what [`machine`] it was had.
//! I1 a number is printed only for a run whose state was checked: counts, sums and the conservation ledger.
//! I2 results go to standard output, one JSON line each; words for people go to standard error.

#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark measures wall-clock time; it decides nothing by it"
)]

pub mod experiments;
pub mod machine;
pub mod report;
pub mod run;
pub mod scenario;
pub mod workloads;
