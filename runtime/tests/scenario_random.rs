//! Random documents: whatever can be drawn is refused with a place or runs, balanced after every turn, the same each time.
//!
//! A failure names its seed; `FOOTLIGHTS_SEEDS` sets how many are tried.

use std::collections::BTreeMap;

use footlights::rng::Rng;
use footlights::scenario::document::{Edge, Node, PortRef, Scenario};
use footlights::scenario::schema::{self, Carries, Direction, Family, Kind, Param, ParamType};
use footlights::scenario::{Breakage, On, Run, can_connect, validate};
use footlights::time::Instant;
use serde_json::{Value, json};

const SEEDS: u64 = 40;
const TURNS: u64 = 1_500;

fn seeds() -> u64 {
    std::env::var("FOOTLIGHTS_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(SEEDS)
}

fn pick<'a, T>(rng: &mut Rng, list: &'a [T]) -> &'a T {
    &list[rng.below(list.len() as u64) as usize]
}

/// A value that the schema allows, mostly from the range of the slider.
fn value(rng: &mut Rng, param: &Param) -> Value {
    let within = |rng: &mut Rng, min: f64, max: f64| {
        let (low, high) = param.usual.unwrap_or((min, max.min(min.max(0.0) + 100.0)));
        low + (high - low) * (rng.below(1_001) as f64 / 1_000.0)
    };
    match param.ty {
        ParamType::Int { min, max } => {
            json!((within(rng, min as f64, max as f64) as i64).clamp(min, max))
        }
        ParamType::Num { min, max } | ParamType::Millis { min, max } => {
            json!(within(rng, min, max).clamp(min, max))
        }
        ParamType::Choice(list) => json!(pick(rng, list).value),
        ParamType::Bool => json!(rng.below(2) == 1),
        ParamType::Text { .. } => json!("text"),
        ParamType::Name => json!(pick(rng, &["a", "b", "c"])),
        ParamType::List { columns, .. } => (0..rng.below(3)).map(|_| row(rng, columns)).collect(),
    }
}

/// A row of a list with some of its columns.
fn row(rng: &mut Rng, columns: &[Param]) -> Value {
    let mut cells = serde_json::Map::new();
    for column in columns {
        if rng.below(3) > 0 {
            cells.insert(column.key.to_owned(), value(rng, column));
        }
    }
    Value::Object(cells)
}

/// Some dispatchers with different names.
fn dispatchers(rng: &mut Rng) -> Vec<BTreeMap<String, Value>> {
    let mut rows = Vec::new();
    for (name, kind) in [("front", "pool"), ("own", "pinned"), ("blocking", "blocking")] {
        if rng.below(2) == 0 {
            let workers = 1 + rng.below(3);
            let row =
                json!({"name": name, "kind": kind, "workers": workers, "throughput": pick(rng, &[1, 5, 64])});
            rows.push(row.as_object().expect("an object").clone().into_iter().collect());
        }
    }
    rows
}

/// Names of the dispatchers that a node may have.
fn names(scenario: &Scenario) -> Vec<String> {
    let rows = scenario.dispatchers.iter().filter_map(|row| row["name"].as_str().map(str::to_owned));
    rows.chain(["blocking".to_owned(), "pinned".to_owned()]).collect()
}

fn node(rng: &mut Rng, index: usize, kind: &'static Kind, groups: &[String], dispatchers: &[String]) -> Node {
    let mut params = BTreeMap::new();
    for param in kind.params {
        if rng.below(3) == 0 {
            params.insert(param.key.to_owned(), value(rng, param));
        }
    }
    if kind.name == "master" {
        params.insert("tasks".into(), json!(1 + rng.below(400)));
    }
    let takes_parent = kind.may_have_parent() && !groups.is_empty() && rng.below(2) == 0;
    let parent = takes_parent.then(|| pick(rng, groups).clone());
    let dispatcher =
        (kind.may_have_dispatcher() && rng.below(3) == 0).then(|| pick(rng, dispatchers).clone());
    let (id, label) = (format!("n{index}"), String::new());
    Node { id, kind: kind.name.into(), label, parent, dispatcher, x: 0, y: 0, params }
}

/// Draws a document as a person would: places nodes, then wires what may be wired.
fn document(seed: u64) -> Scenario {
    let mut rng = Rng::new(seed);
    let kinds: Vec<&'static Kind> = schema::kinds().collect();
    let mut scenario = Scenario {
        version: 1,
        name: String::new(),
        about: String::new(),
        seed,
        workers: 1 + rng.below(4) as u16,
        throughput: *pick(&mut rng, &[1, 5, 64]),
        batch: *pick(&mut rng, &[1, 16, 256]),
        settings: BTreeMap::from([
            ("seeded_order".to_owned(), json!(rng.below(2) == 1)),
            ("message_ns".to_owned(), json!(rng.below(2) * 480)),
            ("activation_ns".to_owned(), json!(rng.below(2) * 9_600)),
        ]),
        dispatchers: dispatchers(&mut rng),
        nodes: Vec::new(),
        edges: Vec::new(),
    };
    let mut groups = Vec::new();
    let crews = names(&scenario);
    for index in 0..4 + rng.below(14) as usize {
        let kind = *pick(&mut rng, &kinds);
        let node = node(&mut rng, index, kind, &groups, &crews);
        if schema::kind(&node.kind).is_some_and(|k| k.family == Family::Group) {
            groups.push(node.id.clone());
        }
        scenario.nodes.push(node);
    }
    wire(&mut rng, &mut scenario);
    scenario
}

fn ports(scenario: &Scenario, direction: Direction) -> Vec<(PortRef, Carries)> {
    let of = |n: &Node| {
        let kind = schema::kind(&n.kind).expect("a kind of the schema");
        let ports = kind.ports.iter().filter(move |p| p.direction == direction);
        ports.map(|p| (PortRef::new(&n.id, p.name), p.carries)).collect::<Vec<_>>()
    };
    scenario.nodes.iter().flat_map(of).collect()
}

fn wire(rng: &mut Rng, scenario: &mut Scenario) {
    let (from, to) = (ports(scenario, Direction::Out), ports(scenario, Direction::In));
    if from.is_empty() || to.is_empty() {
        return;
    }
    for _ in 0..6 * scenario.nodes.len() {
        let ((a, _), (b, _)) = (pick(rng, &from), pick(rng, &to));
        if can_connect(scenario, a, b).is_ok() {
            let id = format!("e{}", scenario.edges.len());
            scenario.edges.push(Edge { id, from: a.clone(), to: b.clone() });
        }
    }
}

/// Wires what validation names as unwired, and takes away what else it names, until it is content.
fn mend(seed: u64, mut scenario: Scenario) -> Scenario {
    loop {
        let Err(errors) = validate(&scenario) else { return scenario };
        let fault = &errors[0];
        assert!(!fault.reason.is_empty(), "seed {seed}");
        let node = fault.place.node.as_deref().unwrap_or_else(|| panic!("seed {seed}: no place in {fault}"));
        match (fault.place.param.as_deref(), fault.place.port.as_deref()) {
            (Some(key), _) => {
                let node = scenario.nodes.iter_mut().find(|n| n.id == node).expect("it exists");
                assert!(node.params.remove(key).is_some(), "seed {seed}: {fault}");
            }
            (None, Some(port)) => add_neighbour(&mut scenario, node, port),
            (None, None) => {
                scenario.edges.retain(|e| e.from.node != node && e.to.node != node);
                scenario.nodes.retain(|n| n.id != node);
            }
        }
    }
}

/// Puts a simple node to an unwired port.
fn add_neighbour(scenario: &mut Scenario, node: &str, port: &str) {
    let drawn = scenario.nodes.iter().find(|n| n.id == node).expect("it exists");
    let wanted = schema::kind(&drawn.kind).and_then(|k| k.port(port)).expect("a port of the schema");
    let number = scenario.nodes.len() + scenario.edges.len();
    let (id, here) = (format!("x{number}"), PortRef::new(node, port));
    let (kind, from, to) = match (wanted.direction, wanted.carries) {
        (Direction::Out, Carries::Message) => ("collector", here, PortRef::new(&id, "in")),
        (Direction::Out, Carries::Stream) => ("ignore", here, PortRef::new(&id, "in")),
        (Direction::In, Carries::Stream) => ("tick", PortRef::new(&id, "out"), here),
        (Direction::In, Carries::Message) => panic!("inputs for messages may stay open"),
    };
    let (label, params) = (String::new(), BTreeMap::new());
    let (parent, dispatcher) = (None, None);
    scenario.nodes.push(Node { id, kind: kind.into(), label, parent, dispatcher, x: 0, y: 0, params });
    scenario.edges.push(Edge { id: format!("y{number}"), from, to });
}

fn change(rng: &mut Rng, run: &Run, may_set: fn(&Param) -> bool) {
    let node = &run.nodes()[rng.below(run.nodes().len() as u64) as usize];
    let kind = schema::kind(node.kind).expect("a kind of the schema");
    // What is refused changes nothing; both answers are fine here.
    let _ = match rng.below(4) {
        0 => run.inject(&node.id, rng.below(10)),
        1 => run.break_node(&node.id, Breakage::FailNext),
        2 if rng.below(4) == 0 => run.break_node(&node.id, Breakage::Stop),
        _ if kind.params.is_empty() => Ok(()),
        _ => {
            let param = pick(rng, kind.params);
            let value = value(rng, param);
            if may_set(param) { run.set(&node.id, param.key, &value) } else { Ok(()) }
        }
    };
}

/// Runs with changes on the way; gives what must be the same each time.
fn run(seed: u64, scenario: &Scenario) -> (u64, u64, Instant) {
    let plan = validate(scenario).unwrap_or_else(|e| panic!("seed {seed}: {e:#?}"));
    let run = Run::start(plan, On::Stepper).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let mut rng = Rng::new(seed).split(1);
    while run.turn() < TURNS && run.system().step().is_some() {
        if !run.nodes().is_empty() && rng.below(50) == 0 {
            change(&mut rng, &run, |_| true);
        }
        let ledger = run.system().ledger();
        assert!(ledger.balanced(), "seed {seed}, turn {}: {ledger:?}", run.turn());
    }
    let view = run.view();
    for (i, meta) in run.nodes().iter().enumerate() {
        let seen = view.node(i).unwrap_or_else(|| panic!("seed {seed}: no view of {}", meta.id));
        let is_bounded = matches!(meta.kind, "buffer" | "async_boundary" | "map_async");
        assert!(
            !is_bounded || seen.queued <= seen.capacity.unwrap_or(u64::MAX),
            "seed {seed}: {} {seen:?}",
            meta.id
        );
    }
    (run.turn(), run.system().log_hash(), run.system().now())
}

#[test]
fn whatever_can_be_drawn_runs_balanced_and_the_same_each_time() {
    let mut ran = 0;
    for seed in 0..seeds() {
        let scenario = mend(seed, document(seed));
        let first = run(seed, &scenario);
        assert_eq!(first, run(seed, &scenario), "seed {seed}: a run that differs from itself");
        ran += u64::from(first.0 > 50);
        let text = scenario.to_text();
        assert_eq!(
            Scenario::parse(&text).as_ref(),
            Ok(&scenario),
            "seed {seed}: a round trip that loses something"
        );
    }
    assert!(ran * 3 > seeds() * 2, "only {ran} documents did something");
}

#[test]
fn a_damaged_document_is_refused_or_read_never_a_panic() {
    for seed in 0..seeds() {
        let text = mend(seed, document(seed)).to_text();
        let mut rng = Rng::new(seed).split(2);
        for _ in 0..20 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..=rng.below(3) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = *pick(&mut rng, b"0123456789{}[]\",:-e.truefals\\ nx");
            }
            let damaged = String::from_utf8_lossy(&bytes);
            let Err(errors) = Scenario::parse(&damaged).and_then(|s| validate(&s).map(|_| ())) else {
                continue;
            };
            assert!(errors.iter().all(|e| !e.to_string().is_empty()), "seed {seed}");
        }
    }
}

/// Makes every handling short, so that a Pool can be stopped soon.
fn hurry(mut scenario: Scenario) -> Scenario {
    let slow = ["mean_ms", "work_ms", "block_ms"];
    for node in &mut scenario.nodes {
        let kind = schema::kind(&node.kind).expect("a kind of the schema");
        for key in slow.iter().filter(|key| kind.param(key).is_some()) {
            node.params.insert((*key).to_owned(), json!(0.05));
        }
    }
    scenario
}

#[test]
fn whatever_can_be_drawn_runs_on_a_pool_and_balances_in_the_end() {
    for seed in 0..seeds().min(20) {
        let plan =
            validate(&hurry(mend(seed, document(seed)))).unwrap_or_else(|e| panic!("seed {seed}: {e:#?}"));
        let run = Run::start(plan, On::Pool).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let mut rng = Rng::new(seed).split(1);
        for _ in 0..if run.nodes().is_empty() { 0 } else { 100 } {
            change(&mut rng, &run, |param| param.unit != "ms");
            std::thread::yield_now();
        }
        let ended = run.system().shutdown(std::time::Duration::from_secs(60));
        assert!(ended.is_ok(), "seed {seed}: {ended:?}");
        let ledger = run.system().ledger();
        assert!(ledger.balanced() && ledger.queued == 0, "seed {seed}: {ledger:?}");
    }
}
