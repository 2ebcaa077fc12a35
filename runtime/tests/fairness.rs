//! Promises of fairness, counted: who may handle how many messages before the others have had their turn.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::observe::Level;
use footlights::system::{ActorSystem, Builder};

/// Everything that was run, by number, in order.
type Diary = Arc<Mutex<Vec<usize>>>;

/// Writes its number into the diary and does as its message says.
struct Writer {
    number: usize,
    diary: Diary,
    gate: Arc<AtomicBool>,
}

enum Do {
    /// Only write.
    Nothing,
    /// Keep the worker until the gate opens; on a Stepper it is open.
    AwaitGate,
    /// Tell oneself the same again.
    Again,
    /// Tell oneself so many more.
    CountDown(u32),
    /// Tell the other one this, who sends it back.
    Bounce(ActorRef<Do>),
    /// Tell it from here, but not through the context: by the injector, as if from outside.
    TellFromOutside(ActorRef<Do>),
    /// Take time first.
    Work(Duration),
}

impl Actor for Writer {
    type Msg = Do;

    fn receive(&mut self, cx: &mut Context<'_, Self>, what: Do) -> Result<(), Failure> {
        self.diary.lock().expect("no panic before").push(self.number);
        match what {
            Do::Nothing => {}
            Do::AwaitGate => {
                while !self.gate.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
            }
            Do::Again => {
                let me = cx.myself();
                cx.tell(&me, Do::Again);
            }
            Do::CountDown(left) => {
                let me = cx.myself();
                if left > 0 {
                    cx.tell(&me, Do::CountDown(left - 1));
                }
            }
            Do::Bounce(other) => {
                let me = cx.myself();
                cx.tell(&other, Do::Bounce(me));
            }
            Do::TellFromOutside(other) => other.tell(Do::Nothing),
            Do::Work(d) => cx.work(d),
        }
        Ok(())
    }
}

/// A system of one worker with writers at rest; what they are told is handled when the stage is opened.
struct Stage {
    system: ActorSystem,
    diary: Diary,
    gate: Arc<AtomicBool>,
    writers: Vec<ActorRef<Do>>,
}

/// The number of the writer that keeps the worker.
const KEEPER: usize = 9;
/// Activations in which a worker looks at the injector once at least.
const LOOKS: u32 = 100;

impl Stage {
    fn new(builder: Builder) -> Self {
        let system = builder.workers(1).log(Level::Off).build().expect("good settings");
        let gate = Arc::new(AtomicBool::new(system.is_stepper()));
        let diary = Diary::default();
        let writer = |number| {
            let (diary, gate) = (diary.clone(), gate.clone());
            let make = move || Writer { number, diary: diary.clone(), gate: gate.clone() };
            system.spawn("", Props::new(make)).expect("a child")
        };
        let writers: Vec<_> = (0..=KEEPER).map(writer).collect();
        wait_until(&system, "rest", || system.is_quiet());
        // The worker has looked at the injector when the starts came from there, and it takes turns with its own tasks after
        // two such looks in a row. After this it has looked and found nothing: the row is over.
        writers[KEEPER].tell(Do::CountDown(LOOKS));
        wait_until(&system, "rest", || system.is_quiet());
        diary.lock().expect("no panic before").clear();
        writers[KEEPER].tell(Do::AwaitGate);
        wait_until(&system, "the worker to be kept", || !diary.lock().expect("no panic before").is_empty());
        Stage { system, diary, gate, writers }
    }

    fn writer(&self, number: usize) -> ActorRef<Do> {
        self.writers[number].clone()
    }

    /// Lets everything run until the diary has so many entries; gives them, without the keeper's.
    fn open(&self, entries: usize) -> Vec<usize> {
        let diary = || self.diary.lock().expect("no panic before");
        self.gate.store(true, Ordering::SeqCst);
        wait_until(&self.system, "a full diary", || diary().len() > entries);
        let all = diary().clone();
        all.into_iter().filter(|&number| number != KEEPER).take(entries).collect()
    }
}

fn each_stage(body: impl Fn(&dyn Fn(fn(Builder) -> Builder) -> Stage)) {
    body(&|set| Stage::new(set(ActorSystem::builder("fair").stepper())));
    body(&|set| Stage::new(set(ActorSystem::builder("fair").pool())));
}

/// Counts what a busy actor handles before a bystander who became ready behind it has its turn.
fn before_bystander(stage: &Stage, messages: usize, what: impl Fn() -> Do) -> usize {
    let (busy, bystander) = (stage.writer(0), stage.writer(1));
    (0..messages).for_each(|_| busy.tell(what()));
    bystander.tell(Do::Nothing);
    let diary = stage.open(messages + 1);
    diary.iter().position(|&number| number == 1).expect("the bystander ran")
}

#[test]
fn an_actor_handles_a_throughput_of_messages_and_then_the_others_have_their_turn() {
    each_stage(|stage| {
        let first = |set| before_bystander(&stage(set), 100, || Do::Nothing);
        assert_eq!(first(|builder| builder), 64, "the default");
        assert_eq!(first(|builder| builder.throughput(5)), 5);
        assert_eq!(first(|builder| builder.throughput(1)), 1);
        assert_eq!(first(|builder| builder.throughput(1_000)), 100, "no more than it has");
    });
}

#[test]
fn an_actor_handles_no_more_in_a_row_than_were_queued_when_it_began() {
    each_stage(|stage| {
        let stage = stage(|builder| builder);
        let (busy, bystander) = (stage.writer(0), stage.writer(1));
        (0..3).for_each(|_| busy.tell(Do::Again));
        bystander.tell(Do::Nothing);
        let diary = stage.open(10);
        assert_eq!(diary[..4], [0, 0, 0, 1], "what it tells itself waits for its next turn");
    });
}

#[test]
fn a5_a_row_of_messages_ends_at_its_deadline_read_after_every_16() {
    each_stage(|stage| {
        let nanosecond: fn(Builder) -> Builder = |b| b.throughput_deadline(Duration::from_nanos(1));
        let work = || Do::Work(Duration::from_nanos(10));
        assert_eq!(
            before_bystander(&stage(nanosecond), 100, work),
            16,
            "it is over when it is looked at first"
        );
        let never: fn(Builder) -> Builder = |b| b.throughput_deadline(Duration::MAX);
        assert_eq!(before_bystander(&stage(never), 100, work), 64);
        let both: fn(Builder) -> Builder = |b| b.throughput(10).throughput_deadline(Duration::from_nanos(1));
        assert_eq!(before_bystander(&stage(both), 100, work), 10, "the throughput comes first");
    });
}

#[test]
fn a5_in_virtual_time_the_deadline_counts_the_work_charged() {
    let first = |deadline_ms, work_ms| {
        let builder = ActorSystem::builder("a5").stepper();
        let stage = Stage::new(builder.throughput_deadline(Duration::from_millis(deadline_ms)));
        before_bystander(&stage, 100, || Do::Work(Duration::from_millis(work_ms)))
    };
    assert_eq!(first(5, 1), 16);
    assert_eq!(first(16, 1), 16, "16 messages of 1 ms take 16 ms");
    assert_eq!(first(17, 1), 32, "after 16 there is 1 ms left");
    assert_eq!(first(40, 1), 48);
    assert_eq!(first(5, 0), 64, "free work never lasts");
    assert_eq!(first(0, 1), 64, "zero means never");
}

/// Of each actor: between two of its runs no other one runs more than twice `batch` times.
fn check_waits(diary: &[usize], actors: usize, batch: usize) {
    for one in 0..actors {
        let mut others = vec![0; actors];
        let mut seen = false;
        for &ran in diary {
            if ran == one {
                others.fill(0);
                seen = true;
            } else if seen {
                others[ran] += 1;
                assert!(
                    others[ran] <= 2 * batch,
                    "{ran} ran {} times while {one} waited; batches of {batch}: {diary:?}",
                    others[ran]
                );
            }
        }
        assert!(seen, "{one} ran");
    }
}

#[test]
fn who_is_always_ready_waits_for_two_batches_of_each_other_one_at_most() {
    each_stage(|stage| {
        let stage = stage(|builder| builder);
        (0..6).for_each(|number| stage.writer(number).tell(Do::Again));
        check_waits(&stage.open(2_000), 6, 1);
    });
}

#[test]
fn a_pair_that_wakes_each_other_runs_three_times_in_a_row_at_most_while_others_wait() {
    each_stage(|stage| {
        let stage = stage(|builder| builder);
        let pair = (stage.writer(0), stage.writer(1));
        (2..6).for_each(|number| stage.writer(number).tell(Do::Again));
        pair.0.tell(Do::Bounce(pair.1));
        let diary = stage.open(2_000);
        let mut row = 0;
        for (at, &number) in diary.iter().enumerate() {
            row = if number < 2 { row + 1 } else { 0 };
            // Of one in the ring there is one run more: the run that begins the row is none of the slot's.
            assert!(row <= 4, "a row of {row} that ends at {at}: {:?}", &diary[..=at]);
        }
        // The pair has one ball: each of the two is ready only now and then. All others are always.
        let others: Vec<usize> = diary.iter().filter(|&&n| n >= 2).map(|n| n - 2).collect();
        check_waits(&others, 4, 1);
        for waiting in 2..6 {
            let (mut seen, mut runs) = (false, [0, 0]);
            for &ran in &diary {
                match ran {
                    _ if ran == waiting => (seen, runs) = (true, [0, 0]),
                    0 | 1 if seen => runs[ran] += 1,
                    _ => {}
                }
                assert!(runs.iter().all(|&n| n <= 2), "{runs:?} while {waiting} waited");
            }
        }
    });
}

#[test]
fn what_comes_from_outside_waits_for_two_batches_of_each_busy_actor_at_most() {
    for throughput in [1, 5, 64] {
        each_stage(|stage| {
            let set: fn(Builder) -> Builder = match throughput {
                1 => |builder| builder.throughput(1),
                5 => |builder| builder.throughput(5),
                _ => |builder| builder,
            };
            let stage = stage(set);
            let (busy, late) = (5, [5, 6, 7]);
            let actors: Vec<_> = (0..busy).map(|number| stage.writer(number)).collect();
            let outside: Vec<_> = late.map(|number| stage.writer(number)).into();
            // Each has always a full batch and more.
            actors.iter().for_each(|actor| (0..2 * throughput).for_each(|_| actor.tell(Do::Again)));
            // At some moment one of them brings three others to life who were idle.
            outside.into_iter().for_each(|other| actors[2].tell(Do::TellFromOutside(other)));
            let diary = stage.open(40 * throughput * busy);
            for number in late {
                let ran = diary.iter().position(|&n| n == number).expect("it ran");
                // The one told last was told by the third message after the batch of actor 2; count from there.
                let told = diary[..ran].iter().enumerate().filter(|(_, n)| **n == 2).map(|(at, _)| at);
                let told = told.take(2 * throughput + number - 4).last().expect("actor 2 ran");
                for other in 0..busy {
                    let between = diary[told..ran].iter().filter(|&&n| n == other).count();
                    assert!(
                        between <= 2 * throughput,
                        "throughput {throughput}: {other} ran {between} times while {number} waited"
                    );
                }
            }
        });
    }
}

#[test]
fn a_busy_worker_looks_for_what_comes_from_outside_after_61_activations() {
    each_stage(|stage| {
        let stage = stage(|builder| builder);
        // Activations of one message each, so that no throughput is ever used up; the message from outside comes first.
        let (busy, other) = (stage.writer(0), stage.writer(1));
        busy.tell(Do::TellFromOutside(other));
        busy.tell(Do::Again);
        stage.writer(2).tell(Do::Again);
        let diary = stage.open(200);
        let ran = diary.iter().position(|&number| number == 1).expect("the other ran");
        assert!(ran <= 64, "after {ran} messages");
    });
}

/// Works and tells itself again, for ever.
struct Restless {
    runs: Arc<AtomicU64>,
}

impl Actor for Restless {
    type Msg = ();

    fn receive(&mut self, cx: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        cx.work(Duration::from_micros(250));
        let me = cx.myself();
        cx.tell(&me, ());
        Ok(())
    }
}

#[test]
fn always_ready_actors_on_several_workers_differ_by_a_factor_of_two_at_most() {
    for (workers, actors) in [(2, 8), (4, 16), (4, 17), (4, 23)] {
        for seed in 0..2 {
            let builder = ActorSystem::builder("even").stepper().workers(workers).seed(seed).log(Level::Off);
            let builder = if seed == 0 { builder } else { builder.seeded_order() };
            let system = builder.build().expect("good settings");
            let runs: Vec<_> = (0..actors).map(|_| Arc::new(AtomicU64::new(0))).collect();
            for runs in &runs {
                let runs = runs.clone();
                let actor = Props::new(move || Restless { runs: runs.clone() });
                system.spawn("", actor).expect("a child").tell(());
            }
            system.run_for(Duration::from_secs(1));
            let all: Vec<u64> = runs.iter().map(|runs| runs.load(Ordering::Relaxed)).collect();
            let (least, most) = (all.iter().min().expect("some"), all.iter().max().expect("some"));
            assert!(*most <= 2 * least, "{workers} workers, seed {seed}: {all:?}");
            let workers_of_default = &system.snapshot().dispatchers[0].workers;
            assert!(workers_of_default.iter().all(|worker| worker.busy_ns >= 990_000_000), "all are busy");
        }
    }
}
