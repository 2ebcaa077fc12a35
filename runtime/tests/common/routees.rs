//! Routees that say what they were told, and what tests of routers do with them.

use std::collections::BTreeMap;
use std::time::Duration;

use footlights::actor::{Actor, Context, Failure, Props, Recipient};
use footlights::routing::{Refill, Router, RouterRef};
use footlights::system::ActorSystem;
use footlights::testkit::Probe;

use super::wait_until;

pub(crate) const MS: Duration = Duration::from_millis(1);

/// What a routee says: its name, its incarnation, and what it was told.
pub(crate) type Said = (String, u32, u32);

pub(crate) struct Routee {
    out: Recipient<Said>,
}

#[derive(Clone, Debug)]
pub(crate) enum Job {
    Say(u32),
    Fail,
    Panic,
    Work(Duration),
    /// Work, then say.
    WorkAndSay(Duration, u32),
}

impl Actor for Routee {
    type Msg = Job;

    fn receive(&mut self, cx: &mut Context<'_, Self>, job: Job) -> Result<(), Failure> {
        match job {
            Job::Say(n) => self.say(cx, n),
            Job::Fail => return Err(Failure::new("job", "on request")),
            Job::Panic => panic!("planned: a routee fails"),
            Job::Work(d) => cx.work(d),
            Job::WorkAndSay(d, n) => {
                cx.work(d);
                self.say(cx, n);
            }
        }
        Ok(())
    }
}

impl Routee {
    pub(crate) fn new(out: Recipient<Said>) -> Self {
        Routee { out }
    }

    fn say(&self, cx: &mut Context<'_, Self>, n: u32) {
        let name = cx.path().rsplit('/').next().unwrap_or_default().to_owned();
        let incarnation = cx.incarnation();
        cx.tell(&self.out, (name, incarnation, n));
    }
}

pub(crate) fn props(probe: &Probe<Said>) -> Props<Routee> {
    let out = probe.recipient();
    Props::new(move || Routee::new(out.clone()))
}

/// Makes a pool that is not refilled.
pub(crate) fn pool(
    system: &ActorSystem,
    probe: &Probe<Said>,
    router: Router<Job>,
    n: usize,
) -> RouterRef<Job> {
    let pool = router.pool(n, props(probe)).refill(Refill::Shrink);
    system.spawn_router("pool", pool).expect("a free name")
}

/// Sends so many jobs, and gives who got how many.
pub(crate) fn shares(
    system: &ActorSystem,
    probe: &Probe<Said>,
    router: &RouterRef<Job>,
    n: u32,
) -> BTreeMap<String, u32> {
    (0..n).for_each(|n| router.tell(Job::Say(n)));
    let mut shares = BTreeMap::new();
    (0..n).for_each(|_| *shares.entry(probe.expect(system).0).or_insert(0) += 1);
    shares
}

/// Waits for a table of this size.
pub(crate) fn table_size(system: &ActorSystem, router: &RouterRef<Job>, n: usize) {
    wait_until(system, &format!("{n} routees in the table"), || router.routees().len() == n);
}

/// Gives the names of the routees in the table.
pub(crate) fn names(router: &RouterRef<Job>) -> Vec<String> {
    router.snapshot().routees.iter().map(|routee| routee.label.to_string()).collect()
}
