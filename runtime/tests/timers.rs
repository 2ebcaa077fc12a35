//! Promises of timers: never early, never twice, never after they were called off.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::time::Duration;

use common::{hush_planned_panics, wait_until};
use footlights::actor::{Actor, ActorRef, Context, Failure, MissedTicks, Props, Recipient, TimerError};
use footlights::observe::{ActorState, DropReason, EventKind};
use footlights::supervise::{Directive, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const MS: Duration = Duration::from_millis(1);

fn at(ms: u32) -> Instant {
    Instant::ZERO + MS * ms
}

type Script = Box<dyn FnOnce(&mut Context<'_, Timed>) -> Result<(), Failure> + Send>;

/// Says what came, and runs the scripts that it is told.
struct Timed {
    out: Recipient<(u32, Instant)>,
    /// Set by `started`: a timer of this period that says 1.
    period: Option<Duration>,
}

enum Msg {
    Run(Script),
    Say(u32),
    /// Say it, and work for so long.
    SayAndWork(u32, Duration),
}

impl Actor for Timed {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if let Some(period) = self.period {
            cx.timers().fixed_rate("period", period, || Msg::Say(1))?;
        }
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Run(script) => script(cx),
            Msg::Say(n) => {
                self.out.tell((n, cx.now()));
                Ok(())
            }
            Msg::SayAndWork(n, d) => {
                self.out.tell((n, cx.now()));
                cx.work(d);
                Ok(())
            }
        }
    }
}

impl Timed {
    /// Handles messages as another behaviour.
    fn receive_otherwise(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        self.receive(cx, msg)
    }
}

fn timed(system: &ActorSystem, probe: &Probe<(u32, Instant)>, period: Option<Duration>) -> ActorRef<Msg> {
    let out = probe.recipient();
    system.spawn("timed", Props::new(move || Timed { out: out.clone(), period })).expect("a free name")
}

fn run(
    actor: &ActorRef<Msg>,
    script: impl FnOnce(&mut Context<'_, Timed>) -> Result<(), Failure> + Send + 'static,
) {
    actor.tell(Msg::Run(Box::new(script)));
}

/// Tells an actor to say 99, and gives what it has said before.
fn said(system: &ActorSystem, probe: &Probe<(u32, Instant)>, actor: &ActorRef<Msg>) -> Vec<u32> {
    actor.tell(Msg::Say(99));
    let mut said = Vec::new();
    loop {
        // A machine under load may be slow; what is waited for comes at last.
        match probe.expect_within(system, Duration::from_secs(60)).0 {
            99 => return said,
            n => said.push(n),
        }
    }
}

/// Sets K to fire at 1 ms, works until its tick is queued (behind `last`), then runs `last`.
fn with_a_queued_tick(
    actor: &ActorRef<Msg>,
    last: impl FnOnce(&mut Context<'_, Timed>) -> Result<(), Failure> + Send + 'static,
) {
    run(actor, |cx| {
        let me = cx.myself();
        cx.timers().once("k", MS, Msg::Say(1));
        run(&me, |cx| {
            cx.work(MS * 3);
            Ok(())
        });
        run(&me, last);
        Ok(())
    });
}

fn stale_ticks(system: &ActorSystem) -> usize {
    let stale = |kind: &EventKind| matches!(kind, EventKind::Dropped { reason: DropReason::StaleTimer, .. });
    system.rare_events(0).0.iter().filter(|event| stale(&event.kind)).count()
}

#[test]
fn t1_cancelled_timer_never_delivers() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        with_a_queued_tick(&actor, |cx| {
            assert!(cx.timers().is_active("k"));
            assert!(cx.timers().cancel("k"));
            assert!(!cx.timers().is_active("k"));
            Ok(())
        });
        assert_eq!(said(system, &probe, &actor), [0; 0]);
        // A machine under load may fire it so late that the cancel comes first.
        if system.is_stepper() {
            wait_until(system, "the queued tick to be dropped", || stale_ticks(system) == 1);
        }
    });
}

#[test]
fn t1_replaced_timer_delivers_only_the_new_message_at_its_own_time() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        with_a_queued_tick(&actor, |cx| {
            cx.timers().once("k", MS * 10, Msg::Say(2));
            Ok(())
        });
        let (n, when) = probe.expect(system);
        assert_eq!(n, 2);
        assert!(when >= at(13), "early: {when:?}");
        if system.is_stepper() {
            assert_eq!(when, at(13));
        }
        assert_eq!(said(system, &probe, &actor), [0; 0]);
    });
}

#[cfg(panic = "unwind")]
#[test]
fn t1_ticks_of_the_old_incarnation_are_never_handled_and_the_rate_is_not_doubled() {
    hush_planned_panics();
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, Some(MS * 10));
        run(&actor, |cx| {
            cx.timers().once("old", MS, Msg::Say(7));
            cx.work(MS * 25); // two periods, and the old one, fall due meanwhile
            panic!("planned: a restart with ticks in the queue");
        });
        system.run_until(at(25));
        assert_eq!(probe.take(), [], "nothing of the old incarnation");
        system.run_until(at(125));
        let said: Vec<u32> = probe.take().into_iter().map(|(n, _)| n).collect();
        assert_eq!(said, [1; 10], "10 periods, 10 ticks");
        assert_eq!(system.snapshot().timers, 1);
    });
}

#[cfg(panic = "unwind")]
#[test]
fn t1_ticks_of_the_old_incarnation_are_never_handled_on_threads() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        with_a_queued_tick(&actor, |_| panic!("planned: a restart with a tick in the queue"));
        assert_eq!(said(system, &probe, &actor), [0; 0]);
        if system.is_stepper() {
            wait_until(system, "the queued tick to be dropped", || stale_ticks(system) == 1);
        }
    });
}

#[test]
fn t1_timers_of_two_behaviours_do_not_discard_each_other() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        run(&actor, |cx| {
            cx.timers().fixed_delay("p", MS * 2, || Msg::Say(1))?;
            Ok(cx.become_(Timed::receive_otherwise)?)
        });
        // The second behaviour sets its own, and leaves the first alone.
        run(&actor, |cx| {
            cx.timers().once("s", MS * 3, Msg::Say(2));
            Ok(())
        });
        let said: Vec<u32> = (0..4).map(|_| probe.expect(system).0).collect();
        assert_eq!(said.iter().filter(|&&n| n == 2).count(), 1, "{said:?}");
        assert_eq!(said.iter().filter(|&&n| n == 1).count(), 3, "{said:?}");
    });
}

#[test]
fn t1_cancel_after_firing_says_false() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        run(&actor, |cx| {
            cx.timers().once("k", MS, Msg::Say(1));
            Ok(())
        });
        assert_eq!(probe.expect(system).0, 1);
        run(&actor, |cx| {
            let (active, cancelled) = (cx.timers().is_active("k"), cx.timers().cancel("k"));
            let me = cx.myself();
            cx.tell(&me, Msg::Say(10 + u32::from(active) + u32::from(cancelled)));
            Ok(())
        });
        assert_eq!(probe.expect(system).0, 10);
    });
}

#[test]
fn t1_a_stop_cancels_all_timers_and_leaves_no_dead_letters() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, Some(MS));
        probe.watch(system, &actor.any());
        with_a_queued_tick(&actor, |cx| {
            cx.timers().once("far", Duration::from_secs(3_600), Msg::Say(3));
            cx.stop();
            Ok(())
        });
        probe.expect_terminated(system);
        wait_until(system, "the timers to be gone", || system.snapshot().timers == 0);
        assert_eq!(system.dead_letters(), []);
        assert_eq!(system.ledger().dead_lettered, 0);
    });
}

#[test]
fn t1_starting_and_cancelling_100_000_timers_leaves_no_entries() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        let pairs = if system.is_stepper() { 3_000 } else { 100_000 };
        run(&actor, move |cx| {
            for n in 0..pairs {
                cx.timers().once(n % 7, Duration::from_secs(60), Msg::Say(1));
                assert!(cx.timers().cancel(n % 7));
            }
            Ok(())
        });
        assert_eq!(said(system, &probe, &actor), [0; 0]);
        assert_eq!(system.snapshot().timers, 0);
    });
}

#[test]
fn fixed_rate_keeps_its_phase_and_skips_what_it_missed() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        let mut first = true;
        run(&actor, move |cx| {
            let make = move || match std::mem::take(&mut first) {
                true => Msg::SayAndWork(1, MS * 35), // until 45: the ticks of 20, 30 and 40 fall due
                false => Msg::Say(1),
            };
            cx.timers().fixed_rate("r", MS * 10, make)?;
            Ok(())
        });
        system.run_until(at(75));
        let times: Vec<Instant> = probe.take().into_iter().map(|(_, when)| when).collect();
        assert_eq!(
            times,
            [at(10), at(45), at(50), at(60), at(70)],
            "one tick was queued, the others skipped"
        );
        actor.stop();
    });
}

/// Says when the ticks of 10 ms are read if the first one's handling lasts from 10 to 45.
fn read_at(system: &ActorSystem, missed: MissedTicks) -> Vec<Instant> {
    let probe = Probe::new(system, "probe");
    let actor = timed(system, &probe, None);
    let mut first = true;
    run(&actor, move |cx| {
        let make = move || match std::mem::take(&mut first) {
            true => Msg::SayAndWork(1, MS * 35),
            false => Msg::Say(1),
        };
        assert_eq!(cx.timers().fixed_rate_with("r", MS * 10, missed, make), Ok(MS * 10));
        Ok(())
    });
    system.run_until(at(45));
    run(&actor, move |cx| {
        let (owed, skipped) = (cx.timers().owed("r"), cx.timers().skipped("r"));
        let seen = (owed, skipped, cx.timers().owed("no such"));
        cx.tell(&cx.myself(), Msg::Say(100 + 10 * seen.0 as u32 + seen.1 as u32));
        Ok(())
    });
    system.run_until(at(75));
    actor.stop();
    let said = probe.take();
    let counts: Vec<u32> = said.iter().map(|(n, _)| *n).filter(|n| *n >= 100).collect();
    let expected = match missed {
        MissedTicks::Skip => 102, // the ticks of 30 and 40
        MissedTicks::Burst => 100,
        MissedTicks::Delay => 100,
    };
    assert_eq!(counts, [expected], "{missed:?}");
    said.into_iter().filter(|(n, _)| *n < 100).map(|(_, when)| when).collect()
}

#[test]
fn each_policy_for_missed_ticks_does_as_it_says() {
    on_steppers(|system| {
        assert_eq!(read_at(system, MissedTicks::Skip), [10, 45, 50, 60, 70].map(at));
        let skipped = |kind: &EventKind| matches!(kind, EventKind::TimerSkipped { ticks: 2 });
        assert_eq!(system.rare_events(0).0.iter().filter(|event| skipped(&event.kind)).count(), 1);
    });
    on_steppers(|system| {
        assert_eq!(read_at(system, MissedTicks::Burst), [10, 45, 45, 45, 50, 60, 70].map(at));
    });
    on_steppers(|system| assert_eq!(read_at(system, MissedTicks::Delay), [10, 45, 55, 65, 75].map(at)));
}

#[test]
fn a_burst_queues_one_tick_at_a_time() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        run(&actor, |cx| {
            cx.timers().fixed_rate_with("r", MS, MissedTicks::Burst, || Msg::Say(1))?;
            cx.work(MS * 100);
            Ok(())
        });
        run(&actor, |cx| {
            assert_eq!(cx.timers().owed("r"), 100, "the queued one included");
            let me = cx.myself();
            (0..3).for_each(|_| cx.tell(&me, Msg::Say(2)));
            Ok(())
        });
        system.run_until(at(100));
        let said: Vec<u32> = probe.take().into_iter().map(|(n, _)| n).collect();
        let (first, rest) = said.split_at(4);
        assert_eq!(
            first.iter().filter(|n| **n == 2).count(),
            3,
            "what was told is not behind the burst: {said:?}"
        );
        assert_eq!(rest.len(), 99);
        actor.stop();
    });
}

#[test]
fn threads_keep_no_period_under_a_millisecond_and_say_so() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        let shortest = if system.is_stepper() { MS / 10 } else { MS };
        run(&actor, move |cx| {
            let mut timers = cx.timers();
            assert_eq!(timers.fixed_rate("r", MS / 10, || Msg::Say(1)), Ok(shortest));
            assert_eq!(timers.fixed_delay("d", MS / 10, || Msg::Say(1)), Ok(shortest));
            assert_eq!(timers.fixed_delay("l", MS * 7, || Msg::Say(1)), Ok(MS * 7));
            for key in ["r", "d", "l"] {
                assert!(timers.cancel(key));
            }
            Ok(())
        });
        assert_eq!(said(system, &probe, &actor), [0; 0]);
        assert_eq!(system.ledger().failed, 0, "the assertions in the script held");
    });
}

#[test]
fn timers_of_a_suspended_actor_still_queue() {
    // The parent's worker is busy; the child must have one of its own.
    for seed in 0..16 {
        let builder = ActorSystem::builder("test").stepper().workers(4).seed(seed).seeded_order();
        let system = &builder.build().expect("good settings");
        let probe = Probe::new(system, "probe");
        let (out, outer) = (probe.recipient(), probe.recipient());
        // The parent decides only at 20 ms, since it is busy until then; it lets the child go on.
        let resume = Strategy::one_for_one().default_directive(Directive::Resume);
        let parent = Props::new(move || Timed { out: outer.clone(), period: None }).supervise(resume);
        let parent = system.spawn("parent", parent).expect("a free name");
        run(&parent, move |cx| {
            let child = cx.spawn("child", Props::new(move || Timed { out: out.clone(), period: None }))?;
            run(&child, |cx| {
                cx.timers().once("k", MS * 5, Msg::Say(1));
                let me = cx.myself();
                cx.tell_after(
                    MS * 2,
                    &me,
                    Msg::Run(Box::new(|_| Err(Failure::new("planned", "on request")))),
                );
                Ok(())
            });
            Ok(())
        });
        system.run_until(at(1));
        run(&parent, |cx| {
            cx.work(MS * 19);
            Ok(())
        });
        system.run_until(at(10));
        let child = system.snapshot().actors.into_iter().find(|actor| actor.path.ends_with("/child"));
        let child = child.expect("a living child");
        assert_eq!((child.state, child.ledger.queued), (ActorState::Suspended, 1), "the tick waits");
        assert_eq!(probe.take(), []);
        system.run_until(at(30));
        assert_eq!(probe.take(), [(1, at(20))]);
    }
}

#[test]
fn fixed_delay_counts_from_the_end_of_the_handling() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        run(&actor, |cx| {
            cx.timers().fixed_delay("d", MS * 10, || Msg::SayAndWork(1, MS * 5))?;
            Ok(())
        });
        system.run_until(at(60));
        let times: Vec<Instant> = probe.take().into_iter().map(|(_, when)| when).collect();
        assert_eq!(times, [at(10), at(25), at(40), at(55)]);
        actor.stop();
    });
}

#[test]
fn a_clock_jump_gives_one_tick_of_a_repeating_timer() {
    let system = ActorSystem::builder("jump").stepper().build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let actor = timed(&system, &probe, Some(MS * 10));
    run(&actor, |cx| {
        cx.work(Duration::from_secs(10));
        Ok(())
    });
    system.run_until(at(10_005));
    assert_eq!(probe.take().len(), 1, "of 1,000 periods missed one tick is left");
    system.run_until(at(10_015));
    assert_eq!(probe.take(), [(1, at(10_010))], "and the phase is kept");
}

#[test]
fn a_timer_of_duration_max_never_fires_and_takes_no_entry() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        run(&actor, |cx| {
            cx.timers().once("never", Duration::MAX, Msg::Say(1));
            cx.timers().fixed_rate("never again", Duration::MAX, || Msg::Say(1))?;
            assert!(cx.timers().is_active("never"));
            Ok(())
        });
        assert!(system.run_until_quiet(1_000), "nothing is left to wait for");
        assert_eq!(system.snapshot().timers, 0);
        assert_eq!(said(system, &probe, &actor), [0; 0]);
    });
}

#[test]
fn a_timer_of_zero_fires_in_a_later_turn() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        run(&actor, |cx| {
            let me = cx.myself();
            cx.timers().once("now", Duration::ZERO, Msg::Say(2));
            cx.tell(&me, Msg::Say(1));
            Ok(())
        });
        let mut both = [probe.expect(system).0, probe.expect(system).0];
        both.sort_unstable();
        assert_eq!(both, [1, 2]);
    });
}

#[test]
fn a_period_of_zero_is_refused() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        run(&actor, |cx| {
            let mut timers = cx.timers();
            assert_eq!(timers.fixed_rate("r", Duration::ZERO, || Msg::Say(1)), Err(TimerError::ZeroPeriod));
            assert_eq!(timers.fixed_delay("d", Duration::ZERO, || Msg::Say(1)), Err(TimerError::ZeroPeriod));
            Ok(())
        });
        assert_eq!(said(system, &probe, &actor), [0; 0]);
        assert_eq!(system.ledger().failed, 0, "the assertions in the script held");
    });
}

#[test]
fn a_timer_is_never_early() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        let start = system.now();
        run(&actor, |cx| {
            (1..=5).for_each(|n| cx.timers().once(u64::from(n), MS * n, Msg::Say(n)));
            Ok(())
        });
        for n in 1..=5 {
            let (said, when) = probe.expect(system);
            assert_eq!(said, n);
            assert!(when >= start + MS * n, "timer {n} came at {when:?}");
        }
    });
}

#[cfg(panic = "unwind")]
#[test]
fn a_panic_in_what_makes_a_tick_is_a_failure_of_the_actor() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = timed(system, &probe, None);
        run(&actor, |cx| {
            cx.timers().fixed_rate("r", MS, || panic!("planned: no tick"))?;
            Ok(())
        });
        let failed = |kind: &EventKind| matches!(kind, EventKind::Restarted { incarnation: 2 });
        wait_until(system, "a restart", || system.rare_events(0).0.iter().any(|event| failed(&event.kind)));
        assert_eq!(said(system, &probe, &actor), [0; 0], "it lives on");
    });
}

#[test]
fn a_delayed_tell_survives_its_sender_and_can_be_called_back() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let target = timed(system, &probe, None);
        let to = target.clone();
        let out = probe.recipient();
        let sender = system
            .spawn("sender", Props::new(move || Timed { out: out.clone(), period: None }))
            .expect("a free name");
        run(&sender, move |cx| {
            let kept = cx.tell_after(MS, &to, Msg::Say(1));
            drop(kept);
            assert!(cx.tell_after(MS, &to, Msg::Say(2)).cancel());
            cx.stop();
            Ok(())
        });
        assert_eq!(probe.expect(system).0, 1);
        assert_eq!(said(system, &probe, &target), [0; 0]);
        // On a Pool the timer that fired last is counted until its delivery has returned.
        wait_until(system, "no timer", || system.snapshot().timers == 0);
    });
}
