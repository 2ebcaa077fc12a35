//! The operators that can be drawn: name → parameters, ports, documentation and kernel.
//!
//! One table serves validation, forms, the palette and building. Every flow and sink that runs a function also has the
//! attribute `work`: what one element costs, as CPU time (`work_ms`) or as a blocking call (`block_ms`).

use super::boundary::CAPACITY_MAX;
use super::ops::compute::{FUNCTIONS, RULES};
use super::ops::worked::Time;
use super::params::{ParamKind, ParamSchema, Settings};
use super::signal::OverflowStrategy;
use super::value::Value;

/// Where an operator may stand in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// First: one output `out`.
    Source,
    /// Between: one input `in` and one output `out`.
    Flow,
    /// Between, as a cut into two islands: ports as a flow.
    Boundary,
    /// Last: one input `in`.
    Sink,
}

impl Role {
    /// Names its input ports.
    pub fn inputs(self) -> &'static [&'static str] {
        if self == Role::Source { &[] } else { &["in"] }
    }

    /// Names its output ports.
    pub fn outputs(self) -> &'static [&'static str] {
        if self == Role::Sink { &[] } else { &["out"] }
    }
}

/// An operator that can be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpSchema {
    /// Its name in a document.
    pub kind: &'static str,
    /// Where it may stand.
    pub role: Role,
    /// What it does, in one line.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [ParamSchema],
}

const fn int(
    key: &'static str,
    default: i64,
    min: i64,
    max: i64,
    live: Live,
    doc: &'static str,
) -> ParamSchema {
    ParamSchema {
        key,
        kind: ParamKind::Int { default, min, max },
        unit: "",
        live: matches!(live, Live::Yes),
        doc,
    }
}

const fn ms(key: &'static str, default: f64, min: f64, doc: &'static str) -> ParamSchema {
    ParamSchema { key, kind: ParamKind::Num { default, min, max: MS_MAX }, unit: "ms", live: true, doc }
}

const fn choice(
    key: &'static str,
    choices: &'static [&'static str],
    live: Live,
    doc: &'static str,
) -> ParamSchema {
    let kind = ParamKind::Choice { default: choices[0], choices };
    ParamSchema { key, kind, unit: "", live: matches!(live, Live::Yes), doc }
}

enum Live {
    Yes,
    No,
}

use Live::{No, Yes};

/// The longest time: 30 days.
const MS_MAX: f64 = 2_592_000_000.0;
const COUNT_MAX: i64 = 1_000_000_000_000;
const K_MAX: i64 = 1_000_000_000;
const RING_MAX: i64 = CAPACITY_MAX as i64;
const TIMES: &[&str] = &["constant", "uniform", "exponential"];
const OVERFLOWS: &[&str] = &["backpressure", "drop_head", "drop_tail", "drop_buffer", "drop_new", "fail"];

const WORK: ParamSchema = ms("work_ms", 0.0, 0.0, "CPU time for each element");
const BLOCK: ParamSchema = ms("block_ms", 0.0, 0.0, "time in a blocking call for each element");
const TIME: ParamSchema = choice(
    "time",
    TIMES,
    No,
    "how these times are spread: work_ms and block_ms are constant, the maximum, or the mean",
);

/// All operators, in the order of a palette.
pub const OPERATORS: &[OpSchema] = &[
    OpSchema {
        kind: "range",
        role: Role::Source,
        doc: "Emits whole numbers on demand, then completes.",
        params: &[
            int("from", 0, -COUNT_MAX, COUNT_MAX, No, "the first number"),
            int("count", 1_000, 0, COUNT_MAX, No, "how many numbers"),
        ],
    },
    OpSchema {
        kind: "tick",
        role: Role::Source,
        doc: "Emits 1 at each tick; a tick without demand is dropped.",
        params: &[
            ms("initial_ms", 0.0, 0.0, "until the first tick"),
            ms("interval_ms", 100.0, 0.001, "between ticks"),
        ],
    },
    OpSchema {
        kind: "map",
        role: Role::Flow,
        doc: "Emits a function of each element.",
        params: &[
            choice("function", FUNCTIONS, Yes, "what to do with a number"),
            int("k", 1, -K_MAX, K_MAX, Yes, "the number to add or to multiply with"),
            WORK,
            BLOCK,
            TIME,
        ],
    },
    OpSchema {
        kind: "filter",
        role: Role::Flow,
        doc: "Emits the elements for which a rule holds.",
        params: &[
            choice("rule", RULES, Yes, "which elements to keep"),
            int("n", 2, 1, K_MAX, Yes, "the n of every_nth and less_than"),
            WORK,
            BLOCK,
            TIME,
        ],
    },
    OpSchema {
        kind: "take",
        role: Role::Flow,
        doc: "Emits the first elements, then completes and cancels upstream.",
        params: &[int("count", 100, 0, COUNT_MAX, No, "how many elements")],
    },
    OpSchema {
        kind: "grouped",
        role: Role::Flow,
        doc: "Emits lists of elements; the last one may be shorter.",
        params: &[int("size", 10, 1, 1_000_000, No, "elements per list"), WORK, BLOCK, TIME],
    },
    OpSchema {
        kind: "buffer",
        role: Role::Flow,
        doc: "Queues elements while downstream is slow.",
        params: &[
            int("capacity", 16, 1, 1_000_000, Yes, "how many elements it holds"),
            choice("overflow", OVERFLOWS, No, "what happens to one more"),
        ],
    },
    OpSchema {
        kind: "throttle",
        role: Role::Flow,
        doc: "Lets a number of elements per second pass, and bursts after a pause.",
        params: &[
            int("per_second", 100, 1, K_MAX, Yes, "elements per second"),
            int("burst", 10, 1, K_MAX, Yes, "elements that may pass at once after a pause"),
            choice("mode", &["shaping", "enforcing"], No, "let early elements wait, or fail"),
        ],
    },
    OpSchema {
        kind: "map_async",
        role: Role::Flow,
        doc: "Makes a request for each element, several at a time, and emits the results in order.",
        params: &[
            int("parallelism", 4, 1, 100_000, Yes, "requests at a time"),
            choice("runs_as", &["timer", "task"], No, "wait without a worker, or work on one"),
            ms("ms", 10.0, 0.0, "how long a request takes"),
            choice("time", TIMES, No, "how the time is spread: ms is constant, the maximum, or the mean"),
            int("fail_every", 0, 0, K_MAX, Yes, "each nth request fails; 0 for never"),
        ],
    },
    OpSchema {
        kind: "async_boundary",
        role: Role::Boundary,
        doc: "Cuts the stream: what is above runs as an island of its own.",
        params: &[int(
            "capacity",
            16,
            1,
            RING_MAX,
            Yes,
            "elements in the ring, rounded up to a power of two",
        )],
    },
    OpSchema {
        kind: "fold",
        role: Role::Sink,
        doc: "Accumulates all elements into one result.",
        params: &[
            choice("function", &["sum", "count", "last", "max"], No, "what to accumulate"),
            WORK,
            BLOCK,
            TIME,
        ],
    },
    OpSchema {
        kind: "for_each",
        role: Role::Sink,
        doc: "Consumes each element with an effect that takes time; the result counts them.",
        params: &[WORK, BLOCK, TIME],
    },
    OpSchema {
        kind: "ignore",
        role: Role::Sink,
        doc: "Consumes all elements; the result counts them.",
        params: &[],
    },
];

/// Finds an operator by its name.
///
/// # Examples
/// ```
/// use footlights::stream::registry::{Role, find};
/// assert_eq!(find("buffer").map(|op| op.role), Some(Role::Flow));
/// assert!(find("no_such_thing").is_none());
/// ```
pub fn find(kind: &str) -> Option<&'static OpSchema> {
    OPERATORS.iter().find(|op| op.kind == kind)
}

/// Reads a strategy by its name in documents.
pub fn overflow(name: &Value) -> OverflowStrategy {
    match name.as_text() {
        Some("drop_head") => OverflowStrategy::DropHead,
        Some("drop_tail") => OverflowStrategy::DropTail,
        Some("drop_buffer") => OverflowStrategy::DropBuffer,
        Some("drop_new") => OverflowStrategy::DropNew,
        Some("fail") => OverflowStrategy::Fail,
        _ => OverflowStrategy::Backpressure,
    }
}

impl Settings<'_> {
    /// Reads how a time is spread.
    pub(crate) fn time(&self, key: &str) -> Time {
        let d = self.ms(key);
        match self.text("time").as_text() {
            Some("uniform") => Time::Uniform(d),
            Some("exponential") => Time::Exponential(d),
            _ => Time::Constant(d),
        }
    }
}
