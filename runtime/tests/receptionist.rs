//! Promises of the receptionist: who is listed lives, and every change is told once and in order.

mod common;

use std::sync::Arc;

use common::scripted::{self, Msg, idle, props, rest, run, spawn};
use footlights::actor::{ActorRef, JoinError};
use footlights::observe::EventKind;
use footlights::pattern::{Listing, ServiceKey};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher};

fn key() -> ServiceKey<Msg> {
    ServiceKey::new("worker")
}

fn count(listing: Listing<Msg>) -> Vec<String> {
    listing.actors.iter().map(|actor| actor.path().to_owned()).collect()
}

fn two(system: &ActorSystem, probe: &Probe<u64>) -> (ActorRef<Msg>, ActorRef<Msg>) {
    (spawn(system, "a", props(probe)), spawn(system, "b", props(probe)))
}

#[test]
fn who_registers_is_found_until_it_deregisters() {
    on_each_dispatcher(|system| {
        let (a, b) = two(system, &Probe::new(system, "probe"));
        let desk = system.receptionist();
        assert_eq!(desk.find(&key()), []);
        assert!(!desk.deregister(&key(), &a), "it was not listed");
        for actor in [&b, &a, &b] {
            desk.register(&key(), actor).expect("a living actor");
        }
        assert_eq!(desk.find(&key()), [b.clone(), a.clone()], "once each, in the order of registration");
        assert_eq!(desk.find(&ServiceKey::<Msg>::new("other")), []);
        assert_eq!(desk.find(&ServiceKey::<String>::new("worker")), [], "another type is another key");
        assert!(desk.deregister(&key(), &b));
        assert_eq!(desk.find(&key()), [a]);
    });
}

#[test]
fn a_subscriber_gets_the_listing_at_once_and_then_one_per_change() {
    on_each_dispatcher(|system| {
        let (a, b) = two(system, &Probe::new(system, "probe"));
        let ear = Probe::<Vec<String>>::new(system, "ear");
        let desk = system.receptionist();
        desk.register(&key(), &a).expect("a living actor");
        desk.subscribe(&key(), ear.actor(), count).expect("a living actor");
        assert_eq!(ear.expect(system), ["/user/a"]);
        desk.register(&key(), &b).expect("a living actor");
        desk.register(&key(), &b).expect("a living actor");
        assert_eq!(ear.expect(system), ["/user/a", "/user/b"]);
        desk.deregister(&key(), &a);
        assert_eq!(ear.expect(system), ["/user/b"], "what changes nothing is no change");
        b.stop();
        assert_eq!(ear.expect(system), Vec::<String>::new());
        assert!(desk.unsubscribe(&key(), &ear.actor().any()));
        assert!(!desk.unsubscribe(&key(), &ear.actor().any()));
        desk.register(&key(), &a).expect("a living actor");
        rest(system);
        assert_eq!(ear.take(), Vec::<Vec<String>>::new());
    });
}

#[test]
fn the_stopped_are_gone_before_their_notice_comes() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let desk = system.receptionist();
        for _ in 0..20 {
            let actor = spawn(system, "", props(&probe));
            desk.register(&key(), &actor).expect("a living actor");
            probe.watch(system, &actor.any());
            actor.stop();
            probe.expect_terminated(system);
            assert_eq!(desk.find(&key()), []);
            assert_eq!(desk.register(&key(), &actor), Err(JoinError::Ended));
            assert_eq!(desk.subscribe(&key(), &actor, |_: Listing<Msg>| Msg::Fail), Err(JoinError::Ended));
        }
    });
}

#[test]
fn a_restart_changes_nothing() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let actor = spawn(system, "actor", props(&probe));
        run(&actor, |cx| {
            cx.register(&key());
            Err(scripted::planned())
        });
        common::wait_until(system, "a restart", || actor.any().snapshot().restarts == 1);
        assert_eq!(system.receptionist().find(&key()), [actor]);
    });
}

#[test]
fn changes_from_many_sides_come_to_a_subscriber_in_one_order() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let ear = Probe::<Vec<String>>::new(system, "ear");
        let desk = system.receptionist();
        desk.subscribe(&key(), ear.actor(), count).expect("a living actor");
        let actors: Vec<_> = (0..8).map(|n| spawn(system, &format!("w{n}"), props(&probe))).collect();
        for actor in &actors {
            run(actor, |cx| {
                cx.register(&key());
                Ok(())
            });
        }
        let sizes: Vec<usize> = (0..9).map(|_| ear.expect(system).len()).collect();
        assert_eq!(sizes, (0..9).collect::<Vec<_>>());
        actors.iter().for_each(ActorRef::stop);
        let sizes: Vec<usize> = (0..8).map(|_| ear.expect(system).len()).collect();
        assert_eq!(sizes, (0..8).rev().collect::<Vec<_>>());
    });
}

#[test]
fn a_subscriber_that_stops_is_forgotten() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let (ear, actor) = (spawn(system, "ear", props(&probe)), spawn(system, "actor", props(&probe)));
        let kept = Arc::new(());
        let inside = kept.clone();
        let map = move |listing: Listing<Msg>| {
            let _ = &inside;
            Msg::Say(listing.actors.len() as u64)
        };
        system.receptionist().subscribe(&key(), &ear, map).expect("a living actor");
        assert_eq!(probe.expect(system), 0);
        probe.watch(system, &ear.any());
        ear.stop();
        probe.expect_terminated(system);
        common::wait_until(system, "the map to be dropped", || Arc::strong_count(&kept) == 1);
        system.receptionist().register(&key(), &actor).expect("a living actor");
        idle(system, &actor);
        assert_eq!(system.dead_letters(), []);
    });
}

#[test]
fn registrations_are_events_that_count() {
    let system = ActorSystem::builder("events").stepper().build().expect("good settings");
    let (a, b) = two(&system, &Probe::new(&system, "probe"));
    let desk = system.receptionist();
    desk.register(&key(), &a).expect("a living actor");
    desk.register(&key(), &b).expect("a living actor");
    a.stop();
    rest(&system);
    let told: Vec<_> = system
        .rare_events(0)
        .0
        .into_iter()
        .filter_map(|event| match event.kind {
            EventKind::Registered { key, members } => Some((event.actor, key, true, members)),
            EventKind::Unregistered { key, members } => Some((event.actor, key, false, members)),
            _ => None,
        })
        .collect();
    let name: Arc<str> = "worker".into();
    let expected = [(a.id(), true, 1), (b.id(), true, 2), (a.id(), false, 1)];
    assert_eq!(told, expected.map(|(id, joined, n)| (id, name.clone(), joined, n)));
}
