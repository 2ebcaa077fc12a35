//! What runs tasks: one scheduling algorithm ([`worker`]), two drivers of it.
//!
//! A [`Runnable`] is anything that can be run for a bounded number of messages: an actor's cell, a future, a one-shot job.
//! [`Pool`] gives every worker a thread; [`Stepper`] keeps k virtual workers on the caller's thread, in virtual time. Users
//! know *dispatchers* by name: each has workers and queues of its own (`settings`), all on one driver and one clock.
//! This module's [`Dispatcher`] is the driver, and the whole seam; the one `cfg` of the crate on the target stands here.
//!
//! I1 a task is queued at most once at a time (its owner sees to that: see `mailbox`).
//! I2 [`Dispatcher::later`] is `None` on a Pool: only in virtual time can an effect lie in the future.

mod cost;
#[cfg(not(target_family = "wasm"))]
mod crew;
mod gate;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod idle;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod pool;
pub(crate) mod run_queue;
pub(crate) mod running;
pub(crate) mod settings;
pub(crate) mod stepper;
mod virtual_crew;
pub(crate) mod worker;

use std::sync::Arc;

use crate::id::ActorId;
use crate::observe::DispatcherSnapshot;
use crate::time::{Instant, TimerKey};

pub use cost::CostModel;
pub(crate) use gate::Waiting;
#[cfg(not(target_family = "wasm"))]
pub(crate) use pool::Pool;
pub use settings::DispatcherSettings;
pub(crate) use settings::{Home, Place, Roster};
pub(crate) use stepper::Stepper;
pub use stepper::Turn;
pub(crate) use worker::{Post, Worker};

/// A queued task.
pub(crate) type Task = Arc<dyn Runnable>;

/// Messages between two looks at the clock, where a row of them may last only so long.
const CLOCK_EVERY: u32 = 16;

/// What a worker runs.
pub(crate) trait Runnable: Send + Sync {
    /// Runs for at most `run.limit` messages, and takes those that it handled off the limit.
    fn run(self: Arc<Self>, run: &mut Run<'_>) -> Next;

    /// Says which actor's task this is; nobody's, if it is none's.
    fn actor(&self) -> ActorId {
        ActorId::NOBODY
    }

    /// Ends a run that said [`Next::Busy`], when its time has passed; says what the task wants then.
    fn finish(self: Arc<Self>) -> Next {
        Next::Idle
    }

    /// Takes the news that a run has lasted for too long.
    fn ran_long(&self, _ns: u64) {}
}

/// One call of [`Runnable::run`].
pub(crate) struct Run<'a> {
    /// The worker that runs, for sends into its own queue.
    pub(crate) worker: &'a mut Worker,
    /// At most so many messages in this call, 0: signals only; afterwards, how many fewer than that there were.
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
    /// Queues a task that became ready in its home; by the worker that made it so, if it was one.
    pub(crate) fn schedule(&self, task: Task, home: Home, by: Option<&mut Worker>) {
        each!(self, d => d.schedule(task, home, by));
    }

    /// Gives the roster of dispatchers.
    pub(crate) fn roster(&self) -> &Roster {
        each!(self, d => d.roster())
    }

    /// Gives an actor its home; one that is to have a worker of its own gets it now.
    ///
    /// # Errors
    /// If the operating system refuses a thread.
    pub(crate) fn open(&self, place: &Place) -> std::io::Result<Home> {
        match (place, self) {
            (Place::Crew(home), _) => Ok(*home),
            #[cfg(not(target_family = "wasm"))]
            (Place::Own(settings), Dispatcher::Pool(pool)) => pool.open(settings),
            (Place::Own(settings), Dispatcher::Stepper(stepper)) => Ok(stepper.open(settings)),
        }
    }

    /// Takes back the home of an actor that has ended.
    pub(crate) fn release(&self, home: Home) {
        each!(self, d => d.release(home));
    }

    /// Gives the state of every dispatcher.
    pub(crate) fn snapshot(&self) -> Vec<DispatcherSnapshot> {
        each!(self, d => d.snapshot())
    }

    /// Charges the price of a job, where that has one.
    pub(crate) fn charge_task(&self) {
        match self {
            #[cfg(not(target_family = "wasm"))]
            Dispatcher::Pool(_) => {}
            Dispatcher::Stepper(stepper) => stepper.charge_task(),
        }
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

    /// Is true in virtual time.
    pub(crate) fn is_virtual(&self) -> bool {
        matches!(self, Dispatcher::Stepper(_))
    }

    /// Counts the turns of virtual time so far, the running one included.
    pub(crate) fn turns(&self) -> u64 {
        match self {
            #[cfg(not(target_family = "wasm"))]
            Dispatcher::Pool(_) => 0,
            Dispatcher::Stepper(stepper) => stepper.turns(),
        }
    }

    /// Counts the activations that a worker has begun, where workers are threads.
    #[cfg_attr(target_family = "wasm", expect(unused_variables, reason = "there are no threads"))]
    pub(crate) fn activations(&self, seat: Post) -> u64 {
        match self {
            #[cfg(not(target_family = "wasm"))]
            Dispatcher::Pool(pool) => pool.activations(seat),
            Dispatcher::Stepper(_) => 0,
        }
    }

    /// Gives the queue of a worker that does not return to a thread of its own; nothing where there are no threads.
    #[cfg_attr(target_family = "wasm", expect(unused_variables, reason = "there are no threads"))]
    pub(crate) fn replace(&self, worker: Option<Post>) {
        match self {
            #[cfg(not(target_family = "wasm"))]
            Dispatcher::Pool(pool) => worker.into_iter().for_each(|worker| pool.replace(worker)),
            Dispatcher::Stepper(_) => {}
        }
    }

    /// Spends CPU time of a worker of `home`.
    pub(crate) fn work(&self, d: std::time::Duration, home: Home) {
        each!(self, dispatcher => dispatcher.work(d, home));
    }

    /// Occupies a worker of `home` without CPU.
    pub(crate) fn block(&self, d: std::time::Duration, home: Home) {
        each!(self, dispatcher => dispatcher.block(d, home));
    }

    /// Arms a timer; `None` if it will never be due.
    pub(crate) fn set_timer(&self, due: Instant, what: Due) -> Option<TimerKey> {
        (due != Instant::FAR_FUTURE).then(|| each!(self, d => d.set_timer(due, what)))
    }

    /// Disarms a timer; false if it was due already.
    pub(crate) fn cancel_timer(&self, key: TimerKey) -> bool {
        each!(self, d => d.cancel_timer(key))
    }

    /// Gives the shortest period that a repeating timer may have: threads cannot keep a shorter one.
    pub(crate) fn shortest_period(&self) -> std::time::Duration {
        match self {
            #[cfg(not(target_family = "wasm"))]
            Dispatcher::Pool(_) => std::time::Duration::from_millis(1),
            Dispatcher::Stepper(_) => std::time::Duration::ZERO,
        }
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
    pub(crate) fn threads(name: &str, roster: Roster) -> Option<std::io::Result<Self>> {
        #[cfg(not(target_family = "wasm"))]
        return Some(Pool::start(name, roster).map(Dispatcher::Pool));
        #[cfg(target_family = "wasm")]
        {
            let _ = (name, roster);
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

    /// Takes all timers out, one by one.
    pub(crate) fn let_timers_go(&self, mut each: impl FnMut(Due)) {
        while let Some(due) = each!(self, d => d.pop_timer(Instant::FAR_FUTURE)) {
            each(due);
        }
    }

    /// Forgets all timers and queued tasks, which may hold cells.
    pub(crate) fn dismantle(&self) {
        each!(self, d => d.dismantle());
    }
}
