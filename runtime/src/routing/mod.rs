//! Routers: one destination for many. A message is routed *in the sender*: a [`RouterRef`] reads the table of routees and puts
//! the message straight into one's mailbox; the router's own actor keeps the table and is never on the path.
//!
//! A *pool* makes its routees and supervises them (one-for-one: only the one that failed restarts); a *group* is told of
//! routees that live elsewhere. Both drop a routee from the table when it has ended.
//! I1 the table is swapped whole, by one writer at a time; a choice is made on one table.
//! I2 a message finds a living routee if there is one: closed ones are passed over, at most once round.

mod logic;

use std::fmt;
use std::sync::Arc;

use crate::actor::cell::AnyCell;
use crate::actor::doors::{Door, Refusal};
use crate::actor::spawn::spawn_child;
use crate::actor::{Actor, ActorRef, AnyRef, Context, Failure, Props, SpawnError, Tell, Via};
use crate::dispatch::Worker;
use crate::observe::{DeadLetterReason, EventKind};
use crate::supervise::Strategy;
use crate::sync::Mutex;

use logic::Chooser;
pub use logic::Logic;

/// Routees of a pool, at most.
const ROUTEES_MAX: usize = 100_000;

/// How to choose among routees; made into a router by [`Router::pool`] or [`Router::group`].
pub struct Router<M> {
    logic: Logic,
    copy: Option<fn(&M) -> M>,
}

impl<M: Send + 'static> Router<M> {
    /// Takes the routees in turn.
    pub fn round_robin() -> Self {
        Router { logic: Logic::RoundRobin, copy: None }
    }

    /// Takes a random routee, by the system's seed.
    pub fn random() -> Self {
        Router { logic: Logic::Random, copy: None }
    }

    /// Sends a copy to every routee.
    pub fn broadcast() -> Self
    where
        M: Clone,
    {
        Router { logic: Logic::Broadcast, copy: Some(M::clone) }
    }

    /// Takes the routee with the fewest messages; ties rotate.
    pub fn smallest_mailbox() -> Self {
        Router { logic: Logic::SmallestMailbox, copy: None }
    }

    /// Has the router make and supervise `routees` children (at most 100,000), each by `props`.
    pub fn pool<A: Actor<Msg = M>>(self, routees: usize, props: Props<A>) -> Pool<A> {
        Pool { router: self, routees: routees.min(ROUTEES_MAX), props, strategy: Strategy::one_for_one() }
    }

    /// Has the router serve routees that live elsewhere.
    pub fn group(self, routees: impl IntoIterator<Item = ActorRef<M>>) -> Group<M> {
        Group { router: self, routees: routees.into_iter().collect() }
    }
}

impl<M> fmt::Debug for Router<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Router({})", self.logic)
    }
}

/// A router to be, that makes its routees.
pub struct Pool<A: Actor> {
    router: Router<A::Msg>,
    routees: usize,
    props: Props<A>,
    strategy: Strategy,
}

impl<A: Actor> Pool<A> {
    /// Decides by `strategy` about the routees' failures; default one-for-one, 10 restarts in 10 s.
    pub fn supervise(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }
}

impl<A: Actor> fmt::Debug for Pool<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("router", &self.router)
            .field("routees", &self.routees)
            .finish_non_exhaustive()
    }
}

/// A router to be, over routees that live elsewhere.
pub struct Group<M: Send + 'static> {
    router: Router<M>,
    routees: Vec<ActorRef<M>>,
}

impl<M: Send + 'static> fmt::Debug for Group<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("router", &self.router).field("routees", &self.routees).finish()
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
        let mut by = via.worker;
        let Pool { router, routees, props, strategy } = self;
        let refill: Refill<A::Msg> = Arc::new(move |me, mut by| {
            (1..=routees)
                .map(|n| spawn_child(me, &format!("r{n}"), props.clone(), by.as_deref_mut()))
                .collect()
        });
        let owned = Some(refill.clone());
        let (router, table) = spawn_keeper(router, owned, strategy, parent, name, by.as_deref_mut())?;
        let me: Arc<dyn AnyCell> = router.actor.0.clone();
        table.set(refill(&me, by.as_deref_mut())?);
        router.actor.tell_via(KeeperMsg::Watch, Via::by(by));
        Ok(router)
    }
}

impl<M: Send + 'static> SpawnRouter for Group<M> {
    type Msg = M;

    fn spawn_under(self, parent: &AnyRef, name: &str, via: Via<'_>) -> Result<RouterRef<M>, SpawnError> {
        let mut by = via.worker;
        let strategy = Strategy::one_for_one();
        let (router, table) = spawn_keeper(self.router, None, strategy, parent, name, by.as_deref_mut())?;
        table.set(self.routees);
        router.actor.tell_via(KeeperMsg::Watch, Via::by(by));
        Ok(router)
    }
}

fn spawn_keeper<M: Send + 'static>(
    router: Router<M>,
    refill: Option<Refill<M>>,
    strategy: Strategy,
    parent: &AnyRef,
    name: &str,
    by: Option<&mut Worker>,
) -> Result<(RouterRef<M>, Arc<Table<M>>), SpawnError> {
    let shared = &parent.0.head().shared;
    let table = Table { routees: Mutex::default(), chooser: Chooser::new(router.logic), copy: router.copy };
    let table = Arc::new(table);
    let kept = table.clone();
    let props =
        Props::new(move || Keeper { table: kept.clone(), refill: refill.clone() }).supervise(strategy);
    let actor = spawn_child(&parent.0, name, props, by)?;
    table.chooser.seed(shared.rng(u64::from(u32::MAX) + actor.id().0));
    Ok((RouterRef { table: table.clone(), actor }, table))
}

/// A destination that spreads its messages over routees. Cheap to clone.
pub struct RouterRef<M: Send + 'static> {
    table: Arc<Table<M>>,
    actor: ActorRef<KeeperMsg>,
}

impl<M: Send + 'static> RouterRef<M> {
    /// Routes a message and does not wait.
    pub fn tell(&self, message: M) {
        self.tell_via(message, Via::default());
    }

    /// Chooses a living routee without sending, as a tell would; a router that copies to all gives the first in turn.
    pub fn choose(&self) -> Option<ActorRef<M>> {
        let routees = self.table.get();
        let first = if routees.is_empty() { 0 } else { self.table.chooser.choose(&routees) };
        let in_order = (0..routees.len()).map(|step| &routees[(first + step) % routees.len()]);
        in_order.into_iter().find(|routee| !routee.is_closed()).cloned()
    }

    /// Gives the kind of choice.
    pub fn logic(&self) -> Logic {
        self.table.chooser.logic()
    }

    /// Puts other routees in place of those in the table; a pool's own are not stopped.
    pub fn set_routees(&self, routees: impl IntoIterator<Item = ActorRef<M>>) {
        self.table.set(routees.into_iter().collect());
        self.actor.tell(KeeperMsg::Watch);
    }

    /// Lists the routees that are in the table now.
    pub fn routees(&self) -> Vec<ActorRef<M>> {
        self.table.get().to_vec()
    }

    /// Gives the router's own actor, to watch or to stop; stopping a pool stops its routees with it.
    pub fn actor(&self) -> AnyRef {
        self.actor.any()
    }

    /// Stops the router, and the routees if it has made them.
    pub fn stop(&self) {
        self.actor.stop();
    }

    /// Sets the counter of a round-robin router, for tests of its wrap.
    #[doc(hidden)]
    pub fn set_counter(&self, value: u64) {
        self.table.chooser.set_counter(value);
    }

    fn no_routee(&self) {
        let head = &self.actor.0.head;
        head.late_letter(DeadLetterReason::NoRoutee, std::any::type_name::<M>());
    }
}

impl<M: Send + 'static> Tell<M> for RouterRef<M> {
    fn tell_via(&self, message: M, via: Via<'_>) {
        let routees = self.table.get();
        let mut via = via;
        if let Some(copy) = self.table.copy {
            let living: Vec<_> = routees.iter().filter(|routee| !routee.is_closed()).collect();
            let Some((last, others)) = living.split_last() else { return self.no_routee() };
            for routee in others {
                routee.tell_via(copy(&message), via.reborrow());
            }
            return last.tell_via(message, via);
        }
        let mut message = message;
        let first = self.table.chooser.choose(&routees);
        for step in 0..routees.len() {
            let routee = &routees[(first + step) % routees.len()];
            match routee.0.send(message, Door::Route, via.worker.as_deref_mut()) {
                Ok(()) => return,
                Err(Refusal::Closed(back) | Refusal::Full(back)) => message = back,
            }
        }
        self.no_routee();
    }
}

impl<M: Send + 'static> Clone for RouterRef<M> {
    fn clone(&self) -> Self {
        RouterRef { table: self.table.clone(), actor: self.actor.clone() }
    }
}

impl<M: Send + 'static> fmt::Debug for RouterRef<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RouterRef({} {})", self.table.chooser.logic(), self.actor.path())
    }
}

struct Table<M: Send + 'static> {
    routees: Mutex<Arc<[ActorRef<M>]>>,
    chooser: Chooser,
    copy: Option<fn(&M) -> M>,
}

impl<M: Send + 'static> Table<M> {
    fn get(&self) -> Arc<[ActorRef<M>]> {
        self.routees.lock().clone()
    }

    fn set(&self, routees: Vec<ActorRef<M>>) {
        let before = std::mem::replace(&mut *self.routees.lock(), routees.into());
        drop(before);
    }

    /// Takes a routee out; gives how many are left.
    fn remove(&self, gone: &AnyRef) -> usize {
        let mut routees = self.routees.lock();
        let left: Arc<[_]> = routees.iter().filter(|routee| routee.any() != *gone).cloned().collect();
        let n = left.len();
        let before = std::mem::replace(&mut *routees, left);
        drop((routees, before));
        n
    }
}

/// The router's actor: keeps the table.
struct Keeper<M: Send + 'static> {
    table: Arc<Table<M>>,
    /// Makes the routees of a pool.
    refill: Option<Refill<M>>,
}

/// Makes all routees of a pool, as children of the given actor.
type Refill<M> =
    Arc<dyn Fn(&Arc<dyn AnyCell>, Option<&mut Worker>) -> Result<Vec<ActorRef<M>>, SpawnError> + Send + Sync>;

/// What a router's actor understands.
#[derive(Debug)]
enum KeeperMsg {
    /// The table was filled: watch its routees.
    Watch,
    /// This routee has ended.
    Gone(AnyRef),
}

impl<M: Send + 'static> Actor for Keeper<M> {
    type Msg = KeeperMsg;

    /// A router that is restarted has lost the routees that were its children: it makes new ones.
    fn post_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure) -> Result<(), Failure> {
        let Some(refill) = &self.refill else { return Ok(()) };
        let me: Arc<dyn AnyCell> = cx.cell.clone();
        self.table.set(refill(&me, Some(cx.worker_mut()))?);
        self.receive(cx, KeeperMsg::Watch)
    }

    fn pre_restart(&mut self, _cx: &mut Context<'_, Self>, _why: &Failure, _message: Option<KeeperMsg>) {
        if self.refill.is_some() {
            self.table.set(Vec::new());
        }
    }

    /// A router that has ended routes to nobody, also where its routees live on.
    fn stopped(&mut self, _cx: &mut Context<'_, Self>) {
        self.table.set(Vec::new());
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: KeeperMsg) -> Result<(), Failure> {
        match message {
            KeeperMsg::Watch => {
                for routee in self.table.get().iter() {
                    cx.watch(&routee.any(), |news| KeeperMsg::Gone(news.target))?;
                }
            }
            KeeperMsg::Gone(gone) => {
                let left = self.table.remove(&gone);
                cx.cell.head.record(EventKind::RouteesChanged { routees: left as u64 });
                if left == 0 && self.refill.is_some() {
                    cx.stop();
                }
            }
        }
        Ok(())
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
