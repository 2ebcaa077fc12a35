//! A random program, run in virtual time with a look at the ledger after every turn.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use footlights::observe::{Asks, EventKind, Ledger, Level};
use footlights::pattern::Ask;
use footlights::rng::Rng;
use footlights::system::{ActorSystem, Builder, DispatcherSettings};
use footlights::testkit::{Fault, Faults};

use crate::node::{Msg, Node, US, World, question};
use crate::patterns::Rooms;

/// Turns before a program is shut down, and turns that a shutdown may take.
const TURNS: u64 = 400;
const LAST_TURNS: u64 = 50_000;

/// What somebody outside does.
pub(crate) struct Outside {
    world: Arc<World>,
    rng: Rng,
    asks: Vec<Ask<u64>>,
    rooms: Rooms,
}

impl Outside {
    pub(crate) fn new(system: &ActorSystem, seed: u64) -> Self {
        let (world, rng) = (World::new(), Rng::new(seed));
        let mut outside = Outside { world, rng, asks: Vec::new(), rooms: Rooms::default() };
        for n in 0..2 + outside.rng.below(4) {
            let props = Node::props(&outside.world, &mut outside.rng, false);
            let actor = system.spawn(&format!("top{n}"), props).expect("a free name");
            outside.world.add(actor);
        }
        (0..10).for_each(|_| outside.command());
        outside
    }

    pub(crate) fn command(&mut self) {
        let Some(target) = self.world.pick(&mut self.rng) else { return };
        match self.rng.below(20) {
            0 => target.stop(),
            1 => target.kill(),
            2 => target.drain(),
            3 => {
                let _ = target.try_tell(Msg::Act);
            }
            4..=6 => {
                let timeout = US * self.rng.below(1_000) as u32;
                self.asks.push(target.ask(question, timeout));
            }
            7 => drop(self.asks.pop()),
            8 => {
                if let Some(router) = self.world.pick_router(&mut self.rng) {
                    router.tell(Msg::Act);
                }
            }
            9..=12 => self.rooms.command(&target, &mut self.rng),
            _ => target.tell(Msg::Act),
        }
    }
}

/// Gives a system the settings that a program's seed asks for.
pub(crate) fn set_up(builder: Builder, seed: u64) -> ActorSystem {
    let side = DispatcherSettings::pool(1 + seed as usize / 4 % 2).throughput(1 + seed as u32 % 3);
    let builder = builder.workers(1 + seed as usize % 4).seed(seed).dispatcher("side", side);
    let builder = builder.throughput(1 + seed as u32 % 5).blocking_queue(seed as usize % 3);
    // In one of seven programs the budgeted mailboxes have hardly any room.
    let builder = if seed.is_multiple_of(7) { builder.message_memory(2_000) } else { builder };
    builder.build().expect("good settings")
}

fn stepper(seed: u64) -> ActorSystem {
    let builder = ActorSystem::builder("program").stepper();
    // Half of the programs run in an order of their own.
    set_up(if seed.is_multiple_of(2) { builder } else { builder.seeded_order() }, seed)
}

/// Runs one program in virtual time; gives the log's hash, or what was wrong.
pub(crate) fn run_program(seed: u64) -> Result<Run, String> {
    let run = || try_program(seed);
    std::panic::catch_unwind(run).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map_or("with a longer text", |text| text);
        Err(format!("a panic came out of the runtime: {text}"))
    })
}

/// What one program has come to.
#[derive(Debug, PartialEq)]
pub(crate) struct Run {
    log_hash: u64,
    ledger: Ledger,
    pub(crate) asks: Asks,
    pub(crate) events: BTreeMap<String, u64>,
}

/// Counts the rare events, and those of the stash and of state machines, by their name, losses also by their reason.
pub(crate) fn count_events(system: &ActorSystem) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for event in system.events(0, usize::MAX) {
        let name = match &event.kind {
            EventKind::Stashed { .. } => "Stashed".to_owned(),
            EventKind::Unstashed { .. } => "Unstashed".to_owned(),
            EventKind::Transition { .. } => "Transition".to_owned(),
            kind if kind.level() == Level::Message => continue,
            EventKind::Dropped { reason, .. } => format!("dropped: {reason}"),
            EventKind::DeadLettered { reason, .. } => format!("dead letter: {reason}"),
            EventKind::FaultInjected { fault, .. } => format!("fault: {fault}"),
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

/// Lets something go wrong that no actor does.
fn mishap(system: &ActorSystem, outside: &mut Outside) {
    let rng = &mut outside.rng;
    let mut path = || outside.world.pick(rng).map(|actor| actor.path().to_owned());
    let (Some(a), Some(b)) = (path(), path()) else { return };
    let (messages, by) = (1 + rng.below(4), US * rng.below(300) as u32);
    let fault = match rng.below(7) {
        6 => Fault::Jump { by },
        5 => Fault::Double { from: a, to: b, messages },
        0 => Fault::Fail { actor: a, nth: messages },
        1 => Fault::Slow { actor: a, by },
        2 => Fault::Drop { from: a, to: b, messages },
        3 => Fault::Drop { from: "outside".to_owned(), to: b, messages },

        _ => Fault::Delay { from: a, to: b, messages, by },
    };
    let mut faults = Faults::on(system);
    outside.world.all().iter().for_each(|actor| faults.teach(actor));
    // Whom it is about may be dead already.
    let _ = faults.inject(fault);
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
        if turn % 32 == 31 {
            mishap(&system, &mut outside);
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
pub(crate) fn at_the_end(system: &ActorSystem, outside: Outside) -> Result<(), String> {
    system.shutdown(Duration::from_secs(10)).map_err(|error| error.to_string())?;
    let end = system.snapshot();
    let nothing_left = end.ledger.balanced()
        && end.asks.balanced()
        && (end.ledger.queued, end.ledger.stashed, end.asks.pending) == (0, 0, 0)
        && (end.timers, end.actors.len()) == (0, 0);
    if !nothing_left {
        return Err(format!("left after the end: {end:#?}"));
    }
    outside.world.violation(system)
}

/// Gives the seeds of the `part`-th of `parts`, of so many programs unless the environment says otherwise.
pub(crate) fn programs(default: u64, part: u64, parts: u64) -> impl Iterator<Item = u64> {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let seeds = match number("FOOTLIGHTS_PROGRAM") {
        Some(seed) => seed..seed + 1,
        None => 0..number("FOOTLIGHTS_PROGRAMS").unwrap_or(default),
    };
    seeds.filter(move |seed| seed % parts == part)
}

/// Says how to run one program alone.
pub(crate) fn rerun(seed: u64) -> String {
    format!("FOOTLIGHTS_PROGRAM={seed} cargo test -p footlights --test ledger")
}
