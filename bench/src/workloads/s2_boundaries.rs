//! S2 boundaries: the chain of S1 with an async boundary between all its stages, four in all, so five islands.

use footlights::stream::{Operators, Sink, Source};

use super::streams::{minus_one, numbers, plus_one, sum, timed, twice};
use super::{Outcome, Param, Setup, Workload, Wrong};

pub(super) const WORKLOAD: Workload = Workload {
    id: "S2",
    name: "boundaries",
    about: "the stream of S1 with an async boundary between all stages, four in all",
    unit: "elements",
    n: 5_000_000,
    params: &[
        Param { name: "buffer", default: 16, range: 1..=1_000_000, about: "elements that a boundary holds" },
        Param {
            name: "batch",
            default: 256,
            range: 1..=1_000_000,
            about: "elements in one turn of an island",
        },
    ],
    run,
};

fn run(setup: &Setup) -> Result<Outcome, Wrong> {
    let capacity = usize::try_from(setup.params[0]).unwrap_or(usize::MAX);
    let source = Source::range(numbers(setup.n)?).async_boundary_of(capacity);
    let source = source.map(plus_one).async_boundary_of(capacity);
    let source = source.map(twice).async_boundary_of(capacity);
    let source = source.map(minus_one).async_boundary_of(capacity);
    timed(setup, &source.to(Sink::fold(0, sum)), setup.params[1])
}
