//! A stage behind one virtual call, and the adapters that make any kernel over values (or over nothing) one.
//!
//! I1 the rules are those of [`Cell`]: this file only changes the types of elements at a stage's edges.

use crate::stream::cell::{Answer, Cell, Step};
use crate::stream::counts::Counts;
use crate::stream::host::Event;
use crate::stream::kernel::{Caps, Kernel, Never, Park, Run, Sleep, Tag};
use crate::stream::signal::{Cause, End, StreamError};
use crate::stream::value::Value;

/// Elements that move in one go; empty between turns.
#[derive(Default)]
pub struct Chunk {
    pub(super) elements: Vec<Value>,
    /// Scratch space, kept so that a chunk costs no allocation.
    emitted: Vec<Value>,
}

/// What a dynamic stage can take: a value, or nothing.
pub trait FromValue: Send + 'static {
    /// Takes it.
    fn from_value(value: Value) -> Option<Self>
    where
        Self: Sized;
}

/// What a dynamic stage can emit: a value, something that becomes one, or nothing.
pub trait IntoValue: Send + 'static {
    /// Makes it a value.
    fn into_value(self) -> Value;
}

impl FromValue for Value {
    #[inline(always)]
    fn from_value(value: Value) -> Option<Self> {
        Some(value)
    }
}

impl FromValue for Never {
    fn from_value(_: Value) -> Option<Self> {
        None
    }
}

impl IntoValue for Value {
    #[inline(always)]
    fn into_value(self) -> Value {
        self
    }
}

impl IntoValue for i64 {
    fn into_value(self) -> Value {
        Value::Int(self)
    }
}

impl IntoValue for Vec<Value> {
    fn into_value(self) -> Value {
        Value::from(self)
    }
}

impl IntoValue for (Value, u64) {
    /// A list of both; a number over the range of whole numbers stays at their greatest.
    fn into_value(self) -> Value {
        Value::from(vec![self.0, Value::Int(i64::try_from(self.1).unwrap_or(i64::MAX))])
    }
}

impl IntoValue for Never {
    fn into_value(self) -> Value {
        match self {}
    }
}

/// A stage behind one virtual call.
pub trait DynCell: Send {
    /// As `Cell::ask`.
    fn ask(&mut self, demand: bool, run: &mut Run) -> Step<Value>;
    /// As `Cell::answer`.
    fn answer(&mut self, answer: Answer<Value>, demand: bool, run: &mut Run) -> Step<Value>;
    /// As `Cell::chunk`.
    fn chunk(&self) -> usize;
    /// As `Cell::pull_chunk`.
    fn pull_chunk(&mut self, n: usize, into: &mut Vec<Value>, run: &mut Run);
    /// As `Cell::push_chunk`; if the stage ended, tells also how many it did not take.
    fn push_chunk(&mut self, chunk: &mut Chunk, run: &mut Run) -> Option<(Cause, u64)>;
    /// As `Cell::lose_on_edge`.
    fn lose_on_edge(&mut self, n: u64);
    /// Starts the stage.
    fn start(&mut self, run: &mut Run) -> Option<Cause>;
    /// Lets the stage look outside.
    fn wake(&mut self, run: &mut Run) -> Option<Cause>;
    /// Hands an event to the stage.
    fn event(&mut self, event: &Event, run: &mut Run) -> Option<Cause>;
    /// Ends a run.
    fn park(&mut self, park: Park, run: &mut Run) -> Sleep;
    /// Cancels from downstream.
    fn cancel(&mut self, cause: Cause, run: &mut Run) -> Option<Cause>;
    /// Completes the stage from outside.
    fn stop(&mut self, cause: &Cause, run: &mut Run);
    /// Fails the stage from outside.
    fn abort(&mut self, e: StreamError, run: &mut Run) -> Option<Cause>;
    /// Says how the stage ended.
    fn ended(&self) -> Option<&End>;
    /// Says whether the stage waits for demand.
    fn is_full(&self) -> bool;
    /// Gives the counters.
    fn counts(&self) -> Counts;
    /// Gives name and number.
    fn tag(&self) -> &Tag;
    /// Says what the kernel is.
    fn caps(&self) -> Caps;
}

fn widen<T: IntoValue>(step: Step<T>) -> Step<Value> {
    let widen = |answer| match answer {
        Answer::Item(x) => Answer::Item(T::into_value(x)),
        Answer::Blocked => Answer::Blocked,
        Answer::Yield => Answer::Yield,
        Answer::End(end) => Answer::End(end),
    };
    match step {
        Step::Up(want) => Step::Up(want),
        Step::Down(answer) => Step::Down(widen(answer)),
        Step::Stop(cause, answer) => Step::Stop(cause, widen(answer)),
    }
}

impl<K: Kernel> DynCell for Cell<K, true>
where
    K::In: FromValue,
    K::Out: IntoValue,
{
    fn ask(&mut self, demand: bool, run: &mut Run) -> Step<Value> {
        widen(Cell::ask(self, demand, run))
    }

    fn answer(&mut self, answer: Answer<Value>, demand: bool, run: &mut Run) -> Step<Value> {
        let answer = match answer {
            Answer::Item(x) => K::In::from_value(x).map_or(Answer::Blocked, Answer::Item),
            Answer::Blocked => Answer::Blocked,
            Answer::Yield => Answer::Yield,
            Answer::End(end) => Answer::End(end),
        };
        widen(Cell::answer(self, answer, demand, run))
    }

    fn chunk(&self) -> usize {
        Cell::chunk(self)
    }

    fn pull_chunk(&mut self, n: usize, into: &mut Vec<Value>, run: &mut Run) {
        Cell::pull_chunk(self, n, into, run, K::Out::into_value);
    }

    fn push_chunk(&mut self, chunk: &mut Chunk, run: &mut Run) -> Option<(Cause, u64)> {
        let Chunk { elements, emitted } = chunk;
        let mut from = elements.drain(..).filter_map(K::In::from_value);
        let cause = Cell::push_chunk(self, &mut from, run, |y| emitted.push(y.into_value()));
        let left = from.count() as u64;
        std::mem::swap(elements, emitted);
        cause.map(|cause| (cause, left))
    }

    fn lose_on_edge(&mut self, n: u64) {
        Cell::lose_on_edge(self, n);
    }

    fn start(&mut self, run: &mut Run) -> Option<Cause> {
        Cell::start(self, run)
    }

    fn wake(&mut self, run: &mut Run) -> Option<Cause> {
        Cell::wake(self, run)
    }

    fn event(&mut self, event: &Event, run: &mut Run) -> Option<Cause> {
        Cell::event(self, event, run)
    }

    fn park(&mut self, park: Park, run: &mut Run) -> Sleep {
        Cell::park(self, park, run)
    }

    fn cancel(&mut self, cause: Cause, run: &mut Run) -> Option<Cause> {
        Cell::cancel(self, cause, run)
    }

    fn stop(&mut self, cause: &Cause, run: &mut Run) {
        Cell::stop(self, cause, run);
    }

    fn abort(&mut self, e: StreamError, run: &mut Run) -> Option<Cause> {
        Cell::abort(self, e, run)
    }

    fn ended(&self) -> Option<&End> {
        Cell::ended(self)
    }

    fn is_full(&self) -> bool {
        Cell::is_full(self)
    }

    fn counts(&self) -> Counts {
        Cell::counts(self)
    }

    fn tag(&self) -> &Tag {
        Cell::tag(self)
    }

    fn caps(&self) -> Caps {
        K::CAPS
    }
}
