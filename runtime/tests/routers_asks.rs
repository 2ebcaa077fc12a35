//! Promises of asks through a router: who is asked, whose answer counts, and what is heard when nobody can answer.

mod common;

use std::time::Duration;

use common::hush_planned_panics;
use footlights::actor::{Actor, Context, Failure, Props};
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::observe::EventKind;
use footlights::pattern::{AskError, Reply};
use footlights::routing::{Refill, Router, RouterRef};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(100);

/// Answers with the number in its name, after as many times `pace` of work; fails if its number is among `bad`.
struct Oracle {
    number: u64,
    pace: Duration,
    bad: &'static [u64],
}

struct Question(Reply<u64>);

impl Actor for Oracle {
    type Msg = Question;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        self.number = cx.path().rsplit('r').next().and_then(|n| n.parse().ok()).unwrap_or_default();
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, Question(reply): Question) -> Result<(), Failure> {
        if self.bad.contains(&self.number) {
            return Err(Failure::new("planned", "on request"));
        }
        cx.work(self.pace * self.number as u32);
        reply.send(self.number);
        Ok(())
    }
}

fn pool(
    system: &ActorSystem,
    router: Router<Question>,
    n: usize,
    pace: Duration,
    bad: &'static [u64],
) -> RouterRef<Question> {
    let props = Props::new(move || Oracle { number: 0, pace, bad });
    system.spawn_router("pool", router.pool(n, props).refill(Refill::Shrink)).expect("a free name")
}

fn ask(system: &ActorSystem, router: &RouterRef<Question>, timeout: Duration) -> Result<u64, AskError> {
    system.block_on(router.ask(Question, timeout))
}

/// Gives how the first ask ended, and when.
fn ended(system: &ActorSystem) -> (u64, Duration) {
    let ended = system.events(0, 10_000).into_iter().find_map(|event| match event.kind {
        EventKind::AskEnded { outcome } => Some((outcome, event.at - Instant::ZERO)),
        _ => None,
    });
    ended.expect("an ask has ended")
}

/// On as many virtual workers as there are routees, so that all work at once.
fn wide() -> ActorSystem {
    ActorSystem::builder("wide").stepper().workers(8).build().expect("good settings")
}

#[test]
fn the_first_answer_wins_and_the_others_are_late() {
    let system = wide();
    let router = pool(&system, Router::scatter_gather_first(), 3, 10 * MS, &[]);
    assert_eq!(ask(&system, &router, LONG), Ok(1));
    assert_eq!(ended(&system), (0, Duration::from_millis(10)));
    system.run_for(LONG);
    let seen = system.snapshot();
    assert_eq!((seen.asks.late_replies, seen.asks.pending, seen.timers), (2, 0, 0));
    assert_eq!(seen.ledger.handled as usize, 3, "each has handled its question: {:?}", seen.ledger);
    assert_eq!(system.dead_letters(), []);
}

#[test]
fn a_failure_waits_for_the_others() {
    let system = wide();
    let router = pool(&system, Router::scatter_gather_first(), 3, 10 * MS, &[1, 2]);
    assert_eq!(ask(&system, &router, LONG), Ok(3));
}

#[test]
fn when_all_have_failed_the_ask_has_failed_at_once() {
    hush_planned_panics();
    for make in [Router::scatter_gather_first as fn() -> Router<Question>, Router::tail_chopping] {
        on_each_dispatcher(|system| {
            let router = pool(system, make(), 3, MS, &[1, 2, 3]);
            assert_eq!(ask(system, &router, LONG), Err(AskError::AllFailed));
            assert!(system.now().as_nanos() < LONG.as_nanos() as u64 / 2);
        });
    }
}

#[test]
fn an_answer_is_had_on_every_dispatcher() {
    for make in [
        Router::scatter_gather_first as fn() -> Router<Question>,
        Router::tail_chopping,
        Router::round_robin,
        Router::random,
        Router::smallest_mailbox,
        Router::balancing,
        || Router::consistent_hash(|_| Some(7)),
    ] {
        on_each_dispatcher(|system| {
            let router = pool(system, make(), 3, Duration::ZERO, &[]);
            for _ in 0..10 {
                assert!(ask(system, &router, LONG).is_ok_and(|n| (1..=3).contains(&n)));
            }
        });
    }
}

#[test]
fn a_tail_is_chopped_every_ten_milliseconds_and_at_once_on_a_failure() {
    // Nobody answers in time: the order in which they are asked shows, and when.
    let system = wide();
    let router = pool(&system, Router::tail_chopping(), 4, 30 * MS, &[]);
    let answer = ask(&system, &router, LONG).expect("one answers");
    let asked: Vec<(u64, u64)> = system
        .events(0, 10_000)
        .into_iter()
        .filter_map(|event| match event.kind {
            EventKind::Routed { routee, .. } => Some((event.at.as_nanos() / 1_000_000, routee.0)),
            _ => None,
        })
        .collect();
    let times: Vec<u64> = asked.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, (0..times.len() as u64).map(|n| n * 10).collect::<Vec<_>>());
    let routees = router.routees();
    let number =
        |id: u64| routees.iter().position(|routee| routee.id().0 == id).expect("a routee") as u64 + 1;
    let first_end = asked.iter().map(|(at, id)| (at + 30 * number(*id), number(*id))).min();
    assert_eq!(first_end.map(|(_, number)| number), Some(answer));
    system.run_for(LONG);
    assert_eq!((system.snapshot().asks.pending, system.snapshot().timers), (0, 0));

    let system = wide();
    let router = pool(&system, Router::tail_chopping(), 4, Duration::ZERO, &[1, 2, 3]);
    assert_eq!(ask(&system, &router, LONG), Ok(4));
    assert_eq!(system.now().as_nanos(), 0, "a failure does not wait for the next interval");
}

#[test]
fn a_tail_that_was_chopped_asks_no_more() {
    let system = wide();
    let router = pool(&system, Router::tail_chopping(), 4, Duration::ZERO, &[]);
    assert!(ask(&system, &router, LONG).is_ok());
    system.run_for(LONG);
    assert_eq!(router.snapshot().routees.iter().map(|routee| routee.chosen).sum::<u64>(), 1);
}

#[test]
fn the_order_of_a_tail_is_drawn_by_the_seed() {
    let order = |seed| {
        let system = ActorSystem::builder("tail").stepper().seed(seed).build().expect("good settings");
        let router = pool(&system, Router::tail_chopping(), 7, Duration::ZERO, &[]);
        (0..20).map(|_| ask(&system, &router, LONG).expect("an answer")).collect::<Vec<_>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn the_router_and_the_asker_both_limit_the_time() {
    for make in [Router::scatter_gather_first as fn() -> Router<Question>, Router::tail_chopping] {
        let system = wide();
        let router = pool(&system, make(), 2, 10_000 * MS, &[]);
        assert_eq!(ask(&system, &router, LONG), Err(AskError::Timeout));
        assert_eq!(ended(&system), (1, Duration::from_secs(5)));
        let asks = system.snapshot().asks;
        assert_eq!((asks.pending, asks.balanced()), (0, true), "{asks:?}");
        let system = wide();
        let router = pool(&system, make(), 2, 10_000 * MS, &[]);
        assert_eq!(ask(&system, &router, 7 * MS), Err(AskError::Timeout));
        assert_eq!(ended(&system), (1, 7 * MS));
        let system = wide();
        let router = pool(&system, make().within(3 * MS).every(MS), 2, 10_000 * MS, &[]);
        assert_eq!(ask(&system, &router, LONG), Err(AskError::Timeout));
        assert_eq!(ended(&system), (1, 3 * MS));
    }
}

#[test]
fn an_ask_of_nobody_fails_at_once() {
    on_each_dispatcher(|system| {
        let makes = [
            Router::scatter_gather_first as fn() -> Router<Question>,
            Router::tail_chopping,
            Router::round_robin,
            Router::balancing,
        ];
        for (n, make) in makes.into_iter().enumerate() {
            let router = system.spawn_router(&format!("empty{n}"), make().group([])).expect("a free name");
            assert_eq!(ask(system, &router, LONG), Err(AskError::Dead));
        }
        assert_eq!(system.dead_letters(), [], "the question came back to the asker");
    });
}

#[test]
fn an_ask_that_is_given_up_leaves_nothing_behind() {
    on_steppers(|system| {
        let router = pool(system, Router::tail_chopping(), 3, 50 * MS, &[]);
        let asked = router.ask(Question, LONG);
        system.run_for(5 * MS);
        drop(asked);
        system.run_for(LONG);
        let seen = system.snapshot();
        assert_eq!((seen.asks.pending, seen.timers), (0, 0));
        assert_eq!(router.snapshot().routees.iter().map(|routee| routee.chosen).sum::<u64>(), 1);
    });
}

#[test]
fn an_actor_asks_through_a_router_without_waiting() {
    struct Asker {
        router: RouterRef<Question>,
        out: footlights::actor::Recipient<Result<u64, AskError>>,
    }
    enum Msg {
        Go,
        Answer(Result<u64, AskError>),
    }
    impl Actor for Asker {
        type Msg = Msg;
        fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
            match message {
                Msg::Go => cx.ask_router(&self.router, Question, LONG, Msg::Answer),
                Msg::Answer(answer) => self.out.tell(answer),
            }
            Ok(())
        }
    }
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, Router::scatter_gather_first(), 3, Duration::ZERO, &[2]);
        let (out, asked) = (probe.recipient(), router.clone());
        let asker =
            system.spawn("asker", Props::new(move || Asker { router: asked.clone(), out: out.clone() }));
        let asker = asker.expect("a free name");
        asker.tell(Msg::Go);
        assert!(probe.expect(system).is_ok_and(|n| n != 2));
        router.stop();
        common::wait_until(system, "the end of the pool", || system.find("/user/pool").is_none());
        asker.tell(Msg::Go);
        assert_eq!(probe.expect(system), Err(AskError::Dead));
    });
}

#[test]
fn a_question_that_is_told_goes_to_one() {
    /// Tells a router the question that it gets.
    struct Carrier(RouterRef<Question>);
    impl Actor for Carrier {
        type Msg = Question;
        fn receive(&mut self, cx: &mut Context<'_, Self>, question: Question) -> Result<(), Failure> {
            cx.forward(&self.0, question);
            Ok(())
        }
    }
    on_steppers(|system| {
        for (name, make) in [
            ("a", Router::scatter_gather_first as fn() -> Router<Question>),
            ("b", Router::tail_chopping),
            ("c", Router::balancing),
        ] {
            let props = Props::new(|| Oracle { number: 0, pace: Duration::ZERO, bad: &[] });
            let router = system.spawn_router(name, make().pool(3, props)).expect("a free name");
            let carrier = system.spawn("", Props::new(move || Carrier(router.clone()))).expect("a name");
            system.run_until_quiet(1_000);
            let before = system.ledger().handled;
            assert!(system.block_on(carrier.ask(Question, LONG)).is_ok());
            system.run_until_quiet(1_000);
            assert_eq!(system.ledger().handled, before + 2, "the carrier and one routee");
        }
    });
}

/// Works a while for each message, and answers those that ask.
struct Busy;

enum Job {
    Work,
    Ask(Reply<u32>),
}

impl Actor for Busy {
    type Msg = Job;

    fn receive(&mut self, cx: &mut Context<'_, Self>, job: Job) -> Result<(), Failure> {
        match job {
            Job::Work => cx.work(Duration::from_millis(50)),
            Job::Ask(reply) => {
                reply.send(1);
            }
        }
        Ok(())
    }
}

/// Asks a busy routee with a full mailbox, directly and through a router.
fn ask_the_busy(overflow: OverflowStrategy) -> [Result<u32, AskError>; 2] {
    let system = ActorSystem::builder("busy").stepper().build().expect("good settings");
    let props = Props::new(|| Busy).mailbox(Mailbox::bounded(1, overflow));
    let busy = system.spawn("busy", props).expect("a free name");
    let router = Router::round_robin().group([busy.clone()]);
    let router = system.spawn_router("router", router).expect("a free name");
    system.run_until_quiet(1_000);
    busy.tell(Job::Work);
    let direct = system.block_on(busy.ask(Job::Ask, Duration::from_secs(1)));
    busy.tell(Job::Work);
    let routed = system.block_on(router.ask(Job::Ask, Duration::from_secs(1)));
    system.run_until_quiet(1_000);
    assert!(system.ledger().balanced());
    assert_eq!(system.snapshot().asks.pending, 0);
    [direct, routed]
}

#[test]
fn an_ask_through_a_router_meets_a_full_mailbox_as_any_ask_does() {
    assert_eq!(ask_the_busy(OverflowStrategy::Backpressure), [Ok(1), Ok(1)]);
    assert_eq!(ask_the_busy(OverflowStrategy::DropNew), [Err(AskError::Full), Err(AskError::Full)]);
}
