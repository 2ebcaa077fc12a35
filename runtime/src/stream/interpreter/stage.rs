//! A drawn node before it runs: what it is, and how it becomes cells of a chain or a junction.

use std::sync::Arc;

use super::DynCell;
use super::drawing::DrawError;
use crate::stream::blueprint::{Builder, Outlet};
use crate::stream::done::{Completer, Done, done};
use crate::stream::graph::EdgeId;
use crate::stream::graph::junction::{Inputs, Junction};
use crate::stream::junctions::{Balance, Broadcast, Concat, Interleave, Merge, Partition, ZipN};
use crate::stream::kernel::{Cx, Kernel, Never};
use crate::stream::ops::buffer::Buffer;
use crate::stream::ops::compute::{Compute, Keep};
use crate::stream::ops::feed::{Feed, FeedSource};
use crate::stream::ops::fold::FoldSink;
use crate::stream::ops::for_each::ForEach;
use crate::stream::ops::grouped::Grouped;
use crate::stream::ops::range::Range;
use crate::stream::ops::take::Take;
use crate::stream::ops::throttle::{Rate, Throttle, ThrottleMode};
use crate::stream::ops::tick::Tick;
use crate::stream::ops::timed_request::{RunsAs, TimedRequest};
use crate::stream::ops::worked::{Time, Worked};
use crate::stream::params::{Params, Settings, check_all};
use crate::stream::registry::{OpSchema, Role, find, overflow};
use crate::stream::signal::End;
use crate::stream::value::Value;
use crate::sync::Mutex;

pub(super) type OnElement = Box<dyn FnMut(&mut Cx, Value) + Send>;
pub(super) type OnEnd = Box<dyn FnMut(&mut Cx, &End) + Send>;

/// What a drawn node does.
#[derive(Clone)]
pub(super) enum Stage {
    Op { kind: String, params: Params },
    Feed(Feed<Value>),
    Tell(Arc<Mutex<OnElement>>, Arc<Mutex<OnEnd>>),
}

impl Stage {
    /// Says where the node may stand; nothing if there is no operator of its kind.
    pub(super) fn role(&self) -> Option<Role> {
        match self {
            Stage::Feed(_) => Some(Role::Source),
            Stage::Tell(..) => Some(Role::Sink),
            Stage::Op { kind, .. } => find(kind).map(|op| op.role),
        }
    }

    /// Is a boundary that is switched off: elements pass as if it were not there.
    fn passes_through(&self) -> bool {
        let Stage::Op { kind, params } = self else { return false };
        let off = |op: &OpSchema| {
            op.role == Role::Boundary
                && Settings { schema: op.params, params }.value("enabled") == Value::Bool(false)
        };
        find(kind).is_some_and(off)
    }
}

/// Finds what is wrong with a node by itself.
pub(super) fn check_stage(name: &Arc<str>, stage: &Stage, errors: &mut Vec<DrawError>) {
    let Stage::Op { kind, params } = stage else { return };
    let Some(op) = find(kind) else {
        errors.push(DrawError::UnknownKind { node: name.clone(), kind: kind.clone() });
        return;
    };
    let bad = check_all(op.params, params).into_iter();
    errors.extend(bad.map(|e| DrawError::BadParam { node: name.clone(), field: e.key, reason: e.reason }));
}

/// Adds a junction with so many inputs and outputs.
pub(super) fn junction(
    b: &mut Builder,
    name: &Arc<str>,
    stage: &Stage,
    ports: (usize, usize),
) -> (Vec<EdgeId>, Vec<Outlet>) {
    let Stage::Op { kind, params } = stage else { return (Vec::new(), Vec::new()) };
    let Some(op) = find(kind) else { return (Vec::new(), Vec::new()) };
    let set = Settings { schema: op.params, params };
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

pub(super) type Cells = Vec<Box<dyn DynCell>>;

/// Adds a linear stage behind others; a sink gives its result.
pub(super) fn add_stage(
    b: &mut Builder,
    mut cells: Cells,
    name: &Arc<str>,
    stage: &Stage,
) -> (Cells, Option<Done<Value>>) {
    if stage.passes_through() {
        return (cells, None);
    }
    let (mut completer, result) = match stage.role() {
        Some(Role::Sink) => {
            let (completer, result) = done();
            (Some(completer), Some(result))
        }
        _ => (None, None),
    };
    let done = &mut completer;
    let cell = match stage {
        Stage::Feed(feed) => {
            feed.attach(b.shared().clone(), b.part());
            b.dynamic(name, FeedSource::new(feed.clone()))
        }
        Stage::Tell(f, at_end) => b.dynamic(name, tell(f.clone(), at_end.clone(), done.take())),
        Stage::Op { kind, params } => {
            let Some(op) = find(kind) else { return (cells, None) };
            let set = Settings { schema: op.params, params };
            if op.role == Role::Boundary {
                return (b.cut_dynamic(cells, name, set.size("capacity")), None);
            }
            kernel(b, name, op, &set, done)
        }
    };
    cells.push(cell);
    (cells, result)
}

fn kernel(
    b: &Builder,
    name: &Arc<str>,
    op: &OpSchema,
    set: &Settings,
    done: &mut Option<Completer<Value>>,
) -> Box<dyn DynCell> {
    match op.kind {
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
        _ => worked(b, name, set, sink(op.kind, set, done.take())),
    }
}

/// Wraps a kernel in the attribute `work`, if its operator has it.
fn worked<K: Kernel>(b: &Builder, name: &Arc<str>, set: &Settings, kernel: K) -> Box<dyn DynCell>
where
    K::In: super::FromValue,
    K::Out: super::IntoValue,
{
    if set.schema.iter().any(|p| p.key == "work_ms") {
        b.dynamic(
            name,
            Worked::new(kernel, Time::Constant(set.ms("work_ms")), Time::Constant(set.ms("block_ms"))),
        )
    } else {
        b.dynamic(name, kernel)
    }
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

fn timed_request(set: &Settings) -> TimedRequest {
    let runs_as = match set.value("uses").as_text() {
        Some("work") => RunsAs::Task,
        _ => RunsAs::Timer,
    };
    TimedRequest::new(set.size("parallelism"), runs_as, set.service(), set.int("fail_every"))
}

fn sink(
    kind: &str,
    set: &Settings,
    done: Option<Completer<Value>>,
) -> impl Kernel<In = Value, Out = Never> + use<> {
    let f: fn(Value, Value) -> Value = match (kind, set.value("op").as_text()) {
        ("fold", Some("sum")) => {
            |sum, x| Value::Int(sum.as_int().unwrap_or(0).wrapping_add(x.as_int().unwrap_or(0)))
        }
        ("fold", Some("last")) => |_, x| x,
        ("fold", Some("max")) => |max, x| match (max.as_int(), x.as_int()) {
            (Some(a), Some(b)) => Value::Int(a.max(b)),
            _ => x,
        },
        _ => |n, _| Value::Int(n.as_int().unwrap_or(0) + 1),
    };
    let zero = match set.value("op").as_text() {
        Some("last" | "max") => Value::Unit,
        _ => Value::Int(0),
    };
    FoldSink::new(zero, f, done.unwrap_or_default())
}

fn tell(
    f: Arc<Mutex<OnElement>>,
    at_end: Arc<Mutex<OnEnd>>,
    done: Option<Completer<Value>>,
) -> impl Kernel<In = Value, Out = Never> {
    let (mut done, mut seen) = (done.unwrap_or_default(), Arc::new(Mutex::new(0i64)));
    let counter = seen.clone();
    let each = move |cx: &mut Cx, x: Value| {
        *counter.lock() += 1;
        (f.lock())(cx, x);
    };
    let end = move |cx: &mut Cx, end: &End| {
        (at_end.lock())(cx, end);
        let n = *std::mem::take(&mut seen).lock();
        done.set(match end {
            End::Failed(e) => Err(e.clone()),
            _ => Ok(Value::Int(n)),
        });
    };
    ForEach::new(each, end, Completer::default())
}
