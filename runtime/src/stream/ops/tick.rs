//! `tick`: the same element again and again, first after `initial`, then every `interval`.
//!
//! Emits when the timer is due and there is demand; without demand the tick is dropped (NoDemand), never queued.
//! Backpressures: never. Completes never, or with the nth element. Cancels: forgets its timer.
//! Due times follow the ideal schedule: a late timer does not shift those after it; ticks that became due together are
//! one with demand and the others dropped.

use std::time::Duration;

use crate::stream::kernel::{Caps, Cx, Kernel, Never, Out, Sig};
use crate::stream::params::millis;
use crate::stream::signal::{Cause, DropReason};
use crate::stream::value::Value;
use crate::time::Instant;

const TICK: u32 = 0;
/// The shortest interval.
const INTERVAL_MIN: Duration = Duration::from_nanos(1);

/// The kernel of `tick`.
pub struct Tick<T> {
    initial: Duration,
    interval: Duration,
    x: T,
    due: Instant,
    /// Elements until it completes; none for never.
    left: Option<u64>,
}

impl<T> Tick<T> {
    /// Makes the kernel; an interval of 0 counts as 1 ns.
    pub fn new(initial: Duration, interval: Duration, x: T) -> Self {
        Tick { initial, interval: interval.max(INTERVAL_MIN), x, due: Instant::ZERO, left: None }
    }

    /// Completes together with the `n`th element; 0 for never.
    pub fn at_most(mut self, n: u64) -> Self {
        self.left = (n > 0).then_some(n);
        self
    }

    fn arm(&self, cx: &mut Cx) {
        cx.timer(TICK, self.due - cx.now());
    }
}

impl<T: Clone + Send + 'static> Kernel for Tick<T> {
    type In = Never;
    type Out = T;
    const CAPS: Caps = Caps { source: true, ..Caps::TIMED };

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        self.due = cx.now() + self.initial;
        self.arm(cx);
        Sig::Continue
    }

    fn on_push(&mut self, x: Never, _out: &mut Out<'_, T>, _cx: &mut Cx) -> Sig {
        match x {}
    }

    fn on_timer(&mut self, _key: u32, out: &mut Out<'_, T>, cx: &mut Cx) -> Sig {
        let late = cx.now() - self.due;
        let ticks = 1 + u64::try_from(late.as_nanos() / self.interval.as_nanos()).unwrap_or(u64::MAX - 1);
        cx.made(ticks);
        let emitted = u64::from(out.demand() > 0);
        if emitted == 1 {
            out.emit(self.x.clone());
        }
        cx.dropped(DropReason::NoDemand, ticks - emitted);
        self.left = self.left.map(|left| left - emitted);
        if self.left == Some(0) {
            return Sig::Done;
        }
        let step = u128::from(ticks) * self.interval.as_nanos();
        self.due = self.due + Duration::from_nanos(u64::try_from(step).unwrap_or(u64::MAX));
        self.arm(cx);
        Sig::Continue
    }

    fn on_cancel(&mut self, _cause: &Cause, cx: &mut Cx) {
        cx.cancel_timer(TICK);
    }

    /// `interval_ms` takes effect after the next tick.
    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, millis(value)) {
            ("interval_ms", Some(interval)) if !interval.is_zero() => {
                self.interval = interval;
                true
            }
            _ => false,
        }
    }
}
