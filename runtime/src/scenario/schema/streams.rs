//! The stream operators whose forms have words of their own; the others are in `derived`.
//!
//! Kind names are those of the stream registry. A source has no input, a sink no output; a junction takes any number of
//! wires at one of its ports, in the order in which they were drawn.

use super::param::choice;
use super::{Carries::Stream, Direction::In, Direction::Out};
use super::{Family, Kind, Param, Port, Scale, port};

const HOUR: f64 = 3_600_000.0;
const COUNT_MAX: i64 = 1_000_000_000;

const IN: Port = port("in", In, Stream, "elements from upstream");
const OUT: Port = port("out", Out, Stream, "elements to downstream");

pub(super) const SOURCE: &[Port] = &[OUT];
pub(super) const FLOW: &[Port] = &[IN, OUT];
pub(super) const SINK: &[Port] = &[IN];
pub(super) const FAN_IN: &[Port] = &[IN.many(), OUT];
pub(super) const FAN_OUT: &[Port] = &[IN, OUT.many()];

/// Tells whether an operator has its kind here.
pub(super) fn is_written(kind: &str) -> bool {
    KINDS.iter().any(|k| k.name == kind)
}

const fn source(
    name: &'static str,
    title: &'static str,
    doc: &'static str,
    params: &'static [Param],
) -> Kind {
    Kind { name, family: Family::Stream, title, doc, ports: SOURCE, params }
}

const fn flow(name: &'static str, title: &'static str, doc: &'static str, params: &'static [Param]) -> Kind {
    Kind { name, family: Family::Stream, title, doc, ports: FLOW, params }
}

const fn sink(name: &'static str, title: &'static str, doc: &'static str, params: &'static [Param]) -> Kind {
    Kind { name, family: Family::Stream, title, doc, ports: SINK, params }
}

const WORK: Param = Param::millis("work_ms", "Work", (0.0, HOUR), 0.0, "CPU time per element").live().slider(
    0.0,
    100.0,
    Scale::Linear,
);
const BLOCK: Param = Param::millis("block_ms", "Blocks", (0.0, HOUR), 0.0, "blocking time per element")
    .live()
    .slider(0.0, 100.0, Scale::Linear);

const fn count(
    key: &'static str,
    title: &'static str,
    bounds: (i64, i64),
    default: i64,
    doc: &'static str,
) -> Param {
    Param::int(key, title, bounds, default, doc)
}

pub(super) static KINDS: [Kind; 13] = [
    source(
        "range",
        "Range",
        "the whole numbers from `start` on",
        &[
            count("start", "First", (-COUNT_MAX, COUNT_MAX), 0, "the first number"),
            count("count", "Count", (0, COUNT_MAX), 1_000, "how many").slider(1.0, 1_000_000.0, Scale::Log),
        ],
    ),
    source(
        "tick",
        "Tick",
        "an element each interval; without demand it is dropped, not queued",
        &[
            Param::millis("initial_ms", "First after", (0.0, HOUR), 0.0, "time until the first tick"),
            Param::millis("interval_ms", "Interval", (0.001, HOUR), 100.0, "time from tick to tick")
                .live()
                .slider(1.0, 10_000.0, Scale::Log),
            count("count", "Count", (0, COUNT_MAX), 0, "completes after so many; 0 = never"),
        ],
    ),
    flow("map", "Map", "changes each element", &[MAP_OP, MAP_OPERAND, WORK, BLOCK]),
    flow("filter", "Filter", "lets some elements pass", &[FILTER_OP, FILTER_OPERAND, WORK, BLOCK]),
    flow(
        "take",
        "Take",
        "completes after n elements",
        &[count("n", "Count", (0, COUNT_MAX), 100, "how many pass")],
    ),
    flow(
        "grouped",
        "Grouped",
        "collects n elements into one list",
        &[count("n", "Size", (1, 65_536), 10, "elements of a list"), WORK, BLOCK],
    ),
    flow(
        "buffer",
        "Buffer",
        "a queue of its own between a fast and a slow side",
        &[
            count("size", "Size", (1, 65_536), 16, "elements it may hold").slider(1.0, 1_024.0, Scale::Log),
            OVERFLOW,
        ],
    ),
    flow("throttle", "Throttle", "lets at most so many elements pass in a time", &THROTTLE),
    flow("map_async", "Map async", "keeps up to p requests under way, results in order", &MAP_ASYNC),
    flow(
        "async_boundary",
        "Async boundary",
        "what stands before it runs in another actor than what follows",
        &[
            Param::flag("enabled", "Enabled", true, "off: both sides are fused into one actor"),
            count(
                "capacity",
                "Capacity",
                (1, 65_536),
                16,
                "elements between the sides, rounded up to a power of two",
            )
            .slider(1.0, 256.0, Scale::Log),
        ],
    ),
    sink("fold", "Fold", "folds all elements into one result", &[FOLD_OP, WORK, BLOCK]),
    sink("for_each", "For each", "does something with each element", &[WORK, BLOCK]),
    sink("ignore", "Ignore", "takes and forgets each element", &[]),
];

const MAP_OP: Param = Param::choice(
    "op",
    "Operation",
    &[
        choice("identity", "As it is"),
        choice("add", "Add"),
        choice("multiply", "Multiply"),
        choice("square", "Square"),
    ],
    "identity",
    "what it makes of an element",
)
.live();

const MAP_OPERAND: Param =
    count("operand", "By", (-COUNT_MAX, COUNT_MAX), 1, "the number added or multiplied by")
        .live()
        .when("op", &["add", "multiply"]);

const FILTER_OP: Param = Param::choice(
    "op",
    "Keeps",
    &[
        choice("even", "Even"),
        choice("odd", "Odd"),
        choice("multiple_of", "Multiples of"),
        choice("less_than", "Less than"),
        choice("every_nth", "Every nth"),
    ],
    "even",
    "which elements pass",
)
.live();

const FILTER_OPERAND: Param = count(
    "operand",
    "Number",
    (-COUNT_MAX, COUNT_MAX),
    2,
    "what elements are compared with, or the n of every nth",
)
.live()
.when("op", &["multiple_of", "less_than", "every_nth"]);

const OVERFLOW: Param = Param::choice(
    "overflow",
    "When full",
    &[
        choice("backpressure", "Hold upstream back"),
        choice("drop_head", "Drop the oldest"),
        choice("drop_tail", "Drop the youngest held"),
        choice("drop_buffer", "Drop all held"),
        choice("drop_new", "Drop the new one"),
        choice("fail", "Fail the stream"),
    ],
    "backpressure",
    "what a full buffer does with a newcomer",
);

const THROTTLE: [Param; 4] = [
    count("n", "Elements", (1, 1_000_000), 10, "how many pass per time").live().slider(
        1.0,
        1_000.0,
        Scale::Log,
    ),
    Param::millis("per_ms", "Per", (0.001, HOUR), 1_000.0, "the time").live(),
    count("burst", "Burst", (1, 1_000_000), 1, "how many may pass at once after a pause").live(),
    Param::choice(
        "mode",
        "Early ones",
        &[choice("shaping", "Wait"), choice("enforcing", "Fail the stream")],
        "shaping",
        "what an element that comes too early does",
    ),
];

const MAP_ASYNC: [Param; 5] = [
    count("parallelism", "Parallelism", (1, 4_096), 4, "requests under way at most").slider(
        1.0,
        64.0,
        Scale::Log,
    ),
    Param::choice(
        "uses",
        "A request is",
        &[choice("timer", "A wait"), choice("work", "Work on a core")],
        "timer",
        "whether a request waits for an answer or computes",
    ),
    Param::choice(
        "service",
        "Takes",
        &[
            choice("constant", "Constant time"),
            choice("uniform", "Uniform time"),
            choice("exponential", "Exponential time"),
        ],
        "constant",
        "how request times spread around their mean",
    ),
    Param::millis("mean_ms", "Mean", (0.0, HOUR), 10.0, "mean time of a request").live().slider(
        0.0,
        1_000.0,
        Scale::Linear,
    ),
    count("fail_every", "Fails every", (0, COUNT_MAX), 0, "each so many-th request fails; 0 = never")
        .live()
        .fault(),
];

const FOLD_OP: Param = Param::choice(
    "op",
    "Operation",
    &[choice("sum", "Sum"), choice("count", "Count"), choice("max", "Greatest"), choice("last", "Last")],
    "sum",
    "how elements are joined",
);
