//! Promises of order: ranks are stable, the urgent have a lane of their own, equals meet once.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::time::Duration;

use common::{hush_planned_panics, wait_until};
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient, Terminated};
use footlights::mailbox::{Keep, Mailbox, OverflowStrategy};
use footlights::observe::{ActorState, DropReason, EventKind};
use footlights::pattern::{AskError, Reply};
use footlights::supervise::Backoff;
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const MS: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(30);

type Script = Box<dyn FnOnce(&mut Context<'_, Reader>) -> Result<(), Failure> + Send>;

/// Says in which order it reads.
struct Reader {
    out: Recipient<(u8, u32)>,
}

enum Msg {
    Run(Script),
    /// A rank and a number.
    Say(u8, u32),
    Ask(u8, Reply<u8>),
    Gone(Terminated),
    Fail,
}

impl Actor for Reader {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Run(script) => return script(cx),
            Msg::Say(rank, n) => self.out.tell((rank, n)),
            Msg::Ask(n, reply) => {
                reply.send(n);
            }
            Msg::Gone(news) => self.out.tell((255, u32::from(news.target.is_closed()))),
            Msg::Fail => return Err(Failure::new("planned", "on request")),
        }
        Ok(())
    }
}

fn rank(message: &Msg) -> u8 {
    match message {
        Msg::Say(66, _) => panic!("planned: no rank for this"),
        Msg::Say(rank, _) | Msg::Ask(rank, _) => *rank,
        _ => 0,
    }
}

fn key(message: &Msg) -> Option<u64> {
    match message {
        Msg::Say(rank, _) | Msg::Ask(rank, _) => Some(u64::from(*rank)),
        _ => None,
    }
}

fn props(probe: &Probe<(u8, u32)>) -> Props<Reader> {
    let out = probe.recipient();
    Props::new(move || Reader { out: out.clone() })
}

fn spawn(system: &ActorSystem, name: &str, props: Props<Reader>) -> ActorRef<Msg> {
    let actor = system.spawn(name, props).expect("a free name");
    wait_until(system, "the start", || actor.any().snapshot().state == ActorState::Running);
    actor
}

fn run(
    actor: &ActorRef<Msg>,
    script: impl FnOnce(&mut Context<'_, Reader>) -> Result<(), Failure> + Send + 'static,
) {
    actor.tell(Msg::Run(Box::new(script)));
}

fn expect(system: &ActorSystem, probe: &Probe<(u8, u32)>, n: usize) -> Vec<(u8, u32)> {
    (0..n).map(|_| probe.expect(system)).collect()
}

fn dropped(system: &ActorSystem, why: DropReason) -> usize {
    let is = |kind: &EventKind| matches!(kind, EventKind::Dropped { reason, .. } if *reason == why);
    system.rare_events(0).0.iter().filter(|event| is(&event.kind)).count()
}

/// A fixed order that looks like chance.
fn ranks(n: u32) -> impl Iterator<Item = (u8, u32)> {
    (0..n).map(|n| ((n.wrapping_mul(2_654_435_761) >> 16) as u8 % 3, n))
}

#[test]
fn m3_equal_priorities_keep_their_order() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let reader = spawn(system, "reader", props(&probe).priority(rank));
        run(&reader, |cx| {
            let me = cx.myself();
            ranks(3_000).for_each(|(rank, n)| cx.tell(&me, Msg::Say(rank, n)));
            Ok(())
        });
        let mut sorted: Vec<_> = ranks(3_000).collect();
        sorted.sort();
        assert_eq!(expect(system, &probe, 3_000), sorted);
    });
}

#[test]
fn m3_what_queues_while_the_actor_is_suspended_is_read_by_rank() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let backoff = Backoff::new(MS * 100, MS * 100).jitter_permille(0);
        let reader = spawn(system, "reader", props(&probe).priority(rank).backoff(backoff).hold(5_000));
        reader.tell(Msg::Fail);
        wait_until(system, "the backoff", || reader.any().snapshot().state == ActorState::Backoff);
        ranks(3_000).for_each(|(rank, n)| reader.tell(Msg::Say(rank, n)));
        let mut sorted: Vec<_> = ranks(3_000).collect();
        sorted.sort();
        assert_eq!(expect(system, &probe, 3_000), sorted);
    });
}

#[test]
fn m3_two_senders_keep_their_own_order_within_a_rank() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let reader = spawn(system, "reader", props(&probe).priority(rank));
        for sender in 0..2 {
            let to = reader.clone();
            let from = spawn(system, ["one", "two"][sender as usize], props(&probe));
            run(&from, move |cx| {
                ranks(500).for_each(|(rank, n)| cx.tell(&to, Msg::Say(rank, 1_000 * sender + n)));
                Ok(())
            });
        }
        let mut last = [[None; 2]; 3];
        for (rank, n) in expect(system, &probe, 1_000) {
            let last = &mut last[usize::from(rank)][(n / 1_000) as usize];
            assert!(last.is_none_or(|last| last < n), "{n} after {last:?} in rank {rank}");
            *last = Some(n);
        }
    });
}

#[test]
fn m3_what_is_unstashed_comes_first_among_its_equals() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let reader = spawn(system, "reader", props(&probe).priority(rank));
        run(&reader, |cx| {
            let me = cx.myself();
            (0..3).for_each(|n| cx.stash(Msg::Say(1, n)).expect("room"));
            for (rank, n) in [(2, 20), (1, 10), (0, 30), (1, 11)] {
                cx.tell(&me, Msg::Say(rank, n));
            }
            cx.unstash_all();
            Ok(())
        });
        let expected = [(0, 30), (1, 0), (1, 1), (1, 2), (1, 10), (1, 11), (2, 20)];
        assert_eq!(expect(system, &probe, 7), expected);
    });
}

#[test]
fn m3_a_plain_mailbox_keeps_the_order_whatever_is_sent() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let reader = spawn(system, "reader", props(&probe));
        ranks(3_000).for_each(|(rank, n)| reader.tell(Msg::Say(rank, n)));
        assert_eq!(expect(system, &probe, 3_000), ranks(3_000).collect::<Vec<_>>());
    });
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn m3_a_hundred_thousand_equals_are_no_more_work_each_than_ten() {
    // In time n² this would take minutes.
    let system = ActorSystem::builder("m3").pool().workers(1).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let reader = spawn(&system, "reader", props(&probe).priority(|_| 7));
    run(&reader, |cx| {
        let me = cx.myself();
        (0..100_000).for_each(|n| cx.tell(&me, Msg::Say(0, n)));
        Ok(())
    });
    (0..100_000).for_each(|n| assert_eq!(probe.expect(&system), (0, n)));
}

#[test]
fn a_notice_comes_when_nothing_that_was_there_before_it_is_left() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let reader = spawn(system, "reader", props(&probe).priority(rank));
        let talker = spawn(system, "talker", props(&probe));
        let (watched, to) = (talker.any(), reader.clone());
        run(&reader, move |cx| {
            cx.watch(&watched, Msg::Gone)?;
            Ok(())
        });
        wait_until(system, "the watch", || reader.queued() == 0);
        run(&reader, move |cx| {
            run(&talker, move |cx| {
                (0..10).for_each(|n| cx.tell(&to, Msg::Say(200, n)));
                cx.stop();
                Ok(())
            });
            cx.block(MS);
            Ok(())
        });
        let said = expect(system, &probe, 11);
        assert_eq!(
            said.last(),
            Some(&(255, 1)),
            "the least urgent words before the news of the end: {said:?}"
        );
    });
}

#[test]
fn the_urgent_overtake_and_have_room_in_a_full_mailbox() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let urgent = |message: &Msg| matches!(message, Msg::Say(0, _));
        let mailbox = Mailbox::bounded(2, OverflowStrategy::DropNew);
        let reader = spawn(system, "reader", props(&probe).mailbox(mailbox).control(urgent));
        wait_until(system, "rest", || reader.queued() == 0);
        run(&reader, |cx| {
            let me = cx.myself();
            (0..3).for_each(|n| cx.tell(&me, Msg::Say(1, n)));
            (0..3).for_each(|n| cx.tell(&me, Msg::Say(0, n)));
            let snapshot = me.any().snapshot();
            assert_eq!((snapshot.control, snapshot.exact), (2, false), "it is in a run");
            Ok(())
        });
        assert_eq!(expect(system, &probe, 4), [(0, 0), (0, 1), (1, 0), (1, 1)]);
        assert_eq!(dropped(system, DropReason::MailboxFull), 2, "one of each lane");
        assert_eq!(system.ledger().failed, 0);
    });
}

#[test]
fn of_two_with_one_key_one_is_a_duplicate() {
    for (keep, said) in [(Keep::First, [(1, 0), (2, 1), (3, 4)]), (Keep::Last, [(1, 3), (2, 2), (3, 4)])] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let reader = spawn(system, "reader", props(&probe).dedup(keep, key));
            run(&reader, |cx| {
                let me = cx.myself();
                for (n, rank) in [1, 2, 2, 1, 3].into_iter().enumerate() {
                    cx.tell(&me, Msg::Say(rank, n as u32));
                }
                Ok(())
            });
            assert_eq!(expect(system, &probe, 3), said, "{keep:?}");
            assert_eq!((dropped(system, DropReason::Duplicate), system.ledger().dropped), (2, 2));
        });
    }
}

#[test]
fn the_ask_of_a_duplicate_is_told() {
    for keep in [Keep::First, Keep::Last] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let reader = spawn(system, "reader", props(&probe).dedup(keep, key));
            let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
            let asks = asked.clone();
            run(&reader, move |cx| {
                let me = cx.myself();
                let ask = || me.ask(|reply| Msg::Ask(9, reply), LONG);
                asks.lock().unwrap().extend([ask(), ask()]);
                Ok(())
            });
            wait_until(system, "the asks", || asked.lock().unwrap().len() == 2);
            let asks = std::mem::take(&mut *asked.lock().unwrap());
            let outcomes: Vec<_> = asks.into_iter().map(|ask| system.block_on(ask)).collect();
            let lost = Err(AskError::Dropped(DropReason::Duplicate));
            let expected = if keep == Keep::First { [Ok(9), lost] } else { [lost, Ok(9)] };
            assert_eq!(outcomes, expected, "{keep:?}");
        });
    }
}

#[cfg(panic = "unwind")]
#[test]
fn a_panic_in_a_rank_is_the_owners_and_the_message_comes_last() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let reader = spawn(system, "reader", props(&probe).priority(rank));
        let sender = spawn(system, "sender", props(&probe));
        run(&reader, move |cx| {
            let me = cx.myself();
            cx.tell(&me, Msg::Say(66, 1));
            cx.tell(&me, Msg::Say(9, 2));
            Ok(())
        });
        assert_eq!(expect(system, &probe, 2), [(9, 2), (66, 1)]);
        let to = reader.clone();
        run(&sender, move |cx| {
            cx.tell(&to, Msg::Say(66, 3));
            Ok(())
        });
        assert_eq!(expect(system, &probe, 1), [(66, 3)]);
        let blamed =
            |kind: &EventKind| matches!(kind, EventKind::HookFailed { hook: "order of a mailbox", .. });
        let events = system.rare_events(0).0;
        let blamed: Vec<_> =
            events.iter().filter(|event| blamed(&event.kind)).map(|event| event.actor).collect();
        assert_eq!(blamed, [reader.id(); 2], "never the sender");
        assert_eq!(system.ledger().failed, 0);
    });
}
