//! All eight kinds of routers under one uneven load (SEEDS A10), in virtual time: one table of results.
//!
//! 400 questions come in, one each 2 ms. Every tenth takes 40 ms of work, the others 1 ms: four routees are enough by far, if
//! the work is spread well. The table says when all were answered, and how long an answer took on average and at worst.

use std::fmt::Write;
use std::time::Duration;

use footlights::actor::{Actor, Context, Failure, Props, Recipient};
use footlights::pattern::{AskError, Reply};
use footlights::routing::{Router, RouterRef};
use footlights::system::ActorSystem;
use footlights::testkit::Probe;
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);
const QUESTIONS: u32 = 400;

#[derive(Debug)]
struct Question {
    number: u32,
    reply: Reply<u32>,
}

struct Worker;

impl Actor for Worker {
    type Msg = Question;

    fn receive(&mut self, cx: &mut Context<'_, Self>, question: Question) -> Result<(), Failure> {
        cx.work(if question.number.is_multiple_of(10) { 40 * MS } else { MS });
        question.reply.send(question.number);
        Ok(())
    }
}

/// What one kind of router made of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    kind: &'static str,
    finished: Duration,
    mean: Duration,
    worst: Duration,
}

enum Msg {
    Tick,
    Answer(Instant, Result<u32, AskError>),
}

/// Asks, and takes the times.
struct Asker {
    router: RouterRef<Question>,
    asked: u32,
    times: Vec<Duration>,
    out: Recipient<Row>,
}

impl Actor for Asker {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.timers().fixed_rate("tick", 2 * MS, || Msg::Tick)?;
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        match message {
            Msg::Tick => {
                let (number, now) = (self.asked, cx.now());
                self.asked += 1;
                if self.asked == QUESTIONS {
                    cx.timers().cancel("tick");
                }
                let make = move |reply| Question { number, reply };
                let router = self.router.clone();
                cx.ask_router(&router, make, 60_000 * MS, move |answer| Msg::Answer(now, answer));
            }
            Msg::Answer(asked, answer) => {
                answer?;
                self.times.push(cx.now() - asked);
                if self.times.len() == QUESTIONS as usize {
                    let worst = self.times.iter().max().copied().unwrap_or_default();
                    let mean = self.times.iter().sum::<Duration>() / QUESTIONS;
                    let finished = cx.now() - Instant::ZERO;
                    self.out.tell(Row { kind: self.router.logic().name(), finished, mean, worst });
                }
            }
        }
        Ok(())
    }
}

fn row(router: Router<Question>, seed: u64) -> Row {
    let system = ActorSystem::builder("compared").stepper().workers(8).seed(seed).build();
    let system = system.expect("good settings");
    let probe = Probe::new(&system, "probe");
    let router = system.spawn_router("pool", router.pool(4, Props::new(|| Worker))).expect("a free name");
    let out = probe.recipient();
    let asker = move || Asker { router: router.clone(), asked: 0, times: Vec::new(), out: out.clone() };
    system.spawn("asker", Props::new(asker)).expect("a free name");
    system.run_for(Duration::from_secs(60));
    let ledger = system.ledger();
    assert!(ledger.balanced() && ledger.dead_lettered == 0 && ledger.failed == 0, "{ledger:?}");
    assert_eq!(system.snapshot().asks.pending, 0);
    probe.expect(&system)
}

fn kinds() -> Vec<Router<Question>> {
    vec![
        Router::round_robin(),
        Router::random(),
        Router::smallest_mailbox(),
        Router::balancing(),
        Router::consistent_hash(|question| Some(u64::from(question.number))),
        Router::scatter_gather_first(),
        Router::tail_chopping(),
    ]
}

fn table(seed: u64) -> Vec<Row> {
    kinds().into_iter().map(|router| row(router, seed)).collect()
}

/// A question cannot be copied, so what a broadcast costs is seen with one that needs no answer.
fn broadcast_finished() -> Duration {
    struct Copies;
    impl Actor for Copies {
        type Msg = u32;
        fn receive(&mut self, cx: &mut Context<'_, Self>, number: u32) -> Result<(), Failure> {
            cx.work(if number.is_multiple_of(10) { 40 * MS } else { MS });
            Ok(())
        }
    }
    let system = ActorSystem::builder("compared").stepper().workers(8).build().expect("good settings");
    let router = Router::broadcast().pool(4, Props::new(|| Copies));
    let router = system.spawn_router("pool", router).expect("a free name");
    for number in 0..QUESTIONS {
        system.run_for(2 * MS);
        router.tell(number);
    }
    while router.routees().iter().any(|routee| routee.queued() > 0) {
        system.run_for(MS);
    }
    assert_eq!(system.ledger().handled, u64::from(4 * QUESTIONS));
    system.now() - Instant::ZERO
}

fn text(rows: &[Row]) -> String {
    let mut text = format!("{:<22}{:>12}{:>12}{:>12}\n", "", "finished", "mean", "worst");
    for Row { kind, finished, mean, worst } in rows {
        let ms = |d: &Duration| format!("{}.{:01} ms", d.as_millis(), d.as_micros() % 1_000 / 100);
        writeln!(text, "{kind:<22}{:>12}{:>12}{:>12}", ms(finished), ms(mean), ms(worst)).expect("a string");
    }
    text
}

#[test]
fn a10_the_kinds_of_routers_differ_under_an_uneven_load_as_they_should() {
    let rows = table(1);
    println!("{}", text(&rows));
    let find = |kind| rows.iter().find(|row| row.kind == kind).unwrap_or_else(|| panic!("no {kind}"));
    let (balancing, smallest) = (find("balancing"), find("smallest mailbox"));
    let blind = [find("round robin"), find("random"), find("consistent hash")];
    for good in [balancing, smallest] {
        for blind in blind {
            assert!(good.mean < blind.mean, "{} is better than {}\n{}", good.kind, blind.kind, text(&rows));
            assert!(good.finished <= blind.finished, "{}", text(&rows));
        }
    }
    assert!(balancing.mean <= smallest.mean, "{}", text(&rows));
    assert!(balancing.worst <= smallest.worst, "{}", text(&rows));
    // Every tenth question is for the same two of four routees: taking turns is no better than chance here.
    assert!(find("round robin").worst > 2 * balancing.worst, "{}", text(&rows));
    // Whoever asks all has all do everything, and none has time to spare.
    let everyone = find("scatter gather first");
    assert!(rows.iter().all(|row| row.finished <= everyone.finished), "{}", text(&rows));
    assert!(broadcast_finished() > 2 * balancing.finished, "four times the work");
}

#[test]
fn a10_the_table_repeats_with_its_seed() {
    assert_eq!(table(7), table(7));
    assert_ne!(table(7), table(8));
}
