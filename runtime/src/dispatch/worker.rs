//! The scheduling algorithm of one worker; it knows no threads, so that Pool and Stepper share it to the letter.
//!
//! Order of search: the slot, the ring, the injector, and the other workers' rings, oldest first, half of a ring at a time;
//! last their slots. While there is work of its own a worker *looks around* now and then: after [`LOOK_EVERY`] activations,
//! or a throughput of messages, or a batch that its deadline ended, it takes its share of the injector; every [`LOOK_EVERY`]
//! activations it takes one task from a ring that is longer than its own by two or more.
//! I1 at most [`LIFO_RUNS`] tasks of the slot run in a row while others wait; the next one goes behind those.
//! I2 on one worker nobody is ready for longer than two batches of each other task, if those do not wake each other anew.
//! I3 a worker runs tasks of its own team only.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::Task;
use super::run_queue::{Injector, RING, RunQueue, Taken};
use super::running::Running;
use super::settings::{DispatcherSettings, Home};
use crate::observe::{DispatcherSnapshot, WorkerSnapshot};
use crate::rng::Rng;
use crate::sync::{AtomicBool, AtomicU64, Counter, Ordering};
use crate::time::nanos;

/// Activations between two looks around while there is local work (a prime, as in Go's scheduler).
const LOOK_EVERY: u32 = 61;
/// Tasks from the slot in a row while the ring has others.
const LIFO_RUNS: u32 = 3;
/// Looks at the injector in a row that may find something while own tasks wait.
const SHARES: u32 = 2;
/// A ring longer than one's own by so much gives one task away.
const UNEVEN: usize = 2;

/// A run that lasts longer is slow.
pub(crate) const SLOW: Duration = Duration::from_millis(100);
/// The time that a beat of [`Heart`] stands for.
pub(crate) const BEAT: Duration = Duration::from_millis(2);
/// Beats that are counted at once, at most.
pub(super) const BEATS_AT_ONCE: u64 = 10;

/// What the workers of one dispatcher share, whoever drives them.
pub(crate) struct Team {
    pub(crate) home: Home,
    pub(crate) name: Arc<str>,
    pub(crate) queues: Queues,
    pub(crate) throughput: u32,
    pub(crate) deadline: Duration,
}

impl Team {
    pub(crate) fn new(home: Home, name: Arc<str>, settings: &DispatcherSettings) -> Self {
        let DispatcherSettings { workers, throughput, deadline, .. } = *settings;
        Team { home, name, queues: Queues::new(workers), throughput, deadline }
    }

    /// Gives its state at `now_ns`, as plain data.
    pub(crate) fn snapshot(&self, now_ns: u64) -> DispatcherSnapshot {
        let worker = |(seat, queue): (&Seat, &RunQueue)| WorkerSnapshot {
            running: seat.running.load(Ordering::Relaxed),
            ring: queue.len(),
            busy_ns: seat.busy_ns(now_ns),
            activations: seat.activations.get(),
            steals: seat.steals.get(),
        };
        let queues = &self.queues;
        DispatcherSnapshot {
            name: self.name.clone(),
            injector: queues.injector.len(),
            workers: queues.seats.iter().zip(&queues.local).map(worker).collect(),
        }
    }
}

/// What one worker counts, for others to read.
pub(crate) struct Seat {
    /// Activations begun.
    pub(crate) activations: Counter,
    /// Whose run it is in.
    pub(crate) note: Arc<Running>,
    steals: Counter,
    running: AtomicBool,
    pub(super) busy: Counter,
    /// Since when its thread is awake; [`ASLEEP`] otherwise, and always for a virtual worker.
    pub(super) awake_since: AtomicU64,
}

/// Stands for no time.
pub(super) const ASLEEP: u64 = u64::MAX;

impl Default for Seat {
    fn default() -> Self {
        Seat {
            activations: Counter::default(),
            note: Arc::default(),
            steals: Counter::default(),
            running: AtomicBool::new(false),
            busy: Counter::default(),
            awake_since: AtomicU64::new(ASLEEP),
        }
    }
}

impl Seat {
    /// Notes whether the worker has something in hand.
    pub(crate) fn set_running(&self, running: bool) {
        // Ordering: Relaxed here and below, for display only.
        self.running.store(running, Ordering::Relaxed);
    }

    /// Adds to the time for which the worker was busy.
    pub(crate) fn add_busy(&self, ns: u64) {
        self.busy.add(ns);
    }

    fn busy_ns(&self, now_ns: u64) -> u64 {
        self.busy.get() + now_ns.saturating_sub(self.awake_since.load(Ordering::Relaxed))
    }
}

/// All queues of a dispatcher.
pub(crate) struct Queues {
    pub(crate) local: Vec<RunQueue>,
    pub(crate) injector: Injector,
    pub(crate) seats: Vec<Seat>,
}

impl Queues {
    pub(crate) fn new(workers: usize) -> Self {
        Queues {
            local: (0..workers).map(|_| RunQueue::default()).collect(),
            injector: Injector::default(),
            seats: (0..workers).map(|_| Seat::default()).collect(),
        }
    }

    /// Is true if some queue has a task.
    pub(crate) fn any(&self) -> bool {
        !self.injector.is_empty() || self.local.iter().any(|queue| !queue.is_empty())
    }

    /// Queues a task woken by this worker into its slot. Is true if others may now find work.
    pub(crate) fn push_lifo(&self, worker: usize, task: Task) -> bool {
        let displaced = self.local[worker].push_lifo(task);
        self.overflow(displaced.overflow);
        displaced.moved
    }

    /// Queues a task at the back of the worker's ring.
    pub(crate) fn push_back(&self, worker: usize, task: Task) {
        self.overflow(self.local[worker].push_back(task));
    }

    /// Takes everything.
    pub(crate) fn drain(&self) -> Vec<Task> {
        let mut all: Vec<Task> = std::iter::from_fn(|| self.injector.pop()).collect();
        for queue in &self.local {
            all.extend(std::iter::from_fn(|| queue.pop().map(|(task, _)| task)));
        }
        all
    }

    fn overflow(&self, tasks: Vec<Task>) {
        if !tasks.is_empty() {
            self.injector.push(tasks);
        }
    }
}

/// Counts slices of real time, so that a run that takes too long is noticed without asking a clock for every message.
///
/// I4 beats are counted when their time has passed, [`BEATS_AT_ONCE`] together at most; so who has heard n more than that
///    has lasted for n beats at least.
#[derive(Clone, Default)]
pub(crate) struct Heart(pub(super) Arc<AtomicU64>);

impl Heart {
    #[inline]
    pub(super) fn beats(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The seat of a worker in a crew, and which of the threads sits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Post {
    pub(crate) home: Home,
    pub(crate) index: usize,
    pub(crate) turn: u32,
}

impl Post {
    /// Reads what [`Worker::seat`] gave; `None` for 0. A crew has at most 64 workers.
    pub(crate) fn of(code: u32, home: Home) -> Option<Self> {
        let code = code.checked_sub(1)?;
        Some(Post { home, index: (code & 127) as usize, turn: code >> 7 })
    }
}

/// One worker's own part of the algorithm.
pub(crate) struct Worker {
    pub(crate) index: usize,
    pub(crate) home: Home,
    /// Whose run this worker is in.
    pub(crate) running: Arc<Running>,
    /// Counts the threads that have sat here before.
    pub(crate) turn: u32,
    throughput: u32,
    /// Activations since the last look at the injector.
    activations: u32,
    /// Messages since then.
    messages: u32,
    /// Looks in a row that found something there.
    shares: u32,
    /// Activations since the last look at the other rings.
    uneven: u32,
    lifo_runs: u32,
    /// Decides between the slot and the ring, in a Stepper's seeded order.
    chance: Option<Rng>,
    pub(super) heart: Heart,
    /// The beats counted when the present run began.
    pub(super) heard: u64,
}

impl Worker {
    pub(crate) fn new(index: usize, team: &Team, chance: Option<Rng>, heart: Heart) -> Self {
        Worker {
            index,
            home: team.home,
            running: team.queues.seats[index].note.clone(),
            turn: 0,
            throughput: team.throughput,
            activations: 0,
            messages: 0,
            shares: 0,
            uneven: 0,
            lifo_runs: 0,
            chance,
            heart,
            heard: 0,
        }
    }

    /// Names this worker's seat and its thread, never 0; see [`Post::of`].
    pub(crate) fn seat(&self) -> u32 {
        (self.turn << 7 | self.index as u32) + 1
    }

    /// Finds the next task to run, and counts it as an activation.
    pub(crate) fn find_task(&mut self, queues: &Queues) -> Option<Task> {
        let task = self
            .look_around(queues)
            .or_else(|| self.own(queues))
            .or_else(|| queues.injector.pop())
            .or_else(|| self.steal(queues))?;
        self.activations += 1;
        self.uneven += 1;
        queues.seats[self.index].activations.add(1);
        Some(task)
    }

    /// Counts messages of the present activation.
    pub(crate) fn handled(&mut self, messages: u32) {
        self.messages = self.messages.saturating_add(messages);
    }

    /// The present activation is ended by its deadline: that counts as a full batch, so that what came from outside has its turn.
    pub(crate) fn cut_short(&mut self) {
        self.messages = self.throughput;
    }

    /// Puts a task behind all others that are ready: if none of its own is, it looks at the injector next.
    pub(crate) fn put_back(&mut self, queues: &Queues, task: Task) {
        if queues.local[self.index].is_empty() && !queues.injector.is_empty() {
            self.messages = self.throughput;
        }
        queues.push_back(self.index, task);
    }

    /// Gives for how long the run that ends now has lasted at least, if that is too long; the next one begins.
    #[inline]
    pub(crate) fn overdue(&mut self) -> Option<u64> {
        let now = self.heart.beats();
        let passed = now - std::mem::replace(&mut self.heard, now);
        let lasted = passed.saturating_sub(BEATS_AT_ONCE).saturating_mul(nanos(BEAT));
        (lasted >= nanos(SLOW)).then_some(lasted)
    }

    fn look_around(&mut self, queues: &Queues) -> Option<Task> {
        if self.activations >= LOOK_EVERY || self.messages >= self.throughput {
            (self.activations, self.messages) = (0, 0);
            // A full batch is due to look again at once: without this those who wait in the own ring might never run.
            let is_their_turn = self.shares >= SHARES && !queues.local[self.index].is_empty();
            if let Some(task) = (!is_their_turn).then(|| self.share(queues)).flatten() {
                self.shares += 1;
                return Some(task);
            }
            self.shares = 0;
        }
        if self.uneven >= LOOK_EVERY {
            self.uneven = 0;
            return self.level(queues);
        }
        None
    }

    /// Takes this worker's share of the injector: the first task to run, the others behind its own.
    fn share(&mut self, queues: &Queues) -> Option<Task> {
        let room = RING.saturating_sub(queues.local[self.index].len()).max(1);
        let share = queues.injector.len().div_ceil(queues.local.len()).min(room);
        let first = queues.injector.pop()?;
        for _ in 1..share {
            let Some(task) = queues.injector.pop() else { break };
            queues.push_back(self.index, task);
        }
        Some(first)
    }

    /// Takes one task from the longest ring, if that is longer than the own one by two or more.
    fn level(&mut self, queues: &Queues) -> Option<Task> {
        let own = queues.local[self.index].len();
        let longest = self.others(queues).max_by_key(|&other| queues.local[other].len())?;
        if queues.local[longest].len() < own + UNEVEN {
            return None;
        }
        let task = queues.local[longest].take_one()?;
        queues.seats[self.index].steals.add(1);
        Some(task)
    }

    fn own(&mut self, queues: &Queues) -> Option<Task> {
        let queue = &queues.local[self.index];
        let (task, taken) = if self.lifo_runs >= LIFO_RUNS {
            queue.pop_ring_first()?
        } else if self.chance.as_mut().is_some_and(|c| c.below(2) == 0) {
            queue.pop_past_slot()?
        } else {
            queue.pop()?
        };
        self.lifo_runs = if taken == Taken::Slot { self.lifo_runs + 1 } else { 0 };
        Some(task)
    }

    fn steal(&mut self, queues: &Queues) -> Option<Task> {
        let task = self.steal_pass(queues, false).or_else(|| self.steal_pass(queues, true))?;
        queues.seats[self.index].steals.add(1);
        Some(task)
    }

    fn steal_pass(&mut self, queues: &Queues, and_slot: bool) -> Option<Task> {
        for victim in self.others(queues) {
            let mut stolen: VecDeque<Task> = queues.local[victim].steal(and_slot);
            if let Some(first) = stolen.pop_front() {
                for task in stolen {
                    queues.push_back(self.index, task);
                }
                return Some(first);
            }
        }
        None
    }

    /// Lists the other workers, the next one first.
    fn others(&self, queues: &Queues) -> impl Iterator<Item = usize> + use<> {
        let (n, index) = (queues.local.len(), self.index);
        (1..n).map(move |k| (index + k) % n)
    }
}
