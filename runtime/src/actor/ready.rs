//! Waiting for the two ends of a life: that an actor runs, and that it has ended.
//!
//! I1 each wait has one outcome, the first that comes; dropping the future changes nothing for the actor.
//! I2 nothing waits for what can no longer come: what would have told is dropped with the actor, and that is an outcome.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use super::actor_ref::{ActorRef, AnyRef};
use super::cell::{AnyCell, Cell, Item, signal};
use super::failure::catch;
use super::life::Life;
use super::path::SpawnError;
use super::signal::Signal;
use super::spawn::{begin, prepare_child};
use super::{Actor, Context, Props};
use crate::dispatch::Due;
use crate::observe::{ActorState, EventKind, StopReason};
use crate::sync::Mutex;
use crate::time::TimerKey;

/// Takes the news that an actor runs for the first time, or never will.
pub(crate) type Ready = Box<dyn FnOnce(Result<(), SpawnError>) + Send>;
/// Takes the news of an end.
pub(crate) type OnEnd = Box<dyn FnOnce(StopReason) + Send>;

/// Says that an actor did not stop in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopTimeout {
    /// The path of the actor that holds it up: itself, or the one below it that it waits for.
    pub stuck: String,
    /// What that actor is in.
    pub state: ActorState,
}

impl fmt::Display for StopTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has not stopped in time, it is {:?}", self.stuck, self.state)
    }
}

impl std::error::Error for StopTimeout {}

impl StopTimeout {
    /// Finds who holds up the end of `target`.
    fn of(target: &Arc<dyn AnyCell>) -> Self {
        let mut at = target.clone();
        loop {
            let head = at.head();
            let waits = matches!(head.state(), ActorState::Stopping | ActorState::Restarting);
            let child = if waits { head.children.lock().last() } else { None };
            match child {
                Some(child) => at = child,
                None => return StopTimeout { stuck: head.path.to_string(), state: head.state() },
            }
        }
    }
}

enum Slot<T> {
    Waiting(Option<Waker>),
    Done(Option<T>),
}

/// The promise of one outcome; if it is dropped unkept, the outcome is `otherwise`.
struct Promise<T> {
    slot: Arc<Mutex<Slot<T>>>,
    otherwise: Option<T>,
}

impl<T> Promise<T> {
    fn keep(mut self, outcome: T) {
        self.otherwise = None;
        settle(&self.slot, outcome);
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        if let Some(otherwise) = self.otherwise.take() {
            settle(&self.slot, otherwise);
        }
    }
}

fn settle<T>(slot: &Mutex<Slot<T>>, outcome: T) {
    let mut state = slot.lock();
    if let Slot::Waiting(waker) = &mut *state {
        let waker = waker.take();
        *state = Slot::Done(Some(outcome));
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The future of one outcome; it completes once, and is pending for ever if it is polled again.
///
/// Dropping it changes nothing for the actor.
#[must_use = "nobody learns the outcome if this is not awaited"]
pub struct Outcome<T> {
    slot: Arc<Mutex<Slot<T>>>,
}

impl<T> Outcome<T> {
    fn new() -> Self {
        Outcome { slot: Arc::new(Mutex::new(Slot::Waiting(None))) }
    }

    /// Makes one that is known already.
    pub(crate) fn done(outcome: T) -> Self {
        Outcome { slot: Arc::new(Mutex::new(Slot::Done(Some(outcome)))) }
    }

    fn promise(&self, otherwise: T) -> Promise<T> {
        Promise { slot: self.slot.clone(), otherwise: Some(otherwise) }
    }
}

impl<T> fmt::Debug for Outcome<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = matches!(*self.slot.lock(), Slot::Done(_));
        f.debug_struct("Outcome").field("done", &done).finish()
    }
}

impl<T> Future for Outcome<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<T> {
        match &mut *self.slot.lock() {
            Slot::Waiting(waker) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            Slot::Done(outcome) => outcome.take().map_or(Poll::Pending, Poll::Ready),
        }
    }
}

/// Gives the outcome of a start: the reference once `started` has said Ok.
pub(crate) fn ready<M: Send + 'static>(actor: ActorRef<M>) -> Outcome<Result<ActorRef<M>, SpawnError>> {
    let outcome = Outcome::new();
    let promise = outcome.promise(Err(SpawnError::StartFailed("the system has ended".to_owned())));
    let cell: Arc<dyn AnyCell> = actor.0.clone();
    let tell: Ready = Box::new(move |started| promise.keep(started.map(|()| actor)));
    signal(&cell, Signal::TellReady(tell), None);
    outcome
}

/// Stops an actor, and has `tell` learn of its end, or that it did not come in time.
fn stop_and_tell(
    target: &Arc<dyn AnyCell>,
    patience: Duration,
    tell: impl FnOnce(Result<StopReason, StopTimeout>) + Send + 'static,
) {
    let shared = &target.head().shared;
    let tell = Arc::new(Mutex::new(Some(tell)));
    let arm = || {
        let (tell, weak) = (tell.clone(), Arc::downgrade(target));
        let late = move || {
            let (told, target) = (tell.lock().take(), weak.upgrade());
            if let (Some(tell), Some(target)) = (told, target) {
                tell(Err(StopTimeout::of(&target)));
            }
        };
        shared.dispatcher.set_timer(shared.now() + patience, Due::Wish(Box::new(late)))
    };
    let timer: Option<TimerKey> = if patience == Duration::MAX { None } else { arm() };
    let system = Arc::downgrade(shared);
    let on_end: OnEnd = Box::new(move |reason| {
        let told = tell.lock().take();
        if let Some(tell) = told {
            if let (Some(timer), Some(shared)) = (timer, system.upgrade()) {
                shared.dispatcher.cancel_timer(timer);
            }
            tell(Ok(reason));
        }
    });
    signal(target, Signal::OnEnd(on_end), None);
    signal(target, Signal::Stop(StopReason::Stopped), None);
}

impl AnyRef {
    /// Stops the actor and waits for its end, at most `patience`.
    ///
    /// # Errors
    /// [`StopTimeout`] names the actor that holds it up. It is still told to stop.
    ///
    /// # Examples
    /// ```
    /// # use footlights::{actor::*, observe::StopReason, system::ActorSystem};
    /// # struct Echo;
    /// # impl Actor for Echo {
    /// #     type Msg = u32;
    /// #     fn receive(&mut self, _: &mut Context<'_, Self>, _: u32) -> Result<(), Failure> { Ok(()) }
    /// # }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let echo = system.spawn("echo", Props::new(|| Echo))?;
    /// let ended = echo.stop_and_wait(std::time::Duration::from_secs(1));
    /// assert_eq!(system.block_on(ended)?, StopReason::Stopped);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop_and_wait(&self, patience: Duration) -> Outcome<Result<StopReason, StopTimeout>> {
        let outcome = Outcome::new();
        let promise = outcome.promise(Ok(StopReason::AlreadyGone));
        stop_and_tell(&self.0, patience, move |told| promise.keep(told));
        outcome
    }
}

impl<M: Send + 'static> ActorRef<M> {
    /// Stops the actor and waits for its end; see [`AnyRef::stop_and_wait`].
    ///
    /// # Errors
    /// [`StopTimeout`] if it has not ended within `patience`.
    pub fn stop_and_wait(&self, patience: Duration) -> Outcome<Result<StopReason, StopTimeout>> {
        self.any().stop_and_wait(patience)
    }
}

impl<M: Send + 'static> Cell<M> {
    /// Tells the actor, or its incarnation, what `map` makes; a panic in that is reported and decides nothing.
    fn tell_mapped(self: &Arc<Self>, incarnation: u32, hook: &'static str, map: impl FnOnce() -> M) {
        match catch(|| Ok(map())) {
            Ok(message) => {
                // An actor that has ended is told nothing.
                let _ = self.send_own(Item::Answer(incarnation, message), None);
            }
            Err(why) => self.head.record(EventKind::HookFailed { hook, text: why.report().text }),
        }
    }
}

impl<A: Actor> Life<A> {
    /// Tells who asks that the actor runs, now or when it does.
    pub(super) fn tell_ready(&mut self, tell: Ready) {
        match self.own.ever_ran {
            true => tell(Ok(())),
            false => self.own.ready = Some(tell),
        }
    }

    /// Tells who waits for the actor to run that it does.
    pub(super) fn is_ready(&mut self) {
        if let Some(ready) = self.own.ready.take() {
            ready(Ok(()));
        }
    }

    /// Tells who waits for the actor to run that it never will.
    pub(super) fn never_ready(&mut self) {
        if let Some(ready) = self.own.ready.take() {
            let why = self.failing.as_ref().map_or("it was stopped before it ran", |(why, _)| why.text());
            ready(Err(SpawnError::StartFailed(why.to_owned())));
        }
    }
}

impl<A: Actor> Context<'_, A> {
    /// Makes a child; `map` makes one message of this actor's own when the child runs, or when its start has failed for good.
    ///
    /// # Errors
    /// As [`Context::spawn`].
    pub fn spawn_ready<B: Actor>(
        &mut self,
        name: &str,
        props: Props<B>,
        map: impl FnOnce(Result<ActorRef<B::Msg>, SpawnError>) -> A::Msg + Send + 'static,
    ) -> Result<ActorRef<B::Msg>, SpawnError> {
        let me: Arc<dyn AnyCell> = self.cell.clone();
        let child = prepare_child(&me, name, props)?;
        let (actor, cell, incarnation) = (child.clone(), self.cell.clone(), self.incarnation());
        let tell: Ready = Box::new(move |started| {
            cell.tell_mapped(incarnation, "map of a start", || map(started.map(|()| actor)));
        });
        let target: Arc<dyn AnyCell> = child.0.clone();
        // It is told before it starts who waits, so that it cannot have ended by then.
        signal(&target, Signal::TellReady(tell), Some(self.worker_mut()));
        begin(&child.any(), Some(self.worker_mut()));
        Ok(child)
    }

    /// Stops an actor; `map` makes one message of this actor's own when it has ended, or when that takes longer than
    /// `patience`.
    pub fn stop_and_wait(
        &mut self,
        target: &AnyRef,
        patience: Duration,
        map: impl FnOnce(Result<StopReason, StopTimeout>) -> A::Msg + Send + 'static,
    ) {
        let (cell, incarnation) = (self.cell.clone(), self.incarnation());
        let tell = move |told| cell.tell_mapped(incarnation, "map of an end", || map(told));
        stop_and_tell(&target.0, patience, tell);
    }
}
