//! The edits that the page offers, each as one step: place, connect, delete, move, group, set.

use footlights::scenario::document::{Edge, Node, PortRef, Row, Scenario};
use footlights::scenario::schema::DISPATCHER;
use serde_json::Value;

use super::edit::{Draft, fresh_edge_id, fresh_node_id};
use super::geometry::{is_group, with_descendants};
use super::state::{Reparent, Selection};

/// Places a node; gives its id.
pub fn place(draft: &mut Draft, kind: &str, x: i32, y: i32, parent: Option<String>) -> String {
    let id = fresh_node_id(&draft.doc, kind);
    let may_have_parent = footlights::scenario::schema::kind(kind).is_some_and(|k| k.may_have_parent());
    let parent = parent.filter(|_| may_have_parent);
    let node = Node {
        id: id.clone(),
        kind: kind.to_owned(),
        label: String::new(),
        parent,
        dispatcher: None,
        x,
        y,
        params: std::collections::BTreeMap::new(),
    };
    draft.insert_node(node);
    id
}

/// Joins two ports; gives the edge's id.
pub fn connect(draft: &mut Draft, from: PortRef, to: PortRef) -> String {
    let id = fresh_edge_id(&draft.doc);
    draft.insert_edge(Edge { id: id.clone(), from, to });
    id
}

/// Deletes what is selected.
pub fn delete(draft: &mut Draft, selection: &Selection) {
    if let Some(edge) = &selection.edge {
        draft.remove_edge(edge);
    }
    for node in &selection.nodes {
        draft.remove_node(node);
    }
}

/// Moves nodes, and what they supervise, and perhaps into another supervisor.
pub fn move_by(draft: &mut Draft, ids: &[String], dx: i32, dy: i32, reparent: &Reparent) {
    let mut all: Vec<String> = ids.iter().flat_map(|id| with_descendants(&draft.doc, id)).collect();
    all.sort();
    all.dedup();
    for id in &all {
        draft.change_node(id, |n| {
            n.x = n.x.saturating_add(dx);
            n.y = n.y.saturating_add(dy);
        });
    }
    if let Reparent::To(parent) = reparent {
        set_parent(draft, ids, parent.as_deref());
    }
}

/// Puts nodes under a supervisor; a node never comes under itself or what it supervises.
pub fn set_parent(draft: &mut Draft, ids: &[String], parent: Option<&str>) {
    for id in ids {
        let below = with_descendants(&draft.doc, id);
        let circle = parent.is_some_and(|p| below.iter().any(|b| b == p));
        if !circle && may_be_child(&draft.doc, id) {
            draft.change_node(id, |n| n.parent = parent.map(str::to_owned));
        }
    }
}

/// Puts nodes under a new supervisor, which takes the place of their common one; gives its id.
pub fn group(draft: &mut Draft, ids: &[String]) -> Option<String> {
    let ids: Vec<String> = ids.iter().filter(|id| may_be_child(&draft.doc, id)).cloned().collect();
    let first = draft.doc.nodes.iter().find(|n| ids.contains(&n.id))?;
    let parent = first.parent.clone().filter(|p| {
        let siblings = draft.doc.nodes.iter().filter(|n| ids.contains(&n.id));
        siblings.map(|n| n.parent.as_deref()).all(|q| q == Some(p.as_str()))
    });
    let (x, y) = (first.x, first.y);
    let id = place(draft, "supervisor", x, y, parent);
    set_parent(draft, &ids, Some(&id));
    Some(id)
}

/// Takes a supervisor away and leaves its children where they are.
pub fn ungroup(draft: &mut Draft, id: &str) {
    if draft.doc.nodes.iter().any(|n| n.id == id && is_group(n)) {
        draft.remove_node(id);
    }
}

/// Sets a parameter; the schema's default is not written.
pub fn set_param(draft: &mut Draft, id: &str, key: &str, value: Value) {
    let kind = draft.doc.nodes.iter().find(|n| n.id == id).map(|n| n.kind.clone()).unwrap_or_default();
    let is_default = default_of(&kind, key).is_some_and(|d| same(&d, &value));
    draft.change_node(id, |n| {
        if is_default {
            n.params.remove(key);
        } else {
            n.params.insert(key.to_owned(), value);
        }
    });
}

/// Sets the named dispatchers. A node that named one which has another name now follows it; one whose dispatcher is gone
/// goes back to the system's own.
pub fn set_dispatchers(draft: &mut Draft, rows: Vec<Row>) {
    let before: Vec<String> = dispatcher_names(&draft.doc);
    draft.change_run(|run| run.dispatchers = rows);
    let after = dispatcher_names(&draft.doc);
    let follows = |name: &str| {
        let renamed = before.iter().position(|n| n == name).filter(|_| before.len() == after.len());
        renamed.map(|at| after[at].clone())
    };
    let lost = |n: &&Node| n.dispatcher.as_ref().is_some_and(|d| before.contains(d) && !after.contains(d));
    let nodes: Vec<String> = draft.doc.nodes.iter().filter(lost).map(|n| n.id.clone()).collect();
    for id in nodes {
        draft.change_node(&id, |n| n.dispatcher = n.dispatcher.as_deref().and_then(follows));
    }
}

/// Lists the names of the document's own dispatchers, in its order.
pub fn dispatcher_names(doc: &Scenario) -> Vec<String> {
    let name = |row: &Row| row.get("name").and_then(Value::as_str).map(str::to_owned);
    let default = || DISPATCHER[0].default.to_json().as_str().unwrap_or_default().to_owned();
    doc.dispatchers.iter().map(|row| name(row).unwrap_or_else(default)).collect()
}

/// Sets a setting of the system; the schema's default is not written.
pub fn set_setting(draft: &mut Draft, key: &str, value: Value) {
    let default =
        footlights::scenario::schema::SETTINGS.iter().find(|p| p.key == key).map(|p| p.default.to_json());
    let is_default = default.is_some_and(|d| same(&d, &value));
    draft.change_run(|run| {
        if is_default {
            run.settings.remove(key);
        } else {
            run.settings.insert(key.to_owned(), value);
        }
    });
}

/// The schema's default of a parameter.
pub fn default_of(kind: &str, key: &str) -> Option<Value> {
    footlights::scenario::schema::kind(kind)?.param(key).map(|p| p.default.to_json())
}

/// Numbers are the same whether written 10 or 10.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn may_be_child(doc: &Scenario, id: &str) -> bool {
    doc.nodes
        .iter()
        .find(|n| n.id == id)
        .and_then(|n| footlights::scenario::schema::kind(&n.kind))
        .is_some_and(|k| k.may_have_parent())
}
