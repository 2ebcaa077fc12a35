//! `recover`, `map_error`, `on_error_complete`: what becomes of a failure of upstream.
//!
//! Emit std; `recover` emits one last element in place of the failure, on demand. Backpressure std. Complete std, and
//! where the failure is replaced. Cancel std. What passed before the failure stays as it is.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::signal::StreamError;

/// The kernel of all three: `f` gives another error, or the last element, or nothing, which completes.
pub struct Recover<A, F> {
    f: F,
    last: Option<A>,
}

impl<A, F> Recover<A, F> {
    /// Makes the kernel.
    pub fn new(f: F) -> Self {
        Recover { f, last: None }
    }
}

impl<A, F> Kernel for Recover<A, F>
where
    A: Send + 'static,
    F: FnMut(StreamError) -> Result<Option<A>, StreamError> + Send + 'static,
{
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps { pulls: false, ..Caps::TIMED };

    /// Elements pass; only the end is looked at.
    fn chunk(&self) -> usize {
        usize::MAX
    }

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        out.emit(x);
        Sig::Continue
    }

    fn on_fail(&mut self, e: StreamError, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        match (self.f)(e) {
            Ok(last) => {
                cx.made(u64::from(last.is_some()));
                self.last = last;
                self.on_pull(out, cx)
            }
            Err(e) => Sig::fail(e),
        }
    }

    /// Is called only after upstream has ended.
    fn on_pull(&mut self, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        if self.last.is_some() && out.demand() == 0 {
            return Sig::Continue;
        }
        if let Some(x) = self.last.take() {
            out.emit(x);
        }
        Sig::Done
    }

    fn held(&self) -> usize {
        usize::from(self.last.is_some())
    }
}
