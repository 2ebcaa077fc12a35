//! W4 fan-in: several senders, one counter, which reports when it has all.

use std::sync::mpsc::{Sender, channel};

use footlights::actor::{Actor, ActorRef, Context, Failure, Props};

use super::actors::{check, outcome, system, timed};
use super::{Outcome, Param, Setup, Workload, Wrong};

pub(super) const WORKLOAD: Workload = Workload {
    id: "W4",
    name: "fan-in",
    about: "several senders tell numbers to one counter",
    unit: "messages",
    n: 5_000_000,
    params: &[
        Param { name: "senders", default: 8, range: 1..=1_000_000, about: "sending actors" },
        Param {
            name: "burst",
            default: 0,
            range: 0..=1_000_000_000,
            about: "tells in one run of a sender; 0: all",
        },
    ],
    run,
};

struct Counter {
    left: u64,
    sum: u64,
    result: Sender<[u64; 1]>,
}

impl Actor for Counter {
    type Msg = u64;

    fn receive(&mut self, _cx: &mut Context<'_, Self>, number: u64) -> Result<(), Failure> {
        self.sum = self.sum.wrapping_add(number);
        self.left -= 1;
        if self.left == 0 {
            self.result.send([self.sum])?;
        }
        Ok(())
    }
}

/// The one message that a sender understands: tell on.
struct Go;

struct Teller {
    counter: ActorRef<u64>,
    left: u64,
    burst: u64,
}

impl Actor for Teller {
    type Msg = Go;

    fn receive(&mut self, cx: &mut Context<'_, Self>, go: Go) -> Result<(), Failure> {
        let now = if self.burst == 0 { self.left } else { self.left.min(self.burst) };
        for _ in 0..now {
            cx.tell(&self.counter, self.left);
            self.left -= 1;
        }
        if self.left > 0 {
            let me = cx.myself();
            cx.tell(&me, go);
        }
        Ok(())
    }
}

fn run(setup: &Setup) -> Result<Outcome, Wrong> {
    let (senders, burst) = (setup.params[0], setup.params[1]);
    let each = setup.n.div_ceil(senders);
    let n = each * senders;
    let system = system(setup)?;
    let (result, results) = channel();
    let counter = Props::new(move || Counter { left: n, sum: 0, result: result.clone() });
    let counter = system.spawn("counter", counter).map_err(Wrong::of)?;
    let tellers = (0..senders).map(|index| {
        let counter = counter.clone();
        let teller = Props::new(move || Teller { counter: counter.clone(), left: each, burst });
        system.spawn(&format!("teller-{index}"), teller).map_err(Wrong::of)
    });
    let tellers: Vec<_> = tellers.collect::<Result<_, _>>()?;
    let go = || tellers.iter().for_each(|teller| teller.tell(Go));
    let ([sum], took) = timed(&system, go, &results, 1)?;
    let bursts = if burst == 0 { 1 } else { each.div_ceil(burst) };
    check(&system, n + senders * bursts)?;
    let expected = (u128::from(senders) * u128::from(each) * (u128::from(each) + 1) / 2) as u64;
    outcome("the sum", expected, sum, n, took)
}
