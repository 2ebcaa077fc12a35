//! Promises of suspension: whatever is made below a suspended actor is suspended with it, until the resume.

mod common;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::scripted::{Msg, Scripted, planned, props, run, spawn};
use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::observe::ActorState;
use footlights::supervise::{Directive, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_steppers};
use footlights::time::Instant;

const MS: Duration = Duration::from_millis(1);

/// Where the test finds an actor that was made elsewhere.
type Slot<M> = Arc<Mutex<Option<ActorRef<M>>>>;
type Job = Box<dyn FnOnce(&mut Context<'_, Parent>) -> Result<(), Failure> + Send>;

/// Has a child as soon as it runs, first and again.
struct Parent {
    child: Props<Scripted>,
    slot: Slot<Msg>,
}

impl Actor for Parent {
    type Msg = Job;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let child = cx.spawn("child", self.child.clone())?;
        *self.slot.lock().unwrap() = Some(child);
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, job: Job) -> Result<(), Failure> {
        job(cx)
    }
}

/// The top, whose answer to a failure is Resume; below it the middle, then the parent, then its child.
struct Family {
    top: ActorRef<Msg>,
    middle: ActorRef<Msg>,
    parent: ActorRef<Job>,
    child: Slot<Msg>,
}

fn family(system: &ActorSystem, probe: &Probe<u64>) -> Family {
    let strategy = Strategy::one_for_one().default_directive(Directive::Resume);
    let top = spawn(system, "top", props(probe).supervise(strategy));
    let (middle, parent, child): (Slot<Msg>, Slot<Job>, Slot<Msg>) = Default::default();
    let (to_middle, to_parent, to_child) = (middle.clone(), parent.clone(), child.clone());
    let (middles, childs) = (props(probe), props(probe));
    run(&top, move |cx| {
        let middle = cx.spawn("middle", middles)?;
        run(&middle, move |cx| {
            let props = Props::new(move || Parent { child: childs.clone(), slot: to_child.clone() });
            *to_parent.lock().unwrap() = Some(cx.spawn("parent", props)?);
            Ok(())
        });
        *to_middle.lock().unwrap() = Some(middle);
        Ok(())
    });
    wait_until(system, "the child", || child.lock().unwrap().is_some());
    let made = |slot: Slot<Msg>| slot.lock().unwrap().clone().expect("it was made");
    let parent = parent.lock().unwrap().clone().expect("it was made");
    Family { top, middle: made(middle), parent, child }
}

#[test]
fn a_child_made_by_a_restart_under_a_suspended_actor_waits_for_the_resume() {
    let waited = Cell::new(0);
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let Family { top, middle, parent, child } = family(system, &probe);
        let first = child.lock().unwrap().take().expect("the first child");
        // Virtual time: with one worker all of this is done in turn, and there is nothing to wait for.
        run(&top, |cx| {
            cx.work(MS * 500);
            Ok(())
        });
        system.run_for(MS);
        parent.tell(Box::new(|cx| {
            cx.work(MS * 5);
            Err(planned())
        }));
        system.run_for(MS);
        middle.tell(Msg::Fail);
        system.run_for(MS * 20);
        let made = child.lock().unwrap().clone();
        if let Some(child) = made {
            assert!(child != first, "another one");
            assert_eq!(middle.any().snapshot().state, ActorState::Suspended);
            child.tell(Msg::Say(9));
            system.run_for(MS * 20);
            assert_eq!(probe.take(), [0; 0], "it handles nothing while those above it are suspended");
            assert_eq!(child.any().snapshot().state, ActorState::Suspended);
            assert_eq!(probe.expect(system), 9);
            assert!(system.now() >= Instant::ZERO + MS * 500, "after the resume");
            waited.set(waited.get() + 1);
        }
        wait_until(system, "the restart", || parent.any().snapshot().incarnation == 2);
    });
    assert!(waited.get() >= 8, "on 4 workers there is a top at work meanwhile: {waited:?}");
}

#[test]
fn a_child_made_by_a_restart_under_a_suspended_actor_waits_for_the_resume_on_threads() {
    let system = ActorSystem::builder("threads").pool().workers(4).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let Family { top, middle, parent, child } = family(&system, &probe);
    let first = child.lock().unwrap().take().expect("the first child");
    let gate = || Arc::new(AtomicBool::new(false));
    let pass = |gate: &AtomicBool, until: Instant, now: &dyn Fn() -> Instant| {
        while !gate.load(Ordering::Relaxed) && now() < until {
            std::thread::yield_now();
        }
    };
    let (top_gate, parent_gate, busy) = (gate(), gate(), Arc::new(AtomicU32::new(0)));
    let patience = system.now() + MS * 10_000;
    let (held, entered) = (top_gate.clone(), busy.clone());
    run(&top, move |cx| {
        entered.fetch_add(1, Ordering::Relaxed);
        pass(&held, patience, &|| cx.now());
        Ok(())
    });
    let (held, entered) = (parent_gate.clone(), busy.clone());
    parent.tell(Box::new(move |cx| {
        entered.fetch_add(1, Ordering::Relaxed);
        pass(&held, patience, &|| cx.now());
        Err(planned())
    }));
    wait_until(&system, "both at work", || busy.load(Ordering::Relaxed) == 2);
    middle.tell(Msg::Fail);
    wait_until(&system, "the failure", || middle.any().snapshot().state == ActorState::Suspended);
    parent_gate.store(true, Ordering::Relaxed);
    wait_until(&system, "another child", || child.lock().unwrap().is_some());
    let child = child.lock().unwrap().clone().expect("just seen");
    assert!(child != first);
    child.tell(Msg::Say(9));
    wait_until(&system, "its suspension", || child.any().snapshot().state == ActorState::Suspended);
    assert_eq!(probe.take(), [0; 0], "it has handled nothing");
    top_gate.store(true, Ordering::Relaxed);
    assert_eq!(probe.expect(&system), 9, "after the resume");
}
