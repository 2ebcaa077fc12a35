//! The page as a whole: holds the state, carries out effects, lays out the parts.

use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::{Interval, Timeout};
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};
use yew::prelude::*;

use crate::canvas::SharedLive;
use crate::components::Part;
use crate::components::banner::Banner;
use crate::components::connect_list::ConnectList;
use crate::components::dock::Dock;
use crate::components::import::ImportDialog;
use crate::components::inspector::Inspector;
use crate::components::menu::Menu;
use crate::components::palette::Palette;
use crate::components::stage::{Stage, StageShown};
use crate::components::status::Status;
use crate::components::transport::Transport;
use crate::debug::Debug;
use crate::engine::link::{Link, Listener};
use crate::engine::protocol::{News, Speed, Update};
use crate::model::reduce::reduce;
use crate::model::state::{Action, Effect, State};

/// An edit starts a new run so long after the last one.
const RELOAD_MS: u32 = 300;
/// A toast stays so long.
const TOAST_MS: u32 = 4_000;
/// Panels look at the counters so often.
const TICK_MS: u32 = 250;

/// What can happen to the page.
pub enum Msg {
    /// A person or a timer wants something.
    Act(Action),
    /// The engine said something.
    News(News),
    /// Panels look again.
    Tick,
}

/// The page.
pub struct App {
    state: Rc<State>,
    live: SharedLive,
    shown: StageShown,
    link: Option<Link>,
    tick: u32,
    fit: u32,
    focus: (u32, String),
    debug: Debug,
    reload: Option<Timeout>,
    toast: Option<Timeout>,
    _tick: Interval,
    _keys: Option<EventListener>,
    _visibility: Option<EventListener>,
}

impl Component for App {
    type Message = Msg;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let link = ctx.link().clone();
        let (live, shown) = (SharedLive::default(), StageShown::default());
        let state = Rc::new(State::default());
        let debug = Debug::install(&state, &live, &shown, ctx.link().callback(Msg::Act));
        let mut app = App {
            state,
            live,
            shown,
            link: None,
            tick: 0,
            fit: 0,
            focus: (0, String::new()),
            debug,
            reload: None,
            toast: None,
            _tick: Interval::new(TICK_MS, move || link.send_message(Msg::Tick)),
            _keys: listen_to_keys(ctx),
            _visibility: listen_to_visibility(ctx),
        };
        app.connect(ctx);
        app.act(ctx, Action::OpenBuiltin(0));
        // A first visit shows something that runs, slowly enough for each message to be seen.
        app.act(ctx, Action::SetSpeed(Speed::Permille(250)));
        app.act(ctx, Action::TogglePlay);
        app
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Act(action) => self.act(ctx, action),
            Msg::News(news) => {
                if let Some(news) = self.keep_live(news) {
                    self.act(ctx, Action::Engine(news));
                }
            }
            Msg::Tick => {
                self.tick = self.tick.wrapping_add(1);
                self.debug.announce_ready();
            }
        }
        true
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let part = Part {
            state: Rc::clone(&self.state),
            live: Rc::clone(&self.live),
            act: ctx.link().callback(Msg::Act),
            tick: self.tick,
        };
        let ready = self.debug.is_ready();
        let mode = self.state.mode(self.live.borrow().is_replaying());
        html! {
            <div class="app" data-testid="app-root" data-mode={mode} data-ready={ready.to_string()}>
                <header class="top">
                    <Menu ..part.still() />
                    <Transport ..part.still() />
                </header>
                <Palette ..part.still() />
                <main class="middle">
                    <Stage part={part.still()} fit={self.fit} focus={self.focus.clone()} shown={self.shown.clone()} />
                    <Banner ..part.still() />
                    <ConnectList ..part.still() />
                </main>
                <Inspector ..part.clone() />
                <Dock ..part.clone() />
                <Status part={part.clone()} shown={self.shown.clone()} />
                if self.state.import.is_some() { <ImportDialog ..part.still() /> }
                <p class="visually-hidden" aria-live="polite" data-testid="announcer">{ &self.state.announce }</p>
            </div>
        }
    }
}

impl App {
    fn act(&mut self, ctx: &Context<Self>, action: Action) {
        let effects = reduce(Rc::make_mut(&mut self.state), action);
        self.debug.see(&self.state);
        for effect in effects {
            self.carry_out(ctx, effect);
        }
    }

    fn carry_out(&mut self, ctx: &Context<Self>, effect: Effect) {
        let page = ctx.link().clone();
        match effect {
            Effect::Send(command) => {
                if let Some(link) = &self.link {
                    link.send(command);
                }
            }
            Effect::ReloadSoon => {
                let reload = move || page.send_message(Msg::Act(Action::Reload));
                self.reload = Some(Timeout::new(RELOAD_MS, reload));
            }
            Effect::Fit => self.fit = self.fit.wrapping_add(1),
            Effect::Focus(node) => self.focus = (self.focus.0.wrapping_add(1), node),
            Effect::Respawn => self.connect(ctx),
            Effect::ClearLive => self.live.borrow_mut().clear(),
            Effect::ExpireToast(number) => {
                let drop_it = move || page.send_message(Msg::Act(Action::DropToast(number)));
                self.toast = Some(Timeout::new(TOAST_MS, drop_it));
            }
        }
    }

    /// Ends the worker, if there is one, and starts another.
    fn connect(&mut self, ctx: &Context<Self>) {
        let (page, live) = (ctx.link().clone(), Rc::clone(&self.live));
        self.link = None;
        let listener = Listener {
            news: Box::new(move |news| page.send_message(Msg::News(news))),
            frame: Box::new(move |words| {
                live.borrow_mut().take(words, now_ms());
            }),
        };
        match Link::start(listener) {
            Ok(link) => self.link = Some(link),
            Err(_) => ctx.link().send_message(Msg::News(News::Silent)),
        }
    }

    /// Takes what belongs to the counters; hands on what belongs to the state.
    fn keep_live(&mut self, news: News) -> Option<News> {
        let mut live = self.live.borrow_mut();
        match news {
            News::Update(Update::Loaded { nodes, edges, .. }) => live.load(nodes, edges),
            News::Update(Update::Rare { events, lost }) => live.rare(events, lost, now_ms()),
            News::Update(Update::Detail(detail)) => live.detail = Some(detail),
            News::Update(Update::LogPage(_)) => {}
            news => return Some(news),
        }
        None
    }
}

fn now_ms() -> f64 {
    web_sys::window().and_then(|w| w.performance()).map_or(0.0, |p| p.now())
}

/// Undo and redo work everywhere but in text fields, which undo their own text.
fn listen_to_keys(ctx: &Context<App>) -> Option<EventListener> {
    let page = ctx.link().clone();
    let window = web_sys::window()?;
    let options = gloo_events::EventListenerOptions::enable_prevent_default();
    Some(EventListener::new_with_options(&window, "keydown", options, move |event| {
        let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
        if !(event.ctrl_key() || event.meta_key()) || is_text_field(event) {
            return;
        }
        let action = match (event.key().to_ascii_lowercase().as_str(), event.shift_key()) {
            ("z", false) => Action::Undo,
            ("z", true) | ("y", false) => Action::Redo,
            _ => return,
        };
        event.prevent_default();
        page.send_message(Msg::Act(action));
    }))
}

fn is_text_field(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|t| t.dyn_into::<Element>().ok());
    target.is_some_and(|e| e.matches("textarea, input[type=text], input[type=search]").unwrap_or(false))
}

/// A hidden page pauses and says so.
fn listen_to_visibility(ctx: &Context<App>) -> Option<EventListener> {
    let page = ctx.link().clone();
    let document = web_sys::window()?.document()?;
    let target = document.clone();
    Some(EventListener::new(&target, "visibilitychange", move |_| {
        if document.hidden() {
            page.send_message(Msg::Act(Action::Hide));
        }
    }))
}

/// Mounts the page into the document's `#app` element, in place of the picture that stood there for the first paint.
///
/// # Panics
///
/// Panics where the document has no `#app`: then this is not our index.html.
pub fn run() {
    crate::debug::report_panics();
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id("app"))
        .expect("index.html has an element with the id `app`");
    root.set_inner_html("");
    yew::Renderer::<App>::with_root(root).render();
}
