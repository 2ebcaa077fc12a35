//! Promises of a balancing router's bounded queue: it never holds more than its capacity, and what does not fit is told.

mod common;

use std::time::Duration;

use common::routees::{Job, MS, Said, props};
use common::scripted::rest;
use footlights::actor::{Actor, Context, Failure, Props};
use footlights::observe::{DeadLetterReason, DropReason, EventKind};
use footlights::pattern::{Ask, AskError, Reply};
use footlights::routing::{QueueFull, Router, RouterRef};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};

fn bounded(
    system: &ActorSystem,
    probe: &Probe<Said>,
    (capacity, full): (usize, QueueFull),
) -> RouterRef<Job> {
    let pool = Router::balancing_bounded(capacity, full).pool(1, props(probe));
    system.spawn_router("pool", pool).expect("a free name")
}

/// Keeps the routee at work, and sends it ten jobs; gives those that were done.
fn done(system: &ActorSystem, full: QueueFull) -> Vec<u32> {
    let probe = Probe::new(system, "probe");
    let router = bounded(system, &probe, (4, full));
    rest(system);
    router.tell(Job::Work(MS));
    system.step();
    for n in 0..10 {
        router.tell(Job::Say(n));
        assert_eq!(router.snapshot().queued, u64::from(n + 1).min(4));
        assert!(system.ledger().balanced());
    }
    rest(system);
    probe.take().into_iter().map(|(_, _, n)| n).collect()
}

fn drops(system: &ActorSystem) -> Vec<DropReason> {
    let reason = |kind| if let EventKind::Dropped { reason, .. } = kind { Some(reason) } else { None };
    system.rare_events(0).0.into_iter().filter_map(|event| reason(event.kind)).collect()
}

#[test]
fn drop_new_keeps_the_first_and_counts_the_others() {
    on_steppers(|system| {
        assert_eq!(done(system, QueueFull::DropNew), [0, 1, 2, 3]);
        assert_eq!((system.ledger().dropped, system.ledger().dead_lettered), (6, 0));
        assert_eq!(drops(system), [DropReason::MailboxFull; 6]);
    });
}

#[test]
fn drop_oldest_keeps_the_last_and_counts_the_others() {
    on_steppers(|system| {
        assert_eq!(done(system, QueueFull::DropOldest), [6, 7, 8, 9]);
        assert_eq!((system.ledger().dropped, system.ledger().dead_lettered), (6, 0));
        assert_eq!(drops(system), [DropReason::Evicted; 6]);
    });
}

#[test]
fn reject_makes_dead_letters_of_the_others() {
    on_steppers(|system| {
        assert_eq!(done(system, QueueFull::Reject), [0, 1, 2, 3]);
        assert_eq!((system.ledger().dropped, system.ledger().dead_lettered), (0, 6));
        let letters = system.dead_letters();
        assert!(letters.iter().all(|letter| letter.reason == DeadLetterReason::Rejected));
        assert!(letters.iter().all(|letter| &*letter.to == "/user/pool"), "{letters:?}");
    });
}

#[test]
fn on_every_dispatcher_each_job_is_done_or_told_of() {
    for full in [QueueFull::DropNew, QueueFull::DropOldest, QueueFull::Reject] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let pool = Router::balancing_bounded(3, full).pool(2, props(&probe));
            let router = system.spawn_router("pool", pool).expect("a free name");
            for n in 0..500 {
                router.tell(Job::Say(n));
                assert!(router.snapshot().queued <= 3);
            }
            rest(system);
            let ledger = system.ledger();
            let said = probe.take();
            assert_eq!(
                said.len() as u64 + ledger.dropped + ledger.dead_lettered,
                500,
                "{full:?}: {ledger:?}"
            );
            let (dropped, letters) = (ledger.dropped > 0, ledger.dead_lettered > 0);
            assert!(if full == QueueFull::Reject { !dropped } else { !letters }, "{full:?}: {ledger:?}");
            assert!(!said.is_empty());
        });
    }
}

/// Answers after 1 ms.
struct Slow;

impl Actor for Slow {
    type Msg = (u32, Reply<u32>);

    fn receive(&mut self, cx: &mut Context<'_, Self>, (n, reply): Self::Msg) -> Result<(), Failure> {
        cx.work(MS);
        reply.send(n);
        Ok(())
    }
}

#[test]
fn an_ask_that_finds_no_room_hears_so_at_once() {
    let evicted = AskError::Dropped(DropReason::Evicted);
    let cases = [
        (QueueFull::DropNew, [Ok(1), Ok(2), Err(AskError::Full), Err(AskError::Full)]),
        (QueueFull::Reject, [Ok(1), Ok(2), Err(AskError::Full), Err(AskError::Full)]),
        (QueueFull::DropOldest, [Err(evicted), Err(evicted), Ok(3), Ok(4)]),
    ];
    for (full, expected) in cases {
        on_steppers(|system| {
            let pool = Router::balancing_bounded(2, full).pool(1, Props::new(|| Slow));
            let router = system.spawn_router("pool", pool).expect("a free name");
            rest(system);
            let ask = |n| router.ask(move |reply| (n, reply), Duration::from_secs(3));
            let first = ask(0);
            system.step();
            let others: Vec<Ask<u32>> = (1..5).map(ask).collect();
            let heard: Vec<_> = others.into_iter().map(|ask| system.block_on(ask)).collect();
            assert_eq!(heard, expected, "{full:?}");
            assert_eq!(system.block_on(first), Ok(0));
        });
    }
}

#[test]
fn a_broadcast_needs_no_room_in_the_queue() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = bounded(system, &probe, (0, QueueFull::DropNew));
        rest(system);
        router.tell(Job::Work(MS));
        system.step();
        router.tell(Job::Say(1)); // a capacity of 0 is taken as 1
        router.broadcast(Job::Say(2));
        rest(system);
        assert_eq!(probe.take().into_iter().map(|(_, _, n)| n).collect::<Vec<_>>(), [2, 1]);
    });
}
