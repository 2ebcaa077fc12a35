//! Routers of nodes, and pools that make their own workers.

use super::param::{choice, find, join};
use super::supervision::STRATEGY;
use super::{Choice, Param, Scale};

const HOUR: f64 = 3_600_000.0;

/// The kinds of router.
const LOGICS: &[Choice] = &[
    choice("round_robin", "Round robin"),
    choice("random", "Random"),
    choice("smallest_mailbox", "Smallest mailbox"),
    choice("balancing", "Balancing: one queue for all"),
    choice("broadcast", "Broadcast"),
    choice("scatter_gather_first", "Scatter-gather: first answer"),
    choice("tail_chopping", "Tail-chopping: one after another"),
    choice("consistent_hash", "Consistent hash: by key"),
];

const ASKING: &[&str] = &["scatter_gather_first", "tail_chopping"];

/// The settings of a router of nodes.
pub(super) const ROUTER: [Param; 3] = [
    Param::choice("logic", "Logic", LOGICS, "round_robin", "how a routee is chosen"),
    Param::millis("answer_ms", "Answer within", (1.0, HOUR), 5_000.0, "how long the first answer may take")
        .when("logic", ASKING),
    Param::millis(
        "next_ms",
        "Next one after",
        (0.001, HOUR),
        10.0,
        "when the next routee is asked, if the one before has not answered",
    )
    .when("logic", &["tail_chopping"]),
];

/// The settings of a pool's size.
const SIZE: [Param; 6] = [
    Param::int("size", "Workers", (1, 200), 4, "how many workers it makes at first").slider(
        1.0,
        20.0,
        Scale::Linear,
    ),
    Param::choice(
        "refill",
        "When one has ended",
        &[
            choice("replace", "Replace it"),
            choice("shrink", "Go on without"),
            choice("stop", "Stop the pool"),
        ],
        "replace",
        "what the pool does when a worker has ended for good; replacements have the budget below, too",
    ),
    Param::choice(
        "resizer",
        "Resizer",
        &[
            choice("none", "None: as many as above"),
            choice("pressure", "Pressure: more when all are busy"),
            choice("explorer", "Explorer: tries sizes out"),
        ],
        "none",
        "what changes the number of workers by itself",
    )
    .section("Size"),
    Param::int("size_min", "At least", (1, 200), 1, "a resizer keeps so many")
        .when("resizer", RESIZING)
        .section("Size"),
    Param::int("size_max", "At most", (1, 200), 10, "a resizer makes no more")
        .when("resizer", RESIZING)
        .section("Size"),
    Param::millis("resize_ms", "Looks every", (1.0, HOUR), 100.0, "how often a resizer decides")
        .when("resizer", RESIZING)
        .section("Size"),
];

const RESIZING: &[&str] = &["pressure", "explorer"];

/// How a pool supervises its workers.
const SUPERVISION: [Param; 8] = [
    find(STRATEGY, "limit"),
    find(STRATEGY, "max_restarts"),
    find(STRATEGY, "within_ms"),
    find(STRATEGY, "window"),
    find(STRATEGY, "backoff_min_ms"),
    find(STRATEGY, "backoff_max_ms"),
    find(STRATEGY, "backoff_jitter_permille"),
    find(STRATEGY, "backoff_reset_ms"),
];

/// Gives the settings of a pool of workers with these settings.
pub(super) const fn pool<const N: usize>(worker: &[Param]) -> [Param; N] {
    join(&[&ROUTER, &SIZE, worker, &SUPERVISION])
}
