//! The operators of time, requests and rates.

use std::sync::Arc;

use super::{
    COUNT_MAX, FAIL_EVERY, Live::No, Live::Yes, MEAN, OpSchema, PARALLELISM, Role, SERVICE, USES, choice,
    int, ms, op,
};
use crate::stream::blueprint::Builder;
use crate::stream::interpreter::DynCell;
use crate::stream::ops::buffer::Buffer;
use crate::stream::ops::conflate::Conflate;
use crate::stream::ops::delay::Delay;
use crate::stream::ops::expand::Expand;
use crate::stream::ops::grouped_within::GroupedWithin;
use crate::stream::ops::keep_alive::KeepAlive;
use crate::stream::ops::latest::{Latest, When};
use crate::stream::ops::map_async_partitioned::Order;
use crate::stream::ops::timed_request::TimedRequest;
use crate::stream::ops::timeouts::Timeout;
use crate::stream::ops::within::{DropWithin, TakeWithin};
use crate::stream::params::{ParamSchema, Settings};
use crate::stream::signal::{OverflowStrategy, TimeoutKind};
use crate::stream::value::Value;

const SUMMARIES: &[&str] = &["sum", "max", "last"];
const TIMEOUT: &[ParamSchema] = &[ms("timeout_ms", 1_000.0, 0.001, "how long it waits")];
/// Until when, from the start of the run on: not to be changed while it runs.
const WITHIN: &[ParamSchema] = &[fixed(ms("within_ms", 1_000.0, 0.0, "how long, from the start on"))];

const fn fixed(mut schema: ParamSchema) -> ParamSchema {
    schema.live = false;
    schema
}

pub(super) const OPERATORS: &[OpSchema] = &[
    op(
        "map_async_unordered",
        Role::Flow,
        "Makes a request for each element, several at a time, results as they come.",
        &[PARALLELISM, USES, SERVICE, MEAN, FAIL_EVERY],
    ),
    op(
        "map_async_partitioned",
        Role::Flow,
        "Makes a request for each element, several at a time, but one per key.",
        &[
            fixed(PARALLELISM),
            int("keys", 4, 1, 1_000_000, No, "the key of a number is its rest by this"),
            choice("order", &["input", "any"], No, "in which order results go out"),
            USES,
            SERVICE,
            MEAN,
            FAIL_EVERY,
        ],
    ),
    op(
        "conflate",
        Role::Flow,
        "While downstream is slow, folds what arrives into one number.",
        &[choice("op", SUMMARIES, No, "what becomes of two numbers")],
    ),
    op(
        "batch",
        Role::Flow,
        "As conflate, but waits when it has folded so many.",
        &[
            int("max", 10, 1, COUNT_MAX, No, "elements per summary"),
            choice("op", SUMMARIES, No, "what becomes of two numbers"),
        ],
    ),
    op("detach", Role::Flow, "Pulls one element before downstream asks.", &[]),
    op(
        "delay",
        Role::Flow,
        "Hands each element on some time after it arrived.",
        &[
            ms("delay_ms", 100.0, 0.0, "how much later"),
            int("buffer", 256, 1, 1_000_000, No, "how many elements may wait"),
        ],
    ),
    op(
        "grouped_within",
        Role::Flow,
        "Emits lists of what came within a time, or of so many elements.",
        &[
            int("n", 10, 1, 1_000_000, Yes, "the most elements per list"),
            ms("within_ms", 100.0, 0.0, "from a list's first element on"),
        ],
    ),
    op("take_within", Role::Flow, "Emits what comes within a time, then completes.", WITHIN),
    op("drop_within", Role::Flow, "Leaves out what comes within a time.", WITHIN),
    op(
        "keep_alive",
        Role::Flow,
        "Emits a number of its own when nothing else was emitted for some time.",
        &[
            ms("silence_ms", 1_000.0, 0.001, "after so much silence"),
            int("value", 0, -COUNT_MAX, COUNT_MAX, No, "the number"),
        ],
    ),
    op(
        "extrapolate",
        Role::Flow,
        "Repeats the last element while there is demand and nothing new.",
        &[int("times", 1, 1, 1_000_000, No, "how often, at most")],
    ),
    op(
        "debounce",
        Role::Flow,
        "Emits the last element before a silence; those before it are dropped.",
        &[ms("quiet_ms", 100.0, 0.001, "nothing came for so long")],
    ),
    op(
        "sample",
        Role::Flow,
        "Emits the last element of each period; those before it are dropped.",
        &[ms("every_ms", 100.0, 0.001, "the period")],
    ),
    op("idle_timeout", Role::Flow, "Fails if no element comes for some time.", TIMEOUT),
    op("initial_timeout", Role::Flow, "Fails if the first element does not come in time.", TIMEOUT),
    op("completion_timeout", Role::Flow, "Fails if the stream does not end in time.", TIMEOUT),
    op("backpressure_timeout", Role::Flow, "Fails if downstream asks for nothing for some time.", TIMEOUT),
];

/// Makes the stage of an operator of this group.
pub(super) fn cell(b: &Builder, name: &Arc<str>, op: &OpSchema, set: &Settings) -> Option<Box<dyn DynCell>> {
    let timeout = |kind| Timeout::<Value>::new(kind, set.ms("timeout_ms"));
    let cell = match op.kind {
        "map_async_unordered" => {
            let (p, service, fail) = (set.size("parallelism"), set.service(), set.int("fail_every"));
            b.dynamic(name, TimedRequest::unordered(p, set.runs_as(), service, fail))
        }
        "map_async_partitioned" => partitioned(b, name, set),
        "conflate" => conflate(b, name, set, None),
        "batch" => conflate(b, name, set, Some(set.int("max").unsigned_abs())),
        "detach" => b.dynamic(name, Buffer::<Value>::new(1, OverflowStrategy::Backpressure)),
        "delay" => b.dynamic(name, Delay::<Value>::new(set.ms("delay_ms"), set.size("buffer"))),
        "grouped_within" => {
            let n = set.int("n").unsigned_abs();
            b.dynamic(name, GroupedWithin::new(n, set.ms("within_ms"), |_: &Value| 1))
        }
        "take_within" => b.dynamic(name, TakeWithin::<Value>::new(set.ms("within_ms"))),
        "drop_within" => b.dynamic(name, DropWithin::<Value>::new(set.ms("within_ms"))),
        "keep_alive" => {
            let value = set.value("value");
            b.dynamic(name, KeepAlive::new(set.ms("silence_ms"), move || value.clone()))
        }
        "extrapolate" => {
            let times = set.size("times").saturating_add(1);
            b.dynamic(name, Expand::new(move |x: Value| std::iter::repeat_n(x, times)))
        }
        "debounce" => b.dynamic(name, Latest::<Value>::new(When::Quiet, set.ms("quiet_ms"))),
        "sample" => b.dynamic(name, Latest::<Value>::new(When::Period, set.ms("every_ms"))),
        "idle_timeout" => b.dynamic(name, timeout(TimeoutKind::Idle)),
        "initial_timeout" => b.dynamic(name, timeout(TimeoutKind::Initial)),
        "completion_timeout" => b.dynamic(name, timeout(TimeoutKind::Completion)),
        "backpressure_timeout" => b.dynamic(name, timeout(TimeoutKind::Backpressure)),
        _ => return None,
    };
    Some(cell)
}

fn partitioned(b: &Builder, name: &Arc<str>, set: &Settings) -> Box<dyn DynCell> {
    let order = match set.value("order").as_text() {
        Some("any") => Order::Any,
        _ => Order::Input,
    };
    let (p, keys, fail) = (set.size("parallelism"), set.int("keys"), set.int("fail_every"));
    b.dynamic(name, TimedRequest::partitioned(p, order, keys, set.runs_as(), set.service(), fail))
}

fn conflate(b: &Builder, name: &Arc<str>, set: &Settings, max: Option<u64>) -> Box<dyn DynCell> {
    let f: fn(Value, Value) -> Value = match set.value("op").as_text() {
        Some("max") => |a, x| if x.as_int() > a.as_int() { x } else { a },
        Some("last") => |_, x| x,
        _ => |a, x| Value::Int(a.as_int().unwrap_or(0).wrapping_add(x.as_int().unwrap_or(0))),
    };
    b.dynamic(name, Conflate::new(max, |_: &Value| 1, |x| x, f))
}
