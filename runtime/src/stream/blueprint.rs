//! From a blueprint to islands: stages get their numbers, boundaries their rings, junctions their edges.
//!
//! A stream is built of *parts*: what a chain is between two cuts, or one junction. Parts that are wired by fused edges
//! become one island.
//!
//! I1 stages, parts and islands are numbered in the order in which they are built, in a chain from upstream.
//! I2 building twice gives two independent streams. I3 a part's stages have consecutive numbers.

use std::sync::Arc;

use super::boundary::{Ring, RingReader, RingWriter};
use super::cell::Cell;
use super::graph::edges::{Edge, EdgeId};
use super::graph::junction::{Inputs, Junction, JunctionNode};
use super::graph::node::{ClosedNode, Home, Inlet, Node, OpenNode};
use super::graph::{FusedGraph, edge_name};
use super::interpreter::{DynCell, DynChain, FromValue, IntoValue};
use super::island::Island;
use super::kernel::{Kernel, StageId, Tag};
use super::pipe::{Head, Pipe, Then};
use super::shared::{Shared, StageInfo};
use super::value::Value;
use crate::rng::Rng;

/// Collects the parts of one run.
pub struct Builder {
    shared: Arc<Shared>,
    parts: Vec<Part>,
    edges: Vec<Wire>,
    /// The edge that the part being built begins with.
    inlet: Option<EdgeId>,
    /// The node whose stages are being built.
    node: Option<Arc<str>>,
    seed: Rng,
}

struct Part {
    node: Box<dyn Node>,
    first_stage: StageId,
    /// The names of the ports that elements leave by, as long as nothing is wired to them.
    loose: Vec<Option<Arc<str>>>,
}

/// An edge, and where it comes from.
struct Wire {
    edge: Edge,
    into: (usize, Arc<str>),
    from: Option<(usize, Arc<str>)>,
}

/// A port that elements leave by, not wired yet.
#[derive(Debug)]
pub(crate) struct Outlet {
    pub(crate) part: usize,
    pub(crate) port: usize,
    pub(crate) name: Arc<str>,
}

/// A stream that is built and not running yet.
pub struct Built {
    pub(crate) islands: Vec<Box<dyn Island>>,
    pub(crate) shared: Arc<Shared>,
}

impl Built {
    /// Takes by chance, from this seed, whatever order is not promised: for tests.
    pub fn fuzzed(mut self, seed: u64) -> Self {
        let rng = Rng::new(seed);
        for (i, island) in self.islands.iter_mut().enumerate() {
            island.fuzz(rng.split(i as u64));
        }
        self
    }
}

impl Builder {
    pub(crate) fn new(seed: u64) -> Self {
        Builder {
            shared: Arc::default(),
            parts: Vec::new(),
            edges: Vec::new(),
            inlet: None,
            node: None,
            seed: Rng::new(seed),
        }
    }

    /// Gives a stage its number.
    pub(crate) fn tag(&self, name: Arc<str>, counted: bool) -> Tag {
        let info = StageInfo { name: name.clone(), island: self.parts.len(), counted };
        Tag { id: self.shared.add_stage(info), name }
    }

    /// Names the node that the next stages belong to: they are called `node.stage`.
    pub(crate) fn begin_node(&mut self, name: &Arc<str>) {
        self.node = Some(name.clone());
    }

    pub(crate) fn typed<K: Kernel>(&self, name: &str, kernel: K) -> Cell<K, false> {
        let name = match &self.node {
            Some(node) => format!("{node}.{name}").into(),
            None => name.into(),
        };
        Cell::new(self.tag(name, !K::CAPS.light), kernel)
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

    /// Says which part the next stage belongs to.
    pub(crate) fn part(&self) -> usize {
        self.parts.len()
    }

    fn ring<T: Send + 'static>(&self, name: &Arc<str>, capacity: usize) -> Arc<Ring<T>> {
        let ring = Ring::new(name.clone(), capacity, self.part(), self.shared.homes().clone());
        self.shared.add_edge(ring.clone());
        ring
    }

    fn add(&mut self, node: Box<dyn Node>, first_stage: Option<StageId>, ports: &[Arc<str>]) -> usize {
        // A part without a stage of its own stands where the next one would.
        let first_stage = first_stage.unwrap_or_else(|| self.shared.next_stage());
        let loose = ports.iter().cloned().map(Some).collect();
        self.parts.push(Part { node, first_stage, loose });
        self.inlet = None;
        self.parts.len() - 1
    }

    /// Ends the current part with a pipe that runs by itself.
    pub(crate) fn close<P: Pipe>(&mut self, pipe: P) {
        let first = pipe.first_stage();
        self.add(Box::new(ClosedNode::new(pipe)), first, &[]);
    }

    /// Ends the current part with a pipe whose elements go to an edge.
    pub(crate) fn open<P: Pipe>(&mut self, pipe: P, name: Arc<str>) -> Outlet {
        let first = pipe.first_stage();
        let part = self.add(Box::new(OpenNode::new(pipe)), first, std::slice::from_ref(&name));
        Outlet { part, port: 0, name }
    }

    /// Begins a part with elements from an edge.
    pub(crate) fn inlet<T: Send + 'static>(&mut self, name: Arc<str>) -> EdgeId {
        let edge = self.edge(Edge::new::<T>, name);
        self.inlet = Some(edge);
        edge
    }

    fn edge(&mut self, make: fn(usize) -> Edge, name: Arc<str>) -> EdgeId {
        let into = self.part();
        self.edges.push(Wire { edge: make(into), into: (into, name), from: None });
        EdgeId(self.edges.len() - 1)
    }

    /// Adds a junction with ports of these names; gives the edges into it and its outlets.
    pub(crate) fn junction<J: Junction>(
        &mut self,
        name: &Arc<str>,
        junction: J,
        inputs: Inputs,
        ports: (&[Arc<str>], &[Arc<str>]),
    ) -> (Vec<EdgeId>, Vec<Outlet>) {
        let (in_names, out_names) = ports;
        let ins: Vec<EdgeId> =
            inputs.0.into_iter().zip(in_names).map(|(make, port)| self.edge(make, port.clone())).collect();
        let tag = self.tag(name.clone(), true);
        let first = tag.id;
        let node = JunctionNode::new(junction, tag, ins.clone(), out_names.len());
        let part = self.add(Box::new(node), Some(first), out_names);
        let outs = out_names.iter().cloned().enumerate();
        (ins, outs.map(|(port, name)| Outlet { part, port, name }).collect())
    }

    /// Fuses an outlet with an edge of its type.
    pub(crate) fn wire(&mut self, from: Outlet, into: EdgeId) {
        let part = &mut self.parts[from.part];
        part.node.connect(from.port, into);
        part.loose[from.port] = None;
        let wire = &mut self.edges[into.0];
        wire.edge.from = from.part;
        wire.from = Some((from.part, from.name));
    }

    /// Names the ports that nothing is wired to.
    pub(crate) fn loose_ends(&self) -> Vec<Arc<str>> {
        let outs = self.parts.iter().flat_map(|part| part.loose.iter().flatten().cloned());
        let ins = self.edges.iter().filter(|wire| wire.from.is_none()).map(|wire| wire.into.1.clone());
        outs.chain(ins).collect()
    }

    /// Puts a boundary behind a typed pipe and starts the next part with it.
    pub(crate) fn cut<U: Pipe>(&mut self, up: U, capacity: usize) -> Head<RingReader<U::Out>> {
        let name: Arc<str> = format!("boundary {}", self.parts.len()).into();
        let ring = self.ring(&name, capacity);
        let cell = self.typed(&name, RingWriter::new(ring.clone()));
        self.close(Then { up, cell });
        Head(self.typed(&name, RingReader::new(ring)))
    }

    /// Puts a boundary behind dynamic stages and starts the next part with it. Its name finds the reader.
    pub(crate) fn cut_dynamic(
        &mut self,
        mut up: Vec<Box<dyn DynCell>>,
        name: &Arc<str>,
        capacity: usize,
    ) -> Vec<Box<dyn DynCell>> {
        let ring = self.ring::<Value>(name, capacity);
        up.push(self.dynamic(&format!("{name} (writer)").into(), RingWriter::new(ring.clone())));
        self.close_dynamic(up);
        vec![self.dynamic(name, RingReader::new(ring))]
    }

    /// Ends the current part with dynamic stages, the last of them a sink.
    pub(crate) fn close_dynamic(&mut self, cells: Vec<Box<dyn DynCell>>) {
        let chain = DynChain::new(cells, self.inlet);
        self.close(chain);
    }

    /// Ends the current part with dynamic stages whose elements go to an edge.
    pub(crate) fn open_dynamic(&mut self, cells: Vec<Box<dyn DynCell>>, name: Arc<str>) -> Outlet {
        match self.inlet {
            Some(edge) if cells.is_empty() => self.open(Inlet::<Value>::new(edge), name),
            inlet => self.open(DynChain::new(cells, inlet).without_sink(), name),
        }
    }

    /// Makes the islands: parts that are fused become one.
    pub(crate) fn finish(mut self) -> Built {
        let islands = self.number_islands();
        let n = islands.iter().max().map_or(0, |last| last + 1);
        for wire in &mut self.edges {
            if let Some((_, from)) = &wire.from {
                self.shared.add_edge(wire.edge.view(edge_name(from, &wire.into.1)));
            }
        }
        self.shared.settle_parts(islands.clone());
        let mut groups: Vec<Group> = std::iter::repeat_with(Group::default).take(n).collect();
        let mut places = Vec::new();
        for (part, &island) in self.parts.into_iter().zip(&islands) {
            places.push(groups[island].nodes.len());
            groups[island].first_stages.push(part.first_stage);
            groups[island].nodes.push(part.node);
        }
        let mut numbers = Vec::new();
        for wire in self.edges {
            let group = &mut groups[islands[wire.into.0]];
            numbers.push(EdgeId(group.edges.len()));
            let from = wire.from.map_or(usize::MAX, |(part, _)| places[part]);
            group.edges.push(wire.edge.between(from, places[wire.into.0]));
        }
        let home = |index| Home { index, shared: self.shared.clone(), seed: self.seed.clone() };
        let islands = groups.into_iter().enumerate().map(|(i, group)| group.into_island(&numbers, home(i)));
        Built { islands: islands.collect(), shared: self.shared.clone() }
    }

    /// Gives each part its island, numbered by their first parts.
    fn number_islands(&self) -> Vec<usize> {
        let mut root: Vec<usize> = (0..self.parts.len()).collect();
        fn find(root: &mut [usize], mut at: usize) -> usize {
            while root[at] != at {
                root[at] = root[root[at]];
                at = root[at];
            }
            at
        }
        for wire in &self.edges {
            if let Some((from, _)) = wire.from {
                let (a, b) = (find(&mut root, from), find(&mut root, wire.into.0));
                root[a.max(b)] = a.min(b);
            }
        }
        let (mut numbers, mut next) = (vec![usize::MAX; root.len()], 0);
        for part in 0..root.len() {
            let first = find(&mut root, part);
            if numbers[first] == usize::MAX {
                numbers[first] = next;
                next += 1;
            }
            numbers[part] = numbers[first];
        }
        numbers
    }
}

/// The parts of one island.
#[derive(Default)]
struct Group {
    nodes: Vec<Box<dyn Node>>,
    first_stages: Vec<StageId>,
    edges: Vec<Edge>,
}

impl Group {
    /// A part that is alone and closed needs no graph around it.
    fn into_island(mut self, numbers: &[EdgeId], home: Home) -> Box<dyn Island> {
        if self.nodes.len() == 1
            && self.edges.is_empty()
            && let Some(node) = self.nodes.pop()
        {
            return node.into_island(home);
        }
        for node in &mut self.nodes {
            node.place(numbers);
        }
        FusedGraph::new(self.nodes, self.edges, self.first_stages).into_island(home)
    }
}
