//! The layer of focus targets over the canvas: an element for each visible node and port.

use footlights::scenario::document::Node;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::super::Part;
use super::{Msg, Stage};
use crate::engine::telemetry::NO_AGE;
use crate::model::geometry::{HEADER, is_group};
use crate::model::live::Live;
use crate::model::{connect, format};

/// Nodes that get elements; beyond, only what is selected.
const TARGETS_MAX: usize = 150;

impl Stage {
    pub(super) fn layer(&self, ctx: &Context<Self>, part: &Part) -> Html {
        let o = self.view.origin;
        let style = format!("transform:translate({:.2}px,{:.2}px) scale({:.4})", o.x, o.y, self.view.zoom);
        let few = part.state.doc.nodes.len() <= TARGETS_MAX;
        let first = part.state.selection.nodes.iter().next();
        let roving = first.cloned().or_else(|| part.state.doc.nodes.first().map(|n| n.id.clone()));
        let live = part.live.borrow();
        let shown = |n: &&Node| few || part.state.selection.nodes.contains(&n.id);
        html! {
            <div class="layer" style={style}>
                { for part.state.doc.nodes.iter().filter(shown).map(|n| {
                    self.target(ctx, part, &live, n, roving.as_deref() == Some(&n.id))
                }) }
            </div>
        }
    }

    fn target(&self, ctx: &Context<Self>, part: &Part, live: &Live, node: &Node, roving: bool) -> Html {
        let Some(mut r) = self.layout.bounds(&node.id) else { return Html::default() };
        let group = is_group(node);
        if group {
            r.h = HEADER;
        }
        let style = format!("left:{:.1}px;top:{:.1}px;width:{:.1}px;height:{:.1}px", r.x, r.y, r.w, r.h);
        let id = node.id.clone();
        let focused = ctx.link().callback(move |_: FocusEvent| Msg::Focused(id.clone()));
        let class = classes!("target", group.then_some("group"));
        let selected = part.state.selection.nodes.contains(&node.id);
        let name = if group { "group" } else { "node" };
        html! {
            <div key={node.id.clone()} class={class} style={style} tabindex={if roving { "0" } else { "-1" }} role="group"
                id={format!("node-{}", node.id)} data-testid={format!("{name}-{}", node.id)}
                data-selected={selected.to_string()} data-node={node.id.clone()}
                aria-label={describe(part, live, node)} onfocus={focused}>
                { for connect::ports_of(&part.state.doc, &node.id).into_iter().map(|port| {
                    let at = self.layout.spot(&port).map(|s| s.at).unwrap_or_default();
                    let style = format!("left:{:.1}px;top:{:.1}px", at.x - r.x - 8.0, at.y - r.y - 8.0);
                    html! {
                        <span key={port.port.clone()} class="port" style={style} aria-hidden="true"
                            data-testid={format!("port-{}-{}", port.node, port.port)}></span>
                    }
                }) }
            </div>
        }
    }

    /// Gives the keyboard focus to a node's element.
    pub(super) fn give_focus(&self, id: &str) {
        let element = web_sys::window()
            .and_then(|w| w.document())
            .and_then(|d| d.get_element_by_id(&format!("node-{id}")));
        if let Some(element) = element.and_then(|e| wasm_bindgen::JsCast::dyn_into::<HtmlElement>(e).ok()) {
            let _ = element.focus();
        }
    }
}

/// A node in words: `parse, map_async, busy 82 %, queue 14 of 16`.
fn describe(part: &Part, live: &Live, node: &Node) -> String {
    let mut words = vec![part.state.label_of(&node.id), node.kind.clone()];
    if let Some(row) = live.node(&node.id) {
        words.push(format!("busy {} %", row.busy_permille / 10));
        match live.node_meta(&node.id).and_then(|m| m.capacity) {
            Some(capacity) => words.push(format!("queue {} of {capacity}", row.queued)),
            None if row.queued > 0 => words.push(format!("queue {}", row.queued)),
            None => {}
        }
        if row.oldest_age_us != NO_AGE {
            words.push(format!("oldest {}", format::time_ns(u64::from(row.oldest_age_us) * 1_000)));
        }
        if row.restarts > 0 {
            words.push(format!("{} restarts", row.restarts));
        }
    }
    words.extend(crate::model::reduce::problems_of_node(&part.state, &node.id));
    words.join(", ")
}
