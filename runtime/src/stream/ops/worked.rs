//! The attribute `work`: a stage whose every element costs time, before its kernel sees it.
//!
//! The element is taken and held while the work is charged; when the worker is free again the kernel gets it. So all that
//! the element causes (an emission, a request, a tell) happens when the work is over. Emits, backpressures, completes and
//! cancels as the kernel inside. Holds 1 more.

use std::time::Duration;

use crate::rng::Rng;
use crate::stream::kernel::{Caps, Cx, Kernel, Out, Park, Sig, Sleep};
use crate::stream::params::millis;
use crate::stream::signal::{Cause, StreamError};
use crate::stream::value::Value;

/// How long something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Always the same.
    Constant(Duration),
    /// Uniform between 0 and this.
    Uniform(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
}

impl Time {
    /// Draws a duration.
    ///
    /// # Examples
    /// ```
    /// use footlights::{rng::Rng, stream::Time};
    /// use std::time::Duration;
    /// assert_eq!(Time::Constant(Duration::from_millis(2)).draw(&mut Rng::new(1)), Duration::from_millis(2));
    /// ```
    pub fn draw(self, rng: &mut Rng) -> Duration {
        match self {
            Time::Constant(d) => d,
            Time::Uniform(max) => rng.uniform(max),
            Time::Exponential(mean) => rng.exponential(mean),
        }
    }

    /// Is true if it never takes any time.
    fn is_zero(self) -> bool {
        let (Time::Constant(d) | Time::Uniform(d) | Time::Exponential(d)) = self;
        d.is_zero()
    }

    pub(crate) fn with_mean(self, mean: Duration) -> Self {
        match self {
            Time::Constant(_) => Time::Constant(mean),
            Time::Uniform(_) => Time::Uniform(mean.saturating_mul(2)),
            Time::Exponential(_) => Time::Exponential(mean),
        }
    }
}

/// A kernel that costs time.
pub struct Worked<K: Kernel> {
    inner: K,
    work: Time,
    block: Time,
    rng: Option<Rng>,
    taken: Option<K::In>,
    /// Upstream has completed while an element was worked on.
    finishing: bool,
    /// The kernel inside knows that upstream has completed.
    finished: bool,
}

impl<K: Kernel> Worked<K> {
    /// Wraps a kernel: each element costs `work` and then `block`.
    pub fn new(inner: K, work: Time, block: Time) -> Self {
        Worked { inner, work, block, rng: None, taken: None, finishing: false, finished: false }
    }
}

impl<K: Kernel> Kernel for Worked<K> {
    type In = K::In;
    type Out = K::Out;
    const CAPS: Caps = Caps { light: false, pulls: true, chunk: false, ..K::CAPS };

    /// While nothing costs anything, as the kernel inside.
    fn chunk(&self) -> usize {
        let free = self.work.is_zero() && self.block.is_zero() && self.taken.is_none();
        if free { self.inner.chunk() } else { 0 }
    }

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        self.rng = Some(cx.rng().split(1));
        self.inner.on_start(cx)
    }

    fn on_push(&mut self, x: K::In, out: &mut Out<'_, K::Out>, cx: &mut Cx) -> Sig {
        if self.work.is_zero() && self.block.is_zero() {
            return self.inner.on_push(x, out, cx);
        }
        let rng = self.rng.get_or_insert_with(|| Rng::new(0));
        let (work, block) = (self.work.draw(rng), self.block.draw(rng));
        if work.is_zero() && block.is_zero() {
            return self.inner.on_push(x, out, cx);
        }
        cx.work(work);
        cx.block(block);
        self.taken = Some(x);
        Sig::Full
    }

    fn on_pull(&mut self, out: &mut Out<'_, K::Out>, cx: &mut Cx) -> Sig {
        if self.taken.is_some() && out.demand() == 0 && !K::CAPS.eager {
            return Sig::Full;
        }
        let Some(x) = self.taken.take() else { return self.pull_inner(out, cx) };
        match self.inner.on_push(x, out, cx) {
            Sig::Continue | Sig::Full if self.finishing => self.finish_inner(out, cx),
            sig => sig,
        }
    }

    fn on_finish(&mut self, out: &mut Out<'_, K::Out>, cx: &mut Cx) -> Sig {
        if self.taken.is_some() {
            self.finishing = true;
            return Sig::Full;
        }
        self.finish_inner(out, cx)
    }

    fn on_fail(&mut self, e: StreamError, out: &mut Out<'_, K::Out>, cx: &mut Cx) -> Sig {
        self.inner.on_fail(e, out, cx)
    }

    fn on_cancel(&mut self, cause: &Cause, cx: &mut Cx) {
        self.inner.on_cancel(cause, cx);
    }

    fn on_timer(&mut self, key: u32, out: &mut Out<'_, K::Out>, cx: &mut Cx) -> Sig {
        let sig = self.inner.on_timer(key, out, cx);
        self.busy(sig)
    }

    fn on_done(&mut self, request: u64, out: &mut Out<'_, K::Out>, cx: &mut Cx) -> Sig {
        let sig = self.inner.on_done(request, out, cx);
        self.busy(sig)
    }

    fn on_wake(&mut self, out: &mut Out<'_, K::Out>, cx: &mut Cx) -> Sig {
        let sig = self.inner.on_wake(out, cx);
        self.busy(sig)
    }

    fn on_park(&mut self, park: Park, cx: &mut Cx) -> Sleep {
        self.inner.on_park(park, cx)
    }

    fn held(&self) -> usize {
        usize::from(self.taken.is_some()) + self.inner.held()
    }

    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, millis(value)) {
            ("work_ms", Some(mean)) => self.work = self.work.with_mean(mean),
            ("block_ms", Some(mean)) => self.block = self.block.with_mean(mean),
            _ => return self.inner.set(key, value),
        }
        true
    }
}

impl<K: Kernel> Worked<K> {
    /// A light kernel expects `on_pull` only after its upstream has completed.
    fn pull_inner(&mut self, out: &mut Out<'_, K::Out>, cx: &mut Cx) -> Sig {
        if K::CAPS.pulls || self.finished { self.inner.on_pull(out, cx) } else { Sig::Continue }
    }

    fn finish_inner(&mut self, out: &mut Out<'_, K::Out>, cx: &mut Cx) -> Sig {
        self.finished = true;
        self.inner.on_finish(out, cx)
    }

    /// While an element is worked on, nothing may be pushed.
    fn busy(&self, sig: Sig) -> Sig {
        match sig {
            Sig::Continue if self.taken.is_some() => Sig::Full,
            sig => sig,
        }
    }
}
