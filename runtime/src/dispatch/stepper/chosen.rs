//! Turns in an order that somebody else chooses: the door for test scripts.
//!
//! I1 a chosen turn is one that another schedule could have had: the actor was ready, and a worker of its own was free.
//! I2 an activation that has to make room goes to the back of its worker's queue and loses nothing but its batch.
//! Nothing here moves the clock.

use super::{Activation, Limits, Seat, State, Stepper, Turn, VirtualCrew};
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
        let now = self.begin_choice(&mut state);
        let mut ready = Vec::new();
        for crew in &state.crews {
            let queues = &crew.guild.team.queues;
            let free = || crew.workers.iter().filter(|w| w.free_at <= now);
            if free().next().is_some() {
                ready.extend(queues.injector.actors());
                ready.extend(queues.local.iter().flat_map(|queue| queue.actors()));
                ready.extend(free().filter_map(|w| Some(w.current.as_ref()?.task.actor())));
            }
        }
        ready.sort_unstable();
        ready.dedup();
        ready
    }

    /// Runs one turn of this actor, before all others: at most `messages`, 0 for signals only. `None` if it is not ready,
    /// or if no worker of its dispatcher is free.
    ///
    /// # Panics
    /// If called from inside a turn.
    pub(crate) fn step_actor(&self, actor: ActorId, messages: u32) -> Option<Turn> {
        let mut state = self.state();
        let now = self.begin_choice(&mut state);
        let wanted = |task: &Task| task.actor() == actor;
        for c in 0..state.crews.len() {
            let found = Self::take(&mut state.crews[c], now, wanted);
            if let Some((index, activation, fresh)) = found {
                let seat: Seat = (c, index);
                return Some(self.turn_of(&mut state, seat, Some(activation), Limits { messages, fresh }));
            }
        }
        None
    }

    /// Takes a task out of its queue, or out of the activation that it is in, for a free worker of its crew.
    fn take(
        crew: &mut VirtualCrew,
        now: Instant,
        wanted: impl Fn(&Task) -> bool + Copy,
    ) -> Option<(usize, Activation, bool)> {
        let free = |w: &super::VirtualWorker| w.free_at <= now;
        for (index, w) in crew.workers.iter_mut().enumerate() {
            if free(w)
                && let Some(current) = w.current.take_if(|current| wanted(&current.task))
            {
                return Some((index, current, false));
            }
        }
        let workers = crew.workers.iter().enumerate().filter(|(_, w)| free(w));
        let (_, index) = workers.map(|(index, w)| (w.last_turn, index)).min()?;
        let queues = &crew.guild.team.queues;
        let queued = || queues.local.iter().find_map(|queue| queue.take(wanted));
        let task = queues.injector.take(wanted).or_else(queued)?;
        if let Some(aside) = crew.workers[index].current.take() {
            queues.push_back(index, aside.task);
        }
        Some((index, Activation::new(task, now), true))
    }

    fn begin_choice(&self, state: &mut State) -> Instant {
        self.fire_due();
        self.admit(state);
        let now = self.now();
        state.crews.iter_mut().for_each(|crew| crew.end_runs(now));
        now
    }

    /// Says when the next timer is due, if one is armed.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timers.lock().next_deadline()
    }
}
