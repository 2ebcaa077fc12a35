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
//! I4 a task whose run charged time is *held*: nobody can run it before that time has passed.
//! It is not a thread: nothing happens between two steps.

use std::sync::Arc;
use std::time::Duration;

use super::running::Running;
use super::worker::Queues;
use super::{Due, Next, Run, Task, Worker};
use crate::id::ActorId;
use crate::rng::Rng;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use crate::time::{Instant, TimerKey, TimerQueue, nanos};

/// Runs at one instant before each costs [`ZENO_COST`].
const ZENO_RUNS: u64 = 100_000;
/// What a run costs after [`ZENO_RUNS`] at one instant.
const ZENO_COST: Duration = Duration::from_micros(1);

/// One turn that was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its number, from 0.
    pub number: u64,
    /// When it began.
    pub at: Instant,
    /// The virtual worker that ran it.
    pub worker: usize,
}

/// Drives virtual workers; see the module's page.
pub(crate) struct Stepper {
    queues: Queues,
    timers: Mutex<TimerQueue<Due>>,
    state: Mutex<State>,
    throughput: u32,
    turns: AtomicU64,
    /// Virtual time at which the running turn began (or of the last one).
    base: AtomicU64,
    /// Work charged by the running turn so far.
    spent: AtomicU64,
    /// Whose run each virtual worker is in: at most one is in any.
    running: Vec<Arc<Running>>,
}

struct State {
    workers: Vec<VirtualWorker>,
    runs_at_instant: u64,
    /// True from the run that was one too many at one instant until the next idle moment.
    zeno: bool,
    /// Draws the next worker among those that are free, in seeded order.
    order: Option<Rng>,
}

struct VirtualWorker {
    worker: Worker,
    free_at: Instant,
    last_turn: u64,
    /// The activation that this worker is in, between two turns of it.
    current: Option<Activation>,
    /// The activation whose last run lasts until `free_at`.
    held: Option<Activation>,
}

struct Activation {
    task: Task,
    left: u32,
}

impl Stepper {
    /// Makes virtual workers; with `order`, chance decides between what may come next in any order.
    pub(crate) fn new(workers: usize, throughput: u32, order: Option<Rng>) -> Self {
        let virtual_worker = |index: usize| VirtualWorker {
            worker: Worker::new(index, order.as_ref().map(|order| order.split(index as u64))),
            free_at: Instant::ZERO,
            last_turn: 0,
            current: None,
            held: None,
        };
        let workers_of: Vec<_> = (0..workers).map(virtual_worker).collect();
        Stepper {
            queues: Queues::new(workers),
            timers: Mutex::new(TimerQueue::new()),
            running: workers_of.iter().map(|w| w.worker.running.clone()).collect(),
            state: Mutex::new(State {
                workers: workers_of,
                runs_at_instant: 0,
                zeno: false,
                order: order.map(|order| order.split(u64::MAX)),
            }),
            throughput,
            turns: AtomicU64::new(0),
            base: AtomicU64::new(0),
            spent: AtomicU64::new(0),
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
            self.end_runs(&mut state);
            if let Some(first) = self.next_worker(&state) {
                let index = self.draw_worker(&mut state).unwrap_or(first);
                return Some(self.turn(&mut state, index));
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
        let state = self.state();
        if self.next_worker(&state).is_some() { Some(self.now()) } else { self.next_moment(&state) }
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
        let state = self.state();
        let now = self.now();
        let runs = |w: &VirtualWorker| w.current.is_some() || w.held.is_some();
        !self.queues.any()
            && !state.workers.iter().any(runs)
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

    /// Lets go of the tasks whose runs have lasted until now.
    fn end_runs(&self, state: &mut State) {
        let now = self.now();
        for (index, w) in state.workers.iter_mut().enumerate() {
            if w.free_at <= now
                && let Some(held) = w.held.take()
            {
                let next = held.task.clone().finish();
                self.keep(w, index, held, next);
            }
        }
    }

    /// Puts a task where it belongs after a run.
    fn keep(&self, w: &mut VirtualWorker, index: usize, activation: Activation, next: Next) {
        let Activation { task, left } = activation;
        match next {
            Next::Idle => {}
            Next::Busy => w.held = Some(Activation { task, left }),
            Next::More if left > 1 => w.current = Some(Activation { task, left: left - 1 }),
            Next::More | Next::Yield => self.queues.push_back(index, task),
        }
    }

    /// Moves the clock to `at`; if there was nothing to do before, free work is free again.
    fn move_clock(&self, state: &mut State, at: Instant) {
        let idle = |w: &VirtualWorker| w.current.is_none() && w.free_at < at;
        if !self.queues.any() && state.workers.iter().all(idle) {
            state.zeno = false;
        }
        state.runs_at_instant = 0;
        self.base.store(at.as_nanos(), Ordering::Relaxed);
    }

    /// Picks the free worker with work whose last turn is longest ago. A lone task in the slot of a free worker stays
    /// with it; a second task, or one behind a busy worker, is for whoever is free.
    fn next_worker(&self, state: &State) -> Option<usize> {
        self.ready(state).into_iter().min_by_key(|&index| (state.workers[index].last_turn, index))
    }

    /// Draws one of the free workers with work, in seeded order.
    fn draw_worker(&self, state: &mut State) -> Option<usize> {
        let mut order = state.order.take()?;
        let ready = self.ready(state);
        let drawn = ready[order.below(ready.len() as u64) as usize];
        state.order = Some(order);
        Some(drawn)
    }

    /// Lists the free workers that have something to do.
    fn ready(&self, state: &State) -> Vec<usize> {
        let now = self.now();
        let stealable = |(index, w): (usize, &VirtualWorker)| {
            let queued = self.queues.local[index].len();
            queued > 1 || (queued == 1 && (w.free_at > now || w.current.is_some()))
        };
        let shared = !self.queues.injector.is_empty() || state.workers.iter().enumerate().any(stealable);
        let has_work = |index: usize, w: &VirtualWorker| {
            shared || w.current.is_some() || !self.queues.local[index].is_empty()
        };
        let ready =
            state.workers.iter().enumerate().filter(|(index, w)| w.free_at <= now && has_work(*index, w));
        ready.map(|(index, _)| index).collect()
    }

    fn next_moment(&self, state: &State) -> Option<Instant> {
        let queued = self.queues.any();
        let waiting = |w: &&VirtualWorker| w.current.is_some() || w.held.is_some() || queued;
        let busy = state.workers.iter().filter(waiting).map(|w| w.free_at);
        busy.chain(self.timers.lock().next_deadline()).min()
    }

    fn turn(&self, state: &mut MutexGuard<'_, State>, index: usize) -> Turn {
        let number = self.turns.fetch_add(1, Ordering::Relaxed);
        state.runs_at_instant += 1;
        state.zeno |= state.runs_at_instant > ZENO_RUNS;
        let zeno = state.zeno;
        let at = self.now();
        let w = &mut state.workers[index];
        w.last_turn = number + 1;
        let fresh = w.current.is_none();
        let activation = w.current.take().or_else(|| self.find(&mut w.worker));
        if let Some(activation) = activation {
            let mut run = Run { worker: &mut w.worker, limit: 1, fresh };
            let next = activation.task.clone().run(&mut run);
            self.keep(w, index, activation, next);
        }
        w.free_at = self.end_turn(at, zeno);
        Turn { number, at, worker: index }
    }

    fn find(&self, worker: &mut Worker) -> Option<Activation> {
        worker.find_task(&self.queues).map(|task| Activation { task, left: self.throughput })
    }

    fn end_turn(&self, at: Instant, zeno: bool) -> Instant {
        let spent = Duration::from_nanos(self.spent.swap(0, Ordering::Relaxed));
        at + spent + if zeno { ZENO_COST } else { Duration::ZERO }
    }

    pub(crate) fn schedule(&self, task: Task, by: Option<&mut Worker>) {
        match by {
            Some(worker) => {
                self.queues.push_lifo(worker.index, task);
            }
            None => self.queues.injector.push([task]),
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

    pub(crate) fn work(&self, d: Duration) {
        let spent = self.spent.load(Ordering::Relaxed).saturating_add(nanos(d));
        self.spent.store(spent, Ordering::Relaxed);
    }

    pub(crate) fn block(&self, d: Duration) {
        self.work(d);
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
        self.running.iter().map(|running| running.actor()).find(|actor| *actor != ActorId::NOBODY)
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
        let current: Vec<_> =
            self.state.lock().workers.iter_mut().map(|w| (w.current.take(), w.held.take())).collect();
        let queued = self.queues.drain();
        drop((timers, current, queued));
    }
}
