//! The mailbox-size trap: the length of a queue does not say who is in trouble; the age of its oldest message does.
//!
//! Two services. One needs 1 ms a request and gets forty of them every second, all at once; the other needs 120 ms and gets
//! one every 99 ms. Looked at just after a burst, the healthy one has the longer queue. What the users wait is told by the
//! *age of the oldest message*, which costs nothing to keep: every message carries the time it was sent, and the first of the
//! queue is the oldest.
//!
//! A length, in contrast, must be counted: either by every sender (who then all write to one counter) or by walking the queue;
//! and when you read it, it is old. `queued()` is exact here because this runs in virtual time.
//!
//! ```text
//! $ cargo run --example message_age
//!  time | quick: queued, oldest | slow: queued, oldest
//!   4 s |         37,      2 ms |         5,    497 ms
//!   8 s |         37,      2 ms |        11,   1131 ms
//!  12 s |         37,      2 ms |        17,   1725 ms
//!  16 s |         37,      2 ms |        22,   2260 ms
//!  20 s |         37,      2 ms |        28,   2854 ms
//! ```

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::system::ActorSystem;

struct Service {
    needs: Duration,
}

impl Actor for Service {
    type Msg = ();

    fn receive(&mut self, cx: &mut Context<'_, Self>, _request: ()) -> Result<(), Failure> {
        cx.work(self.needs);
        Ok(())
    }
}

fn service(system: &ActorSystem, name: &str, needs: Duration) -> Result<ActorRef<()>, Box<dyn Error>> {
    Ok(system.spawn(name, Props::new(move || Service { needs }))?)
}

fn reading(system: &ActorSystem, service: &ActorRef<()>) -> String {
    let snapshot = service.any().snapshot();
    let age = snapshot.oldest.map_or(Duration::ZERO, |oldest| system.now() - oldest);
    format!("{:>6}, {:>6} ms", snapshot.ledger.queued, age.as_millis())
}

/// Tells the story into `out`.
pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let system = ActorSystem::builder("age").stepper().workers(2).build()?;
    let quick = service(&system, "quick", Duration::from_millis(1))?;
    let slow = service(&system, "slow", Duration::from_millis(120))?;
    writeln!(out, " time | quick: queued, oldest | slow: queued, oldest")?;
    for second in 1..=20 {
        for _ in 0..10 {
            slow.tell(());
            system.run_for(Duration::from_millis(99));
        }
        (0..40).for_each(|_| quick.tell(()));
        system.run_for(Duration::from_millis(2));
        if second % 4 == 0 {
            let (quick, slow) = (reading(&system, &quick), reading(&system, &slow));
            writeln!(out, "{second:>3} s | {quick:>21} | {slow:>20}")?;
        }
        system.run_for(Duration::from_millis(38));
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout().lock())
}
