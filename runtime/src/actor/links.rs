//! Links: two actors that share their fate. The abnormal end of one fails the other, and its supervisor decides.
//!
//! ```text
//!   a ends abnormally ──▶ a notice in b's user lane ──handled──▶ b fails, kind Linked ──▶ b's supervisor (default: Stop)
//!   a ends normally   ──▶ b's entry is taken out, nothing more
//! ```
//! I1 a link has an entry on both sides or on none; both are made and taken out under both locks, the lower id's first.
//!    Only an end takes out one side at a time: the dead's own first.
//! I2 the notice lies in the user lane, behind everything that the dead had told before; it counts only if its entry still
//!    stands, so an unlink withdraws it, and a link fails its survivor at most once.
//! I3 who is linked with the dead has an entry that is marked so, and a notice to itself: it fails in a later turn.
//! What an end means is no user code, so no link can keep an end waiting: a cycle of links ends with its last living actor.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::cell::AnyCell;
use super::failure::Failure;
use super::head::Head;
use super::watch::Mourners;
use super::{Actor, AnyRef, Context, Terminated};
use crate::id::ActorId;
use crate::observe::{EventKind, StopReason};
use crate::supervise::FailureKind;
use crate::sync::{Mutex, MutexGuard};

/// Says why two actors could not be linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkError {
    /// An actor shares its own fate anyway.
    Oneself,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an actor cannot be linked with itself")
    }
}

impl std::error::Error for LinkError {}

/// One actor's side of its links; most actors have none, and pay a null.
#[derive(Default)]
pub(crate) struct Links {
    #[expect(clippy::box_collection, reason = "most actors have none: 8 bytes for each, not 24")]
    by_peer: Option<Box<BTreeMap<ActorId, Link>>>,
    /// The actor has ended and told of it.
    ended: bool,
}

struct Link {
    peer: Arc<dyn AnyCell>,
    /// The peer had ended when the link was made.
    dead: bool,
}

impl Links {
    fn has(&self, peer: ActorId) -> bool {
        self.by_peer.as_ref().is_some_and(|links| links.contains_key(&peer))
    }

    fn add(&mut self, peer: &Arc<dyn AnyCell>, dead: bool) {
        let link = Link { peer: peer.clone(), dead };
        self.by_peer.get_or_insert_default().insert(peer.head().id, link);
    }

    fn remove(&mut self, peer: ActorId) -> Option<Link> {
        let links = self.by_peer.as_mut()?;
        let link = links.remove(&peer);
        if links.is_empty() {
            self.by_peer = None;
        }
        link
    }

    /// The actor has ended: takes all, in the order of the peers' ids, and takes no more.
    fn end(&mut self) -> Vec<Arc<dyn AnyCell>> {
        self.ended = true;
        let links = self.by_peer.take().map(|links| *links).unwrap_or_default();
        links.into_values().map(|link| link.peer).collect()
    }
}

impl StopReason {
    /// Is true if this end fails those who are linked: a failure, a kill or a stop by force.
    fn is_abnormal(self) -> bool {
        match self {
            StopReason::Failed(_) | StopReason::Killed | StopReason::Forced => true,
            StopReason::Stopped
            | StopReason::ParentStopped
            | StopReason::SystemShutdown
            | StopReason::AlreadyGone => false,
        }
    }
}

/// Locks both sides, the lower id's first.
fn both<'a>(a: &'a Head, b: &'a Head) -> (MutexGuard<'a, Mourners>, MutexGuard<'a, Mourners>) {
    let lock = |head: &'a Head| Mutex::lock(&head.mourners);
    if a.id < b.id {
        let first = lock(a);
        (first, lock(b))
    } else {
        let first = lock(b);
        (lock(a), first)
    }
}

/// Links two actors; true if they were not linked before. If the peer has ended, a notice is on its way to `me`.
fn link(me: &Arc<dyn AnyCell>, peer: &Arc<dyn AnyCell>) -> bool {
    let dead = {
        let (mut mine, mut theirs) = both(me.head(), peer.head());
        if mine.links.ended || mine.links.has(peer.head().id) {
            return false; // an actor that was forced shares its fate with nobody any more
        }
        let dead = theirs.links.ended;
        mine.links.add(peer, dead);
        if !dead {
            theirs.links.add(me, false);
        }
        dead
    };
    if dead {
        let news = Terminated { target: AnyRef(peer.clone()), reason: StopReason::AlreadyGone };
        me.clone().link_notice(news);
    }
    true
}

/// Takes a link out on both sides; false if there was none.
pub(super) fn unlink(me: &Head, peer: &Head) -> bool {
    let (mine, theirs) = {
        let (mut mine, mut theirs) = both(me, peer);
        (mine.links.remove(peer.id), theirs.links.remove(me.id))
    };
    // The last reference to a cell may go here, so no lock is held.
    let was = mine.is_some();
    drop((mine, theirs));
    was
}

/// Tells all who are linked with an actor that it has ended.
pub(super) fn sever(gone: &Arc<dyn AnyCell>, reason: StopReason) {
    let head = gone.head();
    let peers = head.mourners.lock().links.end();
    for peer in peers {
        if reason.is_abnormal() {
            peer.link_notice(Terminated { target: AnyRef(gone.clone()), reason });
        } else {
            peer.head().forget(head.id);
        }
    }
}

impl Head {
    /// A peer has ended normally. Who was linked with it after that is to fail all the same.
    fn forget(&self, peer: ActorId) {
        let link = {
            let mut mourners = self.mourners.lock();
            let links = &mut mourners.links;
            match links.by_peer.as_ref().and_then(|all| all.get(&peer)) {
                Some(link) if !link.dead => links.remove(peer),
                _ => None,
            }
        };
        drop(link);
    }

    /// Turns a notice into the failure that it means; `None` if the link was undone meanwhile.
    pub(super) fn link_failure(&self, news: &Terminated) -> Option<Failure> {
        // Bound, so that the lock is free when the entry is dropped.
        let link = self.mourners.lock().links.remove(news.target.id());
        link?;
        let path = news.target.path();
        let text = match news.reason {
            StopReason::Failed(kind) => format!("{path}, a linked actor, has failed: {kind}"),
            StopReason::Killed => format!("{path}, a linked actor, was killed"),
            StopReason::Forced => format!("{path}, a linked actor, was forced to stop"),
            _ => format!("{path} had ended when it was linked"),
        };
        Some(Failure::of(FailureKind::Linked, "linked", &text))
    }
}

impl<A: Actor> Context<'_, A> {
    /// Links this actor with `peer`, both ways: the *abnormal* end of one fails the other with
    /// [`FailureKind::Linked`], and the supervisor of that one decides (by default: Stop).
    ///
    /// Abnormal is an end by a failure, by a kill or by force. A stop is normal, whoever ordered it: by itself, by its parent or
    /// by the shutdown; and a restart is no end. What the dead had told the other is handled before the other fails.
    /// If `peer` has ended already, however it did, this actor fails in a later turn.
    ///
    /// A link is one, however often and from whichever side it is made. It survives restarts of both, except a parent's links
    /// with children that its own restart stops. To hear of an end without sharing it, use [`Context::watch`].
    ///
    /// # Errors
    /// [`LinkError::Oneself`] if `peer` is this actor.
    ///
    /// # Examples
    /// ```
    /// # use footlights::{actor::*, observe::StopReason, system::ActorSystem};
    /// struct Half;
    /// impl Actor for Half {
    ///     type Msg = AnyRef;
    ///     fn receive(&mut self, cx: &mut Context<'_, Self>, other: AnyRef) -> Result<(), Failure> {
    ///         Ok(cx.link(&other)?)
    ///     }
    /// }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let a = system.spawn("a", Props::new(|| Half))?;
    /// let b = system.spawn("b", Props::new(|| Half))?;
    /// a.tell(b.any());
    /// system.run_until_quiet(100);
    /// b.kill();
    /// system.run_until_quiet(100);
    /// assert!(system.find("/user/a").is_none(), "it has shared the fate of b");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn link(&mut self, peer: &AnyRef) -> Result<(), LinkError> {
        if peer.id() == self.cell.head.id {
            return Err(LinkError::Oneself);
        }
        let me: Arc<dyn AnyCell> = self.cell.clone();
        if link(&me, &peer.0) {
            self.cell.head.record(EventKind::Linked { target: peer.id() });
        }
        Ok(())
    }

    /// Undoes a link on both sides, whoever made it. From now on `peer` cannot fail this actor by it, even if it has ended and
    /// the news is queued here. False if there was no link.
    pub fn unlink(&mut self, peer: &AnyRef) -> bool {
        let linked = peer.id() != self.cell.head.id && unlink(&self.cell.head, peer.0.head());
        if linked {
            self.cell.head.record(EventKind::Unlinked { target: peer.id() });
        }
        linked
    }
}
