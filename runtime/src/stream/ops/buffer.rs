//! `buffer`: an explicit queue inside the island, with a strategy for when it is full.
//!
//! Emits when it holds something and there is demand. Backpressures only with `Backpressure`, when full; the other
//! strategies take on and drop (Overflow), or fail (BufferOverflow). Completes when upstream completed and it is drained.
//! Cancels std; what is held is dropped (Cancelled). Holds at most `n`.

use std::collections::VecDeque;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::signal::{DropReason, OverflowStrategy, StreamError};
use crate::stream::value::Value;

/// The kernel of `buffer`.
pub struct Buffer<A> {
    queue: VecDeque<A>,
    capacity: usize,
    strategy: OverflowStrategy,
    finished: bool,
}

impl<A> Buffer<A> {
    /// Makes the kernel; a capacity of 0 counts as 1.
    pub fn new(capacity: usize, strategy: OverflowStrategy) -> Self {
        Buffer { queue: VecDeque::new(), capacity: capacity.max(1), strategy, finished: false }
    }

    fn emit(&mut self, out: &mut Out<'_, A>) {
        while out.demand() > 0 {
            let Some(x) = self.queue.pop_front() else { break };
            out.emit(x);
        }
    }

    fn sig(&self) -> Sig {
        let full = self.strategy == OverflowStrategy::Backpressure && self.queue.len() >= self.capacity;
        match (self.finished && self.queue.is_empty(), full) {
            (true, _) => Sig::Done,
            (false, true) => Sig::Full,
            (false, false) => Sig::Continue,
        }
    }
}

/// Puts a newcomer into a queue; returns how many elements were lost, or an error if the strategy is to fail.
pub(crate) fn offer<A>(
    queue: &mut VecDeque<A>,
    capacity: usize,
    strategy: OverflowStrategy,
    x: A,
) -> Result<u64, A> {
    if queue.len() < capacity {
        queue.push_back(x);
        return Ok(0);
    }
    let lost = match strategy {
        OverflowStrategy::Backpressure | OverflowStrategy::Fail => return Err(x),
        OverflowStrategy::DropNew => return Ok(1),
        OverflowStrategy::DropBuffer => {
            let lost = queue.len() as u64;
            queue.clear();
            lost
        }
        OverflowStrategy::DropHead => make_room(queue, capacity, VecDeque::pop_front),
        OverflowStrategy::DropTail => make_room(queue, capacity, VecDeque::pop_back),
    };
    queue.push_back(x);
    Ok(lost)
}

/// Drops until one more fits: more than one only after the capacity was lowered.
fn make_room<A>(queue: &mut VecDeque<A>, capacity: usize, pop: fn(&mut VecDeque<A>) -> Option<A>) -> u64 {
    let mut lost = 0;
    while queue.len() >= capacity && pop(queue).is_some() {
        lost += 1;
    }
    lost
}

impl<A: Send + 'static> Kernel for Buffer<A> {
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::EAGER;

    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.emit(out);
        if self.queue.is_empty() && out.demand() > 0 {
            out.emit(x);
            return self.sig();
        }
        match offer(&mut self.queue, self.capacity, self.strategy, x) {
            Ok(lost) => {
                cx.dropped(DropReason::Overflow, lost);
                self.sig()
            }
            Err(_) => {
                cx.dropped(DropReason::Overflow, 1);
                Sig::fail(StreamError::BufferOverflow { node: cx.node(), capacity: self.capacity })
            }
        }
    }

    fn on_pull(&mut self, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        self.emit(out);
        self.sig()
    }

    fn on_finish(&mut self, out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        self.finished = true;
        self.emit(out);
        self.sig()
    }

    fn held(&self) -> usize {
        self.queue.len()
    }

    /// `size`: lowering it drops nothing before the next overflow.
    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, value.as_int().and_then(|n| usize::try_from(n).ok())) {
            ("size", Some(n)) if n > 0 => {
                self.capacity = n;
                true
            }
            _ => false,
        }
    }
}
