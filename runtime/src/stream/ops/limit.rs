//! `limit` and `limit_weighted`: hand on what they get, and fail (LimitReached) at the element that is one too many. Unlike
//! `take`, they never make a stream that is too long look complete.
//!
//! Emit while the sum of costs is at most `max`. Backpressure, complete, cancel std.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::signal::StreamError;

/// The kernel of `limit`, where every element costs 1, and of `limit_weighted`.
pub struct Limit<A, F> {
    max: u64,
    spent: u64,
    cost: F,
    of: std::marker::PhantomData<fn(A)>,
}

impl<A, F> Limit<A, F> {
    /// Makes the kernel.
    pub fn new(max: u64, cost: F) -> Self {
        Limit { max, spent: 0, cost, of: std::marker::PhantomData }
    }
}

impl<A, F> Kernel for Limit<A, F>
where
    A: Send + 'static,
    F: FnMut(&A) -> u64 + Send + 'static,
{
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps { chunk: false, ..Caps::LIGHT };

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        match self.spent.checked_add((self.cost)(&x)) {
            Some(spent) if spent <= self.max => {
                self.spent = spent;
                out.emit(x);
                Sig::Continue
            }
            _ => {
                cx.used(1);
                Sig::fail(StreamError::LimitReached { node: cx.node(), limit: self.max })
            }
        }
    }
}
