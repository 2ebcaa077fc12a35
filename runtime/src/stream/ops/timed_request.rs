//! The drawn `map_async` and its kin: a request for each element that takes a drawn time, as a timer or as a task.
//! Otherwise as `map_async`, `map_async_unordered` or `map_async_partitioned`.

use std::time::Duration;

use super::map_async::{Job, MapAsync};
use super::map_async_partitioned::{MapAsyncPartitioned, Order};
use super::map_async_unordered::MapAsyncUnordered;
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

/// The request of one element: its result, how long it takes, and whether it succeeds.
pub(crate) type Prepared = (Value, Duration, Result<(), String>);
type Start = fn(Prepared) -> Job<Value>;

/// The kernel of the drawn `map_async` and its kin, around theirs.
pub struct TimedRequest<I> {
    inner: I,
    time: Time,
    rng: Rng,
    fail_every: i64,
    seen: i64,
}

impl TimedRequest<MapAsync<Prepared, Value, Start>> {
    /// Makes the kernel, with results in order; `fail_every` = 0 is never.
    pub fn new(parallelism: usize, runs_as: RunsAs, time: Time, fail_every: i64) -> Self {
        TimedRequest::around(MapAsync::new(parallelism, runs_as.start()), time, fail_every)
    }
}

impl TimedRequest<MapAsyncUnordered<Prepared, Value, Start>> {
    /// As `new`, with results as they come.
    pub fn unordered(parallelism: usize, runs_as: RunsAs, time: Time, fail_every: i64) -> Self {
        TimedRequest::around(MapAsyncUnordered::new(parallelism, runs_as.start()), time, fail_every)
    }
}

/// Chooses the key of an element.
type ByKey = Box<dyn FnMut(&Prepared) -> i64 + Send>;

impl TimedRequest<MapAsyncPartitioned<Prepared, Value, i64, ByKey, Start>> {
    /// As `new`, with one request at a time for each of `keys` keys: a whole number modulo `keys`, 0 for anything else.
    pub fn partitioned(
        parallelism: usize,
        order: Order,
        keys: i64,
        runs_as: RunsAs,
        time: Time,
        fail_every: i64,
    ) -> Self {
        let keys = keys.max(1);
        let key = Box::new(move |(x, ..): &Prepared| x.as_int().unwrap_or(0).rem_euclid(keys)) as ByKey;
        let inner = MapAsyncPartitioned::new(parallelism, order, key, runs_as.start());
        TimedRequest::around(inner, time, fail_every)
    }
}

impl<I> TimedRequest<I> {
    fn around(inner: I, time: Time, fail_every: i64) -> Self {
        TimedRequest { inner, time, rng: Rng::new(0), fail_every, seen: 0 }
    }
}

impl RunsAs {
    fn start(self) -> Start {
        match self {
            RunsAs::Timer => timer,
            RunsAs::Task => task,
        }
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

impl<I: Kernel<In = Prepared, Out = Value>> Kernel for TimedRequest<I> {
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
