//! Promises of the stash: nothing is lost in it, nothing loops through it, and its order is kept on every way out.

mod common;

use std::collections::VecDeque;
use std::time::Duration;

use common::scripted::{self, planned, run};
use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient, StashFull};
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::observe::{ActorSnapshot, DeadLetterReason, DropReason, EventKind, Level};
use footlights::rng::Rng;
use footlights::supervise::{Directive, FailureKind, Strategy};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};

use Act::{Fail, Queue, Stash, StashAndFail, StashBoth, Stop, Unstash, UnstashAll, UnstashAndFail};

const MS: Duration = Duration::from_millis(1);
/// What is said of a hook is beyond this.
const HOOK: u64 = 1_000_000;

/// What to do with a message when it comes; beyond its list, a message is just handled.
#[derive(Clone, Debug)]
enum Act {
    /// Tell oneself these.
    Queue(Vec<Msg>),
    Stash,
    /// Stash another message of this number, then the message itself.
    StashBoth(u64),
    Unstash(usize),
    UnstashAll,
    Fail,
    StashAndFail,
    UnstashAndFail,
    Stop,
}

#[derive(Clone, Debug)]
struct Msg {
    n: u64,
    acts: VecDeque<Act>,
}

fn msg(n: u64, acts: impl Into<VecDeque<Act>>) -> Msg {
    Msg { n, acts: acts.into() }
}

fn plain(n: u64) -> Msg {
    msg(n, [])
}

/// Says each number that comes and, if it is to, what its hooks see.
struct Keeper {
    out: Recipient<u64>,
    hooks: bool,
}

impl Keeper {
    fn say_hook(&self, n: u64) {
        if self.hooks {
            self.out.tell(HOOK + n);
        }
    }
}

impl Actor for Keeper {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        self.say_hook(100 + cx.stashed() as u64);
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, mut msg: Msg) -> Result<(), Failure> {
        self.out.tell(msg.n);
        match msg.acts.pop_front() {
            None => {}
            Some(Queue(all)) => {
                let me = cx.myself();
                all.into_iter().for_each(|message| cx.tell(&me, message));
            }
            Some(Stash) => cx.stash(msg)?,
            Some(StashBoth(n)) => {
                cx.stash(plain(n))?;
                cx.stash(msg)?;
            }
            Some(Unstash(n)) => drop(cx.unstash(n)),
            Some(UnstashAll) => drop(cx.unstash_all()),
            Some(Fail) => return Err(planned()),
            Some(StashAndFail) => {
                cx.stash(msg)?;
                return Err(planned());
            }
            Some(UnstashAndFail) => {
                cx.unstash_all();
                return Err(planned());
            }
            Some(Stop) => cx.stop(),
        }
        Ok(())
    }

    fn pre_restart(&mut self, cx: &mut Context<'_, Self>, why: &Failure, message: Option<Msg>) {
        let full = if why.kind() == FailureKind::StashFull { 50 } else { 0 };
        self.say_hook(200 + full + cx.stashed() as u64);
        if let Some(message) = message {
            self.say_hook(message.n);
        }
    }

    fn stopped(&mut self, cx: &mut Context<'_, Self>) {
        self.say_hook(300 + cx.stashed() as u64);
    }
}

fn keeper(probe: &Probe<u64>, hooks: bool) -> Props<Keeper> {
    let out = probe.recipient();
    Props::new(move || Keeper { out: out.clone(), hooks })
}

fn spawn(system: &ActorSystem, probe: &Probe<u64>) -> ActorRef<Msg> {
    system.spawn("keeper", keeper(probe, false)).expect("a free name")
}

/// Spawns a keeper under a parent with this strategy, and tells it a message that queues `all`.
fn spawn_under(
    system: &ActorSystem,
    probe: &Probe<u64>,
    strategy: Strategy,
    props: Props<Keeper>,
    all: Vec<Msg>,
) {
    let parent = scripted::spawn(system, "parent", scripted::props(probe).supervise(strategy));
    run(&parent, move |cx| {
        let keeper = cx.spawn("keeper", props)?;
        cx.tell(&keeper, msg(0, [Queue(all)]));
        Ok(())
    });
}

/// Waits for as many numbers as are expected, and compares.
fn expect(system: &ActorSystem, probe: &Probe<u64>, expected: &[u64]) {
    let said: Vec<u64> = expected.iter().map(|_| probe.expect(system)).collect();
    assert_eq!(said, expected);
}

fn seen(system: &ActorSystem) -> ActorSnapshot {
    let all = system.snapshot().actors;
    all.into_iter().find(|actor| actor.path.ends_with("/keeper")).expect("a living keeper")
}

#[test]
fn unstashed_messages_come_before_the_mailbox_in_their_order() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let all = vec![msg(1, [Stash]), msg(2, [Stash]), plain(3), msg(4, [UnstashAll]), plain(5), plain(6)];
        spawn(system, &probe).tell(msg(0, [Queue(all)]));
        expect(system, &probe, &[0, 1, 2, 3, 4, 1, 2, 5, 6]);
        wait_until(system, "all to be handled", || seen(system).ledger.handled == 7);
    });
}

#[test]
fn a_message_stashed_again_waits_for_the_next_time() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let all =
            vec![msg(1, [Stash, Stash]), msg(2, [UnstashAll]), plain(3), msg(4, [UnstashAll]), plain(5)];
        spawn(system, &probe).tell(msg(0, [Queue(all)]));
        expect(system, &probe, &[0, 1, 2, 1, 3, 4, 1, 5]);
    });
}

#[test]
fn unstash_gives_back_as_many_as_asked_for_and_no_more_than_there_are() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let mut all: Vec<Msg> = (1..=3).map(|n| msg(n, [Stash])).collect();
        all.extend([msg(4, [Unstash(2)]), msg(5, [Unstash(0)]), msg(6, [Unstash(9)]), msg(7, [Unstash(9)])]);
        spawn(system, &probe).tell(msg(0, [Queue(all)]));
        expect(system, &probe, &[0, 1, 2, 3, 4, 1, 2, 5, 6, 3, 7]);
    });
}

#[test]
fn a_full_stash_hands_the_message_back() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = scripted::spawn(system, "small", scripted::props(&probe).stash(2));
        run(&actor, |cx| {
            assert!(cx.stash(scripted::Msg::Say(1)).is_ok() && cx.stash(scripted::Msg::Say(2)).is_ok());
            let full = cx.stash(scripted::Msg::Say(3)).expect_err("no room for a third");
            assert_eq!(format!("{full} {full:?}"), "the stash is full StashFull(..)");
            let StashFull(back) = full;
            assert_eq!((cx.unstash(1), cx.stashed()), (1, 1));
            let me = cx.myself();
            cx.tell(&me, back);
            cx.unstash_all();
            Ok(())
        });
        // Each was put before what was there: the later unstash is the first to be read.
        expect(system, &probe, &[2, 1, 3]);
        assert_eq!(system.ledger().failed, 0, "the assertions in the script held");
    });
}

#[test]
fn a_full_stash_is_a_failure_that_hands_the_message_on() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let props = keeper(&probe, true).stash(1);
        let all = vec![msg(1, [Stash]), msg(2, [Stash]), plain(3)];
        spawn_under(system, &probe, Strategy::one_for_one(), props, all);
        let hooks = [HOOK + 251, HOOK + 2, HOOK + 100];
        expect(system, &probe, &[HOOK + 100, 0, 1, 2, hooks[0], hooks[1], hooks[2], 1, 3]);
        assert_eq!(seen(system).ledger.failed, 1, "the message that found no room");
    });
}

#[test]
fn the_default_room_is_a_thousand() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = scripted::spawn(system, "default", scripted::props(&probe));
        run(&actor, |cx| {
            assert!((0..1_000).all(|n| cx.stash(scripted::Msg::Say(n)).is_ok()));
            assert!(cx.stash(scripted::Msg::Say(0)).is_err());
            cx.tell(&cx.myself(), scripted::Msg::Say(7));
            Ok(())
        });
        expect(system, &probe, &[7]);
        assert_eq!(system.ledger().stashed, 1_000, "the script's assertions held");
    });
}

#[test]
fn a_restart_puts_the_stash_to_the_front_before_the_new_instance_begins() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let all = vec![msg(1, [Stash]), msg(2, [Stash]), msg(3, [Fail]), plain(4)];
        spawn_under(system, &probe, Strategy::one_for_one(), keeper(&probe, true), all);
        let hooks = [HOOK + 202, HOOK + 100];
        expect(system, &probe, &[HOOK + 100, 0, 1, 2, 3, hooks[0], hooks[1], 1, 2, 4]);
        wait_until(system, "all to have a fate", || seen(system).ledger.handled == 4);
        assert_eq!((seen(system).ledger.failed, seen(system).ledger.stashed), (1, 0));
    });
}

#[test]
fn a_failing_run_keeps_what_it_has_stashed() {
    for directive in [Directive::Restart, Directive::Resume] {
        on_each_dispatcher(|system| {
            let probe = Probe::new(system, "probe");
            let strategy = Strategy::one_for_one().default_directive(directive);
            let all = vec![msg(1, [StashAndFail]), plain(2)];
            spawn_under(system, &probe, strategy, keeper(&probe, false), all);
            let expected: &[u64] = if directive == Directive::Resume { &[0, 1, 2] } else { &[0, 1, 1, 2] };
            expect(system, &probe, expected);
            let stashed = u64::from(directive == Directive::Resume);
            wait_until(system, "the last to be handled", || seen(system).ledger.handled == 3 - stashed);
            let ledger = seen(system).ledger;
            assert_eq!((ledger.failed, ledger.stashed, ledger.handled), (0, stashed, 3 - stashed));
            assert!(ledger.balanced());
        });
    }
}

#[test]
fn a_stop_makes_dead_letters_of_the_stash() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, &probe);
        probe.watch(system, &actor.any());
        let all = vec![msg(1, [Stash]), msg(2, [Stash]), msg(3, [Stop]), plain(4)];
        actor.tell(msg(0, [Queue(all)]));
        probe.expect_terminated(system);
        let dead: Vec<_> = system.dead_letters().into_iter().map(|letter| letter.reason).collect();
        assert_eq!(dead, [DeadLetterReason::StoppedWithMail; 3]);
        assert_eq!((system.ledger().stashed, system.ledger().dead_lettered), (0, 3));
    });
}

#[test]
fn what_a_run_stashes_besides_its_message_and_what_a_hook_stashes_was_sent() {
    struct Early;
    impl Actor for Early {
        type Msg = u64;
        fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
            Ok(cx.stash(1)?)
        }
        fn receive(&mut self, cx: &mut Context<'_, Self>, n: u64) -> Result<(), Failure> {
            cx.stash(n)?;
            Ok(cx.stash(n + 1)?)
        }
        fn stopped(&mut self, cx: &mut Context<'_, Self>) {
            cx.stash(9).expect("room for one more");
        }
    }
    on_each_dispatcher(|system| {
        let probe = Probe::<u64>::new(system, "probe");
        let early = system.spawn("keeper", Props::new(|| Early)).expect("a free name");
        probe.watch(system, &early.any());
        early.tell(5);
        wait_until(system, "both to be stashed", || seen(system).ledger.stashed == 3);
        let ledger = seen(system).ledger;
        assert_eq!((ledger.sent, ledger.handled, early.queued()), (3, 0, 0));
        early.stop();
        probe.expect_terminated(system);
        assert_eq!(system.ledger().dead_lettered, 4);
    });
}

#[test]
fn a_stashed_tick_and_a_stashed_answer_die_with_their_incarnation() {
    struct Waiting(Recipient<u64>);
    #[derive(Clone)]
    enum Msg {
        Tick,
        Answer,
        Fail,
        Say(u64),
    }
    impl Actor for Waiting {
        type Msg = Msg;
        fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
            match msg {
                Msg::Tick | Msg::Answer if cx.incarnation() == 1 => {
                    cx.stash(msg)?;
                    self.0.tell(cx.stashed() as u64);
                }
                Msg::Tick | Msg::Answer => self.0.tell(99),
                Msg::Fail => return Err(planned()),
                Msg::Say(0) => {
                    cx.timers().once("k", MS, Msg::Tick);
                    let to = cx.myself();
                    // Refused by the small mailbox of another: it comes back as an answer to this incarnation.
                    let small = cx.spawn("small", Props::new(|| Idle).mailbox(full()))?;
                    (0..2).for_each(|_| cx.tell_or(&small, (), |()| Msg::Answer));
                    cx.tell(&to, Msg::Say(7));
                }
                Msg::Say(n) => self.0.tell(n),
            }
            Ok(())
        }
    }
    struct Idle;
    impl Actor for Idle {
        type Msg = ();
        fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
            cx.work(MS);
            Ok(())
        }
        fn receive(&mut self, _: &mut Context<'_, Self>, (): ()) -> Result<(), Failure> {
            Ok(())
        }
    }
    fn full() -> Mailbox {
        Mailbox::bounded(1, OverflowStrategy::DropNew)
    }
    on_steppers(|system| {
        let probe = Probe::new(system, "probe");
        let out = probe.recipient();
        let props = Props::new(move || Waiting(out.clone()));
        let actor = system.spawn("keeper", props).expect("a free name");
        actor.tell(Msg::Say(0));
        let mut said = [probe.expect(system), probe.expect(system), probe.expect(system)];
        said.sort_unstable();
        assert_eq!(said, [1, 2, 7]);
        actor.tell(Msg::Fail);
        actor.tell(Msg::Say(8));
        expect(system, &probe, &[8]);
        let ledger = seen(system).ledger;
        assert_eq!((ledger.dropped, ledger.dead_lettered, ledger.stashed), (1, 1, 0));
        let stale =
            |kind: &EventKind| matches!(kind, EventKind::Dropped { reason: DropReason::StaleTimer, .. });
        assert!(system.rare_events(0).0.iter().any(|event| stale(&event.kind)));
        let own = system.dead_letters().into_iter().find(|letter| letter.to.ends_with("/keeper"));
        assert_eq!(own.map(|letter| letter.reason), Some(DeadLetterReason::StaleIncarnation));
    });
}

#[test]
fn unstashed_messages_have_their_room_beside_a_bound() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let bounded = keeper(&probe, false).mailbox(Mailbox::bounded(3, OverflowStrategy::DropNew));
        let actor = system.spawn("keeper", bounded).expect("a free name");
        actor.tell(msg(0, [Queue(vec![msg(1, [Stash]), msg(2, [Stash]), msg(3, [Stash])])]));
        expect(system, &probe, &[0, 1, 2, 3]);
        actor.tell(msg(4, [Queue(vec![msg(5, [UnstashAll]), plain(6), plain(7)])]));
        expect(system, &probe, &[4, 5, 1, 2, 3, 6, 7]);
        assert_eq!(system.ledger().dropped, 0);
    });
}

#[test]
fn every_move_through_the_stash_is_an_event() {
    let builder = ActorSystem::builder("events").stepper().log(Level::Message).keep_messages(1_000);
    let system = builder.build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let actor = spawn(&system, &probe);
    actor.tell(msg(1, [Stash]));
    actor.tell(msg(2, [UnstashAll]));
    system.run_until_quiet(100);
    let of_actor = |event: &footlights::observe::Event| event.actor == actor.id();
    let events = system.events(0, 1_000).into_iter().filter(of_actor).map(|event| event.kind);
    let story: Vec<String> = events
        .filter_map(|kind| match kind {
            EventKind::Sent { message, .. } => Some(format!("sent {message}")),
            EventKind::Received { message, .. } => Some(format!("received {message}")),
            EventKind::Stashed { message } => Some(format!("stashed {message}")),
            EventKind::Unstashed { messages } => Some(format!("unstashed {messages}")),
            EventKind::Handled { message, .. } => Some(format!("handled {message}")),
            _ => None,
        })
        .collect();
    let first = story[0].trim_start_matches("sent ").to_owned();
    let second = story[1].trim_start_matches("sent ").to_owned();
    let expected = [
        format!("sent {first}"),
        format!("sent {second}"),
        format!("received {first}"),
        format!("stashed {first}"),
        format!("received {second}"),
        "unstashed 1".to_owned(),
        format!("handled {second}"),
        format!("received {first}"),
        format!("handled {first}"),
    ];
    assert_eq!(story, expected);
}

// --- random programs against a model -------------------------------------------------------------------------------------

/// What an actor with a stash must do, in twenty lines.
#[derive(Default)]
struct Model {
    queue: VecDeque<Msg>,
    stash: VecDeque<Msg>,
    room: usize,
    restarts: bool,
    said: Vec<u64>,
    sent: u64,
    handled: u64,
    failed: u64,
}

impl Model {
    fn run(&mut self) {
        while let Some(mut msg) = self.queue.pop_front() {
            self.said.push(msg.n);
            match msg.acts.pop_front() {
                Some(Stash) => self.stash_one(msg, false),
                Some(StashAndFail) => self.stash_one(msg, true),
                Some(StashBoth(_)) if self.stash.len() >= self.room => self.fail(1),
                Some(StashBoth(n)) => {
                    self.stash.push_back(plain(n));
                    match self.stash.len() < self.room {
                        true => {
                            self.stash.push_back(msg);
                            self.sent += 1;
                        }
                        false => self.fail(0),
                    }
                }
                Some(Unstash(n)) => self.unstash(n, 1),
                Some(UnstashAll) => self.unstash(usize::MAX, 1),
                Some(UnstashAndFail) => {
                    self.unstash(usize::MAX, 0);
                    self.fail(1);
                }
                Some(Fail) => self.fail(1),
                None | Some(Queue(_) | Stop) => self.handled += 1,
            }
        }
    }

    fn stash_one(&mut self, msg: Msg, fails: bool) {
        let full = self.stash.len() >= self.room;
        if !full {
            self.stash.push_back(msg);
        }
        if full || fails {
            self.fail(u64::from(full));
        }
    }

    fn unstash(&mut self, n: usize, handled: u64) {
        let n = n.min(self.stash.len());
        self.stash.drain(..n).rev().for_each(|msg| self.queue.push_front(msg));
        self.handled += handled;
    }

    fn fail(&mut self, failed: u64) {
        self.failed += failed;
        if self.restarts {
            self.unstash(usize::MAX, 0);
        }
    }
}

fn random_program(rng: &mut Rng) -> Vec<Msg> {
    let messages = 5 + rng.below(40);
    let act = |rng: &mut Rng, n: u64| match rng.below(16) {
        0..=5 => Some(Stash),
        6 => Some(StashBoth(1_000 + n)),
        7 | 8 => Some(Unstash(rng.below(4) as usize)),
        9 | 10 => Some(UnstashAll),
        11 => Some(Fail),
        12 => Some(StashAndFail),
        13 => Some(UnstashAndFail),
        _ => None,
    };
    (1..=messages)
        .map(|n| {
            let acts: VecDeque<Act> = (0..rng.below(5)).filter_map(|_| act(rng, n)).collect();
            msg(n, acts)
        })
        .collect()
}

#[test]
fn random_programs_do_as_the_model_says_and_the_ledger_holds_after_every_turn() {
    let mut seen_full = 0;
    for program in 0..300 {
        let rng = &mut Rng::new(program);
        let (all, restarts, room) = (random_program(rng), rng.below(2) == 0, 1 + rng.below(6) as usize);
        let mut model =
            Model { queue: all.iter().cloned().collect(), room, restarts, sent: 1, ..Model::default() };
        model.sent += model.queue.len() as u64;
        model.run();

        let workers = 1 + rng.below(4) as usize;
        let builder = ActorSystem::builder("model").stepper().workers(workers).seed(program).seeded_order();
        let system = builder.build().expect("good settings");
        let probe = Probe::new(&system, "probe");
        let directive = if restarts { Directive::Restart } else { Directive::Resume };
        let strategy = Strategy::one_for_one()
            .max_restarts(1_000_000, Duration::from_secs(1))
            .default_directive(directive);
        let mailbox = match rng.below(2) {
            0 => Mailbox::default(),
            _ => Mailbox::bounded(100, OverflowStrategy::Backpressure),
        };
        let props = keeper(&probe, false).stash(room as u32).mailbox(mailbox);
        spawn_under(&system, &probe, strategy, props, all);
        while system.step_until(system.now()).is_some() {
            let ledger = system.ledger();
            assert!(ledger.balanced(), "program {program}: {ledger:?}");
        }

        assert_eq!(probe.take()[1..], model.said, "program {program}");
        let ledger = seen(&system).ledger;
        let got = (ledger.sent, ledger.handled, ledger.failed, ledger.stashed, ledger.queued);
        let stashed = model.stash.len() as u64;
        assert_eq!(got, (model.sent, model.handled + 1, model.failed, stashed, 0), "program {program}");
        let full = FailureKind::StashFull;
        let is_full = |kind: &EventKind| matches!(kind, EventKind::Failed { kind, .. } if *kind == full);
        seen_full += system.rare_events(0).0.iter().filter(|event| is_full(&event.kind)).count();
        system.shutdown(Duration::from_secs(1)).expect("an end");
        assert_eq!((system.ledger().dead_lettered, system.ledger().stashed), (stashed, 0));
    }
    assert!(seen_full > 100, "the programs fill their stashes: {seen_full}");
}
