//! Promises of supervision: restarts, stops, escalation, their order and their limits.

mod common;

use std::time::Duration;

use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Exit, Failure, Props, Recipient};
use footlights::observe::{EventKind, StopReason};
use footlights::pattern::Reply;
use footlights::supervise::{Directive, FailureKind, RestartType, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher};

/// What a test actor does.
#[derive(Clone, Debug)]
enum Msg {
    Say(u32),
    Fail,
    Panic,
    Stop,
    Add,
}

/// Tells a probe everything that happens to it.
struct Talker {
    name: &'static str,
    sum: u32,
    out: Recipient<String>,
}

impl Talker {
    fn say(&self, what: impl std::fmt::Display) {
        self.out.tell(format!("{} {what}", self.name));
    }
}

impl Actor for Talker {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        self.say(format_args!("started {}", cx.incarnation()));
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Say(n) => self.say(n),
            Msg::Fail => return Err(Failure::new("bad_row", "bad row")),
            Msg::Panic => panic!("on request"),
            Msg::Stop => cx.stop(),
            Msg::Add => {
                self.sum += 1;
                self.say(format_args!("sum {}", self.sum));
            }
        }
        Ok(())
    }

    fn pre_restart(&mut self, _cx: &mut Context<'_, Self>, why: &Failure, message: Option<Msg>) {
        self.say(format_args!("pre_restart {} {message:?}", why.kind()));
    }

    fn stopped(&mut self, _cx: &mut Context<'_, Self>) {
        self.say("stopped");
    }
}

/// A parent of talkers.
struct Parent {
    children: Vec<Props<Talker>>,
    names: Vec<&'static str>,
}

enum ParentMsg {
    Children(Reply<Vec<ActorRef<Msg>>>),
}

impl Actor for Parent {
    type Msg = ParentMsg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: ParentMsg) -> Result<(), Failure> {
        let ParentMsg::Children(reply) = msg;
        let mut made = Vec::new();
        for (name, props) in self.names.iter().zip(&self.children) {
            made.push(cx.spawn(name, props.clone())?);
        }
        reply.send(made);
        Ok(())
    }
}

fn family(
    system: &ActorSystem,
    probe: &Probe<String>,
    strategy: Strategy,
    names: &[&'static str],
) -> Vec<ActorRef<Msg>> {
    let kept: Vec<_> = names.iter().map(|&name| (name, RestartType::Transient)).collect();
    family_of(system, probe, strategy, &kept)
}

fn family_of(
    system: &ActorSystem,
    probe: &Probe<String>,
    strategy: Strategy,
    kept: &[(&'static str, RestartType)],
) -> Vec<ActorRef<Msg>> {
    let names: Vec<_> = kept.iter().map(|kept| kept.0).collect();
    let child = |&(name, restart_type): &(&'static str, RestartType)| {
        let out = probe.recipient();
        let props = Props::new(move || Talker { name, sum: 0, out: out.clone() });
        props.keep_failing_message().restart_type(restart_type)
    };
    let children: Vec<_> = kept.iter().map(child).collect();
    let props =
        Props::new(move || Parent { children: children.clone(), names: names.clone() }).supervise(strategy);
    let parent = system.spawn("parent", props).expect("a free name");
    system.block_on(parent.ask(ParentMsg::Children, Duration::from_secs(5))).expect("children")
}

fn expect_all(system: &ActorSystem, probe: &Probe<String>, expected: &[&str]) {
    for line in expected {
        assert_eq!(probe.expect(system), *line);
    }
}

#[test]
fn a_restart_ends_the_old_instance_first_and_keeps_the_mailbox() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let child = &family(system, &probe, Strategy::one_for_one(), &["w"])[0];
        for msg in [Msg::Add, Msg::Fail, Msg::Add, Msg::Panic, Msg::Say(7)] {
            child.tell(msg);
        }
        expect_all(
            system,
            &probe,
            &[
                "w started 1",
                "w sum 1",
                "w pre_restart error Some(Fail)",
                "w started 2",
                "w sum 1",
                "w pre_restart panic Some(Panic)",
                "w started 3",
                "w 7",
            ],
        );
    });
}

#[test]
fn resume_keeps_the_state_and_loses_the_message() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let strategy = Strategy::one_for_one().default_directive(Directive::Resume);
        let child = &family(system, &probe, strategy, &["w"])[0];
        [Msg::Add, Msg::Fail, Msg::Add].into_iter().for_each(|msg| child.tell(msg));
        expect_all(system, &probe, &["w started 1", "w sum 1", "w sum 2"]);
    });
}

#[test]
fn all_for_one_stops_last_first_and_starts_in_order() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let children = family(system, &probe, Strategy::all_for_one(), &["a", "b", "c"]);
        let mut started: Vec<String> = (0..3).map(|_| probe.expect(system)).collect();
        started.sort();
        assert_eq!(started, ["a started 1", "b started 1", "c started 1"]);
        children[1].tell(Msg::Fail);
        expect_all(
            system,
            &probe,
            &[
                "c pre_restart sibling None",
                "b pre_restart error Some(Fail)",
                "a pre_restart sibling None",
                "a started 2",
                "b started 2",
                "c started 2",
            ],
        );
    });
}

/// A group of three with a temporary one in the middle, all started.
fn group_with_a_temporary(system: &ActorSystem, probe: &Probe<String>) -> Vec<ActorRef<Msg>> {
    use RestartType::{Temporary, Transient};
    let kept = [("a", Transient), ("t", Temporary), ("c", Transient)];
    let children = family_of(system, probe, Strategy::all_for_one(), &kept);
    let mut started: Vec<String> = (0..3).map(|_| probe.expect(system)).collect();
    started.sort();
    assert_eq!(started, ["a started 1", "c started 1", "t started 1"]);
    probe.watch(system, &children[1].any());
    children
}

#[test]
fn a_temporary_sibling_of_an_all_for_one_group_is_stopped_and_not_restarted() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let children = group_with_a_temporary(system, &probe);
        children[0].tell(Msg::Fail);
        probe.expect_terminated(system);
        let mut lines: Vec<String> = (0..5).map(|_| probe.expect(system)).collect();
        lines.sort();
        let restarts =
            ["a pre_restart error Some(Fail)", "a started 2", "c pre_restart sibling None", "c started 2"];
        assert_eq!(lines[..4], restarts);
        assert_eq!(lines[4..], ["t stopped"]);
        [&children[0], &children[2]].into_iter().for_each(|child| child.tell(Msg::Say(7)));
        let mut lines = [probe.expect(system), probe.expect(system)];
        lines.sort();
        assert_eq!(lines, ["a 7", "c 7"], "and the temporary one is not there");
        assert!(children[1].is_closed());
    });
}

#[test]
fn a_temporary_member_of_an_all_for_one_group_that_fails_stops_alone() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let children = group_with_a_temporary(system, &probe);
        children[1].tell(Msg::Fail);
        assert_eq!(probe.expect_terminated(system).reason, StopReason::Failed(FailureKind::Error));
        assert_eq!(probe.expect(system), "t stopped");
        for (index, line) in [(0, "a 7"), (2, "c 7")] {
            children[index].tell(Msg::Say(7));
            assert_eq!(probe.expect(system), line, "nobody else was restarted");
            assert_eq!(children[index].any().snapshot().incarnation, 1);
        }
    });
}

#[test]
fn s1_restart_budget_resets_after_window_on_threads() {
    let system = ActorSystem::builder("s1").pool().workers(2).build().expect("good settings");
    let probe = Probe::<String>::new(&system, "probe");
    let window = Duration::from_millis(50);
    let child = &family(&system, &probe, Strategy::one_for_one().max_restarts(2, window), &["w"])[0];
    probe.watch(&system, &child.any());
    assert_eq!(probe.expect(&system), "w started 1");
    // Never more than two within a window, six in all.
    for round in 0..3 {
        for restart in 1..3 {
            child.tell(Msg::Fail);
            assert_eq!(probe.expect(&system), "w pre_restart error Some(Fail)");
            assert_eq!(probe.expect(&system), format!("w started {}", 2 * round + restart + 1));
        }
        let next = system.now() + window + Duration::from_millis(5);
        wait_until(&system, "the end of the window", || system.now() > next);
    }
    assert!(probe.take_ends().is_empty(), "it lives");
    (0..1_000).for_each(|_| child.tell(Msg::Fail));
    assert_eq!(probe.expect_terminated(&system).reason, StopReason::Failed(FailureKind::Error));
}

#[test]
fn a_stop_by_strategy_tells_watchers_once_and_why() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let strategy = Strategy::one_for_one().on("bad_row", Directive::Stop);
        let child = &family(system, &probe, strategy, &["w"])[0];
        probe.watch(system, &child.any());
        child.tell(Msg::Fail);
        let news = probe.expect_terminated(system);
        assert_eq!((news.target, news.reason), (child.any(), StopReason::Failed(FailureKind::Error)));
        expect_all(system, &probe, &["w started 1", "w stopped"]);
        child.tell(Msg::Say(1));
        assert_eq!(system.dead_letters().len(), 1);
    });
}

#[test]
fn escalation_restarts_the_parent_and_its_children_go() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let strategy = Strategy::one_for_one().default_directive(Directive::Escalate);
        let child = &family(system, &probe, strategy, &["w"])[0];
        probe.watch(system, &child.any());
        child.tell(Msg::Fail);
        let news = probe.expect_terminated(system);
        assert_eq!(news.reason, StopReason::ParentStopped);
        assert_eq!(system.exit(), None);
    });
}

/// Fails whenever it starts.
struct Broken;

impl Actor for Broken {
    type Msg = ();

    fn started(&mut self, _cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Err(Failure::new("broken", "never starts"))
    }

    fn receive(&mut self, _cx: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        Ok(())
    }
}

#[test]
fn a_start_that_always_fails_stops_after_eleven_tries_and_leaves_dead_letters() {
    on_each_dispatcher(|system| {
        let probe = Probe::<()>::new(system, "probe");
        let broken = system.spawn("broken", Props::new(|| Broken)).expect("a free name");
        probe.watch(system, &broken.any());
        let reason = probe.expect_terminated(system).reason;
        assert!(
            matches!(reason, StopReason::Failed(FailureKind::Start) | StopReason::AlreadyGone),
            "{reason:?}"
        );
        assert!(system.spawn("broken", Props::new(|| Broken)).is_ok(), "the name is free again");
    });
}

#[test]
fn a_permanent_actor_that_stops_itself_is_restarted() {
    on_each_dispatcher(|system| {
        let probe = Probe::<String>::new(system, "probe");
        let out = probe.recipient();
        let props = Props::new(move || Talker { name: "p", sum: 0, out: out.clone() })
            .restart_type(RestartType::Permanent);
        let actor = system.spawn("permanent", props).expect("a free name");
        actor.tell(Msg::Stop);
        actor.tell(Msg::Say(1));
        expect_all(system, &probe, &["p started 1", "p pre_restart exit None", "p started 2", "p 1"]);
    });
}

#[test]
fn exit_says_shutdown_after_a_shutdown() {
    let system = ActorSystem::builder("t").stepper().build().expect("good settings");
    assert_eq!(system.shutdown(Duration::from_secs(1)), Ok(Exit::Shutdown));
    let (events, _) = system.rare_events(0);
    assert!(events.iter().any(|event| matches!(event.kind, EventKind::Stopped { .. })));
}

/// Blocks its thread until the test lets it go.
struct Stuck {
    gate: std::sync::Arc<std::sync::Barrier>,
}

impl Actor for Stuck {
    type Msg = ();

    fn receive(&mut self, _cx: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        self.gate.wait();
        self.gate.wait();
        Ok(())
    }
}

#[test]
fn a_shutdown_that_takes_too_long_names_the_stuck_actor() {
    let gate = std::sync::Arc::new(std::sync::Barrier::new(2));
    let system = ActorSystem::builder("t").pool().workers(2).build().expect("good settings");
    let held = gate.clone();
    let stuck = system.spawn("stuck", Props::new(move || Stuck { gate: held.clone() })).expect("a free name");
    stuck.tell(());
    gate.wait();
    let error = system.shutdown(Duration::from_millis(20)).expect_err("the handler has not returned");
    assert!(matches!(&error, footlights::system::ShutdownError::Stuck(_)));
    assert!(error.stuck().contains(&"/user/stuck".to_owned()), "{error}");
    gate.wait();
    assert_eq!(system.await_end(Duration::from_secs(10)), Ok(Exit::Shutdown));
}
