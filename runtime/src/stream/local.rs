//! A small host: runs one stream on the calling thread, in virtual time, with `k` virtual workers.
//!
//! For tests, examples and as the floor of benchmarks: what the engine costs without actors. It keeps the rules of the
//! Stepper: one turn at a time in the order of virtual time, a charge occupies the worker, ties go by sequence.
//!
//! I1 the clock moves only when no turn can start. I2 an island is never queued twice.
//! It has no actors, no failures of a host, and no bell from other threads while it runs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use super::blueprint::Built;
use super::host::{Effort, Event, Host, Request, RequestKey, Task, TimerKey};
use super::island::{Island, IslandState};
use super::shared::Shared;
use crate::sync::Mutex;
use crate::time::Instant;

/// Elements per turn, unless said otherwise.
pub const TURN_BUDGET: usize = 256;

enum Job {
    Island(usize),
    Task(usize, RequestKey, Task),
}

enum Due {
    /// Something may run from then on.
    Run(Job),
    /// An island gets an event.
    Event(usize, Event),
    Wake(usize),
}

/// What was rung from outside of all turns.
#[derive(Default)]
struct Rung {
    islands: BTreeSet<usize>,
    events: Vec<(usize, Event)>,
}

/// Wakes an island that polls a future.
struct Bell {
    rung: Arc<Mutex<Rung>>,
    island: usize,
    key: RequestKey,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.lock().events.push((self.island, Event::Done(self.key)));
    }
}

struct Queue {
    now: Instant,
    sequence: u64,
    due: BTreeMap<(Instant, u64), Due>,
    timers: BTreeMap<(usize, TimerKey), (Instant, u64)>,
}

impl Queue {
    fn push(&mut self, at: Instant, due: Due) -> (Instant, u64) {
        self.sequence += 1;
        self.due.insert((at, self.sequence), due);
        (at, self.sequence)
    }
}

/// One turn's view of the host.
struct Turn<'a> {
    queue: &'a mut Queue,
    island: usize,
    spent: Duration,
    rung: &'a Arc<Mutex<Rung>>,
}

impl Effort for Turn<'_> {
    fn now(&self) -> Instant {
        self.queue.now
    }
    fn work(&mut self, d: Duration) {
        self.spent += d;
    }
    fn block(&mut self, d: Duration) {
        self.spent += d;
    }
}

impl Host for Turn<'_> {
    fn set_timer(&mut self, key: TimerKey, after: Duration) {
        self.cancel_timer(key);
        let at = self.queue.now + self.spent + after;
        let place = self.queue.push(at, Due::Event(self.island, Event::Timer(key)));
        self.queue.timers.insert((self.island, key), place);
    }

    fn cancel_timer(&mut self, key: TimerKey) {
        if let Some(place) = self.queue.timers.remove(&(self.island, key)) {
            self.queue.due.remove(&place);
        }
    }

    fn request(&mut self, key: RequestKey, request: Request) {
        let at = self.queue.now + self.spent;
        match request {
            Request::After(d) => self.queue.push(at + d, Due::Event(self.island, Event::Done(key))),
            Request::Task(task) => self.queue.push(at, Due::Run(Job::Task(self.island, key, task))),
        };
    }

    fn waker(&mut self, key: RequestKey) -> Waker {
        Arc::new(Bell { rung: self.rung.clone(), island: self.island, key }).into()
    }

    fn wake(&mut self, island: usize) {
        self.queue.push(self.queue.now + self.spent, Due::Wake(island));
    }
}

/// A stream that runs on the calling thread.
///
/// # Examples
/// ```
/// use footlights::stream::{LocalRun, Operators, Sink, Source, Time};
/// use std::time::Duration;
/// let spin = Time::Constant(Duration::from_millis(10));
/// let stream = Source::range(0..100).worked(spin).async_boundary().worked(spin).to(Sink::ignore());
/// let (built, _done) = stream.build(1);
/// let mut run = LocalRun::new(built, 2);
/// run.run();
/// assert_eq!(run.now().as_nanos(), 1_010_000_000); // two workers: nearly twice as fast as 2 s
/// ```
pub struct LocalRun {
    islands: Vec<Slot>,
    shared: Arc<Shared>,
    queue: Queue,
    ready: VecDeque<Job>,
    workers: Vec<Instant>,
    budget: usize,
    rung: Arc<Mutex<Rung>>,
    turns: u64,
}

struct Slot {
    island: Box<dyn Island>,
    events: VecDeque<Event>,
    queued: bool,
    /// It runs until then.
    busy_until: Instant,
    ended: bool,
}

impl LocalRun {
    /// Makes a run on `workers` virtual workers (0 counts as 1).
    pub fn new(built: Built, workers: usize) -> Self {
        let rung: Arc<Mutex<Rung>> = Arc::default();
        let bell = rung.clone();
        built.shared.set_bell(Arc::new(move |island| {
            bell.lock().islands.insert(island);
        }));
        let islands = built.islands.into_iter().map(|island| Slot {
            island,
            events: VecDeque::new(),
            queued: false,
            busy_until: Instant::ZERO,
            ended: false,
        });
        let queue = Queue { now: Instant::ZERO, sequence: 0, due: BTreeMap::new(), timers: BTreeMap::new() };
        let mut run = LocalRun {
            islands: islands.collect(),
            shared: built.shared,
            queue,
            ready: VecDeque::new(),
            workers: vec![Instant::ZERO; workers.max(1)],
            budget: TURN_BUDGET,
            rung,
            turns: 0,
        };
        (0..run.islands.len()).for_each(|island| run.make_ready(island));
        run
    }

    /// Sets how many elements a turn may move.
    pub fn budget(mut self, budget: usize) -> Self {
        self.budget = budget.max(1);
        self
    }

    /// Tells the virtual time.
    pub fn now(&self) -> Instant {
        self.queue.now
    }

    /// Counts the turns so far.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// Gives the counters.
    pub fn snapshot(&self) -> super::counts::StreamSnapshot {
        self.shared.snapshot()
    }

    /// Says whether all islands have ended.
    pub fn ended(&self) -> bool {
        self.islands.iter().all(|slot| slot.ended)
    }

    /// Counts the timers and requests that are still under way.
    pub fn pending(&self) -> usize {
        self.queue.due.values().filter(|due| matches!(due, Due::Event(..) | Due::Run(Job::Task(..)))).count()
    }

    /// Runs until nothing can happen any more.
    pub fn run(&mut self) {
        while self.step() {}
    }

    /// Runs until the virtual time `until`.
    pub fn run_until(&mut self, until: Instant) {
        while self.next_time().is_some_and(|t| t <= until) {
            self.step();
        }
        self.queue.now = self.queue.now.max(until);
    }

    /// Tells when something happens next.
    fn next_time(&mut self) -> Option<Instant> {
        self.listen();
        let free = self.workers.iter().min().copied().unwrap_or_default();
        let ready = (!self.ready.is_empty()).then_some(free.max(self.queue.now));
        let due = self.queue.due.keys().next().map(|(at, _)| *at);
        ready.into_iter().chain(due).min()
    }

    /// Takes one step; false if nothing is left to do.
    pub fn step(&mut self) -> bool {
        let Some(at) = self.next_time() else { return false };
        self.queue.now = self.queue.now.max(at);
        let now = self.queue.now;
        if self.queue.due.keys().next().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, due)) = self.queue.due.pop_first() {
                self.happen(due);
            }
            return true;
        }
        let worker = (0..self.workers.len()).min_by_key(|&w| self.workers[w]).unwrap_or(0);
        if let Some(job) = self.ready.pop_front() {
            let spent = self.execute(job);
            self.workers[worker] = now + spent;
            self.turns += 1;
        }
        true
    }

    fn listen(&mut self) {
        let rung = std::mem::take(&mut *self.rung.lock());
        rung.islands.into_iter().for_each(|island| self.make_ready(island));
        rung.events.into_iter().for_each(|(island, event)| self.happen(Due::Event(island, event)));
    }

    fn make_ready(&mut self, island: usize) {
        let slot = &mut self.islands[island];
        if slot.ended || std::mem::replace(&mut slot.queued, true) {
            return;
        }
        if slot.busy_until > self.queue.now {
            let at = slot.busy_until;
            self.queue.push(at, Due::Run(Job::Island(island)));
        } else {
            self.ready.push_back(Job::Island(island));
        }
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Run(job) => self.ready.push_back(job),
            Due::Wake(island) => self.make_ready(island),
            Due::Event(island, event) => {
                if let Event::Timer(key) = &event {
                    self.queue.timers.remove(&(island, *key));
                }
                if !self.islands[island].ended {
                    self.islands[island].events.push_back(event);
                    self.make_ready(island);
                }
            }
        }
    }

    fn execute(&mut self, job: Job) -> Duration {
        match job {
            Job::Island(island) => self.turn(island),
            Job::Task(island, key, task) => {
                let mut turn =
                    Turn { queue: &mut self.queue, island, spent: Duration::ZERO, rung: &self.rung };
                task(&mut turn);
                let spent = turn.spent;
                let at = self.queue.now + spent;
                self.queue.push(at, Due::Event(island, Event::Done(key)));
                spent
            }
        }
    }

    fn turn(&mut self, island: usize) -> Duration {
        let slot = &mut self.islands[island];
        slot.queued = false;
        let event = slot.events.pop_front();
        let mut turn = Turn { queue: &mut self.queue, island, spent: Duration::ZERO, rung: &self.rung };
        let state = slot.island.run(event, &mut turn, self.budget);
        let spent = turn.spent;
        slot.busy_until = self.queue.now + spent;
        let again = state == IslandState::Ready || !slot.events.is_empty();
        if state == IslandState::Ended {
            self.forget(island);
        } else if again {
            self.make_ready(island);
        }
        spent
    }

    fn forget(&mut self, island: usize) {
        let slot = &mut self.islands[island];
        slot.ended = true;
        slot.events.clear();
        self.queue.timers.retain(|(owner, _), _| *owner != island);
        self.queue.due.retain(|_, due| !matches!(due, Due::Event(owner, _) if *owner == island));
    }
}
