//! What one holds of a router: a destination, and the handle of the router's actor.

use std::fmt;
use std::sync::Arc;

use super::keeper::KeeperMsg;
use super::logic::Logic;
use super::member::{Member, Target};
use super::table::Table;
use crate::actor::{Actor, ActorRef, AnyRef, Context, Tell, Via};
use crate::id::MsgId;
use crate::observe::{DeadLetterReason, RouterSnapshot};

/// A destination that spreads its messages over routees. Cheap to clone.
///
/// `stop`, `drain` and `kill` mean the router itself, and with it the routees that it has made.
pub struct RouterRef<M: Send + 'static> {
    pub(super) table: Arc<Table<M>>,
    pub(super) actor: ActorRef<KeeperMsg<M>>,
}

impl<M: Send + 'static> RouterRef<M> {
    /// Routes a message and does not wait. Without a routee it is a dead letter; while a pool makes one, up to 1,000 messages
    /// wait for it.
    pub fn tell(&self, message: M) {
        self.tell_via(message, Via::default());
    }

    /// Sends a copy to every routee that lives, whatever the kind of router; also past a shared queue, to each routee's own
    /// mailbox, which is read first.
    pub fn broadcast(&self, message: M)
    where
        M: Clone,
    {
        self.broadcast_via(message, Via::default());
    }

    fn broadcast_via(&self, message: M, via: Via<'_>)
    where
        M: Clone,
    {
        if let Err(message) = self.table.to_all(message, M::clone, via) {
            self.table.bury(message, MsgId(0), DeadLetterReason::NoRoutee);
        }
    }

    /// Drains every routee: each handles what it has and stops. What the pool does then its [`Refill`](super::Refill) says.
    pub fn broadcast_drain(&self) {
        for member in &self.table.get().members {
            match &member.target {
                Target::Actor(actor) => actor.drain(),
                Target::Router(router) => router.drain(),
            }
        }
    }

    /// Chooses a living routee without sending, as a tell would; a router that copies to all gives the first in turn. `None` if
    /// there is none, and where the choice is not the sender's (balancing) or needs the message ([`RouterRef::choose_for`]).
    pub fn choose(&self) -> Option<ActorRef<M>> {
        match self.logic() {
            Logic::Balancing | Logic::ConsistentHash => None,
            _ => self.table.choose(0),
        }
    }

    /// Chooses a living routee for a message without sending it; `None` also if it has no key.
    pub fn choose_for(&self, message: &M) -> Option<ActorRef<M>> {
        match self.logic() {
            Logic::ConsistentHash => self.table.choose(self.table.key(message).ok()?),
            _ => self.choose(),
        }
    }

    /// Gives the kind of choice.
    pub fn logic(&self) -> Logic {
        self.table.logic()
    }

    /// Puts other routees in place of those in the table, at once; a pool's own are not stopped, and routers behind this one
    /// stay.
    pub fn set_routees(&self, routees: impl IntoIterator<Item = ActorRef<M>>) {
        let new: Vec<_> = routees.into_iter().collect();
        self.table.update(|members| {
            let routers = members.iter().filter(|member| member.actor().is_none()).cloned();
            // One that is in the table already is the same member, with its label and its count.
            let known =
                |routee: &ActorRef<M>| members.iter().find(|old| old.actor() == Some(routee)).cloned();
            let actors = new
                .into_iter()
                .map(|routee| known(&routee).unwrap_or_else(|| Member::new(Target::Actor(routee), None)));
            Some(routers.chain(actors).collect())
        });
        self.actor.tell(KeeperMsg::Adopt);
    }

    /// Lists the routees that are in the table now, those of routers behind this one included.
    pub fn routees(&self) -> Vec<ActorRef<M>> {
        let routees = |member: &Arc<Member<M>>| match &member.target {
            Target::Actor(actor) => vec![actor.clone()],
            Target::Router(router) => router.routees(),
        };
        self.table.get().members.iter().flat_map(routees).collect()
    }

    /// Is true if no routee can take a message any more.
    pub fn is_closed(&self) -> bool {
        self.table.get().members.iter().all(|member| member.is_closed())
    }

    /// Shows the table, how often each routee was chosen, and the last choice.
    pub fn snapshot(&self) -> RouterSnapshot {
        self.table.look()
    }

    /// Gives the router's own actor, to watch or to stop; stopping a pool stops its routees with it.
    pub fn actor(&self) -> AnyRef {
        self.actor.any()
    }

    /// Stops the router, and the routees if it has made them.
    pub fn stop(&self) {
        self.actor.stop();
    }

    /// Takes no more messages, lets the routees that it has made handle what they have, and then stops. A group stops at once,
    /// since its routees live on.
    pub fn drain(&self) {
        self.actor.tell(KeeperMsg::Drain);
    }

    /// Makes the router fail (kind Killed); by default its supervisor stops it.
    pub fn kill(&self) {
        self.actor.kill();
    }

    /// Sets the counter of a round-robin router, for tests of its wrap.
    #[doc(hidden)]
    pub fn set_counter(&self, value: u64) {
        self.table.chooser.set_counter(value);
    }
}

impl<M: Send + 'static> Tell<M> for RouterRef<M> {
    fn tell_via(&self, message: M, via: Via<'_>) {
        self.table.route(message, via);
    }
}

impl<M: Send + 'static> Clone for RouterRef<M> {
    fn clone(&self) -> Self {
        RouterRef { table: self.table.clone(), actor: self.actor.clone() }
    }
}

impl<M: Send + 'static> fmt::Debug for RouterRef<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RouterRef({} {})", self.table.logic(), self.actor.path())
    }
}

impl<A: Actor> Context<'_, A> {
    /// Sends a copy to every routee of a router; see [`RouterRef::broadcast`].
    pub fn broadcast<M: Clone + Send + 'static>(&mut self, router: &RouterRef<M>, message: M) {
        let via = Via::by(Some(self.worker_mut()));
        router.broadcast_via(message, via);
    }
}
