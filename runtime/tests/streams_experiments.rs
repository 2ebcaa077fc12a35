//! The experiments on asynchronous stages and buffers, in virtual time on the real Stepper, seeds 1 to 5.

use std::time::Duration;

use footlights::rng::Rng;
use footlights::stream::{
    Closed, Done, Flow, Job, Operators, OverflowStrategy, Plan, Sink, SinkPlan, Source, Time, TimedOperators,
};
use footlights::system::ActorSystem;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const N: u64 = 1_000;
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// Runs a stream of `N` elements to its end and tells how long it took.
fn time_of<P, S>(stream: &Closed<P, S>, workers: usize, seed: u64) -> Duration
where
    P: Plan,
    S: SinkPlan<In = P::Out, Mat = Done<u64>>,
{
    let system = ActorSystem::builder("experiment").stepper().workers(workers).seed(seed).build().unwrap();
    let (done, handle) = stream.run(&system).unwrap();
    assert!(system.run_until_quiet(10_000_000));
    assert_eq!(done.take(), Some(Ok(N)));
    assert_eq!(system.live_actors(), 0);
    assert!(system.ledger().balanced());
    let snapshot = handle.snapshot();
    assert!(snapshot.stages.iter().filter(|s| s.counted).all(|s| s.counts.balanced()), "{snapshot:#?}");
    assert!(snapshot.edges.iter().all(|e| e.high_water <= e.capacity), "{snapshot:#?}");
    Duration::from_nanos(system.now().as_nanos())
}

fn numbers() -> Source<impl Plan<Out = i64>> {
    Source::range(0..N as i64)
}

/// Spins 10 ms on a worker beside the island.
fn spin(n: i64) -> Job<i64> {
    work(n, MS * 10)
}

fn work(n: i64, d: Duration) -> Job<i64> {
    Job::task(move |effort| {
        effort.work(d);
        Ok(n)
    })
}

/// U(0, 100 ms), the same for the same element, stage and seed.
fn uneven(n: i64, stage: u64, seed: u64) -> Duration {
    Rng::new(seed).split(stage << 32 | n as u64).uniform(MS * 100)
}

fn ratio(slow: Duration, fast: Duration) -> f64 {
    slow.as_secs_f64() / fast.as_secs_f64()
}

#[test]
fn e2_e3_two_async_maps_of_one_are_as_fast_as_a_boundary_which_adds_nothing_more() {
    let twice = numbers().map_async(1, spin).map_async(1, spin).to(Sink::ignore());
    let cut = numbers().map_async(1, spin).async_boundary().map_async(1, spin).to(Sink::ignore());
    let ten = Time::Constant(MS * 10);
    let boundary = numbers().worked(ten).async_boundary().worked(ten).to(Sink::ignore());
    for seed in SEEDS {
        let e1 = time_of(&boundary, 2, seed);
        assert_eq!((time_of(&twice, 2, seed), e1), (MS * 10_010, MS * 10_010), "E2");
        assert_eq!(time_of(&cut, 2, seed), MS * 10_010, "E3");
    }
}

#[test]
fn e4_parallelism_two_on_both_is_four_times_as_fast_as_fused() {
    let twice = numbers().map_async(2, spin).map_async(2, spin).to(Sink::ignore());
    let unordered = numbers().map_async_unordered(2, spin).map_async_unordered(2, spin).to(Sink::ignore());
    for seed in SEEDS {
        assert_eq!(time_of(&twice, 4, seed), MS * 5_010);
        assert_eq!(time_of(&unordered, 4, seed), MS * 5_010);
    }
}

#[test]
fn e5_parallel_work_is_linear_up_to_the_workers_and_then_flat() {
    for seed in SEEDS {
        for (p, workers, ms) in [(1, 4, 10_000), (2, 4, 5_000), (4, 4, 2_500), (8, 4, 2_500), (8, 8, 1_250)] {
            let ordered = numbers().map_async(p, spin).to(Sink::ignore());
            assert_eq!(time_of(&ordered, workers, seed), MS * ms, "parallelism {p} on {workers}");
            let unordered = numbers().map_async_unordered(p, spin).to(Sink::ignore());
            assert_eq!(time_of(&unordered, workers, seed), MS * ms, "unordered, {p} on {workers}");
        }
    }
}

#[test]
fn e6_calls_that_only_wait_take_no_worker_however_many_there_are() {
    for seed in SEEDS {
        let call = move |n: i64| Job::After(uneven(n, 0, seed), Ok(n));
        let each: Vec<Duration> = (0..N as i64).map(|n| uneven(n, 0, seed)).collect();
        let (sum, max) = (each.iter().sum::<Duration>(), *each.iter().max().expect("there are some"));
        for workers in [1, 4] {
            assert_eq!(time_of(&numbers().map_async(1, call).to(Sink::ignore()), workers, seed), sum);
            assert_eq!(time_of(&numbers().map_async(1_000, call).to(Sink::ignore()), workers, seed), max);
            let unordered = numbers().map_async_unordered(1_000, call).to(Sink::ignore());
            assert_eq!(time_of(&unordered, workers, seed), max);
        }
        assert!((400.0..600.0).contains(&ratio(sum, max)), "{sum:?} to {max:?}");
    }
}

#[test]
fn e9_results_as_they_come_are_faster_the_more_the_times_vary() {
    let compare = |p, seed, cost: fn(i64, u64, u64) -> Duration| {
        let job = move |n: i64| work(n, cost(n, 0, seed));
        let ordered = time_of(&numbers().map_async(p, job).to(Sink::ignore()), 16, seed);
        ratio(ordered, time_of(&numbers().map_async_unordered(p, job).to(Sink::ignore()), 16, seed))
    };
    for seed in SEEDS {
        for (p, band) in [(4, 1.28..=1.40), (8, 1.41..=1.57), (16, 1.52..=1.69)] {
            let gain = compare(p, seed, uneven);
            assert!(band.contains(&gain), "parallelism {p}, seed {seed}: {gain}");
        }
    }
    // One in a hundred takes a hundred times as long.
    let rare = |n: i64, stage: u64, seed: u64| {
        let slow = Rng::new(seed).split(stage << 32 | n as u64).below(100) == 0;
        MS * if slow { 1_000 } else { 10 }
    };
    let mean = SEEDS.map(|seed| compare(8, seed, rare)).sum::<f64>() / 5.0;
    assert!(mean >= 2.0, "{mean}");
}

/// Four stages of uneven work, with `between` after each of the first three.
macro_rules! four {
    ($p:expr, $job:expr, $($between:tt)*) => {
        numbers()
            .map_async($p, $job(0))$($between)*
            .map_async($p, $job(1))$($between)*
            .map_async($p, $job(2))$($between)*
            .map_async($p, $job(3))
            .to(Sink::ignore())
    };
}

#[test]
fn e10_e11_rings_or_buffers_between_uneven_stages_make_them_faster() {
    for seed in SEEDS {
        for (p, band) in [(1, 1.42..=1.49), (4, 1.16..=1.22)] {
            let job = |stage| move |n: i64| work(n, uneven(n, stage, seed));
            let bare = time_of(&four!(p, job,), 16, seed);
            let rings = time_of(&four!(p, job, .async_boundary()), 16, seed);
            let buffers = time_of(&four!(p, job, .buffer(16, OverflowStrategy::Backpressure)), 16, seed);
            let gain = ratio(bare, rings);
            assert!(band.contains(&gain), "E10, parallelism {p}, seed {seed}: {gain}");
            let same = ratio(buffers, rings);
            assert!((0.98..=1.02).contains(&same), "E11, parallelism {p}, seed {seed}: {same}");
        }
    }
}

#[test]
fn e12_buffers_between_even_stages_gain_nothing() {
    for seed in SEEDS {
        let job = |_: u64| spin;
        assert_eq!(time_of(&four!(1, job,), 4, seed), MS * 10_030);
        let buffers = four!(1, job, .buffer(16, OverflowStrategy::Backpressure));
        assert_eq!(time_of(&buffers, 4, seed), MS * 10_030);
    }
}

/// Pages of 100 elements: the first of each comes after a fetch of a second, which begins when the page before is out.
fn pages() -> Source<impl Plan<Out = i64>> {
    let fetch = |n: i64| if n % 100 == 0 { Job::After(SECOND, Ok(n)) } else { Job::Ready(n) };
    numbers().via(Flow::of::<i64>().map_async(1, fetch))
}

#[test]
fn e13_a_buffer_as_large_as_a_page_hides_the_fetches() {
    let consumer = Time::Constant(MS * 10);
    let buffered = pages()
        .buffer(128, OverflowStrategy::Backpressure)
        .async_boundary()
        .worked(consumer)
        .to(Sink::ignore());
    let ring = pages().async_boundary().worked(consumer).to(Sink::ignore());
    for seed in SEEDS {
        // 1 s to the first page, and then 10 s without a pause.
        assert_eq!(time_of(&buffered, 2, seed), MS * 11_000);
        let alone = time_of(&ring, 2, seed);
        assert!((MS * 18_300..=MS * 18_700).contains(&alone), "{alone:?}");
    }
}
