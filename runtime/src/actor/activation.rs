//! One activation: signals first, then the messages of a batch, up to the run's limit.
//!
//! I1 before every message the system lane is looked at, so that a stop or a suspension takes effect at once.
//! I2 an activation handles no more messages than were queued at its begin; those that come meanwhile are for the next one.
//! I3 a run that has charged time stays scheduled until that time is over ([`Next::Busy`]): nobody else may be let in.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Actor;
use super::cell::{AnyCell, Behaviour, Cell, Item};
use super::head::Head;
use super::life::{Life, Phase, Ran};
use crate::dispatch::{Next, Run};
use crate::mailbox::Envelope;
use crate::sync::Ordering;
use crate::time::Instant;

impl<A: Actor> Behaviour<A::Msg> for Life<A> {
    fn activate(&mut self, cell: &Arc<Cell<A::Msg>>, run: &mut Run<'_>) -> Next {
        let head = &cell.head;
        let outer = head.shared.log.set_current(head.id);
        head.enter(run.worker);
        let before = run.worker.running.set(head.id);
        if head.under_watch.load(Ordering::Relaxed) {
            head.clock_on(&(cell.clone() as Arc<dyn AnyCell>));
        }
        self.turns(cell, run);
        head.leave();
        run.worker.running.set(before);
        head.shared.log.set_current(outer);
        // A run that charged time lasts until then: nobody may be let in before, so the mailbox stays scheduled.
        match head.shared.dispatcher.later() {
            Some(until) if self.own.phase != Phase::Ended => {
                head.hold_run(true);
                head.hold(&(cell.clone() as Arc<dyn AnyCell>), until);
                Next::Busy
            }
            _ => self.finish(cell),
        }
    }

    fn finish(&mut self, cell: &Arc<Cell<A::Msg>>) -> Next {
        if self.own.phase == Phase::Ended {
            return Next::Idle;
        }
        self.own.slim_batch(cell);
        if cell.head.under_watch.load(Ordering::Relaxed) {
            cell.head.clock_off();
        }
        cell.head.hold_run(false);
        match cell.mailbox.finish(!self.own.batch.is_empty()) {
            false if cell.rest(self.own.readable()) => Next::Yield,
            false => Next::Idle,
            true if self.own.quota > 0 && self.own.readable() => Next::More,
            true => Next::Yield,
        }
    }

    fn batch(&self) -> (usize, Option<Instant>) {
        (self.own.batch.len(), self.own.batch.front().map(|envelope| envelope.at))
    }

    fn outbox(&self) -> usize {
        self.own.outbox.len()
    }

    fn readable_batch(&mut self) -> Option<&mut VecDeque<Envelope<Item<A::Msg>>>> {
        self.own.readable().then_some(&mut self.own.batch)
    }

    fn doing(&self) -> Option<Arc<str>> {
        self.own.doing.clone()
    }

    fn dismantle(&mut self, head: &Head) {
        self.let_fall(head);
    }
}

impl<A: Actor> Life<A> {
    /// Handles signals and messages up to the run's limit, and to the end of the activation's batch.
    fn turns(&mut self, cell: &Arc<Cell<A::Msg>>, run: &mut Run<'_>) {
        let mut fresh = run.fresh;
        loop {
            if self.signals(cell, run.worker) == Ran::UserCode {
                run.limit = run.limit.saturating_sub(1);
            } else if run.limit == 0 || !self.own.readable() {
                return;
            } else {
                self.own.refill(cell, fresh);
                fresh = false;
                let next = (self.own.quota > 0).then(|| self.own.batch.pop_front()).flatten();
                let Some(envelope) = next else {
                    self.own.quota = 0;
                    return;
                };
                self.own.quota -= 1;
                if self.receive(cell, envelope, run.worker) == Ran::UserCode {
                    run.limit -= 1;
                }
            }
            if let Some(ns) = run.worker.overdue() {
                cell.head.ran_long(ns);
            }
            if run.limit == 0 {
                return;
            }
        }
    }
}
