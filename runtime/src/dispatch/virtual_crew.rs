//! The virtual workers of one dispatcher on a Stepper.
//!
//! I1 a task whose run charged time is *held*: nobody can run it before that time has passed.
//! I2 an activation goes on in the next turn of its worker until its batch, its throughput or its deadline ends it.

use std::sync::Arc;

use super::worker::{Heart, Team};
use super::{CLOCK_EVERY, Next, Task, Worker};
use crate::rng::Rng;
use crate::sync::{AtomicBool, Ordering};
use crate::time::Instant;

/// What is known of a dispatcher outside of turns: its queues, and whether its workers take part.
pub(crate) struct Guild {
    pub(crate) team: Team,
    /// The number of its first worker; numbers are given out once.
    pub(crate) first: usize,
    /// True from the first task on.
    joined: AtomicBool,
    ended: AtomicBool,
}

impl Guild {
    pub(crate) fn new(team: Team, first: usize) -> Self {
        Guild { team, first, joined: AtomicBool::new(false), ended: AtomicBool::new(false) }
    }

    /// Is true the first time.
    pub(crate) fn joins(&self) -> bool {
        // Ordering: Relaxed here and below, one thread drives a Stepper.
        !self.joined.load(Ordering::Relaxed) && !self.joined.swap(true, Ordering::Relaxed)
    }

    /// Lets its workers leave before the next turn.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

/// The workers of one dispatcher, or the one of a pinned actor.
pub(crate) struct VirtualCrew {
    pub(crate) guild: Arc<Guild>,
    pub(crate) workers: Vec<VirtualWorker>,
}

pub(crate) struct VirtualWorker {
    pub(crate) number: usize,
    pub(crate) worker: Worker,
    pub(crate) free_at: Instant,
    pub(crate) last_turn: u64,
    /// The activation that this worker is in, between two turns of it.
    pub(crate) current: Option<Activation>,
    /// The activation whose last run lasts until `free_at`.
    pub(crate) held: Option<Activation>,
}

pub(crate) struct Activation {
    pub(crate) task: Task,
    /// Turns so far, the present one included.
    turns: u32,
    began: Instant,
}

impl Activation {
    pub(crate) fn new(task: Task, began: Instant) -> Self {
        Activation { task, turns: 0, began }
    }

    /// Counts a turn.
    pub(crate) fn turn(&mut self) {
        self.turns += 1;
    }

    /// Is true if it may go on at `now`.
    fn may_go_on(&self, team: &Team, now: Instant) -> bool {
        let late = || now - self.began >= team.deadline;
        let timed = !team.deadline.is_zero() && self.turns.is_multiple_of(CLOCK_EVERY);
        self.turns < team.throughput && !(timed && late())
    }
}

impl VirtualWorker {
    pub(crate) fn is_busy(&self) -> bool {
        self.current.is_some() || self.held.is_some()
    }

    /// Puts a task where it belongs after a run that ended at `now`.
    pub(crate) fn keep(&mut self, team: &Team, activation: Activation, next: Next, now: Instant) {
        let index = self.worker.index;
        match next {
            Next::Idle => {}
            Next::Busy => self.held = Some(activation),
            Next::More if activation.may_go_on(team, now) => self.current = Some(activation),
            Next::More | Next::Yield => {
                if next == Next::More && activation.turns < team.throughput {
                    self.worker.cut_short();
                }
                self.worker.put_back(&team.queues, activation.task);
            }
        }
        team.queues.seats[index].set_running(self.is_busy());
    }
}

impl VirtualCrew {
    /// Makes the workers; chance comes from `order`, if there is any.
    pub(crate) fn new(guild: Arc<Guild>, order: Option<&Rng>) -> Self {
        let worker = |index| {
            let number = guild.first + index;
            let chance = order.map(|order| order.split(number as u64));
            VirtualWorker {
                number,
                worker: Worker::new(index, &guild.team, chance, Heart::default()),
                free_at: Instant::ZERO,
                last_turn: 0,
                current: None,
                held: None,
            }
        };
        let workers = (0..guild.team.queues.seats.len()).map(worker).collect();
        VirtualCrew { workers, guild }
    }

    /// Is true if it has a task, queued or in hand.
    pub(crate) fn has_work(&self) -> bool {
        self.guild.team.queues.any() || self.workers.iter().any(VirtualWorker::is_busy)
    }

    /// Lets go of the tasks whose runs have lasted until now.
    pub(crate) fn end_runs(&mut self, now: Instant) {
        for w in &mut self.workers {
            if w.free_at <= now
                && let Some(held) = w.held.take()
            {
                let next = held.task.clone().finish();
                w.keep(&self.guild.team, held, next, now);
            }
        }
    }

    /// Lists the free workers that have something to do. A lone task in the slot of a free worker stays with it; a second
    /// task, or one behind a busy worker, is for whoever is free.
    pub(crate) fn ready(&self, now: Instant) -> impl Iterator<Item = (usize, &VirtualWorker)> {
        let queues = &self.guild.team.queues;
        let stealable = |w: &VirtualWorker| {
            let queued = queues.local[w.worker.index].len();
            queued > 1 || (queued == 1 && (w.free_at > now || w.current.is_some()))
        };
        let shared = !queues.injector.is_empty() || self.workers.iter().any(stealable);
        self.workers.iter().enumerate().filter(move |(index, w)| {
            w.free_at <= now && (shared || w.current.is_some() || !queues.local[*index].is_empty())
        })
    }

    /// Says when the next of its workers is free that has, or may find, something to do.
    pub(crate) fn next_moment(&self) -> Option<Instant> {
        let queued = self.guild.team.queues.any();
        self.workers.iter().filter(|w| queued || w.is_busy()).map(|w| w.free_at).min()
    }
}
