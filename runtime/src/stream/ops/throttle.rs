//! `throttle`: at most `n` cost units per `per`, by a token bucket of `burst` units that is full at the start.
//!
//! Emits when there are tokens. Backpressures without tokens, or when downstream does. Completes std, the waiting element
//! goes first. Cancels std. Holds at most 1. `Enforcing` fails RateExceeded instead of waiting.
//!
//! Kept as one number, the *theoretical arrival time* `tat` (the generic cell rate algorithm): the bucket is full when
//! `tat ≤ now`, and an element of cost `c ≤ burst` may go from `tat − (burst − c) · unit` on. Then `tat` grows by `c · unit`.
//! - Idle time fills at most the bucket: `tat` is first lifted to now.
//! - Lateness of the own timer is no idle time: `tat` is then lifted only to `now − makeup`, where `makeup` is what 100 ms
//!   are worth beyond the burst. So coarse timers do not lower the rate, and a clock jump gives one burst.
//! - An element dearer than the burst waits for a full bucket and leaves a debt; cost 0 is free.
//!
//! I1 integers only: times are kept multiplied by `n`, so a rate that does not divide a second has no drift.

use std::time::Duration;

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::params::millis;
use crate::stream::signal::StreamError;
use crate::stream::value::Value;
use crate::time::Instant;

const DUE: u32 = 0;
/// What lateness may be made up at once, if the burst is smaller.
const MAKEUP_NS: u128 = 100_000_000;

/// What a throttle does with an element that comes too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThrottleMode {
    /// Lets it wait.
    Shaping,
    /// Fails the stream.
    Enforcing,
}

/// How much may pass a throttle.
///
/// # Examples
/// ```
/// use footlights::stream::Rate;
/// use std::time::Duration;
/// assert_eq!(Rate::new(500, Duration::from_secs(1)).burst, 50); // what 100 ms are worth
/// assert_eq!(Rate::new(1, Duration::from_secs(7)).burst(3).burst, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Cost units …
    pub units: u64,
    /// … per this time.
    pub per: Duration,
    /// Cost units that may pass at once after a pause.
    pub burst: u64,
}

impl Rate {
    /// Makes a rate with the default burst: what 100 ms are worth, at least 1. 0 counts as 1 unit, or 1 ns.
    pub fn new(units: u64, per: Duration) -> Self {
        let (units, per) = (units.max(1), per.max(Duration::from_nanos(1)));
        let worth = MAKEUP_NS * u128::from(units) / per.as_nanos();
        Rate { units, per, burst: u64::try_from(worth).unwrap_or(u64::MAX).max(1) }
    }

    /// Sets the burst; 0 counts as 1.
    pub fn burst(self, burst: u64) -> Self {
        Rate { burst: burst.max(1), ..self }
    }
}

/// The token bucket, without timers: when may an element go?
#[derive(Clone, Debug)]
struct Bucket {
    rate: Rate,
    /// Nanoseconds × `rate.units`.
    tat: u128,
    late: u128,
    left_at: Instant,
}

impl Bucket {
    fn unit(&self) -> u128 {
        self.rate.per.as_nanos()
    }

    fn scaled(&self, t: Instant) -> u128 {
        u128::from(t.as_nanos()) * u128::from(self.rate.units)
    }

    /// An element arrives: the earliest time at which it may go.
    fn arrive(&mut self, cost: u64, now: Instant) -> Instant {
        let t = self.scaled(now);
        let idle = t - self.scaled(self.left_at).min(t);
        self.tat = self.tat.max(t.saturating_sub(self.late.saturating_sub(idle)));
        self.due(cost)
    }

    fn due(&self, cost: u64) -> Instant {
        let spare = u128::from(self.rate.burst - cost.min(self.rate.burst)).saturating_mul(self.unit());
        let due = self.tat.saturating_sub(spare).div_ceil(u128::from(self.rate.units));
        Instant::from_nanos(u64::try_from(due).unwrap_or(u64::MAX))
    }

    /// An element goes.
    fn go(&mut self, cost: u64, now: Instant) {
        self.tat = self.tat.saturating_add(u128::from(cost).saturating_mul(self.unit()));
        let makeup = (MAKEUP_NS * u128::from(self.rate.units))
            .saturating_sub(u128::from(self.rate.burst).saturating_mul(self.unit()));
        self.late = self.scaled(now).saturating_sub(self.tat).min(makeup);
        self.left_at = now;
    }
}

/// The kernel of `throttle`.
pub struct Throttle<A, F> {
    bucket: Bucket,
    mode: ThrottleMode,
    cost: F,
    waiting: Option<(A, u64)>,
    finished: bool,
}

impl<A, F> Throttle<A, F> {
    /// Makes the kernel; `cost` gives the units of an element.
    pub fn new(rate: Rate, mode: ThrottleMode, cost: F) -> Self {
        let bucket = Bucket { rate, tat: 0, late: 0, left_at: Instant::ZERO };
        Throttle { bucket, mode, cost, waiting: None, finished: false }
    }

    fn release(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        let now = cx.now();
        let due = self.waiting.as_ref().is_some_and(|(_, cost)| self.bucket.due(*cost) <= now);
        if due
            && out.demand() > 0
            && let Some((x, cost)) = self.waiting.take()
        {
            self.bucket.go(cost, now);
            out.emit(x);
        }
        match (&self.waiting, self.finished) {
            (Some(_), _) => Sig::Full,
            (None, true) => Sig::Done,
            (None, false) => Sig::Continue,
        }
    }
}

impl<A, F> Kernel for Throttle<A, F>
where
    A: Send + 'static,
    F: FnMut(&A) -> u64 + Send + 'static,
{
    type In = A;
    type Out = A;
    const CAPS: Caps = Caps::TIMED;

    fn on_push(&mut self, x: A, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        let (cost, now) = ((self.cost)(&x), cx.now());
        if cost == 0 {
            out.emit(x);
            return Sig::Continue;
        }
        let due = self.bucket.arrive(cost, now);
        if due > now && self.mode == ThrottleMode::Enforcing {
            cx.used(1);
            return Sig::fail(StreamError::RateExceeded { node: cx.node() });
        }
        self.waiting = Some((x, cost));
        if due > now {
            cx.timer(DUE, due - now);
        }
        self.release(out, cx)
    }

    fn on_pull(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.release(out, cx)
    }

    fn on_timer(&mut self, _key: u32, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        if let Some((_, cost)) = self.waiting {
            let (due, now) = (self.bucket.due(cost), cx.now());
            if due > now {
                cx.timer(DUE, due - now);
            }
        }
        self.release(out, cx)
    }

    fn on_finish(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        self.finished = true;
        self.release(out, cx)
    }

    fn on_cancel(&mut self, _cause: &crate::stream::signal::Cause, cx: &mut Cx) {
        cx.cancel_timer(DUE);
    }

    fn held(&self) -> usize {
        usize::from(self.waiting.is_some())
    }

    /// `n`, `per_ms` and `burst`, for elements that come from then on.
    fn set(&mut self, key: &str, value: &Value) -> bool {
        let old = self.bucket.rate;
        let whole = value.as_int().and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
        let rate = match (key, whole, millis(value).filter(|d| !d.is_zero())) {
            ("n", Some(units), _) => Rate { units, ..old },
            ("burst", Some(burst), _) => old.burst(burst),
            ("per_ms", _, Some(per)) => Rate { per, ..old },
            _ => return false,
        };
        self.bucket.tat = (self.bucket.tat / u128::from(old.units)).saturating_mul(rate.units.into());
        (self.bucket.rate, self.bucket.late) = (rate, 0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::nanos;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(nanos(Duration::from_millis(ms)))
    }

    #[test]
    fn a_late_timer_is_made_up_and_idle_time_is_not() {
        let rate = Rate::new(1000, Duration::from_secs(1)).burst(1);
        let mut b = Bucket { rate, tat: 0, late: 0, left_at: Instant::ZERO };
        assert_eq!(b.arrive(1, at(0)), at(0));
        b.go(1, at(0));
        assert_eq!(b.arrive(1, at(0)), at(1));
        b.go(1, at(16)); // its timer came 15 ms late
        let mut burst = 0;
        while b.arrive(1, at(16)) <= at(16) {
            b.go(1, at(16));
            burst += 1;
        }
        assert_eq!(burst, 15);
        assert_eq!(b.arrive(1, at(5000)), at(5000));
        b.go(1, at(5000));
        assert_eq!(b.arrive(1, at(5000)), at(5001));
    }

    #[test]
    fn a_clock_jump_of_an_hour_gives_one_burst() {
        let mut b = Bucket {
            rate: Rate::new(10, Duration::from_secs(1)).burst(5),
            tat: 0,
            late: 0,
            left_at: Instant::ZERO,
        };
        for _ in 0..6 {
            b.arrive(1, at(0));
            b.go(1, at(0));
        }
        let (jump, mut burst) = (at(3_600_000), 0);
        while b.arrive(1, jump) <= jump {
            b.go(1, jump);
            burst += 1;
        }
        assert_eq!(burst, 5);
    }

    #[test]
    fn one_element_in_seven_days_is_exact() {
        let week = Duration::from_secs(7 * 24 * 3600);
        let mut b = Bucket { rate: Rate::new(1, week), tat: 0, late: 0, left_at: Instant::ZERO };
        b.arrive(1, at(0));
        b.go(1, at(0));
        assert_eq!(b.arrive(1, at(0)), Instant::ZERO + week);
    }
}
