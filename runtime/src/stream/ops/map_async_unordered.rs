//! `map_async_unordered`: a request per element, at most `p` at a time, results as they come.
//!
//! Emits when any request is done. Backpressures when running + done-but-unemitted requests reach `p`. Completes when
//! upstream completed and all results are out. Cancels std; requests under way are outdated.
//! A failed request fails the stage at once. Results that wait for demand go out in the order in which they came.
//! Holds at most `p`.

use std::collections::{BTreeMap, VecDeque};

use super::job::{Entry, Job};
use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::value::Value;

/// The kernel of `map_async_unordered`.
pub struct MapAsyncUnordered<A, B, F> {
    f: F,
    p: usize,
    running: BTreeMap<u64, Entry<B>>,
    done: VecDeque<B>,
    next: u64,
    finished: bool,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, B, F> MapAsyncUnordered<A, B, F> {
    /// Makes the kernel; `p` = 0 counts as 1.
    pub fn new(p: usize, f: F) -> Self {
        let (running, done, of) = (BTreeMap::new(), VecDeque::new(), std::marker::PhantomData);
        MapAsyncUnordered { f, p: p.max(1), running, done, next: 0, finished: false, of }
    }

    fn emit(&mut self, out: &mut Out<'_, B>) -> Sig {
        while out.demand() > 0 {
            let Some(y) = self.done.pop_front() else { break };
            out.emit(y);
        }
        let held = self.running.len() + self.done.len();
        match (self.finished && held == 0, held >= self.p) {
            (true, _) => Sig::Done,
            (false, true) => Sig::Full,
            (false, false) => Sig::Continue,
        }
    }
}

impl<A, B, F> Kernel for MapAsyncUnordered<A, B, F>
where
    A: Send + 'static,
    B: Send + 'static,
    F: FnMut(A) -> Job<B> + Send + 'static,
{
    type In = A;
    type Out = B;
    const CAPS: Caps = Caps::EAGER;

    fn on_push(&mut self, x: A, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        let number = self.next;
        self.next += 1;
        match Entry::begin((self.f)(x), number, cx) {
            Ok(Entry::Ready(y)) => self.done.push_back(y),
            Ok(entry) => {
                self.running.insert(number, entry);
            }
            Err(e) => {
                cx.used(1);
                return Sig::fail(e);
            }
        }
        self.emit(out)
    }

    fn on_pull(&mut self, out: &mut Out<'_, B>, _cx: &mut Cx) -> Sig {
        self.emit(out)
    }

    fn on_done(&mut self, request: u64, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        if let Some(entry) = self.running.get_mut(&request) {
            if let Err(e) = entry.answer(request, cx) {
                return Sig::fail(e);
            }
            if entry.is_ready() {
                self.done.extend(self.running.remove(&request).and_then(Entry::take));
            }
        }
        self.emit(out)
    }

    fn on_finish(&mut self, out: &mut Out<'_, B>, _cx: &mut Cx) -> Sig {
        self.finished = true;
        self.emit(out)
    }

    fn held(&self) -> usize {
        self.running.len() + self.done.len()
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
