//! `map_async`: a request per element, at most `p` at a time, results in input order.
//!
//! Emits when the oldest request is done. Backpressures when `p` requests run, or when running + done-but-unemitted ones
//! reach the window (`p`, unless said otherwise). Completes when upstream completed and all results are out. Cancels std;
//! requests under way are outdated.
//! A failed request fails the stage at once, not when its turn comes. A job that is ready at once costs no request.
//! Holds at most the window. Requests progress whether or not downstream asks.

use std::collections::VecDeque;

pub use super::job::Job;

use super::job::Entry;
use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::value::Value;

/// The kernel of `map_async`.
pub struct MapAsync<A, B, F> {
    f: F,
    p: usize,
    /// Entries in all; none for `p`.
    window: Option<usize>,
    entries: VecDeque<Entry<B>>,
    running: usize,
    /// The request number of the oldest entry.
    first: u64,
    finished: bool,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, B: Send + 'static, F> MapAsync<A, B, F> {
    /// Makes the kernel; `p` = 0 counts as 1.
    pub fn new(p: usize, f: F) -> Self {
        let (entries, of) = (VecDeque::new(), std::marker::PhantomData);
        MapAsync { f, p: p.max(1), window: None, entries, running: 0, first: 0, finished: false, of }
    }

    /// Lets up to `window` elements be running or done; less than `p` counts as `p`.
    pub fn window(self, window: usize) -> Self {
        MapAsync { window: Some(window), ..self }
    }

    fn emit(&mut self, out: &mut Out<'_, B>) -> Sig {
        while out.demand() > 0 && self.entries.front().is_some_and(Entry::is_ready) {
            if let Some(y) = self.entries.pop_front().and_then(Entry::take) {
                self.first += 1;
                out.emit(y);
            }
        }
        let window = self.window.map_or(self.p, |w| w.max(self.p));
        match (
            self.finished && self.entries.is_empty(),
            self.entries.len() >= window || self.running >= self.p,
        ) {
            (true, _) => Sig::Done,
            (false, true) => Sig::Full,
            (false, false) => Sig::Continue,
        }
    }
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
        match Entry::begin((self.f)(x), number, cx) {
            Ok(entry) => {
                self.running += usize::from(!entry.is_ready());
                self.entries.push_back(entry);
                self.emit(out)
            }
            Err(e) => {
                cx.used(1);
                Sig::fail(e)
            }
        }
    }

    fn on_pull(&mut self, out: &mut Out<'_, B>, _cx: &mut Cx) -> Sig {
        self.emit(out)
    }

    fn on_done(&mut self, request: u64, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        let at = usize::try_from(request.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        let Some(entry) = self.entries.get_mut(at).filter(|entry| !entry.is_ready()) else {
            return self.emit(out);
        };
        if let Err(e) = entry.answer(request, cx) {
            return Sig::fail(e);
        }
        self.running -= usize::from(entry.is_ready());
        self.emit(out)
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
