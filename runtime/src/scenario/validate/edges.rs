//! Checks of edges: both ends exist, fit each other, and no port is wired more often than it may be.

use std::collections::{BTreeMap, BTreeSet};

use super::super::document::{Edge, Node, PortRef};
use super::super::error::{DocError, Place, UNWIRED, short};
use super::super::schema::{Arity, Carries, Direction, Need, Port};
use super::super::{plan::Params, schema::Kind};
use super::{Graph, is_id};

pub(super) fn check(graph: &Graph<'_>, errors: &mut Vec<DocError>) {
    let mut seen = BTreeSet::new();
    let mut wired: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut pairs = BTreeSet::new();
    for edge in &graph.doc.edges {
        identity(edge, &mut seen, errors);
        if let Err(error) = ends_fit(graph, edge) {
            errors.push(error);
            continue;
        }
        if !pairs.insert((&edge.from, &edge.to)) {
            let reason = format!("{} and {} are already joined", edge.from, edge.to);
            errors.push(DocError::new(Place::edge(&edge.id), reason).mend("remove one of the two edges"));
            continue;
        }
        for end in [&edge.from, &edge.to] {
            *wired.entry((&end.node, &end.port)).or_default() += 1;
        }
    }
    for (i, node) in graph.doc.nodes.iter().enumerate() {
        if let Some(kind) = graph.kinds[i].filter(|_| graph.node(&node.id) == Some(i)) {
            ports(kind, node, &wired, errors);
        }
    }
}

fn identity<'a>(edge: &'a Edge, seen: &mut BTreeSet<&'a str>, errors: &mut Vec<DocError>) {
    let fault = |reason: &str| DocError::new(Place::edge(&edge.id), reason);
    if !is_id(&edge.id) {
        errors.push(fault("has no proper id").mend("use 1 to 64 of the characters A-Z a-z 0-9 _ -"));
    } else if !seen.insert(&edge.id) {
        errors.push(fault("two edges have this id").mend("give one of them another id"));
    }
}

fn ends_fit(graph: &Graph<'_>, edge: &Edge) -> Result<(), DocError> {
    let at = |place: Place| Place { edge: Some(edge.id.as_str().into()), ..place };
    for end in [&edge.from, &edge.to] {
        let Some(index) = graph.node(&end.node) else {
            let reason = format!("it leads to the node {}, which does not exist", short(&end.node));
            return Err(DocError::new(at(Place::default()), reason).mend("remove the edge, or add the node"));
        };
        if graph.kinds[index].is_some_and(|k| k.port(&end.port).is_none()) {
            return Err(no_such_port(graph.kinds[index], end, at(Place::port(&end.node, &end.port))));
        }
    }
    match (find(graph, &edge.from), find(graph, &edge.to)) {
        (Some(from), Some(to)) => match wire_fault(from, to) {
            Some(reason) => Err(DocError::new(at(Place::port(&edge.to.node, &edge.to.port)), reason)),
            None => Ok(()),
        },
        _ => Ok(()), // the unknown kind is a fault of its own
    }
}

fn find(graph: &Graph<'_>, end: &PortRef) -> Option<&'static Port> {
    graph.kind_of(&end.node).and_then(|k| k.port(&end.port))
}

fn no_such_port(kind: Option<&'static Kind>, end: &PortRef, place: Place) -> DocError {
    let names: Vec<&str> = kind.map_or(Vec::new(), |k| k.ports.iter().map(|p| p.name).collect());
    let error = DocError::new(place, format!("{} has no port {}", short(&end.node), short(&end.port)));
    match names.is_empty() {
        true => error.mend("a supervisor is joined by making nodes its children"),
        false => error.mend(format!("its ports are {}", names.join(", "))),
    }
}

/// Says why an edge may not run from one port to the other, if so; looks at the ports alone.
pub(super) fn wire_fault(from: &Port, to: &Port) -> Option<String> {
    let mend = match (from.carries, to.carries) {
        (Carries::Message, Carries::Stream) => "put a to_stream between them",
        _ => "put a to_actor between them",
    };
    match (from.direction, to.direction) {
        (Direction::Out, Direction::Out) => {
            Some("both ends are outputs: an edge runs from an output to an input".into())
        }
        (Direction::In, Direction::In) => {
            Some("both ends are inputs: an edge runs from an output to an input".into())
        }
        (Direction::In, Direction::Out) => Some("it runs from an input to an output: swap its ends".into()),
        _ if from.carries != to.carries => {
            let (a, b) = (from.carries.name(), to.carries.name());
            Some(format!("{a} cannot enter an input for {b}: {mend}"))
        }
        _ => None,
    }
}

fn ports(
    kind: &'static Kind,
    node: &Node,
    wired: &BTreeMap<(&str, &str), usize>,
    errors: &mut Vec<DocError>,
) {
    for port in kind.ports {
        let count = wired.get(&(node.id.as_str(), port.name)).copied().unwrap_or(0);
        let place = || Place::port(&node.id, port.name);
        if port.arity == Arity::One && count > 1 {
            errors.push(wired_twice(place(), port, count));
        }
        if count == 0 && is_needed(kind, node, port) {
            let error = DocError::new(place(), UNWIRED);
            errors.push(error.mend(format!("it needs an edge: {}", port.doc)));
        }
    }
}

fn wired_twice(place: Place, port: &Port, count: usize) -> DocError {
    let error = DocError::new(place, format!("has {count} edges, one is allowed"));
    match (port.carries, port.direction) {
        (Carries::Message, Direction::Out) => error.mend("put a router behind it to reach several nodes"),
        _ => error.mend("remove the others"),
    }
}

fn is_needed(kind: &'static Kind, node: &Node, port: &Port) -> bool {
    match port.need {
        Need::Optional => false,
        Need::Required => true,
        Need::When(c) => c.any_of.contains(&Params::resolve(kind.params, &node.params).text(c.key)),
    }
}
