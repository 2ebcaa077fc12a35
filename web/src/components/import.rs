//! The import dialog: a file or a text; what is wrong with it, with places; what was open stays as it was.

use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Element, File, FileReader, HtmlElement, HtmlInputElement, HtmlTextAreaElement};
use yew::prelude::*;

use super::{FILE_BUTTON, Part, STAGE, focus_on};
use crate::model::locale as text;
use crate::model::state::Action;

/// A larger file is no scenario.
const FILE_BYTES_MAX: f64 = 2_000_000.0;

/// The dialog.
#[component]
pub fn ImportDialog(part: &Part) -> Html {
    let area = use_node_ref();
    {
        let area = area.clone();
        use_effect_with((), move |()| {
            if let Some(area) = area.cast::<HtmlTextAreaElement>() {
                let _ = area.focus();
            }
            // What was opened is on the canvas; who gives up is back at the menu.
            || {
                Timeout::new(0, focus_if_lost).forget();
            }
        });
    }
    let Some(import) = &part.state.import else { return Html::default() };
    let open = {
        let (act, area) = (part.act.clone(), area.clone());
        Callback::from(move |_: MouseEvent| {
            if let Some(area) = area.cast::<HtmlTextAreaElement>() {
                act.emit(Action::Import(area.value()));
            }
        })
    };
    let from_file = {
        let act = part.act.clone();
        Callback::from(move |e: Event| {
            let input = e.target_dyn_into::<HtmlInputElement>();
            if let Some(file) = input.and_then(|i| i.files()).and_then(|f| f.get(0)) {
                read(&file, act.clone());
            }
        })
    };
    let leave = {
        let act = part.act.clone();
        Callback::from(move |()| {
            focus_on(FILE_BUTTON);
            act.emit(Action::ShowImport(false));
        })
    };
    let cancel = leave.reform(|_: MouseEvent| ());
    let dialog = use_node_ref();
    let on_key = {
        let dialog = dialog.clone();
        Callback::from(move |e: KeyboardEvent| {
            e.stop_propagation();
            match e.key().as_str() {
                "Escape" => leave.emit(()),
                "Tab" => keep_inside(&dialog, &e),
                _ => {}
            }
        })
    };
    // A click beside the fields does not take the focus out of the dialog.
    let stay = Callback::from(|e: MouseEvent| {
        let target = e.target_dyn_into::<Element>();
        if target.is_some_and(|t| t.matches(".veil").unwrap_or(false)) {
            e.prevent_default();
        }
    });
    html! {
        <div class="veil" onkeydown={on_key} onmousedown={stay}>
            <div class="dialog" ref={dialog} tabindex="-1" role="dialog" aria-modal="true" aria-labelledby="import-title">
                <h2 id="import-title">{ text::IMPORT_TITLE }</h2>
                <label>{ text::IMPORT_FILE }<input type="file" accept=".json,application/json" data-testid="import-file" onchange={from_file} /></label>
                <label>{ text::IMPORT_TEXT }<textarea ref={area} data-testid="import-text" rows="10" spellcheck="false" /></label>
                { errors(&import.errors) }
                <p class="actions">
                    <button type="button" class="primary" data-testid="import-apply" onclick={open}>{ text::IMPORT_OPEN }</button>
                    <button type="button" data-testid="import-cancel" onclick={cancel}>{ text::CANCEL }</button>
                </p>
            </div>
        </div>
    }
}

fn focus_if_lost() {
    let active = web_sys::window().and_then(|w| w.document()).and_then(|d| d.active_element());
    if active.is_none_or(|e| e.tag_name().eq_ignore_ascii_case("body")) {
        focus_on(STAGE);
    }
}

/// Tab goes round within the dialog.
fn keep_inside(dialog: &NodeRef, event: &KeyboardEvent) {
    let Some(fields) =
        dialog.cast::<Element>().and_then(|d| d.query_selector_all("input, textarea, button").ok())
    else {
        return;
    };
    let active = web_sys::window().and_then(|w| w.document()).and_then(|d| d.active_element());
    let n = fields.length();
    let at = (0..n).find(|i| fields.get(*i).as_ref() == active.as_ref().map(|a| a.as_ref()));
    let next = match (at, event.shift_key()) {
        (Some(0) | None, true) => n.saturating_sub(1),
        (Some(i), false) if i + 1 == n => 0,
        (None, false) => 0,
        _ => return,
    };
    if let Some(field) = fields.get(next).and_then(|f| f.dyn_into::<HtmlElement>().ok()) {
        event.prevent_default();
        let _ = field.focus();
    }
}

fn errors(errors: &[String]) -> Html {
    if errors.is_empty() {
        return Html::default();
    }
    html! {
        <div class="problem" role="alert" data-testid="import-error">
            <ul>{ for errors.iter().take(20).map(|e| html! { <li>{ e }</li> }) }</ul>
            <p>{ text::IMPORT_KEPT }</p>
        </div>
    }
}

fn read(file: &File, act: Callback<Action>) {
    if file.size() > FILE_BYTES_MAX {
        return act.emit(Action::ImportFailed(text::FILE_TOO_LARGE.into()));
    }
    let Ok(reader) = FileReader::new() else { return };
    let done = {
        let reader = reader.clone();
        Closure::once_into_js(move || {
            let content = reader.result().ok().and_then(|r| r.as_string());
            act.emit(content.map_or(Action::ImportFailed(text::FILE_UNREADABLE.into()), Action::Import));
        })
    };
    reader.set_onloadend(Some(done.unchecked_ref()));
    let _ = reader.read_as_text(file);
}
