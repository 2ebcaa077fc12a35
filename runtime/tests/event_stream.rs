//! Promises of the event stream: a subscription holds, keeps order, survives what it may, and leaves nothing behind.

mod common;

use std::sync::Arc;

use common::hush_planned_panics;
use common::scripted::{self, Msg, props, rest, run, spawn};
use footlights::actor::JoinError;
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::observe::{DeadLetterReason, EventKind};
use footlights::pattern::EventStream;
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};

#[derive(Clone, Debug, PartialEq)]
struct Price(u64);

#[derive(Clone)]
struct Other;

fn say(price: Price) -> Msg {
    Msg::Say(price.0)
}

#[test]
fn a_subscription_holds_before_the_call_returns() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        let stream = system.event_stream();
        assert_eq!(stream.publish(Price(1)), 0, "nobody has subscribed");
        stream.subscribe(&actor, say).expect("a living actor");
        assert_eq!(stream.publish(Price(2)), 1);
        assert_eq!(stream.publish(Other), 0, "another type is another topic");
        assert_eq!(probe.expect(system), 2);
        rest(system);
        assert!(probe.take().is_empty(), "what was published before is not heard");
    });
}

#[test]
fn events_of_one_publisher_come_in_order_and_between_what_it_tells() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        let publisher = spawn(system, "publisher", props(&probe));
        system.event_stream().subscribe(&actor, say).expect("a living actor");
        run(&publisher, move |cx| {
            for n in (0..300).step_by(3) {
                cx.publish(Price(n));
                cx.tell(&actor, Msg::Say(n + 1));
                cx.publish(Price(n + 2));
            }
            Ok(())
        });
        let heard: Vec<u64> = (0..300).map(|_| probe.expect(system)).collect();
        assert_eq!(heard, (0..300).collect::<Vec<_>>());
    });
}

#[test]
fn events_queue_behind_what_waits_for_room() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let small = props(&probe).mailbox(Mailbox::bounded(2, OverflowStrategy::Backpressure));
        let actor = spawn(system, "actor", small);
        let publisher = spawn(system, "publisher", props(&probe));
        system.event_stream().subscribe(&actor, say).expect("a living actor");
        run(&publisher, move |cx| {
            (0..20).for_each(|n| cx.send(&actor, Msg::Say(n)));
            if cx.awaits_room() {
                cx.publish(Price(20));
            } else {
                cx.send(&actor, Msg::Say(20));
            }
            Ok(())
        });
        let heard: Vec<u64> = (0..21).map(|_| probe.expect(system)).collect();
        assert_eq!(heard, (0..21).collect::<Vec<_>>());
    });
}

#[test]
fn a_full_mailbox_never_unsubscribes() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let small = props(&probe).mailbox(Mailbox::bounded(1, OverflowStrategy::DropOldest));
        let actor = spawn(system, "actor", small);
        let stream = system.event_stream();
        stream.subscribe(&actor, say).expect("a living actor");
        rest(system);
        for n in 0..20 {
            assert_eq!(stream.publish(Price(n)), 1);
        }
        rest(system);
        assert_eq!(probe.take(), [19], "the mailbox's own policy decides");
        assert_eq!(system.ledger().dropped, 19);
        stream.publish(Price(20));
        rest(system);
        assert_eq!(probe.take(), [20]);
    });
}

#[test]
fn a_stop_unsubscribes_and_leaves_no_dead_letter() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        let stream = system.event_stream();
        stream.subscribe(&actor, say).expect("a living actor");
        stream.subscribe(&actor, |_: Other| Msg::Fail).expect("a living actor");
        probe.watch(system, &actor.any());
        actor.stop();
        probe.expect_terminated(system);
        assert_eq!((stream.subscribers::<Price>(), stream.subscribers::<Other>()), (0, 0));
        assert_eq!(stream.publish(Price(1)), 0);
        assert_eq!(system.dead_letters(), []);
        assert_eq!(stream.subscribe(&actor, say), Err(JoinError::Ended));
        assert_eq!(stream.subscribers::<Price>(), 0);
    });
}

#[test]
fn a_subscription_that_races_with_the_stop_leaves_nothing_behind() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let stream = system.event_stream();
        for _ in 0..50 {
            let actor = spawn(system, "", props(&probe));
            probe.watch(system, &actor.any());
            actor.stop();
            // Whoever is first, in the end there is no subscriber.
            let _ = stream.subscribe(&actor, say);
            probe.expect_terminated(system);
            assert_eq!(stream.subscribers::<Price>(), 0);
        }
    });
}

#[test]
fn a_subscription_survives_a_restart_and_ends_on_request() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        run(&actor, |cx| {
            cx.subscribe(say);
            Err(scripted::planned())
        });
        common::wait_until(system, "a restart", || actor.any().snapshot().restarts == 1);
        system.event_stream().publish(Price(1));
        assert_eq!(probe.expect(system), 1);
        run(&actor, |cx| {
            assert!(cx.unsubscribe::<Price>());
            assert!(!cx.unsubscribe::<Price>());
            assert!(!cx.unsubscribe::<Other>());
            Ok(())
        });
        scripted::idle(system, &actor);
        assert_eq!(system.event_stream().publish(Price(2)), 0);
    });
}

#[test]
fn a_second_subscription_replaces_the_first() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        let stream = system.event_stream();
        stream.subscribe(&actor, say).expect("a living actor");
        stream.subscribe(&actor, |price: Price| Msg::Say(price.0 + 100)).expect("a living actor");
        assert_eq!(stream.publish(Price(1)), 1);
        assert_eq!(probe.expect(system), 101);
        assert_eq!((stream.subscribers::<Price>(), probe.take()), (1, vec![]));
    });
}

#[test]
fn a_panic_in_a_map_is_the_subscribers_loss_alone() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (bad, good) = (spawn(system, "bad", props(&probe)), spawn(system, "good", props(&probe)));
        let stream = system.event_stream();
        stream.subscribe(&bad, |_: Price| panic!("planned: in a map")).expect("a living actor");
        stream.subscribe(&good, say).expect("a living actor");
        assert_eq!(stream.publish(Price(5)), 2);
        assert_eq!(probe.expect(system), 5);
        let letters = system.dead_letters();
        assert_eq!(letters.len(), 1);
        assert_eq!((&*letters[0].to, letters[0].reason), ("/user/bad", DeadLetterReason::AdapterFailed));
        assert!(letters[0].type_name.ends_with("::Price"));
    });
}

#[test]
fn subscribers_are_served_in_the_order_in_which_they_came() {
    on_steppers(|system| {
        let order = Arc::new(std::sync::Mutex::new(Vec::new()));
        let probe = Probe::<u64>::new(system, "probe");
        for n in [3, 1, 2] {
            let actor = spawn(system, "", props(&probe));
            let order = order.clone();
            let map = move |_: Price| {
                order.lock().expect("no panic").push(n);
                Msg::Say(n)
            };
            system.event_stream().subscribe(&actor, map).expect("a living actor");
        }
        system.event_stream().publish(Price(0));
        assert_eq!(*order.lock().expect("no panic"), [3, 1, 2]);
    });
}

#[test]
fn an_actor_of_another_system_is_refused() {
    let (one, two) = (system("one"), system("two"));
    let probe = Probe::new(&one, "probe");
    let actor = spawn(&one, "actor", props(&probe));
    let stream: EventStream = two.event_stream();
    assert_eq!(stream.subscribe(&actor, say), Err(JoinError::OtherSystem));
    assert_eq!(JoinError::OtherSystem.to_string(), "the actor lives in another system");
    assert_eq!(JoinError::Ended.to_string(), "the actor has ended");
}

#[test]
fn a_publication_is_an_event_that_names_the_topic_and_counts() {
    let system = system("events");
    let probe = Probe::new(&system, "probe");
    let actor = spawn(&system, "actor", props(&probe));
    system.event_stream().subscribe(&actor, say).expect("a living actor");
    run(&actor, |cx| {
        assert_eq!(cx.publish(Price(1)), 1);
        Ok(())
    });
    rest(&system);
    let published: Vec<_> = system
        .rare_events(0)
        .0
        .into_iter()
        .filter_map(|event| match event.kind {
            EventKind::Published { topic, subscribers } => Some((event.actor, topic, subscribers)),
            _ => None,
        })
        .collect();
    assert_eq!(published.len(), 1);
    assert_eq!((published[0].0, published[0].2), (actor.id(), 1));
    assert!(published[0].1.ends_with("::Price"));
}

#[test]
fn a_dropped_system_lets_go_of_its_subscribers() {
    let alive = Arc::new(());
    {
        let system = system("dropped");
        let probe = Probe::new(&system, "probe");
        let actor = spawn(&system, "actor", props(&probe));
        let kept = alive.clone();
        let map = move |price: Price| {
            let _ = &kept;
            say(price)
        };
        system.event_stream().subscribe(&actor, map).expect("a living actor");
        assert_eq!(Arc::strong_count(&alive), 2);
    }
    assert_eq!(Arc::strong_count(&alive), 1);
}

fn system(name: &str) -> ActorSystem {
    ActorSystem::builder(name).stepper().build().expect("good settings")
}
