//! k virtual workers on the caller's thread, in virtual time: a discrete-event simulation of the real scheduler.
//!
//! Each [`Stepper::step`] is one *turn*: one worker runs one task for one message. A worker that charged work is busy until
//! its time has passed; what it did is visible to others only then (see [`Stepper::later`]). When no worker can run, the
//! clock jumps to the next moment at which something happens.
//!
//! I1 order: at one instant first all timers due (by due time, then in the order in which they were set), then the workers
//!    that are free, the one whose last turn is longest ago first, then the lower index.
//!    In *seeded order* a draw decides between the free workers, and between the slot and the ring of one.
//! I2 nothing here reads a real clock, a thread id or an address: the same calls give the same turns.
//! I3 after [`ZENO_RUNS`] runs at one instant every further run costs 1 µs until nothing is left to do at some moment, so
//!    endless free work cannot stop time.
//! I4 each dispatcher has workers of its own; all of them are in the one order of I1. They take part from the first task of
//!    their dispatcher on, and those of a pinned actor until its end.
//! What a worker does with a task between two turns is in `virtual_crew`.
//! It is not a thread: nothing happens between two steps.

mod chosen;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::settings::{DispatcherSettings, Home, PINNED, Roster};
use super::virtual_crew::{Activation, Guild, VirtualCrew, VirtualWorker};
use super::worker::{SLOW, Team};
use super::{CostModel, Due, Run, Task, Worker};
use crate::id::ActorId;
use crate::observe::DispatcherSnapshot;
use crate::rng::Rng;
use crate::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering};
use crate::time::{Instant, TimerKey, TimerQueue, nanos};

/// Runs at one instant before each costs [`ZENO_COST`].
const ZENO_RUNS: u64 = 100_000;
/// What a run costs, besides its own price, after [`ZENO_RUNS`] at one instant.
const ZENO_COST: Duration = Duration::from_micros(1);

/// One turn that was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its number, from 0.
    pub number: u64,
    /// When it began.
    pub at: Instant,
    /// The virtual worker that ran it: those of the default dispatcher come first, from 0, then those of the others.
    pub worker: usize,
}

/// Drives virtual workers; see the module's page.
pub(crate) struct Stepper {
    roster: Roster,
    costs: CostModel,
    /// By home.
    guilds: Vec<Arc<Guild>>,
    pinned: Mutex<BTreeMap<Home, Arc<Guild>>>,
    /// Those whose workers take part from the next turn on.
    newcomers: Mutex<Vec<Arc<Guild>>>,
    /// True if workers are to leave before the next turn.
    leavers: AtomicBool,
    timers: Mutex<TimerQueue<Due>>,
    state: Mutex<State>,
    turns: AtomicU64,
    /// Virtual time at which the running turn began (or of the last one).
    base: AtomicU64,
    /// Work charged by the running turn so far.
    spent: AtomicU64,
    /// True from the moment at which the clock begins to be pushed until that is taken note of.
    pushed: AtomicBool,
}

struct State {
    /// In the order of their workers' numbers.
    crews: Vec<VirtualCrew>,
    runs_at_instant: u64,
    /// True from the run that was one too many at one instant until the next idle moment.
    zeno: bool,
    /// Draws the next worker among those that are free, in seeded order.
    draw: Option<Rng>,
    /// Gives each worker its own chance, in seeded order.
    order: Option<Rng>,
}

/// Where a worker is: the index of its crew, and its own there.
type Seat = (usize, usize);

/// How much one turn may run: so many messages; with `fresh` from a new batch.
#[derive(Clone, Copy)]
struct Limits {
    messages: u32,
    fresh: bool,
}

impl Stepper {
    /// Makes virtual workers; with `order`, chance decides between what may come next in any order.
    pub(crate) fn new(roster: Roster, costs: CostModel, order: Option<Rng>) -> Self {
        let mut first = 0;
        let mut guilds = Vec::new();
        for (index, named) in roster.crews().iter().enumerate() {
            let team = Team::new(Home(index as u64), named.name.clone(), &named.settings);
            guilds.push(Arc::new(Guild::new(team, first)));
            first += named.settings.workers;
        }
        Stepper {
            roster,
            costs,
            guilds,
            pinned: Mutex::default(),
            newcomers: Mutex::default(),
            leavers: AtomicBool::new(false),
            timers: Mutex::new(TimerQueue::new()),
            state: Mutex::new(State {
                crews: Vec::new(),
                runs_at_instant: 0,
                zeno: false,
                draw: order.as_ref().map(|order| order.split(u64::MAX)),
                order,
            }),
            turns: AtomicU64::new(0),
            base: AtomicU64::new(0),
            spent: AtomicU64::new(0),
            pushed: AtomicBool::new(false),
        }
    }

    /// Gives the roster of dispatchers.
    pub(crate) fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Makes a home, and a worker, for one pinned actor.
    pub(crate) fn open(&self, settings: &DispatcherSettings) -> Home {
        let home = self.roster.next_pinned();
        let workers = self.roster.crews().iter().map(|named| named.settings.workers).sum::<usize>();
        let before = home.index() - self.guilds.len();
        let team = Team::new(home, format!("{PINNED}-{}", home.0).into(), settings);
        self.pinned.lock().insert(home, Arc::new(Guild::new(team, workers + before)));
        home
    }

    /// Ends the worker of a pinned actor; to any other home it does nothing.
    pub(crate) fn release(&self, home: Home) {
        if let Some(guild) = self.pinned.lock().remove(&home) {
            guild.end();
            self.leavers.store(true, Ordering::Relaxed);
        }
    }

    /// Takes in the workers that have something to do for the first time, and lets go of those whose actor has ended.
    fn admit(&self, state: &mut State) {
        let newcomers = std::mem::take(&mut *self.newcomers.lock());
        for guild in newcomers {
            let at = state.crews.partition_point(|crew| crew.guild.first < guild.first);
            state.crews.insert(at, VirtualCrew::new(guild, state.order.as_ref()));
        }
        if self.leavers.swap(false, Ordering::Relaxed) {
            state.crews.retain(|crew| !crew.guild.has_ended());
        }
    }

    /// Runs one turn, at a time not after `until`; `None` if there is none.
    ///
    /// # Panics
    /// If called from inside a turn.
    pub(crate) fn step(&self, until: Instant) -> Option<Turn> {
        let mut state = self.state();
        loop {
            self.fire_due();
            self.admit(&mut state);
            let now = self.now();
            state.crews.iter_mut().for_each(|crew| crew.end_runs(now));
            if let Some(seat) = self.next_worker(&mut state) {
                return Some(self.turn(&mut state, seat));
            }
            let next = self.next_moment(&state).filter(|&at| at <= until)?;
            self.move_clock(&mut state, next);
        }
    }

    /// Locks the state between two turns.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.try_lock().expect("a system was driven or asked about its turns from inside one of them")
    }

    /// Says when the next turn or timer is, if there will be one.
    ///
    /// # Panics
    /// If called from inside a turn.
    pub(crate) fn next_moment_at(&self) -> Option<Instant> {
        let mut state = self.state();
        self.admit(&mut state);
        let now = self.now();
        let ready = state.crews.iter().any(|crew| crew.ready(now).next().is_some());
        if ready { Some(now) } else { self.next_moment(&state) }
    }

    /// Moves an idle clock forward to `at`; the caller has seen to it that nothing happens before.
    pub(crate) fn advance_to(&self, at: Instant) {
        if at > self.now() {
            self.move_clock(&mut self.state(), at);
        }
    }

    /// Counts the turns run so far.
    pub(crate) fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Is true if nothing runs or is queued now; a run that charged work lasts until its time has passed.
    pub(crate) fn is_quiet(&self) -> bool {
        let mut state = self.state();
        self.admit(&mut state);
        let now = self.now();
        !state.crews.iter().any(VirtualCrew::has_work)
            && self.timers.lock().next_deadline().is_none_or(|at| at > now)
    }

    fn fire_due(&self) {
        let now = self.now();
        loop {
            // The lock is let go before the timer fires: what fires may set timers.
            let due = self.timers.lock().pop_due(now);
            match due {
                Some((_, _, what)) => what.fire(),
                None => return,
            }
        }
    }

    /// Moves the clock to `at`; if there was nothing to do before, free work is free again.
    fn move_clock(&self, state: &mut State, at: Instant) {
        let idle = |w: &VirtualWorker| w.current.is_none() && w.free_at < at;
        let is_idle = |crew: &VirtualCrew| !crew.guild.team.queues.any() && crew.workers.iter().all(idle);
        if state.crews.iter().all(is_idle) {
            state.zeno = false;
        }
        state.runs_at_instant = 0;
        self.base.store(at.as_nanos(), Ordering::Relaxed);
    }

    /// Picks the free worker with work whose last turn is longest ago; in seeded order it draws one of them.
    fn next_worker(&self, state: &mut State) -> Option<Seat> {
        let now = self.now();
        let ready = || {
            let crews = state.crews.iter().enumerate();
            crews.flat_map(move |(c, crew)| crew.ready(now).map(move |(index, w)| ((c, index), w)))
        };
        if state.draw.is_none() {
            return ready().min_by_key(|(_, w)| (w.last_turn, w.number)).map(|(seat, _)| seat);
        }
        let ready: Vec<Seat> = ready().map(|(seat, _)| seat).collect();
        let drawn = state.draw.as_mut().filter(|_| !ready.is_empty())?.below(ready.len() as u64);
        Some(ready[drawn as usize])
    }

    fn next_moment(&self, state: &State) -> Option<Instant> {
        let free = state.crews.iter().filter_map(VirtualCrew::next_moment);
        free.chain(self.timers.lock().next_deadline()).min()
    }

    fn turn(&self, state: &mut State, (crew, index): Seat) -> Turn {
        let at = self.now();
        let VirtualCrew { guild, workers } = &mut state.crews[crew];
        let w = &mut workers[index];
        let fresh = w.current.is_none();
        let find = |w: &mut VirtualWorker| w.worker.find_task(&guild.team.queues);
        let activation = w.current.take().or_else(|| find(w).map(|task| Activation::new(task, at)));
        self.turn_of(state, (crew, index), activation, Limits { messages: 1, fresh })
    }

    /// Runs one turn of an activation, if there is one, on a free worker.
    fn turn_of(
        &self,
        state: &mut State,
        (crew, index): Seat,
        activation: Option<Activation>,
        Limits { messages, fresh }: Limits,
    ) -> Turn {
        let number = self.turns.fetch_add(1, Ordering::Relaxed);
        let zeno = self.count_run(state);
        let at = self.now();
        let VirtualCrew { guild, workers } = &mut state.crews[crew];
        let (team, w) = (&guild.team, &mut workers[index]);
        w.last_turn = number + 1;
        if let Some(mut activation) = activation {
            activation.turn();
            let begin = if fresh { self.costs.activation_ns } else { 0 };
            self.charge(begin.saturating_add(self.costs.message_ns));
            let mut run = Run { worker: &mut w.worker, limit: messages, fresh };
            let next = activation.task.clone().run(&mut run);
            let handled = messages - run.limit;
            w.worker.handled(handled);
            let spent = self.spent.load(Ordering::Relaxed);
            if spent > nanos(SLOW) {
                activation.task.ran_long(spent);
            }
            w.keep(team, activation, next, self.now());
        }
        let (index, number_of) = (w.worker.index, w.number);
        w.free_at = self.end_turn(at, zeno);
        team.queues.seats[index].add_busy(nanos(w.free_at - at));
        Turn { number, at, worker: number_of }
    }

    /// Counts a run at this instant; true if the clock must be pushed.
    fn count_run(&self, state: &mut State) -> bool {
        state.runs_at_instant += 1;
        if state.runs_at_instant > ZENO_RUNS && !state.zeno {
            state.zeno = true;
            self.pushed.store(true, Ordering::Relaxed);
        }
        state.zeno
    }

    /// Is true, once, if the clock has begun to be pushed.
    pub(crate) fn take_pushed(&self) -> bool {
        self.pushed.load(Ordering::Relaxed) && self.pushed.swap(false, Ordering::Relaxed)
    }

    fn end_turn(&self, at: Instant, zeno: bool) -> Instant {
        let spent = Duration::from_nanos(self.spent.swap(0, Ordering::Relaxed));
        at + spent + if zeno { ZENO_COST } else { Duration::ZERO }
    }

    pub(crate) fn schedule(&self, task: Task, home: Home, by: Option<&mut Worker>) {
        match self.guilds.get(home.index()) {
            Some(guild) => self.schedule_in(guild, task, by),
            None => {
                // A task whose actor has ended was cancelled with it: it is dropped here.
                let guild = self.pinned.lock().get(&home).cloned();
                if let Some(guild) = guild {
                    self.schedule_in(&guild, task, by);
                }
            }
        }
    }

    fn schedule_in(&self, guild: &Arc<Guild>, task: Task, by: Option<&mut Worker>) {
        if guild.joins() {
            self.newcomers.lock().push(guild.clone());
        }
        match by {
            Some(worker) if worker.home == guild.team.home => {
                guild.team.queues.push_lifo(worker.index, task);
            }
            _ => guild.team.queues.injector.push([task]),
        }
    }

    /// Gives the virtual time: where the turn began, plus what it has charged.
    pub(crate) fn now(&self) -> Instant {
        // Ordering: Relaxed here and below: one thread drives the stepper, these are atomics only to be Sync.
        Instant::from_nanos(
            self.base.load(Ordering::Relaxed).saturating_add(self.spent.load(Ordering::Relaxed)),
        )
    }

    pub(crate) fn coarse_now(&self) -> Instant {
        self.now()
    }

    /// Gives the time at which an effect of the running turn becomes visible, if the turn has charged work.
    pub(crate) fn later(&self) -> Option<Instant> {
        (self.spent.load(Ordering::Relaxed) > 0).then(|| self.now())
    }

    pub(crate) fn work(&self, d: Duration, _home: Home) {
        self.charge(nanos(d));
    }

    pub(crate) fn block(&self, d: Duration, _home: Home) {
        self.charge(nanos(d));
    }

    /// Charges the price of a job.
    pub(crate) fn charge_task(&self) {
        self.charge(self.costs.task_ns);
    }

    fn charge(&self, ns: u64) {
        let spent = self.spent.load(Ordering::Relaxed).saturating_add(ns);
        self.spent.store(spent, Ordering::Relaxed);
    }

    /// Gives the state of every dispatcher and of every pinned actor's worker.
    pub(crate) fn snapshot(&self) -> Vec<DispatcherSnapshot> {
        let pinned: Vec<_> = self.pinned.lock().values().cloned().collect();
        // A virtual worker's time is counted as it is charged: the present moment adds nothing.
        self.guilds.iter().chain(&pinned).map(|guild| guild.team.snapshot(0)).collect()
    }

    pub(crate) fn set_timer(&self, due: Instant, what: Due) -> TimerKey {
        self.timers.lock().insert(due, what)
    }

    pub(crate) fn cancel_timer(&self, key: TimerKey) -> bool {
        // The value is dropped after the lock: its drop may set or cancel timers.
        let cancelled = self.timers.lock().cancel(key);
        cancelled.is_some()
    }

    /// Says whose run the present turn is.
    pub(crate) fn running_here(&self) -> Option<ActorId> {
        let pinned = self.pinned.lock();
        let seats = self.guilds.iter().chain(pinned.values()).flat_map(|guild| &guild.team.queues.seats);
        seats.map(|seat| seat.note.actor()).find(|actor| *actor != ActorId::NOBODY)
    }

    /// Is true inside a turn.
    pub(crate) fn is_worker_here(&self) -> bool {
        self.state.try_lock().is_none()
    }

    pub(crate) fn timers(&self) -> usize {
        self.timers.lock().len()
    }

    /// Takes the earliest timer that is due at `limit`.
    pub(crate) fn pop_timer(&self, limit: Instant) -> Option<Due> {
        self.timers.lock().pop_due(limit).map(|(_, _, due)| due)
    }

    /// Forgets all timers and queued tasks.
    pub(crate) fn dismantle(&self) {
        let timers = std::mem::take(&mut *self.timers.lock());
        let crews = std::mem::take(&mut self.state.lock().crews);
        let newcomers = std::mem::take(&mut *self.newcomers.lock());
        let pinned = std::mem::take(&mut *self.pinned.lock());
        let queued: Vec<_> = self.guilds.iter().flat_map(|guild| guild.team.queues.drain()).collect();
        drop((timers, crews, newcomers, pinned, queued));
    }
}
