//! From a blueprint to islands: stages get their numbers, boundaries their rings.
//!
//! I1 stages and islands are numbered from upstream; island `i` feeds island `i + 1`.
//! I2 building twice gives two independent streams.

use std::sync::Arc;

use super::boundary::{Ring, RingReader, RingWriter};
use super::cell::Cell;
use super::interpreter::{DynCell, DynChain, FromValue, IntoValue};
use super::island::{Island, PipeIsland};
use super::kernel::{Kernel, Never, Tag};
use super::pipe::{Head, Pipe, Then};
use super::shared::{Shared, StageInfo};
use super::value::Value;
use crate::rng::Rng;

/// Collects the islands of one run.
pub struct Builder {
    shared: Arc<Shared>,
    islands: Vec<Box<dyn Island>>,
    seed: Rng,
}

/// A stream that is built and not running yet.
pub struct Built {
    pub(crate) islands: Vec<Box<dyn Island>>,
    pub(crate) shared: Arc<Shared>,
}

impl Builder {
    pub(crate) fn new(seed: u64) -> Self {
        Builder { shared: Arc::default(), islands: Vec::new(), seed: Rng::new(seed) }
    }

    /// Gives a stage its number.
    pub(crate) fn tag(&self, name: Arc<str>, counted: bool) -> Tag {
        let info = StageInfo { name: name.clone(), island: self.islands.len(), counted };
        Tag { id: self.shared.add_stage(info), name }
    }

    pub(crate) fn typed<K: Kernel>(&self, name: &str, kernel: K) -> Cell<K, false> {
        Cell::new(self.tag(name.into(), !K::CAPS.light), kernel)
    }

    pub(crate) fn dynamic<K: Kernel>(&self, name: &Arc<str>, kernel: K) -> Box<dyn DynCell>
    where
        K::In: FromValue,
        K::Out: IntoValue,
    {
        Box::new(Cell::<K, true>::new(self.tag(name.clone(), true), kernel))
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Says which island the next stage belongs to.
    pub(crate) fn island(&self) -> usize {
        self.islands.len()
    }

    fn ring<T: Send + 'static>(&self, name: &Arc<str>, capacity: usize) -> Arc<Ring<T>> {
        let ring = Ring::new(name.clone(), capacity, self.islands.len());
        self.shared.add_edge(ring.clone());
        ring
    }

    /// Ends the current island with a pipe that runs by itself.
    pub(crate) fn close<P: Pipe<Out = Never>>(&mut self, pipe: P) {
        let index = self.islands.len();
        let island = PipeIsland::new(index, pipe, self.shared.clone(), self.seed.clone());
        self.islands.push(Box::new(island));
    }

    /// Puts a boundary behind a typed pipe and starts the next island with it.
    pub(crate) fn cut<U: Pipe>(&mut self, up: U, capacity: usize) -> Head<RingReader<U::Out>> {
        let name: Arc<str> = format!("boundary {}", self.islands.len()).into();
        let ring = self.ring(&name, capacity);
        let cell = self.typed(&name, RingWriter::new(ring.clone()));
        self.close(Then { up, cell });
        Head(self.typed(&name, RingReader::new(ring)))
    }

    /// Puts a boundary behind dynamic stages and starts the next island with it. Its name finds the reader.
    pub(crate) fn cut_dynamic(
        &mut self,
        mut up: Vec<Box<dyn DynCell>>,
        name: &Arc<str>,
        capacity: usize,
    ) -> Vec<Box<dyn DynCell>> {
        let ring = self.ring::<Value>(name, capacity);
        up.push(self.dynamic(&format!("{name} (writer)").into(), RingWriter::new(ring.clone())));
        self.close(DynChain::new(up));
        vec![self.dynamic(name, RingReader::new(ring))]
    }

    pub(crate) fn finish(self) -> Built {
        self.shared.set_islands(self.islands.len());
        Built { islands: self.islands, shared: self.shared }
    }
}
