//! Supervision as a document says it: every setting has its effect, and each decision carries its numbers.

use footlights::observe::{Decided, EventKind};
use footlights::scenario::document::Scenario;
use footlights::scenario::{NodeSnapshot, NodeState, On, Run, validate};
use footlights::supervise::Directive;
use serde_json::{Map, Value, json};

/// A source of `count` messages, ten a second, and workers `a b c` behind a round-robin router under a supervisor `g`.
fn scenario(group: Value, workers: [Value; 3], count: u64) -> Scenario {
    let worker = |id: &str, more: &Value| {
        let mut params = Map::from_iter([("then".into(), json!("absorb")), ("mean_ms".into(), json!(1))]);
        params.extend(more.as_object().expect("an object").clone());
        json!({"id": id, "kind": "worker", "parent": "g", "params": params})
    };
    let [a, b, c] = &workers;
    let doc = json!({"version": 1, "seed": 7, "workers": 2,
    "nodes": [
        {"id": "s", "kind": "source", "params": {"rate_per_s": 10, "count": count}},
        {"id": "r", "kind": "router"},
        {"id": "g", "kind": "supervisor", "params": group},
        worker("a", a), worker("b", b), worker("c", c),
    ],
    "edges": [
        {"id": "1", "from": "s.out", "to": "r.in"}, {"id": "2", "from": "r.out", "to": "a.in"},
        {"id": "3", "from": "r.out", "to": "b.in"}, {"id": "4", "from": "r.out", "to": "c.in"},
    ]});
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

fn restarts(run: &Run) -> [u64; 3] {
    ["a", "b", "c"].map(|node| look(run, node).restarts)
}

fn decisions(run: &Run) -> Vec<Decided> {
    let (events, _) = run.system().rare_events(0);
    let decided = |kind| match kind {
        EventKind::Decided(decided) => Some(*decided),
        _ => None,
    };
    events.into_iter().filter_map(|e| decided(e.kind)).collect()
}

fn fails(nth: u64) -> Value {
    json!({"failure": "nth", "nth": nth})
}

const WELL: fn() -> Value = || json!({});

#[test]
fn rest_for_one_restarts_the_failed_child_and_those_after_it() {
    for (strategy, expected) in
        [("one_for_one", [0, 1, 0]), ("rest_for_one", [0, 1, 1]), ("all_for_one", [1, 1, 1])]
    {
        let run = finish(&scenario(json!({"strategy": strategy}), [WELL(), fails(3), WELL()], 9));
        assert_eq!(restarts(&run), expected, "{strategy}");
    }
}

#[test]
fn the_first_rule_that_matches_decides() {
    let rules =
        json!([{"on": "code", "code": "task", "directive": "resume"}, {"on": "error", "directive": "stop"}]);
    let run = finish(&scenario(json!({"rules": rules}), [fails(1), WELL(), WELL()], 9));
    let made = decisions(&run);
    assert_eq!(made.len(), 3);
    assert!(made.iter().all(|d| d.decision.taken == Directive::Resume && d.decision.rule == Some(0)));
    assert!(made[0].why().contains("by rule 1"), "{}", made[0].why());
    let rules =
        json!([{"on": "code", "code": "other", "directive": "resume"}, {"on": "error", "directive": "stop"}]);
    let made = decisions(&finish(&scenario(json!({"rules": rules}), [fails(1), WELL(), WELL()], 9)));
    assert_eq!((made.len(), made[0].decision.rule, made[0].decision.taken), (1, Some(1), Directive::Stop));
}

#[test]
fn s1_windows_count_restarts_each_in_its_way() {
    // One failure each 300 ms; two restarts are allowed within 700 ms.
    let allowed = |window: &str, within: u64| {
        let group = json!({"max_restarts": 2, "within_ms": within, "window": window});
        restarts(&finish(&scenario(group, [fails(1), WELL(), WELL()], 90)))[0]
    };
    assert_eq!(allowed("sliding", 700), 2, "at the third failure both restarts are younger than 700 ms");
    assert_eq!(allowed("sliding", 600), 30, "the older one has just left the window");
    assert_eq!(allowed("tumbling", 700), 2);
    assert_eq!(allowed("tumbling", 600), 30, "each third failure opens a window");
    assert_eq!(allowed("gap", 600), 2, "there is no pause of more than 600 ms between two restarts");
    assert_eq!(allowed("gap", 299), 30);
}

#[test]
fn a_lifetime_ends_and_no_limit_takes_time() {
    let run =
        finish(&scenario(json!({"limit": "lifetime", "max_restarts": 4}), [fails(1), WELL(), WELL()], 90));
    assert_eq!(restarts(&run)[0], 4);
    let run = finish(&scenario(json!({"limit": "unlimited"}), [fails(1), WELL(), WELL()], 90));
    let made = decisions(&run);
    assert!(made.iter().all(|d| d.decision.taken == Directive::Restart && !d.decision.delay.delay.is_zero()));
}

#[test]
fn a_shared_budget_counts_all_children_and_exhausted_may_escalate() {
    let group = json!({"max_restarts": 3, "budget": "shared"});
    let run = finish(&scenario(group, [fails(1), fails(1), fails(1)], 9));
    assert_eq!(restarts(&run).iter().sum::<u64>(), 3);
    assert_eq!(decisions(&run).iter().filter(|d| d.decision.exhausted).count(), 3, "then each is stopped");
    let group = json!({"max_restarts": 1, "on_exhausted": "escalate"});
    let made = decisions(&finish(&scenario(group, [fails(1), WELL(), WELL()], 9)));
    assert!(made.iter().any(|d| d.decision.exhausted && d.decision.taken == Directive::Escalate));
}

#[test]
fn backoff_has_its_jitter_and_its_reset() {
    let group = |jitter: u64, reset: u64| {
        json!({"max_restarts": 100, "backoff_min_ms": 10, "backoff_max_ms": 80,
            "backoff_jitter_permille": jitter, "backoff_reset_ms": reset})
    };
    let delays = |group: Value| -> Vec<u128> {
        let made = decisions(&finish(&scenario(group, [fails(1), WELL(), WELL()], 15)));
        made.iter().map(|d| d.decision.delay.delay.as_millis()).collect()
    };
    assert_eq!(delays(group(0, 10_000)), [10, 20, 40, 80, 80]);
    assert_eq!(delays(group(0, 100)), [10; 5], "it ran for longer than 100 ms each time");
    assert_ne!(delays(group(1_000, 10_000)), [10, 20, 40, 80, 80]);
}

#[test]
fn s3_failing_starts_use_the_same_budget() {
    let starts = |n: u64| json!({"fail_starts": n});
    let run = finish(&scenario(json!({"max_restarts": 3}), [starts(3), starts(4), WELL()], 9));
    assert_eq!(look(&run, "a").state, NodeState::Actor(footlights::observe::ActorState::Running));
    assert_eq!(look(&run, "b").state, NodeState::Actor(footlights::observe::ActorState::Stopped));
    assert!(decisions(&run).iter().any(|d| d.why().contains("restart 4 with 3 allowed")));
}

#[test]
fn the_restart_type_says_which_ends_are_undone() {
    for (restart, after_stop, after_failure) in
        [("permanent", 3, 3), ("transient", 0, 3), ("temporary", 0, 0)]
    {
        let with = |more: Value| {
            let mut params = more;
            params["restart"] = json!(restart);
            restarts(&finish(&scenario(json!({}), [params, WELL(), WELL()], 9)))[0]
        };
        assert_eq!(with(json!({"stop_after": 1})), after_stop, "{restart}, stopping itself");
        assert_eq!(with(fails(1)), after_failure, "{restart}, failing");
    }
}

#[test]
fn what_does_not_fit_into_the_hold_is_dropped() {
    let group = json!({"backoff_min_ms": 1_000, "backoff_max_ms": 1_000, "backoff_jitter_permille": 0});
    let lost = |hold: u64| {
        let worker = json!({"failure": "nth", "nth": 1, "hold": hold});
        let run = finish(&scenario(group.clone(), [worker, WELL(), WELL()], 12));
        run.system().ledger().dropped
    };
    assert_eq!((lost(1_000), lost(1), lost(0)), (0, 2, 3));
}

#[test]
fn a_router_behind_a_router_gets_its_share_and_its_workers_are_watched() {
    let doc = json!({"version": 1, "seed": 7, "workers": 2,
    "nodes": [
        {"id": "m", "kind": "master", "params": {"tasks": 40, "pacing": "pending", "max_pending": 4}},
        {"id": "r", "kind": "router"}, {"id": "q", "kind": "router"},
        {"id": "g", "kind": "supervisor", "params": {"max_restarts": 0}},
        {"id": "a", "kind": "worker", "params": {"then": "reply"}},
        {"id": "b", "kind": "worker", "params": {"then": "reply"}},
        {"id": "c", "kind": "worker", "parent": "g", "params": {"then": "reply"}},
    ],
    "edges": [
        {"id": "1", "from": "m.out", "to": "r.in"}, {"id": "2", "from": "r.out", "to": "a.in"},
        {"id": "3", "from": "r.out", "to": "q.in"}, {"id": "4", "from": "q.out", "to": "b.in"},
        {"id": "5", "from": "q.out", "to": "c.in"},
    ]});
    let run = finish(&Scenario::parse(&doc.to_string()).unwrap_or_else(|e| panic!("{e:#?}")));
    assert_eq!(["a", "b", "c"].map(|node| look(&run, node).handled), [20, 10, 10]);
    assert_eq!(look(&run, "m").state, NodeState::Completed);
    assert_eq!((0..5).map(|edge| run.passed(edge)).collect::<Vec<_>>(), [40, 20, 20, 10, 10]);
    let mut failing = doc;
    failing["nodes"][6]["params"] = json!({"then": "reply", "failure": "nth", "nth": 3});
    let run = finish(&Scenario::parse(&failing.to_string()).unwrap_or_else(|e| panic!("{e:#?}")));
    assert_eq!(look(&run, "m").state, NodeState::Failed, "the master watches through both routers");
}
