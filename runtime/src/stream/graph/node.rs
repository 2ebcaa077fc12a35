//! What an island's graph is made of: chains, open or closed, and junctions.
//!
//! A node is visited when something on its edges changed. It moves what it can and says whether it wants another visit.
//! It does not know which nodes are its neighbours: it knows its edges.

use std::sync::Arc;

use super::FusedGraph;
use super::edges::{Arrival, EdgeId};
use crate::rng::Rng;
use crate::stream::cell::Answer;
use crate::stream::counts::Counts;
use crate::stream::host::Event;
use crate::stream::island::{Island, PipeIsland};
use crate::stream::kernel::{Park, Run, Sleep, StageId};
use crate::stream::pipe::{Pipe, Push};
use crate::stream::shared::Shared;
use crate::stream::signal::{Cause, End, StreamError};

/// One node of an island's graph.
pub(crate) trait Node: Send {
    /// Starts its stages.
    fn start(&mut self, run: &mut Run);
    /// Moves what can be moved; true if it wants to go on in the next turn.
    fn visit(&mut self, run: &mut Run) -> bool;
    /// Says whether it has ended, with all its edges.
    fn has_ended(&self) -> bool;
    /// Hands it an event of one of its stages.
    fn event(&mut self, event: &Event, run: &mut Run);
    /// Shares something with the outside: `wake` and `park` are called.
    fn is_external(&self) -> bool;
    /// Looks outside.
    fn wake(&mut self, run: &mut Run);
    /// Ends a run.
    fn park(&mut self, park: Park, run: &mut Run) -> Sleep;
    /// Completes its source, if it has one.
    fn stop(&mut self, cause: &Cause, run: &mut Run);
    /// Fails it from outside.
    fn abort(&mut self, e: StreamError, run: &mut Run);
    /// Waits for demand from another island.
    fn is_full(&self) -> bool;
    /// Writes the counters of its stages.
    fn report(&mut self, into: &mut [Counts]);
    /// Says where what leaves its port `port` goes.
    fn connect(&mut self, port: usize, edge: EdgeId);
    /// Learns the numbers that the stream's edges have in this island.
    fn place(&mut self, edges: &[EdgeId]);
    /// Becomes an island of its own: it has no edge.
    fn into_island(self: Box<Self>, home: Home) -> Box<dyn Island>;
}

/// What an island is made with.
pub(crate) struct Home {
    pub(crate) index: usize,
    pub(crate) shared: Arc<Shared>,
    pub(crate) seed: Rng,
}

/// A chain whose last stage emits into an edge.
pub(crate) struct OpenNode<P> {
    pipe: P,
    out: EdgeId,
    ended: bool,
}

impl<P: Pipe> OpenNode<P> {
    pub(crate) fn new(pipe: P) -> Self {
        OpenNode { pipe, out: EdgeId(usize::MAX), ended: false }
    }
}

impl<P: Pipe> Node for OpenNode<P> {
    fn start(&mut self, run: &mut Run) {
        self.pipe.start(run);
    }

    fn visit(&mut self, run: &mut Run) -> bool {
        if self.ended {
            return false;
        }
        if let Some(cause) = run.edges.new_cancel(self.out) {
            self.pipe.cancel(cause, run);
            self.ended = true;
            return false;
        }
        loop {
            let demand = run.edges.demand(self.out);
            match self.pipe.poll(demand, run) {
                Answer::Item(x) => run.edges.put(self.out, x),
                Answer::Blocked => return false,
                Answer::Yield => return true,
                Answer::End(end) => {
                    run.edges.end(self.out, *end);
                    self.ended = true;
                    return false;
                }
            }
            if run.charge.any {
                return true;
            }
        }
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn event(&mut self, event: &Event, run: &mut Run) {
        self.pipe.event(event, run);
    }

    fn is_external(&self) -> bool {
        self.pipe.is_external()
    }

    fn wake(&mut self, run: &mut Run) {
        self.pipe.wake(run);
    }

    fn park(&mut self, park: Park, run: &mut Run) -> Sleep {
        self.pipe.park(park, run)
    }

    fn stop(&mut self, cause: &Cause, run: &mut Run) {
        self.pipe.stop(cause, run);
    }

    fn abort(&mut self, e: StreamError, run: &mut Run) {
        if !std::mem::replace(&mut self.ended, true) {
            self.pipe.abort(e.clone(), run);
            run.edges.end(self.out, End::Failed(e));
        }
    }

    fn is_full(&self) -> bool {
        false
    }

    fn report(&mut self, into: &mut [Counts]) {
        self.pipe.report(into);
    }

    fn connect(&mut self, _port: usize, edge: EdgeId) {
        self.out = edge;
    }

    fn place(&mut self, edges: &[EdgeId]) {
        self.out = edges[self.out.0];
        self.pipe.place(edges);
    }

    fn into_island(self: Box<Self>, home: Home) -> Box<dyn Island> {
        FusedGraph::of(self).into_island(home)
    }
}

/// A chain whose last stage is a sink, or the writer of a boundary.
pub(crate) struct ClosedNode<P> {
    pipe: P,
    ended: bool,
}

impl<P: Pipe> ClosedNode<P> {
    pub(crate) fn new(pipe: P) -> Self {
        ClosedNode { pipe, ended: false }
    }
}

impl<P: Pipe> Node for ClosedNode<P> {
    fn start(&mut self, run: &mut Run) {
        self.pipe.start(run);
    }

    fn visit(&mut self, run: &mut Run) -> bool {
        if self.ended {
            return false;
        }
        match self.pipe.poll(true, run) {
            Answer::Blocked => false,
            // A sink emits nothing.
            Answer::Item(_) | Answer::Yield => true,
            Answer::End(_) => {
                self.ended = true;
                false
            }
        }
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn event(&mut self, event: &Event, run: &mut Run) {
        self.pipe.event(event, run);
    }

    fn is_external(&self) -> bool {
        self.pipe.is_external()
    }

    fn wake(&mut self, run: &mut Run) {
        self.pipe.wake(run);
    }

    fn park(&mut self, park: Park, run: &mut Run) -> Sleep {
        self.pipe.park(park, run)
    }

    fn stop(&mut self, cause: &Cause, run: &mut Run) {
        self.pipe.stop(cause, run);
    }

    fn abort(&mut self, e: StreamError, run: &mut Run) {
        if !std::mem::replace(&mut self.ended, true) {
            self.pipe.abort(e, run);
        }
    }

    fn is_full(&self) -> bool {
        !self.ended && self.pipe.is_full()
    }

    fn report(&mut self, into: &mut [Counts]) {
        self.pipe.report(into);
    }

    fn connect(&mut self, _port: usize, _edge: EdgeId) {}

    fn place(&mut self, edges: &[EdgeId]) {
        self.pipe.place(edges);
    }

    fn into_island(self: Box<Self>, home: Home) -> Box<dyn Island> {
        Box::new(PipeIsland::new(home.index, self.pipe, home.shared, home.seed))
    }
}

/// The head of a chain that takes its elements from an edge.
pub(crate) struct Inlet<T> {
    edge: EdgeId,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T> Inlet<T> {
    pub(crate) fn new(edge: EdgeId) -> Self {
        Inlet { edge, of: std::marker::PhantomData }
    }
}

impl<T: Send + 'static> Pipe for Inlet<T> {
    type Out = T;
    const LIGHT: bool = false;

    fn is_plain(&self) -> bool {
        false
    }

    fn pump<D: Push<T>>(&mut self, _down: &mut D, _run: &mut Run) {}

    #[inline]
    fn poll(&mut self, demand: bool, run: &mut Run) -> Answer<T> {
        if run.left == 0 {
            return Answer::Yield;
        }
        match run.edges.arrival(self.edge, demand) {
            Arrival::Item(x) => {
                run.left -= 1;
                Answer::Item(x)
            }
            Arrival::End(end) => Answer::End(Box::new(end)),
            Arrival::Nothing => Answer::Blocked,
        }
    }

    fn start(&mut self, _run: &mut Run) {}

    fn wake(&mut self, _run: &mut Run) {}

    fn event(&mut self, _event: &Event, _run: &mut Run) {}

    fn park(&mut self, _park: Park, _run: &mut Run) -> Sleep {
        Sleep::Deep
    }

    fn cancel(&mut self, cause: Cause, run: &mut Run) {
        run.edges.cancel(self.edge, cause);
    }

    fn stop(&mut self, _cause: &Cause, _run: &mut Run) {}

    fn abort(&mut self, e: StreamError, run: &mut Run) {
        run.edges.cancel(self.edge, Cause::Failure(e));
    }

    fn ended(&self) -> Option<&End> {
        None
    }

    fn is_full(&self) -> bool {
        false
    }

    fn place(&mut self, edges: &[EdgeId]) {
        self.edge = edges[self.edge.0];
    }

    fn is_external(&self) -> bool {
        false
    }

    fn first_stage(&self) -> Option<StageId> {
        None
    }

    fn report(&mut self, _into: &mut [Counts]) {}
}
