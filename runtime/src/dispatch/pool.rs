//! OS threads: those of every crew, and one that fires timers.
//!
//! I1 threads hold the pool's core, never the other way round: [`Pool::stop`] ends them all.
//! I2 while a worker is awake the *timer thread* ticks: it keeps the coarse clock, and it wakes a sleeper for a task that
//!    waits in the slot of a worker whose run takes long. When all sleep, it sleeps too, until the next timer.
//! I3 a thread is in the book of threads from its start until it leaves by itself, so that nobody has to wait for the dead.
//! I4 a crew of a pinned actor is in the book of the pinned until its thread leaves, hence it counts as awake so long.
//! Besides, the timer thread delivers what is due. Of user code it runs what makes a message of an answer, and drops.
//! What a worker's thread does is in `crew`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::crew::{Crew, Rest};
use super::settings::{DispatcherSettings, Home, Kind, PINNED, Roster};
use super::worker::{BEAT, Heart, Post};
use super::{Due, Task, Worker};
use crate::id::ActorId;
use crate::observe::DispatcherSnapshot;
use crate::sync::{AtomicBool, AtomicU64, Condvar, Mutex, Ordering};
use crate::time::system::SystemClock;
use crate::time::{Instant, TimerKey, TimerQueue};

/// How often the timer thread looks after awake workers; the coarse clock lags by about this.
const TICK: Duration = BEAT;

/// Drives worker threads; see the module's page.
pub(crate) struct Pool {
    core: Arc<Core>,
}

/// What the threads share.
pub(crate) struct Core {
    name: String,
    roster: Roster,
    /// By home.
    crews: Vec<Arc<Crew>>,
    pinned: Mutex<BTreeMap<Home, Arc<Crew>>>,
    threads: Mutex<Threads>,
    clock: SystemClock,
    coarse: AtomicU64,
    pub(super) heart: Heart,
    stopping: AtomicBool,
    timers: Mutex<Timers>,
    timer_bell: Condvar,
    /// True while the timer thread ticks: the coarse clock is then good.
    ticking: AtomicBool,
}

/// The book of threads, by number.
#[derive(Default)]
struct Threads {
    running: BTreeMap<u64, std::thread::JoinHandle<()>>,
    so_far: u64,
    closed: bool,
}

#[derive(Default)]
struct Timers {
    queue: TimerQueue<Due>,
    /// True from the taking of a timer to the end of its delivery.
    firing: bool,
}

impl Pool {
    /// Starts the threads; those of a blocking crew come when they are needed.
    ///
    /// # Errors
    /// If the operating system refuses a thread.
    pub(crate) fn start(name: &str, roster: Roster) -> std::io::Result<Self> {
        let crew = |(index, named): (usize, &super::settings::Named)| {
            Arc::new(Crew::new(Home(index as u64), named.name.clone(), &named.settings))
        };
        let core = Arc::new(Core {
            name: name.to_owned(),
            crews: roster.crews().iter().enumerate().map(crew).collect(),
            roster,
            pinned: Mutex::default(),
            threads: Mutex::default(),
            clock: SystemClock::new(),
            coarse: AtomicU64::new(0),
            heart: Heart::default(),
            stopping: AtomicBool::new(false),
            timers: Mutex::default(),
            timer_bell: Condvar::new(),
            ticking: AtomicBool::new(false),
        });
        let pool = Pool { core };
        let core = &pool.core;
        for (crew, named) in core.crews.iter().zip(core.roster.crews()) {
            if named.settings.kind == Kind::Pool {
                while crew.free_seat().is_some() {
                    core.start_worker(crew)?;
                }
            }
        }
        let its = core.clone();
        core.start_thread(&mut core.threads.lock(), format!("{name}-timer"), move || its.timer_loop())?;
        Ok(pool)
    }

    /// Gives the roster of dispatchers.
    pub(crate) fn roster(&self) -> &Roster {
        &self.core.roster
    }

    /// Makes a home for one pinned actor and starts its thread.
    ///
    /// # Errors
    /// If the operating system refuses the thread.
    pub(crate) fn open(&self, settings: &DispatcherSettings) -> std::io::Result<Home> {
        let home = self.core.roster.next_pinned();
        let crew = Arc::new(Crew::new(home, format!("{PINNED}-{}", home.0).into(), settings));
        self.core.pinned.lock().insert(home, crew.clone());
        let started = self.core.start_worker(&crew);
        if started.is_err() {
            self.core.pinned.lock().remove(&home);
        }
        started.map(|()| home)
    }

    /// Ends the thread of a pinned actor after its present run; to any other home it does nothing.
    pub(crate) fn release(&self, home: Home) {
        if let Some(crew) = self.core.pinned_crew(home) {
            crew.end();
        }
    }

    /// Counts the activations that a worker has begun.
    pub(crate) fn activations(&self, seat: Post) -> u64 {
        let crew = self.core.crews.get(seat.home.index());
        crew.map_or(0, |crew| crew.team.queues.seats[seat.index].activations.get())
    }

    /// Gives the seat of a worker whose thread does not return from its run to a new thread; the old one ends when it does.
    /// A pinned actor's thread is nobody else's, so nothing waits for it.
    pub(crate) fn replace(&self, seat: Post) {
        let Some(crew) = self.core.crews.get(seat.home.index()) else { return };
        if !crew.pass_on(seat.index, seat.turn) {
            return; // it was replaced before
        }
        let (core, its, turn) = (self.core.clone(), crew.clone(), seat.turn + 1);
        let name = format!("{}-{}-{turn}", self.core.name, seat.index);
        let work = move || its.work_loop(&core, seat.index, turn);
        // Where a thread is refused the others must do.
        let _ = self.core.start_thread(&mut self.core.threads.lock(), name, work);
    }

    /// Ends all threads after their present run and does not wait: one of them may never return.
    pub(crate) fn abandon(&self) {
        self.tell_to_stop();
    }

    /// Tells all threads to end; gives them.
    fn tell_to_stop(&self) -> BTreeMap<u64, std::thread::JoinHandle<()>> {
        let core = &self.core;
        // Ordering: SeqCst, seen by whoever is woken below.
        core.stopping.store(true, Ordering::SeqCst);
        let threads = {
            let mut threads = core.threads.lock();
            threads.closed = true;
            std::mem::take(&mut threads.running)
        };
        core.each_crew(|crew| crew.end());
        drop(core.timers.lock());
        core.timer_bell.notify_all();
        threads
    }

    /// Ends all threads after their present run, and waits for them (not for the calling one, if it is a worker).
    #[expect(clippy::disallowed_methods, reason = "a thread must not wait for itself")]
    pub(crate) fn stop(&self) {
        let threads = self.tell_to_stop();
        let me = std::thread::current().id();
        for thread in threads.into_values().filter(|thread| thread.thread().id() != me) {
            // A worker thread catches panics of user code; one that died anyway has nothing more to give.
            let _ = thread.join();
        }
    }

    /// Is true if all workers sleep and nothing is queued: then nobody touches an actor until somebody outside does, or a
    /// timer is due.
    pub(crate) fn is_parked(&self) -> bool {
        let timers = self.core.timers.lock();
        if timers.firing {
            return false;
        }
        // The crews are looked at one after the other, and a worker that has announced its sleep may be up again at once.
        // Who is the same at rest in two looks was so at all times between them, when the queues were empty.
        let Some(before) = self.core.rests() else { return false };
        let mut queued = false;
        self.core.each_crew(|crew| queued |= crew.team.queues.any());
        !queued && self.core.rests() == Some(before)
    }

    pub(crate) fn schedule(&self, task: Task, home: Home, by: Option<&mut Worker>) {
        let core = &self.core;
        let Some(crew) = core.crews.get(home.index()) else { return core.schedule_pinned(task, home) };
        match by {
            Some(worker) if worker.home == home => {
                if crew.team.queues.push_lifo(worker.index, task) {
                    core.wake(crew);
                }
            }
            _ => {
                crew.team.queues.injector.push([task]);
                core.wake(crew);
            }
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.core.now()
    }

    pub(crate) fn coarse_now(&self) -> Instant {
        // Ordering: Relaxed, a stamp that may lag.
        match self.core.ticking.load(Ordering::Relaxed) {
            true => Instant::from_nanos(self.core.coarse.load(Ordering::Relaxed)),
            false => self.now(),
        }
    }

    pub(crate) fn work(&self, d: Duration, home: Home) {
        self.core.make_way(home);
        let end = self.now() + d;
        while self.now() < end {
            std::hint::spin_loop();
        }
    }

    #[expect(clippy::disallowed_methods, reason = "to occupy the thread is what block(d) is for")]
    pub(crate) fn block(&self, d: Duration, home: Home) {
        self.core.make_way(home);
        std::thread::sleep(d);
    }

    pub(crate) fn set_timer(&self, due: Instant, what: Due) -> TimerKey {
        let mut timers = self.core.timers.lock();
        let first = timers.queue.next_deadline().is_none_or(|next| due < next);
        let key = timers.queue.insert(due, what);
        drop(timers);
        if first {
            self.core.timer_bell.notify_one();
        }
        key
    }

    pub(crate) fn cancel_timer(&self, key: TimerKey) -> bool {
        // The value is dropped after the lock: its drop may set or cancel timers.
        let cancelled = self.core.timers.lock().queue.cancel(key);
        cancelled.is_some()
    }

    /// Says whose run the calling thread is in.
    pub(crate) fn running_here(&self) -> Option<ActorId> {
        self.note_here().filter(|actor| *actor != ActorId::NOBODY)
    }

    /// Is true if the calling thread is a worker's.
    pub(crate) fn is_worker_here(&self) -> bool {
        self.note_here().is_some()
    }

    fn note_here(&self) -> Option<ActorId> {
        let mut found = None;
        self.core.each_crew(|crew| {
            let here = crew.team.queues.seats.iter().find(|seat| seat.note.is_here());
            found = found.or(here.map(|seat| seat.note.actor()));
        });
        found
    }

    pub(crate) fn timers(&self) -> usize {
        let timers = self.core.timers.lock();
        timers.queue.len() + usize::from(timers.firing)
    }

    /// Takes the earliest timer that is due at `limit`.
    pub(crate) fn pop_timer(&self, limit: Instant) -> Option<Due> {
        self.core.timers.lock().queue.pop_due(limit).map(|(_, _, due)| due)
    }

    /// Gives the state of every dispatcher and of every pinned actor's worker.
    pub(crate) fn snapshot(&self) -> Vec<DispatcherSnapshot> {
        let (now, mut all) = (self.now().as_nanos(), Vec::new());
        self.core.each_crew(|crew| all.push(crew.team.snapshot(now)));
        all
    }

    /// Forgets all timers and queued tasks.
    pub(crate) fn dismantle(&self) {
        let timers = std::mem::take(&mut self.core.timers.lock().queue);
        let mut queued = Vec::new();
        self.core.each_crew(|crew| queued.extend(crew.team.queues.drain()));
        drop((timers, queued));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Core {
    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Starts one more thread of a crew, if it has a seat left and the pool is not stopping.
    fn start_worker(self: &Arc<Self>, crew: &Arc<Crew>) -> std::io::Result<()> {
        let mut threads = self.threads.lock();
        let Some(seat) = crew.free_seat() else { return Ok(()) };
        let (core, its) = (self.clone(), crew.clone());
        let name = match crew.team.home {
            Home::DEFAULT => format!("{}-{seat}", self.name),
            _ => format!("{}-{}-{seat}", self.name, crew.team.name),
        };
        let work = move || {
            its.work_loop(&core, seat, 0);
            if its.has_ended() {
                core.left(&its);
            }
        };
        self.start_thread(&mut threads, name, work)?;
        crew.count_thread();
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "a Pool is threads")]
    fn start_thread(
        self: &Arc<Self>,
        threads: &mut Threads,
        name: String,
        body: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<()> {
        if threads.closed {
            return Err(std::io::Error::other("the pool is stopping"));
        }
        let (core, number) = (self.clone(), threads.so_far);
        let body = move || {
            body();
            // Nobody need wait for this thread any more.
            drop(core.threads.lock().running.remove(&number));
        };
        let thread = std::thread::Builder::new().name(name).spawn(body)?;
        threads.so_far += 1;
        threads.running.insert(number, thread);
        Ok(())
    }

    /// Takes a crew whose thread is about to end out of the books, if it was a pinned actor's.
    fn left(&self, crew: &Crew) {
        // What is dropped may run code of users: the crew is not at rest meanwhile.
        loop {
            drop(crew.team.queues.drain());
            let mut pinned = self.pinned.lock();
            if !crew.team.queues.any() {
                let gone = pinned.remove(&crew.team.home);
                drop(pinned);
                return drop(gone);
            }
        }
    }

    fn pinned_crew(&self, home: Home) -> Option<Arc<Crew>> {
        self.pinned.lock().get(&home).cloned()
    }

    #[inline(never)]
    fn schedule_pinned(&self, task: Task, home: Home) {
        // A task whose actor has ended was cancelled with it: it is dropped here.
        // It is queued under the lock, so that nothing is queued to a crew that has left.
        let crew = {
            let pinned = self.pinned.lock();
            let Some(crew) = pinned.get(&home) else { return };
            crew.team.queues.injector.push([task]);
            crew.clone()
        };
        crew.idle.wake_one();
    }

    /// Calls `f` with every crew, the pinned ones last.
    fn each_crew(&self, mut f: impl FnMut(&Crew)) {
        self.crews.iter().for_each(|crew| f(crew));
        let pinned: Vec<_> = self.pinned.lock().values().cloned().collect();
        pinned.iter().for_each(|crew| f(crew));
    }

    /// Wakes a thread for what was queued; starts one, if none sleeps and one more may be had.
    pub(super) fn wake(self: &Arc<Self>, crew: &Arc<Crew>) {
        if !crew.idle.wake_one() && crew.free_seat().is_some() {
            self.grow(crew);
        }
    }

    #[inline(never)]
    fn grow(self: &Arc<Self>, crew: &Arc<Crew>) {
        // Where a thread is refused the others must do; if there is none at all, the default crew takes over.
        if self.start_worker(crew).is_err() && crew.threads() == 0 {
            let default = &self.crews[0];
            default.team.queues.injector.push(crew.team.queues.drain());
            default.idle.wake_one();
        }
    }

    /// Sees to it that what waits in the slot of a worker of this home need not wait for a run that takes long.
    fn make_way(self: &Arc<Self>, home: Home) {
        if let Some(crew) = self.crews.get(home.index())
            && crew.team.queues.any()
        {
            self.wake(crew);
        }
    }

    fn refresh_clock(&self) {
        // Ordering: Relaxed, a stamp that may lag; fetch_max, so that it never goes back.
        self.coarse.fetch_max(self.clock.now().as_nanos(), Ordering::Relaxed);
    }

    fn all_sleep(&self) -> bool {
        let mut all = true;
        self.each_crew(|crew| all &= crew.rest().is_some());
        all
    }

    /// Gives how each crew is at rest, if all are.
    fn rests(&self) -> Option<Vec<(Home, Rest)>> {
        let (mut rests, mut crews) = (Vec::new(), 0);
        self.each_crew(|crew| {
            crews += 1;
            rests.extend(crew.rest().map(|rest| (crew.team.home, rest)));
        });
        (rests.len() == crews).then_some(rests)
    }

    /// Called by a worker that woke: the timer thread is to look after it.
    pub(super) fn start_ticking(&self) {
        // Ordering: Relaxed; if it is true the timer thread is about to look at the sleepers anyway.
        if !self.ticking.load(Ordering::Relaxed) {
            // The timer thread looks at the sleepers under this lock, or waits already: the bell is heard.
            drop(self.timers.lock());
            self.timer_bell.notify_one();
        }
    }

    fn timer_loop(self: &Arc<Self>) {
        let mut beat_at = Instant::ZERO;
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
                self.tick(&mut beat_at);
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

    /// Looks after the workers, and beats.
    fn tick(self: &Arc<Self>, beat_at: &mut Instant) {
        let now = self.clock.now();
        if now - *beat_at >= BEAT {
            self.heart.beat(now - *beat_at);
            *beat_at = now;
        }
        for crew in &self.crews {
            if crew.rescue() && crew.free_seat().is_some() {
                self.grow(crew);
            }
        }
    }
}
