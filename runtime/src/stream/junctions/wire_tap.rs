//! `wire_tap`: every element to the first output, and to the others if they happen to ask: a lossy tee.
//!
//! Emits when the first output asks; backpressures when it does not, whatever the taps do. What a tap does not ask for is dropped
//! for it (NoDemand). Completes when upstream has. Cancels when the first output does, which completes the taps; a
//! tap that is cancelled is forgotten. Holds nothing.

use std::marker::PhantomData;

use crate::stream::graph::junction::{FanOutOf, Junction, Ports};
use crate::stream::signal::{Cause, DropReason};

/// The junction `wire_tap`.
#[derive(Clone, Debug)]
pub struct WireTap<T>(PhantomData<fn(T)>);

impl<T> Default for WireTap<T> {
    fn default() -> Self {
        WireTap(PhantomData)
    }
}

impl<T> WireTap<T> {
    /// Makes a wire tap: its first output is the main way.
    pub fn new() -> Self {
        WireTap::default()
    }
}

impl<T: Clone + Send + 'static> Junction for WireTap<T> {
    fn step(&mut self, ports: &mut Ports) {
        if ports.demand(0) {
            ports.pull(0);
            if let Some(x) = ports.take::<T>(0) {
                for tap in 1..ports.outputs() {
                    if !ports.is_live(tap) {
                        continue;
                    }
                    ports.cx().made(1);
                    if ports.demand(tap) {
                        ports.emit(tap, x.clone());
                    } else {
                        ports.cx().dropped(DropReason::NoDemand, 1);
                    }
                }
                ports.emit(0, x);
            }
        }
        if !ports.is_open(0) {
            ports.complete();
        }
    }

    fn on_cancel(&mut self, output: usize, cause: &Cause, ports: &mut Ports) {
        if output == 0 {
            ports.cancel_all(cause);
        }
    }
}

impl<T: Clone + Send + 'static> FanOutOf for WireTap<T> {
    type In = T;
    type Out = T;
}
