//! Routers and pools as a document says them: all eight kinds, what each edge carries, what becomes of a pool's workers.

use footlights::observe::{EventKind, RouteWhy};
use footlights::scenario::document::Scenario;
use footlights::scenario::{NodeSnapshot, NodeState, On, Run, validate};
use serde_json::{Value, json};

const LOGICS: [&str; 8] = [
    "round_robin",
    "random",
    "smallest_mailbox",
    "balancing",
    "broadcast",
    "scatter_gather_first",
    "tail_chopping",
    "consistent_hash",
];

fn scenario(nodes: Value, edges: &[(&str, &str)]) -> Scenario {
    let edges: Vec<Value> = edges
        .iter()
        .enumerate()
        .map(|(i, (from, to))| json!({"id": format!("e{i}"), "from": from, "to": to}))
        .collect();
    let doc = json!({"version": 1, "seed": 7, "workers": 4, "nodes": nodes, "edges": edges});
    Scenario::parse(&doc.to_string()).unwrap_or_else(|e| panic!("{e:#?}"))
}

fn finish(scenario: &Scenario) -> Run {
    let run =
        Run::start(validate(scenario).unwrap_or_else(|e| panic!("{e:#?}")), On::Stepper).expect("it starts");
    while run.system().step().is_some() {
        let ledger = run.system().ledger();
        assert!(ledger.balanced(), "turn {}: {ledger:?}", run.turn());
        assert!(run.turn() < 100_000, "it does not end");
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

/// A master of 60 tasks, 6 at a time, and four workers that reply, behind a router.
fn group(logic: &str) -> Scenario {
    let worker = |id: &str| {
        json!({"id": id, "kind": "worker",
        "params": {"service": "exponential", "mean_ms": 20, "then": "reply"}})
    };
    let master = json!({"tasks": 60, "pacing": "pending", "max_pending": 6, "keys": 10});
    let nodes = json!([
        {"id": "m", "kind": "master", "params": master},
        {"id": "r", "kind": "router", "params": {"logic": logic}},
        worker("a"), worker("b"), worker("c"), worker("d"),
    ]);
    let edges =
        [("m.out", "r.in"), ("r.out", "a.in"), ("r.out", "b.in"), ("r.out", "c.in"), ("r.out", "d.in")];
    scenario(nodes, &edges)
}

#[test]
fn all_eight_kinds_answer_every_task_and_count_every_edge() {
    for logic in LOGICS {
        let run = finish(&group(logic));
        assert_eq!(tally(&run, "m", "answered"), 60, "{logic}");
        let passed: Vec<u64> = (1..5).map(|edge| run.passed(edge)).collect();
        let handled = ["a", "b", "c", "d"].map(|w| look(&run, w).handled);
        assert_eq!(passed, handled, "{logic}: what passed an edge was handled behind it");
        let sum: u64 = passed.iter().sum();
        let expected = match logic {
            "broadcast" | "scatter_gather_first" => 240..=240,
            "tail_chopping" => 61..=240,
            _ => 60..=60,
        };
        assert!(expected.contains(&sum), "{logic}: {passed:?}");
        let router = look(&run, "r").router.expect("it is a router");
        assert_eq!((router.kind.replace(' ', "_").as_str(), router.size()), (logic, 4));
        if logic == "round_robin" {
            assert_eq!(passed, [15; 4]);
        }
    }
}

#[test]
fn the_first_answer_is_the_one_that_counts() {
    for logic in ["scatter_gather_first", "tail_chopping"] {
        let run = finish(&group(logic));
        assert_eq!((tally(&run, "r", "asked"), tally(&run, "r", "first_answers")), (60, 60), "{logic}");
        assert_eq!(tally(&run, "m", "duplicates"), 0, "{logic}");
    }
    // With nobody to answer, the asks end in time and the master hears nothing.
    let mut silent = group("scatter_gather_first");
    for node in &mut silent.nodes {
        if node.kind == "worker" {
            node.params.insert("then".into(), json!("absorb"));
        }
    }
    let run = finish(&silent);
    assert_eq!((tally(&run, "r", "all_failed"), tally(&run, "m", "answered")), (6, 0));
}

#[test]
fn one_key_goes_to_one_worker_and_each_choice_has_its_why() {
    let run = finish(&group("consistent_hash"));
    let events = run.system().events(0, usize::MAX);
    let whys: Vec<RouteWhy> = events
        .iter()
        .filter_map(|e| if let EventKind::Routed { why, .. } = e.kind { Some(why) } else { None })
        .collect();
    assert_eq!(whys.len(), 60);
    assert!(whys.iter().all(|why| matches!(why, RouteWhy::Key { .. })), "{whys:?}");
    let loads: Vec<u64> = (1..5).map(|edge| run.passed(edge)).collect();
    assert!(loads.iter().all(|n| n % 6 == 0), "ten keys, six tasks each: {loads:?}");
}

/// A source of 40 messages and a pool.
fn pool(params: Value) -> Scenario {
    let mut all = json!({"mean_ms": 5});
    all.as_object_mut().expect("an object").extend(params.as_object().expect("an object").clone());
    let nodes = json!([
        {"id": "s", "kind": "source", "params": {"rate_per_s": 100, "count": 40, "keys": 8}},
        {"id": "p", "kind": "pool", "params": all},
        {"id": "c", "kind": "collector"},
    ]);
    scenario(nodes, &[("s.out", "p.in"), ("p.out", "c.in")])
}

#[test]
fn a_pool_makes_its_workers_and_hands_on_what_they_do() {
    for logic in LOGICS {
        let then =
            if logic.starts_with("scatter") || logic.starts_with("tail") { "reply" } else { "forward" };
        let run = finish(&pool(json!({"logic": logic, "size": 3, "then": then})));
        let collected = tally(&run, "c", "collected");
        assert_eq!(collected, if logic == "broadcast" { 120 } else { 40 }, "{logic}");
        let seen = look(&run, "p");
        assert_eq!(seen.router.as_ref().expect("it is a router").size(), 3, "{logic}");
        assert!(seen.handled >= 40, "{logic}: {seen:?}");
    }
}

#[test]
fn only_the_failed_worker_of_a_pool_restarts_and_who_has_ended_is_replaced() {
    let run = finish(&pool(json!({"failure": "nth", "nth": 10, "size": 4})));
    assert_eq!((look(&run, "p").restarts, tally(&run, "c", "collected")), (4, 36));
    let failing = |refill: &str| {
        finish(&pool(json!({"failure": "nth", "nth": 10, "size": 4, "max_restarts": 0, "refill": refill})))
    };
    let run = failing("shrink");
    let seen = look(&run, "p");
    assert_eq!((seen.router.expect("a router").size(), seen.lost), (0, 4), "each failure took one away");
    let run = failing("stop");
    assert_eq!(look(&run, "p").state, NodeState::Actor(footlights::observe::ActorState::Stopped));
    assert!(run.system().ledger().dead_lettered > 20);
    let run = finish(&pool(json!({"stop_after": 10, "size": 4})));
    let seen = look(&run, "p");
    assert_eq!((seen.router.expect("a router").size(), tally(&run, "c", "collected")), (4, 40));
    let ended = |e: &&footlights::observe::Event| matches!(e.kind, EventKind::Stopped { .. });
    let (events, _) = run.system().rare_events(0);
    let of_pool = events.iter().filter(ended).filter(|e| run.node_of(e.actor) == run.plan().node("p"));
    assert_eq!(of_pool.count(), 4, "each worker that ended is known to be the pool's");
}

#[test]
fn a_knob_of_a_pool_reaches_all_its_workers() {
    let scenario = pool(json!({"size": 3}));
    let run = Run::start(validate(&scenario).expect("valid"), On::Stepper).expect("it starts");
    run.set("p", "failure", &json!("nth")).expect("a live knob");
    run.set("p", "nth", &json!(1)).expect("a live knob");
    run.inject("p", 3).expect("a pool takes messages");
    assert!(run.system().run_until_quiet(10_000));
    assert_eq!((look(&run, "p").lost >= 30, tally(&run, "c", "collected")), (true, 0));
}

#[test]
fn routers_behind_routers_of_every_kind_hand_everything_on() {
    for outer in LOGICS {
        for inner in LOGICS {
            let nodes = json!([
                {"id": "m", "kind": "master", "params": {"tasks": 12, "watch": false}},
                {"id": "o", "kind": "router", "params": {"logic": outer}},
                {"id": "i", "kind": "router", "params": {"logic": inner}},
                {"id": "p", "kind": "pool", "params": {"logic": inner, "size": 2, "then": "reply"}},
                {"id": "a", "kind": "worker", "params": {"then": "reply"}},
                {"id": "b", "kind": "worker", "params": {"then": "reply"}},
            ]);
            let edges = [
                ("m.out", "o.in"),
                ("o.out", "i.in"),
                ("o.out", "p.in"),
                ("i.out", "a.in"),
                ("i.out", "b.in"),
            ];
            let run = finish(&scenario(nodes, &edges));
            assert_eq!(tally(&run, "m", "answered"), 12, "{outer} over {inner}");
        }
    }
}

#[test]
fn a_resizer_gives_a_pool_more_workers_and_takes_them_back() {
    let mut scenario =
        pool(json!({"size": 1, "mean_ms": 50, "resizer": "pressure", "size_min": 1, "size_max": 6}));
    let source = [
        ("pattern", json!("burst")),
        ("burst", json!(60)),
        ("interval_ms", json!(60_000)),
        ("count", json!(60)),
    ];
    scenario.nodes[0].params.extend(source.map(|(k, v)| (k.to_owned(), v)));
    let run = Run::start(validate(&scenario).expect("valid"), On::Stepper).expect("it starts");
    run.system().run_until(footlights::time::Instant::from_nanos(20_000_000_000));
    let (events, _) = run.system().rare_events(0);
    let resized: Vec<_> = events
        .iter()
        .filter_map(
            |e| if let EventKind::Resized(r) = &e.kind { Some((r.from, r.to, r.why())) } else { None },
        )
        .collect();
    assert!(
        resized.iter().any(|(from, to, why)| to > from && why.contains("have messages waiting")),
        "{resized:?}"
    );
    assert!(resized.iter().any(|(from, to, _)| to < from), "{resized:?}");
    assert_eq!(look(&run, "p").router.expect("a router").size(), 1, "{resized:?}");
    assert_eq!((tally(&run, "c", "collected"), run.system().ledger().dead_lettered), (60, 0));
    let wrong = pool(json!({"resizer": "pressure", "size_min": 5, "size_max": 4}));
    let errors = validate(&wrong).expect_err("it is refused");
    assert_eq!(errors[0].to_string(), r#"node "p", parameter "size_min": must not be more than size_max"#);
}
