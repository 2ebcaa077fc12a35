//! Throughput against fairness, in virtual time and with the prices of 2012: the more messages an actor may handle in a row,
//! the more are moved in all, and the longer a neighbour waits.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::observe::Level;
use footlights::system::{ActorSystem, CostModel};
use footlights::time::Instant;

/// Messages under way in each pair: enough that nobody ever runs out of full batches of the largest throughput.
const BALLS: usize = 800;
/// Pairs beside the neighbour.
const PAIRS: usize = 4;
/// How long a run is observed.
const SPAN: Duration = Duration::from_millis(40);
/// Time between two calls of the neighbour; no multiple of a batch.
const PERIOD: Duration = Duration::from_nanos(251_300);

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

/// Is called at a fixed rate, and notes how long it waits for its turn.
struct Neighbour {
    start: Instant,
    calls: u64,
    waits: Arc<Mutex<Vec<Duration>>>,
}

impl Actor for Neighbour {
    type Msg = ();

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        self.start = cx.now();
        cx.timers().fixed_rate("call", PERIOD, || ())?;
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        self.calls += 1;
        let due = self.start + PERIOD * u32::try_from(self.calls).expect("a small number");
        self.waits.lock().expect("no panic before").push(cx.now() - due);
        Ok(())
    }
}

struct Measured {
    per_second: u64,
    median: Duration,
    p99: Duration,
}

fn measure(throughput: u32) -> Measured {
    measure_with(throughput, Duration::ZERO)
}

fn measure_with(throughput: u32, deadline: Duration) -> Measured {
    let system = ActorSystem::builder("a4")
        .stepper()
        .workers(1)
        .throughput(throughput)
        .throughput_deadline(deadline)
        .costs(CostModel::dispatch_2012())
        .log(Level::Off)
        .build()
        .expect("good settings");
    let player = || system.spawn("", Props::new(|| Player { other: None })).expect("a child");
    for _ in 0..PAIRS {
        let (a, b) = (player(), player());
        a.tell(Play::Against(b.clone()));
        b.tell(Play::Against(a.clone()));
        (0..BALLS / 2).for_each(|_| [&a, &b].iter().for_each(|player| player.tell(Play::Ball)));
    }
    system.run_for(SPAN / 10); // all players know each other, and their batches are full
    let waits = Arc::new(Mutex::new(Vec::new()));
    let kept = waits.clone();
    let neighbour = move || Neighbour { start: Instant::ZERO, calls: 0, waits: kept.clone() };
    system.spawn("neighbour", Props::new(neighbour)).expect("a free name");
    let before = system.ledger().handled;
    system.run_for(SPAN);
    let handled = system.ledger().handled - before;
    let mut waits = waits.lock().expect("no panic before").clone();
    waits.sort();
    let per_second = handled * 1_000 / u64::try_from(SPAN.as_millis()).expect("a small number");
    Measured { per_second, median: waits[waits.len() / 2], p99: waits[waits.len() * 99 / 100] }
}

#[test]
fn a4_a_higher_throughput_moves_more_and_lets_a_neighbour_wait_longer() {
    let all: Vec<(u32, Measured)> = [1, 5, 20, 64, 200].map(|t| (t, measure(t))).into();
    println!("throughput  messages/s  neighbour's wait: median, p99");
    for (throughput, m) in &all {
        println!("{throughput:>10} {:>11} {:>17?} {:>9?}", m.per_second, m.median, m.p99);
    }
    for pair in all.windows(2) {
        let ((low, few), (high, many)) = (&pair[0], &pair[1]);
        assert!(few.per_second < many.per_second, "{low} and {high}: the rate rises");
        assert!(few.p99 < many.p99, "{low} and {high}: the neighbour waits longer");
    }
    // An activation costs 9.6 µs and a message 0.48 µs; the neighbour's own calls take a little of the worker's time.
    for ((_, m), ideal) in all.iter().zip([99_206, 416_667, 1_041_667, 1_587_302, 1_893_939]) {
        let (least, most) = (ideal * 94 / 100, ideal);
        assert!((least..=most).contains(&m.per_second), "{} of {ideal}", m.per_second);
    }
    // It waits for the rest of one batch at most, and then pays for its own activation.
    for (throughput, m) in &all {
        let batch = Duration::from_nanos(9_600 + 480 * u64::from(*throughput));
        assert!(m.p99 <= batch + Duration::from_nanos(9_600 + 480), "{throughput}: {:?}", m.p99);
    }
}

#[test]
fn a4_four_times_the_throughput_moves_two_and_a_half_times_as_much() {
    let moved = |throughput| {
        let builder = ActorSystem::builder("a4").stepper().workers(1).throughput(throughput);
        let system =
            builder.costs(CostModel::dispatch_2012()).log(Level::Off).build().expect("good settings");
        let player = || system.spawn("", Props::new(|| Player { other: None })).expect("a child");
        let (a, b) = (player(), player());
        system.run_until_quiet(10);
        let start = system.now();
        (0..1_000).for_each(|_| [&a, &b].iter().for_each(|player| player.tell(Play::Ball)));
        assert!(system.run_until_quiet(10_000));
        system.now() - start
    };
    // 400 activations of 5 against 100 of 20, and 2,000 messages.
    assert_eq!(moved(5), Duration::from_nanos(400 * 9_600 + 2_000 * 480));
    assert_eq!(moved(20), Duration::from_nanos(100 * 9_600 + 2_000 * 480));
    assert_eq!(moved(5) * 2, moved(20) * 5);
}

#[test]
fn a5_a_deadline_bounds_what_a_neighbour_waits_for() {
    let deadline = |micros| measure_with(200, Duration::from_micros(micros));
    let all: Vec<(u64, Measured)> = [0, 50, 20, 10].map(|micros| (micros, deadline(micros))).into();
    println!("deadline  messages/s  neighbour's wait: median, p99");
    for (micros, m) in &all {
        println!("{micros:>5} µs {:>11} {:>17?} {:>9?}", m.per_second, m.median, m.p99);
    }
    for pair in all.windows(2) {
        let ((_, long), (micros, short)) = (&pair[0], &pair[1]);
        assert!(long.per_second > short.per_second, "{micros} µs: the rate falls");
        assert!(long.p99 > short.p99, "{micros} µs: the neighbour waits less");
    }
    // The clock is read after every 16 messages: 17.28 µs, 24.96 µs, and so on; then the neighbour has its turn.
    for (micros, m) in &all[1..] {
        let looks =
            (1..).find(|looks| 9_600 + looks * 16 * 480 >= micros * 1_000).expect("some look is the last");
        let batch = Duration::from_nanos(9_600 + looks * 16 * 480);
        assert!(m.p99 <= batch + Duration::from_nanos(9_600 + 480), "{micros} µs: {:?}", m.p99);
    }
}

/// Plays with two balls for each player on four workers, until everybody has had several turns; gives messages a second.
fn rate_of(actors: u32) -> u64 {
    let builder = ActorSystem::builder("a6").stepper().workers(4).throughput(200);
    let system = builder.costs(CostModel::dispatch_2012()).log(Level::Off).build().expect("good settings");
    let player = || system.spawn("", Props::new(|| Player { other: None })).expect("a child");
    for _ in 0..actors / 2 {
        let (a, b) = (player(), player());
        a.tell(Play::Against(b.clone()));
        b.tell(Play::Against(a.clone()));
        (0..2).for_each(|_| [&a, &b].iter().for_each(|player| player.tell(Play::Ball)));
    }
    let span = (SPAN / 8).max(actors * Duration::from_micros(4));
    system.run_for(2 * span);
    let before = system.ledger().handled;
    system.run_for(span);
    let handled = system.ledger().handled - before;
    handled * 1_000_000_000 / u64::try_from(span.as_nanos()).expect("a small number")
}

#[test]
fn a6_more_actors_than_workers_move_neither_more_nor_less() {
    let all: Vec<(u32, u64)> =
        [2, 4, 8, 16, 100, 1_000, 10_000].map(|actors| (actors, rate_of(actors))).into();
    println!("{all:?}");
    assert!(
        all[0].1 < all[1].1 && all[1].1 < all[2].1,
        "two and four do not keep four workers busy: {all:?}"
    );
    // A pair's four balls travel together: an activation for four messages, on four workers.
    let ideal = 4 * 4 * 1_000_000_000 / (9_600 + 4 * 480);
    for (actors, rate) in &all[2..] {
        assert!((ideal * 97 / 100..=ideal * 101 / 100).contains(rate), "{actors}: {rate} of {ideal}");
    }
}
