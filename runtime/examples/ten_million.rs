//! Ten million messages: where do ten million pending timers live, and how does pacing the sender bound them?
//!
//! A controller sends jobs through a round-robin router to ten workers. A worker does not answer at once: it has "done" sent to
//! the controller a second later. Whoever sends as fast as it can has every job's timer pending at once; whoever sends a
//! thousand a millisecond never has more than what one second brings: a million, or fewer where timers come late.
//!
//! ```text
//! $ cargo run --release --example ten_million             (ten million jobs on all cores)
//! $ cargo run --release --example ten_million -- 1000000  (or as many as you like)
//! $ cargo run --release --example ten_million -- 3000000
//! as fast as it goes:   3000000 jobs in 3.8 s, at most 3000000 pending
//! 1,000 a millisecond:  3000000 jobs in 8.2 s, at most 799000 pending
//! ```
//! `cargo run --release -p footlights-bench -- scenario web/scenarios/ten-million-messages.json` runs the playground's version.

use std::error::Error;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::routing::{Router, RouterRef};
use footlights::system::ActorSystem;

const WORKERS: usize = 10;
/// What a worker waits before it says that a job is done.
const JOB: Duration = Duration::from_secs(1);
/// Jobs that the controller sends in one run, so that it hears of the done ones in between.
const BURST: u64 = 1_000;

struct Job {
    controller: ActorRef<ToController>,
}

struct Worker;

impl Actor for Worker {
    type Msg = Job;

    fn receive(&mut self, cx: &mut Context<'_, Self>, job: Job) -> Result<(), Failure> {
        cx.tell_after(JOB, &job.controller, ToController::Done);
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Pace {
    AsFastAsItGoes,
    OneBurstAMillisecond,
}

enum ToController {
    Send,
    Done,
}

struct Controller {
    router: RouterRef<Job>,
    pace: Pace,
    total: u64,
    sent: u64,
    done: u64,
    most_pending: u64,
    /// Told the most pending jobs, at the end.
    finished: mpsc::Sender<u64>,
}

impl Controller {
    fn send(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let controller = cx.myself();
        for _ in 0..BURST.min(self.total - self.sent) {
            cx.tell(&self.router, Job { controller: controller.clone() });
            self.sent += 1;
        }
        self.most_pending = self.most_pending.max(self.sent - self.done);
        if self.sent < self.total {
            match self.pace {
                Pace::AsFastAsItGoes => {
                    cx.tell(&controller, ToController::Send);
                }
                Pace::OneBurstAMillisecond => {
                    cx.timers().once("send", Duration::from_millis(1), ToController::Send);
                }
            }
        }
        Ok(())
    }
}

impl Actor for Controller {
    type Msg = ToController;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: ToController) -> Result<(), Failure> {
        match msg {
            ToController::Send => self.send(cx)?,
            ToController::Done => self.done += 1,
        }
        if self.done == self.total {
            self.finished.send(self.most_pending)?;
        }
        Ok(())
    }
}

/// Sends `total` jobs at this pace; says how long it took and what was pending at most.
fn jobs(total: u64, pace: Pace) -> Result<String, Box<dyn Error>> {
    let system = ActorSystem::builder("ten-million").build()?;
    let router =
        system.spawn_router("workers", Router::round_robin().pool(WORKERS, Props::new(|| Worker)))?;
    let (finished, most_pending) = mpsc::channel();
    let controller = move || Controller {
        router: router.clone(),
        pace,
        total,
        sent: 0,
        done: 0,
        most_pending: 0,
        finished: finished.clone(),
    };
    let began = system.now();
    system.spawn("controller", Props::new(controller))?.tell(ToController::Send);
    let most_pending = most_pending.recv()?;
    let took = system.now() - began;
    system.shutdown(Duration::from_secs(60))?;
    Ok(format!("{total} jobs in {:.1} s, at most {most_pending} pending", took.as_secs_f64()))
}

fn run() -> Result<(), Box<dyn Error>> {
    let total = match std::env::args().nth(1) {
        None => 10_000_000,
        Some(text) => match text.parse() {
            Ok(total) if total > 0 => total,
            _ => {
                return Err(
                    format!("usage: ten_million [jobs, at least 1]; {text:?} is no such number").into()
                );
            }
        },
    };
    println!("as fast as it goes:   {}", jobs(total, Pace::AsFastAsItGoes)?);
    println!("1,000 a millisecond:  {}", jobs(total, Pace::OneBurstAMillisecond)?);
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
