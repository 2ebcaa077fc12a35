//! The stash: messages that an actor has put aside, to be read again when it says so.
//!
//! ```text
//!   mailbox ──▶ in hand ──stash──▶ stash ──unstash, restart──▶ before the mailbox
//!                                    └──stop──▶ dead letters
//! ```
//! The first message that a run stashes is taken for the one in hand: it only changes its place, so it is neither handled
//! nor, should the run fail after all, failed. Whatever else a run or a hook stashes counts as sent to oneself.
//!
//! I1 unstashing moves what is there at that moment; a message stashed again waits for the next time, so nothing loops.
//! I2 the order in which messages were stashed is kept, on every way out.
//! I3 what belongs to one incarnation (answers, ticks) stays marked so: the next one does not get it from the stash either.
//! It is bounded, and never drops: what finds it full is handed back.

use std::collections::VecDeque;
use std::fmt;

use super::Actor;
use super::Props;
use super::cell::{Item, bury};
use super::context::Context;
use super::failure::Failure;
use super::head::Head;
use super::life::{Life, Own};
use crate::id::MsgId;
use crate::mailbox::Envelope;
use crate::observe::EventKind;
use crate::supervise::FailureKind;
use crate::time::Instant;

/// Messages that a stash holds unless its props say otherwise.
pub(super) const STASH: u32 = 1_000;

/// The stash had no room: gives the message back.
///
/// It is made into a failure of kind [`FailureKind::StashFull`] by `?`, which hands the message on to `pre_restart`; for
/// that it must not be an [`Error`](std::error::Error) of its own.
pub struct StashFull<M>(pub M);

impl<M> fmt::Debug for StashFull<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StashFull(..)")
    }
}

impl<M> fmt::Display for StashFull<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stash is full")
    }
}

impl<M: Send + 'static> From<StashFull<M>> for Failure {
    fn from(full: StashFull<M>) -> Self {
        Failure::of(FailureKind::StashFull, "stash_full", &full.to_string()).returning(full.0)
    }
}

/// The messages put aside by one actor.
pub(super) struct Stash<M> {
    kept: VecDeque<Envelope<Item<M>>>,
    capacity: usize,
}

impl<M> Stash<M> {
    pub(super) fn new(capacity: u32) -> Self {
        Stash { kept: VecDeque::new(), capacity: capacity as usize }
    }

    /// Takes all out.
    pub(super) fn take(&mut self) -> VecDeque<Envelope<Item<M>>> {
        std::mem::take(&mut self.kept)
    }
}

/// What is known of the message that a run is about.
pub(super) struct Hand {
    pub(super) id: MsgId,
    pub(super) at: Instant,
    pub(super) origin: Origin,
}

/// Where the message in hand came from, as far as a stash must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nothing is in hand: a hook runs, or nothing does.
    Nowhere,
    /// Anybody told it.
    Told,
    /// It is an answer to this incarnation.
    Answer(u32),
    /// It was made for a tick of one of the actor's timers.
    Tick,
    /// It was made for the receive timeout.
    Silence,
    /// It has been stashed in this run.
    Stashed,
}

impl Hand {
    pub(super) const EMPTY: Hand = Hand { id: MsgId(0), at: Instant::ZERO, origin: Origin::Nowhere };

    /// Ends a run; true if its message has been stashed.
    #[inline]
    pub(super) fn put_down(&mut self) -> bool {
        std::mem::replace(&mut self.origin, Origin::Nowhere) == Origin::Stashed
    }
}

impl<A: Actor> Props<A> {
    /// Lets the actor stash at most `messages` at a time (default 1,000).
    pub fn stash(mut self, messages: u32) -> Self {
        self.stash = messages;
        self
    }
}

impl<A: Actor> Context<'_, A> {
    /// Puts a message aside, behind those put aside before. It comes back by [`Context::unstash_all`], by a restart, or as a
    /// dead letter when the actor stops.
    ///
    /// # Errors
    /// Hands the message back if the stash is full; `?` makes that a failure of kind StashFull.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::system::ActorSystem;
    /// struct Gate { open: bool, passed: Vec<u32> }
    /// enum Msg { Open, Car(u32) }
    /// impl Actor for Gate {
    ///     type Msg = Msg;
    ///     fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
    ///         match msg {
    ///             Msg::Open => { self.open = true; cx.unstash_all(); }
    ///             Msg::Car(_) if !self.open => cx.stash(msg)?,
    ///             Msg::Car(n) => { self.passed.push(n); assert_eq!(self.passed.len(), n as usize); }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    /// let system = ActorSystem::builder("road").stepper().build()?;
    /// let gate = system.spawn("gate", Props::new(|| Gate { open: false, passed: vec![] }))?;
    /// [Msg::Car(1), Msg::Car(2), Msg::Open, Msg::Car(3)].map(|m| gate.tell(m));
    /// system.run_until_quiet(100);
    /// assert_eq!((system.ledger().handled, system.ledger().failed), (4, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stash(&mut self, message: A::Msg) -> Result<(), StashFull<A::Msg>> {
        let (head, own) = (&self.cell.head, &mut *self.own);
        if own.stash.kept.len() >= own.stash.capacity {
            return Err(StashFull(message));
        }
        let incarnation = head.incarnation();
        let Hand { mut id, mut at, origin } = own.hand;
        let item = match origin {
            Origin::Told => Item::Message(message),
            Origin::Answer(incarnation) => Item::Answer(incarnation, message),
            Origin::Tick | Origin::Silence => Item::StashedTick(incarnation, message),
            Origin::Nowhere | Origin::Stashed => {
                (id, at) = head.take_in_by_stash();
                Item::Message(message)
            }
        };
        if origin != Origin::Nowhere {
            own.hand.origin = Origin::Stashed;
        }
        own.stash.kept.push_back(Envelope { item, id, at });
        head.counts.stashed.set(own.stash.kept.len() as u64);
        head.record(EventKind::Stashed { message: id });
        Ok(())
    }

    /// Puts all that is stashed now before the mailbox, in the order in which it was stashed; says how many.
    pub fn unstash_all(&mut self) -> usize {
        self.own.unstash(self.cell, usize::MAX)
    }

    /// Puts the first `n` of what is stashed now before the mailbox; says how many there were.
    pub fn unstash(&mut self, n: usize) -> usize {
        self.own.unstash(self.cell, n)
    }

    /// Counts the stashed messages.
    pub fn stashed(&self) -> usize {
        self.own.stash.kept.len()
    }
}

impl<M: Send + 'static> Own<M> {
    /// Moves the first `n` stashed messages to the front of what is read next; in a mailbox with an order of its own, to the
    /// front of their rank, where they came from.
    pub(super) fn unstash(&mut self, cell: &std::sync::Arc<super::cell::Cell<M>>, n: usize) -> usize {
        let head = &cell.head;
        let n = n.min(self.stash.kept.len());
        if n == 0 {
            return 0;
        }
        for envelope in self.stash.kept.drain(..n).rev() {
            if let Some(envelope) = cell.put_back(envelope) {
                self.batch.push_front(envelope);
            }
        }
        head.counts.stashed.set(self.stash.kept.len() as u64);
        head.record(EventKind::Unstashed { messages: n as u64 });
        n
    }
}

impl<A: Actor> Life<A> {
    /// Makes dead letters of what is stashed when the actor ends.
    pub(super) fn bury_stash(&mut self, cell: &std::sync::Arc<super::cell::Cell<A::Msg>>) {
        cell.head.counts.stashed.set(0);
        bury(cell, std::mem::take(&mut self.own.stash.kept));
    }
}

impl Head {
    /// Counts a message that comes in by no mailbox; gives its stamps.
    pub(super) fn take_in_by_stash(&self) -> (MsgId, Instant) {
        let (id, at) = (self.shared.next_message(), self.shared.now());
        self.counts.stash_took.add(1);
        self.record(EventKind::Sent { message: id, from: self.id, visible_at: at });
        (id, at)
    }
}
