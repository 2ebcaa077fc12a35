//! Promises of state machines: hooks in order, timeouts that end when they should, and nothing postponed is lost.

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::scripted::planned;
use common::wait_until;
use footlights::actor::{ActorRef, Failure, Key, Recipient};
use footlights::observe::{EventKind, Level};
use footlights::pattern::Fsm;
use footlights::supervise::FailureKind;
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;

use State::{A, B, Lost};

const MS: Duration = Duration::from_millis(1);

fn at(ms: u32) -> Instant {
    Instant::ZERO + MS * ms
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    A,
    B,
    /// No rule is said for it.
    Lost,
}

#[derive(Debug)]
enum Msg {
    Goto(State),
    Postpone(u32),
    /// Say it in B; wait for B elsewhere.
    InB(u32),
    Say(&'static str),
    /// Arm a state timeout, an event timeout or a named timer that says this.
    StateTimeout(Duration),
    EventTimeout(Duration),
    Named(Duration),
    Count,
    Fail,
}

/// The data: where to say what happens, and how much was counted.
struct Data {
    out: Recipient<String>,
    count: u32,
}

impl Data {
    fn say(&self, what: String) -> Result<(), Failure> {
        self.out.tell(what);
        Ok(())
    }
}

/// A machine that says everything it does.
fn plan(probe: &Probe<String>) -> Fsm<State, Data, Msg> {
    let out = probe.recipient();
    Fsm::new(A, move || Data { out: out.clone(), count: 0 })
        .when(A, rule)
        .when(B, rule)
        .on_enter(A, |data, step| data.say(format!("enter {:?}", step.state())))
        .on_enter(B, |data, step| data.say(format!("enter {:?}", step.state())))
        .on_exit(A, |data, step| data.say(format!("exit {:?}", step.state())))
        .on_transition(|from, to, data, _| data.say(format!("{from:?} to {to:?}")))
        .state_timeout(B, MS * 50, || Msg::Say("long in B"))
        .named(B, "the other")
}

type Step<'a, 'c> = footlights::pattern::Step<'a, 'c, State, Data, Msg>;

fn rule(
    data: &mut Data,
    msg: Msg,
    step: &mut Step<'_, '_>,
) -> Result<footlights::pattern::Next<State>, Failure> {
    match msg {
        Msg::Goto(to) => return step.goto(to),
        Msg::InB(n) if step.state() == B => data.out.tell(format!("in B {n}")),
        msg @ (Msg::InB(_) | Msg::Postpone(0)) => return step.postpone(msg),
        Msg::Postpone(n) => return step.postpone(Msg::Postpone(n - 1)),
        Msg::Say(what) => data.out.tell(format!("{what} at {}", step.now().as_nanos() / 1_000_000)),
        Msg::StateTimeout(d) => step.state_timeout(d, Msg::Say("state")),
        Msg::EventTimeout(d) => step.event_timeout(d, Msg::Say("event")),
        Msg::Named(d) => step.timers().once(Key::Name("named"), d, Msg::Say("named")),
        Msg::Count => {
            data.count += 1;
            data.out.tell(format!("count {}", data.count));
        }
        Msg::Fail => return Err(planned()),
    }
    step.stay()
}

fn spawn(system: &ActorSystem, probe: &Probe<String>) -> ActorRef<Msg> {
    let machine = system.spawn("machine", plan(probe).props()).expect("a free name");
    assert_eq!(probe.expect(system), "enter A", "the first state is entered at the start");
    machine
}

/// Gives the state that the snapshot shows; None while the machine runs.
fn doing(system: &ActorSystem) -> Option<Arc<str>> {
    let actors = system.snapshot().actors;
    actors.into_iter().find(|actor| actor.path.ends_with("/machine")).expect("it lives").doing
}

fn expect(system: &ActorSystem, probe: &Probe<String>, expected: &[&str]) {
    let said: Vec<String> = expected.iter().map(|_| probe.expect(system)).collect();
    assert_eq!(said, expected);
}

#[test]
fn a_transition_runs_exit_transition_and_enter_also_to_the_same_state() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let machine = spawn(system, &probe);
        machine.tell(Msg::Goto(B));
        expect(system, &probe, &["exit A", "A to B", "enter B"]);
        machine.tell(Msg::Goto(A));
        machine.tell(Msg::Goto(A));
        expect(system, &probe, &["B to A", "enter A", "exit A", "A to A", "enter A"]);
    });
}

#[test]
fn what_was_postponed_is_read_when_the_state_changes_and_not_before() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let machine = spawn(system, &probe);
        [Msg::InB(1), Msg::InB(2), Msg::Goto(A), Msg::Count, Msg::Goto(B), Msg::InB(3)]
            .into_iter()
            .for_each(|m| machine.tell(m));
        expect(system, &probe, &["exit A", "A to A", "enter A", "count 1"]);
        expect(system, &probe, &["exit A", "A to B", "enter B"]);
        let mut rest = [probe.expect(system), probe.expect(system), probe.expect(system)];
        // Whether the third was queued already when the state changed is up to its sender.
        rest.sort_unstable();
        assert_eq!(rest, ["in B 1", "in B 2", "in B 3"]);
        machine.tell(Msg::Postpone(5));
        wait_until(system, "it to be postponed", || system.ledger().stashed == 1);
    });
}

#[test]
fn a_state_timeout_ends_with_the_state() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let machine = spawn(system, &probe);
        machine.tell(Msg::StateTimeout(MS * 10));
        system.run_until(at(9));
        machine.tell(Msg::Count);
        system.run_until(at(11));
        expect(system, &probe, &["count 1", "state at 10"]);
        machine.tell(Msg::StateTimeout(MS * 10));
        machine.tell(Msg::Goto(A));
        system.run_until(at(40));
        assert_eq!(probe.take(), ["exit A", "A to A", "enter A"], "the same state anew ends it as well");
        machine.stop();
    });
}

#[test]
fn a_declared_state_timeout_counts_from_each_entry() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let machine = spawn(system, &probe);
        machine.tell(Msg::Goto(B));
        system.run_until(at(30));
        machine.tell(Msg::Goto(B));
        system.run_until(at(100));
        let said = probe.take();
        assert_eq!(said[3..], ["B to B", "enter B", "long in B at 80"]);
        machine.stop();
    });
}

#[test]
fn an_event_timeout_ends_with_any_message_and_a_named_timer_with_none() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let machine = spawn(system, &probe);
        machine.tell(Msg::EventTimeout(MS * 10));
        system.run_until(at(11));
        machine.tell(Msg::EventTimeout(MS * 10));
        machine.tell(Msg::Named(MS * 10));
        machine.tell(Msg::Goto(B));
        system.run_until(at(40));
        assert_eq!(probe.take(), ["event at 10", "exit A", "A to B", "enter B", "named at 21"]);
        machine.stop();
    });
}

#[test]
fn a_restart_makes_new_data_and_begins_in_the_first_state() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let machine = spawn(system, &probe);
        [Msg::Count, Msg::Goto(B), Msg::Count, Msg::Fail, Msg::Count]
            .into_iter()
            .for_each(|m| machine.tell(m));
        expect(system, &probe, &["count 1", "exit A", "A to B", "enter B", "count 2", "enter A", "count 1"]);
        wait_until(system, "the first state to be shown", || doing(system).as_deref() == Some("A"));
        wait_until(system, "no timer of the old state", || system.snapshot().timers == 0);
    });
}

#[test]
fn a_message_without_a_rule_is_a_failure_unless_there_is_a_rule_for_the_rest() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let machine = spawn(system, &probe);
        [Msg::Goto(Lost), Msg::Count, Msg::Count].into_iter().for_each(|m| machine.tell(m));
        expect(system, &probe, &["exit A", "A to Lost", "enter A", "count 1"]);
        let failed = |kind: &EventKind| {
            let EventKind::Failed { kind, code, text, .. } = kind else { return false };
            *kind == FailureKind::Error && *code == "no_rule" && text.contains("Lost")
        };
        assert!(system.rare_events(0).0.iter().any(|event| failed(&event.kind)));

        let rest = plan(&probe).otherwise(|data, msg, step| {
            data.out.tell(format!("rest {msg:?}"));
            step.goto(A)
        });
        let other = system.spawn("other", rest.props()).expect("a free name");
        [Msg::Goto(Lost), Msg::Count, Msg::Count].into_iter().for_each(|m| other.tell(m));
        expect(
            system,
            &probe,
            &["enter A", "exit A", "A to Lost", "rest Count", "Lost to A", "enter A", "count 1"],
        );
    });
}

#[test]
fn transitions_are_events_and_the_state_is_in_the_snapshot() {
    let builder = ActorSystem::builder("events").stepper().log(Level::Message).keep_messages(1_000);
    let system = builder.build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let machine = spawn(&system, &probe);
    assert_eq!(doing(&system).as_deref(), Some("A"));
    [Msg::Goto(B), Msg::Goto(B), Msg::Goto(Lost)].into_iter().for_each(|m| machine.tell(m));
    system.run_until(at(1));
    let all = system.events(0, 1_000).into_iter().filter_map(|event| match event.kind {
        EventKind::Transition { from, to } => Some(format!("{from} to {to}")),
        _ => None,
    });
    assert_eq!(all.collect::<Vec<_>>(), ["A to the other", "the other to the other", "the other to Lost"]);
    assert_eq!(doing(&system).as_deref(), Some("Lost"));
    assert!(format!("{:?}", plan(&probe)).starts_with("Fsm { first: A, states: [A, B]"));
}

#[test]
fn the_same_state_anew_does_not_read_what_was_postponed() {
    let builder = ActorSystem::builder("anew").stepper().log(Level::Message).keep_messages(1_000);
    let system = builder.build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let machine = spawn(&system, &probe);
    [Msg::InB(1), Msg::Goto(A), Msg::Goto(B)].into_iter().for_each(|m| machine.tell(m));
    system.run_until(at(1));
    let moves = system.events(0, 1_000).into_iter().filter_map(|event| match event.kind {
        EventKind::Transition { to, .. } => Some(format!("to {to}")),
        EventKind::Stashed { .. } => Some("stashed".into()),
        EventKind::Unstashed { messages } => Some(format!("unstashed {messages}")),
        _ => None,
    });
    assert_eq!(moves.collect::<Vec<_>>(), ["stashed", "to A", "to the other", "unstashed 1"]);
}
