//! Promises of consistent hashing (case R1): which keys move when routees come and go, and what has no key.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::{hush_planned_panics, wait_until};
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient};
use footlights::observe::{DeadLetterReason, EventKind};
use footlights::routing::{Refill, Router, RouterRef, key_of};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Keys looked at on each dispatcher; the ring itself is tested with ten thousand.
const KEYS: u64 = 1_000;

/// Who got it, and what it was.
type Said = (String, Msg);

#[derive(Clone, Debug, PartialEq)]
enum Msg {
    Keyed(u64),
    Keyless,
    Cursed,
    Fail,
}

fn key(message: &Msg) -> Option<u64> {
    match message {
        Msg::Keyed(key) => Some(*key),
        Msg::Keyless | Msg::Fail => None,
        Msg::Cursed => panic!("planned: no key to be had"),
    }
}

struct Routee {
    out: Recipient<Said>,
}

impl Actor for Routee {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        if message == Msg::Fail {
            return Err(Failure::new("planned", "on request"));
        }
        let name = cx.path().rsplit('/').next().unwrap_or_default().to_owned();
        self.out.tell((name, message));
        Ok(())
    }
}

fn props(probe: &Probe<Said>) -> Props<Routee> {
    let out = probe.recipient();
    Props::new(move || Routee { out: out.clone() })
}

fn pool(system: &ActorSystem, probe: &Probe<Said>, n: usize) -> RouterRef<Msg> {
    let pool = Router::consistent_hash(key).pool(n, props(probe)).refill(Refill::Shrink);
    system.spawn_router("pool", pool).expect("a free name")
}

/// Gives the owner of every key, by name, without sending anything.
fn owners(router: &RouterRef<Msg>) -> Vec<String> {
    let owner = |key| router.choose_for(&Msg::Keyed(key)).expect("an owner");
    (0..KEYS).map(|key| owner(key).path().rsplit('/').next().unwrap_or_default().to_owned()).collect()
}

fn moved<'a>(before: &'a [String], after: &'a [String]) -> Vec<(&'a str, &'a str)> {
    let pairs = before.iter().zip(after).filter(|(before, after)| before != after);
    pairs.map(|(before, after)| (before.as_str(), after.as_str())).collect()
}

#[test]
fn r1_keys_have_owners_with_fair_shares_and_messages_go_to_them() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, 10);
        let owners = owners(&router);
        let mut shares: BTreeMap<&str, u64> = BTreeMap::new();
        owners.iter().for_each(|owner| *shares.entry(owner).or_insert(0) += 1);
        assert_eq!(shares.len(), 10);
        assert!(shares.values().all(|&n| (KEYS / 20..=3 * KEYS / 20).contains(&n)), "{shares:?}");
        for key in (0..KEYS).step_by(97) {
            router.tell(Msg::Keyed(key));
            assert_eq!(probe.expect(system), (owners[key as usize].clone(), Msg::Keyed(key)));
        }
    });
}

#[test]
fn r1_removal_moves_the_keys_of_the_one_that_is_gone_and_no_others() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, 10);
        let before = owners(&router);
        let fourth = router.routees()[3].clone();
        fourth.stop();
        wait_until(system, "the news of the fourth", || router.routees().len() == 9);
        let after = owners(&router);
        let moved = moved(&before, &after);
        assert!(!moved.is_empty());
        assert!(moved.iter().all(|&(from, to)| from == "r4" && to != "r4"));
        assert!(after.iter().all(|owner| owner != "r4"));
        // The router has seen the death: nothing goes to the dead.
        (0..KEYS).step_by(11).for_each(|key| router.tell(Msg::Keyed(key)));
        (0..KEYS).step_by(11).for_each(|_| assert_ne!(probe.expect(system).0, "r4"));
        assert_eq!(system.dead_letters(), []);
    });
}

#[test]
fn r1_addition_moves_keys_to_the_newcomer_only_and_not_many() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, 10);
        let before = owners(&router);
        assert_eq!(system.block_on(router.set_size(11)), Ok(11));
        let after = owners(&router);
        let moved = moved(&before, &after);
        assert!(moved.iter().all(|&(_, to)| to == "r11"), "{moved:?}");
        let n = moved.len() as u64;
        assert!((KEYS / 20..=3 * KEYS / 20).contains(&n), "{n} of {KEYS} moved");
    });
}

#[test]
fn r1_a_restart_in_place_moves_nothing() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, 10);
        let before = owners(&router);
        let routee = router.routees()[5].clone();
        routee.tell(Msg::Fail);
        wait_until(system, "the restart", || routee.any().snapshot().incarnation == 2);
        assert_eq!(owners(&router), before);
    });
}

#[test]
fn r1_a_replaced_routee_has_the_keys_of_the_one_that_it_replaces() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = system.spawn_router("pool", Router::consistent_hash(key).pool(5, props(&probe)));
        let router = router.expect("a free name");
        let (before, old) = (owners(&router), router.routees()[1].clone());
        old.stop();
        wait_until(system, "a replacement", || {
            let routees = router.routees();
            routees.len() == 5 && !routees.contains(&old)
        });
        assert_eq!(owners(&router), before);
    });
}

#[cfg(panic = "unwind")]
#[test]
fn r1_a_broadcast_reaches_each_living_routee_once_with_or_without_a_key() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, 10);
        router.routees()[3].stop();
        wait_until(system, "the news of the fourth", || router.routees().len() == 9);
        for message in [Msg::Keyed(7), Msg::Keyless, Msg::Cursed] {
            router.broadcast(message.clone());
            let mut names: Vec<String> = (0..9)
                .map(|_| {
                    let (name, got) = probe.expect(system);
                    assert_eq!(got, message);
                    name
                })
                .collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), 9, "{names:?}");
        }
        assert_eq!(system.dead_letters(), []);
    });
}

#[cfg(panic = "unwind")]
#[test]
fn r1_a_message_without_a_key_is_a_dead_letter_and_the_router_lives() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, 3);
        router.tell(Msg::Keyless);
        router.tell(Msg::Cursed);
        let reasons: Vec<_> = system.dead_letters().into_iter().map(|letter| letter.reason).collect();
        assert_eq!(reasons, [DeadLetterReason::NoKey; 2]);
        let named = system.rare_events(0).0.into_iter().any(|event| match event.kind {
            EventKind::HookFailed { hook, text } => {
                hook == "key of a message"
                    && text.contains("Msg")
                    && text.contains("planned: no key to be had")
            }
            _ => false,
        });
        assert!(named, "the failure of the key's function names the message");
        router.tell(Msg::Keyed(1));
        assert_eq!(probe.expect(system).1, Msg::Keyed(1));
    });
}

#[test]
fn r1_the_order_in_which_routees_came_never_shows() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let members: Vec<ActorRef<Msg>> =
            (0..6).map(|n| system.spawn(&format!("m{n}"), props(&probe)).expect("a free name")).collect();
        let spawn = |name: &str, members: Vec<ActorRef<Msg>>| {
            system.spawn_router(name, Router::consistent_hash(key).group(members)).expect("a free name")
        };
        let forwards = spawn("forwards", members.clone());
        let backwards = spawn("backwards", members.iter().rev().cloned().collect());
        let one_by_one = spawn("one", members[2..3].to_vec());
        for member in [4, 0, 5, 1, 3] {
            let added = system.block_on(one_by_one.add_routee(&members[member]));
            added.expect("it is added");
        }
        assert_eq!(owners(&forwards), owners(&backwards));
        assert_eq!(owners(&forwards), owners(&one_by_one));
    });
}

#[test]
fn r1_a_member_is_known_by_its_label_wherever_it_lives() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let spawn = |name: &str| system.spawn(name, props(&probe)).expect("a free name");
        let group = |name: &str, [a, b]: [ActorRef<Msg>; 2]| {
            let group = Router::consistent_hash(key).group([]).labelled("a", a).labelled("b", b);
            system.spawn_router(name, group).expect("a free name")
        };
        let (first, second) = ([spawn("x1"), spawn("x2")], [spawn("y1"), spawn("y2")]);
        let (one, two) = (group("one", first.clone()), group("two", second.clone()));
        for key in 0..1_000 {
            let place = |router: &RouterRef<Msg>, members: &[ActorRef<Msg>]| {
                let owner = router.choose_for(&Msg::Keyed(key)).expect("an owner");
                members.iter().position(|member| *member == owner)
            };
            assert_eq!(place(&one, &first), place(&two, &second));
        }
    });
}

#[test]
fn r1_one_routee_gets_all_and_none_gets_none() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, 1);
        for name in ["a", "b", "c"] {
            router.tell(Msg::Keyed(key_of(name)));
            assert_eq!(probe.expect(system).0, "r1");
        }
        let empty = system.spawn_router("empty", Router::consistent_hash(key).group([]));
        let empty = empty.expect("a free name");
        empty.tell(Msg::Keyed(1));
        let reasons: Vec<_> = system.dead_letters().into_iter().map(|letter| letter.reason).collect();
        assert_eq!(reasons, [DeadLetterReason::NoRoutee]);
    });
}

#[test]
fn r1_a_key_whose_owner_has_just_ended_goes_where_it_will_go_afterwards() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = pool(system, &probe, 4);
        system.run_until_quiet(1_000);
        let second = router.routees()[1].clone();
        second.stop();
        wait_until(system, "a closed routee", || second.is_closed());
        let before = owners(&router);
        wait_until(system, "the news of it", || router.routees().len() == 3);
        assert_eq!(owners(&router), before);
        assert!(system.now().as_nanos() < Duration::from_secs(1).as_nanos() as u64);
    });
}
