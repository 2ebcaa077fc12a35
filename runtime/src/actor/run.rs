//! One run: user code is called, its outcome is counted, and what it asked for is done.
//!
//! I1 all user code is called inside `catch`.
//! I2 what a run asked of its own actor (stop, sends that wait) is done when the run has ended.

use std::sync::Arc;

use super::Actor;
use super::cell::{AnyCell, Cell, Fate, Item, MESSAGE_DROP, signal};
use super::context::{ANY_INCARNATION, Context};
use super::deadlock;
use super::failure::{Failure, catch};
use super::head::Head;
use super::letters::DiedIn;
use super::life::{Life, Own, Phase, Ran};
use super::receive_timeout::is_silence;
use super::signal::Signal;
use super::stash::{Hand, Origin};
use crate::dispatch::Worker;
use crate::id::MsgId;
use crate::mailbox::Envelope;
use crate::observe::{ActorState, DeadLetterReason, DropReason, EventKind, FaultKind, Level, StopReason};
use crate::supervise::{FailureKind, RestartType};
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
        let mut cx = Context::new(cell, &mut self.own, &mut self.handlers, worker);
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
            cell.head.discard(MESSAGE_DROP, call);
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
        self.own.said_goodbye = false;
        cell.head.discard("drop of the state", self.instance.take());
    }

    /// The system is dropped: lets go of all that a user has made, without hooks.
    pub(super) fn let_fall(&mut self, head: &Head) {
        let batch = std::mem::take(&mut self.own.batch);
        let stash = self.own.stash.take();
        batch.into_iter().chain(stash).for_each(|envelope| head.discard(MESSAGE_DROP, envelope));
        let unsent = self.own.outbox.clear();
        unsent.into_iter().for_each(|message| head.discard(MESSAGE_DROP, message));
        if let Some((why, message)) = self.failing.take() {
            head.discard(MESSAGE_DROP, why);
            head.discard(MESSAGE_DROP, message);
        }
        let watches = self.own.watching.clear();
        watches.into_iter().for_each(|watch| head.discard("drop of a watch", watch));
        head.discard("drop of the state", self.instance.take());
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
                self.run(cell, message, Hand { id, at, origin: Origin::Told }, worker);
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
        let (mut tick, mut origin) = (None, Origin::Told);
        // What makes a message of a tick or a notice is the user's code as well.
        let (message, stale) = match item {
            Item::Message(message) => (Ok(Some(message)), DropReason::StaleTimer),
            Item::Tick(token) if is_silence(token) => {
                origin = Origin::Silence;
                (catch(|| Ok(self.own.silence_message(cell, token))), DropReason::StaleTimer)
            }
            Item::Tick(token) => {
                (tick, origin) = (Some(token), Origin::Tick);
                (catch(|| Ok(self.own.timers.message_of(cell, token))), DropReason::StaleTimer)
            }
            Item::StashedTick(incarnation, message) => {
                origin = Origin::Tick;
                let stale = incarnation != head.incarnation();
                let message = match stale {
                    true => {
                        head.discard(MESSAGE_DROP, message);
                        None
                    }
                    false => Some(message),
                };
                (Ok(message), DropReason::StaleTimer)
            }
            Item::Notice(number, news) => {
                (catch(|| Ok(self.own.watching.message_of(number, *news))), DropReason::Unwatched)
            }
            Item::LinkNotice(news) => match head.link_failure(&news) {
                Some(why) => (Err(why), DropReason::Unwatched),
                None => (Ok(None), DropReason::Unwatched),
            },
            Item::Answer(incarnation, message) => {
                if incarnation != ANY_INCARNATION && incarnation != head.incarnation() {
                    head.counts.dead_lettered.add(1);
                    let reason = DeadLetterReason::StaleIncarnation;
                    cell.note_letter(id, reason, DiedIn::Mailbox, Some(&message));
                    head.discard(MESSAGE_DROP, message);
                    return Ran::Nothing;
                }
                origin = Origin::Answer(incarnation);
                (Ok(Some(message)), DropReason::StaleTimer)
            }
            Item::Drain => {
                head.counts.handled.add(1);
                return self.stop(cell, StopReason::Stopped, worker);
            }
        };
        match message {
            Ok(Some(message)) => self.run(cell, message, Hand { id, at, origin }, worker),
            Ok(None) => {
                head.counts.dropped_own.add(1);
                head.record(EventKind::Dropped { reason: stale, message: id });
                return Ran::Nothing;
            }
            Err(why) => self.failed(cell, why, id, None, worker),
        }
        if let Some(token) = tick {
            self.own.timers.rearm(cell, token);
        }
        Ran::UserCode
    }

    pub(super) fn run(&mut self, cell: &Arc<Cell<A::Msg>>, message: A::Msg, hand: Hand, worker: &mut Worker) {
        let head = &cell.head;
        let Hand { id, at: sent_at, .. } = hand;
        let logged = head.shared.log.wants(Level::Message);
        let began = if logged { head.shared.now() } else { Instant::ZERO };
        if logged {
            head.record(EventKind::Received { message: id, waited_ns: nanos(began - sent_at) });
        }
        let looked =
            catch(|| Ok((self.own.is_ignored(&message), self.props.keep.map(|keep| keep(&message)))));
        let (ignored, kept) = match looked {
            Ok(looked) => looked,
            Err(why) => {
                head.discard(MESSAGE_DROP, message);
                return self.failed(cell, why, id, None, worker);
            }
        };
        let breaks_silence = !ignored && hand.origin != Origin::Silence;
        let handler = self.handlers.last().copied().unwrap_or(A::receive);
        self.own.hand = hand;
        // Faults are planted where messages are logged.
        let ran = match logged && head.shared.faults.armed() && self.fault(cell, id) {
            true => {
                head.discard(MESSAGE_DROP, message);
                Err(Failure::new("fault", "the message was made to fail"))
            }
            false => self.with_instance(cell, worker, |instance, cx| handler(instance, cx, message)),
        };
        match ran {
            Ok(()) => {
                let stashed = self.own.hand.put_down();
                head.counts.handled.add(u64::from(!stashed));
                if self.own.silence.is_some() && breaks_silence && !stashed {
                    self.own.break_silence(cell);
                }
                if self.own.unhandled {
                    self.note_unhandled(cell, id, stashed);
                }
                if kept.is_some() {
                    head.discard(MESSAGE_DROP, kept);
                }
                head.settle_orphans(Fate::Handled);
                if logged && !stashed {
                    let took_ns = nanos(head.shared.now() - began);
                    head.record(EventKind::Handled { message: id, took_ns });
                }
                self.after_run(cell, worker);
            }
            Err(why) => self.failed(cell, why, id, kept, worker),
        }
    }

    #[cold]
    fn note_unhandled(&mut self, cell: &Arc<Cell<A::Msg>>, message: MsgId, stashed: bool) {
        self.own.unhandled = false;
        if stashed {
            return; // it is not handled at all, as yet
        }
        cell.head.counts.unhandled.add(1);
        cell.head.record(EventKind::Unhandled { message });
    }

    /// Lets what a test has planted befall this run; true if the run is to fail.
    #[cold]
    fn fault(&self, cell: &Arc<Cell<A::Msg>>, message: MsgId) -> bool {
        let head = &cell.head;
        let Some((slow, fails)) = head.shared.faults.on_handling(head.id) else { return false };
        if !slow.is_zero() {
            head.record(EventKind::FaultInjected { fault: FaultKind::Slow, message, value_ns: nanos(slow) });
            head.counts.busy_ns.add(nanos(slow));
            head.shared.dispatcher.work(slow, head.home);
        }
        if fails {
            head.record(EventKind::FaultInjected { fault: FaultKind::Fail, message, value_ns: 0 });
        }
        fails
    }

    /// Counts a run that failed on a message, and suspends the actor.
    fn failed(
        &mut self,
        cell: &Arc<Cell<A::Msg>>,
        why: Failure,
        id: MsgId,
        kept: Option<A::Msg>,
        worker: &mut Worker,
    ) {
        // A message that the run had stashed stays there: its fate is not this failure.
        let stashed = self.own.hand.put_down();
        cell.head.counts.failed.add(u64::from(!stashed));
        cell.head.settle_orphans(Fate::Failed(why.kind()));
        self.record_failed(cell, &why, id);
        self.fail(cell, why, kept, worker);
    }

    pub(super) fn record_failed(&self, cell: &Arc<Cell<A::Msg>>, why: &Failure, message: MsgId) {
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
        let asked = self.own.stop_asked || self.own.kill_asked || self.own.overflowed;
        if asked || !self.own.outbox.is_empty() || self.own.outbox.has_lost() {
            self.do_as_asked(cell, worker);
        }
    }

    #[inline(never)]
    fn do_as_asked(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        if self.own.outbox.has_lost() {
            let why = Failure::of(FailureKind::Overflow, "outbox", "more than 1,024 messages wait for room");
            self.record_failed(cell, &why, MsgId(0));
            return self.fail(cell, why, None, worker);
        }
        if self.own.stop_asked {
            self.own.stop_asked = false;
            if self.props.restart_type == RestartType::Permanent {
                let why = Failure::of(FailureKind::Exit, "exit", "a permanent actor stopped itself");
                self.record_failed(cell, &why, MsgId(0));
                return self.fail(cell, why, None, worker);
            }
            let me: Arc<dyn AnyCell> = cell.clone();
            return signal(&me, Signal::Stop(StopReason::Stopped), Some(worker));
        }
        if self.own.kill_asked {
            self.own.kill_asked = false;
            let why = Failure::of(FailureKind::Killed, "killed", "killed");
            self.record_failed(cell, &why, MsgId(0));
            return self.fail(cell, why, None, worker);
        }
        if std::mem::take(&mut self.own.overflowed) {
            self.own.gives_up = true;
            let why = Failure::of(FailureKind::Overflow, "mailbox", "the mailbox is full");
            self.record_failed(cell, &why, MsgId(0));
            return self.fail(cell, why, None, worker);
        }
        if !self.own.outbox.is_empty() {
            self.flush(cell, worker);
        }
    }

    pub(super) fn flush(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        if cell.head.is_forced() {
            return; // what waits is dropped, when the run has ended
        }
        let me: Arc<dyn AnyCell> = cell.clone();
        self.own.outbox.flush(&me, worker);
        self.open_or_shut(cell);
        let known = std::mem::replace(&mut self.own.awaiting, self.own.outbox.waits_on());
        if known != self.own.awaiting {
            cell.head.set_waits_on(self.own.awaiting);
        }
        match (known, self.own.awaiting) {
            (Some(target), None) => cell.head.record(EventKind::RoomFound { target }),
            (known, Some(target)) if known != Some(target) => {
                cell.head.record(EventKind::AwaitingRoom { target });
                deadlock::look_for_cycle(&cell.head);
            }
            _ => {}
        }
    }

    /// Sets whether the user lane is read, and the state that others see.
    pub(super) fn open_or_shut(&mut self, cell: &Arc<Cell<A::Msg>>) {
        let awaiting = !self.own.outbox.is_empty();
        let running = self.own.phase == Phase::Running;
        cell.mailbox.pause(!self.own.readable());
        self.own.pause_silence(cell, !running || self.own.suspends > 0);
        cell.head.set_state(match self.own.phase {
            Phase::New | Phase::Rearing => ActorState::Starting,
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

/// Room for messages that an actor's empty batch keeps without asking.
const BATCH_KEPT: usize = 16;

impl<M: Send + 'static> Own<M> {
    /// Lets go of the memory of an emptied batch, if that is much.
    #[inline]
    pub(super) fn slim_batch(&mut self, cell: &Arc<Cell<M>>) {
        if self.batch.is_empty() && self.batch.capacity() > BATCH_KEPT {
            cell.mailbox.slim_batch(&mut self.batch);
        }
    }

    /// Sees to it that the batch has the next message, if an activation may still handle one.
    pub(super) fn refill(&mut self, cell: &Arc<Cell<M>>, fresh: bool) {
        if fresh {
            let behind = self.take(cell);
            self.quota = u32::try_from(self.batch.len() + behind).unwrap_or(u32::MAX);
            if self.quota > 0 {
                cell.leave_feed();
            } else if let Some(fed) = cell.take_fed() {
                self.batch.push_back(fed);
                self.quota = 1;
            }
        } else if self.batch.is_empty() && self.quota > 0 {
            self.take(cell);
        }
    }

    fn take(&mut self, cell: &Arc<Cell<M>>) -> usize {
        let (behind, granted) = cell.mailbox.take(&mut self.batch);
        cell.carry_out(granted);
        behind
    }
}
