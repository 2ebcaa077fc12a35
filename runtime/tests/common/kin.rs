//! An actor that says what happens to it, and does what it is told, at its start as well.

use std::sync::Arc;
use std::time::Duration;

use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient};
use footlights::system::ActorSystem;
use footlights::testkit::Probe;

pub(crate) const MS: Duration = Duration::from_millis(1);

type Script = Box<dyn FnOnce(&mut Context<'_, Kin>) -> Result<(), Failure> + Send>;
type Start = dyn Fn(&mut Context<'_, Kin>) -> Result<(), Failure> + Send + Sync;

pub(crate) enum Msg {
    Run(Script),
    Say(u32),
    /// Counts, and says how far.
    Add,
    Fail,
    Stop,
}

pub(crate) struct Kin {
    name: &'static str,
    sum: u32,
    out: Recipient<String>,
    start: Arc<Start>,
}

impl Kin {
    fn say(&self, what: impl std::fmt::Display) {
        self.out.tell(format!("{} {what}", self.name));
    }
}

impl Actor for Kin {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        (self.start)(cx)?;
        self.say(format_args!("started {}", cx.incarnation()));
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Run(script) => return script(cx),
            Msg::Say(n) => self.say(n),
            Msg::Add => {
                self.sum += 1;
                self.say(format_args!("sum {}", self.sum));
            }
            Msg::Fail => return Err(planned()),
            Msg::Stop => cx.stop(),
        }
        Ok(())
    }

    fn pre_restart(&mut self, _cx: &mut Context<'_, Self>, _why: &Failure, _message: Option<Msg>) {
        self.say("failed");
    }

    fn stopped(&mut self, _cx: &mut Context<'_, Self>) {
        self.say("stopped");
    }
}

pub(crate) fn planned() -> Failure {
    Failure::new("planned", "on request")
}

/// A kin that runs `start` in its first hook.
pub(crate) fn starting(
    name: &'static str,
    probe: &Probe<String>,
    start: impl Fn(&mut Context<'_, Kin>) -> Result<(), Failure> + Send + Sync + 'static,
) -> Props<Kin> {
    let (out, start): (_, Arc<Start>) = (probe.recipient(), Arc::new(start));
    Props::new(move || Kin { name, sum: 0, out: out.clone(), start: start.clone() })
}

pub(crate) fn kin(name: &'static str, probe: &Probe<String>) -> Props<Kin> {
    starting(name, probe, |_| Ok(()))
}

pub(crate) fn run(
    actor: &ActorRef<Msg>,
    script: impl FnOnce(&mut Context<'_, Kin>) -> Result<(), Failure> + Send + 'static,
) {
    actor.tell(Msg::Run(Box::new(script)));
}

#[track_caller]
pub(crate) fn find(system: &ActorSystem, path: &str) -> ActorRef<Msg> {
    let found = system.find(path).and_then(|found| found.typed());
    found.unwrap_or_else(|| panic!("no kin at {path}"))
}

#[track_caller]
pub(crate) fn expect_all(system: &ActorSystem, probe: &Probe<String>, expected: &[&str]) {
    for what in expected {
        assert_eq!(probe.expect(system), *what, "of {expected:?}");
    }
}
