//! The basic operators: numbers, functions of them, buffers, requests, boundaries, results.

use std::sync::Arc;

use super::{
    BLOCK, COUNT_MAX, FAIL_EVERY, Live::No, Live::Yes, MEAN, OVERFLOWS, OpSchema, PARALLELISM, Role, SERVICE,
    USES, WORK, choice, flag, int, ms, op, overflow, worked,
};
use crate::stream::blueprint::Builder;
use crate::stream::boundary::CAPACITY_MAX;
use crate::stream::done::Completer;
use crate::stream::interpreter::DynCell;
use crate::stream::kernel::{Kernel, Never};
use crate::stream::ops::buffer::Buffer;
use crate::stream::ops::compute::{Compute, FUNCTIONS, Keep, RULES};
use crate::stream::ops::fold::FoldSink;
use crate::stream::ops::grouped::Grouped;
use crate::stream::ops::range::Range;
use crate::stream::ops::take::Take;
use crate::stream::ops::throttle::{Rate, Throttle, ThrottleMode};
use crate::stream::ops::tick::Tick;
use crate::stream::ops::timed_request::TimedRequest;
use crate::stream::params::Settings;
use crate::stream::value::Value;

const RING_MAX: i64 = CAPACITY_MAX as i64;

pub(super) const OPERATORS: &[OpSchema] = &[
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
        &[PARALLELISM, USES, SERVICE, MEAN, FAIL_EVERY],
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

/// Makes the stage of an operator of this group.
pub(super) fn cell(
    b: &Builder,
    name: &Arc<str>,
    op: &OpSchema,
    set: &Settings,
    done: &mut Option<Completer<Value>>,
) -> Option<Box<dyn DynCell>> {
    let cell = match op.kind {
        "range" => {
            let start = set.int("start");
            b.dynamic(name, Range::new(start..start.saturating_add(set.int("count"))))
        }
        "tick" => b.dynamic(name, tick(set)),
        "map" => worked(b, name, set, Compute::new(&set.value("op"), set.int("operand"))),
        "filter" => worked(b, name, set, Keep::new(&set.value("op"), set.int("operand"))),
        "take" => b.dynamic(name, Take::<Value>::new(set.int("n").unsigned_abs())),
        "grouped" => worked(b, name, set, Grouped::<Value>::new(set.size("n"))),
        "buffer" => b.dynamic(name, Buffer::<Value>::new(set.size("size"), overflow(&set.value("overflow")))),
        "throttle" => b.dynamic(name, throttle(set)),
        "map_async" => b.dynamic(name, timed_request(set)),
        "fold" | "for_each" | "ignore" => worked(b, name, set, sink(op.kind, set, done.take())),
        _ => return None,
    };
    Some(cell)
}

fn tick(set: &Settings) -> Tick<Value> {
    let tick = Tick::new(set.ms("initial_ms"), set.ms("interval_ms"), Value::Int(1));
    tick.at_most(set.int("count").unsigned_abs())
}

fn throttle(set: &Settings) -> impl Kernel<In = Value, Out = Value> + use<> {
    let mode = match set.value("mode").as_text() {
        Some("enforcing") => ThrottleMode::Enforcing,
        _ => ThrottleMode::Shaping,
    };
    let rate = Rate::new(set.int("n").unsigned_abs(), set.ms("per_ms"));
    Throttle::new(rate.burst(set.int("burst").unsigned_abs()), mode, |_: &Value| 1)
}

fn timed_request(set: &Settings) -> impl Kernel<In = Value, Out = Value> + use<> {
    TimedRequest::new(set.size("parallelism"), set.runs_as(), set.service(), set.int("fail_every"))
}

fn sink(
    kind: &str,
    set: &Settings,
    done: Option<Completer<Value>>,
) -> impl Kernel<In = Value, Out = Never> + use<> {
    let (zero, f) = folding(if kind == "fold" { set.value("op") } else { "count".into() });
    FoldSink::new(zero, f, done.unwrap_or_default())
}

/// What the drawn operators that accumulate begin with, and do.
pub(super) fn folding(op: Value) -> (Value, fn(Value, Value) -> Value) {
    match op.as_text() {
        Some("sum") => (Value::Int(0), |sum, x| {
            Value::Int(sum.as_int().unwrap_or(0).wrapping_add(x.as_int().unwrap_or(0)))
        }),
        Some("last") => (Value::Unit, |_, x| x),
        Some("max") => (Value::Unit, |max, x| match (max.as_int(), x.as_int()) {
            (Some(a), Some(b)) => Value::Int(a.max(b)),
            _ => x,
        }),
        _ => (Value::Int(0), |n, _| Value::Int(n.as_int().unwrap_or(0) + 1)),
    }
}
