//! One OS thread per worker, and one that fires timers.
//!
//! I1 a worker sleeps only after it has announced itself and looked again (see `idle`).
//! I2 threads hold the pool's inner part, never the other way round: [`Pool::stop`] ends them all.
//! The timer thread only queues; no user code runs on it.

use std::sync::Arc;
use std::time::Duration;

use super::idle::Idle;
use super::worker::Queues;
use super::{Due, Next, Run, Task, Worker};
use crate::sync::{AtomicBool, AtomicU64, Condvar, Mutex, Ordering};
use crate::time::system::SystemClock;
use crate::time::{Instant, TimerKey, TimerQueue};

/// Searches before a worker goes to sleep.
const SPINS: u32 = 200;
/// Activations between two looks at the clock for the coarse time.
const CLOCK_EVERY: u32 = 32;

/// Drives worker threads; see the module's page.
pub(crate) struct Pool {
    inner: Arc<Inner>,
    threads: Mutex<Vec<std::thread::JoinHandle<()>>>,
}

struct Inner {
    queues: Queues,
    idle: Idle,
    clock: SystemClock,
    coarse: AtomicU64,
    throughput: u32,
    stopping: AtomicBool,
    timers: Mutex<TimerQueue<Due>>,
    timer_bell: Condvar,
}

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    /// If the operating system refuses a thread.
    pub(crate) fn start(name: &str, workers: usize, throughput: u32) -> std::io::Result<Self> {
        let inner = Arc::new(Inner {
            queues: Queues::new(workers),
            idle: Idle::new(workers),
            clock: SystemClock::new(),
            coarse: AtomicU64::new(0),
            throughput,
            stopping: AtomicBool::new(false),
            timers: Mutex::new(TimerQueue::new()),
            timer_bell: Condvar::new(),
        });
        let pool = Pool { inner, threads: Mutex::new(Vec::new()) };
        for index in 0..workers {
            let inner = pool.inner.clone();
            pool.spawn(format!("{name}-{index}"), move || inner.work_loop(index))?;
        }
        let inner = pool.inner.clone();
        pool.spawn(format!("{name}-timer"), move || inner.timer_loop())?;
        Ok(pool)
    }

    #[expect(clippy::disallowed_methods, reason = "a Pool is threads")]
    fn spawn(&self, name: String, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let thread = std::thread::Builder::new().name(name).spawn(body)?;
        self.threads.lock().push(thread);
        Ok(())
    }

    /// Ends all threads after their present run and does not wait: one of them may never return.
    pub(crate) fn abandon(&self) {
        self.tell_to_stop();
        self.threads.lock().clear();
    }

    fn tell_to_stop(&self) {
        // Ordering: SeqCst, seen by whoever is woken below.
        self.inner.stopping.store(true, Ordering::SeqCst);
        self.inner.idle.wake_all();
        drop(self.inner.timers.lock());
        self.inner.timer_bell.notify_all();
    }

    /// Ends all threads after their present run, and waits for them (not for the calling one, if it is a worker).
    #[expect(clippy::disallowed_methods, reason = "a thread must not wait for itself")]
    pub(crate) fn stop(&self) {
        self.tell_to_stop();
        let threads: Vec<_> = self.threads.lock().drain(..).collect();
        let me = std::thread::current().id();
        for thread in threads.into_iter().filter(|thread| thread.thread().id() != me) {
            // A worker thread catches panics of user code; one that died anyway has nothing more to give.
            let _ = thread.join();
        }
    }

    /// Is true if all workers sleep and nothing is queued.
    pub(crate) fn is_parked(&self) -> bool {
        self.inner.idle.sleepers() == self.inner.queues.local.len() && !self.inner.queues.any()
    }

    pub(crate) fn schedule(&self, task: Task, by: Option<&mut Worker>) {
        let inner = &self.inner;
        match by {
            Some(worker) => {
                if inner.queues.push_lifo(worker.index, task) {
                    inner.idle.wake_one();
                }
            }
            None => {
                inner.queues.injector.push([task]);
                inner.idle.wake_one();
            }
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.inner.clock.now()
    }

    pub(crate) fn coarse_now(&self) -> Instant {
        // Ordering: Relaxed, a stamp that may lag.
        Instant::from_nanos(self.inner.coarse.load(Ordering::Relaxed))
    }

    pub(crate) fn work(&self, d: Duration) {
        self.inner.idle.wake_one(); // what waits in this worker's slot must not wait for d
        let end = self.now() + d;
        while self.now() < end {
            std::hint::spin_loop();
        }
    }

    #[expect(clippy::disallowed_methods, reason = "to occupy the thread is what block(d) is for")]
    pub(crate) fn block(&self, d: Duration) {
        self.inner.idle.wake_one();
        std::thread::sleep(d);
    }

    pub(crate) fn set_timer(&self, due: Instant, what: Due) -> TimerKey {
        let mut timers = self.inner.timers.lock();
        let first = timers.next_deadline().is_none_or(|next| due < next);
        let key = timers.insert(due, what);
        drop(timers);
        if first {
            self.inner.timer_bell.notify_one();
        }
        key
    }

    pub(crate) fn cancel_timer(&self, key: TimerKey) -> bool {
        // The value is dropped after the lock: its drop may set or cancel timers.
        let cancelled = self.inner.timers.lock().cancel(key);
        cancelled.is_some()
    }

    pub(crate) fn timers(&self) -> usize {
        self.inner.timers.lock().len()
    }

    /// Takes the earliest timer that is due at `limit`.
    pub(crate) fn pop_timer(&self, limit: Instant) -> Option<Due> {
        self.inner.timers.lock().pop_due(limit).map(|(_, _, due)| due)
    }

    /// Forgets all timers and queued tasks.
    pub(crate) fn dismantle(&self) {
        let timers = std::mem::take(&mut *self.inner.timers.lock());
        drop((timers, self.inner.queues.drain()));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Inner {
    fn work_loop(&self, index: usize) {
        let mut worker = Worker::new(index);
        let mut activations = 0u32;
        while !self.stopping.load(Ordering::Relaxed) {
            match self.find(&mut worker) {
                Some(task) => {
                    activations = activations.wrapping_add(1);
                    if activations.is_multiple_of(CLOCK_EVERY) {
                        self.refresh_clock();
                    }
                    self.activate(&mut worker, task);
                }
                None => {
                    self.idle.sleep(index, || self.queues.any() || self.stopping.load(Ordering::SeqCst));
                    self.refresh_clock();
                }
            }
        }
    }

    /// Looks for a task, spinning a little before it gives up.
    fn find(&self, worker: &mut Worker) -> Option<Task> {
        for _ in 0..SPINS {
            if let Some(task) = worker.find_task(&self.queues) {
                return Some(task);
            }
            if self.stopping.load(Ordering::Relaxed) {
                return None;
            }
            std::hint::spin_loop();
        }
        None
    }

    fn activate(&self, worker: &mut Worker, task: Task) {
        let next = task.clone().run(&mut Run { worker, limit: self.throughput, fresh: true });
        if next != Next::Idle {
            self.queues.push_back(worker.index, task);
            if self.queues.local[worker.index].len() > 1 {
                self.idle.wake_one();
            }
        }
    }

    fn refresh_clock(&self) {
        // Ordering: Relaxed, a stamp that may lag; fetch_max, so that it never goes back.
        self.coarse.fetch_max(self.clock.now().as_nanos(), Ordering::Relaxed);
    }

    fn timer_loop(&self) {
        let mut timers = self.timers.lock();
        while !self.stopping.load(Ordering::SeqCst) {
            let now = self.clock.now();
            // The lock is let go while a timer fires: what fires may set timers.
            if let Some((_, _, due)) = timers.pop_due(now) {
                drop(timers);
                self.refresh_clock();
                due.fire();
                timers = self.timers.lock();
                continue;
            }
            timers = match timers.next_deadline() {
                Some(at) => crate::sync::wait_timeout(&self.timer_bell, timers, at - now),
                None => crate::sync::wait(&self.timer_bell, timers),
            };
        }
    }
}
