//! Streams on actors: the same blueprints on every dispatcher, and the experiments in virtual time on the real Stepper.

use std::time::Duration;

use footlights::actor::{Actor, Context, Failure, Props};
use footlights::stream::junctions::{Broadcast, Merge, Partition};
use footlights::stream::{
    Chain, Closed, DropReason, Feed, Flow, Graph, Job, Operators, OverflowStrategy, Params, RunOptions, Sink,
    Source, StreamError, Time, Value,
};
use footlights::system::ActorSystem;
use footlights::testkit::{on_each_dispatcher, on_steppers};
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);

fn spin(ms: u32) -> Time {
    Time::Constant(MS * ms)
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn stepper(workers: usize, seed: u64) -> ActorSystem {
    ActorSystem::builder("streams").stepper().workers(workers).seed(seed).build().unwrap()
}

fn params(pairs: &[(&str, Value)]) -> Params {
    pairs.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect()
}

#[test]
fn a_stream_gives_the_same_result_on_every_dispatcher_and_leaves_nothing_behind() {
    on_each_dispatcher(|system| {
        let stream = Source::range(0..2_000)
            .map(|n| n + 1)
            .async_boundary()
            .filter(|n| n % 3 != 0)
            .buffer(8, OverflowStrategy::Backpressure)
            .async_boundary_of(1)
            .grouped(10)
            .async_boundary_of(4)
            .to(Sink::to_vec(1_000));
        let (done, handle) = stream.run(system).unwrap();
        let groups = system.block_on(done).unwrap();
        assert_eq!(groups.concat(), (1..=2_000).filter(|n| n % 3 != 0).collect::<Vec<i64>>());
        assert!(handle.snapshot().edges.iter().all(|e| e.high_water <= e.capacity));
    });
}

#[test]
fn requests_come_back_in_order_on_every_dispatcher() {
    on_each_dispatcher(|system| {
        let stream = Source::range(0..300)
            .map_async(8, |n| match n % 3 {
                0 => Job::Ready(n),
                1 => Job::task(move |_| Ok(n)),
                _ => Job::After(Duration::from_micros(50), Ok(n)),
            })
            .to(Sink::to_vec(1_000));
        let (done, _) = stream.run(system).unwrap();
        assert_eq!(system.block_on(done), Ok((0..300).collect()));
    });
}

#[test]
fn a_failure_and_a_cancel_end_every_island_on_every_dispatcher() {
    on_each_dispatcher(|system| {
        let fails = Source::range(0..10_000)
            .async_boundary()
            .try_map(|n| if n == 500 { Err("bad") } else { Ok(n) })
            .async_boundary()
            .to(Sink::ignore());
        let (done, _) = fails.run(system).unwrap();
        let error = StreamError::Stage { node: "try_map".into(), text: "bad".into() };
        assert_eq!(system.block_on(done), Err(error));
        let stops = Source::range(0..i64::MAX).async_boundary().async_boundary().take(100).to(Sink::ignore());
        let (done, _) = stops.run(system).unwrap();
        assert_eq!(system.block_on(done), Ok(100));
    });
}

#[test]
fn a_stage_that_panics_ends_the_stream_with_an_error_that_names_it() {
    let panic = |node: &str| StreamError::Panic { node: node.into(), text: "planned: a stage panics".into() };
    on_each_dispatcher(|system| {
        let stream = Source::range(0..100)
            .async_boundary()
            .map(|n| if n == 50 { panic!("planned: a stage panics") } else { n })
            .async_boundary()
            .to(Sink::ignore());
        let (done, _) = stream.run(system).unwrap();
        assert_eq!(system.block_on(done), Err(panic("map")));
        let stream =
            Source::range(0..100).to(Sink::for_each(|_, n| assert!(n < 50, "planned: a stage panics")));
        let (done, _) = stream.run(system).unwrap();
        assert_eq!(system.block_on(done), Err(panic("for_each")), "in the sink's own island");
    });
}

fn time_of<P, S>(stream: &Closed<P, S>, workers: usize, seed: u64) -> Instant
where
    P: footlights::stream::Plan,
    S: footlights::stream::SinkPlan<In = P::Out>,
{
    let system = stepper(workers, seed);
    let _running = stream.run(&system).unwrap();
    assert!(system.run_until_quiet(10_000_000));
    assert_eq!(system.live_actors(), 0);
    assert!(system.ledger().balanced());
    assert_eq!(system.ledger().dead_lettered, 0);
    system.now()
}

#[test]
fn e1_is_exact_on_the_stepper() {
    let fused = Source::range(0..1000).worked(spin(10)).worked(spin(10)).to(Sink::ignore());
    let cut = Source::range(0..1000).worked(spin(10)).async_boundary().worked(spin(10)).to(Sink::ignore());
    for seed in 1..=5 {
        assert_eq!(time_of(&fused, 2, seed), at(20_000));
        assert_eq!(time_of(&cut, 2, seed), at(10_010));
        assert_eq!(time_of(&cut, 4, seed), at(10_010));
        assert_eq!(time_of(&cut, 1, seed), at(20_000));
    }
}

#[test]
fn e2_to_e6_are_exact_on_the_stepper() {
    let task = |n: i64| {
        Job::task(move |effort| {
            effort.work(MS * 10);
            Ok(n)
        })
    };
    let twice = |p| Source::range(0..1000).map_async(p, task).map_async(p, task).to(Sink::ignore());
    assert_eq!(time_of(&twice(1), 2, 1), at(10_010), "E2");
    let cut =
        Source::range(0..1000).map_async(1, task).async_boundary().map_async(1, task).to(Sink::ignore());
    assert_eq!(time_of(&cut, 2, 1), at(10_010), "E3");
    assert_eq!(time_of(&twice(2), 4, 1), at(5_010), "E4");
    for (p, workers, ms) in [(1, 4, 10_000), (2, 4, 5_000), (4, 4, 2_500), (8, 4, 2_500), (8, 8, 1_250)] {
        let stream = Source::range(0..1000).map_async(p, task).to(Sink::ignore());
        assert_eq!(time_of(&stream, workers, 1), at(ms), "E5, parallelism {p} on {workers}");
    }
    let call = |n: i64| Job::After(MS * (footlights::rng::Rng::new(n as u64).below(101) as u32), Ok(n));
    let each: u64 = (0..1000).map(|n| footlights::rng::Rng::new(n).below(101)).sum();
    let one = Source::range(0..1000).map_async(1, call).to(Sink::ignore());
    let all = Source::range(0..1000).map_async(1000, call).to(Sink::ignore());
    assert_eq!((time_of(&one, 1, 1), time_of(&all, 1, 1)), (at(each), at(100)), "E6");
}

#[test]
fn a_drawn_stream_is_exact_and_repeats_its_log() {
    let stage = params(&[("work_ms", Value::from(10.0))]);
    let chain = Chain::new()
        .op("numbers", "range", params(&[("count", Value::from(1000))]))
        .op("first", "map", stage.clone())
        .op("boundary", "async_boundary", Params::new())
        .op("second", "map", stage)
        .op("count", "fold", params(&[("op", Value::from("count"))]));
    let run = |seed| {
        let system = stepper(2, seed);
        let options = RunOptions::default().name("drawn").batch(1);
        let (done, handle) = chain.run_with(&system, &options).unwrap();
        assert!(system.find("/system/drawn-1").is_some());
        assert!(system.run_until_quiet(1_000_000));
        assert_eq!(done.take(), Some(Ok(Value::from(1000))));
        let snapshot = handle.snapshot();
        assert!(snapshot.stages.iter().all(|s| s.counts.balanced()));
        (system.now(), system.log_hash())
    };
    assert_eq!(run(1).0, at(10_010));
    assert_eq!(run(1), run(1));
}

struct Counter {
    feed: Feed<Value>,
    got: u64,
}

enum Msg {
    Send(i64),
    Got(Value),
    End,
}

impl Actor for Counter {
    type Msg = Msg;
    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Send(n) => {
                let _ = self.feed.offer(Value::from(n));
            }
            Msg::Got(x) => {
                self.got += 1;
                assert_eq!(x, Value::from(self.got as i64));
                cx.note("got", self.got);
                if self.got == 10 {
                    self.feed.complete();
                }
            }
            Msg::End => cx.stop(),
        }
        Ok(())
    }
}

#[test]
fn actors_feed_a_stream_and_are_told_its_elements_and_its_end() {
    on_steppers(|system| {
        let feed = Feed::new(16, OverflowStrategy::DropHead).unwrap();
        let own = feed.clone();
        let counter =
            system.spawn("counter", Props::new(move || Counter { feed: own.clone(), got: 0 })).unwrap();
        let (on_element, on_end) = (counter.clone(), counter.clone());
        let chain = Chain::new()
            .feed("in", feed)
            .op("add", "map", params(&[("op", Value::from("add")), ("work_ms", Value::from(1.0))]))
            .op("cut", "async_boundary", Params::new())
            .tell("out", move |_, x| on_element.tell(Msg::Got(x)), move |_, _| on_end.tell(Msg::End));
        let (done, _) = chain.run_with(system, &RunOptions::default()).unwrap();
        (0..10).for_each(|n| counter.tell(Msg::Send(n)));
        assert!(system.run_until_quiet(100_000));
        assert_eq!(done.take(), Some(Ok(Value::from(10))));
        assert!(counter.is_closed());
    });
}

#[test]
fn a_feed_that_is_faster_than_the_stream_drops_and_counts() {
    let system = stepper(2, 1);
    let feed = Feed::new(4, OverflowStrategy::DropHead).unwrap();
    let slow = params(&[("work_ms", Value::from(10.0))]);
    let chain =
        Chain::new().feed("in", feed.clone()).op("slow", "map", slow).op("end", "ignore", Params::new());
    let (done, handle) = chain.run_with(&system, &RunOptions::default()).unwrap();
    for n in 0..100 {
        let _ = feed.offer(Value::from(n));
        system.run_for(MS);
    }
    feed.complete();
    assert!(system.run_until_quiet(100_000));
    let counts = handle.snapshot().stage("in").unwrap().counts;
    assert!(counts.balanced());
    assert_eq!(counts.made, 100);
    let arrived = done.take().unwrap().unwrap().as_int().unwrap() as u64;
    assert_eq!(arrived + counts.dropped.of(DropReason::Overflow), 100);
    assert!((10..=20).contains(&arrived), "{arrived}");
    assert!(counts.high_water <= 4);
}

#[test]
fn stop_and_abort_work_on_every_dispatcher() {
    on_each_dispatcher(|system| {
        let endless =
            Source::range(0..i64::MAX).async_boundary().map(|n| n).async_boundary().to(Sink::ignore());
        let (done, handle) = endless.run(system).unwrap();
        system.run_until_quiet(100);
        handle.stop();
        assert!(system.block_on(done).is_ok());
        let (done, handle) = endless.run(system).unwrap();
        system.run_until_quiet(100);
        handle.abort("enough");
        assert_eq!(system.block_on(done), Err(StreamError::Killed("enough".into())));
    });
}

#[test]
fn a_system_that_stops_ends_its_streams_with_an_error() {
    let system = stepper(2, 1);
    let endless = Source::tick(MS, MS, 1).async_boundary().to(Sink::ignore());
    let (done, _) = endless.run(&system).unwrap();
    system.run_for(MS * 10);
    system.shutdown(Duration::from_secs(1)).unwrap();
    assert!(matches!(done.take(), Some(Err(StreamError::Abrupt | StreamError::Killed(_)))));
}

#[test]
fn a_time_that_is_no_time_is_refused_and_the_stream_goes_on() {
    on_steppers(|system| {
        let chain = Chain::new().op("ticks", "tick", params(&[])).op("work", "map", params(&[])).op(
            "end",
            "ignore",
            params(&[]),
        );
        let (done, handle) = chain.run_with(system, &RunOptions::default()).unwrap();
        let used = || handle.snapshot().stage("end").expect("it is there").counts.used;
        system.run_for(MS * 1_000);
        let before = used();
        for bad in [1e300, -1.0, f64::NAN, f64::INFINITY] {
            assert!(handle.set("work", "work_ms", Value::Num(bad)).is_err(), "{bad}");
        }
        assert!(handle.set("work", "work_ms", Value::from("soon")).is_err());
        assert!(handle.set("nowhere", "work_ms", Value::Num(1.0)).is_err());
        system.run_for(MS * 1_000);
        assert!(used() > before && before > 0, "{before}, then {}", used());
        assert_eq!(done.take(), None, "it has not failed");
        handle.set("work", "work_ms", Value::Num(1.0)).unwrap();
        let before = used();
        system.run_for(MS * 1_000);
        assert!(used() > before);
        handle.stop();
    });
}

#[test]
fn a_graph_with_junctions_is_its_list_model_on_every_dispatcher() {
    let graph = Graph::new(|g| {
        let numbers = g.source("numbers", Source::range(0..300));
        let (port, ways) = g.fan_out("split", 3, Partition::new(|n: &i64| (*n % 3) as usize));
        let (ins, out) = g.fan_in("join", 3, Merge::new());
        g.wire(numbers, port);
        for (i, (way, into)) in ways.into_iter().zip(ins).enumerate() {
            let (a, b) = g.flow(&format!("lane{i}"), Flow::of::<i64>().map(|n| n * 2));
            g.wire_async(way, a, 4);
            g.wire_async(b, into, 4);
        }
        let (sums, done) = g.sink("sum", Sink::fold(0, |sum, n: i64| sum + n));
        g.wire(out, sums);
        done
    });
    on_each_dispatcher(|system| {
        let (done, handle) = graph.run(system).expect("it starts");
        assert_eq!(system.block_on(done), Ok((0..300).map(|n| n * 2).sum()));
        assert_eq!(handle.snapshot().islands.len(), 5);
    });
}

#[cfg(panic = "unwind")]
#[test]
fn a_node_of_a_graph_that_panics_ends_every_sink_with_an_error_that_names_it() {
    let graph = Graph::new(|g| {
        let numbers = g.source("numbers", Source::range(0..300));
        let (port, ways) = g.fan_out("split", 3, Broadcast::new());
        g.wire(numbers, port);
        let mut dones = Vec::new();
        for (i, way) in ways.into_iter().enumerate() {
            let (a, b) = g.flow(
                &format!("lane{i}"),
                Flow::of::<i64>().map(move |n| if i == 1 && n == 100 { panic!("planned") } else { n }),
            );
            let (sink, done) = g.sink(&format!("sink{i}"), Sink::ignore());
            g.wire(way, a);
            if i == 2 {
                g.wire_async(b, sink, 4)
            } else {
                g.wire(b, sink)
            }
            dones.push(done);
        }
        dones
    });
    on_each_dispatcher(|system| {
        let (dones, _) = graph.run(system).expect("it starts");
        for done in dones {
            let failed = system.block_on(done);
            let Err(StreamError::Panic { node, text }) = &failed else { panic!("{failed:?}") };
            assert_eq!((&**node, &**text), ("lane1.map", "planned"));
        }
    });
}
