//! The settings of the system that a document may make: in its `settings`, and in the rows of its `dispatchers`.

use super::Param;
use super::param::choice;

const SECOND_NS: i64 = 1_000_000_000;

/// The most named dispatchers of a document.
pub const DISPATCHERS_MAX: usize = 16;

/// Dispatchers that every system has, which a node may name without a row for them.
pub const BUILT_IN: [&str; 2] = ["blocking", "pinned"];

/// The settings, in the order of the form.
pub static SETTINGS: [Param; 5] = [
    Param::flag(
        "seeded_order",
        "Seeded order",
        false,
        "let the seed decide which of several turns at one instant comes first; else the order is fixed",
    ),
    Param::millis(
        "deadline_ms",
        "Throughput deadline",
        (0.0, 3_600_000.0),
        0.0,
        "ends an actor's row of messages after this time, looked at every 16 messages; 0 = never",
    ),
    price(
        "activation_ns",
        "An activation costs",
        "virtual time each time that an actor gets hold of a worker",
    ),
    price("message_ns", "A message costs", "virtual time for each message handled, beside the work"),
    price("task_ns", "A job costs", "virtual time for each future or blocking job when it begins"),
];

const fn price(key: &'static str, title: &'static str, doc: &'static str) -> Param {
    Param::int(key, title, (0, SECOND_NS), 0, doc).unit("ns").section("Costs")
}

/// The columns of a named dispatcher.
pub static DISPATCHER: [Param; 5] = [
    Param::name("name", "Name", "crew", "what nodes call it"),
    Param::choice(
        "kind",
        "Kind",
        &[
            choice("pool", "Pool: shared workers"),
            choice("pinned", "Pinned: a worker for each actor"),
            choice("blocking", "Blocking: threads that may wait"),
        ],
        "pool",
        "how its actors get workers",
    ),
    Param::int("workers", "Workers", (1, 64), 1, "virtual workers, or threads")
        .when("kind", &["pool", "blocking"]),
    Param::int(
        "throughput",
        "Throughput",
        (1, 1_000_000),
        64,
        "messages that an actor handles before it goes to the back of the queue; 1 suits a blocking one",
    ),
    Param::millis(
        "deadline_ms",
        "Deadline",
        (0.0, 3_600_000.0),
        0.0,
        "ends an actor's row of messages after this time, looked at every 16 messages; 0 = never",
    ),
];

/// The dispatchers of a document as one list, for forms and for the check of their shape.
pub static DISPATCHERS: Param = Param::list(
    "dispatchers",
    "Dispatchers",
    &DISPATCHER,
    DISPATCHERS_MAX,
    "groups of workers beside the system's own; a node names the one that runs it",
);
