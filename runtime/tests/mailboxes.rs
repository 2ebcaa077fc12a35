//! Promises of mailboxes: what happens when there is no room, by every door.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::future::Future;
use std::pin::pin;
use std::task::{Poll, Waker};
use std::time::Duration;

use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient, SendError, TellError};
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::observe::{ActorState, DeadLetterReason, DropReason, EventKind};
use footlights::supervise::Backoff;
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;

use OverflowStrategy::{Backpressure, DropNew, DropOldest, RejectToSender};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const MS: Duration = Duration::from_millis(1);
const ALL: [OverflowStrategy; 5] =
    [Backpressure, OverflowStrategy::Timeout(MS), DropNew, DropOldest, RejectToSender];

type Script = Box<dyn FnOnce(&mut Context<'_, Box_>) -> Result<(), Failure> + Send>;

/// An actor with a small mailbox; says what it is told.
struct Box_ {
    out: Recipient<u32>,
}

enum Msg {
    Run(Script),
    Say(u32),
}

impl Actor for Box_ {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Run(script) => return script(cx),
            Msg::Say(n) => self.out.tell(n),
        }
        Ok(())
    }
}

fn actor(system: &ActorSystem, probe: &Probe<u32>, name: &str, mailbox: Mailbox) -> ActorRef<Msg> {
    let out = probe.recipient();
    let props = Props::new(move || Box_ { out: out.clone() }).mailbox(mailbox);
    system.spawn(name, props).expect("a free name")
}

fn run(
    actor: &ActorRef<Msg>,
    script: impl FnOnce(&mut Context<'_, Box_>) -> Result<(), Failure> + Send + 'static,
) {
    actor.tell(Msg::Run(Box::new(script)));
}

/// Waits until all that can be handled has been.
fn rest(system: &ActorSystem) {
    wait_until(system, "the system to come to rest", || system.is_quiet());
}

/// Waits until an actor has handled what it was told.
fn idle<M: Send>(system: &ActorSystem, actor: &ActorRef<M>) {
    wait_until(system, "an actor with nothing to do", || actor.queued() == 0);
}

/// Has a bounded actor fill its own mailbox of two while it runs, then runs `then` on it, and gives what it said after.
fn with_two_queued(
    system: &ActorSystem,
    overflow: OverflowStrategy,
    then: impl FnOnce(&ActorRef<Msg>, &mut Context<'_, Box_>) + Send + 'static,
) -> Vec<u32> {
    let probe = Probe::new(system, "probe");
    let full = actor(system, &probe, "full", Mailbox::bounded(2, overflow));
    idle(system, &full);
    run(&full, move |cx| {
        let me = cx.myself();
        cx.tell(&me, Msg::Say(1));
        cx.tell(&me, Msg::Say(2));
        then(&me, cx);
        Ok(())
    });
    idle(system, &full);
    rest(system);
    full.tell(Msg::Say(99));
    std::iter::from_fn(|| Some(probe.expect(system))).take_while(|&n| n != 99).collect()
}

fn dropped(system: &ActorSystem, why: DropReason) -> usize {
    let is = |kind: &EventKind| matches!(kind, EventKind::Dropped { reason, .. } if *reason == why);
    system.rare_events(0).0.iter().filter(|event| is(&event.kind)).count()
}

#[test]
fn a_tell_to_a_full_mailbox_does_as_its_policy_says() {
    for overflow in ALL {
        on_each_dispatcher(|system| {
            let said = with_two_queued(system, overflow, |me, cx| cx.tell(me, Msg::Say(3)));
            let ledger = system.ledger();
            let (left, fates) = match overflow {
                DropOldest => (vec![2, 3], (1, 0, 1)),
                RejectToSender => (vec![1, 2], (0, 1, 0)),
                _ => (vec![1, 2], (1, 0, 0)),
            };
            assert_eq!(said, left, "{overflow:?}");
            assert_eq!((ledger.dropped, ledger.dead_lettered), (fates.0, fates.1), "{overflow:?}");
            assert_eq!(dropped(system, DropReason::Evicted), fates.2);
            let letters: Vec<_> = system.dead_letters().into_iter().map(|letter| letter.reason).collect();
            assert_eq!(letters, vec![DeadLetterReason::Rejected; fates.1 as usize]);
        });
    }
}

#[test]
fn a_try_tell_to_a_full_mailbox_hands_the_message_back() {
    for overflow in ALL {
        on_each_dispatcher(|system| {
            let said = with_two_queued(system, overflow, move |me, cx| {
                let refused = me.try_tell(Msg::Say(3));
                let handed_back = matches!(refused, Err(TellError::Full(Msg::Say(3))));
                assert_eq!((handed_back, refused.is_ok()), (overflow != DropOldest, overflow == DropOldest));
                let _ = cx;
            });
            let ledger = system.ledger();
            assert_eq!(ledger.failed, 0, "{overflow:?}: the assertion in the script held");
            if overflow == DropOldest {
                assert_eq!((said, ledger.refused), (vec![2, 3], 0));
            } else {
                assert_eq!((said, ledger.refused, ledger.dropped), (vec![1, 2], 1, 0), "{overflow:?}");
            }
        });
    }
}

#[test]
fn tell_or_has_what_was_refused_come_back_as_an_own_message() {
    for overflow in [Backpressure, DropNew, RejectToSender] {
        on_each_dispatcher(|system| {
            let said = with_two_queued(system, overflow, |me, cx| {
                cx.tell_or(me, Msg::Say(3), |refused| match refused {
                    Msg::Say(n) => Msg::Say(n + 40),
                    other => other,
                });
            });
            assert_eq!(said, [1, 2, 43], "{overflow:?}: own messages have their room beside the bound");
        });
    }
}

#[test]
fn a_try_tell_to_the_dead_hands_the_message_back_and_a_tell_is_a_dead_letter() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let dead = actor(system, &probe, "dead", Mailbox::unbounded());
        probe.watch(system, &dead.any());
        dead.stop();
        probe.expect_terminated(system);
        assert!(matches!(dead.try_tell(Msg::Say(1)), Err(TellError::Closed(Msg::Say(1)))));
        assert_eq!(system.ledger().dead_lettered, 0);
        dead.tell(Msg::Say(2));
        let letters = system.dead_letters();
        assert_eq!((letters.len(), letters[0].reason), (1, DeadLetterReason::Closed));
        assert_eq!(&*letters[0].to, "/user/dead");
    });
}

#[test]
fn mail_left_by_a_stop_becomes_dead_letters_with_the_reason() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u32>::new(system, "probe");
        let victim = actor(system, &probe, "victim", Mailbox::unbounded());
        probe.watch(system, &victim.any());
        run(&victim, |cx| {
            let me = cx.myself();
            (0..3).for_each(|n| cx.tell(&me, Msg::Say(n)));
            cx.stop();
            Ok(())
        });
        probe.expect_terminated(system);
        let reasons: Vec<_> = system.dead_letters().into_iter().map(|letter| letter.reason).collect();
        assert_eq!(reasons, [DeadLetterReason::StoppedWithMail; 3]);
        assert_eq!(probe.take(), [0; 0]);
    });
}

#[test]
fn cx_send_waits_for_room_and_keeps_the_order() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let small = actor(system, &probe, "small", Mailbox::bounded(2, Backpressure));
        let sender = actor(system, &probe, "sender", Mailbox::unbounded());
        let to = small.clone();
        run(&sender, move |cx| {
            (0..100).for_each(|n| cx.send(&to, Msg::Say(n)));
            Ok(())
        });
        // Read only when all is out.
        sender.tell(Msg::Say(100));
        let said: Vec<u32> = (0..101).map(|_| probe.expect(system)).collect();
        let (numbers, own): (Vec<u32>, Vec<u32>) = said.iter().partition(|&&n| n < 100);
        assert_eq!(numbers, (0..100).collect::<Vec<_>>(), "none lost, in order");
        assert_eq!(own, [100]);
        let place = said.iter().position(|&n| n == 100).expect("it was said");
        assert!(place >= 96, "the sender read on while {} waited in its outbox", 100 - place);
        let ledger = system.ledger();
        assert_eq!((ledger.dropped, ledger.dead_lettered), (0, 0));
    });
}

#[test]
fn awaiting_room_is_a_state_and_an_event() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let small = actor(system, &probe, "small", Mailbox::bounded(1, Backpressure));
        let sender = actor(system, &probe, "sender", Mailbox::unbounded());
        let to = small.clone();
        idle(system, &small);
        run(&small, |cx| {
            cx.work(MS * 10);
            Ok(())
        });
        run(&sender, move |cx| {
            cx.work(MS); // the small one is at work by then
            (0..3).for_each(|n| cx.send(&to, Msg::Say(n)));
            Ok(())
        });
        system.run_until(Instant::ZERO + MS * 5);
        if system.now() < Instant::ZERO + MS * 10 && sender.any().snapshot().outbox > 0 {
            let snapshot = sender.any().snapshot();
            assert_eq!((snapshot.state, snapshot.outbox), (ActorState::AwaitingRoom, 2));
            assert_eq!(snapshot.ledger.queued, 2, "what waits in the outbox is queued");
        }
        (0..3).for_each(|n| assert_eq!(probe.expect(system), n));
        rest(system);
        let events = system.rare_events(0).0;
        let of = |wanted: EventKind| {
            events.iter().filter(|event| event.actor == sender.id() && event.kind == wanted).count()
        };
        assert_eq!(of(EventKind::AwaitingRoom { target: small.id() }), 1, "{events:#?}");
        assert_eq!(of(EventKind::RoomFound { target: small.id() }), 1);
        assert_eq!(sender.any().snapshot().state, ActorState::Running);
    });
}

#[test]
fn a_sender_that_stops_while_it_waits_leaves_dead_letters() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u32>::new(system, "probe");
        let small = actor(system, &probe, "small", Mailbox::bounded(1, Backpressure));
        let sender = actor(system, &probe, "sender", Mailbox::unbounded());
        probe.watch(system, &sender.any());
        let (to, from) = (small.clone(), sender.clone());
        run(&small, move |cx| {
            // While this runs, nothing is taken from the small mailbox.
            let full = to.clone();
            run(&from, move |cx| {
                (0..4).for_each(|n| cx.send(&full, Msg::Say(n)));
                cx.stop();
                Ok(())
            });
            cx.block(MS * 20);
            Ok(())
        });
        probe.expect_terminated(system);
        rest(system);
        let ledger = system.ledger();
        assert!(ledger.balanced(), "{ledger:?}");
        let said = probe.take().len() as u64;
        assert_eq!(said + ledger.dead_lettered, 4, "{ledger:?}");
    });
}

#[test]
fn more_than_1024_waiting_messages_are_a_failure_of_the_sender() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u32>::new(system, "probe");
        let small = actor(system, &probe, "small", Mailbox::bounded(1, Backpressure));
        let sender = actor(system, &probe, "sender", Mailbox::unbounded());
        let to = sender.clone();
        let target = small.clone();
        run(&small, move |cx| {
            run(&to, move |cx| {
                (0..1_100).for_each(|n| cx.send(&target, Msg::Say(n)));
                Ok(())
            });
            cx.block(MS * 20);
            Ok(())
        });
        wait_until(system, "the sender's restart", || {
            let restarted = |kind: &EventKind| matches!(kind, EventKind::Restarted { .. });
            system.rare_events(0).0.iter().any(|event| event.actor == sender.id() && restarted(&event.kind))
        });
        rest(system);
        let ledger = system.ledger();
        assert!(ledger.balanced() && ledger.dropped >= 70, "{ledger:?}");
    });
}

#[test]
fn m2_freed_room_goes_to_the_next_waiter_if_one_gives_up() {
    let system = ActorSystem::builder("m2").stepper().workers(1).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let small = actor(&system, &probe, "small", Mailbox::bounded(1, Backpressure));
    small.tell(Msg::Say(1));
    let (first, second) = (small.send(Msg::Say(2)), small.send(Msg::Say(3)));
    let mut cx = std::task::Context::from_waker(Waker::noop());
    let (mut first, mut second) = (Box::pin(first), pin!(second));
    assert!(first.as_mut().poll(&mut cx).is_pending());
    assert!(second.as_mut().poll(&mut cx).is_pending());
    system.run_until_quiet(100);
    // The room is promised to the first, which gives up.
    assert!(matches!(small.try_tell(Msg::Say(9)), Err(TellError::Full(_))));
    drop(first);
    assert!(matches!(second.as_mut().poll(&mut cx), Poll::Ready(Ok(()))));
    system.run_until_quiet(100);
    assert_eq!(probe.take(), [1, 3]);
}

#[test]
fn m2_closing_tells_every_waiting_sender() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u32>::new(system, "probe");
        let small = actor(system, &probe, "small", Mailbox::bounded(1, Backpressure));
        let to = small.clone();
        idle(system, &small);
        run(&small, move |cx| {
            let me = cx.myself();
            cx.tell(&me, Msg::Say(0));
            cx.block(MS * 5);
            cx.stop();
            Ok(())
        });
        // On a pool the sends may find room before the run has filled it; then they are dead letters or said.
        let sends: Vec<_> = (1..4).map(|n| to.send(Msg::Say(n))).collect();
        let mut closed = 0;
        for send in sends {
            match system.block_on(send) {
                Ok(()) => {}
                Err(SendError::Closed(Msg::Say(_))) => closed += 1,
                Err(_) => panic!("another error"),
            }
        }
        assert!(closed >= 2, "{closed} of 3 were told");
        wait_until(system, "the end", || system.find("/user/small").is_none());
    });
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn sends_from_many_threads_into_a_tiny_mailbox_lose_nothing() {
    let system = ActorSystem::builder("many").pool().workers(2).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let small = actor(&system, &probe, "small", Mailbox::bounded(2, Backpressure));
    #[expect(clippy::disallowed_methods, reason = "the senders are outside the pool")]
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (system, small) = (&system, &small);
            scope.spawn(move || {
                for n in 0..500 {
                    system.block_on(small.send(Msg::Say(thread * 1_000 + n))).ok().expect("it lives");
                }
            });
        }
    });
    let mut next = [0; 4];
    for _ in 0..2_000 {
        let said = probe.expect(&system);
        let (thread, n) = ((said / 1_000) as usize, said % 1_000);
        assert_eq!(n, next[thread], "in order for each sender");
        next[thread] += 1;
    }
    system.shutdown(Duration::from_secs(5)).expect("an end");
    assert!(system.ledger().balanced());
}

#[test]
fn a_backoff_holds_so_many_messages_and_drops_the_rest() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let out = probe.recipient();
        let props = Props::new(move || Box_ { out: out.clone() })
            .backoff(Backoff { min: MS * 100, jitter_permille: 0, ..Backoff::default() })
            .hold(3);
        let actor = system.spawn("holding", props).expect("a free name");
        run(&actor, |_| Err(Failure::new("down", "for a while")));
        wait_until(system, "the backoff", || actor.any().snapshot().state == ActorState::Backoff);
        (0..5).for_each(|n| actor.tell(Msg::Say(n)));
        assert!(matches!(actor.try_tell(Msg::Say(9)), Err(TellError::Full(_))));
        assert_eq!(dropped(system, DropReason::HoldFull), 2);
        (0..3).for_each(|n| assert_eq!(probe.expect(system), n));
        assert!(system.now() >= Instant::ZERO + MS * 100);
        actor.tell(Msg::Say(7));
        assert_eq!(probe.expect(system), 7, "the hold is over");
    });
}

#[test]
fn a_hold_is_not_used_up_by_what_a_full_mailbox_drops() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let out = probe.recipient();
        let props = Props::new(move || Box_ { out: out.clone() })
            .backoff(Backoff { min: MS * 100, jitter_permille: 0, ..Backoff::default() })
            .mailbox(Mailbox::bounded(1, DropNew))
            .hold(3);
        let actor = system.spawn("holding", props).expect("a free name");
        run(&actor, |_| Err(Failure::new("down", "for a while")));
        wait_until(system, "the backoff", || actor.any().snapshot().state == ActorState::Backoff);
        (0..6).for_each(|n| actor.tell(Msg::Say(n)));
        assert_eq!((dropped(system, DropReason::MailboxFull), dropped(system, DropReason::HoldFull)), (5, 0));
        assert_eq!(probe.expect(system), 0);
    });
}

#[test]
fn messages_of_one_sender_keep_their_order_by_every_door() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let target = actor(system, &probe, "target", Mailbox::unbounded());
        let sender = actor(system, &probe, "sender", Mailbox::unbounded());
        let adapted = target.adapt(Msg::Say);
        let to = target.clone();
        run(&sender, move |cx| {
            for n in 0..100 {
                match n % 5 {
                    0 => cx.tell(&to, Msg::Say(n)),
                    1 => to.tell(Msg::Say(n)),
                    2 => cx.tell(&adapted, n),
                    3 => cx.forward(&to, Msg::Say(n)),
                    _ => to.try_tell(Msg::Say(n)).ok().expect("it has room"),
                }
            }
            Ok(())
        });
        (0..100).for_each(|n| assert_eq!(probe.expect(system), n));
    });
}

#[test]
fn a_deep_mailbox_is_an_event() {
    on_steppers(|system| {
        let probe = Probe::<u32>::new(system, "probe");
        let target = actor(system, &probe, "target", Mailbox::unbounded());
        (0..10_001).for_each(|n| target.tell(Msg::Say(n)));
        let high = |kind: &EventKind| matches!(kind, EventKind::MailboxHigh { depth: 10_000 });
        assert_eq!(system.rare_events(0).0.iter().filter(|event| high(&event.kind)).count(), 1);
        target.stop();
    });
}
