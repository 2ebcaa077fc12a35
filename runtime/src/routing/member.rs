//! Routees as a router sees them: the immutable table that senders choose from.
//!
//! I1 a table never changes; a member that is in two tables is the same one, with its count.

use std::fmt;
use std::sync::Arc;

use super::RouterRef;
use super::ring::Ring;
use crate::actor::doors::{Door, Refusal};
use crate::actor::{ActorRef, AnyRef, Tell, Via};
use crate::observe::ActorState;
use crate::sync::{AtomicU64, Ordering};

/// One table.
pub(super) struct Routes<M: Send + 'static> {
    pub(super) members: Vec<Arc<Member<M>>>,
    ring: Option<Ring>,
}

impl<M: Send + 'static> Routes<M> {
    /// Makes a table; with a ring, if keys are to be looked up in it.
    pub(super) fn new(members: Vec<Arc<Member<M>>>, ringed: bool) -> Self {
        let ring = ringed.then(|| Ring::new(members.iter().map(|member| &*member.label)));
        Routes { members, ring }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Gives the owner of a key among those that are `good`.
    pub(super) fn owner(&self, key: u64, good: impl Fn(usize) -> bool) -> Option<usize> {
        self.ring.as_ref().and_then(|ring| ring.owner_where(key, good))
    }
}

/// One routee.
pub(super) struct Member<M: Send + 'static> {
    pub(super) target: Target<M>,
    pub(super) label: Arc<str>,
    chosen: AtomicU64,
}

/// Where a routee's messages go.
pub(super) enum Target<M: Send + 'static> {
    Actor(ActorRef<M>),
    Router(RouterRef<M>),
}

impl<M: Send + 'static> Clone for Target<M> {
    fn clone(&self) -> Self {
        match self {
            Target::Actor(actor) => Target::Actor(actor.clone()),
            Target::Router(router) => Target::Router(router.clone()),
        }
    }
}

/// How much a routee has to do; the less, the better a choice it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Load {
    /// It, or one above it, has failed: nobody reads its mailbox.
    pub(super) suspended: bool,
    /// It has something in hand or in its mailbox.
    pub(super) occupied: bool,
    /// Messages that wait, those on their way included, the one in hand not.
    pub(super) queued: u64,
    /// It has one in hand, or is about to take one.
    pub(super) running: bool,
    /// Messages behind that one.
    pub(super) behind: u64,
}

impl<M: Send + 'static> Member<M> {
    pub(super) fn new(target: Target<M>, label: Option<Arc<str>>) -> Arc<Self> {
        let label = label.unwrap_or_else(|| target.any().path().into());
        Arc::new(Member { target, label, chosen: AtomicU64::new(0) })
    }

    pub(super) fn any(&self) -> AnyRef {
        self.target.any()
    }

    pub(super) fn actor(&self) -> Option<&ActorRef<M>> {
        match &self.target {
            Target::Actor(actor) => Some(actor),
            Target::Router(_) => None,
        }
    }

    /// Is true if it can take no message any more; of a router: if none of its routees can.
    pub(super) fn is_closed(&self) -> bool {
        match &self.target {
            Target::Actor(actor) => actor.is_closed(),
            Target::Router(router) => router.is_closed(),
        }
    }

    /// Sends, or gives the message back if it is closed.
    pub(super) fn send(&self, message: M, mut via: Via<'_>) -> Result<(), M> {
        match &self.target {
            Target::Actor(actor) if via.holds_for(actor.id()) => {
                actor.tell_via(message, via);
                Ok(())
            }
            Target::Actor(actor) if let Some(asking) = via.asking.take() => {
                match actor.0.send_ask(message, asking.clone()) {
                    Ok(()) => Ok(()),
                    Err(Refusal::Closed(back)) => Err(back),
                    Err(Refusal::Full(question)) => {
                        asking.found_full();
                        actor.0.head.discard("drop of a question", question);
                        Ok(())
                    }
                }
            }
            Target::Actor(actor) => {
                actor
                    .0
                    .send(message, Door::Route, via.worker.as_deref_mut())
                    .map_err(|refusal| match refusal {
                        Refusal::Closed(back) | Refusal::Full(back) => back,
                    })
            }
            Target::Router(router) => router.table.offer(message, via),
        }
    }

    pub(super) fn load(&self) -> Load {
        match &self.target {
            Target::Actor(actor) => load_of(actor),
            Target::Router(router) => router.table.load(),
        }
    }

    pub(super) fn note_choice(&self) {
        // Ordering: Relaxed, a statistic.
        self.chosen.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn chosen(&self) -> u64 {
        self.chosen.load(Ordering::Relaxed)
    }
}

impl<M: Send + 'static> Target<M> {
    pub(super) fn any(&self) -> AnyRef {
        match self {
            Target::Actor(actor) => actor.any(),
            Target::Router(router) => router.actor(),
        }
    }
}

/// Looks at one actor: it may have moved on by the time that this is read.
fn load_of<M: Send + 'static>(actor: &ActorRef<M>) -> Load {
    let head = &actor.0.head;
    let state = head.state();
    let suspended = matches!(state, ActorState::Suspended | ActorState::Restarting | ActorState::Backoff);
    let in_hand = u64::from(head.has_in_hand());
    let (running, queued) = (head.is_running(), actor.queued().saturating_sub(in_hand));
    // Between two runs it is about to take the next one, which then is in hand and no longer waits.
    let about_to = !running && actor.0.mailbox.is_scheduled();
    Load {
        suspended,
        occupied: running || queued > 0,
        queued,
        running: running || about_to,
        behind: queued.saturating_sub(u64::from(about_to)),
    }
}

impl Load {
    /// Sums up what a router behind a router has to do.
    pub(super) fn all(loads: impl Iterator<Item = Load>) -> Load {
        let none = Load { suspended: true, occupied: true, queued: 0, running: true, behind: 0 };
        loads.fold(none, |sum, load| Load {
            suspended: sum.suspended && load.suspended,
            occupied: sum.occupied && load.occupied,
            queued: sum.queued + load.queued,
            running: sum.running && load.running,
            behind: sum.behind + load.behind,
        })
    }
}

impl<M: Send + 'static> fmt::Debug for Member<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.label, self.any())
    }
}
