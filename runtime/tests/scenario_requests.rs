//! Requests that have parts: waiting for them, or an aggregator each; what a client waits, and what is left behind.

use footlights::scenario::document::Scenario;
use footlights::scenario::{NodeSnapshot, On, Run, validate};
use serde_json::{Value, json};

/// Clients of a front end that needs a translation and a count, each by one of four workers that take 100 ms; eight threads,
/// split four and four.
fn translation(clients: u64, mode: &str, more: Value) -> Scenario {
    let worker = |name: &str, i: usize| {
        let mut params = json!({"cost": "block", "mean_ms": 100, "then": "reply"});
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let dispatcher = if name == "translate" { "front" } else { "back" };
        json!({"id": format!("{name}-{i}"), "kind": "worker", "dispatcher": dispatcher, "params": params})
    };
    let mut nodes = vec![
        json!({"id": "clients", "kind": "master",
            "params": {"tasks": 40, "pacing": "pending", "max_pending": clients, "watch": false}}),
        json!({"id": "front", "kind": "front_end", "dispatcher": "front", "params": {"mode": mode}}),
    ];
    let mut edges = vec![("clients.out".to_owned(), "front.in".to_owned())];
    for name in ["translate", "count"] {
        nodes.push(json!({"id": name, "kind": "router"}));
        edges.push(("front.parts".to_owned(), format!("{name}.in")));
        for i in 1..=4 {
            nodes.push(worker(name, i));
            edges.push((format!("{name}.out"), format!("{name}-{i}.in")));
        }
    }
    let edges: Vec<Value> = edges
        .iter()
        .enumerate()
        .map(|(i, (from, to))| json!({"id": format!("e{i}"), "from": from, "to": to}))
        .collect();
    let crews = json!([{"name": "front", "workers": 4}, {"name": "back", "workers": 4}]);
    let doc =
        json!({"version": 1, "seed": 7, "workers": 1, "dispatchers": crews, "nodes": nodes, "edges": edges});
    Scenario::parse(&doc.to_string()).unwrap_or_else(|e| panic!("{e:#?}"))
}

fn finish(scenario: &Scenario) -> Run {
    let run =
        Run::start(validate(scenario).unwrap_or_else(|e| panic!("{e:#?}")), On::Stepper).expect("it starts");
    while run.system().step().is_some() {
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

fn mean_ms(run: &Run) -> u64 {
    tally(run, "clients", "response_ns_total") / tally(run, "clients", "answered") / 1_000_000
}

#[test]
fn waiting_takes_turns_and_aggregators_do_not() {
    for (clients, mode, expected) in [
        (1, "block", 95..=105),
        (2, "block", 190..=210),
        (1, "aggregate", 95..=105),
        (4, "aggregate", 95..=105),
    ] {
        let run = finish(&translation(clients, mode, json!({})));
        assert_eq!(tally(&run, "clients", "answered"), 40);
        let mean = mean_ms(&run);
        assert!(expected.contains(&mean), "{clients} clients, {mode}: {mean} ms, {expected:?} expected");
    }
}

#[test]
fn no_aggregator_outlives_its_request_nor_a_lost_reply_by_more_than_its_timeout() {
    let run = finish(&translation(4, "aggregate", json!({})));
    assert_eq!((tally(&run, "front", "aggregators"), tally(&run, "front", "aggregators_alive")), (40, 0));
    let run = finish(&translation(4, "aggregate", json!({"failure": "nth", "nth": 5})));
    let [answered, partial] = ["answered", "partial"].map(|name| tally(&run, "front", name));
    assert!(partial > 0 && answered + partial == 40, "{answered} whole, {partial} in part");
    assert_eq!(tally(&run, "front", "aggregators_alive"), 0);
    assert_eq!(tally(&run, "clients", "answered"), 40, "a client gets what is there");
    let slowest = tally(&run, "clients", "response_ns_max") / 1_000_000;
    assert!((1_000..=1_100).contains(&slowest), "{slowest} ms");
}

#[test]
fn a_front_end_on_a_pool_answers_everybody() {
    let doc = translation(4, "aggregate", json!({"mean_ms": 1, "cost": "work"}));
    let run = Run::start(validate(&doc).expect("valid"), On::Pool).expect("it starts");
    let begun = run.system().now();
    while tally(&run, "clients", "answered") < 40 || tally(&run, "front", "aggregators_alive") > 0 {
        assert!((run.system().now() - begun).as_secs() < 60, "{:?}", look(&run, "clients"));
        std::thread::yield_now();
    }
    assert!(run.system().shutdown(std::time::Duration::from_secs(10)).is_ok());
    assert!(run.system().ledger().balanced());
}
