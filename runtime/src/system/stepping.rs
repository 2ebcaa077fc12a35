//! Driving a system in virtual time, and waiting for a future on either dispatcher.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use super::{ActorSystem, Turn};
use crate::actor::ActorRef;
use crate::dispatch::{Dispatcher, Stepper};
use crate::id::ActorId;
use crate::observe::EventKind;
use crate::pattern::{AskError, Reply};
use crate::sync::{Condvar, Mutex, wait};
use crate::time::Instant;

impl ActorSystem {
    /// Runs one turn; `None` if nothing is left to do (or on a Pool, which runs by itself).
    ///
    /// # Panics
    /// If called from inside a turn of the same system.
    pub fn step(&self) -> Option<Turn> {
        self.step_until(Instant::FAR_FUTURE)
    }

    /// Runs one turn that begins at `limit` at the latest.
    ///
    /// # Panics
    /// If called from inside a turn of the same system.
    pub fn step_until(&self, limit: Instant) -> Option<Turn> {
        let stepper = self.stepper()?;
        self.shared.log.set_turn(stepper.turns());
        let turn = stepper.step(limit);
        if stepper.take_pushed() {
            self.shared.record(crate::id::ActorId::NOBODY, EventKind::ClockPushed);
        }
        turn
    }

    /// Runs all turns up to and including `limit`, and moves the clock there; gives how many.
    pub fn run_until(&self, limit: Instant) -> u64 {
        let mut turns = 0;
        while self.step_until(limit).is_some() {
            turns += 1;
        }
        if let Some(stepper) = self.stepper() {
            stepper.advance_to(limit);
        }
        turns
    }

    /// Runs for `d` of virtual time; gives how many turns that were.
    pub fn run_for(&self, d: Duration) -> u64 {
        self.run_until(self.now() + d)
    }

    /// Runs until nothing is left to do, at most `max` turns; true if it came to rest.
    pub fn run_until_quiet(&self, max: u64) -> bool {
        let mut left = max;
        while left > 0 && self.step().is_some() {
            left -= 1;
        }
        self.next_moment().is_none()
    }

    /// Counts the turns run so far; 0 on a Pool.
    pub fn turns(&self) -> u64 {
        self.stepper().map_or(0, Stepper::turns)
    }

    /// Says when something happens next, if anything will.
    pub fn next_moment(&self) -> Option<Instant> {
        self.stepper().and_then(Stepper::next_moment_at)
    }

    /// Runs one turn of this actor before all others; see `Stepper::step_actor`.
    pub(crate) fn step_actor(&self, actor: ActorId, messages: u32) -> Option<Turn> {
        let stepper = self.stepper()?;
        self.shared.log.set_turn(stepper.turns());
        stepper.step_actor(actor, messages)
    }

    /// Lists the actors that could run now; see `Stepper::ready_actors`.
    pub(crate) fn ready_actors(&self) -> Vec<ActorId> {
        self.stepper().map_or_else(Vec::new, Stepper::ready_actors)
    }

    /// Says when the next timer is due.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.stepper().and_then(Stepper::next_timer)
    }

    /// Moves the clock to `at`, whatever should have happened before.
    pub(crate) fn set_clock(&self, at: Instant) {
        if let Some(stepper) = self.stepper() {
            stepper.advance_to(at);
        }
    }

    fn stepper(&self) -> Option<&Stepper> {
        match &self.shared.dispatcher {
            Dispatcher::Stepper(stepper) => Some(stepper),
            #[cfg(not(target_family = "wasm"))]
            Dispatcher::Pool(_) => None,
        }
    }

    /// Is true if nothing runs and nothing is queued now; timers may be armed.
    pub fn is_quiet(&self) -> bool {
        match &self.shared.dispatcher {
            Dispatcher::Stepper(stepper) => stepper.is_quiet(),
            #[cfg(not(target_family = "wasm"))]
            Dispatcher::Pool(pool) => pool.is_parked(),
        }
    }

    /// Asks `target` and waits for the outcome, as [`ActorSystem::block_on`] does.
    ///
    /// # Errors
    /// As [`ActorRef::ask`]; [`AskError::WouldBlock`] at once if the caller is a worker of this system, which must not wait.
    ///
    /// # Panics
    /// On a Stepper, if the system comes to rest and there is neither an answer nor a deadline.
    pub fn ask_blocking<M: Send + 'static, R: Send + 'static>(
        &self,
        target: &ActorRef<M>,
        make: impl FnOnce(Reply<R>) -> M,
        timeout: Duration,
    ) -> Result<R, AskError> {
        if self.shared.dispatcher.is_worker_here() {
            return Err(AskError::WouldBlock);
        }
        self.block_on(target.ask(make, timeout))
    }

    /// Waits for a future: a Pool's caller sleeps, a Stepper is driven meanwhile.
    ///
    /// # Panics
    /// On a Stepper, if the system comes to rest and the future is still not ready.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(bell.clone());
        let mut cx = std::task::Context::from_waker(&waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
            if !self.is_stepper() {
                bell.sleep();
            } else if self.step().is_none() {
                // What the last turn did may have made it ready.
                match future.as_mut().poll(&mut cx) {
                    Poll::Ready(output) => return output,
                    Poll::Pending => panic!("the system is at rest and the future waits for ever"),
                }
            }
        }
    }
}

/// Wakes a sleeping caller.
#[derive(Default)]
struct Bell {
    rung: Mutex<bool>,
    condvar: Condvar,
}

impl Bell {
    fn sleep(&self) {
        let mut rung = self.rung.lock();
        while !*rung {
            rung = wait(&self.condvar, rung);
        }
        *rung = false;
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        *self.rung.lock() = true;
        self.condvar.notify_one();
    }
}
