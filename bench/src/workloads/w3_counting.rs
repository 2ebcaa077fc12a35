//! W3 counting: one actor tells many numbers to one counter, then asks it for its count.
//!
//! By default all are told in one run of the sender, as the classic of this name does it, so a backlog builds up. With
//! `burst` the sender goes to the back of the queue after so many.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::pattern::{AskError, Reply};

use super::actors::{check, outcome, system, timed};
use super::{Outcome, Param, Setup, Workload, Wrong};

pub(super) const WORKLOAD: Workload = Workload {
    id: "W3",
    name: "counting",
    about: "one actor tells numbers to one counter, then asks it for its count",
    unit: "messages",
    n: 5_000_000,
    params: &[Param {
        name: "burst",
        default: 0,
        range: 0..=1_000_000_000,
        about: "tells in one run of the sender; 0: all",
    }],
    run,
};

/// The count comes after the whole backlog.
const ANSWER_MAX: Duration = Duration::from_secs(600);

enum ToCounter {
    Add(u64),
    Get(Reply<[u64; 2]>),
}

#[derive(Default)]
struct Counter {
    count: u64,
    sum: u64,
}

impl Actor for Counter {
    type Msg = ToCounter;

    fn receive(&mut self, _cx: &mut Context<'_, Self>, message: ToCounter) -> Result<(), Failure> {
        match message {
            ToCounter::Add(number) => {
                self.count += 1;
                self.sum = self.sum.wrapping_add(number);
            }
            ToCounter::Get(reply) => {
                reply.send([self.count, self.sum]);
            }
        }
        Ok(())
    }
}

enum ToTeller {
    Go,
    Counted(Result<[u64; 2], AskError>),
}

struct Teller {
    counter: ActorRef<ToCounter>,
    left: u64,
    burst: u64,
    result: Sender<[u64; 2]>,
}

impl Teller {
    fn go(&mut self, cx: &mut Context<'_, Self>) {
        let now = if self.burst == 0 { self.left } else { self.left.min(self.burst) };
        for _ in 0..now {
            cx.tell(&self.counter, ToCounter::Add(self.left));
            self.left -= 1;
        }
        if self.left > 0 {
            let me = cx.myself();
            cx.tell(&me, ToTeller::Go);
        } else {
            cx.ask(&self.counter, ToCounter::Get, ANSWER_MAX, ToTeller::Counted);
        }
    }
}

impl Actor for Teller {
    type Msg = ToTeller;

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: ToTeller) -> Result<(), Failure> {
        match message {
            ToTeller::Go => self.go(cx),
            ToTeller::Counted(answer) => self.result.send(answer?)?,
        }
        Ok(())
    }
}

fn run(setup: &Setup) -> Result<Outcome, Wrong> {
    let (n, burst) = (setup.n, setup.params[0]);
    let system = system(setup)?;
    let (result, results) = channel();
    let counter = system.spawn("counter", Props::new(Counter::default)).map_err(Wrong::of)?;
    let teller = move || Teller { counter: counter.clone(), left: n, burst, result: result.clone() };
    let teller = system.spawn("teller", Props::new(teller)).map_err(Wrong::of)?;
    let ([count, sum], took) = timed(&system, || teller.tell(ToTeller::Go), &results, 1)?;
    let bursts = if burst == 0 { 1 } else { n.div_ceil(burst) };
    // The numbers, the question, the answer, and what the sender told itself.
    check(&system, n + 2 + bursts)?;
    let expected = (u128::from(n) * (u128::from(n) + 1) / 2) as u64;
    outcome("the sum", expected, sum, n, took)?;
    outcome("the count", n, count, n, took)
}
