//! One actor's life behind its cell: every step of its life cycle. What a worker runs of it is in `activation`.
//!
//! ```text
//!  New ──Start──▶ Running ◀──Continue── Failed ──Halt──▶ Halting ──children gone──▶ Halted ──Begin──▶ Running
//!                    │  run failed ▲──────┘                 ▲                                (incarnation + 1)
//!                    └─────────────────────────Halt (group)─┘
//!  any ──Stop──▶ Stopping ──children gone──▶ Ended
//! ```
//! I1 a new instance is made only in [`Life::begin`], and only when there is no old one.
//! I2 the user lane is read only in Running, with no suspension from above, and with an empty outbox.
//! I3 on each instance that was made exactly one of `pre_restart` and `stopped` is called.
//! I4 a message is moved out of the mailbox before it is handled, so a failing run cannot leave it there.

use std::collections::VecDeque;
use std::sync::Arc;

use super::cell::{AnyCell, Cell, Fate, Item, MESSAGE_DROP, signal};
use super::conduct::{Conduct, Moved, Verdict};
use super::declared::Rearing;
use super::failure::{Failure, Report, catch};
use super::handlers::Handler;
use super::outbox::Outbox;
use super::path::SpawnError;
use super::ready::Ready;
use super::receive_timeout::Silence;
use super::signal::Signal;
use super::stash::{Hand, Stash};
use super::tasks::Tasks;
use super::timers::Timers;
use super::watch::Watching;
use super::{Actor, Props};
use crate::dispatch::Worker;
use crate::id::ActorId;
use crate::mailbox::Envelope;
use crate::observe::{EventKind, StopReason};
use crate::rng::Rng;
use crate::supervise::{FailureKind, RestartType};
use crate::sync::Ordering;

/// The behaviour of a cell: an actor, or the room for one.
pub(crate) struct Life<A: Actor> {
    pub(super) props: Props<A>,
    pub(super) instance: Option<A>,
    /// What handles messages in place of `receive`, the last one first.
    pub(super) handlers: Vec<Handler<A>>,
    /// Why the present or last instance failed, and the message that it failed on.
    pub(super) failing: Option<(Failure, Option<A::Msg>)>,
    pub(super) own: Own<A::Msg>,
}

/// What an actor owns besides its state; what a [`Context`] gives access to.
pub(crate) struct Own<M> {
    pub(super) timers: Timers<M>,
    pub(super) silence: Option<Box<Silence<M>>>,
    pub(super) stash: Stash<M>,
    /// The message that the present run is about.
    pub(super) hand: Hand,
    pub(super) watching: Watching<M>,
    pub(super) outbox: Outbox,
    pub(super) rng: Rng,
    pub(super) tasks: Tasks,
    pub(super) stop_asked: bool,
    pub(super) conduct: Conduct,
    pub(super) batch: VecDeque<Envelope<Item<M>>>,
    pub(super) quota: u32,
    pub(super) suspends: u32,
    pub(super) phase: Phase,
    pub(super) ever_ran: bool,
    /// An ending hook was called on the present instance.
    pub(super) said_goodbye: bool,
    /// A kill came when it could not be carried out; it will be when the actor runs.
    pub(super) kill_asked: bool,
    /// The present run has no use for its message.
    pub(super) unhandled: bool,
    /// A message was dropped by the full mailbox, and the actor is to fail for it.
    pub(super) overflowed: bool,
    /// The present failure is that of a full mailbox: a restart gives the queue up.
    pub(super) gives_up: bool,
    /// Whom the outbox is known to wait for.
    pub(super) awaiting: Option<ActorId>,
    /// Which state the actor says that it is in.
    pub(super) doing: Option<Arc<str>>,
    /// Who waits for the first run.
    pub(super) ready: Option<Ready>,
    /// How far the start of the declared children has come.
    pub(super) rearing: Option<Box<Rearing>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    New,
    /// The instance has started, its declared children have not all.
    Rearing,
    Running,
    Failed,
    Halting,
    Halted,
    Stopping(StopReason),
    Ended,
}

/// Who asked for a new instance.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Whoever made the actor.
    Spawned,
    /// The supervisor, who waits for the news that it runs.
    Supervised,
}

/// Whether something ran user code, and so is a turn of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ran {
    UserCode,
    Nothing,
}

impl<A: Actor> Life<A> {
    /// Makes the life of an actor that begins under `suspends` suspensions from above.
    pub(crate) fn new(props: Props<A>, rng: Rng, suspends: u32) -> Self {
        let own = Own {
            timers: Timers::default(),
            silence: None,
            stash: Stash::new(props.stash),
            hand: Hand::EMPTY,
            watching: Watching::default(),
            outbox: Outbox::default(),
            rng,
            tasks: Tasks::default(),
            stop_asked: false,
            conduct: Conduct::default(),
            batch: VecDeque::new(),
            quota: 0,
            suspends,
            phase: Phase::New,
            ever_ran: false,
            said_goodbye: false,
            kill_asked: false,
            overflowed: false,
            unhandled: false,
            gives_up: false,
            awaiting: None,
            doing: None,
            ready: None,
            rearing: None,
        };
        Life { props, instance: None, handlers: Vec::new(), failing: None, own }
    }

    /// Handles signals until one has run user code or none is left; true if one has.
    pub(super) fn signals(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) -> Ran {
        while let Some(next) = cell.mailbox.next_signal() {
            if self.signal(cell, next, worker) == Ran::UserCode {
                return Ran::UserCode;
            }
            if self.own.phase == Phase::Ended {
                break;
            }
        }
        Ran::Nothing
    }

    fn signal(&mut self, cell: &Arc<Cell<A::Msg>>, what: Signal, worker: &mut Worker) -> Ran {
        let me: Arc<dyn AnyCell> = cell.clone();
        let head = &cell.head;
        match what {
            Signal::Start if self.own.phase == Phase::New => return self.begin(cell, Order::Spawned, worker),
            Signal::Begin if self.own.phase == Phase::Halted => {
                return self.begin(cell, Order::Supervised, worker);
            }
            Signal::Stop(reason) => return self.stop(cell, reason, worker),
            Signal::Kill => {
                self.own.kill_asked = true;
                if self.own.phase == Phase::Running {
                    self.after_run(cell, worker);
                }
            }
            Signal::Overflow => {
                self.own.overflowed = true;
                if self.own.phase == Phase::Running {
                    self.after_run(cell, worker);
                }
            }
            Signal::Halt(report) => return self.halt(cell, report, worker),
            Signal::Continue if self.own.phase == Phase::Failed => return self.go_on(cell, worker),
            Signal::Suspend => {
                self.suspend(cell, 1);
                self.suspend_children(cell, worker);
                self.open_or_shut(cell);
                head.record(EventKind::Suspended);
            }
            Signal::Resume => {
                self.suspend(cell, -1);
                self.resume_children(cell, worker);
                self.open_or_shut(cell);
                head.record(EventKind::Resumed);
            }
            Signal::ChildFailed(child, report) => return self.child_failed(cell, child, report, worker),
            Signal::ChildHalted(child) => {
                self.own.conduct.child_moved(head, &me, Moved::Halted(child), worker)
            }
            Signal::ChildStarted(child) => {
                self.own.conduct.child_moved(head, &me, Moved::Started(child), worker);
                self.child_started(cell, child, worker);
            }
            Signal::ChildStopped(child) => {
                self.own.conduct.child_moved(head, &me, Moved::Stopped(child), worker);
                self.child_ended(cell, child, worker);
                return self.child_gone(cell, worker);
            }
            Signal::BackoffOver(group) => self.own.conduct.backoff_over(head, &me, group, worker),
            Signal::Watch(watcher, registration) => head.mourners.lock().add(watcher, registration),
            Signal::Unwatch(watcher) => head.mourners.lock().remove(watcher),
            Signal::TellReady(tell) => self.tell_ready(tell),
            Signal::OnEnd(call) => head.mourners.lock().call(call),
            Signal::Abandoned => return self.abandoned(cell, worker),
            Signal::Flush => self.flush(cell, worker),
            Signal::Notice(registration, news) => self.overtake(cell, registration, news),
            Signal::Start | Signal::Begin | Signal::Continue => {}
        }
        Ran::Nothing
    }

    // --- start -------------------------------------------------------------------------------------------------------

    /// Makes an instance and runs its first hook.
    fn begin(&mut self, cell: &Arc<Cell<A::Msg>>, order: Order, worker: &mut Worker) -> Ran {
        assert!(self.instance.is_none(), "I1: the old instance is gone before a new one is made");
        let head = &cell.head;
        let incarnation = head.incarnation.load(Ordering::Relaxed) + 1;
        head.incarnation.store(incarnation, Ordering::Relaxed);
        head.children.lock().open(self.props.keep_children);
        cell.carry_out(cell.mailbox.hold(None));
        let failure = self.failing.take().map(|(failure, message)| {
            head.discard(MESSAGE_DROP, message);
            failure
        });
        let made = catch(|| (self.props.factory)());
        let started = made.and_then(|instance| {
            self.instance = Some(instance);
            self.with_instance(cell, worker, |instance, cx| match &failure {
                Some(why) => instance.post_restart(cx, why),
                None => instance.started(cx),
            })
        });
        match started {
            Ok(()) => self.rear(cell, incarnation, order, worker),
            Err(why) => {
                let why = why.with_kind(FailureKind::Start);
                self.record_failed(cell, &why, crate::id::MsgId(0));
                head.settle_orphans(Fate::Failed(FailureKind::Start));
                self.fail(cell, why, None, worker);
            }
        }
        Ran::UserCode
    }

    pub(super) fn running(
        &mut self,
        cell: &Arc<Cell<A::Msg>>,
        incarnation: u32,
        order: Order,
        worker: &mut Worker,
    ) {
        let head = &cell.head;
        let restart = self.own.ever_ran || incarnation > 1;
        self.own.phase = Phase::Running;
        self.own.ever_ran = true;
        if let Some(parent) = &head.parent {
            let mut awaited = order == Order::Supervised;
            if let Some(child) = parent.head().children.lock().get_mut(head.id) {
                child.budget.running(head.shared.now());
                awaited |= child.declared;
            }
            if awaited {
                signal(parent, Signal::ChildStarted(head.id), Some(worker));
            }
        }
        head.counts.restarts.add(u64::from(restart));
        head.record(if restart { EventKind::Restarted { incarnation } } else { EventKind::Started });
        self.is_ready();
        self.open_or_shut(cell);
        self.after_run(cell, worker);
        if self.props.keep_children && self.own.phase == Phase::Running {
            self.go_on_with_kept(cell, worker);
        }
        self.auto_shutdown(cell, worker);
    }

    // --- failure and restart -----------------------------------------------------------------------------------------

    /// Suspends this actor and everything below it, and tells the parent.
    pub(super) fn fail(
        &mut self,
        cell: &Arc<Cell<A::Msg>>,
        mut why: Failure,
        message: Option<A::Msg>,
        worker: &mut Worker,
    ) {
        let head = &cell.head;
        self.own.unhandled = false;
        self.count_lost(cell);
        let report = why.report();
        let message = match why.take_message() {
            Some(returned) => {
                head.discard(MESSAGE_DROP, message);
                Some(returned)
            }
            None => message,
        };
        self.failing = Some((why, message));
        self.own.phase = Phase::Failed;
        self.open_or_shut(cell);
        self.hold_children(cell, worker);
        match &head.parent {
            Some(parent) => signal(parent, Signal::ChildFailed(head.id, report), Some(worker)),
            None => {
                head.shared.escalated.lock().get_or_insert(report);
                let me: Arc<dyn AnyCell> = cell.clone();
                signal(&me, Signal::Stop(StopReason::SystemShutdown), Some(worker));
            }
        }
    }

    /// Counts what found the outbox full in the present run.
    pub(super) fn count_lost(&mut self, cell: &Arc<Cell<A::Msg>>) {
        let lost = self.own.outbox.take_lost();
        cell.head.counts.outbox_overflow(&cell.head, lost);
    }

    pub(super) fn child_failed(
        &mut self,
        cell: &Arc<Cell<A::Msg>>,
        child: ActorId,
        report: Report,
        worker: &mut Worker,
    ) -> Ran {
        match self.own.phase {
            Phase::Running | Phase::Failed => {}
            Phase::Rearing => self.note_failed_start(child, &report),
            Phase::Halting | Phase::Halted if self.props.keep_children => {
                self.own.conduct.owe(child, report);
                return Ran::Nothing;
            }
            _ => return Ran::Nothing, // all children are being stopped anyway
        }
        let me: Arc<dyn AnyCell> = cell.clone();
        let strategy = self.props.strategy.clone();
        match self.own.conduct.child_failed(&cell.head, &me, &strategy, child, report, worker) {
            Verdict::Done => {}
            Verdict::Escalate(report) if self.own.phase == Phase::Running => {
                let text = format!("a child failed: {}", report.text);
                let why = Failure::of(FailureKind::Escalated, report.code, &text);
                self.record_failed(cell, &why, crate::id::MsgId(0));
                self.fail(cell, why, None, worker);
            }
            Verdict::Escalate(report) if self.own.phase == Phase::Rearing => {
                self.not_reared(cell, Some(&report), worker);
            }
            Verdict::Escalate(_) => {} // this actor has failed itself: the answer to that covers the child
        }
        Ran::Nothing
    }

    /// The supervisor's answer is Resume: goes on with the state as it is, and so do the children.
    fn go_on(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) -> Ran {
        let head = &cell.head;
        if let Some((why, message)) = self.failing.take() {
            if why.kind() == FailureKind::Start {
                self.failing = Some((why, message));
                return self.stop(cell, StopReason::Stopped, worker); // there is no state to go on with
            }
            let kind = why.kind();
            head.discard(MESSAGE_DROP, (why, message));
            head.settle_orphans(Fate::Failed(kind));
        }
        self.own.phase = Phase::Running;
        self.own.gives_up = false;
        self.release_children(cell, worker);
        self.own.conduct.resume_escalated(head, worker);
        self.open_or_shut(cell);
        head.record(EventKind::Resumed);
        self.after_run(cell, worker);
        self.auto_shutdown(cell, worker)
    }

    /// Ends the old instance: the first half of a restart.
    fn halt(&mut self, cell: &Arc<Cell<A::Msg>>, report: Report, worker: &mut Worker) -> Ran {
        match self.own.phase {
            Phase::Running | Phase::Rearing | Phase::Failed => {}
            Phase::Halted | Phase::New => {
                self.own.phase = Phase::Halted;
                self.tell_parent(cell, Signal::ChildHalted(cell.head.id), worker);
                return Ran::Nothing;
            }
            Phase::Halting | Phase::Stopping(_) | Phase::Ended => return Ran::Nothing,
        }
        let (why, message) = self.failing.take().unwrap_or_else(|| (Failure::from_report(report), None));
        self.own.phase = Phase::Halting;
        self.own.rearing = None;
        if self.props.keep_children {
            self.hold_children(cell, worker);
        }
        self.own.said_goodbye = true;
        cell.head.children.lock().close(SpawnError::ParentRestarting);
        self.open_or_shut(cell);
        cell.head.record(EventKind::RestartBegan);
        let ran =
            self.hook(cell, worker, "pre_restart", |instance, cx| instance.pre_restart(cx, &why, message));
        self.failing = Some((why, None));
        if self.props.keep_children {
            self.halted(cell, worker);
            return ran;
        }
        self.own.conduct.clear(&cell.head);
        self.next_child_or(cell, worker);
        ran
    }

    /// The children are gone, or kept: drops what belonged to the old incarnation, then the instance itself.
    pub(super) fn halted(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        self.own.end_time(cell);
        self.own.tasks.cancel_own();
        self.handlers.clear();
        self.own.doing = None;
        self.own.unstash(cell, usize::MAX);
        self.drop_instance(cell);
        if let Some((why, _)) = &self.failing {
            // Reply handles that the state held have died of its failure.
            cell.head.settle_orphans(Fate::Failed(why.kind()));
        }
        self.own.phase = Phase::Halted;
        if std::mem::take(&mut self.own.stop_asked) && self.props.restart_type != RestartType::Permanent {
            // It had asked to stop before it failed, or in its last hook: a stop is never undone.
            self.stop(cell, StopReason::Stopped, worker);
            return;
        }
        self.open_or_shut(cell);
        self.give_up_queue(cell);
        cell.carry_out(cell.mailbox.hold(Some(self.props.hold as usize)));
        self.tell_parent(cell, Signal::ChildHalted(cell.head.id), worker);
    }
}

impl<M> Own<M> {
    /// I2: says whether a user message may be handled now.
    pub(super) fn readable(&self) -> bool {
        self.phase == Phase::Running && self.suspends == 0 && self.outbox.is_empty() && !self.stop_asked
    }
}
