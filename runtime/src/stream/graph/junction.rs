//! Junctions: operators with several inputs or outputs.
//!
//! A junction is written as one function, [`Junction::step`], that looks at its ports and moves what can be moved; it is
//! called whenever something on a port changed. Failure and cancellation have a common rule, which few change:
//!
//! - a failed input, once what stood on its edge is taken, fails all outputs and cancels the other inputs;
//! - when all outputs are cancelled, all inputs are cancelled with the last cause.
//!
//! I1 an element is emitted only where there is demand; each edge holds one, and a junction no more than it says.
//! I2 after its end nothing of it is called.

use super::FusedGraph;
use super::edges::{Arrival, Edge, EdgeId};
use super::node::{Home, Node};
use crate::stream::counts::Counts;
use crate::stream::host::Event;
use crate::stream::island::Island;
use crate::stream::kernel::{Blame, Cx, Park, Run, Sleep, Tag};
use crate::stream::signal::{Cause, DropReason, End, StreamError};

/// An operator with several inputs or outputs, for one run.
pub trait Junction: Send + 'static {
    /// Moves what can be moved, asks for what is wanted, and ends itself when nothing more can come.
    fn step(&mut self, ports: &mut Ports);

    /// An output was cancelled and others are left. The default goes on with those.
    fn on_cancel(&mut self, _output: usize, _cause: &Cause, _ports: &mut Ports) {}

    /// An input failed. The default fails all outputs and cancels the other inputs.
    fn on_fail(&mut self, _input: usize, e: StreamError, ports: &mut Ports) {
        ports.fail(e);
    }

    /// Counts the elements that it holds.
    fn held(&self) -> usize {
        0
    }
}

/// A junction with any number of inputs of one type and one output.
pub trait FanInOf: Junction {
    /// What its inputs take.
    type In: Send + 'static;
    /// What it emits.
    type Out: Send + 'static;
}

/// A junction with one input and any number of outputs of one type.
pub trait FanOutOf: Junction {
    /// What it takes.
    type In: Send + 'static;
    /// What its outputs emit.
    type Out: Send + 'static;
}

/// A junction with two inputs of two types and one output.
pub trait TwoInOf: Junction {
    /// What its first input takes.
    type Left: Send + 'static;
    /// What its second input takes.
    type Right: Send + 'static;
    /// What it emits.
    type Out: Send + 'static;
}

/// A junction with one input and two outputs of two types.
pub trait TwoOutOf: Junction {
    /// What it takes.
    type In: Send + 'static;
    /// What its first output emits.
    type Left: Send + 'static;
    /// What its second output emits.
    type Right: Send + 'static;
}

/// The types of a junction's inputs, in their order.
#[derive(Default)]
pub(crate) struct Inputs(pub(crate) Vec<fn(usize) -> Edge>);

impl Inputs {
    /// Adds `n` inputs for elements of type `T`.
    pub(crate) fn of<T: Send + 'static>(mut self, n: usize) -> Self {
        self.0.extend(std::iter::repeat_n(Edge::new::<T> as fn(usize) -> Edge, n));
        self
    }
}

/// What a junction sees and does in one step.
pub struct Ports<'a, 'h> {
    run: &'a mut Run<'h>,
    ins: &'a [EdgeId],
    outs: &'a [EdgeId],
    tag: &'a Tag,
    counts: &'a mut Counts,
    ended: &'a mut bool,
}

impl<'h> Ports<'_, 'h> {
    /// Counts the inputs, open or not.
    pub fn inputs(&self) -> usize {
        self.ins.len()
    }

    /// Counts the outputs, open or not.
    pub fn outputs(&self) -> usize {
        self.outs.len()
    }

    /// Says whether an element stands on an input.
    #[inline]
    pub fn ready(&self, input: usize) -> bool {
        self.run.edges.holds(self.ins[input])
    }

    /// Shows the element that stands on an input.
    #[inline]
    pub fn peek<T: Send + 'static>(&self, input: usize) -> Option<&T> {
        self.run.edges.peek(self.ins[input])
    }

    /// Asks for an element on an input, if none was asked for.
    #[inline]
    pub fn pull(&mut self, input: usize) {
        self.run.edges.ask(self.ins[input]);
    }

    /// Takes the element that stands on an input.
    #[inline]
    pub fn take<T: Send + 'static>(&mut self, input: usize) -> Option<T> {
        if !self.ready(input) {
            return None;
        }
        match self.run.edges.arrival(self.ins[input], true) {
            Arrival::Item(x) => {
                self.counts.taken += 1;
                self.run.left = self.run.left.saturating_sub(1);
                Some(x)
            }
            _ => None,
        }
    }

    /// Says whether an input can still bring elements.
    #[inline]
    pub fn is_open(&self, input: usize) -> bool {
        self.run.edges.is_open(self.ins[input])
    }

    /// Says whether no input can bring elements any more.
    pub fn all_inputs_done(&self) -> bool {
        !(0..self.ins.len()).any(|i| self.is_open(i))
    }

    /// Wants nothing more from an input.
    pub fn cancel(&mut self, input: usize, cause: Cause) {
        if self.run.edges.ended(self.ins[input]).is_none() {
            self.run.edges.cancel(self.ins[input], cause);
        }
    }

    /// Says whether an output wants an element.
    #[inline]
    pub fn demand(&self, output: usize) -> bool {
        self.run.edges.demand(self.outs[output])
    }

    /// Says whether an output was not cancelled.
    #[inline]
    pub fn is_live(&self, output: usize) -> bool {
        self.run.edges.cancelled(self.outs[output]).is_none()
    }

    /// Emits an element on an output that has demand.
    #[inline]
    pub fn emit<T: Send + 'static>(&mut self, output: usize, x: T) {
        self.counts.emitted += 1;
        self.run.edges.put(self.outs[output], x);
    }

    /// Completes one output, behind what stands on it.
    pub fn complete_output(&mut self, output: usize) {
        self.run.edges.end(self.outs[output], End::Completed);
    }

    /// Ends the junction: completes all outputs and cancels all inputs.
    pub fn complete(&mut self) {
        self.finish(End::Completed, &Cause::StageDone);
    }

    /// Ends the junction: completes all outputs and cancels all inputs with this cause.
    pub fn cancel_all(&mut self, cause: &Cause) {
        self.finish(End::Completed, cause);
    }

    /// Ends the junction: fails all outputs and cancels all inputs.
    pub fn fail(&mut self, e: StreamError) {
        self.finish(End::Failed(e.clone()), &Cause::Failure(e));
    }

    fn finish(&mut self, end: End, cause: &Cause) {
        *self.ended = true;
        for &out in self.outs {
            self.run.edges.end(out, end.clone());
        }
        for input in 0..self.ins.len() {
            self.cancel(input, cause.clone());
        }
    }

    /// Says whether the junction has ended itself.
    pub fn has_ended(&self) -> bool {
        *self.ended
    }

    /// Gives the door to time, chance, work and counters.
    pub fn cx(&mut self) -> Cx<'_, 'h> {
        Cx { run: self.run, tag: self.tag, counts: self.counts }
    }
}

/// A junction as a node.
pub(crate) struct JunctionNode<J> {
    junction: J,
    tag: Tag,
    ins: Vec<EdgeId>,
    outs: Vec<EdgeId>,
    counts: Counts,
    ended: bool,
}

impl<J: Junction> JunctionNode<J> {
    pub(crate) fn new(junction: J, tag: Tag, ins: Vec<EdgeId>, outs: usize) -> Self {
        let outs = vec![EdgeId(usize::MAX); outs];
        JunctionNode { junction, tag, ins, outs, counts: Counts::default(), ended: false }
    }

    fn call<R>(&mut self, run: &mut Run, f: impl FnOnce(&mut J, &mut Ports) -> R) -> R {
        let blame = Blame(run.blamed, &self.tag);
        let (counts, ended) = (&mut self.counts, &mut self.ended);
        let mut ports = Ports { run, ins: &self.ins, outs: &self.outs, tag: &self.tag, counts, ended };
        let result = f(&mut self.junction, &mut ports);
        std::mem::forget(blame);
        self.counts.high_water = self.counts.high_water.max(self.junction.held() as u64);
        result
    }

    /// Acts on cancelled outputs.
    fn see_cancels(&mut self, run: &mut Run) {
        for at in 0..self.outs.len() {
            let Some(cause) = run.edges.new_cancel(self.outs[at]) else { continue };
            let live = self.outs.iter().any(|out| run.edges.cancelled(*out).is_none());
            if live {
                self.call(run, |junction, ports| junction.on_cancel(at, &cause, ports));
            } else {
                self.call(run, |_, ports| ports.cancel_all(&cause));
                self.lose(DropReason::Cancelled);
            }
            if self.ended {
                return;
            }
        }
    }

    /// Acts on failed inputs.
    fn see_failures(&mut self, run: &mut Run) {
        for at in 0..self.ins.len() {
            let edge = self.ins[at];
            let Some(End::Failed(e)) = run.edges.ended(edge).cloned() else { continue };
            if run.edges.cancelled(edge).is_some() {
                continue;
            }
            // Seen once: nothing is expected of that edge any more.
            run.edges.cancel(edge, Cause::Failure(e.clone()));
            self.call(run, |junction, ports| junction.on_fail(at, e, ports));
            if self.ended {
                self.lose(DropReason::StageFailed);
                return;
            }
        }
    }

    fn lose(&mut self, reason: DropReason) {
        self.counts.dropped.add(reason, self.junction.held() as u64);
    }
}

impl<J: Junction> Node for JunctionNode<J> {
    fn start(&mut self, _run: &mut Run) {}

    fn visit(&mut self, run: &mut Run) -> bool {
        if run.left == 0 {
            return true;
        }
        if !self.ended {
            self.see_cancels(run);
        }
        if !self.ended {
            self.see_failures(run);
        }
        if !self.ended {
            self.call(run, |junction, ports| junction.step(ports));
            // What stood before a failure was taken in this step: the failure is next.
            return run.charge.any || (!self.ended && self.ins.iter().any(|&e| is_failed(run, e)));
        }
        false
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn event(&mut self, _event: &Event, _run: &mut Run) {}

    fn is_external(&self) -> bool {
        false
    }

    fn wake(&mut self, _run: &mut Run) {}

    fn park(&mut self, _park: Park, _run: &mut Run) -> Sleep {
        Sleep::Deep
    }

    fn stop(&mut self, _cause: &Cause, _run: &mut Run) {}

    fn abort(&mut self, e: StreamError, run: &mut Run) {
        if !self.ended {
            self.call(run, |_, ports| ports.fail(e));
            self.lose(DropReason::StageFailed);
        }
    }

    fn is_full(&self) -> bool {
        false
    }

    fn report(&mut self, into: &mut [Counts]) {
        let held = if self.ended { 0 } else { self.junction.held() as u64 };
        into[self.tag.id.0 as usize] = Counts { held, ..self.counts };
    }

    fn connect(&mut self, port: usize, edge: EdgeId) {
        self.outs[port] = edge;
    }

    fn place(&mut self, edges: &[EdgeId]) {
        for edge in self.ins.iter_mut().chain(&mut self.outs) {
            *edge = edges[edge.0];
        }
    }

    fn into_island(self: Box<Self>, home: Home) -> Box<dyn Island> {
        FusedGraph::of(self).into_island(home)
    }
}

fn is_failed(run: &Run, edge: EdgeId) -> bool {
    matches!(run.edges.ended(edge), Some(End::Failed(_))) && run.edges.cancelled(edge).is_none()
}
