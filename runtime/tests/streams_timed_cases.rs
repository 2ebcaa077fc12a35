//! Acceptance cases of asynchronous, timed and aggregating stages: X1, X4 and X8, and asking an actor.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use footlights::actor::{Actor, Context, Failure, Props};
use footlights::pattern::{AskError, Reply};
use footlights::rng::Rng;
use footlights::stream::{
    AskOperator, Built, DropReason, Job, LocalRun, Offered, Operators, Order, OverflowStrategy, Rate, Sink,
    Source, StreamError, StreamSnapshot, ThrottleMode, Time, TimedOperators,
};
use footlights::testkit::{on_each_dispatcher, on_steppers};
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn check(snapshot: &StreamSnapshot) {
    for stage in snapshot.stages.iter().filter(|s| s.counted) {
        assert!(stage.counts.balanced(), "{}: {:?}", stage.name, stage.counts);
    }
    for edge in &snapshot.edges {
        assert_eq!(edge.pushed, edge.taken + edge.fill + edge.dropped, "{edge:?}");
    }
}

fn settle(built: Built, workers: usize) -> LocalRun {
    let mut run = LocalRun::new(built, workers);
    while run.step() {
        check(&run.snapshot());
    }
    check(&run.snapshot());
    assert!(run.ended(), "an island did not end");
    assert_eq!(run.pending(), 0, "timers or requests are left");
    run
}

fn stage_failed(node: &str, text: &str) -> StreamError {
    StreamError::Stage { node: node.into(), text: text.into() }
}

/// A job of `n` that takes up to 20 ms; that of 1 fails.
fn b_fails(seed: u64, n: i64) -> Job<i64> {
    let d = MS * Rng::new(seed * 7 + n as u64).below(20) as u32;
    Job::After(d, if n == 1 { Err("b failed".into()) } else { Ok(n) })
}

#[test]
fn x1_a_failure_is_the_outcome_in_every_order_of_completion_and_no_result_is_made_up() {
    for seed in 0..100u64 {
        let seen: Arc<Mutex<Vec<i64>>> = Arc::default();
        let log = || {
            let seen = seen.clone();
            Sink::for_each(move |_, n| seen.lock().unwrap().push(n))
        };
        let letters = Source::range(0..7);
        let (built, done) = letters.clone().map_async(5, move |n| b_fails(seed, n)).to(log()).build(seed);
        settle(built, 2);
        assert_eq!(done.take(), Some(Err(stage_failed("map_async", "b failed"))), "seed {seed}");
        let prefix = std::mem::take(&mut *seen.lock().unwrap());
        assert!(prefix.is_empty() || prefix == [0], "ordered: a prefix of the right ones, not {prefix:?}");
        let (built, done) =
            letters.clone().map_async_unordered(5, move |n| b_fails(seed, n)).to(log()).build(seed);
        settle(built, 2);
        assert_eq!(done.take(), Some(Err(stage_failed("map_async_unordered", "b failed"))), "seed {seed}");
        assert!(!seen.lock().unwrap().contains(&1));
        seen.lock().unwrap().clear();
        for order in [Order::Input, Order::Any] {
            let keyed = letters.clone().map_async_partitioned(5, order, |n| n % 3, move |n| b_fails(seed, n));
            let (built, done) = keyed.to(log()).build(seed);
            settle(built, 2);
            assert_eq!(done.take(), Some(Err(stage_failed("map_async_partitioned", "b failed"))));
            assert!(!seen.lock().unwrap().contains(&1));
            seen.lock().unwrap().clear();
        }
    }
}

#[test]
fn x1_a_request_that_fails_at_once_waits_neither_for_upstream_nor_for_its_turn() {
    fn fails(n: i64) -> Job<i64> {
        match n {
            0 => Job::After(SECOND * 60, Ok(0)),
            _ => Job::After(MS, Err("no".into())),
        }
    }
    for unordered in [false, true] {
        let (feed, source) = Source::feed(8, OverflowStrategy::Fail).unwrap();
        let (built, done) = match unordered {
            false => source.map_async(4, fails).to(Sink::ignore()).build(1),
            true => source.map_async_unordered(4, fails).to(Sink::ignore()).build(1),
        };
        let mut run = LocalRun::new(built, 1);
        assert_eq!(feed.offer(0), Offered::Enqueued);
        assert_eq!(feed.offer(1), Offered::Enqueued);
        run.run();
        let error = done.take().expect("it has ended").expect_err("it has failed");
        assert!(error.to_string().contains("no"), "{error}");
        assert!(run.now() < at(100), "{:?}", run.now());
        assert_eq!(feed.offer(2), Offered::Closed, "upstream was cancelled");
        assert_eq!(run.pending(), 0);
    }
}

#[test]
fn x1_a_function_that_panics_before_it_made_a_future_fails_the_stream() {
    on_each_dispatcher(|system| {
        let panics = |n: i64| if n == 3 { panic!("planned: no future") } else { Job::Ready(n) };
        let (done, _) =
            Source::range(0..9).map_async_unordered(2, panics).to(Sink::ignore()).run(system).unwrap();
        let error = |node: &str| StreamError::Panic { node: node.into(), text: "planned: no future".into() };
        assert_eq!(system.block_on(done), Err(error("map_async_unordered")));
        let (done, _) = Source::range(0..9).map_async(2, panics).to(Sink::ignore()).run(system).unwrap();
        assert_eq!(system.block_on(done), Err(error("map_async")));
    });
}

#[test]
fn x1_failure_and_completion_in_one_turn_is_a_failure_also_without_order() {
    let last = |n: i64| if n == 2 { Job::Failed("last".into()) } else { Job::Ready(n) };
    for p in [1, 4] {
        let (built, done) = Source::range(0..3).map_async_unordered(p, last).to(Sink::ignore()).build(1);
        settle(built, 1);
        assert_eq!(done.take(), Some(Err(stage_failed("map_async_unordered", "last"))));
    }
    // The failing request comes in the turn in which upstream completes.
    let late = |n: i64| Job::After(MS, if n == 2 { Err("last".into()) } else { Ok(n) });
    let (built, done) = Source::range(0..3).map_async_unordered(4, late).to(Sink::ignore()).build(1);
    settle(built, 1);
    assert_eq!(done.take(), Some(Err(stage_failed("map_async_unordered", "last"))));
}

#[test]
fn x1_a_failure_after_downstream_has_cancelled_is_nobodys() {
    on_steppers(|system| {
        let job =
            |n: i64| Job::After(MS * (n + 1) as u32, if n == 0 { Ok(n) } else { Err("too late".into()) });
        let stream = Source::range(0..9).map_async_unordered(9, job).take(1).to(Sink::ignore());
        let (done, _) = stream.run(system).unwrap();
        assert!(system.run_until_quiet(100_000));
        assert_eq!(done.take(), Some(Ok(1)));
        assert_eq!(system.ledger().dead_lettered, 0);
    });
}

#[test]
fn x1_futures_may_be_ready_at_once_or_wake_from_anywhere() {
    /// Is ready at its nth poll and wakes itself before that.
    struct After(u32);
    impl Future for After {
        type Output = Result<(), String>;
        fn poll(
            mut self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Self::Output> {
            if self.0 == 0 {
                return std::task::Poll::Ready(Ok(()));
            }
            self.0 -= 1;
            cx.waker().wake_by_ref();
            std::task::Poll::Pending
        }
    }
    let job = |n: i64| Job::future(async move { After(n as u32 % 4).await.map(|()| n) });
    let (built, done) = Source::range(0..50).map_async(4, job).to(Sink::to_vec(99)).build(1);
    settle(built, 1);
    assert_eq!(done.take(), Some(Ok((0..50).collect())));
    on_each_dispatcher(|system| {
        let stream = Source::range(0..50).map_async(4, job).async_boundary().map_async_unordered(3, job);
        let (done, _) = stream.to(Sink::to_vec(99)).run(system).unwrap();
        let mut got = system.block_on(done).unwrap();
        got.sort_unstable();
        assert_eq!(got, (0..50).collect::<Vec<_>>());
        let fails = |n: i64| Job::future(async move { if n == 3 { Err("bad") } else { Ok(n) } });
        let (done, _) = Source::range(0..9).map_async(4, fails).to(Sink::ignore()).run(system).unwrap();
        assert_eq!(system.block_on(done), Err(stage_failed("map_async", "bad")));
        let panics = |n: i64| {
            Job::future(async move { if n == 3 { panic!("planned: a future") } else { Ok::<_, String>(n) } })
        };
        let (done, _) = Source::range(0..9).map_async(4, panics).to(Sink::ignore()).run(system).unwrap();
        let panic = StreamError::Panic { node: "map_async".into(), text: "planned: a future".into() };
        assert_eq!(system.block_on(done), Err(panic));
    });
}

/// Answers 2n; leaves 7 without an answer, fails at 8, keeps 9 for ever, and stops at 10.
#[derive(Default)]
struct Doubler {
    kept: Vec<Reply<i64>>,
}

struct Question(i64, Reply<i64>);

impl Actor for Doubler {
    type Msg = Question;
    fn receive(&mut self, cx: &mut Context<'_, Self>, Question(n, reply): Question) -> Result<(), Failure> {
        match n {
            7 => drop(reply),
            8 => return Err(Failure::new("planned", "no 8")),
            9 => self.kept.push(reply),
            10 => {
                self.kept.push(reply);
                cx.stop();
            }
            n => {
                reply.send(2 * n);
            }
        }
        Ok(())
    }
}

#[test]
fn ask_emits_the_answers_in_order_and_tells_why_there_is_none() {
    on_each_dispatcher(|system| {
        let spawn = || system.spawn("", Props::new(Doubler::default)).unwrap();
        let doubler = spawn();
        let ask = |range: std::ops::Range<i64>, timeout| {
            let (done, _) = Source::range(range)
                .ask(2, &doubler, timeout, Question)
                .to(Sink::to_vec(99))
                .run(system)
                .unwrap();
            system.block_on(done)
        };
        let failed = |error| Err(StreamError::Ask { node: "ask".into(), error });
        assert_eq!(ask(0..7, SECOND * 60), Ok(vec![0, 2, 4, 6, 8, 10, 12]));
        assert_eq!(ask(7..8, SECOND * 60), failed(AskError::NoReply));
        assert_eq!(ask(9..10, MS * 20), failed(AskError::Timeout));
        assert!(matches!(
            ask(8..9, SECOND * 60),
            Err(StreamError::Ask { error: AskError::HandlerFailed(_), .. })
        ));
        let path = doubler.path().into();
        let stopped = Err(StreamError::TargetStopped { node: "ask".into(), path });
        assert_eq!(ask(10..11, SECOND * 60), stopped, "it stops with the question");
        assert_eq!(ask(0..5, SECOND * 60), stopped, "it has stopped");
    });
}

#[test]
fn questions_under_way_are_given_up_when_the_stream_ends() {
    on_steppers(|system| {
        let doubler = system.spawn("doubler", Props::new(Doubler::default)).unwrap();
        // 0 is answered; 9 never is.
        let asks = Source::from_iter([0, 9, 9]).ask(3, &doubler, SECOND * 3600, Question).take(1);
        let (done, _) = asks.to(Sink::ignore()).run(system).unwrap();
        system.run_for(SECOND);
        assert_eq!(done.take(), Some(Ok(1)));
        assert_eq!(system.snapshot().asks.pending, 0, "{:?}", system.snapshot().asks);
    });
}

#[test]
fn a_run_with_questions_and_futures_repeats_its_log() {
    let run = |seed| {
        let builder = footlights::system::ActorSystem::builder("repeats").stepper().workers(3).seed(seed);
        let system = builder.seeded_order().build().unwrap();
        let doubler = system.spawn("doubler", Props::new(Doubler::default)).unwrap();
        let stream = Source::range(0..7)
            .ask(3, &doubler, SECOND, Question)
            .async_boundary_of(2)
            .map_async_unordered(3, |n| Job::task(move |_| Ok(n)))
            .extrapolate(None, |n| std::iter::repeat_n(n, 2))
            .delay(MS, 4)
            .take(9);
        let (done, _) = stream.to(Sink::ignore()).run(&system).unwrap();
        assert!(system.run_until_quiet(100_000));
        assert!(done.take().is_some_and(|end| end.is_ok()));
        system.log_hash()
    };
    for seed in 0..5 {
        assert_eq!(run(seed), run(seed), "seed {seed}");
    }
}

/// Elements at these instants, in ms, and the end `behind` ms after the last.
fn timed(instants: &[u64], behind: u64) -> Source<impl footlights::stream::Plan<Out = u64> + use<>> {
    let ends = instants.last().map_or(0, |t| t + behind);
    let all: Vec<(u64, bool)> =
        instants.iter().map(|t| (*t, true)).chain((behind > 0).then_some((ends, false))).collect();
    let steps: Vec<_> = all
        .iter()
        .zip(std::iter::once(0).chain(all.iter().map(|(t, _)| *t)))
        .map(|((t, is), last)| (t - last, *t, *is))
        .collect();
    Source::from_iter(steps)
        .map_async(1, |(gap, t, is)| Job::After(MS * gap as u32, Ok((t, is))))
        .filter(|(_, is)| *is)
        .map(|(t, _)| t)
}

#[test]
fn x4_grouped_within_gives_the_last_chunk_also_when_its_timer_has_to_be_set_again() {
    for behind in [0u64, 5, 5_000] {
        let tens: Vec<u64> = (0..11).map(|n| n * 10).collect();
        let groups = |n| {
            let (built, done) = timed(&tens, behind).grouped_within(n, SECOND).to(Sink::to_vec(99)).build(1);
            settle(built, 1);
            done.take().unwrap().unwrap()
        };
        assert_eq!(groups(1), tens.iter().map(|t| vec![*t]).collect::<Vec<_>>());
        let pairs = groups(2);
        assert_eq!((pairs.len(), pairs.last()), (6, Some(&vec![100])), "end {behind} ms later");
    }
}

#[test]
fn x4_delay_hands_on_what_is_held_when_upstream_is_silent_or_completes() {
    for behind in [0u64, 1, 100, 1_000] {
        let stream = timed(&[0, 0, 50], behind).delay(MS * 100, 16).map_cx(|cx, _| cx.now());
        let (built, done) = stream.to(Sink::to_vec(9)).build(1);
        let run = settle(built, 1);
        assert_eq!(done.take(), Some(Ok(vec![at(100), at(100), at(150)])), "end {behind} ms behind C");
        assert_eq!(run.now(), at(150.max(50 + behind)), "completion not before C");
    }
}

/// Lets a source run against a consumer that takes one element and is then busy for a second: all else, and the end,
/// comes meanwhile. Gives what arrives, and the snapshot at the end.
macro_rules! without_demand {
    ($stream:expr) => {{
        let slow = $stream.async_boundary_of(1).worked(Time::Constant(SECOND));
        let (built, done) = slow.to(Sink::to_vec(999)).build(1);
        let run = settle(built, 2);
        (done.take().expect("it has ended"), run.snapshot())
    }};
}

#[test]
fn x4_what_is_folded_without_demand_goes_out_before_the_end() {
    let numbers = || Source::range(1..101);
    let (sums, _) = without_demand!(numbers().conflate(|a, b| a + b));
    let sums = sums.unwrap();
    assert_eq!(sums.iter().sum::<i64>(), 5_050);
    assert!(sums.len() <= 4, "one with demand, one or two in the ring, and the rest: {sums:?}");
    let join = |mut xs: Vec<i64>, n: i64| {
        xs.push(n);
        xs
    };
    let all: Vec<i64> = (1..101).collect();
    let (batches, _) = without_demand!(numbers().batch(7, |n| vec![n], join));
    assert_eq!(batches.unwrap().concat(), all);
    // The heavy last element is pending behind a batch when upstream completes.
    let heavy = |n: &i64| if *n == 100 { 1_000 } else { 1 };
    let (batches, _) = without_demand!(numbers().batch_weighted(200, heavy, |n| vec![n], join));
    let batches = batches.unwrap();
    assert_eq!((batches.concat(), batches.last()), (all.clone(), Some(&vec![100])));
    let (chunks, _) = without_demand!(numbers().grouped_within(7, MS * 50));
    assert_eq!(chunks.unwrap().concat(), all);
    let (chunks, _) = without_demand!(numbers().grouped_weighted_within(99, MS * 50, |n| *n as u64));
    assert_eq!(chunks.unwrap().concat(), all);
    let (same, _) = without_demand!(numbers().delay(MS, 8));
    assert_eq!(same.unwrap(), all);
    let (same, _) = without_demand!(numbers().buffer(200, OverflowStrategy::Backpressure));
    assert_eq!(same.unwrap(), all);
    let (same, _) = without_demand!(numbers().detach());
    assert_eq!(same.unwrap(), all);
    let (same, _) = without_demand!(numbers().keep_alive(SECOND * 3_600, || 0));
    assert_eq!(same.unwrap(), all);
    let (same, _) = without_demand!(numbers().extrapolate(None, std::iter::repeat));
    assert_eq!(same.unwrap(), all, "every original, and none twice: upstream was never slow");
    let (last, _) = without_demand!(numbers().debounce(MS));
    assert_eq!(last.unwrap().last(), Some(&100));
    let (last, _) = without_demand!(numbers().sample(MS));
    assert_eq!(last.unwrap().last(), Some(&100));
    let (chunks, _) = without_demand!(numbers().grouped(7));
    assert_eq!(chunks.unwrap().concat(), all);
}

#[test]
fn x4_a_failure_drops_what_stages_hold_and_counts_it() {
    let fails = || Source::range(0..10).try_map(|n| if n == 9 { Err("planned") } else { Ok(n) });
    let error = || stage_failed("try_map", "planned");
    let judge = |name: &str, held: u64, end: StreamSnapshot| {
        let counts = end.stage(name).expect("it is there").counts;
        assert_eq!(counts.dropped.of(DropReason::StageFailed), held, "{name}: {counts:?}");
    };
    let (done, end) = without_demand!(fails().delay(SECOND, 16));
    assert_eq!(done, Err(error()));
    judge("delay", 9, end);
    let (done, end) = without_demand!(fails().grouped_within(100, SECOND));
    assert_eq!(done, Err(error()));
    judge("grouped_within", 9, end);
    let (done, end) = without_demand!(fails().conflate(|a, b| a + b));
    assert_eq!(done, Err(error()));
    judge("conflate", 1, end);
    let (done, end) = without_demand!(fails().map_async_unordered(16, |n| Job::After(SECOND, Ok(n))));
    assert_eq!(done, Err(error()));
    judge("map_async_unordered", 9, end);
}

#[test]
fn x4_many_pipelines_side_by_side_hand_on_all_their_elements_in_order() {
    on_steppers(|system| {
        let streams: Vec<_> = (0..25)
            .map(|i| {
                let mut rng = Rng::new(system.seed() * 100 + i);
                let mut t = 0;
                let instants: Vec<u64> = (0..100)
                    .map(|_| {
                        t += 1 + rng.below(100);
                        t
                    })
                    .collect();
                let stream = timed(&instants, 0).grouped_within(10, MS * 50).to(Sink::to_vec(200));
                (instants, stream.run(system).unwrap().0)
            })
            .collect();
        assert!(system.run_until_quiet(1_000_000));
        for (instants, done) in streams {
            let chunks = done.take().expect("it has ended").expect("it has not failed");
            assert!(chunks.iter().all(|chunk| !chunk.is_empty() && chunk.len() <= 10));
            assert!(chunks.iter().all(|chunk| chunk.last().unwrap() - chunk[0] <= 50));
            assert_eq!(chunks.concat(), instants);
        }
    });
}

#[test]
fn x4_timer_and_completion_in_the_same_moment_lose_nothing() {
    // The end comes exactly when the chunk's or the element's time is up, and just before and after.
    for behind in [99u64, 100, 101] {
        for budget in [1, 256] {
            let groups = timed(&[0, 0], behind).grouped_within(9, MS * 100).to(Sink::to_vec(9));
            let (built, done) = groups.build(1);
            let mut run = LocalRun::new(built, 1).budget(budget);
            run.run();
            assert_eq!((done.take(), run.pending()), (Some(Ok(vec![vec![0, 0]])), 0));
            let late = timed(&[0, 0], behind).delay(MS * 100, 9).to(Sink::to_vec(9));
            let (built, done) = late.build(1);
            let mut run = LocalRun::new(built, 1).budget(budget);
            run.run();
            assert_eq!((done.take(), run.pending()), (Some(Ok(vec![0, 0])), 0));
            let last = timed(&[0, 0], behind).debounce(MS * 100).to(Sink::to_vec(9));
            let (built, done) = last.build(1);
            let mut run = LocalRun::new(built, 1).budget(budget);
            run.run();
            assert_eq!((done.take(), run.pending()), (Some(Ok(vec![0])), 0));
            let silent = timed(&[0, 0], behind).keep_alive(MS * 100, || 7).to(Sink::to_vec(9));
            let (built, done) = silent.build(1);
            let mut run = LocalRun::new(built, 1).budget(budget);
            run.run();
            let got = done.take().unwrap().unwrap();
            assert_eq!((&got[..2], run.pending()), (&[0, 0][..], 0), "{got:?}");
            assert!(got.len() <= 3 && got[2..].iter().all(|n| *n == 7), "{got:?}");
        }
    }
}

#[test]
fn x4_delay_holds_no_element_longer_than_its_delay_at_a_high_rate() {
    on_steppers(|system| {
        let instants: Vec<u64> = (0..2_000).map(|n| n / 3).collect();
        let stream = timed(&instants, 0)
            .delay(MS * 20, 256)
            .map_cx(|cx, t| cx.now().as_nanos() / 1_000_000 - t)
            .to(Sink::to_vec(3_000));
        let (done, _) = stream.run(system).unwrap();
        assert!(system.run_until_quiet(1_000_000));
        let held = done.take().unwrap().unwrap();
        assert_eq!(held.len(), 2_000);
        assert!(held.iter().all(|ms| *ms == 20), "{held:?}");
    });
}

fn stamps(stream: Source<impl footlights::stream::Plan<Out = u64>>) -> Vec<(u64, u64)> {
    let all = stream.map_cx(|cx, n| (cx.now().as_nanos() / 1_000_000, n)).to(Sink::to_vec(100_000));
    let (built, done) = all.build(1);
    let mut run = LocalRun::new(built, 1);
    run.run();
    assert_eq!(run.pending(), 0);
    done.take().expect("it has ended").expect("it has not failed")
}

#[test]
fn x8_no_window_of_a_second_holds_more_than_the_burst_and_the_rate() {
    let rate = Rate::new(10, SECOND).burst(5);
    let instants: Vec<u64> = (0..100).map(|_| 60_000).collect();
    let out = stamps(timed(&instants, 0).throttle(rate, ThrottleMode::Shaping));
    let times: Vec<u64> = out.iter().map(|(t, _)| *t).collect();
    assert_eq!(times.len(), 100);
    assert_eq!((times[4], times[5], times[99]), (60_000, 60_100, 69_500));
    for from in &times {
        assert!(times.iter().filter(|t| (*from..from + 1_000).contains(*t)).count() <= 15);
    }
}

#[test]
fn x8_a_small_explicit_burst_holds_the_rate_with_coarse_timers() {
    for (per_second, step) in [(500u64, 10u64), (1_000, 4), (1_000, 16)] {
        let rate = Rate::new(per_second, SECOND).burst(5);
        // The one worker is away for `step` at a time, as with a coarse timer: what the throttle is late it makes up.
        let coarse = Source::range(0..i64::MAX)
            .throttle(rate, ThrottleMode::Shaping)
            .async_boundary_of(64)
            .grouped_within(1_000, MS)
            .worked(Time::Constant(MS * step as u32))
            .to(Sink::ignore());
        let mut run = LocalRun::new(coarse.build(1).0, 1);
        run.run_until(at(10_000));
        let snapshot = run.snapshot();
        let passed = snapshot.stage("throttle").unwrap().counts.emitted;
        assert!(passed >= per_second * 95 / 10 && passed <= per_second * 102 / 10 + 5, "{passed}, {step} ms");
        assert!(snapshot.islands[0].runs < 4 * 10_000 / step, "its timers were late: {snapshot:#?}");
    }
}

#[test]
fn x8_one_element_in_seven_days_is_exact() {
    let week = SECOND * 7 * 24 * 3_600;
    let out = stamps(timed(&[0, 0, 0], 0).throttle(Rate::new(1, week), ThrottleMode::Shaping));
    let ms = week.as_millis() as u64;
    assert_eq!(out.iter().map(|(t, _)| *t).collect::<Vec<_>>(), [0, ms, 2 * ms]);
}

#[test]
fn x8_an_element_dearer_than_the_burst_waits_for_a_full_bucket_and_is_never_stuck() {
    let rate = Rate::new(10, SECOND).burst(5);
    let costs = || timed(&[0, 0, 0, 0], 0).throttle_by(rate, ThrottleMode::Shaping, |_| 20);
    // Each leaves a debt of 15 behind a full bucket: 2 s until it is full again.
    assert_eq!(stamps(costs()).iter().map(|(t, _)| *t).collect::<Vec<_>>(), [0, 2_000, 4_000, 6_000]);
    let free = timed(&[0; 50], 0).throttle_by(rate, ThrottleMode::Enforcing, |_| 0);
    assert_eq!(stamps(free).len(), 50, "cost 0 is free");
}

#[test]
fn x8_enforcing_fails_only_above_the_rate() {
    let rate = Rate::new(10, SECOND).burst(5);
    let run = |instants: &[u64]| {
        let stream = timed(instants, 0).throttle(rate, ThrottleMode::Enforcing).to(Sink::ignore());
        let (built, done) = stream.build(1);
        settle(built, 1);
        done.take().unwrap()
    };
    let at_rate: Vec<u64> = (0..200).map(|n| n * 100).collect();
    assert_eq!(run(&at_rate), Ok(200));
    let bursts: Vec<u64> = (0..100).map(|n| n / 5 * 500).collect();
    assert_eq!(run(&bursts), Ok(100), "five at once, each half second");
    let above = [&bursts[..], &[bursts[99]]].concat();
    assert_eq!(run(&above), Err(StreamError::RateExceeded { node: "throttle".into() }));
}

#[test]
fn x8_a_clock_step_of_an_hour_gives_one_burst() {
    // The consumer is away for an hour while elements wait: from outside, that is a clock that jumps.
    let rate = Rate::new(10, SECOND).burst(5);
    let away = Source::range(0..60)
        .throttle(rate, ThrottleMode::Shaping)
        .map_cx(|cx, n| {
            if n == 9 {
                cx.work(SECOND * 3_600);
            }
            (n, cx.now().as_nanos() / 1_000_000)
        })
        .to(Sink::to_vec(99));
    let (built, done) = away.build(1);
    settle(built, 1);
    let got = done.take().unwrap().unwrap();
    let back = got[9].1 + 3_600_000;
    assert_eq!(got[9].1, 500);
    assert!(got.iter().map(|(n, _)| *n).eq(0..60), "the order is kept");
    assert_eq!(got.iter().filter(|(_, t)| *t == back).count(), 5, "one burst: {got:?}");
    assert_eq!(got[15].1, back + 100);
}
