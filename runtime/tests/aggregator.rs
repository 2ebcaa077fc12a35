//! Promises of the aggregator: it gives what came, once, and nothing of it is left.

mod common;

use std::time::Duration;

use common::scripted::{Msg, idle, props, rest, run, spawn};
use common::{hush_planned_panics, wait_until};
use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::pattern::{Aggregated, AskError, Reply};
use footlights::routing::{Router, RouterRef};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);

fn add(sum: &mut u64, n: u64) {
    *sum += n;
}

/// One number for what came: the sum, the answers, the failures.
fn digits(all: Aggregated<u64>) -> Msg {
    Msg::Say(all.value * 10_000 + all.answers as u64 * 100 + all.failures as u64)
}

fn answer<T: Send + 'static>(reply: Reply<T>, answer: T) {
    assert!(reply.send(answer), "the asker waits");
}

fn alone(system: &ActorSystem, actor: &ActorRef<Msg>) {
    let id = actor.id();
    let children = || system.snapshot().actors.iter().filter(|child| child.parent == id).count();
    wait_until(system, "the aggregator to be gone", || children() == 0);
}

#[test]
fn it_gives_all_answers_and_is_gone() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        run(&actor, |cx| {
            let sum = cx.aggregate_to_self(3, S, 0, add, digits)?;
            (1..=3).for_each(|n| cx.tell(&sum, n));
            Ok(())
        });
        assert_eq!(probe.expect(system), 60_300);
        alone(system, &actor);
        assert_eq!(system.snapshot().timers, 0);
    });
}

#[test]
fn what_has_come_until_the_time_is_over_is_the_result() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        run(&actor, |cx| {
            let sum = cx.aggregate_to_self(3, S, 0, add, digits)?;
            cx.tell(&sum, 5);
            cx.tell_after(S * 2, &cx.myself(), Msg::Say(1));
            Ok(())
        });
        system.run_until(Instant::ZERO + (S - MS));
        assert!(probe.take().is_empty());
        system.run_until(Instant::ZERO + S);
        assert_eq!(probe.take(), [50_100]);
        alone(system, &actor);
    });
}

#[test]
fn no_answers_wanted_is_complete_at_once() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        run(&actor, |cx| {
            cx.aggregate_to_self(0, Duration::MAX, 9, add, digits)?;
            Ok(())
        });
        assert_eq!(probe.expect(system), 90_000);
        alone(system, &actor);
    });
}

/// Answers with a number, or not at all.
struct Back(Option<u64>);

impl Actor for Back {
    type Msg = Reply<u64>;

    fn receive(&mut self, _: &mut Context<'_, Self>, reply: Reply<u64>) -> Result<(), Failure> {
        if let Some(n) = self.0 {
            reply.send(n);
        }
        Ok(())
    }
}

#[test]
fn questions_without_an_answer_are_not_waited_for() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        let good = system.spawn("good", Props::new(|| Back(Some(4)))).expect("a free name");
        let mute = system.spawn("mute", Props::new(|| Back(None))).expect("a free name");
        run(&actor, move |cx| {
            let sum = cx.aggregate_to_self(3, Duration::MAX, 0, add, digits)?;
            sum.ask(&good, |reply| reply, |n| n);
            sum.ask(&mute, |reply| reply, |n| n);
            sum.collect(async { None });
            Ok(())
        });
        assert_eq!(probe.expect(system), 40_102);
        alone(system, &actor);
        assert_eq!(system.snapshot().asks.pending, 0);
    });
}

/// Keeps the reply handles it gets.
struct Hoarder(Vec<Reply<u64>>);

impl Actor for Hoarder {
    type Msg = Reply<u64>;

    fn receive(&mut self, _: &mut Context<'_, Self>, reply: Reply<u64>) -> Result<(), Failure> {
        self.0.push(reply);
        Ok(())
    }
}

#[test]
fn the_end_of_the_time_gives_open_questions_up() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        let hoarder = system.spawn("hoarder", Props::new(|| Hoarder(Vec::new()))).expect("a free name");
        run(&actor, move |cx| {
            let sum = cx.aggregate_to_self(2, MS * 20, 0, add, digits)?;
            sum.ask(&hoarder, |reply| reply, |n| n);
            sum.tell(8);
            Ok(())
        });
        assert_eq!(probe.expect(system), 80_100);
        alone(system, &actor);
        wait_until(system, "the ask to be given up", || system.snapshot().asks.pending == 0);
        assert_eq!(system.snapshot().asks.cancelled, 1);
    });
}

#[test]
fn an_aggregator_that_fails_is_not_restarted_and_its_asker_learns_of_it() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        let asked = actor.ask(
            |reply: Reply<u64>| {
                Msg::Run(Box::new(move |cx| {
                    let fold = |_: &mut u64, _: u64| panic!("planned: in a fold");
                    let sum = cx.aggregate(2, S, 0, fold, move |all| answer(reply, all.value))?;
                    cx.tell(&sum, 1);
                    Ok(())
                }))
            },
            Duration::MAX,
        );
        let outcome = system.block_on(asked);
        assert!(matches!(outcome, Err(AskError::NoReply | AskError::Stopped)), "{outcome:?}");
        alone(system, &actor);
        idle(system, &actor);
    });
}

#[test]
fn it_ends_with_its_parent() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        probe.watch(system, &actor.any());
        run(&actor, |cx| {
            cx.aggregate_to_self(2, Duration::MAX, 0, add, digits)?;
            cx.stop();
            Ok(())
        });
        probe.expect_terminated(system);
        assert!(probe.take().is_empty(), "no result");
    });
}

// --- a translation service: two back ends, one answer ---

/// Takes 100 ms of a worker for each request.
struct Service;

impl Actor for Service {
    type Msg = Reply<u64>;

    fn receive(&mut self, cx: &mut Context<'_, Self>, reply: Reply<u64>) -> Result<(), Failure> {
        cx.block(MS * 100);
        reply.send(1);
        Ok(())
    }
}

struct Front {
    translate: RouterRef<Reply<u64>>,
    count: RouterRef<Reply<u64>>,
}

impl Actor for Front {
    type Msg = Reply<Aggregated<u64>>;

    fn receive(&mut self, cx: &mut Context<'_, Self>, reply: Self::Msg) -> Result<(), Failure> {
        let both = cx.aggregate(2, S, 0, add, move |all| answer(reply, all))?;
        for back in [&self.translate, &self.count] {
            let routee = back.choose().ok_or_else(|| Failure::new("no_routee", "nobody is there"))?;
            both.ask(&routee, |reply| reply, |n| n);
        }
        Ok(())
    }
}

/// The service on 8 virtual workers, with 4 back ends of each kind.
fn service(seed: u64) -> (ActorSystem, ActorRef<Reply<Aggregated<u64>>>) {
    let plain = ActorSystem::builder("service").stepper().workers(8).seed(seed);
    let system = if seed == 0 { plain } else { plain.seeded_order() }.build().expect("good settings");
    let pool = |name| {
        let router = Router::round_robin().pool(4, Props::new(|| Service));
        system.spawn_router(name, router).expect("a free name")
    };
    let (translate, count) = (pool("translate"), pool("count"));
    let make = move || Front { translate: translate.clone(), count: count.clone() };
    let front = system.spawn("front", Props::new(make)).expect("a free name");
    rest(&system);
    (system, front)
}

/// Sends so many requests at once; gives when each was answered, in milliseconds.
fn load(system: &ActorSystem, front: &ActorRef<Reply<Aggregated<u64>>>, clients: usize) -> Vec<u128> {
    let began = system.now();
    let asked: Vec<_> = (0..clients).map(|_| front.ask(|reply| reply, S * 5)).collect();
    let took = asked.into_iter().map(|ask| {
        let all = system.block_on(ask).expect("an answer");
        assert!(all.is_complete() && all.value == 2, "{all:?}");
        (system.now() - began).as_millis()
    });
    took.collect()
}

#[test]
fn four_clients_of_a_service_that_never_waits_have_their_answers_after_one_service_time() {
    for seed in 0..16 {
        let (system, front) = service(seed);
        assert_eq!(load(&system, &front, 1), [100]);
        let took = load(&system, &front, 4);
        let mean = took.iter().sum::<u128>() / 4;
        assert!((95..=105).contains(&mean), "seed={seed}: {took:?}");
        rest(&system);
        let left = system.snapshot();
        let temporary = left.actors.iter().filter(|actor| actor.path.contains('$')).count();
        assert_eq!((temporary, left.timers, left.asks.pending), (0, 0, 0), "seed={seed}");
    }
}

/// Hears questions and never answers.
struct Lossy(RouterRef<Reply<u64>>, ActorRef<Reply<u64>>);

impl Actor for Lossy {
    type Msg = Reply<Aggregated<u64>>;

    fn receive(&mut self, cx: &mut Context<'_, Self>, reply: Self::Msg) -> Result<(), Failure> {
        let both = cx.aggregate(2, S, 0, add, move |all| answer(reply, all))?;
        let routee = self.0.choose().ok_or_else(|| Failure::new("no_routee", "nobody is there"))?;
        both.ask(&routee, |reply| reply, |n| n);
        both.ask(&self.1, |reply| reply, |n| n);
        Ok(())
    }
}

#[test]
fn a_lost_reply_costs_one_timeout_and_leaves_no_temporary_actor() {
    let (system, _) = service(1);
    let hoarder = system.spawn("hoarder", Props::new(|| Hoarder(Vec::new()))).expect("a free name");
    let router = Router::round_robin().pool(1, Props::new(|| Service));
    let good = system.spawn_router("good", router).expect("a free name");
    let make = move || Lossy(good.clone(), hoarder.clone());
    let front = system.spawn("lossy", Props::new(make)).expect("a free name");
    rest(&system);
    let began = system.now();
    let all = system.block_on(front.ask(|reply| reply, Duration::MAX)).expect("a partial answer");
    assert_eq!((all.answers, all.wanted, all.is_complete()), (1, 2, false));
    assert_eq!(system.now() - began, S);
    rest(&system);
    let left = system.snapshot();
    let temporary = left.actors.iter().filter(|actor| actor.path.contains('$')).count();
    assert_eq!((temporary, left.timers, left.asks.pending), (0, 0, 0));
}
