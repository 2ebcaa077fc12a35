//! `zip_latest` and `with_latest_from`: a function of the latest elements of two sides.
//!
//! `zip_latest` emits when either side has an element and both have brought one; `with_latest_from` when the first side has
//! one and the second has brought one: until then the first side waits. Both backpressure when downstream does, and keep the
//! latest element of a side as their state: it counts as used when it comes.
//! `zip_latest` completes when either side has. `with_latest_from` completes when the first side has, or when the second completes
//! without an element.

use std::marker::PhantomData;

use crate::stream::graph::junction::{Junction, Ports, TwoInOf};

/// The junction `zip_latest`.
#[derive(Clone, Debug)]
pub struct ZipLatest<A, B, F> {
    f: F,
    left: Option<A>,
    right: Option<B>,
    /// The side that is looked at first.
    next: usize,
}

impl<A, B, C, F: FnMut(&A, &B) -> C> ZipLatest<A, B, F> {
    /// Makes the junction.
    pub fn new(f: F) -> Self {
        ZipLatest { f, left: None, right: None, next: 0 }
    }
}

impl<A, B, C, F> Junction for ZipLatest<A, B, F>
where
    A: Send + 'static,
    B: Send + 'static,
    C: Send + 'static,
    F: FnMut(&A, &B) -> C + Send + 'static,
{
    fn step(&mut self, ports: &mut Ports) {
        ports.pull(0);
        ports.pull(1);
        while ports.demand(0) {
            let Some(at) = [self.next, 1 - self.next].into_iter().find(|&i| ports.ready(i)) else { break };
            self.next = 1 - at;
            match at {
                0 => self.left = ports.take(0),
                _ => self.right = ports.take(1),
            }
            ports.cx().used(1);
            if let (Some(a), Some(b)) = (&self.left, &self.right) {
                ports.cx().made(1);
                let c = (self.f)(a, b);
                ports.emit(0, c);
            }
            ports.pull(at);
        }
        if (0..2).any(|side| !ports.is_open(side)) {
            ports.complete();
        }
    }
}

impl<A, B, C, F> TwoInOf for ZipLatest<A, B, F>
where
    A: Send + 'static,
    B: Send + 'static,
    C: Send + 'static,
    F: FnMut(&A, &B) -> C + Send + 'static,
{
    type Left = A;
    type Right = B;
    type Out = C;
}

/// The junction `with_latest_from`.
#[derive(Clone, Debug)]
pub struct WithLatest<A, B, F> {
    f: F,
    right: Option<B>,
    of: PhantomData<fn(A)>,
}

impl<A, B, C, F: FnMut(A, &B) -> C> WithLatest<A, B, F> {
    /// Makes the junction.
    pub fn new(f: F) -> Self {
        WithLatest { f, right: None, of: PhantomData }
    }
}

impl<A, B, C, F> Junction for WithLatest<A, B, F>
where
    A: Send + 'static,
    B: Send + 'static,
    C: Send + 'static,
    F: FnMut(A, &B) -> C + Send + 'static,
{
    fn step(&mut self, ports: &mut Ports) {
        if ports.demand(0) {
            ports.pull(1);
            if let Some(b) = ports.take(1) {
                ports.cx().used(1);
                self.right = Some(b);
                ports.pull(1);
            }
            if let Some(b) = &self.right {
                ports.pull(0);
                if let Some(a) = ports.take::<A>(0) {
                    let c = (self.f)(a, b);
                    ports.emit(0, c);
                }
            }
        }
        if !ports.is_open(0) || (!ports.is_open(1) && self.right.is_none()) {
            ports.complete();
        }
    }
}

impl<A, B, C, F> TwoInOf for WithLatest<A, B, F>
where
    A: Send + 'static,
    B: Send + 'static,
    C: Send + 'static,
    F: FnMut(A, &B) -> C + Send + 'static,
{
    type Left = A;
    type Right = B;
    type Out = C;
}
