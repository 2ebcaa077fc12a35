//! Edits of the document: small operations, each with its inverse, collected into steps.
//!
//! A [`Draft`] is the only way to change a document: it applies each operation to its own copy and records it, so that a
//! step cannot miss a change. I1 applying a step and then its inverse gives the same document, byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use footlights::scenario::document::{Edge, Node, Row, Scenario};

/// One invertible operation; places are those at the moment it is applied.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Puts a node in at a place.
    InsertNode(usize, Box<Node>),
    /// Takes the node at a place out.
    RemoveNode(usize, Box<Node>),
    /// Changes the node at a place.
    SetNode {
        /// Its place.
        at: usize,
        /// What it was.
        before: Box<Node>,
        /// What it becomes.
        after: Box<Node>,
    },
    /// Puts an edge in at a place.
    InsertEdge(usize, Box<Edge>),
    /// Takes the edge at a place out.
    RemoveEdge(usize, Box<Edge>),
    /// Changes the settings of the system.
    SetRun {
        /// The settings before.
        before: Box<RunSettings>,
        /// The settings after.
        after: Box<RunSettings>,
    },
    /// Exchanges the whole document.
    Replace {
        /// The old one.
        before: Rc<Scenario>,
        /// The new one.
        after: Rc<Scenario>,
    },
}

impl Op {
    fn inverse(&self) -> Op {
        match self.clone() {
            Op::InsertNode(at, node) => Op::RemoveNode(at, node),
            Op::RemoveNode(at, node) => Op::InsertNode(at, node),
            Op::SetNode { at, before, after } => Op::SetNode { at, before: after, after: before },
            Op::InsertEdge(at, edge) => Op::RemoveEdge(at, edge),
            Op::RemoveEdge(at, edge) => Op::InsertEdge(at, edge),
            Op::SetRun { before, after } => Op::SetRun { before: after, after: before },
            Op::Replace { before, after } => Op::Replace { before: after, after: before },
        }
    }

    fn apply(&self, doc: &mut Scenario) {
        match self {
            Op::InsertNode(at, node) => doc.nodes.insert(*at, (**node).clone()),
            Op::RemoveNode(at, _) => drop(doc.nodes.remove(*at)),
            Op::SetNode { at, after, .. } => doc.nodes[*at] = (**after).clone(),
            Op::InsertEdge(at, edge) => doc.edges.insert(*at, (**edge).clone()),
            Op::RemoveEdge(at, _) => drop(doc.edges.remove(*at)),
            Op::SetRun { after, .. } => after.put_into(doc),
            Op::Replace { after, .. } => *doc = (**after).clone(),
        }
    }

    /// Tells whether only where things stand and what they are called differs.
    fn only_looks(&self) -> bool {
        match self {
            Op::SetNode { before, after, .. } => {
                let runs = |node: &Node| (node.kind.clone(), node.parent.clone(), node.dispatcher.clone());
                runs(before) == runs(after) && before.params == after.params
            }
            _ => false,
        }
    }
}

/// What a document says of the system as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// The seed of every random choice.
    pub seed: u64,
    /// Virtual workers.
    pub workers: u16,
    /// Messages per activation.
    pub throughput: u32,
    /// Stream events per turn.
    pub batch: u32,
    /// Further settings by key.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// Named dispatchers.
    pub dispatchers: Vec<Row>,
}

impl RunSettings {
    fn of(doc: &Scenario) -> Self {
        RunSettings {
            seed: doc.seed,
            workers: doc.workers,
            throughput: doc.throughput,
            batch: doc.batch,
            settings: doc.settings.clone(),
            dispatchers: doc.dispatchers.clone(),
        }
    }

    fn put_into(&self, doc: &mut Scenario) {
        (doc.seed, doc.workers, doc.throughput, doc.batch) =
            (self.seed, self.workers, self.throughput, self.batch);
        doc.settings.clone_from(&self.settings);
        doc.dispatchers.clone_from(&self.dispatchers);
    }
}

/// Operations that a person sees as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    ops: Vec<Op>,
}

/// A parameter that a step sets: node, key and the new value (`None` is the schema's default).
pub type ParamChange = (String, String, Option<serde_json::Value>);

impl Step {
    /// Gives the step that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Step {
        Step { ops: self.ops.iter().rev().map(Op::inverse).collect() }
    }

    /// Applies every operation in order.
    pub fn apply(&self, doc: &mut Scenario) {
        self.ops.iter().for_each(|op| op.apply(doc));
    }

    /// Tells whether the step changes nothing.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Lists the parameters that it sets, if it does nothing else than that, moves and labels; else `None`.
    pub fn param_changes(&self) -> Option<Vec<ParamChange>> {
        let mut changes = Vec::new();
        for op in &self.ops {
            match op {
                Op::SetNode { before, after, .. }
                    if before.parent == after.parent
                        && before.kind == after.kind
                        && before.dispatcher == after.dispatcher =>
                {
                    changes.extend(changed_params(before, after));
                }
                op if op.only_looks() => {}
                _ => return None,
            }
        }
        Some(changes)
    }

    /// Lets a later step of the same gesture take the place of this one, where both change one and the same node.
    pub fn absorb(&mut self, later: &Step) -> bool {
        match (self.ops.as_mut_slice(), later.ops.as_slice()) {
            ([Op::SetNode { at, after, .. }], [Op::SetNode { at: later_at, after: later_after, .. }])
                if at == later_at =>
            {
                *after = later_after.clone();
                true
            }
            _ => false,
        }
    }
}

fn changed_params(before: &Node, after: &Node) -> Vec<ParamChange> {
    let keys: BTreeSet<&String> = before.params.keys().chain(after.params.keys()).collect();
    keys.into_iter()
        .filter(|key| before.params.get(*key) != after.params.get(*key))
        .map(|key| (after.id.clone(), key.clone(), after.params.get(key).cloned()))
        .collect()
}

/// A document under change, and what has been done to it.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The document so far.
    pub doc: Scenario,
    step: Step,
}

impl Draft {
    /// Starts from a copy of the document.
    pub fn of(doc: &Scenario) -> Draft {
        Draft { doc: doc.clone(), step: Step::default() }
    }

    /// Hands out the changed document and the step that leads to it.
    pub fn finish(self) -> (Scenario, Step) {
        (self.doc, self.step)
    }

    fn push(&mut self, op: Op) {
        op.apply(&mut self.doc);
        self.step.ops.push(op);
    }

    /// Puts a node at the end.
    pub fn insert_node(&mut self, node: Node) {
        self.push(Op::InsertNode(self.doc.nodes.len(), Box::new(node)));
    }

    /// Puts an edge at the end.
    pub fn insert_edge(&mut self, edge: Edge) {
        self.push(Op::InsertEdge(self.doc.edges.len(), Box::new(edge)));
    }

    /// Takes an edge out, if it is there.
    pub fn remove_edge(&mut self, id: &str) {
        if let Some(at) = self.doc.edges.iter().position(|e| e.id == id) {
            self.push(Op::RemoveEdge(at, Box::new(self.doc.edges[at].clone())));
        }
    }

    /// Takes a node out, its edges with it; its children go to its own parent.
    pub fn remove_node(&mut self, id: &str) {
        let Some(node) = self.doc.nodes.iter().find(|n| n.id == id) else { return };
        let grandparent = node.parent.clone();
        let orphans: Vec<String> =
            self.doc.nodes.iter().filter(|n| n.parent.as_deref() == Some(id)).map(|n| n.id.clone()).collect();
        for orphan in orphans {
            self.change_node(&orphan, |node| node.parent.clone_from(&grandparent));
        }
        let touching = |e: &&Edge| e.from.node == id || e.to.node == id;
        let edges: Vec<String> = self.doc.edges.iter().filter(touching).map(|e| e.id.clone()).collect();
        for edge in edges {
            self.remove_edge(&edge);
        }
        if let Some(at) = self.doc.nodes.iter().position(|n| n.id == id) {
            self.push(Op::RemoveNode(at, Box::new(self.doc.nodes[at].clone())));
        }
    }

    /// Changes a node, if it is there and the change is one.
    pub fn change_node(&mut self, id: &str, change: impl FnOnce(&mut Node)) {
        let Some(at) = self.doc.nodes.iter().position(|n| n.id == id) else { return };
        let before = Box::new(self.doc.nodes[at].clone());
        let mut after = before.clone();
        change(&mut after);
        if before != after {
            self.push(Op::SetNode { at, before, after });
        }
    }

    /// Changes the settings of the system, if the change is one.
    pub fn change_run(&mut self, change: impl FnOnce(&mut RunSettings)) {
        let before = RunSettings::of(&self.doc);
        let mut after = before.clone();
        change(&mut after);
        if before != after {
            self.push(Op::SetRun { before: Box::new(before), after: Box::new(after) });
        }
    }

    /// Puts another document in the place of this one.
    pub fn replace(&mut self, after: Scenario) {
        if after != self.doc {
            self.push(Op::Replace { before: Rc::new(self.doc.clone()), after: Rc::new(after) });
        }
    }
}

/// Makes an id that no node has: the kind and the lowest free number.
pub fn fresh_node_id(doc: &Scenario, kind: &str) -> String {
    fresh(kind, |id| doc.nodes.iter().any(|n| n.id == id))
}

/// Makes an id that no edge has.
pub fn fresh_edge_id(doc: &Scenario) -> String {
    fresh("e", |id| doc.edges.iter().any(|e| e.id == id))
}

fn fresh(stem: &str, taken: impl Fn(&str) -> bool) -> String {
    (1_u32..).map(|n| format!("{stem}-{n}")).find(|id| !taken(id)).unwrap_or_else(|| stem.to_owned())
}
