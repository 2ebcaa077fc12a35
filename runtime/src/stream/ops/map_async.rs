//! `map_async`: a request per element, at most `p` at a time, results in input order.
//!
//! Emits when the oldest request is done. Backpressures when running + done-but-unemitted requests reach `p`.
//! Completes when upstream completed and all results are out. Cancels std; requests under way are outdated.
//! A failed request fails the stage at once, not when its turn comes. A job that is ready at once costs no request.
//! Holds at most `p`. Requests progress whether or not downstream asks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::stream::host::{Effort, Request};
use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::signal::StreamError;
use crate::stream::value::Value;
use crate::sync::Mutex;

/// What a task does.
type Work<B> = Box<dyn FnOnce(&mut dyn Effort) -> Result<B, String> + Send>;

/// What to do for one element of a `map_async`.
pub enum Job<B> {
    /// The result is there.
    Ready(B),
    /// It failed before it began.
    Failed(String),
    /// The result is there after a time that takes no worker.
    After(Duration, Result<B, String>),
    /// The result is computed on a worker beside the island.
    Task(Work<B>),
}

impl<B> Job<B> {
    /// Makes a task that may charge work and block.
    pub fn task(f: impl FnOnce(&mut dyn Effort) -> Result<B, String> + Send + 'static) -> Self {
        Job::Task(Box::new(f))
    }
}

type Slot<B> = Arc<Mutex<Option<Result<B, String>>>>;

enum Entry<B> {
    Ready(B),
    Waits(Result<B, String>),
    Runs(Slot<B>),
}

/// The kernel of `map_async`.
pub struct MapAsync<A, B, F> {
    f: F,
    p: usize,
    entries: VecDeque<Entry<B>>,
    /// The request number of the oldest entry.
    first: u64,
    finished: bool,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, B, F> MapAsync<A, B, F> {
    /// Makes the kernel; `p` = 0 counts as 1.
    pub fn new(p: usize, f: F) -> Self {
        let of = std::marker::PhantomData;
        MapAsync { f, p: p.max(1), entries: VecDeque::new(), first: 0, finished: false, of }
    }

    fn emit(&mut self, out: &mut Out<'_, B>) -> Sig {
        while out.demand() > 0 {
            let Some(Entry::Ready(_)) = self.entries.front() else { break };
            if let Some(Entry::Ready(y)) = self.entries.pop_front() {
                self.first += 1;
                out.emit(y);
            }
        }
        match (self.finished && self.entries.is_empty(), self.entries.len() >= self.p) {
            (true, _) => Sig::Done,
            (false, true) => Sig::Full,
            (false, false) => Sig::Continue,
        }
    }
}

fn failed(text: String, cx: &Cx) -> Sig {
    Sig::fail(StreamError::Stage { node: cx.node(), text: text.into() })
}

/// Wraps a task so that its result waits in a slot for the answer.
fn start<B: Send + 'static>(task: Work<B>) -> (Request, Slot<B>) {
    let slot: Slot<B> = Arc::default();
    let result = slot.clone();
    let task = Box::new(move |effort: &mut dyn Effort| {
        let y = task(effort);
        *result.lock() = Some(y);
    });
    (Request::Task(task), slot)
}

impl<A, B, F> Kernel for MapAsync<A, B, F>
where
    A: Send + 'static,
    B: Send + 'static,
    F: FnMut(A) -> Job<B> + Send + 'static,
{
    type In = A;
    type Out = B;
    const CAPS: Caps = Caps::EAGER;

    fn on_push(&mut self, x: A, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        let number = self.first + self.entries.len() as u64;
        let entry = match (self.f)(x) {
            Job::Ready(y) => Entry::Ready(y),
            Job::Failed(text) => {
                cx.used(1);
                return failed(text, cx);
            }
            Job::After(d, result) => {
                cx.request(number, Request::After(d));
                Entry::Waits(result)
            }
            Job::Task(task) => {
                let (request, slot) = start(task);
                cx.request(number, request);
                Entry::Runs(slot)
            }
        };
        self.entries.push_back(entry);
        self.emit(out)
    }

    fn on_pull(&mut self, out: &mut Out<'_, B>, _cx: &mut Cx) -> Sig {
        self.emit(out)
    }

    fn on_done(&mut self, request: u64, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        let at = usize::try_from(request.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        let Some(entry) = self.entries.get_mut(at) else { return self.emit(out) };
        let result = match std::mem::replace(entry, Entry::Waits(Err(String::new()))) {
            Entry::Ready(y) => Ok(y),
            Entry::Waits(result) => result,
            Entry::Runs(slot) => {
                let result = slot.lock().take();
                result.unwrap_or_else(|| Err("the task ended without a result".into()))
            }
        };
        match result {
            Ok(y) => {
                *entry = Entry::Ready(y);
                self.emit(out)
            }
            Err(text) => failed(text, cx),
        }
    }

    fn on_finish(&mut self, out: &mut Out<'_, B>, _cx: &mut Cx) -> Sig {
        self.finished = true;
        self.emit(out)
    }

    fn held(&self) -> usize {
        self.entries.len()
    }

    /// `parallelism`: lowering it lets the requests under way end.
    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, value.as_int().and_then(|n| usize::try_from(n).ok())) {
            ("parallelism", Some(n)) if n > 0 => {
                self.p = n;
                true
            }
            _ => false,
        }
    }
}
