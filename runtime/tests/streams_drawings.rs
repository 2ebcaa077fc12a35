//! Drawn graphs: what is wrong with one is said at once; and random graphs are their list models, fused, with a boundary
//! on each wire, and in an order drawn by chance.

use footlights::rng::Rng;
use footlights::stream::{
    Built, DrawError, Drawing, LocalRun, Params, Results, StreamError, StreamSnapshot, Value,
};

fn set(pairs: &[(&str, Value)]) -> Params {
    pairs.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect()
}

fn none() -> Params {
    Params::new()
}

fn range(start: i64, count: i64) -> Params {
    set(&[("start", Value::from(start)), ("count", Value::from(count))])
}

#[test]
fn everything_that_is_wrong_with_a_drawing_is_said_at_once() {
    let named = |name: &str| -> std::sync::Arc<str> { name.into() };
    let (inp, out) = ("in", "out");
    assert_eq!(Drawing::new().check(), [DrawError::NoSource]);
    let astray = Drawing::new().op("a", "range", none()).wire("a", "nobody");
    assert_eq!(astray.check(), [DrawError::NoSuchNode { node: named("nobody") }]);
    let loose = Drawing::new().op("a", "range", none()).op("m", "merge", none()).op("s", "ignore", none());
    let unconnected = |node: &str, port| DrawError::Unconnected { node: named(node), port };
    assert_eq!(
        loose.check(),
        [unconnected("a", out), unconnected("m", inp), unconnected("m", out), unconnected("s", inp)]
    );
    let twice = Drawing::new()
        .op("a", "range", none())
        .op("s", "ignore", none())
        .op("t", "ignore", none())
        .wire("a", "s")
        .wire("a", "t");
    assert_eq!(twice.check(), [DrawError::WiredTwice { node: named("a"), port: out }]);
    let backwards = Drawing::new().op("a", "range", none()).op("s", "ignore", none()).wire("s", "a");
    let no_port = |node: &str, port| DrawError::NoSuchPort { node: named(node), port };
    assert_eq!(
        backwards.check(),
        [no_port("a", inp), unconnected("a", out), unconnected("s", inp), no_port("s", out)]
    );
    let circle = Drawing::new().op("m", "map", none()).op("n", "map", none()).wire("m", "n").wire("n", "m");
    let in_circle = |node: &str| DrawError::Circle { node: named(node) };
    assert_eq!(circle.check(), [in_circle("m"), in_circle("n")]);
    let many = (0..513)
        .fold(Drawing::new().op("m", "merge", none()).op("s", "ignore", none()), |drawing, i| {
            drawing.op(&format!("a{i}"), "range", none()).wire(&format!("a{i}"), "m")
        });
    assert_eq!(many.wire("m", "s").check(), [DrawError::TooLarge]);
    assert_eq!(in_circle("m").to_string(), "m: it stands in a circle that nothing enters");
    assert!(circle.build(1).is_err());
}

fn check(snapshot: &StreamSnapshot) {
    for stage in &snapshot.stages {
        assert!(stage.counts.balanced(), "{}: {:?}", stage.name, stage.counts);
    }
    for edge in &snapshot.edges {
        assert!(edge.high_water <= edge.capacity, "{edge:?} held more than it may");
        assert_eq!(edge.pushed, edge.taken + edge.fill + edge.dropped, "{edge:?}");
    }
}

fn run(built: Built, workers: usize, budget: usize) {
    let mut run = LocalRun::new(built, workers).budget(budget);
    let mut steps = 0u64;
    while run.step() {
        steps += 1;
        assert!(steps < 1_000_000, "it does not come to rest");
        if steps.is_multiple_of(7) {
            check(&run.snapshot());
        }
    }
    check(&run.snapshot());
    assert_eq!(run.pending(), 0, "timers or requests are left");
}

/// What an open end of a random graph will emit.
#[derive(Clone)]
struct End {
    node: String,
    elements: Vec<i64>,
    /// They come in this order; else in any.
    ordered: bool,
    /// A source that it hangs on.
    root: usize,
}

/// A random graph under construction.
struct Random {
    rng: Rng,
    drawing: Drawing,
    open: Vec<End>,
    /// Per source, one that it was joined with: those that hang together have one end of this walk.
    joined: Vec<usize>,
    nodes: usize,
    /// Puts a boundary on each wire.
    cut: bool,
    /// Requests fail now and then.
    failing: bool,
}

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.rng.below(n as u64) as usize
    }

    fn name(&mut self, kind: &str) -> String {
        self.nodes += 1;
        format!("{kind}{}", self.nodes)
    }

    fn add(&mut self, name: &str, kind: &str, params: Params) {
        self.drawing = std::mem::take(&mut self.drawing).op(name, kind, params);
    }

    fn wire(&mut self, from: &str, to: &str) {
        let drawing = std::mem::take(&mut self.drawing);
        self.drawing = if self.cut {
            let cut = self.name("cut");
            let capacity = 1 + self.nodes as i64 % 5;
            let boundary = set(&[("capacity", Value::from(capacity))]);
            drawing.op(&cut, "async_boundary", boundary).wire(from, &cut).wire(&cut, to)
        } else {
            drawing.wire(from, to)
        };
    }

    fn root(&self, source: usize) -> usize {
        let mut at = source;
        while self.joined[at] != at {
            at = self.joined[at];
        }
        at
    }

    fn take_end(&mut self) -> End {
        let at = self.below(self.open.len());
        self.open.swap_remove(at)
    }

    /// Puts a linear stage behind an open end.
    fn stage(&mut self) {
        let end = self.take_end();
        let elements = end.elements.clone();
        let (kind, params, elements) = match self.below(6) {
            0 => {
                let add = set(&[("op", Value::from("add")), ("operand", Value::from(3))]);
                ("map", add, elements.iter().map(|x| x + 3).collect())
            }
            1 => ("filter", none(), elements.into_iter().filter(|x| x % 2 == 0).collect()),
            2 => {
                let size = set(&[("size", Value::from(1 + self.below(4) as i64))]);
                ("buffer", size, elements)
            }
            3 if end.ordered => {
                let n = self.below(elements.len() + 2);
                ("take", set(&[("n", Value::from(n as i64))]), elements.into_iter().take(n).collect())
            }
            4 => {
                let off = set(&[("enabled", Value::from(self.below(2) == 0))]);
                ("async_boundary", off, elements)
            }
            _ => {
                let (p, mean) = (1 + self.below(3) as i64, self.below(3) as f64);
                let fails = if self.failing { 1 + self.below(8) as i64 } else { 0 };
                let request = set(&[
                    ("parallelism", Value::from(p)),
                    ("mean_ms", Value::from(mean)),
                    ("fail_every", Value::from(fails)),
                ]);
                ("map_async", request, elements)
            }
        };
        let name = self.name(kind);
        self.add(&name, kind, params);
        self.wire(&end.node, &name);
        self.open.push(End { node: name, elements, ..end });
    }

    fn fan_out(&mut self) {
        let end = self.take_end();
        let n = 2 + self.below(2);
        let kind = if self.below(2) == 0 { "broadcast" } else { "partition" };
        let name = self.name(kind);
        self.add(&name, kind, none());
        self.wire(&end.node, &name);
        // The junction numbers its outputs in the order of the wires: a stage takes each of them up at once.
        for i in 0..n {
            let way = self.name("way");
            self.add(&way, "map", none());
            self.wire(&name, &way);
            let mine = |x: &i64| kind == "broadcast" || (x.unsigned_abs() % n as u64) as usize == i;
            let elements = end.elements.iter().copied().filter(mine).collect();
            self.open.push(End { node: way, elements, ..end.clone() });
        }
    }

    fn fan_in(&mut self) {
        if self.open.len() < 2 {
            return;
        }
        let (a, b) = (self.take_end(), self.take_end());
        // What joins in lock step or one after the other must not hang together already: that may wait for itself.
        let (from, to) = (self.root(a.root), self.root(b.root));
        let apart = from != to && a.ordered && b.ordered;
        self.joined[from] = to;
        let choice = if apart { self.below(4) } else { 0 };
        let pairs = a.elements.iter().zip(&b.elements);
        let (kind, ordered, elements) = match choice {
            0 | 1 => ("merge", false, [a.elements.clone(), b.elements.clone()].concat()),
            2 => ("zip", true, pairs.map(|(x, y)| x + y).collect()),
            _ => ("concat", true, [a.elements.clone(), b.elements.clone()].concat()),
        };
        let name = self.name(kind);
        self.add(&name, kind, none());
        self.wire(&a.node, &name);
        self.wire(&b.node, &name);
        self.open.push(End { node: name, elements, ordered, root: to });
    }

    fn grow(seed: u64, cut: bool, failing: bool) -> (Drawing, Vec<End>) {
        let rng = Rng::new(seed);
        let mut random = Random {
            rng,
            drawing: Drawing::new(),
            open: Vec::new(),
            joined: vec![0, 1, 2],
            nodes: 0,
            cut,
            failing,
        };
        for root in 0..1 + random.below(3) {
            let (start, count) = (random.below(50) as i64, random.below(25) as i64);
            let node = random.name("range");
            random.add(&node, "range", range(start, count));
            let elements = (start..start + count).collect();
            random.open.push(End { node, elements, ordered: true, root });
        }
        for _ in 0..random.below(10) {
            match random.below(4) {
                0 => random.fan_out(),
                1 => random.fan_in(),
                _ => random.stage(),
            }
        }
        let ends = std::mem::take(&mut random.open);
        for (i, end) in ends.iter().enumerate() {
            // A sum cannot tell the order of elements; a list can.
            let (list, sink) = (format!("list{i}"), format!("sink{i}"));
            random.add(&list, "grouped", set(&[("n", Value::from(1_000_000))]));
            random.add(&sink, "fold", set(&[("op", Value::from("last"))]));
            random.wire(&end.node, &list);
            random.wire(&list, &sink);
        }
        (random.drawing, ends)
    }
}

fn collected(results: &Results, at: usize, seed: u64) -> Vec<i64> {
    let result = results[at].1.take().unwrap_or_else(|| panic!("seed {seed}: sink {at} has not ended"));
    let last = result.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    match last {
        Value::List(list) => list.iter().filter_map(Value::as_int).collect(),
        _ => Vec::new(),
    }
}

fn compare(results: &Results, ends: &[End], seed: u64, way: &str) {
    for (at, end) in ends.iter().enumerate() {
        let mut got = collected(results, at, seed);
        let mut want = end.elements.clone();
        if !end.ordered {
            got.sort_unstable();
            want.sort_unstable();
        }
        assert_eq!(got, want, "seed {seed}, {way}, sink {at}");
    }
}

fn random_graphs(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let (drawing, ends) = Random::grow(seed, false, false);
        let build = |drawing: &Drawing| drawing.build(seed).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        let (built, results) = build(&drawing);
        run(built, 1, 256);
        compare(&results, &ends, seed, "fused");
        let (built, results) = build(&drawing);
        run(built.fuzzed(seed), 1 + seed as usize % 4, 1 + seed as usize % 9);
        compare(&results, &ends, seed, "fuzzed");
        let (cut, ends) = Random::grow(seed, true, false);
        let (built, results) = build(&cut);
        run(built, 1 + seed as usize % 4, 256);
        compare(&results, &ends, seed, "a boundary on each wire");
    }
}

/// The parts run beside each other: 10,000 graphs in all.
macro_rules! parts {
    ($($name:ident: $part:literal,)+) => {
        $(#[test]
        fn $name() {
            random_graphs($part * 2_500..($part + 1) * 2_500);
        })+
    };
}

parts! {
    random_graphs_are_their_list_models_1: 0,
    random_graphs_are_their_list_models_2: 1,
    random_graphs_are_their_list_models_3: 2,
    random_graphs_are_their_list_models_4: 3,
}

#[test]
fn a_failure_anywhere_in_a_random_graph_ends_all_of_it() {
    let (mut failed, mut whole) = (0, 0);
    for seed in 0..2_500 {
        for cut in [false, true] {
            let (drawing, _) = Random::grow(seed, cut, true);
            let (built, results) = drawing.build(seed).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
            run(if seed % 2 == 0 { built } else { built.fuzzed(seed) }, 1 + seed as usize % 4, 256);
            for (sink, done) in &results {
                match done.take() {
                    Some(Ok(_)) => whole += 1,
                    Some(Err(StreamError::Stage { .. })) => failed += 1,
                    other => panic!("seed {seed}, boundaries {cut}, {sink}: {other:?}"),
                }
            }
        }
    }
    assert!(failed > 1_000 && whole > 1_000, "{failed} sinks failed, {whole} did not");
}
