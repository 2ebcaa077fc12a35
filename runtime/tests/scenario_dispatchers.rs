//! Dispatchers as a document says them: who waits for whom, and what a batch costs the neighbours.

use footlights::observe::{EventKind, Lint};
use footlights::scenario::document::Scenario;
use footlights::scenario::{On, Run, validate};
use footlights::time::Instant;
use serde_json::{Value, json};

fn run(doc: &Value, ms: u64) -> Run {
    let scenario = Scenario::parse(&doc.to_string()).unwrap_or_else(|e| panic!("{e:#?}"));
    assert_eq!(Scenario::parse(&scenario.to_text()).as_ref(), Ok(&scenario), "a round trip");
    let run =
        Run::start(validate(&scenario).unwrap_or_else(|e| panic!("{e:#?}")), On::Stepper).expect("it starts");
    run.system().run_until(Instant::from_nanos(ms * 1_000_000));
    assert!(run.system().ledger().balanced());
    run
}

fn tally(run: &Run, node: &str, name: &str) -> u64 {
    let seen = run.look(run.plan().node(node).expect(node)).expect(node);
    seen.tallies.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{name} in {seen:?}")).1
}

/// A hog that works 50 ms for each of its many messages, and a quick one; one worker, and what `dispatchers` adds.
fn neighbours(dispatchers: Value, quick: Option<&str>) -> Value {
    let mut nodes = json!([
        {"id": "s", "kind": "source", "params": {"pattern": "burst", "burst": 100, "count": 100}},
        {"id": "hog", "kind": "worker", "params": {"mean_ms": 50, "then": "absorb"}},
        {"id": "t", "kind": "source", "params": {"rate_per_s": 100, "count": 50}},
        {"id": "quick", "kind": "collector"},
    ]);
    if let Some(name) = quick {
        nodes[3]["dispatcher"] = json!(name);
    }
    json!({"version": 1, "seed": 7, "workers": 1, "throughput": 20, "dispatchers": dispatchers, "nodes": nodes, "edges": [
        {"id": "1", "from": "s.out", "to": "hog.in"}, {"id": "2", "from": "t.out", "to": "quick.in"}]})
}

#[test]
fn a_dispatcher_of_its_own_keeps_an_actor_from_waiting_for_others() {
    let oldest = |doc: Value| tally(&run(&doc, 10_000), "quick", "age_ns_max") / 1_000_000;
    assert!(oldest(neighbours(json!([]), None)) >= 450, "it waits for batches of 20 messages of 50 ms");
    let calm = json!([{"name": "calm", "workers": 1}]);
    assert_eq!(oldest(neighbours(calm.clone(), Some("calm"))), 0);
    assert_eq!(oldest(neighbours(json!([]), Some("pinned"))), 0);
    let run = run(&neighbours(calm, Some("calm")), 100);
    let names: Vec<String> = run.system().snapshot().dispatchers.iter().map(|d| d.name.to_string()).collect();
    assert_eq!(names, ["default", "blocking", "calm"]);
}

#[test]
fn a4_a_larger_throughput_moves_more_and_makes_the_neighbour_wait_longer() {
    // The prices of 2012, a thousand times as high, so that a second has enough in it.
    let doc = |throughput: u32| {
        let mut nodes = vec![
            json!({"id": "s", "kind": "source", "params": {"pattern": "burst", "burst": 2400, "count": 2400}}),
            json!({"id": "r", "kind": "router"}),
            json!({"id": "t", "kind": "source", "params": {"rate_per_s": 20}}),
            json!({"id": "quick", "kind": "collector"}),
        ];
        let mut edges = vec![("s.out".to_owned(), "r.in".to_owned()), ("t.out".into(), "quick.in".into())];
        for i in 0..12 {
            nodes.push(json!({"id": format!("ping{i}"), "kind": "worker", "params": {"mean_ms": 0}}));
            nodes.push(json!({"id": format!("pong{i}"), "kind": "worker", "params": {"mean_ms": 0}}));
            edges.push(("r.out".into(), format!("ping{i}.in")));
            edges.push((format!("ping{i}.out"), format!("pong{i}.in")));
            edges.push((format!("pong{i}.out"), format!("ping{i}.in")));
        }
        let edges: Vec<Value> = (0..edges.len())
            .map(|i| json!({"id": format!("e{i}"), "from": edges[i].0, "to": edges[i].1}))
            .collect();
        json!({"version": 1, "seed": 7, "workers": 4, "throughput": throughput, "nodes": nodes, "edges": edges,
            "settings": {"activation_ns": 9_600_000, "message_ns": 480_000}})
    };
    let of = |throughput: u32| {
        let run = run(&doc(throughput), 12_000);
        let moved = run.system().ledger().handled;
        (moved, tally(&run, "quick", "age_ns_total") / tally(&run, "quick", "collected").max(1))
    };
    let seen: Vec<(u64, u64)> = [5, 20, 64, 200].map(of).into();
    assert!(seen.is_sorted_by(|a, b| a.0 < b.0), "rate: {seen:?}");
    assert!(seen.is_sorted_by(|a, b| a.1 < b.1), "the neighbour's wait: {seen:?}");
    let ratio = seen[1].0 as f64 / seen[0].0 as f64;
    assert!((2.3..2.7).contains(&ratio), "from 5 to 20: {ratio}");
}

#[test]
fn blocking_and_long_runs_are_told_of() {
    let doc = |dispatcher: Value| {
        let mut worker = json!({"id": "w", "kind": "worker", "params": {"cost": "block", "mean_ms": 150, "then": "absorb"}});
        if !dispatcher.is_null() {
            worker["dispatcher"] = dispatcher;
        }
        let source = json!({"id": "s", "kind": "source", "params": {"rate_per_s": 2, "count": 3}});
        json!({"version": 1, "seed": 7, "workers": 1, "nodes": [source, worker],
            "edges": [{"id": "1", "from": "s.out", "to": "w.in"}]})
    };
    let count = |doc: &Value| {
        let run = run(doc, 5_000);
        let (events, _) = run.system().rare_events(0);
        let count = |f: fn(&EventKind) -> bool| events.iter().filter(|e| f(&e.kind)).count();
        (
            count(|k| matches!(k, EventKind::SlowHandler { .. })),
            count(|k| matches!(k, EventKind::LintRaised { lint: Lint::BlockOnShared, .. })),
        )
    };
    assert_eq!(count(&doc(Value::Null)), (3, 1), "each long run, and the lint once");
    assert_eq!(count(&doc(json!("blocking"))), (3, 0), "nobody else waits there");
}
