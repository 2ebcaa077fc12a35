//! Promises of routers: who gets what, and what happens when a routee fails or ends.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::routees::{Job, MS, Routee, Said, pool, props, shares, table_size};
use common::{hush_planned_panics, wait_until};
use footlights::actor::{ActorRef, Props};
use footlights::observe::{ActorState, DeadLetterReason, EventKind};
use footlights::routing::{Refill, Router};
use footlights::supervise::{Backoff, Directive, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn r3_round_robin_rotates_strictly_across_the_counters_wrap() {
    for n in [1, 2, 3, 7] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let router = pool(system, &probe, Router::round_robin(), n);
            router.set_counter(u64::MAX - 3);
            let rounds = 4 * n as u32;
            let mut order = Vec::new();
            for k in 0..rounds {
                router.tell(Job::Say(k));
                order.push(probe.expect(system).0);
            }
            for pair in order.windows(2).filter(|_| n > 1) {
                assert_ne!(pair[0], pair[1], "nobody twice in a row: {order:?}");
            }
            let mut shares: BTreeMap<&str, u32> = BTreeMap::new();
            order.iter().for_each(|name| *shares.entry(name).or_insert(0) += 1);
            assert_eq!(shares.len(), n, "the last index is used, too");
            assert!(shares.values().all(|&share| share == 4), "{shares:?}");
        });
    }
}

#[test]
fn r3_a_random_router_repeats_with_its_seed_and_differs_with_another() {
    let order = |seed| {
        let system = ActorSystem::builder("random").stepper().seed(seed).build().expect("good settings");
        let probe = Probe::new(&system, "probe");
        let router = pool(&system, &probe, Router::random(), 7);
        (0..50)
            .map(|n| {
                router.tell(Job::Say(n));
                probe.expect(&system).0
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    let mut all = order(3);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 7, "everybody is chosen at some time");
}

#[test]
fn random_routers_of_one_parent_choose_differently() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let order = |name| {
            let router = system.spawn_router(name, Router::random().pool(7, props(&probe)));
            let router = router.expect("a free name");
            let say = |n| {
                router.tell(Job::Say(n));
                probe.expect(system).0
            };
            (0..50).map(say).collect::<Vec<_>>()
        };
        assert_ne!(order("first"), order("second"));
    });
}

#[test]
fn r3_smallest_mailbox_spreads_equal_loads() {
    // On threads a routee that is faster than the sender has the smallest mailbox each time, and gets all: as it should.
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::smallest_mailbox(), 5);
        let shares = shares(system, &probe, &router, 1_000);
        assert!(shares.values().all(|&share| share <= 400), "more than twice the mean: {shares:?}");
        assert_eq!(shares.len(), 5);
    });
}

#[test]
fn smallest_mailbox_avoids_the_one_that_is_at_work() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::smallest_mailbox(), 3);
        let busy = router.routees()[1].clone();
        busy.tell(Job::Work(MS * 100));
        (0..4).for_each(|n| busy.tell(Job::Say(100 + n)));
        let shares: Vec<u64> = {
            (0..8).for_each(|n| router.tell(Job::Say(n)));
            router.routees().iter().map(|routee| routee.queued()).collect()
        };
        assert_eq!(shares[1], 5, "it got no more: {shares:?}");
        assert_eq!((shares[0], shares[2]), (4, 4), "the others share");
        wait_until(system, "the end of the work", || busy.queued() == 0);
    });
}

#[test]
fn smallest_mailbox_passes_over_the_one_that_waits_for_its_restart() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let slow = Strategy::one_for_one().backoff(Backoff::new(MS * 100, MS * 100));
        let router = Router::smallest_mailbox().pool(3, props(&probe)).supervise(slow);
        let router = system.spawn_router("pool", router).expect("a free name");
        let routees = router.routees();
        let backs_off = || routees[1].any().snapshot().state == ActorState::Backoff;
        routees[1].tell(Job::Fail);
        wait_until(system, "the delay before the restart", backs_off);
        [0, 2].into_iter().for_each(|index: usize| routees[index].tell(Job::Work(MS * 50)));
        (0..8).for_each(|n| router.tell(Job::Say(n)));
        let waiting: Vec<u64> = routees.iter().map(|routee| routee.queued()).collect();
        assert_eq!(waiting, [5, 0, 5], "the others are at work, and take all the same");
    });
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn a_table_set_while_a_routee_leaves_it_stands() {
    let system = ActorSystem::builder("table").workers(2).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let spawn = || system.spawn("", props(&probe)).expect("a free name");
    let (stays, new) = (spawn(), spawn());
    let group = Router::round_robin().group([]);
    let group = system.spawn_router("group", group).expect("a free name");
    for round in 0..100u32 {
        let leaves = spawn();
        let others = std::iter::repeat_n(stays.clone(), 2_000);
        group.set_routees(others.chain([leaves.clone()]));
        leaves.stop();
        while !leaves.is_closed() {
            std::hint::spin_loop();
        }
        (0..round * 100).for_each(|_| std::hint::spin_loop());
        group.set_routees([new.clone()]);
        let actor = group.actor();
        wait_until(&system, "the news to be heard", || actor.snapshot().ledger.queued == 0);
        assert_eq!(group.routees(), std::slice::from_ref(&new), "in round {round}");
    }
}

#[test]
fn a_broadcast_reaches_each_member_exactly_once() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::broadcast(), 4);
        router.tell(Job::Say(1));
        let mut names: Vec<String> = (0..4).map(|_| probe.expect(system).0).collect();
        names.sort();
        assert_eq!(names, ["r1", "r2", "r3", "r4"]);
        let dead = router.routees()[2].clone();
        dead.stop();
        table_size(system, &router, 3);
        router.tell(Job::Say(2));
        let mut names: Vec<String> = (0..3).map(|_| probe.expect(system).0).collect();
        names.sort();
        assert_eq!(names, ["r1", "r2", "r4"]);
        assert_eq!(system.dead_letters(), []);
    });
}

#[cfg(panic = "unwind")]
#[test]
fn one_routee_restarts_alone() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 3);
        router.routees()[1].tell(Job::Panic);
        let routees = router.routees();
        wait_until(system, "the restart", || routees[1].any().snapshot().incarnation == 2);
        let mut said: Vec<Said> = (0..3)
            .map(|n| {
                router.tell(Job::Say(n));
                probe.expect(system)
            })
            .collect();
        said.sort();
        let incarnations: Vec<u32> = said.iter().map(|said| said.1).collect();
        assert_eq!(incarnations, [1, 2, 1]);
        assert_eq!(router.routees(), routees, "the same references");
    });
}

#[cfg(panic = "unwind")]
#[test]
fn r3_a_restarted_routee_handles_its_backlog_in_order_without_a_new_job() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 1);
        [Job::Panic, Job::Say(2), Job::Say(3)].into_iter().for_each(|job| router.tell(job));
        assert_eq!([probe.expect(system).2, probe.expect(system).2], [2, 3]);
        router.tell(Job::Say(4));
        assert_eq!(probe.expect(system).2, 4);
    });
}

#[test]
fn a_routee_that_ends_leaves_the_table_and_the_others_go_on() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 3);
        router.routees()[0].stop();
        table_size(system, &router, 2);
        let shares = shares(system, &probe, &router, 10);
        assert_eq!(shares, BTreeMap::from([("r2".to_owned(), 5), ("r3".to_owned(), 5)]));
        let changed = |kind: &EventKind| matches!(kind, EventKind::RouteesChanged { routees: 2 });
        assert!(system.rare_events(0).0.iter().any(|event| changed(&event.kind)));
    });
}

#[test]
fn r3_a_message_that_meets_a_closed_routee_takes_the_next() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 2);
        system.run_until_quiet(100);
        let closed = router.routees()[0].clone();
        closed.stop();
        wait_until(system, "a closed routee", || closed.is_closed());
        // Nothing has told the router yet, or it has: in both cases nobody's message is lost.
        let shares = shares(system, &probe, &router, 4);
        assert_eq!(shares, BTreeMap::from([("r2".to_owned(), 4)]));
        assert_eq!(system.dead_letters(), []);
    });
}

#[test]
fn without_a_routee_a_message_is_a_dead_letter() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let kinds =
            [Router::round_robin(), Router::random(), Router::smallest_mailbox(), Router::broadcast()];
        for (n, router) in kinds.into_iter().enumerate() {
            let empty = system.spawn_router(&format!("empty{n}"), router.pool(0, props(&probe)));
            empty.expect("a free name").tell(Job::Say(1));
        }
        let reasons: Vec<_> = system.dead_letters().into_iter().map(|letter| letter.reason).collect();
        assert_eq!(reasons, [DeadLetterReason::NoRoutee; 4]);
    });
}

#[test]
fn a_pool_without_routees_stops() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 2);
        probe.watch(system, &router.actor());
        router.routees().iter().for_each(|routee| routee.stop());
        probe.expect_terminated(system);
        router.tell(Job::Say(1));
        assert_eq!(
            system.dead_letters().last().map(|letter| letter.reason),
            Some(DeadLetterReason::NoRoutee)
        );
    });
}

#[test]
fn a_pool_that_is_restarted_makes_its_routees_anew() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let escalate = Strategy::one_for_one().default_directive(Directive::Escalate);
        let router = Router::round_robin().pool(3, props(&probe)).supervise(escalate).refill(Refill::Shrink);
        let router = system.spawn_router("pool", router).expect("a free name");
        let old = router.routees();
        old[1].tell(Job::Fail);
        wait_until(system, "new routees", || {
            let now = router.routees();
            now.len() == 3 && now.iter().all(|routee| !old.contains(routee))
        });
        assert_eq!(shares(system, &probe, &router, 9).values().copied().collect::<Vec<_>>(), [3, 3, 3]);
        router.routees()[0].stop();
        table_size(system, &router, 2);
    });
}

#[test]
fn a_group_serves_routees_that_live_elsewhere_and_drops_the_dead() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let members: Vec<ActorRef<Job>> =
            (0..3).map(|n| system.spawn(&format!("m{n}"), props(&probe)).expect("a free name")).collect();
        let group = Router::round_robin().group(members.clone());
        let group = system.spawn_router("group", group).expect("a free name");
        assert_eq!(shares(system, &probe, &group, 6).values().copied().collect::<Vec<_>>(), [2, 2, 2]);
        members[1].stop();
        table_size(system, &group, 2);
        assert_eq!(shares(system, &probe, &group, 6).values().copied().collect::<Vec<_>>(), [3, 3]);
    });
}

#[test]
fn a_group_that_has_ended_routes_to_nobody_and_its_members_live_on() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let member = system.spawn("member", props(&probe)).expect("a free name");
        let group = system.spawn_router("group", Router::random().group([member.clone()]));
        let group = group.expect("a free name");
        probe.watch(system, &group.actor());
        group.stop();
        probe.expect_terminated(system);
        group.tell(Job::Say(1));
        assert_eq!(
            system.dead_letters().last().map(|letter| letter.reason),
            Some(DeadLetterReason::NoRoutee)
        );
        member.tell(Job::Say(2));
        assert_eq!(probe.expect(system).2, 2);
    });
}

#[test]
fn stopping_a_pool_stops_its_routees() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 3);
        let routee = router.routees()[2].any();
        probe.watch(system, &routee);
        router.stop();
        assert_eq!(probe.expect_terminated(system).target, routee);
        wait_until(system, "the pool to be gone", || system.find("/user/pool").is_none());
    });
}

#[cfg(panic = "unwind")]
#[test]
fn s3_a_routee_that_cannot_start_is_reported_and_the_pool_goes_on() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let out = probe.recipient();
        let made = std::sync::atomic::AtomicU32::new(0);
        let props = Props::new(move || {
            let n = made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            assert!(n != 0, "planned: the first cannot be made");
            Routee::new(out.clone())
        });
        let router = system.spawn_router("pool", Router::round_robin().pool(2, props)).expect("a free name");
        let shares = shares(system, &probe, &router, 10);
        assert_eq!(shares.values().sum::<u32>(), 10, "{shares:?}");
        assert_eq!(router.routees().len(), 2);
        let failed = system.rare_events(0).0.iter().any(|event| {
            matches!(event.kind, EventKind::Failed { kind: footlights::supervise::FailureKind::Start, .. })
        });
        assert!(failed, "the failure is an event");
    });
}

#[test]
fn two_random_routers_of_one_parent_choose_by_chance_of_their_own() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let [first, second] = ["one", "two"].map(|name| {
            let router = Router::random().pool(4, props(&probe));
            let router = system.spawn_router(name, router).expect("a free name");
            let order = router.routees();
            let place = |chosen: ActorRef<Job>| order.iter().position(|routee| *routee == chosen);
            (0..30).map(|_| place(router.choose().expect("a routee"))).collect::<Vec<_>>()
        });
        assert_ne!(first, second);
    });
}

#[test]
fn a_smallest_mailbox_router_puts_a_routee_in_backoff_last() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let backoff = Backoff::new(Duration::from_secs(100), Duration::from_secs(100));
        let down = system.spawn("down", props(&probe).backoff(backoff)).expect("a free name");
        let busy = system.spawn("busy", props(&probe)).expect("a free name");
        let group = Router::smallest_mailbox().group([down.clone(), busy.clone()]);
        let group = system.spawn_router("group", group).expect("a free name");
        down.tell(Job::Fail);
        wait_until(system, "the backoff", || down.any().snapshot().state == ActorState::Backoff);
        (0..5).for_each(|_| busy.tell(Job::Work(MS)));
        (0..4).for_each(|n| group.tell(Job::Say(n)));
        assert_eq!(down.queued(), 0, "the shorter mailbox, but nobody reads it");
        (0..4).for_each(|n| assert_eq!(probe.expect(system), ("busy".to_owned(), 1, n)));
        // With nobody else left it gets what comes.
        busy.stop();
        wait_until(system, "the end of the busy one", || system.find("/user/busy").is_none());
        group.tell(Job::Say(4));
        assert_eq!(down.queued(), 1);
    });
}

#[test]
fn a_pool_stops_its_routees_all_at_once() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        // Each has a worker of its own, so a busy one holds up none but whoever waits for it.
        let routees =
            Router::round_robin().pool(3, props(&probe).dispatcher("pinned")).refill(Refill::Shrink);
        let router = system.spawn_router("pool", routees).expect("a free name");
        [Job::Say(1), Job::Say(2), Job::Work(10 * MS)].into_iter().for_each(|job| router.tell(job));
        system.run_for(MS);
        router.stop();
        wait_until(system, "the end of the pool", || system.find("/user/pool").is_none());
        let times = |wanted: &dyn Fn(&EventKind) -> bool| -> Vec<_> {
            let (events, _) = system.rare_events(0);
            events.iter().filter(|event| wanted(&event.kind)).map(|event| event.at).collect()
        };
        let begun = times(&|kind| matches!(kind, EventKind::StopBegan));
        let ended = times(&|kind| matches!(kind, EventKind::Stopped { .. }));
        assert_eq!((begun.len(), ended.len()), (4, 4), "the router and its routees");
        // The last one started has work for 10 ms; the others do not wait for that.
        assert!(begun[2] - begun[0] < MS && begun[3] - begun[0] > 8 * MS, "{begun:?} {ended:?}");
    });
}
