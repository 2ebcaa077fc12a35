//! Keys on the stage. Single keys count only while the canvas or one of its nodes has the focus.

use web_sys::HtmlElement;
use yew::prelude::*;

use super::super::{Part, may_group};
use super::Stage;
use crate::model::state::{Action, Tool};
use crate::model::viewport::{GRID, pt};
use crate::model::{connect, locale as text};

impl Stage {
    pub(super) fn key(&mut self, ctx: &Context<Self>, part: &Part, event: &KeyboardEvent) -> bool {
        if event.ctrl_key() || event.meta_key() {
            return self.key_with_ctrl(part, event);
        }
        let taken = match (&part.state.tool, event.key().as_str()) {
            (Tool::Move { .. }, key) => self.key_while_moving(part, key, event.shift_key()),
            (Tool::Place(kind), "Enter") => {
                self.place_by_key(ctx, part, kind);
                true
            }
            (_, "Escape") => {
                self.cancel_drag(part);
                part.act.emit(Action::Take(Tool::Select));
                true
            }
            (_, key) => self.plain_key(ctx, part, key),
        };
        if taken {
            event.prevent_default();
            self.dirty = true;
        }
        taken
    }

    fn key_with_ctrl(&mut self, part: &Part, event: &KeyboardEvent) -> bool {
        let action = match (event.key().to_ascii_lowercase().as_str(), event.shift_key()) {
            ("a", false) => Action::SelectAll,
            ("g", false) if may_group(&part.state) => Action::Group,
            ("g", false) => Action::Say(text::refused(text::SELECT_ACTORS_TO_GROUP)),
            ("g", true) => Action::Ungroup,
            _ => return false,
        };
        event.prevent_default();
        part.act.emit(action);
        true
    }

    fn key_while_moving(&mut self, part: &Part, key: &str, fast: bool) -> bool {
        let step = if fast { 5 * GRID } else { GRID };
        let action = match key {
            "ArrowLeft" => Action::Nudge(-step, 0),
            "ArrowRight" => Action::Nudge(step, 0),
            "ArrowUp" => Action::Nudge(0, -step),
            "ArrowDown" => Action::Nudge(0, step),
            "Enter" => Action::EndMove(true),
            "Escape" => Action::EndMove(false),
            _ => return false,
        };
        part.act.emit(action);
        true
    }

    fn plain_key(&mut self, ctx: &Context<Self>, part: &Part, key: &str) -> bool {
        let single = part.state.selection.single().map(str::to_owned);
        match (key, single) {
            (" ", _) => part.act.emit(Action::TogglePlay),
            (",", _) => {
                let turn = part.live.borrow().turns();
                part.act.emit(Action::Seek(turn.saturating_sub(1)));
            }
            (".", _) => part.act.emit(Action::StepTurn),
            (">" | ":", _) => part.act.emit(Action::StepMessage),
            ("Delete" | "Backspace", _) => part.act.emit(Action::Delete),
            ("m" | "M", Some(_)) => part.act.emit(Action::Take(Tool::Move { dx: 0, dy: 0 })),
            ("c" | "C", Some(node)) => self.connect(part, node),
            ("Enter", Some(_)) => focus_inspector(),
            ("+" | "=", _) => drop(self.zoom(1.25)),
            ("-", _) => drop(self.zoom(1.0 / 1.25)),
            ("0", _) => drop(self.zoom(1.0 / self.view.zoom)),
            ("1", _) => ctx.link().send_message(super::Msg::Fit),
            ("ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown", Some(node)) => self.walk(part, &node, key),
            ("ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown", None) => self.pan_by_key(key),
            _ => return false,
        }
        true
    }

    /// Opens the list of targets; the port is chosen if there is only one output.
    fn connect(&self, part: &Part, node: String) {
        let ports = connect::ports_of(&part.state.doc, &node);
        let from = match ports.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        };
        part.act.emit(Action::Take(Tool::ConnectList { node, from }));
    }

    fn pan_by_key(&mut self, key: &str) {
        match key {
            "ArrowLeft" => self.view.pan(60.0, 0.0),
            "ArrowRight" => self.view.pan(-60.0, 0.0),
            "ArrowUp" => self.view.pan(0.0, 60.0),
            _ => self.view.pan(0.0, -60.0),
        }
    }

    /// Goes to the nearest node in the direction of the arrow.
    fn walk(&self, part: &Part, from: &str, key: &str) {
        let Some(here) = self.layout.bounds(from).map(|r| r.centre()) else { return };
        let dir = match key {
            "ArrowLeft" => pt(-1.0, 0.0),
            "ArrowRight" => pt(1.0, 0.0),
            "ArrowUp" => pt(0.0, -1.0),
            _ => pt(0.0, 1.0),
        };
        let mut best: Option<(f64, &str)> = None;
        for node in part.state.doc.nodes.iter().filter(|n| n.id != from) {
            let Some(there) = self.layout.bounds(&node.id).map(|r| r.centre()) else { continue };
            let along = (there.x - here.x) * dir.x + (there.y - here.y) * dir.y;
            let aside = ((there.x - here.x) * dir.y - (there.y - here.y) * dir.x).abs();
            let cost = along + 2.0 * aside;
            if along > 1.0 && best.is_none_or(|(c, _)| cost < c) {
                best = Some((cost, &node.id));
            }
        }
        if let Some((_, id)) = best {
            self.give_focus(id);
        }
    }
}

fn focus_inspector() {
    let field = web_sys::window().and_then(|w| w.document()).and_then(|d| {
        d.query_selector("#inspector input, #inspector select, #inspector button").ok().flatten()
    });
    if let Some(field) = field.and_then(|f| wasm_bindgen::JsCast::dyn_into::<HtmlElement>(f).ok()) {
        let _ = field.focus();
    }
}
