//! Promises of virtual time: work has a price, k workers do k jobs at once, and nothing is seen before it was sent.

use std::sync::{Arc, Weak};
use std::time::Duration;

use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient};
use footlights::observe::EventKind;
use footlights::supervise::FailureKind;
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_steppers};
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);

fn at(ms: u64) -> Instant {
    Instant::ZERO + MS * u32::try_from(ms).expect("a small number")
}

fn stepper(workers: usize) -> ActorSystem {
    ActorSystem::builder("virtual").stepper().workers(workers).build().expect("good settings")
}

/// What happened, when it was seen by the probe's clock, and when its sender says it was.
type Seen = (&'static str, Instant);

/// Does what it is told and reports it.
struct Doer {
    out: Recipient<Seen>,
}

#[derive(Clone)]
enum Do {
    /// Work, then say so.
    Work(Duration),
    /// Occupy the worker, then say so.
    Block(Duration),
    /// Say it at once.
    Say(&'static str),
    /// Tell `0` first, then work for so long, then tell `1`.
    Around(ActorRef<Do>, Duration),
    /// Tell oneself before the work, and work.
    TellOneselfAndWork(Duration),
    /// Tell another, which lands in this worker's slot, then occupy the worker.
    TellAndBlock(ActorRef<Do>, Duration),
    /// Tell another this message, for ever.
    PingPong(Option<ActorRef<Do>>),
    /// Set a timer.
    Timer(Duration),
}

impl Actor for Doer {
    type Msg = Do;

    fn receive(&mut self, cx: &mut Context<'_, Self>, what: Do) -> Result<(), Failure> {
        match what {
            Do::Work(d) => {
                self.out.tell(("began", cx.now()));
                cx.work(d);
                self.out.tell(("worked", cx.now()));
            }
            Do::Block(d) => {
                self.out.tell(("began", cx.now()));
                cx.block(d);
                self.out.tell(("blocked", cx.now()));
            }
            Do::Say(text) => self.out.tell((text, cx.now())),
            Do::Around(target, d) => {
                cx.tell(&target, Do::Say("before"));
                cx.work(d);
                cx.tell(&target, Do::Say("after"));
                self.out.tell(("done", cx.now()));
            }
            Do::TellOneselfAndWork(d) => {
                let me = cx.myself();
                cx.tell(&me, Do::Say("next run"));
                cx.work(d);
            }
            Do::TellAndBlock(target, d) => {
                cx.tell(&target, Do::Say("from the slot"));
                cx.block(d);
            }
            Do::PingPong(Some(other)) => {
                let me = cx.myself();
                cx.tell(&other, Do::PingPong(Some(me)));
            }
            Do::PingPong(None) => {}
            Do::Timer(d) => cx.timers().once("t", d, Do::Say("timer")),
        }
        Ok(())
    }
}

fn doer(system: &ActorSystem, probe: &Probe<Seen>, name: &str) -> ActorRef<Do> {
    let out = probe.recipient();
    system.spawn(name, Props::new(move || Doer { out: out.clone() })).expect("a free name")
}

/// Runs for a second and gives all that was seen, in order.
fn all_seen(system: &ActorSystem, probe: &Probe<Seen>) -> Vec<Seen> {
    system.run_for(Duration::from_secs(1));
    probe.take()
}

#[test]
fn what_is_sent_after_work_is_visible_that_much_later() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let (a, b) = (doer(system, &probe, "a"), doer(system, &probe, "b"));
        a.tell(Do::Around(b.clone(), MS * 10));
        let seen = all_seen(system, &probe);
        let of = |text| seen.iter().position(|seen| seen.0 == text).expect("all is seen");
        let (before, after) = (of("before"), of("after"));
        assert!(before < after, "in the order of sending: {seen:?}");
        assert_eq!((seen[after].1, seen[of("done")].1), (at(10), at(10)));
    });
}

#[test]
fn with_two_workers_what_is_sent_before_work_is_seen_at_once() {
    let system = stepper(2);
    let probe = Probe::new(&system, "probe");
    let (a, b) = (doer(&system, &probe, "a"), doer(&system, &probe, "b"));
    a.tell(Do::Around(b, MS * 10));
    assert_eq!(all_seen(&system, &probe), [("before", at(0)), ("done", at(10)), ("after", at(10))]);
}

#[test]
fn the_runs_of_one_actor_never_overlap_however_many_workers_are_free() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let a = doer(system, &probe, "a");
        (0..3).for_each(|_| a.tell(Do::Work(MS * 10)));
        // One more while the first is at work, by an idle moment of the queue.
        system.run_until(at(5));
        a.tell(Do::Work(MS * 10));
        let expected: Vec<Seen> =
            (0..4).flat_map(|n| [("began", at(10 * n)), ("worked", at(10 * n + 10))]).collect();
        assert_eq!(all_seen(system, &probe), expected);
    });
}

#[test]
fn a_message_to_oneself_waits_for_the_end_of_the_run_that_sent_it() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let a = doer(system, &probe, "a");
        a.tell(Do::TellOneselfAndWork(MS * 10));
        assert_eq!(all_seen(system, &probe), [("next run", at(10))]);
    });
}

#[test]
fn a_message_that_comes_while_an_actor_works_waits_for_it() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let a = doer(system, &probe, "a");
        a.tell(Do::Work(MS * 10));
        system.run_until(at(4));
        a.tell(Do::Say("later"));
        assert_eq!(all_seen(system, &probe), [("began", at(0)), ("worked", at(10)), ("later", at(10))]);
    });
}

#[test]
fn a_stop_that_comes_while_an_actor_works_waits_for_it() {
    on_steppers(|system| {
        let probe = Probe::<Seen>::new(system, "probe");
        let a = doer(system, &probe, "a");
        probe.watch(system, &a.any());
        a.tell(Do::Work(MS * 10));
        system.run_until(at(4));
        a.stop();
        probe.expect_terminated(system);
        assert_eq!(system.now(), at(10));
    });
}

#[test]
fn k_workers_do_k_jobs_at_once() {
    for workers in [1, 2, 4, 8] {
        let system = stepper(workers);
        let probe = Probe::new(&system, "probe");
        for n in 0..8 {
            doer(&system, &probe, &format!("w{n}")).tell(Do::Work(MS * 10));
        }
        let seen = all_seen(&system, &probe);
        let ends: Vec<Instant> = seen.iter().filter(|s| s.0 == "worked").map(|s| s.1).collect();
        let expected: Vec<Instant> = (0..8).map(|n| at(10 * (n / workers as u64 + 1))).collect();
        assert_eq!(ends, expected, "{workers} workers");
    }
}

#[test]
fn block_occupies_a_worker_as_work_does() {
    for workers in [1, 4] {
        let system = stepper(workers);
        let probe = Probe::new(&system, "probe");
        for n in 0..4 {
            doer(&system, &probe, &format!("w{n}")).tell(Do::Block(MS * 10));
        }
        let seen = all_seen(&system, &probe);
        let last = seen.iter().filter(|s| s.0 == "blocked").map(|s| s.1).max();
        assert_eq!(last, Some(at(40 / workers as u64)), "{workers} workers");
        let snapshot = system.snapshot();
        let blocked: u64 = snapshot.actors.iter().map(|actor| actor.blocked_ns).sum();
        assert_eq!(blocked, 40_000_000);
    }
}

#[test]
fn the_task_in_the_slot_of_a_blocked_worker_is_taken_by_a_free_one() {
    let system = stepper(2);
    let probe = Probe::new(&system, "probe");
    let (a, b) = (doer(&system, &probe, "a"), doer(&system, &probe, "b"));
    system.run_until_quiet(100);
    a.tell(Do::TellAndBlock(b, MS * 100));
    assert_eq!(all_seen(&system, &probe), [("from the slot", at(0))]);
}

#[test]
fn with_one_worker_the_task_in_the_slot_waits_for_the_block() {
    let system = stepper(1);
    let probe = Probe::new(&system, "probe");
    let (a, b) = (doer(&system, &probe, "a"), doer(&system, &probe, "b"));
    system.run_until_quiet(100);
    a.tell(Do::TellAndBlock(b, MS * 100));
    assert_eq!(all_seen(&system, &probe), [("from the slot", at(100))]);
}

#[test]
fn w1_endless_free_work_does_not_stop_a_timer() {
    for workers in [1, 4] {
        let system =
            ActorSystem::builder("zeno").stepper().workers(workers).log(footlights::observe::Level::Rare);
        let system = system.build().expect("good settings");
        let probe = Probe::<Seen>::new(&system, "probe");
        let (a, b) = (doer(&system, &probe, "a"), doer(&system, &probe, "b"));
        let timer = doer(&system, &probe, "timer");
        a.tell(Do::PingPong(Some(b)));
        timer.tell(Do::Timer(MS * 10));
        let limit = 400_000;
        let mut turns = 0;
        while probe.take().is_empty() {
            assert!(turns < limit, "no timer of 10 ms within {limit} turns; it is {:?}", system.now());
            system.step().expect("the game goes on");
            turns += 1;
        }
        assert!(system.now() >= at(10));
    }
}

#[test]
fn free_work_costs_nothing_again_after_an_idle_moment() {
    let system = stepper(1);
    let probe = Probe::<Seen>::new(&system, "probe");
    let a = doer(&system, &probe, "a");
    (0..100_010).for_each(|_| a.tell(Do::PingPong(None)));
    system.run_until_quiet(200_000);
    let pushed = system.now();
    assert!(pushed > Instant::ZERO, "the clock was pushed");
    system.run_for(MS);
    let start = system.now();
    (0..1_000).for_each(|_| a.tell(Do::PingPong(None)));
    system.run_until_quiet(2_000);
    assert_eq!(system.now(), start);
}

#[test]
fn the_clock_jumps_to_the_next_timer_when_nothing_runs() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let a = doer(system, &probe, "a");
        a.tell(Do::Timer(Duration::from_secs(3_600)));
        assert!(system.run_until_quiet(1_000));
        assert_eq!(probe.take(), [("timer", at(3_600_000))]);
    });
}

/// Drives its own system, or asks it about its turns.
struct Meddler {
    system: Weak<ActorSystem>,
}

impl Actor for Meddler {
    type Msg = fn(&ActorSystem);

    fn receive(&mut self, _cx: &mut Context<'_, Self>, meddle: fn(&ActorSystem)) -> Result<(), Failure> {
        meddle(&self.system.upgrade().expect("the test holds it"));
        Ok(())
    }
}

#[test]
fn to_drive_a_system_from_inside_a_turn_is_a_failure_and_no_deadlock() {
    let meddle: [fn(&ActorSystem); 5] = [
        |system| _ = system.next_moment(),
        |system| _ = system.is_quiet(),
        |system| _ = system.step(),
        |system| _ = system.run_for(MS),
        |system| _ = system.run_until_quiet(1),
    ];
    for meddle in meddle {
        let system = Arc::new(stepper(2));
        let weak = Arc::downgrade(&system);
        let meddler = system.spawn("meddler", Props::new(move || Meddler { system: weak.clone() }));
        meddler.expect("a free name").tell(meddle);
        assert!(system.run_until_quiet(1_000));
        let failures: Vec<_> = system
            .rare_events(0)
            .0
            .into_iter()
            .filter_map(|event| match event.kind {
                EventKind::Failed { kind, text, .. } => Some((kind, text)),
                _ => None,
            })
            .collect();
        assert_eq!((failures.len(), failures[0].0), (1, FailureKind::Panic));
        assert!(failures[0].1.contains("from inside"), "it says why: {}", failures[0].1);
    }
}
