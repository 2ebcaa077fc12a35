//! The shutting of a mailbox whose owner does not return from its run.
//!
//! I1 the user lane takes nothing more and keeps what it has; whoever waits for room is told, and a message that
//!    waits in line stays with the rest.
//! I2 the system lane holds one last signal, which the owner finds when it returns, and refuses all others.

use std::collections::VecDeque;

use super::{Lanes, Ordered};
use crate::sync::Ordering;

impl<T: Ordered, S> Lanes<T, S> {
    /// Closes both lanes but for `last`; gives the signals that nobody will handle, and whether to schedule the owner.
    pub(crate) fn deafen(&self, last: S) -> (VecDeque<S>, bool) {
        let (unheard, wake, waiters) = {
            let mut inner = self.inner.lock();
            inner.closed = true;
            inner.deaf = true;
            let unheard = std::mem::replace(&mut inner.system, VecDeque::from([last]));
            // Ordering: Release, pairs with the Acquire in next_signal().
            self.signals.store(1, Ordering::Release);
            let wake = !std::mem::replace(&mut inner.scheduled, true);
            (unheard, wake, inner.end_lines())
        };
        waiters.into_iter().for_each(|waker| waker.wake());
        (unheard, wake)
    }
}
