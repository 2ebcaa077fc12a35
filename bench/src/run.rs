//! Runs a workload: a warm-up that is not reported, then its rounds.

use std::io::{self, Write};

use crate::machine::Machine;
use crate::report::{Line, Summary, grouped};
use crate::workloads::{Memory, Setup, Workload, Wrong};

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
    let (mut rates, mut cpu, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=rounds {
        progress(words, &format!("{what}: round {round} of {rounds}"))?;
        let outcome = (workload.run)(setup).map_err(RoundsError::Wrong)?;
        progress(words, "")?;
        let line = Line::new(workload, setup, outcome, round);
        // One write, so that an interrupt leaves whole lines only.
        results.write_all(format!("{}\n", line.to_json()).as_bytes())?;
        results.flush()?;
        rates.push(line.per_sec);
        // In picoseconds, so that whole numbers will do.
        cpu.extend(line.cpu_secs.map(|secs| (secs * 1e12 / line.n as f64) as u64));
        memory.extend(outcome.memory);
    }
    if reader != Reader::Program {
        sum_up(words, &what, workload.unit, &rates, &cpu, &memory)?;
    }
    Ok(())
}

fn sum_up(
    words: &mut dyn Write,
    what: &str,
    unit: &str,
    rates: &[u64],
    cpu: &[u64],
    memory: &[Memory],
) -> io::Result<()> {
    if let Some(rates) = Summary::of(rates) {
        writeln!(words, "{what}: {}", rates.to_text(unit))?;
    }
    if let Some(cpu) = Summary::of(cpu) {
        let [median, min, max] = [cpu.median, cpu.min, cpu.max].map(|ps| ps as f64 / 1e3);
        writeln!(words, "{what}: {median:.1} ns of processor time each, min {min:.1}, max {max:.1}")?;
    }
    let each: Vec<u64> = memory.iter().map(|memory| memory.each).collect();
    if let (Some(bytes), Some(last)) = (Summary::of(&each), memory.last()) {
        let [median, min, max] = [bytes.median, bytes.min, bytes.max].map(grouped);
        writeln!(words, "{what}: {median} bytes each, min {min}, max {max}")?;
        let [resident, peak] = [last.resident, last.peak].map(|bytes| bytes as f64 / (1 << 20) as f64);
        writeln!(words, "{what}: {resident:.1} MiB resident at the end, {peak:.1} MiB at most")?;
    }
    Ok(())
}
