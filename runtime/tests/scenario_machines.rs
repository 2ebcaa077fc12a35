//! State machines as a document says them: what each state does, what leads on, what is postponed and comes back.

use footlights::observe::EventKind;
use footlights::scenario::document::Scenario;
use footlights::scenario::{NodeSnapshot, On, Run, validate};
use footlights::time::Instant;
use serde_json::{Value, json};

fn scenario(source: Value, machine: Value) -> Scenario {
    let doc = json!({"version": 1, "seed": 7, "workers": 2,
        "nodes": [
            {"id": "s", "kind": "source", "params": source},
            {"id": "m", "kind": "machine", "params": machine},
            {"id": "c", "kind": "collector"},
        ],
        "edges": [{"id": "1", "from": "s.out", "to": "m.in"}, {"id": "2", "from": "m.out", "to": "c.in"}]});
    Scenario::parse(&doc.to_string()).unwrap_or_else(|e| panic!("{e:#?}"))
}

fn faults(machine: Value) -> Vec<String> {
    let errors = validate(&scenario(json!({}), machine)).err().unwrap_or_default();
    errors.iter().map(ToString::to_string).collect()
}

fn run(scenario: &Scenario, ms: u64) -> Run {
    let run =
        Run::start(validate(scenario).unwrap_or_else(|e| panic!("{e:#?}")), On::Stepper).expect("it starts");
    let end = Instant::from_nanos(ms * 1_000_000);
    while run.system().step_until(end).is_some() {
        let ledger = run.system().ledger();
        assert!(ledger.balanced(), "turn {}: {ledger:?}", run.turn());
    }
    run
}

fn look(run: &Run, node: &str) -> NodeSnapshot {
    run.look(run.plan().node(node).expect(node)).expect(node)
}

fn tally(run: &Run, node: &str, name: &str) -> u64 {
    let seen = look(run, node);
    seen.tallies.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{name} in {seen:?}")).1
}

fn transitions(run: &Run) -> Vec<(u64, String)> {
    let events = run.system().events(0, usize::MAX);
    let moved = |e: &footlights::observe::Event| match &e.kind {
        EventKind::Transition { from, to } => Some((e.at.as_nanos() / 1_000_000, format!("{from}-{to}"))),
        _ => None,
    };
    events.iter().filter_map(moved).collect()
}

/// Open for a second, then closed for half of one; what comes meanwhile is postponed.
fn shop() -> Value {
    json!({"initial": "open", "states": [
        {"name": "open", "after_ms": 1_000, "after_to": "closed"},
        {"name": "closed", "does": "postpone", "after_ms": 500, "after_to": "open"},
    ]})
}

#[test]
fn a_state_ends_by_time_and_what_was_postponed_comes_back_in_order() {
    let run = run(&scenario(json!({"rate_per_s": 10, "count": 30}), shop()), 5_000);
    let moved = transitions(&run);
    assert_eq!(
        moved[..3],
        [(1_000, "open-closed".into()), (1_500, "closed-open".into()), (2_500, "open-closed".into())]
    );
    assert_eq!((tally(&run, "c", "collected"), tally(&run, "m", "served")), (30, 30));
    assert!(tally(&run, "m", "postponed") >= 8, "{:?}", look(&run, "m"));
    assert_eq!(look(&run, "m").machine.as_deref(), Some("open"), "at 5 s");
}

#[test]
fn what_is_postponed_is_in_the_stash_and_shown_there() {
    let run = run(&scenario(json!({"rate_per_s": 10}), shop()), 1_450);
    let seen = look(&run, "m");
    assert_eq!((seen.machine.as_deref(), seen.stashed > 2), (Some("closed"), true), "{seen:?}");
    assert_eq!(run.system().ledger().stashed, seen.stashed);
}

#[test]
fn the_first_transition_that_is_met_is_taken_after_the_message() {
    let machine = json!({"initial": "a",
    "states": [{"name": "a"}, {"name": "b", "does": "absorb"}, {"name": "c"}],
    "transitions": [
        {"from": "a", "on": "nth", "n": 3, "to": "b"},
        {"from": "a", "on": "urgent", "to": "c"},
        {"from": "b", "on": "odd", "to": "a"},
    ]});
    // Values 0 1 2 go on in a; 3 is absorbed in b and, being odd, leads back; 4 is urgent and leads to c, where all go on.
    let source = json!({"rate_per_s": 10, "count": 8, "urgent_every": 5});
    let run = run(&scenario(source, machine), 5_000);
    let names: Vec<String> = transitions(&run).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["a-b", "b-a", "a-c"]);
    assert_eq!((tally(&run, "c", "collected"), look(&run, "m").machine.as_deref()), (7, Some("c")));
}

#[test]
fn a_restart_begins_in_the_initial_state() {
    let mut machine = json!({"initial": "a", "states": [{"name": "a"}, {"name": "b"}],
        "transitions": [{"from": "a", "to": "b"}]});
    machine["failure"] = json!("nth");
    machine["nth"] = json!(4);
    let run = run(&scenario(json!({"rate_per_s": 10, "count": 6}), machine), 5_000);
    let names: Vec<String> = transitions(&run).into_iter().map(|(_, name)| name).collect();
    assert_eq!((names, look(&run, "m").restarts), (vec!["a-b".to_owned(), "a-b".into()], 1));
}

#[test]
fn states_that_are_named_exist() {
    for (machine, expected) in [
        (json!({"initial": "x", "states": [{"name": "a"}]}), r#"parameter "states": there is no state "x""#),
        (json!({"initial": "a", "states": [{"name": "a"}, {"name": "a"}]}), "row 2: two states are called"),
        (
            json!({"initial": "a", "states": [{"name": "a", "after_ms": 5}]}),
            r#"row 1: there is no state "idle" to follow"#,
        ),
        (
            json!({"initial": "a", "states": [{"name": "a"}], "transitions": [{"from": "a", "to": "b"}]}),
            r#"parameter "transitions": row 1: to names no state: "b""#,
        ),
        (json!({"states": [{"name": "a b"}]}), "row 1: name must be a name of 1 to 64"),
        (json!({"transitions": [{"on": "never"}]}), "row 1: on must be one of message, nth"),
    ] {
        let got = faults(machine);
        assert!(got[0].contains(expected), "{got:?} does not say {expected}");
    }
    assert_eq!(faults(json!({})), [""; 0], "a machine without states forwards");
    assert_eq!(faults(shop()), [""; 0]);
}
