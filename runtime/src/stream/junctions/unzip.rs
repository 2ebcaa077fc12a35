//! `unzip_with`: two elements of each one, one to each output.
//!
//! Emits when both outputs ask; backpressures when either does. Completes when upstream has. What is for an output that
//! was cancelled is dropped (Cancelled); the last one cancels upstream. Holds nothing.

use std::marker::PhantomData;

use crate::stream::graph::junction::{Junction, Ports, TwoOutOf};
use crate::stream::signal::DropReason;

/// The junction `unzip_with`.
#[derive(Clone, Debug)]
pub struct Unzip<T, F> {
    f: F,
    of: PhantomData<fn(T)>,
}

impl<T, A, B, F: FnMut(T) -> (A, B)> Unzip<T, F> {
    /// Makes an unzip by a function.
    pub fn new(f: F) -> Self {
        Unzip { f, of: PhantomData }
    }
}

fn give<X: Send + 'static>(ports: &mut Ports, out: usize, x: X) {
    if ports.is_live(out) {
        ports.emit(out, x);
    } else {
        ports.cx().dropped(DropReason::Cancelled, 1);
    }
}

impl<T, A, B, F> Junction for Unzip<T, F>
where
    T: Send + 'static,
    A: Send + 'static,
    B: Send + 'static,
    F: FnMut(T) -> (A, B) + Send + 'static,
{
    fn step(&mut self, ports: &mut Ports) {
        if (0..2).all(|out| !ports.is_live(out) || ports.demand(out)) {
            ports.pull(0);
            if let Some(x) = ports.take::<T>(0) {
                ports.cx().made(1);
                let (a, b) = (self.f)(x);
                give(ports, 0, a);
                give(ports, 1, b);
            }
        }
        if !ports.is_open(0) {
            ports.complete();
        }
    }
}

impl<T, A, B, F> TwoOutOf for Unzip<T, F>
where
    T: Send + 'static,
    A: Send + 'static,
    B: Send + 'static,
    F: FnMut(T) -> (A, B) + Send + 'static,
{
    type In = T;
    type Left = A;
    type Right = B;
}
