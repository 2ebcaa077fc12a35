//! `or_else`: the first input, or the second if the first completes without an element.
//!
//! Emits when the input of its turn has an element. Backpressures when downstream does; the second input is asked for nothing
//! before its turn, and cancelled with the first element of the first. Completes with the input of its turn. Holds nothing.

use std::marker::PhantomData;

use crate::stream::graph::junction::{FanInOf, Junction, Ports};
use crate::stream::signal::Cause;

/// The junction `or_else`.
#[derive(Clone, Debug)]
pub struct OrElse<T> {
    current: usize,
    decided: bool,
    of: PhantomData<fn(T)>,
}

impl<T> Default for OrElse<T> {
    fn default() -> Self {
        OrElse { current: 0, decided: false, of: PhantomData }
    }
}

impl<T> OrElse<T> {
    /// Makes the junction; more inputs than two are tried in their order.
    pub fn new() -> Self {
        OrElse::default()
    }
}

impl<T: Send + 'static> Junction for OrElse<T> {
    fn step(&mut self, ports: &mut Ports) {
        let n = ports.inputs();
        while !self.decided && self.current < n && !ports.is_open(self.current) {
            self.current += 1;
        }
        if self.current == n || !ports.is_open(self.current) {
            ports.complete();
        } else if ports.demand(0) {
            ports.pull(self.current);
            if let Some(x) = ports.take::<T>(self.current) {
                if !std::mem::replace(&mut self.decided, true) {
                    (self.current + 1..n).for_each(|input| ports.cancel(input, Cause::NoMoreNeeded));
                }
                ports.emit(0, x);
                if !ports.is_open(self.current) {
                    ports.complete();
                }
            }
        }
    }
}

impl<T: Send + 'static> FanInOf for OrElse<T> {
    type In = T;
    type Out = T;
}
