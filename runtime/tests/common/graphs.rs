//! Runs a graph in every way that must not matter: one island or one per stage, 1, 2 and 4 workers, and orders by chance.

use std::time::Duration;

use footlights::stream::{
    Built, Done, Graph, GraphBuilder, InPort, LocalRun, OutPort, Sink, Source, StreamSnapshot,
};

pub(crate) const FUZZ: u64 = 200;
pub(crate) const MS: Duration = Duration::from_millis(1);

/// Wires as one island, or with a boundary of so many elements on each wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut(pub(crate) Option<usize>);

impl Cut {
    pub(crate) fn wire<T: Send + 'static>(self, g: &mut GraphBuilder, from: OutPort<T>, into: InPort<T>) {
        match self.0 {
            None => g.wire(from, into),
            Some(capacity) => g.wire_async(from, into, capacity),
        }
    }
}

pub(crate) fn check(snapshot: &StreamSnapshot) {
    for stage in snapshot.stages.iter().filter(|s| s.counted) {
        assert!(stage.counts.balanced(), "{}: {:?}", stage.name, stage.counts);
        assert!(stage.counts.held <= 1, "{} holds {}", stage.name, stage.counts.held);
    }
    for edge in &snapshot.edges {
        assert!(edge.high_water <= edge.capacity, "{edge:?} held more than it may");
        assert_eq!(edge.pushed, edge.taken + edge.fill + edge.dropped, "{edge:?}");
    }
}

pub(crate) fn run(built: Built, workers: usize) -> StreamSnapshot {
    let mut run = LocalRun::new(built, workers);
    let mut steps = 0;
    while run.step() {
        steps += 1;
        assert!(steps < 1_000_000, "it does not come to rest");
        if steps < 500 {
            check(&run.snapshot());
        }
    }
    let end = run.snapshot();
    check(&end);
    assert_eq!(run.pending(), 0, "timers or requests are left");
    end
}

/// Runs a graph in all ways and hands each outcome to `judge`.
pub(crate) fn every_way<M>(graph: impl Fn(&mut GraphBuilder, Cut) -> M, judge: impl Fn(M, &str)) {
    for cut in [Cut(None), Cut(Some(1)), Cut(Some(16))] {
        let graph = Graph::new(|g| graph(g, cut));
        for workers in [1, 2, 4] {
            let (built, mat) = graph.build(1).expect("a whole graph");
            run(built, workers);
            judge(mat, &format!("{cut:?}, {workers} workers"));
        }
        for seed in 0..FUZZ {
            let (built, mat) = graph.build(1).expect("a whole graph");
            run(built.fuzzed(seed), 2);
            judge(mat, &format!("{cut:?}, fuzzed by {seed}"));
        }
    }
}

pub(crate) type Numbers = Done<Vec<i64>>;

pub(crate) fn all(done: &Numbers) -> Vec<i64> {
    done.take().expect("it has ended").expect("it has not failed")
}

pub(crate) fn sorted(mut numbers: Vec<i64>) -> Vec<i64> {
    numbers.sort_unstable();
    numbers
}

pub(crate) fn sources(
    g: &mut GraphBuilder,
    cut: Cut,
    ranges: &[std::ops::Range<i64>],
    into: Vec<InPort<i64>>,
) {
    for (i, (range, port)) in ranges.iter().zip(into).enumerate() {
        let source = g.source(&format!("source{i}"), Source::range(range.clone()));
        cut.wire(g, source, port);
    }
}

/// Wires one source of these numbers.
pub(crate) fn source(g: &mut GraphBuilder, cut: Cut, range: std::ops::Range<i64>, into: InPort<i64>) {
    sources(g, cut, std::slice::from_ref(&range), vec![into]);
}

pub(crate) fn sink(g: &mut GraphBuilder, cut: Cut, name: &str, from: OutPort<i64>) -> Numbers {
    let (port, done) = g.sink(name, Sink::to_vec(10_000));
    cut.wire(g, from, port);
    done
}
