//! What the actor workloads share: a system, a report from inside it, and the checks at its end.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use footlights::observe::Level;
use footlights::system::ActorSystem;

use super::stopwatch::{Stopwatch, Took};
use super::{Outcome, Setup, Wrong};

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// Builds a system on threads that logs nothing.
pub(super) fn system(setup: &Setup) -> Result<ActorSystem, Wrong> {
    let builder = ActorSystem::builder("bench").pool().workers(setup.workers).throughput(setup.throughput);
    builder.log(Level::Off).build().map_err(Wrong::of)
}

/// Waits until all actors have started, so that starting them is not measured; then times from `start` until `reports`
/// values have come in. Gives the sum of each column.
pub(super) fn timed<const COLUMNS: usize>(
    system: &ActorSystem,
    start: impl FnOnce(),
    results: &Receiver<[u64; COLUMNS]>,
    reports: u64,
) -> Result<([u64; COLUMNS], Took), Wrong> {
    let mut sums = [0u64; COLUMNS];
    await_quiet(system)?;
    let stopwatch = Stopwatch::start();
    start();
    for _ in 0..reports {
        let report = results.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => Wrong(format!("no result within {} s", PATIENCE.as_secs())),
            RecvTimeoutError::Disconnected => Wrong("an actor ended before it had reported".into()),
        })?;
        for (sum, value) in sums.iter_mut().zip(report) {
            *sum = sum.wrapping_add(value);
        }
    }
    Ok((sums, stopwatch.stop()))
}

/// Waits until nothing runs and nothing is queued.
pub(super) fn await_quiet(system: &ActorSystem) -> Result<(), Wrong> {
    let began = Instant::now();
    while !system.is_quiet() {
        if began.elapsed() > PATIENCE {
            return Err(Wrong("the actors do not come to rest after their start".into()));
        }
        std::thread::yield_now();
    }
    Ok(())
}

/// Shuts the system down and checks that exactly `handled` messages were handled and none was lost.
pub(super) fn check(system: &ActorSystem, handled: u64) -> Result<(), Wrong> {
    system.shutdown(Duration::from_secs(60)).map_err(Wrong::of)?;
    let ledger = system.ledger();
    if !ledger.balanced() || ledger.handled != handled {
        return Err(Wrong(format!("{handled} messages should have been handled: {ledger:?}")));
    }
    Ok(())
}

/// Gives the outcome if what the actors counted is what was asked for.
pub(super) fn outcome(what: &str, expected: u64, counted: u64, n: u64, took: Took) -> Result<Outcome, Wrong> {
    if expected != counted {
        return Err(Wrong(format!("{what} should be {expected}, and is {counted}")));
    }
    Ok(Outcome { n, took, memory: None })
}
