//! Runs a scenario file, the document that the playground shares, natively.
//!
//! A run ends when nothing is left to do and no timer is armed, or at a given moment of the system's time. On a Stepper that
//! time is virtual, and the run has a log hash; on a Pool it is real.
//! I1 a file with a fault is not run: every fault is told with its place.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant as WallInstant};

use footlights::observe::{Asks, Ledger};
use footlights::scenario::document::Scenario;
use footlights::scenario::parse::TEXT_BYTES_MAX;
use footlights::scenario::{DocError, On, Run, validate};
use footlights::time::Instant;
use serde::Serialize;

use crate::report::grouped;
use crate::run::Reader;
use crate::workloads::Wrong;

/// Turns of a Stepper between two looks at the terminal.
const TURNS_PER_LOOK: u64 = 100_000;
/// How often a Pool is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// Looks at a Pool between two looks at the terminal.
const LOOKS_PER_LOOK: u32 = 200;

/// What is to be run, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Threads, or virtual time.
    pub on: On,
    /// In place of the document's seed.
    pub seed: Option<u64>,
    /// In place of the document's workers.
    pub workers: Option<u16>,
    /// The moment of the system's time at which the run ends if it has not.
    pub until: Option<Duration>,
}

/// What a run gave, as it is written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The document's name.
    pub scenario: String,
    /// `pool` or `stepper`.
    pub dispatcher: &'static str,
    /// The seed that the run had.
    pub seed: u64,
    /// Threads or virtual workers.
    pub workers: u16,
    /// `rest`: nothing was left to do; `until`: the given moment came.
    pub ended: &'static str,
    /// The system's time at the end, in nanoseconds.
    pub time_ns: u64,
    /// How long that took on this machine.
    pub secs: f64,
    /// Turns; on a Stepper only.
    pub turns: Option<u64>,
    /// The hash over all events; on a Stepper only.
    pub log_hash: Option<String>,
    /// What became of every message.
    pub ledger: Ledger,
    /// What became of every ask.
    pub asks: Asks,
}

/// Reads a file and refuses what is no scenario that can run.
///
/// # Errors
/// Names the file, and every fault with its place.
pub fn read(path: &Path, ask: &Ask) -> Result<Scenario, String> {
    let text = text_of(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut scenario = Scenario::parse(&text).map_err(|faults| told(path, &faults))?;
    scenario.seed = ask.seed.unwrap_or(scenario.seed);
    scenario.workers = ask.workers.unwrap_or(scenario.workers);
    validate(&scenario).map_err(|faults| told(path, &faults))?;
    Ok(scenario)
}

/// Reads one byte more than a document may have, so that a file without end is no trouble.
fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(TEXT_BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

fn told(path: &Path, faults: &[DocError]) -> String {
    let lines: Vec<_> = faults.iter().map(|fault| format!("\n  {fault}")).collect();
    format!("{} is no scenario that can run:{}", path.display(), lines.concat())
}

/// Runs a scenario to its end; tells a person at a terminal how far it is.
///
/// # Errors
/// If it cannot be started, or its ledger does not add up.
pub fn run(scenario: &Scenario, ask: &Ask, reader: Reader, words: &mut dyn Write) -> Result<Report, Wrong> {
    // It was validated when it was read; validating is what makes a plan.
    let plan = validate(scenario).map_err(|faults| Wrong(format!("{faults:?}")))?;
    let began = WallInstant::now();
    let run = Run::start(plan, ask.on).map_err(|error| Wrong(error.to_string()))?;
    let limit = ask.until.map_or(Instant::FAR_FUTURE, |until| Instant::ZERO + until);
    let mut progress = |run: &Run| {
        if reader == Reader::Terminal {
            let (time, handled) = (run.system().now(), grouped(run.system().ledger().handled));
            // Progress that cannot be shown is no fault of the run.
            let _ =
                write!(words, "\r{time:?}: {handled} messages handled\x1b[K").and_then(|()| words.flush());
        }
    };
    let at_rest = match ask.on {
        On::Stepper => step(&run, limit, &mut progress),
        On::Pool => wait(&run, limit, &mut progress),
    };
    let secs = began.elapsed().as_secs_f64();
    if reader == Reader::Terminal {
        let _ = write!(words, "\r\x1b[K");
    }
    let report = report(scenario, ask, &run, at_rest, secs);
    // A Pool's ledger is exact only when all its workers sleep.
    let exact = at_rest || ask.on == On::Stepper;
    if exact && !(report.ledger.balanced() && report.asks.balanced()) {
        return Err(Wrong(format!("the ledger does not add up: {:?} {:?}", report.ledger, report.asks)));
    }
    Ok(report)
}

/// Drives a Stepper; true if it came to rest.
fn step(run: &Run, limit: Instant, progress: &mut dyn FnMut(&Run)) -> bool {
    let system = run.system();
    loop {
        for _ in 0..TURNS_PER_LOOK {
            if system.step_until(limit).is_none() {
                let at_rest = system.next_moment().is_none();
                if !at_rest {
                    // Nothing is left to do until then: only the clock moves.
                    system.run_until(limit);
                }
                return at_rest;
            }
        }
        progress(run);
    }
}

/// Waits for a Pool; true if it came to rest.
fn wait(run: &Run, limit: Instant, progress: &mut dyn FnMut(&Run)) -> bool {
    let system = run.system();
    // Asked twice: between the two questions a timer may have woken an actor.
    let rests = || system.is_quiet() && system.snapshot().timers == 0;
    let mut looks = 0;
    while system.now() < limit {
        if rests() && rests() {
            return true;
        }
        looks = (looks + 1) % LOOKS_PER_LOOK;
        if looks == 0 {
            progress(run);
        }
        std::thread::sleep(LOOK_EVERY.min(limit - system.now()));
    }
    false
}

fn report(scenario: &Scenario, ask: &Ask, run: &Run, at_rest: bool, secs: f64) -> Report {
    let (snapshot, on_stepper) = (run.system().snapshot(), ask.on == On::Stepper);
    Report {
        scenario: scenario.name.clone(),
        dispatcher: if on_stepper { "stepper" } else { "pool" },
        seed: scenario.seed,
        workers: scenario.workers,
        ended: if at_rest { "rest" } else { "until" },
        time_ns: snapshot.now.as_nanos(),
        secs: (secs * 1e6).round() / 1e6,
        turns: on_stepper.then(|| run.turn()),
        log_hash: on_stepper.then(|| format!("{:016x}", snapshot.log_hash)),
        ledger: snapshot.ledger,
        asks: snapshot.asks,
    }
}

impl Report {
    /// Writes the result as JSON, without a line end.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| unreachable!("plain data is JSON: {error}"))
    }

    /// Writes the result for people.
    pub fn to_text(&self) -> String {
        let Report { scenario, dispatcher, seed, workers, ledger, asks, .. } = self;
        let time = Duration::from_nanos(self.time_ns);
        let ended = if self.ended == "rest" { "nothing is left to do" } else { "the given moment came" };
        let mut text = format!("{scenario}: {dispatcher}, seed {seed}, {workers} workers\n");
        text += &format!("  ended     {ended} after {time:?} of its time, {:.3} s of ours\n", self.secs);
        if let (Some(turns), Some(hash)) = (self.turns, &self.log_hash) {
            text += &format!("  log       {hash} after {} turns\n", grouped(turns));
        }
        text += &row("messages", "sent", ledger.sent, &fates(ledger));
        text += &row("asks", "asked", asks.asks, &ask_fates(asks));
        text
    }
}

fn row(name: &str, whole: &str, sum: u64, fates: &[(&str, u64)]) -> String {
    let told = fates.iter().filter(|(_, n)| *n > 0).map(|(fate, n)| format!("{fate} {}", grouped(*n)));
    let told: Vec<_> = told.collect();
    let equals = if told.is_empty() { String::new() } else { format!(" = {}", told.join(" + ")) };
    format!("  {name:<10}{whole} {}{equals}\n", grouped(sum))
}

fn fates(ledger: &Ledger) -> [(&'static str, u64); 6] {
    [
        ("handled", ledger.handled),
        ("queued", ledger.queued),
        ("stashed", ledger.stashed),
        ("failed", ledger.failed),
        ("dead-lettered", ledger.dead_lettered),
        ("dropped", ledger.dropped),
    ]
}

fn ask_fates(asks: &Asks) -> [(&'static str, u64); 5] {
    [
        ("replied", asks.replied),
        ("timed out", asks.timed_out),
        ("failed", asks.failed),
        ("cancelled", asks.cancelled),
        ("pending", asks.pending),
    ]
}
