//! `zip_n`: `f` of one element of every input, in lock step.
//!
//! Emits when all inputs have an element. Backpressures when downstream does, or while an input waits for the others.
//! Asks nobody before downstream asks. Completes when any input has, and cancels the others. Holds nothing.

use std::marker::PhantomData;

use crate::stream::graph::junction::{FanInOf, Junction, Ports};

/// The junction `zip_n`.
#[derive(Clone, Debug)]
pub struct ZipN<A, F> {
    f: F,
    of: PhantomData<fn(A)>,
}

impl<A, C, F: FnMut(Vec<A>) -> C> ZipN<A, F> {
    /// Makes a zip that emits `f` of the elements, in the order of the inputs.
    pub fn new(f: F) -> Self {
        ZipN { f, of: PhantomData }
    }
}

impl<A, C, F> Junction for ZipN<A, F>
where
    A: Send + 'static,
    C: Send + 'static,
    F: FnMut(Vec<A>) -> C + Send + 'static,
{
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.inputs();
        if ports.demand(0) {
            (0..n).for_each(|input| ports.pull(input));
            if (0..n).all(|input| ports.ready(input)) {
                let row: Vec<A> = (0..n).filter_map(|input| ports.take(input)).collect();
                ports.cx().used(n as u64 - 1);
                let c = (self.f)(row);
                ports.emit(0, c);
            }
        }
        if (0..n).any(|input| !ports.is_open(input)) {
            ports.complete();
        }
    }
}

impl<A, C, F> FanInOf for ZipN<A, F>
where
    A: Send + 'static,
    C: Send + 'static,
    F: FnMut(Vec<A>) -> C + Send + 'static,
{
    type In = A;
    type Out = C;
}
