//! The kinds of nodes, by family, with search: click one and then the canvas, or drag it there.

use footlights::scenario::schema::{self, Family, Kind};
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::{Part, STAGE, focus_on};
use crate::canvas::theme;
use crate::model::locale as text;
use crate::model::state::{Action, Tool};

/// The palette.
#[component]
pub fn Palette(part: &Part) -> Html {
    let search = use_state(String::new);
    let oninput = {
        let search = search.clone();
        Callback::from(move |e: InputEvent| {
            if let Some(input) = e.target_dyn_into::<HtmlInputElement>() {
                search.set(input.value());
            }
        })
    };
    let wanted = search.trim().to_lowercase();
    let found: Vec<&'static Kind> = schema::kinds().filter(|k| matches(k, &wanted)).collect();
    // Enter takes the first that is shown: they stand by family.
    let first = Family::ALL.into_iter().flat_map(|f| found.iter().filter(move |k| k.family == f)).next();
    let onkeydown = {
        let (act, first) = (part.act.clone(), first.filter(|_| !wanted.is_empty()).map(|k| k.name));
        Callback::from(move |e: KeyboardEvent| {
            if let ("Enter", Some(name)) = (e.key().as_str(), first) {
                e.prevent_default();
                focus_on(STAGE);
                act.emit(Action::Take(Tool::Place(name.to_owned())));
            }
        })
    };
    html! {
        <nav class="palette" data-testid="palette" aria-label={text::PALETTE}>
            <input type="search" data-testid="palette-search" placeholder={text::PALETTE_SEARCH}
                aria-label={text::PALETTE_SEARCH} value={(*search).clone()} {oninput} {onkeydown} />
            <div class="kinds">
                { for Family::ALL.into_iter().map(|family| section(part, family, &found)) }
                if found.is_empty() {
                    <p class="quiet">{ text::PALETTE_NONE }</p>
                }
            </div>
        </nav>
    }
}

fn matches(kind: &Kind, wanted: &str) -> bool {
    [kind.name, kind.title, kind.doc].iter().any(|t| t.to_lowercase().contains(wanted))
}

fn section(part: &Part, family: Family, found: &[&'static Kind]) -> Html {
    let kinds: Vec<_> = found.iter().filter(|k| k.family == family).collect();
    if kinds.is_empty() {
        return Html::default();
    }
    html! {
        <section key={family.title()}>
            <h2>{ family.title() }</h2>
            <ul>{ for kinds.into_iter().map(|kind| item(part, kind)) }</ul>
        </section>
    }
}

fn item(part: &Part, kind: &'static Kind) -> Html {
    let held = part.state.tool == Tool::Place(kind.name.to_owned());
    let tool = if held { Tool::Select } else { Tool::Place(kind.name.to_owned()) };
    let ondragstart = Callback::from(move |e: DragEvent| {
        if let Some(data) = e.data_transfer() {
            let _ = data.set_data("text/plain", kind.name);
        }
    });
    let act = part.act.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        if !held {
            focus_on(STAGE);
        }
        act.emit(Action::Take(tool.clone()));
    });
    html! {
        <li key={kind.name}>
            <button type="button" data-testid={format!("palette-item-{}", kind.name)} aria-pressed={held.to_string()}
                title={kind.doc} draggable="true" {ondragstart} {onclick}>
                <span class="swatch" style={format!("background:{}", theme::family(Some(kind.family)))}></span>
                <span>{ kind.title }</span>
            </button>
        </li>
    }
}
