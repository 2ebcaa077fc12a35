//! Throughput against fairness: how many messages an actor may handle in a row, and who pays for it.
//!
//! Pairs of actors play ping-pong with many balls; beside them lives a neighbour that is called now and then and minds how long
//! it waits. The tables are of virtual time with the prices of a server of 2012 (9.6 µs to take an actor up, 0.48 µs for a
//! message), so they are the same everywhere; `--native` plays the same on this machine's threads.
//!
//! * The throughput: taken up more rarely, the players move more; the neighbour waits for whole batches. What is won from 64
//!   to 200 is little.
//! * The throughput deadline ends a batch by time: what a large throughput costs the neighbour has a bound. The clock is read
//!   after every 16 messages.
//! * The number of actors: from a few for each worker on, more of them move no more and no less; who waits for a turn waits for
//!   a round of all.
//!
//! ```text
//! $ cargo run --release -p footlights --example throughput
//! virtual time, 8 players on 1 worker
//! throughput   messages/s  neighbour: median         p99
//!          1        99083            14.4 µs     20.0 µs
//!          5       381333            16.5 µs     21.9 µs
//!         20       940916            18.4 µs     29.1 µs
//!         64      1446916            33.5 µs     50.1 µs
//!        200      1784916            63.8 µs    168.6 µs
//! throughput 200, and a deadline
//!   deadline   messages/s  neighbour: median         p99
//!       none      1784916            63.8 µs    168.6 µs
//!      50 µs      1584750            40.7 µs     65.6 µs
//!      20 µs      1158583            22.0 µs     34.9 µs
//!      10 µs       837916            19.3 µs     27.2 µs
//! throughput 200, 4 workers, ever more players with 2 balls each
//!     actors   messages/s  neighbour: median         p99
//!          2       272200            10.1 µs     10.1 µs
//!          4       522200            12.5 µs     21.8 µs
//!          8      1362600            13.0 µs     15.7 µs
//!         16      1364400            24.6 µs     32.4 µs
//!        100      1377200           141.5 µs    239.8 µs
//!       1000      1387600          1477.4 µs   1819.4 µs
//!      10000      1388775         14340.4 µs  14622.6 µs
//! ```
//! `-- --native [--workers 2] [--seconds 1]` measures; other people's work on the machine shows in the neighbour's waits.

use std::error::Error;
use std::fmt;
use std::io::Write;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::observe::Level;
use footlights::system::{ActorSystem, Builder, CostModel};
use footlights::time::Instant;

/// The largest throughput.
const LARGE: u32 = 200;
/// Balls of each player where there are many players.
const FEW_BALLS: u32 = 2;

/// Sends every ball back.
struct Player {
    other: Option<ActorRef<Play>>,
}

enum Play {
    Against(ActorRef<Play>),
    Ball,
}

impl Actor for Player {
    type Msg = Play;

    fn receive(&mut self, cx: &mut Context<'_, Self>, play: Play) -> Result<(), Failure> {
        match (play, &self.other) {
            (Play::Against(other), _) => self.other = Some(other),
            (Play::Ball, Some(other)) => cx.tell(other, Play::Ball),
            (Play::Ball, None) => {}
        }
        Ok(())
    }
}

/// Is called again and again, a while after the last call, and notes how long it waits for its turn.
struct Neighbour {
    period: Duration,
    due: Instant,
    waits: Arc<Mutex<Vec<Duration>>>,
}

impl Neighbour {
    fn be_called(&mut self, cx: &mut Context<'_, Self>) {
        // By chance, so as not to fall into step with the batches.
        let delay = self.period + cx.rng().uniform(self.period);
        self.due = cx.now() + delay;
        cx.timers().once("call", delay, ());
    }
}

impl Actor for Neighbour {
    type Msg = ();

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        self.be_called(cx);
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        if let Ok(mut waits) = self.waits.lock() {
            waits.push(cx.now() - self.due);
        }
        self.be_called(cx);
        Ok(())
    }
}

/// Where a game is played, and for how long.
#[derive(Clone, Copy)]
enum Stage {
    /// On so many virtual workers with the prices of 2012.
    Virtual(usize),
    /// On so many threads, for so long.
    Native(usize, Duration),
}

impl Stage {
    fn builder(self) -> Builder {
        let builder = ActorSystem::builder("throughput").log(Level::Off);
        match self {
            Stage::Virtual(workers) => builder.stepper().workers(workers).costs(CostModel::dispatch_2012()),
            Stage::Native(workers, _) => builder.pool().workers(workers),
        }
    }

    /// Time between two calls of the neighbour, at least: nothing that a thread's timer cannot keep.
    fn period(self) -> Duration {
        match self {
            Stage::Virtual(_) => Duration::from_micros(50),
            Stage::Native(..) => Duration::from_millis(1),
        }
    }

    /// As many players as there are workers many times over: 96 natively, as in the notes that this retells.
    fn game(self) -> Game {
        match self {
            Stage::Virtual(_) => {
                let ms = Duration::from_millis(1);
                Game { pairs: 4, balls: 400, warm_up: ms, span: 12 * ms }
            }
            Stage::Native(_, span) => Game { pairs: 48, balls: 400, warm_up: span / 10, span },
        }
    }

    /// So many players with few balls, and time enough for a turn of each.
    fn crowd(self, actors: u32) -> Game {
        let game = Game { pairs: actors / 2, balls: FEW_BALLS, ..self.game() };
        match self {
            Stage::Virtual(_) => {
                let span = Duration::from_millis(5).max(actors * Duration::from_micros(4));
                Game { warm_up: 2 * span, span, ..game }
            }
            Stage::Native(..) => game,
        }
    }
}

/// How many play, and for how long.
#[derive(Clone, Copy)]
struct Game {
    pairs: u32,
    /// Balls of each player at the start. In the first games they are enough for full batches of the largest throughput.
    balls: u32,
    /// Everybody gets going first.
    warm_up: Duration,
    span: Duration,
}

/// What a game has shown.
struct Played {
    per_second: u64,
    /// What the neighbour waited, if it had a turn at all.
    median: Option<Duration>,
    p99: Option<Duration>,
}

/// Plays one game, and ends the system.
fn play(stage: Stage, system: &ActorSystem, game: Game) -> Result<Played, Box<dyn Error>> {
    let player = || system.spawn("", Props::new(|| Player { other: None }));
    for _ in 0..game.pairs {
        let (a, b) = (player()?, player()?);
        a.tell(Play::Against(b.clone()));
        b.tell(Play::Against(a.clone()));
        (0..game.balls).for_each(|_| [&a, &b].into_iter().for_each(|player| player.tell(Play::Ball)));
    }
    pass(system, game.warm_up);
    let waits = Arc::new(Mutex::new(Vec::new()));
    let (kept, period) = (waits.clone(), stage.period());
    let neighbour = move || Neighbour { period, due: Instant::ZERO, waits: kept.clone() };
    system.spawn("neighbour", Props::new(neighbour))?;
    let (before, began) = (system.ledger().handled, system.now());
    pass(system, game.span);
    let (handled, took) = (system.ledger().handled - before, system.now() - began);
    system.shutdown(Duration::from_secs(60))?;
    let mut waits = waits.lock().map(|waits| waits.clone()).unwrap_or_default();
    waits.sort_unstable();
    let of_hundred = |n: usize| waits.get((waits.len() * n).div_ceil(100).saturating_sub(1)).copied();
    let per_second = u128::from(handled) * 1_000_000_000 / took.as_nanos().max(1);
    Ok(Played {
        per_second: u64::try_from(per_second).unwrap_or(u64::MAX),
        median: of_hundred(50),
        p99: of_hundred(99),
    })
}

/// Lets time pass, virtual or real.
fn pass(system: &ActorSystem, span: Duration) {
    if system.is_stepper() {
        system.run_for(span);
    } else {
        system.block_on(system.handle().sleep(span));
    }
}

fn head(out: &mut impl Write, of: &str) -> std::io::Result<()> {
    writeln!(out, "{of:>10} {:>12} {:>18} {:>11}", "messages/s", "neighbour: median", "p99")
}

fn row(out: &mut impl Write, of: &str, played: &Played) -> std::io::Result<()> {
    let Played { per_second, median, p99 } = played;
    let [median, p99] = [median, p99].map(|wait| match wait {
        Some(wait) => format!("{:.1} µs", wait.as_nanos() as f64 / 1e3),
        None => "n/a".to_owned(),
    });
    writeln!(out, "{of:>10} {per_second:>12} {median:>18} {p99:>11}")
}

/// Plays with each throughput.
fn throughputs(out: &mut impl Write, stage: Stage) -> Result<(), Box<dyn Error>> {
    head(out, "throughput")?;
    for throughput in [1, 5, 20, 64, LARGE] {
        let system = stage.builder().throughput(throughput).build()?;
        row(out, &throughput.to_string(), &play(stage, &system, stage.game())?)?;
    }
    Ok(())
}

/// Plays with a throughput that is large and a deadline that is short.
fn deadlines(out: &mut impl Write, stage: Stage) -> Result<(), Box<dyn Error>> {
    head(out, "deadline")?;
    for micros in [0, 50, 20, 10] {
        let deadline = Duration::from_micros(micros);
        let system = stage.builder().throughput(LARGE).throughput_deadline(deadline).build()?;
        let of = if micros == 0 { "none".to_owned() } else { format!("{micros} µs") };
        row(out, &of, &play(stage, &system, stage.game())?)?;
    }
    Ok(())
}

/// Plays with ever more actors.
fn crowds(out: &mut impl Write, stage: Stage) -> Result<(), Box<dyn Error>> {
    head(out, "actors")?;
    for actors in [2, 4, 8, 16, 100, 1_000, 10_000] {
        let system = stage.builder().throughput(LARGE).build()?;
        row(out, &actors.to_string(), &play(stage, &system, stage.crowd(actors))?)?;
    }
    Ok(())
}

/// Tells the story into `out`.
pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    writeln!(out, "virtual time, 8 players on 1 worker")?;
    throughputs(out, Stage::Virtual(1))?;
    writeln!(out, "throughput {LARGE}, and a deadline")?;
    deadlines(out, Stage::Virtual(1))?;
    writeln!(out, "throughput {LARGE}, 4 workers, ever more players with {FEW_BALLS} balls each")?;
    crowds(out, Stage::Virtual(4))
}

/// Plays on threads.
pub(crate) fn run_native(out: &mut impl Write, workers: usize, span: Duration) -> Result<(), Box<dyn Error>> {
    let stage = Stage::Native(workers, span);
    writeln!(out, "{workers} threads, {span:?} each; {} players", 2 * stage.game().pairs)?;
    throughputs(out, stage)?;
    writeln!(out, "throughput {LARGE}, and a deadline")?;
    deadlines(out, stage)?;
    writeln!(out, "throughput {LARGE}, ever more players with {FEW_BALLS} balls each")?;
    crowds(out, stage)
}

const HELP: &str = "\
usage: throughput                                        the tables of virtual time
       throughput --native [--workers W] [--seconds S]   the same on W threads, S seconds each

--workers W   1 to 64 (default: the machine's cores)
--seconds S   1 to 60 (default: 1)";

#[derive(Default)]
struct Args {
    native: bool,
    help: bool,
    workers: Option<usize>,
    seconds: Option<u64>,
}

/// Reads a number from 1 to `most`.
fn number<T: FromStr + PartialOrd + From<u8> + fmt::Display>(text: &str, most: T) -> Result<T, String> {
    match text.parse() {
        Ok(number) if number >= T::from(1) && number <= most => Ok(number),
        _ => Err(format!("choose 1 to {most}")),
    }
}

fn parse() -> Result<Args, lexopt::Error> {
    use lexopt::prelude::{Long, Short, ValueExt};
    let mut args = Args::default();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') | Long("help") => args.help = true,
            Long("native") => args.native = true,
            Long("workers") => args.workers = Some(parser.value()?.parse_with(|text| number(text, 64))?),
            Long("seconds") => args.seconds = Some(parser.value()?.parse_with(|text| number(text, 60))?),
            other => return Err(other.unexpected()),
        }
    }
    if !args.native && (args.workers.is_some() || args.seconds.is_some()) {
        return Err("--workers and --seconds go with --native".into());
    }
    Ok(args)
}

fn start() -> Result<(), Box<dyn Error>> {
    let args = parse().map_err(|error| format!("{error}\n{HELP}"))?;
    let out = &mut std::io::stdout().lock();
    match args {
        Args { help: true, .. } => Ok(writeln!(out, "{HELP}")?),
        Args { native: true, workers, seconds, .. } => {
            let cores = || std::thread::available_parallelism().map_or(1, usize::from).min(64);
            let workers = workers.unwrap_or_else(cores);
            run_native(out, workers, Duration::from_secs(seconds.unwrap_or(1)))
        }
        Args { .. } => run(out),
    }
}

fn main() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
