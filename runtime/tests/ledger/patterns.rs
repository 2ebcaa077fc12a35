//! What the actors of a random program do with patterns: silence, other behaviours, room, retries, breakers, aggregates,
//! events, services and state machines.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context as Wake, Poll, Waker};
use std::time::Duration;

use footlights::actor::{Actor, ActorRef, Context, Failure, Permits, Props, Reserve};
use footlights::pattern::{
    BreakerSettings, CircuitBreaker, Fsm, Next, Retry, ServiceKey, Step, SystemHandle,
};
use footlights::rng::Rng;

use crate::node::{Msg, Node, US, backoff, question, time};

/// What is published.
#[derive(Clone)]
struct News;

/// Makes the one breaker of a program.
pub(crate) fn breaker(system: &SystemHandle) -> CircuitBreaker {
    let settings = BreakerSettings::default().max_failures(2).call_timeout(US * 100).reset_after(US * 200);
    CircuitBreaker::new(system, "shared", settings)
}

impl Node {
    /// Does something with a pattern.
    pub(crate) fn pattern(
        &mut self,
        cx: &mut Context<'_, Self>,
        target: &ActorRef<Msg>,
    ) -> Result<(), Failure> {
        match cx.rng().below(20) {
            0 => {
                let silence = cx.set_receive_timeout(Duration::from_millis(1), || Msg::Tick)?;
                silence.ignoring(|msg| matches!(msg, Msg::Tick));
            }
            1 => {
                cx.cancel_receive_timeout();
            }
            2 | 3 => cx.become_(Node::receive_otherwise)?,
            4 => {
                cx.unbecome();
            }
            5 | 6 => self.reserve(cx, target),
            7 => {
                let adapter = cx.adapter(|_: u8| Msg::Tick);
                cx.tell(&adapter, 1);
                adapter.tell(2);
            }
            8 => cx.tell(&target.adapt(|_: u8| Msg::Act), 1),
            9 | 10 => self.aggregate(cx, target)?,
            11 => self.retry(cx, target),
            12 => {
                let breaker = self.breaker(cx);
                cx.ask_through(&breaker, target, question, US * 300, |_| Msg::Tick);
            }
            13 => {
                let (breaker, d, fails) = (self.breaker(cx), time(cx.rng(), 200), cx.rng().below(2) == 0);
                let handle = cx.system();
                let call = async move {
                    let call = || async move {
                        handle.sleep(d).await;
                        if fails { Err("planned") } else { Ok(()) }
                    };
                    breaker.call(call).await
                };
                drop(cx.pipe_to_self(call, |_| Msg::Tick));
            }
            14 => cx.subscribe(|_: News| Msg::Tick),
            15 => {
                cx.publish(News);
                if cx.rng().below(2) == 0 {
                    cx.unsubscribe::<News>();
                }
            }
            16 => {
                let key = ServiceKey::new("any");
                cx.register(&key);
                let found = cx.system().receptionist().find(&key);
                found.iter().take(2).for_each(|actor| cx.tell(actor, Msg::Act));
            }
            17 => cx.unhandled(),
            _ => self.machine(cx),
        }
        Ok(())
    }

    /// Handles messages as another behaviour does.
    fn receive_otherwise(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        if cx.rng().below(3) == 0 {
            cx.unbecome();
        }
        self.receive(cx, msg)
    }

    /// Waits for room in a task, and uses some of it; or gives the wait up.
    fn reserve(&mut self, cx: &mut Context<'_, Self>, target: &ActorRef<Msg>) {
        let (n, used) = (cx.rng().below(4) as usize, cx.rng().below(4));
        let (wait, delay, handle) = (target.reserve_many(n), time(cx.rng(), 200), cx.system());
        let task = cx.pipe_to_self(
            async move {
                let Ok(mut permits) = wait.await else { return };
                handle.sleep(delay).await;
                for _ in 0..used {
                    // More than there are, or to one who has ended: it is handed back.
                    let _ = permits.send(Msg::Act);
                }
            },
            |_| Msg::Tick,
        );
        if cx.rng().below(3) == 0 {
            task.cancel();
        }
    }

    fn aggregate(&mut self, cx: &mut Context<'_, Self>, target: &ActorRef<Msg>) -> Result<(), Failure> {
        let (wanted, timeout) = (cx.rng().below(4) as usize, time(cx.rng(), 500));
        let explodes = cx.rng().below(4) == 0;
        let fold = move |sum: &mut u64, n: u64| {
            assert!(!explodes, "planned: in a fold");
            *sum += n;
        };
        let all = cx.aggregate_to_self(wanted, timeout, 0, fold, |_| Msg::Act);
        let Ok(all) = all else { return Ok(()) }; // who is ending has no children any more
        all.ask(target, question, |answer| answer);
        cx.tell(&all, 1);
        match cx.rng().below(3) {
            0 => all.any().stop(),
            1 => all.collect(async { None }),
            _ => {}
        }
        Ok(())
    }

    fn retry(&mut self, cx: &mut Context<'_, Self>, target: &ActorRef<Msg>) {
        let retry = Retry::new("again").backoff(backoff(cx.rng())).deadline(US * 600);
        let (handle, target) = (cx.system(), target.clone());
        let ask = move |_| target.ask(question, US * 80);
        let task = cx.pipe_to_self(async move { retry.run(&handle, ask).await }, |_| Msg::Tick);
        if cx.rng().below(4) == 0 {
            task.cancel();
        }
    }

    fn breaker(&self, cx: &mut Context<'_, Self>) -> CircuitBreaker {
        self.world.breaker.get_or_init(|| breaker(&cx.system())).clone()
    }

    fn machine(&mut self, cx: &mut Context<'_, Self>) {
        if self.world.has_room() {
            let props = machine(cx.rng());
            if let Ok(machine) = cx.spawn("", props) {
                self.world.add(machine);
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Red,
    Green,
    Blue,
}

type Driven<'a, 'c> = Step<'a, 'c, State, (), Msg>;

/// Makes a machine that goes where chance says.
fn machine(rng: &mut Rng) -> Props<impl Actor<Msg = Msg>> {
    let props = Fsm::new(State::Red, || ())
        .when(State::Red, |(), msg, step| wander(msg, step))
        .when(State::Green, |(), msg, step| wander(msg, step))
        .state_timeout(State::Green, time(rng, 200), || Msg::Tick)
        .on_exit(State::Green, |(), step| match step.rng().below(6) {
            0 => Err(Failure::new("exit", "planned")),
            _ => Ok(()),
        })
        .on_enter(State::Blue, |(), step| match step.rng().below(6) {
            0 => panic!("planned: in on_enter"),
            _ => Ok(()),
        });
    props.props().stash(rng.below(3) as u32)
}

fn wander(msg: Msg, step: &mut Driven<'_, '_>) -> Result<Next<State>, Failure> {
    let after = time(step.rng(), 200);
    match step.rng().below(8) {
        0 | 1 => step.goto(State::Green),
        2 => step.goto(State::Blue), // where there is no rule: the next message is a failure
        3 => step.goto(State::Red),
        4 => step.postpone(msg),
        5 => {
            step.event_timeout(after, Msg::Tick);
            step.stay()
        }
        6 => {
            step.state_timeout(after, Msg::Tick);
            step.stay()
        }
        _ => step.stay(),
    }
}

/// Room that somebody outside waits for, or has.
#[derive(Default)]
pub(crate) struct Rooms {
    waiting: Vec<Pin<Box<Reserve<Msg>>>>,
    permits: Vec<Permits<Msg>>,
}

impl Rooms {
    /// Asks for room, looks after what was asked for, uses room or gives it up.
    pub(crate) fn command(&mut self, target: &ActorRef<Msg>, rng: &mut Rng) {
        let mut wake = Wake::from_waker(Waker::noop());
        match rng.below(6) {
            0 | 1 => self.waiting.push(Box::pin(target.reserve_many(rng.below(4) as usize))),
            2 => drop(self.waiting.pop()),
            3 => drop(self.permits.pop()),
            4 => {
                // A send that is given up at once if there is no room.
                let sent = pin!(target.send(Msg::Act)).poll(&mut wake);
                drop(sent);
            }
            _ => {
                if let Some(permits) = self.permits.last_mut() {
                    // More than there are, or to one who has ended: it is handed back.
                    let _ = permits.send(Msg::Act);
                }
            }
        }
        let permits = &mut self.permits;
        self.waiting.retain_mut(|wait| match wait.as_mut().poll(&mut wake) {
            Poll::Pending => true,
            Poll::Ready(got) => {
                permits.extend(got);
                false
            }
        });
    }
}
