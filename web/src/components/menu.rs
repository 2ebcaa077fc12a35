//! The head of the page: its name, the file menu, the picker of scenarios.

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{Blob, BlobPropertyBag, Element, HtmlAnchorElement, HtmlSelectElement, Node, Url};
use yew::prelude::*;

use super::{FILE_BUTTON, Part, STAGE, focus_on};
use crate::model::state::Action;
use crate::model::{builtin, locale as text};

/// The head of the page.
#[component]
pub fn Menu(part: &Part) -> Html {
    let details = use_node_ref();
    let close = {
        let details = details.clone();
        Callback::from(move |()| {
            if let Some(element) = details.cast::<Element>() {
                let _ = element.remove_attribute("open");
            }
        })
    };
    {
        let (details, close) = (details.clone(), close.clone());
        use_effect_with((), move |()| {
            let listener = listen_outside(details, close);
            move || drop(listener)
        });
    }
    let on_key = {
        let close = close.clone();
        Callback::from(move |e: KeyboardEvent| {
            if e.key() == "Escape" {
                close.emit(());
                focus_on(FILE_BUTTON);
            }
        })
    };
    let item = |id: &'static str, name: &'static str, run: Callback<()>| {
        let close = close.clone();
        let onclick = Callback::from(move |_: MouseEvent| {
            close.emit(());
            run.emit(());
        });
        html! { <li><button type="button" data-testid={id} {onclick}>{ name }</button></li> }
    };
    let open_empty = {
        let act = part.act.clone();
        Callback::from(move |()| {
            focus_on(STAGE);
            act.emit(Action::OpenEmpty);
        })
    };
    let state = part.state.clone();
    let export = Callback::from(move |()| {
        focus_on(FILE_BUTTON);
        download(&file_name(&state.doc.name), &state.doc.to_text());
    });
    html! {
        <div class="brand">
            <h1><span class="lamp" aria-hidden="true"></span>{ text::APP }</h1>
            <details class="menu" ref={details} onkeydown={on_key}>
                <summary data-testid="menu-file">{ text::FILE }</summary>
                <ul>
                    { item("file-new", text::FILE_NEW, open_empty) }
                    { item("import-open", text::FILE_IMPORT, part.on(Action::ShowImport(true))) }
                    { item("export-json", text::FILE_EXPORT, export) }
                </ul>
            </details>
            { picker(part) }
        </div>
    }
}

/// A press anywhere else closes the menu.
fn listen_outside(details: NodeRef, close: Callback<()>) -> Option<EventListener> {
    let window = web_sys::window()?;
    let options = EventListenerOptions::run_in_capture_phase();
    Some(EventListener::new_with_options(&window, "pointerdown", options, move |event| {
        let target = event.target().and_then(|t| t.dyn_into::<Node>().ok());
        let within = details.cast::<Element>().is_some_and(|d| d.contains(target.as_ref()));
        if !within {
            close.emit(());
        }
    }))
}

fn picker(part: &Part) -> Html {
    let act = part.act.clone();
    let onchange = Callback::from(move |e: Event| {
        let Some(select) = e.target_dyn_into::<HtmlSelectElement>() else { return };
        if let Ok(at) = select.value().parse() {
            act.emit(Action::OpenBuiltin(at));
        }
    });
    let current = builtin::ALL.iter().position(|(title, _)| *title == part.state.doc.name);
    html! {
        <label class="picker">
            <span class="visually-hidden">{ text::SCENARIOS }</span>
            <select data-testid="lesson-picker" {onchange}>
                if current.is_none() { <option value="" selected=true>{ text::SCENARIO_OWN }</option> }
                { for builtin::ALL.iter().enumerate().map(|(i, (title, _))| html! {
                    <option key={i} value={i.to_string()} selected={current == Some(i)}>{ *title }</option>
                }) }
            </select>
        </label>
    }
}

fn file_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .take(60)
        .collect();
    format!("{}.json", if plain.is_empty() { "footlights" } else { plain.as_str() })
}

/// Hands a text to the browser as a file.
fn download(name: &str, text: &str) {
    let parts = js_sys::Array::of1(&text.into());
    let options = BlobPropertyBag::new();
    options.set_type("application/json");
    let Ok(blob) = Blob::new_with_str_sequence_and_options(&parts, &options) else { return };
    let Ok(url) = Url::create_object_url_with_blob(&blob) else { return };
    let anchor = web_sys::window()
        .and_then(|w| w.document())
        .and_then(|d| d.create_element("a").ok())
        .and_then(|e| e.dyn_into::<HtmlAnchorElement>().ok());
    if let Some(anchor) = anchor {
        anchor.set_href(&url);
        anchor.set_download(name);
        anchor.click();
    }
    let _ = Url::revoke_object_url(&url);
}
