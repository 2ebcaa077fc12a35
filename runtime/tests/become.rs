//! Promises of become: the last function on the stack handles, a restart empties it, and too many are an error.

mod common;

use common::scripted::planned;
use footlights::actor::{Actor, ActorRef, BecomeError, Context, Failure, Props, Recipient};
use footlights::system::ActorSystem;
use footlights::testkit::{Probe, on_each_dispatcher};

#[derive(Clone, Copy, Debug)]
enum Msg {
    Who,
    Up,
    Down,
    Fail,
    Fill,
}

/// Says which of its functions has handled a question.
struct Many(Recipient<&'static str>);

impl Many {
    fn first(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        self.handle(cx, msg, "first")
    }

    fn second(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        self.handle(cx, msg, "second")
    }

    fn handle(&mut self, cx: &mut Context<'_, Self>, msg: Msg, name: &'static str) -> Result<(), Failure> {
        match msg {
            Msg::Who => self.0.tell(name),
            Msg::Up if name == "receive" => {
                cx.become_(Many::first)?;
                self.0.tell(name);
            }
            Msg::Up => cx.become_(Many::second)?,
            Msg::Down => self.0.tell(if cx.unbecome() { "back" } else { "at the bottom" }),
            Msg::Fail => return Err(planned()),
            Msg::Fill => {
                while cx.become_(Many::second).is_ok() {}
                assert_eq!(cx.become_(Many::first), Err(BecomeError::TooMany));
                let back = std::iter::from_fn(|| cx.unbecome().then_some(())).count();
                self.0.tell(if back == 64 { "64" } else { "another number" });
            }
        }
        Ok(())
    }
}

impl Actor for Many {
    type Msg = Msg;
    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        self.handle(cx, msg, "receive")
    }
}

fn spawn(system: &ActorSystem, probe: &Probe<&'static str>) -> ActorRef<Msg> {
    let out = probe.recipient();
    system.spawn("many", Props::new(move || Many(out.clone()))).expect("a free name")
}

fn expect(system: &ActorSystem, probe: &Probe<&'static str>, expected: &[&str]) {
    let said: Vec<&str> = expected.iter().map(|_| probe.expect(system)).collect();
    assert_eq!(said, expected);
}

#[test]
fn the_last_function_handles_from_the_next_message_on_and_gives_way_again() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, &probe);
        let story = [
            Msg::Who,
            Msg::Up,
            Msg::Who,
            Msg::Up,
            Msg::Who,
            Msg::Down,
            Msg::Who,
            Msg::Down,
            Msg::Who,
            Msg::Down,
        ];
        story.into_iter().for_each(|msg| actor.tell(msg));
        let said =
            ["receive", "receive", "first", "second", "back", "first", "back", "receive", "at the bottom"];
        expect(system, &probe, &said);
    });
}

#[test]
fn a_restart_empties_the_stack() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        let actor = spawn(system, &probe);
        [Msg::Up, Msg::Up, Msg::Who, Msg::Fail, Msg::Who].into_iter().for_each(|msg| actor.tell(msg));
        expect(system, &probe, &["receive", "second", "receive"]);
    });
}

#[test]
fn the_65th_function_is_an_error_and_not_a_panic() {
    on_each_dispatcher(|system| {
        let probe = Probe::new(system, "probe");
        spawn(system, &probe).tell(Msg::Fill);
        expect(system, &probe, &["64"]);
        let text = "an actor cannot become something 65 times without going back";
        assert_eq!(BecomeError::TooMany.to_string(), text);
    });
}
