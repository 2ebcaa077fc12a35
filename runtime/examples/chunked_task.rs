//! A long task that does not make its actor deaf.
//!
//! An actor handles one message at a time. While a task of 1 s runs in one handler, the actor cannot answer, and even an order
//! to stop waits. Two ways out: split the task and send the next piece to yourself, or give it to a task of its own and have
//! the result piped back. Each variant is asked "how far are you?" 300 ms after its start, and told to stop at 500 ms.
//!
//! It runs in virtual time on two workers, so the figures are the same on every machine.
//!
//! ```text
//! $ cargo run --example chunked_task
//! 1 s at one go          answered after 700 ms, stopped after 500 ms
//! 100 pieces of 10 ms    answered after  10 ms, stopped after  10 ms
//! a task of its own      answered after   0 ms, stopped after   0 ms
//! ```

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use footlights::actor::{Actor, Context, Failure, Props};
use footlights::pattern::Reply;
use footlights::system::ActorSystem;

const TASK: Duration = Duration::from_secs(1);
const PIECES: u32 = 100;

#[derive(Clone, Copy)]
enum How {
    AtOneGo,
    InPieces,
    AsTask,
}

enum Msg {
    Begin(How),
    Piece(u32),
    HowFar(Reply<u32>),
    Finished,
}

#[derive(Default)]
struct Laborer {
    /// In hundredths.
    done: u32,
}

impl Actor for Laborer {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Begin(How::AtOneGo) => {
                cx.work(TASK);
                self.done = PIECES;
            }
            Msg::Begin(How::InPieces) => self.piece(cx, 1),
            Msg::Begin(How::AsTask) => {
                // The lint for long handlers has nothing to say about a task.
                cx.spawn_task(|task| task.work(TASK), |_| Msg::Finished);
            }
            Msg::Piece(number) => self.piece(cx, number),
            Msg::HowFar(reply) => {
                reply.send(self.done);
            }
            Msg::Finished => self.done = PIECES,
        }
        Ok(())
    }
}

impl Laborer {
    fn piece(&mut self, cx: &mut Context<'_, Self>, number: u32) {
        cx.work(TASK / PIECES);
        self.done = number;
        if number < PIECES {
            let me = cx.myself();
            cx.tell(&me, Msg::Piece(number + 1));
        }
    }
}

/// Tries one way; gives the milliseconds until the answer and until the stop.
fn try_it(how: How) -> Result<(u128, u128), Box<dyn Error>> {
    let system = ActorSystem::builder("chunked").stepper().workers(2).build()?;
    let begin = |laborer: &footlights::actor::ActorRef<Msg>| laborer.tell(Msg::Begin(how));

    let asked = system.spawn("asked", Props::new(Laborer::default))?;
    begin(&asked);
    system.run_for(Duration::from_millis(300));
    let before = system.now();
    system.block_on(asked.ask(Msg::HowFar, Duration::from_secs(10)))?;
    let answered = (system.now() - before).as_millis();
    asked.stop();
    system.run_until_quiet(1_000);

    let stopped = system.spawn("stopped", Props::new(Laborer::default))?;
    begin(&stopped);
    system.run_for(Duration::from_millis(500));
    let before = system.now();
    stopped.stop();
    while !stopped.is_closed() && system.step().is_some() {}
    Ok((answered, (system.now() - before).as_millis()))
}

/// Tells the story into `out`.
pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let ways = [
        ("1 s at one go", How::AtOneGo),
        ("100 pieces of 10 ms", How::InPieces),
        ("a task of its own", How::AsTask),
    ];
    for (name, how) in ways {
        let (answered, stopped) = try_it(how)?;
        writeln!(out, "{name:<22} answered after {answered:>3} ms, stopped after {stopped:>3} ms")?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout().lock())
}
