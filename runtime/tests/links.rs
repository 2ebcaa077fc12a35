//! Promises of links: the abnormal end of one fails the other, once, in order; and nothing hangs for it.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::{hush_planned_panics, wait_until};
use footlights::actor::{Actor, ActorRef, AnyRef, Context, Failure, LinkError, Props, Recipient};
use footlights::observe::{DropReason, EventKind, StopReason};
use footlights::supervise::{Directive, FailureKind, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher};
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::strategy::Strategy as _;

type Script = Box<dyn FnOnce(&mut Context<'_, Node>) -> Result<(), Failure> + Send>;

struct Node {
    out: Recipient<u32>,
    strict: Strategy,
}

enum Msg {
    Run(Script),
    Say(u32),
    Adopt(&'static str, Box<Props<Node>>, Recipient<AnyRef>),
}

impl Actor for Node {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Run(script) => return script(cx),
            Msg::Say(n) => self.out.tell(n),
            Msg::Adopt(name, props, to) => {
                to.tell(cx.spawn(name, props.supervise(self.strict.clone()))?.any())
            }
        }
        Ok(())
    }
}

/// Stops its children at their first failure.
fn strict() -> Strategy {
    Strategy::one_for_one().default_directive(Directive::Stop)
}

fn props(probe: &Probe<u32>) -> Props<Node> {
    let out = probe.recipient();
    Props::new(move || Node { out: out.clone(), strict: strict() }).supervise(strict())
}

fn node(system: &ActorSystem, probe: &Probe<u32>, name: &str) -> ActorRef<Msg> {
    system.spawn(name, props(probe)).expect("a free name")
}

fn child(system: &ActorSystem, parent: &ActorRef<Msg>, name: &'static str, props: Props<Node>) -> AnyRef {
    let made = Probe::new(system, "");
    parent.tell(Msg::Adopt(name, Box::new(props), made.recipient()));
    made.expect(system)
}

fn run(
    actor: &ActorRef<Msg>,
    script: impl FnOnce(&mut Context<'_, Node>) -> Result<(), Failure> + Send + 'static,
) {
    actor.tell(Msg::Run(Box::new(script)));
}

fn fail(actor: &ActorRef<Msg>) {
    run(actor, |_| Err(Failure::new("fail", "on request")));
}

fn link(actor: &ActorRef<Msg>, peer: &AnyRef) {
    let peer = peer.clone();
    run(actor, move |cx| Ok(cx.link(&peer)?));
}

/// Waits until `actor` has handled all that it was told before.
fn settle(system: &ActorSystem, probe: &Probe<u32>, actor: &ActorRef<Msg>) {
    actor.tell(Msg::Say(99));
    assert_eq!(probe.expect(system), 99);
}

fn wait_gone(system: &ActorSystem, path: &str) {
    wait_until(system, path, || system.find(path).is_none());
}

fn failures(system: &ActorSystem, actor: &AnyRef) -> usize {
    let linked = |kind: &EventKind| matches!(kind, EventKind::Failed { kind: FailureKind::Linked, .. });
    let events = system.rare_events(0).0;
    events.iter().filter(|event| event.actor == actor.id() && linked(&event.kind)).count()
}

fn balanced_at_rest(system: &ActorSystem) {
    wait_until(system, "rest", || system.is_quiet());
    let ledger = system.ledger();
    assert!(ledger.balanced(), "{ledger:?}");
}

#[test]
fn an_abnormal_end_of_either_fails_the_other_once() {
    for end in [StopReason::Failed(FailureKind::Error), StopReason::Killed] {
        for linker_dies in [true, false] {
            on_each_dispatcher(|system| {
                let probe = Probe::new(system, "probe");
                let (a, b) = (node(system, &probe, "a"), node(system, &probe, "b"));
                (0..3).for_each(|_| link(&a, &b.any()));
                settle(system, &probe, &a);
                link(&b, &a.any());
                settle(system, &probe, &b);
                let (dead, survivor) = if linker_dies { (&a, &b) } else { (&b, &a) };
                probe.watch(system, &survivor.any());
                match end {
                    StopReason::Killed => dead.kill(),
                    _ => (0..11).for_each(|_| fail(dead)), // one more than are forgiven
                }
                assert_eq!(probe.expect_terminated(system).reason, StopReason::Failed(FailureKind::Linked));
                wait_gone(system, dead.path());
                assert_eq!((failures(system, &survivor.any()), failures(system, &dead.any())), (1, 0));
                balanced_at_rest(system);
            });
        }
    }
}

#[test]
fn a_normal_end_fails_nobody_and_leaves_no_entry() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (a, b) = (node(system, &probe, "a"), node(system, &probe, "b"));
        let of_parent = child(system, &b, "child", props(&probe));
        link(&a, &b.any());
        link(&a, &of_parent);
        settle(system, &probe, &a);
        b.stop();
        wait_gone(system, "/user/b");
        wait_until(system, "rest", || system.is_quiet());
        run(&a, move |cx| {
            assert!(!cx.unlink(&b.any()) && !cx.unlink(&of_parent), "the dead has left an entry");
            Ok(())
        });
        settle(system, &probe, &a);
        assert_eq!(failures(system, &a.any()), 0);
    });
}

#[test]
fn linking_to_the_dead_fails_the_linker_in_a_later_turn() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (a, b) = (node(system, &probe, "a"), node(system, &probe, "b"));
        probe.watch(system, &a.any());
        b.stop();
        wait_gone(system, "/user/b");
        wait_until(system, "rest", || system.is_quiet());
        let (dead, out) = (b.any(), probe.recipient());
        run(&a, move |cx| {
            cx.link(&dead)?;
            out.tell(1); // the call itself fails nobody
            Ok(())
        });
        assert_eq!(probe.expect(system), 1);
        assert_eq!(probe.expect_terminated(system).reason, StopReason::Failed(FailureKind::Linked));
        assert_eq!(failures(system, &a.any()), 1);
        balanced_at_rest(system);
    });
}

#[test]
fn an_unlink_withdraws_even_what_is_queued_and_oneself_is_refused() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (a, b) = (node(system, &probe, "a"), node(system, &probe, "b"));
        b.stop();
        wait_gone(system, "/user/b");
        wait_until(system, "rest", || system.is_quiet());
        let dead = b.any();
        run(&a, move |cx| {
            let me = cx.myself().any();
            assert_eq!((cx.link(&me), cx.unlink(&me)), (Err(LinkError::Oneself), false));
            cx.link(&dead)?;
            assert!(cx.unlink(&dead) && !cx.unlink(&dead));
            Ok(())
        });
        settle(system, &probe, &a);
        settle(system, &probe, &a);
        assert_eq!(failures(system, &a.any()), 0);
        let unwatched =
            |kind: &EventKind| matches!(kind, EventKind::Dropped { reason: DropReason::Unwatched, .. });
        assert_eq!(system.rare_events(0).0.iter().filter(|event| unwatched(&event.kind)).count(), 1);
        balanced_at_rest(system);
    });
}

#[test]
fn what_the_dead_told_before_is_handled_before_the_failure() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (a, b) = (node(system, &probe, "a"), node(system, &probe, "b"));
        link(&a, &b.any());
        settle(system, &probe, &a);
        let target = a.clone();
        run(&b, move |cx| {
            (0..50).for_each(|n| cx.tell(&target, Msg::Say(n)));
            cx.myself().kill();
            Ok(())
        });
        (0..50).for_each(|n| assert_eq!(probe.expect(system), n));
        wait_gone(system, "/user/a");
        assert_eq!(failures(system, &a.any()), 1);
    });
}

#[test]
fn links_survive_restarts_of_both() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let (a, b) = (node(system, &probe, "a"), node(system, &probe, "b"));
        link(&a, &b.any());
        settle(system, &probe, &a);
        fail(&a);
        fail(&b);
        settle(system, &probe, &a);
        settle(system, &probe, &b);
        assert_eq!(failures(system, &a.any()) + failures(system, &b.any()), 0, "a restart is no end");
        b.kill();
        wait_gone(system, "/user/a");
        assert_eq!(failures(system, &a.any()), 1);
    });
}

#[test]
fn a_child_linked_with_its_parent_takes_it_along_and_ends() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let parent = node(system, &probe, "parent");
        let (one, two) =
            (child(system, &parent, "one", props(&probe)), child(system, &parent, "two", props(&probe)));
        link(&parent, &one);
        link(&parent, &two);
        settle(system, &probe, &parent);
        probe.watch(system, &parent.any());
        one.kill();
        assert_eq!(probe.expect_terminated(system).reason, StopReason::Failed(FailureKind::Linked));
        wait_gone(system, "/user/parent/two");
        assert_eq!((failures(system, &parent.any()), failures(system, &two)), (1, 0));
        balanced_at_rest(system);
    });
}

#[test]
fn s3_an_actor_that_cannot_start_fails_who_is_linked_once() {
    hush_planned_panics();
    let never = [
        || Props::<Node>::new(|| panic!("planned: never")),
        || Props::<Node>::try_new(|| Err(Failure::new("never", "never"))),
    ];
    for never in never {
        on_each_dispatcher(|system| {
            let probe = Probe::<u32>::new(system, "probe");
            let linked = node(system, &probe, "linked");
            probe.watch(system, &linked.any());
            let zombie = system.spawn("zombie", never()).expect("a free name");
            (0..10).for_each(|n| zombie.tell(Msg::Say(n)));
            link(&linked, &zombie.any());
            assert_eq!(probe.expect_terminated(system).reason, StopReason::Failed(FailureKind::Linked));
            assert!(system.find("/user/zombie").is_none());
            assert_eq!(failures(system, &linked.any()), 1);
            balanced_at_rest(system);
            assert_eq!(system.ledger().dead_lettered, 10);
        });
    }
}

/// Makes a node whose starts fail if their number, from 0, is one that `bad` names.
fn starts(probe: &Probe<u32>, bad: fn(u32) -> bool) -> Props<Node> {
    let (out, made) = (probe.recipient(), AtomicU32::new(0));
    Props::new(move || {
        assert!(!bad(made.fetch_add(1, Ordering::Relaxed)), "planned: not this time");
        Node { out: out.clone(), strict: strict() }
    })
}

#[test]
fn s3_a_start_that_works_at_last_fails_nobody() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let linked = node(system, &probe, "linked");
        let late = system.spawn("late", starts(&probe, |n| n < 2)).expect("a free name");
        link(&linked, &late.any());
        settle(system, &probe, &linked);
        (0..10).for_each(|n| late.tell(Msg::Say(n)));
        (0..10).for_each(|n| assert_eq!(probe.expect(system), n));
        assert_eq!(failures(system, &linked.any()), 0);
        late.kill();
        wait_gone(system, "/user/linked"); // the link was there all the time
        assert_eq!(failures(system, &linked.any()), 1);
    });
}

#[test]
fn s3_a_restart_that_cannot_start_fails_who_is_linked_once() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let linked = node(system, &probe, "linked");
        let once = system.spawn("once", starts(&probe, |n| n > 0)).expect("a free name");
        link(&linked, &once.any());
        settle(system, &probe, &linked);
        settle(system, &probe, &once);
        probe.watch(system, &linked.any());
        fail(&once);
        assert_eq!(probe.expect_terminated(system).reason, StopReason::Failed(FailureKind::Linked));
        assert_eq!(failures(system, &linked.any()), 1);
        balanced_at_rest(system);
    });
}

#[derive(Clone, Copy, Debug)]
enum Deed {
    Link(usize, usize),
    Unlink(usize, usize),
    Stop(usize),
    Fail(usize),
    Kill(usize),
    Say(usize),
}

fn deeds() -> impl proptest::strategy::Strategy<Value = Vec<Deed>> {
    let (a, b) = (0..5usize, 0..5usize);
    let deed = (0..10u8, a, b).prop_map(|(what, a, b)| match what {
        0..=3 => Deed::Link(a, b),
        4 => Deed::Unlink(a, b),
        5 => Deed::Stop(a),
        6 => Deed::Fail(a),
        7 => Deed::Kill(a),
        _ => Deed::Say(a),
    });
    proptest::collection::vec(deed, 1..40)
}

/// Runs a program; the number of links that each actor made or got bounds how often it can fail by one.
fn perform(system: &ActorSystem, program: &[Deed]) {
    let probe = Probe::new(system, "probe");
    let nodes: Vec<_> = (0..5).map(|n| node(system, &probe, &format!("n{n}"))).collect();
    let mut links = [0; 5];
    for deed in program {
        match *deed {
            Deed::Link(a, b) if a != b => {
                link(&nodes[a], &nodes[b].any());
                links[a] += 1;
                links[b] += 1;
            }
            Deed::Link(..) => {}
            Deed::Unlink(a, b) => {
                let peer = nodes[b].any();
                run(&nodes[a], move |cx| {
                    cx.unlink(&peer);
                    Ok(())
                });
            }
            Deed::Stop(a) => nodes[a].stop(),
            Deed::Fail(a) => fail(&nodes[a]),
            Deed::Kill(a) => nodes[a].kill(),
            Deed::Say(a) => nodes[a].tell(Msg::Say(1)),
        }
    }
    wait_until(system, "rest", || system.is_quiet());
    for (node, links) in nodes.iter().zip(links) {
        let failed = failures(system, &node.any());
        assert!(failed <= links, "{} has failed {failed} times by {links} links", node.path());
    }
    let end = system.shutdown(Duration::from_secs(5));
    assert!(end.is_ok(), "{end:?}");
    assert_eq!(system.live_actors(), 0);
    let ledger = system.ledger();
    assert!(ledger.balanced(), "{ledger:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_program_of_links_ends_with_an_exact_ledger(program in deeds(), seed in any::<u64>()) {
        let stepper = ActorSystem::builder("links").stepper().workers(3).seed(seed).build().expect("good settings");
        perform(&stepper, &program);
        let pool = ActorSystem::builder("links").workers(3).build().expect("good settings");
        perform(&pool, &program);
    }
}
