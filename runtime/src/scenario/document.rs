//! The scenario document, version 1: plain data, read from and written to JSON without loss.
//!
//! Why so plain: the same text is a file, a share link and the playground's undo unit. Parameters stay JSON values here;
//! what they mean is the schema's business, what is wrong with them is validation's.
//! I1 reading and writing again keeps nodes of unknown kinds and all their parameters.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the document that this crate writes.
pub const VERSION: u32 = 1;

/// A row of a list in the document, such as one dispatcher: values by key.
pub type Row = BTreeMap<String, Value>;

/// A document: a graph of nodes and edges, with a seed and the number of virtual workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The document's version; 1.
    pub version: u32,
    /// What a person calls it.
    #[serde(default)]
    pub name: String,
    /// One or two sentences on what to notice.
    #[serde(default)]
    pub about: String,
    /// The seed of every random choice in a run.
    pub seed: u64,
    /// Virtual workers on a Stepper, threads on a Pool: 1 … 64.
    pub workers: u16,
    /// Messages an actor may handle before it goes to the back of the queue: 1 … 1,000,000.
    #[serde(default = "default_throughput")]
    pub throughput: u32,
    /// Stream events that an island may handle in one turn: 1 … 256.
    #[serde(default = "default_batch")]
    pub batch: u32,
    /// Settings of the system by key; what is left out has the schema's default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Value>,
    /// Named dispatchers, which nodes may name as theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dispatchers: Vec<Row>,
    /// The actors, routers, supervisors and stream operators.
    pub nodes: Vec<Node>,
    /// The wires between their ports.
    pub edges: Vec<Edge>,
}

/// One thing on the canvas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Unique in the document: 1–64 of `[A-Za-z0-9_-]`.
    pub id: String,
    /// A kind of the schema, such as `worker` or `map`; unknown kinds are kept, and refused when run.
    pub kind: String,
    /// Shown instead of the id, if not empty; at most 2,000 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The supervisor that this node is a child of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The named dispatcher that runs it; without one it is the system's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatcher: Option<String>,
    /// Position of the centre on the canvas, in pixels at zoom 1.
    #[serde(default)]
    pub x: i32,
    /// Position of the centre on the canvas, in pixels at zoom 1.
    #[serde(default)]
    pub y: i32,
    /// Settings by key; what is left out has the schema's default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
}

/// A wire from an output port to an input port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// Unique in the document.
    pub id: String,
    /// Where it starts.
    pub from: PortRef,
    /// Where it ends.
    pub to: PortRef,
}

/// Names a port of a node; written `node.port` in JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PortRef {
    /// The node's id.
    pub node: String,
    /// The port's name in the schema of the node's kind.
    pub port: String,
}

impl PortRef {
    /// Names the port `port` of the node `node`.
    pub fn new(node: impl Into<String>, port: impl Into<String>) -> Self {
        PortRef { node: node.into(), port: port.into() }
    }
}

impl std::fmt::Display for PortRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.node, self.port)
    }
}

impl From<PortRef> for String {
    fn from(port: PortRef) -> String {
        port.to_string()
    }
}

impl TryFrom<String> for PortRef {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once('.') {
            Some((node, port)) if !node.is_empty() && !port.is_empty() => Ok(PortRef::new(node, port)),
            _ => Err(format!("\"{text}\" is no port: write node.port, such as worker.in")),
        }
    }
}

fn default_throughput() -> u32 {
    64
}

fn default_batch() -> u32 {
    1
}
