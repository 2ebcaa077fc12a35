//! The operators of time, requests and rates against list models with exact instants: typed in one island, with a boundary
//! before and behind, as a graph in an order drawn by chance, on actors, and drawn.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use footlights::rng::Rng;
use footlights::stream::{
    Built, Chain, DropReason, Flow, Graph, Job, LocalRun, Operators, Order, OverflowStrategy, Params, Plan,
    Sink, Source, StreamError, StreamSnapshot, Time, TimedOperators, TimeoutKind, Value,
};
use footlights::testkit::{on_each_dispatcher, on_steppers};

const MS: Duration = Duration::from_millis(1);
const FUZZ: u64 = 50;

/// What comes: after so many ms from the one before, a number, or a failure.
type Script = Vec<(u32, Option<i64>)>;
/// What went out, with the ms since the start, and the end.
type Outcome<T> = (Vec<(u64, T)>, Result<(), StreamError>);

/// A number that only lets time pass.
const SILENCE: i64 = -1;

fn source(script: &Script) -> Source<impl Plan<Out = i64> + use<>> {
    let job = |(gap, x): (u32, Option<i64>)| Job::After(MS * gap, x.ok_or_else(|| "planned".to_string()));
    Source::from_iter(script.clone()).map_async(1, job).filter(|n| *n != SILENCE)
}

fn planned() -> Result<(), StreamError> {
    Err(StreamError::Stage { node: "map_async".into(), text: "planned".into() })
}

fn timeout(kind: TimeoutKind, node: &str) -> Result<(), StreamError> {
    Err(StreamError::Timeout { kind, node: node.into() })
}

fn judge(snapshot: &StreamSnapshot, bound: u64) {
    for stage in snapshot.stages.iter().filter(|s| s.counted) {
        assert!(stage.counts.balanced(), "{}: {:?}", stage.name, stage.counts);
        assert!(stage.counts.high_water <= bound, "{}: {:?}", stage.name, stage.counts);
        assert!(stage.counts.resting <= 1);
    }
    for edge in &snapshot.edges {
        assert!(edge.high_water <= edge.capacity, "{edge:?} held more than it may");
        assert_eq!(edge.pushed, edge.taken + edge.fill + edge.dropped, "{edge:?}");
    }
}

/// Runs to the end and judges after each step.
fn settle(built: Built, workers: usize, budget: usize, bound: u64) -> LocalRun {
    let mut run = LocalRun::new(built, workers).budget(budget);
    let mut steps = 0;
    while run.step() {
        judge(&run.snapshot(), bound);
        steps += 1;
        assert!(steps < 100_000, "it does not come to rest");
    }
    judge(&run.snapshot(), bound);
    assert!(run.ended(), "an island did not end");
    assert_eq!(run.pending(), 0, "timers or requests are left");
    run
}

/// The same error, where the stage of a graph's node is called as in a chain.
fn local(error: StreamError) -> StreamError {
    let short = |node: Arc<str>| -> Arc<str> { node.rsplit('.').next().unwrap_or(&node).into() };
    match error {
        StreamError::Stage { node, text } => StreamError::Stage { node: short(node), text },
        StreamError::Timeout { kind, node } => StreamError::Timeout { kind, node: short(node) },
        error => error,
    }
}

type Seen<T> = Arc<Mutex<Vec<(u64, T)>>>;

macro_rules! seen_by {
    ($seen:ident) => {{
        let seen = $seen.clone();
        Sink::for_each(move |cx, x| seen.lock().unwrap().push((cx.now().as_nanos() / 1_000_000, x)))
    }};
}

macro_rules! outcome {
    ($seen:ident, $done:expr) => {
        (
            std::mem::take(&mut *$seen.lock().unwrap()),
            $done.take().expect("it has ended").map(|_| ()).map_err(local),
        )
    };
}

/// Runs a flow in every way; all must give what the model gives, at the same instants, and hold at most `bound`.
macro_rules! check {
    ($label:expr, $bound:expr, $script:expr, $flow:expr, $expected:expr) => {{
        let (script, bound): (Script, u64) = ($script, $bound);
        let expected: Outcome<_> = $expected;
        let label = format!("{} of {script:?}", $label);
        let seen: Seen<_> = Arc::default();
        let fused = source(&script).via($flow).to(seen_by!(seen));
        for budget in [1, 3, 256] {
            let (built, done) = fused.build(7);
            settle(built, 1, budget, bound);
            assert_eq!(outcome!(seen, done), expected, "{label}, fused, {budget} per turn");
        }
        for capacity in [1, 2, 16] {
            let above = source(&script).async_boundary_of(capacity);
            let cut = above.via($flow).async_boundary_of(capacity).to(seen_by!(seen));
            for workers in [1, 2, 4] {
                let (built, done) = cut.build(7);
                settle(built, workers, 3, bound);
                assert_eq!(outcome!(seen, done), expected, "{label}, capacity {capacity}, {workers} workers");
            }
        }
        let graph = Graph::new(|g| {
            let from = g.source("script", source(&script));
            let (into, out) = g.flow("flow", $flow);
            let (end, done) = g.sink("end", seen_by!(seen));
            g.wire(from, into);
            g.wire(out, end);
            done
        });
        for seed in 0..FUZZ {
            let (built, done) = graph.build(seed).expect("a whole graph");
            settle(built.fuzzed(seed), 1, 256, bound);
            assert_eq!(outcome!(seen, done), expected, "{label}, fuzzed by {seed}");
        }
        on_steppers(|system| {
            let (done, _) = fused.run(system).expect("it starts");
            assert!(system.run_until_quiet(100_000));
            assert_eq!(outcome!(seen, done), expected, "{label}, on actors");
        });
    }};
}

/// Elements at these instants, in ms, and then the end.
fn at(instants: &[u32]) -> Script {
    let before = std::iter::once(&0).chain(instants);
    instants.iter().zip(before).zip(0..).map(|((t, last), n)| (t - last, Some(n))).collect()
}

fn then(mut script: Script, gap: u32, last: Option<i64>) -> Script {
    script.push((gap, last));
    script
}

fn stamped<T: Clone>(instants: &[u64], xs: &[T]) -> Vec<(u64, T)> {
    assert_eq!(instants.len(), xs.len());
    instants.iter().copied().zip(xs.iter().cloned()).collect()
}

#[test]
fn delay_shifts_every_instant_and_completes_behind_the_last() {
    let late = |d: u32, buffer| move || Flow::of::<i64>().delay(MS * d, buffer);
    check!("delay", 3, at(&[0, 0, 50]), late(100, 16)(), (stamped(&[100, 100, 150], &[0, 1, 2]), Ok(())));
    check!("delay 0", 1, at(&[0, 0, 50]), late(0, 16)(), (stamped(&[0, 0, 50], &[0, 1, 2]), Ok(())));
    check!("delay of nothing", 1, at(&[]), late(100, 4)(), (vec![], Ok(())));
    check!("delay, failed", 3, then(at(&[0, 20]), 40, None), late(50, 16)(), (vec![(50, 0i64)], planned()));
    check!("delay, cancelled", 3, at(&[0, 10, 20]), late(50, 16)().take(1), (vec![(50, 0i64)], Ok(())));
    // A buffer of 2 lets the third in when the first goes.
    let full = Source::range(0..4).delay(MS * 10, 2).map_cx(|cx, n| (cx.now().as_nanos() / 1_000_000, n));
    let (built, done) = full.to(Sink::to_vec(9)).build(1);
    settle(built, 1, 256, 2);
    assert_eq!(done.take(), Some(Ok(stamped(&[10, 10, 20, 20], &[0i64, 1, 2, 3]))));
}

#[test]
fn grouped_within_chunks_by_count_or_time_from_the_first_element() {
    let flow = |n: usize, d: u32| Flow::of::<i64>().grouped_within(n, MS * d);
    // By time from the chunk's first element; the timer starts anew with each chunk.
    let script = || then(at(&[0, 10, 150, 160, 161, 400]), 200, Some(SILENCE));
    check!(
        "grouped_within",
        4,
        script(),
        flow(100, 100),
        (stamped(&[100, 250, 500], &[vec![0, 1], vec![2, 3, 4], vec![5]]), Ok(()))
    );
    check!(
        "grouped_within 2",
        3,
        script(),
        flow(2, 100),
        (stamped(&[10, 160, 261, 500], &[vec![0, 1], vec![2, 3], vec![4], vec![5]]), Ok(()))
    );
    check!(
        "grouped_within at the end",
        5,
        at(&[0, 1, 2]),
        flow(5, 100),
        (stamped(&[2], &[vec![0i64, 1, 2]]), Ok(()))
    );
    check!("grouped_within of nothing", 1, at(&[]), flow(5, 100), (Vec::<(u64, Vec<i64>)>::new(), Ok(())));
    check!(
        "grouped_within, failed",
        5,
        then(at(&[0, 1, 2]), 5, None),
        flow(2, 100),
        (stamped(&[1], &[vec![0i64, 1]]), planned())
    );
    check!(
        "grouped_within, cancelled",
        5,
        script(),
        flow(100, 100).take(1),
        (stamped(&[100], &[vec![0i64, 1]]), Ok(()))
    );
}

#[test]
fn grouped_weighted_within_lets_the_heavy_element_begin_the_next_chunk() {
    let flow = || Flow::of::<i64>().grouped_weighted_within(10, MS * 100, |n| *n as u64);
    let script =
        vec![(0, Some(4)), (10, Some(5)), (10, Some(6)), (10, Some(25)), (10, Some(3)), (300, Some(0))];
    // 4 + 5, then 6 would be too much; 25 is alone; 3 goes by time; 0 counts as 1.
    check!(
        "grouped_weighted_within",
        3,
        script,
        flow(),
        (stamped(&[20, 30, 30, 140, 340], &[vec![4, 5], vec![6], vec![25], vec![3], vec![0]]), Ok(()))
    );
}

#[test]
fn timeouts_fail_at_the_exact_instant_or_never() {
    let quiet = |d| then(at(&[0, 40, 90]), d, Some(SILENCE));
    let numbers = |n: usize| stamped(&[0, 40, 90][..n], &[0i64, 1, 2][..n]);
    let idle = || Flow::of::<i64>().idle_timeout(MS * 60);
    check!("idle", 1, quiet(30), idle(), (numbers(3), Ok(())));
    check!("idle, too long", 1, quiet(70), idle(), (numbers(3), timeout(TimeoutKind::Idle, "idle_timeout")));
    check!(
        "idle from the start",
        1,
        at(&[70]),
        idle(),
        (Vec::<(u64, i64)>::new(), timeout(TimeoutKind::Idle, "idle_timeout"))
    );
    check!("idle, failed", 1, then(at(&[0]), 10, None), idle(), (numbers(1), planned()));
    check!("idle, cancelled", 1, quiet(70), idle().take(2), (numbers(2), Ok(())));
    let initial = |d| Flow::of::<i64>().initial_timeout(MS * d);
    check!("initial", 1, quiet(500), initial(10), (numbers(3), Ok(())));
    check!(
        "initial, too late",
        1,
        at(&[20, 30]),
        initial(10),
        (Vec::<(u64, i64)>::new(), timeout(TimeoutKind::Initial, "initial_timeout"))
    );
    let whole = |d| Flow::of::<i64>().completion_timeout(MS * d);
    check!("completion", 1, quiet(5), whole(100), (numbers(3), Ok(())));
    check!(
        "completion, too late",
        1,
        quiet(20),
        whole(100),
        (numbers(3), timeout(TimeoutKind::Completion, "completion_timeout"))
    );
    check!(
        "backpressure",
        1,
        quiet(500),
        Flow::of::<i64>().backpressure_timeout(MS * 10),
        (numbers(3), Ok(()))
    );
}

#[test]
fn a_timeout_fails_at_the_instant_at_which_it_is_up() {
    let end_of = |stream: Built, bound| settle(stream, 4, 256, bound).now().as_nanos() / 1_000_000;
    let silent = || source(&vec![(500, Some(1))]);
    assert_eq!(end_of(silent().idle_timeout(MS * 60).to(Sink::ignore()).build(1).0, 1), 60);
    assert_eq!(end_of(silent().initial_timeout(MS * 60).to(Sink::ignore()).build(1).0, 1), 60);
    assert_eq!(end_of(silent().completion_timeout(MS * 60).to(Sink::ignore()).build(1).0, 1), 60);
}

#[test]
fn a_slow_consumer_fails_by_backpressure_timeout_and_a_fast_one_does_not() {
    for (work, fails) in [(20u32, false), (49, false), (60, true), (500, true)] {
        let stream = Source::range(0..10)
            .backpressure_timeout(MS * 50)
            .async_boundary_of(1)
            .worked(Time::Constant(MS * work))
            .to(Sink::ignore());
        let (built, done) = stream.build(1);
        settle(built, 2, 256, 1);
        let error =
            StreamError::Timeout { kind: TimeoutKind::Backpressure, node: "backpressure_timeout".into() };
        assert_eq!(done.take(), Some(if fails { Err(error) } else { Ok(10) }), "{work} ms of work");
    }
}

#[test]
fn take_within_and_drop_within_split_a_stream_in_time() {
    let script = || at(&[0, 40, 100, 140]);
    let take = |d| Flow::of::<i64>().take_within(MS * d);
    let drop = |d| Flow::of::<i64>().drop_within(MS * d);
    check!("take_within", 1, script(), take(99), (stamped(&[0, 40], &[0i64, 1]), Ok(())));
    check!("take_within 0", 1, script(), take(0), (Vec::<(u64, i64)>::new(), Ok(())));
    check!(
        "take_within, all",
        1,
        script(),
        take(500),
        (stamped(&[0, 40, 100, 140], &[0i64, 1, 2, 3]), Ok(()))
    );
    check!("take_within, failed", 1, then(at(&[0]), 5, None), take(99), (vec![(0, 0i64)], planned()));
    check!("drop_within", 1, script(), drop(99), (stamped(&[100, 140], &[2i64, 3]), Ok(())));
    check!("drop_within 0", 1, script(), drop(0), (stamped(&[0, 40, 100, 140], &[0i64, 1, 2, 3]), Ok(())));
    check!("drop_within, cancelled", 1, script(), drop(99).take(1), (vec![(100, 2i64)], Ok(())));
}

#[test]
fn keep_alive_fills_silence_and_nothing_else() {
    let flow = || Flow::of::<i64>().keep_alive(MS * 30, || 99);
    check!(
        "keep_alive",
        1,
        then(at(&[0, 20, 100]), 35, Some(SILENCE)),
        flow(),
        (stamped(&[0, 20, 50, 80, 100, 130], &[0, 1, 99, 99, 2, 99]), Ok(()))
    );
    check!(
        "keep_alive, failed",
        1,
        then(at(&[0]), 35, None),
        flow(),
        (stamped(&[0, 30], &[0, 99]), planned())
    );
    check!(
        "keep_alive, cancelled",
        1,
        at(&[200]),
        flow().take(2),
        (stamped(&[30, 60], &[99i64, 99]), Ok(()))
    );
}

/// How long the request of an element takes, in ms.
fn cost(n: i64) -> u32 {
    [30, 10, 20, 5, 40, 0, 15][n as usize % 7]
}

fn call(n: i64) -> Job<i64> {
    Job::After(MS * cost(n), Ok(n))
}

/// The model of requests: at most `p` at a time, begun in order when there is room; gives when each is done.
fn unordered_model(count: i64, p: usize) -> Vec<(u64, i64)> {
    let mut busy: Vec<(u64, u64, i64)> = Vec::new();
    let (mut done, mut now) = (Vec::new(), 0);
    for n in 0..count {
        if busy.len() == p {
            busy.sort_unstable();
            let (t, _, x) = busy.remove(0);
            now = t;
            done.push((t, x));
        }
        busy.push((now + u64::from(cost(n)), n as u64, n));
    }
    busy.sort_unstable();
    done.extend(busy.into_iter().map(|(t, _, x)| (t, x)));
    done
}

#[test]
fn map_async_unordered_emits_each_result_when_it_is_done() {
    for p in [1usize, 2, 3, 7, 20] {
        let model = unordered_model(14, p);
        check!(format!("unordered {p}"), 20, at(&[0; 14]), Flow::of::<i64>().map_async_unordered(p, call), {
            let mut expected = model.clone();
            expected.sort_by_key(|(t, _)| *t);
            (expected, Ok(()))
        });
    }
    let ready = || Flow::of::<i64>().map_async_unordered(3, Job::Ready);
    check!("ready", 3, at(&[0, 5, 5]), ready(), (stamped(&[0, 5, 5], &[0i64, 1, 2]), Ok(())));
    check!("nothing", 3, at(&[]), ready(), (Vec::<(u64, i64)>::new(), Ok(())));
    check!(
        "failed",
        20,
        then(at(&[0; 4]), 12, None),
        Flow::of::<i64>().map_async_unordered(9, call),
        (stamped(&[5, 10], &[3i64, 1]), planned())
    );
    check!(
        "cancelled",
        20,
        at(&[0; 9]),
        Flow::of::<i64>().map_async_unordered(9, call).take(2),
        (stamped(&[0, 5], &[5i64, 3]), Ok(()))
    );
}

#[test]
fn map_async_with_a_window_starts_the_next_while_the_oldest_lasts() {
    let job = |n: i64| Job::After(MS * if n == 0 { 100 } else { 10 }, Ok(n));
    let flow = |p, w| move || Flow::of::<i64>().map_async_window(p, w, job);
    let script = || at(&[0; 6]);
    // Two at a time and no window: 1 waits for 0 with its result. With a window of 4, 1, 2 and 3 are done by 30.
    check!(
        "window p",
        2,
        script(),
        flow(2, 2)(),
        (stamped(&[100, 100, 110, 110, 120, 120], &[0i64, 1, 2, 3, 4, 5]), Ok(()))
    );
    check!(
        "window 4",
        4,
        script(),
        flow(2, 4)(),
        (stamped(&[100, 100, 100, 100, 110, 110], &[0i64, 1, 2, 3, 4, 5]), Ok(()))
    );
    check!(
        "window 1",
        2,
        script(),
        flow(2, 1)(),
        (stamped(&[100, 100, 110, 110, 120, 120], &[0i64, 1, 2, 3, 4, 5]), Ok(()))
    );
}

#[test]
fn map_async_partitioned_runs_one_request_per_key_and_others_overtake() {
    let flow = |p, order| {
        Flow::of::<i64>().map_async_partitioned(p, order, |n: &i64| n % 2, |n| Job::After(MS * 10, Ok(n)))
    };
    // Keys: 0 of 0 2 4, 1 of 1 3. Two at a time, one of each key.
    check!(
        "partitioned",
        5,
        at(&[0; 5]),
        flow(4, Order::Input),
        (stamped(&[10, 10, 20, 20, 30], &[0i64, 1, 2, 3, 4]), Ok(()))
    );
    // One key only is busy for long: the other overtakes, and in input order its results wait.
    let slow = |order| {
        let job = |n: i64| Job::After(MS * if n % 2 == 0 { 50 } else { 10 }, Ok(n));
        Flow::of::<i64>().map_async_partitioned(2, order, |n: &i64| n % 2, job)
    };
    check!(
        "partitioned, any",
        8,
        at(&[0; 6]),
        slow(Order::Any),
        (stamped(&[10, 20, 30, 50, 100, 150], &[1i64, 3, 5, 0, 2, 4]), Ok(()))
    );
    check!(
        "partitioned, input",
        8,
        at(&[0; 6]),
        slow(Order::Input),
        (stamped(&[50, 50, 100, 100, 150, 150], &[0i64, 1, 2, 3, 4, 5]), Ok(()))
    );
    let ready = Flow::of::<i64>().map_async_partitioned(1, Order::Input, |_: &i64| 0, Job::Ready);
    check!("partitioned, ready", 4, at(&[0, 3]), ready.clone(), (stamped(&[0, 3], &[0i64, 1]), Ok(())));
    check!(
        "partitioned, failed",
        4,
        then(at(&[0, 3]), 3, None),
        ready.clone(),
        (stamped(&[0, 3], &[0i64, 1]), planned())
    );
    check!(
        "partitioned, cancelled",
        8,
        at(&[0; 6]),
        slow(Order::Any).take(2),
        (stamped(&[10, 20], &[1i64, 3]), Ok(()))
    );
}

/// The model of `conflate` and `batch` in front of a ring of one and a consumer that takes `work` ms: what it gets, when.
fn summaries(arrivals: &[u64], max: usize, work: u64) -> Vec<(u64, Vec<i64>)> {
    let mut got: Vec<(u64, Vec<i64>)> = Vec::new();
    let mut waiting: Vec<Vec<i64>> = Vec::new();
    let (mut ring, mut free): (Option<Vec<i64>>, u64) = (None, 0);
    let (mut next, mut now) = (0, 0);
    loop {
        // All that can happen now, from downstream.
        if free <= now
            && let Some(xs) = ring.take()
        {
            got.push((now, xs));
            free = now + work;
        } else if ring.is_none() && !waiting.is_empty() {
            ring = Some(waiting.remove(0));
        } else if next < arrivals.len() && arrivals[next] <= now && waiting.len() < 2 {
            match waiting.last_mut() {
                Some(xs) if xs.len() < max => xs.push(next as i64),
                _ => waiting.push(vec![next as i64]),
            }
            next += 1;
        } else if ring.is_none() && waiting.is_empty() && next == arrivals.len() {
            return got;
        } else {
            let arrival = arrivals.get(next).copied().filter(|t| *t > now);
            let times = [arrival, Some(free).filter(|t| *t > now)];
            now = times.into_iter().flatten().min().expect("something will happen");
        }
    }
}

#[test]
fn conflate_and_batch_fold_what_waits_for_a_slow_consumer() {
    let instants: Vec<u32> = (0..40).map(|n| n * 3).collect();
    let arrivals: Vec<u64> = instants.iter().map(|t| u64::from(*t)).collect();
    let fold = |mut xs: Vec<i64>, n: i64| {
        xs.push(n);
        xs
    };
    for max in [1u64, 2, 3, 5, u64::MAX] {
        for work in [1u32, 7, 20, 100] {
            let label = format!("at most {max} each, {work} ms of work");
            let seen: Seen<Vec<i64>> = Arc::default();
            let log = seen.clone();
            let end = Sink::for_each(move |cx, xs| {
                log.lock().unwrap().push((cx.now().as_nanos() / 1_000_000, xs));
                cx.work(MS * work);
            });
            let stream = source(&at(&instants)).batch(max, |n| vec![n], fold).async_boundary_of(1).to(end);
            let (built, done) = stream.build(1);
            settle(built, 2, 256, 2);
            let got = outcome!(seen, done);
            let elements: Vec<i64> = got.0.iter().flat_map(|(_, xs)| xs.clone()).collect();
            assert_eq!(elements, (0..40).collect::<Vec<_>>(), "{label}: none is lost, and in order");
            if max == u64::MAX {
                assert_eq!(got, (summaries(&arrivals, usize::MAX, u64::from(work)), Ok(())), "{label}");
            }
            assert!(got.0.iter().all(|(_, xs)| xs.len() as u64 <= max), "{label}: {got:?}");
        }
    }
    let flow = || Flow::of::<i64>().conflate(|a, b| a + b);
    check!("conflate, fast", 1, at(&[0, 3, 3]), flow(), (stamped(&[0, 3, 3], &[0i64, 1, 2]), Ok(())));
    check!("conflate of nothing", 1, at(&[]), flow(), (Vec::<(u64, i64)>::new(), Ok(())));
    check!("conflate, failed", 1, then(at(&[0]), 1, None), flow(), (vec![(0, 0i64)], planned()));
    check!("conflate, cancelled", 1, at(&[0, 3, 3]), flow().take(1), (vec![(0, 0i64)], Ok(())));
    check!(
        "detach",
        1,
        at(&[0, 3, 3]),
        Flow::of::<i64>().detach(),
        (stamped(&[0, 3, 3], &[0i64, 1, 2]), Ok(()))
    );
}

#[test]
fn debounce_and_sample_emit_the_last_one_and_count_the_others() {
    let script = || then(at(&[0, 10, 20, 100, 105]), 200, Some(SILENCE));
    let quiet = || Flow::of::<i64>().debounce(MS * 30);
    check!("debounce", 1, script(), quiet(), (stamped(&[50, 135], &[2i64, 4]), Ok(())));
    check!("debounce at the end", 1, at(&[0, 10]), quiet(), (vec![(10, 1i64)], Ok(())));
    check!("debounce of nothing", 1, at(&[]), quiet(), (Vec::<(u64, i64)>::new(), Ok(())));
    check!(
        "debounce, failed",
        1,
        then(at(&[0, 10]), 5, None),
        quiet(),
        (Vec::<(u64, i64)>::new(), planned())
    );
    check!("debounce, cancelled", 1, script(), quiet().take(1), (vec![(50, 2i64)], Ok(())));
    let each = || Flow::of::<i64>().sample(MS * 32);
    check!("sample", 1, script(), each(), (stamped(&[32, 128], &[2i64, 4]), Ok(())));
    check!("sample at the end", 1, at(&[0, 10, 40]), each(), (stamped(&[32, 40], &[1i64, 2]), Ok(())));
    check!("sample, failed", 1, then(at(&[0, 10]), 30, None), each(), (vec![(32, 1i64)], planned()));
    check!("sample, cancelled", 1, script(), each().take(1), (vec![(32, 2i64)], Ok(())));
    for quiet in [true, false] {
        let seven = source(&at(&[0, 1, 2, 3, 4, 50, 100]));
        let built = match quiet {
            true => seven.debounce(MS * 10).to(Sink::ignore()).build(1).0,
            false => seven.sample(MS * 10).to(Sink::ignore()).build(1).0,
        };
        let run = settle(built, 1, 256, 1);
        let name = if quiet { "debounce" } else { "sample" };
        let counts = run.snapshot().stage(name).expect("it is there").counts;
        assert_eq!((counts.emitted, counts.dropped.of(DropReason::Overflow)), (3, 4), "{name}");
    }
}

#[test]
fn expand_fills_demand_from_the_last_element_and_passes_none_over() {
    let flow = || Flow::of::<i64>().expand(|n| [n, 10 + n].into_iter());
    check!(
        "expand",
        1,
        then(at(&[5, 20, 30]), 10, Some(SILENCE)),
        flow(),
        (stamped(&[5, 5, 20, 20, 30, 30], &[0i64, 10, 1, 11, 2, 12]), Ok(()))
    );
    check!("expand of nothing", 1, at(&[]), flow(), (Vec::<(u64, i64)>::new(), Ok(())));
    check!("expand, cancelled", 1, at(&[5, 20]), flow().take(2), (stamped(&[5, 5], &[0i64, 10]), Ok(())));
    check!("expand, failed", 1, then(at(&[5]), 7, None), flow(), (stamped(&[5, 5], &[0i64, 10]), planned()));
    let none = Flow::of::<i64>().expand(|n| std::iter::repeat_n(n, usize::from(n != 1)));
    check!("expand to nothing", 1, at(&[1, 2, 3]), none.clone(), (stamped(&[1, 3], &[0i64, 2]), Ok(())));
    let with = Flow::of::<i64>().extrapolate(Some(7), |n| std::iter::once(-2 - n));
    check!(
        "extrapolate",
        1,
        then(at(&[5, 9]), 1, Some(SILENCE)),
        with.clone(),
        (stamped(&[0, 0, 5, 5, 9, 9], &[7i64, -9, 0, -2, 1, -3]), Ok(()))
    );
    // A fast upstream is not expanded, and a slow downstream gets every element.
    let fast = Source::range(0..100).extrapolate(None, std::iter::repeat).async_boundary_of(1);
    let (built, done) = fast.worked(Time::Constant(MS)).to(Sink::to_vec(999)).build(1);
    settle(built, 2, 256, 1);
    assert_eq!(done.take(), Some(Ok((0..100).collect())));
    on_each_dispatcher(|system| {
        let endless = Source::feed(1, OverflowStrategy::Fail).expect("a good size");
        let _ = endless.0.offer(3i64);
        let (done, _) =
            endless.1.expand(std::iter::repeat).take(50).to(Sink::to_vec(99)).run(system).expect("it starts");
        assert_eq!(system.block_on(done), Ok(vec![3; 50]));
    });
}

#[test]
fn a_dear_element_is_a_batch_of_its_own() {
    let log = |xs: Vec<i64>, n| [xs, vec![n]].concat();
    let stream = Source::from_iter([1i64, 2, 9, 50, 3, 4])
        .batch_weighted(10, |n| *n as u64, |n| vec![n], log)
        .async_boundary_of(1)
        .worked(Time::Constant(MS))
        .to(Sink::to_vec(9));
    let (built, done) = stream.build(1);
    settle(built, 2, 256, 2);
    assert_eq!(done.take(), Some(Ok(vec![vec![1], vec![2], vec![9], vec![50], vec![3, 4]])));
}

#[test]
fn detach_has_the_next_element_ready() {
    let (built, done) = source(&at(&[10, 20, 30]))
        .detach()
        .async_boundary_of(1)
        .worked(Time::Constant(MS * 25))
        .to(Sink::ignore())
        .build(1);
    let run = settle(built, 2, 256, 1);
    assert_eq!((run.now().as_nanos() / 1_000_000, done.take()), (10 + 3 * 25, Some(Ok(3))));
}

#[test]
fn all_of_them_keep_every_element_on_every_dispatcher() {
    on_each_dispatcher(|system| {
        let stream = Source::range(0..200)
            .map_async_unordered(8, |n| match n % 3 {
                0 => Job::Ready(n),
                1 => Job::task(move |_| Ok(n)),
                _ => Job::After(Duration::from_micros(20), Ok(n)),
            })
            .async_boundary_of(4)
            .map_async_partitioned(
                4,
                Order::Any,
                |n| n % 5,
                |n| Job::future(async move { Ok::<_, String>(n) }),
            )
            .detach()
            .idle_timeout(Duration::from_secs(60))
            .completion_timeout(Duration::from_secs(60))
            .backpressure_timeout(Duration::from_secs(60))
            .delay(Duration::from_micros(30), 64)
            .async_boundary_of(1)
            .grouped_within(7, Duration::from_micros(50))
            .batch(3, |xs| xs, |a, b| [a, b].concat())
            .async_boundary()
            .conflate(|a, b| [a, b].concat())
            .to(Sink::to_vec(1_000));
        let (done, _) = stream.run(system).expect("it starts");
        let mut got = system.block_on(done).expect("no timeout").concat();
        got.sort_unstable();
        assert_eq!(got, (0..200).collect::<Vec<_>>());
    });
}

fn set(pairs: &[(&str, Value)]) -> Params {
    pairs.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect()
}

/// Runs a drawn chain `range → map_async(1) of 10 ms → kind → sink`, cut or not, and gives what comes with its ms.
fn drawn(kind: &str, params: Params, count: i64) -> Outcome<Value> {
    let mut outcomes: Vec<Outcome<Value>> = Vec::new();
    for cut in [false, true] {
        for budget in [1, 256] {
            let seen: Seen<Value> = Arc::default();
            let one = set(&[("parallelism", Value::from(1))]);
            let mut chain = Chain::new().op("in", "range", set(&[("count", Value::from(count))])).op(
                "pace",
                "map_async",
                one,
            );
            for (i, op) in [kind].into_iter().enumerate() {
                if cut {
                    chain = chain.op(&format!("cut{i}"), "async_boundary", Params::new());
                }
                chain = chain.op("it", op, params.clone());
                if cut {
                    chain = chain.op(&format!("behind{i}"), "async_boundary", Params::new());
                }
            }
            let log = seen.clone();
            let chain = chain.tell(
                "out",
                move |cx, x| log.lock().unwrap().push((cx.now().as_nanos() / 1_000_000, x)),
                |_, _| {},
            );
            let (built, done) = chain.build(3).expect("it is well drawn");
            settle(built, 2, budget, 1_000);
            outcomes.push(outcome!(seen, done));
        }
    }
    assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]), "{kind}: {outcomes:?}");
    outcomes.remove(0)
}

#[test]
fn drawn_they_do_the_same() {
    let numbers = |pairs: &[(u64, i64)]| pairs.iter().map(|(t, n)| (*t, Value::from(*n))).collect::<Vec<_>>();
    let num = Value::Num;
    let plain = numbers(&[(10, 0), (20, 1), (30, 2)]);
    for (kind, params) in [
        ("conflate", set(&[("op", "max".into())])),
        ("batch", set(&[("max", Value::from(2)), ("op", "last".into())])),
        ("detach", Params::new()),
        ("idle_timeout", set(&[("timeout_ms", num(15.0))])),
        ("initial_timeout", set(&[("timeout_ms", num(15.0))])),
        ("completion_timeout", set(&[("timeout_ms", num(35.0))])),
        ("backpressure_timeout", set(&[("timeout_ms", num(5.0))])),
    ] {
        assert_eq!(drawn(kind, params, 3), (plain.clone(), Ok(())), "{kind}");
    }
    let failing = |kind| drawn(kind, set(&[("timeout_ms", num(5.0))]), 3);
    assert_eq!(failing("idle_timeout"), (vec![], timeout(TimeoutKind::Idle, "it")));
    assert_eq!(failing("initial_timeout"), (vec![], timeout(TimeoutKind::Initial, "it")));
    assert_eq!(failing("completion_timeout"), (vec![], timeout(TimeoutKind::Completion, "it")));
    let later = drawn("delay", set(&[("delay_ms", num(7.0)), ("buffer", Value::from(4))]), 3);
    assert_eq!(later, (numbers(&[(17, 0), (27, 1), (37, 2)]), Ok(())));
    let taken = drawn("take_within", set(&[("within_ms", num(25.0))]), 3);
    assert_eq!(taken, (numbers(&[(10, 0), (20, 1)]), Ok(())));
    let dropped = drawn("drop_within", set(&[("within_ms", num(25.0))]), 3);
    assert_eq!(dropped, (numbers(&[(30, 2)]), Ok(())));
    let alive = drawn("keep_alive", set(&[("silence_ms", num(6.0)), ("value", Value::from(-5))]), 2);
    assert_eq!(alive, (numbers(&[(6, -5), (10, 0), (16, -5), (20, 1)]), Ok(())));
    let groups = drawn("grouped_within", set(&[("n", Value::from(5)), ("within_ms", num(15.0))]), 3);
    let list = |xs: &[i64]| Value::List(xs.iter().map(|n| Value::from(*n)).collect());
    assert_eq!(groups, (vec![(25, list(&[0, 1])), (30, list(&[2]))], Ok(())));
    let twice = drawn("extrapolate", set(&[("times", Value::from(1))]), 2);
    assert_eq!(twice, (numbers(&[(10, 0), (10, 0), (20, 1)]), Ok(())));
    let last = drawn("debounce", set(&[("quiet_ms", num(15.0))]), 3);
    assert_eq!(last, (numbers(&[(30, 2)]), Ok(())));
    let each = drawn("sample", set(&[("every_ms", num(15.0))]), 3);
    assert_eq!(each, (numbers(&[(15, 0), (30, 1), (30, 2)]), Ok(())));
    for kind in ["map_async_unordered", "map_async_partitioned"] {
        let four = set(&[("parallelism", Value::from(4)), ("mean_ms", num(7.0))]);
        assert_eq!(drawn(kind, four, 3), (numbers(&[(17, 0), (27, 1), (37, 2)]), Ok(())), "{kind}");
    }
    let any = set(&[("order", "any".into()), ("keys", Value::from(2)), ("fail_every", Value::from(3))]);
    let failed = StreamError::Stage { node: "it".into(), text: "request 3 failed".into() };
    assert_eq!(drawn("map_async_partitioned", any, 5), (numbers(&[(20, 0), (30, 1)]), Err(failed)));
}

#[test]
fn random_drawn_chains_of_them_keep_every_element_in_order() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let count = rng.below(60) as i64;
        let mut chain = Chain::new().op("in", "range", set(&[("count", Value::from(count))]));
        for i in 0..rng.below(8) {
            let (some, few) = (Value::from(1 + rng.below(9) as i64), Value::from(1 + rng.below(3) as i64));
            let spread = ("service", "exponential".into());
            let (kind, params) = match rng.below(8) {
                0 => ("delay", set(&[("delay_ms", Value::Num(rng.below(30) as f64)), ("buffer", some)])),
                1 => ("detach", Params::new()),
                2 => ("map_async_partitioned", set(&[("parallelism", some), ("keys", few), spread])),
                3 => ("batch", set(&[("max", Value::from(1))])),
                4 => ("backpressure_timeout", set(&[("timeout_ms", Value::Num(1e9))])),
                5 => ("map_async", set(&[("parallelism", some), ("uses", "work".into()), spread])),
                6 => ("buffer", set(&[("size", some)])),
                _ => ("async_boundary", set(&[("capacity", some)])),
            };
            chain = chain.op(&format!("s{i}"), kind, params);
        }
        let seen: Seen<i64> = Arc::default();
        let log = seen.clone();
        let push = move |_: &mut footlights::stream::Cx, x: Value| {
            log.lock().unwrap().push((0, x.as_int().expect("a whole number")));
        };
        let (built, done) = chain.tell("out", push, |_, _| {}).build(seed).expect("it is well drawn");
        settle(built, 1 + rng.below(3) as usize, 1 + rng.below(20) as usize, 64);
        let numbers: Vec<i64> = seen.lock().unwrap().iter().map(|(_, n)| *n).collect();
        assert_eq!(
            (numbers, done.take().map(|end| end.is_ok())),
            ((0..count).collect(), Some(true)),
            "seed {seed}"
        );
    }
}

#[test]
fn drawn_parameters_have_bounds() {
    for (kind, key, bad) in [
        ("delay", "buffer", Value::from(0)),
        ("delay", "delay_ms", Value::Num(-1.0)),
        ("grouped_within", "n", Value::from(0)),
        ("batch", "max", Value::from(0)),
        ("idle_timeout", "timeout_ms", Value::Num(0.0)),
        ("keep_alive", "silence_ms", Value::Num(0.0)),
        ("map_async_partitioned", "keys", Value::from(0)),
        ("map_async_unordered", "parallelism", Value::from(0)),
        ("conflate", "op", "mean".into()),
    ] {
        let chain = Chain::new().op("a", "range", Params::new()).op("b", kind, set(&[(key, bad)]));
        assert!(chain.op("c", "ignore", Params::new()).build(1).is_err(), "{kind}.{key}");
    }
}

#[test]
fn live_changes_take_effect() {
    let chain = Chain::new()
        .op("in", "tick", set(&[("interval_ms", Value::Num(10.0))]))
        .op("late", "delay", set(&[("delay_ms", Value::Num(1_000.0))]))
        .op("chunks", "grouped_within", set(&[("n", Value::from(100)), ("within_ms", Value::Num(50.0))]))
        .op("alive", "keep_alive", set(&[("silence_ms", Value::Num(5_000.0))]))
        .op("idle", "idle_timeout", set(&[("timeout_ms", Value::Num(10_000.0))]))
        .op("end", "ignore", Params::new());
    on_steppers(|system| {
        let (done, handle) = chain.run_with(system, &Default::default()).expect("it starts");
        let emitted = |name| handle.snapshot().stage(name).expect("it is there").counts.emitted;
        system.run_for(MS * 900);
        assert_eq!(emitted("late"), 0);
        handle.set("late", "delay_ms", Value::Num(0.0)).expect("it is live");
        handle.set("chunks", "n", Value::from(1)).expect("it is live");
        system.run_for(MS * 1_000);
        let chunks = emitted("chunks");
        assert!(chunks > 50, "{chunks}");
        handle.set("in", "interval_ms", Value::Num(1e9)).expect("it is live");
        handle.set("alive", "silence_ms", Value::Num(100.0)).expect("it is live");
        system.run_for(MS * 20_000);
        assert!(emitted("alive") > emitted("chunks") + 100);
        handle.set("alive", "silence_ms", Value::Num(1e9)).expect("it is live");
        handle.set("idle", "timeout_ms", Value::Num(30_000.0)).expect("it is live");
        system.run_for(MS * 60_000);
        assert_eq!(
            done.take(),
            Some(Err(StreamError::Timeout { kind: TimeoutKind::Idle, node: "idle".into() }))
        );
    });
}

#[test]
fn an_overflowing_buffer_behind_a_delay_counts_what_it_drops() {
    let stream = source(&at(&[0; 20]))
        .delay(MS * 5, 20)
        .buffer(4, OverflowStrategy::DropHead)
        .async_boundary_of(1)
        .worked(Time::Constant(MS * 10))
        .to(Sink::to_vec(20));
    let (built, done) = stream.build(1);
    let run = settle(built, 2, 256, 20);
    let dropped = run.snapshot().stage("buffer").expect("it is there").counts.dropped.total();
    assert_eq!(done.take().expect("it has ended").expect("it has not failed").len() as u64 + dropped, 20);
    assert!(dropped > 0);
}
