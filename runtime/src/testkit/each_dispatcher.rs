//! Runs one test body on every dispatcher: the same promises must hold in virtual time and on threads.

use crate::system::ActorSystem;
use std::time::Duration;

/// Seeds tried on each Stepper; `FOOTLIGHTS_SEEDS` overrides it.
const SEEDS: u64 = 16;
/// How long a test waits for a system's end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `body` on Steppers of 1 and 4 virtual workers with 16 seeds each (`FOOTLIGHTS_SEEDS` sets another number), and on
/// Pools of 1 and 4 threads. Afterwards the system is shut down, and the ledger must balance with no actor left.
///
/// # Panics
/// If the body panics (the seed is printed), if the system does not end, or if the ledger does not balance.
pub fn on_each_dispatcher(body: impl Fn(&ActorSystem)) {
    on_steppers(&body);
    #[cfg(not(target_family = "wasm"))]
    for workers in [1, 4] {
        let label = format!("pool of {workers}");
        run(&label, ActorSystem::builder("test").pool().workers(workers), &body);
    }
}

/// As [`on_each_dispatcher`], on Steppers only.
///
/// # Panics
/// As [`on_each_dispatcher`].
pub fn on_steppers(body: impl Fn(&ActorSystem)) {
    let seeds = std::env::var("FOOTLIGHTS_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(SEEDS);
    for workers in [1, 4] {
        for seed in 0..seeds {
            let label = format!("stepper of {workers}, seed={seed}");
            let plain = ActorSystem::builder("test").stepper().workers(workers).seed(seed);
            // Seed 0 runs in the fixed order, all others in an order of their own.
            run(&label, if seed == 0 { plain } else { plain.seeded_order() }, &body);
        }
    }
}

fn run(label: &str, builder: crate::system::Builder, body: &impl Fn(&ActorSystem)) {
    let on_panic = Label(label);
    let system = builder.build().expect("a test's settings are good");
    body(&system);
    if let Err(error) = system.shutdown(PATIENCE) {
        panic!("{label}: {error}");
    }
    let end = system.snapshot();
    assert!(end.ledger.balanced(), "{label}: the ledger does not balance: {:?}", end.ledger);
    assert_eq!(end.ledger.queued, 0, "{label}: messages are left: {:?}", end.ledger);
    assert_eq!(end.asks.pending, 0, "{label}: asks are left");
    assert_eq!(system.live_actors(), 0, "{label}: actors are left");
    std::mem::forget(on_panic);
}

/// Says on which dispatcher a body panicked.
struct Label<'a>(&'a str);

impl Drop for Label<'_> {
    fn drop(&mut self) {
        eprintln!("the test failed on: {}", self.0);
    }
}
