//! Promises of declared children: ordered start, failing starts, ordered stop, and the end by auto-shutdown.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::kin::{Kin, MS, Msg, expect_all, find, kin, planned, starting};
use common::wait_until;
use footlights::actor::{AnyRef, Props, SpawnError, Supervisor};
use footlights::observe::{ActorState, EventKind, StopReason};
use footlights::supervise::{AutoShutdown, Backoff, Directive, RestartType, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher};

/// A child that takes its time to start.
fn slow(name: &'static str, probe: &Probe<String>) -> impl Fn() -> Props<Kin> + Send + Sync + use<> {
    let props = starting(name, probe, |cx| {
        cx.work(MS);
        Ok(())
    });
    move || props.clone()
}

/// A child whose first `failures` starts fail.
fn reluctant(
    name: &'static str,
    probe: &Probe<String>,
    failures: u32,
) -> impl Fn() -> Props<Kin> + Send + Sync + use<> {
    let tries = Arc::new(AtomicU32::new(0));
    let start =
        move || if tries.fetch_add(1, Ordering::Relaxed) < failures { Err(planned()) } else { Ok(()) };
    let props = starting(name, probe, move |_| start());
    move || props.clone()
}

fn three(strategy: Strategy, probe: &Probe<String>) -> Props<Supervisor> {
    Supervisor::props(strategy)
        .child("a", slow("a", probe))
        .child("b", slow("b", probe))
        .child("c", slow("c", probe))
}

fn start(system: &ActorSystem, props: Props<Supervisor>) -> Result<AnyRef, SpawnError> {
    system.block_on(system.spawn_ready("top", props)).map(|top| top.any())
}

#[test]
fn declared_children_start_one_after_another_and_stop_last_first() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let top = start(system, three(Strategy::one_for_one(), &probe)).expect("all start");
        // The probe may lag behind on threads; that all three run is what "ready" means.
        let run = ["a", "b", "c"].map(|name| find(system, &format!("/user/top/{name}")).any().snapshot());
        assert!(run.iter().all(|child| child.state == ActorState::Running), "{run:?}");
        expect_all(system, &probe, &["a started 1", "b started 1", "c started 1"]);
        top.stop();
        expect_all(system, &probe, &["c stopped", "b stopped", "a stopped"]);
    });
}

#[test]
fn a_restarted_supervisor_starts_its_children_again_in_order() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let escalate = Strategy::one_for_one().on("planned", Directive::Escalate);
        start(system, three(escalate, &probe)).expect("all start");
        expect_all(system, &probe, &["a started 1", "b started 1", "c started 1"]);
        find(system, "/user/top/b").tell(Msg::Fail);
        expect_all(system, &probe, &["c stopped", "b stopped", "a stopped"]);
        expect_all(system, &probe, &["a started 1", "b started 1", "c started 1"]);
    });
}

#[test]
fn a_group_restart_keeps_the_order_of_declaration() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        start(system, three(Strategy::rest_for_one(), &probe)).expect("all start");
        expect_all(system, &probe, &["a started 1", "b started 1", "c started 1"]);
        find(system, "/user/top/b").tell(Msg::Fail);
        expect_all(system, &probe, &["c failed", "b failed", "b started 2", "c started 2"]);
    });
}

#[test]
fn s3_a_declared_child_that_fails_to_start_is_tried_again_in_its_budget() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let props = Supervisor::props(Strategy::one_for_one())
            .child("a", slow("a", &probe))
            .child("b", reluctant("b", &probe, 3))
            .child("c", slow("c", &probe));
        start(system, props).expect("b starts in the end");
        expect_all(system, &probe, &["a started 1", "b failed", "b failed", "b failed", "b started 4"]);
        expect_all(system, &probe, &["c started 1"]);
    });
}

#[test]
fn s3_a_declared_child_that_never_starts_fails_the_start_of_its_supervisor() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        for exhausted in [Strategy::one_for_one(), Strategy::one_for_one().escalate_when_exhausted()] {
            let props = Supervisor::props(exhausted.lifetime(1))
                .child("a", slow("a", &probe))
                .child("b", reluctant("b", &probe, u32::MAX))
                .child("c", slow("c", &probe));
            let top = Props::restart_type(props, RestartType::Temporary);
            let Err(SpawnError::StartFailed(why)) = start(system, top) else { panic!("it cannot start") };
            assert_eq!(why, "child b did not start: on request");
            wait_until(system, "its end", || system.find("/user/top").is_none());
            wait_until(system, "rest", || system.is_quiet());
            let said = probe.take();
            assert!(said.iter().any(|what| what == "a stopped"), "{said:?}");
            assert!(!said.iter().any(|what| what.starts_with('c')), "{said:?}");
        }
    });
}

#[test]
fn a_declared_child_with_a_taken_name_or_a_failing_spec_fails_the_start() {
    common::hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let twice = Supervisor::props(Strategy::one_for_one())
            .child("a", slow("a", &probe))
            .child("a", slow("b", &probe));
        let broken = Supervisor::props(Strategy::one_for_one())
            .child("a", || -> Props<Kin> { panic!("planned: no spec") });
        for props in [twice, broken] {
            let failed = start(system, props.restart_type(RestartType::Temporary));
            assert!(
                matches!(&failed, Err(SpawnError::StartFailed(why)) if why.contains("child a")),
                "{failed:?}"
            );
            wait_until(system, "its end", || system.find("/user/top").is_none());
        }
    });
}

#[test]
fn a_parent_with_declared_children_handles_nothing_before_they_run() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let props = kin("p", &probe).child("a", slow("a", &probe)).child("b", slow("b", &probe));
        let p = system.spawn("p", props).expect("a free name");
        p.tell(Msg::Say(1));
        expect_all(system, &probe, &["p started 1", "a started 1", "b started 1", "p 1"]);
    });
}

#[test]
fn a_stop_in_the_midst_of_the_start_ends_what_has_begun() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let later = Backoff::new(10_000 * MS, 10_000 * MS);
        let b = starting("b", &probe, |_| Err(planned())).backoff(later);
        let props = Supervisor::props(Strategy::one_for_one())
            .child("a", slow("a", &probe))
            .child("b", move || b.clone())
            .child("c", slow("c", &probe));
        let top = system.spawn("top", props).expect("a free name");
        expect_all(system, &probe, &["a started 1", "b failed"]);
        top.stop();
        wait_until(system, "the end", || system.find("/user/top").is_none());
        probe.expect_eq(system, "a stopped".to_owned());
        probe.expect_none_within(system, 5 * MS);
    });
}

/// Two significant children and one that is not.
fn significant(mode: AutoShutdown, probe: &Probe<String>) -> Props<Supervisor> {
    let [a, b, c] = ["a", "b", "c"].map(|name| kin(name, probe));
    Supervisor::props(Strategy::one_for_one().auto_shutdown(mode))
        .child("a", move || a.clone().significant())
        .child("b", move || b.clone().significant())
        .child("c", move || c.clone())
}

fn why(system: &ActorSystem) -> Vec<String> {
    let told = system.events(0, usize::MAX).into_iter().filter_map(|event| match event.kind {
        EventKind::AutoShutdown(why) => Some(why.why()),
        _ => None,
    });
    told.collect()
}

#[test]
fn auto_shutdown_by_any_significant_child() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let top = start(system, significant(AutoShutdown::AnySignificant, &probe)).expect("all start");
        expect_all(system, &probe, &["a started 1", "b started 1", "c started 1"]);
        probe.watch(system, &top);
        // Neither a restart nor the end of one that is not significant is an end.
        find(system, "/user/top/a").tell(Msg::Fail);
        expect_all(system, &probe, &["a failed", "a started 2"]);
        find(system, "/user/top/c").tell(Msg::Stop);
        probe.expect_eq(system, "c stopped".to_owned());
        probe.expect_none_within(system, 5 * MS);
        find(system, "/user/top/a").tell(Msg::Stop);
        expect_all(system, &probe, &["a stopped", "b stopped"]);
        assert_eq!(probe.expect_terminated(system).reason, StopReason::Stopped);
        let said =
            "/user/top/a has ended, a significant child, and shutdown is by any significant child; stopping";
        assert_eq!(why(system), [said]);
    });
}

#[test]
fn auto_shutdown_by_all_significant_children() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let top = start(system, significant(AutoShutdown::AllSignificant, &probe)).expect("all start");
        expect_all(system, &probe, &["a started 1", "b started 1", "c started 1"]);
        probe.watch(system, &top);
        find(system, "/user/top/a").kill(); // stopped for a failure is an end, too
        probe.expect_eq(system, "a stopped".to_owned());
        probe.expect_none_within(system, 5 * MS);
        find(system, "/user/top/b").tell(Msg::Stop);
        expect_all(system, &probe, &["b stopped", "c stopped"]);
        assert_eq!(probe.expect_terminated(system).reason, StopReason::Stopped);
        assert_eq!(why(system), ["all 2 significant children have ended, /user/top/b as the last; stopping"]);
    });
}

#[test]
fn auto_shutdown_is_never_by_default() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        start(system, significant(AutoShutdown::Never, &probe)).expect("all start");
        expect_all(system, &probe, &["a started 1", "b started 1", "c started 1"]);
        ["a", "b"].iter().for_each(|name| find(system, &format!("/user/top/{name}")).tell(Msg::Stop));
        wait_until(system, "two ends", || {
            system.find("/user/top/a").or(system.find("/user/top/b")).is_none()
        });
        find(system, "/user/top/c").tell(Msg::Say(1));
        wait_until(system, "an answer", || probe.take().iter().any(|what| what == "c 1"));
        assert_eq!(why(system), [""; 0]);
    });
}

#[test]
fn a_permanent_supervisor_that_shuts_itself_down_is_restarted() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let props = significant(AutoShutdown::AnySignificant, &probe).restart_type(RestartType::Permanent);
        start(system, props).expect("all start");
        expect_all(system, &probe, &["a started 1", "b started 1", "c started 1"]);
        find(system, "/user/top/b").tell(Msg::Stop);
        expect_all(system, &probe, &["b stopped", "c stopped", "a stopped"]);
        expect_all(system, &probe, &["a started 1", "b started 1", "c started 1"]);
    });
}

#[test]
fn a_significant_child_that_ends_during_the_start_ends_its_supervisor_when_all_have_started() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let brief = starting("a", &probe, |cx| {
            cx.stop();
            Ok(())
        });
        let props = Supervisor::props(Strategy::one_for_one().auto_shutdown(AutoShutdown::AnySignificant))
            .child("a", move || brief.clone().significant())
            .child("b", slow("b", &probe));
        start(system, props).expect("all have started");
        wait_until(system, "the end", || system.find("/user/top").is_none() && system.is_quiet());
        let said = probe.take();
        assert!(said.contains(&"b started 1".to_owned()), "{said:?}");
        assert_eq!(said.last().map(String::as_str), Some("b stopped"));
        assert_eq!(why(system).len(), 1);
    });
}

#[test]
fn a_supervisor_that_keeps_its_children_makes_only_the_missing_ones_anew() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let p = kin("p", &probe).keep_children();
        let p = p.child("a", slow("a", &probe)).child("b", slow("b", &probe));
        let p = system.spawn("p", p).expect("a free name");
        expect_all(system, &probe, &["p started 1", "a started 1", "b started 1"]);
        let (a, b) = (find(system, "/user/p/a"), find(system, "/user/p/b"));
        a.tell(Msg::Stop);
        probe.expect_eq(system, "a stopped".to_owned());
        wait_until(system, "the end of a", || system.find("/user/p/a").is_none());
        p.tell(Msg::Fail);
        expect_all(system, &probe, &["p failed", "p started 2", "a started 1"]);
        b.tell(Msg::Add);
        probe.expect_eq(system, "b sum 1".to_owned());
        assert_eq!(find(system, "/user/p/b"), b);
    });
}
