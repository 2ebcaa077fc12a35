//! The threads of one dispatcher on a Pool: what each of them does until it is told to end.
//!
//! I1 a worker sleeps only after it has announced itself and looked again (see `idle`).
//! I2 a crew that is told to end runs nothing more after the present activation of each of its workers.
//! I3 a thread that has lost its seat is *astray* until it leaves: it is at work, and what it queued before it left is
//!    picked up by a sleeper.
//! It starts no threads: see `pool`.

use std::sync::Arc;
use std::time::Duration;

use super::idle::Idle;
use super::pool::Core;
use super::settings::{DispatcherSettings, Home};
use super::worker::{ASLEEP, BEAT, BEATS_AT_ONCE, Heart, Seat, Team};
use super::{CLOCK_EVERY, Next, Run, Task, Worker};
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Counter, Ordering};
use crate::time::nanos;

/// Set in a seat's turn while its thread sleeps or is about to.
const ASLEEP_THERE: u32 = 1 << 31;
/// Searches before a worker goes to sleep.
const SPINS: u32 = 200;

/// The threads of one dispatcher, or the thread of one pinned actor.
pub(crate) struct Crew {
    pub(crate) team: Team,
    pub(crate) idle: Idle,
    /// Threads that were started; seats from here on are free.
    started: AtomicUsize,
    /// The activations of each worker that the timer thread had seen when it last looked.
    seen: Vec<Counter>,
    ended: AtomicBool,
    /// Which thread sits in each seat: those before it do not return from a run.
    turns: Vec<AtomicU32>,
    /// Threads that have lost their seats and have not returned from their runs.
    astray: AtomicUsize,
}

/// What is the same twice if nobody was up in between: the threads started, and the departures from the sleepers' list.
pub(crate) type Rest = (usize, u64);

impl Crew {
    pub(crate) fn new(home: Home, name: Arc<str>, settings: &DispatcherSettings) -> Self {
        Crew {
            team: Team::new(home, name, settings),
            idle: Idle::new(settings.workers),
            started: AtomicUsize::new(0),
            seen: (0..settings.workers).map(|_| Counter::default()).collect(),
            ended: AtomicBool::new(false),
            turns: (0..settings.workers).map(|_| AtomicU32::new(0)).collect(),
            astray: AtomicUsize::new(0),
        }
    }

    /// Gives the seat of the next thread to be started, if there is one left.
    pub(crate) fn free_seat(&self) -> Option<usize> {
        // Ordering: Relaxed, written under the lock of the threads; a stale answer is asked again there.
        let started = self.started.load(Ordering::Relaxed);
        (started < self.team.queues.seats.len()).then_some(started)
    }

    /// Counts one more thread; the caller holds the lock of the threads.
    pub(crate) fn count_thread(&self) {
        // Ordering: Relaxed, as in free_seat().
        self.started.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the threads.
    pub(crate) fn threads(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }

    /// Says what tells one rest from the next, if all its threads sleep.
    pub(crate) fn rest(&self) -> Option<Rest> {
        let (threads, (sleepers, departures)) = (self.threads(), self.idle.sleepers());
        // Ordering: Acquire, pairs with the Release in work_loop(): what a thread did before it left is seen.
        let rests = sleepers == threads && self.astray.load(Ordering::Acquire) == 0;
        rests.then_some((threads, departures))
    }

    /// Tells its threads to end after their present run.
    pub(crate) fn end(&self) {
        // Ordering: SeqCst, seen by whoever is woken below.
        self.ended.store(true, Ordering::SeqCst);
        self.idle.wake_all();
    }

    /// Is true once it was told to end.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Gives a seat to the next thread; false if the thread of `turn` does not sit there any more, or has no run and sleeps.
    pub(crate) fn pass_on(&self, seat: usize, turn: u32) -> bool {
        // Ordering: Relaxed, counted before the seat is lost; the new thread's start publishes it.
        self.astray.fetch_add(1, Ordering::Relaxed);
        // Ordering: Relaxed, the old thread looks when its run has returned, if ever.
        let order = Ordering::Relaxed;
        let passed = self.turns[seat].compare_exchange(turn, turn + 1, order, order).is_ok();
        if !passed {
            self.astray.fetch_sub(1, order);
        }
        passed
    }

    /// Lies down in a seat; false if it was given to another thread.
    fn doze(&self, seat: usize, turn: u32) -> bool {
        // Ordering: Relaxed, one word; what else the two threads of a seat share has locks of its own.
        let asleep = turn | ASLEEP_THERE;
        self.turns[seat].compare_exchange(turn, asleep, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Works in `seat` until the crew ends, or until the seat is given to another thread.
    pub(crate) fn work_loop(self: &Arc<Self>, core: &Arc<Core>, seat: usize, turn: u32) {
        let mut worker = Worker::new(seat, &self.team, None, core.heart.clone());
        worker.turn = turn;
        let sits = || self.turns[seat].load(Ordering::Relaxed) == turn;
        let (queues, state) = (&self.team.queues, &self.team.queues.seats[seat]);
        state.note.settle_here();
        state.wake(core.now().as_nanos());
        core.start_ticking();
        // Ordering: Relaxed, read again before every sleep.
        while !self.ended.load(Ordering::Relaxed) && sits() {
            match self.find(&mut worker) {
                Some(task) => self.activate(core, &mut worker, task),
                // Two threads never lie in one bed.
                None if self.doze(seat, turn) => {
                    state.sleep(core.now().as_nanos());
                    self.idle.sleep(seat, || queues.any() || self.has_ended());
                    // Ordering: Relaxed, as in doze(); nobody takes the seat of a sleeper.
                    self.turns[seat].store(turn, Ordering::Relaxed);
                    state.wake(core.now().as_nanos());
                    core.start_ticking();
                }
                None => {}
            }
        }
        if sits() {
            return state.sleep(core.now().as_nanos());
        }
        if queues.any() {
            // What the last run here has queued lies before a thread that may have gone to sleep meanwhile.
            core.wake(self);
        }
        // Ordering: Release, pairs with the Acquire in rest().
        self.astray.fetch_sub(1, Ordering::Release);
    }

    /// Looks for a task, spinning a little before it gives up.
    fn find(&self, worker: &mut Worker) -> Option<Task> {
        for _ in 0..SPINS {
            if let Some(task) = worker.find_task(&self.team.queues) {
                return Some(task);
            }
            if self.ended.load(Ordering::Relaxed) {
                return None;
            }
            std::hint::spin_loop();
        }
        None
    }

    fn activate(self: &Arc<Self>, core: &Arc<Core>, worker: &mut Worker, task: Task) {
        let team = &self.team;
        worker.heard = worker.heart.beats();
        let mut run = Run { worker, limit: team.throughput, fresh: true };
        let next = match team.deadline.is_zero() {
            true => task.clone().run(&mut run),
            false => self.run_until_deadline(core, &mut run, &task),
        };
        let handled = team.throughput - run.limit;
        worker.handled(handled);
        if next != Next::Idle {
            worker.put_back(&team.queues, task);
            if team.queues.local[worker.index].len() > 1 {
                core.wake(self);
            }
        }
    }

    /// Runs an activation in pieces, with a look at the clock after each.
    fn run_until_deadline(&self, core: &Core, run: &mut Run<'_>, task: &Task) -> Next {
        let end = core.now() + self.team.deadline;
        let mut left = run.limit;
        loop {
            let piece = left.min(CLOCK_EVERY);
            run.limit = piece;
            let next = task.clone().run(run);
            left -= piece - run.limit;
            if next != Next::More || left == 0 {
                run.limit = left;
                return next;
            }
            if core.now() >= end {
                run.limit = left;
                run.worker.cut_short();
                return next;
            }
            run.fresh = false;
        }
    }

    /// Wakes a sleeper for each worker that has had something queued in one and the same activation for a whole beat.
    /// Is true if nobody slept who could have been woken.
    pub(crate) fn rescue(&self) -> bool {
        let mut short = false;
        let queues = &self.team.queues;
        for ((seat, queue), seen) in queues.seats.iter().zip(&queues.local).zip(&self.seen) {
            let (now, before) = (seat.activations.get(), seen.get());
            seen.set(now);
            if now == before && !queue.is_empty() {
                short |= !self.idle.wake_one();
            }
        }
        short
    }
}

impl Seat {
    /// Notes that the worker's thread woke.
    fn wake(&self, now_ns: u64) {
        self.awake_since.store(now_ns, Ordering::Relaxed);
        self.set_running(true);
    }

    /// Notes that the worker's thread goes to sleep.
    fn sleep(&self, now_ns: u64) {
        self.busy.add(now_ns.saturating_sub(self.awake_since.swap(ASLEEP, Ordering::Relaxed)));
        self.set_running(false);
    }
}

impl Heart {
    /// Counts the beats of the time that has passed since the last call.
    pub(super) fn beat(&self, passed: Duration) {
        let beats = (nanos(passed) / nanos(BEAT)).min(BEATS_AT_ONCE);
        // Ordering: Relaxed, one thread beats.
        self.0.store(self.0.load(Ordering::Relaxed) + beats, Ordering::Relaxed);
    }
}
