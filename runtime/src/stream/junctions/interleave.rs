//! `interleave`: a segment of the first input, a segment of the second, and so on, around.
//!
//! Emits when the current input has an element. Backpressures when downstream does, or while the current input is slow;
//! asks every input for one element ahead. An input that has completed is passed over. Completes when all inputs have;
//! eager: when one has. Holds nothing.

use std::marker::PhantomData;

use crate::stream::graph::junction::{FanInOf, Junction, Ports};

/// The junction `interleave`.
#[derive(Clone, Debug)]
pub struct Interleave<T> {
    segment: usize,
    eager: bool,
    current: usize,
    /// Elements of the present segment that are still to come.
    left: usize,
    of: PhantomData<fn(T)>,
}

impl<T> Interleave<T> {
    /// Makes an interleave of `segment` elements in a row; 0 counts as 1.
    pub fn new(segment: usize) -> Self {
        let segment = segment.max(1);
        Interleave { segment, eager: false, current: 0, left: segment, of: PhantomData }
    }

    /// Completes as soon as one input completes.
    pub fn eager(self) -> Self {
        Interleave { eager: true, ..self }
    }

    fn turn(&mut self, n: usize) {
        self.current = (self.current + 1) % n;
        self.left = self.segment;
    }
}

impl<T: Send + 'static> Junction for Interleave<T> {
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.inputs();
        (0..n).for_each(|input| ports.pull(input));
        let one_done = (0..n).any(|i| !ports.is_open(i));
        if ports.all_inputs_done() || (self.eager && one_done) {
            ports.complete();
            return;
        }
        while !ports.is_open(self.current) {
            self.turn(n);
        }
        if ports.demand(0)
            && let Some(x) = ports.take::<T>(self.current)
        {
            ports.emit(0, x);
            ports.pull(self.current);
            self.left -= 1;
            if self.left == 0 {
                self.turn(n);
            }
        }
    }
}

impl<T: Send + 'static> FanInOf for Interleave<T> {
    type In = T;
    type Out = T;
}
