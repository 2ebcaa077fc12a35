//! Every operator against a pure list model: typed, dynamic, and with every stage on an island of its own.

use std::time::Duration;

use footlights::stream::{
    Chain, Flow, Job, LocalRun, Operators, OverflowStrategy, Params, Rate, Sink, Source, StreamError,
    ThrottleMode, Time, Value,
};
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

/// Runs a flow fused, and cut before and behind it at several capacities; all must give what the model gives.
macro_rules! check {
    ($name:expr, $flow:expr, $model:expr) => {
        for n in [0i64, 1, 2, 3, 16, 17, 100] {
            let expected = $model((0..n).collect::<Vec<i64>>());
            let fused = Source::range(0..n).via($flow).to(Sink::to_vec(10_000));
            assert_eq!(settle(&fused, 1), Ok(expected.clone()), "{} of {n}, fused", $name);
            for capacity in [1, 2, 16] {
                let cut = Source::range(0..n)
                    .async_boundary_of(capacity)
                    .via($flow)
                    .async_boundary_of(capacity)
                    .to(Sink::to_vec(10_000));
                for workers in [1, 2, 4] {
                    let label = format!("{} of {n}, capacity {capacity}, {workers} workers", $name);
                    assert_eq!(settle(&cut, workers), Ok(expected.clone()), "{label}");
                }
            }
        }
    };
}

macro_rules! settle_body {
    ($built:expr, $done:expr, $workers:expr) => {{
        let mut run = LocalRun::new($built, $workers).budget(3);
        run.run();
        assert!(run.ended(), "an island did not end");
        assert_eq!(run.pending(), 0);
        let snapshot = run.snapshot();
        assert!(snapshot.stages.iter().all(|s| s.counts.balanced()), "{snapshot:#?}");
        assert!(snapshot.edges.iter().all(|e| e.high_water <= e.capacity && e.fill == 0), "{snapshot:#?}");
        $done.take().expect("the stream has ended")
    }};
}

fn settle<P, S, T>(stream: &footlights::stream::Closed<P, S>, workers: usize) -> Result<T, StreamError>
where
    P: footlights::stream::Plan,
    S: footlights::stream::SinkPlan<In = P::Out, Mat = footlights::stream::Done<T>>,
{
    let (built, done) = stream.build(7);
    settle_body!(built, done, workers)
}

#[test]
fn map_filter_take_grouped_fold_are_their_list_models() {
    check!("map", Flow::of::<i64>().map(|n| n * 2), |xs: Vec<i64>| xs
        .iter()
        .map(|n| n * 2)
        .collect::<Vec<_>>());
    check!("filter", Flow::of::<i64>().filter(|n| n % 3 == 0), |mut xs: Vec<i64>| {
        xs.retain(|n| n % 3 == 0);
        xs
    });
    for k in [0u64, 1, 5, 16, 1000] {
        check!("take", Flow::of::<i64>().take(k), |mut xs: Vec<i64>| {
            xs.truncate(k as usize);
            xs
        });
    }
    for k in [1usize, 2, 7, 16] {
        check!("grouped", Flow::of::<i64>().grouped(k), |xs: Vec<i64>| {
            xs.chunks(k).map(<[i64]>::to_vec).collect::<Vec<_>>()
        });
    }
    check!("fold", Flow::of::<i64>().fold(0i64, |a, n| a + n), |xs: Vec<i64>| vec![xs.iter().sum::<i64>()]);
}

#[test]
fn buffer_throttle_map_async_and_worked_keep_every_element_in_order() {
    let same = |xs: Vec<i64>| xs;
    for size in [1usize, 2, 16] {
        check!("buffer", Flow::of::<i64>().buffer(size, OverflowStrategy::Backpressure), same);
        check!(
            "map_async timer",
            Flow::of::<i64>().map_async(size, |n| Job::After(MS * (n % 5) as u32, Ok(n))),
            same
        );
        check!("map_async ready", Flow::of::<i64>().map_async(size, Job::Ready), same);
        let task = |n: i64| {
            Job::task(move |effort| {
                effort.work(MS * (n % 4) as u32);
                Ok(n)
            })
        };
        check!("map_async task", Flow::of::<i64>().map_async(size, task), same);
    }
    let rate = Rate::new(100, Duration::from_secs(1)).burst(3);
    check!("throttle", Flow::of::<i64>().throttle(rate, ThrottleMode::Shaping), same);
    check!("worked", Flow::of::<i64>().worked(Time::Uniform(MS * 3)), same);
}

#[test]
fn chains_of_operators_are_the_composition_of_their_models() {
    let flow = || {
        Flow::of::<i64>()
            .worked(Time::Constant(MS))
            .buffer(3, OverflowStrategy::Backpressure)
            .map_async(2, |n| Job::After(MS * 2, Ok(n + 1)))
            .filter(|n| n % 2 == 0)
            .grouped(4)
            .buffer(1, OverflowStrategy::Backpressure)
            .take(5)
    };
    check!("chain", flow(), |xs: Vec<i64>| {
        let kept: Vec<i64> = xs.into_iter().map(|n| n + 1).filter(|n| n % 2 == 0).collect();
        kept.chunks(4).take(5).map(<[i64]>::to_vec).collect::<Vec<_>>()
    });
}

/// One drawn stage and what it does to a list.
#[derive(Clone, Debug)]
enum Drawn {
    Add(i64),
    Odd,
    Take(usize),
    Buffer(usize),
    Async(usize, &'static str),
    Throttle(i64),
    Work(i64),
    Cut(usize),
}

impl Drawn {
    fn add_to(&self, chain: Chain, name: &str) -> Chain {
        let p = |pairs: &[(&str, Value)]| -> Params {
            pairs.iter().map(|(k, v)| ((*k).to_string(), v.clone())).collect()
        };
        let int = |n: usize| Value::from(n as i64);
        match self {
            Drawn::Add(k) => chain.op(name, "map", p(&[("op", "add".into()), ("operand", Value::from(*k))])),
            Drawn::Odd => chain.op(name, "filter", p(&[("op", "odd".into())])),
            Drawn::Take(n) => chain.op(name, "take", p(&[("n", int(*n))])),
            Drawn::Buffer(n) => chain.op(name, "buffer", p(&[("size", int(*n))])),
            Drawn::Async(n, uses) => {
                let service = ("service", Value::from("exponential"));
                chain.op(name, "map_async", p(&[("parallelism", int(*n)), ("uses", (*uses).into()), service]))
            }
            Drawn::Throttle(n) => chain.op(name, "throttle", p(&[("n", Value::from(*n))])),
            Drawn::Work(ms) => chain.op(name, "map", p(&[("work_ms", Value::from(*ms as f64))])),
            Drawn::Cut(n) => chain.op(name, "async_boundary", p(&[("capacity", int(*n))])),
        }
    }

    fn model(&self, xs: Vec<i64>) -> Vec<i64> {
        match self {
            Drawn::Add(k) => xs.into_iter().map(|n| n + k).collect(),
            Drawn::Odd => xs.into_iter().filter(|n| n % 2 != 0).collect(),
            Drawn::Take(n) => xs.into_iter().take(*n).collect(),
            _ => xs,
        }
    }
}

fn drawn() -> impl Strategy<Value = Drawn> {
    prop_oneof![
        (-5i64..5).prop_map(Drawn::Add),
        Just(Drawn::Odd),
        (0usize..40).prop_map(Drawn::Take),
        (1usize..5).prop_map(Drawn::Buffer),
        (1usize..5, prop_oneof![Just("timer"), Just("work")]).prop_map(|(n, uses)| Drawn::Async(n, uses)),
        (1i64..200).prop_map(Drawn::Throttle),
        (0i64..4).prop_map(Drawn::Work),
        (1usize..20).prop_map(Drawn::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn random_drawn_chains_are_their_list_models(
        stages in prop::collection::vec(drawn(), 0..12),
        count in 0i64..80,
        workers in 1usize..4,
        budget in 1usize..20,
        cut_all in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let numbers = Params::from([("count".to_string(), Value::from(count))]);
        let mut chain = Chain::new().op("numbers", "range", numbers);
        let mut model: Vec<i64> = (0..count).collect();
        for (i, stage) in stages.iter().enumerate() {
            chain = stage.add_to(chain, &format!("s{i}"));
            if cut_all {
                chain = chain.op(&format!("c{i}"), "async_boundary", Params::new());
            }
            model = stage.model(model);
        }
        let got = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = got.clone();
        let chain = chain.tell("out", move |_, x| sink.lock().unwrap().push(x.as_int().unwrap()), |_, _| {});
        let (built, done) = chain.build(seed).unwrap();
        let mut run = LocalRun::new(built, workers).budget(budget);
        while run.step() {
            let snapshot = run.snapshot();
            prop_assert!(snapshot.stages.iter().all(|s| s.counts.balanced()), "{:#?}", snapshot);
            for pair in snapshot.stages.windows(2).filter(|p| p[0].island == p[1].island) {
                let (up, down) = (&pair[0].counts, &pair[1].counts);
                prop_assert_eq!(up.emitted, down.taken + up.resting + up.lost_on_edge, "{:#?}", pair);
                prop_assert!(up.resting <= 1);
            }
        }
        prop_assert!(run.ended());
        prop_assert_eq!(run.pending(), 0);
        prop_assert_eq!(done.take(), Some(Ok(Value::from(model.len() as i64))));
        prop_assert_eq!(&*got.lock().unwrap(), &model);
    }
}
