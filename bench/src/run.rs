//! Runs a workload: a warm-up that is not reported, then its rounds.

use std::io::{self, Write};

use crate::machine::Machine;
use crate::report::{Line, Summary};
use crate::workloads::{Setup, Workload, Wrong};

/// The warm-up's part of the size.
const WARM_UP: u64 = 10;

/// Who reads what is written besides the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A program: nothing but results.
    Program,
    /// A person whose error stream goes elsewhere: a header and a summary.
    Person,
    /// A person at a terminal: also which round runs.
    Terminal,
}

/// Says why rounds ended early.
#[derive(Debug)]
pub enum RoundsError {
    /// A run was wrong.
    Wrong(Wrong),
    /// A result could not be written.
    Write(io::Error),
}

impl From<io::Error> for RoundsError {
    fn from(error: io::Error) -> Self {
        RoundsError::Write(error)
    }
}

/// Runs so many rounds; results go to `results` one by one, words for people to `words`.
///
/// # Errors
/// If a run's state is wrong, or a result cannot be written.
pub fn rounds(
    workload: &Workload,
    setup: &Setup,
    rounds: u32,
    reader: Reader,
    results: &mut dyn Write,
    words: &mut dyn Write,
) -> Result<(), RoundsError> {
    let what = format!("{} {}", workload.id, workload.label(setup));
    if reader != Reader::Program {
        writeln!(words, "{}\n{what}: {}", Machine::look(), workload.about)?;
    }
    let progress = |words: &mut dyn Write, text: &str| match reader {
        // To the line's begin, the text, and the rest of the line cleared.
        Reader::Terminal => write!(words, "\r{text}\x1b[K").and_then(|()| words.flush()),
        Reader::Program | Reader::Person => Ok(()),
    };
    progress(words, &format!("{what}: warm-up"))?;
    let warm_up = Setup { n: (setup.n / WARM_UP).max(1), ..setup.clone() };
    (workload.run)(&warm_up).map_err(RoundsError::Wrong)?;
    let mut rates = Vec::new();
    for round in 1..=rounds {
        progress(words, &format!("{what}: round {round} of {rounds}"))?;
        let outcome = (workload.run)(setup).map_err(RoundsError::Wrong)?;
        progress(words, "")?;
        let line = Line::new(workload, setup, outcome, round);
        // One write, so that an interrupt leaves whole lines only.
        results.write_all(format!("{}\n", line.to_json()).as_bytes())?;
        results.flush()?;
        rates.push(line.per_sec);
    }
    if reader != Reader::Program
        && let Some(summary) = Summary::of(&rates)
    {
        writeln!(words, "{what}: {}", summary.to_text(workload.unit))?;
    }
    Ok(())
}
