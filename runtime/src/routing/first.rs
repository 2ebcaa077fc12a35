//! Asks through a router: one routee is asked, or several, whose first answer counts.
//!
//! ```text
//!   ask ──▶ one kind of routee: its message is routed as any other
//!       └─▶ several: each gets a message of its own; an answer ends the ask and gives the others up;
//!           a failure brings the next one's turn; when all have failed: AllFailed
//! ```
//! I1 the asker hears once: the first answer, AllFailed, or its deadline.
//! I2 whoever is asked in vain loses nothing by it: a late answer is counted as late, not as a dead letter.
//! I3 nobody is asked once the asker no longer waits.

use std::sync::Arc;
use std::time::Duration;

use super::logic::Logic;
use super::member::{Member, Target};
use super::router_ref::RouterRef;
use super::table::Table;
use crate::actor::cell::{AnyCell, Item};
use crate::actor::failure::catch;
use crate::actor::{Actor, Context, Via};
use crate::dispatch::Due;
use crate::observe::{EventKind, RouteWhy};
use crate::pattern::ask::{Sink, Slot, begin, open};
use crate::pattern::{Ask, AskError, Reply};
use crate::sync::Mutex;
use crate::time::{Instant, TimerKey};

/// Makes one routee's message of its reply handle.
type Make<M, R> = Arc<dyn Fn(Reply<R>) -> M + Send + Sync>;

/// One ask of several routees.
struct Gather<M: Send + 'static, R: Send + 'static> {
    table: Arc<Table<M>>,
    make: Make<M, R>,
    outer: Arc<Slot<R>>,
    /// Those who may be asked, in their order.
    order: Vec<Arc<Member<M>>>,
    /// When the next one is asked, if the one before has not answered.
    every: Option<Duration>,
    deadline: Option<Instant>,
    state: Mutex<Going<R>>,
}

struct Going<R: Send + 'static> {
    /// Those who have been asked; dropping these gives them up.
    asked: Vec<Ask<R>>,
    begun: usize,
    failed: usize,
    timer: Option<TimerKey>,
    over: bool,
}

impl<M: Send + 'static, R: Send + 'static> Gather<M, R> {
    /// Asks the next one, if there is one and the asker waits.
    fn next(self: &Arc<Self>) {
        let index = {
            let mut going = self.state.lock();
            if going.over || going.begun == self.order.len() || !self.outer.waits() {
                return;
            }
            going.begun += 1;
            going.begun - 1
        };
        let member = &self.order[index];
        let (nth, of) = (index as u64 + 1, self.order.len() as u64);
        member.note_choice();
        self.table.note(member.any().id(), RouteWhy::Asked { nth, of });
        let asked = match catch(|| Ok(self.ask(member))) {
            Ok(asked) => asked,
            Err(why) => {
                self.table
                    .record(EventKind::HookFailed { hook: "make of a question", text: why.report().text });
                return self.heard(Err(AskError::NoReply));
            }
        };
        let mut going = self.state.lock();
        if going.over {
            drop(going);
            return drop(asked);
        }
        going.asked.push(asked);
        drop(going);
        self.arm();
    }

    fn ask(self: &Arc<Self>, member: &Member<M>) -> Ask<R> {
        let gather = self.clone();
        let sink = Sink::Call(Box::new(move |outcome| gather.heard(outcome)));
        let now = self.table.shared().now();
        let left = self.deadline.map_or(Duration::MAX, |deadline| deadline - now);
        let slot = match &member.target {
            Target::Actor(actor) => begin(actor, |reply| (self.make)(reply), left, sink),
            Target::Router(router) => ask_by(router, self.make.clone(), left, sink, Via::default()),
        };
        slot.answer()
    }

    /// Has the next one asked in a while, where that is the way.
    fn arm(self: &Arc<Self>) {
        let Some(every) = self.every else { return };
        let mut going = self.state.lock();
        if going.over || going.begun == self.order.len() {
            return;
        }
        let dispatcher = &self.table.shared().dispatcher;
        if let Some(old) = going.timer.take() {
            dispatcher.cancel_timer(old);
        }
        let gather = self.clone();
        let due = dispatcher.now() + every;
        going.timer = dispatcher.set_timer(due, Due::Wish(Box::new(move || gather.next())));
    }

    /// One of those who were asked has answered, or will not.
    fn heard(self: &Arc<Self>, outcome: Result<R, AskError>) {
        let failed = outcome.is_err();
        let (given_up, over) = {
            let mut going = self.state.lock();
            going.failed += usize::from(failed);
            let all_failed = going.failed == self.order.len();
            if going.over || (failed && !all_failed) {
                (Vec::new(), false)
            } else {
                going.over = true;
                if let Some(timer) = going.timer.take() {
                    self.table.shared().dispatcher.cancel_timer(timer);
                }
                (std::mem::take(&mut going.asked), true)
            }
        };
        if over {
            drop(given_up);
            self.outer.settle(outcome.map_err(|_| AskError::AllFailed));
        } else if failed && self.every.is_some() {
            self.next();
        }
    }
}

/// Asks by whatever the router's kind is.
fn ask_by<M: Send + 'static, R: Send + 'static>(
    router: &RouterRef<M>,
    make: Make<M, R>,
    timeout: Duration,
    sink: Sink<R>,
    via: Via<'_>,
) -> Arc<Slot<R>> {
    let kind = &router.table.chooser.kind;
    let owner: Arc<dyn AnyCell> = router.actor.0.clone();
    let every = match kind.logic {
        Logic::ScatterGatherFirst | Logic::Broadcast => None,
        Logic::TailChopping => Some(kind.every),
        _ => return ask_one(router, make, open(&owner, timeout, sink), via),
    };
    let limit = timeout.min(kind.within);
    let deadline = (limit != Duration::MAX).then(|| owner.head().shared.now() + limit);
    let outer = open(&owner, limit, sink);
    ask_several(router, make, outer.clone(), every, deadline);
    outer
}

/// Routes one question like any message.
fn ask_one<M: Send + 'static, R: Send + 'static>(
    router: &RouterRef<M>,
    make: Make<M, R>,
    slot: Arc<Slot<R>>,
    via: Via<'_>,
) -> Arc<Slot<R>> {
    let message = make(slot.reply());
    if let Err(message) = router.table.route_or_hold(message, via.asking(slot.clone())) {
        slot.settle_visibly(Err(AskError::Dead));
        router.table.discard(message);
    }
    slot
}

fn ask_several<M: Send + 'static, R: Send + 'static>(
    router: &RouterRef<M>,
    make: Make<M, R>,
    outer: Arc<Slot<R>>,
    every: Option<Duration>,
    deadline: Option<Instant>,
) {
    let table = router.table.clone();
    let routes = table.get();
    let living: Vec<_> = routes.members.iter().filter(|member| !member.is_closed()).cloned().collect();
    if living.is_empty() {
        return outer.settle_visibly(Err(AskError::Dead));
    }
    let order: Vec<_> = match every {
        Some(_) => table.chooser.shuffled(living.len()).into_iter().map(|i| living[i].clone()).collect(),
        None => living,
    };
    let at_once = if every.is_some() { 1 } else { order.len() };
    let going = Going { asked: Vec::new(), begun: 0, failed: 0, timer: None, over: false };
    let gather = Gather { table, make, outer, order, every, deadline, state: Mutex::new(going) };
    let gather = Arc::new(gather);
    (0..at_once).for_each(|_| gather.next());
}

impl<M: Send + 'static> RouterRef<M> {
    /// Asks through the router, from outside or from a task: `make` makes one message for each routee that is asked. The kind
    /// of router says who that is: all at once ([`Router::scatter_gather_first`](super::Router::scatter_gather_first), and a
    /// broadcast), one after another ([`Router::tail_chopping`](super::Router::tail_chopping)), else the one that a message
    /// would go to.
    ///
    /// The error is [`AskError::Dead`] if there is no routee; where several are asked, [`AskError::AllFailed`] if each has
    /// failed.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::pattern::Reply;
    /// use footlights::routing::Router;
    /// use footlights::system::ActorSystem;
    /// use std::time::Duration;
    /// # struct Doubler;
    /// # impl Actor for Doubler {
    /// #     type Msg = (u64, Reply<u64>);
    /// #     fn receive(&mut self, _: &mut Context<'_, Self>, (n, reply): Self::Msg) -> Result<(), Failure> {
    /// #         reply.send(2 * n);
    /// #         Ok(())
    /// #     }
    /// # }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let doublers = Router::scatter_gather_first().pool(3, Props::new(|| Doubler));
    /// let doublers = system.spawn_router("doublers", doublers)?;
    /// let answer = doublers.ask(|reply| (21, reply), Duration::from_secs(1));
    /// assert_eq!(system.block_on(answer)?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ask<R: Send + 'static>(
        &self,
        make: impl Fn(Reply<R>) -> M + Send + Sync + 'static,
        timeout: Duration,
    ) -> Ask<R> {
        ask_by(self, Arc::new(make), timeout, Sink::Future(None), Via::default()).answer()
    }
}

impl<A: Actor> Context<'_, A> {
    /// Asks through a router, as [`RouterRef::ask`] does; the outcome comes back as one message of this actor's own, made by
    /// `map`. Nothing waits meanwhile.
    pub fn ask_router<M: Send + 'static, R: Send + 'static>(
        &mut self,
        router: &RouterRef<M>,
        make: impl Fn(Reply<R>) -> M + Send + Sync + 'static,
        timeout: Duration,
        map: impl FnOnce(Result<R, AskError>) -> A::Msg + Send + 'static,
    ) {
        let (cell, incarnation) = (self.cell.clone(), self.answers_to());
        let call = move |outcome| match catch(|| Ok(map(outcome))) {
            Ok(message) => {
                // An asker that has ended is told nothing.
                let _ = cell.send_own(Item::Answer(incarnation, message), None);
            }
            Err(why) => {
                let text = why.report().text;
                cell.head.record(EventKind::HookFailed { hook: "map of an answer", text });
            }
        };
        ask_by(router, Arc::new(make), timeout, Sink::Call(Box::new(call)), self.via());
    }
}
