//! Promises of the testkit: probes, stepping by hand, scripts of delivery.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use common::hush_planned_panics;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::pattern::Reply;
use footlights::system::ActorSystem;
use footlights::testkit::{Origin, Probe, Script, Stepping, on_each_dispatcher, on_steppers};

const MS: Duration = Duration::from_millis(1);

/// Runs what must fail; gives what it says.
fn complaint(body: impl FnOnce()) -> String {
    hush_planned_panics();
    let failed = catch_unwind(AssertUnwindSafe(body)).expect_err("it must fail");
    failed
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| failed.downcast_ref::<&str>().unwrap().to_string())
}

fn stepper() -> ActorSystem {
    ActorSystem::builder("test").stepper().workers(2).build().expect("good settings")
}

/// Sends numbers to somebody when it is told how many, and ticks once a millisecond if it is to.
struct Counter {
    to: ActorRef<u32>,
}

impl Actor for Counter {
    type Msg = u32;

    fn receive(&mut self, cx: &mut Context<'_, Self>, n: u32) -> Result<(), Failure> {
        (1..=n).for_each(|k| cx.tell(&self.to, k));
        Ok(())
    }
}

fn counter(system: &ActorSystem, name: &str, to: &ActorRef<u32>) -> ActorRef<u32> {
    let to = to.clone();
    system.spawn(name, Props::new(move || Counter { to: to.clone() })).expect("a free name")
}

// --- probe ---

#[test]
fn a_probe_keeps_messages_in_order_and_answers_questions() {
    on_each_dispatcher(|system| {
        let probe: Probe<u32> = Probe::new(system, "probe");
        counter(system, "counter", probe.actor()).tell(3);
        probe.expect_eq(system, 1);
        assert_eq!(probe.expect_within(system, Duration::from_secs(1)), 2);
        assert_eq!(probe.expect(system), 3);
        let shop: Probe<(u32, Reply<u32>)> = Probe::new(system, "shop");
        let price = shop.actor().ask(|reply| (7, reply), Duration::from_secs(1));
        assert_eq!(shop.reply(system, |message| message, 70), 7);
        assert_eq!(system.block_on(price), Ok(70));
    });
}

#[test]
fn a_probe_hears_of_an_end_after_what_the_dead_had_sent() {
    on_each_dispatcher(|system| {
        let probe: Probe<u32> = Probe::new(system, "probe");
        let counter = counter(system, "counter", probe.actor());
        probe.watch(system, &counter.any());
        counter.tell(5);
        counter.drain();
        assert_eq!(probe.expect_terminated(system).target, counter.any());
        assert_eq!(probe.take(), [1, 2, 3, 4, 5]);
    });
}

#[test]
fn a_probe_that_waits_in_vain_shows_the_last_events_with_paths() {
    let system = stepper();
    let probe: Probe<u32> = Probe::new(&system, "probe");
    let text = complaint(|| {
        probe.expect(&system);
    });
    assert!(text.starts_with("/user/probe waited 3s for a message in vain; the last of "), "{text}");
    assert!(text.contains("/user/probe") && text.contains("Started"), "{text}");
    probe.actor().tell(1);
    let text = complaint(|| probe.expect_eq(&system, 2));
    assert!(text.starts_with("/user/probe got 1, expected 2; "), "{text}");
    probe.actor().tell(1);
    let text = complaint(|| probe.expect_none(&system));
    assert!(text.starts_with("/user/probe got 1 messages and 0 ends, none expected; "), "{text}");
}

#[test]
fn a_probe_that_expects_nothing_waits_for_it() {
    let system = stepper();
    let probe: Probe<u32> = Probe::new(&system, "probe");
    probe.expect_none(&system);
    assert_eq!(system.now().as_nanos(), 100_000_000);
    let late = Late { to: probe.actor().clone() };
    system.spawn("late", Props::new(move || late.clone())).expect("a free name");
    probe.expect_none_within(&system, MS * 4);
    complaint(|| probe.expect_none_within(&system, MS * 2));
}

#[derive(Clone)]
struct Late {
    to: ActorRef<u32>,
}

impl Actor for Late {
    type Msg = u32;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.timers().once("late", MS * 5, 1);
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, n: u32) -> Result<(), Failure> {
        cx.tell(&self.to, n);
        Ok(())
    }
}

// --- stepping ---

#[test]
fn a_chosen_actor_goes_first_whoever_was_next() {
    on_steppers(|system| {
        let all: Vec<Probe<u32>> = (0..5).map(|n| Probe::new(system, &format!("p{n}"))).collect();
        let steps = Stepping::of(system);
        all.iter().for_each(|probe| (0..3).for_each(|n| probe.actor().tell(n)));
        for n in 0..3 {
            for probe in all.iter().rev() {
                assert!(steps.step_message(probe.actor()), "it starts, if it must, and handles one");
                assert_eq!(probe.take(), [n]);
            }
        }
        assert!(!steps.step_message(all[0].actor()), "nothing is left for it");
        assert_eq!(system.ledger().handled, 15);
    });
}

#[test]
fn the_clock_moves_by_hand_and_fires_what_is_due_in_order() {
    let system = stepper();
    let probe: Probe<u32> = Probe::new(&system, "probe");
    let steps = Stepping::of(&system);
    for _ in 0..2 {
        let late = Late { to: probe.actor().clone() };
        system.spawn("", Props::new(move || late.clone())).expect("a generated name");
    }
    steps.run_until_quiet();
    assert_eq!(steps.next_timer().map(|at| at.as_nanos()), Some(5_000_000));
    assert_eq!(steps.advance(MS * 4), 0);
    assert_eq!((system.now().as_nanos(), probe.take().len()), (4_000_000, 0));
    assert_eq!(steps.advance(MS), 4, "two ticks and two messages");
    assert_eq!((probe.take().len(), steps.next_timer()), (2, None));
    probe.actor().tell(7);
    steps.run_until(|system| system.ledger().handled == 5);
    let text = complaint(|| steps.run_until(|system| system.ledger().handled == 6));
    assert!(text.starts_with("it was not reached in "), "{text}");
}

#[test]
fn a_pool_cannot_be_stepped() {
    let system = ActorSystem::builder("test").pool().workers(1).build().expect("good settings");
    complaint(|| {
        Stepping::of(&system);
    });
    complaint(|| drop(Script::new(&system)));
}

// --- scripts ---

/// Two senders and a receiver.
fn pairs(system: &ActorSystem) -> (ActorRef<u32>, ActorRef<u32>, Probe<u32>) {
    let probe = Probe::new(system, "probe");
    let (a, b) = (counter(system, "a", probe.actor()), counter(system, "b", probe.actor()));
    (a, b, probe)
}

#[test]
fn a_script_says_message_by_message_what_happens() {
    on_steppers(|system| {
        let (a, b, probe) = pairs(system);
        a.tell(2);
        b.tell(2);
        let mut script = Script::new(system);
        script.expect(Origin::OUTSIDE, &a, |n| *n == 2);
        script.expect(Origin::OUTSIDE, &b, |n| *n == 2);
        // b's messages overtake a's; b's own order holds.
        script.prepone(probe.actor(), |n| *n == 1);
        script.expect(&a, probe.actor(), |n| *n == 1);
        let text = complaint(|| script.prepone(probe.actor(), |n| *n > 2));
        assert!(text.starts_with("no message that could be preponed is queued at /user/probe"), "{text}");
        script.expect(&a, probe.actor(), |n| *n == 2);
        script.expect(&b, probe.actor(), |n| *n == 1);
        script.expect(&b, probe.actor(), |n| *n == 2);
        assert_eq!(script.step(), None);
        assert_eq!(probe.take(), [1, 2, 1, 2]);
    });
}

#[test]
fn prepone_overtakes_other_pairs_and_keeps_a_pairs_own_order() {
    on_steppers(|system| {
        let (a, b, probe) = pairs(system);
        let mut script = Script::new(system);
        a.tell(2);
        b.tell(3);
        script.expect(Origin::OUTSIDE, &a, |_| true);
        script.expect(Origin::OUTSIDE, &b, |_| true);
        let text = complaint(|| script.prepone(probe.actor(), |n| *n == 3));
        assert!(text.starts_with("it would overtake what /user/b had sent to /user/probe before"), "{text}");
        // The first that fits is a's second; so a's first has to go before it.
        complaint(|| script.prepone(probe.actor(), |n| *n == 2));
        script.expect(&a, probe.actor(), |n| *n == 1);
        script.prepone(probe.actor(), |n| *n == 1);
        script.expect(&b, probe.actor(), |n| *n == 1);
        assert_eq!(script.run(), 3);
        assert_eq!(probe.take(), [1, 1, 2, 2, 3]);
    });
}

#[test]
fn a_script_refuses_what_was_not_expected() {
    let system = stepper();
    let (a, _, probe) = pairs(&system);
    let mut script = Script::new(&system);
    let text = complaint(|| {
        script.expect(Origin::OUTSIDE, &a, |_| true);
    });
    assert!(
        text.starts_with("nothing is left to be handled, expected a message from outside to /user/a"),
        "{text}"
    );
    a.tell(1);
    let text = complaint(|| {
        script.expect(&a, probe.actor(), |_| true);
    });
    assert!(text.starts_with("the next message went from outside to /user/a, expected"), "{text}");
    let text = complaint(|| {
        script.expect(&a, probe.actor(), |n| *n == 2);
    });
    assert!(text.starts_with("the next message does not fit, expected"), "{text}");
    script.disallow(probe.actor(), |n| *n == 3);
    a.tell(2);
    assert_eq!(script.run(), 3);
    a.tell(3);
    let text = complaint(|| {
        script.run();
    });
    assert!(
        text.starts_with("a message from /user/a to /user/probe was handled that is disallowed"),
        "{text}"
    );
}

#[test]
fn ticks_are_expected_without_a_pattern_and_move_the_clock() {
    on_steppers(|system| {
        let probe: Probe<u32> = Probe::new(system, "probe");
        let late = Late { to: probe.actor().clone() };
        let late = system.spawn("late", Props::new(move || late.clone())).expect("a free name");
        let mut script = Script::new(system);
        script.expect_own(&late);
        assert_eq!(system.now().as_nanos(), 5_000_000);
        script.expect(&late, probe.actor(), |n| *n == 1);
        late.tell(2);
        let text = complaint(|| {
            script.expect_own(&late);
        });
        assert!(text.contains("expected a tick or a notice of /user/late"), "{text}");
        assert_eq!(script.run_until(|system| system.ledger().handled == 4), 1);
    });
}

#[test]
fn chance_finds_every_order_that_keeps_the_pairs() {
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..1_000 {
        let run = || {
            let system = stepper();
            let (a, b, probe) = pairs(&system);
            a.tell(2);
            b.tell(2);
            (0..2).for_each(|n| probe.actor().tell(10 + n));
            let mut script = Script::new(&system);
            script.choose(seed);
            script.run();
            (probe.take(), system.log_hash())
        };
        let (order, _) = run();
        assert_eq!(run(), run(), "the same seed, the same order");
        let from = |from: &[u32]| order.iter().filter(|n| from.contains(n)).copied().collect::<Vec<_>>();
        assert_eq!(from(&[10, 11]), [10, 11]);
        orders.insert(order);
    }
    // The senders' 1 2 1 2 has two readings that look alike each; 10 and 11 fall in between anywhere.
    assert_eq!(orders.len(), 30, "{orders:?}");
}
