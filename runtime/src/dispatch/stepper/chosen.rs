//! Turns in an order that somebody else chooses: the door for test scripts.
//!
//! I1 a chosen turn is one that another schedule could have had: the actor was ready, and a worker was free.
//! I2 an activation that has to make room goes to the back of its worker's queue and loses nothing but its batch.
//! Nothing here moves the clock.

use super::{Activation, Limits, Stepper, Turn};
use crate::dispatch::Task;
use crate::id::ActorId;
use crate::time::Instant;

impl Stepper {
    /// Fires what is due, and lists the actors that a free worker could run now, each once, in the order of their ids.
    /// [`ActorId::NOBODY`] stands for tasks that belong to no actor.
    ///
    /// # Panics
    /// If called from inside a turn.
    pub(crate) fn ready_actors(&self) -> Vec<ActorId> {
        let mut state = self.state();
        self.fire_due();
        self.end_runs(&mut state);
        let now = self.now();
        if state.workers.iter().all(|w| w.free_at > now) {
            return Vec::new();
        }
        let mut ready = self.queues.injector.actors();
        for (queue, w) in self.queues.local.iter().zip(&state.workers) {
            ready.extend(queue.actors());
            let current = w.current.as_ref().filter(|_| w.free_at <= now);
            ready.extend(current.map(|activation| activation.task.actor()));
        }
        ready.sort_unstable();
        ready.dedup();
        ready
    }

    /// Runs one turn of this actor, before all others: at most `messages`, 0 for signals only. `None` if it is not ready,
    /// or if no worker is free.
    ///
    /// # Panics
    /// If called from inside a turn.
    pub(crate) fn step_actor(&self, actor: ActorId, messages: u32) -> Option<Turn> {
        let mut state = self.state();
        self.fire_due();
        self.end_runs(&mut state);
        let now = self.now();
        let wanted = |task: &Task| task.actor() == actor;
        for index in 0..state.workers.len() {
            let w = &mut state.workers[index];
            let runs = w.free_at <= now && w.current.as_ref().is_some_and(|current| wanted(&current.task));
            if runs {
                let activation = w.current.take();
                return Some(self.turn_of(&mut state, index, activation, Limits { messages, fresh: false }));
            }
        }
        let free = state.workers.iter().enumerate().filter(|(_, w)| w.free_at <= now);
        let (_, index) = free.map(|(index, w)| (w.last_turn, index)).min()?;
        let queued = || self.queues.local.iter().find_map(|queue| queue.take(wanted));
        let task = self.queues.injector.take(wanted).or_else(queued)?;
        if let Some(aside) = state.workers[index].current.take() {
            self.queues.push_back(index, aside.task);
        }
        let activation = Activation { task, left: self.throughput };
        Some(self.turn_of(&mut state, index, Some(activation), Limits { messages, fresh: true }))
    }

    /// Says when the next timer is due, if one is armed.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timers.lock().next_deadline()
    }
}
