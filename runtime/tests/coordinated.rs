//! Promises of the coordinated shutdown: phases in order, tasks side by side, and nothing that keeps a system from ending.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::hush_planned_panics;
use common::scripted::{self, props, spawn};
use footlights::actor::{Exit, Failure};
use footlights::observe::{EventKind, PhaseTaskEnd};
use footlights::system::{ActorSystem, CoordinatedShutdown, ShutdownError, ShutdownPhase};
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;

const S: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(40);

type Diary = Arc<Mutex<Vec<&'static str>>>;

/// Adds a task that takes `d` and then writes itself down.
fn add(system: &ActorSystem, diary: &Diary, phase: &str, name: &'static str, d: Duration) {
    let (diary, handle) = (diary.clone(), system.handle());
    let job = move || async move {
        if !d.is_zero() {
            handle.sleep(d).await;
        }
        diary.lock().expect("no panic").push(name);
        Ok(())
    };
    system.coordinated_shutdown().add_task(phase, name, job).expect("a good phase");
}

fn written(diary: &Diary) -> Vec<&'static str> {
    diary.lock().expect("no panic").clone()
}

fn failed(coordinated: &CoordinatedShutdown) -> Vec<(String, PhaseTaskEnd, String)> {
    let report = coordinated.report().expect("it has happened");
    report.failed.into_iter().map(|task| (task.task.to_string(), task.how, task.text)).collect()
}

#[test]
fn phases_come_in_their_order_and_added_ones_where_they_belong() {
    on_each_dispatcher(|system| {
        let (diary, coordinated) = (Diary::default(), system.coordinated_shutdown());
        let late = ShutdownPhase::new("goodbyes").after("unbind").before("requests");
        coordinated.add_phase(late).expect("a good phase");
        for (phase, name) in [
            ("system", "7"),
            ("goodbyes", "2b"),
            ("flush", "6"),
            ("before", "1"),
            ("user", "5"),
            ("unbind", "2"),
            ("streams", "4"),
            ("requests", "3"),
        ] {
            add(system, &diary, phase, name, Duration::ZERO);
        }
        assert_eq!(system.shutdown(PATIENCE), Ok(Exit::Shutdown));
        assert_eq!(written(&diary), ["1", "2", "2b", "3", "4", "5", "6", "7"]);
        let report = coordinated.report().expect("it has happened");
        let phases: Vec<&str> = report.phases.iter().map(|end| &*end.phase).collect();
        let order = ["before", "unbind", "goodbyes", "requests", "streams", "user", "flush", "system"];
        assert_eq!((phases, &*report.reason), (order.to_vec(), "shutdown"));
        assert_eq!((report.failed, report.skipped), (vec![], vec![]));
    });
}

#[test]
fn tasks_of_a_phase_run_side_by_side() {
    on_steppers(|system| {
        let diary = Diary::default();
        add(system, &diary, "unbind", "b", S * 3);
        add(system, &diary, "unbind", "a", S * 2);
        add(system, &diary, "requests", "c", S);
        system.shutdown(PATIENCE).expect("an end in time");
        assert_eq!(written(&diary), ["a", "b", "c"]);
        assert_eq!(system.now(), Instant::ZERO + S * 4);
    });
}

#[test]
fn failed_and_late_tasks_are_reported_and_passed_over() {
    hush_planned_panics();
    on_steppers(|system| {
        let (diary, coordinated) = (Diary::default(), system.coordinated_shutdown());
        let err = || async { Err(Failure::new("closed", "the file is closed")) };
        coordinated.add_task("flush", "err", err).expect("a good phase");
        coordinated
            .add_task("flush", "panic", || async { panic!("planned: in a task") })
            .expect("a good phase");
        let boom = || -> std::future::Ready<Result<(), Failure>> { panic!("planned: in a job") };
        coordinated.add_task("flush", "boom", boom).expect("a good phase");
        coordinated.add_task("flush", "late", std::future::pending).expect("a good phase");
        add(system, &diary, "system", "after", Duration::ZERO);
        assert_eq!(system.shutdown(PATIENCE), Ok(Exit::Shutdown));
        assert_eq!(written(&diary), ["after"]);
        assert_eq!(system.now(), Instant::ZERO + S * 5, "the limit of the phase");
        let mut failed = failed(&coordinated);
        failed.sort();
        let expected = [
            ("boom", PhaseTaskEnd::Failed, "the task panicked: planned: in a job"),
            ("err", PhaseTaskEnd::Failed, "the file is closed"),
            ("late", PhaseTaskEnd::Late, ""),
            ("panic", PhaseTaskEnd::Failed, "the task panicked: planned: in a task"),
        ];
        assert_eq!(failed, expected.map(|(task, how, text)| (task.to_owned(), how, text.to_owned())));
        let events = system.rare_events(0).0;
        let why = events.iter().find_map(|event| match &event.kind {
            EventKind::PhaseEnded(end) if &*end.phase == "flush" => Some(end.why()),
            _ => None,
        });
        assert_eq!(why.as_deref(), Some("flush took 5s of 5s: 4 tasks, 3 failed, 1 late"));
        let reported = events.iter().filter(|event| matches!(event.kind, EventKind::PhaseTaskFailed { .. }));
        assert_eq!(reported.count(), 4);
    });
}

#[test]
fn limits_are_settable_and_all_phases_together_have_one() {
    on_steppers(|system| {
        let (diary, coordinated) = (Diary::default(), system.coordinated_shutdown());
        coordinated.limit("before", S * 20).expect("a good phase");
        coordinated.limit_of_all(S * 25).expect("it has not begun");
        for phase in ["before", "requests", "streams", "flush"] {
            coordinated.add_task(phase, "never", std::future::pending).expect("a good phase");
        }
        add(system, &diary, "flush", "skipped", Duration::ZERO);
        assert_eq!(system.shutdown(PATIENCE), Ok(Exit::Shutdown));
        assert_eq!(system.now(), Instant::ZERO + S * 25);
        let report = coordinated.report().expect("it has happened");
        let took: Vec<(String, u64)> =
            report.phases.iter().map(|end| (end.phase.to_string(), end.took_ns / 1_000_000_000)).collect();
        let expected = [("before", 20), ("unbind", 0), ("requests", 5)];
        assert_eq!(took, expected.map(|(phase, s)| (phase.to_owned(), s)));
        let skipped: Vec<&str> = report.skipped.iter().map(|phase| &**phase).collect();
        assert_eq!((skipped, written(&diary)), (vec!["streams", "user", "flush", "system"], vec![]));
    });
}

#[test]
fn the_actors_of_the_user_are_gone_when_the_phase_user_is_over() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        let seen = Arc::new(Mutex::new(Vec::new()));
        for phase in ["streams", "user", "flush"] {
            let (actor, seen) = (actor.clone(), seen.clone());
            let job = move || async move {
                seen.lock().expect("no panic").push((phase, actor.is_closed()));
                Ok(())
            };
            system.coordinated_shutdown().add_task(phase, "look", job).expect("a good phase");
        }
        assert_eq!(system.shutdown(PATIENCE), Ok(Exit::Shutdown));
        let seen = seen.lock().expect("no panic").clone();
        assert_eq!(seen, [("streams", false), ("user", false), ("flush", true)]);
    });
}

#[test]
fn the_first_reason_stands() {
    on_each_dispatcher(|system| {
        let coordinated = system.coordinated_shutdown();
        assert_eq!(coordinated.report(), None);
        assert!(coordinated.begin("the power fails"));
        assert!(!coordinated.begin("something else"));
        system.terminate();
        assert_eq!(system.shutdown(PATIENCE), Ok(Exit::Shutdown));
        assert_eq!(system.shutdown(PATIENCE), Ok(Exit::Shutdown));
        let report = coordinated.report().expect("it has happened");
        assert_eq!((&*report.reason, report.phases.len()), ("the power fails", 7));
    });
}

#[test]
fn an_actor_may_begin_it() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        scripted::run(&actor, |cx| {
            assert!(cx.system().coordinated_shutdown().begin("enough"));
            Ok(())
        });
        assert_eq!(system.await_end(PATIENCE), Ok(Exit::Shutdown));
    });
}

#[test]
fn what_is_added_too_late_is_refused() {
    on_steppers(|system| {
        let coordinated = system.coordinated_shutdown();
        let (inner, found) = (coordinated.clone(), Arc::new(Mutex::new(Vec::new())));
        let kept = found.clone();
        let add =
            |doors: &CoordinatedShutdown, phase: &str| doors.add_task(phase, "more", || async { Ok(()) });
        let job = move || async move {
            let found = [add(&inner, "before"), add(&inner, "requests"), add(&inner, "flush")];
            kept.lock().expect("no panic").extend(found);
            Ok(())
        };
        coordinated.add_task("requests", "tries", job).expect("a good phase");
        system.shutdown(PATIENCE).expect("an end in time");
        let found = found.lock().expect("no panic").clone();
        assert_eq!(found, [Err(ShutdownError::TooLate), Err(ShutdownError::TooLate), Ok(())]);
        let flush = coordinated.report().expect("it has happened").phases[5].clone();
        assert_eq!((&*flush.phase, flush.tasks), ("flush", 1), "what was added in time was done");
        assert_eq!(add(&coordinated, "system"), Err(ShutdownError::TooLate));
        assert_eq!(coordinated.add_phase(ShutdownPhase::new("x")), Err(ShutdownError::TooLate));
        assert_eq!(coordinated.limit_of_all(S), Err(ShutdownError::TooLate));
    });
}

#[test]
fn errors_say_what_is_wrong() {
    let system = ActorSystem::builder("errors").stepper().build().expect("good settings");
    let coordinated = system.coordinated_shutdown();
    let nothing = coordinated.add_task("lunch", "eat", || async { Ok(()) }).expect_err("no such phase");
    assert_eq!(nothing, ShutdownError::NoSuchPhase("lunch".to_owned()));
    assert_eq!(nothing.to_string(), "there is no phase lunch in the shutdown");
    assert_eq!(coordinated.limit("lunch", S), Err(nothing.clone()));
    assert_eq!(coordinated.add_phase(ShutdownPhase::new("x").after("lunch")), Err(nothing));
    let taken = coordinated.add_phase(ShutdownPhase::new("flush")).expect_err("the name is taken");
    assert_eq!((&taken, taken.stuck()), (&ShutdownError::NameTaken("flush".to_owned()), &[][..]));
    assert_eq!(taken.to_string(), "there is a phase flush in the shutdown already");
    let circle = coordinated.add_phase(ShutdownPhase::new("x").after("system")).expect_err("a circle");
    assert_eq!(circle.to_string(), "the phase x would have to come both before and after another");
    assert_eq!(ShutdownError::TooLate.to_string(), "the shutdown is past that point");
}

#[test]
fn a_system_without_tasks_ends_without_phases() {
    on_each_dispatcher(|system| {
        let coordinated = system.coordinated_shutdown();
        assert_eq!(system.shutdown(PATIENCE), Ok(Exit::Shutdown));
        assert_eq!(coordinated.report(), None);
        assert_eq!(coordinated.add_task("flush", "late", || async { Ok(()) }), Err(ShutdownError::TooLate));
        let events = system.rare_events(0).0;
        assert!(!events.iter().any(|event| matches!(event.kind, EventKind::PhaseBegan { .. })));
    });
}

#[test]
fn actors_that_stop_late_are_reported_and_hold_up_no_phase() {
    // Four workers: on one, the shutdown itself would wait for the actor's run.
    for seed in 0..16 {
        let system =
            &ActorSystem::builder("late").stepper().workers(4).seed(seed).build().expect("good settings");
        let (diary, coordinated) = (Diary::default(), system.coordinated_shutdown());
        let probe = Probe::<u64>::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        scripted::run(&actor, |cx| {
            cx.work(S * 20);
            Ok(())
        });
        system.run_until(Instant::ZERO + S);
        add(system, &diary, "flush", "flushed", Duration::ZERO);
        system.shutdown(PATIENCE).expect("an end in time");
        assert_eq!(written(&diary), ["flushed"]);
        let late = ("the actors under /user".to_owned(), PhaseTaskEnd::Late, String::new());
        assert_eq!(failed(&coordinated), [late]);
        let report = coordinated.report().expect("it has happened");
        let user = &report.phases[4];
        assert_eq!((&*user.phase, user.tasks, user.late, user.took_ns), ("user", 0, 1, 5_000_000_000));
        assert_eq!(report.phases.len(), 7);
    }
}

#[test]
fn a_system_ends_though_somebody_stops_its_shutdown() {
    on_each_dispatcher(|system| {
        let coordinated = system.coordinated_shutdown();
        coordinated.add_task("before", "never", std::future::pending).expect("a good phase");
        system.terminate();
        system.find("/system/shutdown").expect("it has begun").stop();
        assert_eq!(system.await_end(S * 4), Ok(Exit::Shutdown));
        assert_eq!(coordinated.report().expect("it has begun").phases, []);
    });
}
