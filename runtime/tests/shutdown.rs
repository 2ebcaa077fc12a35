//! Promises of shutdown budgets: who does not stop in time is left behind, is named, and holds up nobody.

mod common;

use std::sync::mpsc;
use std::time::Duration;

use common::scripted::{Msg, Scripted, props, run, spawn};
use common::wait_until;
use footlights::actor::{Actor, ActorRef, AnyRef, Context, Exit, Failure, Props, Recipient, Shutdown};
use footlights::observe::{ActorState, DeadLetterReason, DropReason, EventKind, Level, StopReason};
use footlights::pattern::{AskError, Reply};
use footlights::system::ActorSystem;
use footlights::testkit::{Fault, Faults, Probe, on_each_dispatcher};
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// Works when it is told to, and when it stops; has children.
struct Slow {
    last: Duration,
    children: Vec<(&'static str, Props<Slow>)>,
    out: Recipient<String>,
}

enum Do {
    Work(Duration),
    Tell(ActorRef<Msg>, Duration),
    Question(Reply<u64>),
    Stop(AnyRef),
}

impl Actor for Slow {
    type Msg = Do;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        for (name, props) in &self.children {
            cx.spawn(name, props.clone())?;
        }
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, what: Do) -> Result<(), Failure> {
        match what {
            Do::Work(d) => cx.work(d),
            Do::Tell(target, d) => {
                cx.tell(&target, Msg::Say(1));
                cx.work(d);
                cx.tell(&target, Msg::Say(2));
                cx.send(&target, Msg::Say(3));
                cx.tell_or(&target, Msg::Say(4), |_| Do::Work(MS));
            }
            Do::Question(reply) => {
                reply.send(7);
            }
            Do::Stop(target) => target.stop(),
        }
        Ok(())
    }

    fn stopped(&mut self, cx: &mut Context<'_, Self>) {
        cx.work(self.last);
        self.out.tell(cx.path().to_owned());
    }
}

fn slow(probe: &Probe<String>, last: Duration, children: Vec<(&'static str, Props<Slow>)>) -> Props<Slow> {
    let out = probe.recipient();
    Props::new(move || Slow { last, children: children.clone(), out: out.clone() })
}

fn child(system: &ActorSystem, path: &str) -> AnyRef {
    wait_until(system, path, || system.find(path).is_some_and(|found| found.snapshot().incarnation > 0));
    system.find(path).expect("it lives")
}

/// Gives when each actor was forced, in which state, and how long it had worked by then, in ms.
fn forced(system: &ActorSystem) -> Vec<(String, u64, ActorState, u64)> {
    let forced = |event: footlights::observe::Event| match event.kind {
        EventKind::Forced { path, state, running_for_ns } => {
            Some((path.to_string(), event.at.as_nanos() / 1_000_000, state, running_for_ns / 1_000_000))
        }
        _ => None,
    };
    system.rare_events(0).0.into_iter().filter_map(forced).collect()
}

fn stop_reasons(system: &ActorSystem, target: &AnyRef) -> Vec<(StopReason, u64)> {
    let stopped = |event: footlights::observe::Event| match event.kind {
        EventKind::Stopped { reason } if event.actor == target.id() => {
            Some((reason, event.at.as_nanos() / 1_000_000))
        }
        _ => None,
    };
    system.rare_events(0).0.into_iter().filter_map(stopped).collect()
}

/// Runs to a moment, and sees to it that the ledger balances after every turn.
fn run_balanced(system: &ActorSystem, until: Instant) {
    while system.step_until(until).is_some() {
        let snapshot = system.snapshot();
        assert!(snapshot.ledger.balanced() && snapshot.asks.balanced(), "{snapshot:#?}");
    }
    system.run_until(until);
}

/// Runs a body on four virtual workers, so that whoever orders a stop has one while another is at work.
fn on_virtual_cores(body: impl Fn(&ActorSystem)) {
    let seeds = std::env::var("FOOTLIGHTS_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(16);
    for seed in 0..seeds {
        let builder = ActorSystem::builder("test").stepper().workers(4).seed(seed);
        let system = if seed == 0 { builder } else { builder.seeded_order() }.build().expect("good settings");
        body(&system);
        let exit = system.shutdown(SECOND * 100);
        assert!(exit.is_ok(), "seed={seed}: {exit:?}");
        let end = system.snapshot();
        assert!(end.ledger.balanced() && end.asks.balanced(), "seed={seed}: {end:?}");
        let left = (end.ledger.queued, end.asks.pending, end.timers, system.live_actors());
        assert_eq!(left, (0, 0, 0, 0), "seed={seed}: messages, asks, timers, actors");
    }
}

fn at(seconds: u64) -> Instant {
    Instant::ZERO + SECOND * seconds as u32
}

#[test]
fn a_run_of_ten_seconds_is_left_behind_after_five_and_its_parent_goes_on() {
    on_virtual_cores(|system| {
        let probe = Probe::<String>::new(system, "probe");
        let family = slow(&probe, Duration::ZERO, vec![("child", slow(&probe, Duration::ZERO, vec![]))]);
        let parent = system.spawn("parent", family).expect("a free name");
        let worker = child(system, "/user/parent/child");
        probe.watch(system, &worker);
        worker.typed::<Do>().expect("its type").tell(Do::Work(SECOND * 10));
        run_balanced(system, at(1));
        parent.stop();
        run_balanced(system, at(9));
        let named = ("/user/parent/child".to_owned(), 6_000, ActorState::Running, 5_000);
        assert_eq!(forced(system), [named]);
        assert_eq!(probe.expect_terminated(system).reason, StopReason::Forced);
        assert_eq!(stop_reasons(system, &parent.any()), [(StopReason::Stopped, 6_000)]);
        assert_eq!(stop_reasons(system, &worker), [], "its run lasts");
        assert_eq!(system.forced(), ["/user/parent/child"]);
        assert!(system.find("/user/parent").is_none(), "the names are free");
        run_balanced(system, at(11));
        assert_eq!(stop_reasons(system, &worker), [(StopReason::Forced, 10_000)]);
        assert!(system.forced().is_empty());
        assert_eq!(probe.take(), ["/user/parent"], "no hook of the one that was forced");
        assert!(probe.take_ends().is_empty(), "one notice");
    });
}

#[test]
fn what_a_forced_run_sends_is_dropped_and_its_mail_is_dead_when_it_returns() {
    on_virtual_cores(|system| {
        let probe = Probe::<String>::new(system, "probe");
        let numbers = Probe::<u64>::new(system, "numbers");
        let target = spawn(system, "target", props(&numbers));
        let family = slow(&probe, Duration::ZERO, vec![("child", slow(&probe, Duration::ZERO, vec![]))]);
        let parent = system.spawn("parent", family).expect("a free name");
        let worker = child(system, "/user/parent/child").typed::<Do>().expect("its type");
        worker.tell(Do::Tell(target, SECOND * 10));
        run_balanced(system, at(1));
        (0..3).for_each(|_| worker.tell(Do::Work(MS)));
        let asks = [SECOND * 3, Duration::MAX].map(|timeout| worker.ask(Do::Question, timeout));
        parent.stop();
        run_balanced(system, at(9));
        assert!(worker.is_closed());
        assert_eq!(system.snapshot().asks.pending, 1, "the other waits for the run to return");
        run_balanced(system, at(11));
        assert_eq!(numbers.take(), [1], "what was sent before the work");
        let outcomes = asks.map(|ask| system.block_on(ask));
        assert_eq!(outcomes, [Err(AskError::Timeout), Err(AskError::Stopped)]);
        let events = system.rare_events(0).0;
        let count = |wanted: fn(&EventKind) -> bool| events.iter().filter(|e| wanted(&e.kind)).count();
        let abandoned =
            count(|kind| matches!(kind, EventKind::Dropped { reason: DropReason::Abandoned, .. }));
        let dead = count(|kind| {
            matches!(kind, EventKind::DeadLettered { reason: DeadLetterReason::StoppedWithMail, .. })
        });
        assert_eq!((abandoned, dead), (3, 5));
        assert_eq!(system.ledger().queued, 0);
    });
}

#[test]
fn the_clock_stands_while_an_actor_waits_for_its_children() {
    on_virtual_cores(|system| {
        let probe = Probe::<String>::new(system, "probe");
        let children = ["a", "b", "c"].map(|name| (name, slow(&probe, SECOND * 4, vec![])));
        let parent = system.spawn("parent", slow(&probe, SECOND * 4, children.to_vec())).expect("a name");
        child(system, "/user/parent/c");
        let begin = system.now();
        system.terminate();
        while system.exit().is_none() && system.step().is_some() {}
        assert_eq!(system.now() - begin, SECOND * 16, "one after another");
        assert_eq!((forced(system), system.exit()), (vec![], Some(Exit::Shutdown)));
        assert_eq!(stop_reasons(system, &parent.any()).len(), 1);
    });
}

#[test]
fn the_last_run_and_the_last_hook_share_one_budget() {
    // The order comes at 1 s: three seconds of the run are left, then come three of the hook.
    for (run, hook, expected) in [(4, 3, Some(6_000)), (4, 2, None), (2, 5, Some(6_000)), (2, 4, None)] {
        on_virtual_cores(|system| {
            let probe = Probe::<String>::new(system, "probe");
            let family =
                slow(&probe, Duration::ZERO, vec![("child", slow(&probe, SECOND * hook as u32, vec![]))]);
            let parent = system.spawn("parent", family).expect("a free name");
            let worker = child(system, "/user/parent/child");
            worker.typed::<Do>().expect("its type").tell(Do::Work(SECOND * run));
            run_balanced(system, at(1));
            parent.stop();
            run_balanced(system, at(20));
            let when = forced(system).first().map(|(_, at, ..)| *at);
            assert_eq!(when, expected, "a run of {run} s and a hook of {hook} s");
            let reason = if expected.is_some() { StopReason::Forced } else { StopReason::ParentStopped };
            assert_eq!(stop_reasons(system, &worker)[0].0, reason);
            assert_eq!(stop_reasons(system, &parent.any()).len(), 1);
        });
    }
}

#[test]
fn a_budget_may_be_longer_endless_or_nothing() {
    let budgets = [
        (Shutdown::After(SECOND * 20), None, 11),
        (Shutdown::Never, None, 11),
        (Shutdown::After(SECOND * 2), Some(3_000), 3),
        (Shutdown::Now, Some(1_000), 1),
    ];
    for (budget, expected, parent_ends) in budgets {
        on_virtual_cores(|system| {
            let probe = Probe::<String>::new(system, "probe");
            let worker = slow(&probe, SECOND, vec![]).shutdown(budget);
            let family = slow(&probe, Duration::ZERO, vec![("child", worker)]);
            let parent = system.spawn("parent", family).expect("a free name");
            let worker = child(system, "/user/parent/child").typed::<Do>().expect("its type");
            worker.tell(Do::Work(SECOND * 10));
            run_balanced(system, at(1));
            parent.stop();
            run_balanced(system, at(20));
            assert_eq!(forced(system).first().map(|(_, at, ..)| *at), expected, "{budget:?}");
            assert_eq!(stop_reasons(system, &parent.any())[0].1, parent_ends * 1_000, "{budget:?}");
        });
    }
}

#[test]
fn an_idle_actor_that_is_to_stop_now_ends_without_its_last_hook() {
    on_each_dispatcher(|system| {
        let probe = Probe::<String>::new(system, "probe");
        let worker = slow(&probe, Duration::ZERO, vec![]).shutdown(Shutdown::Now);
        let family = slow(&probe, Duration::ZERO, vec![("child", worker)]);
        let parent = system.spawn("parent", family).expect("a free name");
        let worker = child(system, "/user/parent/child");
        probe.watch(system, &worker);
        parent.stop();
        assert_eq!(probe.expect_terminated(system).reason, StopReason::Forced);
        assert_eq!(probe.expect(system), "/user/parent");
        wait_until(system, "nobody to be left behind", || system.forced().is_empty());
    });
}

#[test]
fn a_stop_that_is_no_order_from_above_has_no_budget() {
    on_virtual_cores(|system| {
        let probe = Probe::<String>::new(system, "probe");
        let worker = system.spawn("worker", slow(&probe, Duration::ZERO, vec![])).expect("a free name");
        let other = system.spawn("other", slow(&probe, Duration::ZERO, vec![])).expect("a free name");
        worker.tell(Do::Work(SECOND * 60));
        run_balanced(system, at(1));
        other.tell(Do::Stop(worker.any()));
        run_balanced(system, at(100));
        assert_eq!(stop_reasons(system, &worker.any()), [(StopReason::Stopped, 60_000)]);
    });
}

#[test]
fn the_children_of_a_forced_actor_stop_before_its_end_is_told() {
    on_virtual_cores(|system| {
        let probe = Probe::<String>::new(system, "probe");
        let leaves = ["x", "y"].map(|name| (name, slow(&probe, SECOND, vec![])));
        let middle = slow(&probe, Duration::ZERO, leaves.to_vec());
        let family = slow(&probe, Duration::ZERO, vec![("middle", middle)]);
        let parent = system.spawn("parent", family).expect("a free name");
        let middle = child(system, "/user/parent/middle");
        for leaf in ["x", "y"] {
            child(system, &format!("/user/parent/middle/{leaf}"));
        }
        probe.watch(system, &middle);
        middle.typed::<Do>().expect("its type").tell(Do::Work(SECOND * 30));
        run_balanced(system, at(1));
        parent.stop();
        run_balanced(system, at(40));
        assert_eq!(forced(system).len(), 1);
        let mut said = probe.take();
        assert_eq!(said.pop().as_deref(), Some("/user/parent"), "last");
        said.sort();
        assert_eq!(said, ["/user/parent/middle/x", "/user/parent/middle/y"]);
        let (news, more) = (probe.expect_terminated(system), probe.take_ends());
        assert_eq!((news.reason, more.len()), (StopReason::Forced, 0));
    });
}

/// Has a child work, orders its stop, and lets the clock jump over all that; gives for how long those were at work that had
/// to be forced, in ms, and why the child has ended.
fn forced_over_a_jump(run: Duration, hook: Duration) -> (Vec<u64>, StopReason) {
    let builder = ActorSystem::builder("jump").stepper().workers(4).log(Level::Message);
    let system = builder.build().expect("good settings");
    let probe = Probe::<String>::new(&system, "probe");
    let worker = slow(&probe, hook, vec![]).shutdown(Shutdown::After(SECOND));
    let family = slow(&probe, Duration::ZERO, vec![("child", worker)]);
    let parent = system.spawn("parent", family).expect("a free name");
    let worker = child(&system, "/user/parent/child");
    worker.typed::<Do>().expect("its type").tell(Do::Work(run));
    system.run_for(MS);
    parent.stop();
    system.run_for(MS);
    Faults::on(&system).inject(Fault::Jump { by: SECOND * 60 }).expect("a good fault");
    system.run_for(SECOND * 10);
    assert_eq!(
        stop_reasons(&system, &parent.any()).len(),
        1,
        "run={run:?} hook={hook:?}: the parent has ended"
    );
    system.shutdown(SECOND).expect("nobody is left");
    let end = system.snapshot();
    assert!(end.ledger.balanced(), "{end:?}");
    assert_eq!((end.ledger.queued, end.timers, end.actors.len()), (0, 0, 0));
    let lasted = forced(&system).into_iter().map(|(_, _, _, ms)| ms).collect();
    (lasted, stop_reasons(&system, &worker)[0].0)
}

#[test]
fn a_clock_that_jumps_neither_saves_from_the_force_nor_brings_it() {
    let none = Duration::ZERO;
    let (forced, itself) = (StopReason::Forced, StopReason::ParentStopped);
    // The jump passes the end of the hook, and the moment at which that has taken too long.
    assert_eq!(forced_over_a_jump(none, SECOND * 10), (vec![1_000], forced));
    assert_eq!(forced_over_a_jump(SECOND * 10, none), (vec![1_000], forced));
    // It passes the end of a run that leaves something of the budget.
    assert_eq!(forced_over_a_jump(MS * 500, MS * 400), (vec![], itself));
    assert_eq!(forced_over_a_jump(MS * 500, MS * 600), (vec![1_000], forced));
    assert_eq!(forced_over_a_jump(none, MS * 900), (vec![], itself));
}

/// Does not return before the test lets it.
struct Stuck {
    entered: mpsc::Sender<()>,
    gate: std::sync::Arc<std::sync::Mutex<mpsc::Receiver<()>>>,
    out: ActorRef<Msg>,
}

impl Actor for Stuck {
    type Msg = ();

    fn receive(&mut self, cx: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        self.entered.send(()).expect("a test that waits");
        // An error means that the test has ended, which is as good.
        let _ = self.gate.lock().unwrap().recv();
        assert!(cx.is_forced());
        cx.tell(&self.out, Msg::Say(1));
        cx.send(&self.out, Msg::Say(2));
        Ok(())
    }
}

#[test]
fn s5_a_handler_that_never_returns_holds_up_neither_the_tree_nor_the_shutdown() {
    for workers in [1, 3] {
        let system = ActorSystem::builder("stuck").pool().workers(workers).build().expect("good settings");
        let probe = Probe::<String>::new(&system, "probe");
        let numbers = Probe::<u64>::new(&system, "numbers");
        let out = spawn(&system, "out", props(&numbers));
        let ((entered, inside), (open, gate)) = (mpsc::channel(), mpsc::channel());
        let gate = std::sync::Arc::new(std::sync::Mutex::new(gate));
        let stuck =
            Props::new(move || Stuck { entered: entered.clone(), gate: gate.clone(), out: out.clone() });
        let stuck = stuck.shutdown(Shutdown::After(MS * 20));
        let parent = spawn(&system, "parent", props(&numbers));
        run(&parent, move |cx: &mut Context<'_, Scripted>| {
            cx.spawn("stuck", stuck)?;
            Ok(())
        });
        let target = child(&system, "/user/parent/stuck");
        probe.watch(&system, &target);
        (0..2).for_each(|_| target.typed::<()>().expect("its type").tell(()));
        inside.recv().expect("it is inside");
        let exit = system.shutdown(SECOND * 20);
        assert_eq!(exit, Ok(Exit::Forced { stuck: vec!["/user/parent/stuck".to_owned()] }));
        assert_eq!(forced(&system).len(), 1, "named in the log as well");
        open.send(()).expect("it waits");
        let gone = || system.forced().is_empty();
        let clock = ActorSystem::builder("clock").pool().workers(1).build().expect("good settings");
        wait_until(&clock, "the run to return", gone);
        assert_eq!(stop_reasons(&system, &target).len(), 1);
        let end = system.ledger();
        assert!(end.balanced(), "{end:?}");
        assert_eq!((end.queued, numbers.take()), (0, vec![]), "what it sent is dropped");
    }
}

#[test]
fn s5_a_stop_hook_that_never_returns_is_named_by_the_deadline_and_by_the_force() {
    struct Hook(std::sync::Arc<std::sync::Mutex<mpsc::Receiver<()>>>);
    impl Actor for Hook {
        type Msg = ();

        fn receive(&mut self, _: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
            Ok(())
        }

        fn stopped(&mut self, _: &mut Context<'_, Self>) {
            // An error means that the test has ended, which is as good.
            let _ = self.0.lock().unwrap().recv();
        }
    }
    let system = ActorSystem::builder("hook").pool().workers(2).build().expect("good settings");
    let (open, gate) = mpsc::channel();
    let gate = std::sync::Arc::new(std::sync::Mutex::new(gate));
    let hook = Props::new(move || Hook(gate.clone())).shutdown(Shutdown::After(MS * 200));
    system.spawn("hook", hook).expect("a free name");
    let late = system.shutdown(MS).expect_err("it is inside");
    assert!(late.stuck().contains(&"/user/hook".to_owned()), "{late}");
    let exit = system.await_end(SECOND * 20);
    assert_eq!(exit, Ok(Exit::Forced { stuck: vec!["/user/hook".to_owned()] }));
    assert_eq!(forced(&system)[0].2, ActorState::Stopping);
    drop(open);
}

#[test]
fn a_forced_run_that_returns_to_sleeping_threads_is_let_go_at_once() {
    for round in 0..20 {
        // With a throughput of 1 the run is all of its activation: the actor is queued anew.
        let builder = ActorSystem::builder("late").pool().workers(2).throughput(1);
        let system = builder.build().expect("good settings");
        let numbers = Probe::<u64>::new(&system, "numbers");
        let out = spawn(&system, "out", props(&numbers));
        let ((entered, inside), (open, gate)) = (mpsc::channel(), mpsc::channel());
        let gate = std::sync::Arc::new(std::sync::Mutex::new(gate));
        let stuck =
            Props::new(move || Stuck { entered: entered.clone(), gate: gate.clone(), out: out.clone() });
        let stuck = system.spawn("stuck", stuck.shutdown(Shutdown::Now)).expect("a free name");
        stuck.tell(());
        inside.recv().expect("it is inside");
        system.terminate();
        wait_until(&system, "the end of all others", || system.exit().is_some());
        // The one that is inside has lost its seat, and is at work: the system is not quiet.
        let asleep = || system.snapshot().dispatchers[0].workers.iter().all(|worker| !worker.running);
        wait_until(&system, "the threads to sleep", asleep);
        assert!(!system.is_quiet());
        open.send(()).expect("it waits");
        wait_until(&system, &format!("it to be let go, round {round}"), || {
            system.snapshot().actors.is_empty()
        });
        assert_eq!(stop_reasons(&system, &stuck.any())[0].0, StopReason::Forced);
    }
}
