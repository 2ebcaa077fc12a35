//! Validation: a document becomes a [`Plan`], or a list of everything that is wrong with it.
//!
//! I1 nothing is half-loaded: there is a plan only if there is no fault.
//! I2 all faults come at once, in the order settings, nodes, edges, streams, each with place and reason.
//! I3 an edge is judged by [`wire_fault`] alone, whether it is read from a file or being dragged.

mod connect;
mod dispatchers;
mod edges;
mod machines;
mod nodes;
mod streams;

use std::collections::BTreeMap;

pub use connect::can_connect;
use edges::wire_fault;

use super::document::{Scenario, VERSION};
use super::error::{DocError, Place};
use super::parse::{EDGES_MAX, NODES_MAX, capped};
use super::plan::{Params, Plan, PlanEdge, PlanNode};
use super::schema::{self, Kind};

/// The longest label, name or description.
pub const LABEL_CHARS_MAX: usize = 2_000;
/// The most virtual workers.
pub const WORKERS_MAX: u16 = 64;

/// Checks a document and resolves it.
///
/// # Errors
/// Everything that is wrong, each with node, port or parameter, and reason.
///
/// # Examples
/// ```
/// use footlights::scenario::{document::Scenario, validate};
/// let text = r#"{"version":1,"seed":7,"workers":2,"edges":[],
///     "nodes":[{"id":"w","kind":"worker","params":{"mean_ms":-3}}]}"#;
/// let errors = validate(&Scenario::parse(text).unwrap()).unwrap_err();
/// assert_eq!(errors[0].to_string(), r#"node "w", parameter "mean_ms": must be 0 or more, not -3"#);
/// ```
pub fn validate(scenario: &Scenario) -> Result<Plan, Vec<DocError>> {
    let mut errors = Vec::new();
    settings(scenario, &mut errors);
    let graph = Graph::new(scenario);
    dispatchers::check(&graph, &mut errors);
    nodes::check(&graph, &mut errors);
    edges::check(&graph, &mut errors);
    let mut plan = graph.plan();
    streams::check(&mut plan, &mut errors);
    if errors.is_empty() {
        machines::check(&plan, &mut errors);
    }
    match errors.is_empty() {
        true => Ok(plan),
        false => Err(capped(errors)),
    }
}

fn settings(s: &Scenario, errors: &mut Vec<DocError>) {
    let mut need = |ok: bool, key: &str, reason: String| {
        if !ok {
            errors.push(DocError::new(Place::setting(key), reason));
        }
    };
    need(s.version == VERSION, "version", format!("must be {VERSION}, not {}", s.version));
    let workers = s.workers;
    need(
        (1..=WORKERS_MAX).contains(&workers),
        "workers",
        format!("must be 1 to {WORKERS_MAX}, not {workers}"),
    );
    let ok = (1..=1_000_000).contains(&s.throughput);
    need(ok, "throughput", format!("must be 1 to 1000000, not {}", s.throughput));
    need((1..=256).contains(&s.batch), "batch", format!("must be 1 to 256, not {}", s.batch));
    for (key, text) in [("name", &s.name), ("about", &s.about)] {
        let n = text.chars().count();
        need(n <= LABEL_CHARS_MAX, key, format!("has {n} characters, {LABEL_CHARS_MAX} at most are allowed"));
    }
    let (n, e) = (s.nodes.len(), s.edges.len());
    need(n <= NODES_MAX, "nodes", format!("has {n} entries, {NODES_MAX} at most are allowed"));
    need(e <= EDGES_MAX, "edges", format!("has {e} entries, {EDGES_MAX} at most are allowed"));
    nodes::values(&schema::SETTINGS, "the system", &s.settings, &Place::setting, errors);
}

/// A document with its ids looked up: the first node of an id counts.
struct Graph<'a> {
    doc: &'a Scenario,
    ids: BTreeMap<&'a str, usize>,
    kinds: Vec<Option<&'static Kind>>,
}

impl<'a> Graph<'a> {
    fn new(doc: &'a Scenario) -> Self {
        let mut ids = BTreeMap::new();
        for (i, n) in doc.nodes.iter().enumerate() {
            ids.entry(n.id.as_str()).or_insert(i);
        }
        Graph { doc, ids, kinds: doc.nodes.iter().map(|n| schema::kind(&n.kind)).collect() }
    }

    fn node(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    fn kind_of(&self, id: &str) -> Option<&'static Kind> {
        self.node(id).and_then(|i| self.kinds[i])
    }

    /// Resolves what can be resolved; complete only if the checks found no fault.
    fn plan(&self) -> Plan {
        let mut places = vec![None; self.doc.nodes.len()];
        let mut nodes = Vec::new();
        for (i, n) in self.doc.nodes.iter().enumerate() {
            let Some(kind) = self.kinds[i].filter(|_| self.node(&n.id) == Some(i)) else { continue };
            places[i] = Some(nodes.len());
            let label = if n.label.is_empty() { &n.id } else { &n.label }.clone();
            let params = Params::resolve(kind.params, &n.params);
            nodes.push((
                n.parent.as_deref(),
                PlanNode {
                    id: n.id.clone(),
                    label,
                    kind,
                    parent: None,
                    dispatcher: n.dispatcher.clone(),
                    params,
                },
            ));
        }
        let place = |id: &str| self.node(id).and_then(|i| places[i]);
        let resolve =
            |(parent, node): (Option<&str>, PlanNode)| PlanNode { parent: parent.and_then(place), ..node };
        Plan {
            name: self.doc.name.clone(),
            seed: self.doc.seed,
            workers: self.doc.workers,
            throughput: self.doc.throughput,
            batch: self.doc.batch,
            dispatchers: dispatchers::resolve(self),
            settings: Params::resolve(&schema::SETTINGS, &self.doc.settings),
            nodes: nodes.into_iter().map(resolve).collect(),
            edges: self.doc.edges.iter().filter_map(|e| self.plan_edge(e, &place)).collect(),
            streams: Vec::new(),
            replies: Vec::new(),
        }
    }

    fn plan_edge(
        &self,
        e: &super::document::Edge,
        place: &dyn Fn(&str) -> Option<usize>,
    ) -> Option<PlanEdge> {
        let from = self.kind_of(&e.from.node)?.port(&e.from.port)?;
        let to = self.kind_of(&e.to.node)?.port(&e.to.port)?;
        let ends = ((place(&e.from.node)?, from.name), (place(&e.to.node)?, to.name));
        Some(PlanEdge { id: e.id.clone(), from: ends.0, to: ends.1, carries: from.carries })
    }
}

/// Tells whether a text may be the id of a node or an edge: 1–64 of `[A-Za-z0-9_-]`.
pub fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
