//! The sinks that may know their result before the end: `head`, `head_option`, `exists`, `forall`, `none`; and the two that
//! take nothing at all: `cancelled`, `never`.
//!
//! Emit nothing. Backpressure while their function runs; `never` always. Complete when the result is known, and cancel
//! upstream then (NoMoreNeeded); or std. A `head` of nothing fails (NoSuchElement).

use std::marker::PhantomData;

use crate::stream::done::Completer;
use crate::stream::kernel::{Caps, Cx, Kernel, Never, Out, Sig};
use crate::stream::signal::{Cause, StreamError};

/// The kernel of the sinks that decide.
pub struct Decide<A, T, F> {
    f: F,
    otherwise: Option<T>,
    done: Completer<T>,
    of: PhantomData<fn(A)>,
}

impl<A, T, F> Decide<A, T, F> {
    /// Makes the kernel: the first `Some` of `f` is the result; without one `otherwise` is, or an error.
    pub(crate) fn new(f: F, otherwise: Option<T>, done: Completer<T>) -> Self {
        Decide { f, otherwise, done, of: PhantomData }
    }
}

impl<A, T, F> Kernel for Decide<A, T, F>
where
    A: Send + 'static,
    T: Send + 'static,
    F: FnMut(A) -> Option<T> + Send + 'static,
{
    type In = A;
    type Out = Never;
    const CAPS: Caps = Caps { chunk: false, ..Caps::LIGHT };

    #[inline]
    fn on_push(&mut self, x: A, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        cx.used(1);
        match (self.f)(x) {
            Some(result) => {
                self.done.set(Ok(result));
                Sig::Cancel(Box::new(Cause::NoMoreNeeded))
            }
            None => Sig::Continue,
        }
    }

    fn on_finish(&mut self, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        match self.otherwise.take() {
            Some(result) => {
                self.done.set(Ok(result));
                Sig::Done
            }
            None => {
                let e = StreamError::NoSuchElement { node: cx.node() };
                self.done.set(Err(e.clone()));
                Sig::fail(e)
            }
        }
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        self.done.set(Err(e.clone()));
        Sig::fail(e)
    }
}

/// How a sink refuses elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It cancels at once.
    Cancels,
    /// It never asks.
    NeverAsks,
}

/// The kernel of `cancelled` and of `never`.
pub struct Refuse<A, T> {
    how: Refusal,
    done: Completer<T>,
    of: PhantomData<fn(A)>,
}

impl<A, T> Refuse<A, T> {
    /// Makes the kernel.
    pub(crate) fn new(how: Refusal, done: Completer<T>) -> Self {
        Refuse { how, done, of: PhantomData }
    }
}

impl<A: Send + 'static, T: Default + Send + 'static> Kernel for Refuse<A, T> {
    type In = A;
    type Out = Never;
    const CAPS: Caps = Caps::TIMED;

    fn on_start(&mut self, _cx: &mut Cx) -> Sig {
        if self.how == Refusal::NeverAsks {
            return Sig::Continue;
        }
        self.done.set(Ok(T::default()));
        Sig::Cancel(Box::new(Cause::NoMoreNeeded))
    }

    fn on_push(&mut self, _x: A, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        cx.used(1);
        Sig::Full
    }

    fn on_pull(&mut self, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        Sig::Full
    }

    fn on_finish(&mut self, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        self.done.set(Ok(T::default()));
        Sig::Done
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, Never>, _cx: &mut Cx) -> Sig {
        self.done.set(Err(e.clone()));
        Sig::fail(e)
    }
}
