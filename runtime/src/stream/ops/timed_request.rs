//! The drawn `map_async`: a request for each element that takes a drawn time, as a timer or as a task. As `map_async`.

use std::time::Duration;

use super::map_async::{Job, MapAsync};
use super::worked::Time;
use crate::rng::Rng;
use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::params::millis;
use crate::stream::signal::StreamError;
use crate::stream::value::Value;

/// How a request runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsAs {
    /// It waits; no worker is taken.
    Timer,
    /// It works, on a worker.
    Task,
}

/// The request of one element: how long it takes, and whether it succeeds.
type Prepared = (Value, Duration, Result<(), String>);
type Inner = MapAsync<Prepared, Value, fn(Prepared) -> Job<Value>>;

/// The kernel of the drawn `map_async`.
pub struct TimedRequest {
    inner: Inner,
    time: Time,
    rng: Rng,
    fail_every: i64,
    seen: i64,
}

impl TimedRequest {
    /// Makes the kernel; `fail_every` = 0 is never.
    pub fn new(parallelism: usize, runs_as: RunsAs, time: Time, fail_every: i64) -> Self {
        let start = match runs_as {
            RunsAs::Timer => timer,
            RunsAs::Task => task,
        };
        let inner = MapAsync::new(parallelism, start as fn(Prepared) -> Job<Value>);
        TimedRequest { inner, time, rng: Rng::new(0), fail_every, seen: 0 }
    }
}

fn timer((x, d, outcome): Prepared) -> Job<Value> {
    Job::After(d, outcome.map(|()| x))
}

fn task((x, d, outcome): Prepared) -> Job<Value> {
    Job::task(move |effort| {
        effort.work(d);
        outcome.map(|()| x)
    })
}

impl Kernel for TimedRequest {
    type In = Value;
    type Out = Value;
    const CAPS: Caps = Caps::EAGER;

    fn on_start(&mut self, cx: &mut Cx) -> Sig {
        self.rng = cx.rng();
        Sig::Continue
    }

    fn on_push(&mut self, x: Value, out: &mut Out<'_, Value>, cx: &mut Cx) -> Sig {
        self.seen += 1;
        let fails = self.fail_every > 0 && self.seen % self.fail_every == 0;
        let outcome = if fails { Err(format!("request {} failed", self.seen)) } else { Ok(()) };
        let d = self.time.draw(&mut self.rng);
        self.inner.on_push((x, d, outcome), out, cx)
    }

    fn on_pull(&mut self, out: &mut Out<'_, Value>, cx: &mut Cx) -> Sig {
        self.inner.on_pull(out, cx)
    }

    fn on_finish(&mut self, out: &mut Out<'_, Value>, cx: &mut Cx) -> Sig {
        self.inner.on_finish(out, cx)
    }

    fn on_fail(&mut self, e: StreamError, out: &mut Out<'_, Value>, cx: &mut Cx) -> Sig {
        self.inner.on_fail(e, out, cx)
    }

    fn on_done(&mut self, request: u64, out: &mut Out<'_, Value>, cx: &mut Cx) -> Sig {
        self.inner.on_done(request, out, cx)
    }

    fn held(&self) -> usize {
        self.inner.held()
    }

    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, millis(value), value.as_int()) {
            ("mean_ms", Some(mean), _) => self.time = self.time.with_mean(mean),
            ("fail_every", _, Some(n)) if n >= 0 => self.fail_every = n,
            _ => return self.inner.set(key, value),
        }
        true
    }
}
