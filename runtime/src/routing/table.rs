//! What senders share with a router: the table in use, the memory of choices, and messages that no routee has yet.
//!
//! A message is routed here, in the sender: the table is read once, a routee chosen, and the message put into its mailbox.
//! I1 a table is swapped whole, by one writer at a time; a choice is made on one table.
//! I2 a message finds a living routee if there is one: closed ones are passed over, and a table that has changed is read anew.
//! I3 what lies here (in the shared queue of a balancing router, or held because a routee is to come) is in the books of the
//!    router's actor, and becomes dead letters with that.
//! I4 a held message is looked at again whenever a table is published, and once more by whoever has put it there: none is
//!    forgotten.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use super::follow::Followed;
use super::logic::{Chooser, Kind, Logic};
use super::member::{Load, Member, Routes};
use super::queue::Queue;
use crate::actor::cell::AnyCell;
use crate::actor::failure::catch;
use crate::actor::feed::{Feed, Heir};
use crate::actor::head::Annex;
use crate::actor::shared::Shared;
use crate::actor::{ActorRef, Via};
use crate::dispatch::Due;
use crate::id::{ActorId, MsgId};
use crate::mailbox::Nudged;
use crate::observe::{
    DeadLetterReason, DropReason, EventKind, Level, RouteWhy, RouteeSnapshot, RouterSnapshot,
};
use crate::sync::{AtomicU64, Mutex, Ordering};

/// Messages held while a routee is to come, at most.
const HELD_MAX: usize = 1_000;

/// See the module's page.
pub(super) struct Table<M: Send + 'static> {
    routes: Mutex<Arc<Routes<M>>>,
    pub(super) chooser: Chooser<M>,
    /// The queue of a balancing router.
    pub(super) feed: Option<Arc<Feed<M>>>,
    hold: Mutex<Hold<M>>,
    /// Messages that are on their way here, in virtual time.
    on_their_way: AtomicU64,
    last: Mutex<Option<(ActorId, RouteWhy)>>,
    /// What a group has learned of the service that it follows.
    pub(super) followed: Mutex<Followed>,
    owner: OnceLock<Owner>,
}

struct Hold<M> {
    /// A routee is there or is to come: what finds none may wait.
    accepts: bool,
    /// No routee will come any more.
    shut: bool,
    messages: VecDeque<M>,
}

/// Whose table it is.
pub(super) struct Owner {
    pub(super) id: ActorId,
    pub(super) path: Arc<str>,
    pub(super) shared: Arc<Shared>,
}

impl<M: Send + 'static> Table<M> {
    pub(super) fn new(kind: Kind<M>) -> Arc<Self> {
        let feed = kind.queue.map(Queue::make).map(Arc::new);
        Arc::new(Table {
            routes: Mutex::new(Arc::new(Routes::new(Vec::new(), false))),
            chooser: Chooser::new(kind),
            feed,
            hold: Mutex::new(Hold { accepts: false, shut: false, messages: VecDeque::new() }),
            on_their_way: AtomicU64::new(0),
            last: Mutex::default(),
            followed: Mutex::default(),
            owner: OnceLock::new(),
        })
    }

    /// Binds the table to the router's actor, before any message comes.
    pub(super) fn bind(self: &Arc<Self>, actor: &Arc<dyn AnyCell>) {
        let head = actor.head();
        let owner = Owner { id: head.id, path: head.path.clone(), shared: head.shared.clone() };
        assert!(self.owner.set(owner).is_ok(), "a table has one router");
        self.chooser.seed(head.shared.rng(u64::from(u32::MAX) + head.id.0));
        head.set_annex(self.clone());
    }

    pub(super) fn owner(&self) -> &Owner {
        self.owner.get().expect("a table is bound before it is given out")
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.owner().shared
    }

    pub(super) fn logic(&self) -> Logic {
        self.chooser.kind.logic
    }

    // --- the table ---

    pub(super) fn get(&self) -> Arc<Routes<M>> {
        self.routes.lock().clone()
    }

    /// Changes the list of members, if `change` gives another one; gives how many there are then.
    pub(super) fn update(
        self: &Arc<Self>,
        change: impl FnOnce(&[Arc<Member<M>>]) -> Option<Vec<Arc<Member<M>>>>,
    ) -> usize {
        let (before, after) = {
            let mut routes = self.routes.lock();
            let Some(members) = change(&routes.members) else { return routes.len() };
            let open = !self.is_shut();
            let members = members.into_iter().filter(|member| open && self.admits(member)).collect();
            let after = Arc::new(Routes::new(members, self.logic() == Logic::ConsistentHash));
            (std::mem::replace(&mut *routes, after.clone()), after)
        };
        self.hand_out(&before, &after);
        self.flush();
        after.len()
    }

    /// A balancing router serves actors that take from no other queue.
    fn admits(&self, member: &Member<M>) -> bool {
        match (&self.feed, member.actor()) {
            (None, _) => true,
            (Some(feed), Some(actor)) => actor.0.post.attach(feed),
            (Some(_), None) => false,
        }
    }

    /// Lets new members take from the shared queue, and those that are gone no longer.
    fn hand_out(&self, before: &Routes<M>, after: &Routes<M>) {
        if self.feed.is_none() {
            return;
        }
        let actors = |routes: &Routes<M>| -> Vec<ActorRef<M>> {
            routes.members.iter().filter_map(|member| member.actor().cloned()).collect()
        };
        let (before, after) = (actors(before), actors(after));
        for gone in before.iter().filter(|actor| !after.contains(actor)) {
            gone.0.post.detach(gone.id());
        }
        for new in after.iter().filter(|actor| !before.contains(actor)) {
            if new.0.mailbox.nudge() == Nudged::Woken {
                new.0.wake(true, None);
            }
        }
    }

    /// Takes a routee out; gives how many are left.
    pub(super) fn remove(self: &Arc<Self>, gone: ActorId) -> usize {
        self.update(|members| {
            let left: Vec<_> = members.iter().filter(|member| member.any().id() != gone).cloned().collect();
            (left.len() < members.len()).then_some(left)
        })
    }

    /// Says whether messages may wait here while there is no routee; those that wait are lost if not.
    pub(super) fn hold(&self, accepts: bool) {
        let left = {
            let mut hold = self.hold.lock();
            hold.accepts = accepts && !hold.shut;
            if accepts { VecDeque::new() } else { std::mem::take(&mut hold.messages) }
        };
        left.into_iter().for_each(|message| self.bury(message, MsgId(0), DeadLetterReason::NoRoutee));
    }

    /// Takes no more messages; what is in the shared queue is still worked off.
    pub(super) fn close_door(&self, emptied: impl FnOnce() + Send + 'static) {
        self.hold(false);
        match &self.feed {
            Some(feed) => feed.close(emptied),
            None => emptied(),
        }
    }

    /// Is true if what finds no routee may wait for one.
    pub(super) fn accepts(&self) -> bool {
        self.hold.lock().accepts
    }

    /// Is true once the router sends to nobody for ever.
    pub(super) fn is_shut(&self) -> bool {
        self.hold.lock().shut
    }

    /// Sends to nobody from now on; what nobody will take becomes dead letters.
    pub(super) fn shut(self: &Arc<Self>) {
        self.hold.lock().shut = true;
        self.hold(false);
        self.update(|_| Some(Vec::new()));
        if let Some(feed) = &self.feed {
            feed.close(|| ());
        }
        self.give_up();
    }

    // --- routing ---

    /// Routes a message; with nobody to take it, it waits for a routee that is to come, or is a dead letter.
    pub(super) fn route(self: &Arc<Self>, message: M, via: Via<'_>) {
        if let Err(message) = self.offer(message, via) {
            self.strand(message);
        }
    }

    /// Routes a message or has it wait for a routee that is to come; gives it back if there is nobody to take it.
    pub(super) fn route_or_hold(self: &Arc<Self>, message: M, via: Via<'_>) -> Result<(), M> {
        let message = match self.offer(message, via) {
            Ok(()) => return Ok(()),
            Err(message) => message,
        };
        if !self.accepts() {
            return Err(message);
        }
        self.strand(message);
        Ok(())
    }

    /// Routes a message, or gives it back if there is nobody to take it.
    pub(super) fn offer(self: &Arc<Self>, message: M, via: Via<'_>) -> Result<(), M> {
        if self.feed.is_some() {
            return self.queue(message);
        }
        if let Some(copy) = self.chooser.kind.copy {
            return self.to_all(message, copy, via);
        }
        match self.key(&message) {
            Ok(key) => self.to_one(message, key, via),
            Err(()) => {
                self.bury(message, MsgId(0), DeadLetterReason::NoKey);
                Ok(())
            }
        }
    }

    /// Gives the key of a message, 0 where none is needed. A panic of the user's function is reported with the name of the
    /// message's type; it is neither the sender's failure nor the router's.
    pub(super) fn key(&self, message: &M) -> Result<u64, ()> {
        let Some(key_of) = self.chooser.kind.key else { return Ok(0) };
        match catch(|| Ok(key_of(message))) {
            Ok(Some(key)) => Ok(key),
            Ok(None) => Err(()),
            Err(why) => {
                let text = format!("of {}: {}", std::any::type_name::<M>(), why.report().text);
                self.record(EventKind::HookFailed { hook: "key of a message", text: text.into() });
                Err(())
            }
        }
    }

    fn to_one(&self, message: M, key: u64, mut via: Via<'_>) -> Result<(), M> {
        let (mut routes, mut message) = (self.get(), message);
        let Some((mut index, mut why)) = self.chooser.first(&routes, key) else { return Err(message) };
        let (mut left, mut closed) = (routes.len(), 0);
        loop {
            let member = &routes.members[index];
            match member.send(message, via.reborrow()) {
                Ok(()) => {
                    self.note_choice(member, why);
                    return Ok(());
                }
                Err(back) => message = back,
            }
            (left, closed) = (left - 1, closed + 1);
            let fresh = self.get();
            let next = if Arc::ptr_eq(&fresh, &routes) {
                self.chooser.next(&routes, key, index)
            } else {
                (left, routes) = (fresh.len(), fresh);
                self.chooser.first(&routes, key).map(|(index, _)| index)
            };
            match next.filter(|_| left > 0) {
                Some(next) => (index, why) = (next, RouteWhy::Passed { closed }),
                None => return Err(message),
            }
        }
    }

    /// Sends a copy to every member that lives.
    pub(super) fn to_all(&self, message: M, copy: fn(&M) -> M, mut via: Via<'_>) -> Result<(), M> {
        let routes = self.get();
        let living: Vec<_> = routes.members.iter().filter(|member| !member.is_closed()).collect();
        let Some((last, others)) = living.split_last() else { return Err(message) };
        self.note(ActorId::NOBODY, RouteWhy::Everyone { routees: living.len() as u64 });
        let mut taken = 0;
        for member in others {
            if member.send(copy(&message), via.reborrow()).is_ok() {
                member.note_choice();
                taken += 1;
            }
        }
        match last.send(message, via) {
            Ok(()) => last.note_choice(),
            Err(message) if taken == 0 => return Err(message),
            Err(message) => self.discard(message),
        }
        Ok(())
    }

    /// Chooses without sending.
    pub(super) fn choose(&self, key: u64) -> Option<ActorRef<M>> {
        let routes = self.get();
        let (mut index, mut why) = self.chooser.first(&routes, key)?;
        for closed in 1..=routes.len() {
            let member = &routes.members[index];
            if !member.is_closed() {
                self.note_choice(member, why);
                return match &member.target {
                    super::member::Target::Actor(actor) => Some(actor.clone()),
                    super::member::Target::Router(router) => router.choose(),
                };
            }
            index = self.chooser.next(&routes, key, index)?;
            why = RouteWhy::Passed { closed: closed as u64 };
        }
        None
    }

    fn note_choice(&self, member: &Member<M>, why: RouteWhy) {
        member.note_choice();
        if self.owner().shared.log.wants(Level::Message) {
            self.note(member.any().id(), why);
        }
    }

    /// Logs a choice, and keeps it for whoever looks.
    pub(super) fn note(&self, routee: ActorId, why: RouteWhy) {
        if self.owner().shared.log.wants(Level::Message) {
            *self.last.lock() = Some((routee, why));
            self.record(EventKind::Routed { routee, why });
        }
    }

    pub(super) fn record(&self, kind: EventKind) {
        self.owner().shared.record(self.owner().id, kind);
    }

    // --- what waits here ---

    /// Lets a message arrive at `at`.
    pub(super) fn later(self: &Arc<Self>, at: crate::time::Instant, message: M) {
        // Ordering: Relaxed, in virtual time there is one thread.
        self.on_their_way.fetch_add(1, Ordering::Relaxed);
        let table = self.clone();
        let arrive = move || {
            table.on_their_way.fetch_sub(1, Ordering::Relaxed);
            table.route(message, Via::default());
        };
        self.owner().shared.dispatcher.set_timer(at, Due::Call(Box::new(arrive)));
    }

    /// Keeps a message that found nobody, if a routee is to come.
    fn strand(self: &Arc<Self>, message: M) {
        if let Some(at) = self.owner().shared.dispatcher.later() {
            return self.later(at, message);
        }
        let table = self.get();
        let refused = {
            let mut hold = self.hold.lock();
            if !hold.accepts {
                Some((message, None))
            } else if hold.messages.len() >= HELD_MAX {
                Some((message, Some(DropReason::HoldFull)))
            } else {
                hold.messages.push_back(message);
                None
            }
        };
        match refused {
            None => {
                // A table that was published meanwhile has not seen it.
                if !Arc::ptr_eq(&table, &self.get()) {
                    self.flush();
                }
            }
            Some((message, None)) => self.bury(message, MsgId(0), DeadLetterReason::NoRoutee),
            Some((message, Some(reason))) => {
                self.owner().shared.late_drop(self.owner().id, reason);
                self.discard(message);
            }
        }
    }

    /// Routes what was held, if there is somebody to take it.
    fn flush(self: &Arc<Self>) {
        if self.get().members.iter().all(|member| member.is_closed()) {
            return;
        }
        let held = std::mem::take(&mut self.hold.lock().messages);
        held.into_iter().for_each(|message| self.route(message, Via::default()));
    }

    /// Counts the messages that are held.
    fn held(&self) -> u64 {
        self.hold.lock().messages.len() as u64
    }

    pub(super) fn bury(&self, message: M, id: MsgId, reason: DeadLetterReason) {
        let owner = self.owner();
        owner.shared.late_letter((owner.id, &owner.path), id, reason, std::any::type_name::<M>());
        self.discard(message);
    }

    /// Drops what a user made; a panic in that is reported and decides nothing.
    pub(super) fn discard(&self, message: M) {
        let dropped = catch(|| {
            drop(message);
            Ok(())
        });
        if let Err(why) = dropped {
            self.record(EventKind::HookFailed { hook: "drop of a message", text: why.report().text });
        }
    }

    /// Sums up what the routees have to do.
    pub(super) fn load(&self) -> Load {
        let routes = self.get();
        let mut load = Load::all(routes.members.iter().map(|member| member.load()));
        load.queued += self.feed.as_ref().map_or(0, |feed| feed.len() as u64);
        load
    }
}

impl<M: Send + 'static> Heir<M> for Arc<Table<M>> {
    fn take_over(&self, message: M) {
        self.route(message, Via::default());
    }
}

impl<M: Send + 'static> Annex for Table<M> {
    fn queued(&self) -> u64 {
        let feed = self.feed.as_ref().map_or(0, |feed| feed.len() as u64);
        feed + self.held() + self.on_their_way.load(Ordering::Relaxed)
    }

    fn snapshot(&self) -> Option<RouterSnapshot> {
        Some(self.look())
    }

    fn close(self: Arc<Self>) {
        self.shut();
    }
}

impl<M: Send + 'static> Table<M> {
    /// Shows the table.
    pub(super) fn look(&self) -> RouterSnapshot {
        let routee = |member: &Arc<Member<M>>| RouteeSnapshot {
            id: member.any().id(),
            label: member.label.clone(),
            chosen: member.chosen(),
        };
        RouterSnapshot {
            kind: self.logic().name(),
            routees: self.get().members.iter().map(routee).collect(),
            queued: self.queued(),
            last: *self.last.lock(),
        }
    }
}
