//! Runs one test body on every dispatcher: the same promises must hold in virtual time and on threads.

use std::time::Duration;

use crate::observe::Snapshot;
use crate::system::{ActorSystem, Builder};

/// Seeds tried on each Stepper; `FOOTLIGHTS_SEEDS` overrides it.
const SEEDS: u64 = 16;
/// How long a test waits for a system's end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `body` on Steppers of 1 and 4 virtual workers with 16 seeds each, and on Pools of 1 and 4 threads. Afterwards the
/// system is shut down, and nothing may be left: the ledger balances, and no message, ask, timer, actor or stream lives.
///
/// `FOOTLIGHTS_SEEDS=200` tries so many seeds, as `cargo xtask test` does with the acceptance cases; `FOOTLIGHTS_SEED=7` tries
/// that one alone, and no Pool, as the message of a failing test proposes. In a browser there are no Pools.
///
/// # Panics
/// If the body panics (the seed is printed), if the system does not end, or if something is left.
///
/// # Examples
/// ```
/// use footlights::testkit::{Probe, on_each_dispatcher};
/// on_each_dispatcher(|system| {
///     let probe = Probe::new(system, "probe");
///     probe.actor().tell("hello");
///     probe.expect_eq(system, "hello");
/// });
/// ```
#[track_caller]
pub fn on_each_dispatcher(body: impl Fn(&ActorSystem)) {
    on_each_dispatcher_with(|builder| builder, body);
}

/// As [`on_each_dispatcher`], with systems that `set_up` has set up.
///
/// # Panics
/// As [`on_each_dispatcher`].
#[track_caller]
pub fn on_each_dispatcher_with(set_up: impl Fn(Builder) -> Builder, body: impl Fn(&ActorSystem)) {
    on_steppers_with(&set_up, &body);
    #[cfg(not(target_family = "wasm"))]
    if number("FOOTLIGHTS_SEED").is_none() {
        for workers in [1, 4] {
            let label = format!("pool of {workers}");
            run(&label, set_up(ActorSystem::builder("test").pool().workers(workers)), &body);
        }
    }
}

/// As [`on_each_dispatcher`], on Steppers only.
///
/// # Panics
/// As [`on_each_dispatcher`].
#[track_caller]
pub fn on_steppers(body: impl Fn(&ActorSystem)) {
    on_steppers_with(&|builder| builder, &body);
}

#[track_caller]
fn on_steppers_with(set_up: &impl Fn(Builder) -> Builder, body: &impl Fn(&ActorSystem)) {
    let seeds = match number("FOOTLIGHTS_SEED") {
        Some(seed) => seed..seed.saturating_add(1),
        None => 0..number("FOOTLIGHTS_SEEDS").unwrap_or(SEEDS),
    };
    for workers in [1, 4] {
        for seed in seeds.clone() {
            let label = format!(
                "stepper of {workers}, seed={seed}; to run it alone: FOOTLIGHTS_SEED={seed} cargo test"
            );
            let plain = ActorSystem::builder("test").stepper().workers(workers).seed(seed);
            // Seed 0 runs in the fixed order, all others in an order of their own.
            run(&label, set_up(if seed == 0 { plain } else { plain.seeded_order() }), body);
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[track_caller]
fn run(label: &str, builder: Builder, body: &impl Fn(&ActorSystem)) {
    let on_panic = Label(label);
    let system = builder.build().expect("a test's settings are good");
    body(&system);
    if let Err(error) = system.shutdown(PATIENCE) {
        panic!("{label}: {error}");
    }
    let end = system.snapshot();
    assert!(end.ledger.balanced(), "{label}: the ledger does not balance: {:?}", end.ledger);
    let Snapshot { ledger, asks, timers, .. } = &end;
    assert_eq!((ledger.queued, ledger.stashed), (0, 0), "{label}: messages are left: {ledger:?}");
    assert!(asks.balanced() && asks.pending == 0, "{label}: asks are left: {asks:?}");
    assert_eq!(*timers, 0, "{label}: timers are left");
    // Streams are actors, too.
    assert!(end.actors.is_empty(), "{label}: actors are left: {:?}", end.actors);
    std::mem::forget(on_panic);
}

/// Says on which dispatcher a body panicked.
struct Label<'a>(&'a str);

impl Drop for Label<'_> {
    fn drop(&mut self) {
        eprintln!("the test failed on: {}", self.0);
    }
}
