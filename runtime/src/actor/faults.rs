//! Faults on order: what a test has planted in a system, looked up when a message is sent or handled.
//!
//! They exist on a Stepper only, where messages are numbered, and cost one branch on a number that is at hand; a system without
//! faults pays one load more.
//! I1 a fault is an event (FaultInjected) on the actor that it hits, and every message that it takes away has its fate in the
//!    ledger.
//! I2 faults lie on *links*, from one sender to one receiver, and on *actors*. What an actor has ordered itself (ticks, notices,
//!    answers) runs on no link.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::cell::{Cell, Item};
use super::doors::{Door, Logged, Refusal};
use super::failure::catch;
use crate::dispatch::Worker;
use crate::id::ActorId;
use crate::mailbox::{Envelope, Ticket};
use crate::observe::{DropReason, EventKind, FaultKind};
use crate::sync::{AtomicBool, Mutex, Ordering};
use crate::time::{Instant, nanos};

/// All faults of a system.
#[derive(Default)]
pub(crate) struct Faults {
    armed: AtomicBool,
    planted: Mutex<Planted>,
}

#[derive(Default)]
struct Planted {
    actors: BTreeMap<ActorId, ActorFault>,
    links: BTreeMap<(ActorId, ActorId), Vec<LinkFault>>,
}

/// What happens to an actor's handling.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ActorFault {
    /// The message after so many fails.
    pub(crate) fail_after: Option<u64>,
    /// Each message costs so much more.
    pub(crate) slow: Duration,
}

/// What happens to the next messages on a link.
pub(crate) struct LinkFault {
    pub(crate) messages: u64,
    pub(crate) what: Mishap,
}

/// What happens to one message on a link.
pub(crate) enum Mishap {
    Drop,
    /// It arrives twice; how to copy it is a `fn(&M) -> M`.
    Double(Box<dyn Any + Send>),
    Delay(Duration),
}

/// What is to be done with one message of type `M`.
pub(crate) enum Hit<M> {
    Drop,
    Double(fn(&M) -> M),
    Delay(Duration),
}

impl Faults {
    /// Is true if anything is planted.
    pub(crate) fn armed(&self) -> bool {
        // Ordering: Relaxed, meaningful on a Stepper only, which has one thread.
        self.armed.load(Ordering::Relaxed)
    }

    pub(crate) fn plant_on_actor(&self, actor: ActorId, change: impl FnOnce(&mut ActorFault)) {
        change(self.planted.lock().actors.entry(actor).or_default());
        self.armed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn plant_on_link(&self, from: ActorId, to: ActorId, fault: LinkFault) {
        self.planted.lock().links.entry((from, to)).or_default().push(fault);
        self.armed.store(true, Ordering::Relaxed);
    }

    /// Says what befalls the message that an actor is about to handle: a delay, and whether it fails.
    pub(crate) fn on_handling(&self, actor: ActorId) -> Option<(Duration, bool)> {
        let mut planted = self.planted.lock();
        let fault = planted.actors.get_mut(&actor)?;
        let fails = fault.fail_after == Some(0);
        fault.fail_after = fault.fail_after.and_then(|left| left.checked_sub(1));
        Some((fault.slow, fails))
    }

    /// Says what befalls the next message from `from` to `to`. The fault planted first is used up first.
    pub(crate) fn on_link<M: 'static>(&self, from: ActorId, to: ActorId) -> Option<Hit<M>> {
        let mut planted = self.planted.lock();
        let faults = planted.links.get_mut(&(from, to))?;
        faults.retain(|fault| fault.messages > 0);
        let fault = faults.first_mut()?;
        fault.messages -= 1;
        match &fault.what {
            Mishap::Drop => Some(Hit::Drop),
            Mishap::Double(copy) => copy.downcast_ref::<fn(&M) -> M>().map(|copy| Hit::Double(*copy)),
            Mishap::Delay(d) => Some(Hit::Delay(*d)),
        }
    }
}

impl<M: Send + 'static> Cell<M> {
    /// Sends a message over a link that a test may have planted a fault on.
    #[cold]
    pub(super) fn send_past_faults(
        self: &Arc<Self>,
        mut envelope: Envelope<Item<M>>,
        door: Door,
        by: Option<&mut Worker>,
    ) -> Result<(), Refusal<M>> {
        let hit = self.hit(&envelope);
        let dispatcher = &self.head.shared.dispatcher;
        let (mut at, mut copy) = (dispatcher.later(), None);
        match hit {
            Some(Hit::Drop) => {
                self.record_sent(envelope.stamp());
                self.drop_at_door(envelope, DropReason::FaultInjected);
                return Ok(());
            }
            Some(Hit::Delay(d)) => {
                envelope.at = dispatcher.now() + d;
                at = Some(envelope.at);
            }
            Some(Hit::Double(clone)) => copy = self.copy(&envelope, clone),
            None => {}
        }
        let sent = self.send_well(at, envelope, door, by);
        if let (Ok(()), Some(copy)) = (&sent, copy) {
            // The copy is nobody's: it is not handed back.
            let _ = self.send_well(at, copy, Door::Tell, None);
        }
        sent
    }

    fn send_well(
        self: &Arc<Self>,
        at: Option<Instant>,
        envelope: Envelope<Item<M>>,
        door: Door,
        by: Option<&mut Worker>,
    ) -> Result<(), Refusal<M>> {
        match at {
            Some(at) => self.send_at(at, envelope, door),
            None => self.enqueue(envelope, door, Logged::Now, by),
        }
    }

    /// Says what is to befall a message, and logs it.
    fn hit(&self, envelope: &Envelope<Item<M>>) -> Option<Hit<M>> {
        let shared = &self.head.shared;
        let hit = shared.faults.on_link(shared.log.current(), self.head.id)?;
        let (fault, value_ns) = match &hit {
            Hit::Drop => (FaultKind::Drop, 0),
            Hit::Double(_) => (FaultKind::Double, 0),
            Hit::Delay(d) => (FaultKind::Delay, nanos(*d)),
        };
        self.head.record(EventKind::FaultInjected { fault, message: envelope.id, value_ns });
        Some(hit)
    }

    fn copy(&self, envelope: &Envelope<Item<M>>, clone: fn(&M) -> M) -> Option<Envelope<Item<M>>> {
        let Item::Message(message) = &envelope.item else { return None };
        let copied = catch(|| Ok(clone(message)));
        copied.ok().map(|message| self.envelope(Item::Message(message)))
    }

    /// As `send_past_faults`, for a message that has its room already.
    #[cold]
    pub(super) fn send_granted_past_faults(
        self: &Arc<Self>,
        ticket: Ticket,
        mut envelope: Envelope<Item<M>>,
        by: Option<&mut Worker>,
    ) -> Result<(), M> {
        let hit = self.hit(&envelope);
        let dispatcher = &self.head.shared.dispatcher;
        let (mut at, mut copy) = (dispatcher.later(), None);
        match hit {
            Some(Hit::Drop) => {
                self.mailbox.release(ticket);
                self.record_sent(envelope.stamp());
                self.drop_at_door(envelope, DropReason::FaultInjected);
                return Ok(());
            }
            Some(Hit::Delay(d)) => {
                envelope.at = dispatcher.now() + d;
                at = Some(envelope.at);
            }
            Some(Hit::Double(clone)) => copy = self.copy(&envelope, clone),
            None => {}
        }
        self.send_into(at, ticket, envelope, by)?;
        if let Some(copy) = copy {
            let _ = self.send_well(at, copy, Door::Tell, None);
        }
        Ok(())
    }
}
