//! W5 fork-join-create: each actor is created, handles one message, and stops on it.
//!
//! A parent makes them in batches and makes the next batch when all of the last have ended, so that the number alive at once
//! is bounded however many there are in all. What the process has resident afterwards beyond its beginning, divided by their
//! number, is reported as well: with many actors it tends to 0, or something leaks.

use std::sync::mpsc::{Sender, channel};

use footlights::actor::{Actor, Context, Failure, Props};

use super::actors::{check, outcome, system, timed};
use super::{Memory, Outcome, Param, Setup, Workload, Wrong, memory};

pub(super) const WORKLOAD: Workload = Workload {
    id: "W5",
    name: "fork-join-create",
    about: "actors are created, handle one message, and stop on it",
    unit: "actors",
    n: 200_000,
    params: &[Param {
        name: "batch",
        default: 1_000,
        range: 1..=1_000_000,
        about: "actors made in one run of the parent",
    }],
    run,
};

struct Once;

impl Actor for Once {
    type Msg = ();

    fn receive(&mut self, cx: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        cx.stop();
        Ok(())
    }
}

enum ToParent {
    Make,
    Gone,
}

struct Parent {
    left: u64,
    batch: u64,
    alive: u64,
    ended: u64,
    result: Sender<[u64; 1]>,
}

impl Parent {
    fn make(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        for _ in 0..self.left.min(self.batch) {
            let child = cx.spawn("", Props::new(|| Once))?;
            cx.watch(&child.any(), |_| ToParent::Gone)?;
            cx.tell(&child, ());
            self.left -= 1;
            self.alive += 1;
        }
        Ok(())
    }
}

impl Actor for Parent {
    type Msg = ToParent;

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: ToParent) -> Result<(), Failure> {
        match message {
            ToParent::Make => return self.make(cx),
            ToParent::Gone => {
                self.alive -= 1;
                self.ended += 1;
            }
        }
        if self.alive == 0 {
            match self.left {
                0 => self.result.send([self.ended])?,
                _ => return self.make(cx),
            }
        }
        Ok(())
    }
}

fn run(setup: &Setup) -> Result<Outcome, Wrong> {
    let (n, batch) = (setup.n, setup.params[0]);
    let baseline = memory::baseline();
    let system = system(setup)?;
    let (result, results) = channel();
    let parent = move || Parent { left: n, batch, alive: 0, ended: 0, result: result.clone() };
    let parent = system.spawn("parent", Props::new(parent)).map_err(Wrong::of)?;
    let ([ended], took) = timed(&system, || parent.tell(ToParent::Make), &results, 1)?;
    // Each actor's message, its notice, and the order to begin.
    check(&system, 2 * n + 1)?;
    let counted = outcome("the actors that ended", n, ended, n, took)?;
    Ok(Outcome { memory: Memory::look(baseline, n), ..counted })
}
