//! Promises of dead letters: each is counted and named, none brings forth another, and quiet ones are only counted.

mod common;

use std::time::Duration;

use common::{hush_planned_panics, wait_until};
use footlights::actor::{Actor, ActorRef, Context, DeadLetter, Failure, Props};
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::observe::{DeadLetterReason, EventKind};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher, on_steppers};

#[derive(Debug)]
enum Msg {
    Order(String),
    Tick,
    Tell(ActorRef<Msg>),
    Heard,
}

struct Shop;

impl Actor for Shop {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        match message {
            Msg::Tell(target) => cx.tell(&target, Msg::Order("from a handler".to_owned())),
            Msg::Order(what) => assert!(!what.is_empty()),
            Msg::Tick | Msg::Heard => {}
        }
        Ok(())
    }
}

fn ended(system: &ActorSystem, name: &str, props: Props<Shop>) -> ActorRef<Msg> {
    let actor = system.spawn(name, props).expect("a free name");
    actor.stop();
    wait_until(system, "an end", || system.find(&format!("/user/{name}")).is_none());
    actor
}

fn listener(system: &ActorSystem) -> Probe<DeadLetter> {
    let probe = Probe::new(system, "listener");
    system.event_stream().subscribe(probe.actor(), |letter: DeadLetter| letter).expect("a living actor");
    probe
}

#[test]
fn a_dead_letter_names_receiver_type_and_reason() {
    on_each_dispatcher(|system| {
        let probe = listener(system);
        let actor = ended(system, "shop", Props::new(|| Shop));
        actor.tell(Msg::Tick);
        let letter = probe.expect(system);
        assert_eq!((&*letter.to, letter.reason), ("/user/shop", DeadLetterReason::Closed));
        assert!(letter.type_name.ends_with("::Msg"), "{}", letter.type_name);
        assert_eq!(
            (letter.text.clone(), letter.from.clone()),
            (None, None),
            "no text unless it was asked for"
        );
        assert_eq!(system.dead_letters(), [letter]);
    });
}

#[test]
fn the_text_is_kept_where_messages_are_described_and_no_more_than_200_bytes_of_it() {
    on_each_dispatcher(|system| {
        let probe = listener(system);
        let actor = ended(system, "shop", Props::new(|| Shop).describe_messages());
        actor.tell(Msg::Order("tea".to_owned()));
        assert_eq!(probe.expect(system).text.as_deref(), Some("Order(\"tea\")"));
        actor.tell(Msg::Order("ü".repeat(1_000)));
        let text = probe.expect(system).text.expect("a text");
        assert_eq!(text.len(), 199, "{text}");
    });
}

#[test]
fn mail_left_at_the_end_is_described_as_well() {
    on_steppers(|system| {
        let probe = listener(system);
        let actor = system.spawn("shop", Props::new(|| Shop).describe_messages()).expect("a free name");
        system.run_until_quiet(1_000);
        actor.stop();
        actor.tell(Msg::Order("late".to_owned()));
        let letter = probe.expect(system);
        let expected = (DeadLetterReason::StoppedWithMail, Some("Order(\"late\")"));
        assert_eq!((letter.reason, letter.text.as_deref()), expected);
    });
}

#[test]
fn a_sender_is_named_where_the_letter_dies_in_its_hands() {
    on_steppers(|system| {
        let probe = listener(system);
        let actor = ended(system, "shop", Props::new(|| Shop));
        let sender = system.spawn("sender", Props::new(|| Shop)).expect("a free name");
        sender.tell(Msg::Tell(actor));
        assert_eq!(probe.expect(system).from.as_deref(), Some("/user/sender"));
    });
}

#[test]
fn quiet_messages_are_counted_and_told_to_nobody() {
    on_each_dispatcher(|system| {
        let probe = listener(system);
        let quiet = Props::new(|| Shop).quiet_dead_letters(|message| matches!(message, Msg::Tick));
        let actor = ended(system, "shop", quiet);
        (0..5).for_each(|_| actor.tell(Msg::Tick));
        actor.tell(Msg::Order("loud".to_owned()));
        probe.expect(system);
        let ledger = system.ledger();
        assert_eq!((ledger.dead_lettered, ledger.suppressed), (6, 5));
        assert_eq!((system.dead_letters().len(), probe.take().len()), (1, 0));
        let events = system.rare_events(0).0;
        let dead = events.iter().filter(|event| matches!(event.kind, EventKind::DeadLettered { .. }));
        assert_eq!(dead.count(), 6, "each is an event all the same");
    });
}

#[test]
fn a_panic_in_a_description_costs_the_text_alone() {
    struct Touchy;

    impl std::fmt::Debug for Touchy {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("planned: in a description")
        }
    }

    struct Sink;

    impl Actor for Sink {
        type Msg = Touchy;
        fn receive(&mut self, _: &mut Context<'_, Self>, _: Touchy) -> Result<(), Failure> {
            Ok(())
        }
    }

    hush_planned_panics();
    on_each_dispatcher(|system| {
        let props =
            Props::new(|| Sink).describe_messages().quiet_dead_letters(|_| panic!("planned: in a rule"));
        let actor = system.spawn("sink", props).expect("a free name");
        actor.stop();
        wait_until(system, "an end", || system.find("/user/sink").is_none());
        actor.tell(Touchy);
        let letters = system.dead_letters();
        assert_eq!((letters.len(), letters[0].text.as_deref()), (1, None));
    });
}

#[test]
fn the_log_shows_ten_and_pauses_for_five_minutes() {
    on_steppers(|system| {
        let actor = ended(system, "shop", Props::new(|| Shop));
        (0..25).for_each(|_| actor.tell(Msg::Tick));
        let shown: Vec<bool> = system.dead_letters().iter().map(|letter| letter.shown).collect();
        assert_eq!(shown.iter().filter(|shown| **shown).count(), 10);
        assert!(shown[..10].iter().all(|shown| *shown), "the first ten");
        let log = system.dead_letter_log();
        assert_eq!((log.shown, log.passed_over), (10, 15));
        let end = log.paused_until.expect("a pause");
        assert_eq!(end - system.now(), Duration::from_secs(300));
        system.run_until(end);
        actor.tell(Msg::Tick);
        let letters = system.dead_letters();
        let last = letters.last().expect("a letter");
        assert_eq!((last.shown, last.passed_over), (true, 15));
    });
}

/// A listener whose own mailbox refuses.
struct Deaf;

impl Actor for Deaf {
    type Msg = Msg;

    fn receive(&mut self, _: &mut Context<'_, Self>, _: Msg) -> Result<(), Failure> {
        Ok(())
    }
}

#[test]
fn dead_letters_of_a_listener_are_counted_and_not_sent_again() {
    on_steppers(|system| {
        let full = Mailbox::bounded(1, OverflowStrategy::RejectToSender);
        let deaf = system.spawn("deaf", Props::new(|| Deaf).mailbox(full)).expect("a free name");
        let stream = system.event_stream();
        stream.subscribe(&deaf, |_: DeadLetter| Msg::Heard).expect("a living actor");
        let probe = listener(system);
        let actor = ended(system, "shop", Props::new(|| Shop));
        (0..5).for_each(|_| actor.tell(Msg::Tick));
        system.run_until_quiet(1_000);
        assert_eq!(probe.take().len(), 5, "the other listener hears of the five, not of the refused");
        let ledger = system.ledger();
        assert_eq!(ledger.dead_lettered, 5 + 4, "four found the mailbox full");

        deaf.stop();
        actor.tell(Msg::Tick); // waits in the mailbox of the listener that ends
        system.run_until_quiet(1_000);
        assert_eq!(probe.take().len(), 1, "what a dead listener leaves is told to nobody");
        assert_eq!(system.ledger().dead_lettered, 9 + 2);
    });
}

#[test]
fn a_panic_in_the_map_of_a_listener_ends_with_itself() {
    hush_planned_panics();
    on_each_dispatcher(|system| {
        let deaf = system.spawn("deaf", Props::new(|| Deaf)).expect("a free name");
        let map = |_: DeadLetter| -> Msg { panic!("planned: in the map of a listener") };
        system.event_stream().subscribe(&deaf, map).expect("a living actor");
        let actor = ended(system, "shop", Props::new(|| Shop));
        actor.tell(Msg::Tick);
        let reasons: Vec<_> = system.dead_letters().iter().map(|letter| letter.reason).collect();
        assert_eq!(reasons, [DeadLetterReason::Closed, DeadLetterReason::AdapterFailed]);
    });
}
