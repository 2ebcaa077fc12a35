//! Decisions about the same children that meet: what was decided first stands, as far as it is a stop or a delay.

use std::time::Duration;

use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::observe::{EventKind, StopReason};
use footlights::supervise::{Backoff, Strategy};
use footlights::system::ActorSystem;
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);

/// Fails at every message; its end may take time.
struct Child {
    slow_end: bool,
}

impl Actor for Child {
    type Msg = ();

    fn receive(&mut self, _: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        Err(Failure::new("planned", "every message fails"))
    }

    fn stopped(&mut self, cx: &mut Context<'_, Self>) {
        if self.slow_end {
            cx.work(MS * 100);
        }
    }
}

/// Has the children b, c and d; the end of d takes time.
struct Parent;

impl Actor for Parent {
    type Msg = ();

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        for (name, slow_end) in [("b", false), ("c", false), ("d", true)] {
            let props = Props::new(move || Child { slow_end });
            let long = Backoff::new(MS * 10_000, MS * 10_000).jitter_permille(0);
            cx.spawn(name, if name == "c" { props.backoff(long) } else { props })?;
        }
        Ok(())
    }

    fn receive(&mut self, _: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        Ok(())
    }
}

fn family(seed: u64, strategy: Strategy) -> ActorSystem {
    let system = ActorSystem::builder("family").stepper().seed(seed).seeded_order().build();
    let system = system.expect("good settings");
    system.spawn("top", Props::new(|| Parent).supervise(strategy)).expect("a free name");
    system.run_until_quiet(10_000);
    system
}

fn child(system: &ActorSystem, name: &str) -> ActorRef<()> {
    let found = system.find(&format!("/user/top/{name}")).and_then(|found| found.typed());
    found.unwrap_or_else(|| panic!("{name} lives"))
}

fn run_until_decided(system: &ActorSystem, times: usize) {
    let decisions =
        || system.rare_events(0).0.iter().filter(|e| matches!(e.kind, EventKind::Decided(_))).count();
    while decisions() < times {
        assert!(system.step().is_some(), "{times} decisions are still to come");
    }
}

#[test]
fn a_decided_stop_is_not_undone_by_a_group_restart() {
    for seed in 0..50 {
        let system = family(seed, Strategy::rest_for_one());
        let (b, c) = (child(&system, "b"), child(&system, "c"));
        // c and d are to stop; d is told first, and takes its time.
        c.kill();
        run_until_decided(&system, 1);
        b.tell(());
        system.run_until_quiet(10_000);
        assert!(system.find("/user/top/c").is_none(), "seed {seed}: c was told to stop");
        assert!(system.find("/user/top/d").is_none(), "seed {seed}: d was told to stop");
        assert_eq!(child(&system, "b").any().snapshot().incarnation, 2, "seed {seed}");
        let (events, _) = system.rare_events(0);
        let ends: Vec<_> = events.iter().filter(|e| e.actor == c.id()).map(|e| &e.kind).collect();
        let killed = |kind: &&EventKind| matches!(kind, EventKind::Stopped { reason: StopReason::Killed });
        assert!(ends.iter().any(killed), "seed {seed}: {ends:?}");
        assert!(system.shutdown(Duration::from_secs(10)).is_ok());
        assert!(system.ledger().balanced());
    }
}

#[test]
fn a_decided_delay_is_not_cut_short_by_a_group_restart() {
    let system = family(1, Strategy::rest_for_one());
    let (b, c) = (child(&system, "b"), child(&system, "c"));
    c.tell(());
    run_until_decided(&system, 1);
    system.run_for(MS * 500);
    assert_eq!(c.any().snapshot().incarnation, 1, "it waits for 10 s");
    b.tell(());
    system.run_for(MS * 9_000);
    assert_eq!(c.any().snapshot().incarnation, 1, "it still does, though b has no delay of its own");
    system.run_until_quiet(10_000);
    assert_eq!((b.any().snapshot().incarnation, c.any().snapshot().incarnation), (2, 2));
    assert!(system.now() > Instant::from_nanos(10_000_000_000));
}
