//! Promises of circuit breaker, retry and sleep, all in the system's time.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::scripted::{self, props, rest};
use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient};
use footlights::observe::{BreakerChange, BreakerState, EventKind, Retried, RetryVerdict};
use footlights::pattern::{AskError, BreakerError, BreakerSettings, CircuitBreaker, Reply, Retry};
use footlights::supervise::Backoff;
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);

fn settings() -> BreakerSettings {
    BreakerSettings::default()
}

fn breaker(system: &ActorSystem, settings: BreakerSettings) -> CircuitBreaker {
    CircuitBreaker::new(&system.handle(), "db", settings)
}

async fn down() -> Result<u32, &'static str> {
    Err("down")
}

async fn up() -> Result<u32, &'static str> {
    Ok(1)
}

fn changes(system: &ActorSystem) -> Vec<BreakerChange> {
    let changes = system.rare_events(0).0.into_iter().filter_map(|event| match event.kind {
        EventKind::BreakerChanged(change) => Some(*change),
        _ => None,
    });
    changes.collect()
}

#[test]
fn ten_failures_open_it_and_calls_are_turned_away_at_once() {
    on_each_dispatcher(|system| {
        let breaker = breaker(system, settings());
        for _ in 0..10 {
            assert_eq!(breaker.state(), BreakerState::Closed);
            assert_eq!(system.block_on(breaker.call(down)), Err(BreakerError::Failed("down")));
        }
        assert_eq!(breaker.state(), BreakerState::Open);
        let made = AtomicU32::new(0);
        let counted = || {
            made.fetch_add(1, Ordering::Relaxed);
            up()
        };
        match system.block_on(breaker.call(counted)) {
            Err(BreakerError::Open(open)) => assert!(open.retry_in <= S * 15 && open.retry_in > S * 5),
            other => panic!("{other:?} is not what an open breaker says"),
        }
        assert_eq!(made.load(Ordering::Relaxed), 0, "the call was not made");
    });
}

#[test]
fn it_closes_again_by_one_trial_that_goes_well() {
    on_steppers(|system| {
        let breaker = breaker(system, settings().max_failures(1));
        assert!(system.block_on(breaker.call(down)).is_err());
        system.run_for(S * 15);
        let trial = breaker.admit().expect("its time is over");
        assert_eq!(breaker.state(), BreakerState::HalfOpen);
        let away = breaker.admit().expect_err("one trial at a time");
        assert_eq!(away.retry_in, S * 10);
        trial.succeeded();
        assert_eq!(system.block_on(breaker.call(up)), Ok(1));
        let states: Vec<_> = changes(system).into_iter().map(|change| (change.to, change.why())).collect();
        let expected = [
            (BreakerState::Open, "failure 1 of 1 in a row; open for 15s"),
            (BreakerState::HalfOpen, "its time is over; one trial call"),
            (BreakerState::Closed, "the trial call went well"),
        ];
        assert_eq!(states, expected.map(|(state, why)| (state, why.to_owned())));
    });
}

#[test]
fn of_many_callers_exactly_one_is_the_trial() {
    on_each_dispatcher(|system| {
        let breaker = breaker(system, settings().max_failures(1).reset_after(MS).reset_max(MS));
        assert!(system.block_on(breaker.call(down)).is_err());
        system.block_on(system.handle().sleep(MS * 2));
        let trials: Vec<_> = (0..20).filter_map(|_| breaker.admit().ok()).collect();
        assert_eq!(trials.len(), 1);
        drop(trials);
        assert!(breaker.admit().is_ok(), "a trial that is given up frees its place");
    });
}

#[test]
fn a_failed_trial_opens_it_for_longer() {
    on_steppers(|system| {
        let breaker = breaker(system, settings().max_failures(1).factor_permille(2_000));
        assert!(system.block_on(breaker.call(down)).is_err());
        system.run_for(S * 15);
        assert_eq!(system.block_on(breaker.call(down)), Err(BreakerError::Failed("down")));
        assert_eq!(breaker.admit().expect_err("open").retry_in, S * 30);
        let last = changes(system).pop().expect("a change");
        assert_eq!(last.why(), "the trial call failed; open for 30s");
    });
}

#[test]
fn a_call_over_its_time_is_given_up_and_is_a_failure() {
    on_steppers(|system| {
        let breaker = breaker(system, settings().max_failures(1));
        let handle = system.handle();
        let slow = || async move {
            handle.sleep(S * 60).await;
            Ok::<_, &str>(())
        };
        assert_eq!(system.block_on(breaker.call(slow)), Err(BreakerError::TimedOut));
        assert_eq!((system.now().as_nanos(), breaker.state()), (10_000_000_000, BreakerState::Open));
        assert_eq!(system.snapshot().timers, 0, "no timer is left");
    });
}

#[test]
fn errors_say_what_happened() {
    let system = ActorSystem::builder("errors").stepper().build().expect("good settings");
    let breaker = breaker(&system, settings().max_failures(1));
    breaker.admit().expect("closed").failed();
    let open = BreakerError::<AskError>::Open(breaker.admit().expect_err("open"));
    assert_eq!(open.to_string(), "the circuit breaker is open; try again in 15s");
    let timed_out = BreakerError::<AskError>::TimedOut;
    assert_eq!(timed_out.to_string(), "the call took longer than the circuit breaker allows");
    assert_eq!(BreakerError::Failed(AskError::Dead).to_string(), AskError::Dead.to_string());
}

/// Answers after some work, or never.
struct Server;

enum Query {
    After(Duration, Reply<u32>),
    Never(Reply<u32>),
}

impl Actor for Server {
    type Msg = Query;

    fn receive(&mut self, cx: &mut Context<'_, Self>, query: Query) -> Result<(), Failure> {
        match query {
            Query::After(d, reply) => {
                cx.work(d);
                reply.send(7);
            }
            Query::Never(reply) => drop(reply),
        }
        Ok(())
    }
}

type Answer = Result<u32, BreakerError<AskError>>;

/// Asks through a breaker, one after another, and says what came.
struct Client {
    breaker: CircuitBreaker,
    server: ActorRef<Query>,
    out: Recipient<Answer>,
}

enum Order {
    Ask(Duration),
    AskInVain,
    Came(Answer),
}

impl Actor for Client {
    type Msg = Order;

    fn receive(&mut self, cx: &mut Context<'_, Self>, order: Order) -> Result<(), Failure> {
        let (breaker, server) = (&self.breaker, &self.server);
        match order {
            Order::Ask(d) => {
                cx.ask_through(breaker, server, |reply| Query::After(d, reply), S * 30, Order::Came)
            }
            Order::AskInVain => cx.ask_through(breaker, server, Query::Never, S * 30, Order::Came),
            Order::Came(answer) => self.out.tell(answer),
        }
        Ok(())
    }
}

fn client(system: &ActorSystem, breaker: &CircuitBreaker, out: &Probe<Answer>) -> ActorRef<Order> {
    let server = system.spawn("server", Props::new(|| Server)).expect("a free name");
    let (breaker, out) = (breaker.clone(), out.recipient());
    let make = move || Client { breaker: breaker.clone(), server: server.clone(), out: out.clone() };
    system.spawn("client", Props::new(make)).expect("a free name")
}

#[test]
fn an_actor_asks_through_it_without_waiting() {
    on_each_dispatcher(|system| {
        let (breaker, probe) = (breaker(system, settings().max_failures(2)), Probe::new(system, "probe"));
        let client = client(system, &breaker, &probe);
        client.tell(Order::Ask(Duration::ZERO));
        assert_eq!(probe.expect(system), Ok(7));
        for _ in 0..2 {
            client.tell(Order::AskInVain);
            assert_eq!(probe.expect(system), Err(BreakerError::Failed(AskError::NoReply)));
        }
        client.tell(Order::Ask(Duration::ZERO));
        assert!(matches!(probe.expect(system), Err(BreakerError::Open(_))));
    });
}

#[test]
fn an_ask_over_the_breakers_time_is_a_failure() {
    on_steppers(|system| {
        let (breaker, probe) = (breaker(system, settings().max_failures(1)), Probe::new(system, "probe"));
        let client = client(system, &breaker, &probe);
        client.tell(Order::Ask(S * 20));
        system.run_for(S * 60); // with one worker the client has its turn when the server is done
        assert_eq!(probe.take(), [Err(BreakerError::TimedOut)]);
        assert_eq!(breaker.state(), BreakerState::Open);
    });
}

// --- retry ---

fn retried(system: &ActorSystem) -> Vec<Retried> {
    let retried = system.rare_events(0).0.into_iter().filter_map(|event| match event.kind {
        EventKind::Retried(retried) => Some(*retried),
        _ => None,
    });
    retried.collect()
}

fn steady(retry: Retry) -> Retry {
    retry.backoff(Backoff::new(MS * 100, S).jitter_permille(0))
}

#[test]
fn three_attempts_and_the_last_error() {
    on_each_dispatcher(|system| {
        let made = AtomicU32::new(0);
        let call = |attempt| {
            made.fetch_add(1, Ordering::Relaxed);
            async move { Err::<(), u32>(attempt) }
        };
        let short = Retry::new("db").backoff(Backoff::new(MS, MS));
        assert_eq!(system.block_on(short.run(&system.handle(), call)), Err(3));
        assert_eq!(made.load(Ordering::Relaxed), 3);
        let verdicts: Vec<_> = retried(system).iter().map(|r| (r.attempt, r.attempts, r.verdict)).collect();
        let expected =
            [(1, 3, RetryVerdict::Again), (2, 3, RetryVerdict::Again), (3, 3, RetryVerdict::Exhausted)];
        assert_eq!(verdicts, expected);
    });
}

#[test]
fn pauses_grow_in_virtual_time_and_a_success_ends_them() {
    on_steppers(|system| {
        let call = |attempt| async move { if attempt == 3 { Ok(attempt) } else { Err("not yet") } };
        let got = system.block_on(steady(Retry::new("db")).run(&system.handle(), call));
        assert_eq!((got, system.now().as_nanos()), (Ok(3), 300_000_000));
        let why: Vec<_> = retried(system).iter().map(Retried::why).collect();
        assert_eq!(why, ["attempt 1 of 3 failed; again in 100ms", "attempt 2 of 3 failed; again in 200ms"]);
        assert_eq!(system.snapshot().timers, 0);
    });
}

#[test]
fn no_attempt_begins_after_the_deadline() {
    on_steppers(|system| {
        let call = |attempt| async move { Err::<(), _>(attempt) };
        let retry = steady(Retry::new("db")).attempts(100).deadline(MS * 699);
        assert_eq!(system.block_on(retry.run(&system.handle(), call)), Err(3));
        assert_eq!(system.now().as_nanos(), 300_000_000, "the next one would have begun at 700 ms");
        let last = retried(system).pop().expect("a decision");
        assert_eq!((last.verdict, last.delay_ns), (RetryVerdict::DeadlinePassed, 400_000_000));
    });
}

#[test]
fn only_errors_that_are_named_are_tried_again() {
    on_each_dispatcher(|system| {
        let call = |attempt| async move { Err::<(), _>(if attempt == 1 { "busy" } else { "gone" }) };
        let retry = Retry::new("db").attempts(9).backoff(Backoff::new(MS, MS));
        let got = system.block_on(retry.run_if(&system.handle(), |error| *error == "busy", call));
        assert_eq!(got, Err("gone"));
        assert_eq!(
            retried(system).pop().map(|r| (r.attempt, r.verdict)),
            Some((2, RetryVerdict::NotRetryable))
        );
    });
}

// --- sleep ---

#[test]
fn a_dropped_sleep_leaves_no_timer() {
    on_steppers(|system| {
        let handle = system.handle();
        let slow = handle.sleep(S * 100);
        assert_eq!(system.block_on(handle.within(S, slow)), Err(elapsed(system)));
        assert_eq!(system.snapshot().timers, 0);
        assert_eq!(system.block_on(handle.within(S, async { 5 })), Ok(5));
        assert_eq!(system.snapshot().timers, 0);
    });
}

fn elapsed(system: &ActorSystem) -> footlights::pattern::Elapsed {
    let never = std::future::pending::<()>();
    let elapsed = system.block_on(system.handle().within(Duration::ZERO, never)).expect_err("never ready");
    assert_eq!(elapsed.to_string(), "the time is over");
    elapsed
}

#[test]
fn a_sleep_is_over_when_the_system_has_ended() {
    let system = ActorSystem::builder("ended").workers(1).build().expect("good settings");
    let probe = Probe::<u64>::new(&system, "probe");
    let actor = scripted::spawn(&system, "actor", props(&probe));
    let woken = Arc::new(AtomicU32::new(0));
    let count = woken.clone();
    scripted::run(&actor, move |cx| {
        let handle = cx.system();
        cx.pipe_to_self(
            async move {
                handle.sleep(Duration::MAX).await;
                count.fetch_add(1, Ordering::Relaxed);
            },
            |_| scripted::Msg::Say(1),
        );
        Ok(())
    });
    rest(&system);
    let sleeping = system.handle().sleep(S * 1_000);
    system.shutdown(S * 5).expect("an end in time");
    system.block_on(sleeping);
    wait_until(&system, "the end", || system.exit().is_some());
    assert_eq!(woken.load(Ordering::Relaxed), 0, "the task ended with its actor");
}
