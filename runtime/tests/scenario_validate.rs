//! Bad documents: each gives a message that names the place, and all faults come at once.

use footlights::scenario::document::{PortRef, Scenario};
use footlights::scenario::{DocError, can_connect, validate};

/// Reads and validates; gives all faults as text.
fn faults(text: &str) -> Vec<String> {
    let result = Scenario::parse(text).and_then(|s| validate(&s).map(|_| ()));
    result.err().unwrap_or_default().iter().map(DocError::to_string).collect()
}

fn doc(nodes: &str, edges: &str) -> String {
    format!(r#"{{"version":1,"seed":1,"workers":2,"nodes":[{nodes}],"edges":[{edges}]}}"#)
}

/// The only fault starts with `place` and goes on with `reason`.
#[track_caller]
fn check(text: &str, place: &str, reason: &str) {
    let got = faults(text);
    assert_eq!(got.len(), 1, "{got:#?}");
    assert!(got[0].starts_with(place), "{:?} does not name the place {place:?}", got[0]);
    assert!(got[0].contains(reason), "{:?} does not say {reason:?}", got[0]);
}

fn edge(from: &str, to: &str) -> String {
    format!(r#"{{"id":"e","from":"{from}","to":"{to}"}}"#)
}

const WORKER: &str = r#"{"id":"w","kind":"worker","params":{"then":"absorb"}}"#;

#[test]
fn an_empty_canvas_is_a_scenario() {
    assert!(faults(&doc("", "")).is_empty());
}

#[test]
fn unknown_kind() {
    check(
        &doc(r#"{"id":"x","kind":"wroker"}"#, ""),
        r#"node "x""#,
        "unknown kind \"wroker\"; did you mean worker?",
    );
}

#[test]
fn dangling_edge() {
    let text = doc(r#"{"id":"s","kind":"source"}"#, r#"{"id":"e1","from":"s.out","to":"gone.in"}"#);
    let got = faults(&text);
    assert!(got[0].starts_with(r#"edge "e1": it leads to the node "gone", which does not exist"#), "{got:?}");
    assert!(got[1].starts_with(r#"node "s", port "out": is not wired"#), "{got:?}");
}

#[test]
fn no_such_port() {
    let text = doc(&format!("{WORKER},{}", r#"{"id":"r","kind":"range"}"#), &edge("w.exit", "w.in"));
    let got = faults(&text);
    assert!(got[0].contains(r#""w" has no port "exit"; its ports are in, out"#), "{got:?}");
}

#[test]
fn duplicate_ids() {
    check(&doc(&format!("{WORKER},{WORKER}"), ""), r#"node "w""#, "two nodes have this id");
    let two = r#"{"id":"v","kind":"worker"},{"id":"u","kind":"worker"},"#;
    let edges = format!("{},{}", edge("v.out", "w.in"), edge("u.out", "w.in"));
    check(&doc(&format!("{two}{WORKER}"), &edges), r#"edge "e""#, "two edges have this id");
}

#[test]
fn bad_ids() {
    check(&doc(r#"{"id":"a b","kind":"collector"}"#, ""), r#"node "a b""#, "no proper id");
    check(&doc(r#"{"id":"","kind":"collector"}"#, ""), r#"node """#, "no proper id");
}

#[test]
fn bad_values() {
    let with = |value: &str| {
        doc(&format!(r#"{{"id":"w","kind":"worker","params":{{"then":"absorb",{value}}}}}"#), "")
    };
    let at = |key: &str| format!(r#"node "w", parameter "{key}""#);
    check(&with(r#""mean_ms":-3"#), &at("mean_ms"), "must be 0 or more, not -3");
    check(&with(r#""mean_ms":"NaN""#), &at("mean_ms"), "must be a number");
    check(&with(r#""mean_ms":"10""#), &at("mean_ms"), "not the text \"10\"");
    check(&with(r#""mean_ms":null"#), &at("mean_ms"), "not null");
    check(&with(r#""nth":0"#), &at("nth"), "must be 1 or more, not 0");
    check(&with(r#""nth":2.5"#), &at("nth"), "must be a whole number");
    check(&with(r#""percent":101"#), &at("percent"), "must be 100 or less");
    check(&with(r#""retry":"yes""#), &at("retry"), "must be true or false");
    check(&with(r#""service":"normal""#), &at("service"), "must be one of constant, uniform, exponential");
    check(&with(r#""mean":3"#), &at("mean"), "worker has no such parameter");
    check(&with(r#""nht":3"#), &at("nht"), "did you mean nth?");
}

#[test]
fn a_negative_rate_names_the_source() {
    let nodes = format!(r#"{{"id":"s","kind":"source","params":{{"rate_per_s":-1}}}},{WORKER}"#);
    check(&doc(&nodes, &edge("s.out", "w.in")), r#"node "s", parameter "rate_per_s""#, "or more, not -1");
}

#[test]
fn numbers_that_json_does_not_have() {
    check(&doc(r#"{"id":"w","kind":"worker","params":{"mean_ms":NaN}}"#, ""), "line 1 column", "is no JSON");
    check(
        &doc(r#"{"id":"w","kind":"worker","params":{"mean_ms":1e999}}"#, ""),
        "line 1 column",
        "out of range",
    );
}

#[test]
fn unwired_and_wired_twice() {
    check(&doc(r#"{"id":"m","kind":"worker"}"#, ""), r#"node "m", port "out""#, "is not wired");
    let nodes = format!(r#"{{"id":"s","kind":"source"}},{WORKER},{{"id":"c","kind":"collector"}}"#);
    let edges = r#"{"id":"a","from":"s.out","to":"w.in"},{"id":"b","from":"s.out","to":"c.in"}"#.to_string();
    check(
        &doc(&nodes, &edges),
        r#"node "s", port "out""#,
        "has 2 edges, one is allowed; put a router behind it",
    );
    let again = r#"{"id":"a","from":"s.out","to":"w.in"},{"id":"b","from":"s.out","to":"w.in"}"#.to_string();
    check(&doc(&nodes, &again), r#"edge "b""#, "s.out and w.in are already joined");
}

#[test]
fn ends_that_do_not_fit() {
    let nodes = format!(r#"{WORKER},{{"id":"v","kind":"worker","params":{{"then":"absorb"}}}}"#);
    check(
        &doc(&nodes, &edge("w.out", "v.out")),
        r#"edge "e", node "v", port "out""#,
        "both ends are outputs",
    );
    check(&doc(&nodes, &edge("w.in", "v.out")), r#"edge "e", node "v", port "out""#, "swap its ends");
    let got = faults(&doc(&format!(r#"{WORKER},{{"id":"i","kind":"ignore"}}"#), &edge("w.out", "i.in")));
    assert!(
        got[0].contains("messages cannot enter an input for stream elements: put a to_stream between"),
        "{got:?}"
    );
}

#[test]
fn parents() {
    let child = |parent: &str| format!(r#"{{"id":"c","kind":"collector","parent":"{parent}"}}"#);
    check(&doc(&child("s"), ""), r#"node "c""#, "its parent \"s\" does not exist");
    check(&doc(&format!("{WORKER},{}", child("w")), ""), r#"node "c""#, "is a worker, not a supervisor");
    let circle = r#"{"id":"a","kind":"supervisor","parent":"b"},{"id":"b","kind":"supervisor","parent":"a"}"#;
    assert_eq!(faults(&doc(circle, "")).len(), 2);
    check(&doc(r#"{"id":"a","kind":"supervisor","parent":"a"}"#, ""), r#"node "a""#, "its own ancestor");
    let nest = |i: usize| match i {
        0 => r#"{"id":"s0","kind":"supervisor"}"#.to_owned(),
        _ => format!(r#"{{"id":"s{i}","kind":"supervisor","parent":"s{}"}}"#, i - 1),
    };
    let deep = |n: usize| doc(&(0..n).map(nest).collect::<Vec<_>>().join(","), "");
    assert!(faults(&deep(65)).is_empty());
    check(&deep(66), r#"node "s65""#, "65 supervisors deep, 64 at most");
}

#[test]
fn streams_need_a_source_and_a_sink() {
    let range = r#"{"id":"r","kind":"range"},{"id":"m","kind":"map"}"#;
    check(&doc(range, &edge("r.out", "m.in")), r#"node "m", port "out""#, "is not wired");
    let map = r#"{"id":"m","kind":"map"},{"id":"i","kind":"ignore"}"#;
    check(&doc(map, &edge("m.out", "i.in")), r#"node "m", port "in""#, "is not wired");
    let circle = doc(r#"{"id":"m","kind":"map"}"#, &edge("m.out", "m.in"));
    check(&circle, r#"node "m""#, "its stream is a circle");
}

#[test]
fn routers_may_stand_behind_routers_but_not_in_a_circle() {
    let nodes = format!(r#"{WORKER},{{"id":"a","kind":"router"}},{{"id":"b","kind":"router"}}"#);
    let edges = r#"{"id":"1","from":"a.out","to":"b.in"},{"id":"2","from":"b.out","to":"w.in"}"#;
    assert_eq!(faults(&doc(&nodes, edges)), [""; 0]);
    let got = faults(&doc(&nodes, &format!(r#"{edges},{{"id":"3","from":"b.out","to":"a.in"}}"#)));
    assert_eq!(got.len(), 2, "{got:?}");
    assert!(got[0].starts_with(r#"node "a": it is behind itself: its routers form a circle"#), "{got:?}");
}

#[test]
fn wrong_rows_of_a_list_are_named() {
    let with =
        |rules: &str| doc(&format!(r#"{{"id":"g","kind":"supervisor","params":{{"rules":{rules}}}}}"#), "");
    let place = r#"node "g", parameter "rules""#;
    check(&with(r#""all""#), place, "must be a list of rows, not the text \"all\"");
    check(&with(r#"[{"on":"error"},7]"#), place, "row 2: must be an object, not 7");
    check(&with(r#"[{"on":"teapot"}]"#), place, "row 1: on must be one of error, start");
    check(&with(r#"[{"on":"code","code":7}]"#), place, "row 1: code must be a text, not 7");
    check(
        &with(r#"[{"do":"stop"}]"#),
        place,
        r#"row 1: there is no column "do"; there are on, code, directive"#,
    );
    check(&with(&format!("[{}]", ["{}"; 17].join(","))), place, "must have at most 16 rows, not 17");
    assert_eq!(faults(&with(r#"[{},{"on":"code","code":"task","directive":"resume"}]"#)), [""; 0]);
}

#[test]
fn dispatchers_have_names_of_their_own_and_nodes_name_one_that_exists() {
    let with = |rows: &str, node: &str| {
        format!(r#"{{"version":1,"seed":1,"workers":1,"dispatchers":{rows},"nodes":[{node}],"edges":[]}}"#)
    };
    let place = r#"setting "dispatchers""#;
    check(&with("{}", ""), place, "expected a sequence");
    check(&with(r#"[{"name":"a","workers":0}]"#, ""), place, "row 1: workers must be 1 or more, not 0");
    check(&with(r#"[{"name":"a b"}]"#, ""), place, "row 1: name must be a name of 1 to 64");
    check(&with(r#"[{"name":"a"},{"name":"a"}]"#, ""), place, "row 2: two dispatchers are called \"a\"");
    check(&with(r#"[{"name":"default"}]"#, ""), place, "row 1: \"default\" is the system's own");
    check(
        &with(r#"[{"name":"pinned"}]"#, ""),
        place,
        "row 1: \"pinned\" is built in: its kind cannot be pool",
    );
    check(&with(r#"[{"name":"a","colour":1}]"#, ""), place, "there is no column \"colour\"");
    let node = |kind: &str, name: &str| format!(r#"{{"id":"n","kind":"{kind}","dispatcher":"{name}"}}"#);
    let at = r#"node "n", parameter "dispatcher""#;
    check(&with("[]", &node("collector", "a")), at, "there is no dispatcher \"a\"");
    check(
        &with(r#"[{"name":"a"}]"#, r#"{"id":"n","kind":"collector","dispatcher":3}"#),
        at,
        "expected a string",
    );
    assert_eq!(faults(&with(r#"[{"name":"a"}]"#, &node("collector", "a"))), [""; 0]);
    assert_eq!(faults(&with("[]", &node("collector", "blocking"))), [""; 0]);
    let got = faults(&with(r#"[{"name":"a"}]"#, &node("range", "a")));
    assert!(got[0].contains("a range has no dispatcher of its own"), "{got:?}");
}

#[test]
fn supervision_is_bounded() {
    let with = |value: &str| doc(&format!(r#"{{"id":"g","kind":"supervisor","params":{{{value}}}}}"#), "");
    let at = |key: &str| format!(r#"node "g", parameter "{key}""#);
    check(&with(r#""strategy":"some""#), &at("strategy"), "one of one_for_one, all_for_one, rest_for_one");
    check(&with(r#""window":"open""#), &at("window"), "must be one of sliding, tumbling, gap");
    check(&with(r#""limit":"none""#), &at("limit"), "must be one of within, lifetime, unlimited");
    check(&with(r#""budget":3"#), &at("budget"), "must be one of per_child, shared, not 3");
    check(&with(r#""on_exhausted":"die""#), &at("on_exhausted"), "must be one of stop, escalate");
    check(&with(r#""backoff_jitter_permille":1001"#), &at("backoff_jitter_permille"), "must be 1000 or less");
    check(&with(r#""backoff_reset_ms":-1"#), &at("backoff_reset_ms"), "must be 0 or more");
    check(&with(r#""restart":"ever""#), &at("restart"), "must be one of permanent, transient, temporary");
    check(&with(r#""hold":1000001"#), &at("hold"), "must be 1000000 or less");
    check(
        &with(r#""backoff_min_ms":20,"backoff_max_ms":10"#),
        &at("backoff_min_ms"),
        "must not be more than backoff_max_ms",
    );
}

#[test]
fn settings_are_bounded() {
    let with = |key: &str, value: &str| {
        format!(r#"{{"version":1,"seed":1,"workers":2,"nodes":[],"edges":[],"{key}":{value}}}"#)
    };
    let of = |workers: u32| format!(r#"{{"version":1,"seed":1,"workers":{workers},"nodes":[],"edges":[]}}"#);
    check(&of(0), r#"setting "workers""#, "must be 1 to 64, not 0");
    check(&of(65), r#"setting "workers""#, "must be 1 to 64, not 65");
    check(&with("throughput", "0"), r#"setting "throughput""#, "must be 1 to 1000000");
    check(&with("batch", "257"), r#"setting "batch""#, "must be 1 to 256");
    check(&with("name", &format!("{:?}", "x".repeat(2_001))), r#"setting "name""#, "2001 characters");
    check(&with("settings", "[]"), r#"setting "settings""#, "expected a map");
    check(&with("settings", r#"{"seeded_order":1}"#), r#"setting "seeded_order""#, "must be true or false");
    check(&with("settings", r#"{"colour":1}"#), r#"setting "colour""#, "the system has no such parameter");
    check(&with("colour", "3"), r#"setting "colour""#, "unknown field `colour`");
    check(r#"{"version":1,"seed":-1,"workers":1,"nodes":[],"edges":[]}"#, r#"setting "seed""#, "-1");
    let text = doc(r#"{"id":"w","kind":"collector","x":"left"}"#, "");
    check(&text, r#"node "w", parameter "x""#, "expected i32");
    check(
        &doc(WORKER, r#"{"id":"e","from":"w","to":"w.in"}"#),
        r#"edge "e", field "from""#,
        "write node.port",
    );
}

#[test]
fn newer_and_foreign_texts() {
    check(
        r#"{"version":2,"shiny":true}"#,
        r#"setting "version""#,
        "newer Footlights: version 2, this one reads 1",
    );
    check(r#"{"seed":1}"#, r#"setting "version""#, "is missing");
    check("[1,2]", "document", "is no JSON object");
    check("", "line", "ends too early");
    check("<html>", "line 1 column 1", "is no JSON");
}

#[test]
fn a_truncated_file_says_so_wherever_it_was_cut() {
    let whole = doc(&format!("{WORKER},{}", r#"{"id":"s","kind":"source"}"#), &edge("s.out", "w.in"));
    for cut in 1..whole.len() {
        check(&whole[..cut], "line 1 column", "ends too early");
    }
}

#[test]
fn a_file_of_ten_megabytes_is_refused_unread() {
    check(&" ".repeat(10_000_000), "document", "has 10000000 bytes, 2000000 at most are read");
}

#[test]
fn caps_on_nodes_edges_labels_and_faults() {
    let many = |n: usize| {
        (0..n).map(|i| format!(r#"{{"id":"n{i}","kind":"collector"}}"#)).collect::<Vec<_>>().join(",")
    };
    assert!(faults(&doc(&many(5_000), "")).is_empty());
    check(&doc(&many(5_001), ""), r#"setting "nodes""#, "5001 entries, 5000 at most");
    let label = format!(r#"{{"id":"c","kind":"collector","label":{:?}}}"#, "é".repeat(2_001));
    check(&doc(&label, ""), r#"node "c""#, "label has 2001 characters");
    let bad: Vec<_> = (0..500).map(|i| format!(r#"{{"id":"n{i}","kind":"x"}}"#)).collect();
    let got = faults(&doc(&bad.join(","), ""));
    assert_eq!(got.len(), 100);
    assert!(got[99].contains("401 more faults"), "{}", got[99]);
}

#[test]
fn all_faults_come_at_once() {
    let nodes = r#"{"id":"a","kind":"teapot"},{"id":"b","kind":"source","params":{"burst":0,"count":-1}},{"kind":"map"}"#;
    let text = doc(nodes, &edge("b.out", "z.in"));
    assert_eq!(
        faults(&text).len(),
        1,
        "a node without an id is a fault of shape, found before the meaning is checked"
    );
    let text = text.replace(r#",{"kind":"map"}"#, "");
    assert_eq!(faults(&text).len(), 5, "{:#?}", faults(&text));
}

#[test]
fn unknown_kinds_survive_a_round_trip() {
    let text = doc(r#"{"id":"a","kind":"teapot","params":{"lid":[1,{"x":null}]}}"#, "");
    let read = Scenario::parse(&text).expect("shape is right");
    assert_eq!(Scenario::parse(&read.to_text()).expect("what was written can be read"), read);
    assert_eq!(read.nodes[0].params["lid"][1]["x"], serde_json::Value::Null);
}

#[test]
fn dragging_gives_the_reason() {
    let nodes = format!(
        r#"{WORKER},{{"id":"s","kind":"source"}},{{"id":"c","kind":"collector"}},{{"id":"r","kind":"router"}},
        {{"id":"q","kind":"router"}},{{"id":"m","kind":"map"}},{{"id":"n","kind":"map"}},{{"id":"t","kind":"teapot"}}"#
    );
    let edges = r#"{"id":"1","from":"s.out","to":"w.in"},{"id":"2","from":"r.out","to":"w.in"},
        {"id":"3","from":"m.out","to":"n.in"}"#;
    let doc = Scenario::parse(&doc(&nodes, edges)).expect("shape is right");
    let port = |text: &str| PortRef::try_from(text.to_owned()).expect("a port");
    let verdict = |from: &str, to: &str| can_connect(&doc, &port(from), &port(to));
    assert_eq!(verdict("w.out", "c.in"), Ok(()));
    assert_eq!(verdict("w.out", "w.in"), Ok(()), "an actor may send to itself");
    for (from, to, reason) in [
        ("s.out", "c.in", "put a router behind it"),
        ("s.out", "w.in", "already joined"),
        ("q.out", "q.in", "circle of routers"),
        ("n.out", "m.in", "circle in the stream"),
        ("n.out", "n.in", "already wired"),
        ("w.out", "m.in", "put a to_stream between"),
        ("n.out", "w.in", "put a to_actor between"),
        ("w.in", "s.out", "swap its ends"),
        ("w.out", "t.in", "unknown"),
        ("w.out", "x.in", "no node"),
        ("w.up", "c.in", "no port"),
    ] {
        let why = verdict(from, to).expect_err(to);
        assert!(why.contains(reason), "{from} → {to}: {why}");
    }
}
