//! Promises of routers whose routees come and go: refills, sizes, retirements, drains, and nothing lost meanwhile.

mod common;

use std::time::Duration;

use common::routees::{Job, MS, Said, names, pool, props, shares, table_size};
use common::wait_until;
use footlights::actor::{Actor, Context, Failure, Props};
use footlights::observe::{DeadLetterReason, DropReason, EventKind, ResizeWhy};
use footlights::routing::{ChangeError, Refill, Router, RouterRef};
use footlights::supervise::{Limit, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};

fn refilled(system: &ActorSystem, probe: &Probe<Said>, n: usize, refill: Refill) -> RouterRef<Job> {
    let pool = Router::round_robin().pool(n, props(probe)).refill(refill);
    system.spawn_router("pool", pool).expect("a free name")
}

fn events(system: &ActorSystem) -> Vec<EventKind> {
    system.rare_events(0).0.into_iter().map(|event| event.kind).collect()
}

/// Gives the reasons of all dead letters that are kept.
fn dead(system: &ActorSystem) -> Vec<DeadLetterReason> {
    system.dead_letters().into_iter().map(|letter| letter.reason).collect()
}

// --- refill ---

#[test]
fn a_routee_that_has_ended_is_replaced_under_its_name_after_100_ms() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = refilled(system, &probe, 3, Refill::default());
        let old = router.routees();
        old[1].stop();
        table_size(system, &router, 2);
        let gone_at = system.now();
        table_size(system, &router, 3);
        assert_eq!(system.now() - gone_at, 100 * MS);
        assert_eq!(names(&router), ["r1", "r3", "r2"]);
        assert!(!router.routees().contains(&old[1]));
        let added = |kind: &EventKind| matches!(kind, EventKind::RouteeAdded { routees: 3, .. });
        assert!(events(system).iter().any(added));
    });
}

#[test]
fn a_pool_replaces_what_ends_on_every_dispatcher() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = refilled(system, &probe, 2, Refill::default());
        let old = router.routees();
        old.iter().for_each(|routee| routee.stop());
        wait_until(system, "two others", || {
            let now = router.routees();
            now.len() == 2 && now.iter().all(|routee| !old.contains(routee))
        });
        assert_eq!(shares(system, &probe, &router, 6).values().copied().collect::<Vec<_>>(), [3, 3]);
    });
}

#[test]
fn a_pool_that_has_replaced_too_many_shrinks_and_stops_without_routees() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let limit = Limit::Within { count: 2, within: Duration::from_secs(10) };
        let router = refilled(system, &probe, 1, Refill::replace().within(limit));
        probe.watch(system, &router.actor());
        for _ in 0..3 {
            table_size(system, &router, 1);
            router.routees()[0].stop();
            table_size(system, &router, 0);
        }
        probe.expect_terminated(system);
        let made = events(system).iter().filter(|kind| matches!(kind, EventKind::RouteeAdded { .. })).count();
        assert_eq!(made, 2);
        assert_eq!(system.now() - footlights::time::Instant::ZERO, 300 * MS, "100 ms, then 200 ms");
    });
}

#[test]
fn a_pool_that_stops_with_the_first_stops() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = refilled(system, &probe, 3, Refill::StopWithFirst);
        probe.watch(system, &router.actor());
        router.routees()[2].stop();
        probe.expect_terminated(system);
        wait_until(system, "nobody of the pool", || system.find("/user/pool").is_none());
    });
}

#[test]
fn a_routee_that_its_supervision_gave_up_is_replaced_too() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let strategy = Strategy::one_for_one().max_restarts(0, Duration::from_secs(1));
        let pool = Router::round_robin().pool(2, props(&probe)).supervise(strategy);
        let router = system.spawn_router("pool", pool).expect("a free name");
        let first = router.routees()[0].clone();
        router.tell(Job::Fail);
        wait_until(system, "another in its place", || {
            let now = router.routees();
            now.len() == 2 && !now.contains(&first)
        });
    });
}

// --- nothing is lost while there is nobody ---

#[test]
fn messages_wait_for_a_routee_that_is_to_come() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = refilled(system, &probe, 1, Refill::default());
        let only = router.routees()[0].clone();
        only.stop();
        wait_until(system, "its end", || only.is_closed());
        (0..10).for_each(|n| router.tell(Job::Say(n)));
        assert!(system.ledger().balanced() || !system.is_stepper());
        (0..10).for_each(|n| assert_eq!(probe.expect(system).2, n));
        assert_eq!(system.dead_letters(), []);
    });
}

#[test]
fn a_router_holds_a_thousand_messages_and_no_more() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = refilled(system, &probe, 1, Refill::default());
        let only = router.routees()[0].clone();
        only.stop();
        wait_until(system, "its end", || only.is_closed());
        (0..1_003).for_each(|n| router.tell(Job::Say(n)));
        let ledger = system.ledger();
        assert!(ledger.balanced(), "{ledger:?}");
        assert_eq!((router.snapshot().queued, ledger.dropped), (1_000, 3));
        let full = |kind: &EventKind| matches!(kind, EventKind::Dropped { reason: DropReason::HoldFull, .. });
        assert_eq!(events(system).iter().filter(|kind| full(kind)).count(), 3);
        (0..1_000).for_each(|n| assert_eq!(probe.expect(system).2, n));
    });
}

#[test]
fn a_router_that_ends_while_it_holds_makes_dead_letters_of_what_it_holds() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = refilled(system, &probe, 1, Refill::default());
        probe.watch(system, &router.actor());
        let only = router.routees()[0].clone();
        only.stop();
        wait_until(system, "its end", || only.is_closed());
        (0..3).for_each(|n| router.tell(Job::Say(n)));
        router.stop();
        probe.expect_terminated(system);
        assert_eq!(dead(system), [DeadLetterReason::NoRoutee; 3]);
    });
}

#[test]
fn messages_wait_while_a_pool_is_restarted() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let escalate = Strategy::one_for_one().default_directive(footlights::supervise::Directive::Escalate);
        let pool = Router::round_robin().pool(2, props(&probe)).supervise(escalate);
        let router = system.spawn_router("pool", pool).expect("a free name");
        let old = router.routees();
        old[0].tell(Job::Fail);
        wait_until(system, "the old ones to be closed", || old.iter().all(|routee| routee.is_closed()));
        (0..20).for_each(|n| router.tell(Job::Say(n)));
        let mut got: Vec<u32> = (0..20).map(|_| probe.expect(system).2).collect();
        got.sort_unstable();
        assert_eq!(got, (0..20).collect::<Vec<_>>());
    });
}

// --- sizes ---

#[test]
fn a_size_is_set_when_the_future_is_ready() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 3);
        assert_eq!(system.block_on(router.set_size(5)), Ok(5));
        assert_eq!(names(&router), ["r1", "r2", "r3", "r4", "r5"]);
        assert_eq!(system.block_on(router.adjust_size(-3)), Ok(2));
        assert_eq!(names(&router), ["r1", "r2"]);
        assert_eq!(system.block_on(router.adjust_size(1)), Ok(3));
        assert_eq!(names(&router), ["r1", "r2", "r6"]);
        assert_eq!(shares(system, &probe, &router, 9).values().copied().collect::<Vec<_>>(), [3, 3, 3]);
        let asked = events(system).into_iter().filter_map(|kind| match kind {
            EventKind::Resized(resized) if resized.why == ResizeWhy::Asked => {
                Some((resized.from, resized.to, resized.why()))
            }
            _ => None,
        });
        let asked: Vec<_> = asked.collect();
        assert_eq!(asked.iter().map(|a| (a.0, a.1)).collect::<Vec<_>>(), [(3, 5), (5, 2), (2, 3)]);
        assert_eq!(asked[0].2, "3 routees become 5: somebody asked for it");
    });
}

#[test]
fn the_same_size_changes_nothing() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 3);
        let before = router.routees();
        assert_eq!(system.block_on(router.set_size(3)), Ok(3));
        assert_eq!(system.block_on(router.adjust_size(0)), Ok(3));
        assert_eq!(router.routees(), before);
        assert!(!events(system).iter().any(|kind| matches!(kind, EventKind::Resized(_))));
    });
}

#[test]
fn a_size_that_is_not_waited_for_is_set_too() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 1);
        router.set_size(4).forget();
        table_size(system, &router, 4);
    });
}

#[test]
fn a_pool_set_to_nothing_handles_what_it_has_and_stops() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 2);
        probe.watch(system, &router.actor());
        (0..6).for_each(|n| router.tell(Job::Say(n)));
        assert_eq!(system.block_on(router.set_size(0)), Ok(0));
        let mut got: Vec<u32> = (0..6).map(|_| probe.expect(system).2).collect();
        got.sort_unstable();
        assert_eq!(got, [0, 1, 2, 3, 4, 5]);
        probe.expect_terminated(system);
        assert_eq!(system.block_on(router.set_size(2)), Err(ChangeError::Stopped));
    });
}

#[test]
fn a_smaller_size_calls_replacements_back_first() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = refilled(system, &probe, 3, Refill::default());
        router.routees()[0].stop();
        table_size(system, &router, 2);
        let routees = router.routees();
        assert_eq!(system.block_on(router.set_size(2)), Ok(2));
        system.run_for(Duration::from_secs(1));
        assert_eq!(router.routees(), routees);
    });
}

// --- single routees ---

#[test]
fn a_group_takes_members_in_and_lets_them_go() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let spawn = |name: &str| system.spawn(name, props(&probe)).expect("a free name");
        let (a, b) = (spawn("a"), spawn("b"));
        let group = system.spawn_router("group", Router::round_robin().group([a.clone()]));
        let group = group.expect("a free name");
        assert_eq!(system.block_on(group.add_routee(&b)), Ok(2));
        assert_eq!(system.block_on(group.add_routee(&b)), Ok(2), "once is enough");
        assert_eq!(shares(system, &probe, &group, 6).values().copied().collect::<Vec<_>>(), [3, 3]);
        assert_eq!(system.block_on(group.remove_routee(&a.any())), Ok(1));
        assert_eq!(system.block_on(group.remove_routee(&a.any())), Err(ChangeError::Unknown));
        assert_eq!(system.block_on(group.set_size(3)), Err(ChangeError::NotAPool));
        group.tell(Job::Say(7));
        assert_eq!(probe.expect(system).0, "b");
        a.tell(Job::Say(8));
        assert_eq!(probe.expect(system).0, "a", "it lives on");
        b.stop();
        table_size(system, &group, 0);
        group.tell(Job::Say(9));
        assert_eq!(dead(system), [DeadLetterReason::NoRoutee]);
    });
}

#[test]
fn a_pool_takes_a_stranger_in_and_does_not_replace_it() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = refilled(system, &probe, 1, Refill::default());
        let stranger = system.spawn("stranger", props(&probe)).expect("a free name");
        assert_eq!(system.block_on(router.add_routee(&stranger)), Ok(2));
        assert_eq!(shares(system, &probe, &router, 4).values().copied().collect::<Vec<_>>(), [2, 2]);
        stranger.stop();
        table_size(system, &router, 1);
        assert_eq!(system.block_on(router.adjust_size(0)), Ok(1), "nothing is to come");
    });
}

#[test]
fn a_router_behind_a_router_routes_once_more() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let back = pool(system, &probe, Router::round_robin(), 2);
        let lone = system.spawn("lone", props(&probe)).expect("a free name");
        let front = Router::round_robin().group([lone.clone()]).router(&back);
        let front = system.spawn_router("front", front).expect("a free name");
        let shares = shares(system, &probe, &front, 8);
        let shares: Vec<_> = shares.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(shares, [("lone", 4), ("r1", 2), ("r2", 2)]);
        assert_eq!(front.routees().len(), 3);
        back.stop();
        wait_until(system, "the news of the router behind", || front.snapshot().size() == 1);
        front.tell(Job::Say(9));
        assert_eq!(probe.expect(system).0, "lone");
        assert_eq!(system.dead_letters(), []);
    });
}

// --- retirement ---

#[test]
fn a_retired_routee_handles_what_it_has_before_it_stops() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 2);
        let second = router.routees()[1].clone();
        probe.watch(system, &second.any());
        (0..100).for_each(|n| second.tell(Job::Say(n)));
        assert_eq!(system.block_on(router.remove_routee(&second.any())), Ok(1));
        (0..100).for_each(|n| assert_eq!(probe.expect(system), ("r2".to_owned(), 1, n)));
        probe.expect_terminated(system);
        assert_eq!(system.dead_letters(), []);
        assert_eq!(names(&router), ["r1"], "and it is not replaced");
    });
}

#[test]
fn what_comes_too_late_for_a_retired_routee_goes_to_another() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 2);
        system.run_until_quiet(1_000);
        let second = router.routees()[1].clone();
        // It is at work when it is told to go, so what comes then lies behind that.
        second.tell(Job::Work(10 * MS));
        assert_eq!(system.block_on(router.remove_routee(&second.any())), Ok(1));
        (0..5).for_each(|n| second.tell(Job::Say(n)));
        assert!(system.ledger().balanced());
        (0..5).for_each(|n| assert_eq!(probe.expect(system), ("r1".to_owned(), 1, n)));
        // It has ended now; who still holds its reference reaches the others.
        assert!(second.is_closed());
        second.tell(Job::Say(5));
        assert_eq!(probe.expect(system), ("r1".to_owned(), 1, 5));
        assert_eq!(system.dead_letters(), []);
        let rerouted = events(system).into_iter().filter(|kind| matches!(kind, EventKind::Rerouted { .. }));
        assert_eq!(rerouted.count(), 6);
    });
}

#[test]
fn messages_on_their_way_to_a_retired_routee_arrive_at_another() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 2);
        let sender = system.spawn(
            "sender",
            Props::new({
                let router = router.clone();
                move || Sender { router: router.clone() }
            }),
        );
        let sender = sender.expect("a free name");
        system.run_until_quiet(1_000);
        // What it sends is visible when its work is done, and by then one of the two has gone.
        sender.tell(20 * MS);
        assert!(system.step().is_some());
        let second = router.routees()[1].clone();
        assert_eq!(system.block_on(router.remove_routee(&second.any())), Ok(1));
        let mut got: Vec<u32> = (0..4).map(|_| probe.expect(system).2).collect();
        got.sort_unstable();
        assert_eq!(got, [0, 1, 2, 3]);
        assert_eq!(system.dead_letters(), []);
        assert!(system.ledger().balanced());
    });
}

/// Works, then sends four jobs.
struct Sender {
    router: RouterRef<Job>,
}

impl Actor for Sender {
    type Msg = Duration;

    fn receive(&mut self, cx: &mut Context<'_, Self>, d: Duration) -> Result<(), Failure> {
        cx.work(d);
        (0..4).for_each(|n| cx.tell(&self.router, Job::Say(n)));
        Ok(())
    }
}

#[test]
fn nothing_is_lost_while_a_pool_breathes() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 4);
        for round in 0..10u32 {
            (0..20).for_each(|n| router.tell(Job::Say(round * 20 + n)));
            router.set_size(if round % 2 == 0 { 1 } else { 6 }).forget();
        }
        let mut got: Vec<u32> = (0..200).map(|_| probe.expect(system).2).collect();
        got.sort_unstable();
        assert_eq!(got, (0..200).collect::<Vec<_>>());
        assert_eq!(system.dead_letters(), []);
    });
}

// --- the router's own end ---

#[test]
fn a_pool_that_is_drained_takes_no_more_handles_what_it_has_and_stops() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = refilled(system, &probe, 3, Refill::default());
        probe.watch(system, &router.actor());
        (0..30).for_each(|n| router.tell(Job::Say(n)));
        router.drain();
        table_size(system, &router, 0);
        router.tell(Job::Say(99));
        let mut got: Vec<u32> = (0..30).map(|_| probe.expect(system).2).collect();
        got.sort_unstable();
        assert_eq!(got, (0..30).collect::<Vec<_>>());
        probe.expect_terminated(system);
        assert_eq!(dead(system), [DeadLetterReason::NoRoutee]);
        assert_eq!(system.block_on(router.set_size(2)), Err(ChangeError::Stopped));
    });
}

#[test]
fn a_group_that_is_drained_stops_and_its_members_live_on() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let member = system.spawn("member", props(&probe)).expect("a free name");
        let group = system.spawn_router("group", Router::random().group([member.clone()]));
        let group = group.expect("a free name");
        probe.watch(system, &group.actor());
        group.drain();
        probe.expect_terminated(system);
        member.tell(Job::Say(1));
        assert_eq!(probe.expect(system).2, 1);
    });
}

#[test]
fn draining_the_routees_of_a_pool_leaves_the_rest_to_its_refill() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 3);
        probe.watch(system, &router.actor());
        (0..9).for_each(|n| router.tell(Job::Say(n)));
        router.broadcast_drain();
        (0..9).for_each(|_| drop(probe.expect(system)));
        probe.expect_terminated(system);
        assert_eq!(system.dead_letters(), []);
    });
}

#[test]
fn a_killed_router_is_stopped_by_its_supervisor() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = refilled(system, &probe, 2, Refill::default());
        probe.watch(system, &router.actor());
        router.kill();
        probe.expect_terminated(system);
        router.tell(Job::Say(1));
        assert_eq!(dead(system), [DeadLetterReason::NoRoutee]);
    });
}

// --- what there is to see ---

#[test]
fn a_snapshot_counts_the_choices_of_each_routee_and_shows_the_last() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, Router::round_robin(), 3);
        (0..7).for_each(|n| router.tell(Job::Say(n)));
        let seen = router.snapshot();
        assert_eq!((seen.kind, seen.size()), ("round robin", 3));
        assert_eq!(seen.routees.iter().map(|routee| routee.chosen).collect::<Vec<_>>(), [3, 2, 2]);
        let (last, why) = seen.last.expect("choices are logged here");
        assert_eq!(last, router.routees()[0].id());
        assert_eq!(why.why(), "it is the turn of routee 1 of 3");
        let actors = system.snapshot().actors;
        let shown = actors.iter().find(|actor| &*actor.path == "/user/pool").expect("the router's actor");
        assert_eq!(shown.router.as_deref(), Some(&seen));
        let routed = system
            .events(0, 10_000)
            .into_iter()
            .filter(|event| matches!(event.kind, EventKind::Routed { .. }));
        assert_eq!(routed.count(), 7);
    });
}
