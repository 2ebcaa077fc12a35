//! `grouped_within`: chunks by weight (1 each: by count) or by time, whichever is first; a chunk is never empty.
//!
//! Emits when a chunk weighs `n`, when the next element would make it weigh more, or when its first element is `d` old, and
//! there is demand; a chunk that is due by time grows on until there is. Backpressures when a chunk is full and downstream
//! backpressures. Completes after the rest is out. Cancels std, and forgets its timer. Holds at most `n` elements, and with
//! weights one more, which begins the next chunk. A chunk is made, its elements are used.

use std::time::Duration;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::params::millis;
use crate::stream::signal::{Cause, StreamError};
use crate::stream::value::Value;
use crate::time::Instant;

const DUE: u32 = 0;

/// The kernel of `grouped_within`.
pub struct GroupedWithin<A, W> {
    n: u64,
    d: Duration,
    weight: W,
    held: Vec<A>,
    weighs: u64,
    /// When the chunk has to go.
    due: Option<Instant>,
    /// An element that does not fit, its weight, and when it came.
    pending: Option<(A, u64, Instant)>,
    finished: bool,
}

impl<A, W> GroupedWithin<A, W> {
    /// Makes the kernel; `n` = 0 counts as 1, as does a weight of 0.
    pub fn new(n: u64, d: Duration, weight: W) -> Self {
        let (held, pending) = (Vec::new(), None);
        GroupedWithin { n: n.max(1), d, weight, held, weighs: 0, due: None, pending, finished: false }
    }

    fn is_full(&self) -> bool {
        self.weighs >= self.n || self.pending.is_some()
    }

    fn take(&mut self, (x, weight, since): (A, u64, Instant), cx: &mut Cx) {
        if self.held.is_empty() {
            let due = since + self.d;
            self.due = Some(due);
            if due > cx.now() && weight < self.n {
                cx.timer(DUE, due - cx.now());
            }
        } else if self.weighs.saturating_add(weight) > self.n {
            self.pending = Some((x, weight, since));
            return;
        }
        self.held.push(x);
        self.weighs = self.weighs.saturating_add(weight);
    }

    fn emit(&mut self, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        while out.demand() > 0
            && !self.held.is_empty()
            && (self.is_full() || self.finished || self.due.is_some_and(|due| due <= cx.now()))
        {
            cx.cancel_timer(DUE);
            cx.used(self.held.len() as u64);
            cx.made(1);
            out.emit(std::mem::take(&mut self.held));
            (self.weighs, self.due) = (0, None);
            if let Some(next) = self.pending.take() {
                self.take(next, cx);
            }
        }
        match (self.finished && self.held.is_empty(), self.is_full()) {
            (true, _) => Sig::Done,
            (false, true) => Sig::Full,
            (false, false) => Sig::Continue,
        }
    }
}

impl<A, W> Kernel for GroupedWithin<A, W>
where
    A: Send + 'static,
    W: FnMut(&A) -> u64 + Send + 'static,
{
    type In = A;
    type Out = Vec<A>;
    const CAPS: Caps = Caps::EAGER;

    fn on_push(&mut self, x: A, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        let weight = (self.weight)(&x).max(1);
        self.take((x, weight, cx.now()), cx);
        self.emit(out, cx)
    }

    fn on_pull(&mut self, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        self.emit(out, cx)
    }

    fn on_timer(&mut self, _key: u32, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        self.emit(out, cx)
    }

    fn on_finish(&mut self, out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        self.finished = true;
        cx.cancel_timer(DUE);
        self.emit(out, cx)
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, Vec<A>>, cx: &mut Cx) -> Sig {
        cx.cancel_timer(DUE);
        Sig::fail(e)
    }

    fn on_cancel(&mut self, _cause: &Cause, cx: &mut Cx) {
        cx.cancel_timer(DUE);
    }

    fn held(&self) -> usize {
        self.held.len() + usize::from(self.pending.is_some())
    }

    /// `n` at once, `within_ms` for chunks that begin from then on.
    fn set(&mut self, key: &str, value: &Value) -> bool {
        let whole = value.as_int().and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
        match (key, whole, millis(value)) {
            ("n", Some(n), _) => self.n = n,
            ("within_ms", _, Some(d)) => self.d = d,
            _ => return false,
        }
        true
    }
}
