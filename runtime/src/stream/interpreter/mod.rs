//! The dynamic driver: the same kernels over [`Value`], in a list instead of a nested type.
//!
//! [`DynChain`] walks the list with one cursor: demand moves it up, answers move it down. The rules are those of
//! [`Cell`](super::cell::Cell); this file only says where the neighbours are.
//!
//! ```text
//!   up   0 ─ 1 ─ 2 ─ 3 ─ … ─ n−1   down
//!            ▲ Up(want)      │
//!            │               ▼ Down(answer)
//!          cursor          cursor
//! ```
//!
//! Where every stage allows it (light kernels, rings, no work), up to 64 elements move through the whole chain in one go,
//! never more than the ring below has room for, so that one virtual call serves a chunk. Nobody can see a difference.
//!
//! I1 no recursion: a chain of any length uses the same stack, for data, ends and cancels alike.
//! I2 a turn moves at most `budget` elements by one stage each.
//! It is linear; in a [`graph`](super::graph) a maximal run of linear stages is one `DynChain`, open at one end or both.

pub(super) mod chain;
pub(super) mod drawing;
pub(super) mod dyn_cell;
mod stage;

pub use chain::Chain;
pub use drawing::{DrawError, Drawing, NODES_MAX, PORTS_MAX, Results, WIRES_MAX};
pub use dyn_cell::{Chunk, DynCell, FromValue, IntoValue};

use super::cell::{Answer, Step};
use super::counts::Counts;
use super::graph::edges::{Arrival, EdgeId};
use super::host::Event;
use super::kernel::{Park, Run, Sleep, StageId};
use super::pipe::{Pipe, Push};
use super::signal::{Cause, End, StreamError};
use super::value::Value;

/// The most elements that move in one go.
const CHUNK_MAX: usize = 64;

/// A linear chain of dynamic stages, from a source to a sink.
pub struct DynChain {
    cells: Vec<Box<dyn DynCell>>,
    /// Whether each stage was last asked with demand.
    demand: Vec<bool>,
    /// The stages that share something with the outside.
    external: Vec<usize>,
    chunk: Chunk,
    /// Where elements come from, if the first stage is no source.
    inlet: Option<EdgeId>,
    /// From a source to a sink: chunks can move through all of it.
    whole: bool,
}

impl DynChain {
    /// Makes a chain; the first stage is a source, or takes its elements from an edge.
    ///
    /// It has at least one stage.
    pub(crate) fn new(cells: Vec<Box<dyn DynCell>>, inlet: Option<EdgeId>) -> Self {
        debug_assert!(!cells.is_empty(), "a chain has at least one stage");
        let external = (0..cells.len()).filter(|&i| cells[i].caps().external).collect();
        let (demand, chunk, whole) = (vec![false; cells.len()], Chunk::default(), inlet.is_none());
        DynChain { cells, demand, external, chunk, inlet, whole }
    }

    /// Says that what leaves the last stage goes to an edge.
    pub(crate) fn without_sink(self) -> Self {
        DynChain { whole: false, ..self }
    }

    fn cancel_above(&mut self, below: usize, cause: Option<Cause>, run: &mut Run) {
        let mut cause = cause;
        for cell in self.cells[..below].iter_mut().rev() {
            match cause.take() {
                Some(c) => cause = cell.cancel(c, run),
                None => return,
            }
        }
        if let (Some(cause), Some(inlet)) = (cause, self.inlet) {
            run.edges.cancel(inlet, cause);
        }
    }

    /// Asks the edge above the first stage.
    fn ask_inlet(&mut self, want: bool, run: &mut Run) -> Answer<Value> {
        match self.inlet.map(|inlet| run.edges.arrival(inlet, want)) {
            Some(Arrival::Item(x)) => Answer::Item(x),
            Some(Arrival::End(end)) => Answer::End(Box::new(end)),
            Some(Arrival::Nothing) | None => Answer::Blocked,
        }
    }

    fn index(&self, stage: StageId) -> Option<usize> {
        let first = self.cells[0].tag().id.0;
        usize::try_from(stage.0.checked_sub(first)?).ok().filter(|&i| i < self.cells.len())
    }

    /// Moves elements in chunks through the whole chain, while every stage lets them and the budget lasts.
    fn move_chunks(&mut self, run: &mut Run) {
        while self.whole {
            let room = self.cells.iter().map(|cell| cell.chunk()).min().unwrap_or(0);
            let n = room.min(CHUNK_MAX).min(run.left / self.cells.len());
            if n < 2 || !self.move_chunk(n, run) {
                return;
            }
        }
    }

    /// Moves one chunk; false if it was not full.
    fn move_chunk(&mut self, n: usize, run: &mut Run) -> bool {
        let mut chunk = std::mem::take(&mut self.chunk);
        self.cells[0].pull_chunk(n, &mut chunk.elements, run);
        let pulled = chunk.elements.len();
        for i in 1..self.cells.len() {
            run.left = run.left.saturating_sub(chunk.elements.len());
            if let Some((cause, lost)) = self.cells[i].push_chunk(&mut chunk, run) {
                self.cells[i - 1].lose_on_edge(lost);
                self.cancel_above(i, Some(cause), run);
            }
        }
        self.chunk = chunk;
        pulled == n
    }

    /// Hands an answer to stage `i`, unless the turn is over.
    fn hand(&mut self, i: usize, answer: Answer<Value>, run: &mut Run) -> Step<Value> {
        if matches!(answer, Answer::Item(_)) {
            run.left = run.left.saturating_sub(1);
        }
        self.cells[i].answer(answer, self.demand[i], run)
    }
}

impl Pipe for DynChain {
    type Out = Value;
    const LIGHT: bool = false;

    fn is_plain(&self) -> bool {
        false
    }

    fn pump<D: Push<Value>>(&mut self, _down: &mut D, _run: &mut Run) {}

    fn poll(&mut self, demand: bool, run: &mut Run) -> Answer<Value> {
        self.move_chunks(run);
        let last = self.cells.len() - 1;
        let mut at = last;
        self.demand[last] = demand;
        let mut step = self.cells[last].ask(demand, run);
        loop {
            let answer = match step {
                Step::Up(_) if run.left == 0 && (at > 0 || self.inlet.is_some()) => return Answer::Yield,
                Step::Up(want) if at == 0 => {
                    let answer = self.ask_inlet(want, run);
                    step = self.hand(0, answer, run);
                    continue;
                }
                Step::Up(want) => {
                    at -= 1;
                    self.demand[at] = want;
                    step = self.cells[at].ask(want, run);
                    continue;
                }
                Step::Stop(cause, answer) => {
                    self.cancel_above(at, Some(*cause), run);
                    answer
                }
                Step::Down(answer) => answer,
            };
            if at == last {
                return answer;
            }
            at += 1;
            step = self.hand(at, answer, run);
        }
    }

    fn start(&mut self, run: &mut Run) {
        for i in 0..self.cells.len() {
            let cause = self.cells[i].start(run);
            self.cancel_above(i, cause, run);
        }
    }

    fn wake(&mut self, run: &mut Run) {
        for k in 0..self.external.len() {
            let i = self.external[k];
            let cause = self.cells[i].wake(run);
            self.cancel_above(i, cause, run);
        }
    }

    fn event(&mut self, event: &Event, run: &mut Run) {
        if let Some(i) = self.index(event.stage()) {
            let cause = self.cells[i].event(event, run);
            self.cancel_above(i, cause, run);
        }
    }

    fn park(&mut self, park: Park, run: &mut Run) -> Sleep {
        let mut sleep = Sleep::Deep;
        for &i in &self.external {
            if self.cells[i].park(park, run) == Sleep::Again {
                sleep = Sleep::Again;
            }
        }
        sleep
    }

    fn cancel(&mut self, cause: Cause, run: &mut Run) {
        self.cancel_above(self.cells.len(), Some(cause), run);
    }

    fn stop(&mut self, cause: &Cause, run: &mut Run) {
        if self.cells[0].caps().source {
            self.cells[0].stop(cause, run);
        }
    }

    fn abort(&mut self, e: StreamError, run: &mut Run) {
        let last = self.cells.len() - 1;
        let cause = self.cells[last].abort(e, run);
        self.cancel_above(last, cause, run);
    }

    fn place(&mut self, edges: &[EdgeId]) {
        self.inlet = self.inlet.map(|inlet| edges[inlet.0]);
    }

    fn is_external(&self) -> bool {
        !self.external.is_empty()
    }

    fn first_stage(&self) -> Option<StageId> {
        Some(self.cells[0].tag().id)
    }

    fn ended(&self) -> Option<&End> {
        self.cells[self.cells.len() - 1].ended()
    }

    fn is_full(&self) -> bool {
        self.cells[self.cells.len() - 1].is_full()
    }

    fn report(&mut self, into: &mut [Counts]) {
        for cell in &self.cells {
            into[cell.tag().id.0 as usize] = cell.counts();
        }
    }
}
