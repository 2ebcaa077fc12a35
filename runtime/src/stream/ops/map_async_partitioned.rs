//! `map_async_partitioned`: requests at most `p` at a time in all and one per key; results in input order, or as they come.
//!
//! Emits when the oldest request is done, or any (`Order::Any`). Backpressures when waiting + running + done-but-unemitted
//! elements reach the window, 4 · `p`. Completes when upstream completed and all results are out. Cancels std; requests
//! under way are outdated. A failed request fails the stage at once. Holds at most the window.
//!
//! I1 requests of one key start in input order, one after the other; other keys overtake a busy one.

use std::collections::{BTreeSet, VecDeque};

use super::job::{Entry, Job};
use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::signal::StreamError;

/// In which order results go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In the order of their elements.
    Input,
    /// As they come.
    Any,
}

enum State<A, B> {
    Waits(A),
    Began(Entry<B>),
}

struct Line<A, B, K> {
    number: u64,
    key: K,
    state: State<A, B>,
}

impl<A, B: Send + 'static, K> Line<A, B, K> {
    fn is_ready(&self) -> bool {
        matches!(&self.state, State::Began(entry) if entry.is_ready())
    }
}

/// The kernel of `map_async_partitioned`.
pub struct MapAsyncPartitioned<A, B, K, G, F> {
    f: F,
    key: G,
    p: usize,
    order: Order,
    /// By number, ascending.
    lines: VecDeque<Line<A, B, K>>,
    /// The keys of the requests that run.
    busy: BTreeSet<K>,
    next: u64,
    finished: bool,
}

impl<A, B, K, G, F> MapAsyncPartitioned<A, B, K, G, F>
where
    B: Send + 'static,
    K: Ord + Clone,
    F: FnMut(A) -> Job<B>,
{
    /// Makes the kernel; `p` = 0 counts as 1.
    pub fn new(p: usize, order: Order, key: G, f: F) -> Self {
        let (lines, busy) = (VecDeque::new(), BTreeSet::new());
        MapAsyncPartitioned { f, key, p: p.max(1), order, lines, busy, next: 0, finished: false }
    }

    /// Begins what may begin, the oldest first.
    fn begin(&mut self, cx: &mut Cx) -> Result<(), StreamError> {
        for line in &mut self.lines {
            if self.busy.len() >= self.p {
                break;
            }
            if self.busy.contains(&line.key) || !matches!(line.state, State::Waits(_)) {
                continue;
            }
            // The element is counted as held until its job has begun: one that fails then is dropped with the stage.
            let gone = State::Began(Entry::Waits(Err("it has not begun".into())));
            if let State::Waits(x) = std::mem::replace(&mut line.state, gone) {
                let entry = Entry::begin((self.f)(x), line.number, cx)?;
                if !entry.is_ready() {
                    self.busy.insert(line.key.clone());
                }
                line.state = State::Began(entry);
            }
        }
        Ok(())
    }

    fn ready(&self) -> Option<usize> {
        match self.order {
            Order::Input => self.lines.front().is_some_and(Line::is_ready).then_some(0),
            Order::Any => self.lines.iter().position(Line::is_ready),
        }
    }

    fn emit(&mut self, out: &mut Out<'_, B>) -> Sig {
        while out.demand() > 0
            && let Some(at) = self.ready()
        {
            if let Some(Line { state: State::Began(entry), .. }) = self.lines.remove(at)
                && let Some(y) = entry.take()
            {
                out.emit(y);
            }
        }
        match (self.finished && self.lines.is_empty(), self.lines.len() >= self.p.saturating_mul(4)) {
            (true, _) => Sig::Done,
            (false, true) => Sig::Full,
            (false, false) => Sig::Continue,
        }
    }

    fn go_on(&mut self, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        match self.begin(cx) {
            Ok(()) => self.emit(out),
            Err(e) => Sig::fail(e),
        }
    }
}

impl<A, B, K, G, F> Kernel for MapAsyncPartitioned<A, B, K, G, F>
where
    A: Send + 'static,
    B: Send + 'static,
    K: Ord + Clone + Send + 'static,
    G: FnMut(&A) -> K + Send + 'static,
    F: FnMut(A) -> Job<B> + Send + 'static,
{
    type In = A;
    type Out = B;
    const CAPS: Caps = Caps::EAGER;

    fn on_push(&mut self, x: A, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        let key = (self.key)(&x);
        self.lines.push_back(Line { number: self.next, key, state: State::Waits(x) });
        self.next += 1;
        self.go_on(out, cx)
    }

    fn on_pull(&mut self, out: &mut Out<'_, B>, _cx: &mut Cx) -> Sig {
        self.emit(out)
    }

    fn on_done(&mut self, request: u64, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        if let Ok(at) = self.lines.binary_search_by_key(&request, |line| line.number) {
            let line = &mut self.lines[at];
            if let State::Began(entry) = &mut line.state
                && !entry.is_ready()
            {
                if let Err(e) = entry.answer(request, cx) {
                    return Sig::fail(e);
                }
                if entry.is_ready() {
                    self.busy.remove(&line.key);
                }
            }
        }
        self.go_on(out, cx)
    }

    fn on_finish(&mut self, out: &mut Out<'_, B>, _cx: &mut Cx) -> Sig {
        self.finished = true;
        self.emit(out)
    }

    fn held(&self) -> usize {
        self.lines.len()
    }
}
