//! `expand`: fills demand that upstream does not serve from an iterator made of the last element. `extrapolate`: the same,
//! where the iterator begins with the element itself.
//!
//! Emits when there is demand and an iterator that is not empty. Backpressures until the first of an element's iterator is
//! out, so no element is passed over. Completes when upstream completed and the last one's first is out. Cancels std.
//! Upstream is asked before each further one, so a fast upstream is not expanded. An element whose iterator is empty is
//! used. Holds at most 1, and the iterator.
//!
//! I1 it goes on after a wake of its own, for a stage is told nothing when upstream has nothing: one turn for each element
//! that it makes.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};

/// The kernel of `expand`.
pub struct Expand<A, I: Iterator, F> {
    f: F,
    rest: Option<I>,
    /// The first of the last element's iterator.
    first: Option<I::Item>,
    /// The number of the wake that is under way.
    wake: Option<u64>,
    wakes: u64,
    finished: bool,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, I: Iterator, F> Expand<A, I, F> {
    /// Makes the kernel.
    pub fn new(f: F) -> Self {
        let of = std::marker::PhantomData;
        Expand { f, rest: None, first: None, wake: None, wakes: 0, finished: false, of }
    }

    /// Makes the kernel with an iterator to begin with.
    pub fn starting(initial: Option<I>, f: F) -> Self {
        Expand { rest: initial, ..Expand::new(f) }
    }

    fn emit_first(&mut self, out: &mut Out<'_, I::Item>) -> Sig {
        if out.demand() > 0
            && let Some(y) = self.first.take()
        {
            out.emit(y);
        }
        match (self.finished && self.first.is_none(), self.first.is_some()) {
            (true, _) => Sig::Done,
            (false, true) => Sig::Full,
            (false, false) => Sig::Continue,
        }
    }
}

impl<A, I, F> Kernel for Expand<A, I, F>
where
    A: Send + 'static,
    I: Iterator + Send + 'static,
    I::Item: Send + 'static,
    F: FnMut(A) -> I + Send + 'static,
{
    type In = A;
    type Out = I::Item;
    const CAPS: Caps = Caps::EAGER;

    fn on_push(&mut self, x: A, out: &mut Out<'_, I::Item>, cx: &mut Cx) -> Sig {
        let mut all = (self.f)(x);
        self.first = all.next();
        (self.rest, self.wake) = (Some(all), None);
        cx.used(u64::from(self.first.is_none()));
        self.emit_first(out)
    }

    fn on_pull(&mut self, out: &mut Out<'_, I::Item>, cx: &mut Cx) -> Sig {
        let waits = self.first.is_none() && !self.finished && out.demand() > 0;
        if waits && self.rest.is_some() && self.wake.is_none() {
            self.wakes += 1;
            self.wake = Some(self.wakes);
            cx.waker(self.wakes).wake();
        }
        self.emit_first(out)
    }

    fn on_done(&mut self, wake: u64, out: &mut Out<'_, I::Item>, cx: &mut Cx) -> Sig {
        if self.wake == Some(wake) {
            self.wake = None;
            if out.demand() > 0 && self.first.is_none() && !self.finished {
                match self.rest.as_mut().and_then(Iterator::next) {
                    Some(y) => {
                        cx.made(1);
                        out.emit(y);
                    }
                    None => self.rest = None,
                }
            }
        }
        self.emit_first(out)
    }

    fn on_finish(&mut self, out: &mut Out<'_, I::Item>, _cx: &mut Cx) -> Sig {
        self.finished = true;
        self.emit_first(out)
    }

    fn held(&self) -> usize {
        usize::from(self.first.is_some())
    }
}
