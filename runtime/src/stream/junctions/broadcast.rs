//! `broadcast`: every element to every output.
//!
//! Emits when all live outputs ask; backpressures when any does. Completes when upstream has. An output that is cancelled
//! is left out; the last one cancels upstream, eager: the first one does. Holds nothing.

use std::marker::PhantomData;

use crate::stream::graph::junction::{FanOutOf, Junction, Ports};
use crate::stream::signal::Cause;

/// The junction `broadcast`.
#[derive(Clone, Debug)]
pub struct Broadcast<T> {
    eager_cancel: bool,
    of: PhantomData<fn(T)>,
}

impl<T> Default for Broadcast<T> {
    fn default() -> Self {
        Broadcast { eager_cancel: false, of: PhantomData }
    }
}

impl<T> Broadcast<T> {
    /// Makes a broadcast that goes on while any output is left.
    pub fn new() -> Self {
        Broadcast::default()
    }

    /// Ends as soon as one output is cancelled.
    pub fn eager_cancel(self) -> Self {
        Broadcast { eager_cancel: true, ..self }
    }
}

impl<T: Clone + Send + 'static> Junction for Broadcast<T> {
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.outputs();
        if (0..n).all(|out| !ports.is_live(out) || ports.demand(out)) {
            ports.pull(0);
            if let Some(x) = ports.take::<T>(0) {
                let mut copies = 0;
                for out in (0..n).rev() {
                    if ports.is_live(out) {
                        copies += 1;
                        ports.emit(out, x.clone());
                    }
                }
                ports.cx().made(copies - 1);
            }
        }
        if !ports.is_open(0) {
            ports.complete();
        }
    }

    fn on_cancel(&mut self, _output: usize, cause: &Cause, ports: &mut Ports) {
        if self.eager_cancel {
            ports.cancel_all(cause);
        }
    }
}

impl<T: Clone + Send + 'static> FanOutOf for Broadcast<T> {
    type In = T;
    type Out = T;
}
