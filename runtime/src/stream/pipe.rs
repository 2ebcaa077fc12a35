//! The typed driver: a linear chain as nested generics, so that the compiler sees one loop.
//!
//! `Then<Then<Head<Range>, Map>, Fold>` polls inwards: each stage asks the one above, whose kernel is inlined into it. The
//! rules are those of [`Cell`]; this file only says where the neighbours are.
//! Chains of light kernels also have a short way, `pump`: the source pushes through all stages in one loop, without asking
//! for each element. It stops at the first end, and `poll` goes on from there.
//! I1 the nesting of calls is the nesting of the type, never the number of elements.

use super::cell::{Answer, Cell, Step};
use super::counts::Counts;
use super::graph::edges::EdgeId;
use super::host::Event;
use super::kernel::{Kernel, Park, Run, Sig, Sleep, StageId};
use super::signal::{Cause, End, StreamError};
use crate::rng::Rng;

/// A chain of stages that can be asked for elements.
pub trait Pipe: Send + 'static {
    /// What it gives.
    type Out: Send + 'static;
    /// All kernels are light.
    const LIGHT: bool;
    /// Says that nothing stands in the short way.
    fn is_plain(&self) -> bool;
    /// Pushes elements into `down` while there are any, for at most the run's budget; only if plain.
    fn pump<D: Push<Self::Out>>(&mut self, down: &mut D, run: &mut Run);
    /// Asks for an element (`demand`), or only for the end.
    fn poll(&mut self, demand: bool, run: &mut Run) -> Answer<Self::Out>;
    /// Starts all stages, from upstream.
    fn start(&mut self, run: &mut Run);
    /// Lets the outer stages look outside.
    fn wake(&mut self, run: &mut Run);
    /// Hands an event to the stage that it is for.
    fn event(&mut self, event: &Event, run: &mut Run);
    /// Ends a run.
    fn park(&mut self, park: Park, run: &mut Run) -> Sleep;
    /// Cancels from downstream.
    fn cancel(&mut self, cause: Cause, run: &mut Run);
    /// Completes the source, if it is no ring.
    fn stop(&mut self, cause: &Cause, run: &mut Run);
    /// Fails the last stage and cancels all others.
    fn abort(&mut self, e: StreamError, run: &mut Run);
    /// Says how the last stage ended.
    fn ended(&self) -> Option<&End>;
    /// Says whether the last stage waits for demand.
    fn is_full(&self) -> bool;
    /// Says whether a stage shares something with the outside.
    fn is_external(&self) -> bool;
    /// Gives the number of the first stage.
    fn first_stage(&self) -> Option<StageId>;
    /// Writes the counters of all stages, by stage number.
    fn report(&mut self, into: &mut [Counts]);
    /// Learns the numbers that the stream's edges have in this island.
    fn place(&mut self, _edges: &[EdgeId]) {}
    /// Takes whatever order is not promised by chance; a chain has one order only.
    fn fuzz(&mut self, _rng: Rng) {}
}

/// What the short way ends in.
pub trait Push<T> {
    /// Takes an element; false if it takes no more.
    fn push(&mut self, x: T, run: &mut Run) -> bool;
}

/// Below a sink there is nothing.
pub(crate) struct Bottom;

impl<T> Push<T> for Bottom {
    #[inline(always)]
    fn push(&mut self, _x: T, _run: &mut Run) -> bool {
        true
    }
}

/// A light stage on the short way, and what is below it.
struct Link<'a, K: Kernel, D> {
    cell: &'a mut Cell<K, false>,
    down: &'a mut D,
    cause: &'a mut Option<Cause>,
}

impl<K: Kernel, D: Push<K::Out>> Push<K::In> for Link<'_, K, D> {
    #[inline(always)]
    fn push(&mut self, x: K::In, run: &mut Run) -> bool {
        let (sig, slot) = self.cell.push_light(x, run);
        let more = match slot {
            Some(y) => self.down.push(y, run),
            None => true,
        };
        match sig {
            Sig::Continue => more,
            sig => {
                *self.cause = self.cell.close(sig);
                false
            }
        }
    }
}

/// The first stage of a typed chain.
pub struct Head<K: Kernel>(pub(crate) Cell<K, false>);

impl<K: Kernel> Pipe for Head<K> {
    type Out = K::Out;
    const LIGHT: bool = K::CAPS.light;

    fn is_plain(&self) -> bool {
        self.0.is_plain()
    }

    #[inline(always)]
    fn pump<D: Push<K::Out>>(&mut self, down: &mut D, run: &mut Run) {
        while run.left > 0 {
            run.left -= 1;
            let (sig, slot) = self.0.pull_light(run);
            let more = match slot {
                Some(x) => down.push(x, run),
                None => false,
            };
            match sig {
                Sig::Continue if more => {}
                Sig::Continue => return,
                sig => {
                    self.0.close(sig);
                    return;
                }
            }
        }
    }

    #[inline(always)]
    fn poll(&mut self, demand: bool, run: &mut Run) -> Answer<K::Out> {
        if run.left == 0 {
            return Answer::Yield;
        }
        run.left -= 1;
        match self.0.ask(demand, run) {
            Step::Up(_) => Answer::Blocked,
            Step::Down(answer) | Step::Stop(_, answer) => answer,
        }
    }

    fn start(&mut self, run: &mut Run) {
        self.0.start(run);
    }

    #[inline(always)]
    fn wake(&mut self, run: &mut Run) {
        self.0.wake(run);
    }

    fn event(&mut self, event: &Event, run: &mut Run) {
        self.0.event(event, run);
    }

    #[inline(always)]
    fn park(&mut self, park: Park, run: &mut Run) -> Sleep {
        self.0.park(park, run)
    }

    fn cancel(&mut self, cause: Cause, run: &mut Run) {
        self.0.cancel(cause, run);
    }

    fn stop(&mut self, cause: &Cause, run: &mut Run) {
        if K::CAPS.source {
            self.0.stop(cause, run);
        }
    }

    fn abort(&mut self, e: StreamError, run: &mut Run) {
        self.0.abort(e, run);
    }

    fn ended(&self) -> Option<&End> {
        self.0.ended()
    }

    fn is_full(&self) -> bool {
        self.0.is_full()
    }

    fn is_external(&self) -> bool {
        K::CAPS.external
    }

    fn first_stage(&self) -> Option<StageId> {
        Some(self.0.tag().id)
    }

    fn report(&mut self, into: &mut [Counts]) {
        into[self.0.tag().id.0 as usize] = self.0.counts();
    }
}

/// A typed chain with one more stage.
pub struct Then<U, K: Kernel> {
    pub(crate) up: U,
    pub(crate) cell: Cell<K, false>,
}

impl<U: Pipe, K: Kernel<In = U::Out>> Then<U, K> {
    #[inline(always)]
    fn cancel_up(&mut self, cause: Option<Cause>, run: &mut Run) {
        if let Some(cause) = cause {
            self.up.cancel(cause, run);
        }
    }
}

impl<U: Pipe, K: Kernel<In = U::Out>> Pipe for Then<U, K> {
    type Out = K::Out;
    const LIGHT: bool = U::LIGHT && K::CAPS.light;

    fn is_plain(&self) -> bool {
        self.cell.is_plain() && self.up.is_plain()
    }

    #[inline(always)]
    fn pump<D: Push<K::Out>>(&mut self, down: &mut D, run: &mut Run) {
        let mut cause = None;
        self.up.pump(&mut Link { cell: &mut self.cell, down, cause: &mut cause }, run);
        self.cancel_up(cause, run);
    }

    #[inline(always)]
    fn poll(&mut self, demand: bool, run: &mut Run) -> Answer<K::Out> {
        if K::CAPS.pulls && run.left == 0 {
            return Answer::Yield;
        }
        let mut step = self.cell.ask(demand, run);
        if K::CAPS.pulls && matches!(step, Step::Down(Answer::Item(_))) {
            // It made this of what it had: nobody above pays for it.
            run.left -= 1;
        }
        loop {
            match step {
                Step::Up(want) => {
                    let answer = self.up.poll(want, run);
                    step = self.cell.answer(answer, demand, run);
                }
                Step::Down(answer) => return answer,
                Step::Stop(cause, answer) => {
                    self.up.cancel(*cause, run);
                    return answer;
                }
            }
        }
    }

    fn start(&mut self, run: &mut Run) {
        self.up.start(run);
        let cause = self.cell.start(run);
        self.cancel_up(cause, run);
    }

    #[inline(always)]
    fn wake(&mut self, run: &mut Run) {
        self.up.wake(run);
        let cause = self.cell.wake(run);
        self.cancel_up(cause, run);
    }

    fn event(&mut self, event: &Event, run: &mut Run) {
        self.up.event(event, run);
        let cause = self.cell.event(event, run);
        self.cancel_up(cause, run);
    }

    #[inline(always)]
    fn park(&mut self, park: Park, run: &mut Run) -> Sleep {
        let up = self.up.park(park, run);
        if self.cell.park(park, run) == Sleep::Again { Sleep::Again } else { up }
    }

    fn cancel(&mut self, cause: Cause, run: &mut Run) {
        let cause = self.cell.cancel(cause, run);
        self.cancel_up(cause, run);
    }

    fn stop(&mut self, cause: &Cause, run: &mut Run) {
        self.up.stop(cause, run);
    }

    fn abort(&mut self, e: StreamError, run: &mut Run) {
        let cause = self.cell.abort(e, run);
        self.cancel_up(cause, run);
    }

    fn ended(&self) -> Option<&End> {
        self.cell.ended()
    }

    fn is_full(&self) -> bool {
        self.cell.is_full()
    }

    fn is_external(&self) -> bool {
        K::CAPS.external || self.up.is_external()
    }

    fn first_stage(&self) -> Option<StageId> {
        self.up.first_stage().or(Some(self.cell.tag().id))
    }

    fn place(&mut self, edges: &[EdgeId]) {
        self.up.place(edges);
    }

    fn report(&mut self, into: &mut [Counts]) {
        self.up.report(into);
        into[self.cell.tag().id.0 as usize] = self.cell.counts();
    }
}
