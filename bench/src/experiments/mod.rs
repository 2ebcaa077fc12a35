//! The stream experiments: other people's claims about fusing, boundaries, parallelism, buffers and lanes, run again.
//!
//! Each experiment has arms, the same work wired in different ways, and claims about the ratio of their times. On a Stepper
//! the times are virtual and exact; on a Pool they are of this machine.
//! I1 an arm's time counts only if all its elements arrived. I2 a claim outside of its limits is a failure of the run.

mod arms;
mod table;

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant as WallInstant};

use footlights::observe::Level;
use footlights::stream::{Done, RunError, StreamError};
use footlights::system::ActorSystem;
use serde::Serialize;

pub use table::{ALL, find};

/// The work of one element, unless the experiment says otherwise.
pub(crate) const SPIN: Duration = Duration::from_millis(10);

/// Starts an arm with so many elements; its result counts those that arrived.
pub(crate) type Start = fn(&ActorSystem, u64) -> Result<Done<u64>, RunError>;

/// One way to wire the work.
pub struct Arm {
    /// What is said of it in a result.
    pub name: &'static str,
    /// Virtual workers, if not the experiment's.
    pub workers: Option<usize>,
    start: Start,
    /// How many elements arrive for each that was sent.
    copies: u64,
}

/// What must hold between the times of arms.
pub struct Claim {
    /// What is claimed, in words.
    pub text: &'static str,
    /// Computes the measure of the arms' seconds, in the order of the arms.
    measure: fn(&[f64]) -> f64,
    /// The least and the greatest value in virtual time.
    pub exact: (f64, f64),
    /// The least and the greatest value natively; none where it says nothing on few cores.
    pub native: Option<(f64, f64)>,
}

/// An experiment.
pub struct Experiment {
    /// Its number, such as `E1`.
    pub id: &'static str,
    /// What is tried.
    pub about: &'static str,
    /// Virtual workers.
    pub workers: usize,
    /// Elements, in virtual time.
    pub n: u64,
    /// Elements, natively.
    pub n_native: u64,
    /// The ways to wire it.
    pub arms: &'static [Arm],
    /// What must come out.
    pub claims: &'static [Claim],
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.about)
    }
}

/// How an experiment is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// In virtual time.
    pub is_virtual: bool,
    /// Workers; of an arm that has a number of its own, that one.
    pub workers: Option<usize>,
    /// Elements.
    pub n: Option<u64>,
    /// JSON lines and no words.
    pub json: bool,
}

/// The time of one arm, as it is written.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct ArmLine {
    experiment: &'static str,
    arm: &'static str,
    mode: &'static str,
    workers: usize,
    n: u64,
    secs: f64,
}

/// A claim and what came out, as it is written.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct ClaimLine {
    experiment: &'static str,
    claim: &'static str,
    measured: f64,
    limit: String,
}

/// An experiment did not come out, or could not be run.
#[derive(Debug)]
pub enum ExperimentError {
    /// A stream did not start.
    Start(String),
    /// A stream failed.
    Failed(String),
    /// Elements are missing, or came twice.
    Lost(String),
    /// A claim is outside of its limits.
    Refuted(String),
    /// The results could not be written.
    Write(io::Error),
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExperimentError::Start(text)
            | ExperimentError::Failed(text)
            | ExperimentError::Lost(text)
            | ExperimentError::Refuted(text) => f.write_str(text),
            ExperimentError::Write(error) => write!(f, "cannot write the results: {error}"),
        }
    }
}

impl std::error::Error for ExperimentError {}

impl From<io::Error> for ExperimentError {
    fn from(error: io::Error) -> Self {
        ExperimentError::Write(error)
    }
}

impl Experiment {
    /// Runs all arms and writes a line for each, then one for each claim.
    ///
    /// # Errors
    /// If an arm fails or loses an element, or a claim does not hold.
    pub fn run(
        &self,
        ask: &Ask,
        results: &mut impl Write,
        words: &mut impl Write,
    ) -> Result<(), ExperimentError> {
        let n = ask.n.unwrap_or(if ask.is_virtual { self.n } else { self.n_native });
        if !ask.json {
            writeln!(words, "{}: {}", self.id, self.about)?;
        }
        let mut times = Vec::new();
        for arm in self.arms {
            let workers = arm.workers.or(ask.workers).unwrap_or(self.workers);
            let secs = self.time(arm, ask.is_virtual, workers, n)?;
            let mode = if ask.is_virtual { "virtual" } else { "native" };
            let line = ArmLine { experiment: self.id, arm: arm.name, mode, workers, n, secs };
            writeln!(results, "{}", json(&line))?;
            times.push(secs);
        }
        // The limits are those of the experiment's own size and workers.
        let as_planned = ask.n.is_none_or(|n| n == self.n) && ask.workers.is_none_or(|w| w == self.workers);
        let mut refuted = Vec::new();
        for claim in self.claims {
            let limits = if ask.is_virtual { Some(claim.exact).filter(|_| as_planned) } else { claim.native };
            let measured = (claim.measure)(&times);
            let limit = match limits {
                Some((least, most)) if most.is_infinite() => format!(">= {least}"),
                Some((least, most)) => format!("{least} to {most}"),
                None => "none here".to_owned(),
            };
            let line = ClaimLine { experiment: self.id, claim: claim.text, measured, limit: limit.clone() };
            writeln!(results, "{}", json(&line))?;
            if limits.is_some_and(|(least, most)| !(least..=most).contains(&measured)) {
                refuted
                    .push(format!("{}: {}: measured {measured:.3}, expected {limit}", self.id, claim.text));
            }
        }
        if refuted.is_empty() { Ok(()) } else { Err(ExperimentError::Refuted(refuted.join("; "))) }
    }

    /// Gives the seconds that an arm takes.
    fn time(&self, arm: &Arm, is_virtual: bool, workers: usize, n: u64) -> Result<f64, ExperimentError> {
        let place = || format!("{} {}", self.id, arm.name);
        let builder = ActorSystem::builder("experiment").workers(workers).seed(1);
        let builder = if is_virtual { builder.stepper().log(Level::Off) } else { builder.pool() };
        let system = builder.build().map_err(|e| ExperimentError::Start(format!("{}: {e}", place())))?;
        let (began, from) = (WallInstant::now(), system.now());
        let done =
            (arm.start)(&system, n).map_err(|e| ExperimentError::Start(format!("{}: {e}", place())))?;
        let result: Result<u64, StreamError> = system.block_on(done);
        let secs = if is_virtual {
            Duration::from_nanos(system.now().as_nanos() - from.as_nanos()).as_secs_f64()
        } else {
            began.elapsed().as_secs_f64()
        };
        let arrived = result.map_err(|e| ExperimentError::Failed(format!("{}: {e}", place())))?;
        if arrived != n * arm.copies {
            let text = format!("{}: {arrived} elements arrived of {}", place(), n * arm.copies);
            return Err(ExperimentError::Lost(text));
        }
        // What the stream leaves behind is gone before the next arm is timed.
        system
            .shutdown(Duration::from_secs(10))
            .map_err(|e| ExperimentError::Failed(format!("{}: {e}", place())))?;
        Ok(secs)
    }
}

fn json<T: Serialize>(line: &T) -> String {
    serde_json::to_string(line).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}
