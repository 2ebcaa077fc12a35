//! Promises of tasks: a result comes back once, as a message, or is known never to come.

mod common;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use common::{hush_planned_panics, wait_until};
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient};
use footlights::observe::EventKind;
use footlights::pattern::TaskError;
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);

type Outcome = Result<u32, TaskError>;
type Script = Box<dyn FnOnce(&mut Context<'_, Host>) -> Result<(), Failure> + Send>;

struct Host {
    out: Recipient<(Outcome, Instant)>,
}

enum Msg {
    Run(Script),
    Done(Outcome),
}

impl Actor for Host {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Run(script) => return script(cx),
            Msg::Done(outcome) => self.out.tell((outcome, cx.now())),
        }
        Ok(())
    }
}

fn host(system: &ActorSystem, probe: &Probe<(Outcome, Instant)>) -> ActorRef<Msg> {
    let out = probe.recipient();
    system.spawn("host", Props::new(move || Host { out: out.clone() })).expect("a free name")
}

fn run(
    actor: &ActorRef<Msg>,
    script: impl FnOnce(&mut Context<'_, Host>) -> Result<(), Failure> + Send + 'static,
) {
    actor.tell(Msg::Run(Box::new(script)));
}

/// A future that is woken so many times, by itself, before it is ready; it says when it is dropped.
struct Wakes {
    left: u32,
    dropped: Arc<AtomicBool>,
}

impl Future for Wakes {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<u32> {
        if self.left == 0 {
            return Poll::Ready(7);
        }
        self.left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::SeqCst);
    }
}

#[test]
fn the_result_of_a_future_comes_as_one_message() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let host = host(system, &probe);
        let dropped = Arc::new(AtomicBool::new(false));
        let future = Wakes { left: 100, dropped: dropped.clone() };
        run(&host, move |cx| {
            cx.pipe_to_self(future, Msg::Done);
            Ok(())
        });
        assert_eq!(probe.expect(system).0, Ok(7));
        wait_until(system, "the future to be dropped", || dropped.load(Ordering::SeqCst));
        run(&host, |cx| {
            cx.pipe_to_self(async { 8 }, Msg::Done);
            Ok(())
        });
        assert_eq!(probe.expect(system).0, Ok(8), "one message of each");
    });
}

#[test]
fn a_future_may_wait_for_an_answer() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let host = host(system, &probe);
        run(&host, move |cx| {
            let me = cx.myself();
            let answer = async move {
                let ask = me.ask(
                    |reply| {
                        Msg::Run(Box::new(move |_| {
                            reply.send(5);
                            Ok(())
                        }))
                    },
                    Duration::from_secs(5),
                );
                ask.await.unwrap_or(0)
            };
            cx.pipe_to_self(answer, Msg::Done);
            Ok(())
        });
        assert_eq!(probe.expect(system).0, Ok(5));
    });
}

#[test]
fn a_panic_in_a_task_is_its_result() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let host = host(system, &probe);
        run(&host, |cx| {
            cx.pipe_to_self(async { panic!("planned: in a future") }, Msg::Done);
            cx.spawn_task(|_| panic!("planned: in a job"), Msg::Done);
            Ok(())
        });
        let mut texts: Vec<String> = (0..2)
            .map(|_| match probe.expect(system).0 {
                Err(TaskError::Panicked(text)) => text,
                other => panic!("{other:?} is no panic"),
            })
            .collect();
        texts.sort();
        assert_eq!(texts, ["planned: in a future", "planned: in a job"]);
        assert_eq!(host.any().snapshot().incarnation, 1);
    });
}

#[test]
fn a_cancelled_task_says_so_once_and_its_future_is_dropped() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let host = host(system, &probe);
        let dropped = Arc::new(AtomicBool::new(false));
        let kept = Wakes { left: 0, dropped: dropped.clone() };
        run(&host, move |cx| {
            let never = async move {
                std::future::pending::<()>().await;
                kept.await
            };
            let handle = cx.pipe_to_self(never, Msg::Done);
            assert!(handle.cancel());
            assert!(!handle.cancel(), "it has ended");
            Ok(())
        });
        assert_eq!(probe.expect(system).0, Err(TaskError::Cancelled));
        wait_until(system, "the future to be dropped", || dropped.load(Ordering::SeqCst));
        assert_eq!(system.ledger().failed, 0);
    });
}

#[test]
fn a_future_that_nobody_can_wake_can_still_be_cancelled() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let host = host(system, &probe);
        let polled = Arc::new(AtomicBool::new(false));
        let seen = polled.clone();
        run(&host, move |cx| {
            let stuck = async move {
                seen.store(true, Ordering::SeqCst);
                std::future::pending().await
            };
            let handle = cx.pipe_to_self(stuck, Msg::Done);
            let me = cx.myself();
            // Cancelled only when it has been polled and has put itself aside.
            cx.spawn_task(
                move |_| 0,
                move |_| {
                    Msg::Run(Box::new(move |_| {
                        me.tell(Msg::Run(Box::new(move |_| {
                            assert!(handle.cancel());
                            Ok(())
                        })));
                        Ok(())
                    }))
                },
            );
            Ok(())
        });
        assert_eq!(probe.expect(system).0, Err(TaskError::Cancelled));
        assert!(polled.load(Ordering::SeqCst) || !system.is_stepper());
    });
}

#[test]
fn a_stop_of_the_actor_cancels_its_tasks() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let host = host(system, &probe);
        let dropped = Arc::new(AtomicBool::new(false));
        let kept = Wakes { left: 0, dropped: dropped.clone() };
        run(&host, move |cx| {
            let never = async move {
                std::future::pending::<()>().await;
                kept.await
            };
            cx.pipe_to_self(never, Msg::Done);
            cx.stop();
            Ok(())
        });
        wait_until(system, "the future to be dropped", || dropped.load(Ordering::SeqCst));
        wait_until(system, "the end", || system.find("/user/host").is_none());
        assert_eq!(system.dead_letters(), []);
    });
}

#[test]
fn a_restart_of_the_actor_cancels_the_tasks_of_the_old_incarnation() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let host = host(system, &probe);
        let dropped = Arc::new(AtomicBool::new(false));
        let kept = Wakes { left: 0, dropped: dropped.clone() };
        run(&host, move |cx| {
            let never = async move {
                std::future::pending::<()>().await;
                kept.await
            };
            cx.pipe_to_self(never, Msg::Done);
            panic!("planned: a restart");
        });
        wait_until(system, "the future to be dropped", || dropped.load(Ordering::SeqCst));
        run(&host, |cx| {
            cx.pipe_to_self(async { 1 }, Msg::Done);
            Ok(())
        });
        assert_eq!(probe.expect(system).0, Ok(1), "only the new incarnation's task has a result");
    });
}

#[test]
fn a_task_ordered_across_restarts_outlives_them_and_ends_with_a_stop() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let host = host(system, &probe);
        let dropped = Arc::new(AtomicBool::new(false));
        let (kept, gate) = (Wakes { left: 0, dropped: dropped.clone() }, Arc::new(AtomicBool::new(false)));
        let open = gate.clone();
        run(&host, move |cx| {
            let later = std::future::poll_fn(move |cx| {
                cx.waker().wake_by_ref();
                if open.load(Ordering::SeqCst) { Poll::Ready(7) } else { Poll::Pending }
            });
            let never = async move {
                std::future::pending::<()>().await;
                kept.await
            };
            cx.across_restarts(|cx| {
                cx.pipe_to_self(later, Msg::Done);
                cx.pipe_to_self(never, Msg::Done);
            });
            Err(Failure::new("planned", "a restart"))
        });
        wait_until(system, "the restart", || host.any().snapshot().incarnation == 2);
        assert!(!dropped.load(Ordering::SeqCst), "the restart has cancelled it");
        gate.store(true, Ordering::SeqCst);
        assert_eq!(probe.expect(system).0, Ok(7));
        host.stop();
        wait_until(system, "the future to be dropped", || dropped.load(Ordering::SeqCst));
    });
}

#[test]
fn a_panic_in_the_drop_of_a_future_stops_nobody_from_ending() {
    struct Touchy;

    impl Drop for Touchy {
        fn drop(&mut self) {
            panic!("planned: in the drop of a future");
        }
    }

    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::<(Outcome, Instant)>::new(system, "probe");
        let host = host(system, &probe);
        probe.watch(system, &host.any());
        run(&host, |cx| {
            let touchy = Touchy;
            let never = async move {
                std::future::pending::<()>().await;
                drop(touchy);
                1
            };
            cx.pipe_to_self(never, Msg::Done);
            cx.stop();
            Ok(())
        });
        probe.expect_terminated(system);
        let reported = |kind: &EventKind| matches!(kind, EventKind::HookFailed { .. });
        wait_until(system, "a report", || system.rare_events(0).0.iter().any(|event| reported(&event.kind)));
    });
}

#[test]
fn jobs_run_beside_their_actor_and_beside_each_other() {
    let system = ActorSystem::builder("jobs").stepper().workers(3).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let host = host(&system, &probe);
    run(&host, |cx| {
        for n in 0..4 {
            let job = move |task: &mut footlights::pattern::TaskContext| {
                task.work(MS * 10);
                n
            };
            cx.spawn_task(job, Msg::Done);
        }
        Ok(())
    });
    system.run_for(Duration::from_secs(1));
    let mut ends: Vec<u128> =
        probe.take().into_iter().map(|(_, when)| (when - Instant::ZERO).as_millis()).collect();
    ends.sort_unstable();
    assert_eq!(ends, [10, 10, 10, 20], "three workers, four jobs of 10 ms");
}

#[test]
fn a_cancelled_job_that_has_not_begun_never_runs() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let host = host(system, &probe);
        let ran = Arc::new(AtomicU32::new(0));
        let count = ran.clone();
        run(&host, move |cx| {
            let job = move |_: &mut footlights::pattern::TaskContext| {
                count.fetch_add(1, Ordering::Relaxed);
                1
            };
            let handle = cx.spawn_task(job, Msg::Done);
            assert!(handle.cancel());
            Ok(())
        });
        assert_eq!(probe.expect(system).0, Err(TaskError::Cancelled));
        assert_eq!(ran.load(Ordering::Relaxed), 0);
    });
}
