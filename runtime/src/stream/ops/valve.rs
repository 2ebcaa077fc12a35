//! `valve`: a gate that is opened and closed from outside.
//!
//! Emits std while open. Backpressures while closed. Completes std, after the element that waits at a closed gate. Cancels
//! std. Holds at most 1: the element that was under way when the gate closed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::shared::Doorbell;
use crate::stream::value::Value;
use crate::sync::Mutex;

struct State {
    open: bool,
    doors: BTreeMap<u64, Doorbell>,
    next: u64,
}

/// Opens and closes the streams that it stands in; clones are the same valve.
///
/// # Examples
/// ```
/// use footlights::stream::{ControlOperators, LocalRun, Sink, Source, Valve};
/// let valve = Valve::closed();
/// let (built, done) = Source::range(0..5).valve(valve.clone()).to(Sink::ignore()).build(1);
/// let mut run = LocalRun::new(built, 1);
/// run.run();
/// assert_eq!(done.take(), None);
/// valve.open();
/// run.run();
/// assert_eq!(done.take(), Some(Ok(5)));
/// ```
#[derive(Clone)]
pub struct Valve(Arc<Mutex<State>>);

impl Default for Valve {
    fn default() -> Self {
        Valve::in_state(true)
    }
}

impl Valve {
    /// Makes an open valve.
    pub fn new() -> Self {
        Valve::default()
    }

    /// Makes a closed valve.
    pub fn closed() -> Self {
        Valve::in_state(false)
    }

    fn in_state(open: bool) -> Self {
        Valve(Arc::new(Mutex::new(State { open, doors: BTreeMap::new(), next: 0 })))
    }

    /// Lets elements pass.
    pub fn open(&self) {
        let doors: Vec<Doorbell> = {
            let mut state = self.0.lock();
            if std::mem::replace(&mut state.open, true) {
                return;
            }
            state.doors.values().cloned().collect()
        };
        doors.iter().for_each(Doorbell::ring);
    }

    /// Holds elements back from each stream's next turn on.
    pub fn close(&self) {
        self.0.lock().open = false;
    }

    /// Says whether elements pass.
    pub fn is_open(&self) -> bool {
        self.0.lock().open
    }
}

/// The kernel of `valve`.
pub struct Gate<A> {
    valve: Valve,
    door: Option<u64>,
    /// As it was at the beginning of the turn.
    open: bool,
    waiting: Option<A>,
    finished: bool,
}

impl<A> Gate<A> {
    /// Makes the kernel.
    pub fn new(valve: Valve) -> Self {
        Gate { valve, door: None, open: false, waiting: None, finished: false }
    }

    fn pass(&mut self, out: &mut Out<'_, A>) -> Sig {
        if self.open
            && out.demand() > 0
            && let Some(x) = self.waiting.take()
        {
            out.emit(x);
        }
        match (&self.waiting, self.finished) {
            (None, true) => Sig::Done,
            (None, false) if self.open => Sig::Continue,
            _ => Sig::Full,
        }
    }
}

impl<A> Drop for Gate<A> {
    fn drop(&mut self) {
        if let Some(door) = self.door {
            self.valve.0.lock().doors.remove(&door);
        }
    }
}

impl<A: Send + 'static> Kernel for Gate<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::EXTERNAL;

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        let mut state = self.valve.0.lock();
        let door = state.next;
        state.next += 1;
        state.doors.insert(door, cx.doorbell());
        self.door = Some(door);
        Sig::Continue
    }

    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        self.waiting = Some(x);
        self.pass(out)
    }

    fn on_pull(&mut self, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        self.pass(out)
    }

    fn on_finish(&mut self, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        self.finished = true;
        self.pass(out)
    }

    fn on_wake(&mut self, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        self.open = self.valve.is_open();
        self.pass(out)
    }

    fn held(&self) -> usize {
        usize::from(self.waiting.is_some())
    }

    /// `state`: of a drawn valve, whose handle nobody else has.
    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, value.as_text()) {
            ("state", Some("open")) => self.valve.0.lock().open = true,
            ("state", Some("closed")) => self.valve.0.lock().open = false,
            _ => return false,
        }
        true
    }
}
