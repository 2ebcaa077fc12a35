//! Promises of death watch: one notice for each watch, in order, and none for what did not end.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::{hush_planned_panics, wait_until};
use footlights::actor::{
    Actor, ActorRef, AnyRef, Context, Failure, Props, Recipient, Terminated, WatchError,
};
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::observe::{DropReason, EventKind, StopReason};
use footlights::supervise::{Directive, FailureKind, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const MS: Duration = Duration::from_millis(1);

type Script = Box<dyn FnOnce(&mut Context<'_, Node>) -> Result<(), Failure> + Send>;

struct Node {
    out: Recipient<Heard>,
}

#[derive(Debug, PartialEq)]
enum Heard {
    Said(u32),
    /// The mapping's label, who has ended, and why.
    Gone(u32, AnyRef, StopReason),
}

enum Msg {
    Run(Script),
    Say(u32),
    Gone(u32, Terminated),
}

impl Actor for Node {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Run(script) => return script(cx),
            Msg::Say(n) => self.out.tell(Heard::Said(n)),
            Msg::Gone(label, news) => self.out.tell(Heard::Gone(label, news.target, news.reason)),
        }
        Ok(())
    }
}

fn props(probe: &Probe<Heard>) -> Props<Node> {
    let out = probe.recipient();
    Props::new(move || Node { out: out.clone() })
}

fn node(system: &ActorSystem, probe: &Probe<Heard>, name: &str) -> ActorRef<Msg> {
    system.spawn(name, props(probe)).expect("a free name")
}

fn run(
    actor: &ActorRef<Msg>,
    script: impl FnOnce(&mut Context<'_, Node>) -> Result<(), Failure> + Send + 'static,
) {
    actor.tell(Msg::Run(Box::new(script)));
}

fn watch(watcher: &ActorRef<Msg>, target: &ActorRef<Msg>, label: u32) {
    let target = target.any();
    run(watcher, move |cx| Ok(cx.watch(&target, move |news| Msg::Gone(label, news))?));
}

/// Has `actor` say 99, and gives all that was heard before.
fn heard(system: &ActorSystem, probe: &Probe<Heard>, actor: &ActorRef<Msg>) -> Vec<Heard> {
    actor.tell(Msg::Say(99));
    let mut heard = Vec::new();
    loop {
        match probe.expect(system) {
            Heard::Said(99) => return heard,
            other => heard.push(other),
        }
    }
}

fn stop_wholly(system: &ActorSystem, actor: &ActorRef<Msg>) {
    actor.stop();
    let path = actor.path().to_owned();
    wait_until(system, "the target to be gone", || system.find(&path).is_none());
}

#[test]
fn d1_watching_the_dead_notifies_once() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (parent, stranger) = (node(system, &probe, "parent"), node(system, &probe, "stranger"));
        let child_props = props(&probe);
        let made = Arc::new(std::sync::Mutex::new(None));
        let slot = made.clone();
        run(&parent, move |cx| {
            *slot.lock().unwrap() = Some(cx.spawn("target", child_props)?);
            Ok(())
        });
        wait_until(system, "the child", || made.lock().unwrap().is_some());
        let target = made.lock().unwrap().take().unwrap();
        stop_wholly(system, &target);
        let later = node(system, &probe, "later");
        for watcher in [&parent, &stranger, &later] {
            watch(watcher, &target, 1);
            assert_eq!(probe.expect(system), Heard::Gone(1, target.any(), StopReason::AlreadyGone));
            assert_eq!(heard(system, &probe, watcher), [], "one notice for one watch");
        }
    });
}

/// Counts the notices of its watches.
struct Counting {
    notices: Arc<AtomicU64>,
}

enum CountMsg {
    Watch(AnyRef),
    Gone,
}

impl Actor for Counting {
    type Msg = CountMsg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: CountMsg) -> Result<(), Failure> {
        match msg {
            CountMsg::Watch(target) => cx.watch(&target, |_| CountMsg::Gone)?,
            CountMsg::Gone => {
                self.notices.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

/// Does nothing.
struct Idle;

impl Actor for Idle {
    type Msg = ();

    fn receive(&mut self, _: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        Ok(())
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
#[expect(clippy::disallowed_methods, reason = "the race needs a second thread outside the pool")]
fn d1_stop_and_watch_raced_from_two_threads_give_one_notice_each() {
    const ROUNDS: u64 = 10_000;
    let system = ActorSystem::builder("race").pool().workers(2).build().expect("good settings");
    let notices = Arc::new(AtomicU64::new(0));
    let counted = notices.clone();
    let watcher = Props::new(move || Counting { notices: counted.clone() });
    let watcher = system.spawn("watcher", watcher).expect("a free name");
    let targets: Vec<_> =
        (0..ROUNDS).map(|_| system.spawn("", Props::new(|| Idle)).expect("a child")).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| targets.iter().for_each(|target| target.stop()));
        targets.iter().for_each(|target| watcher.tell(CountMsg::Watch(target.any())));
    });
    wait_until(&system, "a notice of each round", || notices.load(Ordering::Relaxed) >= ROUNDS);
    wait_until(&system, "the pool to come to rest", || system.is_quiet());
    assert_eq!(notices.load(Ordering::Relaxed), ROUNDS);
    system.shutdown(Duration::from_secs(10)).expect("an end");
    assert!(system.ledger().balanced());
}

#[cfg(not(target_family = "wasm"))]
#[test]
#[expect(clippy::disallowed_methods, reason = "the race needs a second thread outside the pool")]
fn d1_a_name_is_free_when_its_actor_s_end_is_heard_also_by_who_comes_late() {
    const ROUNDS: u64 = 10_000;
    let system = ActorSystem::builder("race").pool().workers(2).build().expect("good settings");
    let spawn = |_| system.spawn("", Props::new(|| Idle)).expect("a child");
    let targets: Vec<_> = (0..ROUNDS).map(spawn).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| targets.iter().for_each(|target| target.stop()));
        for target in &targets {
            system.block_on(target.stop_and_wait(Duration::MAX)).expect("an end");
            assert!(system.find(target.path()).is_none(), "{} is taken", target.path());
        }
    });
    system.shutdown(Duration::from_secs(10)).expect("an end");
}

#[test]
fn d1_a_name_used_again_keeps_the_old_reference_dead() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let watcher = node(system, &probe, "watcher");
        let old = node(system, &probe, "name");
        stop_wholly(system, &old);
        let new = node(system, &probe, "name");
        assert_ne!(old, new);
        watch(&watcher, &new, 2);
        watch(&watcher, &old, 1);
        assert_eq!(probe.expect(system), Heard::Gone(1, old.any(), StopReason::AlreadyGone));
        assert_eq!(heard(system, &probe, &watcher), [], "the new one lives");
        new.stop();
        assert_eq!(probe.expect(system), Heard::Gone(2, new.any(), StopReason::Stopped));
    });
}

#[test]
fn d1_watching_oneself_is_refused() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = node(system, &probe, "narcissus");
        run(&actor, |cx| {
            let me = cx.myself();
            let refused = cx.watch(&me.any(), |news| Msg::Gone(1, news));
            cx.tell(&me, Msg::Say(u32::from(refused == Err(WatchError::Oneself))));
            Ok(())
        });
        assert_eq!(probe.expect(system), Heard::Said(1));
    });
}

#[cfg(panic = "unwind")]
#[test]
fn d1_a_restart_gives_no_notice_and_a_stop_by_strategy_does() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (watcher, parent) = (node(system, &probe, "watcher"), {
            let strategy = Strategy::one_for_one().on("stop", Directive::Stop);
            system.spawn("parent", props(&probe).supervise(strategy)).expect("a free name")
        });
        let (child_props, watcher_too) = (props(&probe), watcher.clone());
        run(&parent, move |cx| {
            let child = cx.spawn("child", child_props)?;
            let target = child.any();
            run(&watcher_too, move |cx| {
                cx.watch(&target, |news| Msg::Gone(1, news))?;
                run(&child, |_| panic!("planned: a restart"));
                child.tell(Msg::Say(5));
                run(&child, |_| Err(Failure::new("stop", "and stop")));
                Ok(())
            });
            Ok(())
        });
        assert_eq!(probe.expect(system), Heard::Said(5), "it has been restarted, without a notice");
        let Heard::Gone(1, _, reason) = probe.expect(system) else { panic!("a notice was expected") };
        assert_eq!(reason, StopReason::Failed(FailureKind::Error));
        assert_eq!(heard(system, &probe, &watcher), []);
    });
}

#[test]
fn d1_what_the_dead_told_before_comes_before_the_notice() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (watcher, target) = (node(system, &probe, "watcher"), node(system, &probe, "target"));
        watch(&watcher, &target, 1);
        wait_until(system, "the watch to be set", || {
            system.rare_events(0).0.iter().any(|event| matches!(event.kind, EventKind::Watched { .. }))
        });
        let to = watcher.clone();
        run(&target, move |cx| {
            (0..50).for_each(|n| cx.tell(&to, Msg::Say(n)));
            cx.stop();
            Ok(())
        });
        (0..50).for_each(|n| assert_eq!(probe.expect(system), Heard::Said(n)));
        assert!(matches!(probe.expect(system), Heard::Gone(1, ..)));
    });
}

#[test]
fn unwatch_withdraws_a_notice_that_is_queued() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (watcher, target) = (node(system, &probe, "watcher"), node(system, &probe, "target"));
        let dead = target.any();
        stop_wholly(system, &target);
        run(&watcher, move |cx| {
            // The target is dead, so the notice is queued at once; the next message is in front of nothing.
            cx.watch(&dead, |news| Msg::Gone(1, news))?;
            assert!(cx.unwatch(&dead));
            assert!(!cx.unwatch(&dead), "there is none any more");
            Ok(())
        });
        assert_eq!(heard(system, &probe, &watcher), []);
        let withdrawn =
            |kind: &EventKind| matches!(kind, EventKind::Dropped { reason: DropReason::Unwatched, .. });
        wait_until(system, "the notice to be dropped", || {
            system.rare_events(0).0.iter().any(|event| withdrawn(&event.kind))
        });
        assert_eq!(system.ledger().failed, 0);
    });
}

#[test]
fn a_second_watch_replaces_the_mapping_and_gives_one_notice() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (watcher, target) = (node(system, &probe, "watcher"), node(system, &probe, "target"));
        watch(&watcher, &target, 1);
        watch(&watcher, &target, 2);
        assert_eq!(heard(system, &probe, &watcher), []);
        target.stop();
        assert_eq!(probe.expect(system), Heard::Gone(2, target.any(), StopReason::Stopped));
        assert_eq!(heard(system, &probe, &watcher), []);
    });
}

#[cfg(panic = "unwind")]
#[test]
fn a_watch_survives_the_watchers_restart() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (watcher, target) = (node(system, &probe, "watcher"), node(system, &probe, "target"));
        watch(&watcher, &target, 1);
        run(&watcher, |_| panic!("planned: a restart of the watcher"));
        assert_eq!(heard(system, &probe, &watcher), []);
        target.stop();
        assert_eq!(probe.expect(system), Heard::Gone(1, target.any(), StopReason::Stopped));
    });
}

#[cfg(panic = "unwind")]
#[test]
fn a_restart_of_a_parent_gives_no_notices_of_the_children_that_it_stopped() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let parent = node(system, &probe, "parent");
        let child_props = props(&probe);
        run(&parent, move |cx| {
            let child = cx.spawn("child", child_props)?;
            Ok(cx.watch(&child.any(), |news| Msg::Gone(1, news))?)
        });
        run(&parent, |_| panic!("planned: a restart of the parent"));
        assert_eq!(heard(system, &probe, &parent), []);
        assert!(system.find("/user/parent/child").is_none());
    });
}

#[test]
fn a_dead_watcher_gets_no_notice_and_no_dead_letter() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (watcher, target) = (node(system, &probe, "watcher"), node(system, &probe, "target"));
        watch(&watcher, &target, 1);
        assert_eq!(heard(system, &probe, &watcher), []);
        stop_wholly(system, &watcher);
        stop_wholly(system, &target);
        assert_eq!((system.dead_letters().len(), system.ledger().dead_lettered), (0, 0));
    });
}

#[test]
fn a_full_mailbox_loses_no_notice() {
    for overflow in [
        OverflowStrategy::DropNew,
        OverflowStrategy::DropOldest,
        OverflowStrategy::RejectToSender,
        OverflowStrategy::Backpressure,
    ] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let watcher = system.spawn("watcher", props(&probe).mailbox(Mailbox::bounded(1, overflow)));
            let (watcher, target) = (watcher.expect("a free name"), node(system, &probe, "target"));
            let (dead, me) = (target.any(), watcher.clone());
            let gone = dead.clone();
            run(&watcher, move |cx| {
                cx.watch(&dead, |news| Msg::Gone(1, news))?;
                dead.stop();
                cx.work(MS * 3);
                // The notice is queued by now, and more is pushed in behind it than there is room for.
                (0..5).for_each(|n| cx.tell(&me, Msg::Say(n)));
                Ok(())
            });
            let news =
                std::iter::from_fn(|| Some(probe.expect(system))).find(|h| matches!(h, Heard::Gone(..)));
            assert_eq!(news, Some(Heard::Gone(1, gone, StopReason::Stopped)), "{overflow:?}");
        });
    }
}

#[cfg(panic = "unwind")]
#[test]
fn a_panic_in_the_mapping_of_a_notice_is_a_failure_of_the_watcher() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (watcher, target) = (node(system, &probe, "watcher"), node(system, &probe, "target"));
        let dead = target.any();
        run(&watcher, move |cx| Ok(cx.watch(&dead, |_| panic!("planned: no message of this"))?));
        target.stop();
        wait_until(system, "a restart of the watcher", || {
            let restarted = |kind: &EventKind| matches!(kind, EventKind::Restarted { .. });
            system.rare_events(0).0.iter().any(|event| restarted(&event.kind))
        });
        assert_eq!(heard(system, &probe, &watcher), []);
    });
}

#[test]
fn the_name_is_free_when_the_notice_is_handled() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let parent = node(system, &probe, "parent");
        let (first, second) = (props(&probe), props(&probe));
        run(&parent, move |cx| {
            let child = cx.spawn("child", first)?;
            let again = cx.adapter(move |_: ()| {
                let second = second.clone();
                Msg::Run(Box::new(move |cx| {
                    cx.spawn("child", second)?.tell(Msg::Say(7));
                    Ok(())
                }))
            });
            cx.watch(&child.any(), move |_| {
                Msg::Run(Box::new(move |cx| {
                    cx.tell(&again, ());
                    Ok(())
                }))
            })?;
            child.stop();
            Ok(())
        });
        assert_eq!(probe.expect(system), Heard::Said(7));
    });
}
