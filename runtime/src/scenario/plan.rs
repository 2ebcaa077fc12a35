//! A validated document: ids resolved to indices, defaults filled in, streams told apart.
//!
//! Only [`super::validate()`] makes a plan, so whoever holds one need not check again.
//! I1 every index in a plan is in range; I2 every parameter of the kind has a value within its bounds.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::schema::{Carries, Kind, Param, ParamType};

/// A document that can be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The document's name.
    pub name: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// Virtual workers, or threads.
    pub workers: u16,
    /// Messages per activation.
    pub throughput: u32,
    /// Stream events per turn.
    pub batch: u32,
    /// Settings of the system, defaults filled in.
    pub settings: Params,
    /// Named dispatchers in the order of the document, defaults filled in.
    pub dispatchers: Vec<Params>,
    /// Nodes in the order of the document.
    pub nodes: Vec<PlanNode>,
    /// Edges in the order of the document.
    pub edges: Vec<PlanEdge>,
    /// Streams: what hangs together by stream edges.
    pub streams: Vec<StreamPlan>,
    /// Edges that are not drawn: (from a node that replies, to the one that asked).
    pub replies: Vec<(usize, usize)>,
}

/// A stream of a plan.
#[derive(Clone, Debug, Default)]
pub struct StreamPlan {
    /// Its nodes, each behind what feeds it where that is possible.
    pub nodes: Vec<usize>,
    /// Its edges, in the order of the document.
    pub edges: Vec<usize>,
}

/// A node of a plan.
#[derive(Clone, Debug)]
pub struct PlanNode {
    /// The document's id.
    pub id: String,
    /// The label, or the id if it is empty.
    pub label: String,
    /// Its kind.
    pub kind: &'static Kind,
    /// The index of its supervisor.
    pub parent: Option<usize>,
    /// The name of the dispatcher that runs it, if that is not the system's own.
    pub dispatcher: Option<String>,
    /// All parameters, defaults filled in.
    pub params: Params,
}

/// An edge of a plan.
#[derive(Clone, Debug)]
pub struct PlanEdge {
    /// The document's id.
    pub id: String,
    /// Node and port where it starts.
    pub from: (usize, &'static str),
    /// Node and port where it ends.
    pub to: (usize, &'static str),
    /// What it carries.
    pub carries: Carries,
}

impl Plan {
    /// Finds a node by id.
    pub fn node(&self, id: &str) -> Option<usize> {
        self.nodes.iter().position(|n| n.id == id)
    }

    /// Tells whether a node cuts its stream: what is above it runs as an island of its own.
    pub fn cuts(&self, node: usize) -> bool {
        let n = &self.nodes[node];
        n.kind.name == "async_boundary" && n.params.flag("enabled")
    }

    /// Tells whether a node is a router: of others, or of workers that it makes.
    pub fn is_router(&self, node: usize) -> bool {
        matches!(self.nodes[node].kind.name, "router" | "pool")
    }

    /// Tells whether a router asks several routees for the first answer.
    pub fn asks(&self, node: usize) -> bool {
        let logic = self.nodes[node].params.text("logic");
        self.is_router(node) && matches!(logic, "scatter_gather_first" | "tail_chopping")
    }

    /// Tells whether a router needs an actor in front of it: it is a routee itself, or somebody has to ask.
    pub fn has_door(&self, node: usize) -> bool {
        let is_routee =
            || self.edges.iter().any(|e| e.to.0 == node && self.nodes[e.from.0].kind.name == "router");
        self.is_router(node) && (self.asks(node) || is_routee())
    }

    /// Lists, for each node, the edges that leave it, in the order of the document.
    pub fn outgoing(&self) -> Vec<Vec<usize>> {
        let mut outgoing = vec![Vec::new(); self.nodes.len()];
        self.edges.iter().enumerate().for_each(|(i, e)| outgoing[e.from.0].push(i));
        outgoing
    }
}

/// The values of a node's parameters, by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    values: BTreeMap<&'static str, Value>,
    rows: BTreeMap<&'static str, Vec<Params>>,
}

impl Params {
    /// Takes the values that are written and fills in the defaults; unknown keys are left out.
    pub fn resolve(params: &'static [Param], written: &BTreeMap<String, Value>) -> Self {
        Params::from(params, &|key| written.get(key).cloned())
    }

    fn from(params: &'static [Param], written: &dyn Fn(&str) -> Option<Value>) -> Self {
        let mut resolved = Params::default();
        for p in params {
            let value = written(p.key).unwrap_or_else(|| p.default.to_json());
            if let (ParamType::List { columns, .. }, Some(rows)) = (p.ty, value.as_array()) {
                let row = |row: &Value| Params::from(columns, &|key| row.get(key).cloned());
                resolved.rows.insert(p.key, rows.iter().map(row).collect());
            }
            resolved.values.insert(p.key, value);
        }
        resolved
    }

    /// Replaces a value that the schema has checked; lists are replaced by a new run alone.
    pub fn set(&mut self, key: &'static str, value: Value) {
        self.values.insert(key, value);
    }

    /// Lists keys and values in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(k, v)| (*k, v))
    }

    /// Reads the rows of a list; none where the kind has no such list.
    pub fn rows(&self, key: &str) -> &[Params] {
        self.rows.get(key).map_or(&[], Vec::as_slice)
    }

    /// Reads a whole number; 0 where the kind has no such parameter.
    pub fn int(&self, key: &str) -> i64 {
        self.values.get(key).and_then(Value::as_i64).unwrap_or(0)
    }

    /// Reads a whole number that is never negative.
    pub fn count(&self, key: &str) -> u64 {
        u64::try_from(self.int(key)).unwrap_or(0)
    }

    /// Reads yes or no.
    pub fn flag(&self, key: &str) -> bool {
        self.values.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Reads a choice or a text.
    pub fn text(&self, key: &str) -> &str {
        self.values.get(key).and_then(Value::as_str).unwrap_or("")
    }

    /// Reads milliseconds, to the nanosecond.
    pub fn millis(&self, key: &str) -> Duration {
        Duration::from_nanos(self.scaled(key, 1e6))
    }

    /// Reads a rate in events per second as the time between two of them, to the nanosecond; a rate of 0 never comes.
    pub fn period(&self, key: &str) -> Duration {
        match self.scaled(key, 1e6) {
            0 => Duration::MAX,
            micro => Duration::from_nanos((1_000_000_000_000_000 / micro).max(1)),
        }
    }

    /// Reads percent as parts per million.
    pub fn per_million(&self, key: &str) -> u32 {
        u32::try_from(self.scaled(key, 1e4)).unwrap_or(u32::MAX)
    }

    /// The one place where a number of the document becomes an integer: multiplied once, rounded once, the same everywhere.
    fn scaled(&self, key: &str, factor: f64) -> u64 {
        let x = self.values.get(key).and_then(Value::as_f64).unwrap_or(0.0);
        (x * factor).round() as u64
    }
}
