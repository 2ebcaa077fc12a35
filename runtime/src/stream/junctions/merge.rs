//! `merge`: elements of all inputs, whoever has one.
//!
//! Emits when an input has an element; those that have one take turns, so a busy input starves no other. Backpressures
//! when downstream does; asks every input for one element ahead. Completes when all inputs have; eager: when one has.
//! `preferring`: as long as the first input has elements they go first. Holds nothing.

use std::marker::PhantomData;

use crate::stream::graph::junction::{FanInOf, Junction, Ports};

/// The junction `merge`.
#[derive(Clone, Debug)]
pub struct Merge<T> {
    /// The input that is looked at first.
    next: usize,
    eager: bool,
    preferring: bool,
    of: PhantomData<fn(T)>,
}

impl<T> Default for Merge<T> {
    fn default() -> Self {
        Merge { next: 0, eager: false, preferring: false, of: PhantomData }
    }
}

impl<T> Merge<T> {
    /// Makes a merge that completes when all inputs have completed.
    pub fn new() -> Self {
        Merge::default()
    }

    /// Completes as soon as one input completes.
    pub fn eager(self) -> Self {
        Merge { eager: true, ..self }
    }

    /// Prefers the first input.
    pub fn preferring(self) -> Self {
        Merge { preferring: true, ..self }
    }
}

impl<T: Send + 'static> Junction for Merge<T> {
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.inputs();
        (0..n).for_each(|input| ports.pull(input));
        while ports.demand(0) {
            let first = if self.preferring { 0 } else { self.next };
            let Some(at) = (0..n).map(|i| (first + i) % n).find(|&i| ports.ready(i)) else { break };
            if let Some(x) = ports.take::<T>(at) {
                ports.emit(0, x);
            }
            self.next = (at + 1) % n;
            ports.pull(at);
        }
        let one_done = (0..n).any(|i| !ports.is_open(i));
        if ports.all_inputs_done() || (self.eager && one_done) {
            ports.complete();
        }
    }
}

impl<T: Send + 'static> FanInOf for Merge<T> {
    type In = T;
    type Out = T;
}
