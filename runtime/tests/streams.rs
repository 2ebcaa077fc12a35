//! What streams promise, on the engine alone: ends, bounds, ledgers, virtual time. The list model of each operator is in
//! `streams_operators.rs`, the same promises on actors in `streams_on_actors.rs`.

use std::time::Duration;

use footlights::id::StreamId;
use footlights::stream::{
    Built, Chain, DropReason, Feed, Job, LocalRun, Offered, Operators, OverflowStrategy, Params, Rate, Sink,
    Source, StreamError, StreamHandle, StreamSnapshot, ThrottleMode, Time, Value,
};
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);

fn spin(ms: u32) -> Time {
    Time::Constant(MS * ms)
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Runs a stream to its end on `workers`, checking all ledgers and bounds after every step.
fn run(built: Built, workers: usize) -> (LocalRun, StreamSnapshot) {
    let mut run = LocalRun::new(built, workers);
    let mut steps = 0;
    while run.step() {
        steps += 1;
        if steps < 2_000 {
            check(&run.snapshot());
        }
    }
    let end = run.snapshot();
    check(&end);
    assert_eq!(run.pending(), 0, "timers or requests are left");
    (run, end)
}

fn check(snapshot: &StreamSnapshot) {
    for stage in snapshot.stages.iter().filter(|s| s.counted) {
        assert!(stage.counts.balanced(), "{}: {:?}", stage.name, stage.counts);
        assert!(stage.counts.resting <= 1, "{}: a fused edge holds more than 1", stage.name);
    }
    for edge in &snapshot.edges {
        assert!(edge.high_water <= edge.capacity, "{edge:?} held more than it may");
        assert_eq!(edge.pushed, edge.taken + edge.fill + edge.dropped, "{edge:?}");
    }
    for pair in snapshot.stages.windows(2) {
        let (up, down) = (&pair[0], &pair[1]);
        if up.counted && down.counted && up.island == down.island {
            let (up, down) = (&up.counts, &down.counts);
            assert_eq!(up.emitted, down.taken + up.resting + up.lost_on_edge, "{:?}", pair);
        }
    }
}

fn params(pairs: &[(&str, Value)]) -> Params {
    pairs.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect()
}

#[test]
fn e1_a_boundary_between_two_spins_doubles_the_speed_on_two_workers() {
    let fused = Source::range(0..1000).worked(spin(10)).worked(spin(10)).to(Sink::ignore());
    let cut = Source::range(0..1000).worked(spin(10)).async_boundary().worked(spin(10)).to(Sink::ignore());
    for (workers, fused_ms, cut_ms) in [(2, 20_000, 10_010), (1, 20_000, 20_000)] {
        let (built, done) = fused.build(1);
        assert_eq!(run(built, workers).0.now(), at(fused_ms));
        assert_eq!(done.take(), Some(Ok(1000)));
        let (built, done) = cut.build(1);
        assert_eq!(run(built, workers).0.now(), at(cut_ms));
        assert_eq!(done.take(), Some(Ok(1000)));
    }
}

#[test]
fn e1_holds_for_a_drawn_chain_at_any_batch() {
    let stage = params(&[("work_ms", Value::from(10.0))]);
    let chain = |boundary: bool| {
        Chain::new()
            .op("numbers", "range", params(&[("count", Value::from(1000))]))
            .op("first", "map", stage.clone())
            .op("cut", "async_boundary", params(&[("enabled", Value::from(boundary))]))
            .op("second", "map", stage.clone())
            .op("count", "fold", params(&[("op", Value::from("count"))]))
    };
    for (boundary, ms) in [(false, 20_000), (true, 10_010)] {
        for batch in [1, 256] {
            let (built, done) = chain(boundary).build(1).unwrap();
            let mut run = LocalRun::new(built, 2).budget(batch);
            run.run();
            assert_eq!(run.now(), at(ms), "boundary {boundary}, batch {batch}");
            assert_eq!(done.take(), Some(Ok(Value::from(1000))));
            check(&run.snapshot());
        }
    }
}

#[test]
fn a_blocking_stage_takes_its_worker_as_long_as_a_working_one() {
    let blocks = Source::range(0..100).map_cx(|cx, n| {
        cx.block(MS * 10);
        n
    });
    let (built, _) = blocks.to(Sink::ignore()).build(1);
    assert_eq!(run(built, 4).0.now(), at(1_000));
}

#[test]
fn a_slow_sink_never_holds_more_than_the_declared_buffers() {
    for capacity in [1usize, 2, 5, 16, 64] {
        let stream = Source::range(0..500)
            .async_boundary_of(capacity)
            .buffer(7, OverflowStrategy::Backpressure)
            .worked(spin(3))
            .to(Sink::ignore());
        let (built, _) = stream.build(1);
        let mut run = LocalRun::new(built, 2);
        let declared = capacity.next_power_of_two() as u64 + 7 + 1 + 2;
        while run.step() {
            let s = run.snapshot();
            let inside: u64 = s.stages.iter().map(|s| s.counts.held + s.counts.resting).sum();
            assert!(inside + s.edges[0].fill <= declared, "{inside} + {} of {declared}", s.edges[0].fill);
        }
        check(&run.snapshot());
        assert_eq!(run.snapshot().edges[0].taken, 500);
    }
}

#[test]
fn a_capacity_is_rounded_up_and_shown() {
    let (built, _) = Source::range(0..1).async_boundary_of(5).to(Sink::ignore()).build(1);
    assert_eq!(LocalRun::new(built, 1).snapshot().edges[0].capacity, 8);
}

#[test]
fn an_externally_fed_source_starves_at_no_capacity() {
    for capacity in 1..=64 {
        let (feed, source) = Source::feed(1, OverflowStrategy::DropNew).unwrap();
        let stream = source.async_boundary_of(capacity).async_boundary_of(capacity).to(Sink::ignore());
        let (built, done) = stream.build(1);
        let mut run = LocalRun::new(built, 2);
        for n in 0..200 {
            assert_eq!(feed.offer(n), Offered::Enqueued, "element {n} at capacity {capacity}");
            run.run();
        }
        feed.complete();
        run.run();
        assert_eq!(done.take(), Some(Ok(200)));
    }
}

#[test]
fn completion_arrives_behind_the_last_element_through_rings_and_buffers() {
    let stream = Source::range(0..100)
        .buffer(10, OverflowStrategy::Backpressure)
        .async_boundary_of(4)
        .grouped(7)
        .async_boundary_of(1)
        .to(Sink::to_vec(100));
    let (built, done) = stream.build(1);
    run(built, 3);
    let groups = done.take().unwrap().unwrap();
    assert_eq!(groups.concat(), (0..100).collect::<Vec<_>>());
    assert_eq!(groups.last().unwrap(), &[98, 99]);
}

#[test]
fn a_failure_stays_behind_what_is_in_a_ring_and_cancels_upstream_at_once() {
    let stream = Source::range(0..1000)
        .async_boundary()
        .try_map(|n| if n == 20 { Err("twenty") } else { Ok(n) })
        .async_boundary_of(32)
        .to(Sink::for_each(|_, _| {}));
    let (built, done) = stream.build(1);
    let (run, end) = run(built, 3);
    assert!(run.ended());
    let error = StreamError::Stage { node: "try_map".into(), text: "twenty".into() };
    assert_eq!(done.take(), Some(Err(error)));
    assert_eq!(end.stage("for_each").unwrap().counts.taken, 20, "all elements before the failure arrive");
    assert!(end.edges[0].pushed < 64, "upstream was cancelled: {:?}", end.edges[0]);
}

#[test]
fn a_cancel_carries_its_cause_upstream_across_boundaries() {
    let stream = Source::range(0..1_000_000).async_boundary().async_boundary().take(3).to(Sink::to_vec(9));
    let (built, done) = stream.build(1);
    let (run, end) = run(built, 2);
    assert!(run.ended());
    assert_eq!(done.take(), Some(Ok(vec![0, 1, 2])));
    assert!(end.edges.iter().all(|e| e.fill == 0), "what was in the rings is counted as dropped: {end:?}");
    assert!(end.edges.iter().map(|e| e.dropped).sum::<u64>() > 0);
}

#[test]
fn take_zero_and_empty_sources_complete_at_once() {
    let (built, done) = Source::range(0..10).take(0).to(Sink::to_vec(9)).build(1);
    run(built, 1);
    assert_eq!(done.take(), Some(Ok(vec![])));
    let (built, done) = Source::range(0..0).async_boundary().grouped(3).to(Sink::to_vec(9)).build(1);
    run(built, 1);
    assert_eq!(done.take(), Some(Ok(vec![])));
}

#[test]
fn x1_a_failed_request_fails_the_stream_in_every_order_of_completion() {
    for seed in 0..100u64 {
        let letters = Source::range(0..7).map_async(5, move |n| {
            let d = MS * (footlights::rng::Rng::new(seed * 7 + n as u64).below(20) as u32);
            Job::After(d, if n == 1 { Err("b failed".into()) } else { Ok(n) })
        });
        let (built, done) = letters.to(Sink::to_vec(9)).build(seed);
        run(built, 2);
        let error = StreamError::Stage { node: "map_async".into(), text: "b failed".into() };
        assert_eq!(done.take(), Some(Err(error)), "seed {seed}");
    }
}

#[test]
fn x1_a_request_that_fails_at_once_waits_for_nobody() {
    let (feed, source) = Source::feed(8, OverflowStrategy::Fail).unwrap();
    let (built, done) = source
        .map_async(4, |n: i64| if n == 1 { Job::After(MS, Err("no".into())) } else { Job::Ready(n) })
        .to(Sink::ignore())
        .build(1);
    let mut run = LocalRun::new(built, 1);
    assert_eq!(feed.offer(1), Offered::Enqueued);
    run.run();
    assert!(done.take().unwrap().is_err());
    assert!(run.now() < at(100));
    assert_eq!(feed.offer(2), Offered::Closed, "upstream was cancelled");
    assert_eq!(run.pending(), 0);
}

#[test]
fn x1_failure_and_completion_in_one_turn_is_a_failure() {
    let both = Source::range(0..1).map_async(1, |_| Job::<i64>::Failed("last".into()));
    let (built, done) = both.to(Sink::ignore()).build(1);
    run(built, 1);
    assert!(done.take().unwrap().is_err());
}

#[test]
fn requests_refill_while_downstream_does_not_ask() {
    let stream = Source::range(0..8)
        .map_async(4, |n| Job::After(MS * 10, Ok(n)))
        .async_boundary_of(1)
        .worked(spin(40))
        .to(Sink::to_vec(99));
    let (built, done) = stream.build(1);
    let (run, _) = run(built, 2);
    assert_eq!(done.take(), Some(Ok((0..8).collect())));
    assert_eq!(run.now(), at(10 + 8 * 40));
}

#[test]
fn e2_e4_e5_tasks_take_workers_and_timers_take_none() {
    let task = |n: i64| {
        Job::task(move |effort| {
            effort.work(MS * 10);
            Ok(n)
        })
    };
    let time = |p: usize, workers: usize| {
        let (built, done) = Source::range(0..1000).map_async(p, task).to(Sink::ignore()).build(1);
        let (run, _) = run(built, workers);
        assert_eq!(done.take(), Some(Ok(1000)));
        run.now()
    };
    for (p, ms) in [(1, 10_000), (2, 5_000), (4, 2_500), (8, 2_500)] {
        assert_eq!(time(p, 4), at(ms), "parallelism {p}");
    }
    let twice = Source::range(0..1000).map_async(1, task).map_async(1, task).to(Sink::ignore());
    assert_eq!(run(twice.build(1).0, 2).0.now(), at(10_010));
    let timers = Source::range(0..1000).map_async(1000, |n| Job::After(MS * 100, Ok(n))).to(Sink::ignore());
    assert_eq!(run(timers.build(1).0, 1).0.now(), at(100));
}

#[test]
fn overflow_strategies_drop_what_their_names_say() {
    use OverflowStrategy::*;
    let table: [(OverflowStrategy, &[i64], u64); 4] = [
        (DropHead, &[3, 4, 5], 2),
        (DropTail, &[1, 2, 5], 2),
        (DropBuffer, &[4, 5], 3),
        (DropNew, &[1, 2, 3], 2),
    ];
    for (strategy, kept, lost) in table {
        let (feed, source) = Source::feed(3, strategy).unwrap();
        (1..=5).for_each(|n| {
            let _ = feed.offer(n);
        });
        feed.complete();
        let (built, done) = source.to(Sink::to_vec(9)).build(1);
        let (_, end) = run(built, 1);
        assert_eq!(done.take(), Some(Ok(kept.to_vec())), "{strategy:?}");
        let dropped = end.stage("feed").unwrap().counts.dropped;
        assert_eq!(dropped.of(DropReason::Overflow), lost, "{strategy:?}");
    }
    let (feed, source) = Source::feed(3, Fail).unwrap();
    let answers: Vec<_> = (1..=5).map(|n| feed.offer(n)).collect();
    assert_eq!(answers[2..], [Offered::Enqueued, Offered::Failed, Offered::Closed]);
    let (built, done) = source.to(Sink::to_vec(9)).build(1);
    run(built, 1);
    assert_eq!(done.take(), Some(Err(StreamError::BufferOverflow { node: "feed".into(), capacity: 3 })));
    assert!(Feed::<i64>::new(3, Backpressure).is_err());
}

#[test]
fn a_buffer_in_front_of_a_slow_island_drops_by_its_strategy_and_counts() {
    use OverflowStrategy::*;
    for strategy in [Backpressure, DropHead, DropTail, DropBuffer, DropNew] {
        let stream = Source::tick(MS, MS, 1)
            .take(100)
            .buffer(4, strategy)
            .async_boundary_of(2)
            .worked(spin(10))
            .to(Sink::ignore());
        let (built, done) = stream.build(1);
        let (_, end) = run(built, 2);
        let arrived = done.take().unwrap().unwrap();
        let buffer = end.stage("buffer").unwrap().counts;
        let dropped = buffer.dropped.of(DropReason::Overflow);
        assert_eq!(arrived + dropped, 100, "{strategy:?}: {buffer:?}");
        assert_eq!(dropped > 0, strategy != Backpressure, "{strategy:?}");
        assert!(buffer.high_water <= 4);
    }
    let stream =
        Source::tick(MS, MS, 1).buffer(4, Fail).async_boundary_of(2).worked(spin(50)).to(Sink::ignore());
    let (built, done) = stream.build(1);
    run(built, 2);
    assert_eq!(done.take(), Some(Err(StreamError::BufferOverflow { node: "buffer".into(), capacity: 4 })));
}

#[test]
fn a_tick_without_demand_is_dropped_and_counted() {
    let stream = Source::tick(MS, MS, 1).take(5).worked(spin(10)).to(Sink::ignore());
    let (built, done) = stream.build(1);
    let (_, end) = run(built, 1);
    assert_eq!(done.take(), Some(Ok(5)));
    let tick = end.stage("tick").unwrap().counts;
    assert!(tick.dropped.of(DropReason::NoDemand) >= 30, "{tick:?}");
}

#[test]
fn x8_throttle_gives_a_burst_after_idle_time_and_then_the_rate() {
    let (feed, source) = Source::feed(300, OverflowStrategy::Fail).unwrap();
    let rate = Rate::new(10, Duration::from_secs(1)).burst(5);
    let stream =
        source.throttle(rate, ThrottleMode::Shaping).to(Sink::fold(Vec::new(), |mut all, n: i64| {
            all.push(n);
            all
        }));
    let (built, done) = stream.build(1);
    let mut run = LocalRun::new(built, 1);
    let passed = |run: &LocalRun| run.snapshot().stage("throttle").unwrap().counts.emitted;
    run.run_until(at(60_000));
    (0..100).for_each(|n| assert_eq!(feed.offer(n), Offered::Enqueued));
    run.run_until(at(60_000));
    assert_eq!(passed(&run), 5, "the burst goes at once");
    run.run_until(at(60_099));
    assert_eq!(passed(&run), 5);
    run.run_until(at(60_100));
    assert_eq!(passed(&run), 6);
    run.run_until(at(61_000));
    assert_eq!(passed(&run), 15, "no window of 1 s holds more");
    run.run_until(at(69_499));
    assert_eq!(passed(&run), 99);
    run.run_until(at(69_500));
    assert_eq!(passed(&run), 100);
    run.run_until(at(200_000));
    (0..100).for_each(|n| assert_eq!(feed.offer(n), Offered::Enqueued));
    run.run_until(at(200_000));
    assert_eq!(passed(&run), 105, "a second idle gives 5 again, not 10");
    feed.complete();
    run.run();
    let all = done.take().unwrap().unwrap();
    assert_eq!(all, (0..100).chain(0..100).collect::<Vec<_>>(), "order is kept");
}

#[test]
fn x8_high_rates_hold_over_ten_seconds() {
    for per_second in [500u64, 1000] {
        let rate = Rate::new(per_second, Duration::from_secs(1));
        let stream = Source::range(0..i64::MAX).throttle(rate, ThrottleMode::Shaping).to(Sink::ignore());
        let mut run = LocalRun::new(stream.build(1).0, 1);
        run.run_until(at(10_000));
        let passed = run.snapshot().stage("throttle").unwrap().counts.emitted;
        assert!((per_second * 10..=per_second * 10 + rate.burst).contains(&passed), "{passed}");
    }
}

#[test]
fn x8_costs_free_dear_and_enforced() {
    let rate = Rate::new(10, Duration::from_secs(1)).burst(5);
    let costs = [0u64, 0, 0, 10, 1];
    let stream = Source::from_iter(costs)
        .throttle_by(rate, ThrottleMode::Shaping, |cost| *cost)
        .map_cx(|cx, _| cx.now())
        .to(Sink::to_vec(9));
    let (built, done) = stream.build(1);
    run(built, 1);
    assert_eq!(
        done.take(),
        Some(Ok(vec![at(0), at(0), at(0), at(0), at(600)])),
        "10 leave a debt of 5, 1 more waits"
    );
    let enforced = |n: i64| {
        let stream = Source::range(0..n).throttle(rate, ThrottleMode::Enforcing).to(Sink::ignore());
        let (built, done) = stream.build(1);
        run(built, 1);
        done.take().unwrap()
    };
    assert_eq!(enforced(5), Ok(5));
    assert_eq!(enforced(6), Err(StreamError::RateExceeded { node: "throttle".into() }));
}

#[test]
fn stop_completes_and_abort_fails_wherever_the_stream_is() {
    for abort in [false, true] {
        let stream = Source::range(0..i64::MAX)
            .map_async(4, |n| Job::After(MS * 7, Ok(n)))
            .async_boundary()
            .throttle(Rate::new(100, Duration::from_secs(1)), ThrottleMode::Shaping)
            .to(Sink::ignore());
        let (built, done) = stream.build(1);
        let handle = StreamHandle::new(StreamId(1), &built);
        let mut run = LocalRun::new(built, 2);
        run.run_until(at(1_000));
        if abort {
            handle.abort("enough");
        } else {
            handle.stop();
        }
        run.run();
        assert!(run.ended());
        assert_eq!(run.pending(), 0);
        check(&handle.snapshot());
        match done.take().unwrap() {
            Ok(n) => assert!(!abort && n > 100),
            Err(e) => assert!(abort && e == StreamError::Killed("enough".into())),
        }
    }
}

#[test]
fn live_changes_reach_their_stage() {
    let chain = Chain::new()
        .op("numbers", "range", params(&[("count", Value::from(1_000_000))]))
        .op("cut", "async_boundary", Params::new())
        .op("slow", "map", params(&[("work_ms", Value::from(10.0))]))
        .op("end", "ignore", Params::new());
    let (built, _done) = chain.build(1).unwrap();
    let handle = StreamHandle::new(StreamId(1), &built);
    let mut run = LocalRun::new(built, 2);
    run.run_until(at(1_000));
    let before = handle.snapshot().stage("end").unwrap().counts.taken;
    assert!((99..=100).contains(&before), "{before}");
    handle.set("slow", "work_ms", Value::from(1.0)).unwrap();
    handle.set("cut", "capacity", Value::from(64)).unwrap();
    assert!(handle.set("nobody", "x", Value::Unit).is_err());
    run.run_until(at(2_000));
    let after = handle.snapshot().stage("end").unwrap().counts.taken - before;
    assert!((980..=1000).contains(&after), "{after}");
    assert_eq!(handle.snapshot().edge("cut").unwrap().capacity, 64);
}

#[test]
fn a_live_change_to_what_is_no_time_is_refused_and_names_its_field() {
    let chain = Chain::new()
        .op("ticks", "tick", params(&[("interval_ms", Value::from(1.0))]))
        .op("slow", "map", params(&[("work_ms", Value::from(0.0))]))
        .op("limit", "throttle", params(&[("n", Value::from(1_000))]))
        .op("ask", "map_async", Params::new())
        .op("end", "ignore", Params::new());
    let (built, _done) = chain.build(1).unwrap();
    let handle = StreamHandle::new(StreamId(1), &built);
    let mut run = LocalRun::new(built, 2);
    let fields = [
        ("ticks", "interval_ms"),
        ("slow", "work_ms"),
        ("slow", "block_ms"),
        ("limit", "per_ms"),
        ("ask", "mean_ms"),
    ];
    for (stage, key) in fields {
        for bad in [1e300, f64::MAX, f64::INFINITY, f64::NAN, -1.0] {
            let error = handle.set(stage, key, Value::from(bad)).expect_err(key);
            assert_eq!((error.key.as_str(), error.reason.contains("no time")), (key, true));
        }
        assert!(handle.set(stage, key, Value::from("soon")).is_err());
    }
    run.run_until(at(100));
    assert!(handle.snapshot().stage("end").unwrap().counts.taken > 10, "it runs as before");
    fields.iter().for_each(|(stage, key)| handle.set(stage, key, Value::from(1e12)).unwrap());
    handle.set("limit", "burst", Value::from(i64::MAX)).unwrap();
    run.run_until(at(1_000));
}

#[test]
fn a_chain_names_everything_that_is_wrong_with_it() {
    let chain = Chain::new()
        .op("a", "map", params(&[("op", Value::from("nonsense")), ("colour", Value::from(1))]))
        .op("b", "no_such", Params::new())
        .op("b", "buffer", params(&[("size", Value::from(0))]))
        .op("c", "range", Params::new())
        .op("d", "throttle", params(&[("per_ms", Value::from(f64::NAN))]));
    let errors: Vec<String> = chain.check().iter().map(ToString::to_string).collect();
    for part in [
        "two nodes",
        "nonsense",
        "colour",
        "no_such",
        "size: 0",
        "begin with a source",
        "c: it cannot stand",
        "per_ms: NaN",
        "end with a sink",
    ] {
        assert!(errors.iter().any(|e| e.contains(part)), "{part} is missing in {errors:#?}");
    }
    assert!(Chain::new().build(1).is_err());
}

#[test]
fn a_chain_of_ten_thousand_stages_needs_no_stack() {
    for (stages, elements) in [(1_000, 100), (9_990, 3)] {
        let mut chain = Chain::new().op("numbers", "range", params(&[("count", Value::from(elements))]));
        for i in 0..stages {
            chain = chain.op(&format!("m{i}"), "map", params(&[("op", Value::from("add"))]));
        }
        let chain = chain.op("sum", "fold", params(&[("op", Value::from("max"))]));
        assert_eq!(chain.run_local().unwrap().take(), Some(Ok(Value::from(elements - 1 + stages))));
    }
}

#[test]
fn an_element_of_the_wrong_type_fails_its_stage_at_any_batch() {
    let chain = Chain::new()
        .op("numbers", "range", Params::new())
        .op("odd", "filter", params(&[("op", Value::from("odd"))]))
        .op("lists", "grouped", params(&[("n", Value::from(3))]))
        .op("add", "map", params(&[("op", Value::from("add"))]))
        .op("end", "ignore", Params::new());
    for batch in [1, 8, 20, 256] {
        let (built, done) = chain.build(1).unwrap();
        let mut run = LocalRun::new(built, 1).budget(batch);
        run.run();
        let error = StreamError::WrongType { node: "add".into(), expected: "whole numbers" };
        assert_eq!(done.take(), Some(Err(error)));
        check(&run.snapshot());
    }
}

#[test]
fn a_run_repeats_exactly() {
    let turns = |seed| {
        let request = params(&[("service", Value::from("exponential")), ("parallelism", Value::from(3))]);
        let chain = Chain::new()
            .op("numbers", "range", params(&[("count", Value::from(200))]))
            .op("ask", "map_async", request)
            .op("cut", "async_boundary", Params::new())
            .op("end", "ignore", Params::new());
        let mut run = LocalRun::new(chain.build(seed).unwrap().0, 2);
        run.run();
        (run.turns(), run.now())
    };
    assert_eq!(turns(5), turns(5));
    assert_ne!(turns(5), turns(6));
}
