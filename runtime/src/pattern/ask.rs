//! Ask: a message that carries a [`Reply`] handle, and a slot that takes exactly one outcome.
//!
//! I1 a slot is settled once: by a reply, by the deadline, by the fate of its message, or by the asker's giving up. One lock
//!    decides who was first.
//! I2 no ask outlives its reason: a handle that is dropped unsent tells the slot why.
//! I3 the slot holds its timers, and its message's place in a line for room, only while it waits.
//!
//! What a dropped handle means depends on who dropped it, and the runtime knows: a message that it discards itself has a
//! fate of its own (`Dropped`, `Full`, `Stopped`); a run, of whatever actor, is waited for, and its end says `HandlerFailed`
//! or `NoReply`, or `Stopped` where it was the actor's last; outside of all runs it is `NoReply` at once.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::actor::cell::{AnyCell, Fate, Item, Orphan};
use crate::actor::doors::Refusal;
use crate::actor::failure::catch;
use crate::actor::line::{Asking, Line};
use crate::actor::shared::{Endless, Shared};
use crate::actor::{Actor, ActorRef, Context};
use crate::dispatch::Due;
use crate::mailbox::Ticket;
use crate::observe::{DropReason, EventKind};
use crate::supervise::FailureKind;
use crate::sync::Mutex;
use crate::time::TimerKey;

/// Says why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AskError {
    /// None came in time.
    Timeout,
    /// The target had ended when it was asked.
    Dead,
    /// The target ended with the question queued, or its reply open.
    Stopped,
    /// The run that held the reply handle failed.
    HandlerFailed(FailureKind),
    /// The run that held the reply handle ended without using it.
    NoReply,
    /// The target's mailbox had no room, and its policy is not to wait for some.
    Full,
    /// The message that held the reply handle was dropped, for this reason.
    Dropped(DropReason),
    /// All routees that a router had asked have failed to answer.
    AllFailed,
    /// The caller is a worker, which must not wait.
    WouldBlock,
    /// The system ended while somebody outside it held the reply.
    Shutdown,
}

impl AskError {
    fn code(self) -> u64 {
        match self {
            AskError::Timeout => 1,
            AskError::Dead => 2,
            AskError::Stopped => 3,
            AskError::HandlerFailed(kind) => 0x100 + u64::from(kind.code()),
            AskError::NoReply => 4,
            AskError::Full => 5,
            AskError::Shutdown => 6,
            AskError::AllFailed => 7,
            AskError::WouldBlock => 8,
            AskError::Dropped(reason) => 0x200 + u64::from(reason.code()),
        }
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskError::Timeout => write!(f, "no answer came in time"),
            AskError::Dead => write!(f, "the actor had ended before it was asked"),
            AskError::Stopped => write!(f, "the actor ended before it answered"),
            AskError::HandlerFailed(kind) => write!(f, "the handler failed before it answered: {kind}"),
            AskError::NoReply => write!(f, "the handler ended without an answer"),
            AskError::Full => write!(f, "the mailbox is full"),
            AskError::Dropped(reason) => write!(f, "the question was dropped: {reason}"),
            AskError::AllFailed => write!(f, "nobody of those who were asked has answered"),
            AskError::WouldBlock => write!(f, "a worker must not wait for an answer"),
            AskError::Shutdown => write!(f, "the system ended before the answer came"),
        }
    }
}

impl std::error::Error for AskError {}

/// The right to answer one question. It may be moved, stored and forwarded; dropping it unsent is an answer, too.
pub struct Reply<R: Send + 'static> {
    slot: Option<Arc<Slot<R>>>,
}

impl<R: Send + 'static> Reply<R> {
    /// Answers; false if the asker no longer waits.
    pub fn send(mut self, answer: R) -> bool {
        let Some(slot) = self.slot.take() else { return false };
        let waits = slot.waits();
        if !waits {
            slot.shared.asks.0.lock().late_replies += 1;
            return false;
        }
        slot.settle_visibly(Ok(answer));
        true
    }

    /// Is true once the asker no longer waits: a long job may give up.
    pub fn is_abandoned(&self) -> bool {
        !self.slot.as_ref().is_some_and(|slot| slot.waits())
    }
}

impl<R: Send + 'static> Drop for Reply<R> {
    fn drop(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        if !slot.waits() {
            return;
        }
        let shared = slot.shared.clone();
        if let Some(fate) = shared.discarding_here() {
            Box::new(Dropped(slot)).settle(fate);
        } else if let Some(holder) = shared.running_here() {
            holder.head().adopt(Box::new(Dropped(slot)), Fate::Handled);
        } else {
            let ended = slot.target.upgrade().is_none_or(|target| target.is_closed());
            Box::new(Dropped(slot)).settle(if ended { Fate::Stopped } else { Fate::Handled });
        }
    }
}

impl<R: Send + 'static> fmt::Debug for Reply<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}

struct Dropped<R: Send + 'static>(Arc<Slot<R>>);

impl<R: Send + 'static> Orphan for Dropped<R> {
    fn settle(self: Box<Self>, fate: Fate) {
        self.0.settle_visibly(Err(match fate {
            Fate::Handled => AskError::NoReply,
            Fate::Failed(kind) => AskError::HandlerFailed(kind),
            Fate::Stopped => AskError::Stopped,
            Fate::Dropped(reason) => AskError::Dropped(reason),
            Fate::Refused => AskError::Full,
        }));
    }
}

pub(crate) struct Slot<R: Send + 'static> {
    state: Mutex<State<R>>,
    /// Its number among the asks that time never ends; 0 if it has a deadline.
    endless: u64,
    shared: Arc<Shared>,
    target: Weak<dyn AnyCell>,
}

enum State<R> {
    Waiting { sink: Sink<R>, ties: Ties },
    Settled(Option<Result<R, AskError>>),
}

/// What a waiting slot holds elsewhere, to be let go when it is settled.
#[derive(Default)]
struct Ties {
    deadline: Option<TimerKey>,
    /// The end of the wait in line.
    patience: Option<TimerKey>,
    /// Where the message waits for room.
    line: Option<(Arc<dyn Line>, Ticket)>,
}

pub(crate) enum Sink<R> {
    Future(Option<Waker>),
    Call(Box<dyn FnOnce(Result<R, AskError>) + Send>),
}

impl<R: Send + 'static> Slot<R> {
    /// Makes the right to answer.
    pub(crate) fn reply(self: &Arc<Self>) -> Reply<R> {
        Reply { slot: Some(self.clone()) }
    }

    /// Makes the future of the answer.
    pub(crate) fn answer(self: Arc<Self>) -> Ask<R> {
        Ask { slot: self }
    }

    pub(crate) fn waits(&self) -> bool {
        matches!(*self.state.lock(), State::Waiting { .. })
    }

    /// Settles when what the present run does becomes visible.
    pub(crate) fn settle_visibly(self: &Arc<Self>, outcome: Result<R, AskError>) {
        match self.shared.dispatcher.later() {
            None => self.settle(outcome),
            Some(at) => {
                let slot = self.clone();
                self.shared.dispatcher.set_timer(at, Due::Call(Box::new(move || slot.settle(outcome))));
            }
        }
    }

    pub(crate) fn settle(self: &Arc<Self>, outcome: Result<R, AskError>) {
        let code = outcome.as_ref().map_or_else(|error| error.code(), |_| 0);
        let mut state = self.state.lock();
        let State::Waiting { sink, ties } = &mut *state else {
            drop(state);
            if code == 0 {
                self.shared.asks.0.lock().late_replies += 1;
            }
            // A late answer is the replier's value, dropped by whoever settles: its panic is nobody's failure.
            let _ = catch(|| {
                drop(outcome);
                Ok(())
            });
            return;
        };
        let (sink, ties) = (std::mem::replace(sink, Sink::Future(None)), std::mem::take(ties));
        match sink {
            Sink::Future(waker) => {
                *state = State::Settled(Some(outcome));
                drop(state);
                self.finish(code, ties);
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Sink::Call(call) => {
                *state = State::Settled(None);
                drop(state);
                self.finish(code, ties);
                call(outcome);
            }
        }
    }

    fn finish(&self, code: u64, ties: Ties) {
        self.let_go(ties);
        let mut asks = self.shared.asks.0.lock();
        asks.pending -= 1;
        match code {
            0 => asks.replied += 1,
            1 => asks.timed_out += 1,
            _ => asks.failed += 1,
        }
        drop(asks);
        self.shared.record(self.shared.log.current(), EventKind::AskEnded { outcome: code });
    }

    fn let_go(&self, ties: Ties) {
        for timer in [ties.deadline, ties.patience].into_iter().flatten() {
            self.shared.dispatcher.cancel_timer(timer);
        }
        if let Some((line, ticket)) = ties.line {
            line.withdraw(ticket);
        }
        if self.endless > 0 {
            self.shared.endless.remove(self.endless);
        }
    }
}

impl<R: Send + 'static> Asking for Slot<R> {
    /// Ties the message that waits for room to this slot: who is first out of patience withdraws it.
    fn waits(&self, line: Arc<dyn Line>, ticket: Ticket) {
        let patience = line.patience().and_then(|patience| {
            let line = line.clone();
            let withdraw = Due::Call(Box::new(move || line.withdraw(ticket)));
            self.shared.dispatcher.set_timer(self.shared.now() + patience, withdraw)
        });
        let mut state = self.state.lock();
        if let State::Waiting { ties, .. } = &mut *state {
            (ties.line, ties.patience) = (Some((line, ticket)), patience);
            return;
        }
        drop(state);
        self.let_go(Ties { patience, line: Some((line, ticket)), ..Ties::default() });
    }

    fn found_full(self: Arc<Self>) {
        self.settle_visibly(Err(AskError::Full));
    }
}

impl<R: Send + 'static> Endless for Slot<R> {
    fn end(self: Arc<Self>) {
        self.settle(Err(AskError::Shutdown));
    }
}

/// The future of an answer; dropping it gives up.
#[must_use = "an ask is given up when its future is dropped"]
pub struct Ask<R: Send + 'static> {
    slot: Arc<Slot<R>>,
}

impl<R: Send + 'static> fmt::Debug for Ask<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ask(waits: {})", self.slot.waits())
    }
}

impl<R: Send + 'static> Future for Ask<R> {
    type Output = Result<R, AskError>;

    fn poll(self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        match &mut *self.slot.state.lock() {
            State::Settled(outcome) => Poll::Ready(outcome.take().unwrap_or(Err(AskError::NoReply))),
            State::Waiting { sink, .. } => {
                *sink = Sink::Future(Some(cx.waker().clone()));
                Poll::Pending
            }
        }
    }
}

impl<R: Send + 'static> Drop for Ask<R> {
    fn drop(&mut self) {
        let mut state = self.slot.state.lock();
        if let State::Waiting { ties, .. } = &mut *state {
            let ties = std::mem::take(ties);
            *state = State::Settled(None);
            drop(state);
            self.slot.let_go(ties);
            let mut asks = self.slot.shared.asks.0.lock();
            asks.pending -= 1;
            asks.cancelled += 1;
        }
    }
}

/// Makes the slot of a question to `target`.
pub(crate) fn open<R: Send + 'static>(
    target: &Arc<dyn AnyCell>,
    timeout: Duration,
    sink: Sink<R>,
) -> Arc<Slot<R>> {
    let shared = target.head().shared.clone();
    let endless = if timeout == Duration::MAX { shared.endless.next() } else { 0 };
    let state = Mutex::new(State::Waiting { sink, ties: Ties::default() });
    let slot = Arc::new(Slot { state, endless, shared: shared.clone(), target: Arc::downgrade(target) });
    {
        let mut asks = shared.asks.0.lock();
        asks.asks += 1;
        asks.pending += 1;
    }
    shared.record(shared.log.current(), EventKind::AskBegan { target: target.head().id });
    if endless > 0 {
        let weak: Weak<dyn Endless> = Arc::downgrade(&slot) as Weak<Slot<R>>;
        shared.endless.insert(endless, weak);
    } else {
        arm(&slot, timeout);
    }
    slot
}

/// Makes the slot, and the message that holds its reply handle.
fn prepare<M: Send + 'static, R: Send + 'static>(
    target: &ActorRef<M>,
    make: impl FnOnce(Reply<R>) -> M,
    timeout: Duration,
    sink: Sink<R>,
) -> (Arc<Slot<R>>, M) {
    let any: Arc<dyn AnyCell> = target.0.clone();
    let slot = open(&any, timeout, sink);
    let message = make(slot.reply());
    (slot, message)
}

/// Makes the slot and the message, and sends it.
pub(crate) fn begin<M: Send + 'static, R: Send + 'static>(
    target: &ActorRef<M>,
    make: impl FnOnce(Reply<R>) -> M,
    timeout: Duration,
    sink: Sink<R>,
) -> Arc<Slot<R>> {
    let (slot, message) = prepare(target, make, timeout, sink);
    post(target, &slot, message);
    slot
}

/// Sends the message of an ask; if it is handed back the outcome is known.
fn post<M: Send + 'static, R: Send + 'static>(target: &ActorRef<M>, slot: &Arc<Slot<R>>, message: M) {
    if let Err(refusal) = target.0.send_ask(message, slot.clone()) {
        slot.settle_visibly(Err(match &refusal {
            Refusal::Full(_) => AskError::Full,
            Refusal::Closed(_) => AskError::Dead,
        }));
    }
}

fn arm<R: Send + 'static>(slot: &Arc<Slot<R>>, timeout: Duration) {
    let weak = Arc::downgrade(slot);
    let expire = move || {
        if let Some(slot) = weak.upgrade() {
            let ended = slot.shared.ended.lock().is_some();
            slot.settle(Err(if ended { AskError::Shutdown } else { AskError::Timeout }));
        }
    };
    let due = slot.shared.now() + timeout;
    let key = slot.shared.dispatcher.set_timer(due, Due::Call(Box::new(expire)));
    if let State::Waiting { ties, .. } = &mut *slot.state.lock() {
        ties.deadline = key;
    }
}

impl<M: Send + 'static> ActorRef<M> {
    /// Asks from outside, or from a task: sends what `make` makes of a reply handle, and waits for its outcome. With a
    /// `timeout` of `Duration::MAX` time never ends it; every other error comes as soon as it is known.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::pattern::Reply;
    /// use footlights::system::ActorSystem;
    /// use std::time::Duration;
    ///
    /// struct Doubler;
    /// impl Actor for Doubler {
    ///     type Msg = (u64, Reply<u64>);
    ///     fn receive(&mut self, _: &mut Context<'_, Self>, (n, reply): Self::Msg) -> Result<(), Failure> {
    ///         reply.send(2 * n);
    ///         Ok(())
    ///     }
    /// }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let doubler = system.spawn("doubler", Props::new(|| Doubler))?;
    /// let answer = doubler.ask(|reply| (21, reply), Duration::from_secs(1));
    /// assert_eq!(system.block_on(answer)?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ask<R: Send + 'static>(&self, make: impl FnOnce(Reply<R>) -> M, timeout: Duration) -> Ask<R> {
        let (slot, message) = prepare(self, make, timeout, Sink::Future(None));
        post(self, &slot, message);
        Ask { slot }
    }
}

impl<A: Actor> Context<'_, A> {
    /// Asks `target`; the outcome comes back as one message of this actor's own, made by `map`. Nothing waits meanwhile: if
    /// the target's mailbox makes senders wait, it is the question that waits, within its timeout.
    pub fn ask<M: Send + 'static, R: Send + 'static>(
        &mut self,
        target: &ActorRef<M>,
        make: impl FnOnce(Reply<R>) -> M,
        timeout: Duration,
        map: impl FnOnce(Result<R, AskError>) -> A::Msg + Send + 'static,
    ) {
        let (cell, incarnation) = (self.cell.clone(), self.answers_to());
        let call = move |outcome| {
            // `map` is the asker's code on the replier's side: its panic must not be the replier's failure.
            match catch(|| Ok(map(outcome))) {
                Ok(message) => {
                    // An asker that has ended is told nothing.
                    let _ = cell.send_own(Item::Answer(incarnation, message), None);
                }
                Err(why) => {
                    cell.head
                        .record(EventKind::HookFailed { hook: "map of an answer", text: why.report().text });
                }
            }
        };
        let (slot, message) = prepare(target, make, timeout, Sink::Call(Box::new(call)));
        if let Some(message) = self.keep_in_order(target, message) {
            post(target, &slot, message);
        }
    }
}
