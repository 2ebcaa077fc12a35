//! The event stream: topics found by their type, and whoever subscribes hears what is published from then on.
//!
//! A subscription belongs to an actor and survives its restarts. What is published goes straight into the mailbox of every
//! subscriber, in the publisher's own run.
//!
//! I1 a subscription holds when the call has returned, and ends when the actor stops, before anybody hears of that end.
//! I2 every subscriber gets the events of one publisher in their order.
//! I3 a subscriber's mailbox decides about an event as about any other message; what it refuses never ends the subscription.
//! I4 subscribers are served in the order in which they have subscribed.
//! It keeps no events: who subscribes later has missed what was before. Books are read and written at once, also by a run that
//! has charged work; only what is sent becomes visible later.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use super::SystemHandle;
use crate::actor::failure::catch;
use crate::actor::groups::{Group, JoinError, join, may_join};
use crate::actor::{Actor, ActorRef, AnyRef, Context, DeadLetter, Via};
use crate::id::ActorId;
use crate::observe::EventKind;
use crate::sync::{Mutex, Ordering};

type Deliver<E> = dyn Fn(&E, Via<'_>) + Send + Sync;

/// Who hears events of one type.
struct Topic<E> {
    /// Swapped whole, so that a publisher holds no lock while it sends.
    subscribers: Mutex<Arc<Vec<Subscriber<E>>>>,
}

struct Subscriber<E> {
    actor: ActorId,
    deliver: Arc<Deliver<E>>,
}

impl<E> Clone for Subscriber<E> {
    fn clone(&self) -> Self {
        Subscriber { actor: self.actor, deliver: self.deliver.clone() }
    }
}

impl<E> Topic<E> {
    fn now(&self) -> Arc<Vec<Subscriber<E>>> {
        self.subscribers.lock().clone()
    }

    /// Adds a subscriber, or gives one that is there another way of delivery.
    fn add(&self, new: Subscriber<E>) {
        let old = {
            let mut subscribers = self.subscribers.lock();
            let mut changed = (**subscribers).clone();
            match changed.iter_mut().find(|known| known.actor == new.actor) {
                Some(known) => *known = new,
                None => changed.push(new),
            }
            std::mem::replace(&mut *subscribers, Arc::new(changed))
        };
        drop(old); // outside of the lock: what maps is the user's
    }

    fn remove(&self, actor: ActorId) -> bool {
        let (old, left) = {
            let mut subscribers = self.subscribers.lock();
            let left: Vec<_> = subscribers.iter().filter(|known| known.actor != actor).cloned().collect();
            let count = left.len();
            (std::mem::replace(&mut *subscribers, Arc::new(left)), count)
        };
        old.len() > left
    }
}

impl<E: Send + 'static> Group for Topic<E> {
    fn leave(&self, actor: ActorId) {
        self.remove(actor);
    }
}

/// Brings events to whoever has subscribed to their type; got by `event_stream()` of a system, a handle or a context's system.
///
/// # Examples
/// ```
/// use footlights::system::ActorSystem;
/// use footlights::testkit::Probe;
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Price(u32);
/// let system = ActorSystem::builder("demo").stepper().build()?;
/// let probe = Probe::new(&system, "probe");
/// system.event_stream().subscribe(probe.actor(), |price: Price| price)?;
/// assert_eq!(system.event_stream().publish(Price(7)), 1);
/// assert_eq!(probe.expect(&system), Price(7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventStream(SystemHandle);

impl SystemHandle {
    /// Gives the system's event stream.
    pub fn event_stream(&self) -> EventStream {
        EventStream(self.clone())
    }
}

impl EventStream {
    /// Has `actor` told of every event of type `E` from now on, each made into a message by `map` on the publisher's side. A
    /// second subscription of the same actor to the same type replaces `map`. Dead letters are events as well:
    /// [`DeadLetter`].
    ///
    /// # Errors
    /// If the actor has ended, or lives in another system.
    pub fn subscribe<E, M>(
        &self,
        actor: &ActorRef<M>,
        map: impl Fn(E) -> M + Send + Sync + 'static,
    ) -> Result<(), JoinError>
    where
        E: Clone + Send + 'static,
        M: Send + 'static,
    {
        let shared = &self.0.0;
        may_join(shared, &*actor.0)?;
        let topic = self.topic::<E>();
        let target = actor.clone();
        let deliver = move |event: &E, via: Via<'_>| match catch(|| Ok(map(event.clone()))) {
            Ok(message) => drop(target.offer(message, via)),
            Err(why) => target.0.head.adapter_failed(&why, std::any::type_name::<E>()),
        };
        if TypeId::of::<E>() == TypeId::of::<DeadLetter>() {
            // Ordering: Relaxed, the topic's lock comes after it.
            actor.0.head.hears_letters.store(true, Ordering::Relaxed);
            self.listen_for_letters();
        }
        topic.add(Subscriber { actor: actor.id(), deliver: Arc::new(deliver) });
        let group: Arc<dyn Group> = topic;
        join(&*actor.0, &group)
    }

    /// Ends a subscription; false if there was none.
    pub fn unsubscribe<E: Send + 'static>(&self, actor: &AnyRef) -> bool {
        let Some(topic) = self.0.0.groups.find::<Topic<E>>() else { return false };
        let removed = topic.remove(actor.id());
        let group: Arc<dyn Group> = topic;
        self.0.0.groups.forget(actor.id(), &group);
        removed
    }

    /// Sends `event` to every subscriber of its type; gives how many there are.
    pub fn publish<E: Clone + Send + 'static>(&self, event: E) -> usize {
        self.publish_via(&event, self.0.0.log.current(), Via::default())
    }

    /// Counts the subscribers of a type.
    pub fn subscribers<E: Send + 'static>(&self) -> usize {
        self.0.0.groups.find::<Topic<E>>().map_or(0, |topic| topic.now().len())
    }

    fn topic<E: Send + 'static>(&self) -> Arc<Topic<E>> {
        self.0.0.groups.get(|| Topic { subscribers: Mutex::new(Arc::new(Vec::new())) })
    }

    fn publish_via<E: Send + 'static>(&self, event: &E, by: ActorId, mut via: Via<'_>) -> usize {
        let topic = self.0.0.groups.find::<Topic<E>>();
        let subscribers = topic.map(|topic| topic.now()).unwrap_or_default();
        let count = subscribers.len();
        let topic = std::any::type_name::<E>();
        self.0.0.record(by, EventKind::Published { topic, subscribers: count as u64 });
        subscribers.iter().for_each(|subscriber| (subscriber.deliver)(event, via.reborrow()));
        count
    }

    /// Brings dead letters to the topic of their type.
    fn listen_for_letters(&self) {
        let topic = self.topic::<DeadLetter>();
        let sink = move |letter: &DeadLetter| {
            topic.now().iter().for_each(|subscriber| (subscriber.deliver)(letter, Via::default()));
        };
        self.0.0.letters.set_sink(Some(Arc::new(sink)));
    }
}

impl<A: Actor> Context<'_, A> {
    /// Has this actor told of every event of type `E` from now on; see [`EventStream::subscribe`].
    pub fn subscribe<E: Clone + Send + 'static>(
        &mut self,
        map: impl Fn(E) -> A::Msg + Send + Sync + 'static,
    ) {
        // An actor that is being stopped has nothing to hear any more.
        let _ = self.system().event_stream().subscribe(&self.myself(), map);
    }

    /// Ends this actor's subscription; false if there was none.
    pub fn unsubscribe<E: Send + 'static>(&mut self) -> bool {
        self.system().event_stream().unsubscribe::<E>(&self.myself().any())
    }

    /// Sends `event` to every subscriber of its type, in order with what this actor tells them otherwise; gives how many there
    /// are.
    pub fn publish<E: Clone + Send + 'static>(&mut self, event: E) -> usize {
        let (stream, me) = (self.system().event_stream(), self.myself().id());
        stream.publish_via(&event, me, self.via())
    }
}

impl<E> fmt::Debug for Topic<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Topic({})", std::any::type_name::<E>())
    }
}
