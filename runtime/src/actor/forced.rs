//! The end by force: an actor that does not return from its run is left behind, so that everybody else can go on.
//!
//! ```text
//!   force: closed, deaf ──▶ its children stop ──▶ name free, parent and watchers told (Forced)
//!             └──▶ its run returns (or never) ──▶ what it had is dropped, no hook
//! ```
//! I1 nothing here takes the behaviour's lock: the run that does not return holds it.
//! I2 what lay in the forced actor's lane stays there, and is counted as queued, until its run returns.
//! I3 what its run sends from now on is dropped (Abandoned); in virtual time also what it has sent and nobody has seen yet.
//! An answer that it gives by a reply handle is taken: whoever asked has waited for it.

use std::sync::Arc;

use super::budget::order_stop;
use super::cell::{AnyCell, Cell, Fate, bury, signal};
use super::ending::mourn;
use super::head::Head;
use super::life::{Life, Phase, Ran};
use super::path::SpawnError;
use super::signal::Signal;
use super::{Actor, Context};
use crate::dispatch::Worker;
use crate::id::MsgId;
use crate::observe::{ActorState, DropReason, EventKind, StopReason};
use crate::time::{Instant, nanos};

/// Ends an actor without waiting for its run; nothing happens if it has ended.
pub(super) fn force(target: &Arc<dyn AnyCell>, by: Option<&mut Worker>) {
    force_at(target, target.head().shared.now(), by);
}

/// As [`force`], of an actor whose time was over at the moment `at`.
pub(super) fn force_at(target: &Arc<dyn AnyCell>, at: Instant, by: Option<&mut Worker>) {
    let head = target.head();
    let Some(running_for) = head.claim_force(at) else { return };
    let mut by = by;
    let state = head.state();
    head.record(EventKind::Forced { path: head.path.clone(), state, running_for_ns: nanos(running_for) });
    head.set_state(ActorState::Stopping);
    head.shared.dispatcher.replace(head.worker_in_run());
    let (unheard, wake) = target.deafen();
    head.leave_groups();
    for unheard in unheard {
        super::cell::unheard(target, unheard);
    }
    if wake {
        head.shared.dispatcher.schedule(target.clone().task(), head.home, by.as_deref_mut());
    }
    let children = {
        let mut book = head.children.lock();
        book.close(SpawnError::ParentStopping);
        book.stopping_all()
    };
    for (child, budget) in children {
        order_stop(&child, StopReason::ParentStopped, budget, by.as_deref_mut());
    }
    complete(target, by);
}

/// Tells of a forced end when no child is left.
pub(super) fn complete(target: &Arc<dyn AnyCell>, by: Option<&mut Worker>) {
    let head = target.head();
    if !head.children.lock().is_empty() || !head.claim_told() {
        return;
    }
    tell_parent(target, by);
    mourn(target, StopReason::Forced);
}

/// Frees the name of an actor that has ended, and tells its parent.
pub(super) fn tell_parent(gone: &Arc<dyn AnyCell>, by: Option<&mut Worker>) {
    let head = gone.head();
    let Some(parent) = &head.parent else { return };
    let mut by = by;
    parent.head().children.lock().remove(head.id);
    signal(parent, Signal::ChildStopped(head.id), by.as_deref_mut());
    if parent.head().is_forced() {
        complete(parent, by);
    }
}

impl<A: Actor> Life<A> {
    /// The run of a forced actor has returned: drops what it had. Everybody has been told.
    pub(super) fn abandoned(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) -> Ran {
        let head = &cell.head;
        let mut left = std::mem::take(&mut self.own.batch);
        left.extend(cell.mailbox.close());
        self.let_go(cell);
        self.count_lost(cell);
        self.own.outbox.clear().into_iter().for_each(|unsent| head.abandon(unsent));
        self.bury_stash(cell);
        bury(cell, left);
        head.settle_orphans(Fate::Stopped);
        self.unwatch_all(cell, worker);
        cell.post.detach(head.id);
        self.own.phase = Phase::Ended;
        head.set_state(ActorState::Stopped);
        head.close_annex();
        head.record(EventKind::Stopped { reason: StopReason::Forced });
        head.shared.dispatcher.release(head.home);
        head.shared.retire(head.id, &cell.last_ledger());
        let _ = cell.mailbox.end(); // it was deaf before
        head.shared.ring_ended(); // whoever shuts down may wait for this
        Ran::UserCode
    }
}

impl Head {
    /// Drops what a forced actor has sent.
    pub(super) fn abandon<T>(&self, message: T) {
        self.shared.drop_late(self.id, MsgId(0), DropReason::Abandoned);
        self.discard_as(Fate::Dropped(DropReason::Abandoned), message);
    }
}

impl<A: Actor> Context<'_, A> {
    /// Is true if this actor was forced to stop while this run went on: a long job may give up, since what it sends is dropped.
    /// Never true in virtual time, where a run is over before it has lasted.
    pub fn is_forced(&self) -> bool {
        self.cell.head.is_forced()
    }
}

/// Lists those who were forced and have not returned from their runs.
pub(crate) fn forced_paths(living: &[Arc<dyn AnyCell>]) -> Vec<String> {
    living.iter().filter(|cell| cell.head().is_stuck()).map(|cell| cell.head().path.to_string()).collect()
}
