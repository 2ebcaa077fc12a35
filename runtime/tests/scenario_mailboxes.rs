//! Mailboxes as a document says them: six ways to be full, three orders, two ways to keep one of two.

use footlights::observe::{DropReason, EventKind};
use footlights::scenario::document::Scenario;
use footlights::scenario::{NodeSnapshot, On, Run, validate};
use serde_json::{Map, Value, json};

/// A burst of 40 messages and a worker that takes 10 ms for each.
fn scenario(source: Value, worker: Value) -> Scenario {
    let with = |base: Value, more: Value| -> Map<String, Value> {
        let mut all = base.as_object().expect("an object").clone();
        all.extend(more.as_object().expect("an object").clone());
        all
    };
    let burst = json!({"pattern": "burst", "burst": 40, "interval_ms": 60_000, "count": 40});
    let doc = json!({"version": 1, "seed": 7, "workers": 2,
        "nodes": [
            {"id": "s", "kind": "source", "params": with(burst, source)},
            {"id": "g", "kind": "supervisor"},
            {"id": "w", "kind": "worker", "parent": "g", "params": with(json!({"mean_ms": 10}), worker)},
            {"id": "c", "kind": "collector"},
        ],
        "edges": [{"id": "1", "from": "s.out", "to": "w.in"}, {"id": "2", "from": "w.out", "to": "c.in"}]});
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

fn dropped(run: &Run, reason: DropReason) -> usize {
    let (events, _) = run.system().rare_events(0);
    events.iter().filter(|e| matches!(e.kind, EventKind::Dropped { reason: r, .. } if r == reason)).count()
}

#[test]
fn six_ways_to_be_full() {
    let of = |overflow: &str| {
        finish(&scenario(json!({}), json!({"mailbox": 5, "overflow": overflow, "patience_ms": 4})))
    };
    assert_eq!(tally(&of("backpressure"), "c", "collected"), 40);
    let run = of("timeout");
    assert!(dropped(&run, DropReason::Timeout) > 0, "{:?}", look(&run, "w"));
    let run = of("drop_new");
    assert_eq!(tally(&run, "c", "collected") + dropped(&run, DropReason::MailboxFull) as u64, 40);
    let run = of("drop_oldest");
    assert_eq!(tally(&run, "c", "collected") + dropped(&run, DropReason::Evicted) as u64, 40);
    assert!(tally(&of("reject_to_sender"), "s", "rejected") > 20);
    let run = of("fail_receiver");
    let (events, _) = run.system().rare_events(0);
    let overflow = |e: &&footlights::observe::Event| {
        matches!(&e.kind, EventKind::Failed { kind: footlights::supervise::FailureKind::Overflow, .. })
    };
    assert_eq!(events.iter().filter(overflow).count(), 1, "it fails once until it is below half");
    assert_eq!(look(&run, "w").restarts, 1);
}

/// The values in the order in which the worker served them, by what it failed on.
fn order(source: Value, worker: Value) -> Vec<u64> {
    let mut all = worker;
    all["failure"] = json!("nth");
    all["nth"] = json!(1);
    let mut doc = scenario(source, all);
    doc.nodes[1].params.insert("directive".into(), json!("resume"));
    let run = finish(&doc);
    let (events, _) = run.system().rare_events(0);
    let id = |text: &str| text.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("task N failed");
    events
        .iter()
        .filter_map(|e| if let EventKind::Failed { text, .. } = &e.kind { Some(id(text)) } else { None })
        .collect()
}

#[test]
fn m3_urgent_messages_come_first_and_equals_keep_their_order() {
    let fifo = order(json!({}), json!({}));
    assert_eq!(fifo, (0..40).collect::<Vec<_>>());
    for kind in ["priority", "control"] {
        let got = order(json!({"urgent_every": 10}), json!({"order": kind}));
        let late: Vec<u64> = got.iter().copied().filter(|n| n % 10 != 9).collect();
        assert!(late.is_sorted(), "{kind}: {got:?}");
        assert!(got[..6].contains(&39), "{kind}: the last urgent one is among the first: {got:?}");
    }
}

#[test]
fn of_two_about_the_same_thing_one_is_kept() {
    for (dedup, expected) in [("keep_all", 40), ("keep_first", 4), ("keep_last", 4)] {
        let run = finish(&scenario(json!({"keys": 4}), json!({"dedup": dedup})));
        let collected = tally(&run, "c", "collected");
        assert!((expected..=expected + 1).contains(&collected), "{dedup}: {collected}");
        assert_eq!(collected + dropped(&run, DropReason::Duplicate) as u64, 40, "{dedup}");
    }
}
