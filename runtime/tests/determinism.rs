//! Promises of determinism: the same program and seed give the same log; chance follows the seed and nothing else.

use std::time::Duration;

use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::pattern::{AskError, Reply};
use footlights::routing::Router;
use footlights::supervise::{Backoff, Strategy};
use footlights::system::ActorSystem;

const US: Duration = Duration::from_micros(1);

/// A worker that takes random time, fails now and then, and passes work on.
struct Worker {
    next: Option<ActorRef<Job>>,
}

enum Job {
    Do(u32),
    Ask(Reply<u64>),
    Heard(Result<u64, AskError>),
}

impl Actor for Worker {
    type Msg = Job;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.timers().fixed_delay("beat", US * 700, || Job::Do(1))?;
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, job: Job) -> Result<(), Failure> {
        let d = cx.rng().exponential(US * 50);
        cx.work(d);
        match job {
            Job::Do(n) if cx.rng().chance_per_million(50_000) => Err(Failure::new("chance", n.to_string())),
            Job::Do(n) => {
                if let Some(next) = self.next.clone()
                    && n > 0
                {
                    cx.tell(&next, Job::Do(n - 1));
                    cx.ask(&next, Job::Ask, US * 300, Job::Heard);
                }
                Ok(())
            }
            Job::Ask(reply) => {
                reply.send(cx.now().as_nanos());
                Ok(())
            }
            Job::Heard(answer) => {
                cx.note("heard", answer.unwrap_or(0));
                Ok(())
            }
        }
    }
}

/// Runs the program for 50 ms; gives the log's hash and how many messages were handled.
fn run(seed: u64, workers: usize, router: Router<Job>) -> (u64, u64) {
    let system =
        ActorSystem::builder("same").stepper().workers(workers).seed(seed).build().expect("good settings");
    let backoff = Backoff { min: US * 100, ..Backoff::default() };
    let last = system.spawn("last", Props::new(|| Worker { next: None })).expect("a free name");
    let props = Props::new(move || Worker { next: Some(last.clone()) });
    let strategy = Strategy::one_for_one().max_restarts(1_000, Duration::from_secs(1)).backoff(backoff);
    let pool = system.spawn_router("pool", router.pool(5, props).supervise(strategy)).expect("a free name");
    for n in 0..200 {
        pool.tell(Job::Do(n % 4));
        system.run_for(US * 100);
    }
    system.run_for(US * 30_000);
    (system.log_hash(), system.ledger().handled)
}

#[test]
fn the_same_seed_gives_the_same_log() {
    for make in [Router::round_robin, Router::random, Router::smallest_mailbox] {
        for workers in [1, 4] {
            let (first, second) = (run(1, workers, make()), run(1, workers, make()));
            assert_eq!(first, second);
            assert!(first.1 > 500, "the program does something: {first:?}");
        }
    }
}

#[test]
fn another_seed_gives_another_log() {
    assert_ne!(run(1, 4, Router::random()).0, run(2, 4, Router::random()).0);
}

#[test]
fn another_number_of_workers_gives_another_log() {
    assert_ne!(run(1, 1, Router::random()).0, run(1, 4, Router::random()).0);
}

/// Passes a number on, and once more after some work.
struct Passer;

struct Pass(Option<ActorRef<Pass>>);

impl Actor for Passer {
    type Msg = Pass;

    fn receive(&mut self, cx: &mut Context<'_, Self>, Pass(to): Pass) -> Result<(), Failure> {
        if let Some(to) = to {
            cx.tell(&to, Pass(None));
            cx.work(US * 100);
            cx.tell(&to, Pass(None));
        }
        Ok(())
    }
}

/// Runs a program without any chance of its own.
fn run_without_chance(seed: u64, seeded_order: bool) -> u64 {
    let builder = ActorSystem::builder("order").stepper().workers(4).seed(seed);
    let builder = if seeded_order { builder.seeded_order() } else { builder };
    let system = builder.build().expect("good settings");
    let all: Vec<_> = (0..20).map(|_| system.spawn("", Props::new(|| Passer)).expect("a child")).collect();
    for (n, passer) in all.iter().enumerate() {
        passer.tell(Pass(Some(all[(n * 7 + 3) % 20].clone())));
    }
    assert!(system.run_until_quiet(10_000));
    assert_eq!(system.ledger().handled, 60);
    system.log_hash()
}

#[test]
fn in_seeded_order_each_seed_has_a_schedule_of_its_own() {
    let mut hashes: Vec<u64> = (0..10).map(|seed| run_without_chance(seed, true)).collect();
    assert_eq!(
        hashes,
        (0..10).map(|seed| run_without_chance(seed, true)).collect::<Vec<_>>(),
        "and keeps it"
    );
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 10);
}

#[test]
fn without_seeded_order_a_program_without_chance_runs_the_same_with_every_seed() {
    let first = run_without_chance(0, false);
    (1..10).for_each(|seed| assert_eq!(run_without_chance(seed, false), first));
}

#[test]
fn the_log_of_a_fixed_program_never_changes_unnoticed() {
    // A change here is a new version of the log: links to shared runs show other runs from then on. Say so in CHANGELOG.
    let system = ActorSystem::builder("fixed").stepper().workers(2).seed(7).build().expect("good settings");
    let worker = system.spawn("worker", Props::new(|| Worker { next: None })).expect("a free name");
    (0..20).for_each(|n| worker.tell(Job::Do(n)));
    system.run_for(US * 5_000);
    let again = ActorSystem::builder("fixed").stepper().workers(2).seed(7).build().expect("good settings");
    let worker = again.spawn("worker", Props::new(|| Worker { next: None })).expect("a free name");
    (0..20).for_each(|n| worker.tell(Job::Do(n)));
    // Stepping turn by turn or running to a time is the same run.
    while again.step_until(footlights::time::Instant::ZERO + US * 5_000).is_some() {}
    assert_eq!(system.log_hash(), again.log_hash());
    assert_eq!(format!("{:016x}", system.log_hash()), "e4fc91ba8cb42ef6");
}
