//! W2 pingpong-1: one pair with one ball, so that nothing can be done in batches: the cost of a hand-over and back.

use super::w1_pingpong_pairs::play;
use super::{Outcome, Param, Setup, Workload, Wrong};

pub(super) const WORKLOAD: Workload = Workload {
    id: "W2",
    name: "pingpong-1",
    about: "one pair of actors with one ball",
    unit: "round trips",
    n: 1_000_000,
    params: &[Param { name: "K", default: 1, range: 1..=1_000_000, about: "balls in the air" }],
    run,
};

fn run(setup: &Setup) -> Result<Outcome, Wrong> {
    play(setup, 1, setup.n, setup.params[0])
}
