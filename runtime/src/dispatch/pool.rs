//! One OS thread per worker, and one that fires timers.
//!
//! I1 a worker sleeps only after it has announced itself and looked again (see `idle`).
//! I2 threads hold the pool's inner part, never the other way round: [`Pool::stop`] ends them all.
//! I3 while a worker is awake the *timer thread* ticks: it keeps the coarse clock, and it wakes a sleeper for a task that
//!    waits in the slot of a worker whose run takes long. When all sleep, it sleeps too, until the next timer.
//! Besides, the timer thread delivers what is due. Of user code it runs what makes a message of an answer, and drops.

use std::sync::Arc;
use std::time::Duration;

use super::idle::Idle;
use super::running::Running;
use super::worker::Queues;
use super::{Due, Next, Run, Task, Worker};
use crate::id::ActorId;
use crate::sync::{AtomicBool, AtomicU64, Condvar, Counter, Mutex, Ordering};
use crate::time::system::SystemClock;
use crate::time::{Instant, TimerKey, TimerQueue};

/// Searches before a worker goes to sleep.
const SPINS: u32 = 200;
/// How often the timer thread looks after awake workers; the coarse clock lags by about this.
const TICK: Duration = Duration::from_millis(2);

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
    timers: Mutex<Timers>,
    timer_bell: Condvar,
    /// True while the timer thread ticks: the coarse clock is then good.
    ticking: AtomicBool,
    /// Activations begun, by worker.
    activations: Vec<Counter>,
    /// Whose run each worker is in.
    running: Vec<Arc<Running>>,
}

#[derive(Default)]
struct Timers {
    queue: TimerQueue<Due>,
    /// True from the taking of a timer to the end of its delivery.
    firing: bool,
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
            timers: Mutex::default(),
            timer_bell: Condvar::new(),
            ticking: AtomicBool::new(false),
            activations: (0..workers).map(|_| Counter::default()).collect(),
            running: (0..workers).map(|_| Arc::default()).collect(),
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
        let timers = self.inner.timers.lock();
        !timers.firing && self.inner.all_sleep() && !self.inner.queues.any()
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
        match self.inner.ticking.load(Ordering::Relaxed) {
            true => Instant::from_nanos(self.inner.coarse.load(Ordering::Relaxed)),
            false => self.now(),
        }
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
        let first = timers.queue.next_deadline().is_none_or(|next| due < next);
        let key = timers.queue.insert(due, what);
        drop(timers);
        if first {
            self.inner.timer_bell.notify_one();
        }
        key
    }

    pub(crate) fn cancel_timer(&self, key: TimerKey) -> bool {
        // The value is dropped after the lock: its drop may set or cancel timers.
        let cancelled = self.inner.timers.lock().queue.cancel(key);
        cancelled.is_some()
    }

    pub(crate) fn timers(&self) -> usize {
        let timers = self.inner.timers.lock();
        timers.queue.len() + usize::from(timers.firing)
    }

    /// Says whose run the calling thread is in.
    pub(crate) fn running_here(&self) -> Option<ActorId> {
        let here = self.inner.running.iter().find(|running| running.is_here())?;
        Some(here.actor()).filter(|actor| *actor != ActorId::NOBODY)
    }

    pub(crate) fn is_worker_here(&self) -> bool {
        self.inner.running.iter().any(|running| running.is_here())
    }

    /// Takes the earliest timer that is due at `limit`.
    pub(crate) fn pop_timer(&self, limit: Instant) -> Option<Due> {
        self.inner.timers.lock().queue.pop_due(limit).map(|(_, _, due)| due)
    }

    /// Forgets all timers and queued tasks.
    pub(crate) fn dismantle(&self) {
        let timers = std::mem::take(&mut self.inner.timers.lock().queue);
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
        let mut worker = Worker::new(index, None);
        worker.running = self.running[index].clone();
        worker.running.settle_here();
        while !self.stopping.load(Ordering::Relaxed) {
            match self.find(&mut worker) {
                Some(task) => {
                    self.activations[index].add(1);
                    self.activate(&mut worker, task);
                }
                None => {
                    self.idle.sleep(index, || self.queues.any() || self.stopping.load(Ordering::SeqCst));
                    self.start_ticking();
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

    fn all_sleep(&self) -> bool {
        self.idle.sleepers() == self.queues.local.len()
    }

    /// Called by a worker that woke: the timer thread is to look after it.
    fn start_ticking(&self) {
        // Ordering: Relaxed; if it is true the timer thread is about to look at the sleepers anyway.
        if !self.ticking.load(Ordering::Relaxed) {
            // The timer thread looks at the sleepers under this lock, or waits already: the bell is heard.
            drop(self.timers.lock());
            self.timer_bell.notify_one();
        }
    }

    fn timer_loop(&self) {
        let mut seen = vec![0; self.activations.len()];
        let mut timers = self.timers.lock();
        while !self.stopping.load(Ordering::SeqCst) {
            // The lock is let go while a timer fires: what fires may set timers.
            if let Some((_, _, due)) = timers.queue.pop_due(self.clock.now()) {
                timers.firing = true;
                drop(timers);
                self.refresh_clock();
                due.fire();
                timers = self.timers.lock();
                timers.firing = false;
                continue;
            }
            let ticks = !self.all_sleep();
            if ticks {
                self.refresh_clock();
                self.rescue(&mut seen);
            }
            self.ticking.store(ticks, Ordering::Relaxed);
            let next = timers.queue.next_deadline().map(|at| at - self.clock.now());
            timers = match (next, ticks) {
                (Some(next), true) => crate::sync::wait_timeout(&self.timer_bell, timers, next.min(TICK)),
                (Some(next), false) => crate::sync::wait_timeout(&self.timer_bell, timers, next),
                (None, true) => crate::sync::wait_timeout(&self.timer_bell, timers, TICK),
                (None, false) => crate::sync::wait(&self.timer_bell, timers),
            };
        }
    }

    /// Wakes a sleeper for each worker that has had something queued in one and the same activation for a whole tick.
    fn rescue(&self, seen: &mut [u64]) {
        for (index, seen) in seen.iter_mut().enumerate() {
            let before = std::mem::replace(seen, self.activations[index].get());
            if *seen == before && !self.queues.local[index].is_empty() {
                self.idle.wake_one();
            }
        }
    }
}
