//! The stream operators of the first slice.
//!
//! Kind names are those of the stream registry. Every operator has one input and one output; a source has no input, a
//! sink no output.

use super::{Carries::Stream, Choice, Direction::In, Direction::Out};
use super::{Family, Kind, Param, Port, Scale, port};

const HOUR: f64 = 3_600_000.0;
const COUNT_MAX: i64 = 1_000_000_000;

const fn choice(value: &'static str, title: &'static str) -> Choice {
    Choice { value, title }
}

const IN: Port = port("in", In, Stream, "elements from upstream");
const OUT: Port = port("out", Out, Stream, "elements to downstream");

const fn source(
    name: &'static str,
    title: &'static str,
    doc: &'static str,
    params: &'static [Param],
) -> Kind {
    Kind { name, family: Family::Stream, title, doc, ports: &[OUT], params }
}

const fn flow(name: &'static str, title: &'static str, doc: &'static str, params: &'static [Param]) -> Kind {
    Kind { name, family: Family::Stream, title, doc, ports: &[IN, OUT], params }
}

const fn sink(name: &'static str, title: &'static str, doc: &'static str, params: &'static [Param]) -> Kind {
    Kind { name, family: Family::Stream, title, doc, ports: &[IN], params }
}

const WORK: Param = Param::millis("work_ms", "Work", (0.0, HOUR), 0.0, "CPU time per element").live().slider(
    0.0,
    100.0,
    Scale::Linear,
);
const BLOCK: Param = Param::millis("block_ms", "Blocks", (0.0, HOUR), 0.0, "blocking time per element")
    .live()
    .slider(0.0, 100.0, Scale::Linear);

pub(super) static KINDS: [Kind; 13] = [
    source(
        "range",
        "Range",
        "the whole numbers from `start` on",
        &[
            Param::int("start", "First", (-COUNT_MAX, COUNT_MAX), 0, "the first number"),
            Param::int("count", "Count", (0, COUNT_MAX), 1_000, "how many").slider(
                1.0,
                1_000_000.0,
                Scale::Log,
            ),
        ],
    ),
    source(
        "tick",
        "Tick",
        "an element each interval; without demand it is dropped, not queued",
        &[
            Param::millis("interval_ms", "Interval", (0.001, HOUR), 100.0, "time from tick to tick").slider(
                1.0,
                10_000.0,
                Scale::Log,
            ),
            Param::int("count", "Count", (0, COUNT_MAX), 0, "completes after so many; 0 = never"),
        ],
    ),
    flow(
        "map",
        "Map",
        "changes each element",
        &[
            Param::choice(
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
            ),
            Param::int("operand", "By", (-COUNT_MAX, COUNT_MAX), 1, "the number added or multiplied by")
                .when("op", &["add", "multiply"]),
            WORK,
            BLOCK,
        ],
    ),
    flow(
        "filter",
        "Filter",
        "lets some elements pass",
        &[
            Param::choice(
                "op",
                "Keeps",
                &[
                    choice("even", "Even"),
                    choice("odd", "Odd"),
                    choice("multiple_of", "Multiples of"),
                    choice("less_than", "Less than"),
                ],
                "even",
                "which elements pass",
            ),
            Param::int("operand", "Number", (-COUNT_MAX, COUNT_MAX), 2, "what elements are compared with")
                .when("op", &["multiple_of", "less_than"]),
            WORK,
        ],
    ),
    flow(
        "take",
        "Take",
        "completes after n elements",
        &[Param::int("n", "Count", (0, COUNT_MAX), 100, "how many pass")],
    ),
    flow(
        "grouped",
        "Grouped",
        "collects n elements into one list",
        &[Param::int("n", "Size", (1, 65_536), 10, "elements of a list")],
    ),
    flow(
        "buffer",
        "Buffer",
        "a queue of its own between a fast and a slow side",
        &[
            Param::int("size", "Size", (1, 65_536), 16, "elements it may hold").slider(
                1.0,
                1_024.0,
                Scale::Log,
            ),
            Param::choice(
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
            ),
        ],
    ),
    flow(
        "throttle",
        "Throttle",
        "lets at most so many elements pass in a time",
        &[
            Param::int("n", "Elements", (1, 1_000_000), 10, "how many pass per time").slider(
                1.0,
                1_000.0,
                Scale::Log,
            ),
            Param::millis("per_ms", "Per", (0.001, HOUR), 1_000.0, "the time"),
            Param::int("burst", "Burst", (1, 1_000_000), 1, "how many may pass at once after a pause"),
        ],
    ),
    flow(
        "map_async",
        "Map async",
        "keeps up to p requests under way, results in order",
        &[
            Param::int("parallelism", "Parallelism", (1, 4_096), 4, "requests under way at most").slider(
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
            Param::millis("mean_ms", "Mean", (0.0, HOUR), 10.0, "mean time of a request").slider(
                0.0,
                1_000.0,
                Scale::Linear,
            ),
        ],
    ),
    flow(
        "async_boundary",
        "Async boundary",
        "what stands before it runs in another actor than what follows",
        &[
            Param::flag("enabled", "Enabled", true, "off: both sides are fused into one actor"),
            Param::int("capacity", "Capacity", (1, 65_536), 16, "elements between the two sides").slider(
                1.0,
                256.0,
                Scale::Log,
            ),
        ],
    ),
    sink(
        "fold",
        "Fold",
        "folds all elements into one result",
        &[
            Param::choice(
                "op",
                "Operation",
                &[choice("sum", "Sum"), choice("count", "Count"), choice("max", "Greatest")],
                "sum",
                "how elements are joined",
            ),
            WORK,
            BLOCK,
        ],
    ),
    sink("for_each", "For each", "does something with each element", &[WORK, BLOCK]),
    sink("ignore", "Ignore", "takes and forgets each element", &[]),
];
