//! The page's end of the line: starts the worker, numbers commands, matches answers, notices silence.
//!
//! I1 nothing is posted before the worker has said *ready*; what is sent earlier waits. I2 dropping the link terminates the
//! worker and takes every listener and timer with it, so that a stop costs no more than that.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use gloo_timers::callback::{Interval, Timeout};
use js_sys::{Array, ArrayBuffer, Uint32Array};
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageEvent, Worker};

use super::protocol::{Command, Envelope, News, PROTOCOL, Update};

/// How long the worker may take to say *ready*.
const READY_MS: u32 = 5_000;
/// How often it is asked whether it lives.
const PING_MS: u32 = 500;
/// Unanswered pings after which it counts as hung: 2 s.
const PINGS_MAX: u32 = 4;

/// Takes all that the engine says but frames.
pub type OnNews = Box<dyn Fn(News)>;
/// Takes a frame's words.
pub type OnFrame = Box<dyn Fn(&[u32])>;

/// What the link calls when the engine has said something.
pub struct Listener {
    /// Takes all but frames.
    pub news: OnNews,
    /// Takes a frame.
    pub frame: OnFrame,
}

/// A line to a running engine worker.
pub struct Link {
    inner: Rc<Inner>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
    _pings: Interval,
}

struct Inner {
    worker: Worker,
    listener: Listener,
    ready: Cell<bool>,
    dead: Cell<bool>,
    seq: Cell<u32>,
    waiting: RefCell<Vec<Envelope>>,
    pending: RefCell<BTreeMap<u32, Command>>,
    unanswered: Cell<u32>,
    words: RefCell<Vec<u32>>,
    ready_timer: RefCell<Option<Timeout>>,
}

impl Link {
    /// Starts a worker; its address carries the build, so that a new page never meets a cached old engine.
    ///
    /// # Errors
    ///
    /// Hands back what the browser threw where it cannot start workers.
    pub fn start(listener: Listener) -> Result<Link, JsValue> {
        let build = js_sys::encode_uri_component(crate::BUILD);
        let worker = Worker::new(&format!("./engine_loader.js?v={build}"))?;
        let inner = Rc::new(Inner {
            worker,
            listener,
            ready: Cell::new(false),
            dead: Cell::new(false),
            seq: Cell::new(0),
            waiting: RefCell::default(),
            pending: RefCell::default(),
            unanswered: Cell::new(0),
            words: RefCell::default(),
            ready_timer: RefCell::default(),
        });
        let weak = Rc::downgrade(&inner);
        let timer = Timeout::new(READY_MS, with(&weak, |inner| inner.tell(News::Silent)));
        inner.ready_timer.replace(Some(timer));
        let receiver = weak.clone();
        let on_message = Closure::new(move |event: MessageEvent| {
            if let Some(inner) = receiver.upgrade() {
                inner.receive(&event.data());
            }
        });
        inner.worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        let on_error = error_listener(weak.clone());
        inner.worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        let pings = Interval::new(PING_MS, with(&weak, Inner::ping));
        Ok(Link { inner, _on_message: on_message, _on_error: on_error, _pings: pings })
    }

    /// Sends a command, or keeps it until the worker is ready.
    pub fn send(&self, cmd: Command) {
        self.inner.send(cmd);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.inner.dead.set(true);
        self.inner.worker.set_onmessage(None);
        self.inner.worker.set_onerror(None);
        self.inner.worker.terminate();
    }
}

fn with(weak: &Weak<Inner>, call: fn(&Inner)) -> impl Fn() + 'static {
    let weak = weak.clone();
    move || {
        if let Some(inner) = weak.upgrade() {
            call(&inner);
        }
    }
}

/// An error of the worker itself: a panic that could not say so, or a file that did not load.
fn error_listener(weak: Weak<Inner>) -> Closure<dyn FnMut(ErrorEvent)> {
    Closure::new(move |event: ErrorEvent| {
        event.prevent_default();
        if let Some(inner) = weak.upgrade() {
            match inner.ready.get() {
                true => inner.update(Update::Fault { message: event.message(), at: 0 }),
                false => inner.tell(News::Silent),
            }
        }
    })
}

impl Inner {
    fn tell(&self, news: News) {
        (self.listener.news)(news);
    }

    fn send(&self, cmd: Command) {
        let seq = self.seq.get().wrapping_add(1);
        self.seq.set(seq);
        let envelope = Envelope { seq, cmd };
        match self.ready.get() {
            true => self.post(envelope),
            false => self.waiting.borrow_mut().push(envelope),
        }
    }

    fn post(&self, envelope: Envelope) {
        if self.dead.get() {
            return;
        }
        if let Ok(text) = serde_json::to_string(&envelope) {
            let _ = self.worker.post_message(&JsValue::from_str(&text));
            self.pending.borrow_mut().insert(envelope.seq, envelope.cmd);
        }
    }

    fn receive(&self, data: &JsValue) {
        if let Some(text) = data.as_string() {
            if let Ok(update) = serde_json::from_str::<Update>(&text) {
                self.update(update);
            }
        } else if let Ok(buffer) = data.clone().dyn_into::<ArrayBuffer>() {
            self.frame(&buffer);
        }
    }

    /// Reads a frame and gives the buffer back, which acknowledges it.
    fn frame(&self, buffer: &ArrayBuffer) {
        let view = Uint32Array::new(buffer);
        let mut words = self.words.borrow_mut();
        words.resize(view.length() as usize, 0);
        view.copy_to(&mut words);
        (self.listener.frame)(&words);
        if !self.dead.get() {
            let _ = self.worker.post_message_with_transfer(buffer, &Array::of1(buffer));
        }
    }

    fn update(&self, update: Update) {
        match update {
            Update::Ready { protocol, build } => self.shake_hands(protocol, &build),
            Update::Pong => {
                if self.unanswered.replace(0) >= PINGS_MAX {
                    self.tell(News::Back);
                }
            }
            Update::Done { seq, at, at_ns } => {
                if let Some(cmd) = self.answered(seq) {
                    self.tell(News::Answered(cmd, Ok((at, at_ns))));
                }
            }
            Update::Refused { seq, errors } => {
                if let Some(cmd) = self.answered(seq) {
                    self.tell(News::Answered(cmd, Err(errors)));
                }
            }
            Update::Fault { .. } => {
                if !self.dead.replace(true) {
                    self.tell(News::Update(update));
                }
            }
            update => self.tell(News::Update(update)),
        }
    }

    fn answered(&self, seq: u32) -> Option<Command> {
        self.pending.borrow_mut().remove(&seq).filter(|cmd| *cmd != Command::Ping)
    }

    fn shake_hands(&self, protocol: u16, build: &str) {
        self.ready_timer.replace(None);
        if protocol != PROTOCOL || build != crate::BUILD {
            return self.tell(News::Outdated);
        }
        self.ready.set(true);
        self.send(Command::Hello { protocol: PROTOCOL, build: crate::BUILD.into() });
        self.tell(News::Ready);
        for envelope in self.waiting.take() {
            self.post(envelope);
        }
    }

    fn ping(&self) {
        let hidden = web_sys::window().and_then(|w| w.document()).is_some_and(|d| d.hidden());
        if !self.ready.get() || self.dead.get() || hidden {
            return;
        }
        let unanswered = self.unanswered.get();
        if unanswered == PINGS_MAX {
            self.tell(News::Hung);
        }
        self.unanswered.set(unanswered.saturating_add(1));
        if unanswered <= PINGS_MAX {
            self.send(Command::Ping);
        }
    }
}
