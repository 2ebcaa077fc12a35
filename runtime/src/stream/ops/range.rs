//! `range`: the whole numbers from a first one up to, not including, an end.
//!
//! Emits on demand. Backpressures: it is pulled. Completes together with the last number. Cancels: stops.

use std::ops::Range as Numbers;

use crate::stream::kernel::{Caps, Cx, Kernel, Never, Out, Sig};

/// The kernel of `range`.
pub struct Range {
    next: i64,
    end: i64,
}

impl Range {
    /// Makes the kernel.
    pub fn new(numbers: Numbers<i64>) -> Self {
        Range { next: numbers.start, end: numbers.end }
    }
}

impl Kernel for Range {
    type In = Never;
    type Out = i64;
    const CAPS: Caps = Caps::LIGHT_SOURCE;

    fn on_start(&mut self, _cx: &mut Cx) -> Sig {
        if self.next < self.end { Sig::Continue } else { Sig::Done }
    }

    fn on_push(&mut self, x: Never, _out: &mut Out<'_, i64>, _cx: &mut Cx) -> Sig {
        match x {}
    }

    #[inline]
    fn on_pull(&mut self, out: &mut Out<'_, i64>, cx: &mut Cx) -> Sig {
        while out.demand() > 0 {
            let n = self.next;
            self.next += 1;
            cx.made(1);
            out.emit(n);
            if self.next >= self.end {
                return Sig::Done;
            }
        }
        Sig::Continue
    }
}
