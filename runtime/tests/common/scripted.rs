//! An actor that runs the scripts it is told, and says the numbers it is told.

use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient};
use footlights::system::ActorSystem;
use footlights::testkit::Probe;

use super::wait_until;

pub(crate) type Script = Box<dyn FnOnce(&mut Context<'_, Scripted>) -> Result<(), Failure> + Send>;

pub(crate) enum Msg {
    Run(Script),
    Say(u64),
    Fail,
}

pub(crate) struct Scripted {
    out: Recipient<u64>,
}

impl Actor for Scripted {
    type Msg = Msg;

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        match msg {
            Msg::Run(script) => return script(cx),
            Msg::Say(n) => self.out.tell(n),
            Msg::Fail => return Err(planned()),
        }
        Ok(())
    }
}

pub(crate) fn planned() -> Failure {
    Failure::new("planned", "on request")
}

pub(crate) fn props(probe: &Probe<u64>) -> Props<Scripted> {
    let out = probe.recipient();
    Props::new(move || Scripted { out: out.clone() })
}

pub(crate) fn spawn(system: &ActorSystem, name: &str, props: Props<Scripted>) -> ActorRef<Msg> {
    system.spawn(name, props).expect("a free name")
}

pub(crate) fn run(
    actor: &ActorRef<Msg>,
    script: impl FnOnce(&mut Context<'_, Scripted>) -> Result<(), Failure> + Send + 'static,
) {
    actor.tell(Msg::Run(Box::new(script)));
}

/// Waits until an actor has handled what it was told.
pub(crate) fn idle(system: &ActorSystem, actor: &ActorRef<Msg>) {
    wait_until(system, "an actor with nothing to do", || actor.queued() == 0);
}

/// Waits until all that can be handled has been.
pub(crate) fn rest(system: &ActorSystem) {
    wait_until(system, "the system to come to rest", || system.is_quiet());
}
