//! Promises of asks: each has one outcome, and none waits for an answer that can no longer come.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{hush_planned_panics, wait_until};
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient};
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::observe::DropReason;
use footlights::pattern::{AskError, Reply};
use footlights::routing::Router;
use footlights::supervise::{Backoff, FailureKind};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const MS: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(30);

type Question = Reply<u32>;
type Script = Box<dyn FnOnce(&mut Context<'_, Oracle>, &mut Oracle) -> Result<(), Failure> + Send>;

struct Oracle {
    out: Recipient<Result<u32, AskError>>,
    kept: Vec<Question>,
}

enum Msg {
    Run(Script),
    Answer(u32, Question),
    Keep(Question),
    AnswerKept(u32),
    Forget(Question),
    Fail(Question),
    Panic(Question),
    Heard(Result<u32, AskError>),
}

impl Actor for Oracle {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Run(script) => return script(cx, self),
            Msg::Answer(n, reply) => {
                reply.send(n);
            }
            Msg::Keep(reply) => self.kept.push(reply),
            Msg::AnswerKept(n) => self.kept.drain(..).for_each(|reply| {
                reply.send(n);
            }),
            Msg::Forget(reply) => drop(reply),
            Msg::Fail(_reply) => return Err(Failure::new("no", "no answer")),
            Msg::Panic(_reply) => panic!("planned: no answer"),
            Msg::Heard(result) => self.out.tell(result),
        }
        Ok(())
    }
}

fn props(probe: &Probe<Result<u32, AskError>>) -> Props<Oracle> {
    let out = probe.recipient();
    Props::new(move || Oracle { out: out.clone(), kept: Vec::new() })
}

fn oracle(system: &ActorSystem, probe: &Probe<Result<u32, AskError>>, name: &str) -> ActorRef<Msg> {
    system.spawn(name, props(probe)).expect("a free name")
}

fn run(
    actor: &ActorRef<Msg>,
    script: impl FnOnce(&mut Context<'_, Oracle>, &mut Oracle) -> Result<(), Failure> + Send + 'static,
) {
    actor.tell(Msg::Run(Box::new(script)));
}

/// Asks with a timeout of 30 s, and wants the outcome within 100 ms of the system's time.
fn promptly(
    system: &ActorSystem,
    target: &ActorRef<Msg>,
    make: impl FnOnce(Question) -> Msg,
) -> Result<u32, AskError> {
    let start = system.now();
    let outcome = system.block_on(target.ask(make, LONG));
    let took = system.now() - start;
    assert!(took < MS * 1_000 && (!system.is_stepper() || took < MS * 100), "{outcome:?} took {took:?}");
    outcome
}

fn gone(system: &ActorSystem, path: &str) {
    wait_until(system, "the actor to be gone", || system.find(path).is_none());
}

#[test]
fn an_answer_comes() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let oracle = oracle(system, &probe, "oracle");
        assert_eq!(promptly(system, &oracle, |reply| Msg::Answer(42, reply)), Ok(42));
        let asks = system.snapshot().asks;
        assert_eq!((asks.asks, asks.replied, asks.pending), (1, 1, 0));
        assert_eq!(system.snapshot().timers, 0, "the deadline went with the answer");
    });
}

#[cfg(panic = "unwind")]
#[test]
fn a2_each_way_to_get_no_answer_is_told_at_once_by_its_name() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let oracle = oracle(system, &probe, "oracle");
        assert_eq!(promptly(system, &oracle, Msg::Panic), Err(AskError::HandlerFailed(FailureKind::Panic)));
        assert_eq!(promptly(system, &oracle, Msg::Fail), Err(AskError::HandlerFailed(FailureKind::Error)));
        assert_eq!(promptly(system, &oracle, Msg::Forget), Err(AskError::NoReply));
        oracle.stop();
        gone(system, "/user/oracle");
        assert_eq!(promptly(system, &oracle, Msg::Keep), Err(AskError::Dead));
        let asks = system.snapshot().asks;
        assert_eq!((asks.asks, asks.failed, asks.pending), (4, 4, 0));
    });
}

#[test]
fn a2_an_ask_that_is_queued_at_a_stop_or_kept_open_is_told() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let oracle = oracle(system, &probe, "oracle");
        let kept = oracle.ask(Msg::Keep, LONG);
        wait_until(system, "the question to be kept", || oracle.queued() == 0);
        run(&oracle, |cx, _| {
            cx.block(MS * 5);
            cx.stop();
            Ok(())
        });
        let queued = oracle.ask(Msg::Keep, LONG);
        assert_eq!(system.block_on(queued), Err(AskError::Stopped));
        assert_eq!(system.block_on(kept), Err(AskError::Stopped));
    });
}

#[test]
fn a2_a_timeout_without_end_still_ends_with_the_target() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let oracle = oracle(system, &probe, "oracle");
        let ask = oracle.ask(Msg::Keep, Duration::MAX);
        assert_eq!(system.snapshot().timers, 0, "no deadline, no timer");
        wait_until(system, "the question to be kept", || oracle.queued() == 0);
        oracle.stop();
        assert_eq!(system.block_on(ask), Err(AskError::Stopped));
    });
}

#[test]
fn a2_an_ask_in_backoff_waits_for_the_restart() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let backoff = Backoff { min: MS * 50, jitter_permille: 0, ..Backoff::default() };
        let oracle = system.spawn("oracle", props(&probe).backoff(backoff)).expect("a free name");
        run(&oracle, |_, _| Err(Failure::new("down", "for a while")));
        assert_eq!(system.block_on(oracle.ask(|reply| Msg::Answer(1, reply), LONG)), Ok(1));
        assert!(system.now() >= Instant::ZERO + MS * 50);
    });
}

#[test]
fn a2_an_ask_of_a_parent_that_stops_fails_and_the_shutdown_ends() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let parent = oracle(system, &probe, "parent");
        let (child_props, to_parent) = (props(&probe), parent.clone());
        run(&parent, move |cx, _| {
            let child = cx.spawn("child", child_props)?;
            cx.stop();
            run(&child, move |cx, _| {
                cx.ask(&to_parent, |reply| Msg::Answer(1, reply), LONG, Msg::Heard);
                Ok(())
            });
            Ok(())
        });
        let start = system.now();
        gone(system, "/user/parent");
        assert!(system.now() - start < MS * 1_000);
        assert_eq!(system.snapshot().asks.pending, 0);
    });
}

#[cfg(panic = "unwind")]
#[test]
fn a2_a_routee_that_dies_with_the_question_answers_for_it() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = system.spawn_router("router", Router::round_robin().pool(2, props(&probe)));
        let router = router.expect("a free name");
        let routee = router.routees()[0].clone();
        let ask = routee.ask(Msg::Keep, LONG);
        wait_until(system, "the question to be kept", || routee.queued() == 0);
        routee.kill();
        assert_eq!(system.block_on(ask), Err(AskError::Stopped));
    });
}

#[test]
fn a2_an_ask_through_a_router_whose_routee_dies_is_settled_at_once() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = system.spawn_router("router", Router::round_robin().pool(1, props(&probe)));
        let router = router.expect("a free name");
        let routee = router.routees()[0].clone();
        // One that the routee keeps, and one that is queued at its end.
        let kept = router.ask(Msg::Keep, LONG);
        wait_until(system, "the question to be kept", || routee.queued() == 0);
        run(&routee, |cx, _| {
            cx.block(MS * 5);
            cx.stop();
            Ok(())
        });
        let queued = router.ask(Msg::Keep, LONG);
        let start = system.now();
        assert_eq!(system.block_on(kept), Err(AskError::Stopped));
        assert_eq!(system.block_on(queued), Err(AskError::Stopped));
        assert!(system.now() - start < MS * 1_000);
    });
}

#[test]
fn a2_a_reply_that_is_forwarded_to_an_actor_that_dies_is_settled_at_once() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (first, third) = (oracle(system, &probe, "first"), oracle(system, &probe, "third"));
        let to = third.clone();
        let ask = first.ask(
            move |reply| {
                Msg::Run(Box::new(move |cx, _| {
                    cx.forward(&to, Msg::Keep(reply));
                    Ok(())
                }))
            },
            LONG,
        );
        wait_until(system, "the question to be passed on", || first.queued() + third.queued() == 0);
        third.stop();
        let start = system.now();
        assert_eq!(system.block_on(ask), Err(AskError::Stopped));
        assert!(system.now() - start < MS * 1_000);
    });
}

#[test]
fn a2_two_actors_that_ask_each_other_do_not_wait_for_each_other() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (a, b) = (oracle(system, &probe, "a"), oracle(system, &probe, "b"));
        for (asker, asked) in [(&a, b.clone()), (&b, a.clone())] {
            run(asker, move |cx, _| {
                cx.ask(&asked, |reply| Msg::Answer(5, reply), LONG, Msg::Heard);
                Ok(())
            });
        }
        assert_eq!([probe.expect(system), probe.expect(system)], [Ok(5), Ok(5)]);
    });
}

#[test]
fn an_actor_may_ask_itself() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let a = oracle(system, &probe, "a");
        run(&a, |cx, _| {
            let me = cx.myself();
            cx.ask(&me, |reply| Msg::Answer(6, reply), LONG, Msg::Heard);
            Ok(())
        });
        assert_eq!(probe.expect(system), Ok(6));
    });
}

#[test]
fn a_late_answer_is_counted_and_not_delivered() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let oracle = oracle(system, &probe, "oracle");
        let before = system.now();
        assert_eq!(system.block_on(oracle.ask(Msg::Keep, MS * 2)), Err(AskError::Timeout));
        assert!(system.now() - before >= MS * 2, "not early");
        oracle.tell(Msg::AnswerKept(1));
        wait_until(system, "the late answer", || system.snapshot().asks.late_replies == 1);
        let asks = system.snapshot().asks;
        assert_eq!((asks.timed_out, asks.replied, asks.pending), (1, 0, 0));
        assert!(asks.balanced());
    });
}

#[test]
fn a_timeout_of_zero_ends_in_the_next_turn() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let oracle = oracle(system, &probe, "oracle");
        assert_eq!(system.block_on(oracle.ask(Msg::Keep, Duration::ZERO)), Err(AskError::Timeout));
    });
}

#[test]
fn a_full_mailbox_says_so_to_an_ask() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let bounded = props(&probe).mailbox(Mailbox::bounded(1, OverflowStrategy::RejectToSender));
        let full = system.spawn("full", bounded).expect("a free name");
        let heard = Arc::new(Mutex::new(None));
        let slot = heard.clone();
        let asker = oracle(system, &probe, "asker");
        let to = full.clone();
        run(&full, move |cx, _| {
            let me = cx.myself();
            cx.tell(&me, Msg::AnswerKept(0));
            *slot.lock().unwrap() = Some(me.ask(Msg::Keep, LONG));
            Ok(())
        });
        wait_until(system, "the ask", || heard.lock().unwrap().is_some());
        let ask = heard.lock().unwrap().take().expect("the ask");
        assert_eq!(system.block_on(ask), Err(AskError::Full));
        let _ = (asker, to);
        assert_eq!(system.snapshot().asks.pending, 0);
    });
}

#[test]
fn a_future_that_is_dropped_gives_the_ask_up() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let oracle = oracle(system, &probe, "oracle");
        drop(oracle.ask(Msg::Keep, LONG));
        let asks = system.snapshot().asks;
        assert_eq!((asks.cancelled, asks.pending, system.snapshot().timers), (1, 0, 0));
        let abandoned = Arc::new(Mutex::new(None));
        let seen = abandoned.clone();
        run(&oracle, move |_, oracle| {
            *seen.lock().unwrap() = Some(oracle.kept[0].is_abandoned());
            Ok(())
        });
        wait_until(system, "a look at the handle", || abandoned.lock().unwrap().is_some());
        assert_eq!(*abandoned.lock().unwrap(), Some(true), "a long job may give up");
    });
}

#[test]
fn answers_to_an_actor_come_in_order_with_the_repliers_other_messages() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (asker, oracle) = (oracle(system, &probe, "asker"), oracle(system, &probe, "oracle"));
        let (to, back) = (oracle.clone(), asker.clone());
        run(&asker, move |cx, _| {
            for n in 0..20 {
                cx.ask(&to, move |reply| Msg::Answer(2 * n, reply), LONG, Msg::Heard);
                let back = back.clone();
                run(&to, move |cx, _| {
                    cx.tell(&back, Msg::Heard(Ok(2 * n + 1)));
                    Ok(())
                });
            }
            Ok(())
        });
        (0..40).for_each(|n| assert_eq!(probe.expect(system), Ok(n)));
    });
}

#[cfg(panic = "unwind")]
#[test]
fn an_answer_to_an_earlier_incarnation_is_a_dead_letter() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (asker, oracle) = (oracle(system, &probe, "asker"), oracle(system, &probe, "oracle"));
        let to = oracle.clone();
        run(&asker, move |cx, _| {
            cx.ask(&to, Msg::Keep, LONG, Msg::Heard);
            Ok(())
        });
        wait_until(system, "the question to be kept", || asker.queued() + oracle.queued() == 0);
        wait_until(system, "one ask", || system.snapshot().asks.pending == 1);
        run(&asker, |_, _| panic!("planned: a restart of the asker"));
        wait_until(system, "the restart", || asker.any().snapshot().incarnation == 2);
        oracle.tell(Msg::AnswerKept(3));
        wait_until(system, "the dead letter", || !system.dead_letters().is_empty());
        assert_eq!(system.dead_letters()[0].reason, footlights::observe::DeadLetterReason::StaleIncarnation);
        assert_eq!(probe.take(), []);
    });
}

#[test]
fn an_answer_ordered_across_restarts_reaches_the_new_incarnation() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (asker, oracle) = (oracle(system, &probe, "asker"), oracle(system, &probe, "oracle"));
        let to = oracle.clone();
        run(&asker, move |cx, _| {
            cx.across_restarts(|cx| cx.ask(&to, Msg::Keep, LONG, Msg::Heard));
            Ok(())
        });
        wait_until(system, "the question to be kept", || asker.queued() + oracle.queued() == 0);
        wait_until(system, "one ask", || system.snapshot().asks.pending == 1);
        run(&asker, |_, _| Err(Failure::new("planned", "a restart of the asker")));
        wait_until(system, "the restart", || asker.any().snapshot().incarnation == 2);
        oracle.tell(Msg::AnswerKept(3));
        assert_eq!(probe.expect(system), Ok(3));
        assert_eq!(system.dead_letters(), []);
    });
}

#[cfg(panic = "unwind")]
#[test]
fn a_panic_in_the_mapping_of_an_answer_is_not_the_repliers_failure() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (asker, oracle) = (oracle(system, &probe, "asker"), oracle(system, &probe, "oracle"));
        let to = oracle.clone();
        run(&asker, move |cx, _| {
            cx.ask(&to, |reply| Msg::Answer(1, reply), LONG, |_| panic!("planned: no message of this"));
            Ok(())
        });
        assert_eq!(promptly(system, &oracle, |reply| Msg::Answer(2, reply)), Ok(2));
        assert_eq!(oracle.any().snapshot().incarnation, 1);
    });
}

#[test]
fn what_a_run_answers_after_work_is_known_that_much_later() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let oracle = oracle(system, &probe, "oracle");
        let ask = oracle.ask(
            |reply| {
                Msg::Run(Box::new(move |cx, _| {
                    cx.work(MS * 10);
                    reply.send(1);
                    Ok(())
                }))
            },
            LONG,
        );
        assert_eq!(system.block_on(ask), Ok(1));
        assert_eq!(system.now(), Instant::ZERO + MS * 10);
    });
}

#[test]
fn a_handle_in_a_failing_message_that_is_handed_on_may_still_be_answered() {
    /// Answers what the failed instance could not.
    struct Saver;

    impl Actor for Saver {
        type Msg = Reply<u32>;

        fn receive(&mut self, _: &mut Context<'_, Self>, reply: Reply<u32>) -> Result<(), Failure> {
            Err(Failure::new("later", "let the hook do it").returning(reply))
        }

        fn pre_restart(&mut self, _: &mut Context<'_, Self>, _: &Failure, message: Option<Reply<u32>>) {
            message.expect("the failing message").send(11);
        }
    }

    on_each_dispatcher(|system| {
        let saver = system.spawn("saver", Props::new(|| Saver)).expect("a free name");
        assert_eq!(system.block_on(saver.ask(|reply| reply, LONG)), Ok(11));
    });
}

#[cfg(panic = "unwind")]
#[test]
fn a2_a_handle_that_was_passed_on_has_the_fate_of_the_run_that_dropped_it() {
    hush_planned_panics();
    type Passed = fn(Question) -> Msg;
    let cases: [(Passed, AskError); 3] = [
        (Msg::Forget, AskError::NoReply),
        (Msg::Fail, AskError::HandlerFailed(FailureKind::Error)),
        (Msg::Panic, AskError::HandlerFailed(FailureKind::Panic)),
    ];
    for (pass, outcome) in cases {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let (first, third) = (oracle(system, &probe, "first"), oracle(system, &probe, "third"));
            let to = third.clone();
            let make = move |reply| {
                Msg::Run(Box::new(move |cx, _| {
                    cx.tell(&to, pass(reply));
                    Ok(())
                }))
            };
            assert_eq!(promptly(system, &first, make), Err(outcome));
            assert_eq!(first.any().snapshot().restarts, 0);
        });
    }
}

#[cfg(panic = "unwind")]
#[test]
fn a2_a_handle_that_a_failing_state_held_died_of_its_failure() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let oracle = oracle(system, &probe, "oracle");
        let ask = oracle.ask(Msg::Keep, LONG);
        wait_until(system, "the question to be kept", || oracle.queued() == 0);
        run(&oracle, |_, _| panic!("planned: with a question open"));
        assert_eq!(system.block_on(ask), Err(AskError::HandlerFailed(FailureKind::Panic)));
    });
}

#[test]
fn a2_a_passed_on_question_learns_why_it_was_dropped() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        for (name, overflow, outcome) in [
            ("new", OverflowStrategy::DropNew, AskError::Dropped(DropReason::MailboxFull)),
            ("old", OverflowStrategy::DropOldest, AskError::Dropped(DropReason::Evicted)),
            ("reject", OverflowStrategy::RejectToSender, AskError::Full),
        ] {
            let bounded = props(&probe).mailbox(Mailbox::bounded(1, overflow));
            let full = system.spawn(name, bounded).expect("a free name");
            wait_until(system, "the start", || full.any().snapshot().incarnation == 1);
            wait_until(system, "rest", || full.queued() == 0);
            let asked = oracle(system, &probe, &format!("asked-{name}"));
            let to = full.clone();
            let question = asked.ask(
                move |reply| {
                    Msg::Run(Box::new(move |_, _| {
                        run(&to, move |cx, _| {
                            let me = cx.myself();
                            match overflow {
                                OverflowStrategy::DropOldest => {
                                    cx.tell(&me, Msg::Keep(reply));
                                    cx.tell(&me, Msg::AnswerKept(0));
                                }
                                _ => {
                                    cx.tell(&me, Msg::AnswerKept(0));
                                    cx.tell(&me, Msg::Keep(reply));
                                }
                            }
                            Ok(())
                        });
                        Ok(())
                    }))
                },
                LONG,
            );
            assert_eq!(system.block_on(question), Err(outcome), "{name}");
        }
    });
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn a_worker_must_not_wait_for_an_answer() {
    let pool = || ActorSystem::builder("block").pool().workers(2);
    for builder in [pool(), ActorSystem::builder("block").stepper()] {
        let system = Arc::new(builder.build().expect("good settings"));
        let probe = Probe::new(&system, "probe");
        let oracle = oracle(&system, &probe, "oracle");
        let answer = system.ask_blocking(&oracle, |reply| Msg::Answer(3, reply), LONG);
        assert_eq!(answer, Ok(3), "from outside");
        let (inside, to) = (Arc::downgrade(&system), oracle.clone());
        run(&oracle, move |_, oracle| {
            let system = inside.upgrade().expect("it is held below");
            let outcome = system.ask_blocking(&to, |reply| Msg::Answer(3, reply), LONG);
            oracle.out.tell(outcome);
            Ok(())
        });
        assert_eq!(probe.expect(&system), Err(AskError::WouldBlock));
        assert_eq!(system.snapshot().asks.asks, 1);
        wait_until(&system, "the end of the run", || Arc::strong_count(&system) == 1);
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn a_question_without_a_deadline_that_is_held_outside_ends_with_the_system() {
    for stepper in [true, false] {
        let builder = ActorSystem::builder("end");
        let builder = if stepper { builder.stepper() } else { builder.pool().workers(1) };
        let system = builder.build().expect("good settings");
        let probe = Probe::new(&system, "probe");
        let oracle = oracle(&system, &probe, "oracle");
        let outside = Arc::new(Mutex::new(None));
        let held = outside.clone();
        let ask = oracle.ask(
            move |reply| {
                Msg::Run(Box::new(move |_, _| {
                    *held.lock().unwrap() = Some(reply);
                    Ok(())
                }))
            },
            Duration::MAX,
        );
        wait_until(&system, "the handle", || outside.lock().unwrap().is_some());
        system.shutdown(LONG).expect("an end");
        assert_eq!(system.block_on(ask), Err(AskError::Shutdown));
        assert_eq!(system.snapshot().asks.pending, 0);
        assert!(!outside.lock().unwrap().take().expect("it is held").send(1), "too late");
    }
}

#[test]
fn a_handle_that_is_dropped_outside_of_all_runs_is_no_reply_at_once() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let oracle = oracle(system, &probe, "oracle");
        let kept: Arc<Mutex<Option<Question>>> = Arc::default();
        let outside = kept.clone();
        let ask = oracle.ask(
            move |reply| {
                Msg::Run(Box::new(move |_, _| {
                    *outside.lock().unwrap() = Some(reply);
                    Ok(())
                }))
            },
            LONG,
        );
        wait_until(system, "the handle", || kept.lock().unwrap().is_some());
        wait_until(system, "rest", || system.is_quiet());
        drop(kept.lock().unwrap().take());
        assert_eq!(system.block_on(ask), Err(AskError::NoReply));
    });
}
