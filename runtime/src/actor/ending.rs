//! The end of an actor's life: children first, last started first; then `stopped`; then everybody is told.
//!
//! I1 the name is free before anybody hears of the end; the parent hears before the watchers do.
//! I2 what the actor had ordered itself goes without a dead letter; what others sent it does not.

use std::sync::Arc;

use super::cell::{AnyCell, Cell, Fate, MESSAGE_DROP, bury, signal};
use super::life::{Life, Phase, Ran};
use super::path::SpawnError;
use super::signal::Signal;
use super::{Actor, AnyRef, Terminated};
use crate::dispatch::Worker;
use crate::observe::{ActorState, DeadLetterReason, EventKind, StopReason};

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
                StopReason::Failed(why.kind())
            }
            _ => reason,
        };
        self.own.phase = Phase::Stopping(reason);
        cell.head.children.lock().close(Some(SpawnError::ParentStopping));
        cell.carry_out(cell.mailbox.hold(None));
        self.open_or_shut(cell);
        cell.head.record(EventKind::StopBegan);
        let left = cell.mailbox.close();
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
        self.own.timers.clear(cell);
        self.own.tasks.cancel();
        head.discard(MESSAGE_DROP, self.failing.take());
        self.drop_instance(cell);
        // What makes instances may hold references: a chain of the dead must not hang on them.
        let ended: super::Factory<A> = Arc::new(|| Err(super::Failure::new("ended", "the actor has ended")));
        head.discard("drop of the factory", std::mem::replace(&mut self.props.factory, ended));
        self.count_lost(cell);
        let unsent = self.own.outbox.clear();
        for _ in 0..unsent.len() {
            let reason = DeadLetterReason::StoppedWithMail;
            head.shared.late_dead_letter(head.id, &head.path, crate::id::MsgId(0), reason);
        }
        unsent.into_iter().for_each(|message| head.discard(MESSAGE_DROP, message));
        self.bury_stash(cell);
        bury(cell, std::mem::take(&mut self.own.batch));
        head.settle_orphans(Fate::Stopped);
        for watch in self.own.watching.clear() {
            signal(watch.target(), Signal::Unwatch(head.id), Some(worker));
            head.discard("drop of a watch", watch);
        }
        cell.post.detach(head.id);
        self.own.phase = Phase::Ended;
        head.set_state(ActorState::Stopped);
        head.close_annex();
        head.record(EventKind::Stopped { reason });
        head.shared.retire(head.id, &cell.ledger(0, 0));
        head.shared.dispatcher.release(head.home);
        self.farewell(cell, reason, worker);
        ran
    }

    /// Frees the name, then tells the parent, then the watchers.
    pub(super) fn farewell(&mut self, cell: &Arc<Cell<A::Msg>>, reason: StopReason, worker: &mut Worker) {
        let head = &cell.head;
        let me: Arc<dyn AnyCell> = cell.clone();
        let unheard = cell.mailbox.end();
        if let Some(parent) = &head.parent {
            parent.head().children.lock().remove(head.id);
            signal(parent, Signal::ChildStopped(head.id), Some(worker));
        } else {
            head.shared.end(match head.shared.escalated.lock().take() {
                Some(report) => super::shared::Exit::Escalated { why: report.text.to_string() },
                None => super::shared::Exit::Shutdown,
            });
        }
        for (registration, watcher) in self.own.watchers.take() {
            head.shared.record(watcher.head().id, EventKind::Notified { target: head.id, reason });
            watcher.notice(registration, Terminated { target: AnyRef(me.clone()), reason });
        }
        unheard.into_iter().for_each(|signal| super::cell::unheard(&me, signal));
    }

    /// Stops the child that was started last; when none is left, goes on with the restart or the stop.
    pub(super) fn next_child_or(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) -> Ran {
        let last = cell.head.children.lock().last();
        if let Some(child) = last {
            let reason = match self.own.phase {
                Phase::Stopping(StopReason::SystemShutdown) => StopReason::SystemShutdown,
                _ => StopReason::ParentStopped,
            };
            if self.own.phase == Phase::Halting {
                let watch = self.own.watching.remove(child.head().id);
                cell.head.discard("drop of a watch", watch);
            }
            signal(&child, Signal::Stop(reason), Some(worker));
            return Ran::Nothing;
        }
        match self.own.phase {
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
            _ => Ran::Nothing,
        }
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
