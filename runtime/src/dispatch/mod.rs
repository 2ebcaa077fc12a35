//! What runs tasks: one scheduling algorithm ([`worker`]), two drivers of it.
//!
//! A [`Runnable`] is anything that can be run for a bounded number of messages: an actor's cell, a future, a one-shot job.
//! [`Pool`] gives every worker a thread; [`Stepper`] keeps k virtual workers on the caller's thread, in virtual time.
//! This module's [`Dispatcher`] is the whole seam between the two; the one `cfg` of the crate on the target stands here.
//!
//! I1 a task is queued at most once at a time (its owner sees to that: see `mailbox`).
//! I2 [`Dispatcher::later`] is `None` on a Pool: only in virtual time can an effect lie in the future.

#[cfg(not(target_family = "wasm"))]
pub(crate) mod idle;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod pool;
pub(crate) mod run_queue;
pub(crate) mod running;
pub(crate) mod stepper;
pub(crate) mod worker;

use std::sync::Arc;

use crate::time::{Instant, TimerKey};

#[cfg(not(target_family = "wasm"))]
pub(crate) use pool::Pool;
pub(crate) use stepper::Stepper;
pub use stepper::Turn;
pub(crate) use worker::Worker;

/// A queued task.
pub(crate) type Task = Arc<dyn Runnable>;

/// What a worker runs.
pub(crate) trait Runnable: Send + Sync {
    /// Runs for at most `run.limit` messages.
    fn run(self: Arc<Self>, run: &mut Run<'_>) -> Next;

    /// Ends a run that said [`Next::Busy`], when its time has passed; says what the task wants then.
    fn finish(self: Arc<Self>) -> Next {
        Next::Idle
    }
}

/// One call of [`Runnable::run`].
pub(crate) struct Run<'a> {
    /// The worker that runs, for sends into its own queue.
    pub(crate) worker: &'a mut Worker,
    /// At most so many messages in this call.
    pub(crate) limit: u32,
    /// True in the first call of an activation: a new batch may be taken from the mailbox.
    pub(crate) fresh: bool,
}

/// What a task wants after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing to do: whoever brings work schedules it again.
    Idle,
    /// Has work, but its batch is used up: to the back of the queue.
    Yield,
    /// The limit ended the run within a batch.
    More,
    /// The run charged time, so in virtual time it lasts until [`Dispatcher::later`]: ask by [`Runnable::finish`] then.
    Busy,
}

/// What happens when a timer is due.
pub(crate) enum Due {
    /// Tells `0` that its timer with the token `1` is due.
    Signal(Arc<dyn OnTimer>, u64),
    /// Calls a function, once: an effect that is on its way.
    Call(Box<dyn FnOnce() + Send>),
    /// Calls a function, once, unless the system has ended before.
    Wish(Box<dyn FnOnce() + Send>),
}

/// Takes the news that a timer is due.
pub(crate) trait OnTimer: Send + Sync {
    fn on_timer(self: Arc<Self>, token: u64);
}

impl Due {
    fn fire(self) {
        match self {
            Due::Signal(target, token) => target.on_timer(token),
            Due::Call(call) | Due::Wish(call) => call(),
        }
    }
}

/// The two drivers behind one face.
#[allow(clippy::large_enum_variant, reason = "a system has one, behind an Arc")]
pub(crate) enum Dispatcher {
    #[cfg(not(target_family = "wasm"))]
    Pool(Pool),
    Stepper(Stepper),
}

macro_rules! each {
    ($self:ident, $d:ident => $body:expr) => {
        match $self {
            #[cfg(not(target_family = "wasm"))]
            Dispatcher::Pool($d) => $body,
            Dispatcher::Stepper($d) => $body,
        }
    };
}

impl Dispatcher {
    /// Queues a task that became ready; by the worker that made it so, if it was one.
    pub(crate) fn schedule(&self, task: Task, by: Option<&mut Worker>) {
        each!(self, d => d.schedule(task, by));
    }

    /// Gives the time; within a run on a Stepper it includes the work charged so far.
    pub(crate) fn now(&self) -> Instant {
        each!(self, d => d.now())
    }

    /// Gives a time that may lag by about a millisecond, for stamps that must cost nothing.
    pub(crate) fn coarse_now(&self) -> Instant {
        each!(self, d => d.coarse_now())
    }

    /// Says when what is done now becomes visible to others, if that is later than now.
    pub(crate) fn later(&self) -> Option<Instant> {
        match self {
            #[cfg(not(target_family = "wasm"))]
            Dispatcher::Pool(_) => None,
            Dispatcher::Stepper(stepper) => stepper.later(),
        }
    }

    /// Spends CPU time.
    pub(crate) fn work(&self, d: std::time::Duration) {
        each!(self, dispatcher => dispatcher.work(d));
    }

    /// Occupies a worker without CPU.
    pub(crate) fn block(&self, d: std::time::Duration) {
        each!(self, dispatcher => dispatcher.block(d));
    }

    /// Arms a timer; `None` if it will never be due.
    pub(crate) fn set_timer(&self, due: Instant, what: Due) -> Option<TimerKey> {
        (due != Instant::FAR_FUTURE).then(|| each!(self, d => d.set_timer(due, what)))
    }

    /// Disarms a timer; false if it was due already.
    pub(crate) fn cancel_timer(&self, key: TimerKey) -> bool {
        each!(self, d => d.cancel_timer(key))
    }

    /// Says whose run the calling thread is in, if it is in one.
    pub(crate) fn running_here(&self) -> Option<crate::id::ActorId> {
        each!(self, d => d.running_here())
    }

    /// Is true if the calling thread is a worker, or drives one now: it must not wait.
    pub(crate) fn is_worker_here(&self) -> bool {
        each!(self, d => d.is_worker_here())
    }

    /// Counts the armed timers.
    pub(crate) fn timers(&self) -> usize {
        each!(self, d => d.timers())
    }
}

impl Dispatcher {
    /// Starts threads; `None` where there are none.
    pub(crate) fn threads(name: &str, workers: usize, throughput: u32) -> Option<std::io::Result<Self>> {
        #[cfg(not(target_family = "wasm"))]
        return Some(Pool::start(name, workers, throughput).map(Dispatcher::Pool));
        #[cfg(target_family = "wasm")]
        {
            let _ = (name, workers, throughput);
            None
        }
    }

    /// Lets go of threads without waiting for them.
    pub(crate) fn abandon(&self) {
        match self {
            #[cfg(not(target_family = "wasm"))]
            Dispatcher::Pool(pool) => pool.abandon(),
            Dispatcher::Stepper(_) => {}
        }
    }

    /// Ends time, when all actors have ended: what is on its way arrives now, what was to happen later never does.
    pub(crate) fn end_time(&self) {
        let last = Instant::from_nanos(u64::MAX - 1);
        while let Some(due) = each!(self, d => d.pop_timer(last)) {
            if let Due::Call(call) = due {
                call();
            }
        }
    }

    /// Forgets all timers and queued tasks, which may hold cells.
    pub(crate) fn dismantle(&self) {
        each!(self, d => d.dismantle());
    }
}
