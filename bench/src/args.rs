//! The command line, read into plain data; what is wrong with it is said by name.

use std::ffi::OsString;
use std::ops::RangeInclusive;

use footlights_bench::workloads::{ALL, Setup, Workload, find};
use lexopt::prelude::*;

use crate::help;

/// Rounds, at most; each takes a second or so.
const ROUNDS_MAX: u32 = 10_000;
/// Threads, at most; what the runtime allows.
const WORKERS_MAX: usize = 64;

/// What is asked for.
#[derive(Debug)]
pub(crate) enum Command {
    /// A text.
    Help(&'static str),
    /// The names of the workloads.
    List,
    /// Rounds of a workload.
    Run(Rounds),
}

/// Rounds of one workload.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) workload: &'static Workload,
    pub(crate) setup: Setup,
    pub(crate) rounds: u32,
    pub(crate) json: bool,
}

/// Reads the command line, without the program's name.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut parser = lexopt::Parser::from_args(arguments);
    match next(&mut parser)? {
        None => Err(format!("say what to do\n\n{}", help::ALL)),
        Some(Short('h') | Long("help")) => Ok(Command::Help(help::ALL)),
        Some(Value(name)) => match name.to_str() {
            Some("list") => list(&mut parser),
            Some("run") => run(&mut parser),
            Some("help") => Ok(Command::Help(help::ALL)),
            _ => Err(format!("unknown subcommand {name:?}: choose list or run; --help says more")),
        },
        Some(other) => Err(unexpected(other)),
    }
}

fn next<'a>(parser: &'a mut lexopt::Parser) -> Result<Option<lexopt::Arg<'a>>, String> {
    parser.next().map_err(|error| error.to_string())
}

fn unexpected(argument: lexopt::Arg<'_>) -> String {
    format!("{}; --help says what is known", argument.unexpected())
}

fn list(parser: &mut lexopt::Parser) -> Result<Command, String> {
    match next(parser)? {
        None => Ok(Command::List),
        Some(Short('h') | Long("help")) => Ok(Command::Help(help::LIST)),
        Some(other) => Err(unexpected(other)),
    }
}

/// What `run` takes, as it is written.
#[derive(Default)]
struct RunOptions {
    name: Option<String>,
    n: Option<u64>,
    param: Option<String>,
    workers: Option<usize>,
    throughput: Option<u32>,
    rounds: Option<u32>,
    json: bool,
}

fn run(parser: &mut lexopt::Parser) -> Result<Command, String> {
    let mut options = RunOptions::default();
    while let Some(argument) = next(parser)? {
        match argument {
            Short('h') | Long("help") => return Ok(Command::Help(help::RUN)),
            Long("n") => options.n = Some(number(parser, "--n", 1..=u64::MAX >> 16)?),
            Long("param") => options.param = Some(text(parser, "--param")?),
            Long("workers") => options.workers = Some(number(parser, "--workers", 1..=WORKERS_MAX)?),
            Long("throughput") => options.throughput = Some(number(parser, "--throughput", 1..=u32::MAX)?),
            Long("rounds") => options.rounds = Some(number(parser, "--rounds", 1..=ROUNDS_MAX)?),
            Long("json") => options.json = true,
            Value(name) if options.name.is_none() => options.name = Some(name.to_string_lossy().into()),
            other => return Err(unexpected(other)),
        }
    }
    options.into_command()
}

impl RunOptions {
    fn into_command(self) -> Result<Command, String> {
        let name = self.name.ok_or_else(|| format!("run which workload? There are {}", names()))?;
        let unknown = || format!("unknown workload {name:?}: there are {}", names());
        let workload = find(&name).ok_or_else(unknown)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS_MAX);
        let mut setup = workload.setup(self.workers.unwrap_or(cores));
        setup.n = self.n.unwrap_or(setup.n);
        setup.throughput = self.throughput.unwrap_or(setup.throughput);
        if let Some(param) = &self.param {
            workload.set_params(&mut setup, param).map_err(|wrong| wrong.0)?;
        }
        Ok(Command::Run(Rounds { workload, setup, rounds: self.rounds.unwrap_or(1), json: self.json }))
    }
}

fn names() -> String {
    let names: Vec<_> = ALL.iter().map(|workload| format!("{} ({})", workload.id, workload.name)).collect();
    names.join(", ")
}

fn text(parser: &mut lexopt::Parser, option: &str) -> Result<String, String> {
    let value = parser.value().map_err(|error| error.to_string())?;
    value.into_string().map_err(|value| format!("{option} {value:?} is no text"))
}

/// Reads a whole number; digits may be grouped by `_` or `,`.
fn number<T>(parser: &mut lexopt::Parser, option: &str, range: RangeInclusive<T>) -> Result<T, String>
where
    T: Copy + PartialOrd + std::str::FromStr + std::fmt::Display,
{
    let written = text(parser, option)?;
    let digits = written.replace(['_', ','], "");
    digits.parse().ok().filter(|value| range.contains(value)).ok_or_else(|| {
        format!("{option} {written:?}: write a whole number from {} to {}", range.start(), range.end())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_run_is_read_with_its_options() {
        let line = "run pingpong-pairs --n 1_000 --param K=1 --workers=2 --throughput 5 --rounds 3 --json";
        let Ok(Command::Run(asked)) = parsed(line) else { panic!("it is right") };
        assert_eq!((asked.workload.id, asked.rounds, asked.json), ("W1", 3, true));
        assert_eq!(asked.setup, Setup { n: 1_000, params: vec![1, 48], workers: 2, throughput: 5 });
    }

    #[test]
    fn what_is_wrong_is_named() {
        let complaint = |line: &str| parsed(line).map(|_| ()).expect_err(line);
        assert!(complaint("run W77").contains("W4 (fan-in)"));
        assert!(complaint("run W1 --n many").contains("--n \"many\""));
        assert!(complaint("run W1 --workers 65").contains("from 1 to 64"));
        assert!(complaint("run W1 --rounds 0").contains("--rounds \"0\""));
        assert!(complaint("run W2 --param pairs=3").contains("W2 has no parameter"));
        assert!(complaint("run W1 W2").contains("W2"));
        assert!(complaint("run W1 --fast").contains("--fast"));
        assert!(complaint("list all").contains("all"));
        assert!(complaint("walk").contains("walk"));
        assert!(complaint("").contains("Usage"));
        assert!(complaint("run W1 --n").contains("--n"));
    }
}
