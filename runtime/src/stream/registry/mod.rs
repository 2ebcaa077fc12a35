//! The operators that can be drawn: name → parameters, ports, documentation and kernel.
//!
//! One table per group of operators serves validation, forms, the palette and building; what a node becomes stands beside it. Every flow and sink that runs a function also has the
//! attribute `work`: what one element costs, as CPU time (`work_ms`) or as a blocking call (`block_ms`).

mod basics;
mod control;
mod elements;
mod junctions;
mod timed;

use std::sync::Arc;

pub(crate) use junctions::junction;

use super::blueprint::Builder;
use super::done::Completer;
use super::interpreter::{DynCell, FromValue, IntoValue, PORTS_MAX};
use super::kernel::Kernel;
use super::ops::timed_request::RunsAs;
use super::ops::worked::{Time, Worked};
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

/// The longest time: 30 days.
const MS_MAX: f64 = 2_592_000_000.0;
const COUNT_MAX: i64 = 1_000_000_000_000;
const OVERFLOWS: &[&str] = &["backpressure", "drop_head", "drop_tail", "drop_buffer", "drop_new", "fail"];

const TIMES: &[&str] = &["constant", "uniform", "exponential"];

/// What all drawn requests have.
const PARALLELISM: ParamSchema = int("parallelism", 4, 1, 100_000, Live::Yes, "requests at a time");
const USES: ParamSchema =
    choice("uses", &["timer", "work"], Live::No, "wait without a worker, or work on one");
const SERVICE: ParamSchema = choice("service", TIMES, Live::No, "how the time is spread around its mean");
const MEAN: ParamSchema = ms("mean_ms", 10.0, 0.0, "mean time of a request");
const FAIL_EVERY: ParamSchema =
    int("fail_every", 0, 0, COUNT_MAX, Live::Yes, "each nth request fails; 0 for never");

pub(crate) const WORK: ParamSchema = ms("work_ms", 0.0, 0.0, "CPU time for each element");
pub(crate) const BLOCK: ParamSchema = ms("block_ms", 0.0, 0.0, "time in a blocking call for each element");

/// Lists all operators, in the order of a palette.
pub fn operators() -> impl Iterator<Item = &'static OpSchema> {
    GROUPS.iter().copied().flatten()
}

const GROUPS: &[&[OpSchema]] =
    &[basics::OPERATORS, junctions::OPERATORS, elements::OPERATORS, timed::OPERATORS, control::OPERATORS];

/// Makes the stage of a linear operator; a sink takes the completer of its result.
pub(crate) fn cell(
    b: &Builder,
    name: &Arc<str>,
    op: &OpSchema,
    set: &Settings,
    done: &mut Option<Completer<Value>>,
) -> Option<Box<dyn DynCell>> {
    basics::cell(b, name, op, set, done)
        .or_else(|| elements::cell(b, name, op, set, done))
        .or_else(|| timed::cell(b, name, op, set))
        .or_else(|| control::cell(b, name, op, set))
}

/// Wraps a kernel in the attribute `work`, if its operator has it.
pub(super) fn worked<K: Kernel>(b: &Builder, name: &Arc<str>, set: &Settings, kernel: K) -> Box<dyn DynCell>
where
    K::In: FromValue,
    K::Out: IntoValue,
{
    if set.schema.iter().any(|p| p.key == "work_ms") {
        let (work, block) = (Time::Constant(set.ms("work_ms")), Time::Constant(set.ms("block_ms")));
        b.dynamic(name, Worked::new(kernel, work, block))
    } else {
        b.dynamic(name, kernel)
    }
}

/// Finds an operator by its name.
///
/// # Examples
/// ```
/// use footlights::stream::registry::{Role, find};
/// assert_eq!(find("buffer").map(|op| op.role), Some(Role::Flow));
/// assert!(find("no_such_thing").is_none());
/// ```
pub fn find(kind: &str) -> Option<&'static OpSchema> {
    operators().find(|op| op.kind == kind)
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
    /// Reads what a request takes.
    pub(crate) fn runs_as(&self) -> RunsAs {
        match self.value("uses").as_text() {
            Some("work") => RunsAs::Task,
            _ => RunsAs::Timer,
        }
    }

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
