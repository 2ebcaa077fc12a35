//! `merge_prioritized`: elements of all inputs; those that have one are chosen between by chance, by their weights.
//!
//! Emits when an input has an element. Backpressures when downstream does; asks every input for one element ahead. Completes when
//! all inputs have; eager: when one has. The choice is drawn from the stream's seed. Holds nothing.

use std::marker::PhantomData;

use crate::rng::Rng;
use crate::stream::graph::junction::{FanInOf, Junction, Ports};

/// The junction `merge_prioritized`.
#[derive(Clone, Debug)]
pub struct MergePrioritized<T> {
    weights: Vec<u32>,
    rng: Option<Rng>,
    eager: bool,
    of: PhantomData<fn(T)>,
}

impl<T> MergePrioritized<T> {
    /// Makes the junction with a weight for each input; 0, or none given, counts as 1.
    pub fn new(weights: &[u32]) -> Self {
        MergePrioritized { weights: weights.to_vec(), rng: None, eager: false, of: PhantomData }
    }

    /// Completes as soon as one input completes.
    pub fn eager(self) -> Self {
        MergePrioritized { eager: true, ..self }
    }

    fn weight(&self, input: usize) -> u64 {
        self.weights.get(input).map_or(1, |&weight| u64::from(weight.max(1)))
    }

    fn choose(&mut self, ports: &mut Ports) -> Option<usize> {
        let total: u64 =
            (0..ports.inputs()).filter(|&i| ports.ready(i)).map(|input| self.weight(input)).sum();
        if total == 0 {
            return None;
        }
        let mut left = self.rng.get_or_insert_with(|| ports.cx().rng()).below(total);
        (0..ports.inputs()).filter(|&i| ports.ready(i)).find(|&input| {
            let weight = self.weight(input);
            let chosen = left < weight;
            left = left.saturating_sub(weight);
            chosen
        })
    }
}

impl<T: Send + 'static> Junction for MergePrioritized<T> {
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.inputs();
        (0..n).for_each(|input| ports.pull(input));
        if ports.demand(0)
            && let Some(at) = self.choose(ports)
            && let Some(x) = ports.take::<T>(at)
        {
            ports.emit(0, x);
            ports.pull(at);
        }
        let one_done = (0..n).any(|i| !ports.is_open(i));
        if ports.all_inputs_done() || (self.eager && one_done) {
            ports.complete();
        }
    }
}

impl<T: Send + 'static> FanInOf for MergePrioritized<T> {
    type In = T;
    type Out = T;
}
