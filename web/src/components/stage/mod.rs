//! The canvas with its layer of focus targets: pointers, keys, painting.
//!
//! One pointer listener on the root; what is hit is decided by `model::geometry`, never by the elements. The elements of
//! the layer are there for the keyboard, for screen readers and for tests.

mod keys;
mod layer;
mod paint;
mod pointer;

use std::cell::RefCell;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use gloo_render::{AnimationFrame, request_animation_frame};
use gloo_timers::callback::Interval;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlCanvasElement, WheelEvent};
use yew::prelude::*;

use super::Part;
use crate::canvas::dots::Dots;
use crate::model::geometry::Layout;
use crate::model::regime::Regime;
use crate::model::state::{Action, Tool};
use crate::model::viewport::{Point, Viewport, pt};
use crate::model::{format, locale as text};
use pointer::Drag;

/// What the canvas shows, for the status bar and `window.footlights`.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The regime of the dots.
    pub regime: Regime,
    /// What part of the document is seen.
    pub view: Viewport,
    /// Where the canvas is in the window.
    pub corner: Point,
    /// Frames painted.
    pub painted: u64,
}

/// Shared between the stage, which writes, and the page, which reads.
pub type SharedShown = Rc<RefCell<Shown>>;

/// Properties of [`Stage`].
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// State, counters, actions.
    pub part: Part,
    /// Raised when the whole graph shall be shown.
    pub fit: u32,
    /// Raised, with a node, when it shall get the keyboard focus.
    pub focus: (u32, String),
    /// What the canvas shows.
    pub shown: StageShown,
}

/// [`SharedShown`], equal to itself.
#[derive(Clone, Default)]
pub struct StageShown(pub SharedShown);

impl PartialEq for StageShown {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// What can happen on the stage.
pub enum Msg {
    /// The screen is about to be drawn.
    Frame(f64),
    /// Four times a second.
    Slow,
    /// A pointer went down, moved, or came up.
    Down(PointerEvent),
    /// See [`Msg::Down`].
    Move(PointerEvent),
    /// See [`Msg::Down`].
    Up(PointerEvent),
    /// The browser took the pointer away.
    Cancel,
    /// The wheel turned.
    Wheel(WheelEvent),
    /// A key went down.
    Key(KeyboardEvent),
    /// Esc was pressed, wherever the focus is.
    Escape,
    /// A node got the keyboard focus.
    Focused(String),
    /// Zoom by a factor about the middle.
    Zoom(f64),
    /// Show everything.
    Fit,
    /// A kind from the palette was dropped.
    Dropped(DragEvent),
}

/// The canvas and what is in hand there.
pub struct Stage {
    root: NodeRef,
    canvases: [NodeRef; 3],
    layout: Layout,
    view: Viewport,
    size: (f64, f64),
    ratio: f64,
    drag: Option<Drag>,
    pressed: bool,
    dark: bool,
    hover: Option<footlights::scenario::document::PortRef>,
    pointer: Point,
    dots: Dots,
    frames_seen: u64,
    last_ms: f64,
    edges_ms: f64,
    dirty: bool,
    fitted: bool,
    fit: Option<Viewport>,
    drift_until_ms: f64,
    focused: u32,
    _raf: Option<AnimationFrame>,
    _slow: Interval,
    _wheel: Option<EventListener>,
    _escape: Option<EventListener>,
}

impl Component for Stage {
    type Message = Msg;
    type Properties = Props;

    fn create(ctx: &Context<Self>) -> Self {
        let link = ctx.link().clone();
        Stage {
            root: NodeRef::default(),
            canvases: Default::default(),
            layout: Layout::of(&ctx.props().part.state.doc, &|_| None),
            view: Viewport::default(),
            size: (0.0, 0.0),
            ratio: 1.0,
            drag: None,
            pressed: false,
            dark: false,
            hover: None,
            pointer: pt(0.0, 0.0),
            dots: Dots::default(),
            frames_seen: 0,
            last_ms: 0.0,
            edges_ms: 0.0,
            dirty: true,
            fitted: false,
            fit: None,
            drift_until_ms: 0.0,
            focused: 0,
            _raf: None,
            _slow: Interval::new(250, move || link.send_message(Msg::Slow)),
            _wheel: None,
            _escape: listen_to_escape(ctx),
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &Props) -> bool {
        let new = ctx.props();
        if new.fit != old.fit {
            self.fitted = false;
        }
        if !Rc::ptr_eq(&new.part.state, &old.part.state) {
            self.dirty = true;
            self.arrange(&new.part);
            if !new.part.state.run.playing && old.part.state.run.playing {
                self.drift_until_ms = 0.0;
            }
            if !new.part.state.run.playing && !old.part.state.run.playing {
                self.drift_until_ms = self.last_ms + 1_500.0;
            }
        }
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        let part = ctx.props().part.clone();
        match msg {
            Msg::Frame(now_ms) => {
                self.frame(ctx, &part, now_ms);
                self.ask_for_frame(ctx);
                false
            }
            Msg::Slow => true,
            Msg::Down(event) => self.pointer_down(&part, &event),
            Msg::Move(event) => self.pointer_move(&part, &event),
            Msg::Up(event) => self.pointer_up(&part, &event),
            Msg::Cancel => self.cancel_drag(&part),
            Msg::Wheel(event) => self.wheel(&event),
            Msg::Key(event) => self.key(ctx, &part, &event),
            Msg::Escape => {
                if matches!(part.state.tool, Tool::Place(_) | Tool::Wire(_)) {
                    part.act.emit(Action::Take(Tool::Select));
                }
                false
            }
            Msg::Focused(id) => self.focused(&part, id),
            Msg::Zoom(factor) => self.zoom(factor),
            Msg::Fit => {
                self.fitted = false;
                true
            }
            Msg::Dropped(event) => self.dropped(&part, &event),
        }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let part = &ctx.props().part;
        let link = ctx.link();
        let placing = matches!(part.state.tool, Tool::Place(_));
        html! {
            <section class={classes!("stage", placing.then_some("placing"))} ref={&self.root} data-testid="canvas"
                tabindex="0" role="application" aria-label={text::CANVAS} aria-describedby="canvas-help"
                onpointerdown={link.callback(Msg::Down)} onpointermove={link.callback(Msg::Move)}
                onpointerup={link.callback(Msg::Up)} onpointercancel={link.callback(|_| Msg::Cancel)}
                onkeydown={link.callback(Msg::Key)} ondrop={link.callback(Msg::Dropped)}
                ondragover={Callback::from(|e: DragEvent| e.prevent_default())}>
                { for self.canvases.iter().map(|c| html! { <canvas ref={c} aria-hidden="true" /> }) }
                { self.layer(ctx, part) }
                { self.empty_hint(part) }
                <p id="canvas-help" class="visually-hidden">{ text::CANVAS_HELP }</p>
                { self.legend(part) }
                { self.tool_hint(part) }
                { self.zoom_buttons(ctx) }
            </section>
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if first {
            self.listen_to_wheel(ctx);
            self.ask_for_frame(ctx);
        }
        let (number, node) = &ctx.props().focus;
        if *number != self.focused {
            self.focused = *number;
            self.give_focus(node);
        }
    }
}

impl Stage {
    fn ask_for_frame(&mut self, ctx: &Context<Self>) {
        let link = ctx.link().clone();
        self._raf = Some(request_animation_frame(move |now_ms| link.send_message(Msg::Frame(now_ms))));
    }

    /// Not passive, so that the page does not scroll or zoom along.
    fn listen_to_wheel(&mut self, ctx: &Context<Self>) {
        let Some(root) = self.root.cast::<Element>() else { return };
        let link = ctx.link().clone();
        let options = EventListenerOptions::enable_prevent_default();
        self._wheel = Some(EventListener::new_with_options(&root, "wheel", options, move |event| {
            if let Some(event) = event.dyn_ref::<WheelEvent>() {
                event.prevent_default();
                link.send_message(Msg::Wheel(event.clone()));
            }
        }));
    }

    fn canvas(&self, at: usize) -> Option<HtmlCanvasElement> {
        self.canvases[at].cast()
    }

    /// Computes the layout anew, with what is being moved where it is now.
    fn arrange(&mut self, part: &Part) {
        let state = &part.state;
        let by_keys = match &state.tool {
            Tool::Move { dx, dy } => Some((f64::from(*dx), f64::from(*dy))),
            _ => None,
        };
        let (ids, shift) = match &self.drag {
            Some(Drag::Nodes { ids, shift, .. }) => (ids.clone(), *shift),
            _ => (state.selection.nodes.iter().cloned().collect(), by_keys.unwrap_or_default()),
        };
        let moved: Vec<String> = match shift == (0.0, 0.0) {
            true => Vec::new(),
            false => {
                ids.iter().flat_map(|id| crate::model::geometry::with_descendants(&state.doc, id)).collect()
            }
        };
        self.layout = Layout::of(&state.doc, &|id| moved.iter().any(|m| m == id).then_some(shift));
        self.dirty = true;
    }

    fn zoom(&mut self, factor: f64) -> bool {
        self.view.zoom_at(pt(self.size.0 / 2.0, self.size.1 / 2.0), factor);
        self.dirty = true;
        true
    }

    fn wheel(&mut self, event: &WheelEvent) -> bool {
        let at = self.local(f64::from(event.client_x()), f64::from(event.client_y()));
        let step = if event.ctrl_key() { 0.01 } else { 0.0015 };
        self.view.zoom_at(at, (-event.delta_y() * step).exp());
        self.dirty = true;
        true
    }

    fn focused(&mut self, part: &Part, id: String) -> bool {
        if self.drag.is_none() && !part.state.selection.nodes.contains(&id) {
            part.act.emit(Action::Select(vec![id]));
        }
        true
    }

    fn legend(&self, part: &Part) -> Html {
        let regime = self.dots.regime();
        let speed = match part.state.run.speed {
            crate::engine::protocol::Speed::Max => text::SPEED_MAX.to_owned(),
            crate::engine::protocol::Speed::Permille(p) => format::speed(p),
        };
        let per_dot = format::grouped(regime.per_dot() as u64);
        let line = match paint::is_calm() {
            true => super::words::calm_legend(&speed),
            false => text::legend(&per_dot, regime == Regime::Each, &speed),
        };
        html! { <p class="legend" data-testid="legend" title={text::LEGEND_HINT}>{ line }</p> }
    }

    fn tool_hint(&self, part: &Part) -> Html {
        let hint = match &part.state.tool {
            Tool::Place(_) => text::PLACE_HINT,
            Tool::Move { .. } => text::MOVE_HINT,
            Tool::Wire(_) => text::WIRE_HINT,
            _ => return Html::default(),
        };
        html! { <p class="tool-hint" role="status">{ hint }</p> }
    }

    fn empty_hint(&self, part: &Part) -> Html {
        if !part.state.doc.nodes.is_empty() {
            return Html::default();
        }
        html! { <div class="empty-stage"><h2>{ text::EMPTY_TITLE }</h2><p>{ text::EMPTY_HELP }</p></div> }
    }

    fn zoom_buttons(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let button = |id: &'static str, label: &'static str, face: &'static str, on: Callback<MouseEvent>| {
            let stop = Callback::from(|e: PointerEvent| e.stop_propagation());
            html! {
                <button type="button" data-testid={id} aria-label={label} title={label} onclick={on}
                    onpointerdown={stop}>{ face }</button>
            }
        };
        html! {
            <div class="zoom">
                { button("zoom-out", text::ZOOM_OUT, "−", link.callback(|_| Msg::Zoom(1.0 / 1.25))) }
                { button("zoom-in", text::ZOOM_IN, "+", link.callback(|_| Msg::Zoom(1.25))) }
                { button("zoom-fit", text::ZOOM_FIT, "⤢", link.callback(|_| Msg::Fit)) }
            </div>
        }
    }
}

/// Esc puts back what is in hand even while the focus is in the palette.
fn listen_to_escape(ctx: &Context<Stage>) -> Option<EventListener> {
    let link = ctx.link().clone();
    let window = web_sys::window()?;
    Some(EventListener::new(&window, "keydown", move |event| {
        if event.dyn_ref::<KeyboardEvent>().is_some_and(|e| e.key() == "Escape") {
            link.send_message(Msg::Escape);
        }
    }))
}
