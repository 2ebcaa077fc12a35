//! The translation service in virtual time: a front end asks two services that take 100 ms each, and answers when it has both.
//! Blocking, it serves one client after the other; with a temporary aggregator per request it serves as many as there are threads.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use footlights::actor::{Actor, ActorRef, AnyRef, Context, Failure, Props};
use footlights::observe::{EventKind, Lint};
use footlights::pattern::{AskError, Reply};
use footlights::routing::{Router, RouterRef};
use footlights::system::{ActorSystem, DispatcherSettings};

const MS: Duration = Duration::from_millis(1);
/// What each of the two services takes.
const SERVICE: Duration = Duration::from_millis(100);
/// When an aggregator gives up.
const PATIENCE: Duration = Duration::from_secs(1);
/// Requests that each client makes, one after the other.
const REQUESTS: usize = 10;

/// A translated text and its number of words.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    text: String,
    words: usize,
}

struct Request {
    text: String,
    reply: Reply<Answer>,
}

/// One of the two parts of an answer.
enum Part {
    Text(String),
    Words(usize),
}

/// What a service is asked for, and where the part goes.
struct Job {
    text: String,
    to: ActorRef<Collect>,
}

/// Translates, or counts words; takes its time by blocking.
struct Service {
    part: fn(&str) -> Part,
    /// Which job's result is lost, counted from 1; none if 0.
    loses: usize,
    jobs: usize,
}

impl Actor for Service {
    type Msg = Job;

    fn receive(&mut self, cx: &mut Context<'_, Self>, job: Job) -> Result<(), Failure> {
        self.jobs += 1;
        cx.block(SERVICE);
        if self.jobs != self.loses {
            cx.tell(&job.to, Collect::Part((self.part)(&job.text)));
        }
        Ok(())
    }
}

fn translate(text: &str) -> Part {
    Part::Text(text.chars().rev().collect())
}

fn count(text: &str) -> Part {
    Part::Words(text.split(' ').count())
}

/// Both services, each with four workers.
#[derive(Clone)]
struct Services {
    translate: RouterRef<Job>,
    count: RouterRef<Job>,
}

impl Services {
    fn new(system: &ActorSystem, dispatcher: &str, loses: usize) -> Self {
        let pool = |name: &str, part: fn(&str) -> Part, loses| {
            let service = Props::new(move || Service { part, loses, jobs: 0 }).dispatcher(dispatcher);
            system.spawn_router(name, Router::round_robin().pool(4, service)).expect("a free name")
        };
        Services { translate: pool("translate", translate, 0), count: pool("count", count, loses) }
    }

    fn ask<A: Actor>(&self, cx: &mut Context<'_, A>, text: &str, to: &ActorRef<Collect>) {
        for service in [&self.translate, &self.count] {
            cx.tell(service, Job { text: text.to_owned(), to: to.clone() });
        }
    }
}

/// Waits for both parts by keeping its thread, as a blocking ask of both would; what comes meanwhile waits for it.
///
/// A worker cannot read its mailbox while it waits, so the wait is played as what it costs: the time of a service.
struct BlockingFrontEnd {
    services: Services,
    sink: ActorRef<Collect>,
}

impl Actor for BlockingFrontEnd {
    type Msg = Request;

    fn receive(&mut self, cx: &mut Context<'_, Self>, request: Request) -> Result<(), Failure> {
        self.services.ask(cx, &request.text, &self.sink);
        cx.block(SERVICE);
        let words = request.text.split(' ').count();
        request.reply.send(Answer { text: request.text.chars().rev().collect(), words });
        Ok(())
    }
}

/// Hands each request to an aggregator of its own and is ready for the next.
struct FrontEnd {
    services: Services,
}

impl Actor for FrontEnd {
    type Msg = Request;

    fn receive(&mut self, cx: &mut Context<'_, Self>, request: Request) -> Result<(), Failure> {
        // The factory is called once: an aggregator that fails is not made again.
        let reply = Mutex::new(Some(request.reply));
        let make = move || Aggregator {
            reply: reply.lock().expect("no panic before").take(),
            text: None,
            words: None,
        };
        let aggregator = cx.spawn("", Props::new(make))?;
        self.services.ask(cx, &request.text, &aggregator);
        Ok(())
    }
}

/// Collects the two parts of one answer, replies, and ends; or gives up.
struct Aggregator {
    reply: Option<Reply<Answer>>,
    text: Option<String>,
    words: Option<usize>,
}

enum Collect {
    Part(Part),
    GiveUp,
}

impl Actor for Aggregator {
    type Msg = Collect;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.timers().once("patience", PATIENCE, Collect::GiveUp);
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, what: Collect) -> Result<(), Failure> {
        match what {
            Collect::Part(Part::Text(text)) => self.text = Some(text),
            Collect::Part(Part::Words(words)) => self.words = Some(words),
            Collect::GiveUp => cx.stop(), // the reply handle is dropped, so the client hears at once
        }
        if let (Some(text), Some(words)) = (self.text.clone(), self.words) {
            if let Some(reply) = self.reply.take() {
                reply.send(Answer { text, words });
            }
            cx.stop();
        }
        Ok(())
    }
}

/// Takes the parts that the blocking front end has no more use for.
struct Sink;

impl Actor for Sink {
    type Msg = Collect;

    fn receive(&mut self, _cx: &mut Context<'_, Self>, _: Collect) -> Result<(), Failure> {
        Ok(())
    }
}

/// What a client heard, and after which time.
type Heard = Arc<Mutex<Vec<(Result<Answer, AskError>, Duration)>>>;

/// Asks, waits for the answer, and asks again.
struct Client {
    service: ActorRef<Request>,
    left: usize,
    heard: Heard,
}

enum Next {
    Ask,
    Heard(Result<Answer, AskError>, footlights::time::Instant),
}

impl Actor for Client {
    type Msg = Next;

    fn receive(&mut self, cx: &mut Context<'_, Self>, next: Next) -> Result<(), Failure> {
        if let Next::Heard(answer, asked) = next {
            self.heard.lock().expect("no panic before").push((answer, cx.now() - asked));
            self.left -= 1;
        }
        if self.left > 0 {
            let asked = cx.now();
            let make = |reply| Request { text: "all the world".to_owned(), reply };
            cx.ask(&self.service, make, 5 * PATIENCE, move |answer| Next::Heard(answer, asked));
        }
        Ok(())
    }
}

/// Lets so many clients make their requests; gives all that they heard.
fn serve(system: &ActorSystem, service: &ActorRef<Request>, clients: usize, requests: usize) -> Heard {
    let heard = Heard::default();
    for _ in 0..clients {
        let (service, all) = (service.clone(), heard.clone());
        let client = move || Client { service: service.clone(), left: requests, heard: all.clone() };
        system.spawn("", Props::new(client)).expect("a child").tell(Next::Ask);
    }
    assert!(system.run_until_quiet(1_000_000));
    assert_eq!(heard.lock().expect("no panic before").len(), clients * requests);
    heard
}

fn mean(heard: &Heard) -> Duration {
    let heard = heard.lock().expect("no panic before");
    let expected = Answer { text: "dlrow eht lla".to_owned(), words: 3 };
    assert!(heard.iter().all(|(answer, _)| *answer == Ok(expected.clone())), "{heard:?}");
    heard.iter().map(|(_, took)| *took).sum::<Duration>()
        / u32::try_from(heard.len()).expect("a small number")
}

/// Four threads in front, four behind.
fn split() -> ActorSystem {
    ActorSystem::builder("translation")
        .stepper()
        .workers(4)
        .dispatcher("back", DispatcherSettings::pool(4))
        .build()
        .expect("good settings")
}

fn blocking_front_end(system: &ActorSystem) -> ActorRef<Request> {
    let services = Services::new(system, "back", 0);
    let sink = system.spawn("sink", Props::new(|| Sink)).expect("a free name");
    let make = move || BlockingFrontEnd { services: services.clone(), sink: sink.clone() };
    system.spawn("front", Props::new(make)).expect("a free name")
}

fn front_end(system: &ActorSystem, dispatcher: &str, loses: usize) -> ActorRef<Request> {
    let services = Services::new(system, dispatcher, loses);
    system.spawn("front", Props::new(move || FrontEnd { services: services.clone() })).expect("a free name")
}

/// Lists the temporary actors.
fn aggregators(system: &ActorSystem) -> usize {
    let actors = system.snapshot().actors;
    actors.iter().filter(|actor| actor.path.starts_with("/user/front/")).count()
}

fn check_end(system: &ActorSystem) {
    system.shutdown(Duration::from_secs(10)).expect("an end");
    let end = system.snapshot();
    assert!(end.ledger.balanced() && end.asks.pending == 0, "{end:?}");
    assert_eq!((system.live_actors(), end.timers), (0, 0));
}

/// Asserts that `took` is `expected` give or take 5 %.
fn about(took: Duration, expected: Duration) {
    assert!(took >= expected * 95 / 100 && took <= expected * 105 / 100, "{took:?}, expected {expected:?}");
}

#[test]
fn b_a_blocking_front_end_serves_one_client_after_the_other() {
    for (clients, expected) in [(1, SERVICE), (2, 2 * SERVICE), (4, 4 * SERVICE)] {
        let system = split();
        let front = blocking_front_end(&system);
        let took = mean(&serve(&system, &front, clients, REQUESTS * clients));
        about(took, expected);
        let lint =
            |event: &EventKind| matches!(event, EventKind::LintRaised { lint: Lint::BlockOnShared, .. });
        let raised: Vec<AnyRef> = [front.any()].into();
        let on_front =
            system.rare_events(0).0.into_iter().filter(|e| lint(&e.kind) && e.actor == raised[0].id());
        assert_eq!(on_front.count(), 1, "the front end is told of once");
        check_end(&system);
    }
}

#[test]
fn b_with_aggregators_on_eight_shared_threads_four_clients_are_served_at_once() {
    let system = ActorSystem::builder("translation").stepper().workers(8).build().expect("good settings");
    let front = front_end(&system, "default", 0);
    let took = mean(&serve(&system, &front, 4, REQUESTS));
    about(took, SERVICE);
    assert!(took < 110 * MS);
    assert_eq!(aggregators(&system), 0, "each ended with its reply");
    check_end(&system);
}

#[test]
fn b_with_aggregators_the_four_threads_behind_are_what_is_left_to_wait_for() {
    // Not to block in front helps two clients; four need eight threads for their eight parts.
    for (clients, expected) in [(1, SERVICE), (2, SERVICE), (4, 2 * SERVICE)] {
        let system = split();
        let front = front_end(&system, "back", 0);
        about(mean(&serve(&system, &front, clients, REQUESTS)), expected);
        assert_eq!(aggregators(&system), 0);
        check_end(&system);
    }
}

#[test]
fn b_an_aggregator_whose_part_is_lost_gives_up_and_its_client_hears() {
    let system = ActorSystem::builder("translation").stepper().workers(8).build().expect("good settings");
    // Each of the four workers that count loses its second result.
    let front = front_end(&system, "default", 2);
    let heard = serve(&system, &front, 4, 3);
    assert_eq!(aggregators(&system), 0, "one timeout later nobody is left");
    let heard = heard.lock().expect("no panic before");
    let lost: Vec<_> = heard.iter().filter(|(answer, _)| answer.is_err()).collect();
    assert_eq!(lost.len(), 4);
    // An aggregator that is made while services keep all eight threads begins its patience when one is free.
    let in_time = |took: Duration| (PATIENCE..=PATIENCE + SERVICE).contains(&took);
    let gave_up = |(answer, took): &&(_, Duration)| *answer == Err(AskError::Stopped) && in_time(*took);
    assert_eq!(lost.iter().filter(|one| gave_up(one)).count(), 4, "{lost:?}");
    drop(heard);
    check_end(&system);
}
