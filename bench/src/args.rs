//! The command line, read into plain data; what is wrong with it is said by name.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use footlights::scenario::On;
use footlights_bench::experiments::{self, Ask as Question, Experiment};
use footlights_bench::scenario::Ask;
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
    /// A run of a scenario file.
    Scenario(Scene),
    /// Runs of experiments.
    Experiment(Trial),
}

/// Runs of experiments.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) experiments: Vec<&'static Experiment>,
    pub(crate) ask: Question,
}

/// A run of one scenario file.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) file: PathBuf,
    pub(crate) ask: Ask,
    pub(crate) json: bool,
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
            Some("scenario") => scenario(&mut parser),
            Some("experiment") => experiment(&mut parser),
            Some("help") => Ok(Command::Help(help::ALL)),
            _ => Err(format!(
                "unknown subcommand {name:?}: choose list, run, scenario or experiment; --help says more"
            )),
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

fn experiment(parser: &mut lexopt::Parser) -> Result<Command, String> {
    let mut ask = Question { is_virtual: false, workers: None, n: None, json: false };
    let mut names = Vec::new();
    while let Some(argument) = next(parser)? {
        match argument {
            Short('h') | Long("help") => return Ok(Command::Help(help::EXPERIMENT)),
            Long("virtual") => ask.is_virtual = true,
            Long("workers") => ask.workers = Some(number(parser, "--workers", 1..=WORKERS_MAX)?),
            Long("n") => ask.n = Some(number(parser, "--n", 1..=1_000_000)?),
            Long("json") => ask.json = true,
            Value(name) => names.push(name.to_string_lossy().into_owned()),
            other => return Err(unexpected(other)),
        }
    }
    let known = || experiments::ALL.iter().map(|e| e.id).collect::<Vec<_>>().join(", ");
    let experiments = match names.as_slice() {
        [] => return Err(format!("run which experiment? There are {}, or all", known())),
        [all] if all == "all" => experiments::ALL.iter().collect(),
        names => {
            let find = |name: &String| {
                experiments::find(name)
                    .ok_or_else(|| format!("unknown experiment {name:?}: there are {}", known()))
            };
            names.iter().map(find).collect::<Result<_, _>>()?
        }
    };
    Ok(Command::Experiment(Trial { experiments, ask }))
}

fn scenario(parser: &mut lexopt::Parser) -> Result<Command, String> {
    let mut ask = Ask { on: On::Pool, seed: None, workers: None, until: None };
    let (mut file, mut json) = (None, false);
    while let Some(argument) = next(parser)? {
        match argument {
            Short('h') | Long("help") => return Ok(Command::Help(help::SCENARIO)),
            Long("dispatcher") => ask.on = dispatcher(&text(parser, "--dispatcher")?)?,
            Long("seed") => ask.seed = Some(number(parser, "--seed", 0..=u64::MAX)?),
            Long("workers") => ask.workers = Some(number(parser, "--workers", 1..=WORKERS_MAX as u16)?),
            Long("until") => ask.until = Some(time(&text(parser, "--until")?)?),
            Long("json") => json = true,
            Value(path) if file.is_none() => file = Some(PathBuf::from(path)),
            other => return Err(unexpected(other)),
        }
    }
    let file = file.ok_or("run which scenario file? --help says more")?;
    Ok(Command::Scenario(Scene { file, ask, json }))
}

fn dispatcher(name: &str) -> Result<On, String> {
    match name {
        "pool" => Ok(On::Pool),
        "stepper" => Ok(On::Stepper),
        _ => Err(format!("--dispatcher {name:?}: choose pool or stepper")),
    }
}

/// Reads a time with its unit.
fn time(written: &str) -> Result<Duration, String> {
    let units = [("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let parsed = units.iter().find_map(|(unit, secs)| {
        let number: f64 = written.strip_suffix(unit)?.trim_end().parse().ok()?;
        Duration::try_from_secs_f64(number * secs).ok().filter(|time| !time.is_zero())
    });
    parsed.ok_or_else(|| {
        format!("--until {written:?}: write a time above 0 with its unit, such as 90s, 1.5s, 200ms, 2m")
    })
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
    fn a_scenario_is_read_with_its_options() {
        let Ok(Command::Scenario(scene)) =
            parsed("scenario a.json --dispatcher stepper --seed 9 --until 1.5s")
        else {
            panic!("it is right")
        };
        let until = Some(Duration::from_millis(1_500));
        assert_eq!(scene.file, PathBuf::from("a.json"));
        assert_eq!(scene.ask, Ask { on: On::Stepper, seed: Some(9), workers: None, until });
    }

    #[test]
    fn a_time_has_a_unit() {
        let millis = |written| time(written).map(|time| time.as_millis());
        assert_eq!((millis("200ms"), millis("2m"), millis("1.5 s")), (Ok(200), Ok(120_000), Ok(1_500)));
        for wrong in ["", "7", "s", "-1s", "0s", "inf s", "NaNs", "1e300h"] {
            assert!(time(wrong).is_err_and(|text| text.contains("--until")), "{wrong}");
        }
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
        assert!(complaint("scenario a.json --dispatcher threads").contains("pool or stepper"));
        assert!(complaint("scenario a.json --until soon").contains("--until \"soon\""));
        assert!(complaint("scenario").contains("file"));
        assert!(complaint("experiment").contains("E1"));
        assert!(complaint("experiment E99").contains("unknown experiment"));
        assert!(complaint("experiment E1 --n 0").contains("--n \"0\""));
        assert!(complaint("walk").contains("walk"));
        assert!(complaint("").contains("Usage"));
        assert!(complaint("run W1 --n").contains("--n"));
    }
}
