//! The end of an actor's life: children first, last started first; then `stopped`; then everybody is told.
//!
//! I1 the name is free before anybody hears of the end; the parent hears before the watchers do.
//! I2 what the actor had ordered itself goes without a dead letter; what others sent it does not.

use std::sync::Arc;

use super::budget::order_stop;
use super::cell::{AnyCell, Cell, Fate, MESSAGE_DROP, bury, signal};
use super::forced::{forced_paths, tell_parent};
use super::life::{Life, Phase, Ran};
use super::links;
use super::path::SpawnError;
use super::shared::{Exit, Shared};
use super::signal::Signal;
use super::{Actor, AnyRef, Terminated};
use crate::dispatch::Worker;
use crate::observe::{ActorState, DeadLetterReason, EventKind, StopReason};
use crate::supervise::StopOrder;
use crate::sync::Ordering;

impl<A: Actor> Life<A> {
    pub(super) fn stop(&mut self, cell: &Arc<Cell<A::Msg>>, reason: StopReason, worker: &mut Worker) -> Ran {
        let halting = self.own.phase == Phase::Halting;
        if matches!(self.own.phase, Phase::Stopping(_) | Phase::Ended) {
            return Ran::Nothing;
        }
        let me: Arc<dyn AnyCell> = cell.clone();
        self.own.outbox.flush(&me, worker); // what has found room meanwhile was sent before the end
        let reason = match (&self.failing, reason) {
            (Some((why, _)), StopReason::Stopped) if self.own.phase == Phase::Failed => {
                StopReason::failed(why.kind())
            }
            _ => reason,
        };
        self.own.rearing = None;
        self.own.phase = Phase::Stopping(reason);
        cell.head.children.lock().close(SpawnError::ParentStopping);
        cell.carry_out(cell.mailbox.hold(None));
        self.open_or_shut(cell);
        cell.head.record(EventKind::StopBegan);
        let left = cell.mailbox.close();
        cell.head.leave_groups();
        let batch = std::mem::take(&mut self.own.batch);
        self.own.batch = batch.into_iter().chain(left).collect();
        self.own.conduct.clear(&cell.head);
        if halting {
            return Ran::Nothing; // a child is being waited for already
        }
        self.next_child_or(cell, worker)
    }

    /// The children are gone: runs the last hook and tells everybody.
    pub(super) fn end(&mut self, cell: &Arc<Cell<A::Msg>>, reason: StopReason, worker: &mut Worker) -> Ran {
        let head = &cell.head;
        let ran = match self.own.said_goodbye {
            true => Ran::Nothing, // a stop has overtaken a restart
            false => self.hook(cell, worker, "stopped", |instance, cx| instance.stopped(cx)),
        };
        if head.is_forced() {
            return Ran::UserCode; // everybody has been told; what is left to do is in a signal that waits
        }
        if head.is_overdue() {
            self.own.said_goodbye = true; // it is at work, in virtual time, and will be forced before that is over
            return Ran::UserCode;
        }
        self.let_go(cell);
        self.count_lost(cell);
        let unsent = self.own.outbox.clear();
        for _ in 0..unsent.len() {
            head.late_letter(crate::id::MsgId(0), DeadLetterReason::StoppedWithMail, "");
        }
        unsent.into_iter().for_each(|message| head.discard(MESSAGE_DROP, message));
        self.bury_stash(cell);
        bury(cell, std::mem::take(&mut self.own.batch));
        head.settle_orphans(Fate::Stopped);
        self.unwatch_all(cell, worker);
        if !head.claim_end() {
            return Ran::UserCode; // a drop has taken too long
        }
        cell.post.detach(head.id);
        self.own.phase = Phase::Ended;
        head.set_state(ActorState::Stopped);
        head.close_annex();
        head.record(EventKind::Stopped { reason });
        head.shared.retire(head.id, &cell.last_ledger());
        head.shared.dispatcher.release(head.home);
        self.farewell(cell, reason, worker);
        ran
    }

    /// Drops the instance and all that was its own.
    pub(super) fn let_go(&mut self, cell: &Arc<Cell<A::Msg>>) {
        let head = &cell.head;
        self.own.end_time(cell);
        self.own.tasks.cancel();
        self.never_ready();
        head.discard(MESSAGE_DROP, self.failing.take());
        self.drop_instance(cell);
        // What makes instances may hold references: a chain of the dead must not hang on them.
        let ended: super::Factory<A> = Arc::new(|| Err(super::Failure::new("ended", "the actor has ended")));
        head.discard("drop of the factory", std::mem::replace(&mut self.props.factory, ended));
    }

    /// Withdraws all watches of this actor.
    pub(super) fn unwatch_all(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        for watch in self.own.watching.clear() {
            signal(watch.target(), Signal::Unwatch(cell.head.id), Some(&mut *worker));
            cell.head.discard("drop of a watch", watch);
        }
    }

    /// Frees the name, then tells the parent, then the watchers.
    fn farewell(&mut self, cell: &Arc<Cell<A::Msg>>, reason: StopReason, worker: &mut Worker) {
        let head = &cell.head;
        let me: Arc<dyn AnyCell> = cell.clone();
        let unheard = cell.mailbox.end();
        match &head.parent {
            Some(_) => tell_parent(&me, Some(worker)),
            None => head.shared.end(exit(&head.shared)),
        }
        mourn(&me, reason);
        for signal in unheard {
            match signal {
                Signal::OnEnd(call) => call(reason),
                other => super::cell::unheard(&me, other),
            }
        }
    }

    /// Stops the children that were started last; when none is left, goes on with the restart or the stop.
    pub(super) fn next_child_or(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) -> Ran {
        let (to_stop, wait) = {
            let mut book = cell.head.children.lock();
            (book.stop_next(self.props.stop_order == StopOrder::Parallel), !book.is_empty())
        };
        let reason = match self.own.phase {
            Phase::Stopping(StopReason::SystemShutdown) => StopReason::SystemShutdown,
            _ => StopReason::ParentStopped,
        };
        for (child, budget) in to_stop {
            if self.own.phase == Phase::Halting {
                let watch = self.own.watching.remove(child.head().id);
                cell.head.discard("drop of a watch", watch);
                links::unlink(&cell.head, child.head());
            }
            order_stop(&child, reason, budget, Some(&mut *worker));
        }
        match self.own.phase {
            _ if wait => Ran::Nothing,
            Phase::Halting => {
                self.halted(cell, worker);
                Ran::Nothing
            }
            Phase::Stopping(reason) => self.end(cell, reason, worker),
            _ => Ran::Nothing,
        }
    }

    pub(super) fn child_gone(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) -> Ran {
        match self.own.phase {
            Phase::Halting | Phase::Stopping(_) => self.next_child_or(cell, worker),
            _ => self.auto_shutdown(cell, worker),
        }
    }

    /// Counts a suspension from above; children made meanwhile take the count over.
    pub(super) fn suspend(&mut self, cell: &Arc<Cell<A::Msg>>, by: i32) {
        self.own.suspends = self.own.suspends.saturating_add_signed(by);
        // Ordering: Relaxed, read by this actor's own runs, which spawn.
        cell.head.suspends.store(self.own.suspends, Ordering::Relaxed);
    }

    pub(super) fn suspend_children(&self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        let children = cell.head.children.lock().cells();
        children.iter().for_each(|child| signal(child, Signal::Suspend, Some(&mut *worker)));
    }

    pub(super) fn resume_children(&self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        let children = cell.head.children.lock().cells();
        children.iter().for_each(|child| signal(child, Signal::Resume, Some(&mut *worker)));
    }

    pub(super) fn tell_parent(&self, cell: &Arc<Cell<A::Msg>>, what: Signal, worker: &mut Worker) {
        if let Some(parent) = &cell.head.parent {
            signal(parent, what, Some(worker));
        }
    }
}

/// Tells everybody who wants to hear of an actor's end.
pub(super) fn mourn(gone: &Arc<dyn AnyCell>, reason: StopReason) {
    let head = gone.head();
    let (mourners, calls) = head.mourners.lock().tell();
    for (registration, watcher) in mourners {
        head.shared.record(watcher.head().id, EventKind::Notified { target: head.id, reason });
        watcher.notice(registration, Terminated { target: AnyRef(gone.clone()), reason });
    }
    links::sever(gone, reason);
    calls.into_iter().for_each(|call| call(reason));
}

/// Says how a system ends whose root has ended.
fn exit(shared: &Shared) -> Exit {
    if let Some(report) = shared.escalated.lock().take() {
        return Exit::Escalated { why: report.text.to_string() };
    }
    match forced_paths(&shared.living()) {
        stuck if stuck.is_empty() => Exit::Shutdown,
        stuck => Exit::Forced { stuck },
    }
}
