//! Promises of faults on order and of golden logs: the same thing goes wrong each time, and nothing is uncounted.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use common::hush_planned_panics;
use common::scripted::{self, Msg};
use footlights::actor::ActorRef;
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::observe::{EventKind, FaultKind, Level};
use footlights::pattern::{AskError, Reply};
use footlights::rng::Rng;
use footlights::system::ActorSystem;
use footlights::testkit::{
    Fault, FaultError, Faults, Probe, assert_log, assert_log_file, on_steppers, readable_log,
};

const MS: Duration = Duration::from_millis(1);

fn complaint(body: impl FnOnce()) -> String {
    hush_planned_panics();
    let failed = catch_unwind(AssertUnwindSafe(body)).expect_err("it must fail");
    failed.downcast_ref::<String>().cloned().unwrap_or_default()
}

fn stepper(seed: u64) -> ActorSystem {
    ActorSystem::builder("test").stepper().workers(2).seed(seed).build().expect("good settings")
}

/// Runs until nothing is queued; the ledger balances after every turn.
fn rest(system: &ActorSystem) {
    while !system.is_quiet() {
        system.step();
        assert!(system.ledger().balanced(), "{:?}", system.ledger());
    }
}

fn faults_seen(system: &ActorSystem) -> Vec<FaultKind> {
    let kinds = system.rare_events(0).0.into_iter().filter_map(|event| match event.kind {
        EventKind::FaultInjected { fault, .. } => Some(fault),
        _ => None,
    });
    kinds.collect()
}

fn say(actor: &ActorRef<Msg>, numbers: std::ops::Range<u64>) {
    numbers.for_each(|n| actor.tell(Msg::Say(n)));
}

fn link(to: &str) -> (String, String) {
    ("outside".to_owned(), to.to_owned())
}

#[test]
fn the_nth_message_fails_and_its_supervisor_decides() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = scripted::spawn(system, "a", scripted::props(&probe));
        let faults = Faults::on(system);
        faults.inject(Fault::Fail { actor: "/user/a".to_owned(), nth: 3 }).expect("it lives");
        say(&actor, 0..5);
        rest(system);
        assert_eq!(probe.take(), [0, 1, 3, 4]);
        assert_eq!(actor.any().snapshot().restarts, 1);
        assert_eq!((system.ledger().failed, faults_seen(system)), (1, vec![FaultKind::Fail]));
        let failed = system.rare_events(0).0.into_iter().find_map(|event| match event.kind {
            EventKind::Failed { code, message, .. } => Some((code, message.0 > 0)),
            _ => None,
        });
        assert_eq!(failed, Some(("fault", true)));
    });
}

#[test]
fn a_slow_actor_takes_longer_until_it_is_healed() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = scripted::spawn(system, "a", scripted::props(&probe));
        let faults = Faults::on(system);
        let slow = |by| faults.inject(Fault::Slow { actor: "/user/a".to_owned(), by }).expect("it lives");
        slow(MS * 10);
        say(&actor, 0..3);
        rest(system);
        assert_eq!(system.now().as_nanos(), 30_000_000);
        assert_eq!(actor.any().snapshot().busy_ns, 30_000_000);
        slow(Duration::ZERO);
        say(&actor, 3..6);
        rest(system);
        assert_eq!((system.now().as_nanos(), probe.take().len()), (30_000_000, 6));
    });
}

#[test]
fn links_lose_double_and_delay_what_they_are_told_to() {
    on_steppers(|system| {
        let probe: Probe<u64> = Probe::new(system, "probe");
        let mut faults = Faults::on(system);
        let ((from, to), by) = (link("/user/probe"), MS * 5);
        let fault = Fault::Double { from: from.clone(), to: to.clone(), messages: 1 };
        assert_eq!(faults.inject(fault.clone()), Err(FaultError::NoCopy("/user/probe".to_owned())));
        faults.teach(probe.actor());
        faults.inject(Fault::Drop { from: from.clone(), to: to.clone(), messages: 2 }).expect("it lives");
        faults.inject(fault).expect("it was taught");
        faults.inject(Fault::Delay { from, to, messages: 1, by }).expect("it lives");
        (0..6).for_each(|n| probe.actor().tell(n));
        assert_eq!((system.ledger().dropped, system.ledger().queued), (2, 5));
        rest(system);
        assert_eq!(probe.take(), [2, 2, 4, 5]);
        system.run_for(by);
        assert_eq!(probe.take(), [3], "overtaken by what came after it");
        let ledger = system.ledger();
        assert_eq!((ledger.sent, ledger.handled, ledger.dropped, ledger.queued), (7, 5, 2, 0));
        let kinds = [FaultKind::Drop, FaultKind::Drop, FaultKind::Double, FaultKind::Delay];
        assert_eq!(faults_seen(system), kinds);
    });
}

#[test]
fn a_fault_on_one_link_leaves_the_others_alone() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let (a, b) = (
            scripted::spawn(system, "a", scripted::props(&probe)),
            scripted::spawn(system, "b", scripted::props(&probe)),
        );
        let fault =
            Fault::Drop { from: "/user/a".to_owned(), to: "/user/probe".to_owned(), messages: u64::MAX };
        Faults::on(system).inject(fault).expect("they live");
        // Inside a handler, by `tell` of the reference: the sender is known all the same.
        say(&a, 0..3);
        say(&b, 10..13);
        rest(system);
        assert_eq!(probe.take(), [10, 11, 12]);
        assert_eq!(system.ledger().dropped, 3);
    });
}

#[test]
fn faults_reach_messages_that_wait_for_room() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let narrow = Mailbox::bounded(1, OverflowStrategy::Backpressure);
        let target = scripted::spawn(system, "b", scripted::props(&probe).mailbox(narrow));
        let sender = scripted::spawn(system, "a", scripted::props(&probe));
        let faults = Faults::on(system);
        let (from, to) = ("/user/a".to_owned(), "/user/b".to_owned());
        faults.inject(Fault::Drop { from: from.clone(), to: to.clone(), messages: 1 }).expect("they live");
        faults.inject(Fault::Delay { from, to, messages: 1, by: MS }).expect("they live");
        scripted::run(&sender, move |cx| {
            (0..5).for_each(|n| cx.send(&target, Msg::Say(n)));
            Ok(())
        });
        while system.step_until(footlights::time::Instant::ZERO + MS * 5).is_some() {
            assert!(system.ledger().balanced(), "{:?}", system.ledger());
        }
        let mut heard = probe.take();
        heard.sort();
        assert_eq!(heard, [1, 2, 3, 4]);
        assert_eq!(system.ledger().dropped, 1);
        assert_eq!(system.snapshot().ledger.queued, 0);
    });
}

#[test]
fn an_ask_whose_question_is_lost_fails_at_once() {
    on_steppers(|system| {
        let shop: Probe<Reply<u64>> = Probe::new(system, "shop");
        let (from, to) = link("/user/shop");
        Faults::on(system).inject(Fault::Drop { from, to, messages: 1 }).expect("it lives");
        let ask = shop.actor().ask(|reply| reply, Duration::MAX);
        let outcome = system.block_on(ask);
        assert!(matches!(outcome, Err(error) if error != AskError::Timeout), "{outcome:?}");
        assert_eq!(system.now().as_nanos(), 0);
    });
}

#[test]
fn a_clock_that_jumps_makes_timers_late_in_due_order() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = scripted::spawn(system, "a", scripted::props(&probe));
        scripted::run(&actor, |cx| {
            cx.timers().fixed_rate("rate", MS * 10, || Msg::Say(10))?;
            cx.timers().once("b", MS * 7, Msg::Say(7));
            cx.timers().once("a", MS * 3, Msg::Say(3));
            Ok(())
        });
        rest(system);
        Faults::on(system).inject(Fault::Jump { by: MS * 35 }).expect("it can");
        assert_eq!(system.now().as_nanos(), 35_000_000);
        assert!(probe.take().is_empty());
        rest(system);
        assert_eq!(probe.take(), [3, 7, 10], "one tick for all that were missed");
        system.run_for(MS * 5);
        assert_eq!(probe.take(), [10], "in phase");
        let jumped =
            |event: &footlights::observe::Event| event.kind == EventKind::ClockJumped { by_ns: 35_000_000 };
        assert_eq!(system.rare_events(0).0.iter().filter(|event| jumped(event)).count(), 1);
    });
}

/// A run with faults at random moments, or with those of another run at the same moments.
fn chaos(seed: u64, again: Option<&ActorSystem>) -> ActorSystem {
    let system = stepper(seed);
    let probe = Probe::new(&system, "probe");
    let actors: Vec<_> =
        (0..3).map(|n| scripted::spawn(&system, &format!("a{n}"), scripted::props(&probe))).collect();
    for (n, actor) in actors.iter().enumerate() {
        let next = actors[(n + 1) % 3].clone();
        scripted::run(actor, move |cx| {
            (0..20).for_each(|k| cx.tell(&next, Msg::Say(k)));
            Ok(cx.timers().fixed_rate("tick", MS, || Msg::Say(99))?)
        });
    }
    let mut faults = Faults::on(&system);
    faults.teach(probe.actor());
    match again {
        Some(first) => faults.replay(&Faults::planted_in(first), |_| {}).expect("it was possible before"),
        None => {
            let mut rng = Rng::new(seed);
            for _ in 0..10 {
                for _ in 0..rng.below(20) {
                    system.step();
                }
                let (a, b) = (format!("/user/a{}", rng.below(3)), format!("/user/a{}", rng.below(3)));
                let (messages, by) = (rng.below(5), Duration::from_micros(rng.below(3_000)));
                let fault = match rng.below(6) {
                    0 => Fault::Fail { actor: a, nth: 1 + messages },
                    1 => Fault::Slow { actor: a, by },
                    2 => Fault::Drop { from: a, to: b, messages },
                    3 => Fault::Double { from: a, to: "/user/probe".to_owned(), messages },
                    4 => Fault::Delay { from: a, to: b, messages, by },
                    _ => Fault::Jump { by },
                };
                assert_eq!(fault.to_string().parse(), Ok(fault.clone()));
                faults.inject(fault).expect("they live");
            }
        }
    }
    let end = footlights::time::Instant::ZERO + MS * 60;
    while system.step_until(end).is_some() {
        assert!(system.ledger().balanced(), "seed {seed}");
    }
    system
}

#[test]
fn a_run_with_faults_can_be_repeated_from_its_log() {
    for seed in 0..50 {
        let first = chaos(seed, None);
        let second = chaos(seed, Some(&first));
        assert_eq!(Faults::planted_in(&first).len(), 10);
        assert_eq!(readable_log(&first, Level::Rare), readable_log(&second, Level::Rare), "seed {seed}");
    }
}

#[test]
fn every_fault_error_is_provoked_and_nothing_is_planted_then() {
    let system = stepper(0);
    let probe: Probe<u64> = Probe::new(&system, "probe");
    let faults = Faults::on(&system);
    let (from, to) = link("/user/nobody");
    let gone = FaultError::NoSuchActor("/user/nobody".to_owned());
    assert_eq!(faults.inject(Fault::Drop { from, to, messages: 1 }), Err(gone.clone()));
    assert_eq!(gone.to_string(), "no living actor is called /user/nobody");
    let (from, to) = link("/user/probe");
    let no_copy = faults.inject(Fault::Double { from, to, messages: 1 }).expect_err("not taught");
    assert_eq!(no_copy, FaultError::NoCopy("/user/probe".to_owned()));
    assert!(no_copy.to_string().ends_with("teach it"));
    let zeroth = faults.inject(Fault::Fail { actor: "/user/probe".to_owned(), nth: 0 });
    assert_eq!(zeroth, Err(FaultError::Zeroth));
    for text in ["", "fail", "fail /user/a x", "slow /user/a 5", "jump 5ms", "drop /user/a /user/b"] {
        assert_eq!(text.parse::<Fault>(), Err(FaultError::Unreadable(text.to_owned())));
    }
    probe.actor().tell(1);
    rest(&system);
    assert_eq!((probe.take(), Faults::planted_in(&system)), (vec![1], vec![]));
}

// --- golden logs ---

fn a_failing_run() -> ActorSystem {
    let system = stepper(7);
    let probe = Probe::new(&system, "probe");
    let actor = scripted::spawn(&system, "a", scripted::props(&probe));
    actor.tell(Msg::Fail);
    system.run_until_quiet(100);
    system
}

#[test]
fn a_golden_log_tells_a_run_in_words() {
    let log = readable_log(&a_failing_run(), Level::Rare);
    assert!(log.starts_with("seed 7, log "), "{log}");
    assert!(log.contains("/user                Decided on /user/a: "), "{log}");
    assert!(log.contains("/user/a              Failed { kind: Error, code: \"planned\""), "{log}");
    let all = readable_log(&a_failing_run(), Level::Message);
    assert!(all.contains("/user/a              Sent { message: m1, from: outside"), "{all}");
    assert_log(&a_failing_run(), Level::Rare, &log);
}

#[test]
fn a_golden_log_that_has_changed_is_shown_with_the_difference() {
    let log = readable_log(&a_failing_run(), Level::Rare);
    let other = log.replace("RestartBegan", "RestartDone");
    let text = complaint(|| assert_log(&a_failing_run(), Level::Rare, &other));
    assert!(text.contains("FOOTLIGHTS_RENEW=1"), "{text}");
    let changed = |mark: &str| text.lines().filter(|line| line.starts_with(mark)).count();
    assert_eq!((changed("-"), changed("+")), (1, 1), "{text}");
}

#[test]
fn a_golden_log_lives_in_a_file() {
    let file = std::env::temp_dir().join(format!("footlights-golden-{}.txt", std::process::id()));
    let text = complaint(|| assert_log_file(&a_failing_run(), Level::Rare, &file));
    assert!(text.contains("cannot be read"), "{text}");
    std::fs::write(&file, readable_log(&a_failing_run(), Level::Rare)).expect("a folder for such files");
    assert_log_file(&a_failing_run(), Level::Rare, &file);
    let text = complaint(|| assert_log_file(&stepper(8), Level::Rare, &file));
    std::fs::remove_file(&file).expect("it was written");
    assert!(text.contains("has changed"), "{text}");
}
