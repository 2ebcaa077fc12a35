//! Hubs: streams that join and leave while others run; CASES.md X6 with its variants.

use std::time::Duration;

use footlights::stream::{
    ControlOperators, DropReason, HubSettings, LocalRun, Offered, Operators, OverflowStrategy, Sink, Source,
    StreamError, Valve, WhenEmpty,
};
use footlights::testkit::on_each_dispatcher;

mod common;

use common::graphs::{MS, all, sorted};

const SEEDS: u64 = 100;

fn check(run: &LocalRun, bound: u64) {
    for stage in &run.snapshot().stages {
        assert!(stage.counts.balanced(), "{stage:?}");
        assert!(!stage.counted || stage.counts.held <= bound, "{stage:?}");
    }
}

/// Steps the runs by turns, beginning with another one for each seed, until all rest.
fn together(runs: &mut [&mut LocalRun], bound: u64, seed: u64) {
    let n = runs.len();
    let (mut at, mut resting, mut steps) = (seed as usize % n, 0, seed);
    while resting < n {
        // Some runs take several steps in a row.
        let mut moved = false;
        for _ in 0..1 + steps % 3 {
            moved |= runs[at].step();
        }
        check(runs[at], bound);
        resting = if moved { 0 } else { resting + 1 };
        at = (at + 1) % n;
        steps = steps.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed) >> 1;
    }
}

fn ended(runs: &[&LocalRun]) {
    for run in runs {
        assert!(run.ended() && run.pending() == 0);
    }
}

macro_rules! start {
    ($stream:expr, $seed:expr) => {{
        let (built, mat) = $stream.build($seed);
        (LocalRun::new(built.fuzzed($seed), 1 + $seed as usize % 3).budget(1 + $seed as usize % 9), mat)
    }};
}

#[test]
fn x6_both_consumers_of_a_hub_that_starts_after_two_get_everything() {
    on_each_dispatcher(|system| {
        let hub = Source::range(1..11).to(Sink::broadcast_hub(HubSettings::default().start_after(2)));
        let (hub, handle) = hub.run(system).unwrap();
        let (first, _) = hub.source().to(Sink::to_vec(100)).run(system).unwrap();
        let (second, _) = hub.source().async_boundary().to(Sink::to_vec(100)).run(system).unwrap();
        let want: Vec<i64> = (1..11).collect();
        assert_eq!(system.block_on(first), Ok(want.clone()));
        assert_eq!(system.block_on(second), Ok(want));
        assert!(handle.snapshot().stages.iter().all(|stage| stage.counts.balanced()));
    });
    for seed in 0..SEEDS {
        let settings = HubSettings::default().buffer(1 << (seed % 4)).start_after(2);
        let (mut host, hub) =
            start!(Source::range(1..11).async_boundary().to(Sink::broadcast_hub(settings)), seed);
        let (mut a, first) = start!(hub.source().to(Sink::to_vec(100)), seed);
        together(&mut [&mut host, &mut a], 8, seed);
        assert_eq!((hub.consumers(), first.is_settled()), (1, false), "it waits for the second");
        let (mut b, second) = start!(hub.source().async_boundary_of(1).to(Sink::to_vec(100)), seed);
        together(&mut [&mut host, &mut a, &mut b], 8, seed);
        assert_eq!((all(&first), all(&second)), ((1..11).collect(), (1..11).collect()));
        ended(&[&host, &a, &b]);
        assert_eq!(hub.consumers(), 0);
    }
}

#[test]
fn x6_a_joiner_that_leaves_in_the_same_turn_changes_nothing() {
    for seed in 0..SEEDS {
        let (feed, numbers) = Source::feed::<i64>(64, OverflowStrategy::Fail).unwrap();
        let (mut host, hub) =
            start!(numbers.to(Sink::broadcast_hub(HubSettings::default().start_after(2))), seed);
        let valve = Valve::new();
        let (mut a, first) = start!(hub.source().to(Sink::to_vec(100)), seed);
        let (mut b, second) = start!(hub.source().valve(valve.clone()).to(Sink::to_vec(100)), seed);
        together(&mut [&mut host, &mut a, &mut b], 256, seed);
        (0..16).for_each(|n| assert_eq!(feed.offer(n), Offered::Enqueued));
        together(&mut [&mut host, &mut a, &mut b], 256, seed);
        valve.close();
        (16..19).for_each(|n| assert_eq!(feed.offer(n), Offered::Enqueued));
        together(&mut [&mut host, &mut a, &mut b], 256, seed);
        // 17 and 18 are in the buffer: the third joins, and is gone.
        let (mut c, third) = start!(hub.source().take(0).to(Sink::to_vec(100)), seed);
        c.run();
        assert_eq!((all(&third), hub.consumers()), (vec![], 2));
        (19..25).for_each(|n| assert_eq!(feed.offer(n), Offered::Enqueued));
        valve.open();
        together(&mut [&mut host, &mut a, &mut b], 256, seed);
        feed.complete();
        together(&mut [&mut host, &mut a, &mut b], 256, seed);
        assert_eq!((all(&first), all(&second)), ((0..25).collect(), (0..25).collect()));
        ended(&[&host, &a, &b, &c]);
    }
}

#[test]
fn x6_a_late_joiner_gets_later_elements_only_and_an_ended_hub_gives_its_end_at_once() {
    for seed in 0..SEEDS {
        let (feed, numbers) = Source::feed::<i64>(64, OverflowStrategy::Fail).unwrap();
        let (mut host, hub) = start!(numbers.to(Sink::broadcast_hub(HubSettings::default())), seed);
        let (mut a, first) = start!(hub.source().to(Sink::to_vec(100)), seed);
        (0..5).for_each(|n| assert_eq!(feed.offer(n), Offered::Enqueued));
        together(&mut [&mut host, &mut a], 256, seed);
        let (mut b, second) = start!(hub.source().to(Sink::to_vec(100)), seed);
        together(&mut [&mut host, &mut a, &mut b], 256, seed);
        (5..9).for_each(|n| assert_eq!(feed.offer(n), Offered::Enqueued));
        let failed = seed % 2 == 1;
        if failed {
            together(&mut [&mut host, &mut a, &mut b], 256, seed);
            feed.fail("planned");
        } else {
            feed.complete();
        }
        together(&mut [&mut host, &mut a, &mut b], 256, seed);
        let (mut c, third) = start!(hub.source().to(Sink::to_vec(100)), seed);
        c.run();
        if failed {
            let error = Some(Err(StreamError::Stage { node: "feed".into(), text: "planned".into() }));
            assert_eq!((first.take(), second.take(), third.take()), (error.clone(), error.clone(), error));
        } else {
            assert_eq!(
                (all(&first), all(&second), all(&third)),
                ((0..9).collect(), (5..9).collect(), vec![])
            );
        }
        ended(&[&host, &a, &b, &c]);
    }
}

#[test]
fn x6_the_slowest_consumer_holds_the_others_back_only_when_it_is_behind_by_the_buffer() {
    for seed in 0..SEEDS {
        let settings = HubSettings::default().buffer(4).start_after(2);
        let (mut host, hub) = start!(Source::range(0..100).to(Sink::broadcast_hub(settings)), seed);
        let (mut a, first) = start!(hub.source().to(Sink::for_each(|_, _: i64| {})), seed);
        let valve = Valve::closed();
        let (mut b, second) = start!(hub.source().valve(valve.clone()).to(Sink::to_vec(100)), seed);
        together(&mut [&mut host, &mut a, &mut b], 4, seed);
        let stage = host.snapshot().stage("broadcast_hub").unwrap().counts;
        assert_eq!((stage.taken, stage.held), (4, 4));
        assert_eq!(a.snapshot().stage("for_each").unwrap().counts.taken, 4);
        valve.open();
        together(&mut [&mut host, &mut a, &mut b], 4, seed);
        assert_eq!((first.take(), all(&second)), (Some(Ok(100)), (0..100).collect()));
        ended(&[&host, &a, &b]);
    }
}

#[test]
fn x6_when_the_last_consumer_leaves_the_hub_waits_and_loses_nothing_or_drops_and_counts() {
    for seed in 0..SEEDS {
        let (mut host, hub) =
            start!(Source::range(0..50).to(Sink::broadcast_hub(HubSettings::default().buffer(8))), seed);
        let mut got = Vec::new();
        for n in [3, 0, 7, 1, 100] {
            let (mut a, done) = start!(hub.source().take(n).to(Sink::to_vec(100)), seed);
            together(&mut [&mut host, &mut a], 8, seed);
            got.extend(all(&done));
            ended(&[&a]);
        }
        assert_eq!(got, (0..50).collect::<Vec<_>>());
        ended(&[&host]);
        let settings = HubSettings::default().start_after(0).when_empty(WhenEmpty::Drop);
        let (feed, numbers) = Source::feed::<i64>(64, OverflowStrategy::Fail).unwrap();
        let (mut host, hub) = start!(numbers.to(Sink::broadcast_hub(settings)), seed);
        (0..5).for_each(|n| assert_eq!(feed.offer(n), Offered::Enqueued));
        together(&mut [&mut host], 256, seed);
        let (mut a, done) = start!(hub.source().take(2).to(Sink::to_vec(100)), seed);
        together(&mut [&mut host, &mut a], 256, seed);
        (5..9).for_each(|n| assert_eq!(feed.offer(n), Offered::Enqueued));
        together(&mut [&mut host, &mut a], 256, seed);
        feed.complete();
        together(&mut [&mut host, &mut a], 256, seed);
        assert_eq!(all(&done), [5, 6]);
        let stage = host.snapshot().stage("broadcast_hub").unwrap().counts;
        assert_eq!((stage.taken, stage.dropped.of(DropReason::NoDemand)), (9, 7));
        ended(&[&host, &a]);
    }
}

#[test]
fn x6_when_the_host_is_gone_its_consumers_fail_and_do_not_hang() {
    for seed in 0..SEEDS {
        let ticks = Source::tick(Duration::ZERO, MS, 1i64);
        let (built, hub) = ticks.to(Sink::broadcast_hub(HubSettings::default())).build(seed);
        let mut host = LocalRun::new(built, 1);
        let (mut a, first) = start!(hub.source().to(Sink::ignore()), seed);
        let (mut b, second) = start!(hub.source().valve(Valve::closed()).to(Sink::ignore()), seed);
        for _ in 0..20 {
            host.step();
            a.step();
            b.step();
        }
        drop(host);
        let (mut c, third) = start!(hub.source().to(Sink::ignore()), seed);
        together(&mut [&mut a, &mut b, &mut c], 256, seed);
        for done in [first, second, third] {
            assert_eq!(done.take(), Some(Err(StreamError::HubGone)));
        }
        ended(&[&a, &b, &c]);
    }
    on_each_dispatcher(|system| {
        let ticks = Source::tick(Duration::ZERO, MS, 1i64);
        let (hub, handle) = ticks.to(Sink::broadcast_hub(HubSettings::default())).run(system).unwrap();
        let (done, _) = hub.source().to(Sink::ignore()).run(system).unwrap();
        handle.abort("planned");
        assert_eq!(system.block_on(done), Err(StreamError::Killed("planned".into())));
    });
}

#[test]
fn x6_all_subscribers_that_race_the_completion_end() {
    for seed in 0..2_000 {
        let (mut host, hub) =
            start!(Source::range(0..1).to(Sink::broadcast_hub(HubSettings::default())), seed);
        let (mut a, first) = start!(hub.source().to(Sink::to_vec(9)), seed);
        let (mut b, second) = start!(hub.source().to(Sink::to_vec(9)), seed);
        together(&mut [&mut a, &mut host, &mut b], 256, seed);
        let got = [all(&first), all(&second)].concat();
        assert!(got == [0] || got == [0, 0], "{got:?}");
        ended(&[&host, &a, &b]);
    }
    on_each_dispatcher(|system| {
        for _ in 0..20 {
            let stream = Source::range(0..1).to(Sink::broadcast_hub(HubSettings::default()));
            let (hub, _) = stream.run(system).unwrap();
            let joined = [0; 2].map(|_| hub.source().to(Sink::to_vec(9)).run(system).unwrap().0);
            let got = joined.map(|done| system.block_on(done).unwrap()).concat();
            assert!(got == [0] || got == [0, 0], "{got:?}");
        }
    });
}

#[test]
fn x6_consumers_that_come_and_go_get_runs_of_elements_and_who_stays_gets_all() {
    on_each_dispatcher(|system| {
        let settings = HubSettings::default().buffer(16);
        let (hub, _) = Source::range(0..3_000).to(Sink::broadcast_hub(settings)).run(system).unwrap();
        let (steady, _) = hub.source().to(Sink::to_vec(10_000)).run(system).unwrap();
        let guests: Vec<_> = (0..30)
            .map(|n| {
                hub.source().async_boundary_of(2).take(n * 5).to(Sink::to_vec(1_000)).run(system).unwrap().0
            })
            .collect();
        assert_eq!(system.block_on(steady), Ok((0..3_000).collect()));
        for guest in guests {
            let got: Vec<i64> = system.block_on(guest).unwrap();
            assert!(got.windows(2).all(|pair| pair[1] == pair[0] + 1), "{got:?}");
        }
    });
}

#[test]
fn x6_a_producer_that_fails_does_not_end_the_others() {
    on_each_dispatcher(|system| {
        let (hub, merged) = Source::merge_hub::<i64>(4);
        let (done, _) = merged.to(Sink::to_vec(10_000)).run(system).unwrap();
        let bad = Source::range(1000..2000).try_map(|n| if n == 1010 { Err("planned") } else { Ok(n) });
        let (bad, _) = bad.to(hub.sink()).run(system).unwrap();
        let good = [0, 200, 400]
            .map(|n| Source::range(n..n + 150).async_boundary().to(hub.sink()).run(system).unwrap().0);
        let error = StreamError::Stage { node: "try_map".into(), text: "planned".into() };
        assert_eq!(system.block_on(bad), Err(error));
        for done in good {
            assert_eq!(system.block_on(done), Ok(150));
        }
        hub.drain();
        let got = system.block_on(done).unwrap();
        for range in [0..150, 200..350, 400..550, 1000..1010] {
            let own: Vec<i64> = got.iter().copied().filter(|n| range.contains(n)).collect();
            assert_eq!(own, range.collect::<Vec<_>>());
        }
        assert_eq!(got.len(), 460);
    });
}

#[test]
fn a_merge_hub_is_bounded_and_its_end_reaches_its_producers() {
    for seed in 0..SEEDS {
        let (hub, merged) = Source::merge_hub::<i64>(4);
        let valve = Valve::closed();
        let (mut host, done) = start!(merged.valve(valve.clone()).to(Sink::to_vec(1_000)), seed);
        let (mut a, first) = start!(Source::range(0..50).to(hub.sink()), seed);
        let (mut b, second) = start!(Source::range(100..150).async_boundary().to(hub.sink()), seed);
        together(&mut [&mut host, &mut a, &mut b], 8, seed);
        assert_eq!(host.snapshot().stage("merge_hub").unwrap().counts.held, 8, "4 of each");
        valve.open();
        together(&mut [&mut host, &mut a, &mut b], 8, seed);
        assert_eq!((first.take(), second.take(), hub.producers()), (Some(Ok(50)), Some(Ok(50)), 0));
        assert_eq!(done.take(), None, "others may come");
        hub.drain();
        let (mut c, third) = start!(Source::range(0..9).to(hub.sink()), seed);
        together(&mut [&mut host, &mut c], 8, seed);
        assert_eq!(sorted(all(&done)), (0..50).chain(100..150).collect::<Vec<_>>());
        assert_eq!(third.take(), Some(Ok(0)), "it came too late");
        ended(&[&host, &a, &b, &c]);
        // The consumer has enough; and the host is dropped.
        let (hub, merged) = Source::merge_hub::<i64>(4);
        let again = merged.clone();
        let (mut host, done) = start!(merged.take(7).to(Sink::to_vec(1_000)), seed);
        let (mut a, first) = start!(Source::tick(MS, MS, 1i64).to(hub.sink()), seed);
        together(&mut [&mut host, &mut a], 8, seed);
        assert_eq!((all(&done), first.take().is_some_and(|done| done.is_ok())), (vec![1; 7], true));
        ended(&[&host, &a]);
        let (mut second_run, refused) = start!(again.to(Sink::ignore()), seed);
        second_run.run();
        assert_eq!(refused.take(), Some(Err(StreamError::HubGone)));
        let (hub, merged) = Source::merge_hub::<i64>(4);
        let (built, _done) = merged.to(Sink::ignore()).build(seed);
        let (mut a, first) = start!(Source::range(0..50).to(hub.sink()), seed);
        a.run();
        drop(built);
        a.run();
        assert_eq!(first.take(), Some(Err(StreamError::HubGone)));
        ended(&[&a]);
    }
}
