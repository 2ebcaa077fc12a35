//! `balance`: each element to one output, to the one that has been asking for the longest time.
//!
//! Emits when an output asks; backpressures when none does. Completes when upstream has. An output that asked and was
//! cancelled is forgotten; the last one cancels upstream. `wait_for_all`: nothing flows before every output has asked.
//! Holds nothing.

use std::collections::VecDeque;
use std::marker::PhantomData;

use crate::stream::graph::junction::{FanOutOf, Junction, Ports};

/// The junction `balance`.
#[derive(Clone, Debug)]
pub struct Balance<T> {
    /// The outputs that ask, the longest first.
    asking: VecDeque<usize>,
    wait_for_all: bool,
    of: PhantomData<fn(T)>,
}

impl<T> Default for Balance<T> {
    fn default() -> Self {
        Balance { asking: VecDeque::new(), wait_for_all: false, of: PhantomData }
    }
}

impl<T> Balance<T> {
    /// Makes a balance that begins when one output asks.
    pub fn new() -> Self {
        Balance::default()
    }

    /// Begins when all outputs have asked.
    pub fn wait_for_all(self) -> Self {
        Balance { wait_for_all: true, ..self }
    }
}

impl<T: Send + 'static> Junction for Balance<T> {
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.outputs();
        self.asking.retain(|&out| ports.demand(out));
        for out in 0..n {
            if ports.demand(out) && !self.asking.contains(&out) {
                self.asking.push_back(out);
            }
        }
        let all = (0..n).all(|out| !ports.is_live(out) || self.asking.contains(&out));
        self.wait_for_all &= !all;
        if !self.wait_for_all
            && let Some(&out) = self.asking.front()
        {
            ports.pull(0);
            if let Some(x) = ports.take::<T>(0) {
                self.asking.pop_front();
                ports.emit(out, x);
                if !self.asking.is_empty() {
                    ports.pull(0);
                }
            }
        }
        if !ports.is_open(0) {
            ports.complete();
        }
    }
}

impl<T: Send + 'static> FanOutOf for Balance<T> {
    type In = T;
    type Out = T;
}
