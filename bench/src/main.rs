//! `footlights-bench`: measures workloads, and runs scenario files, natively.
//!
//! Exit codes: 0, it ran and its state was right; 1, it did not; 2, it was not asked rightly.

#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark measures wall-clock time; it decides nothing by it"
)]

mod args;
mod help;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use args::{Command, Rounds, Scene, Trial};
use footlights_bench::experiments::{self, ExperimentError};
use footlights_bench::run::{Reader, RoundsError, rounds};
use footlights_bench::scenario;
use footlights_bench::workloads::ALL;

/// What went wrong, by exit code.
enum Trouble {
    /// 1: a run failed.
    Run(String),
    /// 2: the command line, or a file that it names, is not right.
    Usage(String),
    /// The reader of our output has gone: no fault of anybody.
    Unread,
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Trouble::Unread,
            _ => Trouble::Run(format!("cannot write the results: {error}")),
        }
    }
}

impl From<RoundsError> for Trouble {
    fn from(error: RoundsError) -> Self {
        match error {
            RoundsError::Wrong(wrong) => Trouble::Run(wrong.0),
            RoundsError::Write(error) => error.into(),
        }
    }
}

fn main() -> ExitCode {
    let command = args::parse(std::env::args_os().skip(1)).map_err(Trouble::Usage);
    match command.and_then(execute) {
        Ok(()) | Err(Trouble::Unread) => ExitCode::SUCCESS,
        Err(Trouble::Run(text)) => complain(1, &text),
        Err(Trouble::Usage(text)) => complain(2, &text),
    }
}

fn complain(code: u8, text: &str) -> ExitCode {
    // If nobody listens on the error stream, the exit code still tells.
    let _ = writeln!(io::stderr(), "footlights-bench: {text}");
    ExitCode::from(code)
}

fn execute(command: Command) -> Result<(), Trouble> {
    match command {
        Command::Help(text) => Ok(io::stdout().write_all(text.as_bytes())?),
        Command::List => Ok(io::stdout().write_all(list().as_bytes())?),
        Command::Run(asked) => run(&asked),
        Command::Scenario(scene) => play(&scene),
        Command::Experiment(trial) => try_out(&trial),
    }
}

fn reader(json: bool) -> Reader {
    match (json, io::stderr().is_terminal()) {
        (true, _) => Reader::Program,
        (false, true) => Reader::Terminal,
        (false, false) => Reader::Person,
    }
}

fn run(asked: &Rounds) -> Result<(), Trouble> {
    let (results, words) = (&mut io::stdout(), &mut io::stderr());
    Ok(rounds(asked.workload, &asked.setup, asked.rounds, reader(asked.json), results, words)?)
}

/// Runs all that were asked for, and tells at the end of those that did not come out.
fn try_out(trial: &Trial) -> Result<(), Trouble> {
    let (results, words) = (&mut io::stdout(), &mut io::stderr());
    let mut refuted = Vec::new();
    for experiment in &trial.experiments {
        match experiment.run(&trial.ask, results, words) {
            Err(ExperimentError::Write(error)) => return Err(error.into()),
            Err(wrong) => refuted.push(wrong.to_string()),
            Ok(()) => {}
        }
    }
    if refuted.is_empty() { Ok(()) } else { Err(Trouble::Run(refuted.join("\n"))) }
}

fn play(scene: &Scene) -> Result<(), Trouble> {
    let document = scenario::read(&scene.file, &scene.ask).map_err(Trouble::Usage)?;
    let report = scenario::run(&document, &scene.ask, reader(scene.json), &mut io::stderr());
    let report = report.map_err(|wrong| Trouble::Run(wrong.0))?;
    let text = if scene.json { report.to_json() + "\n" } else { report.to_text() };
    Ok(io::stdout().write_all(text.as_bytes())?)
}

/// Lists the workloads with their sizes and parameters, and the experiments.
fn list() -> String {
    let mut text = String::new();
    for workload in ALL {
        let n = footlights_bench::report::grouped(workload.n);
        text += &format!("{:<4}{:<16}{}\n", workload.id, workload.name, workload.about);
        text += &format!("{:20}--n {n} {}\n", "", workload.unit);
        for param in workload.params {
            text += &format!("{:20}--param {}={}  {}\n", "", param.name, param.default, param.about);
        }
    }
    for experiment in experiments::ALL {
        text += &format!("{:<20}{}\n", experiment.id, experiment.about);
    }
    text
}
