//! References: what one holds of an actor, and how one talks to it.
//!
//! [`Tell`] is what a destination is: an [`ActorRef`], a [`Recipient`] that adapts, a router. Inside a handler use
//! [`Context::tell`](super::Context::tell), which wakes the receiver on the same worker; `tell` itself works from anywhere.

use std::fmt;
use std::sync::Arc;

use super::cell::{AnyCell, Cell, MESSAGE_DROP, signal};
use super::doors::{Door, Refusal};
use super::failure::catch;
use super::line::Asking;
use super::outbox::Outbox;
use super::signal::Signal;
use crate::dispatch::Worker;
use crate::id::ActorId;
use crate::observe::{ActorSnapshot, StopReason};

/// Names one actor that understands `M`. Cheap to clone; equal if it is the same actor; outlives restarts, not the stop.
pub struct ActorRef<M: std::marker::Send + 'static>(pub(crate) Arc<Cell<M>>);

/// Says why a message was handed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TellError<M> {
    /// The mailbox has no room.
    Full(M),
    /// The actor has ended.
    Closed(M),
}

impl<M> fmt::Display for TellError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TellError::Full(_) => write!(f, "the mailbox is full"),
            TellError::Closed(_) => write!(f, "the actor has ended"),
        }
    }
}

impl<M: fmt::Debug> std::error::Error for TellError<M> {}

/// A destination for messages of type `M`.
pub trait Tell<M> {
    /// Sends; see [`ActorRef::tell`]. `via` is what the runtime passes to keep the wake-up local.
    fn tell_via(&self, message: M, via: Via<'_>);
}

/// The way a message takes: from outside, or from a running handler.
#[derive(Default)]
pub struct Via<'a> {
    pub(crate) worker: Option<&'a mut Worker>,
    outbox: Option<&'a mut Outbox>,
    /// Whoever asks, if the message is a question: it may wait in line for room.
    pub(crate) asking: Option<Arc<dyn Asking>>,
}

impl<'a> Via<'a> {
    /// From a worker, if it is one, without regard to a sender's outbox.
    pub(crate) fn by(worker: Option<&'a mut Worker>) -> Self {
        Via { worker, outbox: None, asking: None }
    }

    /// From a running handler: what it has waiting for a target goes first.
    pub(crate) fn handler(worker: &'a mut Worker, outbox: &'a mut Outbox) -> Self {
        Via { worker: Some(worker), outbox: Some(outbox), asking: None }
    }

    /// Is true if something of the sender's waits for a target: what comes later must queue behind it.
    pub(crate) fn holds_for(&self, target: ActorId) -> bool {
        self.outbox.as_ref().is_some_and(|outbox| outbox.holds_for(target))
    }

    /// Carries a question of this asker.
    pub(crate) fn asking(self, asking: Arc<dyn Asking>) -> Self {
        Via { asking: Some(asking), ..self }
    }

    /// Lends the way for one of several messages.
    pub(crate) fn reborrow(&mut self) -> Via<'_> {
        let asking = self.asking.clone();
        Via { worker: self.worker.as_deref_mut(), outbox: self.outbox.as_deref_mut(), asking }
    }
}

impl fmt::Debug for Via<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.outbox.is_some() { "Via(handler)" } else { "Via(outside)" })
    }
}

impl<M: std::marker::Send + 'static> ActorRef<M> {
    /// Sends a message and does not wait. To an actor that has ended it becomes a dead letter; if the mailbox is full its
    /// policy decides.
    pub fn tell(&self, message: M) {
        self.tell_via(message, Via::default());
    }

    /// Sends a message, or hands it back.
    ///
    /// # Errors
    /// [`TellError::Full`] if there is no room, [`TellError::Closed`] if the actor has ended.
    pub fn try_tell(&self, message: M) -> Result<(), TellError<M>> {
        self.0.send(message, Door::Try, None).map_err(|refusal| match refusal {
            Refusal::Full(message) => TellError::Full(message),
            Refusal::Closed(message) => TellError::Closed(message),
        })
    }

    /// Ends the actor after its present run.
    pub fn stop(&self) {
        self.any().stop();
    }

    /// Ends the actor when it has handled everything that is queued now.
    pub fn drain(&self) {
        self.any().drain();
    }

    /// Makes the actor fail (kind Killed) after its present run; by default its supervisor stops it.
    pub fn kill(&self) {
        self.any().kill();
    }

    /// Gives the reference without its message type.
    pub fn any(&self) -> AnyRef {
        AnyRef(self.0.clone())
    }

    /// Gives the path, such as `/user/pool/w3`.
    pub fn path(&self) -> &str {
        &self.0.head.path
    }

    /// Gives the number of this actor in its system.
    pub fn id(&self) -> ActorId {
        self.0.head.id
    }

    /// Is true once the actor takes no more messages.
    pub fn is_closed(&self) -> bool {
        self.0.mailbox.is_closed()
    }

    /// Counts the messages that wait, the one in hand included (exact on a Stepper and on a parked Pool).
    pub fn queued(&self) -> u64 {
        self.0.pending()
    }

    /// Gives a destination for `N` that maps each message by `map`, on the sender's side, and tells it to this actor. A
    /// panic in `map` makes the message a dead letter (AdapterFailed); it is not the sender's failure.
    pub fn adapt<N>(&self, map: impl Fn(N) -> M + std::marker::Send + Sync + 'static) -> Recipient<N> {
        let target = self.clone();
        Recipient(Arc::new(move |message: N, via: Via<'_>| match catch(|| Ok(map(message))) {
            Ok(mapped) => target.tell_via(mapped, via),
            Err(why) => target.0.head.adapter_failed(&why, std::any::type_name::<N>()),
        }))
    }
}

impl<M: std::marker::Send + 'static> ActorRef<M> {
    /// Sends what the actor has subscribed to: as a tell, but what comes too late for it is nobody's loss. True if it was taken.
    pub(crate) fn offer(&self, message: M, via: Via<'_>) -> bool {
        if let Some(outbox) = via.outbox
            && outbox.holds_for(self.id())
        {
            outbox.push(self.0.clone(), message);
            return true;
        }
        match self.0.send(message, Door::Route, via.worker) {
            Ok(()) => true,
            Err(Refusal::Closed(message) | Refusal::Full(message)) => {
                self.0.head.discard(MESSAGE_DROP, message);
                false
            }
        }
    }

    /// Gives a destination for one part of what this actor understands; as [`ActorRef::adapt`] with `M::from`.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props, Recipient};
    /// use footlights::system::ActorSystem;
    /// struct Tick;
    /// enum Msg { Tick, Reset }
    /// impl From<Tick> for Msg {
    ///     fn from(_: Tick) -> Msg { Msg::Tick }
    /// }
    /// struct Clock(u64);
    /// impl Actor for Clock {
    ///     type Msg = Msg;
    ///     fn receive(&mut self, _: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
    ///         self.0 = if let Msg::Tick = msg { self.0 + 1 } else { 0 };
    ///         Ok(())
    ///     }
    /// }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let clock = system.spawn("clock", Props::new(|| Clock(0)))?;
    /// let ticks: Recipient<Tick> = clock.narrow();
    /// ticks.tell(Tick);
    /// clock.tell(Msg::Reset);
    /// system.run_until_quiet(10);
    /// assert_eq!(system.ledger().handled, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn narrow<N: 'static>(&self) -> Recipient<N>
    where
        M: From<N>,
    {
        self.adapt(M::from)
    }
}

impl<M: std::marker::Send + 'static> Tell<M> for ActorRef<M> {
    fn tell_via(&self, message: M, via: Via<'_>) {
        if let Some(outbox) = via.outbox
            && outbox.holds_for(self.id())
        {
            return outbox.push(self.0.clone(), message);
        }
        // A tell is never handed back.
        let _ = self.0.send(message, Door::Tell, via.worker);
    }
}

impl<M: std::marker::Send + 'static> Clone for ActorRef<M> {
    fn clone(&self) -> Self {
        ActorRef(self.0.clone())
    }
}

impl<M: std::marker::Send + 'static> PartialEq for ActorRef<M> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<M: std::marker::Send + 'static> Eq for ActorRef<M> {}

impl<M: std::marker::Send + 'static> fmt::Debug for ActorRef<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActorRef({} {})", self.path(), self.id())
    }
}

/// Names one actor, whatever it understands.
#[derive(Clone)]
pub struct AnyRef(pub(crate) Arc<dyn AnyCell>);

impl AnyRef {
    /// Ends the actor after its present run.
    pub fn stop(&self) {
        signal(&self.0, Signal::Stop(StopReason::Stopped), None);
    }

    /// Ends the actor when it has handled everything that is queued now.
    pub fn drain(&self) {
        self.0.clone().drain();
    }

    /// Makes the actor fail (kind Killed) after its present run.
    pub fn kill(&self) {
        signal(&self.0, Signal::Kill, None);
    }

    /// Gives the path, such as `/user/pool/w3`.
    pub fn path(&self) -> &str {
        &self.0.head().path
    }

    /// Gives the number of this actor in its system.
    pub fn id(&self) -> ActorId {
        self.0.head().id
    }

    /// Is true once the actor takes no more messages.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Gives the actor's present state and counts.
    pub fn snapshot(&self) -> ActorSnapshot {
        self.0.snapshot()
    }
}

impl PartialEq for AnyRef {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for AnyRef {}

impl fmt::Debug for AnyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyRef({} {})", self.path(), self.id())
    }
}

type Deliver<N> = dyn Fn(N, Via<'_>) + std::marker::Send + Sync;

/// A destination for `N` that adapts what it gets for somebody else.
pub struct Recipient<N>(Arc<Deliver<N>>);

impl<N> Recipient<N> {
    /// Makes a destination of a function; it runs on the sender's side.
    pub fn new(deliver: impl Fn(N, Via<'_>) + std::marker::Send + Sync + 'static) -> Self {
        Recipient(Arc::new(deliver))
    }

    /// Sends a message and does not wait.
    pub fn tell(&self, message: N) {
        (self.0)(message, Via::default());
    }
}

impl<N> Tell<N> for Recipient<N> {
    fn tell_via(&self, message: N, via: Via<'_>) {
        (self.0)(message, via);
    }
}

impl<N> Clone for Recipient<N> {
    fn clone(&self) -> Self {
        Recipient(self.0.clone())
    }
}

impl<N> fmt::Debug for Recipient<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recipient")
    }
}
