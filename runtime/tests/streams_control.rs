//! What controls streams from outside, watches their end or splits off what may be lost: against list models, in one island and in
//! many, in orders drawn by chance, drawn, and on actors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use footlights::stream::junctions::{PartitionResult, WireTap};
use footlights::stream::{
    Chain, ControlOperators, DropReason, Flow, Graph, KillSwitch, LocalRun, Operators, OverflowStrategy,
    Params, Sink, Source, StreamError, Value, Valve,
};
use footlights::testkit::on_each_dispatcher;
use footlights::time::Instant;

mod common;

use common::graphs::{Cut, FUZZ, MS, all, every_way, run, sink, source};

const NONE: [i64; 0] = [];

fn killed() -> StreamError {
    StreamError::Killed("planned".into())
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

#[test]
fn a_switch_that_is_not_thrown_changes_nothing_and_one_that_was_ends_later_streams_too() {
    let switch = KillSwitch::new();
    every_way(
        |g, cut| {
            let (into, out) = g.flow("switch", Flow::of::<i64>().kill_switch(switch.clone()));
            source(g, cut, 0..50, into);
            sink(g, cut, "all", out)
        },
        |done, way| assert_eq!(all(&done), (0..50).collect::<Vec<_>>(), "{way}"),
    );
    for how in [Ok(()), Err(killed())] {
        let switch = KillSwitch::new();
        match how.clone() {
            Ok(()) => switch.shutdown(),
            Err(e) => switch.abort(e),
        }
        // The first call wins.
        switch.shutdown();
        switch.abort(StreamError::Abrupt);
        assert_eq!(switch.thrown(), Some(how.clone()));
        every_way(
            |g, cut| {
                let (into, out) = g.flow("switch", Flow::of::<i64>().kill_switch(switch.clone()));
                source(g, cut, 0..50, into);
                sink(g, cut, "all", out)
            },
            |done, way| {
                assert_eq!(done.take(), Some(how.clone().map(|()| Vec::new())), "{way}");
            },
        );
    }
}

#[test]
fn a_thrown_switch_completes_downstream_and_cancels_upstream_with_its_cause() {
    for (seed, cut) in (0..FUZZ).map(|seed| (seed, seed % 2 == 0)) {
        let switch = KillSwitch::new();
        let (ended, ticks) = Source::tick(Duration::ZERO, MS, 1i64).watch_termination();
        let capacity = if cut { 1 } else { 16 };
        let stream = ticks
            .async_boundary_of(capacity)
            .kill_switch(switch.clone())
            .async_boundary_of(capacity)
            .map(|n| n + 1);
        let (built, done) = stream.to(Sink::to_vec(100)).build(seed);
        let mut run = LocalRun::new(built.fuzzed(seed), 1 + seed as usize % 4);
        run.run_until(at(10));
        switch.shutdown();
        run.run();
        assert!(run.ended() && run.pending() == 0);
        assert_eq!(done.take(), Some(Ok(vec![2; 11])));
        assert_eq!(ended.take(), Some(Err(StreamError::Killed("shut down".into()))));
    }
}

#[test]
fn one_switch_ends_many_streams_from_outside_on_every_dispatcher() {
    on_each_dispatcher(|system| {
        let (shared, aborted) = (KillSwitch::new(), KillSwitch::new());
        let endless = |switch: &KillSwitch| {
            Source::range(0..i64::MAX)
                .async_boundary()
                .kill_switch(switch.clone())
                .async_boundary()
                .to(Sink::ignore())
        };
        let streams: Vec<_> = (0..3).map(|_| endless(&shared).run(system).unwrap().0).collect();
        let (failing, _) = endless(&aborted).run(system).unwrap();
        let idle =
            Source::tick(Duration::from_secs(3600), MS, 1i64).kill_switch(shared.clone()).to(Sink::ignore());
        let (idle, _) = idle.run(system).unwrap();
        shared.shutdown();
        shared.abort(killed());
        aborted.abort(killed());
        for done in streams {
            assert!(system.block_on(done).is_ok());
        }
        assert_eq!(system.block_on(idle), Ok(0));
        assert_eq!(system.block_on(failing), Err(killed()));
    });
}

#[test]
fn an_open_valve_changes_nothing_and_a_closed_one_holds_what_was_under_way() {
    let valve = Valve::new();
    every_way(
        |g, cut| {
            let (into, out) = g.flow("valve", Flow::of::<i64>().valve(valve.clone()));
            source(g, cut, 0..50, into);
            sink(g, cut, "all", out)
        },
        |done, way| assert_eq!(all(&done), (0..50).collect::<Vec<_>>(), "{way}"),
    );
    for seed in 0..FUZZ {
        let valve = Valve::closed();
        let stream = Source::range(0..20).async_boundary_of(2).valve(valve.clone()).async_boundary_of(2);
        let (built, done) = stream.to(Sink::to_vec(100)).build(seed);
        let mut run = LocalRun::new(built.fuzzed(seed), 2).budget(1 + seed as usize % 7);
        run.run();
        assert!(!valve.is_open() && !run.ended());
        valve.open();
        for _ in 0..seed % 20 {
            run.step();
        }
        valve.close();
        run.run();
        let gate = run.snapshot().stage("valve").unwrap().counts;
        assert!(gate.balanced() && gate.held <= 1, "{gate:?}");
        valve.open();
        run.run();
        assert!(run.ended());
        assert_eq!(all(&done), (0..20).collect::<Vec<_>>());
    }
}

#[test]
fn x4_completion_at_a_closed_valve_waits_for_the_element_that_it_holds() {
    let valve = Valve::new();
    let feed = Source::feed::<i64>(4, OverflowStrategy::Fail);
    let (feed, numbers) = feed.unwrap();
    let (built, done) = numbers.valve(valve.clone()).to(Sink::to_vec(10)).build(1);
    let mut run = LocalRun::new(built, 1);
    run.run();
    // The demand for it went up while the valve was open.
    valve.close();
    assert_eq!(feed.offer(1), footlights::stream::Offered::Enqueued);
    feed.complete();
    run.run();
    assert_eq!(done.take(), None);
    valve.open();
    run.run();
    assert_eq!(done.take(), Some(Ok(vec![1])));
    assert!(run.ended());
}

#[test]
fn a_valve_works_from_outside_on_every_dispatcher() {
    on_each_dispatcher(|system| {
        let valve = Valve::closed();
        let stream = Source::range(0..500).async_boundary().valve(valve.clone()).async_boundary();
        let (done, _) = stream.to(Sink::to_vec(1000)).run(system).unwrap();
        valve.open();
        assert_eq!(system.block_on(done), Ok((0..500).collect()));
        let never = Valve::closed();
        let (done, handle) = Source::range(0..5).valve(never.clone()).to(Sink::ignore()).run(system).unwrap();
        handle.abort("planned");
        assert_eq!(system.block_on(done), Err(killed()));
    });
}

#[test]
fn a_drawn_valve_is_opened_and_closed_by_its_parameter() {
    let closed = Params::from([("state".to_string(), Value::from("closed"))]);
    let count = Params::from([("count".to_string(), Value::from(9))]);
    let chain = Chain::new().op("numbers", "range", count).op("gate", "valve", closed);
    let (built, done) = chain.op("all", "ignore", Params::new()).build(1).unwrap();
    let handle = footlights::stream::StreamHandle::new(footlights::id::StreamId(1), &built);
    let mut run = LocalRun::new(built, 1);
    run.run();
    assert_eq!(done.take(), None);
    handle.set("gate", "state", Value::from("open")).unwrap();
    run.run();
    assert_eq!(done.take(), Some(Ok(Value::from(9))));
}

#[test]
fn the_watched_end_is_the_real_one_wherever_it_comes_from() {
    let stage = |text: &str| StreamError::Stage { node: "try_map".into(), text: text.into() };
    let bad = |n: i64| if n == 3 { Err("three") } else { Ok(n) };
    for seed in 0..FUZZ {
        let settle = |built: footlights::stream::Built| run(built.fuzzed(seed), 2);
        let (ended, numbers) = Source::range(0..9).async_boundary_of(1).watch_termination();
        let (built, _done) = numbers.async_boundary_of(1).to(Sink::ignore()).build(seed);
        settle(built);
        assert_eq!(ended.take(), Some(Ok(())));
        let (ended, numbers) = Source::range(0..9).async_boundary_of(1).watch_termination();
        let (built, _done) = numbers.async_boundary_of(1).try_map(bad).to(Sink::ignore()).build(seed);
        settle(built);
        assert_eq!(ended.take(), Some(Err(stage("three"))), "from below");
        let (ended, numbers) = Source::range(0..9).try_map(bad).async_boundary_of(1).watch_termination();
        let (built, _done) = numbers.to(Sink::ignore()).build(seed);
        settle(built);
        assert_eq!(ended.take(), Some(Err(stage("three"))), "from above");
        let (ended, numbers) = Source::tick(MS, MS, 1i64).watch_termination();
        let (built, _done) = numbers.async_boundary_of(1).take(3).to(Sink::ignore()).build(seed);
        settle(built);
        assert_eq!(ended.take(), Some(Ok(())), "enough");
    }
    let (ended, numbers) = Source::range(0..9).watch_termination();
    drop(numbers);
    assert_eq!(ended.take(), Some(Err(StreamError::Abrupt)), "never run");
}

#[test]
fn x10_a_slow_source_that_is_zipped_with_one_that_fails_hears_the_real_error() {
    for seed in 0..FUZZ {
        let (ended, slow) = Source::tick(MS * 1000, MS, 1i64).watch_termination();
        let fails = Source::range(0..1).try_map(|_| Err::<i64, _>("at once"));
        let (built, done) = slow.zip(fails.async_boundary()).to(Sink::ignore()).build(seed);
        run(built.fuzzed(seed), 2);
        let error = StreamError::Stage { node: "try_map".into(), text: "at once".into() };
        assert_eq!(ended.take(), Some(Err(error.clone())));
        assert_eq!(done.take(), Some(Err(error)));
    }
}

#[test]
fn a_wire_tap_never_holds_the_main_way_and_what_it_loses_is_counted() {
    every_way(
        |g, cut| {
            let (into, outs) = g.fan_out("tap", 2, WireTap::new());
            source(g, cut, 0..60, into);
            let mut outs = outs.into_iter();
            let main = sink(g, cut, "main", outs.next().expect("an output"));
            (main, sink(g, cut, "side", outs.next().expect("an output")))
        },
        |(main, side), way| {
            assert_eq!(all(&main), (0..60).collect::<Vec<_>>(), "{way}");
            let side = all(&side);
            assert!(side.is_sorted() && side.iter().all(|n| (0..60).contains(n)), "{way}: {side:?}");
        },
    );
    // A tap that never asks.
    let valve = Valve::closed();
    let graph = Graph::new(|g| {
        let (into, outs) = g.fan_out("tap", 2, WireTap::new());
        source(g, Cut(None), 0..60, into);
        let mut outs = outs.into_iter();
        let main = sink(g, Cut(None), "main", outs.next().expect("an output"));
        let (gate, behind) = g.flow("gate", Flow::of::<i64>().valve(valve.clone()));
        g.wire(outs.next().expect("an output"), gate);
        (main, sink(g, Cut(None), "side", behind))
    });
    for seed in 0..FUZZ {
        let (built, (main, side)) = graph.build(seed).unwrap();
        let end = run(built.fuzzed(seed), 1);
        assert_eq!(all(&main), (0..60).collect::<Vec<_>>());
        assert_eq!(all(&side), NONE);
        assert_eq!(end.stage("tap").unwrap().counts.dropped.of(DropReason::NoDemand), 60);
    }
}

#[test]
fn a_drawn_tap_is_the_same() {
    let none = Params::new;
    let drawing = footlights::stream::Drawing::new()
        .op("numbers", "range", Params::from([("count".to_string(), Value::from(50))]))
        .op("tap", "wire_tap", none())
        .op("main", "ignore", none())
        .op("side", "ignore", none())
        .wire("numbers", "tap")
        .wire("tap", "main")
        .wire("tap", "side");
    for seed in 0..FUZZ {
        let (built, results) = drawing.build(seed).unwrap();
        let end = run(built.fuzzed(seed), 1);
        let count = |at: usize| results[at].1.take().unwrap().unwrap().as_int().unwrap() as u64;
        let lost = end.stage("tap").unwrap().counts.dropped.of(DropReason::NoDemand);
        assert_eq!((count(0), count(1) + lost), (50, 50));
    }
}

#[test]
fn a_tap_that_leaves_is_forgotten_and_a_main_way_that_has_enough_completes_it() {
    for seed in 0..FUZZ {
        let seen = Arc::new(AtomicU64::new(0));
        let count = seen.clone();
        let tap = Sink::for_each_and_end(
            |_cx, _n: i64| {},
            move |_cx, end| {
                assert_eq!(*end, footlights::stream::End::Completed);
                count.fetch_add(1, Ordering::Relaxed);
            },
        );
        let stream = Source::tick(Duration::ZERO, MS, 1i64).wire_tap(tap).take(5).to(Sink::to_vec(9));
        let (built, done) = stream.build(seed);
        run(built.fuzzed(seed), 1);
        assert_eq!(all(&done), [1; 5]);
        assert_eq!(seen.load(Ordering::Relaxed), 1, "the tap's end");
    }
    every_way(
        |g, cut| {
            let (into, outs) = g.fan_out("tap", 2, WireTap::new());
            source(g, cut, 0..60, into);
            let mut outs = outs.into_iter();
            let main = sink(g, cut, "main", outs.next().expect("an output"));
            let (taken, rest) = g.flow("take", Flow::of::<i64>().take(0));
            cut.wire(g, outs.next().expect("an output"), taken);
            (main, sink(g, cut, "side", rest))
        },
        |(main, side), way| {
            assert_eq!(all(&main), (0..60).collect::<Vec<_>>(), "{way}");
            assert_eq!(all(&side), NONE, "{way}");
        },
    );
}

#[test]
fn partition_result_parts_values_and_errors_in_order() {
    let odd_is_bad = |n: i64| if n % 2 == 0 { Ok(n) } else { Err(n) };
    every_way(
        |g, cut| {
            let results = g.source("results", Source::range(0..40).map(odd_is_bad));
            let (into, ok, err) = g.two_out("part", PartitionResult::new());
            cut.wire(g, results, into);
            (sink(g, cut, "ok", ok), sink(g, cut, "err", err))
        },
        |(ok, err), way| {
            assert_eq!(all(&ok), (0..40).step_by(2).collect::<Vec<_>>(), "{way}");
            assert_eq!(all(&err), (1..40).step_by(2).collect::<Vec<_>>(), "{way}");
        },
    );
    // An output that is gone: what was meant for it is counted, and the other goes on.
    let graph = Graph::new(|g| {
        let results = g.source("results", Source::range(0..40).map(odd_is_bad));
        let (into, ok, err) = g.two_out("part", PartitionResult::new());
        g.wire(results, into);
        let (taken, rest) = g.flow("take", Flow::of::<i64>().take(0));
        g.wire(err, taken);
        (sink(g, Cut(None), "ok", ok), sink(g, Cut(None), "err", rest))
    });
    for seed in 0..FUZZ {
        let (built, (ok, err)) = graph.build(seed).unwrap();
        let end = run(built.fuzzed(seed), 1);
        assert_eq!(all(&ok), (0..40).step_by(2).collect::<Vec<_>>());
        assert_eq!(all(&err), NONE);
        assert_eq!(end.stage("part").unwrap().counts.dropped.of(DropReason::Cancelled), 20);
    }
    on_each_dispatcher(|system| {
        let stream = Source::range(0..400).map(odd_is_bad).async_boundary().partition_result(Sink::ignore());
        let (done, _) = stream.to(Sink::to_vec(1000)).run(system).unwrap();
        assert_eq!(system.block_on(done), Ok((0..400).step_by(2).collect()));
    });
}

#[test]
fn a_failure_passes_a_switch_a_valve_and_a_tap_as_it_is() {
    let bad = |n: i64| if n == 3 { Err("three") } else { Ok(n) };
    for seed in 0..FUZZ {
        let stream = Source::range(0..9)
            .try_map(bad)
            .kill_switch(KillSwitch::new())
            .valve(Valve::new())
            .wire_tap(Sink::ignore())
            .zip_with(Source::range(0..99), |a, b| a + b);
        let (built, done) = stream.to(Sink::ignore()).build(seed);
        run(built.fuzzed(seed), 1);
        let error = StreamError::Stage { node: "try_map".into(), text: "three".into() };
        assert_eq!(done.take(), Some(Err(error)));
    }
}
