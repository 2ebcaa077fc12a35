//! The operators that look at one element after the other: prefixes, windows, sums, failures; and their sources and sinks.

use std::sync::Arc;

use super::basics::folding;
use super::{BLOCK, COUNT_MAX, Live::No, Live::Yes, OpSchema, Role, WORK, choice, flag, int, op, worked};
use crate::stream::blueprint::Builder;
use crate::stream::done::Completer;
use crate::stream::interpreter::DynCell;
use crate::stream::ops::compute::{Keep, RULES, Ruling};
use crate::stream::ops::decide::{Decide, Refusal, Refuse};
use crate::stream::ops::drop_first::DropFirst;
use crate::stream::ops::drop_repeated::DropRepeated;
use crate::stream::ops::fold::FoldSink;
use crate::stream::ops::intersperse::Intersperse;
use crate::stream::ops::limit::Limit;
use crate::stream::ops::map_concat::MapConcat;
use crate::stream::ops::recover::Recover;
use crate::stream::ops::reduce::{Reduce, ReduceSink};
use crate::stream::ops::scan::Scan;
use crate::stream::ops::single::{Mute, Single};
use crate::stream::ops::sliding::Sliding;
use crate::stream::ops::take_last::TakeLast;
use crate::stream::ops::unfold::Cycle;
use crate::stream::ops::zip_with_index::ZipWithIndex;
use crate::stream::params::{ParamSchema, Settings};
use crate::stream::signal::StreamError;
use crate::stream::value::Value;

const VALUE: ParamSchema = int("value", 1, -COUNT_MAX, COUNT_MAX, No, "the element");
const RULE: ParamSchema = choice("op", RULES, Yes, "the rule");
const OPERAND: ParamSchema =
    int("operand", 2, -COUNT_MAX, COUNT_MAX, Yes, "what elements are compared with, or the n of every_nth");
/// The most elements that a drawn window, tail or copy has.
const HELD_MAX: i64 = 1_000_000;

pub(super) const OPERATORS: &[OpSchema] = &[
    op("single", Role::Source, "Emits one element and completes.", &[VALUE]),
    op("empty", Role::Source, "Completes at once.", &[]),
    op("failed", Role::Source, "Fails at once.", &[]),
    op("never", Role::Source, "Emits nothing and does not end.", &[]),
    op("repeat", Role::Source, "Emits the same element for ever.", &[VALUE]),
    op(
        "cycle",
        Role::Source,
        "Emits some whole numbers over and over.",
        &[
            int("start", 0, -COUNT_MAX, COUNT_MAX, No, "the first number"),
            int("count", 10, 1, COUNT_MAX, No, "how many numbers"),
        ],
    ),
    op(
        "filter_not",
        Role::Flow,
        "Emits the elements for which a rule does not hold.",
        &[RULE, OPERAND, WORK, BLOCK],
    ),
    op(
        "take_while",
        Role::Flow,
        "Emits elements while a rule holds, then completes and cancels upstream.",
        &[RULE, OPERAND, flag("inclusive", false, "also emit the element that breaks the rule"), WORK, BLOCK],
    ),
    op(
        "drop_while",
        Role::Flow,
        "Leaves out the first elements, while a rule holds.",
        &[RULE, OPERAND, WORK, BLOCK],
    ),
    op(
        "drop",
        Role::Flow,
        "Leaves out the first elements.",
        &[int("n", 10, 0, COUNT_MAX, No, "how many elements")],
    ),
    op(
        "take_last",
        Role::Flow,
        "Emits the last elements, when upstream has completed.",
        &[int("n", 10, 0, HELD_MAX, No, "how many elements")],
    ),
    op("drop_repeated", Role::Flow, "Leaves out elements that equal the one before.", &[WORK, BLOCK]),
    op(
        "limit",
        Role::Flow,
        "Fails at the element that is one too many.",
        &[int("n", 1_000, 0, COUNT_MAX, No, "how many elements may pass")],
    ),
    op(
        "map_concat",
        Role::Flow,
        "Emits the elements of each list one by one; what is no list counts as a list of one.",
        &[int("copies", 1, 0, HELD_MAX, No, "how often each is emitted"), WORK, BLOCK],
    ),
    op(
        "scan",
        Role::Flow,
        "Emits the accumulated value after each element, and at the beginning.",
        &[choice("op", &["sum", "count", "max", "last"], No, "what to accumulate"), WORK, BLOCK],
    ),
    op(
        "reduce",
        Role::Flow,
        "Accumulates all elements and emits the one result; fails without any.",
        &[choice("op", &["sum", "max", "last"], No, "what to accumulate"), WORK, BLOCK],
    ),
    op(
        "sliding",
        Role::Flow,
        "Emits lists of neighbours, each some elements further.",
        &[
            int("n", 2, 1, HELD_MAX, No, "elements per list"),
            int("step", 1, 1, HELD_MAX, No, "how many elements further the next list begins"),
            WORK,
            BLOCK,
        ],
    ),
    op("zip_with_index", Role::Flow, "Emits lists of an element and its number, from 0.", &[WORK, BLOCK]),
    op("intersperse", Role::Flow, "Puts an element between two elements.", &[VALUE]),
    op("recover", Role::Flow, "Replaces a failure of upstream by a last element.", &[VALUE]),
    op("on_error_complete", Role::Flow, "Completes where upstream fails.", &[]),
    op("count", Role::Sink, "Counts the elements.", &[WORK, BLOCK]),
    op("head", Role::Sink, "Keeps the first element and cancels; fails without any.", &[]),
    op("last", Role::Sink, "Keeps the last element; fails without any.", &[WORK, BLOCK]),
    op("cancelled", Role::Sink, "Cancels at once.", &[]),
];

/// Makes the stage of an operator of this group.
pub(super) fn cell(
    b: &Builder,
    name: &Arc<str>,
    op: &OpSchema,
    set: &Settings,
    done: &mut Option<Completer<Value>>,
) -> Option<Box<dyn DynCell>> {
    source(b, name, op, set)
        .or_else(|| prefix(b, name, op, set))
        .or_else(|| flow(b, name, op, set))
        .or_else(|| sink(b, name, op, set, done))
}

fn source(b: &Builder, name: &Arc<str>, op: &OpSchema, set: &Settings) -> Option<Box<dyn DynCell>> {
    let value = || Value::Int(set.int("value"));
    let cell = match op.kind {
        "single" => b.dynamic(name, Single::new(Some(value()))),
        "empty" => b.dynamic(name, Single::<Value>::new(None)),
        "failed" => {
            let error = StreamError::Stage { node: name.clone(), text: "it is drawn to fail".into() };
            b.dynamic(name, Mute::<Value>::new(Some(error)))
        }
        "never" => b.dynamic(name, Mute::<Value>::new(None)),
        "repeat" => b.dynamic(name, Cycle::new(std::iter::once(value()))),
        "cycle" => {
            let start = set.int("start");
            b.dynamic(name, Cycle::new(start..start.saturating_add(set.int("count"))))
        }
        _ => return None,
    };
    Some(cell)
}

/// The operators that look for a place in the stream.
fn prefix(b: &Builder, name: &Arc<str>, op: &OpSchema, set: &Settings) -> Option<Box<dyn DynCell>> {
    let ruled = |ruling| {
        let keep = Keep::new(&set.value("op"), set.int("operand"));
        worked(b, name, set, keep.ruling(ruling))
    };
    let n = set.int("n").unsigned_abs();
    let cell = match op.kind {
        "filter_not" => ruled(Ruling::LeavesOut),
        "take_while" if set.value("inclusive") == Value::Bool(true) => ruled(Ruling::TakesThrough),
        "take_while" => ruled(Ruling::TakesWhile),
        "drop_while" => ruled(Ruling::DropsWhile),
        "drop" => b.dynamic(name, DropFirst::<Value>::new(n)),
        "take_last" => b.dynamic(name, TakeLast::<Value>::new(set.size("n"))),
        "drop_repeated" => worked(b, name, set, DropRepeated::new(<Value as PartialEq>::eq)),
        "limit" => b.dynamic(name, Limit::new(n, |_: &Value| 1)),
        _ => return None,
    };
    Some(cell)
}

fn flow(b: &Builder, name: &Arc<str>, op: &OpSchema, set: &Settings) -> Option<Box<dyn DynCell>> {
    let value = Value::Int(set.int("value"));
    let cell = match op.kind {
        "map_concat" => {
            let copies = set.size("copies");
            worked(b, name, set, MapConcat::<_, Copies, _>::new(move |x| Copies::new(x, copies)))
        }
        "scan" => {
            let (zero, f) = folding(set.value("op"));
            worked(b, name, set, Scan::new(zero, f))
        }
        "reduce" => worked(b, name, set, Reduce::new(folding(set.value("op")).1)),
        "sliding" => worked(b, name, set, Sliding::<Value>::new(set.size("n"), set.size("step"))),
        "zip_with_index" => worked(b, name, set, ZipWithIndex::<Value>::new()),
        "intersperse" => b.dynamic(name, Intersperse::new(None, value, None)),
        "recover" => b.dynamic(name, Recover::new(move |_| Ok(Some(value.clone())))),
        "on_error_complete" => b.dynamic(name, Recover::<Value, _>::new(|_| Ok(None))),
        _ => return None,
    };
    Some(cell)
}

fn sink(
    b: &Builder,
    name: &Arc<str>,
    op: &OpSchema,
    set: &Settings,
    done: &mut Option<Completer<Value>>,
) -> Option<Box<dyn DynCell>> {
    let mut completer = || done.take().unwrap_or_default();
    let cell = match op.kind {
        "count" => {
            let (zero, f) = folding(Value::Unit);
            worked(b, name, set, FoldSink::new(zero, f, completer()))
        }
        "head" => b.dynamic(name, Decide::new(|x: Value| Some(x), None, completer())),
        "last" => worked(b, name, set, ReduceSink::new(|_: Value, x| x, completer())),
        "cancelled" => b.dynamic(name, Refuse::<Value, Value>::new(Refusal::Cancels, completer())),
        _ => return None,
    };
    Some(cell)
}

/// The elements of a list, each some times.
struct Copies {
    value: Value,
    copies: usize,
    next: usize,
    given: usize,
}

impl Copies {
    fn new(value: Value, copies: usize) -> Self {
        Copies { value, copies, next: 0, given: 0 }
    }
}

impl Iterator for Copies {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        if self.given == self.copies {
            self.next += 1;
            self.given = 0;
        }
        let x = match &self.value {
            Value::List(list) => list.get(self.next)?.clone(),
            x if self.next == 0 => x.clone(),
            _ => return None,
        };
        if self.copies == 0 {
            return None;
        }
        self.given += 1;
        Some(x)
    }
}
