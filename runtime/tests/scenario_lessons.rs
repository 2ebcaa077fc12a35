//! What the built-in scenarios say one shall notice: it is so.

use footlights::observe::ActorState;
use footlights::scenario::document::Scenario;
use footlights::scenario::{NodeSnapshot, NodeState, On, Run, validate};
use footlights::time::Instant;
use serde_json::Value;

fn shipped(name: &str) -> Scenario {
    let path = format!("{}/../web/scenarios/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{name}: {e:#?}"));
    assert_eq!(Scenario::parse(&scenario.to_text()).as_ref(), Ok(&scenario), "{name}: a round trip");
    scenario
}

fn with(mut scenario: Scenario, node: &str, key: &str, value: impl Into<Value>) -> Scenario {
    let found = scenario.nodes.iter_mut().find(|n| n.id == node).expect(node);
    found.params.insert(key.into(), value.into());
    scenario
}

fn run_for(scenario: &Scenario, ms: u64) -> Run {
    let run =
        Run::start(validate(scenario).unwrap_or_else(|e| panic!("{e:#?}")), On::Stepper).expect("it starts");
    run.system().run_until(Instant::from_nanos(ms * 1_000_000));
    assert!(run.system().ledger().balanced(), "{:?}", run.system().ledger());
    run
}

fn look(run: &Run, node: &str) -> NodeSnapshot {
    run.look(run.plan().node(node).expect(node)).expect(node)
}

fn tally(run: &Run, node: &str, name: &str) -> u64 {
    let seen = look(run, node);
    seen.tallies.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{name} in {seen:?}")).1
}

/// Mean and longest age at a collector, in milliseconds.
fn ages(run: &Run, node: &str) -> (u64, u64) {
    let n = tally(run, node, "collected").max(1);
    (tally(run, node, "age_ns_total") / n / 1_000_000, tally(run, node, "age_ns_max") / 1_000_000)
}

#[test]
fn three_windows_forgive_differently() {
    let run = run_for(&shipped("restart-windows"), 60_000);
    let restarts = ["gap", "sliding", "tumbling"].map(|w| look(&run, &format!("{w}-worker")).restarts);
    assert!(restarts[0] < restarts[1] && restarts[1] < restarts[2], "{restarts:?}");
    let state = look(&run, "gap-worker").state;
    assert_eq!(state, NodeState::Actor(ActorState::Stopped));
}

#[test]
fn one_queue_for_all_keeps_nobody_waiting_behind_a_slow_neighbour() {
    let run = run_for(&shipped("eight-routers"), 120_000);
    let mean = |logic: &str| ages(&run, &format!("{logic}-done")).0;
    let all: Vec<_> = ["balancing", "smallest_mailbox", "round_robin", "random", "consistent_hash"]
        .map(|logic| (logic, mean(logic)))
        .into();
    assert!(mean("balancing") <= mean("smallest_mailbox"), "{all:?}");
    assert!(mean("smallest_mailbox") < mean("round_robin"), "{all:?}");
    assert!(mean("round_robin") < mean("random"), "{all:?}");
}

#[test]
fn b_two_clients_wait_for_each_other_and_four_do_not() {
    let mean = |run: &Run| {
        tally(run, "clients", "response_ns_total") / tally(run, "clients", "answered") / 1_000_000
    };
    let run = run_for(&shipped("translation-service"), 60_000);
    assert!((190..=210).contains(&mean(&run)), "{}", mean(&run));
    let free =
        with(with(shipped("translation-service"), "front", "mode", "aggregate"), "clients", "max_pending", 4);
    let run = run_for(&free, 60_000);
    assert!((95..=105).contains(&mean(&run)), "{}", mean(&run));
    assert_eq!(tally(&run, "front", "aggregators_alive"), 0);
}

#[test]
fn a4_more_at_a_time_moves_more_and_makes_the_neighbour_late() {
    let run =
        |throughput: u32| run_for(&Scenario { throughput, ..shipped("throughput-and-fairness") }, 8_000);
    let [five, twenty, most] = [5, 20, 64].map(run);
    let moved = |run: &Run| run.system().ledger().handled;
    assert!(moved(&five) * 2 < moved(&twenty) && moved(&twenty) < moved(&most));
    let late = [&five, &twenty, &most].map(|run| ages(run, "seen").0);
    assert!(late.is_sorted(), "{late:?}");
    let mut calm = Scenario { throughput: 64, ..shipped("throughput-and-fairness") };
    for node in &mut calm.nodes {
        if ["clock", "neighbour", "seen"].contains(&node.id.as_str()) {
            node.dispatcher = Some("calm".into());
        }
    }
    let calm = run_for(&calm, 5_000);
    assert!(ages(&calm, "seen").1 < 100, "{:?}", ages(&calm, "seen"));
}

#[test]
fn e_a_decider_per_junction_is_as_fast_as_the_cores() {
    let run = run_for(&shipped("junction-deciders"), 3_000);
    let rate = |node: &str| tally(&run, node, "answered") / 3;
    assert!((130..=136).contains(&rate("clients")), "{}", rate("clients"));
    assert!(rate("more-clients") >= 2 * rate("clients"), "{}", rate("more-clients"));
}
