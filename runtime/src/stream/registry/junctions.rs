//! The junctions that can be drawn.

use std::sync::Arc;

use super::{Live::No, OpSchema, Role, choice, flag, int, op};
use crate::stream::blueprint::{Builder, Outlet};
use crate::stream::graph::EdgeId;
use crate::stream::graph::junction::{Inputs, Junction};
use crate::stream::junctions::{
    Balance, Broadcast, Concat, Interleave, Merge, MergeLatest, MergePrioritized, MergeSequence, MergeSorted,
    OrElse, Partition, WireTap, ZipN,
};
use crate::stream::params::Settings;
use crate::stream::value::Value;

pub(super) const OPERATORS: &[OpSchema] = &[
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
        "merge_sorted",
        Role::FanIn,
        "Emits the least number that the inputs have: sorted inputs make a sorted output.",
        &[],
    ),
    op(
        "merge_latest",
        Role::FanIn,
        "Emits the latest elements of all inputs together, on each new one.",
        &[flag("eager", false, "completes with the first input, not with the last")],
    ),
    op(
        "merge_prioritized",
        Role::FanIn,
        "Emits the elements of all inputs; chance prefers the first one.",
        &[int("weight", 10, 1, 1_000_000, No, "how many times as often the first input is chosen")],
    ),
    op("or_else", Role::FanIn, "Emits the first input, or the next if that has no element.", &[]),
    op(
        "merge_sequence",
        Role::FanIn,
        "Emits the numbers from 0 in their order, whichever input has them; fails at a gap.",
        &[],
    ),
    op(
        "wire_tap",
        Role::FanOut,
        "Emits every element on the first output, and on the others if they happen to ask.",
        &[],
    ),
];

/// Adds a junction with so many inputs and outputs.
pub(crate) fn junction(
    b: &mut Builder,
    name: &Arc<str>,
    op: &OpSchema,
    set: &Settings,
    ports: (usize, usize),
) -> (Vec<EdgeId>, Vec<Outlet>) {
    let eager = set.value("eager") == Value::Bool(true);
    match op.kind {
        "merge" => {
            let merge = if eager { Merge::<Value>::new().eager() } else { Merge::new() };
            let preferring = set.value("prefer_first") == Value::Bool(true);
            add_junction(b, name, if preferring { merge.preferring() } else { merge }, ports)
        }
        "concat" => add_junction(b, name, Concat::<Value>::new(), ports),
        "interleave" => {
            let interleave = Interleave::<Value>::new(set.size("segment"));
            add_junction(b, name, if eager { interleave.eager() } else { interleave }, ports)
        }
        "zip" => {
            let join = if set.value("join").as_text() == Some("list") { list } else { sum };
            add_junction(b, name, ZipN::new(join), ports)
        }
        "broadcast" => {
            let broadcast = Broadcast::<Value>::new();
            add_junction(b, name, if eager { broadcast.eager_cancel() } else { broadcast }, ports)
        }
        "balance" => {
            let balance = Balance::<Value>::new();
            let waits = set.value("wait_for_all") == Value::Bool(true);
            add_junction(b, name, if waits { balance.wait_for_all() } else { balance }, ports)
        }
        "merge_sorted" => {
            add_junction(b, name, MergeSorted::<Value>::by(|x, y| rank(x).cmp(&rank(y))), ports)
        }
        "merge_latest" => {
            let merge = MergeLatest::new(list);
            add_junction(b, name, if eager { merge.eager() } else { merge }, ports)
        }
        "merge_prioritized" => {
            let weight = u32::try_from(set.int("weight")).unwrap_or(u32::MAX);
            add_junction(b, name, MergePrioritized::<Value>::new(&[weight]), ports)
        }
        "or_else" => add_junction(b, name, OrElse::<Value>::new(), ports),
        "merge_sequence" => {
            let number = |x: &Value| x.as_int().and_then(|n| u64::try_from(n).ok()).unwrap_or(u64::MAX);
            add_junction(b, name, MergeSequence::<Value>::new(number), ports)
        }
        "wire_tap" => add_junction(b, name, WireTap::<Value>::new(), ports),
        _ => {
            let outputs = ports.1.max(1) as u64;
            let choose = move |x: &Value| (x.as_int().unwrap_or(0).unsigned_abs() % outputs) as usize;
            add_junction(b, name, Partition::new(choose), ports)
        }
    }
}

fn add_junction<J: Junction>(
    b: &mut Builder,
    name: &Arc<str>,
    junction: J,
    (ins, outs): (usize, usize),
) -> (Vec<EdgeId>, Vec<Outlet>) {
    let name_all = |n: usize| vec![name.clone(); n];
    b.junction(name, junction, Inputs::default().of::<Value>(ins), (&name_all(ins), &name_all(outs)))
}

fn list(row: Vec<Value>) -> Value {
    Value::from(row)
}

/// What is no number counts as 0.
fn sum(row: Vec<Value>) -> Value {
    Value::Int(row.iter().fold(0, |sum, x| sum.wrapping_add(x.as_int().unwrap_or(0))))
}

/// What is no number counts as 0.
fn rank(x: &Value) -> i64 {
    x.as_int().unwrap_or(0)
}
