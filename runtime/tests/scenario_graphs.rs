//! Scenarios whose streams have junctions: times, what every edge has counted, and what is refused.

use footlights::scenario::document::Scenario;
use footlights::scenario::{NodeSnapshot, NodeState, On, Run, validate};
use serde_json::{Value, json};

fn lanes() -> Scenario {
    let path = format!("{}/../web/scenarios/parallel-lanes.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("it ships");
    Scenario::parse(&text).unwrap_or_else(|e| panic!("{e:#?}"))
}

fn start(scenario: &Scenario) -> Run {
    Run::start(validate(scenario).unwrap_or_else(|e| panic!("{e:#?}")), On::Stepper).expect("it starts")
}

fn look(run: &Run, node: &str) -> NodeSnapshot {
    run.look(run.plan().node(node).expect(node)).expect(node)
}

fn drawn(nodes: Value, edges: &[(&str, &str)]) -> Result<Scenario, String> {
    let edges: Vec<Value> = edges
        .iter()
        .enumerate()
        .map(|(i, (from, to))| json!({"id": format!("e{i}"), "from": from, "to": to}))
        .collect();
    let doc = json!({"version": 1, "seed": 7, "workers": 2, "nodes": nodes, "edges": edges});
    let scenario = Scenario::parse(&doc.to_string()).unwrap_or_else(|e| panic!("{e:#?}"));
    match validate(&scenario) {
        Ok(_) => Ok(scenario),
        Err(errors) => Err(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    }
}

#[test]
fn e15_e16_e17_lanes_of_a_document_take_the_time_of_their_islands() {
    for (split, enabled, ms, counted) in [
        ("balance", true, 2_500, 1_000),
        ("balance", false, 10_000, 1_000),
        ("partition", true, 2_500, 1_000),
        ("broadcast", true, 10_000, 4_000),
        ("broadcast", false, 40_000, 4_000),
    ] {
        let mut scenario = lanes();
        for node in &mut scenario.nodes {
            if node.id == "split" {
                node.kind = split.to_owned();
            }
            if node.kind == "async_boundary" {
                node.params.insert("enabled".to_owned(), json!(enabled));
            }
        }
        let run = start(&scenario);
        while run.system().step().is_some() {}
        let took = run.system().now().as_nanos() / 1_000_000;
        assert!(took.abs_diff(ms) <= 60, "{split}, boundaries {enabled}: {took} ms, {ms} expected");
        let count = look(&run, "count");
        assert_eq!((count.handled, count.state), (counted, NodeState::Completed), "{split}, {enabled}");
    }
}

#[test]
fn every_edge_of_a_graph_has_counted_what_passed_it() {
    for enabled in [true, false] {
        let mut scenario = lanes();
        for node in scenario.nodes.iter_mut().filter(|n| n.kind == "async_boundary") {
            node.params.insert("enabled".to_owned(), json!(enabled));
        }
        let run = start(&scenario);
        let mut steps = 0u64;
        while run.system().step().is_some() {
            steps += 1;
            if steps.is_multiple_of(50) {
                let view = run.view();
                for (at, edge) in run.edges().iter().enumerate() {
                    let seen = view.edge(at);
                    assert!(seen.in_flight <= 1, "{} has {} elements under way", edge.id, seen.in_flight);
                }
            }
        }
        let view = run.view();
        let passed = |id: &str| {
            let at = run.edges().iter().position(|e| e.id == id).expect(id);
            assert_eq!((view.edge(at).in_flight, view.edge(at).dropped), (0, Some(0)), "{id}");
            view.edge(at).passed
        };
        let sum = |kind: &str| (1..=4).map(|lane| passed(&format!("{kind}{lane}"))).sum::<u64>();
        assert_eq!((passed("a"), passed("f")), (1_000, 1_000));
        assert_eq!((sum("b"), sum("c"), sum("d"), sum("e")), (1_000, 1_000, 1_000, 1_000), "{enabled}");
        let islands: std::collections::BTreeSet<_> = run.nodes().iter().map(|n| n.island).collect();
        assert_eq!(islands.len(), if enabled { 6 } else { 1 }, "source side, four lanes, and the merge");
    }
}

#[test]
fn a_failed_lane_fails_the_stream_and_says_so() {
    let nodes = json!([
        {"id": "numbers", "kind": "range", "params": {"count": 100}},
        {"id": "split", "kind": "broadcast"},
        {"id": "good", "kind": "map"},
        {"id": "bad", "kind": "map_async", "params": {"fail_every": 10}},
        {"id": "one", "kind": "ignore"},
        {"id": "two", "kind": "ignore"},
    ]);
    let edges = [
        ("numbers.out", "split.in"),
        ("split.out", "good.in"),
        ("split.out", "bad.in"),
        ("good.out", "one.in"),
        ("bad.out", "two.in"),
    ];
    let run = start(&drawn(nodes, &edges).expect("a whole graph"));
    while run.system().step().is_some() {}
    assert_eq!(look(&run, "two").state, NodeState::Failed);
    assert!(run.system().ledger().balanced());
}

#[test]
fn a_stream_without_a_way_out_is_refused_with_its_place() {
    let nodes = json!([
        {"id": "numbers", "kind": "range"},
        {"id": "join", "kind": "merge"},
        {"id": "again", "kind": "map"},
    ]);
    let edges = [("numbers.out", "join.in"), ("join.out", "again.in"), ("again.out", "join.in")];
    let refused = drawn(nodes, &edges).expect_err("it has no sink");
    assert!(refused.contains("no sink") && refused.contains("numbers"), "{refused}");
    let nodes = json!([{"id": "a", "kind": "map"}, {"id": "b", "kind": "map"}]);
    let refused = drawn(nodes, &[("a.out", "b.in"), ("b.out", "a.in")]).expect_err("nothing feeds it");
    assert!(refused.contains("no source feeds"), "{refused}");
}
