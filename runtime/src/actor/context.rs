//! What a running handler may do: the door to its own actor and to the runtime.
//!
//! I1 a context exists during one run only; nothing ambient stands in for it.
//! I2 what it does after [`Context::work`] is visible to others that much later.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::actor_ref::{ActorRef, AnyRef, Recipient, Tell, Via};
use super::cell::{AnyCell, Cell, Item, signal};
use super::handlers::Handler;
use super::life::Own;
use super::path::SpawnError;
use super::signal::Signal;
use super::timers::TimerScope;
use super::watch::{Terminated, WatchError};
use super::{Actor, Cancel, Props};
use crate::dispatch::{Due, Home, Worker};
use crate::observe::EventKind;
use crate::rng::Rng;
use crate::sync::Ordering;
use crate::time::{Instant, TimerKey, nanos};

/// Stands for whichever incarnation there is; the first one is 1.
pub(super) const ANY_INCARNATION: u32 = 0;

/// Gives a handler access to its actor and to the runtime.
pub struct Context<'a, A: Actor> {
    pub(crate) cell: &'a Arc<Cell<A::Msg>>,
    pub(super) own: &'a mut Own<A::Msg>,
    pub(super) handlers: &'a mut Vec<Handler<A>>,
    pub(super) worker: &'a mut Worker,
    /// What is ordered now is meant for whichever incarnation there is when its result comes.
    lasting: bool,
}

impl<A: Actor> fmt::Debug for Context<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({})", self.cell.head.path)
    }
}

impl<'a, A: Actor> Context<'a, A> {
    pub(super) fn new(
        cell: &'a Arc<Cell<A::Msg>>,
        own: &'a mut Own<A::Msg>,
        handlers: &'a mut Vec<Handler<A>>,
        worker: &'a mut Worker,
    ) -> Self {
        Context { cell, own, handlers, worker, lasting: false }
    }

    /// Gives the reference to this actor.
    pub fn myself(&self) -> ActorRef<A::Msg> {
        ActorRef(self.cell.clone())
    }

    /// Gives this actor's path.
    pub fn path(&self) -> &str {
        &self.cell.head.path
    }

    /// Orders something whose result outlives a restart of this actor: what `f` asks, pipes or spawns as a task is answered to
    /// whichever incarnation there is by then. Else such a result is a dead letter (StaleIncarnation), and a task is cancelled.
    /// A stop ends these too, and a child that `f` makes to wait ([`Context::aggregate`]) stops as children do.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::system::ActorSystem;
    /// struct Cache(Option<u32>);
    /// enum Msg { Load, Loaded(u32), Break }
    /// impl Actor for Cache {
    ///     type Msg = Msg;
    ///     fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
    ///         match msg {
    ///             Msg::Load => {
    ///                 cx.across_restarts(|cx| cx.pipe_to_self(async { 7 }, |n| Msg::Loaded(n.unwrap_or(0))));
    ///             }
    ///             Msg::Loaded(n) => self.0 = Some(n),
    ///             Msg::Break => return Err(Failure::new("broken", "it was told so")),
    ///         }
    ///         Ok(())
    ///     }
    /// }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let cache = system.spawn("cache", Props::new(|| Cache(None)))?;
    /// cache.tell(Msg::Load);
    /// cache.tell(Msg::Break);
    /// assert!(system.run_until_quiet(1_000));
    /// assert_eq!(system.ledger().handled, 2, "the order, and its result after the restart");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn across_restarts<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.lasting, true);
        let result = f(self);
        self.lasting = before;
        result
    }

    /// Says to which incarnation the result goes of what is ordered now.
    pub(crate) fn answers_to(&self) -> u32 {
        if self.lasting { ANY_INCARNATION } else { self.incarnation() }
    }

    /// Gives the system's time; within a run it moves with the work that the run charges.
    pub fn now(&self) -> Instant {
        self.cell.head.shared.now()
    }

    /// Counts the instances of this actor so far, this one included: 1 before any restart.
    pub fn incarnation(&self) -> u32 {
        self.cell.head.incarnation.load(Ordering::Relaxed)
    }

    /// Gives this actor's own random numbers, seeded by the system's seed and the actor's number.
    pub fn rng(&mut self) -> &mut Rng {
        &mut self.own.rng
    }

    // --- talking ---

    /// Sends a message and does not wait. Messages to one target keep their order: while some of [`Context::send`] wait
    /// for room there, this one queues behind them.
    pub fn tell<N>(&mut self, target: &impl Tell<N>, message: N) {
        if self.cell.head.is_forced() {
            return self.cell.head.abandon(message);
        }
        target.tell_via(message, self.via());
    }

    /// Passes a message on; what it carries, a reply handle for example, goes with it.
    pub fn forward<N>(&mut self, target: &impl Tell<N>, message: N) {
        self.tell(target, message);
    }

    /// Sends a message after `delay`. The delayed message belongs to the system: it survives this actor.
    pub fn tell_after<N: Send + 'static>(
        &mut self,
        delay: Duration,
        target: &ActorRef<N>,
        message: N,
    ) -> Delayed {
        let (target, shared) = (target.clone(), &self.cell.head.shared);
        let due = shared.now() + delay;
        let call = Due::Wish(Box::new(move || target.tell(message)));
        let key = shared.dispatcher.set_timer(due, call);
        Delayed { key, shared: Arc::downgrade(shared) }
    }

    /// Gives a destination for `N` whose messages reach this actor mapped by `map`.
    pub fn adapter<N>(&self, map: impl Fn(N) -> A::Msg + Send + Sync + 'static) -> Recipient<N> {
        self.myself().adapt(map)
    }

    /// Puts a message at the end of this actor's own mailbox; it always has room.
    pub(crate) fn tell_own(&mut self, message: A::Msg) {
        let incarnation = self.incarnation();
        // A mailbox that is closed has ended this actor: nobody is left to tell.
        let _ = self.cell.send_own(Item::Answer(incarnation, message), Some(self.worker));
    }

    // --- time ---

    /// Gives this actor's timers.
    pub fn timers(&mut self) -> TimerScope<'_, A::Msg> {
        TimerScope { timers: &mut self.own.timers, cell: self.cell }
    }

    /// Spends `d` of CPU: a Pool burns it, a Stepper keeps this virtual worker busy until then.
    pub fn work(&mut self, d: Duration) {
        self.cell.head.counts.busy_ns.add(nanos(d));
        self.cell.head.shared.dispatcher.work(d, self.cell.head.home);
    }

    /// Occupies the worker for `d` without CPU, as a blocking call does. Where others share the worker that is a lint: give
    /// the actor to the dispatcher `blocking`, or the call to [`Context::spawn_blocking`].
    pub fn block(&mut self, d: Duration) {
        self.cell.head.counts.blocked_ns.add(nanos(d));
        self.cell.head.will_block(nanos(d));
        self.cell.head.shared.dispatcher.block(d, self.cell.head.home);
    }

    // --- family ---

    /// Makes a child; an empty name asks for a generated one. It starts on its own.
    ///
    /// # Errors
    /// If the name is bad or taken, or this actor is ending.
    pub fn spawn<B: Actor>(&mut self, name: &str, props: Props<B>) -> Result<ActorRef<B::Msg>, SpawnError> {
        let me: Arc<dyn AnyCell> = self.cell.clone();
        super::spawn::spawn_child(&me, name, props, Some(self.worker))
    }

    /// Lists the living children, in start order.
    pub fn children(&self) -> Vec<AnyRef> {
        self.cell.head.children.lock().cells().into_iter().map(AnyRef).collect()
    }

    /// Ends this actor after the present run.
    pub fn stop(&mut self) {
        self.own.stop_asked = true;
    }

    /// Has `map` make one message of this actor's own when `target` has ended; at once if it has already. A second watch of
    /// the same target replaces the mapping.
    ///
    /// # Errors
    /// [`WatchError::Oneself`] if `target` is this actor.
    pub fn watch(
        &mut self,
        target: &AnyRef,
        map: impl FnOnce(Terminated) -> A::Msg + Send + 'static,
    ) -> Result<(), WatchError> {
        if target.id() == self.cell.head.id {
            return Err(WatchError::Oneself);
        }
        if let Some(registration) = self.own.watching.add(&target.0, Box::new(map)) {
            self.cell.head.record(EventKind::Watched { target: target.id() });
            let me: Arc<dyn AnyCell> = self.cell.clone();
            signal(&target.0, Signal::Watch(me, registration), Some(self.worker));
        }
        Ok(())
    }

    /// Withdraws a watch, a notice that is queued already included; false if there was none.
    pub fn unwatch(&mut self, target: &AnyRef) -> bool {
        let watched = self.own.watching.remove(target.id()).is_some();
        if watched {
            self.cell.head.record(EventKind::Unwatched { target: target.id() });
            signal(&target.0, Signal::Unwatch(self.cell.head.id), Some(self.worker));
        }
        watched
    }

    /// Gives the way of what this run sends.
    pub(crate) fn via(&mut self) -> Via<'_> {
        Via::handler(self.worker, &mut self.own.outbox)
    }

    /// Remembers a task to be cancelled with this incarnation.
    pub(crate) fn keep_task(&mut self, task: Arc<dyn Cancel>) {
        self.own.tasks.add(task, self.lasting);
    }

    /// Queues a task, by this worker.
    pub(crate) fn schedule(&mut self, task: crate::dispatch::Task) {
        self.schedule_in(self.cell.head.home, task);
    }

    /// Queues a task somewhere, by this worker.
    pub(crate) fn schedule_in(&mut self, home: Home, task: crate::dispatch::Task) {
        let shared = &self.cell.head.shared;
        match shared.dispatcher.later() {
            None => shared.dispatcher.schedule(task, home, None),
            Some(at) => {
                let system = shared.clone();
                let start = move || system.dispatcher.schedule(task, home, None);
                shared.dispatcher.set_timer(at, Due::Call(Box::new(start)));
            }
        }
    }

    pub(crate) fn worker_mut(&mut self) -> &mut Worker {
        self.worker
    }

    /// Writes a line of its own into the event log (for built-in behaviours).
    pub fn note(&self, what: &'static str, value: u64) {
        self.cell.head.record(EventKind::Note { what, value });
    }
}

/// A delayed message that can be called back; dropping this does not cancel it.
#[derive(Debug)]
pub struct Delayed {
    key: Option<TimerKey>,
    shared: Weak<super::shared::Shared>,
}

impl Delayed {
    /// Calls the message back; false if it has been sent.
    pub fn cancel(self) -> bool {
        match (self.key, self.shared.upgrade()) {
            (Some(key), Some(shared)) => shared.dispatcher.cancel_timer(key),
            _ => false,
        }
    }
}
