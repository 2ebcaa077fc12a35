//! Promises of balancing routers (case R3): one queue for all, and whoever is free takes the oldest.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use common::routees::{Job, MS, Said, pool, props, table_size};
use common::{hush_planned_panics, wait_until};
use footlights::actor::Props;
use footlights::observe::DeadLetterReason;
use footlights::routing::{ChangeError, Refill, Router, RouterRef};
use footlights::supervise::{Backoff, Directive, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn balancing(system: &ActorSystem, probe: &Probe<Said>, n: usize) -> RouterRef<Job> {
    pool(system, probe, Router::balancing(), n)
}

#[cfg(panic = "unwind")]
#[test]
fn r3_a_restarted_routee_takes_the_oldest_job_at_once() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = balancing(system, &probe, 1);
        [Job::Panic, Job::Say(2), Job::Say(3)].into_iter().for_each(|job| router.tell(job));
        // The second job begins at the restart: it does not wait for the fourth.
        assert_eq!(probe.expect(system), ("r1".to_owned(), 2, 2));
        assert_eq!(probe.expect(system), ("r1".to_owned(), 2, 3));
        router.tell(Job::Say(4));
        assert_eq!(probe.expect(system), ("r1".to_owned(), 2, 4));
    });
}

#[test]
fn m2_the_one_free_routee_of_a_shared_queue_keeps_draining() {
    let check = |system: ActorSystem| {
        let probe = Probe::new(&system, "probe");
        let router = balancing(&system, &probe, 3);
        // Whoever takes these is busy for long.
        (0..2).for_each(|n| router.tell(Job::WorkAndSay(2_000 * MS, 100 + n)));
        let begin = system.now();
        (0..50).for_each(|n| router.tell(Job::Say(n)));
        (0..50)
            .for_each(|n| assert_eq!(probe.expect(&system).2, n, "in their order, by the one that is free"));
        assert!(system.now() - begin < 1_000 * MS, "they waited for the busy ones");
        (0..2).for_each(|_| assert!(probe.expect(&system).2 >= 100));
    };
    for seed in 0..16 {
        let builder = ActorSystem::builder("m2").stepper().workers(4).seed(seed).seeded_order();
        check(builder.build().expect("good settings"));
    }
    #[cfg(not(target_family = "wasm"))]
    check(ActorSystem::builder("m2").pool().workers(4).build().expect("good settings"));
}

#[test]
fn a_routee_that_is_resumed_takes_work_at_once_too() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let resume = Strategy::one_for_one().default_directive(Directive::Resume);
        let pool = Router::balancing().pool(1, props(&probe)).supervise(resume);
        let router = system.spawn_router("pool", pool).expect("a free name");
        [Job::Fail, Job::Say(2), Job::Fail, Job::Say(3)].into_iter().for_each(|job| router.tell(job));
        assert_eq!(probe.expect(system), ("r1".to_owned(), 1, 2));
        assert_eq!(probe.expect(system), ("r1".to_owned(), 1, 3));
    });
}

#[test]
fn every_job_is_done_once_whoever_takes_it() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = balancing(system, &probe, 4);
        (0..200).for_each(|n| router.tell(Job::Say(n)));
        let mut got: Vec<u32> = (0..200).map(|_| probe.expect(system).2).collect();
        got.sort_unstable();
        assert_eq!(got, (0..200).collect::<Vec<_>>());
    });
}

#[test]
fn jobs_begin_in_their_order_and_the_books_are_exact_all_the_time() {
    let system = ActorSystem::builder("order").stepper().workers(4).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let router = balancing(&system, &probe, 3);
    (0..30).for_each(|n| router.tell(Job::WorkAndSay((n % 3 + 1) * MS, n)));
    assert_eq!(router.snapshot().queued, 30);
    while system.step().is_some() {
        let ledger = system.ledger();
        assert!(ledger.balanced(), "{ledger:?}");
    }
    let received: Vec<u64> = system
        .events(0, 10_000)
        .into_iter()
        .filter(|event| router.routees().iter().any(|routee| routee.id() == event.actor))
        .filter_map(|event| match event.kind {
            footlights::observe::EventKind::Received { message, .. } => Some(message.0),
            _ => None,
        })
        .collect();
    assert_eq!(received.len(), 30);
    assert!(received.is_sorted(), "the oldest is taken first: {received:?}");
    let took = system.now() - footlights::time::Instant::ZERO;
    assert!(took <= 22 * MS, "60 ms of work for three who are never idle took {took:?}");
}

#[test]
fn m2_the_one_that_is_free_keeps_draining_while_the_others_are_blocked() {
    let system = ActorSystem::builder("blocked").stepper().workers(4).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let router = balancing(&system, &probe, 3);
    let backoff = Backoff::new(1_000_000 * MS, 1_000_000 * MS);
    let down = system.spawn("down", props(&probe).backoff(backoff)).expect("a free name");
    assert_eq!(system.block_on(router.add_routee(&down)), Ok(4));
    down.tell(Job::Fail);
    let routees = router.routees();
    routees[1..3].iter().for_each(|other| other.tell(Job::Work(1_000 * MS)));
    system.run_for(MS);
    (0..50).for_each(|n| router.tell(Job::Say(n)));
    (0..50).for_each(|n| assert_eq!(probe.expect(&system), ("r1".to_owned(), 1, n)));
    assert!(system.now() - footlights::time::Instant::ZERO < 1_000 * MS);
}

#[test]
fn a_broadcast_goes_to_each_routees_own_lane_which_is_read_first() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = balancing(system, &probe, 2);
        system.run_until_quiet(1_000);
        (0..4).for_each(|n| router.tell(Job::WorkAndSay(MS, n)));
        router.broadcast(Job::Say(100));
        let got: Vec<Said> = (0..6).map(|_| probe.expect(system)).collect();
        for name in ["r1", "r2"] {
            let first = got.iter().find(|said| said.0 == name).map(|said| said.2);
            assert_eq!(first, Some(100), "its own lane first: {got:?}");
        }
        assert_eq!(got.iter().filter(|said| said.2 == 100).count(), 2);
    });
}

#[test]
fn closing_the_pool_makes_dead_letters_of_the_queue() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = balancing(system, &probe, 1);
        system.run_until_quiet(1_000);
        router.tell(Job::Work(MS));
        system.step();
        (0..200).for_each(|n| router.tell(Job::Say(n)));
        router.stop();
        wait_until(system, "the end of the pool", || system.find("/user/pool").is_none());
        let reasons: Vec<_> = system.dead_letters().into_iter().map(|letter| letter.reason).collect();
        assert!(!reasons.is_empty() && reasons.iter().all(|reason| *reason == DeadLetterReason::NoRoutee));
        system.run_until_quiet(1_000);
        let ledger = system.ledger();
        assert!(ledger.balanced() && ledger.queued == 0, "{ledger:?}");
        router.tell(Job::Say(6));
        assert_eq!(system.ledger().dead_lettered, ledger.dead_lettered + 1);
    });
}

#[test]
fn draining_the_pool_works_the_queue_off() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = balancing(system, &probe, 2);
        probe.watch(system, &router.actor());
        (0..20).for_each(|n| router.tell(Job::Say(n)));
        router.drain();
        let mut got: Vec<u32> = (0..20).map(|_| probe.expect(system).2).collect();
        got.sort_unstable();
        assert_eq!(got, (0..20).collect::<Vec<_>>());
        probe.expect_terminated(system);
        assert_eq!(system.dead_letters(), []);
    });
}

#[test]
fn a_retired_routee_takes_no_more_and_a_new_one_takes_at_once() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = balancing(system, &probe, 1);
        system.run_until_quiet(1_000);
        (0..300).for_each(|n| router.tell(Job::WorkAndSay(MS, n)));
        system.step();
        let first = router.routees()[0].clone();
        router.set_size(2).forget();
        table_size(system, &router, 2);
        router.remove_routee(&first.any()).forget();
        table_size(system, &router, 1);
        let before = first.any().snapshot().ledger.handled;
        let got: Vec<Said> = (0..300).map(|_| probe.expect(system)).collect();
        let mut jobs: Vec<u32> = got.iter().map(|said| said.2).collect();
        jobs.sort_unstable();
        assert_eq!(jobs, (0..300).collect::<Vec<_>>());
        wait_until(system, "the end of the first", || first.is_closed());
        let by_first = got.iter().filter(|said| said.0 == "r1").count() as u64;
        assert!(by_first <= before + 1 && by_first < 300, "{by_first} by the first, {before} before it went");
        assert_eq!(system.dead_letters(), []);
    });
}

#[test]
fn a_routee_that_ends_leaves_the_queue_to_the_others() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = balancing(system, &probe, 2);
        router.routees()[0].stop();
        table_size(system, &router, 1);
        (0..10).for_each(|n| router.tell(Job::Say(n)));
        (0..10).for_each(|n| assert_eq!(probe.expect(system), ("r2".to_owned(), 1, n)));
    });
}

#[test]
fn a_queue_without_routees_waits_for_a_replacement() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let pool = Router::balancing().pool(1, props(&probe)).refill(Refill::replace());
        let router = system.spawn_router("pool", pool).expect("a free name");
        router.routees()[0].stop();
        (0..10).for_each(|n| router.tell(Job::Say(n)));
        (0..10).for_each(|n| assert_eq!(probe.expect(system).2, n));
    });
}

#[test]
fn a_group_shares_its_queue_too_and_lets_its_members_go() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let spawn = |name: &str| system.spawn(name, props(&probe)).expect("a free name");
        let (a, b) = (spawn("a"), spawn("b"));
        let group = system.spawn_router("group", Router::balancing().group([a.clone(), b.clone()]));
        let group = group.expect("a free name");
        (0..20).for_each(|n| group.tell(Job::Say(n)));
        (0..20).for_each(|_| drop(probe.expect(system)));
        let other = system.spawn_router("other", Router::balancing().group([])).expect("a free name");
        assert_eq!(system.block_on(other.add_routee(&a)), Err(ChangeError::Taken));
        assert_eq!(system.block_on(group.remove_routee(&a.any())), Ok(1));
        assert_eq!(system.block_on(other.add_routee(&a)), Ok(1));
        other.tell(Job::Say(7));
        assert_eq!(probe.expect(system).0, "a");
        group.tell(Job::Say(8));
        assert_eq!(probe.expect(system).0, "b");
    });
}

#[test]
fn work_that_is_on_its_way_counts_until_it_is_there() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = balancing(system, &probe, 2);
        let behind = router.clone();
        let sender = system.spawn("sender", Props::new(move || Sender(behind.clone())));
        let sender = sender.expect("a free name");
        system.run_until_quiet(1_000);
        sender.tell(10 * MS);
        system.step();
        assert!(system.ledger().balanced());
        assert_eq!(router.snapshot().queued, 3, "sent, and not visible yet");
        (0..3).for_each(|n| assert_eq!(probe.expect(system).2, n));
        assert_eq!(system.now().as_nanos(), 10_000_000);
    });
}

/// Works, then sends three jobs.
struct Sender(RouterRef<Job>);

impl footlights::actor::Actor for Sender {
    type Msg = std::time::Duration;

    fn receive(
        &mut self,
        cx: &mut footlights::actor::Context<'_, Self>,
        d: std::time::Duration,
    ) -> Result<(), footlights::actor::Failure> {
        cx.work(d);
        (0..3).for_each(|n| cx.tell(&self.0, Job::Say(n)));
        Ok(())
    }
}
