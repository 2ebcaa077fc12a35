//! The operators that look at one element after the other, their sources and sinks, against pure list models: fused, with
//! every stage on an island of its own, in an order drawn by chance, on actors, and drawn; each with all ends.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use footlights::stream::dsl::FlowPlan;
use footlights::stream::{
    Built, Chain, Closed, Decision, Done, DropReason, Elements, End, Feed, Flow, LocalRun, Operators,
    OverflowStrategy, Params, Plan, Recovering, Sink, SinkPlan, Source, StreamError, StreamSnapshot, Value,
};
use footlights::system::ActorSystem;
use footlights::testkit::on_each_dispatcher;

/// What an operator makes of a list.
#[derive(Clone)]
struct Model<T> {
    /// What it emits before its input ends.
    items: Vec<T>,
    /// What it emits when its input completes.
    tail: Vec<T>,
    own: Own,
    failure: Failure<T>,
    /// It may hold elements, which a failure of its input drops.
    holds: bool,
}

/// What comes out and how it ends, and whether a failure may drop the last ones.
type Want<T> = (Vec<T>, Result<(), StreamError>, bool);

/// How it ends by itself.
#[derive(Clone, Default)]
enum Own {
    #[default]
    Never,
    /// It completes and cancels.
    Completes,
    Fails(StreamError),
    /// It fails when its input completes.
    FailsAtEnd(StreamError),
}

/// What it makes of a failure of its input.
#[derive(Clone)]
enum Failure<T> {
    Passes,
    Becomes(StreamError),
    Completes(Vec<T>),
}

impl<T> Model<T> {
    fn of(items: Vec<T>) -> Self {
        Model { items, tail: Vec::new(), own: Own::Never, failure: Failure::Passes, holds: false }
    }

    fn tail(self, tail: Vec<T>) -> Self {
        Model { tail, ..self }
    }

    fn own(self, own: Own) -> Self {
        Model { own, ..self }
    }

    fn holds(self) -> Self {
        Model { holds: true, ..self }
    }

    fn failure(self, failure: Failure<T>) -> Self {
        Model { failure, ..self }
    }

    /// Gives what is wanted, if the input ends like this and `take` elements are wanted below.
    fn expected(self, input: Result<(), StreamError>, take: Option<usize>) -> Want<T> {
        let mut all = self.items;
        let loses = self.holds && input.is_err() && take.is_none();
        let end = match (self.own, input) {
            (Own::Completes, _) => Ok(()),
            (Own::Fails(e), _) | (Own::FailsAtEnd(e), Ok(())) => Err(e),
            (Own::Never, Ok(())) => {
                all.extend(self.tail);
                Ok(())
            }
            (_, Err(e)) => match self.failure {
                Failure::Passes => Err(e),
                Failure::Becomes(e) => Err(e),
                Failure::Completes(last) => {
                    all.extend(last);
                    Ok(())
                }
            },
        };
        match take {
            Some(take) if all.len() >= take => {
                all.truncate(take);
                (all, Ok(()), loses)
            }
            _ => (all, end, loses),
        }
    }
}

trait Element: Clone + PartialEq + Debug + Send + Sync + 'static {}
impl<T: Clone + PartialEq + Debug + Send + Sync + 'static> Element for T {}

/// A way to run the operators.
trait Way {
    fn check<T: Element, G: FlowPlan<In = i64, Out = T>>(
        &mut self,
        name: &str,
        flow: Flow<G>,
        model: impl Fn(&[i64]) -> Model<T>,
    );
}

/// Has neighbours that are equal, and values that come again.
fn input(n: usize) -> Vec<i64> {
    (0..n as i64).map(|i| i * i % 7).collect()
}

fn bad() -> StreamError {
    StreamError::Stage { node: "try_map".into(), text: "bad".into() }
}

fn source(xs: &[i64], fails: bool) -> Source<impl Plan<Out = i64>> {
    let mut all: Vec<Result<i64, &'static str>> = xs.iter().copied().map(Ok).collect();
    all.extend(fails.then_some(Err("bad")));
    Source::from_iter(all).try_map(|x| x)
}

type Seen<T> = Arc<Mutex<Vec<T>>>;

fn recorder<T: Element>() -> (Seen<T>, Sink<impl SinkPlan<In = T, Mat = Done<u64>>>) {
    let seen: Seen<T> = Arc::default();
    let into = seen.clone();
    (seen, Sink::for_each(move |_, x| into.lock().unwrap().push(x)))
}

fn check(snapshot: &StreamSnapshot) {
    for stage in snapshot.stages.iter().filter(|s| s.counted) {
        assert!(stage.counts.balanced(), "{}: {:?}", stage.name, stage.counts);
    }
    for edge in &snapshot.edges {
        assert!(edge.high_water <= edge.capacity, "{edge:?} held more than it may");
        assert_eq!(edge.pushed, edge.taken + edge.fill + edge.dropped, "{edge:?}");
    }
}

fn run(built: Built, workers: usize, budget: usize) -> StreamSnapshot {
    let mut run = LocalRun::new(built, workers).budget(budget);
    while run.step() {
        check(&run.snapshot());
    }
    assert!(run.ended(), "an island did not end");
    assert_eq!(run.pending(), 0, "timers or requests are left");
    run.snapshot()
}

fn judge<T: Element>(what: &str, seen: &Seen<T>, done: Option<Result<u64, StreamError>>, expected: Want<T>) {
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    if expected.2 {
        assert!(expected.0.starts_with(&seen), "{what}: {seen:?} does not begin {:?}", expected.0);
    } else {
        assert_eq!(seen, expected.0, "{what}");
    }
    assert_eq!(done.unwrap_or_else(|| panic!("{what}: no end")).map(|_| ()), expected.1, "{what}");
}

/// On the calling thread, in every order.
struct Local;

impl Local {
    fn stream<T, P, S>(what: &str, seen: &Seen<T>, stream: &Closed<P, S>, want: &Want<T>)
    where
        T: Element,
        P: Plan,
        S: SinkPlan<In = P::Out, Mat = Done<u64>>,
    {
        for (workers, budget) in [(1, 1), (1, 256), (2, 3), (4, 1)] {
            let (built, done) = stream.build(7);
            run(built, workers, budget);
            judge(&format!("{what}, {workers} workers, budget {budget}"), seen, done.take(), want.clone());
        }
        for seed in 0..10 {
            let (built, done) = stream.build(7);
            run(built.fuzzed(seed), 2, 2);
            judge(&format!("{what}, fuzzed by {seed}"), seen, done.take(), want.clone());
        }
    }
}

impl Way for Local {
    fn check<T: Element, G: FlowPlan<In = i64, Out = T>>(
        &mut self,
        name: &str,
        flow: Flow<G>,
        model: impl Fn(&[i64]) -> Model<T>,
    ) {
        for n in [0, 1, 2, 5, 17, 40] {
            let xs = input(n);
            for (fails, take) in
                [(false, None), (true, None), (false, Some(1)), (false, Some(4)), (true, Some(3))]
            {
                let end = if fails { Err(bad()) } else { Ok(()) };
                let want = model(&xs).expected(end, take);
                let what = format!("{name} of {n}, fails {fails}, take {take:?}");
                let take = take.map_or(u64::MAX, |n| n as u64);
                let (seen, sink) = recorder();
                let fused = source(&xs, fails).via(flow.clone()).take(take).to(sink);
                Local::stream(&format!("{what}, fused"), &seen, &fused, &want);
                for capacity in [1, 16] {
                    let (seen, sink) = recorder();
                    let up = source(&xs, fails).async_boundary_of(capacity).via(flow.clone());
                    let cut = up.async_boundary_of(capacity).take(take).to(sink);
                    Local::stream(&format!("{what}, capacity {capacity}"), &seen, &cut, &want);
                }
            }
        }
    }
}

impl Way for &ActorSystem {
    fn check<T: Element, G: FlowPlan<In = i64, Out = T>>(
        &mut self,
        name: &str,
        flow: Flow<G>,
        model: impl Fn(&[i64]) -> Model<T>,
    ) {
        let xs = input(9);
        for (fails, take) in [(false, None), (true, None), (false, Some(2))] {
            let end = if fails { Err(bad()) } else { Ok(()) };
            let want = model(&xs).expected(end, take);
            let (seen, sink) = recorder();
            let up = source(&xs, fails).async_boundary_of(2).via(flow.clone()).async_boundary();
            let (done, handle) = up.take(take.map_or(u64::MAX, |n| n as u64)).to(sink).run(self).unwrap();
            let done = self.block_on(done);
            judge(&format!("{name}, fails {fails}, take {take:?}"), &seen, Some(done), want);
            check(&handle.snapshot());
        }
    }
}

fn sum_of(xs: &[i64]) -> i64 {
    xs.iter().sum()
}

fn chunks_by_weight(xs: &[i64], weight: i64) -> (Vec<Vec<i64>>, Vec<Vec<i64>>) {
    let (mut full, mut open) = (Vec::new(), Vec::new());
    for &x in xs {
        open.push(x);
        if open.iter().map(|x| (*x).max(1)).sum::<i64>() >= weight {
            full.push(std::mem::take(&mut open));
        }
    }
    (full, if open.is_empty() { vec![] } else { vec![open] })
}

fn windows(xs: &[i64], n: usize, step: usize) -> Model<Vec<i64>> {
    let starts = (0..xs.len()).step_by(step);
    let full: Vec<Vec<i64>> =
        starts.clone().filter(|at| at + n <= xs.len()).map(|at| xs[at..at + n].to_vec()).collect();
    let shown = if full.is_empty() { 0 } else { (full.len() - 1) * step + n };
    let next = full.len() * step;
    let rest = if xs.len() > shown && next < xs.len() { vec![xs[next..].to_vec()] } else { vec![] };
    Model::of(full).tail(rest)
}

fn own(ends: bool, own: Own) -> Own {
    if ends { own } else { Own::Never }
}

fn flow() -> Flow<footlights::stream::dsl::Identity<i64>> {
    Flow::of::<i64>()
}

fn choosers(way: &mut impl Way) {
    way.check("filter_not", flow().filter_not(|n| n % 2 == 0), |xs| {
        Model::of(xs.iter().copied().filter(|n| n % 2 != 0).collect())
    });
    let halves = |n: i64| (n % 2 == 0).then_some(n / 2);
    way.check("collect", flow().collect(halves), move |xs| {
        Model::of(xs.iter().copied().filter_map(halves).collect())
    });
    way.check("collect_while", flow().collect_while(halves), move |xs| {
        let ends = xs.iter().any(|n| n % 2 != 0);
        Model::of(xs.iter().copied().map_while(halves).collect()).own(own(ends, Own::Completes))
    });
    way.check("collect_first", flow().drop(1).collect_first(halves), move |xs| {
        let first = xs.iter().skip(1).copied().find_map(halves);
        Model::of(first.into_iter().collect()).own(own(first.is_some(), Own::Completes))
    });
    way.check("take_while", flow().take_while(|n| *n != 2), |xs| {
        Model::of(xs.iter().copied().take_while(|n| *n != 2).collect())
            .own(own(xs.contains(&2), Own::Completes))
    });
    way.check("take_through", flow().take_through(|n| *n != 2), |xs| {
        let n = xs.iter().position(|n| *n == 2);
        Model::of(xs[..n.map_or(xs.len(), |n| n + 1)].to_vec()).own(own(n.is_some(), Own::Completes))
    });
    way.check("first", flow().first(), |xs| {
        Model::of(xs.iter().copied().take(1).collect()).own(own(!xs.is_empty(), Own::Completes))
    });
    for n in [0, 3, 100] {
        way.check("drop", flow().drop(n), move |xs| Model::of(xs.iter().copied().skip(n as usize).collect()));
        way.check("take_last", flow().take_last(n as usize), move |xs| {
            Model::of(vec![]).tail(xs[xs.len().saturating_sub(n as usize)..].to_vec())
        });
    }
    way.check("drop_while", flow().drop_while(|n| *n < 3), |xs| {
        Model::of(xs.iter().copied().skip_while(|n| *n < 3).collect())
    });
    way.check("drop_repeated", flow().drop_repeated(), |xs| {
        let mut xs = xs.to_vec();
        xs.dedup();
        Model::of(xs)
    });
    way.check("drop_repeated_by", flow().drop_repeated_by(|a, b| a % 2 == b % 2), |xs| {
        let mut xs = xs.to_vec();
        xs.dedup_by_key(|n| *n % 2);
        Model::of(xs)
    });
    way.check("limit", flow().limit(5), |xs| {
        let e = StreamError::LimitReached { node: "limit".into(), limit: 5 };
        Model::of(xs.iter().copied().take(5).collect()).own(own(xs.len() > 5, Own::Fails(e)))
    });
    way.check("limit_weighted", flow().limit_weighted(13, |n| *n as u64), |xs| {
        let n = (0..=xs.len()).rev().find(|n| sum_of(&xs[..*n]) <= 13).unwrap();
        let e = StreamError::LimitReached { node: "limit_weighted".into(), limit: 13 };
        Model::of(xs[..n].to_vec()).own(own(n < xs.len(), Own::Fails(e)))
    });
}

fn makers(way: &mut impl Way) {
    let copies = |n: i64| vec![n; n as usize];
    way.check("map_concat", flow().map_concat(copies), move |xs| {
        Model::of(xs.iter().copied().flat_map(copies).collect()).holds()
    });
    let numbered = || {
        let mut seen = 0;
        move |n: i64| {
            seen += 1;
            [n, seen]
        }
    };
    way.check("stateful_map_concat", flow().stateful_map_concat(numbered), move |xs| {
        Model::of(xs.iter().copied().flat_map(numbered()).collect()).holds()
    });
    let add = |sum: &mut i64, n: i64| {
        *sum += n;
        *sum
    };
    way.check("stateful_map", flow().stateful_map(|| 0, add, |sum| Some(-sum)), move |xs| {
        let mut sum = 0;
        Model::of(xs.iter().map(|n| add(&mut sum, *n)).collect()).tail(vec![-sum_of(xs)])
    });
    way.check("stateful_map without a tail", flow().stateful_map(|| 0, add, |_| None), move |xs| {
        let mut sum = 0;
        Model::of(xs.iter().map(|n| add(&mut sum, *n)).collect())
    });
    way.check("scan", flow().scan(100, |a, n| a + n), |xs| {
        Model::of((0..=xs.len()).map(|n| 100 + sum_of(&xs[..n])).collect())
    });
    way.check("reduce", flow().reduce(|a, n| a * 3 + n), |xs| {
        let none = StreamError::NoSuchElement { node: "reduce".into() };
        let result: Vec<i64> =
            xs.iter().copied().reduce(|a, n| a.wrapping_mul(3).wrapping_add(n)).into_iter().collect();
        Model::of(vec![]).own(own(xs.is_empty(), Own::FailsAtEnd(none))).tail(result)
    });
    way.check("fold_while", flow().fold_while(0, |a| *a < 12, |a, n| a + n), |xs| {
        match (1..=xs.len()).find(|n| sum_of(&xs[..*n]) >= 12) {
            Some(n) => Model::of(vec![sum_of(&xs[..n])]).own(Own::Completes),
            None => Model::of(vec![]).tail(vec![sum_of(xs)]),
        }
    });
    way.check("grouped_weighted", flow().grouped_weighted(6, |n| *n as u64), |xs| {
        let (full, open) = chunks_by_weight(xs, 6);
        Model::of(full).tail(open)
    });
    for (n, step) in [(1, 1), (2, 1), (3, 2), (2, 2), (2, 3), (1, 4), (5, 1)] {
        way.check(&format!("sliding({n}, {step})"), flow().sliding(n, step), move |xs| windows(xs, n, step));
    }
    way.check("zip_with_index", flow().zip_with_index(), |xs| {
        Model::of(xs.iter().copied().zip(0u64..).collect())
    });
    way.check("intersperse", flow().intersperse(-1), |xs| Model::of(xs.join_by(-1)).holds());
    way.check("intersperse_within", flow().intersperse_within(-2, -1, -3), |xs| {
        let start = if xs.is_empty() { vec![] } else { vec![-2] };
        let end = if xs.is_empty() { vec![-2, -3] } else { vec![-3] };
        Model::of([start, xs.join_by(-1)].concat()).tail(end).holds()
    });
    way.check("inspect", flow().inspect(|n| assert!(*n < 7)), |xs| Model::of(xs.to_vec()));
    way.check("recover", flow().recover(|e| (*e == bad()).then_some(-1)), |xs| {
        Model::of(xs.to_vec()).failure(Failure::Completes(vec![-1]))
    });
    way.check("recover of another error", flow().recover(|e| (*e != bad()).then_some(-1)), |xs| {
        Model::of(xs.to_vec())
    });
    way.check("map_error", flow().map_error(|_| StreamError::Abrupt), |xs| {
        Model::of(xs.to_vec()).failure(Failure::Becomes(StreamError::Abrupt))
    });
    way.check("on_error_complete", flow().on_error_complete(), |xs| {
        Model::of(xs.to_vec()).failure(Failure::Completes(vec![]))
    });
}

trait JoinBy {
    fn join_by(&self, between: i64) -> Vec<i64>;
}

impl JoinBy for [i64] {
    fn join_by(&self, between: i64) -> Vec<i64> {
        let parts: Vec<[i64; 1]> = self.iter().map(|x| [*x]).collect();
        parts.join(&between)
    }
}

#[test]
fn operators_that_choose_are_their_list_models_in_every_order_and_with_every_end() {
    choosers(&mut Local);
}

#[test]
fn operators_that_make_elements_are_their_list_models_in_every_order_and_with_every_end() {
    makers(&mut Local);
}

#[test]
fn operators_are_their_list_models_on_every_dispatcher() {
    on_each_dispatcher(|system| {
        let mut way = system;
        choosers(&mut way);
        makers(&mut way);
    });
}

#[test]
fn what_operators_hold_stays_within_their_bound_and_is_dropped_by_a_failure() {
    let held = |snapshot: &StreamSnapshot, name: &str| {
        let counts = snapshot.stage(name).unwrap().counts;
        (counts.high_water, counts.dropped.of(DropReason::StageFailed))
    };
    let of = |built: Built| run(built, 1, 256);
    let xs = [1, 1, 1, 1, 1];
    let last = source(&xs, true).take_last(3).to(Sink::ignore());
    assert_eq!(held(&of(last.build(1).0), "take_last"), (3, 3));
    let windows = source(&xs, true).sliding(3, 1).to(Sink::ignore());
    assert_eq!(held(&of(windows.build(1).0), "sliding"), (2, 2));
    let groups = source(&xs, true).grouped_weighted(4, |_| 0).to(Sink::ignore());
    assert_eq!(held(&of(groups.build(1).0), "grouped_weighted"), (3, 1));
    let joined = source(&xs, true).intersperse_within(0, 0, 0).to(Sink::ignore());
    assert_eq!(held(&of(joined.build(1).0), "intersperse").0, 1);
}

#[test]
fn a_decider_says_what_becomes_of_an_element_for_which_its_stage_fails() {
    let odd = |n: i64| if n % 2 == 0 { Err("even") } else { Ok(n) };
    for (decision, expected) in [
        (Decision::Resume, Ok(vec![1, 3, 5])),
        (Decision::Restart, Ok(vec![1, 3, 5])),
        (Decision::Stop, Err(StreamError::Stage { node: "try_map".into(), text: "even".into() })),
    ] {
        let stream =
            Source::range(1..7).supervised(move |_| decision, |s| s.try_map(odd)).to(Sink::to_vec(9));
        let (built, done) = stream.build(1);
        let counts = run(built, 1, 3).stage("try_map").unwrap().counts;
        assert_eq!(counts.dropped.of(DropReason::Decider), if expected.is_ok() { 3 } else { 0 });
        assert_eq!(done.take(), Some(expected));
    }
    // What a stage remembers: kept by Resume, forgotten by Restart.
    let sums = |decision: Decision| {
        let numbers = Source::from_iter([3i64, 3, 9, 3]);
        let limited = numbers.supervised(move |_| decision, |s| s.limit_weighted(7, |n| *n as u64));
        settle(&limited.async_boundary().to(Sink::to_vec(9)))
    };
    assert_eq!(sums(Decision::Resume), Ok(vec![3, 3]));
    assert_eq!(sums(Decision::Restart), Ok(vec![3, 3, 3]));
}

#[test]
fn e14_filter_and_resume_give_the_same_output_and_drops_are_counted() {
    let good = |n: i64| n % 100 == 0;
    let try_good = move |n: i64| if good(n) { Ok(n) } else { Err("bad") };
    let n = 10_000;
    let filtered = settle(&Source::range(0..n).filter(move |n| good(*n)).to(Sink::to_vec(1_000)));
    let resumed = Source::range(0..n).supervised(|_| Decision::Resume, |s| s.try_map(try_good));
    let (built, done) = resumed.to(Sink::to_vec(1_000)).build(1);
    let mut run = LocalRun::new(built, 1);
    run.run();
    assert_eq!(done.take(), Some(filtered));
    let counts = run.snapshot().stage("try_map").unwrap().counts;
    assert_eq!(counts.dropped.of(DropReason::Decider), 9_900);
}

#[test]
fn an_operator_that_makes_much_of_one_element_leaves_the_worker_to_others_in_between() {
    let many = Source::single(0).map_concat(|_| 0..1_000).to(Sink::count());
    let (built, done) = many.build(1);
    let mut run = LocalRun::new(built, 1).budget(10);
    run.run();
    assert_eq!(done.take(), Some(Ok(1_000)));
    assert!(run.turns() >= 100, "{} turns", run.turns());
}

fn settle<P: Plan, S: SinkPlan<In = P::Out, Mat = Done<T>>, T>(
    stream: &Closed<P, S>,
) -> Result<T, StreamError> {
    let (built, done) = stream.build(1);
    run(built, 2, 3);
    done.take().expect("the stream has ended")
}

#[test]
fn sources_give_what_they_say() {
    let none = |node: &str| StreamError::NoSuchElement { node: node.into() };
    macro_rules! gives {
        ($source:expr, $expected:expr) => {
            assert_eq!(settle(&$source.to(Sink::to_vec(100))), $expected);
            assert_eq!(settle(&$source.async_boundary_of(1).to(Sink::to_vec(100))), $expected);
            assert_eq!(settle(&$source.take(0).to(Sink::count())), Ok(0));
        };
    }
    gives!(Source::single(3), Ok(vec![3]));
    gives!(Source::from_option(Some(3)), Ok(vec![3]));
    gives!(Source::empty::<i64>(), Ok(Vec::new()));
    gives!(Source::from_option(None::<i64>), Ok(Vec::new()));
    gives!(Source::never::<i64>().take(0), Ok(Vec::new()));
    gives!(Source::repeat(3).take(4), Ok(vec![3; 4]));
    gives!(Source::cycle(vec![1, 2, 3]).take(7), Ok(vec![1, 2, 3, 1, 2, 3, 1]));
    gives!(Source::cycle(Vec::<i64>::new()).take(7), Err::<Vec<i64>, _>(none("cycle")));
    gives!(Source::unfold(3, |n| (n > 0).then(|| (n - 1, n * n))), Ok(vec![9, 4, 1]));
    gives!(Source::iterate(1, |n| *n < 20, |n| n * 4), Ok(vec![1, 4, 16]));
    let failed = settle(&Source::failed::<i64>("no").to(Sink::count()));
    assert_eq!(failed, Err(StreamError::Stage { node: "failed".into(), text: "no".into() }));
}

#[test]
fn a_source_without_an_end_stops_when_told() {
    on_each_dispatcher(|system| {
        let (done, handle) = Source::never::<i64>().async_boundary().to(Sink::count()).run(system).unwrap();
        handle.stop();
        assert_eq!(system.block_on(done), Ok(0));
        let (done, handle) = Source::repeat(1)
            .to(Sink::on_complete(|end| assert_eq!(*end, End::Completed)))
            .run(system)
            .unwrap();
        handle.stop();
        assert!(system.block_on(done).is_ok());
        let (done, handle) = Source::repeat(1).async_boundary().to(Sink::never()).run(system).unwrap();
        handle.abort("enough");
        assert_eq!(system.block_on(done), Err(StreamError::Killed("enough".into())));
    });
}

#[test]
fn sinks_give_what_they_say() {
    let none = |node: &str| StreamError::NoSuchElement { node: node.into() };
    macro_rules! gives {
        ($sink:expr, $of_none:expr, $of_some:expr) => {
            for cut in [1, 16] {
                assert_eq!(settle(&source(&[], false).to($sink)), $of_none);
                assert_eq!(settle(&source(&[], false).async_boundary_of(cut).to($sink)), $of_none);
                assert_eq!(settle(&source(&[4, 7, 5], false).to($sink)), $of_some);
                assert_eq!(settle(&source(&[4, 7, 5], false).async_boundary_of(cut).to($sink)), $of_some);
                assert_eq!(settle(&source(&[], true).to($sink)).map(|_| ()), Err(bad()));
            }
        };
    }
    gives!(Sink::count(), Ok(0), Ok(3));
    gives!(Sink::last(), Err(none("last")), Ok(5));
    gives!(Sink::head(), Err(none("head")), Ok(4));
    gives!(Sink::head_option(), Ok(None), Ok(Some(4)));
    gives!(Sink::reduce(|a: i64, n| a * 10 + n), Err(none("reduce")), Ok(475));
    gives!(Sink::exists(|n| *n == 7), Ok(false), Ok(true));
    gives!(Sink::exists(|n| *n == 8), Ok(false), Ok(false));
    gives!(Sink::forall(|n| *n > 3), Ok(true), Ok(true));
    gives!(Sink::forall(|n| *n > 4), Ok(true), Ok(false));
    gives!(Sink::none(|n| *n == 8), Ok(true), Ok(true));
    gives!(Sink::none(|n| *n == 7), Ok(true), Ok(false));
    gives!(Sink::on_complete(|_| {}), Ok(0), Ok(3));
    assert_eq!(settle(&Source::repeat(1).async_boundary().to(Sink::cancelled())), Ok(()));
    assert_eq!(settle(&Source::empty::<i64>().to(Sink::never())), Ok(()));
    let failed = StreamError::Stage { node: "failed".into(), text: "no".into() };
    assert_eq!(settle(&Source::failed::<i64>("no").async_boundary().to(Sink::never())), Err(failed));
}

#[test]
fn a_sink_that_knows_its_result_cancels_and_asks_for_no_element_more() {
    let pulled: Arc<Mutex<i64>> = Arc::default();
    let seen = pulled.clone();
    let numbers = Source::range(0..i64::MAX).inspect(move |n| *seen.lock().unwrap() = *n);
    assert_eq!(settle(&numbers.clone().to(Sink::exists(|n| *n == 9))), Ok(true));
    assert_eq!(*pulled.lock().unwrap(), 9);
    assert_eq!(settle(&numbers.to(Sink::head())), Ok(0));
    assert_eq!(*pulled.lock().unwrap(), 0);
}

#[test]
fn on_complete_is_told_the_end_once() {
    for fails in [false, true] {
        let ends: Arc<Mutex<Vec<End>>> = Arc::default();
        let into = ends.clone();
        let sink = Sink::on_complete(move |end: &End| into.lock().unwrap().push(end.clone()));
        let _ = settle(&source(&[1, 2], fails).async_boundary().to(sink));
        let expected = if fails { End::Failed(bad()) } else { End::Completed };
        assert_eq!(*ends.lock().unwrap(), [expected]);
    }
}

fn set(pairs: &[(&str, Value)]) -> Params {
    pairs.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect()
}

/// Runs a drawn operator on numbers; `limit` of them pass, one more is a failure.
fn drawn(
    kind: &str,
    params: &Params,
    xs: &[i64],
    limit: usize,
    cut: bool,
    budget: usize,
) -> (Vec<Value>, Result<(), StreamError>) {
    let feed = Feed::new(xs.len().max(1), OverflowStrategy::DropNew).unwrap();
    xs.iter().for_each(|x| {
        let _ = feed.offer(Value::from(*x));
    });
    feed.complete();
    let seen: Seen<Value> = Arc::default();
    let into = seen.clone();
    let mut chain =
        Chain::new().feed("in", feed).op("limit", "limit", set(&[("n", Value::from(limit as i64))]));
    if cut {
        chain = chain.op("cut", "async_boundary", set(&[("capacity", Value::from(1))]));
    }
    chain = chain.op("it", kind, params.clone());
    if cut {
        chain = chain.op("cut below", "async_boundary", Params::new());
    }
    let (built, done) =
        chain.tell("out", move |_, x| into.lock().unwrap().push(x), |_, _| {}).build(1).unwrap();
    run(built, 2, budget);
    let end = done.take().expect("the stream has ended").map(|_| ());
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (seen, end)
}

fn int(n: i64) -> Value {
    Value::from(n)
}

fn ints(xs: Vec<i64>) -> Vec<Value> {
    xs.into_iter().map(Value::from).collect()
}

#[test]
fn drawn_operators_are_their_list_models() {
    type Of = Box<dyn Fn(&[i64]) -> Model<Value>>;
    let number = |items: Vec<i64>| Model::of(ints(items));
    let rule = |n: i64| set(&[("op", "less_than".into()), ("operand", int(n))]);
    let mut through = rule(4);
    through.insert("inclusive".into(), Value::Bool(true));
    let lists = |m: Model<Vec<i64>>| {
        let list = |all: Vec<Vec<i64>>| all.into_iter().map(|xs| Value::from(ints(xs))).collect::<Vec<_>>();
        Model::of(list(m.items)).tail(list(m.tail))
    };
    let work = set(&[("op", "less_than".into()), ("operand", int(4)), ("work_ms", int(1))]);
    let table: Vec<(&str, Params, Of)> = vec![
        ("filter_not", rule(3), Box::new(move |xs| number(xs.iter().copied().filter(|n| *n >= 3).collect()))),
        (
            "take_while",
            rule(4),
            Box::new(move |xs| {
                let end = xs.iter().any(|n| *n >= 4);
                number(xs.iter().copied().take_while(|n| *n < 4).collect()).own(own(end, Own::Completes))
            }),
        ),
        (
            "take_while",
            work,
            Box::new(move |xs| {
                let end = xs.iter().any(|n| *n >= 4);
                number(xs.iter().copied().take_while(|n| *n < 4).collect()).own(own(end, Own::Completes))
            }),
        ),
        (
            "take_while",
            through,
            Box::new(move |xs| {
                let n = xs.iter().position(|n| *n >= 4);
                number(xs[..n.map_or(xs.len(), |n| n + 1)].to_vec()).own(own(n.is_some(), Own::Completes))
            }),
        ),
        (
            "drop_while",
            rule(4),
            Box::new(move |xs| number(xs.iter().copied().skip_while(|n| *n < 4).collect())),
        ),
        ("drop", set(&[("n", int(3))]), Box::new(move |xs| number(xs.iter().copied().skip(3).collect()))),
        (
            "take_last",
            set(&[("n", int(3))]),
            Box::new(move |xs| number(vec![]).tail(ints(xs[xs.len().saturating_sub(3)..].to_vec()))),
        ),
        (
            "drop_repeated",
            Params::new(),
            Box::new(move |xs| {
                let mut xs = xs.to_vec();
                xs.dedup();
                number(xs)
            }),
        ),
        (
            "limit",
            set(&[("n", int(4))]),
            Box::new(move |xs| {
                let e = StreamError::LimitReached { node: "it".into(), limit: 4 };
                number(xs.iter().copied().take(4).collect()).own(own(xs.len() > 4, Own::Fails(e)))
            }),
        ),
        (
            "map_concat",
            set(&[("copies", int(2))]),
            Box::new(move |xs| number(xs.iter().flat_map(|n| [*n, *n]).collect()).holds()),
        ),
        ("map_concat", set(&[("copies", int(0))]), Box::new(move |_| number(vec![]))),
        (
            "scan",
            Params::new(),
            Box::new(move |xs| number((0..=xs.len()).map(|n| sum_of(&xs[..n])).collect())),
        ),
        (
            "reduce",
            set(&[("op", "max".into()), ("work_ms", int(1))]),
            Box::new(move |xs| {
                let e = StreamError::NoSuchElement { node: "it".into() };
                let max = xs.iter().copied().max().into_iter().collect();
                number(vec![]).own(own(xs.is_empty(), Own::FailsAtEnd(e))).tail(ints(max))
            }),
        ),
        ("sliding", set(&[("n", int(3)), ("step", int(2))]), Box::new(move |xs| lists(windows(xs, 3, 2)))),
        (
            "zip_with_index",
            Params::new(),
            Box::new(move |xs| {
                Model::of(xs.iter().zip(0i64..).map(|(n, i)| Value::from(vec![int(*n), int(i)])).collect())
            }),
        ),
        ("intersperse", set(&[("value", int(-1))]), Box::new(move |xs| number(xs.join_by(-1)).holds())),
        (
            "recover",
            set(&[("value", int(-1))]),
            Box::new(move |xs| number(xs.to_vec()).failure(Failure::Completes(vec![int(-1)]))),
        ),
        (
            "on_error_complete",
            Params::new(),
            Box::new(move |xs| number(xs.to_vec()).failure(Failure::Completes(vec![]))),
        ),
    ];
    for (kind, params, model) in &table {
        for n in [0, 1, 2, 5, 17, 100] {
            for fails in [false, true] {
                let xs = input(n + usize::from(fails));
                let e = StreamError::LimitReached { node: "limit".into(), limit: n as u64 };
                let want = model(&xs[..n]).expected(if fails { Err(e) } else { Ok(()) }, None);
                for (cut, budget) in [(false, 1), (false, 1_000), (true, 3)] {
                    let got = drawn(kind, params, &xs, n, cut, budget);
                    let (mut items, end) = got;
                    if want.2 && want.0.starts_with(&items) {
                        items = want.0.clone();
                    }
                    assert_eq!(
                        (&items, &end),
                        (&want.0, &want.1),
                        "{kind} of {n}, fails {fails}, cut {cut}, budget {budget}"
                    );
                }
            }
        }
    }
}

#[test]
fn drawn_sources_and_sinks_give_what_they_say() {
    let none = |node: &str| StreamError::NoSuchElement { node: node.into() };
    let gives = |source: &str, params: &Params, sink: &str| {
        let chain = Chain::new().op("from", source, params.clone());
        let chain = chain.op("few", "take", set(&[("n", int(5))])).op("to", sink, Params::new());
        let (built, done) = chain.build(1).unwrap();
        run(built, 1, 256);
        done.take().expect("the stream has ended")
    };
    let seven = set(&[("value", int(7))]);
    let turns = set(&[("start", int(3)), ("count", int(2))]);
    assert_eq!(gives("single", &seven, "last"), Ok(int(7)));
    assert_eq!(gives("single", &seven, "count"), Ok(int(1)));
    assert_eq!(gives("empty", &Params::new(), "head"), Err(none("to")));
    assert_eq!(gives("empty", &Params::new(), "last"), Err(none("to")));
    assert_eq!(gives("repeat", &seven, "count"), Ok(int(5)));
    assert_eq!(gives("repeat", &seven, "cancelled"), Ok(Value::Unit));
    assert_eq!(gives("cycle", &turns, "head"), Ok(int(3)));
    assert_eq!(gives("cycle", &turns, "last"), Ok(int(3)));
    assert_eq!(gives("cycle", &turns, "fold"), Ok(int(3 + 4 + 3 + 4 + 3)));
    assert_eq!(gives("never", &Params::new(), "cancelled"), Ok(Value::Unit));
    let failed = StreamError::Stage { node: "from".into(), text: "it is drawn to fail".into() };
    assert_eq!(gives("failed", &Params::new(), "count"), Err(failed));
    let wrong = Chain::new().op("from", "cycle", set(&[("count", int(0))])).op("to", "count", Params::new());
    assert_eq!(wrong.check().len(), 1, "a cycle of nothing is refused");
}

#[test]
fn a_drawn_map_concat_opens_lists_again() {
    let chain = Chain::new()
        .op("numbers", "range", set(&[("count", int(7))]))
        .op("lists", "grouped", set(&[("n", int(3))]))
        .op("open", "map_concat", Params::new())
        .op("sum", "fold", Params::new());
    assert_eq!(chain.run_local().unwrap().take(), Some(Ok(int(21))));
}
