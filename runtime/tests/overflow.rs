//! Promises of full mailboxes: each policy by each door, one episode one event, and the message memory of a system.

mod common;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use common::scripted::{Msg, Scripted, idle, props, rest, run, spawn};
use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Send, SendError, TellError};
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::observe::{ActorState, DeadLetterReason, DropReason, EventKind};
use footlights::pattern::{Ask, AskError, Reply};
use footlights::supervise::{Backoff, Directive, FailureKind, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;

use OverflowStrategy::{Backpressure, DropNew, DropOldest, FailReceiver, RejectToSender, Timeout};

const MS: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(30);

fn bounded(
    system: &ActorSystem,
    probe: &Probe<u64>,
    capacity: usize,
    overflow: OverflowStrategy,
) -> ActorRef<Msg> {
    let target = spawn(system, "full", props(probe).mailbox(Mailbox::bounded(capacity, overflow)));
    idle(system, &target);
    target
}

fn count(system: &ActorSystem, is: impl Fn(&EventKind) -> bool) -> usize {
    system.rare_events(0).0.iter().filter(|event| is(&event.kind)).count()
}

fn dropped(system: &ActorSystem, why: DropReason) -> usize {
    count(system, |kind| matches!(kind, EventKind::Dropped { reason, .. } if *reason == why))
}

fn poll(send: &mut Send<Msg>) -> Poll<Result<(), SendError<Msg>>> {
    Pin::new(send).poll(&mut std::task::Context::from_waker(Waker::noop()))
}

fn nothing() -> Msg {
    Msg::Run(Box::new(|_| Ok(())))
}

fn answer(n: u64, reply: Reply<u64>) -> Msg {
    Msg::Run(Box::new(move |_| {
        reply.send(n);
        Ok(())
    }))
}

/// Has the target fill its own mailbox with numbers from 0 on, then runs `then` in the same run.
fn filled(
    target: &ActorRef<Msg>,
    messages: u64,
    then: impl FnOnce(&ActorRef<Msg>, &mut Context<'_, Scripted>) + std::marker::Send + 'static,
) {
    run(target, move |cx| {
        let me = cx.myself();
        (0..messages).for_each(|n| cx.tell(&me, Msg::Say(n)));
        then(&me, cx);
        Ok(())
    });
}

/// Asks a full mailbox from inside, and gives the outcome.
fn ask_full(system: &ActorSystem, target: &ActorRef<Msg>, timeout: Duration) -> Result<u64, AskError> {
    let begun: Arc<Mutex<Option<Ask<u64>>>> = Arc::default();
    let slot = begun.clone();
    filled(target, 1, move |me, _| {
        *slot.lock().unwrap() = Some(me.ask(|reply| answer(7, reply), timeout));
    });
    wait_until(system, "the ask", || begun.lock().unwrap().is_some());
    let ask = begun.lock().unwrap().take().expect("the ask");
    system.block_on(ask)
}

#[test]
fn an_ask_to_a_full_mailbox_does_as_its_policy_says() {
    for (overflow, outcome) in [
        (Backpressure, Ok(7)),
        (Timeout(LONG), Ok(7)),
        (DropNew, Err(AskError::Full)),
        (DropOldest, Ok(7)),
        (RejectToSender, Err(AskError::Full)),
        (FailReceiver, Err(AskError::Dropped(DropReason::MailboxFull))),
    ] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let target = bounded(system, &probe, 1, overflow);
            assert_eq!(ask_full(system, &target, LONG), outcome, "{overflow:?}");
            assert_eq!(system.snapshot().asks.pending, 0);
        });
    }
}

#[test]
fn asks_wait_in_line_with_sends_first_come_first_served() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let target = bounded(system, &probe, 1, Backpressure);
        let asker = spawn(system, "asker", props(&probe));
        let own = asker.clone();
        filled(&target, 1, move |me, cx| {
            for n in 10..20 {
                let (to, out) = (me.clone(), own.clone());
                // The asks are queued by one actor, in order; their answers come in that order, too.
                let script = move |cx: &mut Context<'_, Scripted>| {
                    cx.ask(&to, move |reply| answer(n, reply), LONG, |answer| Msg::Say(answer.unwrap_or(0)));
                    Ok(())
                };
                cx.tell(&out, Msg::Run(Box::new(script)));
            }
        });
        let said: Vec<u64> = (0..11).map(|_| probe.expect(system)).collect();
        assert_eq!(said.iter().filter(|&&n| n == 0).count(), 1, "{said:?}");
        let answers: Vec<u64> = said.into_iter().filter(|&n| n > 0).collect();
        assert_eq!(answers, (10..20).collect::<Vec<_>>());
        assert_eq!(system.ledger().dropped, 0);
    });
}

#[test]
fn an_ask_that_finds_no_room_in_its_time_is_withdrawn() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let target = bounded(system, &probe, 1, Backpressure);
        let begun: Arc<Mutex<Option<Ask<u64>>>> = Arc::default();
        let slot = begun.clone();
        filled(&target, 1, move |me, cx| {
            *slot.lock().unwrap() = Some(me.ask(|reply| answer(7, reply), MS * 5));
            cx.work(MS * 50);
        });
        wait_until(system, "the ask", || begun.lock().unwrap().is_some());
        let ledger = system.ledger();
        assert!(ledger.balanced() && ledger.queued >= 2, "it counts while it waits: {ledger:?}");
        let ask = begun.lock().unwrap().take().expect("the ask");
        system.run_until(Instant::ZERO + MS * 5);
        assert_eq!(system.snapshot().asks.timed_out, 1);
        assert_eq!(system.block_on(ask), Err(AskError::Timeout));
        assert_eq!(system.now(), Instant::ZERO + MS * 5);
        assert_eq!(dropped(system, DropReason::Timeout), 1, "withdrawn with its deadline");
        assert_eq!(probe.expect(system), 0);
        assert!(system.ledger().balanced());
    });
}

#[test]
fn an_ask_that_is_given_up_while_it_waits_leaves_the_line() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let target = bounded(system, &probe, 1, Backpressure);
        filled(&target, 1, |me, _| {
            drop(me.ask(|reply| answer(7, reply), LONG));
            drop(me.ask(|reply| answer(8, reply), LONG));
        });
        rest(system);
        let asks = system.snapshot().asks;
        assert_eq!((asks.cancelled, asks.pending, system.snapshot().timers), (2, 0, 0));
        assert_eq!(dropped(system, DropReason::Timeout), 2);
        assert!(system.ledger().balanced());
    });
}

#[test]
fn a_policy_with_a_time_limit_ends_every_wait() {
    // The target's run keeps one of four workers.
    for seed in 0..16 {
        let builder = ActorSystem::builder("timeout").stepper().seed(seed).seeded_order();
        let system = &builder.build().expect("good settings");
        let probe = Probe::new(system, "probe");
        let target = bounded(system, &probe, 1, Timeout(MS * 10));
        let asked: Arc<Mutex<Vec<Ask<u64>>>> = Arc::default();
        let slot = asked.clone();
        filled(&target, 1, move |me, cx| {
            slot.lock().unwrap().push(me.ask(|reply| answer(7, reply), LONG));
            cx.work(MS * 50);
        });
        wait_until(system, "the ask", || !asked.lock().unwrap().is_empty());
        let sender = spawn(system, "sender", props(&probe));
        let to = target.clone();
        run(&sender, move |cx| {
            cx.send(&to, Msg::Say(3));
            cx.tell(&to, Msg::Say(4));
            Ok(())
        });
        sender.tell(Msg::Say(5));
        let mut send = target.send(Msg::Say(2));
        assert!(poll(&mut send).is_pending());
        system.run_until(Instant::ZERO + MS * 10);
        assert!(matches!(poll(&mut send), Poll::Ready(Err(SendError::Timeout(Msg::Say(2))))));
        let ask = asked.lock().unwrap().pop().expect("the ask");
        assert_eq!(system.block_on(ask), Err(AskError::Dropped(DropReason::Timeout)));
        assert_eq!(probe.expect(system), 5, "the sender reads on");
        assert_eq!(dropped(system, DropReason::Timeout), 3, "the ask, the send, and the tell behind it");
        assert_eq!(probe.expect(system), 0);
        rest(system);
        assert!(probe.take().is_empty() && system.ledger().balanced());
    }
}

#[test]
fn a_receiver_that_is_to_fail_does_so_once_and_gives_its_queue_up_on_a_restart() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let target = bounded(system, &probe, 4, FailReceiver);
        filled(&target, 7, |me, _| {
            assert!(matches!(me.try_tell(Msg::Say(99)), Err(TellError::Full(Msg::Say(99)))));
        });
        wait_until(system, "the restart", || target.any().snapshot().restarts == 1);
        rest(system);
        target.tell(Msg::Say(50));
        assert_eq!(probe.expect(system), 50, "the queue was given up");
        let letters: Vec<_> = system.dead_letters().into_iter().map(|letter| letter.reason).collect();
        assert_eq!(letters, [DeadLetterReason::Overflow; 4]);
        assert_eq!(dropped(system, DropReason::MailboxFull), 3);
        let failed = |kind: &EventKind| matches!(kind, EventKind::Failed { kind: FailureKind::Overflow, .. });
        assert_eq!(count(system, failed), 1, "once, until it is below half");
        assert_eq!(system.ledger().failed, 0, "no message was in hand");
    });
}

#[test]
fn a_receiver_that_is_resumed_after_an_overflow_keeps_its_queue() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let strategy = Strategy::one_for_one().on(FailureKind::Overflow, Directive::Resume);
        let parent = spawn(system, "parent", props(&probe).supervise(strategy));
        let child = props(&probe).mailbox(Mailbox::bounded(4, FailReceiver));
        run(&parent, move |cx| {
            let child = cx.spawn("child", child)?;
            filled(&child, 7, |_, _| {});
            Ok(())
        });
        assert_eq!([(); 4].map(|()| probe.expect(system)), [0, 1, 2, 3]);
        rest(system);
        assert_eq!((dropped(system, DropReason::MailboxFull), system.dead_letters().len()), (3, 0));
    });
}

#[test]
fn one_episode_of_fullness_is_one_event() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let target = bounded(system, &probe, 4, DropNew);
        let full = |kind: &EventKind| matches!(kind, EventKind::MailboxFull { capacity: 4 });
        for episode in 1..3 {
            filled(&target, 9, |_, _| {});
            idle(system, &target);
            rest(system);
            assert_eq!(count(system, full), episode);
        }
        assert_eq!(dropped(system, DropReason::MailboxFull), 10);
    });
}

#[test]
fn a_hold_is_no_larger_than_the_mailbox() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let backoff = Backoff::new(MS * 100, MS * 100).jitter_permille(0);
        let mailbox = Mailbox::bounded(2, DropOldest);
        let target = spawn(system, "target", props(&probe).backoff(backoff).mailbox(mailbox));
        target.tell(Msg::Fail);
        wait_until(system, "the backoff", || target.any().snapshot().state == ActorState::Backoff);
        (0..5).for_each(|n| target.tell(Msg::Say(n)));
        assert_eq!(target.queued(), 2);
        assert_eq!([probe.expect(system), probe.expect(system)], [3, 4]);
    });
}

#[test]
fn an_ask_in_a_full_hold_waits_within_its_timeout() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let backoff = Backoff::new(MS * 100, MS * 100).jitter_permille(0);
        let target = spawn(system, "target", props(&probe).backoff(backoff).hold(1));
        target.tell(Msg::Fail);
        wait_until(system, "the backoff", || target.any().snapshot().state == ActorState::Backoff);
        let asks: Vec<_> = (0..3).map(|n| target.ask(move |reply| answer(n, reply), LONG)).collect();
        let answers: Vec<_> = asks.into_iter().map(|ask| system.block_on(ask)).collect();
        assert_eq!(answers, [Ok(0), Ok(1), Ok(2)]);
        assert_eq!(system.ledger().dropped, 0);
    });
}

#[test]
fn budgeted_mailboxes_share_the_message_memory_and_give_it_back() {
    let builder = ActorSystem::builder("memory").stepper().message_memory(16 * 1_024);
    let system = builder.build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let target = spawn(&system, "target", props(&probe));
    let outside = spawn(&system, "outside", props(&probe).mailbox(Mailbox::unbounded()));
    rest(&system);
    (0..10_000).for_each(|_| target.tell(nothing()));
    let lost = dropped(&system, DropReason::MemoryBudget) as u64;
    assert!((1..10_000).contains(&lost), "{lost} were lost");
    assert!(matches!(target.try_tell(nothing()), Err(TellError::Full(_))));
    let ask = target.ask(|reply| answer(1, reply), LONG);
    assert_eq!(system.block_on(ask), Err(AskError::Full));
    (0..10_000).for_each(|_| outside.tell(nothing()));
    // A send waits until memory has come back.
    let mut send = target.send(nothing());
    assert!(poll(&mut send).is_pending());
    assert!(system.block_on(send).is_ok());
    rest(&system);
    assert_eq!(system.ledger().handled, 20_000 - lost + 1, "all but the lost, and the send");
    for _ in 0..3 {
        // Each is drained before the next: nothing is lost although all together exceed the budget.
        (0..100).for_each(|_| target.tell(nothing()));
        rest(&system);
    }
    assert_eq!(dropped(&system, DropReason::MemoryBudget) as u64, lost);
    assert!(system.ledger().balanced());
}

#[test]
fn each_doubling_of_a_deep_mailbox_is_an_event() {
    for mailbox in [Mailbox::budgeted(), Mailbox::unbounded()] {
        let system = ActorSystem::builder("deep").stepper().build().expect("good settings");
        let probe = Probe::<u64>::new(&system, "probe");
        let target = spawn(&system, "target", props(&probe).mailbox(mailbox));
        (0..45_000).for_each(|n| target.tell(Msg::Say(n)));
        let depths: Vec<u64> = system
            .rare_events(0)
            .0
            .iter()
            .filter_map(|event| match event.kind {
                EventKind::MailboxHigh { depth } => Some(depth),
                _ => None,
            })
            .collect();
        assert_eq!(depths, [10_000, 20_000, 40_000], "{mailbox:?}");
    }
}

/// Sends three tokens on for each that comes: in a ring of full mailboxes all wait in the end.
struct Flooder {
    next: Option<ActorRef<Token>>,
}

enum Token {
    Next(ActorRef<Token>),
    Token,
}

impl Actor for Flooder {
    type Msg = Token;

    fn receive(&mut self, cx: &mut Context<'_, Self>, token: Token) -> Result<(), Failure> {
        match (token, &self.next) {
            (Token::Next(next), _) => self.next = Some(next),
            (Token::Token, Some(next)) => (0..3).for_each(|_| cx.send(next, Token::Token)),
            (Token::Token, None) => {}
        }
        Ok(())
    }
}

#[test]
fn actors_that_wait_for_each_others_room_are_named_and_left_alone() {
    on_each_dispatcher(|system| {
        let small = || Props::new(|| Flooder { next: None }).mailbox(Mailbox::bounded(2, Backpressure));
        let ring = ["a", "b", "c"].map(|name| system.spawn(name, small()).expect("a free name"));
        for n in 0..3 {
            ring[n].tell(Token::Next(ring[(n + 1) % 3].clone()));
            wait_until(system, "the link", || ring[n].queued() == 0);
        }
        ring[0].tell(Token::Token);
        let found = || -> Vec<Vec<String>> {
            let cycle = |kind: &EventKind| match kind {
                EventKind::Deadlock { cycle } => {
                    Some(cycle.iter().map(|(_, path)| path.to_string()).collect())
                }
                _ => None,
            };
            system.rare_events(0).0.iter().filter_map(|event| cycle(&event.kind)).collect()
        };
        wait_until(system, "the deadlock", || !found().is_empty());
        rest(system);
        let mut named = found()[0].clone();
        named.sort();
        assert_eq!(named, ["/user/a", "/user/b", "/user/c"]);
        for n in 0..3 {
            let snapshot = ring[n].any().snapshot();
            assert_eq!(snapshot.state, ActorState::AwaitingRoom);
            assert_eq!(snapshot.waits_on, Some(ring[(n + 1) % 3].id()));
        }
        assert!(system.ledger().balanced());
    });
}

#[test]
fn a_chain_of_waits_is_no_deadlock() {
    on_steppers(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let last = bounded(system, &probe, 1, Backpressure);
        let middle = spawn(system, "middle", props(&probe).mailbox(Mailbox::bounded(1, Backpressure)));
        let first = spawn(system, "first", props(&probe));
        rest(system);
        run(&last, |cx| {
            cx.work(MS * 50);
            Ok(())
        });
        for (from, to) in [(&middle, last.clone()), (&first, middle.clone())] {
            run(from, move |cx| {
                cx.work(MS);
                (0..5).for_each(|n| cx.send(&to, Msg::Say(n)));
                Ok(())
            });
        }
        assert_eq!((0..10).map(|_| probe.expect(system)).filter(|n| *n < 5).count(), 10);
        assert_eq!(count(system, |kind| matches!(kind, EventKind::Deadlock { .. })), 0);
        assert!(count(system, |kind| matches!(kind, EventKind::AwaitingRoom { .. })) > 0);
    });
}
