//! Work beside the actor: futures and jobs that run on the dispatcher, their result piped to the actor as one message.
//!
//! I1 a task is queued or running at most once at a time; a wake-up while it runs queues it once more.
//! I2 a restart or stop of its actor cancels a task that has not ended; its result is then nobody's message.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use crate::actor::cell::Item;
use crate::actor::failure::catch;
use crate::actor::shared::Shared;
use crate::actor::{Actor, Cancel, Context};
use crate::dispatch::{Home, Next, Run, Runnable, Waiting};
use crate::observe::EventKind;
use crate::sync::Mutex;
use crate::time::Instant;

/// Says why a task has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError {
    /// It panicked.
    Panicked(String),
    /// Its handle cancelled it.
    Cancelled,
    /// Too many blocking jobs wait for a thread; this one was not taken in.
    PoolFull,
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::Panicked(text) => write!(f, "the task panicked: {text}"),
            TaskError::Cancelled => write!(f, "the task was cancelled"),
            TaskError::PoolFull => write!(f, "too many blocking jobs wait for a thread"),
        }
    }
}

impl std::error::Error for TaskError {}

pub(super) type Done<T> = Box<dyn FnOnce(Result<T, TaskError>) + Send>;

/// A future on the dispatcher.
struct FutureTask<T> {
    shared: Arc<Shared>,
    home: Home,
    state: Mutex<TaskState<T>>,
}

struct TaskState<T> {
    future: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    done: Option<Done<T>>,
    queued: bool,
}

impl<T: Send + 'static> Runnable for FutureTask<T> {
    fn run(self: Arc<Self>, _run: &mut Run<'_>) -> Next {
        let future = {
            let mut state = self.state.lock();
            state.queued = false;
            state.future.take()
        };
        let Some(mut future) = future else { return Next::Idle };
        let waker = Waker::from(self.clone());
        let polled = catch(|| Ok(future.as_mut().poll(&mut std::task::Context::from_waker(&waker))));
        let result = match polled {
            Ok(Poll::Pending) => return self.park(future),
            Ok(Poll::Ready(value)) => Ok(value),
            Err(why) => Err(TaskError::Panicked(why.text().to_owned())),
        };
        let done = self.state.lock().done.take();
        discard(&self.shared, "drop of a future", future);
        if let Some(done) = done {
            done(result);
        }
        Next::Idle
    }
}

impl<T: Send + 'static> FutureTask<T> {
    /// Puts the future back, unless it was cancelled; asks for another run if it was woken meanwhile.
    fn park(&self, future: Pin<Box<dyn Future<Output = T> + Send>>) -> Next {
        let mut state = self.state.lock();
        if state.done.is_none() {
            drop(state);
            discard(&self.shared, "drop of a future", future);
            return Next::Idle;
        }
        state.future = Some(future);
        if state.queued { Next::Yield } else { Next::Idle }
    }

    fn finish(&self, how: Option<TaskError>) -> bool {
        let (future, done) = {
            let mut state = self.state.lock();
            (state.future.take(), state.done.take())
        };
        discard(&self.shared, "drop of a future", future);
        match (done, how) {
            (Some(done), Some(error)) => {
                done(Err(error));
                true
            }
            (done, _) => done.is_some(),
        }
    }
}

impl<T: Send + 'static> Wake for FutureTask<T> {
    fn wake(self: Arc<Self>) {
        {
            let mut state = self.state.lock();
            if state.done.is_none() || std::mem::replace(&mut state.queued, true) {
                return;
            }
            if state.future.is_none() {
                return; // it runs now, and will see that it was woken
            }
        }
        let shared = self.shared.clone();
        let home = self.home;
        shared.dispatcher.schedule(self, home, None);
    }
}

impl<T: Send + 'static> Cancel for FutureTask<T> {
    fn cancel(&self) {
        self.finish(None);
    }

    fn is_over(&self) -> bool {
        self.state.lock().done.is_none()
    }
}

impl<T> Drop for FutureTask<T> {
    fn drop(&mut self) {
        let future = self.state.lock().future.take();
        discard(&self.shared, "drop of a future", future);
    }
}

/// What a job is to do, what its result becomes, and its place among those that wait for a blocking thread, if it is one.
type Todo<F, T> = (F, Done<T>, Option<Waiting>);

/// A job on the dispatcher: runs once, by itself, with its own work and block.
struct Job<F, T> {
    shared: Arc<Shared>,
    home: Home,
    /// What is to be done, until it is.
    state: Mutex<Option<Todo<F, T>>>,
}

impl<F, T> Runnable for Job<F, T>
where
    F: FnOnce(&mut TaskContext) -> T + Send,
    T: Send + 'static,
{
    fn run(self: Arc<Self>, _run: &mut Run<'_>) -> Next {
        let taken = self.state.lock().take();
        if let Some((job, done, place)) = taken {
            drop(place); // it waits no longer
            self.shared.dispatcher.charge_task();
            let mut cx = TaskContext { shared: self.shared.clone(), home: self.home };
            let result = catch(|| Ok(job(&mut cx))).map_err(|why| TaskError::Panicked(why.text().to_owned()));
            done(result);
        }
        Next::Idle
    }
}

impl<F: Send, T> Cancel for Job<F, T> {
    fn cancel(&self) {
        let taken = self.state.lock().take();
        discard(&self.shared, "drop of a job", taken);
    }

    fn is_over(&self) -> bool {
        self.state.lock().is_none()
    }
}

/// Drops what is the user's: a panic in that is reported and decides nothing.
fn discard<V>(shared: &Shared, what: &'static str, value: V) {
    let dropped = catch(|| {
        drop(value);
        Ok(())
    });
    if let Err(why) = dropped {
        shared.record(shared.log.current(), EventKind::HookFailed { hook: what, text: why.report().text });
    }
}

/// What a job may do.
pub struct TaskContext {
    shared: Arc<Shared>,
    home: Home,
}

impl fmt::Debug for TaskContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskContext")
    }
}

impl TaskContext {
    /// Gives the system's time; it moves with the work charged.
    pub fn now(&self) -> Instant {
        self.shared.now()
    }

    /// Spends `d` of CPU, as [`Context::work`] does.
    pub fn work(&mut self, d: Duration) {
        self.shared.dispatcher.work(d, self.home);
    }

    /// Occupies a worker for `d` without CPU, as [`Context::block`] does.
    pub fn block(&mut self, d: Duration) {
        self.shared.dispatcher.block(d, self.home);
    }
}

/// A handle on a piped task; dropping it changes nothing.
#[derive(Clone)]
pub struct TaskHandle {
    task: Weak<dyn CancelLoudly>,
}

trait CancelLoudly: Send + Sync {
    fn cancel_loudly(&self) -> bool;
}

impl<T: Send + 'static> CancelLoudly for FutureTask<T> {
    fn cancel_loudly(&self) -> bool {
        self.finish(Some(TaskError::Cancelled))
    }
}

impl<F: Send, T: Send> CancelLoudly for Job<F, T> {
    fn cancel_loudly(&self) -> bool {
        let taken = self.state.lock().take();
        taken.map(|(_, done, _)| done(Err(TaskError::Cancelled))).is_some()
    }
}

/// A task that never was.
struct Nothing;

impl CancelLoudly for Nothing {
    fn cancel_loudly(&self) -> bool {
        false
    }
}

impl TaskHandle {
    /// Makes a handle on a task that has ended already.
    pub(super) fn ended() -> Self {
        let nothing: Weak<Nothing> = Weak::new();
        TaskHandle { task: nothing }
    }

    /// Cancels the task; its actor gets [`TaskError::Cancelled`]. False if it has ended.
    pub fn cancel(&self) -> bool {
        self.task.upgrade().is_some_and(|task| task.cancel_loudly())
    }
}

impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskHandle")
    }
}

impl<A: Actor> Context<'_, A> {
    /// Runs a future on the dispatcher; its result comes back as one message of this actor's own, made by `map`. A restart
    /// or stop of this actor cancels it.
    pub fn pipe_to_self<T: Send + 'static>(
        &mut self,
        future: impl Future<Output = T> + Send + 'static,
        map: impl FnOnce(Result<T, TaskError>) -> A::Msg + Send + 'static,
    ) -> TaskHandle {
        let state = TaskState {
            future: Some(Box::pin(future) as Pin<Box<_>>),
            done: Some(self.done(map)),
            queued: true,
        };
        let head = &self.cell.head;
        let task = FutureTask { shared: head.shared.clone(), home: head.home, state: Mutex::new(state) };
        let task = Arc::new(task);
        let handle: Weak<dyn CancelLoudly> = Arc::downgrade(&task) as Weak<_>;
        self.keep_task(task.clone());
        self.schedule(task);
        TaskHandle { task: handle }
    }

    /// Runs `job` as a task of its own on the dispatcher, beside this actor; its result comes back as one message of this
    /// actor's own, made by `map`. A restart or stop of this actor cancels it if it has not begun.
    pub fn spawn_task<T: Send + 'static>(
        &mut self,
        job: impl FnOnce(&mut TaskContext) -> T + Send + 'static,
        map: impl FnOnce(Result<T, TaskError>) -> A::Msg + Send + 'static,
    ) -> TaskHandle {
        let done = self.done(map);
        self.spawn_job(self.cell.head.home, (job, done, None))
    }

    /// Runs a job somewhere.
    pub(super) fn spawn_job<F, T: Send + 'static>(&mut self, home: Home, what: Todo<F, T>) -> TaskHandle
    where
        F: FnOnce(&mut TaskContext) -> T + Send + 'static,
    {
        let shared = self.cell.head.shared.clone();
        let task = Arc::new(Job { shared, home, state: Mutex::new(Some(what)) });
        let handle: Weak<dyn CancelLoudly> = Arc::downgrade(&task) as Weak<_>;
        self.keep_task(task.clone());
        self.schedule_in(home, task);
        TaskHandle { task: handle }
    }

    pub(super) fn done<T: Send + 'static>(
        &self,
        map: impl FnOnce(Result<T, TaskError>) -> A::Msg + Send + 'static,
    ) -> Done<T> {
        let (cell, incarnation) = (self.cell.clone(), self.answers_to());
        Box::new(move |result| {
            match catch(|| Ok(map(result))) {
                Ok(message) => {
                    // An actor that has ended is told nothing.
                    let _ = cell.send_own(Item::Answer(incarnation, message), None);
                }
                Err(why) => {
                    cell.head
                        .record(EventKind::HookFailed { hook: "map of a result", text: why.report().text });
                }
            }
        })
    }
}
