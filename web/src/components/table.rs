//! All nodes and edges as a table: what the canvas shows, for those who rather read.

use yew::prelude::*;

use super::Part;
use crate::engine::telemetry::NO_AGE;
use crate::model::live::Live;
use crate::model::state::Action;
use crate::model::{format, locale as text};

/// The table.
#[component]
pub fn Table(part: &Part) -> Html {
    let live = part.live.borrow();
    html! {
        <div class="tables">
            <table data-testid="table-nodes">
                <thead><tr>{ for ["node", "kind", "state", "busy", "queued", "oldest", "handled", "rate", "restarts", "lost"].map(|h| html! { <th scope="col">{ h }</th> }) }</tr></thead>
                <tbody>{ for part.state.doc.nodes.iter().map(|n| node_row(part, &live, &n.id, &n.kind)) }</tbody>
            </table>
            <table data-testid="table-edges">
                <thead><tr>{ for ["from", "to", "passed", "rate", "in flight", "dropped"].map(|h| html! { <th scope="col">{ h }</th> }) }</tr></thead>
                <tbody>{ for part.state.doc.edges.iter().map(|e| edge_row(part, &live, &e.id, &e.from.to_string(), &e.to.to_string())) }</tbody>
            </table>
        </div>
    }
}

fn node_row(part: &Part, live: &Live, id: &str, kind: &str) -> Html {
    let none = || text::NO_DATA.to_owned();
    let row = live.node(id);
    let cells = [
        kind.to_owned(),
        row.map_or_else(none, |r| r.state.name().replace('_', " ")),
        row.map_or_else(none, |r| format!("{} %", r.busy_permille / 10)),
        row.map_or_else(none, |r| match live.node_meta(id).and_then(|m| m.capacity) {
            Some(capacity) => format!("{}/{capacity}", r.queued),
            None => r.queued.to_string(),
        }),
        row.filter(|r| r.oldest_age_us != NO_AGE)
            .map_or_else(none, |r| format::time_ns(u64::from(r.oldest_age_us) * 1_000)),
        row.map_or_else(none, |r| format::grouped(u64::from(r.handled))),
        format::rate(live.node_rate(id)),
        row.map_or_else(none, |r| r.restarts.to_string()),
        row.map_or_else(none, |r| r.lost.to_string()),
    ];
    let select = part.on(Action::Select(vec![id.to_owned()]));
    html! {
        <tr key={id.to_owned()} data-testid={format!("row-node-{id}")}>
            <th scope="row"><button type="button" class="link" onclick={select}>{ part.state.label_of(id) }</button></th>
            { for cells.into_iter().map(|c| html! { <td>{ c }</td> }) }
        </tr>
    }
}

fn edge_row(part: &Part, live: &Live, id: &str, from: &str, to: &str) -> Html {
    let none = || text::NO_DATA.to_owned();
    let row = live.edge(id);
    let cells = [
        row.map_or_else(none, |r| format::grouped(u64::from(r.passed))),
        format::rate(live.edge_rate(id)),
        row.map_or_else(none, |r| match live.edge_meta(id).and_then(|m| m.capacity) {
            Some(capacity) => format!("{}/{capacity}", r.in_flight),
            None => r.in_flight.to_string(),
        }),
        row.and_then(|r| r.dropped).map_or_else(none, |n| format::grouped(u64::from(n))),
    ];
    let select = part.on(Action::SelectEdge(id.to_owned()));
    html! {
        <tr key={id.to_owned()} data-testid={format!("row-edge-{id}")}>
            <th scope="row"><button type="button" class="link" onclick={select}>{ from }</button></th>
            <td>{ to }</td>
            { for cells.into_iter().map(|c| html! { <td>{ c }</td> }) }
        </tr>
    }
}
