//! Promises of groups that follow a service: who registers is a routee at once, who stops is none before anybody hears of it.

mod common;

use std::collections::BTreeSet;
use std::time::Duration;

use common::routees::{Job, MS, Said, names, props, shares, table_size};
use common::scripted::rest;
use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient};
use footlights::observe::{DeadLetterReason, EventKind};
use footlights::pattern::{AskError, Reply, ServiceKey};
use footlights::rng::Rng;
use footlights::routing::{Router, RouterRef};
use footlights::supervise::{Directive, FailureKind, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};

fn key() -> ServiceKey<Job> {
    ServiceKey::new("worker")
}

fn group(system: &ActorSystem, router: Router<Job>) -> RouterRef<Job> {
    system.spawn_router("group", router.group_of(&key())).expect("a free name")
}

fn worker(system: &ActorSystem, probe: &Probe<Said>, name: &str) -> ActorRef<Job> {
    system.spawn(name, props(probe)).expect("a free name")
}

fn register(system: &ActorSystem, actor: &ActorRef<Job>) {
    system.receptionist().register(&key(), actor).expect("a living actor");
}

fn reasons(system: &ActorSystem) -> Vec<DeadLetterReason> {
    system.dead_letters().into_iter().map(|letter| letter.reason).collect()
}

#[test]
fn a_group_is_whoever_is_registered() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = group(system, Router::round_robin());
        router.tell(Job::Say(0));
        assert_eq!(reasons(system), [DeadLetterReason::NoRoutee], "nobody is there yet");
        let (a, b) = (worker(system, &probe, "a"), worker(system, &probe, "b"));
        register(system, &a);
        assert_eq!(router.routees(), std::slice::from_ref(&a), "at once");
        router.tell(Job::Say(1));
        assert_eq!(probe.expect(system), ("a".to_owned(), 1, 1));
        register(system, &b);
        register(system, &b);
        assert_eq!(router.routees(), [a.clone(), b.clone()], "once each");
        assert_eq!(shares(system, &probe, &router, 10).into_values().collect::<Vec<_>>(), [5, 5]);
        assert!(system.receptionist().deregister(&key(), &a));
        assert_eq!(router.routees(), std::slice::from_ref(&b));
        assert!(!a.is_closed());
        b.stop();
        wait_until(system, "the end of the last", || b.is_closed() && router.routees().is_empty());
        router.tell(Job::Say(2));
        assert_eq!(reasons(system), [DeadLetterReason::NoRoutee; 2]);
    });
}

#[test]
fn those_who_were_there_before_the_group_are_in_it() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let workers = ["b", "a", "c"].map(|name| worker(system, &probe, name));
        workers.iter().for_each(|worker| register(system, worker));
        let router = group(system, Router::broadcast());
        assert_eq!(router.routees(), workers, "in the order of registration");
        router.tell(Job::Say(7));
        let said: BTreeSet<String> = (0..3).map(|_| probe.expect(system).0).collect();
        assert_eq!(said, ["a", "b", "c"].map(str::to_owned).into());
    });
}

#[test]
fn who_stops_is_no_routee_when_its_notice_comes() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = group(system, Router::random());
        let stays = worker(system, &probe, "stays");
        register(system, &stays);
        for n in 0..20 {
            let goes = worker(system, &probe, &format!("goes-{n}"));
            register(system, &goes);
            assert_eq!(router.routees().len(), 2);
            probe.watch(system, &goes.any());
            if n % 2 == 0 {
                goes.stop()
            } else {
                goes.kill()
            }
            probe.expect_terminated(system);
            assert_eq!(router.routees(), std::slice::from_ref(&stays));
            router.tell(Job::Say(n));
            assert_eq!(probe.expect(system), ("stays".to_owned(), 1, n));
        }
        assert_eq!(reasons(system), []);
    });
}

#[test]
fn in_a_hash_ring_a_member_is_known_by_its_path() {
    let key_of = |job: &Job| if let Job::Say(n) = job { Some(u64::from(*n)) } else { None };
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = group(system, Router::consistent_hash(key_of));
        let workers: Vec<_> = (0..6).map(|n| worker(system, &probe, &format!("w{n}"))).collect();
        workers.iter().rev().for_each(|worker| register(system, worker));
        assert_eq!(names(&router)[0], "/user/w5");
        let by_hand = Router::consistent_hash(key_of).group(workers.iter().cloned());
        let by_hand = system.spawn_router("by-hand", by_hand).expect("a free name");
        let owners = |router: &RouterRef<Job>| -> Vec<ActorRef<Job>> {
            let owner = |n| router.choose_for(&Job::Say(n)).expect("somebody is there");
            (0..300).map(owner).collect()
        };
        let before = owners(&router);
        assert_eq!(before, owners(&by_hand), "the order of registration does not count");
        assert!(system.receptionist().deregister(&key(), &workers[2]));
        let after = owners(&router);
        for (n, (old, new)) in before.iter().zip(&after).enumerate() {
            assert!(new != &workers[2] && (old == new || old == &workers[2]), "key {n}: {old:?} to {new:?}");
        }
        register(system, &workers[2]);
        assert_eq!(owners(&router), before, "and back again");
    });
}

#[test]
fn random_joins_and_leaves_lose_no_message() {
    on_each_dispatcher(|system| join_and_leave(system, Router::smallest_mailbox()));
    on_each_dispatcher(|system| join_and_leave(system, Router::balancing()));
    on_each_dispatcher(|system| join_and_leave(system, Router::consistent_hash(|_| Some(7))));
}

fn join_and_leave(system: &ActorSystem, router: Router<Job>) {
    let probe = Probe::new(system, "probe");
    let router = group(system, router);
    let mut rng = Rng::new(system.seed());
    let (mut living, mut listed): (Vec<ActorRef<Job>>, BTreeSet<_>) = Default::default();
    let mut sent = 0;
    for n in 0..300 {
        let picked = living.get(rng.below(living.len().max(1) as u64) as usize).cloned();
        match (rng.below(8), picked) {
            (0, _) | (_, None) => living.push(worker(system, &probe, &format!("w{n}"))),
            (1, Some(actor)) => {
                register(system, &actor);
                listed.insert(actor.any().id());
            }
            (2, Some(actor)) => {
                let was = listed.remove(&actor.any().id());
                assert_eq!(system.receptionist().deregister(&key(), &actor), was);
            }
            (3, Some(actor)) => {
                listed.remove(&actor.any().id());
                living.retain(|known| *known != actor);
                actor.stop();
                wait_until(system, "the end of a member", || actor.is_closed());
            }
            (_, Some(_)) => {
                sent += 1;
                router.tell(Job::Say(sent));
            }
        }
        let table: BTreeSet<_> =
            router.routees().iter().filter(|r| !r.is_closed()).map(|r| r.any().id()).collect();
        assert_eq!(table, listed, "after step {n}");
    }
    rest(system);
    let table: BTreeSet<_> = router.routees().iter().map(|r| r.any().id()).collect();
    assert_eq!(table, listed);
    let (said, lost) = (probe.take().len() as u64, system.ledger().dead_lettered);
    assert_eq!(said + lost, u64::from(sent), "{said} said, {lost} dead letters");
    assert!(said > 0);
}

/// Registers, says something by the group that it belongs to, and leaves: by the receptionist, or by its end.
struct Guest {
    key: ServiceKey<Visit>,
    group: RouterRef<Visit>,
    out: Recipient<u32>,
}

enum Visit {
    Come,
    Greet(u32),
}

impl Actor for Guest {
    type Msg = Visit;

    fn receive(&mut self, cx: &mut Context<'_, Self>, visit: Visit) -> Result<(), Failure> {
        match visit {
            Visit::Come => {
                cx.register(&self.key);
                let number = u32::try_from(cx.rng().below(1_000)).unwrap_or_default();
                cx.tell(&self.group, Visit::Greet(number));
                match number % 3 {
                    0 => cx.stop(),
                    1 => {
                        let (me, key) = (cx.myself(), self.key.clone());
                        cx.system().receptionist().deregister(&key, &me);
                    }
                    _ => {}
                }
            }
            Visit::Greet(number) => cx.tell(&self.out, number),
        }
        Ok(())
    }
}

#[test]
fn guests_who_come_and_go_at_once_leave_the_group_as_the_receptionist_lists_it() {
    on_each_dispatcher(|system| {
        let probe = Probe::<u32>::new(system, "probe");
        let key = ServiceKey::new("guests");
        let group = system.spawn_router("group", Router::round_robin().group_of(&key)).expect("a free name");
        let spawn = |n| {
            let (key, group, out) = (key.clone(), group.clone(), probe.recipient());
            let guest = move || Guest { key: key.clone(), group: group.clone(), out: out.clone() };
            system.spawn(&format!("guest-{n}"), Props::new(guest)).expect("a free name")
        };
        let guests: Vec<ActorRef<Visit>> = (0..60).map(spawn).collect();
        guests.iter().for_each(|guest| guest.tell(Visit::Come));
        rest(system);
        let listed: BTreeSet<_> = system.receptionist().find(&key).iter().map(|g| g.any().id()).collect();
        let routees: BTreeSet<_> = group.routees().iter().map(|g| g.any().id()).collect();
        assert_eq!(routees, listed);
        assert!(guests.iter().all(|guest| !guest.is_closed() || !routees.contains(&guest.any().id())));
        let (greeted, lost) = (probe.take().len() as u64, system.ledger().dead_lettered);
        assert_eq!(greeted + lost, 60, "{greeted} and {lost}");
    });
}

#[test]
fn what_was_done_by_hand_stays_done() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = group(system, Router::round_robin());
        let [a, b, c] = ["a", "b", "c"].map(|name| worker(system, &probe, name));
        assert_eq!(system.block_on(router.add_routee(&a)), Ok(1));
        [&a, &b].into_iter().for_each(|worker| register(system, worker));
        assert_eq!(system.block_on(router.remove_routee(&b.any())), Ok(1));
        register(system, &c);
        assert_eq!(router.routees(), [a.clone(), c.clone()], "a change elsewhere does not bring it back");
        assert!(system.receptionist().deregister(&key(), &b));
        register(system, &b);
        assert_eq!(router.routees(), [a.clone(), c.clone(), b.clone()], "it has registered anew");
        [&a, &b, &c].into_iter().for_each(|worker| assert!(system.receptionist().deregister(&key(), worker)));
        assert_eq!(router.routees(), std::slice::from_ref(&a), "it was added by hand");
        a.stop();
        table_size(system, &router, 0);
    });
}

#[test]
fn a_group_that_has_ended_follows_no_more() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let router = group(system, Router::round_robin());
        let a = worker(system, &probe, "a");
        register(system, &a);
        probe.watch(system, &router.actor());
        router.drain();
        probe.expect_terminated(system);
        let b = worker(system, &probe, "b");
        register(system, &b);
        assert_eq!(router.routees(), []);
        assert!(!a.is_closed(), "its routees live on");
        let again = group(system, Router::round_robin());
        assert_eq!(again.routees(), [a, b]);
    });
}

/// Makes a group, and restarts it when it fails.
struct Parent {
    out: Recipient<RouterRef<Job>>,
}

impl Actor for Parent {
    type Msg = ();

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let group = cx.spawn_router("group", Router::round_robin().group_of(&key()))?;
        cx.tell(&self.out, group);
        Ok(())
    }

    fn receive(&mut self, _cx: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
        Ok(())
    }
}

#[test]
fn a_group_that_is_restarted_follows_on() {
    on_each_dispatcher(|system| {
        let (probe, made) = (Probe::new(system, "probe"), Probe::<RouterRef<Job>>::new(system, "made"));
        let out = made.recipient();
        let restart = Strategy::one_for_one().on(FailureKind::Killed, Directive::Restart);
        let parent = Props::new(move || Parent { out: out.clone() }).supervise(restart);
        system.spawn("parent", parent).expect("a free name");
        let router = made.expect(system);
        let (a, b) = (worker(system, &probe, "a"), worker(system, &probe, "b"));
        register(system, &a);
        router.kill();
        wait_until(system, "a restart", || router.actor().snapshot().restarts == 1);
        rest(system);
        register(system, &b);
        assert_eq!(router.routees(), [a.clone(), b.clone()]);
        a.stop();
        wait_until(system, "the end of a", || a.is_closed());
        rest(system);
        assert_eq!(router.routees(), [b]);
    });
}

#[test]
fn a_shared_queue_is_given_up_when_the_last_member_leaves() {
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let router = group(system, Router::balancing());
        router.tell(Job::Say(0));
        assert_eq!(reasons(system), [DeadLetterReason::NoRoutee]);
        let (a, b) = (worker(system, &probe, "a"), worker(system, &probe, "b"));
        register(system, &a);
        router.tell(Job::Say(1));
        assert_eq!(probe.expect(system).2, 1);
        a.tell(Job::Work(10 * MS));
        system.step();
        (2..5).for_each(|n| router.tell(Job::Say(n)));
        register(system, &b);
        (2..5).for_each(|n| assert_eq!(probe.expect(system).2, n));
        [&a, &b].into_iter().for_each(|worker| worker.tell(Job::Work(10 * MS)));
        system.run_for(MS);
        (5..8).for_each(|n| router.tell(Job::Say(n)));
        assert_eq!(router.snapshot().queued, 3);
        [&a, &b].into_iter().for_each(|worker| assert!(system.receptionist().deregister(&key(), worker)));
        assert_eq!(router.snapshot().queued, 0);
        assert_eq!(reasons(system), [DeadLetterReason::NoRoutee; 4]);
    });
}

/// Answers with what it is asked.
struct Echo;

impl Actor for Echo {
    type Msg = (u32, Reply<u32>);

    fn receive(&mut self, _cx: &mut Context<'_, Self>, (n, reply): Self::Msg) -> Result<(), Failure> {
        reply.send(n);
        Ok(())
    }
}

#[test]
fn an_ask_of_an_empty_group_fails_at_once_and_of_another_is_answered() {
    on_each_dispatcher(|system| {
        let key = ServiceKey::new("echo");
        let group = system.spawn_router("group", Router::scatter_gather_first().group_of(&key));
        let group = group.expect("a free name");
        let ask = |n| system.block_on(group.ask(move |reply| (n, reply), Duration::from_secs(3)));
        assert_eq!(ask(1), Err(AskError::Dead));
        let echo = system.spawn("echo", Props::new(|| Echo)).expect("a free name");
        system.receptionist().register(&key, &echo).expect("a living actor");
        assert_eq!(ask(2), Ok(2));
    });
}

#[test]
fn changes_of_the_group_are_events() {
    let system = ActorSystem::builder("events").stepper().build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let router = group(&system, Router::round_robin());
    let a = worker(&system, &probe, "a");
    register(&system, &a);
    a.stop();
    rest(&system);
    let told = system.rare_events(0).0.into_iter().filter(|event| event.actor == router.actor().id());
    let told: Vec<_> = told
        .filter_map(|event| match event.kind {
            EventKind::RouteeAdded { routee, routees } => Some((Some(routee), routees)),
            EventKind::RouteesChanged { routees } => Some((None, routees)),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(Some(a.any().id()), 1), (None, 0)]);
}
