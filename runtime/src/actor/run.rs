//! One run: user code is called, its outcome is counted, and what it asked for is done.
//!
//! I1 all user code is called inside `catch`.
//! I2 what a run asked of its own actor (stop, sends that wait) is done when the run has ended.

use std::sync::Arc;

use super::Actor;
use super::cell::{AnyCell, Cell, Fate, Item, signal};
use super::context::Context;
use super::failure::{Failure, catch};
use super::life::{Life, Phase, Ran};
use super::signal::Signal;
use crate::dispatch::Worker;
use crate::mailbox::Envelope;
use crate::observe::{ActorState, DeadLetterReason, DropReason, EventKind, Level, StopReason};
use crate::supervise::{FailureKind, RestartType};
use crate::sync::Ordering;
use crate::time::{Instant, nanos};

impl<A: Actor> Life<A> {
    /// Calls user code with a context; no instance, no call.
    pub(super) fn with_instance<T: Default>(
        &mut self,
        cell: &Arc<Cell<A::Msg>>,
        worker: &mut Worker,
        call: impl FnOnce(&mut A, &mut Context<'_, A>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(instance) = self.instance.as_mut() else { return Ok(T::default()) };
        let mut cx = Context::new(cell, &mut self.own, worker);
        catch(|| call(instance, &mut cx))
    }

    /// Runs an ending hook; a panic in it is reported and decides nothing.
    pub(super) fn hook(
        &mut self,
        cell: &Arc<Cell<A::Msg>>,
        worker: &mut Worker,
        name: &'static str,
        call: impl FnOnce(&mut A, &mut Context<'_, A>),
    ) -> Ran {
        if self.instance.is_none() {
            return Ran::Nothing;
        }
        let done = self.with_instance(cell, worker, |instance, cx| {
            call(instance, cx);
            Ok(())
        });
        if let Err(why) = done {
            cell.head.record(EventKind::HookFailed { hook: name, text: why.report().text });
        }
        cell.head.settle_orphans(Fate::Handled);
        Ran::UserCode
    }

    pub(super) fn drop_instance(&mut self, cell: &Arc<Cell<A::Msg>>) {
        let instance = self.instance.take();
        let dropped = catch(|| {
            drop(instance);
            Ok(())
        });
        if let Err(why) = dropped {
            cell.head.record(EventKind::HookFailed { hook: "drop of the state", text: why.report().text });
        }
    }

    pub(super) fn cancel_tasks(&mut self) {
        self.own.tasks.drain(..).filter_map(|task| task.upgrade()).for_each(|task| task.cancel());
    }

    /// Takes the next message that is not outdated and runs `receive` on it.
    pub(super) fn receive(
        &mut self,
        cell: &Arc<Cell<A::Msg>>,
        envelope: Envelope<Item<A::Msg>>,
        worker: &mut Worker,
    ) -> Ran {
        let Envelope { item, id, at, .. } = envelope;
        match item {
            Item::Message(message) => {
                self.run(cell, message, id, at, worker);
                Ran::UserCode
            }
            other => self.receive_own(cell, other, id, at, worker),
        }
    }

    /// Handles what this actor has ordered itself.
    #[inline(never)]
    fn receive_own(
        &mut self,
        cell: &Arc<Cell<A::Msg>>,
        item: Item<A::Msg>,
        id: crate::id::MsgId,
        at: Instant,
        worker: &mut Worker,
    ) -> Ran {
        let head = &cell.head;
        let mut tick = None;
        let message = match item {
            Item::Message(message) => Ok(message),
            Item::Tick(token) => {
                tick = Some(token);
                self.own.timers.message_of(cell, token).ok_or(DropReason::StaleTimer)
            }
            Item::Notice(number, news) => {
                self.own.watching.message_of(number, news).ok_or(DropReason::Unwatched)
            }
            Item::Answer(incarnation, message) if incarnation == head.incarnation.load(Ordering::Relaxed) => {
                Ok(message)
            }
            Item::Answer(..) => {
                head.counts.dead_lettered.add(1);
                head.shared.note_dead_letter(head.id, &head.path, id, DeadLetterReason::StaleIncarnation);
                return Ran::Nothing;
            }
            Item::Drain => {
                head.counts.handled.add(1);
                self.own.stop_asked = true;
                self.after_run(cell, worker);
                return Ran::Nothing;
            }
        };
        let message = match message {
            Ok(message) => message,
            Err(reason) => {
                head.counts.dropped_own.add(1);
                head.record(EventKind::Dropped { reason, message: id });
                return Ran::Nothing;
            }
        };
        self.run(cell, message, id, at, worker);
        if let Some(token) = tick {
            self.own.timers.rearm(cell, token);
        }
        Ran::UserCode
    }

    pub(super) fn run(
        &mut self,
        cell: &Arc<Cell<A::Msg>>,
        message: A::Msg,
        id: crate::id::MsgId,
        sent_at: Instant,
        worker: &mut Worker,
    ) {
        let head = &cell.head;
        let logged = head.shared.log.wants(Level::Message);
        let began = if logged { head.shared.now() } else { Instant::ZERO };
        if logged {
            head.record(EventKind::Received { message: id, waited_ns: nanos(began - sent_at) });
        }
        let kept = self.props.keep.map(|keep| keep(&message));
        match self.with_instance(cell, worker, |instance, cx| instance.receive(cx, message)) {
            Ok(()) => {
                head.counts.handled.add(1);
                head.settle_orphans(Fate::Handled);
                if logged {
                    let took_ns = nanos(head.shared.now() - began);
                    head.record(EventKind::Handled { message: id, took_ns });
                }
                self.after_run(cell, worker);
            }
            Err(why) => {
                head.counts.failed.add(1);
                head.settle_orphans(Fate::Failed(why.kind()));
                self.record_failed(cell, &why, id);
                self.fail(cell, why, kept, worker);
            }
        }
    }

    pub(super) fn record_failed(&self, cell: &Arc<Cell<A::Msg>>, why: &Failure, message: crate::id::MsgId) {
        let report = why.report();
        cell.head.record(EventKind::Failed {
            kind: report.kind,
            code: report.code,
            text: report.text,
            message,
        });
    }

    /// Does what a run asked for, if it asked for anything.
    #[inline]
    pub(super) fn after_run(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        if self.own.overflowed || self.own.stop_asked || !self.own.outbox.is_empty() {
            self.do_as_asked(cell, worker);
        }
    }

    #[inline(never)]
    fn do_as_asked(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        if self.own.overflowed {
            self.own.overflowed = false;
            let why = Failure::of(FailureKind::Overflow, "outbox", "more than 1,024 messages wait for room");
            self.record_failed(cell, &why, crate::id::MsgId(0));
            return self.fail(cell, why, None, worker);
        }
        if self.own.stop_asked {
            self.own.stop_asked = false;
            if self.props.restart_type == RestartType::Permanent {
                let why = Failure::of(FailureKind::Exit, "exit", "a permanent actor stopped itself");
                self.record_failed(cell, &why, crate::id::MsgId(0));
                return self.fail(cell, why, None, worker);
            }
            let me: Arc<dyn AnyCell> = cell.clone();
            return signal(&me, Signal::Stop(StopReason::Stopped), Some(worker));
        }
        if !self.own.outbox.is_empty() {
            self.open_or_shut(cell);
            let me: Arc<dyn AnyCell> = cell.clone();
            signal(&me, Signal::Flush, Some(worker));
        }
    }

    pub(super) fn flush(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        let me: Arc<dyn AnyCell> = cell.clone();
        let waited_on = self.own.outbox.waits_on();
        let was_waiting = cell.head.state() == ActorState::AwaitingRoom;
        let empty = self.own.outbox.flush(&me, worker);
        self.open_or_shut(cell);
        match (waited_on, self.own.outbox.waits_on()) {
            (Some(target), _) if empty && was_waiting => cell.head.record(EventKind::RoomFound { target }),
            (_, Some(target)) if !was_waiting => cell.head.record(EventKind::AwaitingRoom { target }),
            _ => {}
        }
    }

    /// Sets whether the user lane is read, and the state that others see.
    pub(super) fn open_or_shut(&self, cell: &Arc<Cell<A::Msg>>) {
        let awaiting = !self.own.outbox.is_empty();
        let running = self.own.phase == Phase::Running;
        cell.mailbox.pause(!self.own.readable());
        cell.head.set_state(match self.own.phase {
            Phase::New => ActorState::Starting,
            Phase::Running if self.own.suspends > 0 => ActorState::Suspended,
            Phase::Running if awaiting => ActorState::AwaitingRoom,
            Phase::Running => ActorState::Running,
            Phase::Failed => ActorState::Suspended,
            Phase::Halting => ActorState::Restarting,
            Phase::Halted => ActorState::Backoff,
            Phase::Stopping(_) => ActorState::Stopping,
            Phase::Ended => ActorState::Stopped,
        });
        debug_assert!(running || !self.own.readable());
    }
}
