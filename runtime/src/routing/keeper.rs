//! The router's actor: it keeps the table, and makes and retires the routees of a pool. No message is routed by it.
//!
//! I1 a routee is out of the table before it is told to go; what comes too late for it goes to another.
//! I2 a pool that has no routee, none that still works and none to come, stops.
//! I3 a router that is being drained stays so, also over a restart.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::change::{ChangeError, Changed};
use super::logic::Kind;
use super::member::{Member, Target};
use super::refill::Refill;
use super::resize::{Observed, Resizer, Resizing};
use super::router::ROUTEES_MAX;
use super::router_ref::RouterRef;
use super::table::Table;
use crate::actor::cell::AnyCell;
use crate::actor::spawn::{begin, prepare_child};
use crate::actor::{Actor, ActorRef, AnyRef, Context, Failure, Key, Props, SpawnError, Via};
use crate::id::ActorId;
use crate::observe::{EventKind, ResizeWhy, Resized};
use crate::pattern::{Reply, ServiceKey};
use crate::supervise::{MailboxOnRestart, RestartLog, RestartType, Strategy};

/// Prepares one routee of a pool, as a child of the given actor; it is still to begin.
pub(super) type Maker<M> =
    Arc<dyn Fn(&Arc<dyn AnyCell>, &str) -> Result<Arc<Member<M>>, SpawnError> + Send + Sync>;

/// The resizer's timer.
const RESIZE: &str = "resize";

/// What a router is to be.
pub(super) struct Settings<M: Send + 'static> {
    /// Makes a routee, if it is a pool.
    pub(super) make: Option<Maker<M>>,
    /// The service that a group follows, if it does.
    pub(super) follows: Option<ServiceKey<M>>,
    /// Routees that a pool begins with.
    pub(super) routees: usize,
    pub(super) refill: Refill,
    pub(super) resizer: Option<Resizer>,
}

/// Makes a router: its actor, and its table with all its members.
pub(super) fn spawn<M: Send + 'static>(
    kind: Kind<M>,
    settings: Settings<M>,
    members: Vec<Arc<Member<M>>>,
    strategy: Strategy,
    parent: &AnyRef,
    name: &str,
    via: Via<'_>,
) -> Result<RouterRef<M>, SpawnError> {
    let mut by = via.worker;
    let (table, settings) = (Table::new(kind), Arc::new(settings));
    let (kept, set) = (table.clone(), settings.clone());
    // Its own life does not depend on the system's dialect.
    let props = Props::new(move || Keeper::new(kept.clone(), set.clone()))
        .supervise(strategy)
        .restart_type(RestartType::Transient)
        .mailbox_on_restart(MailboxOnRestart::Kept)
        .stop_parallel();
    let actor = prepare_child(&parent.0, name, props)?;
    let me: Arc<dyn AnyCell> = actor.0.clone();
    table.bind(&me);
    // The router begins when its table is full, and its children when it can hear of their failures.
    let made = settings.fill(&me);
    if let Ok(made) = &made {
        table.hold(settings.holds());
        table.update(|_| Some(if settings.make.is_some() { made.clone() } else { members }));
    }
    if let Some(key) = &settings.follows {
        table.follow(key, &*me);
    }
    begin(&actor.any(), by.as_deref_mut());
    match made {
        Ok(made) => made.iter().for_each(|routee| begin(&routee.any(), by.as_deref_mut())),
        Err(error) => {
            // Its parent is ending, or it is itself: there is no router.
            actor.stop();
            return Err(error);
        }
    }
    Ok(RouterRef { table, actor })
}

impl<M: Send + 'static> Settings<M> {
    /// Prepares the routees that a pool begins with.
    fn fill(&self, me: &Arc<dyn AnyCell>) -> Result<Vec<Arc<Member<M>>>, SpawnError> {
        let Some(make) = &self.make else { return Ok(Vec::new()) };
        (1..=self.routees).map(|n| make(me, &name_of(n))).collect()
    }

    /// Says whether messages may wait for a routee.
    fn holds(&self) -> bool {
        self.make.is_some() && self.routees > 0
    }
}

fn name_of(n: usize) -> String {
    format!("r{n}")
}

/// What a router's actor understands.
pub(super) enum KeeperMsg<M: Send + 'static> {
    /// The table was filled from outside: watch its routees.
    Adopt,
    /// This routee has ended.
    Gone(AnyRef),
    /// The delay before a replacement is over.
    Refill(u64),
    Add(ActorRef<M>, Option<Arc<str>>, Reply<Changed>),
    Remove(AnyRef, Reply<Changed>),
    SetSize(usize, Reply<Changed>),
    Adjust(isize, Reply<Changed>),
    /// The resizer is to look.
    Observe,
    Drain,
    /// The shared queue of a router that is being drained is empty.
    Emptied,
}

/// The router's actor.
pub(super) struct Keeper<M: Send + 'static> {
    table: Arc<Table<M>>,
    settings: Arc<Settings<M>>,
    /// The children that live, in the table or retired, with their names.
    own: BTreeMap<ActorId, Arc<str>>,
    /// Those that are watched.
    watched: BTreeSet<ActorId>,
    /// Names that are to be filled again, by the number of their timer.
    coming: BTreeMap<u64, Arc<str>>,
    refills: RestartLog,
    last_timer: u64,
    last_name: usize,
    resizing: Resizing,
    drains: bool,
}

impl<M: Send + 'static> Keeper<M> {
    fn new(table: Arc<Table<M>>, settings: Arc<Settings<M>>) -> Self {
        let last_name = settings.routees;
        Keeper {
            table,
            settings,
            own: BTreeMap::new(),
            watched: BTreeSet::new(),
            coming: BTreeMap::new(),
            refills: RestartLog::new(),
            last_timer: 0,
            last_name,
            resizing: Resizing::default(),
            drains: false,
        }
    }

    fn is_pool(&self) -> bool {
        self.settings.make.is_some()
    }

    // --- who is there ---

    /// Watches the members of the table, and knows its own children among them.
    fn adopt(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let routes = self.table.get();
        let me = cx.myself().id();
        for member in &routes.members {
            let any = member.any();
            if self.watched.insert(any.id()) {
                cx.watch(&any, |news| KeeperMsg::Gone(news.target))?;
            }
            if any.0.head().parent.as_ref().is_some_and(|parent| parent.head().id == me) {
                self.own.insert(any.id(), member.label.clone());
            }
        }
        self.stop_if_empty(cx);
        Ok(())
    }

    /// A routee has ended.
    fn gone(&mut self, cx: &mut Context<'_, Self>, gone: &AnyRef) {
        let id = gone.id();
        self.watched.remove(&id);
        let name = self.own.remove(&id);
        let was_in = self.table.get().members.iter().any(|member| member.any().id() == id);
        let left = self.table.remove(id);
        if was_in {
            cx.cell.head.record(EventKind::RouteesChanged { routees: left as u64 });
        }
        match name {
            Some(name) if was_in && !self.drains => self.make_up_for(cx, name),
            _ => {}
        }
        if left == 0 && !self.is_pool() {
            self.table.give_up();
        }
        self.stop_if_empty(cx);
    }

    /// Does as the refill says when one of its own has ended.
    fn make_up_for(&mut self, cx: &mut Context<'_, Self>, name: Arc<str>) {
        if self.settings.refill == Refill::StopWithFirst {
            return cx.stop();
        }
        let now = cx.now();
        if let Some(delay) = self.settings.refill.next(&mut self.refills, now, cx.rng()) {
            self.last_timer += 1;
            self.coming.insert(self.last_timer, name);
            let number = self.last_timer;
            cx.timers().once(Key::Number(number), delay, KeeperMsg::Refill(number));
        }
    }

    /// I2.
    fn stop_if_empty(&mut self, cx: &mut Context<'_, Self>) {
        let nobody = self.own.is_empty() && self.coming.is_empty();
        if self.is_pool() && nobody && (self.drains || self.table.get().len() == 0) {
            cx.stop();
        }
    }

    // --- more and fewer ---

    /// Makes one more routee of this name.
    fn make(&mut self, cx: &mut Context<'_, Self>, name: &str) -> Result<(), SpawnError> {
        let Some(make) = &self.settings.make else { return Ok(()) };
        let me: Arc<dyn AnyCell> = cx.cell.clone();
        let member = make(&me, name)?;
        let any = member.any();
        self.own.insert(any.id(), member.label.clone());
        self.put_in(cx, member);
        begin(&any, Some(cx.worker_mut()));
        Ok(())
    }

    /// Puts a routee into the table; false if it was not admitted.
    fn put_in(&mut self, cx: &mut Context<'_, Self>, member: Arc<Member<M>>) -> bool {
        let any = member.any();
        if self.watched.insert(any.id()) {
            // It is not this actor, so it can be watched.
            let _ = cx.watch(&any, |news| KeeperMsg::Gone(news.target));
        }
        let before = self.table.get().len();
        let routees = self.table.update(|members| Some(members.iter().cloned().chain([member]).collect()));
        if routees > before {
            cx.cell.head.record(EventKind::RouteeAdded { routee: any.id(), routees: routees as u64 });
        }
        routees > before
    }

    /// Takes a routee out of the table, and lets it go when it has handled what it has, if it is this router's own.
    fn retire(&mut self, cx: &mut Context<'_, Self>, member: &Member<M>) {
        let any = member.any();
        let routees = self.table.remove(any.id()) as u64;
        cx.cell.head.record(EventKind::RouteeRetired { routee: any.id(), routees });
        match member.actor().filter(|_| self.own.contains_key(&any.id())) {
            Some(actor) => {
                actor.0.post.bequeath(Arc::new(self.table.clone()));
                actor.drain();
            }
            None => {
                self.watched.remove(&any.id());
                cx.unwatch(&any);
            }
        }
    }

    /// Makes or retires routees until there are `size`.
    fn resize(&mut self, cx: &mut Context<'_, Self>, size: usize, why: ResizeWhy) -> Changed {
        let from = self.table.get().len() + self.coming.len();
        if size != from {
            let resized = Resized { from: from as u64, to: size as u64, why };
            cx.cell.head.record(EventKind::Resized(Box::new(resized)));
        }
        for _ in from..size {
            self.last_name += 1;
            let name = name_of(self.last_name);
            self.make(cx, &name).map_err(ChangeError::Spawn)?;
        }
        for _ in size..from {
            if let Some((number, _)) = self.coming.pop_last() {
                cx.timers().cancel(Key::Number(number));
                continue;
            }
            let routes = self.table.get();
            let last_of = |own: bool| {
                routes.members.iter().rev().find(|member| self.own.contains_key(&member.any().id()) == own)
            };
            let Some(last) = last_of(true).or_else(|| last_of(false)).cloned() else { break };
            self.retire(cx, &last);
        }
        self.table.hold(size > 0);
        self.stop_if_empty(cx);
        Ok(self.table.get().len())
    }

    fn set_size(&mut self, cx: &mut Context<'_, Self>, size: usize) -> Changed {
        if !self.is_pool() {
            return Err(ChangeError::NotAPool);
        }
        if self.drains {
            return Err(ChangeError::Stopped);
        }
        let size = match self.settings.resizer.map(|resizer| resizer.bounds()) {
            Some((min, max)) => size.clamp(min, max),
            None => size,
        };
        self.resize(cx, size.min(ROUTEES_MAX), ResizeWhy::Asked)
    }

    /// Has the resizer look from now on.
    fn look_out(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let Some(resizer) = self.settings.resizer else { return Ok(()) };
        self.resizing = Resizing::new(cx.now());
        cx.timers().fixed_rate(Key::Name(RESIZE), resizer.every(), || KeeperMsg::Observe)?;
        Ok(())
    }

    /// Looks at the routees, and does as the resizer says.
    fn observe(&mut self, cx: &mut Context<'_, Self>) {
        let Some(resizer) = self.settings.resizer.filter(|_| !self.drains) else { return };
        let routes = self.table.get();
        let shared = self.table.feed.as_ref().map_or(0, |feed| feed.len() as u64);
        let mut seen = Observed::of(routes.members.iter().map(|member| member.load()), shared);
        seen.routees += self.coming.len() as u64;
        let handled = |member: &Arc<Member<M>>| {
            let any = member.any();
            (any.id(), any.0.head().counts.handled.get())
        };
        let handled = routes.members.iter().map(handled).collect();
        let now = cx.now();
        if let Some(resized) = self.resizing.decide(&resizer, &seen, handled, now, cx.rng()) {
            // A routee that cannot be made now is missing at the next look, too.
            let _ = self.resize(cx, resized.to as usize, resized.why);
        }
    }

    fn adjust(&mut self, cx: &mut Context<'_, Self>, by: isize) -> Changed {
        let now = self.table.get().len() + self.coming.len();
        self.set_size(cx, now.saturating_add_signed(by))
    }

    fn add(&mut self, cx: &mut Context<'_, Self>, routee: ActorRef<M>, label: Option<Arc<str>>) -> Changed {
        if self.drains {
            return Err(ChangeError::Stopped);
        }
        let routes = self.table.get();
        if routes.members.iter().any(|member| member.any().id() == routee.id()) {
            return Ok(routes.len());
        }
        match self.put_in(cx, Member::new(Target::Actor(routee), label)) {
            true => Ok(self.table.get().len()),
            false => Err(ChangeError::Taken),
        }
    }

    fn remove(&mut self, cx: &mut Context<'_, Self>, routee: &AnyRef) -> Changed {
        let routes = self.table.get();
        let found = routes.members.iter().find(|member| member.any() == *routee);
        let member = found.cloned().ok_or(ChangeError::Unknown)?;
        self.retire(cx, &member);
        let left = self.table.get().len();
        if left == 0 && self.coming.is_empty() {
            self.table.hold(false);
            self.table.give_up();
        }
        self.stop_if_empty(cx);
        Ok(left)
    }

    // --- the end ---

    fn drain(&mut self, cx: &mut Context<'_, Self>) {
        if std::mem::replace(&mut self.drains, true) {
            return;
        }
        cx.timers().cancel(Key::Name(RESIZE));
        for number in std::mem::take(&mut self.coming).into_keys() {
            cx.timers().cancel(Key::Number(number));
        }
        let me = cx.myself();
        self.table.close_door(move || me.tell(KeeperMsg::Emptied));
    }

    /// Nothing waits any more but in the routees' own mailboxes.
    fn emptied(&mut self, cx: &mut Context<'_, Self>) {
        if !self.is_pool() {
            return cx.stop();
        }
        let routes = self.table.get();
        self.table.shut();
        for member in &routes.members {
            match member.actor().filter(|actor| self.own.contains_key(&actor.id())) {
                Some(actor) => actor.drain(),
                None => {
                    cx.unwatch(&member.any());
                }
            }
        }
        self.stop_if_empty(cx);
    }
}

impl<M: Send + 'static> Actor for Keeper<M> {
    type Msg = KeeperMsg<M>;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        self.look_out(cx)?;
        self.adopt(cx)
    }

    /// A router that is restarted has lost the routees that were its children: it makes new ones.
    fn post_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure) -> Result<(), Failure> {
        if self.table.is_shut() {
            cx.stop();
            return Ok(());
        }
        self.look_out(cx)?;
        if self.is_pool() {
            let me: Arc<dyn AnyCell> = cx.cell.clone();
            let members = self.settings.fill(&me)?;
            self.table.update(|_| Some(members.clone()));
            self.adopt(cx)?;
            members.iter().for_each(|routee| begin(&routee.any(), Some(cx.worker_mut())));
            return Ok(());
        }
        self.adopt(cx)
    }

    /// What comes while the routees are made anew waits for them.
    fn pre_restart(&mut self, _cx: &mut Context<'_, Self>, _why: &Failure, _message: Option<KeeperMsg<M>>) {
        if self.drains {
            self.table.shut();
        } else if self.is_pool() {
            self.table.update(|_| Some(Vec::new()));
        }
    }

    /// A router that has ended routes to nobody, also where its routees live on.
    fn stopped(&mut self, _cx: &mut Context<'_, Self>) {
        self.table.shut();
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: KeeperMsg<M>) -> Result<(), Failure> {
        match message {
            KeeperMsg::Adopt => return self.adopt(cx),
            KeeperMsg::Gone(gone) => self.gone(cx, &gone),
            KeeperMsg::Refill(number) => {
                if let Some(name) = self.coming.remove(&number)
                    && self.make(cx, &name).is_err()
                {
                    self.make_up_for(cx, name);
                    self.stop_if_empty(cx);
                }
            }
            KeeperMsg::Add(routee, label, reply) => {
                let changed = self.add(cx, routee, label);
                reply.send(changed);
            }
            KeeperMsg::Remove(routee, reply) => {
                let changed = self.remove(cx, &routee);
                reply.send(changed);
            }
            KeeperMsg::SetSize(size, reply) => {
                let changed = self.set_size(cx, size);
                reply.send(changed);
            }
            KeeperMsg::Adjust(by, reply) => {
                let changed = self.adjust(cx, by);
                reply.send(changed);
            }
            KeeperMsg::Observe => self.observe(cx),
            KeeperMsg::Drain => self.drain(cx),
            KeeperMsg::Emptied => self.emptied(cx),
        }
        Ok(())
    }
}
