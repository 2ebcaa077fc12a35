//! Promises of timers: never early, never twice, never after they were called off.

mod common;

use std::time::Duration;

use common::{hush_planned_panics, wait_until};
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient, TimerError};
use footlights::observe::{DropReason, EventKind};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
use footlights::time::Instant;

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
        match probe.expect(system).0 {
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
            Ok(())
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
