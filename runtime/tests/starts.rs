//! Promises of starts that fail (case S3): nobody becomes a zombie, and everybody hears of it.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Exit, Failure, Props, Recipient};
use footlights::observe::{EventKind, StopReason};
use footlights::pattern::{AskError, Reply};
use footlights::supervise::{Directive, FailureKind, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const MS: Duration = Duration::from_millis(1);

/// Which of its starts fail, the first being 1.
type Fails = fn(u32) -> bool;

/// Says its incarnation and what it is told, once it has started.
struct Starter {
    fails: bool,
    out: Recipient<(u32, u32)>,
}

enum Msg {
    Say(u32),
    Fail,
    Question(#[expect(dead_code, reason = "it is never answered")] Reply<u32>),
}

impl Actor for Starter {
    type Msg = Msg;

    fn started(&mut self, _: &mut Context<'_, Self>) -> Result<(), Failure> {
        if self.fails { Err(Failure::new("start", "on request")) } else { Ok(()) }
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Say(n) => self.out.tell((cx.incarnation(), n)),
            Msg::Fail => return Err(Failure::new("fail", "on request")),
            Msg::Question(_) => {}
        }
        Ok(())
    }
}

fn starter(probe: &Probe<(u32, u32)>, fails: Fails) -> Props<Starter> {
    let (out, starts) = (probe.recipient(), AtomicU32::new(0));
    Props::new(move || Starter { fails: fails(starts.fetch_add(1, Ordering::Relaxed) + 1), out: out.clone() })
}

/// Spawns, watches, tells ten messages and asks in one run, so that all of it comes before the first start.
struct Parent {
    child: Option<Props<Starter>>,
    ends: Recipient<StopReason>,
    answers: Recipient<AskError>,
}

enum ParentMsg {
    Go,
    Gone(StopReason),
    Answered(Result<u32, AskError>),
}

impl Actor for Parent {
    type Msg = ParentMsg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: ParentMsg) -> Result<(), Failure> {
        match msg {
            ParentMsg::Go => {
                let Some(props) = self.child.take() else { return Ok(()) };
                let child = cx.spawn("child", props)?;
                cx.watch(&child.any(), |news| ParentMsg::Gone(news.reason))?;
                (0..10).for_each(|n| cx.tell(&child, Msg::Say(n)));
                cx.ask(&child, Msg::Question, Duration::from_secs(5), ParentMsg::Answered);
            }
            ParentMsg::Gone(reason) => self.ends.tell(reason),
            ParentMsg::Answered(Err(error)) => self.answers.tell(error),
            ParentMsg::Answered(Ok(_)) => {}
        }
        Ok(())
    }
}

fn parent(
    system: &ActorSystem,
    child: Props<Starter>,
    strategy: Strategy,
    (ends, answers): (&Probe<StopReason>, &Probe<AskError>),
) -> ActorRef<ParentMsg> {
    let (ends, answers) = (ends.recipient(), answers.recipient());
    let make = move || Parent { child: Some(child.clone()), ends: ends.clone(), answers: answers.clone() };
    system.spawn("parent", Props::new(make).supervise(strategy)).expect("a free name")
}

fn failed_starts(system: &ActorSystem) -> usize {
    let is_start = |kind: &EventKind| matches!(kind, EventKind::Failed { kind: FailureKind::Start, .. });
    system.rare_events(0).0.iter().filter(|event| is_start(&event.kind)).count()
}

#[test]
fn s3_a_start_hook_that_always_fails_ends_the_actor_and_everybody_is_told_once() {
    on_each_dispatcher(|system| {
        let (said, ends, answers) =
            (Probe::new(system, "said"), Probe::new(system, "ends"), Probe::new(system, "answers"));
        let strategy = Strategy::one_for_one().lifetime(4);
        let parent = parent(system, starter(&said, |_| true), strategy, (&ends, &answers));
        let began = system.now();
        parent.tell(ParentMsg::Go);
        assert_eq!(answers.expect(system), AskError::Stopped);
        assert!(system.now() - began < MS * 1_000, "not after its 5 s");
        assert_eq!(ends.expect(system), StopReason::Failed(FailureKind::Start));
        assert_eq!(failed_starts(system), 5, "4 restarts are allowed");
        assert!(system.find("/user/parent/child").is_none(), "gone from its parent");
        wait_until(system, "rest", || system.is_quiet());
        assert_eq!(system.ledger().dead_lettered, 11, "ten messages and the ask");
        assert_eq!((ends.take(), answers.take(), said.take()), (vec![], vec![], vec![]), "told once");
    });
}

#[test]
fn s3_a_start_hook_that_fails_twice_and_then_works_loses_no_message() {
    on_each_dispatcher(|system| {
        let (said, ends, answers) =
            (Probe::new(system, "said"), Probe::new(system, "ends"), Probe::new(system, "answers"));
        let strategy = Strategy::one_for_one();
        parent(system, starter(&said, |start| start < 3), strategy, (&ends, &answers)).tell(ParentMsg::Go);
        (0..10).for_each(|n| assert_eq!(said.expect(system), (3, n)));
        assert_eq!(answers.expect(system), AskError::NoReply, "it was handled as well");
        assert_eq!(ends.take(), [], "a restart is no end");
    });
}

#[test]
fn s3_the_parents_decider_sees_a_failed_start_as_its_own_kind() {
    on_each_dispatcher(|system| {
        let (said, ends, answers) =
            (Probe::new(system, "said"), Probe::new(system, "ends"), Probe::new(system, "answers"));
        let strategy = Strategy::one_for_one()
            .default_directive(Directive::Restart)
            .on(FailureKind::Start, Directive::Stop);
        parent(system, starter(&said, |_| true), strategy, (&ends, &answers)).tell(ParentMsg::Go);
        assert_eq!(ends.expect(system), StopReason::Failed(FailureKind::Start));
        assert_eq!(failed_starts(system), 1);
    });
}

#[test]
fn s3_a_restart_whose_new_start_fails_is_tried_again_within_the_budget() {
    // The first start is good; after a failure at run time two more starts fail, or all do.
    let twice: Fails = |start| (2..4).contains(&start);
    let always: Fails = |start| start > 1;
    for (fails, ends_well) in [(twice, true), (always, false)] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let actor = system.spawn("actor", starter(&probe, fails)).expect("a free name");
            probe.watch(system, &actor.any());
            [Msg::Say(1), Msg::Fail, Msg::Say(2)].into_iter().for_each(|msg| actor.tell(msg));
            assert_eq!(probe.expect(system), (1, 1));
            if ends_well {
                assert_eq!(probe.expect(system), (4, 2), "the mail has waited for the third restart");
                assert_eq!(failed_starts(system), 2);
            } else {
                let reason = probe.expect_terminated(system).reason;
                assert_eq!(reason, StopReason::Failed(FailureKind::Start));
                assert_eq!(failed_starts(system), 10, "10 restarts in 10 s are allowed");
                wait_until(system, "the dead letter", || system.ledger().dead_lettered == 1);
            }
        });
    }
}

#[test]
fn s3_an_actor_at_the_top_that_cannot_start_holds_up_no_shutdown() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = system.spawn("never", starter(&probe, |_| true)).expect("a free name");
        (0..10).for_each(|n| actor.tell(Msg::Say(n)));
        // Wherever in its tries the shutdown meets it.
        let tries = (system.seed() % 12) as usize;
        wait_until(system, "some tries", || failed_starts(system) >= tries.min(11));
        assert_eq!(system.shutdown(Duration::from_secs(10)), Ok(Exit::Shutdown));
        assert_eq!((system.live_actors(), system.ledger().dead_lettered), (0, 10));
    });
}
