//! Idle actors: how much memory an actor takes that has started and waits for messages.
//!
//! All live at once under one parent. Besides the time to create and start them, a run reports the resident bytes that the
//! process has more than before its first run, divided by their number: the cell, the state of one word, the name, the
//! parent's entry, and what an allocator adds.

use footlights::actor::{Actor, Context, Failure, Props};

use super::actors::{await_quiet, check, system};
use super::stopwatch::Stopwatch;
use super::{Memory, Outcome, Param, Setup, Workload, Wrong, memory};

pub(super) const WORKLOAD: Workload = Workload {
    id: "IDLE",
    name: "idle-actors",
    about: "so many actors live at once and wait: bytes for each",
    unit: "actors",
    n: 1_000_000,
    params: &[Param {
        name: "told",
        default: 0,
        range: 0..=1_000,
        about: "messages that each has handled before",
    }],
    run,
};

struct Idle {
    count: u64,
}

impl Actor for Idle {
    type Msg = u64;

    fn receive(&mut self, _cx: &mut Context<'_, Self>, number: u64) -> Result<(), Failure> {
        self.count += number;
        Ok(())
    }
}

fn run(setup: &Setup) -> Result<Outcome, Wrong> {
    let (n, told) = (setup.n, setup.params[0]);
    let baseline = memory::baseline();
    let system = system(setup)?;
    let stopwatch = Stopwatch::start();
    let actors = (0..n).map(|_| system.spawn("", Props::new(|| Idle { count: 0 })).map_err(Wrong::of));
    let actors: Vec<_> = actors.collect::<Result<_, _>>()?;
    await_quiet(&system)?;
    let took = stopwatch.stop();
    for number in 0..told {
        actors.iter().for_each(|actor| actor.tell(number));
    }
    await_quiet(&system)?;
    let memory = Memory::look(baseline, n);
    check(&system, n * told)?;
    Ok(Outcome { memory, n, took })
}
