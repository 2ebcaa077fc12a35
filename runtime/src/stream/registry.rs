//! The operators that can be drawn: name → parameters, ports, documentation and kernel.
//!
//! One table serves validation, forms, the palette and building. Every flow and sink that runs a function also has the
//! attribute `work`: what one element costs, as CPU time (`work_ms`) or as a blocking call (`block_ms`).

use super::boundary::CAPACITY_MAX;
use super::interpreter::PORTS_MAX;
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
    /// A junction: any number of wires into `in`, one output `out`.
    FanIn,
    /// A junction: one input `in`, any number of wires out of `out`.
    FanOut,
}

impl Role {
    /// Says how many wires its port `in` takes.
    pub fn inputs(self) -> usize {
        match self {
            Role::Source => 0,
            Role::FanIn => PORTS_MAX,
            _ => 1,
        }
    }

    /// Says how many wires its port `out` takes.
    pub fn outputs(self) -> usize {
        match self {
            Role::Sink => 0,
            Role::FanOut => PORTS_MAX,
            _ => 1,
        }
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

const fn flag(key: &'static str, default: bool, doc: &'static str) -> ParamSchema {
    ParamSchema { key, kind: ParamKind::Flag { default }, unit: "", live: false, doc }
}

const fn op(kind: &'static str, role: Role, doc: &'static str, params: &'static [ParamSchema]) -> OpSchema {
    OpSchema { kind, role, doc, params }
}

enum Live {
    Yes,
    No,
}

use Live::{No, Yes};

/// The longest time: 30 days.
const MS_MAX: f64 = 2_592_000_000.0;
const COUNT_MAX: i64 = 1_000_000_000_000;
const RING_MAX: i64 = CAPACITY_MAX as i64;
const TIMES: &[&str] = &["constant", "uniform", "exponential"];
const OVERFLOWS: &[&str] = &["backpressure", "drop_head", "drop_tail", "drop_buffer", "drop_new", "fail"];

const WORK: ParamSchema = ms("work_ms", 0.0, 0.0, "CPU time for each element");
const BLOCK: ParamSchema = ms("block_ms", 0.0, 0.0, "time in a blocking call for each element");

/// All operators, in the order of a palette.
pub const OPERATORS: &[OpSchema] = &[
    op(
        "range",
        Role::Source,
        "Emits whole numbers on demand, then completes.",
        &[
            int("start", 0, -COUNT_MAX, COUNT_MAX, No, "the first number"),
            int("count", 1_000, 0, COUNT_MAX, No, "how many numbers"),
        ],
    ),
    op(
        "tick",
        Role::Source,
        "Emits 1 at each tick; a tick without demand is dropped.",
        &[
            ms("initial_ms", 0.0, 0.0, "until the first tick"),
            ms("interval_ms", 100.0, 0.001, "between ticks"),
            int("count", 0, 0, COUNT_MAX, No, "completes after so many elements; 0 for never"),
        ],
    ),
    op(
        "map",
        Role::Flow,
        "Emits a function of each element.",
        &[
            choice("op", FUNCTIONS, Yes, "what to do with a number"),
            int("operand", 1, -COUNT_MAX, COUNT_MAX, Yes, "the number to add or to multiply with"),
            WORK,
            BLOCK,
        ],
    ),
    op(
        "filter",
        Role::Flow,
        "Emits the elements for which a rule holds.",
        &[
            choice("op", RULES, Yes, "which elements to keep"),
            int(
                "operand",
                2,
                -COUNT_MAX,
                COUNT_MAX,
                Yes,
                "what elements are compared with, or the n of every_nth",
            ),
            WORK,
            BLOCK,
        ],
    ),
    op(
        "take",
        Role::Flow,
        "Emits the first elements, then completes and cancels upstream.",
        &[int("n", 100, 0, COUNT_MAX, No, "how many elements")],
    ),
    op(
        "grouped",
        Role::Flow,
        "Emits lists of elements; the last one may be shorter.",
        &[int("n", 10, 1, 1_000_000, No, "elements per list"), WORK, BLOCK],
    ),
    op(
        "buffer",
        Role::Flow,
        "Queues elements while downstream is slow.",
        &[
            int("size", 16, 1, 1_000_000, Yes, "how many elements it holds"),
            choice("overflow", OVERFLOWS, No, "what happens to one more"),
        ],
    ),
    op(
        "throttle",
        Role::Flow,
        "Lets a number of elements per time pass, and bursts after a pause.",
        &[
            int("n", 10, 1, COUNT_MAX, Yes, "how many elements"),
            ms("per_ms", 1_000.0, 0.001, "per this time"),
            int("burst", 1, 1, COUNT_MAX, Yes, "elements that may pass at once after a pause"),
            choice("mode", &["shaping", "enforcing"], No, "let early elements wait, or fail"),
        ],
    ),
    op(
        "map_async",
        Role::Flow,
        "Makes a request for each element, several at a time, results in order.",
        &[
            int("parallelism", 4, 1, 100_000, Yes, "requests at a time"),
            choice("uses", &["timer", "work"], No, "wait without a worker, or work on one"),
            choice("service", TIMES, No, "how the time is spread around its mean"),
            ms("mean_ms", 10.0, 0.0, "mean time of a request"),
            int("fail_every", 0, 0, COUNT_MAX, Yes, "each nth request fails; 0 for never"),
        ],
    ),
    op(
        "async_boundary",
        Role::Boundary,
        "Cuts the stream: what is above runs as an island of its own.",
        &[
            flag("enabled", true, "off: both sides are one island"),
            int("capacity", 16, 1, RING_MAX, Yes, "elements in the ring, rounded up to a power of two"),
        ],
    ),
    op(
        "merge",
        Role::FanIn,
        "Emits the elements of all inputs, whoever has one; they take turns.",
        &[
            flag("eager", false, "completes with the first input, not with the last"),
            flag("prefer_first", false, "as long as the first input has elements they go first"),
        ],
    ),
    op("concat", Role::FanIn, "Emits all elements of the first input, then of the next.", &[]),
    op(
        "interleave",
        Role::FanIn,
        "Emits a segment of each input in turn.",
        &[
            int("segment", 1, 1, 1_000_000, No, "elements of one input in a row"),
            flag("eager", false, "completes with the first input, not with the last"),
        ],
    ),
    op(
        "zip",
        Role::FanIn,
        "Emits one element of every input together; completes with the shortest.",
        &[choice("join", &["sum", "list"], No, "what is made of them")],
    ),
    op(
        "broadcast",
        Role::FanOut,
        "Emits every element on every output, at the pace of the slowest.",
        &[flag("eager", false, "ends with the first output that leaves, not with the last")],
    ),
    op(
        "balance",
        Role::FanOut,
        "Emits each element on the output that has been asking for the longest time.",
        &[flag("wait_for_all", false, "begins when all outputs have asked")],
    ),
    op("partition", Role::FanOut, "Emits each number on the output number modulo the outputs.", &[]),
    op(
        "fold",
        Role::Sink,
        "Accumulates all elements into one result.",
        &[choice("op", &["sum", "count", "max", "last"], No, "what to accumulate"), WORK, BLOCK],
    ),
    op(
        "for_each",
        Role::Sink,
        "Consumes each element with an effect that takes time; the result counts them.",
        &[WORK, BLOCK],
    ),
    op("ignore", Role::Sink, "Consumes all elements; the result counts them.", &[]),
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
    /// Reads how a request's time is spread around its mean.
    pub(crate) fn service(&self) -> Time {
        let mean = self.ms("mean_ms");
        match self.value("service").as_text() {
            Some("uniform") => Time::Uniform(mean.saturating_mul(2)),
            Some("exponential") => Time::Exponential(mean),
            _ => Time::Constant(mean),
        }
    }
}
