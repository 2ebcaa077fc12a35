//! `merge_sequence`: restores the order of numbered elements that went different ways.
//!
//! Emits the element with the next number, from 0, whichever input has it. Backpressures when downstream does. Completes when all
//! inputs have. Fails with SequenceGap when no input can bring the next number any more, or one brings an earlier one.
//! Each input must be in order of its numbers. Holds nothing.

use crate::stream::graph::junction::{FanInOf, Junction, Ports};
use crate::stream::signal::StreamError;

/// The junction `merge_sequence`.
#[derive(Clone, Debug)]
pub struct MergeSequence<T> {
    number: fn(&T) -> u64,
    due: u64,
}

impl<T> MergeSequence<T> {
    /// Makes the junction; `number` gives an element's number.
    pub fn new(number: fn(&T) -> u64) -> Self {
        MergeSequence { number, due: 0 }
    }
}

impl<T: Send + 'static> Junction for MergeSequence<T> {
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.inputs();
        (0..n).for_each(|input| ports.pull(input));
        let number = |ports: &Ports, input: usize| ports.peek::<T>(input).map(self.number);
        let next = (0..n).find(|&input| number(ports, input) == Some(self.due));
        let early = (0..n).any(|input| number(ports, input).is_some_and(|found| found < self.due));
        let all_there = (0..n).all(|input| !ports.is_open(input) || ports.ready(input));
        if ports.all_inputs_done() {
            ports.complete();
        } else if early || (next.is_none() && all_there) {
            let node = ports.cx().node();
            ports.fail(StreamError::SequenceGap { node, expected: self.due });
        } else if ports.demand(0)
            && let Some(at) = next
            && let Some(x) = ports.take::<T>(at)
        {
            self.due += 1;
            ports.emit(0, x);
            ports.pull(at);
            if ports.all_inputs_done() {
                ports.complete();
            }
        }
    }
}

impl<T: Send + 'static> FanInOf for MergeSequence<T> {
    type In = T;
    type Out = T;
}
