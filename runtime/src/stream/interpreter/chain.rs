//! `Chain`: the blueprint of a drawn linear stream, checked as a whole and built as often as wanted.
//!
//! I1 all errors are found at once, each with its node; nothing is half-built.
//! I2 the stages' names are the drawn nodes' ids: snapshots and live changes go by them.

use std::fmt;
use std::sync::Arc;

use super::DynCell;
use crate::stream::blueprint::{Builder, Built};
use crate::stream::done::{Completer, Done, done};
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

/// The most stages of one chain.
pub const STAGES_MAX: usize = 10_000;

/// Why a chain cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChainError {
    /// There is no operator of this kind.
    UnknownKind {
        /// The node.
        node: Arc<str>,
        /// Its kind.
        kind: String,
    },
    /// A parameter is wrong.
    BadParam {
        /// The node.
        node: Arc<str>,
        /// The parameter.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The first stage is no source.
    NoSource,
    /// The last stage is no sink.
    NoSink,
    /// A source or sink stands between others.
    Misplaced {
        /// The node.
        node: Arc<str>,
    },
    /// Two stages have one name.
    DuplicateName {
        /// The name.
        node: Arc<str>,
    },
    /// There are more than 10,000 stages.
    TooLarge,
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChainError::UnknownKind { node, kind } => write!(f, "{node}: there is no operator {kind}"),
            ChainError::BadParam { node, field, reason } => write!(f, "{node}: {field}: {reason}"),
            ChainError::NoSource => write!(f, "the chain does not begin with a source"),
            ChainError::NoSink => write!(f, "the chain does not end with a sink"),
            ChainError::Misplaced { node } => write!(f, "{node}: a source or sink stands between others"),
            ChainError::DuplicateName { node } => write!(f, "{node}: two stages have this name"),
            ChainError::TooLarge => write!(f, "more than {STAGES_MAX} stages"),
        }
    }
}

impl std::error::Error for ChainError {}

type OnElement = Box<dyn FnMut(&mut Cx, Value) + Send>;
type OnEnd = Box<dyn FnMut(&mut Cx, &End) + Send>;

#[derive(Clone)]
enum Stage {
    Op { kind: String, params: Params },
    Feed(Feed<Value>),
    Tell(Arc<Mutex<OnElement>>, Arc<Mutex<OnEnd>>),
}

/// The blueprint of a drawn linear stream.
///
/// # Examples
/// ```
/// use footlights::stream::{Chain, Params, Value};
/// let count = Params::from([("count".to_string(), Value::from(10))]);
/// let chain = Chain::new()
///     .op("numbers", "range", count)
///     .op("evens", "filter", Params::new())
///     .op("cut", "async_boundary", Params::new())
///     .op("sum", "fold", Params::new());
/// assert_eq!(chain.run_local().unwrap().take(), Some(Ok(Value::from(20))));
/// ```
#[derive(Clone, Default)]
pub struct Chain {
    stages: Vec<(Arc<str>, Stage)>,
}

impl Chain {
    /// Makes an empty chain.
    pub fn new() -> Self {
        Chain::default()
    }

    /// Adds an operator of the registry.
    pub fn op(mut self, name: &str, kind: &str, params: Params) -> Self {
        self.stages.push((name.into(), Stage::Op { kind: kind.into(), params }));
        self
    }

    /// Begins with a source that is fed from outside.
    pub fn feed(mut self, name: &str, feed: Feed<Value>) -> Self {
        self.stages.push((name.into(), Stage::Feed(feed)));
        self
    }

    /// Ends with a sink that calls `f` for each element and `at_end` once: the bridge to an actor.
    pub fn tell(
        mut self,
        name: &str,
        f: impl FnMut(&mut Cx, Value) + Send + 'static,
        at_end: impl FnMut(&mut Cx, &End) + Send + 'static,
    ) -> Self {
        self.stages.push((
            name.into(),
            Stage::Tell(Arc::new(Mutex::new(Box::new(f))), Arc::new(Mutex::new(Box::new(at_end)))),
        ));
        self
    }

    /// Finds everything that is wrong with the chain.
    pub fn check(&self) -> Vec<ChainError> {
        let mut errors = Vec::new();
        if self.stages.len() > STAGES_MAX {
            return vec![ChainError::TooLarge];
        }
        let mut names: Vec<&Arc<str>> = self.stages.iter().map(|(name, _)| name).collect();
        names.sort();
        let twice = names.windows(2).filter(|w| w[0] == w[1]);
        errors.extend(twice.map(|w| ChainError::DuplicateName { node: w[0].clone() }));
        let last = self.stages.len().saturating_sub(1);
        for (i, (name, stage)) in self.stages.iter().enumerate() {
            let role = check_stage(name, stage, &mut errors);
            let place = if i == 0 { Some(Role::Source) } else { (i == last).then_some(Role::Sink) };
            errors.extend(role.and_then(|role| check_place(name, role, place)));
        }
        if self.stages.len() < 2 {
            errors.push(if self.stages.is_empty() { ChainError::NoSource } else { ChainError::NoSink });
        }
        errors
    }

    /// Builds the islands of one run, and its result.
    ///
    /// # Errors
    /// Everything that is wrong with the chain.
    pub fn build(&self, seed: u64) -> Result<(Built, Done<Value>), Vec<ChainError>> {
        let errors = self.check();
        if !errors.is_empty() {
            return Err(errors);
        }
        let (completer, result) = done();
        let (mut b, mut cells, mut completer) = (Builder::new(seed), Vec::new(), Some(completer));
        for (name, stage) in &self.stages {
            cells = add(&mut b, cells, name, stage, &mut completer);
        }
        b.close_dynamic(cells);
        Ok((b.finish(), result))
    }

    /// Runs it on the calling thread to its end, in virtual time with one worker.
    ///
    /// # Errors
    /// Everything that is wrong with the chain.
    pub fn run_local(&self) -> Result<Done<Value>, Vec<ChainError>> {
        let (built, done) = self.build(0)?;
        crate::stream::local::LocalRun::new(built, 1).run();
        Ok(done)
    }
}

fn check_stage(name: &Arc<str>, stage: &Stage, errors: &mut Vec<ChainError>) -> Option<Role> {
    let (kind, params) = match stage {
        Stage::Feed(_) => return Some(Role::Source),
        Stage::Tell(..) => return Some(Role::Sink),
        Stage::Op { kind, params } => (kind, params),
    };
    let Some(op) = find(kind) else {
        errors.push(ChainError::UnknownKind { node: name.clone(), kind: kind.clone() });
        return None;
    };
    let bad = check_all(op.params, params).into_iter();
    errors.extend(bad.map(|e| ChainError::BadParam { node: name.clone(), field: e.key, reason: e.reason }));
    Some(op.role)
}

fn check_place(name: &Arc<str>, role: Role, place: Option<Role>) -> Option<ChainError> {
    match (role, place) {
        (Role::Source, Some(Role::Source)) | (Role::Sink, Some(Role::Sink)) => None,
        (_, Some(Role::Source)) => Some(ChainError::NoSource),
        (_, Some(_)) => Some(ChainError::NoSink),
        (Role::Source | Role::Sink, None) => Some(ChainError::Misplaced { node: name.clone() }),
        (Role::Flow | Role::Boundary, None) => None,
    }
}

type Cells = Vec<Box<dyn DynCell>>;

fn add(
    b: &mut Builder,
    mut cells: Cells,
    name: &Arc<str>,
    stage: &Stage,
    done: &mut Option<Completer<Value>>,
) -> Cells {
    let cell = match stage {
        Stage::Feed(feed) => {
            feed.attach(b.shared().clone(), b.part());
            b.dynamic(name, FeedSource::new(feed.clone()))
        }
        Stage::Tell(f, at_end) => b.dynamic(name, tell(f.clone(), at_end.clone(), done.take())),
        Stage::Op { kind, params } => {
            let Some(op) = find(kind) else { return cells };
            let set = Settings { schema: op.params, params };
            if op.role == Role::Boundary && set.value("enabled") == Value::Bool(false) {
                return cells;
            }
            if op.role == Role::Boundary {
                return b.cut_dynamic(cells, name, set.size("capacity"));
            }
            kernel(b, name, op, &set, done)
        }
    };
    cells.push(cell);
    cells
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
