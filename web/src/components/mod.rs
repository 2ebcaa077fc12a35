//! The parts of the page, one file each. They draw from [`crate::model::state::State`] and hand back actions.

pub mod banner;
pub mod connect_list;
pub mod dock;
pub mod import;
pub mod inspector;
pub mod menu;
pub mod numeral;
pub mod palette;
pub mod param_field;
mod rows_field;
mod settings;
pub mod stage;
pub mod status;
pub mod table;
pub mod text_box;
pub mod transport;
pub mod words;

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use crate::canvas::SharedLive;
use crate::model::state::{Action, State};

/// The canvas, as a place for the keyboard focus.
pub const STAGE: &str = ".stage";
/// The file menu's button, likewise.
pub const FILE_BUTTON: &str = ".menu summary";

/// Gives the keyboard focus to the first element that a selector finds; tells whether there was one.
pub fn focus_on(selector: &str) -> bool {
    let found = web_sys::window()
        .and_then(|w| w.document())
        .and_then(|d| d.query_selector(selector).ok().flatten())
        .and_then(|e| e.dyn_into::<HtmlElement>().ok());
    found.is_some_and(|e| e.focus().is_ok())
}

/// Gives the keyboard focus to a node's element, or to the canvas.
pub fn focus_on_node(id: &str) {
    if !focus_on(&format!("[id=\"node-{id}\"]")) {
        focus_on(STAGE);
    }
}

/// Left and Right in a row of tabs show the next one and give it the focus; `tabs` are their names in tests.
fn tab_keys(part: &Part, now: usize, tabs: Vec<(String, Action)>) -> Callback<KeyboardEvent> {
    let act = part.act.clone();
    Callback::from(move |e: KeyboardEvent| {
        let by = match e.key().as_str() {
            "ArrowRight" => 1,
            "ArrowLeft" => tabs.len() - 1,
            _ => return,
        };
        let (id, action) = &tabs[(now + by) % tabs.len()];
        e.prevent_default();
        focus_on(&format!("[data-testid=\"{id}\"]"));
        act.emit(action.clone());
    })
}

/// Whether any of the selected nodes can stand under a supervisor.
pub fn may_group(state: &State) -> bool {
    state
        .selection
        .nodes
        .iter()
        .filter_map(|id| footlights::scenario::schema::kind(&state.node(id)?.kind))
        .any(|kind| kind.may_have_parent())
}

/// What every part gets: the state, the counters, and where actions go.
#[derive(Clone, Properties)]
pub struct Part {
    /// The page's state.
    pub state: Rc<State>,
    /// Counters, which change without a new rendering.
    pub live: SharedLive,
    /// Where actions go.
    pub act: Callback<Action>,
    /// Changes four times a second, so that panels look at the counters again.
    #[prop_or_default]
    pub tick: u32,
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.state, &other.state) && self.tick == other.tick
    }
}

impl Part {
    /// A callback that sends an action.
    pub fn on<E>(&self, action: Action) -> Callback<E> {
        let act = self.act.clone();
        Callback::from(move |_| act.emit(action.clone()))
    }

    /// A copy without the tick, for parts that show no counters.
    #[must_use]
    pub fn still(&self) -> Part {
        Part { tick: 0, ..self.clone() }
    }
}
