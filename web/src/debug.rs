//! `window.footlights`: what tests and embedding pages may read, and the panel of last resort.
//!
//! The object is frozen; its functions give plain copies. 64-bit numbers go as strings, since JavaScript would round them.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Function, JSON, Object, Reflect};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;
use yew::Callback;

use crate::canvas::SharedLive;
use crate::components::stage::StageShown;
use crate::engine::protocol::Speed;
use crate::engine::telemetry::{BALANCED, FINISHED, LEDGER_TERMS, NO_AGE};
use crate::model::geometry::Layout;
use crate::model::live::Live;
use crate::model::state::{Action, Engine, State};
use crate::model::viewport::pt;

struct Seen {
    state: Rc<State>,
    live: SharedLive,
    shown: StageShown,
}

/// Keeps the object's functions alive.
pub struct Debug {
    seen: Rc<RefCell<Seen>>,
    announced: bool,
    _getters: Vec<Closure<dyn FnMut() -> JsValue>>,
}

impl Debug {
    /// Puts the object into the window.
    pub fn install(state: &Rc<State>, live: &SharedLive, shown: &StageShown, act: Callback<Action>) -> Debug {
        let seen = Rc::new(RefCell::new(Seen {
            state: Rc::clone(state),
            live: Rc::clone(live),
            shown: shown.clone(),
        }));
        let object = Object::new();
        set(&object, "version", &crate::BUILD.into());
        let mut getters = Vec::new();
        for (name, read) in
            [("state", state_of as fn(&Seen) -> JsValue), ("ledger", ledger), ("logHash", log_hash)]
        {
            let seen = Rc::clone(&seen);
            let getter = Closure::new(move || read(&seen.borrow()));
            set(&object, name, getter.as_ref());
            getters.push(getter);
        }
        let ready = {
            let seen = Rc::clone(&seen);
            Closure::<dyn FnMut() -> JsValue>::new(move || is_ready(&seen.borrow()).into())
        };
        define_getter(&object, "ready", ready.as_ref().unchecked_ref());
        getters.push(ready);
        let panic = Closure::<dyn FnMut() -> JsValue>::new(move || {
            act.emit(Action::DebugPanic);
            JsValue::UNDEFINED
        });
        set(&object, "debugPanic", panic.as_ref());
        getters.push(panic);
        Object::freeze(&object);
        if let Some(window) = web_sys::window() {
            set(&window, "footlights", &object);
        }
        Debug { seen, announced: false, _getters: getters }
    }

    /// Takes the newest state.
    pub fn see(&self, state: &Rc<State>) {
        self.seen.borrow_mut().state = Rc::clone(state);
    }

    /// The engine shook hands and the first frame is drawn.
    pub fn is_ready(&self) -> bool {
        is_ready(&self.seen.borrow())
    }

    /// Tells the window once that all is ready.
    pub fn announce_ready(&mut self) {
        if self.announced || !self.is_ready() {
            return;
        }
        self.announced = true;
        if let (Some(window), Ok(event)) = (web_sys::window(), web_sys::Event::new("footlights:ready")) {
            let _ = window.dispatch_event(&event);
        }
    }
}

fn set(object: &JsValue, name: &str, value: &JsValue) {
    let _ = Reflect::set(object, &name.into(), value);
}

fn define_getter(object: &Object, name: &str, get: &Function) {
    let descriptor = Object::new();
    set(&descriptor, "get", get);
    set(&descriptor, "enumerable", &true.into());
    Object::define_property(object, &name.into(), &descriptor);
}

fn to_js(value: &Value) -> JsValue {
    JSON::parse(&value.to_string()).unwrap_or(JsValue::NULL)
}

fn is_ready(seen: &Seen) -> bool {
    seen.state.engine == Engine::Ready && seen.shown.0.borrow().painted > 0 && seen.live.borrow().frames() > 0
}

fn log_hash(seen: &Seen) -> JsValue {
    seen.live.borrow().head.map_or(JsValue::NULL, |h| format!("{:016x}", h.hash).into())
}

fn ledger(seen: &Seen) -> JsValue {
    let Some(head) = seen.live.borrow().head else { return JsValue::NULL };
    let mut object = serde_json::Map::new();
    for (name, n) in LEDGER_TERMS.iter().zip(head.ledger) {
        object.insert((*name).into(), n.into());
    }
    object.insert("balanced".into(), (head.flags & BALANCED != 0).into());
    to_js(&Value::Object(object))
}

fn state_of(seen: &Seen) -> JsValue {
    let (state, live, shown) = (&seen.state, seen.live.borrow(), seen.shown.0.borrow());
    let head = live.head;
    let speed = match state.run.speed {
        Speed::Max => Value::from("max"),
        Speed::Permille(p) => Value::from(f64::from(p) / 1_000.0),
    };
    let selected: Vec<&String> = state.selection.nodes.iter().collect();
    to_js(&json!({
        "mode": state.mode(live.is_replaying()), "run": head.map(|h| h.run), "turn": head.map(|h| h.turns),
        "time_ns": head.map(|h| h.time_ns.to_string()), "speed": speed,
        "seed": state.doc.seed.to_string(), "regime": shown.regime.name(), "dot": shown.regime.per_dot(),
        "nodes": nodes(seen, &live), "edges": edges(state, &live),
        "problems": state.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "ended": state.run.ended, "finished": head.map(|h| h.flags & FINISHED != 0), "selected": selected, "lesson": null,
        "telemetry_lost": head.map(|h| u64::from(h.lost[0]) + u64::from(h.lost[1]) + live.events_lost),
        "events": live.events.iter().take(200).map(|e| json!({
            "turn": e.turn, "node": e.node, "kind": format!("{:?}", e.kind), "why": e.why,
        })).collect::<Vec<_>>(),
    }))
}

fn nodes(seen: &Seen, live: &Live) -> Vec<Value> {
    let shown = seen.shown.0.borrow();
    let layout = Layout::of(&seen.state.doc, &|_| None);
    let one = |n: &footlights::scenario::document::Node| {
        let row = live.node(&n.id).copied();
        let rect = layout.bounds(&n.id).map(|r| {
            let p = shown.view.to_screen(pt(r.x, r.y));
            let z = shown.view.zoom;
            json!({"x": p.x + shown.corner.x, "y": p.y + shown.corner.y, "w": r.w * z, "h": r.h * z})
        });
        json!({
            "id": n.id, "kind": n.kind, "label": seen.state.label_of(&n.id), "parent": n.parent,
            "state": row.map(|r| r.state.name()), "handled": row.map(|r| r.handled),
            "queued": row.map(|r| r.queued), "restarts": row.map(|r| r.restarts), "lost": row.map(|r| r.lost),
            "capacity": live.node_meta(&n.id).and_then(|m| m.capacity),
            "oldest_age_ms": row.filter(|r| r.oldest_age_us != NO_AGE).map(|r| f64::from(r.oldest_age_us) / 1e3),
            "busy": row.map(|r| f64::from(r.busy_permille) / 1e3), "rect": rect,
        })
    };
    seen.state.doc.nodes.iter().map(one).collect()
}

fn edges(state: &State, live: &Live) -> Vec<Value> {
    let one = |e: &footlights::scenario::document::Edge| {
        let row = live.edge(&e.id).copied();
        json!({
            "id": e.id, "from": e.from.to_string(), "to": e.to.to_string(), "passed": row.map(|r| r.passed),
            "in_flight": row.map(|r| r.in_flight), "capacity": live.edge_meta(&e.id).and_then(|m| m.capacity),
        })
    };
    state.doc.edges.iter().map(one).collect()
}

/// A panic of the page itself: a plain panel instead of a blank page, written without any part of the page.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        let document = web_sys::window().and_then(|w| w.document());
        let Some(document) = document else { return };
        let (Some(body), Ok(panel)) = (document.body(), document.create_element("div")) else { return };
        panel.set_class_name("panic-panel");
        let _ = panel.set_attribute("role", "alert");
        let message =
            format!("The page stopped: {info}. This is a fault in Footlights. Reload the page to go on.");
        panel.set_text_content(Some(&message));
        let _ = body.append_child(&panel);
    }));
}
