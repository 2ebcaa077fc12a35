//! `concat`: all elements of the first input, then of the second, and so on.
//!
//! Emits when the current input has an element. Backpressures when downstream does; asks the later inputs for one element
//! ahead, `lazy`: for none before their turn. Completes when the last input has. Holds nothing.

use std::marker::PhantomData;

use crate::stream::graph::junction::{FanInOf, Junction, Ports};

/// The junction `concat`.
#[derive(Clone, Debug)]
pub struct Concat<T> {
    current: usize,
    lazy: bool,
    of: PhantomData<fn(T)>,
}

impl<T> Default for Concat<T> {
    fn default() -> Self {
        Concat { current: 0, lazy: false, of: PhantomData }
    }
}

impl<T> Concat<T> {
    /// Makes a concat that asks every input for one element ahead.
    pub fn new() -> Self {
        Concat::default()
    }

    /// Asks an input for nothing before its turn.
    pub fn lazy(self) -> Self {
        Concat { lazy: true, ..self }
    }
}

impl<T: Send + 'static> Junction for Concat<T> {
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.inputs();
        if !self.lazy {
            (0..n).for_each(|input| ports.pull(input));
        }
        while self.current < n && !ports.is_open(self.current) {
            self.current += 1;
        }
        if self.current == n {
            ports.complete();
        } else if ports.demand(0) {
            if let Some(x) = ports.take::<T>(self.current) {
                ports.emit(0, x);
            } else {
                ports.pull(self.current);
            }
        }
    }
}

impl<T: Send + 'static> FanInOf for Concat<T> {
    type In = T;
    type Out = T;
}
