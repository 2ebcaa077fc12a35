//! What one wants of a router: the kind of choice, and who the routees are.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::keeper::{self, Maker, Settings};
use super::logic::{KeyOf, Kind, Logic};
use super::member::{Member, Target};
use super::queue::{Queue, QueueFull};
use super::refill::Refill;
use super::resize::Resizer;
use super::router_ref::RouterRef;
use crate::actor::cell::AnyCell;
use crate::actor::spawn::prepare_child;
use crate::actor::{Actor, ActorRef, AnyRef, Context, Props, SpawnError, Via};
use crate::pattern::ServiceKey;
use crate::supervise::Strategy;

/// Routees of a pool, at most.
pub(super) const ROUTEES_MAX: usize = 100_000;
/// How long an ask of several routees may take.
const WITHIN: Duration = Duration::from_secs(5);
/// When the next routee of a tail-chopping router is asked.
const EVERY: Duration = Duration::from_millis(10);

/// How to choose among routees; made into a router by [`Router::pool`] or [`Router::group`].
///
/// # Examples
/// ```
/// use footlights::actor::{Actor, Context, Failure, Props};
/// use footlights::routing::Router;
/// use footlights::system::ActorSystem;
/// # struct Worker;
/// # impl Actor for Worker {
/// #     type Msg = u32;
/// #     fn receive(&mut self, _: &mut Context<'_, Self>, _: u32) -> Result<(), Failure> { Ok(()) }
/// # }
/// let system = ActorSystem::builder("demo").stepper().build()?;
/// let workers = system.spawn_router("workers", Router::round_robin().pool(3, Props::new(|| Worker)))?;
/// (0..9).for_each(|n| workers.tell(n));
/// system.run_until_quiet(1_000);
/// let chosen: Vec<u64> = workers.snapshot().routees.iter().map(|routee| routee.chosen).collect();
/// assert_eq!(chosen, [3, 3, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Router<M> {
    kind: Kind<M>,
}

impl<M: Send + 'static> Router<M> {
    fn of(logic: Logic) -> Self {
        Router { kind: Kind { logic, copy: None, key: None, queue: None, within: WITHIN, every: EVERY } }
    }

    /// Takes the routees in turn.
    pub fn round_robin() -> Self {
        Router::of(Logic::RoundRobin)
    }

    /// Takes a random routee, by the system's seed.
    pub fn random() -> Self {
        Router::of(Logic::Random)
    }

    /// Sends a copy to every routee.
    pub fn broadcast() -> Self
    where
        M: Clone,
    {
        let mut router = Router::of(Logic::Broadcast);
        router.kind.copy = Some(M::clone);
        router
    }

    /// Takes a routee with nothing to do, else the one with the fewest messages; ties rotate.
    pub fn smallest_mailbox() -> Self {
        Router::of(Logic::SmallestMailbox)
    }

    /// Keeps one queue for all routees: whoever is free takes the oldest message. The queue has no bound; see
    /// [`Router::balancing_bounded`].
    pub fn balancing() -> Self {
        Router::balancing_by(Queue::UNBOUNDED)
    }

    /// As [`Router::balancing`], with at most `capacity` messages in the queue (0 is taken as 1); a further one does as `full`
    /// says. What the routees have in hand does not count, nor does a broadcast, which goes to their own mailboxes.
    ///
    /// # Examples
    /// ```
    /// use footlights::observe::DeadLetterReason;
    /// use footlights::routing::{QueueFull, Router};
    /// # use footlights::actor::{Actor, Context, Failure, Props};
    /// # use footlights::system::ActorSystem;
    /// # struct Worker;
    /// # impl Actor for Worker {
    /// #     type Msg = u32;
    /// #     fn receive(&mut self, _: &mut Context<'_, Self>, _: u32) -> Result<(), Failure> { Ok(()) }
    /// # }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let router = Router::balancing_bounded(2, QueueFull::Reject).pool(1, Props::new(|| Worker));
    /// let router = system.spawn_router("workers", router)?;
    /// (0..3).for_each(|n| router.tell(n)); // nobody has run yet
    /// assert_eq!(system.dead_letters()[0].reason, DeadLetterReason::Rejected);
    /// system.run_until_quiet(1_000);
    /// assert_eq!(system.ledger().handled, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn balancing_bounded(capacity: usize, full: QueueFull) -> Self {
        Router::balancing_by(Queue { capacity, full })
    }

    fn balancing_by(queue: Queue) -> Self {
        let mut router = Router::of(Logic::Balancing);
        router.kind.queue = Some(queue);
        router
    }

    /// Has every ask go to all routees at once; the first *answer* counts, within 5 s. A failure waits for the others. A
    /// message that is only told takes the routees in turn.
    pub fn scatter_gather_first() -> Self {
        Router::of(Logic::ScatterGatherFirst)
    }

    /// Has every ask go to one routee after another, in an order of chance: the next one every 10 ms, or at once when one has
    /// failed; the first answer counts, within 5 s. A message that is only told goes to one routee by chance.
    pub fn tail_chopping() -> Self {
        Router::of(Logic::TailChopping)
    }

    /// Takes the routee that the message's key belongs to; a message without a key is a dead letter (NoKey). When routees come
    /// or go, only keys that must move do. For keys that are texts see [`key_of`](super::key_of).
    pub fn consistent_hash(key: fn(&M) -> Option<u64>) -> Self {
        let mut router = Router::of(Logic::ConsistentHash);
        router.kind.key = Some(key as KeyOf<M>);
        router
    }

    /// Lets an ask of several routees take so long in all, whatever longer time the asker allows (default 5 s).
    pub fn within(mut self, limit: Duration) -> Self {
        self.kind.within = limit;
        self
    }

    /// Has a tail-chopping router ask the next routee after so long (default 10 ms; zero counts as 1 ns).
    pub fn every(mut self, interval: Duration) -> Self {
        self.kind.every = interval.max(Duration::from_nanos(1));
        self
    }

    /// Has the router make and supervise `routees` children (at most 100,000), each by `props`, named `r1`, `r2`, …
    pub fn pool<A: Actor<Msg = M>>(self, routees: usize, props: Props<A>) -> Pool<A> {
        let routees = routees.min(ROUTEES_MAX);
        Pool {
            router: self,
            routees,
            props,
            strategy: Strategy::one_for_one(),
            refill: Refill::default(),
            resizer: None,
        }
    }

    /// Has the router serve routees that live elsewhere, known to a consistent-hash router by their paths.
    pub fn group(self, routees: impl IntoIterator<Item = ActorRef<M>>) -> Group<M> {
        let members = routees.into_iter().map(|routee| (None, Target::Actor(routee))).collect();
        Group { router: self, members, follows: None }
    }

    /// Has the router serve whoever is registered under `key` with the receptionist, known to a consistent-hash router by its
    /// path: who registers is a routee when the call returns, who stops is none before its watchers hear of it. Nobody need be
    /// there at the start; a message to an empty group is a dead letter (NoRoutee).
    ///
    /// A routee taken out by [`RouterRef::remove_routee`] comes back only by registering anew.
    ///
    /// # Examples
    /// ```
    /// use footlights::pattern::ServiceKey;
    /// use footlights::routing::Router;
    /// # use footlights::system::ActorSystem;
    /// # use footlights::testkit::Probe;
    /// # let system = ActorSystem::builder("demo").stepper().build()?;
    /// # let printer = Probe::<u8>::new(&system, "printer");
    /// let key = ServiceKey::new("printer");
    /// let printers = system.spawn_router("printers", Router::round_robin().group_of(&key))?;
    /// assert_eq!(printers.routees(), []);
    /// system.receptionist().register(&key, printer.actor())?;
    /// assert_eq!(printers.routees(), [printer.actor().clone()]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn group_of(self, key: &ServiceKey<M>) -> Group<M> {
        Group { follows: Some(key.clone()), ..self.group([]) }
    }
}

impl<M> fmt::Debug for Router<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Router({})", self.kind.logic)
    }
}

/// A router to be, that makes its routees.
pub struct Pool<A: Actor> {
    router: Router<A::Msg>,
    routees: usize,
    props: Props<A>,
    strategy: Strategy,
    refill: Refill,
    resizer: Option<Resizer>,
}

impl<A: Actor> Pool<A> {
    /// Decides by `strategy` about the routees' failures; default one-for-one, 10 restarts in 10 s.
    pub fn supervise(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Says what happens when a routee has ended for good; default [`Refill::replace`].
    pub fn refill(mut self, refill: Refill) -> Self {
        self.refill = refill;
        self
    }
}

impl<A: Actor> Pool<A> {
    /// Has the pool change its size by itself, within the resizer's bounds, which hold for the beginning too; default: never.
    ///
    /// # Examples
    /// ```
    /// use footlights::routing::{Explorer, Pressure, Router};
    /// # use footlights::actor::{Actor, Context, Failure, Props};
    /// # struct Worker;
    /// # impl Actor for Worker {
    /// #     type Msg = u32;
    /// #     fn receive(&mut self, _: &mut Context<'_, Self>, _: u32) -> Result<(), Failure> { Ok(()) }
    /// # }
    /// let pool = || Router::round_robin().pool(4, Props::new(|| Worker));
    /// let pressed = pool().resizer(Pressure::default().bounds(2, 15));
    /// let exploring = pool().resizer(Explorer::default());
    /// # let _ = (pressed, exploring);
    /// ```
    pub fn resizer(mut self, resizer: impl Into<Resizer>) -> Self {
        self.resizer = Some(resizer.into());
        self
    }
}

impl<A: Actor> fmt::Debug for Pool<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("router", &self.router)
            .field("routees", &self.routees)
            .field("refill", &self.refill)
            .field("resizer", &self.resizer)
            .finish_non_exhaustive()
    }
}

/// A router to be, over routees that live elsewhere.
pub struct Group<M: Send + 'static> {
    router: Router<M>,
    members: Vec<(Option<Arc<str>>, Target<M>)>,
    follows: Option<ServiceKey<M>>,
}

impl<M: Send + 'static> Group<M> {
    /// Serves this routee as well, known to a consistent-hash router by `label`.
    pub fn labelled(mut self, label: &str, routee: ActorRef<M>) -> Self {
        self.members.push((Some(label.into()), Target::Actor(routee)));
        self
    }

    /// Serves the routees of another router as well: a message that it gets is routed once more there. To a broadcast it counts
    /// as one. A balancing router cannot serve one: it is left out.
    pub fn router(mut self, router: &RouterRef<M>) -> Self {
        self.members.push((None, Target::Router(router.clone())));
        self
    }
}

impl<M: Send + 'static> fmt::Debug for Group<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members: Vec<AnyRef> = self.members.iter().map(|(_, target)| target.any()).collect();
        f.debug_struct("Group")
            .field("router", &self.router)
            .field("members", &members)
            .field("follows", &self.follows)
            .finish()
    }
}

/// A router that can be spawned: a [`Pool`] or a [`Group`].
pub trait SpawnRouter {
    /// What the routees understand.
    type Msg: Send + 'static;
    /// Spawns the router's actor as a child of `parent`.
    #[doc(hidden)]
    fn spawn_under(
        self,
        parent: &AnyRef,
        name: &str,
        via: Via<'_>,
    ) -> Result<RouterRef<Self::Msg>, SpawnError>;
}

impl<A: Actor> SpawnRouter for Pool<A> {
    type Msg = A::Msg;

    fn spawn_under(self, parent: &AnyRef, name: &str, via: Via<'_>) -> Result<RouterRef<A::Msg>, SpawnError> {
        let Pool { router, routees, props, strategy, refill, resizer } = self;
        let routees = match resizer.map(|resizer| resizer.bounds()) {
            Some((min, max)) => routees.clamp(min, max),
            None => routees,
        };
        let make: Maker<A::Msg> = Arc::new(move |me: &Arc<dyn AnyCell>, name| {
            prepare_child(me, name, props.clone())
                .map(|routee| Member::new(Target::Actor(routee), Some(name.into())))
        });
        let settings = Settings { make: Some(make), follows: None, routees, refill, resizer };
        keeper::spawn(router.kind, settings, Vec::new(), strategy, parent, name, via)
    }
}

impl<M: Send + 'static> SpawnRouter for Group<M> {
    type Msg = M;

    fn spawn_under(self, parent: &AnyRef, name: &str, via: Via<'_>) -> Result<RouterRef<M>, SpawnError> {
        let members = self.members.into_iter().map(|(label, target)| Member::new(target, label)).collect();
        let follows = self.follows;
        let settings = Settings { make: None, follows, routees: 0, refill: Refill::Shrink, resizer: None };
        keeper::spawn(self.router.kind, settings, members, Strategy::one_for_one(), parent, name, via)
    }
}

impl<A: Actor> Context<'_, A> {
    /// Makes a router that is a child of this actor.
    ///
    /// # Errors
    /// As [`Context::spawn`].
    pub fn spawn_router<R: SpawnRouter>(
        &mut self,
        name: &str,
        router: R,
    ) -> Result<RouterRef<R::Msg>, SpawnError> {
        let me = self.myself().any();
        router.spawn_under(&me, name, Via::by(Some(self.worker_mut())))
    }
}
