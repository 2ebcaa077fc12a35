//! The receptionist: actors offer services under a key, others find them, or are told of every change.
//!
//! I1 an actor that stops is listed no more before its watchers hear of the end.
//! I2 a subscriber gets the present listing at once, and then one per change, in the order of the changes.
//! I3 listings name the actors in the order of their registration.
//! I4 no user code runs under a lock: changes are written down in order, and one caller at a time carries them out.
//! I5 a follower (a router's table) is told by whoever made the change, before that call returns.
//! A listing that a full mailbox refuses is gone, as any message; the next one is complete again.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

use super::SystemHandle;
use crate::actor::cell::AnyCell;
use crate::actor::failure::catch;
use crate::actor::groups::{Group, JoinError, join, may_join};
use crate::actor::shared::Shared;
use crate::actor::{Actor, ActorRef, AnyRef, Context, Via};
use crate::id::ActorId;
use crate::observe::EventKind;
use crate::sync::Mutex;

/// Names a service whose actors understand `M`; equal if name and type are.
///
/// # Examples
/// ```
/// use footlights::pattern::ServiceKey;
/// const KEY: &str = "translator";
/// assert_eq!(ServiceKey::<String>::new(KEY), ServiceKey::new(KEY));
/// ```
pub struct ServiceKey<M> {
    name: Arc<str>,
    of: PhantomData<fn(M)>,
}

impl<M> ServiceKey<M> {
    /// Makes the key of a name.
    pub fn new(name: &str) -> Self {
        ServiceKey { name: name.into(), of: PhantomData }
    }

    /// Gives the name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<M> Clone for ServiceKey<M> {
    fn clone(&self) -> Self {
        ServiceKey { name: self.name.clone(), of: PhantomData }
    }
}

impl<M> PartialEq for ServiceKey<M> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<M> Eq for ServiceKey<M> {}

impl<M> fmt::Debug for ServiceKey<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServiceKey({})", self.name)
    }
}

/// Who offers a service at one moment, in the order of registration.
#[derive(Debug)]
pub struct Listing<M: Send + 'static> {
    /// The service.
    pub key: ServiceKey<M>,
    /// Its actors.
    pub actors: Arc<[ActorRef<M>]>,
}

impl<M: Send + 'static> Clone for Listing<M> {
    fn clone(&self) -> Self {
        Listing { key: self.key.clone(), actors: self.actors.clone() }
    }
}

type Deliver<M> = dyn Fn(Listing<M>) + Send + Sync;

/// A change that is written down: what to tell, and whom.
type News<M> = (Listing<M>, Vec<Arc<Deliver<M>>>);

/// Follows a service without a mailbox in between (I5). Changes made at once may be told in any order: the number is higher
/// for the newer listing, and 1 at least.
pub(crate) type Follow<M> = dyn Fn(u64, &[ActorRef<M>]) + Send + Sync;

/// The services whose actors understand `M`.
struct Services<M: Send + 'static> {
    shared: Weak<Shared>,
    by_name: Mutex<BTreeMap<Arc<str>, Service<M>>>,
}

struct Service<M: Send + 'static> {
    actors: Vec<ActorRef<M>>,
    subscribers: Vec<(ActorId, Arc<Deliver<M>>)>,
    followers: Vec<(ActorId, Arc<Follow<M>>)>,
    /// The number of the present listing.
    number: u64,
    news: VecDeque<News<M>>,
    telling: bool,
    group: Arc<dyn Group>,
}

impl<M: Send + 'static> Service<M> {
    fn listing(&self, name: &Arc<str>) -> Listing<M> {
        let key = ServiceKey { name: name.clone(), of: PhantomData };
        Listing { key, actors: self.actors.iter().cloned().collect() }
    }

    /// Takes out a subscriber; it is dropped outside of the lock, since what maps is the user's.
    fn deafen(&mut self, actor: ActorId) -> Vec<(ActorId, Arc<Deliver<M>>)> {
        self.subscribers.extract_if(.., |(known, _)| *known == actor).collect()
    }

    /// Takes out a follower, to be dropped outside of the lock.
    fn lose(&mut self, actor: ActorId) -> Vec<(ActorId, Arc<Follow<M>>)> {
        self.followers.extract_if(.., |(known, _)| *known == actor).collect()
    }

    /// Is true if the actor is listed here, or is told of changes.
    fn concerns(&self, actor: ActorId) -> bool {
        self.actors.iter().any(|known| known.id() == actor)
            || self.subscribers.iter().any(|(known, _)| *known == actor)
            || self.followers.iter().any(|(known, _)| *known == actor)
    }

    fn is_empty(&self) -> bool {
        let nobody = self.actors.is_empty() && self.subscribers.is_empty() && self.followers.is_empty();
        nobody && self.news.is_empty() && !self.telling
    }

    /// Writes a change down for all subscribers.
    fn changed(&mut self, name: &Arc<str>) {
        self.number += 1;
        if !self.subscribers.is_empty() {
            let to = self.subscribers.iter().map(|(_, deliver)| deliver.clone()).collect();
            self.news.push_back((self.listing(name), to));
        }
    }

    fn remove(&mut self, shared: &Shared, name: &Arc<str>, actor: ActorId) -> bool {
        let before = self.actors.len();
        self.actors.retain(|known| known.id() != actor);
        let removed = self.actors.len() < before;
        if removed {
            let members = self.actors.len() as u64;
            shared.record(actor, EventKind::Unregistered { key: name.clone(), members });
            self.changed(name);
        }
        removed
    }
}

/// The members and subscribers of one service, as a group that actors leave.
struct Membership<M: Send + 'static> {
    services: Weak<Services<M>>,
    name: Arc<str>,
}

impl<M: Send + 'static> Group for Membership<M> {
    fn leave(&self, actor: ActorId) {
        let Some(services) = self.services.upgrade() else { return };
        let gone = services.change(&self.name, |shared, service| {
            service.remove(shared, &self.name, actor);
            (service.deafen(actor), service.lose(actor))
        });
        drop(gone);
    }
}

impl<M: Send + 'static> Services<M> {
    fn of(shared: &Arc<Shared>) -> Arc<Services<M>> {
        let weak = Arc::downgrade(shared);
        shared.groups.get(|| Services { shared: weak, by_name: Mutex::default() })
    }

    /// Changes a service under the lock, then tells whom that concerns.
    fn change<T>(
        self: &Arc<Self>,
        name: &Arc<str>,
        change: impl FnOnce(&Shared, &mut Service<M>) -> T,
    ) -> Option<T> {
        let shared = self.shared.upgrade()?;
        let (changed, followed) = {
            let mut by_name = self.by_name.lock();
            let services = Arc::downgrade(self);
            let service = by_name.entry(name.clone()).or_insert_with(|| Service {
                actors: Vec::new(),
                subscribers: Vec::new(),
                followers: Vec::new(),
                number: 1,
                news: VecDeque::new(),
                telling: false,
                group: Arc::new(Membership { services, name: name.clone() }),
            });
            let before = service.number;
            let changed = change(&shared, service);
            let follow = service.number > before && !service.followers.is_empty();
            let listed = follow.then(|| (service.number, service.actors.clone(), service.followers.clone()));
            (changed, listed)
        };
        if let Some((number, actors, followers)) = followed {
            followers.iter().for_each(|(_, follow)| follow(number, &actors));
        }
        self.tell(name);
        Some(changed)
    }

    /// Carries out what is written down, unless somebody is at it; forgets a service that nobody needs.
    fn tell(&self, name: &Arc<str>) {
        loop {
            let (listing, to) = {
                let mut by_name = self.by_name.lock();
                let Some(service) = by_name.get_mut(name) else { return };
                if service.telling {
                    return;
                }
                let Some(news) = service.news.pop_front() else {
                    let unused = if service.is_empty() { by_name.remove(name) } else { None };
                    drop(by_name);
                    drop(unused);
                    return;
                };
                service.telling = true;
                news
            };
            to.iter().for_each(|deliver| deliver(listing.clone()));
            if let Some(service) = self.by_name.lock().get_mut(name) {
                service.telling = false;
            }
        }
    }
}

/// Lists who offers which service; got by `receptionist()` of a system or a handle.
///
/// # Examples
/// ```
/// use footlights::pattern::ServiceKey;
/// use footlights::system::ActorSystem;
/// use footlights::testkit::Probe;
/// let system = ActorSystem::builder("demo").stepper().build()?;
/// let printer = Probe::<u8>::new(&system, "printer");
/// let key = ServiceKey::<u8>::new("printer");
/// system.receptionist().register(&key, printer.actor())?;
/// assert_eq!(system.receptionist().find(&key), [printer.actor().clone()]);
/// printer.actor().stop();
/// system.run_until_quiet(100);
/// assert_eq!(system.receptionist().find(&key), []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Receptionist(SystemHandle);

impl SystemHandle {
    /// Gives the system's receptionist.
    pub fn receptionist(&self) -> Receptionist {
        Receptionist(self.clone())
    }
}

impl Receptionist {
    /// Lists `actor` under `key` until it stops; once is enough.
    ///
    /// # Errors
    /// If the actor has ended, or lives in another system.
    pub fn register<M: Send + 'static>(
        &self,
        key: &ServiceKey<M>,
        actor: &ActorRef<M>,
    ) -> Result<(), JoinError> {
        may_join(&self.0.0, &*actor.0)?;
        let group = Services::of(&self.0.0).change(&key.name, |shared, service| {
            if !service.actors.contains(actor) {
                service.actors.push(actor.clone());
                let members = service.actors.len() as u64;
                shared.record(actor.id(), EventKind::Registered { key: key.name.clone(), members });
                service.changed(&key.name);
            }
            service.group.clone()
        });
        group.map_or(Err(JoinError::Ended), |group| join(&*actor.0, &group))
    }

    /// Takes `actor` off the list; false if it was not on it.
    pub fn deregister<M: Send + 'static>(&self, key: &ServiceKey<M>, actor: &ActorRef<M>) -> bool {
        let change = |shared: &Shared, service: &mut Service<M>| {
            let removed = service.remove(shared, &key.name, actor.id());
            if !service.concerns(actor.id()) {
                self.0.0.groups.forget(actor.id(), &service.group);
            }
            removed
        };
        Services::of(&self.0.0).change(&key.name, change).unwrap_or(false)
    }

    /// Gives who is listed under `key` now, in the order of registration.
    pub fn find<M: Send + 'static>(&self, key: &ServiceKey<M>) -> Vec<ActorRef<M>> {
        let Some(services) = self.0.0.groups.find::<Services<M>>() else { return Vec::new() };
        let by_name = services.by_name.lock();
        by_name.get(&key.name).map(|service| service.actors.clone()).unwrap_or_default()
    }

    /// Has `actor` told the listing of `key` now, and again after every change, each made into a message by `map`. A second
    /// subscription of the same actor replaces the first.
    ///
    /// # Errors
    /// If the actor has ended, or lives in another system.
    pub fn subscribe<M: Send + 'static, N: Send + 'static>(
        &self,
        key: &ServiceKey<M>,
        actor: &ActorRef<N>,
        map: impl Fn(Listing<M>) -> N + Send + Sync + 'static,
    ) -> Result<(), JoinError> {
        may_join(&self.0.0, &*actor.0)?;
        let target = actor.clone();
        let deliver: Arc<Deliver<M>> = Arc::new(move |listing| match catch(|| Ok(map(listing))) {
            Ok(message) => drop(target.offer(message, Via::default())),
            Err(why) => target.0.head.adapter_failed(&why, std::any::type_name::<Listing<M>>()),
        });
        let changed = Services::of(&self.0.0).change(&key.name, |_, service| {
            let before = service.deafen(actor.id());
            service.subscribers.push((actor.id(), deliver.clone()));
            let listing = service.listing(&key.name);
            service.news.push_back((listing, vec![deliver]));
            (service.group.clone(), before)
        });
        changed.map_or(Err(JoinError::Ended), |(group, _)| join(&*actor.0, &group))
    }

    /// Ends a subscription; false if there was none.
    pub fn unsubscribe<M: Send + 'static>(&self, key: &ServiceKey<M>, actor: &AnyRef) -> bool {
        let change = |_: &Shared, service: &mut Service<M>| {
            let gone = service.deafen(actor.id());
            if !service.concerns(actor.id()) {
                self.0.0.groups.forget(actor.id(), &service.group);
            }
            gone
        };
        let gone = Services::of(&self.0.0).change(&key.name, change);
        gone.is_some_and(|gone| !gone.is_empty())
    }
}

/// Has `follow` told the listing of `key` now, and every change from now on until `actor` stops.
pub(crate) fn follow<M: Send + 'static>(
    shared: &Arc<Shared>,
    key: &ServiceKey<M>,
    actor: &dyn AnyCell,
    follow: Arc<Follow<M>>,
) -> Result<(), JoinError> {
    let told = follow.clone();
    let begun = Services::of(shared).change(&key.name, |_, service| {
        service.followers.push((actor.head().id, follow));
        (service.group.clone(), service.number, service.actors.clone())
    });
    let (group, number, actors) = begun.ok_or(JoinError::Ended)?;
    told(number, &actors);
    join(actor, &group)
}

impl<A: Actor> Context<'_, A> {
    /// Lists this actor under `key` until it stops.
    pub fn register(&mut self, key: &ServiceKey<A::Msg>) {
        // An actor that is being stopped has nothing to offer any more.
        let _ = self.system().receptionist().register(key, &self.myself());
    }
}
