//! Scenarios that run: the same on every Stepper, balanced after every turn, whole on a Pool.

use std::time::Duration;

use footlights::observe::EventKind;
use footlights::scenario::document::Scenario;
use footlights::scenario::{Breakage, NodeSnapshot, NodeState, On, Run, validate};
use footlights::time::Instant;
use serde_json::{Value, json};

const TURNS_MAX: u64 = 1_000_000;

fn shipped(name: &str) -> Scenario {
    let path = format!("{}/../web/scenarios/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    Scenario::parse(&text).unwrap_or_else(|e| panic!("{name}: {e:#?}"))
}

fn scenario(nodes: Value, edges: &[(&str, &str)]) -> Scenario {
    let edges: Vec<Value> = edges
        .iter()
        .enumerate()
        .map(|(i, (from, to))| json!({"id": format!("e{i}"), "from": from, "to": to}))
        .collect();
    let doc = json!({"version": 1, "seed": 7, "workers": 2, "nodes": nodes, "edges": edges});
    Scenario::parse(&doc.to_string()).unwrap_or_else(|e| panic!("{e:#?}"))
}

fn start(scenario: &Scenario, on: On) -> Run {
    Run::start(validate(scenario).unwrap_or_else(|e| panic!("{e:#?}")), on).expect("it starts")
}

fn with(mut scenario: Scenario, node: &str, key: &str, value: impl Into<Value>) -> Scenario {
    let found = scenario.nodes.iter_mut().find(|n| n.id == node).expect(node);
    found.params.insert(key.into(), value.into());
    scenario
}

fn look(run: &Run, node: &str) -> NodeSnapshot {
    run.look(run.plan().node(node).expect(node)).expect(node)
}

fn tally(run: &Run, node: &str, name: &str) -> u64 {
    let seen = look(run, node);
    seen.tallies.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{name} in {seen:?}")).1
}

/// Runs to the end; the ledger must balance after every turn.
fn finish(run: &Run) {
    let system = run.system();
    while system.step().is_some() {
        let ledger = system.ledger();
        assert!(ledger.balanced(), "turn {}: {ledger:?}", run.turn());
        assert!(run.turn() < TURNS_MAX, "it does not end");
    }
}

fn rest_on_pool(run: &Run) {
    let deadline = Duration::from_secs(60);
    let begun = run.system().now();
    while run.system().ledger().queued > 0 || run.system().snapshot().timers > 0 || !run.system().is_quiet() {
        assert!(
            run.system().now() - begun < deadline,
            "no rest within {deadline:?}: {:?}",
            run.system().ledger()
        );
        std::thread::yield_now();
    }
    assert!(run.system().ledger().balanced());
}

#[test]
fn every_task_is_answered_once_or_the_job_is_aborted_once() {
    let (mut done, mut aborted) = (0, 0);
    for seed in 0..50 {
        let scenario = Scenario { seed, ..shipped("let-it-crash") };
        let run = start(&scenario, On::Stepper);
        while run.system().step().is_some() {}
        assert!(run.system().ledger().balanced(), "seed {seed}");
        let [d, a, answered, duplicates] =
            ["done", "aborted", "answered", "duplicates"].map(|t| tally(&run, "master", t));
        assert_eq!(d + a, 1, "seed {seed}: done {d}, aborted {a}");
        assert_eq!(duplicates, 0, "seed {seed}");
        assert!(d == 0 || answered == 400, "seed {seed}: {answered} answers");
        assert_eq!(
            tally(&run, "requester", "collected"),
            d,
            "seed {seed}: one result if done, none if aborted"
        );
        let (events, _) = run.system().rare_events(0);
        let logged = events.iter().filter(|e| matches!(e.kind, EventKind::Restarted { .. })).count() as u64;
        let shown: u64 = (0..run.nodes().len()).filter_map(|i| run.look(i)).map(|n| n.restarts).sum();
        assert_eq!(shown, logged, "seed {seed}: restarts shown are restarts in the log");
        (done, aborted) = (done + d, aborted + a);
    }
    assert!(done >= 5 && aborted >= 5, "both ends must be seen: done {done}, aborted {aborted}");
}

#[test]
fn the_ledger_balances_after_every_turn() {
    finish(&start(&shipped("let-it-crash"), On::Stepper));
    finish(&start(&with(shipped("ten-million-messages"), "controller", "tasks", 500), On::Stepper));
    finish(&start(&with(shipped("boundary-and-buffer"), "numbers", "count", 200), On::Stepper));
}

#[test]
fn the_first_visit_sees_restarts_and_the_job_done() {
    let run = start(&shipped("let-it-crash"), On::Stepper);
    finish(&run);
    let restarts: u64 = (0..run.nodes().len()).filter_map(|i| run.look(i)).map(|n| n.restarts).sum();
    assert_eq!(look(&run, "master").state, NodeState::Completed);
    assert!(restarts >= 3, "{restarts} restarts");
    let retried: u64 = (1..=5).map(|i| tally(&run, &format!("worker-{i}"), "retried")).sum();
    assert_eq!(retried, restarts, "every failing task was forwarded to the worker itself");
}

#[test]
fn a_boundary_halves_the_time_on_two_workers() {
    for (enabled, expected) in [(false, 20_000), (true, 10_000)] {
        let run = start(&with(shipped("boundary-and-buffer"), "boundary", "enabled", enabled), On::Stepper);
        while run.system().step().is_some() {}
        let last = run.system().now();
        let (lower, upper) = (expected - 20, expected + 20);
        let ms = last.as_nanos() / 1_000_000;
        assert!((lower..=upper).contains(&ms), "enabled {enabled}: {ms} ms, {expected} expected");
        assert_eq!(look(&run, "count").handled, 1_000);
        assert_eq!(look(&run, "count").state, NodeState::Completed);
    }
}

#[test]
fn a_slow_sink_never_holds_more_than_the_declared_buffers() {
    let slow = with(shipped("boundary-and-buffer"), "second", "work_ms", 35);
    let run = start(&with(slow, "numbers", "count", 300), On::Stepper);
    let capacity = look(&run, "boundary").capacity.expect("a boundary has a capacity");
    let mut full = 0;
    while run.system().step().is_some() {
        let view = run.view();
        let queued = view.node(run.plan().node("boundary").expect("boundary")).expect("boundary").queued;
        assert!(queued <= capacity, "{queued} of {capacity}");
        full += u64::from(queued == capacity);
        for edge in 0..run.edges().len() {
            let in_flight = view.edge(edge).in_flight;
            assert!(in_flight <= 1, "{in_flight} elements on a fused edge");
        }
    }
    assert!(full > 100, "the buffer was full for {full} turns only");
    assert_eq!((capacity, look(&run, "count").handled), (16, 300));
}

#[test]
fn ten_million_messages_scaled_down_and_paced() {
    let all = with(shipped("ten-million-messages"), "controller", "tasks", 2_000);
    let run = start(&all, On::Stepper);
    run.system().run_until(Instant::from_nanos(500_000_000));
    assert_eq!(run.system().snapshot().timers, 2_000, "that is where they live");
    finish(&run);
    assert_eq!(tally(&run, "controller", "answered"), 2_000);
    assert_eq!(run.system().now().as_nanos(), 1_000_000_000);
    let paced = with(with(all, "controller", "pacing", "pending"), "controller", "max_pending", 500);
    let run = start(&paced, On::Stepper);
    while run.system().step().is_some() {
        assert!(run.system().snapshot().timers <= 500);
    }
    assert_eq!(tally(&run, "controller", "answered"), 2_000);
    assert_eq!(run.system().now().as_nanos(), 4_000_000_000);
}

#[test]
fn a_knob_and_an_injected_message_take_effect() {
    let nodes = json!([{"id": "s", "kind": "source", "params": {"rate_per_s": 0.001}}, {"id": "c", "kind": "collector"}]);
    let run = start(&scenario(nodes, &[("s.out", "c.in")]), On::Stepper);
    run.system().run_until(Instant::from_nanos(1_000_000_000));
    assert_eq!(tally(&run, "c", "collected"), 0);
    run.set("s", "rate_per_s", &json!(100)).expect("a live knob");
    run.inject("c", 5).expect("a collector takes messages");
    run.system().run_until(Instant::from_nanos(2_000_000_000));
    assert_eq!(tally(&run, "c", "collected"), 101, "a slow source does not wait out its old period");
    run.break_node("s", Breakage::Stop).expect("an actor");
    run.system().run_until(Instant::from_nanos(3_000_000_000));
    assert_eq!(tally(&run, "c", "collected"), 101);
}

#[test]
fn a_refused_change_changes_nothing() {
    let run = start(&shipped("let-it-crash"), On::Stepper);
    let hash = run.system().log_hash();
    for (node, key, value, reason) in [
        ("worker-1", "percent", json!(-1), "0 or more"),
        ("worker-1", "percent", json!("NaN"), "a number"),
        ("worker-1", "then", json!("absorb"), "while the graph runs"),
        ("worker-1", "speed", json!(1), "no such parameter"),
        ("nobody", "percent", json!(1), "no such node"),
    ] {
        let error = run.set(node, key, &value).expect_err(key).to_string();
        assert!(error.contains(reason) && error.contains(node), "{error}");
    }
    assert!(run.inject("master", 1).is_err() && run.inject("crew", 1).is_err());
    assert_eq!(run.system().log_hash(), hash);
}

#[test]
fn a_bounded_mailbox_does_as_it_says() {
    for (overflow, lost) in
        [("drop_new", true), ("drop_oldest", true), ("reject_to_sender", false), ("backpressure", false)]
    {
        let nodes = json!([
            {"id": "s", "kind": "source", "params": {"pattern": "burst", "burst": 100, "interval_ms": 60_000, "count": 100}},
            {"id": "w", "kind": "worker", "params": {"mean_ms": 10, "then": "absorb", "mailbox": 8, "overflow": overflow}},
        ]);
        let run = start(&scenario(nodes, &[("s.out", "w.in")]), On::Stepper);
        while run.system().step().is_some() {
            assert!(run.system().ledger().balanced(), "{overflow}: {:?}", run.system().ledger());
            assert!(look(&run, "w").queued <= 9, "{overflow}: {:?}", look(&run, "w")); // 8 and the one in hand
        }
        let (served, gone, rejected) =
            (tally(&run, "w", "served"), look(&run, "w").lost, tally(&run, "s", "rejected"));
        assert_eq!(served + gone + rejected, 100, "{overflow}: {served} {gone} {rejected}");
        assert_eq!((gone > 0, rejected > 0), (lost, overflow == "reject_to_sender"), "{overflow}");
        assert!(overflow != "backpressure" || served == 100);
    }
}

#[test]
fn all_for_one_restarts_the_siblings() {
    let worker = |id: &str, failure: &str| {
        json!({"id": id, "kind": "worker", "parent": "g",
        "params": {"mean_ms": 1, "then": "absorb", "failure": failure, "nth": 3}})
    };
    let nodes = json!([
        {"id": "s", "kind": "source", "params": {"rate_per_s": 100, "count": 9}},
        {"id": "r", "kind": "router"},
        {"id": "g", "kind": "supervisor", "params": {"strategy": "all_for_one"}},
        worker("a", "nth"), worker("b", "none"), worker("c", "none"),
    ]);
    let edges = [("s.out", "r.in"), ("r.out", "a.in"), ("r.out", "b.in"), ("r.out", "c.in")];
    let run = start(&scenario(nodes, &edges), On::Stepper);
    finish(&run);
    assert_eq!(["a", "b", "c"].map(|w| look(&run, w).restarts), [1, 1, 1]);
}

#[test]
fn a_restarted_supervisor_makes_its_children_anew_and_routers_find_them() {
    let nodes = json!([
        {"id": "s", "kind": "source", "params": {"rate_per_s": 10, "count": 20}},
        {"id": "r", "kind": "router"},
        {"id": "g", "kind": "supervisor", "params": {"directive": "escalate"}},
        {"id": "a", "kind": "worker", "parent": "g", "params": {"then": "absorb", "failure": "nth", "nth": 5}},
        {"id": "b", "kind": "worker", "parent": "g", "params": {"then": "absorb"}},
    ]);
    let run =
        start(&scenario(nodes, &[("s.out", "r.in"), ("r.out", "a.in"), ("r.out", "b.in")]), On::Stepper);
    finish(&run);
    let served = ["a", "b"].map(|w| tally(&run, w, "served"));
    assert_eq!(served, [10, 10], "after each restart of the group both are routees again");
    assert_eq!(look(&run, "g").restarts, 2);
}

#[test]
fn messages_become_elements_and_elements_messages() {
    let nodes = json!([
        {"id": "s", "kind": "source", "params": {"rate_per_s": 100, "count": 50}},
        {"id": "in", "kind": "to_stream"},
        {"id": "odd", "kind": "filter", "params": {"op": "odd"}},
        {"id": "cut", "kind": "async_boundary"},
        {"id": "out", "kind": "to_actor"},
        {"id": "c", "kind": "collector"},
    ]);
    let edges = [
        ("s.out", "in.in"),
        ("in.out", "odd.in"),
        ("odd.out", "cut.in"),
        ("cut.out", "out.in"),
        ("out.out", "c.in"),
    ];
    let run = start(&scenario(nodes, &edges), On::Stepper);
    finish(&run);
    assert_eq!(tally(&run, "in", "offered"), 50);
    assert_eq!(tally(&run, "c", "collected"), 25);
    let view = run.view();
    let passed: Vec<u64> = (0..run.edges().len()).map(|e| view.edge(e).passed).collect();
    assert_eq!(passed, [50, 50, 25, 25, 25]);
}

#[test]
fn a_pool_runs_the_same_documents() {
    let crash = with(shipped("let-it-crash"), "master", "tasks", 100);
    let crash = (1..=5).fold(crash, |s, i| with(s, &format!("worker-{i}"), "mean_ms", 1));
    let run = start(&crash, On::Pool);
    rest_on_pool(&run);
    assert_eq!(tally(&run, "master", "done") + tally(&run, "master", "aborted"), 1);
    let million = with(shipped("ten-million-messages"), "controller", "tasks", 100_000);
    let million = (1..=10).fold(million, |s, i| with(s, &format!("worker-{i}"), "delay_ms", 50));
    let run = start(&million, On::Pool);
    rest_on_pool(&run);
    assert_eq!(tally(&run, "controller", "answered"), 100_000);
}
