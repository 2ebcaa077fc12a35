//! What the stream workloads share: the three stages, and how a stream is timed and checked.

use std::time::Duration;

use footlights::stream::{Closed, Done, Plan, RunOptions, SinkPlan};

use super::actors::{outcome, system};
use super::stopwatch::Stopwatch;
use super::{Outcome, Setup, Wrong};

pub(super) fn plus_one(number: i64) -> i64 {
    number + 1
}

pub(super) fn twice(number: i64) -> i64 {
    number * 2
}

pub(super) fn minus_one(number: i64) -> i64 {
    number - 1
}

pub(super) fn sum(sum: i64, number: i64) -> i64 {
    sum.wrapping_add(number)
}

/// Gives the numbers of a range that has `n` of them.
pub(super) fn numbers(n: u64) -> Result<std::ops::Range<i64>, Wrong> {
    Ok(0..i64::try_from(n).map_err(|_| Wrong(format!("{n} elements are too many")))?)
}

/// Runs a stream from its start to its end, in turns of `batch` elements, and checks the sum of what came out.
pub(super) fn timed<P, S>(setup: &Setup, stream: &Closed<P, S>, batch: u64) -> Result<Outcome, Wrong>
where
    P: Plan,
    S: SinkPlan<In = P::Out, Mat = Done<i64>>,
{
    let system = system(setup)?;
    let options = RunOptions::default().batch(usize::try_from(batch).unwrap_or(usize::MAX));
    let stopwatch = Stopwatch::start();
    let (done, handle) = stream.run_with(&system, &options).map_err(Wrong::of)?;
    let sum = done.wait().map_err(Wrong::of)?;
    let took = stopwatch.stop();
    system.shutdown(Duration::from_secs(60)).map_err(Wrong::of)?;
    let stages = handle.snapshot().stages;
    if let Some(stage) = stages.iter().find(|stage| stage.counted && !stage.counts.balanced()) {
        return Err(Wrong(format!("the counts of stage {} do not add up: {:?}", stage.name, stage.counts)));
    }
    // Element x comes out as 2x + 1: the odd numbers, of which the first n sum to n².
    let expected = setup.n.wrapping_mul(setup.n);
    outcome("the sum", expected, sum as u64, setup.n, took)
}
