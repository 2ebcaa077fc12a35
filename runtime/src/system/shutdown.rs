//! The end of a system: actors stop in order, then the threads end.
//!
//! I1 it is idempotent; the first end stands.
//! I2 when the last actor has ended nothing is left on its way: no message, no open ask with a deadline, no timer.
//! I3 dropping a system ends it: on a Pool orderly within [`DROP_PATIENCE`], on a Stepper at once and without running hooks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::ActorSystem;
use crate::actor::Exit;
use crate::actor::cell::signal;
use crate::actor::failure::catch;
use crate::actor::forced::forced_paths;
use crate::actor::shared::Shared;
use crate::actor::signal::Signal;
use crate::dispatch::{Dispatcher, Due, Post};
use crate::observe::StopReason;

/// How long the drop of a system waits for its actors.
const DROP_PATIENCE: Duration = Duration::from_secs(5);

/// How long a shutdown waits for actors that were forced and whose runs may be about to return.
#[cfg(not(target_family = "wasm"))]
const GRACE: Duration = Duration::from_millis(100);
/// How long after the order to stop a worker may be in one and the same run before its queue gets another thread.
const RELIEF: Duration = Duration::from_secs(5);

/// Says why a system has not ended, or why its end could not be planned so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShutdownError {
    /// It did not end in time; with the paths of the actors that still live.
    Stuck(Vec<String>),
    /// The shutdown is past the point at which this could have been added.
    TooLate,
    /// There is no phase of this name.
    NoSuchPhase(String),
    /// There is a phase of this name already.
    NameTaken(String),
    /// The phase of this name would have to come both before and after another.
    Circle(String),
}

impl ShutdownError {
    /// Lists the paths of the actors that still live, if that is what is wrong.
    pub fn stuck(&self) -> &[String] {
        match self {
            ShutdownError::Stuck(paths) => paths,
            _ => &[],
        }
    }
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShutdownError::Stuck(paths) => {
                write!(f, "{} actors have not stopped in time: {}", paths.len(), paths.join(", "))
            }
            ShutdownError::TooLate => write!(f, "the shutdown is past that point"),
            ShutdownError::NoSuchPhase(name) => write!(f, "there is no phase {name} in the shutdown"),
            ShutdownError::NameTaken(name) => write!(f, "there is a phase {name} in the shutdown already"),
            ShutdownError::Circle(name) => {
                write!(f, "the phase {name} would have to come both before and after another")
            }
        }
    }
}

impl std::error::Error for ShutdownError {}

impl ActorSystem {
    /// Begins to stop all actors, children before parents, the user's before the system's; does not wait. If the coordinated
    /// shutdown has a task or an added phase, its phases come first.
    pub fn terminate(&self) {
        if self.coordinated_shutdown().end() {
            relieve_workers(&self.shared);
            signal(&self.root.any().0, Signal::Stop(StopReason::SystemShutdown), None);
        }
    }

    /// Says how the system ended, if it has.
    pub fn exit(&self) -> Option<Exit> {
        self.shared.ended.lock().clone()
    }

    /// Stops all actors and waits for them, at most `patience` (virtual time on a Stepper). An actor that does not return in
    /// time is forced ([`Shutdown`](crate::actor::Shutdown)) and named in [`Exit::Forced`].
    ///
    /// # Errors
    /// Names the actors that still live if it takes longer.
    pub fn shutdown(&self, patience: Duration) -> Result<Exit, ShutdownError> {
        self.terminate();
        self.await_end(patience)
    }

    /// Waits for the system's end by itself, at most `patience`.
    ///
    /// # Errors
    /// As [`ActorSystem::shutdown`].
    pub fn await_end(&self, patience: Duration) -> Result<Exit, ShutdownError> {
        let deadline = self.now() + patience;
        match &self.shared.dispatcher {
            // Those that were forced are at work until their runs return; here that takes no waiting.
            Dispatcher::Stepper(_) => {
                let over = || self.exit().is_some() && !self.leaves_somebody();
                while !over() && self.step_until(deadline).is_some() {}
            }
            #[cfg(not(target_family = "wasm"))]
            Dispatcher::Pool(pool) => {
                let mut ended = self.shared.ended.lock();
                while ended.is_none() && self.now() < deadline {
                    let left = deadline - self.now();
                    ended = crate::sync::wait_timeout(&self.shared.ended_bell, ended, left);
                }
                let (exited, grace) = (ended.is_some(), deadline.min(self.now() + GRACE));
                // Whoever has returned needs only a turn of a worker, and is waited for; the others may never return.
                let until = || if self.is_letting_go() { deadline } else { grace };
                while exited && self.leaves_somebody() && self.now() < until() {
                    let left = until() - self.now();
                    ended = crate::sync::wait_timeout(&self.shared.ended_bell, ended, left);
                }
                drop(ended);
                match exited {
                    true if !self.leaves_somebody() => pool.stop(),
                    true => pool.abandon(),
                    false => {}
                }
            }
        }
        let exit = self.exit().ok_or_else(|| ShutdownError::Stuck(self.living_paths()))?;
        self.shared.dispatcher.end_time();
        self.shared.endless.end();
        Ok(exit)
    }

    /// Lists the actors that were forced to stop and have not returned from their runs yet.
    pub fn forced(&self) -> Vec<String> {
        forced_paths(&self.shared.living())
    }

    /// Is true while an actor that was forced has not let go of what it had.
    fn leaves_somebody(&self) -> bool {
        self.shared.living().iter().any(|cell| cell.head().is_forced())
    }

    /// Is true while an actor that was forced has returned, and waits for a worker to let go of what it had.
    #[cfg(not(target_family = "wasm"))]
    fn is_letting_go(&self) -> bool {
        self.shared.living().iter().any(|cell| cell.head().is_forced() && !cell.head().is_stuck())
    }

    fn living_paths(&self) -> Vec<String> {
        self.shared
            .living()
            .iter()
            .map(|cell| cell.head().path.to_string())
            .filter(|path| !path.is_empty())
            .collect()
    }
}

/// Sees to it that a stop is carried out though all workers may be held by runs that do not return.
pub(super) fn relieve_workers(shared: &Arc<Shared>) {
    let dispatcher = &shared.dispatcher;
    if dispatcher.is_virtual() {
        return; // time passes there, and every run ends
    }
    let at_work = |shared: &Shared| -> Vec<(Post, u64)> {
        let seats = shared.living().into_iter().filter_map(|cell| cell.head().worker_in_run());
        seats.map(|seat| (seat, shared.dispatcher.activations(seat))).collect()
    };
    let (weak, before) = (Arc::downgrade(shared), at_work(shared));
    let relieve = move || {
        let Some(shared) = weak.upgrade() else { return };
        for (seat, _) in at_work(&shared).iter().filter(|held| before.contains(held)) {
            shared.dispatcher.replace(Some(*seat));
        }
    };
    dispatcher.set_timer(shared.now() + RELIEF, Due::Wish(Box::new(relieve)));
}

impl Drop for ActorSystem {
    fn drop(&mut self) {
        if !self.is_stepper() && self.exit().is_none() && !std::thread::panicking() {
            // An actor that is stuck keeps its thread; there is nobody left to tell.
            let _ = self.shutdown(DROP_PATIENCE);
        }
        self.shared.dispatcher.abandon();
        let root = self.root.any();
        let head = root.0.head();
        self.shared.dispatcher.let_timers_go(|due| head.discard("drop of a timer", due));
        // Futures lie in its queues.
        let _ = catch(|| {
            self.shared.dispatcher.dismantle();
            Ok(())
        });
        self.shared.living().iter().for_each(|cell| cell.dismantle());
        // Both hold references to actors, and those hold the system.
        self.shared.letters.set_sink(None);
        self.shared.groups.clear();
    }
}
