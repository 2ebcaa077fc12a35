//! `Graph`: the blueprint of a stream with junctions, wired by typed ports in Rust.
//!
//! A blueprint is a function that adds parts to a [`GraphBuilder`] and wires them; it runs once for each run of the stream, so
//! two runs share nothing. The types of ports make wrong wires a compile error, and a port is used up by its wire, so that
//! nothing is wired twice; what is left over is found when the graph is built.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::edges::EdgeId;
use super::junction::{FanInOf, FanOutOf, Inputs, Junction, TwoInOf, TwoOutOf};
use crate::stream::blueprint::{Builder, Built, Outlet};
use crate::stream::dsl::{Flow, FlowPlan, Plan, Sink, SinkPlan, Source};
use crate::stream::graph::node::Inlet;
use crate::stream::local::LocalRun;
use crate::stream::pipe::Then;

/// A port that elements go in by.
#[must_use = "an input that is not wired is an error"]
pub struct InPort<T> {
    edge: EdgeId,
    of: PhantomData<fn(T)>,
}

/// A port that elements come out of.
#[must_use = "an output that is not wired is an error"]
pub struct OutPort<T> {
    outlet: Outlet,
    of: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for InPort<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InPort({})", self.edge.0)
    }
}

impl<T> fmt::Debug for OutPort<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutPort({})", self.outlet.name)
    }
}

/// The ports of a junction with two inputs: left, right, and out.
pub type TwoInPorts<J> =
    (InPort<<J as TwoInOf>::Left>, InPort<<J as TwoInOf>::Right>, OutPort<<J as TwoInOf>::Out>);

/// The ports of a junction with two outputs: in, left, and right.
pub type TwoOutPorts<J> =
    (InPort<<J as TwoOutOf>::In>, OutPort<<J as TwoOutOf>::Left>, OutPort<<J as TwoOutOf>::Right>);

/// A graph cannot be built: a port was left over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphError {
    /// Nothing is wired to a port.
    Unconnected {
        /// The node and its port, as `node.port`.
        port: Arc<str>,
    },
    /// Two nodes have one name.
    DuplicateName {
        /// The name.
        node: Arc<str>,
    },
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphError::Unconnected { port } => write!(f, "{port}: nothing is wired to it"),
            GraphError::DuplicateName { node } => write!(f, "{node}: two nodes have this name"),
        }
    }
}

impl std::error::Error for GraphError {}

/// Collects the nodes and wires of one graph.
pub struct GraphBuilder {
    builder: Builder,
    names: Vec<Arc<str>>,
}

impl fmt::Debug for GraphBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GraphBuilder").field(&self.names).finish()
    }
}

/// The plan of a chain that begins at an edge.
struct InletPlan<T> {
    edge: EdgeId,
    of: PhantomData<fn(T)>,
}

impl<T> Clone for InletPlan<T> {
    fn clone(&self) -> Self {
        InletPlan { edge: self.edge, of: PhantomData }
    }
}

impl<T: Send + 'static> Plan for InletPlan<T> {
    type Out = T;
    type Pipe = Inlet<T>;
    fn build(&self, _b: &mut Builder) -> Inlet<T> {
        Inlet::new(self.edge)
    }
}

fn numbered(node: &str, port: &str, n: usize) -> Vec<Arc<str>> {
    (0..n).map(|i| format!("{node}.{port}{i}").into()).collect()
}

fn one(node: &str, port: &str) -> [Arc<str>; 1] {
    [format!("{node}.{port}").into()]
}

fn in_port<T>(edge: EdgeId) -> InPort<T> {
    InPort { edge, of: PhantomData }
}

fn out_port<T>(outlet: Outlet) -> OutPort<T> {
    OutPort { outlet, of: PhantomData }
}

impl GraphBuilder {
    fn new(seed: u64) -> Self {
        GraphBuilder { builder: Builder::new(seed), names: Vec::new() }
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        let name: Arc<str> = name.into();
        self.names.push(name.clone());
        self.builder.begin_node(&name);
        name
    }

    /// Adds a source.
    pub fn source<P: Plan>(&mut self, name: &str, source: Source<P>) -> OutPort<P::Out> {
        let name = self.name(name);
        let pipe = source.plan().build(&mut self.builder);
        out_port(self.builder.open(pipe, format!("{name}.out").into()))
    }

    /// Adds a flow.
    pub fn flow<G: FlowPlan>(&mut self, name: &str, flow: Flow<G>) -> (InPort<G::In>, OutPort<G::Out>) {
        let name = self.name(name);
        let edge = self.builder.inlet::<G::In>(format!("{name}.in").into());
        let plan = flow.into_plan().attach(InletPlan { edge, of: PhantomData });
        let pipe = plan.build(&mut self.builder);
        (in_port(edge), out_port(self.builder.open(pipe, format!("{name}.out").into())))
    }

    /// Adds a sink; gives its port and what a run of it gives.
    pub fn sink<S: SinkPlan>(&mut self, name: &str, sink: Sink<S>) -> (InPort<S::In>, S::Mat) {
        let name = self.name(name);
        let edge = self.builder.inlet::<S::In>(format!("{name}.in").into());
        let (kernel, mat) = sink.plan().build();
        let cell = self.builder.typed(sink.plan().name(), kernel);
        self.builder.close(Then { up: Inlet::<S::In>::new(edge), cell });
        (in_port(edge), mat)
    }

    fn junction<J: Junction>(
        &mut self,
        name: &str,
        junction: J,
        inputs: Inputs,
        ports: (&[Arc<str>], &[Arc<str>]),
    ) -> (Vec<EdgeId>, Vec<Outlet>) {
        let name = self.name(name);
        self.builder.junction(&name, junction, inputs, ports)
    }

    /// Adds a junction with `n` inputs and one output.
    pub fn fan_in<J: FanInOf>(
        &mut self,
        name: &str,
        n: usize,
        junction: J,
    ) -> (Vec<InPort<J::In>>, OutPort<J::Out>) {
        let inputs = Inputs::default().of::<J::In>(n);
        let (ins, mut outs) =
            self.junction(name, junction, inputs, (&numbered(name, "in", n), &one(name, "out")));
        (ins.into_iter().map(in_port).collect(), out_port(outs.remove(0)))
    }

    /// Adds a junction with one input and `n` outputs.
    pub fn fan_out<J: FanOutOf>(
        &mut self,
        name: &str,
        n: usize,
        junction: J,
    ) -> (InPort<J::In>, Vec<OutPort<J::Out>>) {
        let inputs = Inputs::default().of::<J::In>(1);
        let (ins, outs) =
            self.junction(name, junction, inputs, (&one(name, "in"), &numbered(name, "out", n)));
        (in_port(ins[0]), outs.into_iter().map(out_port).collect())
    }

    /// Adds a junction with two inputs of two types.
    pub fn two_in<J: TwoInOf>(&mut self, name: &str, junction: J) -> TwoInPorts<J> {
        let inputs = Inputs::default().of::<J::Left>(1).of::<J::Right>(1);
        let (ins, mut outs) =
            self.junction(name, junction, inputs, (&numbered(name, "in", 2), &one(name, "out")));
        (in_port(ins[0]), in_port(ins[1]), out_port(outs.remove(0)))
    }

    /// Adds a junction with two outputs of two types.
    pub fn two_out<J: TwoOutOf>(&mut self, name: &str, junction: J) -> TwoOutPorts<J> {
        let inputs = Inputs::default().of::<J::In>(1);
        let (ins, mut outs) =
            self.junction(name, junction, inputs, (&one(name, "in"), &numbered(name, "out", 2)));
        let right = outs.remove(1);
        (in_port(ins[0]), out_port(outs.remove(0)), out_port(right))
    }

    /// Wires an output to an input: both sides run in one island.
    pub fn wire<T>(&mut self, from: OutPort<T>, into: InPort<T>) {
        self.builder.wire(from.outlet, into.edge);
    }

    /// Wires through an asynchronous boundary: unless they are fused by another way, the sides are two islands, with a
    /// ring of at least `capacity` elements between them.
    pub fn wire_async<T: Send + 'static>(&mut self, from: OutPort<T>, into: InPort<T>, capacity: usize) {
        use crate::stream::dsl::Operators;
        let (edge, out) = {
            let name = from.outlet.name.clone();
            self.builder.begin_node(&name);
            let edge = self.builder.inlet::<T>(format!("{name} (boundary)").into());
            let flow = Flow::of::<T>().async_boundary_of(capacity);
            let pipe = flow.into_plan().attach(InletPlan { edge, of: PhantomData }).build(&mut self.builder);
            (edge, self.builder.open(pipe, format!("{name} (boundary)").into()))
        };
        self.builder.wire(from.outlet, edge);
        self.builder.wire(out, into.edge);
    }

    fn finish(self) -> Result<Built, Vec<GraphError>> {
        let mut names = self.names;
        names.sort();
        let twice = names.windows(2).filter(|pair| pair[0] == pair[1]);
        let mut errors: Vec<GraphError> =
            twice.map(|pair| GraphError::DuplicateName { node: pair[0].clone() }).collect();
        errors.extend(self.builder.loose_ends().into_iter().map(|port| GraphError::Unconnected { port }));
        if errors.is_empty() { Ok(self.builder.finish()) } else { Err(errors) }
    }
}

/// The blueprint of a stream with junctions.
///
/// # Examples
/// ```
/// use footlights::stream::junctions::{Broadcast, ZipWith};
/// use footlights::stream::{Flow, Graph, Operators, Sink, Source};
/// let diamond = Graph::new(|g| {
///     let numbers = g.source("numbers", Source::range(0..4));
///     let (split, mut ways) = g.fan_out("split", 2, Broadcast::new());
///     let (tens_in, tens) = g.flow("tens", Flow::of().map(|n: i64| n * 10));
///     let (left, right, pairs) = g.two_in("pairs", ZipWith::new(|a: i64, b: i64| a + b));
///     let (sums, done) = g.sink("sums", Sink::to_vec(10));
///     g.wire(numbers, split);
///     g.wire(ways.remove(0), left);
///     g.wire(ways.remove(0), tens_in);
///     g.wire(tens, right);
///     g.wire(pairs, sums);
///     done
/// });
/// assert_eq!(diamond.run_local()?.take(), Some(Ok(vec![0, 11, 22, 33])));
/// # Ok::<(), footlights::stream::RunError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Graph<F>(F);

impl<M, F: Fn(&mut GraphBuilder) -> M> Graph<F> {
    /// Makes a blueprint of a function that adds nodes and wires; what it returns is what a run gives.
    pub fn new(f: F) -> Self {
        Graph(f)
    }

    /// Builds the islands of one run.
    ///
    /// # Errors
    /// Every port that nothing is wired to, and every name that two nodes have.
    pub fn build(&self, seed: u64) -> Result<(Built, M), Vec<GraphError>> {
        let mut g = GraphBuilder::new(seed);
        let mat = (self.0)(&mut g);
        Ok((g.finish()?, mat))
    }

    /// Runs it on the calling thread to its end, in virtual time with one worker.
    ///
    /// # Errors
    /// As `build`.
    pub fn run_local(&self) -> Result<M, crate::stream::RunError> {
        let (built, mat) = self.build(0).map_err(crate::stream::RunError::Graph)?;
        LocalRun::new(built, 1).run();
        Ok(mat)
    }
}
