//! Promises of several dispatchers in one system: who runs where, who waits for whom, and which threads there are.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient, SpawnError};
use footlights::observe::{EventKind, Level, Lint};
use footlights::pattern::TaskError;
use footlights::system::{ActorSystem, BuildError, Builder, CostModel, DispatcherSettings};
use footlights::testkit::{Probe, on_each_dispatcher};
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);

type Script = Box<dyn FnOnce(&mut Context<'_, Doer>) -> Result<(), Failure> + Send>;

/// Does as it is told; says what comes back.
struct Doer {
    out: Recipient<Said>,
}

/// A result, and when it came.
type Said = (Result<u64, TaskError>, Instant);

enum Msg {
    Run(Script),
    Result(Result<u64, TaskError>),
}

impl Actor for Doer {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Run(script) => return script(cx),
            Msg::Result(result) => self.out.tell((result, cx.now())),
        }
        Ok(())
    }
}

fn props(probe: &Probe<Said>) -> Props<Doer> {
    let out = probe.recipient();
    Props::new(move || Doer { out: out.clone() })
}

fn run(
    actor: &ActorRef<Msg>,
    script: impl FnOnce(&mut Context<'_, Doer>) -> Result<(), Failure> + Send + 'static,
) {
    actor.tell(Msg::Run(Box::new(script)));
}

fn doer(system: &ActorSystem, probe: &Probe<Said>, dispatcher: &str) -> ActorRef<Msg> {
    system.spawn("", props(probe).dispatcher(dispatcher)).expect("a child")
}

fn stepper() -> Builder {
    ActorSystem::builder("named").stepper()
}

fn at(ms: u32) -> Instant {
    Instant::ZERO + MS * ms
}

/// Blocks for 100 ms and says 1.
fn block(actor: &ActorRef<Msg>) {
    run(actor, |cx| {
        cx.block(MS * 100);
        let me = cx.myself();
        cx.tell(&me, Msg::Result(Ok(1)));
        Ok(())
    });
}

/// Gives when each result comes, in virtual time.
fn times(system: &ActorSystem, probe: &Probe<Said>, n: usize) -> Vec<Instant> {
    (0..n).map(|_| probe.expect(system).1).collect()
}

#[test]
fn the_actors_of_one_dispatcher_do_not_wait_for_those_of_another() {
    let builder = stepper().workers(2).dispatcher("back", DispatcherSettings::pool(1));
    let system = builder.build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    // Two that block occupy both workers of the default dispatcher; the third of them waits, the one behind does not.
    (0..3).for_each(|_| block(&doer(&system, &probe, "default")));
    run(&doer(&system, &probe, "back"), |cx| {
        let me = cx.myself();
        cx.tell(&me, Msg::Result(Ok(2)));
        Ok(())
    });
    system.run_until(at(99));
    assert_eq!(system.snapshot().dispatchers[0].workers.iter().filter(|w| w.running).count(), 2);
    system.run_for(Duration::from_secs(1));
    let seen: Vec<_> = probe.take().into_iter().map(|(result, at)| (result.expect("a number"), at)).collect();
    assert_eq!(seen, [(2, at(0)), (1, at(100)), (1, at(100)), (1, at(200))]);
}

#[test]
fn on_a_pool_the_threads_of_one_dispatcher_do_not_wait_for_those_of_another() {
    let builder = ActorSystem::builder("named").pool().workers(1);
    let system = builder.dispatcher("back", DispatcherSettings::pool(1)).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let came = Arc::new(AtomicBool::new(false));
    let (sets, waits) = (came.clone(), came.clone());
    // The default dispatcher's one thread is kept until the other dispatcher's actor has run.
    run(&doer(&system, &probe, "default"), move |_| {
        while !waits.load(Ordering::SeqCst) {
            std::hint::spin_loop();
        }
        Ok(())
    });
    run(&doer(&system, &probe, "back"), move |_| {
        sets.store(true, Ordering::SeqCst);
        Ok(())
    });
    wait_until(&system, "the actor behind", || came.load(Ordering::SeqCst));
    system.shutdown(Duration::from_secs(10)).expect("an end");
}

#[test]
fn a_child_runs_on_the_default_dispatcher_unless_its_props_say_where() {
    let builder = stepper().workers(1).dispatcher("back", DispatcherSettings::pool(1));
    let system = builder.build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let (plain, named) = (props(&probe), props(&probe).dispatcher("back"));
    run(&doer(&system, &probe, "back"), move |cx| {
        cx.spawn("plain", plain)?;
        cx.spawn("named", named)?;
        Ok(())
    });
    let activations = |dispatcher: usize| {
        let snapshot = system.snapshot();
        snapshot.dispatchers[dispatcher].workers.iter().map(|worker| worker.activations).sum::<u64>()
    };
    system.run_until_quiet(100);
    // The default dispatcher ran the three guardians, the probe, and the plain child; the other one parent and child.
    let before = (activations(0), activations(2));
    let told = |path: &str| system.find(path).expect("it lives").stop();
    told("/user/$1/plain");
    system.run_until_quiet(100);
    assert!(
        activations(0) > before.0 && activations(2) == before.1 + 1,
        "the parent alone hears of it behind"
    );
}

#[test]
fn an_unknown_dispatcher_is_an_error_and_nothing_is_made() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let error =
            system.spawn("lost", props(&probe).dispatcher("nowhere")).expect_err("no such dispatcher");
        assert_eq!(error, SpawnError::NoDispatcher("nowhere".to_owned()));
        assert_eq!(error.to_string(), "the system has no dispatcher \"nowhere\"");
        assert!(system.spawn("lost", props(&probe)).is_ok(), "the name is free");
    });
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let pool = || DispatcherSettings::pool(2);
    let refused = |builder: Builder| builder.build().expect_err("bad settings").to_string();
    let name = "\"default\" is no free name for a dispatcher";
    assert_eq!(refused(stepper().dispatcher("default", pool())), name);
    assert!(matches!(
        stepper().dispatcher("a", pool()).dispatcher("a", pool()).build(),
        Err(BuildError::DispatcherName(name)) if name == "a"
    ));
    assert!(matches!(stepper().dispatcher("", pool()).build(), Err(BuildError::DispatcherName(_))));
    assert!(matches!(stepper().dispatcher("pinned", pool()).build(), Err(BuildError::DispatcherKind(_))));
    let kind = "the dispatcher \"blocking\" is of another kind";
    assert_eq!(refused(stepper().dispatcher("blocking", pool())), kind);
    let workers = stepper().dispatcher("a", DispatcherSettings::pool(65)).build();
    assert!(matches!(workers, Err(BuildError::Workers(65))));
    let throughput = stepper().dispatcher("a", pool().throughput(0)).build();
    assert!(matches!(throughput, Err(BuildError::Throughput)));
    assert!(stepper().dispatcher("blocking", DispatcherSettings::blocking(2)).build().is_ok());
}

#[test]
fn each_dispatcher_has_its_own_throughput_and_deadline() {
    let settings = [
        ("five", DispatcherSettings::pool(1).throughput(5), 5),
        ("late", DispatcherSettings::pool(1).throughput_deadline(MS * 20), 32),
        ("waits", DispatcherSettings::blocking(1), 1),
    ];
    for (name, settings, expected) in settings {
        let system = stepper().dispatcher(name, settings).build().expect("good settings");
        let probe = Probe::new(&system, "probe");
        let (busy, bystander) = (doer(&system, &probe, name), doer(&system, &probe, name));
        system.run_until_quiet(100);
        let handled = Arc::new(AtomicU64::new(0));
        for _ in 0..100 {
            let handled = handled.clone();
            run(&busy, move |cx| {
                cx.work(MS);
                handled.fetch_add(1, Ordering::Relaxed);
                Ok(())
            });
        }
        let seen = Arc::new(AtomicU64::new(0));
        let sees = seen.clone();
        run(&bystander, move |_| {
            sees.store(handled.load(Ordering::Relaxed), Ordering::Relaxed);
            Ok(())
        });
        system.run_for(Duration::from_secs(1));
        assert_eq!(seen.load(Ordering::Relaxed), expected, "{name}");
    }
}

#[test]
fn messages_keep_their_order_from_one_dispatcher_to_another() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let last = doer(system, &probe, "pinned");
        let to = last.clone();
        let middle = doer(system, &probe, "blocking");
        let first = doer(system, &probe, "default");
        run(&first, move |cx| {
            for n in 0..200 {
                let to = to.clone();
                let pass: Script = Box::new(move |cx: &mut Context<'_, Doer>| {
                    cx.tell(&to, Msg::Result(Ok(n)));
                    Ok(())
                });
                cx.tell(&middle, Msg::Run(pass));
            }
            Ok(())
        });
        for n in 0..200 {
            assert_eq!(probe.expect(system).0, Ok(n));
        }
    });
}

#[test]
fn a_pinned_actor_has_a_worker_of_its_own_from_its_spawn_to_its_end() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let workers = || {
            let all = system.snapshot().dispatchers;
            all.iter()
                .filter(|one| one.name.starts_with("pinned-"))
                .map(|one| one.workers.len())
                .sum::<usize>()
        };
        assert_eq!(workers(), 0);
        let actors = [doer(system, &probe, "pinned"), doer(system, &probe, "pinned")];
        assert_eq!(workers(), 2);
        run(&actors[0], |_| Err(Failure::new("planned", "on request")));
        run(&actors[0], |cx| {
            let me = cx.myself();
            let restarted = u64::from(cx.incarnation());
            cx.tell(&me, Msg::Result(Ok(restarted)));
            Ok(())
        });
        assert_eq!(probe.expect(system).0, Ok(2), "its second instance");
        assert_eq!(workers(), 2, "a restart keeps the worker");
        for actor in actors {
            probe.watch(system, &actor.any());
            actor.stop();
            probe.expect_terminated(system);
        }
        wait_until(system, "no worker left", || workers() == 0);
    });
}

#[test]
fn pinned_actors_run_beside_each_other_and_beside_the_others_in_virtual_time() {
    let system = stepper().workers(1).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let actors: Vec<_> = (0..3).map(|_| doer(&system, &probe, "pinned")).collect();
    actors.iter().for_each(block);
    block(&doer(&system, &probe, "default"));
    assert_eq!(times(&system, &probe, 4), [at(100); 4]);
    let turns = actors.len() + 1;
    assert!(system.snapshot().turns as usize > turns);
}

#[test]
fn the_tasks_of_a_pinned_actor_run_on_its_worker_and_end_with_it() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = doer(system, &probe, "pinned");
        run(&actor, |cx| {
            cx.pipe_to_self(async { 1 }, Msg::Result);
            cx.spawn_task(|_| 2, Msg::Result);
            Ok(())
        });
        let mut both = [probe.expect(system).0, probe.expect(system).0];
        both.sort_by_key(|result| result.clone().unwrap_or(0));
        assert_eq!(both, [Ok(1), Ok(2)]);
        let dropped = Arc::new(AtomicBool::new(false));
        let flag = SaysWhenDropped(dropped.clone());
        run(&actor, move |cx| {
            let never = async move {
                let _flag = flag;
                std::future::pending::<u64>().await
            };
            cx.pipe_to_self(never, Msg::Result);
            cx.stop();
            Ok(())
        });
        wait_until(system, "the future to be dropped", || dropped.load(Ordering::SeqCst));
    });
}

struct SaysWhenDropped(Arc<AtomicBool>);

impl Drop for SaysWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_blocking_job_gives_its_result_and_keeps_nobody_waiting() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = doer(system, &probe, "default");
        run(&actor, |cx| {
            cx.spawn_blocking(
                |cx| {
                    cx.block(MS);
                    7
                },
                Msg::Result,
            );
            Ok(())
        });
        assert_eq!(probe.expect(system).0, Ok(7));
    });
}

#[test]
fn sixteen_blocking_jobs_run_at_once_in_virtual_time() {
    let system = stepper().workers(1).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let actor = doer(&system, &probe, "default");
    run(&actor, |cx| {
        for n in 0..20 {
            cx.spawn_blocking(
                move |cx| {
                    cx.block(MS * 100);
                    n
                },
                Msg::Result,
            );
        }
        let me = cx.myself();
        cx.tell(&me, Msg::Result(Ok(99)));
        Ok(())
    });
    let times = times(&system, &probe, 21);
    assert_eq!(times[0], at(0), "the one worker of the default dispatcher is free");
    assert_eq!(times[1..17], [at(100); 16]);
    assert_eq!(times[17..], [at(200); 4]);
}

#[test]
fn a_blocking_job_too_many_is_refused_and_a_cancelled_one_makes_room() {
    let few = |builder: Builder| {
        let builder = builder.dispatcher("blocking", DispatcherSettings::blocking(1)).blocking_queue(2);
        builder.build().expect("good settings")
    };
    for system in [few(stepper()), few(ActorSystem::builder("named").pool().workers(2))] {
        let probe = Probe::new(&system, "probe");
        let actor = doer(&system, &probe, "default");
        let (begun, open) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(system.is_stepper())));
        let (begins, opens) = (begun.clone(), open.clone());
        run(&actor, move |cx| {
            let job = move |_: &mut _| {
                begins.store(true, Ordering::SeqCst);
                while !opens.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
                0
            };
            cx.spawn_blocking(job, Msg::Result);
            Ok(())
        });
        wait_until(&system, "the first job", || begun.load(Ordering::SeqCst));
        run(&actor, |cx| {
            let one = cx.spawn_blocking(|_| 1, Msg::Result);
            cx.spawn_blocking(|_| 2, Msg::Result);
            let refused = cx.spawn_blocking(|_| 3, Msg::Result);
            assert!(!refused.cancel(), "it has ended");
            assert!(one.cancel());
            cx.spawn_blocking(|_| 4, Msg::Result);
            Ok(())
        });
        let mut results = Vec::new();
        (0..2).for_each(|_| results.push(probe.expect(&system).0));
        open.store(true, Ordering::SeqCst);
        (0..3).for_each(|_| results.push(probe.expect(&system).0));
        let errors: Vec<_> = results.iter().filter_map(|result| result.clone().err()).collect();
        assert_eq!(errors, [TaskError::PoolFull, TaskError::Cancelled]);
        let numbers: Vec<_> = results.iter().filter_map(|result| result.clone().ok()).collect();
        assert_eq!(numbers.iter().sum::<u64>(), 6, "the first, the second and the last: {numbers:?}");
        let text = TaskError::PoolFull.to_string();
        assert_eq!(text, "too many blocking jobs wait for a thread");
    }
}

/// Counts the threads of this process whose names begin so (Linux keeps 15 letters of a name).
#[cfg(target_os = "linux")]
fn threads(prefix: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("a list of threads");
    let name =
        |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.flatten().map(name).filter(|name| name.starts_with(prefix)).count()
}

#[test]
#[cfg(target_os = "linux")]
fn threads_come_when_they_are_needed_and_none_is_left() {
    let system = ActorSystem::builder("thr").pool().workers(2).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    assert_eq!((threads("thr-blocking"), threads("thr-pinned")), (0, 0), "nobody needs one yet");
    let (inside, open) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let actor = doer(&system, &probe, "default");
    for _ in 0..3 {
        let (inside, open) = (inside.clone(), open.clone());
        run(&actor, move |cx| {
            let job = move |_: &mut _| {
                inside.fetch_add(1, Ordering::SeqCst);
                while !open.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                1
            };
            cx.spawn_blocking(job, Msg::Result);
            Ok(())
        });
    }
    wait_until(&system, "three jobs at once", || inside.load(Ordering::SeqCst) == 3);
    assert!((3..=16).contains(&threads("thr-blocking")), "a thread for each");
    open.store(true, Ordering::SeqCst);
    let pinned: Vec<_> = (0..5).map(|_| doer(&system, &probe, "pinned")).collect();
    wait_until(&system, "a thread for each pinned actor", || threads("thr-pinned") == 5);
    pinned[..2].iter().for_each(ActorRef::stop);
    wait_until(&system, "two threads to end", || threads("thr-pinned") == 3);
    system.shutdown(Duration::from_secs(10)).expect("an end");
    drop(system);
    assert_eq!(threads("thr-"), 0, "of any kind");
}

#[test]
fn a_system_ends_with_pinned_and_blocking_actors_in_it() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        for dispatcher in ["pinned", "blocking", "default"] {
            let (parent, child) = (doer(system, &probe, dispatcher), props(&probe).dispatcher("pinned"));
            run(&parent, move |cx| {
                cx.spawn("child", child)?;
                let me = cx.myself();
                cx.tell(&me, Msg::Result(Ok(0)));
                Ok(())
            });
            assert_eq!(probe.expect(system).0, Ok(0));
        }
    });
}

/// Gives the events of slow runs and lints.
fn noticed(system: &ActorSystem) -> Vec<EventKind> {
    let kinds = system.rare_events(0).0.into_iter().map(|event| event.kind);
    let of_interest = |kind: &EventKind| {
        matches!(kind, EventKind::SlowHandler { .. } | EventKind::LintRaised { .. } | EventKind::ClockPushed)
    };
    kinds.filter(of_interest).collect()
}

#[test]
fn a_run_over_100_ms_is_noticed_each_time_and_is_a_lint_once() {
    let system = stepper().build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let actor = doer(&system, &probe, "default");
    for ms in [100, 101, 150] {
        run(&actor, move |cx| {
            cx.work(MS * ms);
            Ok(())
        });
    }
    system.run_for(Duration::from_secs(1));
    let slow = |ms: u64| EventKind::SlowHandler { took_ns: ms * 1_000_000 };
    let lint = EventKind::LintRaised { lint: Lint::SlowHandler, ns: 101_000_000 };
    assert_eq!(noticed(&system), [slow(101), lint, slow(150)]);
    assert!(Lint::SlowHandler.why().contains("100 ms"));
}

#[test]
fn on_a_pool_a_run_over_100_ms_is_noticed_whatever_it_does() {
    let system = ActorSystem::builder("slow").pool().workers(2).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let actor = doer(&system, &probe, "default");
    run(&actor, |cx| {
        // Neither `work` nor `block` says that it takes long. Much more than the limit, since beats may be missed.
        let end = cx.now() + MS * 1_000;
        while cx.now() < end {
            std::hint::spin_loop();
        }
        Ok(())
    });
    wait_until(&system, "the news", || noticed(&system).len() == 2);
    match noticed(&system)[..] {
        [EventKind::SlowHandler { took_ns }, EventKind::LintRaised { lint: Lint::SlowHandler, ns }] => {
            assert!(took_ns >= 100_000_000 && ns == took_ns, "{took_ns}");
        }
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn on_a_pool_many_quick_runs_are_not_one_slow_one() {
    let system = ActorSystem::builder("quick").pool().workers(1).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let actor = doer(&system, &probe, "default");
    let longest = Arc::new(AtomicU64::new(0));
    for _ in 0..100 {
        let longest = longest.clone();
        run(&actor, move |cx| {
            let began = cx.now();
            cx.work(MS * 2);
            longest.fetch_max((cx.now() - began).as_nanos() as u64, Ordering::Relaxed);
            Ok(())
        });
    }
    wait_until(&system, "the last run", || actor.queued() == 0);
    // An activation of 128 ms in runs of 2 ms; only a machine that halts this thread for so long makes one of them slow.
    let slow = |kind: &EventKind| match kind {
        EventKind::SlowHandler { took_ns } => *took_ns > longest.load(Ordering::Relaxed),
        _ => false,
    };
    assert!(!noticed(&system).iter().any(slow), "{:?}, longest {longest:?}", noticed(&system));
}

#[test]
fn to_block_is_a_lint_where_others_share_the_worker_and_nowhere_else() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let lints = || noticed(system).iter().filter(|k| matches!(k, EventKind::LintRaised { .. })).count();
        for (dispatcher, expected) in [("pinned", 0), ("blocking", 0), ("default", 1)] {
            let actor = doer(system, &probe, dispatcher);
            for _ in 0..2 {
                run(&actor, |cx| {
                    cx.block(Duration::from_micros(10));
                    let me = cx.myself();
                    cx.tell(&me, Msg::Result(Ok(0)));
                    Ok(())
                });
                assert_eq!(probe.expect(system).0, Ok(0));
            }
            assert_eq!(lints(), expected, "{dispatcher}");
        }
        let lint = EventKind::LintRaised { lint: Lint::BlockOnShared, ns: 10_000 };
        assert_eq!(noticed(system), [lint]);
        assert!(Lint::BlockOnShared.why().contains("spawn_blocking"));
    });
}

#[test]
fn w1_the_push_of_the_clock_is_told_once_until_there_is_an_idle_moment() {
    let system = stepper().workers(1).log(Level::Rare).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let actor = doer(&system, &probe, "default");
    for round in 1..=2 {
        (0..100_100).for_each(|_| run(&actor, |_| Ok(())));
        system.run_until_quiet(200_000);
        assert_eq!(noticed(&system), vec![EventKind::ClockPushed; round]);
        system.run_for(MS);
    }
}

#[test]
fn overheads_have_their_price_in_virtual_time() {
    let costs = CostModel::free()
        .activation(Duration::from_micros(10))
        .message(Duration::from_micros(1))
        .task(Duration::from_micros(100));
    let system = stepper().workers(1).costs(costs).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let actor = doer(&system, &probe, "default");
    system.run_until_quiet(100);
    let start = system.now();
    (0..3).for_each(|_| run(&actor, |_| Ok(())));
    system.run_until_quiet(100);
    assert_eq!(system.now() - start, Duration::from_micros(13));
    let start = system.now();
    run(&actor, |cx| {
        cx.spawn_blocking(|_| 0, Msg::Result);
        Ok(())
    });
    // The run, the job with the price of a task, and the run that takes its result.
    assert_eq!(probe.expect(&system).1 - start, Duration::from_micros(11 + 111 + 11));
    let free = stepper().build().expect("good settings");
    let probe = Probe::new(&free, "probe");
    run(&doer(&free, &probe, "default"), |_| Ok(()));
    free.run_until_quiet(100);
    assert_eq!(free.now(), Instant::ZERO);
}

#[test]
fn a_snapshot_tells_what_each_worker_has_done() {
    let builder = stepper().workers(2).dispatcher("back", DispatcherSettings::pool(1));
    let system = builder.build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let actors: Vec<_> = (0..3).map(|_| doer(&system, &probe, "back")).collect();
    system.run_until_quiet(100);
    actors.iter().for_each(block);
    assert_eq!(system.snapshot().dispatchers[2].injector, 3);
    system.run_until(at(150));
    let snapshot = system.snapshot();
    let back = &snapshot.dispatchers[2];
    assert_eq!((&*back.name, back.workers.len()), ("back", 1));
    let worker = &back.workers[0];
    assert_eq!(
        back.injector + worker.ring,
        2,
        "the third one, and the first, which has told itself what to say"
    );
    assert!(worker.running && worker.activations >= 5);
    assert_eq!(worker.busy_ns, 200_000_000, "two runs are paid for");
    system.run_until(at(1_000));
    let worker = &system.snapshot().dispatchers[2].workers[0];
    assert_eq!((worker.running, worker.ring, worker.busy_ns), (false, 0, 300_000_000));
}
