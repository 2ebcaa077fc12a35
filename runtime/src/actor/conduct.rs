//! How a parent carries out its decisions: restarts and stops of a group, one step after another.
//!
//! A one-for-one restart is a group of one. The steps: *halt* each member, last started first, each when the one before has
//! wholly stopped; wait for the delay; *begin* each in start order, each when the one before runs. A group that is to stop
//! goes through the first phase only.
//!
//! ```text
//!   Halting(i) ──ChildHalted / ChildStopped──▶ Halting(i-1) … ──▶ Waiting ──BackoffOver──▶ Beginning(i) ──ChildStarted──▶ …
//! ```
//! I1 a member is in at most one group; a new decision about it dissolves the old group and takes over its members. A stop
//!    that was decided stands, whatever is decided later, and so does the end of a delay.
//! I2 a member that ends by itself leaves its group, which goes on.

use std::sync::Arc;

use super::budget::order_stop;
use super::cell::{AnyCell, signal};
use super::failure::Report;
use super::head::Head;
use super::signal::Signal;
use crate::dispatch::{Due, Worker};
use crate::id::ActorId;
use crate::observe::{Decided, EventKind, StopReason};
use crate::supervise::{Directive, FailureKind, RestartLog, RestartType, Strategy, decide};
use crate::time::{Instant, TimerKey, nanos};

/// A parent's running restarts and stops, and its shared budget.
#[derive(Default)]
pub(crate) struct Conduct {
    groups: Vec<Group>,
    next_group: u64,
    shared_log: RestartLog,
    /// Children whose failure has become their parent's: the answer to that covers them.
    escalated: Vec<(ActorId, Report)>,
    /// Failures of kept children that came while their parent was being restarted.
    owed: Vec<(ActorId, Report)>,
}

struct Group {
    id: u64,
    failed: ActorId,
    report: Report,
    /// In start order.
    members: Vec<ActorId>,
    stage: Stage,
    /// Members that are stopped, not restarted, and why.
    stopping: Vec<(ActorId, StopReason)>,
    delay_ns: u64,
    /// When a delay ends that was decided on earlier.
    not_before: Option<Instant>,
    /// What rings when the delay is over.
    alarm: Option<TimerKey>,
}

/// What is decided for some children.
struct Decree {
    members: Vec<ActorId>,
    stop: bool,
    delay_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// `members[.0]` has been told to end its old instance; those behind it have.
    Halting(usize),
    Waiting,
    /// `members[.0]` has been told to make its new instance; those before it run.
    Beginning(usize),
}

/// What the parent must do besides.
pub(crate) enum Verdict {
    Done,
    /// The parent itself fails with this.
    Escalate(Report),
}

impl Conduct {
    /// Decides about a failed child and begins to carry it out.
    pub(crate) fn child_failed(
        &mut self,
        parent: &Head,
        me: &Arc<dyn AnyCell>,
        strategy: &Strategy,
        child: ActorId,
        report: Report,
        by: &mut Worker,
    ) -> Verdict {
        if self.groups.iter().any(|group| group.covers(child)) {
            return Verdict::Done; // it is being restarted or stopped anyway
        }
        let now = parent.shared.now();
        let Some((decided, cell)) = self.decide(parent, strategy, child, &report, now) else {
            return Verdict::Done; // it has ended meanwhile
        };
        let (taken, affected) = (decided.decision.taken, decided.affected.clone());
        let delay_ns = nanos(decided.decision.delay.delay);
        parent.record(EventKind::Decided(Box::new(decided)));
        match taken {
            Directive::Resume => signal(&cell, Signal::Continue, Some(by)),
            Directive::Escalate => {
                self.escalated.push((child, report.clone()));
                return Verdict::Escalate(report);
            }
            Directive::Restart | Directive::Stop => {
                let decree = Decree { members: affected, stop: taken == Directive::Stop, delay_ns };
                self.begin_group(parent, me, child, report, decree, by);
            }
        }
        Verdict::Done
    }

    fn decide(
        &mut self,
        parent: &Head,
        strategy: &Strategy,
        child: ActorId,
        report: &Report,
        now: Instant,
    ) -> Option<(Decided, Arc<dyn AnyCell>)> {
        let mut book = parent.children.lock();
        let ids = book.ids();
        let position = ids.iter().position(|id| *id == child)?;
        let entry = book.get_mut(child)?;
        let budget = if strategy.counts_per_supervisor() {
            entry.budget.counted_in(&mut self.shared_log)
        } else {
            entry.budget.own()
        };
        let restart_type = entry.restart_type;
        let decision = decide(strategy, report.kind, report.code, budget, now, &mut entry.rng, restart_type);
        // A temporary child is only stopped, alone: its siblings have done nothing.
        let alone = restart_type == RestartType::Temporary && !decision.exhausted;
        let affected = match alone && decision.asked == Directive::Restart {
            true => vec![child],
            false => ids[decision.affected(position, ids.len())].to_vec(),
        };
        let cell = entry.cell.clone();
        let head = cell.head();
        let decided = Decided {
            supervisor: parent.id,
            supervisor_path: parent.path.clone(),
            child,
            path: head.path.clone(),
            incarnation: head.incarnation.load(crate::sync::Ordering::Relaxed),
            kind: report.kind,
            code: report.code,
            text: report.text.clone(),
            decision,
            affected,
            at: now,
        };
        Some((decided, cell))
    }

    fn begin_group(
        &mut self,
        parent: &Head,
        me: &Arc<dyn AnyCell>,
        failed: ActorId,
        report: Report,
        decree: Decree,
        by: &mut Worker,
    ) {
        let Decree { mut members, stop, delay_ns } = decree;
        let shares = |group: &mut Group| group.members.iter().any(|member| members.contains(member));
        let mut old: Vec<Group> = self.groups.extract_if(.., shares).collect();
        old.iter_mut().for_each(|group| group.silence(parent));
        let not_before = old.iter().filter_map(|group| group.not_before).max();
        let mut stopping: Vec<_> = old.iter().flat_map(|group| group.stopping.iter().copied()).collect();
        if stop {
            let reason = |member| match member == failed {
                true => StopReason::failed(report.kind),
                false => StopReason::Stopped,
            };
            stopping.extend(members.iter().map(|member| (*member, reason(*member))));
        }
        members.extend(old.into_iter().flat_map(|group| group.members));
        members.sort_unstable();
        members.dedup();
        self.next_group += 1;
        let (id, stage) = (self.next_group, Stage::Halting(members.len()));
        let mut group =
            Group { id, failed, report, members, stage, stopping, delay_ns, not_before, alarm: None };
        if group.advance(parent, me, by) {
            self.groups.push(group);
        }
    }

    /// Notes that a child has taken its step, or has ended, and lets its group go on.
    pub(crate) fn child_moved(
        &mut self,
        parent: &Head,
        me: &Arc<dyn AnyCell>,
        moved: Moved,
        by: &mut Worker,
    ) {
        let Some(index) = self.groups.iter().position(|group| group.members.contains(&moved.child())) else {
            return;
        };
        let group = &mut self.groups[index];
        if group.moved(moved) && !group.advance(parent, me, by) {
            self.groups.swap_remove(index).silence(parent);
        }
    }

    /// The delay of a group is over.
    pub(crate) fn backoff_over(&mut self, parent: &Head, me: &Arc<dyn AnyCell>, id: u64, by: &mut Worker) {
        let waiting = |group: &Group| group.id == id && group.stage == Stage::Waiting;
        let Some(index) = self.groups.iter().position(waiting) else { return };
        self.groups[index].stage = Stage::Beginning(0);
        if !self.groups[index].advance(parent, me, by) {
            self.groups.swap_remove(index);
        }
    }

    /// The parent goes on as it is, after a failure that was that of children: so do they.
    pub(crate) fn resume_escalated(&mut self, parent: &Head, by: &mut Worker) {
        for (child, _) in self.escalated.drain(..) {
            let cell = parent.children.lock().cell(child);
            if let Some(cell) = cell {
                signal(&cell, Signal::Continue, Some(by));
            }
        }
    }

    /// Notes the failure of a kept child that will be decided on when its parent runs again.
    pub(crate) fn owe(&mut self, child: ActorId, report: Report) {
        self.owed.push((child, report));
    }

    /// The parent was restarted and has kept its children: those whose failure it had made its own are restarted as well.
    /// Gives the failures that nobody has decided on yet.
    pub(crate) fn kept(
        &mut self,
        parent: &Head,
        me: &Arc<dyn AnyCell>,
        by: &mut Worker,
    ) -> Vec<(ActorId, Report)> {
        for (child, report) in std::mem::take(&mut self.escalated) {
            let decree = Decree { members: vec![child], stop: false, delay_ns: 0 };
            self.begin_group(parent, me, child, report, decree, by);
        }
        std::mem::take(&mut self.owed)
    }

    /// Forgets all groups: the parent stops its children itself.
    pub(crate) fn clear(&mut self, parent: &Head) {
        self.groups.drain(..).for_each(|mut group| group.silence(parent));
        self.escalated.clear();
        self.owed.clear();
        self.shared_log = RestartLog::new();
    }
}

/// The news of one child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    Halted(ActorId),
    Started(ActorId),
    Stopped(ActorId),
}

impl Moved {
    fn child(self) -> ActorId {
        match self {
            Moved::Halted(child) | Moved::Started(child) | Moved::Stopped(child) => child,
        }
    }
}

impl Group {
    /// Is true if `child` is still to be halted, or halted and not begun: its failure is answered by this group.
    fn covers(&self, child: ActorId) -> bool {
        let Some(index) = self.members.iter().position(|member| *member == child) else { return false };
        match self.stage {
            Stage::Halting(_) | Stage::Waiting => true,
            Stage::Beginning(at) => index > at,
        }
    }

    /// Notes the step of one member; true if it is the one that the group waits for.
    fn moved(&mut self, moved: Moved) -> bool {
        let child = moved.child();
        let Some(index) = self.members.iter().position(|member| *member == child) else { return false };
        match (moved, self.stage) {
            (Moved::Halted(_), Stage::Halting(at)) => at == index,
            (Moved::Started(_), Stage::Beginning(at)) => {
                if at == index {
                    self.stage = Stage::Beginning(at + 1);
                }
                at == index
            }
            (Moved::Stopped(_), _) => {
                self.members.remove(index);
                match self.stage {
                    Stage::Halting(at) if index < at => {
                        self.stage = Stage::Halting(at - 1);
                        false
                    }
                    Stage::Halting(at) => index == at,
                    Stage::Waiting => self.members.is_empty(),
                    Stage::Beginning(at) if index < at => {
                        self.stage = Stage::Beginning(at - 1);
                        false
                    }
                    Stage::Beginning(at) => index == at,
                }
            }
            _ => false,
        }
    }

    /// Takes the next step; false if the group is done. Members that have vanished are passed over.
    fn advance(&mut self, parent: &Head, me: &Arc<dyn AnyCell>, by: &mut Worker) -> bool {
        loop {
            match self.stage {
                Stage::Halting(0) => {
                    let stopping = std::mem::take(&mut self.stopping);
                    self.members.retain(|member| !stopping.iter().any(|(stopped, _)| stopped == member));
                    if self.members.is_empty() {
                        return false;
                    }
                    self.stage = Stage::Waiting;
                    self.wait(parent, me);
                    return true;
                }
                Stage::Halting(at) => {
                    self.stage = Stage::Halting(at - 1);
                    let told = match self.ends(parent, at - 1) {
                        Some(reason) => self.stop_member(parent, at - 1, reason, by),
                        None => self.tell(parent, at - 1, Signal::Halt(self.report_for(at - 1)), by),
                    };
                    if told {
                        return true;
                    }
                }
                Stage::Waiting => return !self.members.is_empty(),
                Stage::Beginning(at) if at >= self.members.len() => return false,
                Stage::Beginning(at) => {
                    if self.tell(parent, at, Signal::Begin, by) {
                        return true;
                    }
                    self.stage = Stage::Beginning(at + 1);
                }
            }
        }
    }

    /// Tells a member something; false if it has vanished.
    fn tell(&self, parent: &Head, at: usize, what: Signal, by: &mut Worker) -> bool {
        // Bound before it is used: the book's lock is free when the signal is sent.
        let cell = parent.children.lock().cell(self.members[at]);
        let Some(cell) = cell else { return false };
        signal(&cell, what, Some(by));
        true
    }

    /// Stops a member within its budget; false if it has vanished.
    fn stop_member(&self, parent: &Head, at: usize, reason: StopReason, by: &mut Worker) -> bool {
        let member = {
            let mut book = parent.children.lock();
            book.get_mut(self.members[at]).map(|child| (child.cell.clone(), child.shutdown))
        };
        let Some((cell, budget)) = member else { return false };
        order_stop(&cell, reason, budget, Some(by));
        true
    }

    /// Gives the reason with which this member is stopped; nothing if it is restarted. A temporary one is never restarted.
    fn ends(&self, parent: &Head, at: usize) -> Option<StopReason> {
        let member = self.members[at];
        if let Some((_, reason)) = self.stopping.iter().find(|(stopped, _)| *stopped == member) {
            return Some(*reason);
        }
        let mut book = parent.children.lock();
        let temporary = book.get_mut(member).is_some_and(|c| c.restart_type == RestartType::Temporary);
        temporary.then(|| match member == self.failed {
            true => StopReason::failed(self.report.kind),
            false => StopReason::Stopped,
        })
    }

    fn report_for(&self, at: usize) -> Report {
        let mut report = self.report.clone();
        if self.members[at] != self.failed {
            report.kind = FailureKind::Sibling;
        }
        report
    }

    /// Disarms the timer of the delay, if it runs.
    fn silence(&mut self, parent: &Head) {
        if let Some(alarm) = self.alarm.take() {
            parent.shared.dispatcher.cancel_timer(alarm);
        }
    }

    fn wait(&mut self, parent: &Head, me: &Arc<dyn AnyCell>) {
        let (me, id) = (me.clone(), self.id);
        let now = parent.shared.now();
        let own = now + std::time::Duration::from_nanos(self.delay_ns);
        let due = self.not_before.map_or(own, |earlier| earlier.max(own));
        if due == now {
            signal(&me, Signal::BackoffOver(id), None);
            return;
        }
        self.not_before = Some(due);
        for member in &self.members {
            parent.shared.record(*member, EventKind::BackoffBegan { delay_ns: nanos(due - now) });
        }
        let over = move || signal(&me, Signal::BackoffOver(id), None);
        self.alarm = parent.shared.dispatcher.set_timer(due, Due::Call(Box::new(over)));
    }
}
