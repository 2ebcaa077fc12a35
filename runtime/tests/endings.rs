//! Promises of ends: a stop is never undone, a restart keeps siblings in their places, and what has ended is let go.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::hush_planned_panics;
use common::scripted::{Msg, props, run, spawn};
use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Exit, Failure, Props, Recipient};
use footlights::observe::{EventKind, Level, StopReason};
use footlights::supervise::{Backoff, RestartType};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher};

/// When a quitter asks to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    BeforeItFails,
    InPreRestart,
}

/// Fails on true, and asks to stop by the way.
struct Quitter {
    when: When,
    out: Recipient<u64>,
}

impl Actor for Quitter {
    type Msg = bool;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        self.out.tell(u64::from(cx.incarnation()));
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, fails: bool) -> Result<(), Failure> {
        if !fails {
            self.out.tell(100);
            return Ok(());
        }
        if self.when == When::BeforeItFails {
            cx.stop();
        }
        Err(Failure::new("planned", "on request"))
    }

    fn pre_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure, _message: Option<bool>) {
        if self.when == When::InPreRestart {
            cx.stop();
        }
    }
}

fn quitter(system: &ActorSystem, probe: &Probe<u64>, when: When, kept: RestartType) -> ActorRef<bool> {
    let out = probe.recipient();
    let props = Props::new(move || Quitter { when, out: out.clone() }).restart_type(kept);
    let quitter = system.spawn("quitter", props).expect("a free name");
    assert_eq!(probe.expect(system), 1, "it has started");
    quitter
}

#[test]
fn a_stop_that_was_asked_for_is_not_undone_by_a_restart() {
    for when in [When::BeforeItFails, When::InPreRestart] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let quitter = quitter(system, &probe, when, RestartType::Transient);
            probe.watch(system, &quitter.any());
            quitter.tell(true);
            assert_eq!(probe.expect_terminated(system).reason, StopReason::Stopped, "{when:?}");
            wait_until(system, "the end", || system.find("/user/quitter").is_none());
            assert_eq!(probe.take(), [0; 0], "it was not started again");
        });
    }
}

#[test]
fn a_permanent_actor_that_asks_to_stop_and_fails_is_restarted() {
    for when in [When::BeforeItFails, When::InPreRestart] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let quitter = quitter(system, &probe, when, RestartType::Permanent);
            quitter.tell(true);
            quitter.tell(false);
            assert_eq!([probe.expect(system), probe.expect(system)], [2, 100], "{when:?}");
        });
    }
}

/// Is made by a closure that holds the next of a chain.
struct Link {
    _next: Option<ActorRef<()>>,
}

impl Actor for Link {
    type Msg = ();

    fn receive(&mut self, _cx: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        Ok(())
    }
}

#[test]
fn a_long_chain_of_actors_that_hold_each_other_is_let_go_without_deep_recursion() {
    for shut_down in [true, false] {
        let system = ActorSystem::builder("chain").stepper().log(Level::Off).build().expect("good settings");
        let mut last: Option<ActorRef<()>> = None;
        for _ in 0..30_000 {
            let next = last.clone();
            let props = Props::new(move || Link { _next: next.clone() });
            last = Some(system.spawn("", props).expect("a child"));
        }
        if shut_down {
            system.shutdown(Duration::from_secs(10)).expect("an end");
            assert_eq!(system.live_actors(), 0);
            drop(last);
            drop(system);
        } else {
            drop(system);
            drop(last);
        }
    }
}

/// Counts the threads of this process whose name begins so.
#[cfg(target_os = "linux")]
fn threads(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("the threads of this process");
    // A thread may end between the two readings.
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|found| found.starts_with(name)).count()
}

#[test]
#[cfg(target_os = "linux")]
fn the_threads_of_a_dropped_system_end_while_a_reference_is_still_held() {
    let clock = ActorSystem::builder("clock").pool().workers(1).build().expect("good settings");
    let system = ActorSystem::builder("dropped").pool().workers(4).build().expect("good settings");
    let probe = Probe::<u64>::new(&system, "probe");
    let held = spawn(&system, "held", props(&probe));
    wait_until(&clock, "the threads", || threads("dropped-") == 5);
    system.terminate();
    wait_until(&clock, "the end of all actors", || system.exit().is_some());
    drop(system);
    wait_until(&clock, "the end of the threads", || threads("dropped-") == 0);
    held.tell(Msg::Say(1));
    assert!(held.is_closed());
}

/// Panics when it is dropped, and counts that.
struct Touchy(Arc<AtomicU32>);

impl Drop for Touchy {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        if !std::thread::panicking() {
            panic!("planned: in a drop");
        }
    }
}

/// Keeps all sorts of things that panic when they are dropped.
struct Hoarder {
    count: Arc<AtomicU32>,
    #[expect(dead_code, reason = "it is there for its drop")]
    own: Touchy,
}

impl Actor for Hoarder {
    type Msg = Touchy;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let me = cx.myself();
        for _ in 0..2 {
            cx.stash(Touchy(self.count.clone()))?;
            cx.tell_after(Duration::from_secs(9), &me, Touchy(self.count.clone()));
        }
        cx.timers().once(1, Duration::from_secs(9), Touchy(self.count.clone()));
        let held = Touchy(self.count.clone());
        let waiting = async move {
            std::future::pending::<()>().await;
            drop(held);
        };
        cx.pipe_to_self(waiting, |_| panic!("planned: it never ends"));
        Ok(())
    }

    fn receive(&mut self, _: &mut Context<'_, Self>, _: Touchy) -> Result<(), Failure> {
        Ok(())
    }
}

#[test]
fn a_system_that_is_dropped_lets_everything_go_whatever_panics_in_it() {
    hush_planned_panics();
    let count = Arc::new(AtomicU32::new(0));
    let system = ActorSystem::builder("dropped").stepper().build().expect("good settings");
    let its = count.clone();
    let made = Props::new(move || Hoarder { count: its.clone(), own: Touchy(its.clone()) });
    let hoarder = system.spawn("hoarder", made).expect("a free name");
    system.run_for(Duration::from_millis(1));
    (0..3).for_each(|_| hoarder.tell(Touchy(count.clone())));
    drop(hoarder);
    assert_eq!(count.load(Ordering::Relaxed), 0, "nothing is dropped yet");
    drop(system);
    // State, 2 stashed, 2 told later, a timer, a future and 3 in the mailbox.
    assert_eq!(count.load(Ordering::Relaxed), 10, "each is dropped");
}

/// Fails whenever it is told to, and in its last hook.
struct Doomed;

impl Actor for Doomed {
    type Msg = ();

    fn receive(&mut self, _: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        Err(Failure::new("doomed", "on request"))
    }

    fn stopped(&mut self, _: &mut Context<'_, Self>) {
        panic!("planned: in stopped");
    }
}

#[test]
fn s5_a_shutdown_at_any_moment_ends_on_threads_and_leaves_nobody() {
    hush_planned_panics();
    for round in 0..1_000u32 {
        let system = ActorSystem::builder("s5").pool().workers(1 + round as usize % 4).build();
        let system = system.expect("good settings");
        let backoff = |micros| Backoff::new(Duration::from_micros(micros), Duration::from_millis(5));
        let slow = Props::new(|| Doomed).backoff(backoff(500));
        let slow = system.spawn("slow", slow).expect("a free name");
        let bad = system.spawn("bad", Props::new(|| Doomed)).expect("a free name");
        let probe = Probe::<u64>::new(&system, "probe");
        probe.watch(&system, &bad.any());
        slow.tell(());
        (0..3).for_each(|_| bad.tell(()));
        // The shutdown meets them at different moments: this takes from nothing to about a millisecond.
        (0..round % 50 * 200).for_each(|_| std::hint::spin_loop());
        bad.stop();
        let end = system.shutdown(Duration::from_secs(10));
        assert_eq!(end, Ok(Exit::Shutdown), "round {round}");
        let snapshot = system.snapshot();
        assert!(snapshot.ledger.balanced(), "round {round}: {:?}", snapshot.ledger);
        assert_eq!(
            (snapshot.actors.len(), snapshot.timers, system.live_actors()),
            (0, 0, 0),
            "round {round}"
        );
        let ends = |kind: &EventKind| matches!(kind, EventKind::Stopped { .. });
        let (events, _) = system.rare_events(0);
        for actor in [slow.id(), bad.id()] {
            let ends = events.iter().filter(|event| event.actor == actor && ends(&event.kind)).count();
            assert_eq!(ends, 1, "each ends once, in round {round}");
        }
    }
}

/// Says its number when it has stopped.
struct Child {
    number: u64,
    out: Recipient<u64>,
}

impl Actor for Child {
    type Msg = ();

    fn receive(&mut self, _: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        Ok(())
    }

    fn stopped(&mut self, _: &mut Context<'_, Self>) {
        self.out.tell(self.number);
    }
}

#[test]
fn s5_the_children_of_a_killed_parent_have_their_last_word_and_show_why() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let parent = spawn(system, "parent", props(&probe));
        let out = probe.recipient();
        run(&parent, move |cx| {
            for number in 1..4 {
                let out = out.clone();
                cx.spawn(&format!("c{number}"), Props::new(move || Child { number, out: out.clone() }))?;
            }
            Ok(())
        });
        wait_until(system, "the children", || system.find("/user/parent/c3").is_some());
        let children = [1, 2, 3].map(|n| system.find(&format!("/user/parent/c{n}")).expect("a child"));
        children.iter().for_each(|child| probe.watch(system, child));
        parent.kill();
        let mut said: Vec<u64> = (0..3).map(|_| probe.expect(system)).collect();
        said.sort_unstable();
        assert_eq!(said, [1, 2, 3]);
        for _ in 0..3 {
            assert_eq!(probe.expect_terminated(system).reason, StopReason::ParentStopped);
        }
    });
}
