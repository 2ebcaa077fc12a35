//! A job of many tasks, spread over workers behind a router. Tasks fail now and then.
//!
//! - The master sends every task with a number, adds up what comes back, and gives the requester one answer.
//! - A worker whose task fails is restarted. Before that it tells the task to itself again, so nothing is lost; the task
//!   goes to the back of its mailbox, which changes the order.
//! - A worker may be restarted twice. At the third failure it is stopped; the master, who watches all workers, then gives
//!   the whole job up. Stopping the master stops the router and the workers with it.
//!
//! ```text
//! $ cargo run --example job
//! one worker, task 2 fails once: done in the order 1 3 4 5 2
//! 100 tasks, 4 workers:
//!   0 % fail, seed 1: sum 5050, 0 failures
//!   0 % fail, seed 2: sum 5050, 0 failures
//!   0 % fail, seed 3: sum 5050, 0 failures
//!   2 % fail, seed 1: given up with 71 done, 4 failures
//!   2 % fail, seed 2: sum 5050, 3 failures
//!   2 % fail, seed 3: sum 5050, 0 failures
//!   5 % fail, seed 1: given up with 66 done, 5 failures
//!   5 % fail, seed 2: given up with 81 done, 6 failures
//!   5 % fail, seed 3: sum 5050, 2 failures
//!  10 % fail, seed 1: given up with 46 done, 10 failures
//!  10 % fail, seed 2: given up with 66 done, 11 failures
//!  10 % fail, seed 3: given up with 57 done, 6 failures
//! ```

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use footlights::actor::{Actor, Context, Failure, Props, Recipient};
use footlights::pattern::Reply;
use footlights::routing::{Refill, Router, RouterRef};
use footlights::supervise::Strategy;
use footlights::system::ActorSystem;
use footlights::testkit::Probe;

/// One piece of the job; whoever handles it answers to `reply_to`, also after it was told to itself again.
#[derive(Clone)]
struct Task {
    number: u64,
    reply_to: Recipient<u64>,
}

const WORKERS: usize = 4;
const TASKS: u64 = 100;

struct Worker {
    fails_per_million: u32,
}

impl Actor for Worker {
    type Msg = Task;

    fn receive(&mut self, cx: &mut Context<'_, Self>, task: Task) -> Result<(), Failure> {
        if cx.rng().chance_per_million(self.fails_per_million) {
            return Err(Failure::new("task_failed", format!("task {}", task.number)).returning(task));
        }
        cx.tell(&task.reply_to, task.number);
        Ok(())
    }

    fn pre_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure, task: Option<Task>) {
        if let Some(task) = task {
            let myself = cx.myself();
            cx.forward(&myself, task);
        }
    }
}

/// What the requester gets.
#[derive(Debug)]
enum Outcome {
    Sum(u64),
    GivenUp { done: u64 },
}

struct Master {
    tasks: u64,
    fails_per_million: u32,
    job: Option<Job>,
}

struct Job {
    reply: Reply<Outcome>,
    done: u64,
    sum: u64,
}

enum ToMaster {
    Begin(Reply<Outcome>),
    WorkersAreThere(RouterRef<Task>),
    Done(u64),
    WorkerGone,
}

impl Master {
    fn begin(&mut self, cx: &mut Context<'_, Self>, reply: Reply<Outcome>) -> Result<(), Failure> {
        let fails_per_million = self.fails_per_million;
        let workers = Props::new(move || Worker { fails_per_million });
        // Two restarts are allowed, the third failure stops the worker.
        let strategy = Strategy::one_for_one().lifetime(2);
        let pool = Router::round_robin().pool(WORKERS, workers).supervise(strategy).refill(Refill::Shrink);
        let router = cx.spawn_router("workers", pool)?;
        self.job = Some(Job { reply, done: 0, sum: 0 });
        // A size that it has already: the answer comes when the workers are there.
        // All are to be watched before one can fail for good.
        cx.pipe_to_self(router.set_size(WORKERS), move |_| ToMaster::WorkersAreThere(router));
        Ok(())
    }

    fn end(&mut self, cx: &mut Context<'_, Self>, outcome: impl FnOnce(&Job) -> Outcome) {
        if let Some(job) = self.job.take() {
            let outcome = outcome(&job);
            job.reply.send(outcome);
            cx.stop(); // and with it the router and the workers
        }
    }
}

impl Actor for Master {
    type Msg = ToMaster;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: ToMaster) -> Result<(), Failure> {
        match msg {
            ToMaster::Begin(reply) => self.begin(cx, reply)?,
            ToMaster::WorkersAreThere(router) => {
                for worker in router.routees() {
                    cx.watch(&worker.any(), |_| ToMaster::WorkerGone)?;
                }
                let reply_to = cx.adapter(ToMaster::Done);
                for number in 1..=self.tasks {
                    cx.tell(&router, Task { number, reply_to: reply_to.clone() });
                }
            }
            ToMaster::Done(number) => {
                let Some(job) = &mut self.job else { return Ok(()) };
                job.done += 1;
                job.sum += number;
                if job.done == self.tasks {
                    self.end(cx, |job| Outcome::Sum(job.sum));
                }
            }
            ToMaster::WorkerGone => self.end(cx, |job| Outcome::GivenUp { done: job.done }),
        }
        Ok(())
    }
}

/// Runs one job in virtual time; gives its outcome, and how many tasks failed.
fn job(fails_per_million: u32, seed: u64) -> Result<(Outcome, u64), Box<dyn Error>> {
    let system = ActorSystem::builder("job").stepper().seed(seed).build()?;
    let master =
        system.spawn("master", Props::new(move || Master { tasks: TASKS, fails_per_million, job: None }))?;
    let outcome = system.block_on(master.ask(ToMaster::Begin, Duration::from_secs(60)))?;
    system.run_until_quiet(100_000);
    assert_eq!(system.live_actors(), 0, "the workers end with their master");
    Ok((outcome, system.ledger().failed))
}

/// Has one worker handle five tasks, of which the second fails once; gives their order.
fn order() -> Result<String, Box<dyn Error>> {
    struct Once(Arc<AtomicBool>);
    impl Actor for Once {
        type Msg = Task;
        fn receive(&mut self, cx: &mut Context<'_, Self>, task: Task) -> Result<(), Failure> {
            if task.number == 2 && !self.0.swap(true, Ordering::Relaxed) {
                return Err(Failure::new("task_failed", "once").returning(task));
            }
            cx.tell(&task.reply_to, task.number);
            Ok(())
        }
        fn pre_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure, task: Option<Task>) {
            if let Some(task) = task {
                let myself = cx.myself();
                cx.forward(&myself, task);
            }
        }
    }
    let system = ActorSystem::builder("order").stepper().build()?;
    let probe = Probe::new(&system, "requester");
    let failed = Arc::new(AtomicBool::new(false));
    let worker = system.spawn("worker", Props::new(move || Once(failed.clone())))?;
    (1..=5).for_each(|number| worker.tell(Task { number, reply_to: probe.recipient() }));
    let order: Vec<_> = (0..5).map(|_| probe.expect(&system).to_string()).collect();
    Ok(order.join(" "))
}

/// Tells the story into `out`.
pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    writeln!(out, "one worker, task 2 fails once: done in the order {}", order()?)?;
    writeln!(out, "{TASKS} tasks, {WORKERS} workers:")?;
    for percent in [0, 2, 5, 10] {
        for seed in 1..=3 {
            let (outcome, failed) = job(percent * 10_000, seed)?;
            let told = match outcome {
                Outcome::Sum(sum) => format!("sum {sum}"),
                Outcome::GivenUp { done } => format!("given up with {done} done"),
            };
            writeln!(out, "{percent:>3} % fail, seed {seed}: {told}, {failed} failures")?;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout().lock())
}
