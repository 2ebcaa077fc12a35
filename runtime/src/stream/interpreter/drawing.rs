//! `Drawing`: the blueprint of a drawn stream: nodes by kind and wires between them, checked as a whole and built as often
//! as wanted.
//!
//! Maximal runs of linear nodes become one [`DynChain`](super::DynChain); a boundary cuts such a run into two islands.
//!
//! I1 all errors are found at once, each with its node; nothing is half-built.
//! I2 the stages' names are the drawn nodes' ids: snapshots and live changes go by them.
//! I3 the wires of a junction have the order in which they were drawn: the first is input 0, or output 0.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::stage::{Stage, add_stage, check_stage};
use crate::stream::blueprint::{Builder, Built, Outlet};
use crate::stream::done::Done;
use crate::stream::graph::EdgeId;
use crate::stream::kernel::Cx;
use crate::stream::ops::feed::Feed;
use crate::stream::params::{Params, Settings};
use crate::stream::registry::{Role, find, junction};
use crate::stream::signal::End;
use crate::stream::value::Value;
use crate::sync::Mutex;

/// The most nodes of one drawing.
pub const NODES_MAX: usize = 10_000;
/// The most wires of one drawing.
pub const WIRES_MAX: usize = 40_000;
/// The most wires at one side of a junction.
pub const PORTS_MAX: usize = 512;

/// Why a drawn stream cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrawError {
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
    /// There is no node, or the first of a chain is no source.
    NoSource,
    /// The last stage of a chain is no sink.
    NoSink,
    /// A source, sink or junction stands between the stages of a chain.
    Misplaced {
        /// The node.
        node: Arc<str>,
    },
    /// Two nodes have one name.
    DuplicateName {
        /// The name.
        node: Arc<str>,
    },
    /// A wire names a node that is not there.
    NoSuchNode {
        /// The name.
        node: Arc<str>,
    },
    /// A wire goes into a source, or out of a sink.
    NoSuchPort {
        /// The node.
        node: Arc<str>,
        /// `in` or `out`.
        port: &'static str,
    },
    /// Nothing is wired to a port.
    Unconnected {
        /// The node.
        node: Arc<str>,
        /// `in` or `out`.
        port: &'static str,
    },
    /// Several wires are at a port that takes one.
    WiredTwice {
        /// The node.
        node: Arc<str>,
        /// `in` or `out`.
        port: &'static str,
    },
    /// The node stands in a circle that nothing enters.
    Circle {
        /// The node.
        node: Arc<str>,
    },
    /// There are more than 10,000 nodes or 40,000 wires, or more than 512 wires at a junction.
    TooLarge,
}

impl fmt::Display for DrawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DrawError::UnknownKind { node, kind } => write!(f, "{node}: there is no operator {kind}"),
            DrawError::BadParam { node, field, reason } => write!(f, "{node}: {field}: {reason}"),
            DrawError::NoSource => write!(f, "the stream does not begin with a source"),
            DrawError::NoSink => write!(f, "the stream does not end with a sink"),
            DrawError::Misplaced { node } => write!(f, "{node}: it cannot stand inside a chain"),
            DrawError::DuplicateName { node } => write!(f, "{node}: two nodes have this name"),
            DrawError::NoSuchNode { node } => write!(f, "{node}: a wire names it, but there is no such node"),
            DrawError::NoSuchPort { node, port } => write!(f, "{node}: it has no port {port}"),
            DrawError::Unconnected { node, port } => write!(f, "{node}: nothing is wired to its port {port}"),
            DrawError::WiredTwice { node, port } => write!(f, "{node}: its port {port} takes one wire"),
            DrawError::Circle { node } => write!(f, "{node}: it stands in a circle that nothing enters"),
            DrawError::TooLarge => write!(
                f,
                "more than {NODES_MAX} nodes, {WIRES_MAX} wires, or {PORTS_MAX} wires at a junction"
            ),
        }
    }
}

impl std::error::Error for DrawError {}

/// The blueprint of a drawn stream.
///
/// # Examples
/// ```
/// use footlights::stream::{Drawing, Params, Value};
/// let set = |key: &str, n: i64| Params::from([(key.to_string(), Value::from(n))]);
/// let drawing = Drawing::new()
///     .op("numbers", "range", set("count", 10))
///     .op("split", "broadcast", Params::new())
///     .op("tens", "map", Params::from([("op".into(), Value::from("multiply")), ("operand".into(), Value::from(10))]))
///     .op("pairs", "zip", Params::new())
///     .op("sum", "fold", Params::new())
///     .wire("numbers", "split")
///     .wire("split", "pairs")
///     .wire("split", "tens")
///     .wire("tens", "pairs")
///     .wire("pairs", "sum");
/// let results = drawing.run_local().unwrap();
/// assert_eq!(results[0].1.take(), Some(Ok(Value::from(495))));
/// ```
#[derive(Clone, Default)]
pub struct Drawing {
    nodes: Vec<(Arc<str>, Stage)>,
    wires: Vec<(Arc<str>, Arc<str>)>,
}

/// The results of the sinks of one run, by the sinks' names.
pub type Results = Vec<(Arc<str>, Done<Value>)>;

impl Drawing {
    /// Makes an empty drawing.
    pub fn new() -> Self {
        Drawing::default()
    }

    /// Adds an operator of the registry.
    pub fn op(mut self, name: &str, kind: &str, params: Params) -> Self {
        self.nodes.push((name.into(), Stage::Op { kind: kind.into(), params }));
        self
    }

    /// Adds a source that is fed from outside.
    pub fn feed(mut self, name: &str, feed: Feed<Value>) -> Self {
        self.nodes.push((name.into(), Stage::Feed(feed)));
        self
    }

    /// Adds a sink that calls `f` for each element and `at_end` once: the bridge to an actor.
    pub fn tell(
        mut self,
        name: &str,
        f: impl FnMut(&mut Cx, Value) + Send + 'static,
        at_end: impl FnMut(&mut Cx, &End) + Send + 'static,
    ) -> Self {
        let tell = Stage::Tell(Arc::new(Mutex::new(Box::new(f))), Arc::new(Mutex::new(Box::new(at_end))));
        self.nodes.push((name.into(), tell));
        self
    }

    /// Wires an output to an input; a junction's wires are numbered in the order of these calls.
    pub fn wire(mut self, from: &str, to: &str) -> Self {
        self.wires.push((from.into(), to.into()));
        self
    }

    /// Says where each node may stand.
    pub(super) fn roles(&self) -> Vec<(&Arc<str>, Option<Role>)> {
        self.nodes.iter().map(|(name, stage)| (name, stage.role())).collect()
    }

    /// Finds what is wrong with the nodes, each by itself.
    pub(super) fn check_nodes(&self) -> Vec<DrawError> {
        if self.nodes.len() > NODES_MAX || self.wires.len() > WIRES_MAX {
            return vec![DrawError::TooLarge];
        }
        let mut names: Vec<&Arc<str>> = self.nodes.iter().map(|(name, _)| name).collect();
        names.sort();
        let twice = names.windows(2).filter(|pair| pair[0] == pair[1]);
        let mut errors: Vec<DrawError> =
            twice.map(|pair| DrawError::DuplicateName { node: pair[0].clone() }).collect();
        self.nodes.iter().for_each(|(name, stage)| check_stage(name, stage, &mut errors));
        errors
    }

    /// Finds everything that is wrong with the drawing.
    pub fn check(&self) -> Vec<DrawError> {
        let mut errors = self.check_nodes();
        if errors.contains(&DrawError::TooLarge) {
            return errors;
        }
        if self.nodes.is_empty() {
            return vec![DrawError::NoSource];
        }
        let places = self.places();
        let ends = self.wires.iter().flat_map(|(from, to)| [from, to]);
        let missing = ends.filter(|name| !places.contains_key(*name));
        errors.extend(missing.map(|name| DrawError::NoSuchNode { node: name.clone() }));
        if !errors.is_empty() {
            return errors;
        }
        let wiring = Wiring::of(self, &places);
        for (at, (name, stage)) in self.nodes.iter().enumerate() {
            let role = stage.role().unwrap_or(Role::Flow);
            let sides =
                [("in", wiring.ins[at].len(), role.inputs()), ("out", wiring.outs[at].len(), role.outputs())];
            errors.extend(
                sides.into_iter().filter_map(|(port, wires, takes)| check_port(name, port, wires, takes)),
            );
        }
        if errors.is_empty() {
            let reached: Vec<usize> = wiring.runs(self).into_iter().flatten().collect();
            let linear = |at: &usize| !is_junction(&self.nodes[*at].1);
            let lost = (0..self.nodes.len()).filter(linear).filter(|at| !reached.contains(at));
            errors.extend(lost.map(|at| DrawError::Circle { node: self.nodes[at].0.clone() }));
        }
        errors
    }

    fn places(&self) -> BTreeMap<Arc<str>, usize> {
        self.nodes.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect()
    }

    /// Builds the islands of one run, and the results of its sinks, in the order in which they were drawn.
    ///
    /// # Errors
    /// Everything that is wrong with the drawing.
    pub fn build(&self, seed: u64) -> Result<(Built, Results), Vec<DrawError>> {
        let errors = self.check();
        if !errors.is_empty() {
            return Err(errors);
        }
        let wiring = Wiring::of(self, &self.places());
        let (mut b, mut results) = (Builder::new(seed), BTreeMap::new());
        let (mut ins, mut outs) =
            (BTreeMap::<usize, Vec<EdgeId>>::new(), BTreeMap::<usize, Vec<Outlet>>::new());
        for run in wiring.runs(self) {
            let (first, last) = (run[0], run[run.len() - 1]);
            let mut cells = Vec::new();
            if !wiring.ins[first].is_empty() {
                ins.insert(first, vec![b.inlet::<Value>(self.nodes[first].0.clone())]);
            }
            for &at in &run {
                let (name, stage) = &self.nodes[at];
                let (more, result) = add_stage(&mut b, cells, name, stage);
                cells = more;
                results.extend(result.map(|done| (at, (name.clone(), done))));
            }
            match wiring.outs[last].is_empty() {
                true => b.close_dynamic(cells),
                false => {
                    outs.insert(last, vec![b.open_dynamic(cells, self.nodes[last].0.clone())]);
                }
            }
        }
        for (at, (name, stage)) in self.nodes.iter().enumerate().filter(|(_, (_, stage))| is_junction(stage))
        {
            let ports = (wiring.ins[at].len(), wiring.outs[at].len());
            let Stage::Op { kind, params } = stage else { continue };
            let Some(op) = find(kind) else { continue };
            let set = Settings { schema: op.params, params };
            let (edges, outlets) = junction(&mut b, name, op, &set, ports);
            ins.insert(at, edges);
            outs.insert(at, outlets);
        }
        self.connect(&mut b, &wiring, &ins, outs);
        Ok((b.finish(), results.into_values().collect()))
    }

    /// Wires the runs and the junctions.
    fn connect(
        &self,
        b: &mut Builder,
        wiring: &Wiring,
        ins: &BTreeMap<usize, Vec<EdgeId>>,
        outs: BTreeMap<usize, Vec<Outlet>>,
    ) {
        for (from, outlets) in outs {
            for (outlet, &(to, input)) in outlets.into_iter().zip(&wiring.outs[from]) {
                if let Some(edge) = ins.get(&to).and_then(|edges| edges.get(input)) {
                    b.wire(outlet, *edge);
                }
            }
        }
    }

    /// Runs it on the calling thread to its end, in virtual time with one worker.
    ///
    /// # Errors
    /// Everything that is wrong with the drawing.
    pub fn run_local(&self) -> Result<Results, Vec<DrawError>> {
        let (built, results) = self.build(0)?;
        crate::stream::local::LocalRun::new(built, 1).run();
        Ok(results)
    }
}

fn is_junction(stage: &Stage) -> bool {
    matches!(stage.role(), Some(Role::FanIn | Role::FanOut))
}

fn check_port(node: &Arc<str>, port: &'static str, wires: usize, takes: usize) -> Option<DrawError> {
    let node = node.clone();
    match (wires, takes) {
        (0, 0) => None,
        (_, 0) => Some(DrawError::NoSuchPort { node, port }),
        (0, _) => Some(DrawError::Unconnected { node, port }),
        (2.., 1) => Some(DrawError::WiredTwice { node, port }),
        (n, _) if n > PORTS_MAX => Some(DrawError::TooLarge),
        _ => None,
    }
}

/// The wires of a drawing, looked up by node: (the node on the other side, the number of this wire there).
struct Wiring {
    ins: Vec<Vec<(usize, usize)>>,
    outs: Vec<Vec<(usize, usize)>>,
}

impl Wiring {
    fn of(drawing: &Drawing, places: &BTreeMap<Arc<str>, usize>) -> Self {
        let n = drawing.nodes.len();
        let mut wiring = Wiring { ins: vec![Vec::new(); n], outs: vec![Vec::new(); n] };
        for (from, to) in &drawing.wires {
            let (Some(&from), Some(&to)) = (places.get(from), places.get(to)) else { continue };
            let (output, input) = (wiring.outs[from].len(), wiring.ins[to].len());
            wiring.outs[from].push((to, input));
            wiring.ins[to].push((from, output));
        }
        wiring
    }

    /// Lists the maximal runs of linear nodes, each from upstream, in the order of their first nodes.
    fn runs(&self, drawing: &Drawing) -> Vec<Vec<usize>> {
        let linear = |at: usize| !is_junction(&drawing.nodes[at].1);
        let begins = |at: &usize| linear(*at) && self.ins[*at].iter().all(|(from, _)| !linear(*from));
        let follow = |first: usize| {
            let next = |&at: &usize| self.outs[at].first().map(|(to, _)| *to).filter(|&to| linear(to));
            std::iter::successors(Some(first), next).collect()
        };
        (0..drawing.nodes.len()).filter(begins).map(follow).collect()
    }
}
