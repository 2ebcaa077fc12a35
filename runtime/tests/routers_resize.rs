//! Promises of pools that change their size by themselves.

mod common;

use std::time::Duration;

use common::routees::{Job, MS, Said, props};
use common::wait_until;
use footlights::observe::{EventKind, ResizeWhy, Resized};
use footlights::routing::{Explorer, Pressure, Resizer, Router, RouterRef};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher};
use footlights::time::Instant;

/// Has so many virtual workers that every routee can run.
fn wide(seed: u64) -> ActorSystem {
    ActorSystem::builder("wide").stepper().workers(24).seed(seed).build().expect("good settings")
}

fn pool(system: &ActorSystem, probe: &Probe<Said>, n: usize, resizer: impl Into<Resizer>) -> RouterRef<Job> {
    let pool = Router::round_robin().pool(n, props(probe)).resizer(resizer);
    system.spawn_router("pool", pool).expect("a free name")
}

fn decisions(system: &ActorSystem) -> Vec<(Instant, Resized)> {
    let resized = |event: footlights::observe::Event| match event.kind {
        EventKind::Resized(resized) => Some((event.at, *resized)),
        _ => None,
    };
    system.rare_events(0).0.into_iter().filter_map(resized).collect()
}

#[test]
fn a_pool_grows_under_pressure_and_shrinks_when_it_is_idle_and_loses_nothing() {
    let system = wide(1);
    let probe = Probe::new(&system, "probe");
    let router = pool(&system, &probe, 1, Pressure::default());
    // A burst for ten routees, as it comes in over three seconds.
    for n in 0..300 {
        (0..2).for_each(|k| router.tell(Job::WorkAndSay(50 * MS, 2 * n + k)));
        system.run_for(10 * MS);
    }
    assert_eq!(router.routees().len(), 10);
    let mut got: Vec<u32> = (0..600).map(|_| probe.expect(&system).2).collect();
    got.sort_unstable();
    assert_eq!(got, (0..600).collect::<Vec<_>>());
    system.run_for(Duration::from_secs(10));
    assert_eq!(router.routees().len(), 1, "idle pools shrink, too");
    assert_eq!(system.dead_letters(), []);
    assert!(system.ledger().balanced());
    let decisions = decisions(&system);
    for pair in decisions.windows(2) {
        let [(first, a), (second, b)] = pair else { unreachable!("pairs") };
        assert_eq!(a.to, b.from);
        let turns = (a.to > a.from) != (b.to > b.from);
        assert!(*second - *first >= if turns { 500 * MS } else { 100 * MS }, "{a:?} {b:?}");
    }
    assert!(matches!(decisions[0].1.why, ResizeWhy::AllBusy { busy: 1, .. }), "{decisions:?}");
    assert!(decisions.iter().any(|(_, resized)| matches!(resized.why, ResizeWhy::FewBusy { .. })));
}

#[test]
fn a_steady_half_load_is_left_alone() {
    let system = wide(1);
    let probe = Probe::new(&system, "probe");
    let router = pool(&system, &probe, 4, Pressure::default().bounds(4, 8));
    for n in 0..200 {
        router.tell(Job::WorkAndSay(10 * MS, n));
        system.run_for(10 * MS);
    }
    assert_eq!(decisions(&system), []);
}

#[test]
fn a_size_set_by_hand_stays_within_the_bounds() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let slow = Pressure::default().interval(Duration::from_secs(1_000)).bounds(2, 5);
        let router = pool(system, &probe, 1, slow);
        assert_eq!(router.routees().len(), 2, "the bounds hold from the beginning");
        assert_eq!(system.block_on(router.set_size(9)), Ok(5));
        assert_eq!(system.block_on(router.adjust_size(-4)), Ok(2));
        assert_eq!(system.block_on(router.set_size(0)), Ok(2));
    });
}

#[test]
fn a_pool_that_is_too_small_is_filled_up() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let quick = Pressure::default().interval(MS).bounds(3, 5);
        let router = pool(system, &probe, 3, quick);
        let gone = router.routees()[0].clone();
        assert!(system.block_on(router.remove_routee(&gone.any())).is_ok());
        wait_until(system, "three routees", || router.routees().len() == 3);
    });
}

#[test]
fn a_pool_is_resized_on_threads_too() {
    let system = ActorSystem::builder("threads").pool().workers(2).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let router = pool(&system, &probe, 1, Pressure::default().interval(5 * MS));
    // Two threads, so two can be at work; both have messages waiting.
    (0..100).for_each(|n| router.tell(Job::WorkAndSay(5 * MS, n)));
    wait_until(&system, "more routees", || router.routees().len() > 1);
    (0..100).for_each(|_| drop(probe.expect(&system)));
    wait_until(&system, "one routee", || router.routees().len() == 1);
    assert_eq!(system.dead_letters(), []);
    system.shutdown(Duration::from_secs(10)).expect("it ends");
}

#[test]
fn an_explorer_tries_sizes_out_and_repeats_with_its_seed() {
    let run = |seed| {
        let system = wide(seed);
        let probe = Probe::new(&system, "probe");
        let explorer = Explorer::default().interval(100 * MS).bounds(2, 12);
        let router = pool(&system, &probe, 4, explorer);
        for n in 0..400 {
            (0..15).for_each(|k| router.tell(Job::WorkAndSay(10 * MS, n * 15 + k)));
            system.run_for(10 * MS);
            assert!((2..=12).contains(&router.routees().len()));
        }
        let decisions = decisions(&system);
        decisions.iter().map(|(at, resized)| (*at, *resized)).collect::<Vec<_>>()
    };
    let decisions = run(1);
    assert_eq!(decisions, run(1));
    assert_ne!(decisions, run(2));
    assert!(decisions.iter().any(|(_, resized)| matches!(resized.why, ResizeWhy::Explored { .. })));
    let optimised = decisions.iter().find(|(_, resized)| matches!(resized.why, ResizeWhy::Optimised { .. }));
    assert!(optimised.is_some(), "{decisions:?}");
}
