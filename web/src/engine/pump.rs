//! The worker's loop: takes commands, lets the driver run in slices, sends updates and frames.
//!
//! A slice lasts at most `SLICE_MS`; between two slices the worker's own messages get their turn, because it yields
//! through one message channel with a *posted* flag: never by `setTimeout(0)`, which browsers slow down, and never by
//! micro-tasks, which starve everything else.
//! I1 at most one wake-up is under way; I2 at most `UNACKED_MAX` frames are unacknowledged, further ones are skipped and
//! the next one carries the totals; I3 *ready* is the first message.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use gloo_timers::callback::Timeout;
use js_sys::{Array, ArrayBuffer, Uint32Array};
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, Performance};

use super::driver::{Driver, Pace};
use super::protocol::{Command, DocError, Envelope, PROTOCOL, Update};

/// The longest slice.
const SLICE_MS: f64 = 8.0;
/// The shortest time from frame to frame: 20 a second.
const FRAME_MS: f64 = 50.0;
/// Frames that may be under way.
const UNACKED_MAX: u32 = 2;

/// Turns executed, for the panic hook, which can reach nothing else.
static TURN: AtomicU64 = AtomicU64::new(0);

struct Pump {
    scope: DedicatedWorkerGlobalScope,
    clock: Performance,
    channel: MessageChannel,
    posted: Cell<bool>,
    timer: RefCell<Option<Timeout>>,
    driver: RefCell<Driver>,
    spare: RefCell<Vec<ArrayBuffer>>,
    words: RefCell<Vec<u32>>,
    frame: Cell<u32>,
    unacked: Cell<u32>,
    framed_at_ms: Cell<f64>,
    dirty: Cell<bool>,
}

/// Starts the engine on the worker's own thread.
///
/// # Panics
///
/// Panics where the scope is no worker's.
pub fn run() {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    report_panics(&scope);
    let pump = Rc::new(Pump {
        clock: scope.performance().expect("a worker has a clock"),
        channel: MessageChannel::new().expect("a worker has message channels"),
        posted: Cell::new(false),
        timer: RefCell::default(),
        driver: RefCell::new(Driver::new()),
        spare: RefCell::default(),
        words: RefCell::default(),
        frame: Cell::new(0),
        unacked: Cell::new(0),
        framed_at_ms: Cell::new(f64::NEG_INFINITY),
        dirty: Cell::new(false),
        scope,
    });
    pump.listen();
    pump.post(&Update::Ready { protocol: PROTOCOL, build: crate::BUILD.into() });
}

/// Tells the page before the worker ends.
fn report_panics(scope: &DedicatedWorkerGlobalScope) {
    // The hook must be `Send`; the scope is looked up again instead of moved in.
    let _ = scope;
    std::panic::set_hook(Box::new(|info| {
        let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
        // Ordering: Relaxed, there is one thread.
        let fault = Update::Fault { message: info.to_string(), at: TURN.load(Ordering::Relaxed) };
        let text = serde_json::to_string(&fault).unwrap_or_default();
        let _ = scope.post_message(&JsValue::from_str(&text));
    }));
}

impl Pump {
    /// Both listeners live as long as the worker does.
    fn listen(self: &Rc<Self>) {
        let pump = Rc::clone(self);
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            pump.receive(&event.data());
        });
        self.scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        on_message.forget();
        let pump = Rc::clone(self);
        let on_wake = Closure::<dyn FnMut()>::new(move || {
            pump.posted.set(false);
            pump.slice();
        });
        self.channel.port1().set_onmessage(Some(on_wake.as_ref().unchecked_ref()));
        on_wake.forget();
    }

    fn now(&self) -> f64 {
        self.clock.now()
    }

    /// A string is a command; a buffer is one of ours that comes back.
    fn receive(self: &Rc<Self>, data: &JsValue) {
        if let Some(text) = data.as_string() {
            self.command(&text);
        } else if let Ok(buffer) = data.clone().dyn_into::<ArrayBuffer>() {
            self.unacked.set(self.unacked.get().saturating_sub(1));
            self.spare.borrow_mut().push(buffer);
            if self.dirty.get() {
                self.wake();
            }
        }
    }

    fn command(self: &Rc<Self>, text: &str) {
        match serde_json::from_str::<Envelope>(text) {
            Ok(Envelope { seq, cmd }) => {
                let mut updates = Vec::new();
                let done = self.obey(cmd, &mut updates);
                let (at, at_ns) = (self.driver.borrow().turn(), self.driver.borrow().time_ns());
                updates.push(match done {
                    Ok(()) => Update::Done { seq, at, at_ns },
                    Err(errors) => Update::Refused { seq, errors },
                });
                updates.iter().for_each(|u| self.post(u));
                self.dirty.set(true);
                self.wake();
            }
            Err(e) => {
                let errors = vec![DocError { reason: e.to_string(), ..DocError::default() }];
                self.post(&Update::Refused { seq: 0, errors });
            }
        }
    }

    fn obey(&self, cmd: Command, updates: &mut Vec<Update>) -> Result<(), Vec<DocError>> {
        match cmd {
            Command::Hello { protocol, build } if protocol == PROTOCOL && build == crate::BUILD => Ok(()),
            Command::Hello { build, .. } => {
                let reason = format!("the engine is {}, the page is {build}", crate::BUILD);
                Err(vec![DocError { reason, ..DocError::default() }])
            }
            Command::Ping => {
                updates.push(Update::Pong);
                Ok(())
            }
            Command::DebugPanic => panic!("asked to panic"),
            cmd => self.driver.borrow_mut().handle(cmd, updates),
        }
    }

    /// Lets the driver run for a while, then says what came of it and arranges the next slice.
    fn slice(self: &Rc<Self>) {
        let start = self.now();
        let mut updates = Vec::new();
        let pace = {
            let mut driver = self.driver.borrow_mut();
            let pace = driver.advance(start, &mut || self.now() - start < SLICE_MS);
            driver.drain(&mut updates);
            // Ordering: Relaxed, there is one thread.
            TURN.store(driver.turn(), Ordering::Relaxed);
            pace
        };
        if !matches!(pace, Pace::Idle) || !updates.is_empty() {
            self.dirty.set(true);
        }
        if updates.iter().any(|u| matches!(u, Update::Stopped { .. })) {
            // The last counters first: who reads that the clock stopped finds them as they were then.
            self.framed_at_ms.set(f64::NEG_INFINITY);
        }
        self.send_frame();
        updates.iter().for_each(|u| self.post(u));
        match pace {
            Pace::Busy => self.wake(),
            Pace::Wait { ms } => self.wake_in(ms.clamp(1.0, FRAME_MS)),
            Pace::Idle if self.dirty.get() && self.unacked.get() < UNACKED_MAX => self.wake_in(FRAME_MS),
            Pace::Idle => {}
        }
    }

    fn wake(&self) {
        self.timer.replace(None);
        if !self.posted.replace(true) {
            let _ = self.channel.port2().post_message(&JsValue::NULL);
        }
    }

    fn wake_in(self: &Rc<Self>, ms: f64) {
        let pump = Rc::clone(self);
        // In range: clamped to a frame's time by the callers.
        let timer = Timeout::new(ms.ceil() as u32, move || pump.wake());
        self.timer.replace(Some(timer));
    }

    /// Sends the counters, unless it is too early or the page has not given a buffer back.
    fn send_frame(&self) {
        let now = self.now();
        let early = now - self.framed_at_ms.get() < FRAME_MS;
        if !self.dirty.get() || early || self.unacked.get() >= UNACKED_MAX {
            return;
        }
        let mut words = self.words.borrow_mut();
        self.frame.set(self.frame.get().wrapping_add(1));
        {
            let mut driver = self.driver.borrow_mut();
            words.resize(driver.frame_words(), 0);
            driver.write_frame(self.frame.get(), &mut words);
        }
        let buffer = self.buffer_of(4 * words.len());
        Uint32Array::new(&buffer).copy_from(&words);
        if self.scope.post_message_with_transfer(&buffer, &Array::of1(&buffer)).is_ok() {
            self.unacked.set(self.unacked.get() + 1);
            self.framed_at_ms.set(now);
            self.dirty.set(false);
        }
    }

    /// A buffer of this size: one that came back, or a new one.
    fn buffer_of(&self, bytes: usize) -> ArrayBuffer {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let spare = self.spare.borrow_mut().pop().filter(|b| b.byte_length() == bytes);
        spare.unwrap_or_else(|| ArrayBuffer::new(bytes))
    }

    fn post(&self, update: &Update) {
        if let Ok(text) = serde_json::to_string(update) {
            let _ = self.scope.post_message(&JsValue::from_str(&text));
        }
    }
}
