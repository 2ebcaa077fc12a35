//! What each dialect changes, row by row, and that what is named goes before it.

mod common;

use std::time::Duration;

use common::kin::{Kin, MS, Msg, expect_all, find, kin, planned, run, starting};
use common::wait_until;
use footlights::actor::{ActorRef, Context, Exit, Props};
use footlights::observe::{ActorState, DeadLetterReason, Decided, EventKind, StopReason};
use footlights::supervise::{
    Dialect, Directive, FailureKind, Limit, MailboxOnRestart, RestartType, SignalOrder, StopOrder, Strategy,
    Window,
};
use footlights::system::{ActorSystem, Builder};
use footlights::testkit::{Probe, on_each_dispatcher_with};

fn on_each(dialect: Dialect, body: impl Fn(&ActorSystem)) {
    on_each_dispatcher_with(|builder| builder.dialect(dialect), body);
}

fn decisions(system: &ActorSystem) -> Vec<Decided> {
    let decided = system.events(0, usize::MAX).into_iter().filter_map(|event| match event.kind {
        EventKind::Decided(decided) => Some(*decided),
        _ => None,
    });
    decided.collect()
}

/// Spawns a parent "p" with two children, "a" and "b".
fn family(system: &ActorSystem, probe: &Probe<String>) -> ActorRef<Msg> {
    let children = [("a", kin("a", probe)), ("b", kin("b", probe))];
    let start = move |cx: &mut Context<'_, Kin>| {
        for (name, child) in &children {
            cx.spawn(name, child.clone())?;
        }
        Ok(())
    };
    let p = system.spawn("p", starting("p", probe, start)).expect("a free name");
    let mut said: Vec<_> = (0..3).map(|_| probe.expect(system)).collect();
    said.sort();
    assert_eq!(said, ["a started 1", "b started 1", "p started 1"]);
    p
}

/// Lets `actor` fail with two messages behind it.
fn fail_with_mail(actor: &ActorRef<Msg>) {
    let me = actor.clone();
    run(actor, move |_| {
        [Msg::Say(1), Msg::Say(2)].into_iter().for_each(|msg| me.tell(msg));
        Err(planned())
    });
}

fn dead(system: &ActorSystem, reason: DeadLetterReason) -> usize {
    let is_it = |kind: &EventKind| matches!(kind, EventKind::DeadLettered { reason: r, .. } if *r == reason);
    system.events(0, usize::MAX).iter().filter(|event| is_it(&event.kind)).count()
}

/// Stops "p", whose second child "b" cannot end before a child of its own has seen "a" stop, or has waited for long enough; true
/// if "a" was told to stop only when "b" had ended.
fn stops_one_at_a_time(system: &ActorSystem, p: &ActorRef<Msg>) -> bool {
    let [a, b] = ["/user/p/a", "/user/p/b"].map(|path| find(system, path));
    let (probe, first) = (Probe::new(system, "guard"), a.any());
    let (guard, out) = (kin("guard", &probe).dispatcher("pinned"), probe.recipient());
    run(&b, |cx| {
        let guard = cx.spawn("guard", guard)?;
        run(&guard, move |cx| {
            out.tell("guard works".to_owned());
            let patience = cx.now() + 200 * MS;
            while cx.now() < patience && first.snapshot().state == ActorState::Running {
                cx.work(MS);
            }
            Ok(())
        });
        Ok(())
    });
    expect_all(system, &probe, &["guard started 1", "guard works"]);
    p.stop();
    wait_until(system, "the end of p", || system.find("/user/p").is_none());
    let events = system.events(0, usize::MAX);
    let at = |actor: &ActorRef<Msg>, wanted: &dyn Fn(&EventKind) -> bool| {
        events.iter().position(|event| event.actor == actor.id() && wanted(&event.kind)).expect("an event")
    };
    let a_begins = at(&a, &|kind| matches!(kind, EventKind::StopBegan));
    let b_ends = at(&b, &|kind| matches!(kind, EventKind::Stopped { .. }));
    b_ends < a_begins
}

#[test]
fn footlights_restarts_in_place_with_its_mailbox_and_stops_last_first() {
    assert_eq!(Dialect::Footlights.strategy(), Strategy::default());
    on_each(Dialect::Footlights, |system| {
        let probe = Probe::new(system, "probe");
        let p = family(system, &probe);
        let a = find(system, "/user/p/a");
        fail_with_mail(&a);
        expect_all(system, &probe, &["a failed", "a started 2", "a 1", "a 2"]);
        let decided = decisions(system).remove(0);
        assert_eq!((decided.supervisor, &*decided.supervisor_path), (p.id(), "/user/p"));
        let (taken, limit) = (decided.decision.taken, decided.decision.limit);
        assert_eq!(
            (taken, limit, decided.decision.delay.delay),
            (Directive::Restart, Limit::DEFAULT, Duration::ZERO)
        );
        // Transient: an own stop is final.
        a.tell(Msg::Stop);
        probe.expect_eq(system, "a stopped".to_owned());
        wait_until(system, "the end of a", || system.find("/user/p/a").is_none());
    });
    on_each(Dialect::Footlights, |system| {
        let probe = Probe::new(system, "probe");
        let p = family(system, &probe);
        assert!(stops_one_at_a_time(system, &p));
    });
}

#[test]
fn akka_restarts_for_ever_stops_failed_starts_and_children_all_at_once() {
    on_each(Dialect::Akka, |system| {
        let probe = Probe::new(system, "probe");
        let p = family(system, &probe);
        let a = find(system, "/user/p/a");
        fail_with_mail(&a);
        expect_all(system, &probe, &["a failed", "a started 2", "a 1", "a 2"]);
        // More often than any default budget allows, and 1 ms apart.
        (0..30).for_each(|_| a.tell(Msg::Fail));
        a.tell(Msg::Say(3));
        while probe.expect(system) != "a 3" {}
        let decided = decisions(system);
        assert_eq!(decided.len(), 31);
        for Decided { decision, .. } in &decided {
            assert_eq!((decision.taken, decision.delay.delay), (Directive::Restart, MS));
            assert_eq!((decision.limit, decision.window), (Limit::Unlimited, Window::Tumbling));
        }
        assert!(!stops_one_at_a_time(system, &p), "all at once");
    });
    on_each(Dialect::Akka, |system| {
        let probe = Probe::new(system, "probe");
        system.spawn("x", starting("x", &probe, |_| Err(planned()))).expect("a free name");
        wait_until(system, "its end", || system.find("/user/x").is_none());
        let decided = decisions(system).remove(0);
        assert_eq!((decided.kind, decided.decision.taken), (FailureKind::Start, Directive::Stop));
        assert_eq!((&*decided.supervisor_path, decided.decision.rule), ("/user", Some(0)));
    });
}

#[test]
fn otp_restarts_own_stops_discards_the_mailbox_and_escalates_after_one_restart() {
    on_each(Dialect::Otp, |system| {
        let probe = Probe::new(system, "probe");
        let p = family(system, &probe);
        let a = find(system, "/user/p/a");
        // Permanent: an own stop is a failure, of kind Exit.
        a.tell(Msg::Stop);
        expect_all(system, &probe, &["a failed", "a started 2"]);
        assert_eq!(decisions(system)[0].kind, FailureKind::Exit);
        // The second failure in 5 s, of another child: too many for this supervisor. Its own restart is the first at /user.
        find(system, "/user/p/b").tell(Msg::Fail);
        expect_all(system, &probe, &["p failed"]);
        let mut said: Vec<_> = (0..5).map(|_| probe.expect(system)).collect();
        said[2..].sort();
        assert_eq!(said, ["b stopped", "a stopped", "a started 1", "b started 1", "p started 2"]);
        let decided = &decisions(system)[1];
        assert!(decided.decision.exhausted);
        assert_eq!(decided.decision.taken, Directive::Escalate);
        assert_eq!(decided.why(), decided.decision.why());
        assert!(stops_one_at_a_time(system, &p));
    });
    on_each(Dialect::Otp, |system| {
        let probe = Probe::new(system, "probe");
        let x = system.spawn("x", kin("x", &probe)).expect("a free name");
        probe.expect_eq(system, "x started 1".to_owned());
        fail_with_mail(&x);
        expect_all(system, &probe, &["x failed", "x started 2"]);
        x.tell(Msg::Say(3));
        probe.expect_eq(system, "x 3".to_owned());
        assert_eq!(dead(system, DeadLetterReason::Discarded), 2);
        assert_eq!(x.any().snapshot().ledger.dead_lettered, 2);
    });
}

#[test]
fn otp_discards_what_is_stashed_as_well() {
    on_each(Dialect::Otp, |system| {
        let probe = Probe::new(system, "probe");
        let x = system.spawn("x", kin("x", &probe)).expect("a free name");
        run(&x, |cx| {
            cx.stash(Msg::Say(1))?;
            Err(planned())
        });
        expect_all(system, &probe, &["x started 1", "x failed", "x started 2"]);
        x.tell(Msg::Say(2));
        probe.expect_eq(system, "x 2".to_owned());
        assert_eq!(dead(system, DeadLetterReason::Discarded), 1);
    });
}

#[test]
fn what_is_named_goes_before_the_dialect() {
    let set_up = |builder: Builder| builder.dialect(Dialect::Otp).signal_order(SignalOrder::Overtaking);
    on_each_dispatcher_with(set_up, |system| {
        let probe = Probe::new(system, "probe");
        let named = |props: Props<_>| {
            props.restart_type(RestartType::Transient).mailbox_on_restart(MailboxOnRestart::Kept)
        };
        let strategy = Strategy::one_for_one();
        let p = kin("p", &probe).supervise(strategy).stop_order(StopOrder::Parallel);
        let children = [("a", named(kin("a", &probe))), ("b", named(kin("b", &probe)))];
        let p = children.into_iter().fold(p, |p, (name, child)| p.child(name, move || child.clone()));
        let p = system.spawn("p", p).expect("a free name");
        expect_all(system, &probe, &["p started 1", "a started 1", "b started 1"]);
        let a = find(system, "/user/p/a");
        for _ in 0..3 {
            fail_with_mail(&a);
            probe.expect_eq(system, "a failed".to_owned());
            assert!(probe.expect(system).starts_with("a started"));
            expect_all(system, &probe, &["a 1", "a 2"]);
        }
        assert!(!stops_one_at_a_time(system, &p), "all at once");
    });
    on_each(Dialect::Otp, |system| {
        let probe = Probe::new(system, "probe");
        let x = kin("x", &probe).restart_type(RestartType::Transient);
        let x = system.spawn("x", x).expect("a free name");
        probe.watch(system, &x.any());
        x.tell(Msg::Stop);
        assert_eq!(probe.expect_terminated(system).reason, StopReason::Stopped);
    });
}

#[test]
fn a_second_top_level_failure_ends_an_otp_system() {
    let system = ActorSystem::builder("otp").stepper().dialect(Dialect::Otp).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let x = system.spawn("x", kin("x", &probe)).expect("a free name");
    [Msg::Fail, Msg::Fail].into_iter().for_each(|msg| x.tell(msg));
    system.run_until_quiet(10_000);
    assert!(system.find("/user/x").is_some(), "the second message went with the mailbox");
    x.tell(Msg::Fail);
    system.run_until_quiet(10_000);
    let exit = system.shutdown(MS).expect("it has ended");
    assert!(matches!(exit, Exit::Escalated { .. }), "{exit:?}");
}
