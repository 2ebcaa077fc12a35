//! `merge_latest`: on every new element, a function of the latest elements of all inputs.
//!
//! Emits when an input has an element and all have brought one. Backpressures when downstream does; those that have one take turns.
//! Completes when all inputs have; eager: when one has; at once when one completes without an element. Holds the latest
//! element of each input as its state: one that is replaced or combined counts as used.

use crate::stream::graph::junction::{FanInOf, Junction, Ports};

/// The junction `merge_latest`.
#[derive(Clone, Debug)]
pub struct MergeLatest<T, F> {
    f: F,
    latest: Vec<Option<T>>,
    next: usize,
    eager: bool,
}

impl<T, C, F: FnMut(Vec<T>) -> C> MergeLatest<T, F> {
    /// Makes a merge that completes when all inputs have completed; `f` is given the latest elements in the order of the inputs.
    #[doc(alias = "combine_latest")]
    pub fn new(f: F) -> Self {
        MergeLatest { f, latest: Vec::new(), next: 0, eager: false }
    }

    /// Completes as soon as one input completes.
    pub fn eager(self) -> Self {
        MergeLatest { eager: true, ..self }
    }
}

impl<T, C, F> Junction for MergeLatest<T, F>
where
    T: Clone + Send + 'static,
    C: Send + 'static,
    F: FnMut(Vec<T>) -> C + Send + 'static,
{
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.inputs();
        self.latest.resize_with(n, || None);
        (0..n).for_each(|input| ports.pull(input));
        while ports.demand(0) {
            let Some(at) = (0..n).map(|i| (self.next + i) % n).find(|&i| ports.ready(i)) else { break };
            self.next = (at + 1) % n;
            self.latest[at] = ports.take::<T>(at);
            ports.cx().used(1);
            if let Some(row) = self.latest.iter().cloned().collect::<Option<Vec<T>>>() {
                ports.cx().made(1);
                let c = (self.f)(row);
                ports.emit(0, c);
            }
            ports.pull(at);
        }
        let one_done = (0..n).any(|i| !ports.is_open(i));
        let one_empty = (0..n).any(|i| !ports.is_open(i) && self.latest[i].is_none());
        if ports.all_inputs_done() || (self.eager && one_done) || one_empty {
            ports.complete();
        }
    }
}

impl<T, C, F> FanInOf for MergeLatest<T, F>
where
    T: Clone + Send + 'static,
    C: Send + 'static,
    F: FnMut(Vec<T>) -> C + Send + 'static,
{
    type In = T;
    type Out = C;
}
