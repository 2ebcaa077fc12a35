//! Promises of waiting: for an actor that is to run, and for one that is to end.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::scripted::{Msg, Scripted, props, run, spawn};
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Shutdown, SpawnError, StopTimeout};
use footlights::observe::{ActorState, StopReason};
use footlights::supervise::{Directive, FailureKind, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// Fails its first `bad` starts, works when it is told to and once more when it stops.
struct Starter {
    starts: Arc<AtomicU32>,
    bad: u32,
    last: Duration,
    child: Option<Props<Starter>>,
}

impl Actor for Starter {
    type Msg = Duration;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if self.starts.fetch_add(1, Ordering::Relaxed) < self.bad {
            return Err(Failure::new("no_disk", "no disk"));
        }
        if let Some(child) = self.child.take() {
            cx.spawn("child", child)?;
        }
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, work: Duration) -> Result<(), Failure> {
        cx.work(work);
        Ok(())
    }

    fn post_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure) -> Result<(), Failure> {
        self.started(cx)
    }

    fn stopped(&mut self, cx: &mut Context<'_, Self>) {
        cx.work(self.last);
    }
}

fn starter(bad: u32, last: Duration, child: Option<Props<Starter>>) -> Props<Starter> {
    let starts = Arc::new(AtomicU32::new(0));
    let make = move || Starter { starts: starts.clone(), bad, last, child: child.clone() };
    Props::new(make).shutdown(Shutdown::Never)
}

fn failed(why: &str) -> SpawnError {
    SpawnError::StartFailed(why.to_owned())
}

#[test]
fn whoever_waits_for_a_start_learns_that_it_runs_or_why_it_never_will() {
    on_each_dispatcher(|system| {
        let none = Duration::ZERO;
        let wait = |name: &str, props| system.block_on(system.spawn_ready(name, props));
        let good = wait("good", starter(0, none, None)).expect("it runs");
        assert_eq!((good.path(), good.any().snapshot().incarnation), ("/user/good", 1));
        let late = wait("late", starter(2, none, None)).expect("its third start is good");
        assert_eq!(late.any().snapshot().incarnation, 3);
        let broken = wait("broken", starter(u32::MAX, none, None));
        assert_eq!(broken, Err(failed("no disk")), "when its supervisor has given up");
        assert_eq!(wait("good", starter(0, none, None)), Err(SpawnError::NameTaken("good".to_owned())));
    });
}

#[test]
fn a_parent_that_waits_for_a_start_gets_one_message() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let stop = Strategy::one_for_one().on(FailureKind::Start, Directive::Stop);
        let parent = spawn(system, "parent", props(&probe).supervise(stop));
        run(&parent, |cx: &mut Context<'_, Scripted>| {
            let map = |number: u64| {
                move |started: Result<ActorRef<Duration>, SpawnError>| {
                    Msg::Say(number + u64::from(started == Err(failed("no disk"))))
                }
            };
            cx.spawn_ready("good", starter(0, Duration::ZERO, None), map(10))?;
            cx.spawn_ready("broken", starter(1, Duration::ZERO, None), map(20))?;
            Ok(())
        });
        let mut said = [probe.expect(system), probe.expect(system)];
        said.sort();
        assert_eq!(said, [10, 21]);
        probe.expect_none_within(system, MS);
    });
}

#[test]
fn whoever_waits_for_an_end_learns_its_reason() {
    on_each_dispatcher(|system| {
        let actor = system.spawn("actor", starter(0, Duration::ZERO, None)).expect("a free name");
        let (first, second) = (actor.stop_and_wait(SECOND * 5), actor.stop_and_wait(Duration::MAX));
        assert_eq!(system.block_on(first), Ok(StopReason::Stopped));
        let second = system.block_on(second).expect("in time");
        assert!(matches!(second, StopReason::Stopped | StopReason::AlreadyGone), "{second:?}");
        assert_eq!(system.block_on(actor.stop_and_wait(SECOND)), Ok(StopReason::AlreadyGone));
        assert_eq!(system.snapshot().timers, 0, "nothing is left of the patience");
        let killed = system.spawn("killed", starter(0, Duration::ZERO, None)).expect("a free name");
        drop(killed.stop_and_wait(SECOND)); // it is told to stop all the same
        let probe = Probe::<u64>::new(system, "probe");
        let asker = spawn(system, "asker", props(&probe));
        run(&asker, move |cx: &mut Context<'_, Scripted>| {
            cx.stop_and_wait(&killed.any(), SECOND * 5, |told| Msg::Say(u64::from(told.is_ok())));
            Ok(())
        });
        assert_eq!(probe.expect(system), 1);
        assert_eq!(system.find("/user/killed").map(|found| found.path().to_owned()), None);
    });
}

#[test]
fn who_does_not_end_in_time_is_named_and_ends_later() {
    let system = ActorSystem::builder("test").stepper().build().expect("good settings");
    let wait = |target: &ActorRef<Duration>, patience| system.block_on(target.stop_and_wait(patience));
    let stuck = |path: &str, state| Err(StopTimeout { stuck: path.to_owned(), state });
    let child = starter(0, Duration::ZERO, None);
    let parent = system.spawn("parent", starter(0, Duration::ZERO, Some(child))).expect("a free name");
    system.run_for(MS);
    let child = system.find("/user/parent/child").and_then(|found| found.typed()).expect("it runs");
    child.tell(SECOND * 10);
    system.run_for(MS);
    assert_eq!(wait(&parent, SECOND * 2), stuck("/user/parent/child", ActorState::Running));
    assert_eq!(system.now().as_nanos(), 2_002_000_000);
    let again = wait(&parent, SECOND);
    assert_eq!(again, stuck("/user/parent/child", ActorState::Running));
    let text = again.expect_err("it is at work").to_string();
    assert_eq!(text, "/user/parent/child has not stopped in time, it is Running");
    assert_eq!(wait(&parent, SECOND * 60), Ok(StopReason::Stopped), "its child has ended");
    let busy = system.spawn("busy", starter(0, Duration::ZERO, None)).expect("a free name");
    busy.tell(SECOND * 10);
    system.run_for(MS);
    assert_eq!(wait(&busy, SECOND), stuck("/user/busy", ActorState::Running));
    let never = busy.stop_and_wait(SECOND * 1_000);
    system.shutdown(SECOND * 100).expect("it ends");
    assert_eq!(system.block_on(never), Ok(StopReason::Stopped));
    assert_eq!(system.snapshot().timers, 0);
}

#[test]
fn a_wait_that_cannot_end_any_more_ends_with_the_system() {
    let system = ActorSystem::builder("test").stepper().build().expect("good settings");
    let other = ActorSystem::builder("other").stepper().build().expect("good settings");
    let start = system.spawn_ready("start", starter(0, Duration::ZERO, None));
    let actor = system.spawn("actor", starter(0, Duration::ZERO, None)).expect("a free name");
    let end = actor.stop_and_wait(SECOND);
    drop(system);
    assert_eq!(other.block_on(start), Err(failed("the system has ended")));
    assert_eq!(other.block_on(end), Ok(StopReason::AlreadyGone));
}

#[test]
fn one_actor_too_many_is_refused_until_another_has_ended() {
    for pool in [false, true] {
        let builder = ActorSystem::builder("test").workers(2).max_actors(2);
        let system = if pool { builder.pool() } else { builder.stepper() }.build().expect("good settings");
        let make = |name: &str| system.spawn(name, starter(0, Duration::ZERO, None).dispatcher("pinned"));
        let first = make("first").expect("there is room");
        make("second").expect("there is room");
        assert_eq!(make("third"), Err(SpawnError::TooMany));
        assert_eq!(SpawnError::TooMany.to_string(), "the system has as many living actors as it may have");
        assert_eq!(system.snapshot().actors.len(), 5, "nothing was made");
        system.block_on(first.stop_and_wait(SECOND * 5)).expect("in time");
        let third = system.block_on(system.spawn_ready("third", starter(0, Duration::ZERO, None)));
        assert_eq!(third.expect("there is room again").path(), "/user/third");
    }
}
