//! Wiring by keyboard: choose a port of the node, then a target from a list, nearest first, with type-ahead.

use footlights::scenario::document::PortRef;
use web_sys::{HtmlElement, HtmlInputElement};
use yew::prelude::*;

use super::{Part, focus_on_node, words};
use crate::model::geometry::Layout;
use crate::model::state::{Action, Tool};
use crate::model::{connect, locale as text};

/// The list, while the tool is in hand.
#[component]
pub fn ConnectList(part: &Part) -> Html {
    let filter = use_state(String::new);
    let root = use_node_ref();
    let step = match &part.state.tool {
        Tool::ConnectList { from, .. } => Some(from.clone()),
        _ => None,
    };
    {
        let (root, filter) = (root.clone(), filter.clone());
        use_effect_with(step, move |_| {
            filter.set(String::new());
            let first = root
                .cast::<web_sys::Element>()
                .and_then(|r| r.query_selector("input, button").ok().flatten())
                .and_then(|e| wasm_bindgen::JsCast::dyn_into::<HtmlElement>(e).ok());
            if let Some(first) = first {
                let _ = first.focus();
            }
        });
    }
    let Tool::ConnectList { node, from } = &part.state.tool else { return Html::default() };
    let on_key = on_key(part, &root, node.clone());
    html! {
        <div class="connect-list dialog" ref={root} role="dialog" aria-label={text::CONNECT_TO} data-testid="connect-list"
            onkeydown={on_key}>
            { match from {
                None => choose_port(part, node),
                Some(from) => choose_target(part, from, &filter),
            } }
        </div>
    }
}

/// Esc leaves, arrows go up and down.
fn on_key(part: &Part, root: &NodeRef, node: String) -> Callback<KeyboardEvent> {
    let (act, root) = (part.act.clone(), root.clone());
    Callback::from(move |e: KeyboardEvent| {
        e.stop_propagation();
        let by = match e.key().as_str() {
            "Escape" => {
                focus_on_node(&node);
                return act.emit(Action::Take(Tool::Select));
            }
            "ArrowDown" => 1,
            "ArrowUp" => -1,
            _ => return,
        };
        e.prevent_default();
        move_focus(&root, by);
    })
}

fn move_focus(root: &NodeRef, by: i32) {
    let Some(root) = root.cast::<web_sys::Element>() else { return };
    let Ok(buttons) = root.query_selector_all("input, button") else { return };
    let active = web_sys::window().and_then(|w| w.document()).and_then(|d| d.active_element());
    let n = buttons.length();
    let at = (0..n).find(|i| buttons.get(*i).as_ref() == active.as_ref().map(|a| a.as_ref())).unwrap_or(0);
    let next = at.saturating_add_signed(by).min(n.saturating_sub(1));
    if let Some(button) =
        buttons.get(next).and_then(|b| wasm_bindgen::JsCast::dyn_into::<HtmlElement>(b).ok())
    {
        let _ = button.focus();
    }
}

fn choose_port(part: &Part, node: &str) -> Html {
    let ports = connect::ports_of(&part.state.doc, node);
    html! {
        <>
            <h2>{ text::CONNECT_FROM }</h2>
            <ul>{ for ports.into_iter().map(|port| {
                let tool = Tool::ConnectList { node: node.to_owned(), from: Some(port.clone()) };
                let doc = connect::schema_port(&part.state.doc, &port).map_or("", |p| p.doc);
                html! {
                    <li key={port.port.clone()}>
                        <button type="button" onclick={part.on(Action::Take(tool))}>{ &port.port }<small>{ doc }</small></button>
                    </li>
                }
            }) }</ul>
        </>
    }
}

fn choose_target(part: &Part, from: &PortRef, filter: &UseStateHandle<String>) -> Html {
    let layout = Layout::of(&part.state.doc, &|_| None);
    let wanted = filter.to_lowercase();
    let fits = |p: &PortRef| {
        part.state.label_of(&p.node).to_lowercase().contains(&wanted) || p.to_string().contains(&wanted)
    };
    let targets: Vec<PortRef> =
        connect::targets(&part.state.doc, &layout, from).into_iter().filter(fits).collect();
    let oninput = {
        let filter = filter.clone();
        Callback::from(move |e: InputEvent| {
            if let Some(input) = e.target_dyn_into::<HtmlInputElement>() {
                filter.set(input.value());
            }
        })
    };
    let enter = enter(part, from, targets.first().cloned());
    html! {
        <>
            <h2>{ format!("{} {from} →", text::CONNECT_TO) }</h2>
            <input type="text" placeholder={text::CONNECT_FILTER} aria-label={text::CONNECT_FILTER} value={(**filter).clone()} {oninput} onkeydown={enter} />
            if targets.is_empty() {
                <p class="quiet">{ if wanted.is_empty() { text::CONNECT_NONE } else { words::NOTHING_MATCHES } }</p>
            }
            <ul>{ for targets.into_iter().take(50).map(|to| {
                let label = part.state.label_of(&to.node);
                let small = to.to_string();
                html! {
                    <li key={small.clone()}>
                        <button type="button" onclick={connect(part, from, to)}>{ label }<small>{ small }</small></button>
                    </li>
                }
            }) }</ul>
        </>
    }
}

/// Enter in the filter takes the first target.
fn enter(part: &Part, from: &PortRef, first: Option<PortRef>) -> Callback<KeyboardEvent> {
    let (act, from) = (part.act.clone(), from.clone());
    Callback::from(move |e: KeyboardEvent| {
        if let ("Enter", Some(to)) = (e.key().as_str(), &first) {
            e.prevent_default();
            focus_on_node(&from.node);
            act.emit(Action::Connect(from.clone(), to.clone()));
        }
    })
}

/// Wires; the keyboard goes back to the node it came from.
fn connect(part: &Part, from: &PortRef, to: PortRef) -> Callback<MouseEvent> {
    let (act, from) = (part.act.clone(), from.clone());
    Callback::from(move |_| {
        focus_on_node(&from.node);
        act.emit(Action::Connect(from.clone(), to.clone()));
    })
}
