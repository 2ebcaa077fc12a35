//! Promises of reserved room: first come, first served, nothing of it lost, and nobody left waiting.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Waker};
use std::time::Duration;

use common::scripted::{Msg, idle, props, rest, run, spawn};
use common::wait_until;
use footlights::actor::{ActorRef, SendError, TellError};
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;

use OverflowStrategy::{Backpressure, DropNew, Timeout};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const MS: Duration = Duration::from_millis(1);

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut std::task::Context::from_waker(Waker::noop()))
}

fn bounded(system: &ActorSystem, probe: &Probe<u64>, capacity: usize) -> ActorRef<Msg> {
    let target = spawn(system, "small", props(probe).mailbox(Mailbox::bounded(capacity, Backpressure)));
    idle(system, &target);
    target
}

#[test]
fn a_permit_is_room_that_nobody_else_gets() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let small = bounded(system, &probe, 1);
        let permit = system.block_on(small.reserve()).expect("room");
        assert!(matches!(small.try_tell(Msg::Say(1)), Err(TellError::Full(_))));
        permit.send(Msg::Say(2)).ok().expect("it lives");
        assert_eq!(probe.expect(system), 2);
        drop(system.block_on(small.reserve()).expect("room again"));
        idle(system, &small);
        assert!(small.try_tell(Msg::Say(3)).is_ok(), "a dropped permit is given back");
        assert_eq!(probe.expect(system), 3);
    });
}

#[test]
fn m2_permits_that_are_dropped_go_to_the_next_in_line() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let small = bounded(system, &probe, 3);
        let mut batch = system.block_on(small.reserve_many(3)).expect("room");
        let (mut first, mut second) = (small.reserve_many(2), small.send(Msg::Say(9)));
        assert!(poll(&mut first).is_pending() && poll(&mut second).is_pending());
        batch.send(Msg::Say(1)).ok().expect("it lives");
        assert_eq!((probe.expect(system), batch.left()), (1, 2));
        idle(system, &small);
        assert!(poll(&mut first).is_pending() && poll(&mut second).is_pending(), "it has one of two");
        drop(first);
        assert!(matches!(poll(&mut second), Poll::Ready(Ok(()))), "the part of a batch is given on");
        assert_eq!(probe.expect(system), 9);
        drop(batch);
        assert_eq!(system.block_on(small.reserve_many(3)).expect("all of it").left(), 3);
    });
}

#[test]
fn more_than_a_mailbox_can_hold_is_refused_at_once() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let small = bounded(system, &probe, 2);
        assert_eq!(system.block_on(small.reserve_many(3)).err(), Some(SendError::Full(())));
        assert_eq!(system.block_on(small.reserve_many(0)).expect("nothing is asked").left(), 0);
        let dropping = spawn(system, "dropping", props(&probe).mailbox(Mailbox::bounded(1, DropNew)));
        let _held = system.block_on(dropping.reserve()).expect("room");
        assert_eq!(system.block_on(dropping.reserve()).err(), Some(SendError::Full(())));
    });
}

#[test]
fn a_wait_for_a_permit_ends_when_the_policy_says_so() {
    on_steppers(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let patient = Mailbox::bounded(1, Timeout(MS * 10));
        let small = spawn(system, "small", props(&probe).mailbox(patient));
        let held = system.block_on(small.reserve()).expect("room");
        let began = system.now();
        assert_eq!(system.block_on(small.reserve()).err(), Some(SendError::Timeout(())));
        assert_eq!(system.now(), began + MS * 10);
        drop(held);
        assert!(system.block_on(small.reserve()).is_ok());
        assert_eq!(system.snapshot().timers, 0);
        assert!(system.now() > Instant::ZERO);
    });
}

#[test]
fn m2_the_end_of_the_actor_wakes_everybody_who_waits() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let small = bounded(system, &probe, 1);
        let permit = system.block_on(small.reserve()).expect("room");
        let (one, many) = (small.reserve_many(1), small.reserve_many(1));
        let (mut one, mut many) = (pin!(one), pin!(many));
        let send = pin!(small.send(Msg::Say(1)));
        let mut send = send;
        assert!(poll(&mut one).is_pending() && poll(&mut many).is_pending() && poll(&mut send).is_pending());
        small.stop();
        // Each would sleep for ever, or find the system at rest, if nobody woke it.
        assert_eq!(system.block_on(one).err(), Some(SendError::Closed(())));
        assert_eq!(system.block_on(many).err(), Some(SendError::Closed(())));
        assert!(matches!(system.block_on(send), Err(SendError::Closed(Msg::Say(1)))));
        wait_until(system, "the end", || system.find("/user/small").is_none());
        assert!(matches!(permit.send(Msg::Say(2)), Err(SendError::Closed(Msg::Say(2)))));
    });
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn m2_a_cancelled_wait_beside_a_closing_mailbox_loses_nobody() {
    let system = ActorSystem::builder("m2").pool().workers(2).build().expect("good settings");
    let (closed, sent) = (AtomicU64::new(0), AtomicU64::new(0));
    for round in 0..100 {
        let probe = Probe::<u64>::new(&system, &format!("probe{round}"));
        let name = format!("small{round}");
        let settings = props(&probe).mailbox(Mailbox::bounded(1, Backpressure));
        let small = spawn(&system, &name, settings);
        let held = system.block_on(small.reserve()).expect("room");
        let mut first = small.send(Msg::Say(1));
        assert!(poll(&mut first).is_pending());
        #[expect(clippy::disallowed_methods, reason = "the senders are outside the pool")]
        std::thread::scope(|scope| {
            for n in 2..4 {
                let (system, small, closed, sent) = (&system, &small, &closed, &sent);
                scope.spawn(move || match system.block_on(small.send(Msg::Say(n))) {
                    Ok(()) => sent.fetch_add(1, Ordering::Relaxed),
                    Err(SendError::Closed(_)) => closed.fetch_add(1, Ordering::Relaxed),
                    Err(_) => panic!("another error"),
                });
            }
            scope.spawn(move || drop((held, first)));
            scope.spawn(|| small.stop());
        });
        wait_until(&system, "the end", || system.find(&format!("/user/{name}")).is_none());
    }
    assert_eq!(closed.into_inner() + sent.into_inner(), 200, "each sender was told one thing");
    system.shutdown(Duration::from_secs(5)).expect("an end");
    assert!(system.ledger().balanced(), "{:?}", system.ledger());
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn m2_room_moves_among_many_threads_and_none_of_it_is_lost() {
    let system = ActorSystem::builder("m2").pool().workers(2).build().expect("good settings");
    let probe = Probe::<u64>::new(&system, "probe");
    let small = bounded(&system, &probe, 3);
    let told = Arc::new(AtomicU64::new(0));
    #[expect(clippy::disallowed_methods, reason = "the senders are outside the pool")]
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (system, small, told) = (&system, &small, told.clone());
            scope.spawn(move || {
                for n in 0..200 {
                    // Some give up before they have anything, some use one of two, some use all.
                    let mut wait = small.reserve_many(1 + (n + thread as usize) % 3);
                    if n % 3 == 0 {
                        let _ = poll(&mut wait);
                        continue;
                    }
                    let mut permits = system.block_on(wait).expect("it lives");
                    permits.send(Msg::Say(1)).ok().expect("it lives");
                    told.fetch_add(1, Ordering::Relaxed);
                    if n % 2 == 0 && permits.left() > 0 {
                        permits.send(Msg::Say(1)).ok().expect("it lives");
                        told.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    for _ in 0..told.load(Ordering::Relaxed) {
        assert_eq!(probe.expect(&system), 1);
    }
    rest(&system);
    assert_eq!(system.block_on(small.reserve_many(3)).expect("all of it is there").left(), 3);
    assert!(system.ledger().balanced());
    run(&small, |_| Ok(()));
}
