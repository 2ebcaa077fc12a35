//! Scenarios that run: the same on every Stepper, balanced after every turn, whole on a Pool.

use footlights::scenario::document::Scenario;
use footlights::scenario::{On, Run, validate};

fn shipped(name: &str) -> Scenario {
    let path = format!("{}/../web/scenarios/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    Scenario::parse(&text).unwrap_or_else(|e| panic!("{name}: {e:#?}"))
}

fn start(scenario: &Scenario, on: On) -> Run {
    Run::start(validate(scenario).unwrap_or_else(|e| panic!("{e:#?}")), on).expect("it starts")
}

fn with(mut scenario: Scenario, node: &str, key: &str, value: impl Into<serde_json::Value>) -> Scenario {
    let found = scenario.nodes.iter_mut().find(|n| n.id == node).expect(node);
    found.params.insert(key.into(), value.into());
    scenario
}

#[test]
fn let_it_crash_runs() {
    let run = start(&shipped("let-it-crash"), On::Stepper);
    while run.system().step().is_some() {
        assert!(run.system().ledger().balanced(), "turn {}: {:?}", run.turn(), run.system().ledger());
        if run.turn() > 20000 {
            break;
        }
    }
    eprintln!("{} turns, {:?}, hash {:x}", run.turn(), run.system().now(), run.system().log_hash());
    let (events, _) = run.system().rare_events(0);
    for e in events.iter().filter(|e| {
        matches!(
            e.kind,
            footlights::observe::EventKind::Note { .. }
                | footlights::observe::EventKind::Decided(..)
                | footlights::observe::EventKind::Stopped { .. }
        )
    }) {
        eprintln!("{:?} {:?}", e.at, e.kind)
    }
    eprintln!("{:?}", run.system().ledger());
    for i in 0..run.edges().len() {
        eprintln!("{} {}", run.edges()[i].id, run.passed(i))
    }
}
