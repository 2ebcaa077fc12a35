//! `kill_switch`: ends streams from outside, wherever it stands in them.
//!
//! Emits std. Backpressures std. Completes std, or when the switch is shut down: then upstream is cancelled (Killed). Fails when
//! the switch is aborted. Cancels std. Holds nothing.
//! One switch may stand in any number of streams; one that stands in a single run is a switch of its own.
//!
//! I1 the first call wins, for streams that begin later too. I2 an ended stage is forgotten by its switch.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::shared::Doorbell;
use crate::stream::signal::{Cause, StreamError};
use crate::sync::Mutex;

#[derive(Default)]
struct State {
    thrown: Option<Result<(), StreamError>>,
    doors: BTreeMap<u64, Doorbell>,
    next: u64,
}

/// Ends the streams that it stands in; clones are the same switch.
///
/// # Examples
/// ```
/// use footlights::stream::{ControlOperators, KillSwitch, Sink, Source};
/// let switch = KillSwitch::new();
/// switch.shutdown();
/// let done = Source::range(0..i64::MAX).kill_switch(switch).to(Sink::ignore()).run_local();
/// assert_eq!(done.take(), Some(Ok(0)));
/// ```
#[derive(Clone, Default)]
pub struct KillSwitch(Arc<Mutex<State>>);

impl KillSwitch {
    /// Makes a switch.
    pub fn new() -> Self {
        KillSwitch::default()
    }

    /// Completes downstream and cancels upstream, in every stream that it stands in.
    pub fn shutdown(&self) {
        self.throw(Ok(()));
    }

    /// Fails every stream that it stands in.
    pub fn abort(&self, e: StreamError) {
        self.throw(Err(e));
    }

    /// Says whether it was thrown, and how.
    pub fn thrown(&self) -> Option<Result<(), StreamError>> {
        self.0.lock().thrown.clone()
    }

    fn throw(&self, how: Result<(), StreamError>) {
        let doors: Vec<Doorbell> = {
            let mut state = self.0.lock();
            if state.thrown.is_some() {
                return;
            }
            state.thrown = Some(how);
            state.doors.values().cloned().collect()
        };
        doors.iter().for_each(Doorbell::ring);
    }
}

/// The kernel of `kill_switch`.
pub struct Killable<A> {
    switch: KillSwitch,
    /// Its place in the switch.
    door: Option<u64>,
    of: PhantomData<fn(A)>,
}

impl<A> Killable<A> {
    /// Makes the kernel.
    pub fn new(switch: KillSwitch) -> Self {
        Killable { switch, door: None, of: PhantomData }
    }

    fn look(&self) -> Sig {
        match self.switch.thrown() {
            None => Sig::Continue,
            Some(Ok(())) => Sig::Cancel(Box::new(Cause::Killed("shut down".into()))),
            Some(Err(e)) => Sig::fail(e),
        }
    }
}

impl<A> Drop for Killable<A> {
    fn drop(&mut self) {
        if let Some(door) = self.door {
            self.switch.0.lock().doors.remove(&door);
        }
    }
}

impl<A: Send + 'static> Kernel for Killable<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps { pulls: false, ..Caps::EXTERNAL };

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        {
            let mut state = self.switch.0.lock();
            let door = state.next;
            state.next += 1;
            state.doors.insert(door, cx.doorbell());
            self.door = Some(door);
        }
        self.look()
    }

    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        out.emit(x);
        Sig::Continue
    }

    fn on_wake(&mut self, _out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        self.look()
    }
}
