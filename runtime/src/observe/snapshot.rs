//! The state of a system at one moment, pulled by whoever wants to see it: plain data.

use std::sync::Arc;

use super::{Asks, Ledger, RouterSnapshot};
use crate::id::ActorId;
use crate::mailbox::OverflowStrategy;
use crate::time::Instant;

/// Where an actor stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
#[repr(u8)]
pub enum ActorState {
    /// Its first instance is being made.
    Starting,
    /// It handles messages.
    Running,
    /// It, or an actor above it, has failed and waits for a decision.
    Suspended,
    /// Its old instance is being stopped.
    Restarting,
    /// Its restart waits for the delay to pass.
    Backoff,
    /// It waits for room in another mailbox.
    AwaitingRoom,
    /// It is being stopped.
    Stopping,
    /// It has ended.
    Stopped,
}

impl ActorState {
    pub(crate) fn from_u8(code: u8) -> Self {
        use ActorState::*;
        let all = [Starting, Running, Suspended, Restarting, Backoff, AwaitingRoom, Stopping, Stopped];
        all.get(usize::from(code)).copied().unwrap_or(Stopped)
    }
}

/// One actor at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct ActorSnapshot {
    /// Its id.
    pub id: ActorId,
    /// Its path, such as `/user/pool/w3`.
    pub path: Arc<str>,
    /// Its parent; 0 for a guardian.
    pub parent: ActorId,
    /// Where it stands.
    pub state: ActorState,
    /// Which instance runs, from 1; 0 before the first.
    pub incarnation: u32,
    /// Restarts so far.
    pub restarts: u64,
    /// The bound of its mailbox, if there is one.
    pub capacity: Option<usize>,
    /// What its mailbox does when full.
    pub overflow: OverflowStrategy,
    /// Messages in the lane of the urgent; part of its `queued`.
    pub control: usize,
    /// Messages in the mailbox that the actor has ordered itself, beside the bound; part of its `queued`.
    pub own: usize,
    /// Is false if the actor was in a run, so that what it has taken from its mailbox and not handled yet is not in `queued`.
    pub exact: bool,
    /// Whom it waits for, for room.
    pub waits_on: Option<ActorId>,
    /// When the oldest queued message was sent.
    pub oldest: Option<Instant>,
    /// Its part of the ledger.
    pub ledger: Ledger,
    /// Messages waiting in its outbox for room elsewhere; part of its `queued`.
    pub outbox: usize,
    /// CPU time charged by `work`, in nanoseconds.
    pub busy_ns: u64,
    /// Time charged by `block`, in nanoseconds.
    pub blocked_ns: u64,
    /// The router that it is, if it is one.
    pub router: Option<Box<RouterSnapshot>>,
}

/// One worker of a dispatcher at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSnapshot {
    /// True if it has something in hand; a thread also while it looks for something.
    pub running: bool,
    /// Tasks in its own queue, the slot included.
    pub ring: usize,
    /// For how long it has been running, in nanoseconds: virtual time charged, or the time a thread was awake.
    pub busy_ns: u64,
    /// Activations so far.
    pub activations: u64,
    /// How often it took tasks of another worker.
    pub steals: u64,
}

/// One dispatcher at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatcherSnapshot {
    /// Its name; that of a pinned actor's worker is `pinned-` and a number.
    pub name: Arc<str>,
    /// Tasks that wait for any of its workers.
    pub injector: usize,
    /// Its workers; of a blocking one, those that it may come to have.
    pub workers: Vec<WorkerSnapshot>,
}

/// A system at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// When it was taken.
    pub now: Instant,
    /// Turns run so far; 0 on a Pool.
    pub turns: u64,
    /// The hash over the event log.
    pub log_hash: u64,
    /// The conservation sum over all actors, living and gone.
    pub ledger: Ledger,
    /// The sum over all asks.
    pub asks: Asks,
    /// Armed timers.
    pub timers: usize,
    /// The dispatchers, the default one first, those of pinned actors last.
    pub dispatchers: Vec<DispatcherSnapshot>,
    /// Living actors, in the order of creation.
    pub actors: Vec<ActorSnapshot>,
}
