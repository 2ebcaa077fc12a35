//! Promises of sending: what was sent stands, in order; only backpressure makes a sender wait; what is accepted has room.

mod common;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};
use std::time::Duration;

use common::scripted::{Msg, idle, planned, props, rest, run, spawn};
use common::wait_until;
use footlights::actor::{ActorRef, Send, SendError, TellError};
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::observe::{ActorState, DeadLetterReason, DropReason, EventKind, Level};
use footlights::supervise::{Backoff, Directive, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};

use OverflowStrategy::{Backpressure, DropNew, DropOldest, RejectToSender};

const MS: Duration = Duration::from_millis(1);

fn bounded(
    system: &ActorSystem,
    probe: &Probe<u64>,
    capacity: usize,
    overflow: OverflowStrategy,
) -> ActorRef<Msg> {
    spawn(system, "bounded", props(probe).mailbox(Mailbox::bounded(capacity, overflow)))
}

fn poll_once(send: &mut Send<Msg>) -> Poll<Result<(), SendError<Msg>>> {
    Pin::new(send).poll(&mut std::task::Context::from_waker(Waker::noop()))
}

fn dropped(system: &ActorSystem, why: DropReason) -> usize {
    let is = |kind: &EventKind| matches!(kind, EventKind::Dropped { reason, .. } if *reason == why);
    system.rare_events(0).0.iter().filter(|event| is(&event.kind)).count()
}

#[test]
fn what_was_sent_before_a_stop_or_a_failure_goes_out() {
    for fails in [false, true] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let to = bounded(system, &probe, 8, Backpressure);
            let strategy = Strategy::one_for_one().default_directive(Directive::Stop);
            let parent = spawn(system, "parent", props(&probe).supervise(strategy));
            let child = props(&probe);
            run(&parent, move |cx| {
                let child = cx.spawn("child", child)?;
                run(&child, move |cx| {
                    cx.work(MS);
                    cx.send(&to, Msg::Say(1));
                    cx.stop();
                    if fails { Err(planned()) } else { Ok(()) }
                });
                Ok(())
            });
            assert_eq!(probe.expect(system), 1, "fails: {fails}");
            assert!(system.dead_letters().is_empty());
        });
    }
}

#[test]
fn what_was_sent_before_a_failure_that_is_answered_by_stop_goes_out() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let to = bounded(system, &probe, 8, Backpressure);
        let strategy = Strategy::one_for_one().default_directive(Directive::Stop);
        let parent = spawn(system, "parent", props(&probe).supervise(strategy));
        let child = props(&probe);
        run(&parent, move |cx| {
            let child = cx.spawn("child", child)?;
            run(&child, move |cx| {
                cx.work(MS);
                cx.send(&to, Msg::Say(1));
                Err(planned())
            });
            Ok(())
        });
        assert_eq!(probe.expect(system), 1);
        wait_until(system, "the end of the child", || system.find("/user/parent/child").is_none());
        assert!(system.dead_letters().is_empty());
    });
}

#[test]
fn a_tell_after_a_send_with_room_comes_after_it() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let to = bounded(system, &probe, 8, Backpressure);
        let sender = spawn(system, "sender", props(&probe));
        run(&sender, move |cx| {
            cx.work(MS);
            cx.send(&to, Msg::Say(1));
            cx.tell(&to, Msg::Say(2));
            Ok(())
        });
        assert_eq!([probe.expect(system), probe.expect(system)], [1, 2]);
    });
}

#[test]
fn a_tell_queues_behind_a_send_that_waits_for_room() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let small = bounded(system, &probe, 1, Backpressure);
        let sender = spawn(system, "sender", props(&probe));
        run(&sender, move |cx| {
            cx.work(MS);
            // The second waits, for the first is on its way into the one room.
            (1..3).for_each(|n| cx.send(&small, Msg::Say(n)));
            cx.tell(&small, Msg::Say(3));
            Ok(())
        });
        assert_eq!([(); 3].map(|()| probe.expect(system)), [1, 2, 3]);
        assert_eq!(system.ledger().dropped, 0, "the tell waits, too");
    });
}

#[test]
fn a_tell_queues_behind_a_send_that_waits_for_a_busy_thread() {
    let system = ActorSystem::builder("busy").pool().workers(2).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let full = bounded(&system, &probe, 1, Backpressure);
    let sender = spawn(&system, "sender", props(&probe));
    idle(&system, &full);
    run(&full, move |cx| {
        let (me, told) = (cx.myself(), Arc::new(AtomicBool::new(false)));
        cx.tell(&me, Msg::Say(0));
        let tells = told.clone();
        run(&sender, move |cx| {
            cx.send(&me, Msg::Say(1));
            cx.tell(&me, Msg::Say(2));
            tells.store(true, Ordering::Relaxed);
            Ok(())
        });
        let deadline = cx.now() + MS * 5_000;
        while !told.load(Ordering::Relaxed) && cx.now() < deadline {
            std::thread::yield_now();
        }
        Ok(())
    });
    assert_eq!([(); 3].map(|()| probe.expect(&system)), [0, 1, 2]);
    assert_eq!(system.ledger().dropped, 0, "the tell waits, too");
}

#[test]
fn a_send_to_a_mailbox_without_backpressure_never_waits() {
    for overflow in [DropNew, DropOldest, RejectToSender] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let full = bounded(system, &probe, 2, overflow);
            idle(system, &full);
            run(&full, move |cx| {
                let me = cx.myself();
                cx.tell(&me, Msg::Say(1));
                cx.tell(&me, Msg::Say(2));
                let sent = poll_once(&mut me.send(Msg::Say(3)));
                let as_promised = match overflow {
                    RejectToSender => matches!(sent, Poll::Ready(Err(SendError::Full(Msg::Say(3))))),
                    _ => matches!(sent, Poll::Ready(Ok(()))),
                };
                assert!(as_promised, "{overflow:?}");
                cx.send(&me, Msg::Say(4));
                assert!(!cx.awaits_room(), "{overflow:?}");
                Ok(())
            });
            let said = if overflow == DropOldest { [3, 4] } else { [1, 2] };
            assert_eq!([probe.expect(system), probe.expect(system)], said, "{overflow:?}");
            rest(system);
            let ledger = system.ledger();
            assert_eq!(ledger.failed, 0, "{overflow:?}: the assertions in the script held");
            let letters: Vec<_> = system.dead_letters().into_iter().map(|letter| letter.reason).collect();
            let lost = (dropped(system, DropReason::MailboxFull), dropped(system, DropReason::Evicted));
            match overflow {
                DropNew => assert_eq!((lost, letters.len()), ((2, 0), 0)),
                DropOldest => assert_eq!((lost, letters.len()), ((0, 2), 0)),
                _ => {
                    assert_eq!((lost, ledger.refused), ((0, 0), 1));
                    assert_eq!(letters, [DeadLetterReason::Rejected]);
                }
            }
        });
    }
}

#[test]
fn a_try_tell_that_was_accepted_after_work_finds_its_room_when_it_arrives() {
    for seed in 0..16 {
        let system = ActorSystem::builder("room").stepper().workers(4).seed(seed).seeded_order();
        let system = system.build().expect("good settings");
        let probe = Probe::new(&system, "probe");
        let to = bounded(&system, &probe, 1, Backpressure);
        let (first, second) = (spawn(&system, "a", props(&probe)), spawn(&system, "c", props(&probe)));
        rest(&system);
        run(&to, |cx| {
            cx.work(MS * 50);
            Ok(())
        });
        system.run_for(MS);
        let target = to.clone();
        run(&first, move |cx| {
            cx.work(MS * 10);
            assert!(target.try_tell(Msg::Say(1)).is_ok(), "there is room");
            Ok(())
        });
        system.run_for(MS * 5);
        let target = to.clone();
        run(&second, move |cx| {
            cx.tell(&target, Msg::Say(2));
            Ok(())
        });
        system.run_until_quiet(1_000);
        assert_eq!(probe.take(), [1], "seed {seed}");
        let ledger = system.ledger();
        assert_eq!((dropped(&system, DropReason::MailboxFull), ledger.failed), (1, 0));
        assert!(ledger.balanced(), "{ledger:?}");
    }
}

#[test]
fn sends_to_an_actor_in_backoff_wait_when_its_hold_is_full() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let backoff = Backoff::new(MS * 100, MS * 100).jitter_permille(0);
        let to = spawn(system, "to", props(&probe).hold(3).backoff(backoff));
        to.tell(Msg::Fail);
        wait_until(system, "the backoff", || to.any().snapshot().state == ActorState::Backoff);
        let mut sends: Vec<_> = (0..50).map(|n| to.send(Msg::Say(n))).collect();
        sends.retain_mut(|send| match poll_once(send) {
            Poll::Pending => true,
            Poll::Ready(sent) => sent.is_err(),
        });
        assert_eq!((to.queued(), sends.len()), (3, 47));
        sends.into_iter().for_each(|send| assert!(system.block_on(send).is_ok()));
        (0..50).for_each(|n| assert_eq!(probe.expect(system), n));
        let ledger = system.ledger();
        assert_eq!((ledger.dropped, ledger.dead_lettered, to.any().snapshot().restarts), (0, 0, 1));
    });
}

#[test]
fn what_is_handed_back_was_never_sent() {
    let pool = ActorSystem::builder("sent").pool().workers(2).log(Level::Message);
    for builder in [pool, ActorSystem::builder("sent").stepper()] {
        for (overflow, work) in [(Backpressure, 0), (DropNew, 0), (RejectToSender, 0), (Backpressure, 1)] {
            let system = builder.clone().build().expect("good settings");
            let probe = Probe::<u64>::new(&system, "probe");
            let full = bounded(&system, &probe, 1, overflow);
            idle(&system, &full);
            run(&full, move |cx| {
                let me = cx.myself();
                cx.work(MS * work);
                assert!(me.try_tell(Msg::Say(1)).is_ok(), "there is room");
                for n in 2..5 {
                    assert!(matches!(me.try_tell(Msg::Say(n)), Err(TellError::Full(_))));
                }
                Ok(())
            });
            assert_eq!(probe.expect(&system), 1);
            idle(&system, &full);
            full.stop();
            wait_until(&system, "the end", || system.find("/user/bounded").is_none());
            assert!(matches!(full.try_tell(Msg::Say(5)), Err(TellError::Closed(_))));
            let events = system.events(0, 10_000);
            let sent = |kind: &EventKind| matches!(kind, EventKind::Sent { .. });
            let sent = events.iter().filter(|event| event.actor == full.id() && sent(&event.kind)).count();
            assert_eq!(sent, 2, "the script and the one number: {overflow:?}, {work} ms of work");
            assert_eq!((system.ledger().failed, system.ledger().refused), (0, 3));
        }
    }
}
