//! Promises of dispatch: every accepted message runs exactly once, whoever runs it, and nobody waits for ever.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Shutdown};
use footlights::observe::Level;
use footlights::system::{ActorSystem, DispatcherSettings};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Messages of the large tests.
const MANY: u64 = 1_000_000;

/// What the hopping actors share: who is there, and how often each number was handled.
struct Ring {
    actors: std::sync::OnceLock<Vec<ActorRef<Hop>>>,
    handled: Vec<AtomicU32>,
    done: AtomicU64,
}

struct Hop {
    number: u32,
    hops: u32,
}

struct Hopper {
    ring: Arc<Ring>,
}

impl Actor for Hopper {
    type Msg = Hop;

    fn receive(&mut self, cx: &mut Context<'_, Self>, hop: Hop) -> Result<(), Failure> {
        if hop.hops > 0 {
            let actors = self.ring.actors.get().expect("all actors are made");
            let next = cx.rng().below(actors.len() as u64) as usize;
            // Half of the hops go as a handler's tells do, half as those from outside.
            let hop = Hop { hops: hop.hops - 1, ..hop };
            match hop.hops % 2 {
                0 => cx.tell(&actors[next], hop),
                _ => actors[next].tell(hop),
            }
            return Ok(());
        }
        self.ring.handled[hop.number as usize].fetch_add(1, Ordering::Relaxed);
        self.ring.done.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

fn every_message_runs_once(builder: footlights::system::Builder, messages: u64, actors: usize) {
    let system = builder.log(Level::Off).build().expect("good settings");
    let ring = Arc::new(Ring {
        actors: std::sync::OnceLock::new(),
        handled: (0..messages).map(|_| AtomicU32::new(0)).collect(),
        done: AtomicU64::new(0),
    });
    let make = |_| {
        let ring = ring.clone();
        system.spawn("", Props::new(move || Hopper { ring: ring.clone() })).expect("a child")
    };
    let made: Vec<_> = (0..actors).map(make).collect();
    assert!(ring.actors.set(made).is_ok());
    let actors = ring.actors.get().expect("just set");
    let mut hops = 0;
    for number in 0..messages as u32 {
        let n = number % 4;
        hops += u64::from(n);
        actors[number as usize % actors.len()].tell(Hop { number, hops: n });
    }
    let done = || ring.done.load(Ordering::Relaxed);
    let mut seen = 0;
    while done() < messages {
        // A stall of 10 s is a failure, however long the whole may take.
        wait_until(&system, &format!("progress after {seen} of {messages}"), || done() > seen);
        seen = done();
    }
    system.shutdown(Duration::from_secs(10)).expect("an end");
    let missing = ring.handled.iter().filter(|n| n.load(Ordering::Relaxed) == 0).count();
    let twice = ring.handled.iter().filter(|n| n.load(Ordering::Relaxed) > 1).count();
    assert_eq!((missing, twice), (0, 0), "missing and doubled, of {messages}");
    let ledger = system.ledger();
    assert_eq!((ledger.sent, ledger.handled), (messages + hops, messages + hops));
    assert!(ledger.balanced());
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn m2_every_message_runs_once() {
    every_message_runs_once(ActorSystem::builder("m2").pool().workers(8), MANY, 1_000);
}

#[test]
fn m2_every_message_runs_once_in_virtual_time() {
    for seed in 0..4 {
        every_message_runs_once(ActorSystem::builder("m2").stepper().workers(4).seed(seed), 20_000, 100);
    }
}

/// Sends a ball back until it has come so often.
struct Player {
    left: Arc<AtomicU64>,
}

struct Ball(Option<ActorRef<Ball>>);

impl Actor for Player {
    type Msg = Ball;

    fn receive(&mut self, cx: &mut Context<'_, Self>, ball: Ball) -> Result<(), Failure> {
        let left = self.left.fetch_sub(1, Ordering::Relaxed);
        if left > 1
            && let Some(other) = ball.0
        {
            let me = cx.myself();
            match left % 2 {
                0 => cx.tell(&other, Ball(Some(me))),
                _ => other.tell(Ball(Some(me))),
            }
        }
        Ok(())
    }
}

fn a_bounced_message_never_stalls(builder: footlights::system::Builder, times: u64) {
    let system = builder.log(Level::Off).build().expect("good settings");
    let left = Arc::new(AtomicU64::new(times));
    let player = || {
        let left = left.clone();
        system.spawn("", Props::new(move || Player { left: left.clone() })).expect("a child")
    };
    let (a, b) = (player(), player());
    a.tell(Ball(Some(b)));
    let mut seen = u64::MAX;
    while left.load(Ordering::Relaxed) > 0 {
        let stalled_at = seen;
        wait_until(&system, &format!("the ball, at {stalled_at}"), || {
            left.load(Ordering::Relaxed) < stalled_at
        });
        seen = left.load(Ordering::Relaxed);
    }
    system.shutdown(Duration::from_secs(10)).expect("an end");
    assert_eq!(system.ledger().handled, times);
    assert!(system.ledger().balanced());
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn m2_one_message_bounced_between_two_threads_never_stalls() {
    a_bounced_message_never_stalls(ActorSystem::builder("m2").pool().workers(4), MANY);
}

#[test]
fn m2_one_message_bounced_between_two_virtual_workers_never_stalls() {
    for workers in [1, 4] {
        // More than the free runs at one instant: after them each costs a little, and the ball flies on.
        a_bounced_message_never_stalls(ActorSystem::builder("m2").stepper().workers(workers), 250_000);
        let drawn = ActorSystem::builder("m2").stepper().workers(workers).seed(1).seeded_order();
        a_bounced_message_never_stalls(drawn, 20_000);
    }
}

/// Blocks its worker, or counts.
struct Worker {
    count: Arc<AtomicU64>,
}

enum Job {
    Block(Duration),
    TellAndBlock(ActorRef<Job>, Duration),
    Count,
}

impl Actor for Worker {
    type Msg = Job;

    fn receive(&mut self, cx: &mut Context<'_, Self>, job: Job) -> Result<(), Failure> {
        match job {
            Job::Block(d) => cx.block(d),
            Job::TellAndBlock(other, d) => {
                cx.tell(&other, Job::Count);
                cx.block(d);
            }
            Job::Count => {
                self.count.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

fn worker(system: &ActorSystem, count: &Arc<AtomicU64>) -> ActorRef<Job> {
    let count = count.clone();
    system.spawn("", Props::new(move || Worker { count: count.clone() })).expect("a child")
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn the_task_in_the_slot_of_a_blocked_thread_is_taken_by_another() {
    let system = ActorSystem::builder("slot").pool().workers(2).build().expect("good settings");
    let count = Arc::new(AtomicU64::new(0));
    let (a, b) = (worker(&system, &count), worker(&system, &count));
    wait_until(&system, "rest", || system.is_quiet());
    a.tell(Job::TellAndBlock(b, Duration::from_secs(2)));
    let start = system.now();
    wait_until(&system, "the count", || count.load(Ordering::Relaxed) == 1);
    assert!(system.now() - start < Duration::from_secs(1), "it waited for the blocked thread");
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn m2_the_one_free_worker_keeps_draining_while_the_others_block() {
    let system = ActorSystem::builder("drain").pool().workers(4).build().expect("good settings");
    let count = Arc::new(AtomicU64::new(0));
    for _ in 0..3 {
        worker(&system, &count).tell(Job::Block(Duration::from_secs(2)));
    }
    let start = system.now();
    let others: Vec<_> = (0..50).map(|_| worker(&system, &count)).collect();
    others.iter().for_each(|other| (0..20).for_each(|_| other.tell(Job::Count)));
    wait_until(&system, "1,000 counts", || count.load(Ordering::Relaxed) == 1_000);
    assert!(system.now() - start < Duration::from_secs(1), "they waited for the blocked threads");
}

/// Tells itself again, for ever.
struct Restless {
    runs: Arc<AtomicU64>,
}

impl Actor for Restless {
    type Msg = ();

    fn receive(&mut self, cx: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let me = cx.myself();
        cx.tell(&me, ());
        Ok(())
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn always_ready_actors_share_one_worker_fairly_and_shut_nobody_out() {
    for builder in [
        ActorSystem::builder("fair").pool().workers(1).log(Level::Off),
        ActorSystem::builder("fair").stepper().workers(1).log(Level::Off),
    ] {
        let system = builder.build().expect("good settings");
        let runs: Vec<_> = (0..4).map(|_| Arc::new(AtomicU64::new(0))).collect();
        for runs in &runs {
            let runs = runs.clone();
            let actor = Props::new(move || Restless { runs: runs.clone() });
            system.spawn("", actor).expect("a child").tell(());
        }
        let count = Arc::new(AtomicU64::new(0));
        let late = worker(&system, &count);
        late.tell(Job::Count);
        wait_until(&system, "a message from outside among busy actors", || {
            count.load(Ordering::Relaxed) == 1
        });
        let sum = || runs.iter().map(|runs| runs.load(Ordering::Relaxed)).sum::<u64>();
        wait_until(&system, "20,000 runs", || sum() > 20_000);
        let all: Vec<u64> = runs.iter().map(|runs| runs.load(Ordering::Relaxed)).collect();
        let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
        assert!(most <= &(2 * least + 200), "{all:?}");
        if !system.is_stepper() {
            system.shutdown(Duration::from_secs(10)).expect("an end, whoever is busy");
        }
    }
}

/// Tells everybody once.
struct Starter(Vec<ActorRef<()>>);

impl Actor for Starter {
    type Msg = ();

    fn receive(&mut self, cx: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        self.0.iter().for_each(|actor| cx.tell(actor, ()));
        Ok(())
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn always_ready_actors_share_two_threads_fairly_wherever_they_woke() {
    let builder = ActorSystem::builder("fair").pool().workers(2).throughput(16).log(Level::Off);
    let system = builder.build().expect("good settings");
    let runs: Vec<_> = (0..10).map(|_| Arc::new(AtomicU64::new(0))).collect();
    let counts = || runs.iter().map(|runs| runs.load(Ordering::Relaxed)).collect::<Vec<_>>();
    let spawn = |runs: &Arc<AtomicU64>| {
        let runs = runs.clone();
        system.spawn("", Props::new(move || Restless { runs: runs.clone() })).expect("a child")
    };
    let mut actors: Vec<_> = runs.iter().map(spawn).collect();
    // One thread is never without work, so that need does not make it look at the other one, on which all others wake.
    actors.remove(0).tell(());
    wait_until(&system, "a busy thread", || counts()[0] > 1_000);
    system.spawn("", Props::new(move || Starter(actors.clone()))).expect("a child").tell(());
    wait_until(&system, "all others", || counts().iter().all(|&runs| runs > 1_000));
    let activations = || {
        let workers = system.snapshot().dispatchers.swap_remove(0).workers;
        workers.iter().map(|worker| worker.activations).collect::<Vec<_>>()
    };
    let (runs_before, activations_before) = (counts(), activations());
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    wait_until(&system, "400,000 runs", || sum(&counts()) > sum(&runs_before) + 400_000);
    let spread = |now: Vec<u64>, before: &[u64]| {
        let grown: Vec<_> = now.iter().zip(before).map(|(now, before)| now - before).collect();
        (*grown.iter().min().expect("some"), *grown.iter().max().expect("some"))
    };
    let (least, most) = spread(counts(), &runs_before);
    // The operating system may have favoured one of the threads: that much is no fault of the dispatcher.
    let (slow, fast) = spread(activations(), &activations_before);
    assert!(most * slow <= 2 * least * fast, "{least} to {most} runs; threads ran {slow} and {fast} times");
    system.shutdown(Duration::from_secs(10)).expect("an end, whoever is busy");
}

#[cfg(not(target_family = "wasm"))]
#[test]
#[expect(clippy::disallowed_methods, reason = "the senders are outside the pool")]
fn m2_sends_into_a_parking_pool_are_never_lost() {
    // Each round lets the pool fall asleep, so that the race of parking and sending is run again and again.
    let system =
        ActorSystem::builder("park").pool().workers(2).log(Level::Off).build().expect("good settings");
    let count = Arc::new(AtomicU64::new(0));
    let actors: Vec<_> = (0..2).map(|_| worker(&system, &count)).collect();
    for round in 0..2_000u64 {
        std::thread::scope(|scope| {
            for actor in &actors {
                scope.spawn(move || actor.tell(Job::Count));
            }
        });
        let wanted = 2 * (round + 1);
        wait_until(&system, &format!("round {round}"), || count.load(Ordering::Relaxed) == wanted);
    }
}

/// Does as it is told.
struct Doer;

type Script = Box<dyn FnOnce(&mut Context<'_, Doer>) + Send>;

impl Actor for Doer {
    type Msg = Script;

    fn receive(&mut self, cx: &mut Context<'_, Self>, script: Script) -> Result<(), Failure> {
        script(cx);
        Ok(())
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn the_task_in_the_slot_of_a_long_run_is_taken_by_a_sleeping_worker() {
    let system = ActorSystem::builder("long").pool().workers(2).build().expect("good settings");
    let doer = || system.spawn("", Props::new(|| Doer)).expect("a child");
    let (teller, receiver) = (doer(), doer());
    for round in 0..20 {
        // The other worker sleeps; neither `work` nor `block` says that this run takes long.
        wait_until(&system, "rest", || system.is_quiet());
        let came = Arc::new(AtomicU64::new(0));
        let (sets, outcome) = (came.clone(), Arc::new(AtomicU64::new(0)));
        let (to, says) = (receiver.clone(), outcome.clone());
        teller.tell(Box::new(move |cx| {
            let flag = sets.clone();
            let receives = move |_: &mut Context<'_, Doer>| flag.store(1, Ordering::Relaxed);
            cx.tell(&to, Box::new(receives) as Script);
            let deadline = cx.now() + Duration::from_secs(5);
            while sets.load(Ordering::Relaxed) == 0 && cx.now() < deadline {
                std::hint::spin_loop();
            }
            says.store(1 + sets.load(Ordering::Relaxed), Ordering::Relaxed);
        }));
        wait_until(&system, "the end of the run", || outcome.load(Ordering::Relaxed) > 0);
        assert_eq!(outcome.load(Ordering::Relaxed), 2, "round {round}: the receiver waited for the teller");
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn a_message_told_during_a_long_run_bears_the_time_of_its_sending() {
    let system = ActorSystem::builder("stamp").pool().workers(1).build().expect("good settings");
    let doer = system.spawn("", Props::new(|| Doer)).expect("a child");
    let (began, go) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (begins, goes) = (began.clone(), go.clone());
    doer.tell(Box::new(move |cx| {
        begins.store(1, Ordering::Relaxed);
        while goes.load(Ordering::Relaxed) == 0 {
            cx.block(Duration::from_millis(1));
        }
    }));
    wait_until(&system, "the long run", || began.load(Ordering::Relaxed) == 1);
    let tolerance = Duration::from_millis(100);
    let told_at = system.now() + 5 * tolerance;
    wait_until(&system, "an old clock", || system.now() >= told_at);
    doer.tell(Box::new(|_| {}));
    let oldest = doer.any().snapshot().oldest.expect("one waits");
    let after = system.now();
    go.store(1, Ordering::Relaxed);
    wait_until(&system, "the end of the run", || doer.queued() == 0);
    assert!(oldest + tolerance > told_at && oldest <= after, "stamped {oldest:?}, told at {told_at:?}");
}

/// Works until it may go, whoever wants it to stop.
struct Stubborn {
    runs: Arc<AtomicBool>,
    may_go: Arc<AtomicBool>,
}

impl Actor for Stubborn {
    type Msg = ();

    fn receive(&mut self, _: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        self.runs.store(true, Ordering::SeqCst);
        while !self.may_go.load(Ordering::SeqCst) {
            std::hint::spin_loop();
        }
        Ok(())
    }
}

/// Has a child, on another dispatcher.
struct Parent {
    child: Option<Props<Stubborn>>,
}

impl Actor for Parent {
    type Msg = ();

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let child = cx.spawn("child", self.child.take().expect("it starts once"))?;
        (0..3).for_each(|_| cx.tell(&child, ()));
        Ok(())
    }

    fn receive(&mut self, _: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        Ok(())
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn a_thread_that_lost_its_seat_is_at_work_until_it_returns_and_leaves_nothing_behind() {
    let builder = ActorSystem::builder("astray").pool().workers(1);
    // What it wants after its run is another turn, in the queue of the seat that it has lost.
    let side = DispatcherSettings::pool(1).throughput(1);
    let system = builder.dispatcher("side", side).build().expect("good settings");
    let side = || system.snapshot().dispatchers.swap_remove(2).workers.swap_remove(0);
    let (runs, may_go) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let theirs = (runs.clone(), may_go.clone());
    let child = move || Stubborn { runs: theirs.0.clone(), may_go: theirs.1.clone() };
    let child = Mutex::new(Some(Props::new(child).shutdown(Shutdown::Now).dispatcher("side")));
    let parent = Props::new(move || Parent { child: child.lock().unwrap().take() });
    let parent = system.spawn("parent", parent).expect("a child");
    wait_until(&system, "the run", || runs.load(Ordering::SeqCst));
    parent.stop();
    wait_until(&system, "the end by force", || !system.forced().is_empty());
    // Its seat has a new thread, which works, and then sleeps.
    let count = Arc::new(AtomicU64::new(0));
    let theirs = count.clone();
    let other = Props::new(move || Worker { count: theirs.clone() }).dispatcher("side");
    system.spawn("other", other).expect("a child").tell(Job::Count);
    wait_until(&system, "the new thread's work", || count.load(Ordering::Relaxed) == 1);
    wait_until(&system, "the new thread's sleep", || !side().running);
    assert!((0..1_000).all(|_| !system.is_quiet()), "it rests while a run goes on");
    may_go.store(true, Ordering::SeqCst);
    wait_until(&system, "rest", || system.is_quiet());
    assert_eq!(system.forced(), Vec::<String>::new(), "it has let go of what it had");
    let ledger = system.ledger();
    assert!(ledger.balanced() && ledger.queued == 0, "{ledger:?}");
}
