//! `zip_with`: `f` of an element of each side, in lock step.
//!
//! Emits when both sides have an element. Backpressures when downstream does, or while one side waits for the other.
//! Asks nobody before downstream asks: at most one element is taken from the longer side and lost. Completes when either
//! side has, and cancels the other. Holds nothing.

use std::marker::PhantomData;

use crate::stream::graph::junction::{Junction, Ports, TwoInOf};
use crate::stream::signal::Cause;

/// The junction `zip_with`.
#[derive(Clone, Debug)]
pub struct ZipWith<A, B, F> {
    f: F,
    of: PhantomData<fn(A, B)>,
}

impl<A, B, C, F: FnMut(A, B) -> C> ZipWith<A, B, F> {
    /// Makes a zip that emits `f` of both.
    pub fn new(f: F) -> Self {
        ZipWith { f, of: PhantomData }
    }
}

impl<A, B, C, F> Junction for ZipWith<A, B, F>
where
    A: Send + 'static,
    B: Send + 'static,
    C: Send + 'static,
    F: FnMut(A, B) -> C + Send + 'static,
{
    fn step(&mut self, ports: &mut Ports) {
        if ports.demand(0) {
            ports.pull(0);
            ports.pull(1);
            if ports.ready(0)
                && ports.ready(1)
                && let (Some(a), Some(b)) = (ports.take(0), ports.take(1))
            {
                ports.cx().used(1);
                let c = (self.f)(a, b);
                ports.emit(0, c);
            }
        }
        if let Some(over) = (0..2).find(|&side| !ports.is_open(side)) {
            ports.cancel(1 - over, Cause::NoMoreNeeded);
            ports.complete();
        }
    }
}

impl<A, B, C, F> TwoInOf for ZipWith<A, B, F>
where
    A: Send + 'static,
    B: Send + 'static,
    C: Send + 'static,
    F: FnMut(A, B) -> C + Send + 'static,
{
    type Left = A;
    type Right = B;
    type Out = C;
}
