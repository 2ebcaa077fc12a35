//! `for_each`: an effect per element, and one at the end. `ignore` is `for_each` without the effect.
//!
//! Emits nothing. Backpressures while its function runs. Completes std, its [`Done`](crate::stream::Done) with it.
//! The end is told once, whichever it is: completed, failed, or (as a failure `Abrupt`) dropped with the system.

use crate::stream::done::Completer;
use crate::stream::kernel::{Caps, Cx, Kernel, Never, Out, Sig};
use crate::stream::signal::{End, StreamError};

/// The kernel of `for_each`.
pub struct ForEach<A, F, E> {
    f: F,
    at_end: E,
    done: Completer<u64>,
    seen: u64,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, F, E> ForEach<A, F, E> {
    /// Makes the kernel.
    pub(crate) fn new(f: F, at_end: E, done: Completer<u64>) -> Self {
        ForEach { f, at_end, done, seen: 0, of: std::marker::PhantomData }
    }
}

impl<A, F, E> Kernel for ForEach<A, F, E>
where
    A: Send + 'static,
    F: FnMut(&mut Cx, A) + Send + 'static,
    E: FnMut(&mut Cx, &End) + Send + 'static,
{
    type In = A;
    type Out = Never;
    const CAPS: Caps = Caps { pulls: false, ..Caps::TIMED };

    #[inline]
    fn on_push(&mut self, x: A, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        (self.f)(cx, x);
        self.seen += 1;
        cx.used(1);
        Sig::Continue
    }

    fn on_finish(&mut self, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        (self.at_end)(cx, &End::Completed);
        self.done.set(Ok(self.seen));
        Sig::Done
    }

    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, Never>, cx: &mut Cx) -> Sig {
        (self.at_end)(cx, &End::Failed(e.clone()));
        self.done.set(Err(e.clone()));
        Sig::fail(e)
    }
}
