//! Death watch: who wants to hear of whose end.
//!
//! I1 one registration gives exactly one notice, or none if it was withdrawn: the watched actor notifies when it ends; if it
//!    has ended already, whoever delivers the Watch signal does (see `cell::unheard`).
//!    Who comes between an end and its news is told with the others: by then the name is free.
//! I2 a notice lies in the watcher's *user* lane, behind everything that the dead had told it before.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::AnyRef;
use super::cell::AnyCell;
use super::links::Links;
use super::ready::OnEnd;
use crate::id::ActorId;
use crate::observe::StopReason;

/// The news that a watched actor has ended.
#[derive(Clone, Debug)]
pub struct Terminated {
    /// Who has ended; equal to the reference that was watched.
    pub target: AnyRef,
    /// Why.
    pub reason: StopReason,
}

/// Says why an actor could not be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchError {
    /// An actor cannot hear of its own end.
    Oneself,
}

impl fmt::Display for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an actor cannot watch itself")
    }
}

impl std::error::Error for WatchError {}

type Map<M> = Box<dyn FnOnce(Terminated) -> M + Send>;

/// What one actor watches.
pub(crate) struct Watching<M> {
    by_target: BTreeMap<ActorId, Registration<M>>,
    last: u64,
}

/// One watch of this actor.
pub(crate) struct Registration<M> {
    number: u64,
    target: Arc<dyn AnyCell>,
    map: Map<M>,
}

impl<M> Registration<M> {
    pub(crate) fn target(&self) -> &Arc<dyn AnyCell> {
        &self.target
    }
}

impl<M> Default for Watching<M> {
    fn default() -> Self {
        Watching { by_target: BTreeMap::new(), last: 0 }
    }
}

impl<M> Watching<M> {
    /// Registers; gives the number to send to the target, or `None` if it is watched already (the last mapping wins).
    pub(crate) fn add(&mut self, target: &Arc<dyn AnyCell>, map: Map<M>) -> Option<u64> {
        let id = target.head().id;
        if let Some(old) = self.by_target.get_mut(&id) {
            old.map = map;
            return None;
        }
        self.last += 1;
        let registration = Registration { number: self.last, target: target.clone(), map };
        self.by_target.insert(id, registration);
        Some(self.last)
    }

    /// Withdraws; `None` if the target was not watched.
    pub(crate) fn remove(&mut self, target: ActorId) -> Option<Registration<M>> {
        self.by_target.remove(&target)
    }

    /// Turns a notice into the watcher's message; `None` if it was withdrawn.
    pub(crate) fn message_of(&mut self, number: u64, news: Terminated) -> Option<M> {
        let id = news.target.id();
        if self.by_target.get(&id)?.number != number {
            return None;
        }
        let registration = self.by_target.remove(&id)?;
        Some((registration.map)(news))
    }

    /// Withdraws all; the targets are to be told.
    pub(crate) fn clear(&mut self) -> Vec<Registration<M>> {
        std::mem::take(&mut self.by_target).into_values().collect()
    }
}

/// Somebody who watches, with the number of the registration.
type Watcher = (u64, Arc<dyn AnyCell>);

/// Who is to be told of one actor's end. It stands in the head, where an end by force reaches it.
#[derive(Default)]
pub(crate) struct Mourners {
    by_watcher: BTreeMap<ActorId, (u64, Arc<dyn AnyCell>)>,
    calls: Vec<OnEnd>,
    /// Everybody has been told: who comes now is too late.
    told: bool,
    /// Who shares its fate.
    pub(super) links: Links,
}

impl Mourners {
    pub(crate) fn add(&mut self, watcher: Arc<dyn AnyCell>, registration: u64) {
        self.by_watcher.insert(watcher.head().id, (registration, watcher));
    }

    pub(crate) fn remove(&mut self, watcher: ActorId) {
        self.by_watcher.remove(&watcher);
    }

    /// Notes somebody outside who waits for the end.
    pub(crate) fn call(&mut self, call: OnEnd) {
        self.calls.push(call);
    }

    /// The end is told now: gives the watchers, in the order of their ids, and those who wait outside, in the order in which
    /// they came.
    pub(crate) fn tell(&mut self) -> (Vec<Watcher>, Vec<OnEnd>) {
        self.told = true;
        (std::mem::take(&mut self.by_watcher).into_values().collect(), std::mem::take(&mut self.calls))
    }

    /// Is true once everybody has been told.
    pub(crate) fn have_heard(&self) -> bool {
        self.told
    }
}
