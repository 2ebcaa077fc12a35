//! Promises of `keep_children`: who stays over a restart, with what, and who does not.

mod common;

use std::time::Duration;

use common::kin::{Kin, MS, Msg, expect_all, find, kin, planned, run, starting};
use common::wait_until;
use footlights::actor::{Actor, Context, Failure, Props, SpawnError};
use footlights::observe::ActorState;
use footlights::supervise::{Backoff, Directive, FailureKind, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher};

fn pause(ms: u32) -> Backoff {
    Backoff::new(MS * ms, MS * ms).jitter_permille(0)
}

/// A parent "p" that keeps its child "a".
fn parent(probe: &Probe<String>) -> Props<Kin> {
    let child = kin("a", probe);
    let start = move |cx: &mut Context<'_, Kin>| {
        cx.child_or_spawn("a", || child.clone())?;
        Ok(())
    };
    starting("p", probe, start).keep_children()
}

fn state(system: &ActorSystem, path: &str) -> Option<ActorState> {
    system.find(path).map(|found| found.snapshot().state)
}

#[test]
fn kept_children_keep_identity_and_state_and_stand_still_until_their_parent_runs() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let p = system.spawn("p", parent(&probe).backoff(pause(20))).expect("a free name");
        expect_all(system, &probe, &["p started 1", "a started 1"]);
        let a = find(system, "/user/p/a");
        a.tell(Msg::Add);
        probe.expect_eq(system, "a sum 1".to_owned());
        p.tell(Msg::Fail);
        probe.expect_eq(system, "p failed".to_owned());
        a.tell(Msg::Add);
        expect_all(system, &probe, &["p started 2", "a sum 2"]);
        assert_eq!(find(system, "/user/p/a"), a);
        let a = a.any().snapshot();
        assert_eq!((a.incarnation, a.restarts), (1, 0));
    });
}

#[test]
fn a_child_whose_failure_was_escalated_is_restarted_and_its_siblings_stay() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (a, b) = (kin("a", &probe), kin("b", &probe));
        let escalate = Strategy::one_for_one().on("planned", Directive::Escalate);
        let start = move |cx: &mut Context<'_, Kin>| {
            cx.child_or_spawn("a", || a.clone())?;
            cx.child_or_spawn("b", || b.clone())?;
            Ok(())
        };
        let props = starting("p", &probe, start).keep_children().supervise(escalate);
        system.spawn("p", props).expect("a free name");
        (0..3).for_each(|_| assert!(probe.expect(system).ends_with("started 1")));
        let (a, b) = (find(system, "/user/p/a"), find(system, "/user/p/b"));
        [Msg::Add, Msg::Fail, Msg::Add].into_iter().for_each(|msg| a.tell(msg));
        expect_all(system, &probe, &["a sum 1", "p failed", "p started 2", "a failed", "a started 2"]);
        probe.expect_eq(system, "a sum 1".to_owned()); // a new state, the old mailbox
        b.tell(Msg::Add);
        probe.expect_eq(system, "b sum 1".to_owned());
        let incarnations = [&a, &b].map(|child| child.any().snapshot().incarnation);
        assert_eq!(incarnations, [2, 1]);
    });
}

#[test]
fn a_watch_of_a_kept_child_survives() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let p = system.spawn("p", parent(&probe)).expect("a free name");
        expect_all(system, &probe, &["p started 1", "a started 1"]);
        run(&p, |cx| {
            let a = cx.children().remove(0);
            cx.watch(&a, |_| Msg::Say(7))?;
            Err(planned())
        });
        expect_all(system, &probe, &["p failed", "p started 2"]);
        find(system, "/user/p/a").tell(Msg::Stop);
        expect_all(system, &probe, &["a stopped", "p 7"]);
        probe.expect_none_within(system, 5 * MS);
    });
}

#[test]
fn kept_children_wait_through_failed_starts_and_are_resumed_once() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let child = kin("a", &probe);
        let start = move |cx: &mut Context<'_, Kin>| {
            cx.child_or_spawn("a", || child.clone())?;
            if (2..5).contains(&cx.incarnation()) { Err(planned()) } else { Ok(()) }
        };
        let p = system.spawn("p", starting("p", &probe, start).keep_children()).expect("a free name");
        expect_all(system, &probe, &["p started 1", "a started 1"]);
        let a = find(system, "/user/p/a");
        p.tell(Msg::Fail);
        probe.expect_eq(system, "p failed".to_owned());
        a.tell(Msg::Add);
        expect_all(system, &probe, &["p failed", "p failed", "p failed", "p started 5", "a sum 1"]);
        assert_eq!(a.any().snapshot().incarnation, 1);
        // It is suspended again by the next failure, and no deeper than by the first.
        p.tell(Msg::Fail);
        expect_all(system, &probe, &["p failed", "p started 6"]);
        a.tell(Msg::Add);
        probe.expect_eq(system, "a sum 2".to_owned());
    });
}

#[test]
fn a_kept_child_that_fails_meanwhile_is_decided_on_when_its_parent_runs() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let restart = Strategy::one_for_one().on(FailureKind::Killed, Directive::Restart);
        let p = parent(&probe).backoff(pause(60)).supervise(restart);
        let p = system.spawn("p", p).expect("a free name");
        expect_all(system, &probe, &["p started 1", "a started 1"]);
        let a = find(system, "/user/p/a");
        p.tell(Msg::Fail);
        wait_until(system, "the backoff", || state(system, "/user/p") == Some(ActorState::Backoff));
        a.kill();
        expect_all(system, &probe, &["p failed", "p started 2", "a failed", "a started 2"]);
        a.tell(Msg::Add);
        probe.expect_eq(system, "a sum 1".to_owned());
    });
}

#[test]
fn a_stop_ends_kept_children_also_while_their_parent_waits_for_its_restart() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let p = system.spawn("p", parent(&probe).backoff(pause(10_000))).expect("a free name");
        expect_all(system, &probe, &["p started 1", "a started 1"]);
        p.tell(Msg::Fail);
        wait_until(system, "the backoff", || state(system, "/user/p") == Some(ActorState::Backoff));
        wait_until(system, "a at rest", || state(system, "/user/p/a") == Some(ActorState::Suspended));
        p.stop();
        expect_all(system, &probe, &["p failed", "a stopped"]);
        wait_until(system, "the end", || system.find("/user/p").is_none());
    });
}

#[test]
fn without_keep_children_a_restart_stops_them() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let child = kin("a", &probe);
        let start = move |cx: &mut Context<'_, Kin>| {
            cx.child_or_spawn("a", || child.clone())?;
            Ok(())
        };
        let p = system.spawn("p", starting("p", &probe, start)).expect("a free name");
        expect_all(system, &probe, &["p started 1", "a started 1"]);
        let a = find(system, "/user/p/a");
        p.tell(Msg::Fail);
        expect_all(system, &probe, &["p failed", "a stopped", "p started 2", "a started 1"]);
        assert_ne!(find(system, "/user/p/a"), a);
    });
}

#[test]
fn child_or_spawn_refuses_a_child_of_another_kind() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let other = Probe::<SpawnError>::new(system, "other");
        let p = system.spawn("p", parent(&probe)).expect("a free name");
        let out = other.recipient();
        run(&p, move |cx| {
            struct Deaf;
            impl Actor for Deaf {
                type Msg = ();
                fn receive(&mut self, _: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> {
                    Ok(())
                }
            }
            if let Err(error) = cx.child_or_spawn("a", || Props::new(|| Deaf)) {
                cx.tell(&out, error);
            }
            Ok(())
        });
        assert_eq!(
            other.expect_within(system, Duration::from_secs(3)),
            SpawnError::NameTaken("a".to_owned())
        );
    });
}

#[test]
fn kept_children_go_on_with_a_parent_that_is_resumed() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let resume = Strategy::one_for_one().on("planned", Directive::Resume);
        let top = kin("top", &probe).supervise(resume);
        let p = parent(&probe);
        let top = system.spawn("top", top.child("p", move || p.clone())).expect("a free name");
        // The child of p starts when p does, in any order.
        (0..3).for_each(|_| assert!(probe.expect(system).ends_with("started 1")));
        find(system, "/user/top/p").tell(Msg::Fail);
        wait_until(system, "a resumed parent", || {
            system.is_quiet() && state(system, "/user/top/p") == Some(ActorState::Running)
        });
        find(system, "/user/top/p/a").tell(Msg::Add);
        probe.expect_eq(system, "a sum 1".to_owned());
        assert_eq!(top.any().snapshot().restarts, 0);
    });
}

#[test]
fn kept_children_of_a_sibling_in_a_group_restart_stay() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (p, x) = (parent(&probe), kin("x", &probe));
        let top = kin("top", &probe).supervise(Strategy::all_for_one());
        let top = top.child("p", move || p.clone()).child("x", move || x.clone());
        system.spawn("top", top).expect("a free name");
        (0..4).for_each(|_| assert!(probe.expect(system).ends_with("started 1")));
        let a = find(system, "/user/top/p/a");
        a.tell(Msg::Add);
        probe.expect_eq(system, "a sum 1".to_owned());
        find(system, "/user/top/x").tell(Msg::Fail);
        expect_all(system, &probe, &["x failed", "p failed", "p started 2", "x started 2"]);
        a.tell(Msg::Add);
        probe.expect_eq(system, "a sum 2".to_owned());
    });
}
