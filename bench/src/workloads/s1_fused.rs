//! S1 fused: a chain of trivial stages that runs as one loop.

use footlights::stream::{Operators, Sink, Source};

use super::streams::{minus_one, numbers, plus_one, sum, timed, twice};
use super::{Outcome, Param, Setup, Workload, Wrong};

pub(super) const WORKLOAD: Workload = Workload {
    id: "S1",
    name: "fused",
    about: "a stream of numbers through three trivial stages into a sum, as one island",
    unit: "elements",
    n: 5_000_000,
    params: &[Param {
        name: "batch",
        default: 256,
        range: 1..=1_000_000,
        about: "elements in one turn of the island",
    }],
    run,
};

fn run(setup: &Setup) -> Result<Outcome, Wrong> {
    let source = Source::range(numbers(setup.n)?).map(plus_one).map(twice).map(minus_one);
    timed(setup, &source.to(Sink::fold(0, sum)), setup.params[0])
}
