//! What an actor's props do not name is as the system's dialect says.
//!
//! I1 what was named stands, whatever the dialect; it is settled once, when the actor is made.

use std::sync::Arc;

use super::cell::{Cell, Fate, Item};
use super::life::{Life, Phase};
use super::{Actor, Props, Terminated};
use crate::mailbox::Envelope;
use crate::observe::{DeadLetterReason, DropReason};
use crate::supervise::{Dialect, MailboxOnRestart, StopOrder};

/// Which of the settings that a dialect is about were named.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Named {
    pub(super) strategy: bool,
    pub(super) restart_type: bool,
    stop_order: bool,
    on_restart: bool,
}

impl<A: Actor> Props<A> {
    /// Stops this actor's children all at once, and not one after another, last started first.
    pub fn stop_parallel(self) -> Self {
        self.stop_order(StopOrder::Parallel)
    }

    /// Stops this actor's children in this order, when it stops or restarts.
    pub fn stop_order(mut self, order: StopOrder) -> Self {
        self.stop_order = order;
        self.named.stop_order = true;
        self
    }

    /// Says what becomes of this actor's queued messages when it is restarted (default: they are kept).
    pub fn mailbox_on_restart(mut self, mailbox: MailboxOnRestart) -> Self {
        self.on_restart = mailbox;
        self.named.on_restart = true;
        self
    }

    /// Takes from `dialect` what was not named (I1).
    pub(super) fn settle(mut self, dialect: Dialect) -> Self {
        if dialect == Dialect::Footlights {
            return self;
        }
        if !self.named.strategy {
            self.strategy = dialect.strategy();
        }
        if !self.named.restart_type {
            self.restart_type = dialect.restart_type();
        }
        if !self.named.stop_order {
            self.stop_order = dialect.stop_order();
        }
        if !self.named.on_restart {
            self.on_restart = dialect.mailbox_on_restart();
        }
        self
    }
}

impl<A: Actor> Life<A> {
    /// The old instance is gone: gives its queue up, if it has failed for that, or if restarts do.
    pub(super) fn give_up_queue(&mut self, cell: &Arc<Cell<A::Msg>>) {
        let (reason, fate) = match self.props.on_restart {
            _ if std::mem::take(&mut self.own.gives_up) => {
                (DeadLetterReason::Overflow, Fate::Dropped(DropReason::MailboxFull))
            }
            MailboxOnRestart::Discarded => (DeadLetterReason::Discarded, Fate::Stopped),
            MailboxOnRestart::Kept => return,
        };
        cell.give_up_queue(&mut self.own.batch, reason, fate);
    }

    /// Puts a notice before all that is queued, behind the notices that are there already.
    pub(super) fn overtake(&mut self, cell: &Arc<Cell<A::Msg>>, registration: u64, news: Box<Terminated>) {
        if matches!(self.own.phase, Phase::Stopping(_) | Phase::Ended) {
            return;
        }
        let (id, at) = cell.head.take_in_by_stash();
        let notices = self.own.batch.iter().take_while(|queued| matches!(queued.item, Item::Notice(..)));
        let behind = notices.count();
        self.own.batch.insert(behind, Envelope { item: Item::Notice(registration, news), id, at });
        if self.own.quota > 0 {
            self.own.quota = self.own.quota.saturating_add(1);
        }
    }
}
