//! What patterns keep per system, found by its type, and the groups that an actor belongs to until it stops.
//!
//! Topics, services and the like live above this room; what they need of it is a place to be found, and the news of an
//! actor's stop in time. An actor that belongs to no group pays one flag for this.
//!
//! I1 an actor leaves all its groups when its mailbox closes: before its parent, its watchers or anybody else hears of its end.
//! I2 a join that races with the stop is undone by one of the two: the joiner looks at the mailbox after it has raised the flag,
//!    the stopping actor looks at the flag after it has closed the mailbox.
//! I3 a type is a key for look-ups only; nothing is ever done in the order of these keys.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::cell::AnyCell;
use super::head::Head;
use super::shared::Shared;
use crate::id::ActorId;
use crate::sync::{Mutex, Ordering};

/// Something that actors belong to, such as the subscribers of a topic.
pub(crate) trait Group: Send + Sync {
    /// Forgets an actor that has stopped.
    fn leave(&self, actor: ActorId);
}

/// Says why an actor could not be subscribed or registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// The actor takes no more messages.
    Ended,
    /// The actor lives in another system.
    OtherSystem,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JoinError::Ended => "the actor has ended",
            JoinError::OtherSystem => "the actor lives in another system",
        })
    }
}

impl std::error::Error for JoinError {}

/// The books of one system's patterns.
#[derive(Default)]
pub(crate) struct Groups {
    by_type: Mutex<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    memberships: Mutex<BTreeMap<ActorId, Vec<Arc<dyn Group>>>>,
}

impl Groups {
    /// Finds the one `T` of this system, and makes it if there is none.
    pub(crate) fn get<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut by_type = self.by_type.lock();
        let found = by_type.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(make())).clone();
        found.downcast().unwrap_or_else(|_| unreachable!("each is kept under its own type"))
    }

    /// Finds the one `T` of this system, if it was ever made.
    pub(crate) fn find<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let found = self.by_type.lock().get(&TypeId::of::<T>()).cloned();
        found.and_then(|found| found.downcast().ok())
    }

    fn remember(&self, actor: ActorId, group: &Arc<dyn Group>) {
        let mut memberships = self.memberships.lock();
        let groups = memberships.entry(actor).or_default();
        if !groups.iter().any(|known| Arc::ptr_eq(known, group)) {
            groups.push(group.clone());
        }
    }

    /// Forgets that an actor belongs to a group, which it has left.
    pub(crate) fn forget(&self, actor: ActorId, group: &Arc<dyn Group>) {
        let mut memberships = self.memberships.lock();
        if let Some(groups) = memberships.get_mut(&actor) {
            groups.retain(|known| !Arc::ptr_eq(known, group));
            if groups.is_empty() {
                memberships.remove(&actor);
            }
        }
    }

    /// Counts the actors that belong to any group.
    #[cfg(test)]
    fn members(&self) -> usize {
        self.memberships.lock().len()
    }

    /// Lets go of everything: groups hold references to actors, and those hold the system.
    pub(crate) fn clear(&self) {
        let (kept, members) =
            (std::mem::take(&mut *self.by_type.lock()), std::mem::take(&mut *self.memberships.lock()));
        drop((kept, members));
    }
}

/// Says whether an actor may join a group of this system now.
pub(crate) fn may_join(shared: &Arc<Shared>, cell: &dyn AnyCell) -> Result<(), JoinError> {
    if !Arc::ptr_eq(shared, &cell.head().shared) {
        return Err(JoinError::OtherSystem);
    }
    if cell.is_closed() { Err(JoinError::Ended) } else { Ok(()) }
}

/// Notes that an actor has entered a group, which it will leave when it stops; undoes it if it has stopped meanwhile.
pub(crate) fn join(cell: &dyn AnyCell, group: &Arc<dyn Group>) -> Result<(), JoinError> {
    let head = cell.head();
    // Ordering: Relaxed, the mailbox's lock orders it (I2): is_closed() takes it after this, close() before the flag is read.
    head.in_groups.store(true, Ordering::Relaxed);
    head.shared.groups.remember(head.id, group);
    if cell.is_closed() {
        head.shared.groups.forget(head.id, group);
        group.leave(head.id);
        return Err(JoinError::Ended);
    }
    Ok(())
}

impl Head {
    /// Leaves all groups, once the mailbox is closed.
    pub(crate) fn leave_groups(&self) {
        if self.in_groups.load(Ordering::Relaxed) {
            let groups = self.shared.groups.memberships.lock().remove(&self.id);
            groups.into_iter().flatten().for_each(|group| group.leave(self.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Group for Nobody {
        fn leave(&self, _actor: ActorId) {}
    }

    #[test]
    fn a_membership_is_kept_once_and_forgotten_wholly() {
        let groups = Groups::default();
        let (one, two): (Arc<dyn Group>, Arc<dyn Group>) = (Arc::new(Nobody), Arc::new(Nobody));
        for group in [&one, &one, &two] {
            groups.remember(ActorId(7), group);
        }
        groups.forget(ActorId(7), &one);
        assert_eq!(groups.members(), 1);
        groups.forget(ActorId(7), &two);
        assert_eq!(groups.members(), 0);
    }

    #[test]
    fn each_type_has_one_value() {
        let groups = Groups::default();
        assert!(groups.find::<u32>().is_none());
        assert!(Arc::ptr_eq(&groups.get(|| 1u32), &groups.get(|| 2u32)));
        assert_eq!(*groups.get(|| 3u64), 3);
    }
}
