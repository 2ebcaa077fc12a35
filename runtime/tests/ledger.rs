//! The conservation ledger on random programs: whatever actors do to each other, every message has one fate after every
//! turn, and a shutdown leaves nothing behind.
//!
//! A program is a seed. `FOOTLIGHTS_PROGRAMS=n` sets how many are tried, `FOOTLIGHTS_PROGRAM=seed` runs one alone.

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::hush_planned_panics;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Shutdown};
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::observe::{Asks, EventKind, Ledger};
use footlights::pattern::{Ask, Reply, TaskError};
use footlights::rng::Rng;
use footlights::routing::{Router, RouterRef};
use footlights::supervise::{Backoff, Directive, FailureKind, RestartType, Strategy};
use footlights::system::ActorSystem;

const US: Duration = Duration::from_micros(1);
/// Programs tried in virtual time, and on threads.
const PROGRAMS: u64 = 2_000;
const POOL_PROGRAMS: u64 = 150;
/// Turns before a program is shut down, and turns that a shutdown may take.
const TURNS: u64 = 400;
const LAST_TURNS: u64 = 50_000;
/// Things that all actors of one program do together, at most.
const DEEDS: u64 = 400;
const ACTORS: usize = 24;

/// What must be seen in the programs, so that they prove something.
const EXPECTED: [&str; 39] = [
    "Forced",
    "dropped: abandoned",
    "AwaitingRoom",
    "RoomFound",
    "Notified",
    "Restarted",
    "Resumed",
    "Suspended",
    "Stopped",
    "Unwatched",
    "dead letter: closed",
    "dead letter: no routee",
    "dead letter: rejected",
    "dead letter: stale incarnation",
    "dead letter: stopped with mail",
    "decided: escalate",
    "decided: restart",
    "decided: resume",
    "decided: stop",
    "dropped: evicted",
    "dropped: hold full",
    "dropped: mailbox full",
    "dropped: stale timer",
    "dropped: unwatched",
    "failed: error",
    "failed: escalated",
    "failed: exit",
    "failed: killed",
    "failed: panic",
    "failed: start",
    "hook failed: drop of a message",
    "hook failed: drop of a timer",
    "hook failed: drop of the state",
    "hook failed: pre_restart",
    "hook failed: stopped",
    "RouteesChanged",
    "RestartBegan",
    "StopBegan",
    "Watched",
];

/// What all actors of one program know.
struct World {
    deeds: AtomicU64,
    refs: Mutex<Vec<ActorRef<Msg>>>,
    routers: Mutex<Vec<RouterRef<Msg>>>,
    violations: Mutex<Vec<String>>,
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(World {
            deeds: AtomicU64::new(DEEDS),
            refs: Mutex::default(),
            routers: Mutex::default(),
            violations: Mutex::default(),
        })
    }

    fn pick(&self, rng: &mut Rng) -> Option<ActorRef<Msg>> {
        let refs = self.refs.lock().unwrap();
        (!refs.is_empty()).then(|| refs[rng.below(refs.len() as u64) as usize].clone())
    }

    fn pick_router(&self, rng: &mut Rng) -> Option<RouterRef<Msg>> {
        let routers = self.routers.lock().unwrap();
        (!routers.is_empty()).then(|| routers[rng.below(routers.len() as u64) as usize].clone())
    }

    fn has_room(&self) -> bool {
        self.refs.lock().unwrap().len() < ACTORS
    }

    fn add(&self, actor: ActorRef<Msg>) {
        self.refs.lock().unwrap().push(actor);
    }

    /// Takes one deed from the stock; false if there is none left.
    fn may_act(&self) -> bool {
        self.deeds.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Gives the first violation, with the last events.
    fn violation(&self, system: &ActorSystem) -> Result<(), String> {
        let violations = self.violations.lock().unwrap();
        let Some(violation) = violations.first() else { return Ok(()) };
        let (events, _) = system.rare_events(0);
        let last = events[events.len().saturating_sub(30)..].iter().map(|event| format!("\n  {event:?}"));
        Err(format!("{violation}{}", last.collect::<String>()))
    }

    fn violated(&self, what: String) {
        self.violations.lock().unwrap().push(what);
    }
}

enum Msg {
    Act,
    Question(Reply<u64>),
    Tick,
    /// Panics when it is dropped.
    Bomb(Bomb),
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("planned: a bomb was dropped");
        }
    }
}

/// Sees to it that there is one instance of an actor at a time, and one run.
#[derive(Default)]
struct Watchdog {
    /// True for the routees of a pool, which are many behind one of these.
    shared: bool,
    alive: AtomicU32,
    busy_until: AtomicU64,
}

struct Node {
    world: Arc<World>,
    dog: Arc<Watchdog>,
    /// Ending hooks called on this instance.
    farewells: u32,
    /// It may be forced to stop, without a hook.
    forcible: bool,
    held: Vec<Reply<u64>>,
    touchy: u64,
    #[expect(dead_code, reason = "it is there for its drop")]
    bomb: Option<Bomb>,
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.farewells != 1 && !(self.forcible && self.farewells == 0) {
            self.world.violated(format!("{} ending hooks were called on an instance", self.farewells));
        }
        self.dog.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Actor for Node {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        self.enter(cx);
        let result = match cx.rng().below(self.touchy) {
            0 => Err(Failure::new("start", "planned")),
            1 => panic!("planned: in started"),
            2 => {
                cx.stop();
                self.deed(cx)
            }
            _ => self.deed(cx),
        };
        self.leave(cx);
        result
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        self.enter(cx);
        let result = self.handle(cx, msg);
        self.leave(cx);
        result
    }

    fn pre_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure, msg: Option<Msg>) {
        self.farewells += 1;
        if let (Some(msg), Some(target)) = (msg, self.world.pick(cx.rng())) {
            cx.tell(&target, msg);
        }
        self.last_deed(cx);
    }

    fn stopped(&mut self, cx: &mut Context<'_, Self>) {
        self.farewells += 1;
        self.last_deed(cx);
    }
}

impl Node {
    fn props(world: &Arc<World>, rng: &mut Rng, shared: bool) -> Props<Node> {
        let dog = Arc::new(Watchdog { shared, ..Watchdog::default() });
        let world = world.clone();
        let touchy = 3 + rng.below(60);
        let (bad_factory, bombs) = (rng.below(12) == 0, rng.below(10) == 0);
        let kind = rng.below(6);
        // Who may be forced to stop has no last word.
        let budget = [Shutdown::Now, Shutdown::After(US * 30)][rng.below(2) as usize];
        let forcible = kind >= 4;
        let made = AtomicU64::new(0);
        let factory = move || {
            let n = made.fetch_add(1, Ordering::Relaxed);
            if bad_factory && n.is_multiple_of(2) {
                return Err(Failure::new("factory", "planned"));
            }
            if dog.alive.fetch_add(1, Ordering::SeqCst) != 0 && !shared {
                world.violated("two instances of one actor".to_owned());
            }
            Ok(Node {
                world: world.clone(),
                dog: dog.clone(),
                farewells: 0,
                forcible,
                held: Vec::new(),
                touchy,
                bomb: bombs.then(|| Bomb),
            })
        };
        let mut props = Props::try_new(factory).mailbox(mailbox(rng)).supervise(strategy(rng));
        props = match kind {
            0 => props.restart_type(RestartType::Permanent),
            1 => props.restart_type(RestartType::Temporary),
            2 => props.backoff(backoff(rng)),
            3 => props.hold(rng.below(4) as u32),
            4 | 5 => props.shutdown(budget),
            _ => props,
        };
        props
    }

    fn enter(&mut self, cx: &mut Context<'_, Self>) {
        let (now, until) = (cx.now().as_nanos(), self.dog.busy_until.load(Ordering::Relaxed));
        if now < until && !self.dog.shared {
            self.world.violated(format!("{} ran at {now} and was busy until {until}", cx.path()));
        }
    }

    fn leave(&mut self, cx: &mut Context<'_, Self>) {
        self.dog.busy_until.store(cx.now().as_nanos(), Ordering::Relaxed);
    }

    fn handle(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Act => {
                for _ in 0..=cx.rng().below(3) {
                    self.deed(cx)?;
                }
                Ok(())
            }
            Msg::Question(reply) => match cx.rng().below(6) {
                0 | 1 => {
                    reply.send(7);
                    Ok(())
                }
                2 => {
                    self.held.push(reply);
                    self.deed(cx)
                }
                3 => {
                    if let Some(other) = self.world.pick(cx.rng()) {
                        cx.forward(&other, Msg::Question(reply));
                    }
                    Ok(())
                }
                4 => Err(Failure::new("asked", "planned").returning(Msg::Question(reply))),
                _ => self.deed(cx),
            },
            Msg::Tick => self.deed(cx),
            Msg::Bomb(Bomb) => self.deed(cx),
        }
    }

    fn last_deed(&mut self, cx: &mut Context<'_, Self>) {
        match cx.rng().below(8) {
            0 => panic!("planned: in an ending hook"),
            1 => cx.work(US * 50),
            2 => self.held.clear(),
            _ => {
                // What it does is its own affair; it cannot fail any more.
                let _ = self.deed(cx);
            }
        }
    }

    /// Does something, if the program's stock of deeds allows.
    fn deed(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if !self.world.may_act() {
            return Ok(());
        }
        let world = self.world.clone();
        let Some(target) = world.pick(cx.rng()) else { return Ok(()) };
        match cx.rng().below(32) {
            0..=3 => cx.tell(&target, Msg::Act),
            4 => target.tell(Msg::Act),
            5 => return Err(Failure::new("deed", "planned")),
            6 => return Err(Failure::new("special", "planned").returning(Msg::Act)),
            7 => panic!("planned: in a deed"),
            8 | 9 => {
                let name = ["", "a", "b", "c"][cx.rng().below(4) as usize];
                if world.has_room() {
                    let props = Node::props(&world, cx.rng(), false);
                    if let Ok(child) = cx.spawn(name, props) {
                        world.add(child);
                    }
                }
            }
            10 => cx.stop(),
            11 | 12 => {
                // Watching oneself is refused; that is fine here.
                let _ = cx.watch(&target.any(), |_| Msg::Tick);
            }
            13 => {
                cx.unwatch(&target.any());
            }
            14..=17 => self.timers(cx),
            18 | 19 => {
                let timeouts = [Duration::ZERO, US * 100, US * 5_000, Duration::MAX];
                let timeout = timeouts[cx.rng().below(4) as usize];
                cx.ask(&target, Msg::Question, timeout, |_| Msg::Tick);
            }
            20 | 21 => (0..=cx.rng().below(3)).for_each(|_| cx.send(&target, Msg::Act)),
            22 => {
                let d = time(cx.rng(), 200);
                cx.work(d);
            }
            23 => {
                let d = time(cx.rng(), 200);
                cx.block(d);
            }
            24 => match cx.rng().below(3) {
                0 => target.kill(),
                1 => target.stop(),
                _ => target.drain(),
            },
            25 => cx.tell_or(&target, Msg::Act, |_| Msg::Tick),
            26 => {
                let delay = time(cx.rng(), 500);
                let delayed = cx.tell_after(delay, &target, Msg::Act);
                if cx.rng().below(3) == 0 {
                    delayed.cancel();
                }
            }
            27 => self.tasks(cx),
            28 => self.routers(cx),
            29 => {
                if let Some(reply) = self.held.pop() {
                    reply.send(8);
                }
            }
            30 => cx.tell(&target, Msg::Bomb(Bomb)),
            _ => {
                let _ = target.try_tell(Msg::Act);
            }
        }
        Ok(())
    }

    fn timers(&mut self, cx: &mut Context<'_, Self>) {
        let key = cx.rng().below(3);
        let d = time(cx.rng(), 300);
        match cx.rng().below(6) {
            0 | 1 => cx.timers().once(key, d, Msg::Tick),
            2 => cx.timers().fixed_delay(key, d, || Msg::Tick).expect("above zero"),
            3 => cx.timers().fixed_rate(key, d, || Msg::Tick).expect("above zero"),
            4 => cx.timers().once(key, Duration::MAX, Msg::Bomb(Bomb)),
            _ => {
                cx.timers().cancel(key);
            }
        }
    }

    fn tasks(&mut self, cx: &mut Context<'_, Self>) {
        let done = |_: Result<u64, TaskError>| Msg::Tick;
        let d = time(cx.rng(), 300);
        let handle = match cx.rng().below(5) {
            0 => cx.pipe_to_self(async { 1 }, done),
            1 => cx.pipe_to_self(std::future::pending(), done),
            2 => cx.pipe_to_self(async { panic!("planned: in a future") }, done),
            3 => cx.spawn_task(|_| panic!("planned: in a job"), done),
            _ => cx.spawn_task(
                move |task| {
                    task.work(d);
                    2
                },
                done,
            ),
        };
        if cx.rng().below(3) == 0 {
            handle.cancel();
        }
    }

    fn routers(&mut self, cx: &mut Context<'_, Self>) {
        let world = self.world.clone();
        if let Some(router) = world.pick_router(cx.rng())
            && cx.rng().below(3) > 0
        {
            return match cx.rng().below(8) {
                0 => router.stop(),
                _ => cx.tell(&router, Msg::Act),
            };
        }
        if world.routers.lock().unwrap().len() >= 4 || !world.has_room() {
            return;
        }
        let router = match cx.rng().below(3) {
            0 => Router::round_robin(),
            1 => Router::random(),
            _ => Router::smallest_mailbox(),
        };
        let made = if cx.rng().below(2) == 0 {
            let props = Node::props(&world, cx.rng(), true);
            let strategy = strategy(cx.rng());
            cx.spawn_router("", router.pool(3, props).supervise(strategy))
        } else {
            let members: Vec<_> = (0..3).filter_map(|_| world.pick(cx.rng())).collect();
            cx.spawn_router("", router.group(members))
        };
        if let Ok(made) = made {
            made.routees().into_iter().for_each(|routee| world.add(routee));
            world.routers.lock().unwrap().push(made);
        }
    }
}

fn mailbox(rng: &mut Rng) -> Mailbox {
    let capacity = 1 + rng.below(4) as usize;
    match rng.below(8) {
        0 => Mailbox::bounded(capacity, OverflowStrategy::Backpressure),
        1 => Mailbox::bounded(capacity, OverflowStrategy::DropNew),
        2 => Mailbox::bounded(capacity, OverflowStrategy::DropOldest),
        3 => Mailbox::bounded(capacity, OverflowStrategy::RejectToSender),
        _ => Mailbox::unbounded(),
    }
}

fn strategy(rng: &mut Rng) -> Strategy {
    let mut strategy = match rng.below(3) {
        0 => Strategy::one_for_one(),
        1 => Strategy::all_for_one(),
        _ => Strategy::rest_for_one(),
    };
    strategy = match rng.below(4) {
        0 => strategy.max_restarts(rng.below(4) as u32, Duration::from_millis(1)),
        1 => strategy.lifetime(rng.below(4) as u32),
        _ => strategy,
    };
    let directives = [Directive::Resume, Directive::Restart, Directive::Stop, Directive::Escalate];
    let any = |rng: &mut Rng| directives[rng.below(4) as usize];
    if rng.below(2) == 0 {
        strategy = strategy.on("special", any(rng)).on(FailureKind::Panic, any(rng));
    }
    if rng.below(4) == 0 {
        strategy = strategy.on(FailureKind::Start, any(rng)).on(FailureKind::Killed, any(rng));
    }
    match rng.below(3) {
        0 => strategy.backoff(backoff(rng)),
        _ => strategy,
    }
}

fn time(rng: &mut Rng, micros: u64) -> Duration {
    Duration::from_micros(1 + rng.below(micros))
}

fn backoff(rng: &mut Rng) -> Backoff {
    Backoff { min: time(rng, 300), ..Backoff::default() }
}

/// What somebody outside does.
struct Outside {
    world: Arc<World>,
    rng: Rng,
    asks: Vec<Ask<u64>>,
}

impl Outside {
    fn new(system: &ActorSystem, seed: u64) -> Self {
        let mut outside = Outside { world: World::new(), rng: Rng::new(seed), asks: Vec::new() };
        for n in 0..2 + outside.rng.below(4) {
            let props = Node::props(&outside.world, &mut outside.rng, false);
            let actor = system.spawn(&format!("top{n}"), props).expect("a free name");
            outside.world.add(actor);
        }
        (0..10).for_each(|_| outside.command());
        outside
    }

    fn command(&mut self) {
        let Some(target) = self.world.pick(&mut self.rng) else { return };
        match self.rng.below(16) {
            0 => target.stop(),
            1 => target.kill(),
            2 => target.drain(),
            3 => {
                let _ = target.try_tell(Msg::Act);
            }
            4..=6 => {
                let timeout = US * self.rng.below(1_000) as u32;
                self.asks.push(target.ask(Msg::Question, timeout));
            }
            7 => drop(self.asks.pop()),
            8 => {
                if let Some(router) = self.world.pick_router(&mut self.rng) {
                    router.tell(Msg::Act);
                }
            }
            _ => target.tell(Msg::Act),
        }
    }
}

fn stepper(seed: u64) -> ActorSystem {
    let builder = ActorSystem::builder("program").stepper().workers(1 + seed as usize % 4).seed(seed);
    builder.throughput(1 + seed as u32 % 5).build().expect("good settings")
}

/// Runs one program in virtual time; gives the log's hash, or what was wrong.
fn run_program(seed: u64) -> Result<Run, String> {
    let run = || try_program(seed);
    std::panic::catch_unwind(run).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map_or("with a longer text", |text| text);
        Err(format!("a panic came out of the runtime: {text}"))
    })
}

/// What one program has come to.
#[derive(Debug, PartialEq)]
struct Run {
    log_hash: u64,
    ledger: Ledger,
    asks: Asks,
    events: BTreeMap<String, u64>,
}

/// Counts the rare events by their name, losses also by their reason.
fn count_events(system: &ActorSystem) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for event in system.rare_events(0).0 {
        let name = match &event.kind {
            EventKind::Dropped { reason, .. } => format!("dropped: {reason}"),
            EventKind::DeadLettered { reason, .. } => format!("dead letter: {reason}"),
            EventKind::Decided(decided) => format!("decided: {}", decided.decision.taken),
            EventKind::Failed { kind, .. } => format!("failed: {kind}"),
            EventKind::HookFailed { hook, .. } => format!("hook failed: {hook}"),
            other => {
                let text = format!("{other:?}");
                text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
            }
        };
        *counts.entry(name).or_insert(0) += 1;
    }
    counts
}

fn try_program(seed: u64) -> Result<Run, String> {
    let system = stepper(seed);
    let mut outside = Outside::new(&system, seed);
    let check = |system: &ActorSystem, outside: &Outside| {
        let snapshot = system.snapshot();
        if !snapshot.ledger.balanced() || !snapshot.asks.balanced() {
            return Err(format!("unbalanced by {}: {snapshot:#?}", snapshot.ledger.difference()));
        }
        outside.world.violation(system)
    };
    for turn in 0..TURNS {
        if system.step().is_none() && turn > 40 {
            break;
        }
        check(&system, &outside)?;
        if turn % 4 == 0 {
            outside.command();
        }
    }
    system.terminate();
    let mut turns = 0;
    while system.exit().is_none() {
        if turns == LAST_TURNS || system.step().is_none() {
            return Err(format!("no end after {turns} turns: {:#?}", system.snapshot().actors));
        }
        check(&system, &outside)?;
        turns += 1;
    }
    at_the_end(&system, outside)?;
    let end = system.snapshot();
    Ok(Run { log_hash: end.log_hash, ledger: end.ledger, asks: end.asks, events: count_events(&system) })
}

/// Says what a shutdown has left behind.
fn at_the_end(system: &ActorSystem, outside: Outside) -> Result<(), String> {
    system.shutdown(Duration::from_secs(10)).map_err(|error| error.to_string())?;
    let end = system.snapshot();
    let nothing_left = end.ledger.balanced()
        && end.asks.balanced()
        && (end.ledger.queued, end.asks.pending, end.timers, end.actors.len()) == (0, 0, 0, 0);
    if !nothing_left {
        return Err(format!("left after the end: {end:#?}"));
    }
    outside.world.violation(system)
}

fn programs(default: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    match number("FOOTLIGHTS_PROGRAM") {
        Some(seed) => seed..seed + 1,
        None => 0..number("FOOTLIGHTS_PROGRAMS").unwrap_or(default),
    }
}

#[test]
fn every_message_has_one_fate_after_every_turn_of_random_programs() {
    hush_planned_panics();
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let mut asks = [0; 5];
    for seed in programs(PROGRAMS) {
        match run_program(seed) {
            Ok(run) => {
                run.events.into_iter().for_each(|(name, n)| *seen.entry(name).or_insert(0) += n);
                let Asks { replied, timed_out, failed, cancelled, late_replies, .. } = run.asks;
                let all = [replied, timed_out, failed, cancelled, late_replies];
                asks.iter_mut().zip(all).for_each(|(sum, n)| *sum += n);
            }
            Err(what) => panic!("FOOTLIGHTS_PROGRAM={seed}: {what}"),
        }
    }
    if programs(PROGRAMS).end - programs(PROGRAMS).start >= PROGRAMS {
        assert!(asks.iter().all(|&n| n > 100), "the programs ask too little: {asks:?}");
        let missing: Vec<_> =
            EXPECTED.iter().filter(|name| seen.get(**name).copied().unwrap_or(0) < 10).collect();
        assert!(missing.is_empty(), "the programs hardly show {missing:?}; they show {seen:#?}");
    }
}

#[test]
fn the_same_program_has_the_same_log_twice() {
    hush_planned_panics();
    for seed in programs(50) {
        assert_eq!(run_program(seed), run_program(seed), "FOOTLIGHTS_PROGRAM={seed}");
    }
}

#[test]
fn every_message_has_one_fate_on_threads_too() {
    hush_planned_panics();
    for seed in programs(POOL_PROGRAMS) {
        let builder = ActorSystem::builder("program").pool().workers(1 + seed as usize % 4).seed(seed);
        let system = builder.throughput(1 + seed as u32 % 5).build().expect("good settings");
        let mut outside = Outside::new(&system, seed);
        (0..100).for_each(|_| outside.command());
        // What repeats for ever keeps it busy; then only the end is looked at.
        let deadline = system.now() + US * 20_000;
        while !system.is_quiet() && system.now() < deadline {
            std::thread::yield_now();
        }
        if system.is_quiet() && system.snapshot().timers == 0 && system.is_quiet() {
            let ledger = system.ledger();
            assert!(ledger.balanced(), "FOOTLIGHTS_PROGRAM={seed}: unbalanced when parked: {ledger:?}");
        }
        if let Err(what) = at_the_end(&system, outside) {
            panic!("FOOTLIGHTS_PROGRAM={seed} on a pool: {what}");
        }
    }
}
