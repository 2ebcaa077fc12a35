//! A group that follows a service: who registers under the key becomes a routee, who stops or is taken off the list is none any
//! more. The receptionist tells the table itself, not the router's actor, so that no mailbox is in between.
//!
//! I1 a routee that stops is out of the table before its watchers hear of the end.
//! I2 listings may come in any order; an older one than the last changes nothing.
//! I3 what a listing adds or takes out is the difference to the last: routees that others have added or taken out stay so.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::member::{Member, Target};
use super::table::Table;
use crate::actor::ActorRef;
use crate::actor::cell::AnyCell;
use crate::id::ActorId;
use crate::observe::EventKind;
use crate::pattern::ServiceKey;
use crate::pattern::receptionist;

/// What a table has learned of its service.
#[derive(Default)]
pub(super) struct Followed {
    /// The number of the last listing.
    number: u64,
    /// Who was in it.
    listed: BTreeSet<ActorId>,
    /// Those of them that are in the table because of it.
    brought: BTreeSet<ActorId>,
}

impl<M: Send + 'static> Table<M> {
    /// Follows a service until the router's actor, `me`, stops.
    pub(super) fn follow(self: &Arc<Self>, key: &ServiceKey<M>, me: &dyn AnyCell) {
        let table = self.clone();
        let follow = move |number: u64, actors: &[ActorRef<M>]| table.listed(number, actors);
        // A router that has ended meanwhile has nobody to route to.
        let _ = receptionist::follow(self.shared(), key, me, Arc::new(follow));
    }

    /// Changes the table as the service has changed.
    fn listed(self: &Arc<Self>, number: u64, actors: &[ActorRef<M>]) {
        let (mut added, mut removed) = (Vec::new(), false);
        let routees = self.update(|members| {
            let mut followed = self.followed.lock();
            if number <= followed.number {
                return None;
            }
            followed.number = number;
            let now: BTreeSet<ActorId> = actors.iter().map(ActorRef::id).collect();
            let before = std::mem::replace(&mut followed.listed, now);
            let Followed { listed: now, brought, .. } = &mut *followed;
            let gone = brought.extract_if(.., |actor| !now.contains(actor)).collect::<BTreeSet<_>>();
            let mut after: Vec<Arc<Member<M>>> =
                members.iter().filter(|member| !gone.contains(&member.any().id())).cloned().collect();
            removed = after.len() < members.len();
            for actor in actors.iter().filter(|actor| !before.contains(&actor.id())) {
                if !members.iter().any(|member| member.any().id() == actor.id()) {
                    brought.insert(actor.id());
                    added.push(actor.id());
                    after.push(Member::new(Target::Actor(actor.clone()), None));
                }
            }
            Some(after)
        });
        if removed {
            self.record(EventKind::RouteesChanged { routees: routees as u64 });
        }
        for routee in added {
            self.record(EventKind::RouteeAdded { routee, routees: routees as u64 });
        }
        if removed && routees == 0 {
            self.give_up();
        }
    }
}
