//! A translation service that waits for nobody: eight threads, two parts of 100 ms for each answer, and four clients at once.
//!
//! `GET /translate/<text>` answers with the translated text and its number of words. Each of the two parts takes its service
//! 100 ms. The front end can wait for them in two ways:
//!
//! * *blocking*: it asks both services and keeps its thread until both have answered; four threads in front, four behind. It is
//!   one actor, so the second client waits for the first.
//! * *aggregator*: it makes a temporary actor for each request, which gets both parts, replies and stops; it gives up when it
//!   has heard nothing for a second. The front end is free at once, and eight shared threads serve four clients in 100 ms.
//!
//! ```text
//! $ cargo run --release -p footlights --example translation -- load --clients 4
//! 4 clients, 20 requests each
//! variant      clients  requests       mean        p99  failed  threads  temporary actors left
//! blocking           1        20   100.7 ms   102.7 ms       0        8                      0
//! blocking           2        40   198.3 ms   202.1 ms       0        8                      0
//! blocking           4        80   394.1 ms   404.9 ms       0        8                      0
//! aggregator         1        20   100.7 ms   101.2 ms       0        8                      0
//! aggregator         2        40   100.8 ms   101.8 ms       0        8                      0
//! aggregator         4        80   100.9 ms   103.1 ms       0        8                      0
//! 4 clients, mean below 110 ms, at most 8 threads: met by the aggregators
//! ```
//! The threads are the actors' own; the web server has one besides. `--lose 10` loses every tenth word count: its client hears
//! an error after a second, and no aggregator is left behind. `-- serve --variant blocking` serves until Ctrl-C.

mod http;

use std::error::Error;
use std::fmt;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::pattern::{AskError, Reply};
use footlights::routing::{Router, RouterRef};
use footlights::system::{ActorSystem, DispatcherSettings};

/// What each of the two services takes for its part.
const SERVICE: Duration = Duration::from_millis(100);
/// How long a part is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a request may take in all, its wait for others included.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Routees of each service.
const ROUTEES: usize = 4;
/// Threads before the services and behind them, in the blocking variant.
const FRONT: usize = 4;
const BACK: usize = 4;
/// Characters of a text, at most.
const TEXT_MAX: usize = 1_000;
/// Clients and requests of a load, at most.
const LOAD_MAX: usize = 1_000;
/// What the service is to reach.
const CLIENTS: usize = 4;
const MEAN_MAX: Duration = Duration::from_millis(110);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    Blocking,
    Aggregator,
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Variant::Blocking => "blocking",
            Variant::Aggregator => "aggregator",
        })
    }
}

struct Answer {
    text: String,
    words: usize,
}

struct Request {
    text: String,
    reply: Reply<Answer>,
}

/// One of the two parts of an answer.
enum Part {
    Text(String),
    Words(usize),
}

/// What a service is asked for.
struct Job {
    text: String,
    to: To,
}

/// Who waits for a part.
enum To {
    Thread(mpsc::Sender<Part>),
    Aggregator(ActorRef<Collect>),
}

/// Translates, or counts words; takes its time by keeping its thread.
struct Service {
    part: fn(&str) -> Part,
    /// Every so many of its parts are lost; 0: none.
    lose: u64,
    done: u64,
}

/// Translates into the language of mirrors.
fn translate(text: &str) -> Part {
    Part::Text(text.chars().rev().collect())
}

fn count(text: &str) -> Part {
    Part::Words(text.split_whitespace().count())
}

impl Actor for Service {
    type Msg = Job;

    fn receive(&mut self, cx: &mut Context<'_, Self>, job: Job) -> Result<(), Failure> {
        cx.block(SERVICE);
        self.done += 1;
        if self.lose > 0 && self.done.is_multiple_of(self.lose) {
            return Ok(()); // the network has lost it
        }
        let part = (self.part)(&job.text);
        match job.to {
            // Whoever waits no longer needs no part.
            To::Thread(thread) => drop(thread.send(part)),
            To::Aggregator(aggregator) => cx.tell(&aggregator, Collect::Part(part)),
        }
        Ok(())
    }
}

/// Both services: whoever of their routees is free takes the next part.
#[derive(Clone)]
struct Services {
    translate: RouterRef<Job>,
    count: RouterRef<Job>,
}

impl Services {
    fn start(system: &ActorSystem, dispatcher: &str, lose: u64) -> Result<Self, Box<dyn Error>> {
        let router = |name: &str, part, lose| {
            let props = Props::new(move || Service { part, lose, done: 0 }).dispatcher(dispatcher);
            system.spawn_router(name, Router::balancing().pool(ROUTEES, props))
        };
        Ok(Services { translate: router("translate", translate, 0)?, count: router("count", count, lose)? })
    }

    fn ask<A: Actor>(&self, cx: &mut Context<'_, A>, text: &str, to: impl Fn() -> To) {
        for service in [&self.translate, &self.count] {
            cx.tell(service, Job { text: text.to_owned(), to: to() });
        }
    }
}

/// Keeps its thread until it has both parts: whatever comes meanwhile waits for it.
struct BlockingFront(Services);

impl Actor for BlockingFront {
    type Msg = Request;

    fn receive(&mut self, cx: &mut Context<'_, Self>, request: Request) -> Result<(), Failure> {
        let (sender, parts) = mpsc::channel();
        self.0.ask(cx, &request.text, || To::Thread(sender.clone()));
        let (mut text, mut words) = (None, None);
        while text.is_none() || words.is_none() {
            match parts.recv_timeout(PATIENCE) {
                Ok(Part::Text(part)) => text = Some(part),
                Ok(Part::Words(part)) => words = Some(part),
                Err(_) => return Ok(()), // the reply handle is dropped, so the client hears
            }
        }
        request.reply.send(Answer { text: text.unwrap_or_default(), words: words.unwrap_or_default() });
        Ok(())
    }
}

/// Hands each request to an aggregator of its own and is ready for the next.
struct Front(Services);

impl Actor for Front {
    type Msg = Request;

    fn receive(&mut self, cx: &mut Context<'_, Self>, request: Request) -> Result<(), Failure> {
        // The reply can be given away once, and an aggregator that fails is not made again.
        let reply = Arc::new(Mutex::new(Some(request.reply)));
        let make = move || match reply.lock().ok().and_then(|mut reply| reply.take()) {
            Some(reply) => Ok(Aggregator { reply: Some(reply), text: None, words: None }),
            None => Err(Failure::new("aggregator", "an aggregator is made once")),
        };
        let aggregator = cx.spawn("", Props::try_new(make))?;
        self.0.ask(cx, &request.text, || To::Aggregator(aggregator.clone()));
        Ok(())
    }
}

/// Collects the two parts of one answer, replies, and ends; or gives up.
struct Aggregator {
    reply: Option<Reply<Answer>>,
    text: Option<String>,
    words: Option<usize>,
}

enum Collect {
    Part(Part),
    Silence,
}

impl Actor for Aggregator {
    type Msg = Collect;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.set_receive_timeout(PATIENCE, || Collect::Silence)?;
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, what: Collect) -> Result<(), Failure> {
        match what {
            Collect::Part(Part::Text(text)) => self.text = Some(text),
            Collect::Part(Part::Words(words)) => self.words = Some(words),
            Collect::Silence => cx.stop(), // the reply handle is dropped with it, so the client hears
        }
        if self.text.is_some()
            && let Some(words) = self.words
            && let (Some(text), Some(reply)) = (self.text.take(), self.reply.take())
        {
            reply.send(Answer { text, words });
            cx.stop();
        }
        Ok(())
    }
}

/// Answers one request.
async fn handle(
    State(front): State<ActorRef<Request>>,
    Path(text): Path<String>,
) -> Result<String, (StatusCode, String)> {
    if text.chars().count() > TEXT_MAX {
        return Err((StatusCode::BAD_REQUEST, format!("a text has at most {TEXT_MAX} characters\n")));
    }
    match front.ask(|reply| Request { text, reply }, TIMEOUT).await {
        Ok(Answer { text, words }) => Ok(format!("{text}\n{words} words\n")),
        Err(AskError::NoReply | AskError::Stopped | AskError::Timeout) => {
            Err((StatusCode::GATEWAY_TIMEOUT, "a part of the answer did not come in time\n".to_owned()))
        }
        Err(error) => Err((StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n"))),
    }
}

/// One variant, served.
struct Served {
    server: http::Server,
    system: ActorSystem,
}

fn start(variant: Variant, lose: u64, port: u16) -> Result<Served, Box<dyn Error>> {
    let builder = ActorSystem::builder("translation");
    let (system, front) = match variant {
        Variant::Blocking => {
            let back = DispatcherSettings::pool(BACK);
            let system = builder.workers(FRONT).dispatcher("back", back).build()?;
            let services = Services::start(&system, "back", lose)?;
            let front = system.spawn("front", Props::new(move || BlockingFront(services.clone())))?;
            (system, front)
        }
        Variant::Aggregator => {
            let system = builder.workers(FRONT + BACK).build()?;
            let services = Services::start(&system, "default", lose)?;
            let front = system.spawn("front", Props::new(move || Front(services.clone())))?;
            (system, front)
        }
    };
    let app = axum::Router::new().route("/translate/{text}", axum::routing::get(handle)).with_state(front);
    Ok(Served { server: http::Server::start(app, port)?, system })
}

impl Served {
    /// Counts the actors' threads: those of the pools, and those that have come for blocking jobs.
    fn threads(&self) -> usize {
        let threads = |dispatcher: &footlights::observe::DispatcherSnapshot| match &*dispatcher.name {
            "blocking" => dispatcher.workers.iter().filter(|worker| worker.activations > 0).count(),
            _ => dispatcher.workers.len(),
        };
        self.system.snapshot().dispatchers.iter().map(threads).sum()
    }

    /// Counts the temporary actors.
    fn temporary(&self) -> usize {
        self.system.snapshot().actors.iter().filter(|actor| actor.path.starts_with("/user/front/")).count()
    }

    /// Ends the server first, so that no request finds the actors gone.
    fn stop(self) -> Result<(), Box<dyn Error>> {
        drop(self.server);
        self.system.shutdown(TIMEOUT)?;
        Ok(())
    }
}

/// What a load has shown.
pub(crate) struct Measured {
    variant: Variant,
    clients: usize,
    pub(crate) load: http::Load,
    pub(crate) threads: usize,
    /// Temporary actors that were left after the last answer, and one more receive timeout if there were any.
    pub(crate) left: usize,
}

impl Measured {
    fn meets_the_requirement(&self) -> bool {
        self.load.errors.is_empty() && self.load.mean() < MEAN_MAX && self.threads <= FRONT + BACK
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { variant, clients, load, threads, left } = self;
        let [mean, p99] = [load.mean(), load.percentile(99)].map(|d| d.as_secs_f64() * 1e3);
        let (requests, failed) = (load.latencies.len() + load.errors.len(), load.errors.len());
        write!(f, "{variant:<10} {clients:>9} {requests:>9} {mean:>7.1} ms {p99:>7.1} ms")?;
        write!(f, " {failed:>7} {threads:>8} {left:>22}")
    }
}

/// Serves one variant, loads it, and ends it.
pub(crate) fn measure(
    variant: Variant,
    clients: usize,
    requests: usize,
    lose: u64,
) -> Result<Measured, Box<dyn Error>> {
    let served = start(variant, lose, 0)?;
    let address = served.server.address;
    let load = http::load(clients, requests, |client, n| {
        format!("http://{address}/translate/all%20the%20world%20{client}%20{n}")
    });
    if served.temporary() > 0 {
        served.system.block_on(served.system.handle().sleep(PATIENCE + SERVICE));
    }
    let measured = Measured { variant, clients, load, threads: served.threads(), left: served.temporary() };
    served.stop()?;
    Ok(measured)
}

/// Gives whether the requirement is met, where it was put to the test.
fn load(args: &Args) -> Result<bool, Box<dyn Error>> {
    println!("{} clients, {} requests each", args.clients, args.requests);
    let head =
        ["variant", "clients", "requests", "mean", "p99", "failed", "threads", "temporary actors left"];
    let [a, b, c, d, e, f, g, h] = head;
    println!("{a:<10} {b:>9} {c:>9} {d:>10} {e:>10} {f:>7} {g:>8} {h:>22}");
    let mut met = None;
    for variant in [Variant::Blocking, Variant::Aggregator] {
        let up_to = [1, 2, args.clients].into_iter().filter(|clients| *clients <= args.clients);
        let up_to: std::collections::BTreeSet<usize> = up_to.collect();
        for clients in up_to {
            let measured = measure(variant, clients, args.requests, args.lose)?;
            println!("{measured}");
            if let Some(first) = measured.load.errors.first() {
                println!("           the first that failed: {first}");
            }
            if (variant, clients, args.lose) == (Variant::Aggregator, CLIENTS, 0) {
                met = Some(measured.meets_the_requirement());
            }
        }
    }
    if let Some(met) = met {
        let (verdict, ms) = (if met { "met" } else { "not met" }, MEAN_MAX.as_millis());
        println!(
            "{CLIENTS} clients, mean below {ms} ms, at most {} threads: {verdict} by the aggregators",
            FRONT + BACK
        );
    }
    Ok(met != Some(false))
}

fn serve(args: &Args) -> Result<(), Box<dyn Error>> {
    let served = start(args.variant, args.lose, args.port)?;
    println!(
        "{}: http://{}/translate/all%20the%20world   (Ctrl-C ends it)",
        args.variant, served.server.address
    );
    http::wait_for_ctrl_c()?;
    served.stop()
}

const HELP: &str = "\
usage: translation load  [--clients 4] [--requests 20] [--lose 0]
       translation serve [--variant blocking|aggregator] [--port 8091] [--lose 0]

load   serves both variants, one after the other, and measures them with 1, 2 and so many clients
--lose N   loses every N-th word count of a routee (0: none)";

struct Args {
    command: String,
    clients: usize,
    requests: usize,
    lose: u64,
    variant: Variant,
    port: u16,
}

fn parse() -> Result<Args, lexopt::Error> {
    use lexopt::prelude::{Long, Short, Value, ValueExt};
    let mut args = Args {
        command: "load".into(),
        clients: CLIENTS,
        requests: 20,
        lose: 0,
        variant: Variant::Aggregator,
        port: 8091,
    };
    let some = |text: &str| match text.parse() {
        Ok(number) if (1..=LOAD_MAX).contains(&number) => Ok(number),
        _ => Err(format!("choose 1 to {LOAD_MAX}")),
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') | Long("help") => args.command = "help".into(),
            Long("clients") => args.clients = parser.value()?.parse_with(some)?,
            Long("requests") => args.requests = parser.value()?.parse_with(some)?,
            Long("lose") => args.lose = parser.value()?.parse()?,
            Long("port") => args.port = parser.value()?.parse()?,
            Long("variant") => {
                args.variant = parser.value()?.parse_with(|text| match text {
                    "blocking" => Ok(Variant::Blocking),
                    "aggregator" => Ok(Variant::Aggregator),
                    _ => Err("choose blocking or aggregator"),
                })?;
            }
            Value(command) => args.command = command.string()?,
            other => return Err(other.unexpected()),
        }
    }
    Ok(args)
}

fn run() -> Result<bool, Box<dyn Error>> {
    let args = parse().map_err(|error| format!("{error}\n{HELP}"))?;
    match args.command.as_str() {
        "load" => load(&args),
        "serve" => serve(&args).map(|()| true),
        "help" => {
            println!("{HELP}");
            Ok(true)
        }
        other => Err(format!("there is no command {other:?}\n{HELP}").into()),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
