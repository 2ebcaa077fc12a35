//! Checks of named dispatchers, and of the nodes that name one.

use serde_json::Value;

use super::super::document::Node;
use super::super::error::{DocError, Place, short};
use super::super::plan::Params;
use super::super::schema::{BUILT_IN, DISPATCHER, DISPATCHERS, Kind};
use super::Graph;

/// The place of everything that is wrong with the list.
fn place() -> Place {
    Place::setting("dispatchers")
}

/// Checks the list as a whole: the shape of its rows, then their names.
pub(super) fn check(graph: &Graph<'_>, errors: &mut Vec<DocError>) {
    let rows =
        graph.doc.dispatchers.iter().map(|row| row.iter().map(|(k, v)| (k.clone(), v.clone())).collect());
    let rows = Value::Array(rows.map(Value::Object).collect());
    if let Err(reason) = DISPATCHERS.check(&rows) {
        errors.push(DocError::new(place(), reason));
        return;
    }
    let dispatchers = resolve(graph);
    for (i, row) in dispatchers.iter().enumerate() {
        let (name, kind) = (row.text("name"), row.text("kind"));
        let mut fault = |reason: String| {
            errors.push(DocError::new(place(), format!("row {}: {reason}", i + 1)));
        };
        if name == "default" {
            fault("\"default\" is the system's own: its workers and throughput are settings".into());
        } else if dispatchers[..i].iter().any(|other| other.text("name") == name) {
            fault(format!("two dispatchers are called {}", short(name)));
        } else if BUILT_IN.contains(&name) && kind != name {
            fault(format!("{} is built in: its kind cannot be {kind}", short(name)));
        }
    }
}

/// Fills in the defaults of all rows.
pub(super) fn resolve(graph: &Graph<'_>) -> Vec<Params> {
    graph.doc.dispatchers.iter().map(|row| Params::resolve(&DISPATCHER, row)).collect()
}

/// Checks the dispatcher that a node names.
pub(super) fn of_node(graph: &Graph<'_>, kind: &Kind, node: &Node, errors: &mut Vec<DocError>) {
    let Some(name) = &node.dispatcher else { return };
    let place = || Place::param(&node.id, "dispatcher");
    if !kind.may_have_dispatcher() {
        let reason = format!("a {} has no dispatcher of its own", kind.name);
        errors.push(DocError::new(place(), reason).mend("leave it out"));
        return;
    }
    let listed = graph.doc.dispatchers.iter().any(|row| match row.get("name") {
        Some(written) => written.as_str() == Some(name),
        None => DISPATCHER[0].default.to_json().as_str() == Some(name),
    });
    if !listed && !BUILT_IN.contains(&name.as_str()) {
        let error = DocError::new(place(), format!("there is no dispatcher {}", short(name)));
        errors.push(error.mend("add it to the document's dispatchers"));
    }
}
