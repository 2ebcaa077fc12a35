//! The part of a cell that needs no message type: who it is, whose child, its counts, and the replies it owes.
//!
//! I1 counters of the consumer have one writer at a time, the running worker; those bumped by senders are read-modify-write.
//! I2 a reply handle that is dropped in a run is settled when that run has ended, and never later than the activation.

use std::sync::Arc;

use super::budget::Lapse;
use super::cell::AnyCell;
use super::children::Children;
use super::doors::DoorCount;
use super::failure::{Failure, catch};
use super::shared::Shared;
use super::watch::Mourners;
use crate::dispatch::{Home, Post, Worker};
use crate::id::{ActorId, MsgId};
use crate::observe::{ActorState, DeadLetterReason, DropReason, EventKind, RouterSnapshot};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Counter, Mutex, Ordering};

/// The part of a cell that needs no message type.
pub(crate) struct Head {
    pub(crate) id: ActorId,
    pub(crate) path: Arc<str>,
    pub(crate) depth: u16,
    pub(crate) parent: Option<Arc<dyn AnyCell>>,
    pub(crate) shared: Arc<Shared>,
    /// Where its runs and its tasks are queued.
    pub(crate) home: Home,
    pub(crate) children: Mutex<Children>,
    pub(crate) counts: Counts,
    state: AtomicU32,
    pub(crate) incarnation: AtomicU32,
    /// Suspensions from above that this actor is under.
    pub(crate) suspends: AtomicU32,
    /// Whose room this actor waits for; 0 is nobody's.
    waits_on: AtomicU64,
    /// Who is to be told of this actor's end.
    pub(super) mourners: Mutex<Mourners>,
    /// The clock of a stop that was ordered.
    pub(super) lapse: Lapse,
    pub(super) under_watch: AtomicBool,
    pub(super) forced: AtomicBool,
    /// The worker's seat of the present activation; 0 between two.
    in_run: AtomicU32,
    /// The lints raised so far, one bit each.
    pub(super) lints: AtomicU32,
    /// A run has ended that lasts for some virtual time yet.
    held: AtomicBool,
    annex: Mutex<Option<Arc<dyn Annex>>>,
    has_orphans: AtomicBool,
    /// It belongs to groups, which it is to leave when it stops.
    pub(super) in_groups: AtomicBool,
    /// It has subscribed to dead letters, once.
    pub(crate) hears_letters: AtomicBool,
    orphans: Mutex<Vec<Box<dyn Orphan>>>,
}

/// What belongs to an actor and lies beside its cell: a router's table, and messages that no routee has yet.
pub(crate) trait Annex: Send + Sync {
    /// Counts the messages that lie here; they are in the actor's books.
    fn queued(&self) -> u64;
    /// Gives what there is to see.
    fn snapshot(&self) -> Option<RouterSnapshot>;
    /// The actor has ended: what lies here becomes dead letters.
    fn close(self: Arc<Self>);
}

/// A reply handle that was dropped in a run and waits for the run's end to learn its fate.
pub(crate) trait Orphan: Send {
    fn settle(self: Box<Self>, fate: Fate);
}

/// What became of the run in which a reply handle was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Handled,
    Failed(crate::supervise::FailureKind),
    Stopped,
    /// No run: the message that held it was dropped.
    Dropped(DropReason),
    /// No run: the message that held it found no room.
    Refused,
}

/// An actor's part of the ledger, by fate.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) handled: Counter,
    /// Of these: those that the actor had no use for.
    pub(crate) unhandled: Counter,
    pub(crate) failed: Counter,
    pub(crate) dead_lettered: Counter,
    pub(crate) dropped_own: Counter,
    /// Accepted, and passed on to an heir.
    pub(crate) rerouted: Counter,
    pub(crate) restarts: Counter,
    /// In the stash now.
    pub(crate) stashed: Counter,
    /// Taken in by the stash, and by no mailbox.
    pub(crate) stash_took: Counter,
    pub(crate) busy_ns: Counter,
    pub(crate) blocked_ns: Counter,
    /// Dropped by a sender's push.
    pub(super) dropped_at_door: DoorCount,
    /// Dead-lettered by a sender's push.
    pub(super) dead_at_door: DoorCount,
    /// Handed back.
    pub(super) refused: AtomicU64,
}

impl Head {
    pub(crate) fn new(
        id: ActorId,
        path: Arc<str>,
        depth: u16,
        parent: Option<Arc<dyn AnyCell>>,
        shared: Arc<Shared>,
        home: Home,
    ) -> Self {
        Head {
            id,
            path,
            depth,
            parent,
            shared,
            home,
            children: Mutex::default(),
            counts: Counts::default(),
            state: AtomicU32::new(ActorState::Starting as u32),
            incarnation: AtomicU32::new(0),
            suspends: AtomicU32::new(0),
            waits_on: AtomicU64::new(0),
            mourners: Mutex::default(),
            lapse: Lapse::default(),
            under_watch: AtomicBool::new(false),
            forced: AtomicBool::new(false),
            in_run: AtomicU32::new(0),
            lints: AtomicU32::new(0),
            held: AtomicBool::new(false),
            annex: Mutex::default(),
            has_orphans: AtomicBool::new(false),
            in_groups: AtomicBool::new(false),
            hears_letters: AtomicBool::new(false),
            orphans: Mutex::default(),
        }
    }

    pub(crate) fn record(&self, kind: EventKind) {
        self.shared.record(self.id, kind);
    }

    /// Drops what a user made; a panic in that is reported and decides nothing.
    pub(crate) fn discard<T>(&self, what: &'static str, value: T) {
        let dropped = catch(|| {
            drop(value);
            Ok(())
        });
        if let Err(why) = dropped {
            self.record(EventKind::HookFailed { hook: what, text: why.report().text });
        }
    }

    /// Drops a message that nobody will handle; reply handles in it learn `fate`.
    pub(crate) fn discard_as<T>(&self, fate: Fate, message: T) {
        if std::mem::needs_drop::<T>() {
            self.shared.discarding(fate, || self.discard(super::cell::MESSAGE_DROP, message));
        }
    }

    /// Counts a message that this actor's own adapter could not map.
    pub(crate) fn adapter_failed(&self, why: &Failure, type_name: &'static str) {
        self.record(EventKind::HookFailed { hook: "map of an adapter", text: why.report().text });
        self.late_letter(MsgId(0), DeadLetterReason::AdapterFailed, type_name);
    }

    pub(crate) fn incarnation(&self) -> u32 {
        // Ordering: Relaxed, written by the actor's own runs.
        self.incarnation.load(Ordering::Relaxed)
    }

    pub(crate) fn state(&self) -> ActorState {
        ActorState::from_u8(self.state.load(Ordering::Relaxed) as u8)
    }

    pub(crate) fn set_state(&self, state: ActorState) {
        // Ordering: Relaxed, for display only.
        self.state.store(state as u32, Ordering::Relaxed);
    }

    /// Gives whose room this actor waits for.
    pub(crate) fn waits_on(&self) -> Option<ActorId> {
        // Ordering: SeqCst here and below: of two actors whose waits close a cycle, the later one sees the other's.
        Some(ActorId(self.waits_on.load(Ordering::SeqCst))).filter(|actor| *actor != ActorId::NOBODY)
    }

    pub(crate) fn set_waits_on(&self, target: Option<ActorId>) {
        self.waits_on.store(target.map_or(0, |target| target.0), Ordering::SeqCst);
    }

    /// Puts something beside this actor; ends it at once if the actor has ended.
    pub(crate) fn set_annex(&self, annex: Arc<dyn Annex>) {
        *self.annex.lock() = Some(annex);
        if self.state() == ActorState::Stopped {
            self.close_annex();
        }
    }

    pub(crate) fn annex(&self) -> Option<Arc<dyn Annex>> {
        self.annex.lock().clone()
    }

    pub(crate) fn take_annex(&self) -> Option<Arc<dyn Annex>> {
        self.annex.lock().take()
    }

    /// Ends what lies beside this actor.
    pub(crate) fn close_annex(&self) {
        if let Some(annex) = self.take_annex() {
            annex.close();
        }
    }

    /// Counts the messages that lie beside this actor.
    pub(crate) fn annexed(&self) -> u64 {
        self.annex().map_or(0, |annex| annex.queued())
    }

    /// Is true while a run is under way; in virtual time that is so until the work that it charged is done.
    pub(crate) fn is_running(&self) -> bool {
        // Ordering: Relaxed, a glance from outside.
        self.in_run.load(Ordering::Relaxed) != 0 || self.held.load(Ordering::Relaxed)
    }

    /// Is true while a message may be in the hands of a handler, and so is among those without a fate.
    pub(crate) fn has_in_hand(&self) -> bool {
        self.in_run.load(Ordering::Relaxed) != 0
    }

    /// Says whether the run that has ended lasts for some virtual time yet.
    #[inline]
    pub(crate) fn hold_run(&self, held: bool) {
        // Ordering: Relaxed, a glance from outside; written in virtual time only, where there is one thread.
        if self.held.load(Ordering::Relaxed) != held {
            self.held.store(held, Ordering::Relaxed);
        }
    }

    /// Begins an activation: reply handles dropped from now on wait for the end of their run.
    pub(crate) fn enter(&self, worker: &Worker) {
        self.in_run.store(worker.seat(), Ordering::Relaxed);
    }

    /// Ends an activation; nothing dropped in it may be left waiting.
    pub(crate) fn leave(&self) {
        // Ordering: SeqCst, pairs with adopt(): either we see the orphan, or its dropper sees that the run is over.
        self.in_run.store(0, Ordering::SeqCst);
        self.settle_orphans(Fate::Handled);
    }

    /// Gives the worker that runs this actor now, if one does.
    pub(crate) fn worker_in_run(&self) -> Option<Post> {
        // Ordering: Relaxed, asked a whole budget after the run began.
        Post::of(self.in_run.load(Ordering::Relaxed), self.home)
    }

    /// Is true once this actor was forced to stop.
    #[inline]
    pub(crate) fn is_forced(&self) -> bool {
        // Ordering: Relaxed; where it decides who tells of an end, the lock of the children's book orders it.
        self.forced.load(Ordering::Relaxed)
    }

    /// Takes in a dropped reply handle; it is settled at the end of the present run, or now if there is none.
    pub(crate) fn adopt(&self, orphan: Box<dyn Orphan>, otherwise: Fate) {
        self.orphans.lock().push(orphan);
        self.has_orphans.store(true, Ordering::SeqCst);
        // Ordering: SeqCst, pairs with leave().
        if self.in_run.load(Ordering::SeqCst) == 0 {
            self.settle_orphans(otherwise);
        }
    }

    /// Tells the handles dropped in the run that has just ended what became of it.
    #[inline]
    pub(crate) fn settle_orphans(&self, fate: Fate) {
        if self.has_orphans.load(Ordering::SeqCst) {
            self.settle_them(fate);
        }
    }

    #[cold]
    fn settle_them(&self, fate: Fate) {
        let orphans = {
            let mut orphans = self.orphans.lock();
            self.has_orphans.store(false, Ordering::SeqCst);
            std::mem::take(&mut *orphans)
        };
        orphans.into_iter().for_each(|orphan| orphan.settle(fate));
    }
}

impl Counts {
    /// Counts messages that found the outbox full: they were dropped, and their run fails.
    pub(crate) fn outbox_overflow(&self, head: &Head, lost: usize) {
        for _ in 0..lost {
            if !self.dropped_at_door.count() {
                head.shared.count_late_drop();
            }
            head.record(EventKind::Dropped { reason: DropReason::MailboxFull, message: MsgId(0) });
        }
    }
}
