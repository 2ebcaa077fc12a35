//! The arms: one function each, which wires the work and starts it.

use std::time::Duration;

use footlights::rng::Rng;
use footlights::stream::junctions::{Balance, Broadcast, Merge, Partition, ZipWith};
use footlights::stream::{
    Done, Flow, Graph, GraphBuilder, InPort, Job, Operators, OutPort, OverflowStrategy, Plan, RunError, Sink,
    Source, Time, TimedOperators,
};
use footlights::system::ActorSystem;

use super::SPIN;

type Started = Result<Done<u64>, RunError>;

/// A request that may take up to this long.
const CALL_MAX: Duration = Duration::from_millis(100);

fn numbers(n: u64) -> Source<impl Plan<Out = i64>> {
    Source::range(0..i64::try_from(n).unwrap_or(i64::MAX))
}

fn start<P: Plan<Out = i64>>(source: Source<P>, system: &ActorSystem) -> Started {
    source.to(Sink::ignore()).run(system).map(|(done, _)| done)
}

fn spin() -> Time {
    Time::Constant(SPIN)
}

/// Works on a worker of its own choice.
fn task(n: i64) -> Job<i64> {
    Job::task(move |effort| {
        effort.work(SPIN);
        Ok(n)
    })
}

/// Waits for an answer from elsewhere: between nothing and 100 ms, each stage with times of its own.
fn calls(seed: u64) -> impl FnMut(i64) -> Job<i64> + Clone + Send + Sync + 'static {
    let mut rng = Rng::new(seed);
    move |n| Job::After(rng.uniform(CALL_MAX), Ok(n))
}

/// Waits for an answer that always takes 10 ms.
fn even_call(n: i64) -> Job<i64> {
    Job::After(SPIN, Ok(n))
}

pub(super) fn fused(system: &ActorSystem, n: u64) -> Started {
    start(numbers(n).worked(spin()).worked(spin()), system)
}

pub(super) fn cut(system: &ActorSystem, n: u64) -> Started {
    start(numbers(n).worked(spin()).async_boundary().worked(spin()), system)
}

pub(super) fn tasks_of_1_twice(system: &ActorSystem, n: u64) -> Started {
    start(numbers(n).map_async(1, task).map_async(1, task), system)
}

pub(super) fn tasks_of_1_twice_cut(system: &ActorSystem, n: u64) -> Started {
    start(numbers(n).map_async(1, task).async_boundary().map_async(1, task), system)
}

pub(super) fn tasks_of_2_twice(system: &ActorSystem, n: u64) -> Started {
    start(numbers(n).map_async(2, task).map_async(2, task), system)
}

pub(super) fn tasks_of<const P: usize>(system: &ActorSystem, n: u64) -> Started {
    start(numbers(n).map_async(P, task), system)
}

pub(super) fn calls_of<const P: usize>(system: &ActorSystem, n: u64) -> Started {
    start(numbers(n).map_async(P, calls(1)), system)
}

/// Works on a core, for up to 100 ms.
fn uneven_tasks(seed: u64) -> impl FnMut(i64) -> Job<i64> + Clone + Send + Sync + 'static {
    let mut rng = Rng::new(seed);
    move |n| {
        let work = rng.uniform(CALL_MAX);
        Job::task(move |effort| {
            effort.work(work);
            Ok(n)
        })
    }
}

pub(super) fn uneven_in_order<const P: usize>(system: &ActorSystem, n: u64) -> Started {
    start(numbers(n).map_async(P, uneven_tasks(1)), system)
}

pub(super) fn uneven_as_they_come<const P: usize>(system: &ActorSystem, n: u64) -> Started {
    start(numbers(n).map_async_unordered(P, uneven_tasks(1)), system)
}

/// Pages of a hundred: the first element of each comes after a fetch of 1 s, which begins when the page before is out.
fn pages(n: u64) -> Source<impl Plan<Out = i64>> {
    let fetch = |n: i64| match n % 100 {
        0 => Job::After(Duration::from_secs(1), Ok(n)),
        _ => Job::Ready(n),
    };
    numbers(n).map_async(1, fetch)
}

pub(super) fn pages_behind_a_ring(system: &ActorSystem, n: u64) -> Started {
    start(pages(n).async_boundary().worked(spin()), system)
}

pub(super) fn pages_behind_a_buffer(system: &ActorSystem, n: u64) -> Started {
    let buffered = pages(n).buffer(128, OverflowStrategy::Backpressure);
    start(buffered.async_boundary().worked(spin()), system)
}

pub(super) fn four_calls<const P: usize>(system: &ActorSystem, n: u64) -> Started {
    let stream = numbers(n).map_async(P, calls(1)).map_async(P, calls(2));
    start(stream.map_async(P, calls(3)).map_async(P, calls(4)), system)
}

pub(super) fn four_calls_cut<const P: usize>(system: &ActorSystem, n: u64) -> Started {
    let stream = numbers(n).map_async(P, calls(1)).async_boundary().map_async(P, calls(2)).async_boundary();
    start(stream.map_async(P, calls(3)).async_boundary().map_async(P, calls(4)), system)
}

pub(super) fn four_calls_buffered<const P: usize>(system: &ActorSystem, n: u64) -> Started {
    const WAITS: OverflowStrategy = OverflowStrategy::Backpressure;
    let stream = numbers(n).map_async(P, calls(1)).buffer(16, WAITS).map_async(P, calls(2)).buffer(16, WAITS);
    start(stream.map_async(P, calls(3)).buffer(16, WAITS).map_async(P, calls(4)), system)
}

pub(super) fn four_even_calls(system: &ActorSystem, n: u64) -> Started {
    let stream = numbers(n).map_async(1, even_call).map_async(1, even_call);
    start(stream.map_async(1, even_call).map_async(1, even_call), system)
}

pub(super) fn four_even_calls_buffered(system: &ActorSystem, n: u64) -> Started {
    const WAITS: OverflowStrategy = OverflowStrategy::Backpressure;
    let stream = numbers(n).map_async(1, even_call).buffer(16, WAITS).map_async(1, even_call);
    start(stream.buffer(16, WAITS).map_async(1, even_call).buffer(16, WAITS).map_async(1, even_call), system)
}

pub(super) fn one_spin(system: &ActorSystem, n: u64) -> Started {
    start(numbers(n).worked(spin()), system)
}

/// Four lanes of work between a fan-out and a merge.
fn lanes(
    g: &mut GraphBuilder,
    outs: Vec<OutPort<i64>>,
    is_cut: bool,
    work: fn(i64) -> Duration,
) -> Done<u64> {
    let (ins, merged) = g.fan_in("merge", outs.len(), Merge::new());
    for ((i, out), into) in outs.into_iter().enumerate().zip(ins) {
        let lane = Flow::of::<i64>().map_cx(move |cx, n| {
            cx.work(work(n));
            n
        });
        let (a, b) = g.flow(&format!("lane{i}"), lane);
        connect(g, out, a, is_cut);
        connect(g, b, into, is_cut);
    }
    let (port, done) = g.sink("count", Sink::ignore());
    g.wire(merged, port);
    done
}

fn connect(g: &mut GraphBuilder, from: OutPort<i64>, into: InPort<i64>, is_cut: bool) {
    if is_cut { g.wire_async(from, into, 16) } else { g.wire(from, into) }
}

fn even(_: i64) -> Duration {
    SPIN
}

/// Every 4th element takes ten times as long.
fn uneven(n: i64) -> Duration {
    if n % 4 == 0 { SPIN * 10 } else { SPIN }
}

fn broadcast_lanes(system: &ActorSystem, n: u64, is_cut: bool) -> Started {
    let graph = Graph::new(move |g| {
        let source = g.source("numbers", numbers(n));
        let (port, outs) = g.fan_out("split", 4, Broadcast::new());
        g.wire(source, port);
        lanes(g, outs, is_cut, even)
    });
    graph.run(system).map(|(done, _)| done)
}

pub(super) fn broadcast_fused(system: &ActorSystem, n: u64) -> Started {
    broadcast_lanes(system, n, false)
}

pub(super) fn broadcast_cut(system: &ActorSystem, n: u64) -> Started {
    broadcast_lanes(system, n, true)
}

fn partition_lanes(system: &ActorSystem, n: u64, work: fn(i64) -> Duration) -> Started {
    let graph = Graph::new(move |g| {
        let source = g.source("numbers", numbers(n));
        let (port, outs) = g.fan_out("split", 4, Partition::new(|n: &i64| (n.unsigned_abs() % 4) as usize));
        g.wire(source, port);
        lanes(g, outs, true, work)
    });
    graph.run(system).map(|(done, _)| done)
}

pub(super) fn partition_even(system: &ActorSystem, n: u64) -> Started {
    partition_lanes(system, n, even)
}

pub(super) fn partition_uneven(system: &ActorSystem, n: u64) -> Started {
    partition_lanes(system, n, uneven)
}

pub(super) fn balance_uneven(system: &ActorSystem, n: u64) -> Started {
    let graph = Graph::new(move |g| {
        let source = g.source("numbers", numbers(n));
        let (port, outs) = g.fan_out("split", 4, Balance::new());
        g.wire(source, port);
        let (ins, merged) = g.fan_in("merge", 4, Merge::new());
        // One element under way to each lane: a lane that is busy has no other in its pocket.
        for ((i, out), into) in outs.into_iter().enumerate().zip(ins) {
            let lane = Flow::of::<i64>().map_cx(|cx, n| {
                cx.work(uneven(n));
                n
            });
            let (a, b) = g.flow(&format!("lane{i}"), lane);
            g.wire_async(out, a, 1);
            g.wire_async(b, into, 16);
        }
        let (port, done) = g.sink("count", Sink::ignore());
        g.wire(merged, port);
        done
    });
    graph.run(system).map(|(done, _)| done)
}

/// Two parallel steps and a join, twice.
fn steps(system: &ActorSystem, n: u64, is_cut: bool) -> Started {
    let graph = Graph::new(move |g| {
        let mut at = g.source("numbers", numbers(n));
        for (i, (left, right)) in [(10, 30), (20, 5)].into_iter().enumerate() {
            let (port, outs) = g.fan_out(&format!("split{i}"), 2, Broadcast::new());
            g.wire(at, port);
            let (a, b, joined) = g.two_in(&format!("join{i}"), ZipWith::new(|a: i64, _: i64| a));
            for ((side, out), (into, ms)) in outs.into_iter().enumerate().zip([(a, left), (b, right)]) {
                let work = Time::Constant(Duration::from_millis(ms));
                let (first, last) = g.flow(&format!("step{i}{side}"), Flow::of::<i64>().worked(work));
                connect(g, out, first, is_cut);
                connect(g, last, into, is_cut);
            }
            at = joined;
        }
        let (port, done) = g.sink("count", Sink::ignore());
        g.wire(at, port);
        done
    });
    graph.run(system).map(|(done, _)| done)
}

pub(super) fn steps_fused(system: &ActorSystem, n: u64) -> Started {
    steps(system, n, false)
}

pub(super) fn steps_cut(system: &ActorSystem, n: u64) -> Started {
    steps(system, n, true)
}
