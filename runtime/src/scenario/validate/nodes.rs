//! Checks of single nodes: id, kind, label, parameters, parent.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::document::Node;
use super::super::error::{DocError, Place, short};
use super::super::schema::{self, Family, Kind, Param};
use super::{Graph, LABEL_CHARS_MAX, dispatchers, is_id};

/// The most supervisors above one another.
const DEPTH_MAX: usize = 64;

pub(super) fn check(graph: &Graph<'_>, errors: &mut Vec<DocError>) {
    for (i, node) in graph.doc.nodes.iter().enumerate() {
        identity(graph, i, node, errors);
        match graph.kinds[i] {
            Some(kind) => {
                values(kind.params, kind.name, &node.params, &|key| Place::param(&node.id, key), errors);
                parent(graph, kind, node, errors);
                dispatchers::of_node(graph, kind, node, errors);
            }
            None => errors.push(unknown_kind(node)),
        }
    }
}

fn identity(graph: &Graph<'_>, index: usize, node: &Node, errors: &mut Vec<DocError>) {
    let place = || Place::node(&node.id);
    if !is_id(&node.id) {
        errors.push(
            DocError::new(place(), "has no proper id").mend("use 1 to 64 of the characters A-Z a-z 0-9 _ -"),
        );
    } else if graph.node(&node.id) != Some(index) {
        errors.push(DocError::new(place(), "two nodes have this id").mend("give one of them another id"));
    }
    let n = node.label.chars().count();
    if n > LABEL_CHARS_MAX {
        let reason = format!("its label has {n} characters, {LABEL_CHARS_MAX} at most are allowed");
        errors.push(DocError::new(place(), reason));
    }
}

fn unknown_kind(node: &Node) -> DocError {
    let error = DocError::new(Place::node(&node.id), format!("unknown kind {}", short(&node.kind)));
    match nearest(&node.kind, schema::kinds().map(|k| k.name)) {
        Some(name) => error.mend(format!("did you mean {name}?")),
        None => error.mend("remove it, or open the document with a release that knows it"),
    }
}

/// Checks the values that are written for a list of parameters of `whose`.
pub(super) fn values(
    params: &'static [Param],
    whose: &str,
    written: &BTreeMap<String, Value>,
    place: &dyn Fn(&str) -> Place,
    errors: &mut Vec<DocError>,
) {
    for (key, value) in written {
        match params.iter().find(|p| p.key == key) {
            Some(p) => errors.extend(p.check(value).err().map(|reason| DocError::new(place(key), reason))),
            None => {
                let error = DocError::new(place(key), format!("{whose} has no such parameter"));
                errors.push(match nearest(key, params.iter().map(|p| p.key)) {
                    Some(near) => error.mend(format!("did you mean {near}?")),
                    None => error,
                });
            }
        }
    }
}

fn parent(graph: &Graph<'_>, kind: &Kind, node: &Node, errors: &mut Vec<DocError>) {
    let Some(parent) = &node.parent else { return };
    let mut fault = |reason: String| errors.push(DocError::new(Place::node(&node.id), reason));
    match graph.kind_of(parent) {
        _ if !kind.may_have_parent() => {
            fault(format!("a {} cannot have a supervisor: streams end with their own failure", kind.name));
        }
        None if graph.node(parent).is_none() => fault(format!("its parent {} does not exist", short(parent))),
        None => {}
        Some(k) if k.family != Family::Group => {
            fault(format!("its parent {} is a {}, not a supervisor", short(parent), k.name))
        }
        Some(_) => match depth(graph, node) {
            None => fault("it is its own ancestor: the parents form a circle".into()),
            Some(depth) if depth > DEPTH_MAX => {
                fault(format!("it is {depth} supervisors deep, {DEPTH_MAX} at most are allowed"))
            }
            Some(_) => {}
        },
    }
}

/// Counts the supervisors above a node; `None` if following the parents comes back to it.
fn depth(graph: &Graph<'_>, node: &Node) -> Option<usize> {
    let mut at = node.parent.as_deref();
    for depth in 0..graph.doc.nodes.len() {
        match at {
            None => return Some(depth),
            Some(id) if id == node.id => return None,
            Some(id) => at = graph.node(id).and_then(|i| graph.doc.nodes[i].parent.as_deref()),
        }
    }
    Some(0) // a circle above it: its members have the fault
}

/// Finds the name that a person may have meant: at most two letters changed, added or left out.
pub(super) fn nearest(wanted: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    if wanted.len() > 64 {
        return None;
    }
    names.map(|n| (distance(wanted, n), n)).filter(|(d, n)| *d <= 2 && *d < n.len()).min().map(|(_, n)| n)
}

/// Counts the single-letter edits between two short words (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_kind_gets_a_suggestion() {
        let names = || schema::kinds().map(|k| k.name);
        assert_eq!(nearest("wroker", names()), Some("worker"));
        assert_eq!(nearest("colector", names()), Some("collector"));
        assert_eq!(nearest("teapot", names()), None);
    }
}
