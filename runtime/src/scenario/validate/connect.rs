//! The verdict on an edge that is being dragged: the same rules as for a file, one edge at a time.

use std::collections::{BTreeMap, BTreeSet};

use super::super::document::{Edge, PortRef, Scenario};
use super::super::error::short;
use super::super::schema::{Arity, Carries, Direction, Port};
use super::{Graph, wire_fault};

/// Tells whether an edge may be drawn from `from` to `to`, or why not.
///
/// # Errors
/// One sentence for the person who drags.
///
/// # Examples
/// ```
/// use footlights::scenario::{can_connect, document::{PortRef, Scenario}};
/// let text = r#"{"version":1,"seed":1,"workers":1,"edges":[],
///     "nodes":[{"id":"s","kind":"source"},{"id":"m","kind":"map"},{"id":"c","kind":"collector"}]}"#;
/// let doc = Scenario::parse(text).unwrap();
/// assert!(can_connect(&doc, &PortRef::new("s", "out"), &PortRef::new("c", "in")).is_ok());
/// let why = can_connect(&doc, &PortRef::new("s", "out"), &PortRef::new("m", "in")).unwrap_err();
/// assert!(why.contains("put a to_stream between them"));
/// ```
pub fn can_connect(scenario: &Scenario, from: &PortRef, to: &PortRef) -> Result<(), String> {
    let graph = Graph::new(scenario);
    let (start, end) = (find(&graph, from)?, find(&graph, to)?);
    if let Some(reason) = wire_fault(start, end) {
        return Err(reason);
    }
    if scenario.edges.iter().any(|e| e.from == *from && e.to == *to) {
        return Err("the two ports are already joined".into());
    }
    has_room(start, scenario.edges.iter().any(|e| e.from == *from))?;
    has_room(end, scenario.edges.iter().any(|e| e.to == *to))?;
    match start.carries {
        Carries::Message => no_circle_of_routers(&graph, &from.node, &to.node),
        Carries::Stream => no_circle(&graph, &from.node, &to.node),
    }
}

fn find(graph: &Graph<'_>, end: &PortRef) -> Result<&'static Port, String> {
    let node = graph.node(&end.node).ok_or_else(|| format!("there is no node {}", short(&end.node)))?;
    let unknown = || format!("the kind {} is unknown", short(&graph.doc.nodes[node].kind));
    let kind = graph.kinds[node].ok_or_else(unknown)?;
    let port = kind.port(&end.port);
    port.ok_or_else(|| format!("a {} has no port {}", kind.name, short(&end.port)))
}

fn has_room(port: &Port, taken: bool) -> Result<(), String> {
    match (port.arity, taken, port.direction, port.carries) {
        (Arity::Many, ..) | (_, false, ..) => Ok(()),
        (.., Direction::Out, Carries::Message) => {
            Err("the output is already wired: put a router behind it to reach several nodes".into())
        }
        (.., Direction::Out, Carries::Stream) => Err("the output is already wired".into()),
        (.., Direction::In, _) => Err("the input is already wired".into()),
    }
}

/// Refuses an edge that would close a circle of routers: what enters it would go round for ever.
fn no_circle_of_routers(graph: &Graph<'_>, from: &str, to: &str) -> Result<(), String> {
    let is_router = |id: &str| graph.kind_of(id).is_some_and(|k| k.name == "router");
    if !is_router(from) {
        return Ok(());
    }
    let (mut open, mut seen) = (vec![to], BTreeSet::new());
    while let Some(at) = open.pop().filter(|at| is_router(at)) {
        if at == from {
            return Err("this would close a circle of routers".into());
        }
        if seen.insert(at) {
            let next = graph.doc.edges.iter().filter(|e| e.from.node == at).map(|e| e.to.node.as_str());
            open.extend(next.filter(|id| is_router(id)));
        }
    }
    Ok(())
}

/// Refuses an edge that would close a circle of stream nodes.
fn no_circle(graph: &Graph<'_>, from: &str, to: &str) -> Result<(), String> {
    let is_stream = |e: &&Edge| find(graph, &e.from).is_ok_and(|p| p.carries == Carries::Stream);
    let next: BTreeMap<&str, &str> = graph
        .doc
        .edges
        .iter()
        .filter(is_stream)
        .map(|e| (e.from.node.as_str(), e.to.node.as_str()))
        .collect();
    let mut at = Some(to);
    // One look at each node of the longest path, and one at its open end.
    for _ in 0..next.len() + 2 {
        match at {
            None => return Ok(()),
            Some(node) if node == from => break,
            Some(node) => at = next.get(node).copied(),
        }
    }
    Err("this would close a circle in the stream".into())
}
