//! Which conveyor takes this container? A web service in three steps, and clients that load it.
//!
//! `GET /junctions/<id>/decisionForContainer/<id>` answers `{"targetConveyor": …}`. A decision costs 5 to 10 ms of CPU.
//!
//! 1. The actor that takes the requests decides as well: one decision at a time, for all clients.
//! 2. The decision is made by another actor. The front is free, and nothing is faster: there is still one who decides.
//! 3. One actor per junction, made when it is first asked for: as many decisions at once as there are workers.
//!
//! ```text
//! $ cargo run --release --example junctions -- load
//! 5 clients, 40 requests each, 2 workers
//! step 1   mean   37.5 ms   p50   37.9 ms   p99   44.3 ms    132.1 requests/s
//! step 2   mean   37.9 ms   p50   38.3 ms   p99   48.2 ms    130.4 requests/s
//! step 3   mean   19.8 ms   p50   18.5 ms   p99   43.4 ms    236.7 requests/s
//! ```
//! `-- serve --step 3` serves until Ctrl-C; `-- --help` lists the options.

mod http;

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::pattern::{AskError, Reply};
use footlights::system::ActorSystem;

/// How long a request may take in all.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Junctions that one process serves; a request for another one is refused.
const JUNCTIONS_MAX: u32 = 10_000;
const CONVEYORS: u64 = 4;

struct Decide {
    junction: u32,
    container: u32,
    reply: Reply<u64>,
}

/// The decision itself, wherever it is made.
fn decide<A: Actor>(cx: &mut Context<'_, A>, request: Decide) {
    let extra = cx.rng().uniform(Duration::from_millis(5));
    cx.work(Duration::from_millis(5) + extra);
    let conveyor = (u64::from(request.junction) * 31 + u64::from(request.container)) % CONVEYORS;
    request.reply.send(conveyor);
}

/// Decides what it is asked; in step 3 it is one junction.
struct Decider;

impl Actor for Decider {
    type Msg = Decide;

    fn receive(&mut self, cx: &mut Context<'_, Self>, request: Decide) -> Result<(), Failure> {
        decide(cx, request);
        Ok(())
    }
}

/// The actor that takes the requests.
enum Front {
    /// Step 1.
    DecidesItself,
    /// Step 2: one decider.
    Delegates(Option<ActorRef<Decide>>),
    /// Step 3: one per junction.
    PerJunction(BTreeMap<u32, ActorRef<Decide>>),
}

impl Front {
    fn new(step: u32) -> Self {
        match step {
            1 => Front::DecidesItself,
            2 => Front::Delegates(None),
            _ => Front::PerJunction(BTreeMap::new()),
        }
    }
}

impl Actor for Front {
    type Msg = Decide;

    fn receive(&mut self, cx: &mut Context<'_, Self>, request: Decide) -> Result<(), Failure> {
        let decider = match self {
            Front::DecidesItself => {
                decide(cx, request);
                return Ok(());
            }
            Front::Delegates(Some(decider)) => decider.clone(),
            Front::Delegates(decider) => decider.insert(cx.spawn("decider", Props::new(|| Decider))?).clone(),
            Front::PerJunction(deciders) => match deciders.get(&request.junction) {
                Some(decider) => decider.clone(),
                None => {
                    let decider =
                        cx.spawn(&format!("junction-{}", request.junction), Props::new(|| Decider))?;
                    deciders.entry(request.junction).or_insert(decider).clone()
                }
            },
        };
        cx.forward(&decider, request);
        Ok(())
    }
}

/// Answers one request.
async fn handle(
    State(front): State<ActorRef<Decide>>,
    Path((junction, container)): Path<(u32, u32)>,
) -> Result<String, (StatusCode, String)> {
    if junction >= JUNCTIONS_MAX {
        return Err((StatusCode::NOT_FOUND, format!("junctions are numbered 0 to {}\n", JUNCTIONS_MAX - 1)));
    }
    match front.ask(|reply| Decide { junction, container, reply }, TIMEOUT).await {
        Ok(conveyor) => Ok(format!("{{\"targetConveyor\": {conveyor}}}\n")),
        Err(AskError::Timeout) => Err((StatusCode::GATEWAY_TIMEOUT, format!("no decision in {TIMEOUT:?}\n"))),
        Err(error) => Err((StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n"))),
    }
}

/// One step, served.
struct Service {
    server: http::Server,
    system: ActorSystem,
}

fn start(step: u32, workers: usize, port: u16) -> Result<Service, Box<dyn Error>> {
    let system = ActorSystem::builder("junctions").workers(workers).build()?;
    let front = system.spawn("front", Props::new(move || Front::new(step)))?;
    let path = "/junctions/{junction}/decisionForContainer/{container}";
    let app = axum::Router::new().route(path, axum::routing::get(handle)).with_state(front);
    Ok(Service { server: http::Server::start(app, port)?, system })
}

impl Service {
    /// Ends the server first, so that no request finds the actors gone.
    fn stop(self) -> Result<(), Box<dyn Error>> {
        drop(self.server);
        self.system.shutdown(TIMEOUT)?;
        Ok(())
    }
}

/// Serves one step, loads it, and ends it.
pub(crate) fn measure(
    step: u32,
    workers: usize,
    clients: usize,
    requests: usize,
) -> Result<http::Load, Box<dyn Error>> {
    let service = start(step, workers, 0)?;
    let address = service.server.address;
    let url = |client, n| format!("http://{address}/junctions/{client}/decisionForContainer/{n}");
    let load = http::load(clients, requests, url);
    service.stop()?;
    Ok(load)
}

fn load(args: &Args) -> Result<(), Box<dyn Error>> {
    println!("{} clients, {} requests each, {} workers", args.clients, args.requests, args.workers);
    for step in 1..=3 {
        println!("step {step}   {}", measure(step, args.workers, args.clients, args.requests)?);
    }
    Ok(())
}

fn serve(args: &Args) -> Result<(), Box<dyn Error>> {
    let service = start(args.step, args.workers, args.port)?;
    let address = service.server.address;
    println!("step {}: http://{address}/junctions/7/decisionForContainer/42   (Ctrl-C ends it)", args.step);
    http::wait_for_ctrl_c()?;
    service.stop()
}

const HELP: &str = "\
usage: junctions load  [--clients 5] [--requests 40] [--workers 2]
       junctions serve [--step 1|2|3] [--port 8090] [--workers 2]";

struct Args {
    command: String,
    clients: usize,
    requests: usize,
    workers: usize,
    step: u32,
    port: u16,
}

fn parse() -> Result<Args, lexopt::Error> {
    use lexopt::prelude::{Long, Short, Value, ValueExt};
    let mut args = Args { command: "load".into(), clients: 5, requests: 40, workers: 2, step: 3, port: 8090 };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') | Long("help") => args.command = "help".into(),
            Long("clients") => args.clients = parser.value()?.parse()?,
            Long("requests") => args.requests = parser.value()?.parse()?,
            Long("workers") => args.workers = parser.value()?.parse()?,
            Long("port") => args.port = parser.value()?.parse()?,
            Long("step") => {
                let step = parser.value()?;
                args.step = step.parse_with(|text| match text {
                    "1" | "2" | "3" => Ok(text.parse::<u32>().unwrap_or(3)),
                    _ => Err("--step is 1, 2 or 3"),
                })?;
            }
            Value(command) => args.command = command.string()?,
            other => return Err(other.unexpected()),
        }
    }
    Ok(args)
}

fn run() -> Result<(), Box<dyn Error>> {
    let args = parse().map_err(|error| format!("{error}\n{HELP}"))?;
    match args.command.as_str() {
        "load" => load(&args),
        "serve" => serve(&args),
        "help" => {
            println!("{HELP}");
            Ok(())
        }
        other => Err(format!("there is no command {other:?}\n{HELP}").into()),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
