//! What all cells of one system share: the dispatcher, the log, the books of the living, and the totals of the dead.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use super::cell::{AnyCell, Fate};
use super::failure::Report;
use super::faults::Faults;
use super::groups::Groups;
use super::letters::LetterBook;
use crate::dispatch::Dispatcher;
use crate::dispatch::running::Place;
use crate::id::{ActorId, MsgId};
use crate::mailbox::budget::Budget;
use crate::observe::{Asks, DropReason, EventKind, Ledger, Level, Log};
use crate::rng::Rng;
use crate::supervise::{Dialect, SignalOrder};
use crate::sync::{AtomicBool, AtomicU64, Condvar, Mutex, Ordering};
use crate::time::Instant;

/// Living actors of a system, at most, by default.
pub(crate) const ACTORS_MAX: usize = 16_777_216;
/// The root and its two children.
const GUARDIANS: usize = 3;

/// Says how a system ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// It was shut down.
    Shutdown,
    /// It was shut down, and these actors had not returned from their runs by then.
    Forced {
        /// Their paths.
        stuck: Vec<String>,
    },
    /// A failure was escalated to the root.
    Escalated {
        /// The failure's text.
        why: String,
    },
}

/// Something that waits for something outside the system, however long: the system's end is told to it.
pub(crate) trait Endless: std::marker::Send + Sync {
    fn end(self: Arc<Self>);
}

/// All that wait so, by number.
#[derive(Default)]
pub(crate) struct EndlessWaits {
    last: AtomicU64,
    waits: Mutex<BTreeMap<u64, Weak<dyn Endless>>>,
}

impl EndlessWaits {
    pub(crate) fn next(&self) -> u64 {
        // Ordering: Relaxed, only uniqueness matters.
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn insert(&self, number: u64, wait: Weak<dyn Endless>) {
        self.waits.lock().insert(number, wait);
    }

    pub(crate) fn remove(&self, number: u64) {
        let removed = self.waits.lock().remove(&number);
        drop(removed);
    }

    /// Tells all of them that the system has ended.
    pub(crate) fn end(&self) {
        let waits = std::mem::take(&mut *self.waits.lock());
        waits.into_values().filter_map(|wait| wait.upgrade()).for_each(Endless::end);
    }
}

pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) log: Log,
    pub(crate) cells: Mutex<BTreeMap<ActorId, Weak<dyn AnyCell>>>,
    pub(crate) asks: AskCounts,
    pub(crate) endless: EndlessWaits,
    pub(crate) faults: Faults,
    pub(crate) ended: Mutex<Option<Exit>>,
    pub(crate) ended_bell: Condvar,
    pub(crate) stopping: AtomicBool,
    /// Living actors, at most; the guardians are not counted.
    pub(crate) actors_max: usize,
    pub(crate) escalated: Mutex<Option<Report>>,
    /// What actors are like whose props do not say.
    pub(crate) dialect: Dialect,
    pub(crate) signal_order: SignalOrder,
    pub(crate) groups: Groups,
    pub(crate) letters: LetterBook,
    /// What budgeted mailboxes share.
    pub(crate) memory: Arc<Budget>,
    /// Threads that are discarding a message now, and why: a reply handle in it learns that.
    discarding: Mutex<Vec<(Place, Fate)>>,
    /// Stands for the sends of one turn of a Stepper that are not visible yet: its number, and whether they are abandoned.
    effects: Mutex<Option<(u64, Arc<AtomicBool>)>>,
    next_actor: AtomicU64,
    next_message: AtomicU64,
    retired: Mutex<Ledger>,
}

/// The row of asks in the ledger, counted by whoever settles one.
#[derive(Default)]
pub(crate) struct AskCounts(pub(crate) Mutex<Asks>);

impl Shared {
    pub(crate) fn new(name: String, seed: u64, dispatcher: Dispatcher, log: Log) -> Self {
        Shared {
            name,
            seed,
            dispatcher,
            log,
            cells: Mutex::default(),
            asks: AskCounts::default(),
            endless: EndlessWaits::default(),
            faults: Faults::default(),
            ended: Mutex::default(),
            ended_bell: Condvar::new(),
            stopping: AtomicBool::new(false),
            actors_max: ACTORS_MAX,
            escalated: Mutex::default(),
            dialect: Dialect::Footlights,
            signal_order: SignalOrder::InOrder,
            groups: Groups::default(),
            letters: LetterBook::default(),
            memory: Arc::new(Budget::new(usize::MAX, 1)),
            discarding: Mutex::default(),
            effects: Mutex::default(),
            next_actor: AtomicU64::new(1),
            next_message: AtomicU64::new(1),
            retired: Mutex::default(),
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.dispatcher.now()
    }

    pub(crate) fn next_actor(&self) -> ActorId {
        // Ordering: Relaxed, only uniqueness matters.
        ActorId(self.next_actor.fetch_add(1, Ordering::Relaxed))
    }

    /// Numbers a message where messages are logged; 0 elsewhere, at the cost of one branch.
    pub(crate) fn next_message(&self) -> MsgId {
        if self.log.wants(Level::Message) {
            MsgId(self.next_message.fetch_add(1, Ordering::Relaxed))
        } else {
            MsgId(0)
        }
    }

    pub(crate) fn rng(&self, label: u64) -> Rng {
        Rng::new(self.seed).split(label)
    }

    pub(crate) fn record(&self, actor: ActorId, kind: EventKind) {
        if self.log.wants(kind.level()) {
            self.log.record(self.now(), actor, kind);
        }
    }

    /// Adds the final sums of an actor that has ended.
    pub(crate) fn retire(&self, id: ActorId, ledger: &Ledger) {
        *self.retired.lock() += *ledger;
        self.cells.lock().remove(&id);
    }

    /// Takes an actor into the book of the living; false if that is full.
    pub(crate) fn enter(&self, id: ActorId, cell: Weak<dyn AnyCell>) -> bool {
        let mut cells = self.cells.lock();
        let has_room = cells.len() < self.actors_max.saturating_add(GUARDIANS);
        if has_room {
            cells.insert(id, cell);
        }
        has_room
    }

    /// Takes a message that was on its way to an actor when that ended out of the totals: it is counted anew on arrival.
    pub(crate) fn landed(&self) {
        let mut retired = self.retired.lock();
        retired.sent -= 1;
        retired.queued -= 1;
    }

    /// Counts a message to an actor that takes none any more.
    pub(crate) fn count_late_letter(&self) {
        let mut retired = self.retired.lock();
        retired.sent += 1;
        retired.dead_lettered += 1;
    }

    /// Counts a message that was dropped, in no actor's books.
    pub(crate) fn count_late_drop(&self) {
        let mut retired = self.retired.lock();
        retired.sent += 1;
        retired.dropped += 1;
    }

    /// Counts a message that was dropped before it reached any actor's mailbox.
    pub(crate) fn late_drop(&self, to: ActorId, reason: DropReason) {
        self.drop_late(to, MsgId(0), reason);
    }

    /// Counts a message of this number that was dropped on its way, or before it was on it.
    pub(crate) fn drop_late(&self, to: ActorId, message: MsgId, reason: DropReason) {
        self.count_late_drop();
        self.record(to, EventKind::Dropped { reason, message });
    }

    /// Gives the mark that the sends of the present turn carry until they are visible.
    pub(crate) fn effects(&self) -> Arc<AtomicBool> {
        let turn = self.dispatcher.turns();
        let mut effects = self.effects.lock();
        match &*effects {
            Some((of, mark)) if *of == turn => mark.clone(),
            _ => {
                let mark = Arc::new(AtomicBool::new(false));
                *effects = Some((turn, mark.clone()));
                mark
            }
        }
    }

    /// Gives that mark if the present turn has sent something that is not visible yet.
    pub(crate) fn effects_of_this_run(&self) -> Option<Arc<AtomicBool>> {
        let turn = self.dispatcher.turns();
        self.effects.lock().take_if(|(of, _)| *of == turn).map(|(_, mark)| mark)
    }

    /// Counts a dead letter that nobody is told of.
    pub(crate) fn suppress(&self) {
        self.retired.lock().suppressed += 1;
    }

    pub(crate) fn retired(&self) -> Ledger {
        *self.retired.lock()
    }

    /// Lists the living cells in the order of creation.
    pub(crate) fn living(&self) -> Vec<Arc<dyn AnyCell>> {
        self.cells.lock().values().filter_map(Weak::upgrade).collect()
    }

    /// Runs `discard`; reply handles that it drops learn `fate`.
    pub(crate) fn discarding(&self, fate: Fate, discard: impl FnOnce()) {
        let here = Place::here();
        self.discarding.lock().push((here, fate));
        discard();
        let mut discarding = self.discarding.lock();
        if let Some(at) = discarding.iter().rposition(|(place, _)| *place == here) {
            discarding.remove(at);
        }
    }

    /// Says why the calling thread is discarding a message, if it is.
    pub(crate) fn discarding_here(&self) -> Option<Fate> {
        let (here, discarding) = (Place::here(), self.discarding.lock());
        discarding.iter().rev().find(|(place, _)| *place == here).map(|(_, fate)| *fate)
    }

    /// Gives the cell whose run the calling thread is in.
    pub(crate) fn running_here(&self) -> Option<Arc<dyn AnyCell>> {
        self.cell(self.dispatcher.running_here()?)
    }

    /// Wakes those who wait for the system's end.
    pub(crate) fn ring_ended(&self) {
        // Whoever waits has the lock, or looks again after this.
        drop(self.ended.lock());
        self.ended_bell.notify_all();
    }

    /// Finds a living cell.
    pub(crate) fn cell(&self, actor: ActorId) -> Option<Arc<dyn AnyCell>> {
        self.cells.lock().get(&actor)?.upgrade()
    }

    /// Notes how the system ended, once.
    pub(crate) fn end(&self, exit: Exit) {
        self.ended.lock().get_or_insert(exit);
        self.ended_bell.notify_all();
    }
}
