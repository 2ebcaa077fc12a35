//! `merge_sorted`: one sorted stream of sorted ones.
//!
//! Emits the least element when every input that has not ended has one; of equal ones that of the first input. Backpressures when
//! downstream does. Completes when all inputs have. Holds nothing.

use std::cmp::Ordering;

use crate::stream::graph::junction::{FanInOf, Junction, Ports};

/// The junction `merge_sorted`.
#[derive(Clone, Debug)]
pub struct MergeSorted<T> {
    compare: fn(&T, &T) -> Ordering,
}

impl<T: Ord> Default for MergeSorted<T> {
    fn default() -> Self {
        MergeSorted { compare: T::cmp }
    }
}

impl<T: Ord> MergeSorted<T> {
    /// Merges by the order of the elements.
    pub fn new() -> Self {
        MergeSorted::default()
    }
}

impl<T> MergeSorted<T> {
    /// Merges by an order of one's own.
    pub fn by(compare: fn(&T, &T) -> Ordering) -> Self {
        MergeSorted { compare }
    }

    /// Finds the input with the least element, if all have one that can have.
    fn least(&self, ports: &Ports) -> Option<usize>
    where
        T: Send + 'static,
    {
        let mut least: Option<(usize, &T)> = None;
        for input in (0..ports.inputs()).filter(|&input| ports.is_open(input)) {
            let x = ports.peek::<T>(input)?;
            if least.is_none_or(|(_, other)| (self.compare)(x, other) == Ordering::Less) {
                least = Some((input, x));
            }
        }
        least.map(|(input, _)| input)
    }
}

impl<T: Send + 'static> Junction for MergeSorted<T> {
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.inputs();
        (0..n).for_each(|input| ports.pull(input));
        if ports.demand(0)
            && let Some(at) = self.least(ports)
            && let Some(x) = ports.take::<T>(at)
        {
            ports.emit(0, x);
            ports.pull(at);
        }
        if ports.all_inputs_done() {
            ports.complete();
        }
    }
}

impl<T: Send + 'static> FanInOf for MergeSorted<T> {
    type In = T;
    type Out = T;
}
