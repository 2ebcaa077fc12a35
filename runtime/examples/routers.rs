//! All eight routers under one uneven load: who keeps a busy counter's customers waiting least?
//!
//! Three clerks stand behind a router. A customer comes every 4 ms; most need 5 ms, every tenth needs 60 ms. What matters
//! is who gets the customer that comes behind a slow one.
//!
//! - *Round robin* and *random* do not look: whoever stands behind a slow customer waits.
//! - *Smallest mailbox* looks at the queues, *balancing* has only one; both let nobody wait while a clerk is free.
//! - *Consistent hash* sends the same customer to the same clerk, at the price of uneven queues.
//! - *Scatter-gather* and *tail-chopping* have several clerks work on one customer, and take the first answer: that buys speed
//!   with work, and there must be room for it. Here there is not.
//! - *Broadcast* gives each customer to all: it is no way to share work.
//!
//! It runs in virtual time on eight workers.
//!
//! ```text
//! $ cargo run --example routers
//! router            mean stay     worst   lost  work of all
//! round robin           28 ms     60 ms      0      2100 ms
//! random                53 ms    208 ms      0      2100 ms
//! smallest mailbox      15 ms     60 ms      0      2100 ms
//! balancing             11 ms     60 ms      0      2100 ms
//! consistent hash       58 ms    195 ms      0      2100 ms
//! tail-chopping        594 ms   1275 ms      0      6180 ms
//! scatter-gather       632 ms   1304 ms      0      6300 ms
//! broadcast            632 ms   1304 ms      0      6300 ms
//! ```

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use footlights::actor::{Actor, Context, Failure, Props};
use footlights::pattern::{AskError, Reply};
use footlights::routing::{Router, RouterRef};
use footlights::system::ActorSystem;
use footlights::time::Instant;

const CLERKS: usize = 3;
const CUSTOMERS: u64 = 200;

#[derive(Debug)]
struct Customer {
    number: u64,
    served: Option<Reply<()>>,
}

/// A copy of a customer, for broadcasts, hears of no answer.
impl Clone for Customer {
    fn clone(&self) -> Self {
        Customer { number: self.number, served: None }
    }
}

struct Clerk;

impl Actor for Clerk {
    type Msg = Customer;

    fn receive(&mut self, cx: &mut Context<'_, Self>, customer: Customer) -> Result<(), Failure> {
        cx.work(Duration::from_millis(if customer.number.is_multiple_of(10) { 60 } else { 5 }));
        if let Some(served) = customer.served {
            served.send(());
        }
        Ok(())
    }
}

enum ToDoor {
    Open(Reply<(Vec<Duration>, u64)>),
    Next,
    Served { came: Instant, outcome: Result<(), AskError> },
}

/// Lets customers in and notes how long each was there.
struct Door {
    router: RouterRef<Customer>,
    number: u64,
    waits: Vec<Duration>,
    lost: u64,
    done: Option<Reply<(Vec<Duration>, u64)>>,
}

impl Actor for Door {
    type Msg = ToDoor;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: ToDoor) -> Result<(), Failure> {
        match msg {
            ToDoor::Open(done) => {
                self.done = Some(done);
                cx.timers().fixed_rate("next", Duration::from_millis(4), || ToDoor::Next)?;
            }
            ToDoor::Next => {
                self.number += 1;
                let (number, came) = (self.number, cx.now());
                let customer = move |served| Customer { number, served: Some(served) };
                let long = Duration::from_secs(60);
                cx.ask_router(&self.router, customer, long, move |outcome| ToDoor::Served { came, outcome });
                if number == CUSTOMERS {
                    cx.timers().cancel("next");
                }
            }
            ToDoor::Served { came, outcome: Ok(()) } => self.waits.push(cx.now() - came),
            ToDoor::Served { outcome: Err(_), .. } => self.lost += 1,
        }
        if self.waits.len() as u64 + self.lost == CUSTOMERS
            && let Some(done) = self.done.take()
        {
            done.send((std::mem::take(&mut self.waits), self.lost));
        }
        Ok(())
    }
}

/// Lets all customers through one router; gives mean and worst stay in milliseconds, those lost, and what the clerks worked.
fn day(router: Router<Customer>) -> Result<[u128; 4], Box<dyn Error>> {
    let system = ActorSystem::builder("counter").stepper().workers(8).seed(1).build()?;
    let router = system.spawn_router("clerks", router.pool(CLERKS, Props::new(|| Clerk)))?;
    let door = move || Door { router: router.clone(), number: 0, waits: Vec::new(), lost: 0, done: None };
    let door = system.spawn("door", Props::new(door))?;
    let (waits, lost) = system.block_on(door.ask(ToDoor::Open, Duration::from_secs(3_600)))?;
    system.run_until_quiet(1_000_000);
    let clerks = system.snapshot().actors;
    let worked: u64 =
        clerks.iter().filter(|actor| actor.path.contains("clerks/")).map(|actor| actor.busy_ns).sum();
    let mean = waits.iter().sum::<Duration>().as_millis() / (waits.len() as u128).max(1);
    let worst = waits.iter().max().map_or(0, Duration::as_millis);
    Ok([mean, worst, u128::from(lost), u128::from(worked / 1_000_000)])
}

/// Tells the story into `out`.
pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let every_day: [(&str, Router<Customer>); 8] = [
        ("round robin", Router::round_robin()),
        ("random", Router::random()),
        ("smallest mailbox", Router::smallest_mailbox()),
        ("balancing", Router::balancing()),
        ("consistent hash", Router::consistent_hash(|customer| Some(customer.number % 20))),
        ("tail-chopping", Router::tail_chopping()),
        ("scatter-gather", Router::scatter_gather_first()),
        ("broadcast", Router::broadcast()),
    ];
    writeln!(out, "{:<17} {:>9} {:>9} {:>6} {:>12}", "router", "mean stay", "worst", "lost", "work of all")?;
    for (name, router) in every_day {
        let [mean, worst, lost, worked] = day(router)?;
        writeln!(out, "{name:<17} {mean:>6} ms {worst:>6} ms {lost:>6} {worked:>9} ms")?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout().lock())
}
