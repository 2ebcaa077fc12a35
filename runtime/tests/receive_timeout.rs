//! Promises of the receive timeout: it tells of silence, of all silence, and of nothing else.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::time::Duration;

use common::scripted::{self, planned};
use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient, TimerError};
use footlights::observe::{DropReason, EventKind};
use footlights::supervise::{Directive, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const MS: Duration = Duration::from_millis(1);
const SILENT: u32 = 0;

fn at(ms: u32) -> Instant {
    Instant::ZERO + MS * ms
}

enum Msg {
    Set(Duration),
    Cancel,
    Silent,
    Say(u32),
    /// Passes unnoticed by the timeout.
    Ping,
    /// Work for so long, and pass unnoticed.
    PingAndWork(Duration),
    Stash,
    Fail,
}

struct Listener(Recipient<(u32, Instant)>);

impl Actor for Listener {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Set(after) => cx
                .set_receive_timeout(after, || Msg::Silent)?
                .ignoring(|msg| matches!(msg, Msg::Ping | Msg::PingAndWork(_))),
            Msg::Cancel => assert!(cx.cancel_receive_timeout() && !cx.cancel_receive_timeout()),
            Msg::Silent => self.0.tell((SILENT, cx.now())),
            Msg::Say(n) => self.0.tell((n, cx.now())),
            Msg::Ping => {}
            Msg::PingAndWork(d) => cx.work(d),
            Msg::Stash => cx.stash(msg)?,
            Msg::Fail => return Err(planned()),
        }
        Ok(())
    }
}

fn props(probe: &Probe<(u32, Instant)>) -> Props<Listener> {
    let out = probe.recipient();
    Props::new(move || Listener(out.clone()))
}

fn spawn(system: &ActorSystem, probe: &Probe<(u32, Instant)>) -> ActorRef<Msg> {
    system.spawn("listener", props(probe)).expect("a free name")
}

/// Tells the actor something at a moment; runs the system until then.
fn tell_at(system: &ActorSystem, actor: &ActorRef<Msg>, ms: u32, msg: Msg) {
    system.run_until(at(ms));
    actor.tell(msg);
}

fn times(probe: &Probe<(u32, Instant)>) -> Vec<Instant> {
    probe.take().into_iter().filter(|(n, _)| *n == SILENT).map(|(_, when)| when).collect()
}

#[test]
fn t1_a_receive_timeout_is_reset_by_user_messages_and_not_by_its_own_tick() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, &probe);
        actor.tell(Msg::Set(MS * 10));
        tell_at(system, &actor, 7, Msg::Say(1));
        system.run_until(at(40));
        assert_eq!(times(&probe), [at(17), at(27), at(37)]);
        actor.stop();
    });
}

#[test]
fn t1_a_receive_timeout_comes_and_comes_again_until_it_is_cancelled() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, &probe);
        actor.tell(Msg::Set(MS * 2));
        assert_eq!([probe.expect(system).0, probe.expect(system).0], [SILENT; 2]);
        actor.tell(Msg::Cancel);
        actor.tell(Msg::Say(9));
        while probe.expect(system).0 != 9 {}
        wait_until(system, "no timer", || system.snapshot().timers == 0);
        assert_eq!(system.ledger().failed, 0, "the assertion in the cancel held");
    });
}

#[test]
fn ignored_messages_do_not_end_the_silence_and_the_phase_is_kept() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, &probe);
        actor.tell(Msg::Set(MS * 10));
        tell_at(system, &actor, 7, Msg::Ping);
        tell_at(system, &actor, 18, Msg::PingAndWork(MS * 17)); // until 35: the ticks of 20 and 30 fall due
        system.run_until(at(45));
        assert_eq!(times(&probe), [at(10), at(35), at(40)], "one tick was queued");
        actor.stop();
    });
}

#[test]
fn a_tick_that_is_queued_is_discarded_if_a_message_was_handled_since() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, &probe);
        actor.tell(Msg::Set(MS * 10));
        tell_at(system, &actor, 5, Msg::PingAndWork(MS * 20)); // until 25; the tick of 10 is queued meanwhile
        actor.tell(Msg::Say(1)); // and this before it
        system.run_until(at(36));
        assert_eq!(times(&probe), [at(35)], "ten from the end of the handling");
        let stale =
            |kind: &EventKind| matches!(kind, EventKind::Dropped { reason: DropReason::StaleTimer, .. });
        assert_eq!(system.rare_events(0).0.iter().filter(|event| stale(&event.kind)).count(), 1);
        actor.stop();
    });
}

#[test]
fn a_message_that_is_only_stashed_does_not_end_the_silence() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, &probe);
        actor.tell(Msg::Set(MS * 10));
        tell_at(system, &actor, 5, Msg::Stash);
        system.run_until(at(12));
        assert_eq!(times(&probe), [at(10)]);
        actor.stop();
    });
}

#[test]
fn a_receive_timeout_pauses_while_the_actor_is_suspended() {
    // The parent's worker is busy; the child must have one of its own.
    for seed in 0..16 {
        let builder = ActorSystem::builder("test").stepper().workers(4).seed(seed).seeded_order();
        let system = &builder.build().expect("good settings");
        let probe = Probe::new(system, "probe");
        let words = Probe::<u64>::new(system, "words");
        let resume = Strategy::one_for_one().default_directive(Directive::Resume);
        let parent = scripted::spawn(system, "parent", scripted::props(&words).supervise(resume));
        let listener = props(&probe);
        scripted::run(&parent, move |cx| {
            let child = cx.spawn("listener", listener)?;
            cx.tell(&child, Msg::Set(MS * 10));
            cx.tell_after(MS * 4, &child, Msg::Fail);
            Ok(())
        });
        system.run_until(at(3));
        // The parent is busy from 3 to 53; its child waits for the decision from 4 on.
        scripted::run(&parent, |cx| {
            cx.work(MS * 50);
            Ok(())
        });
        system.run_until(at(80));
        assert_eq!(times(&probe), [at(59), at(69), at(79)], "6 ms were left of the first silence");
    }
}

#[test]
fn a_restart_ends_the_receive_timeout() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, &probe);
        actor.tell(Msg::Set(Duration::from_secs(60)));
        actor.tell(Msg::Fail);
        actor.tell(Msg::Say(1));
        assert_eq!(probe.expect(system).0, 1);
        assert_eq!(system.snapshot().timers, 0);
    });
}

#[test]
fn a_receive_timeout_is_at_least_a_millisecond() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let actor = scripted::spawn(system, "actor", scripted::props(&probe));
        scripted::run(&actor, |cx| {
            let short = cx.set_receive_timeout(MS / 2, || scripted::Msg::Say(1));
            assert!(matches!(short, Err(TimerError::TooShort)));
            let never = cx.set_receive_timeout(Duration::MAX, || scripted::Msg::Say(2))?;
            assert!(format!("{never:?}").starts_with("ReceiveTimeout"));
            cx.tell(&cx.myself(), scripted::Msg::Say(3));
            Ok(())
        });
        assert_eq!(probe.expect(system), 3);
        assert_eq!(system.snapshot().timers, 0, "never takes no entry");
        assert_eq!(TimerError::TooShort.to_string(), "a receive timeout needs at least 1 ms");
    });
}
