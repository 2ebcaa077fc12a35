//! How workers sleep, and the proof that no wake-up is lost.
//!
//! A worker that found nothing *announces* itself (it joins the list of sleepers), *looks again* at every queue, and only
//! then waits. Whoever queues a task *publishes* it, and then *looks* for sleepers. Both sides put a SeqCst fence between
//! their two steps (Dekker's pattern), so at least one sees the other: the worker finds the task in its second look, or the
//! producer finds the worker in the list and wakes it.
//!
//! ```text
//!   worker:    sleepers += 1 ; fence ; look at queues ; wait
//!   producer:  queue += task ; fence ; look at sleepers ; wake one
//! ```
//! I1 a sleeper leaves the list exactly once: taken by a waker, or by itself.
//! I2 a wake given to a worker that is not yet waiting is kept in its flag.
//! I3 every departure from the list is counted: who finds the same sleepers and the same count twice knows that nobody was
//!    up in between.
//! It does not spin; the pool does that before it comes here.

use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering, fence, wait};

/// The sleepers of one dispatcher.
pub(crate) struct Idle {
    list: Mutex<List>,
    sleepers: AtomicUsize,
    beds: Vec<Bed>,
}

/// Who sleeps.
#[derive(Default)]
struct List {
    asleep: Vec<usize>,
    departures: u64,
}

struct Bed {
    woken: Mutex<bool>,
    bell: Condvar,
}

impl Idle {
    pub(crate) fn new(workers: usize) -> Self {
        let bed = |_| Bed { woken: Mutex::new(false), bell: Condvar::new() };
        Idle { list: Mutex::default(), sleepers: AtomicUsize::new(0), beds: (0..workers).map(bed).collect() }
    }

    /// Puts worker `index` to sleep unless `work_left` says that there is something to do.
    pub(crate) fn sleep(&self, index: usize, work_left: impl FnOnce() -> bool) {
        {
            let mut list = self.list.lock();
            list.asleep.push(index);
            // Ordering: Relaxed, the fence below orders it.
            self.sleepers.store(list.asleep.len(), Ordering::Relaxed);
        }
        // Ordering: SeqCst, the worker's half of the Dekker pair; the other is in wake_one().
        fence(Ordering::SeqCst);
        if work_left() && self.leave(index) {
            return;
        }
        let bed = &self.beds[index];
        let mut woken = bed.woken.lock();
        while !*woken {
            woken = wait(&bed.bell, woken);
        }
        *woken = false;
    }

    /// Wakes one sleeper; false if there is none. To be called after the work was published.
    pub(crate) fn wake_one(&self) -> bool {
        // Ordering: SeqCst, the producer's half of the Dekker pair; the other is in sleep().
        fence(Ordering::SeqCst);
        // Ordering: Relaxed, ordered by the fence.
        if self.sleepers.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let woken = {
            let mut list = self.list.lock();
            let woken = list.asleep.pop();
            list.departures += u64::from(woken.is_some());
            self.sleepers.store(list.asleep.len(), Ordering::Relaxed);
            woken
        };
        if let Some(index) = woken {
            self.ring(index);
        }
        woken.is_some()
    }

    /// Wakes every sleeper.
    pub(crate) fn wake_all(&self) {
        let all: Vec<usize> = {
            let mut list = self.list.lock();
            self.sleepers.store(0, Ordering::Relaxed);
            list.departures += list.asleep.len() as u64;
            list.asleep.drain(..).collect()
        };
        all.into_iter().for_each(|index| self.ring(index));
    }

    /// Counts the sleepers, and how often one has left the list so far.
    pub(crate) fn sleepers(&self) -> (usize, u64) {
        let list = self.list.lock();
        (list.asleep.len(), list.departures)
    }

    /// Takes itself off the list; false if a waker was faster, whose ring is then on its way.
    fn leave(&self, index: usize) -> bool {
        let mut list = self.list.lock();
        let Some(at) = list.asleep.iter().position(|&other| other == index) else { return false };
        list.asleep.remove(at);
        list.departures += 1;
        self.sleepers.store(list.asleep.len(), Ordering::Relaxed);
        true
    }

    fn ring(&self, index: usize) {
        let bed = &self.beds[index];
        *bed.woken.lock() = true;
        bed.bell.notify_one();
    }
}

#[cfg(all(test, footlights_loom))]
mod loom_tests {
    use super::*;
    use crate::sync::AtomicBool;
    use loom::sync::Arc;

    /// Switches of thread against its will in one execution of the larger model, at most.
    const PREEMPTIONS: usize = 2;

    /// One worker, one task: if the worker slept through it, loom reports the deadlock. Tried: without either fence, and
    /// without the second look at the queues, it does.
    #[test]
    fn loom_no_wake_up_is_lost() {
        loom::model(|| {
            let idle = Arc::new(Idle::new(1));
            let queued = Arc::new(AtomicBool::new(false));
            let (their_idle, their_queued) = (idle.clone(), queued.clone());
            let worker = loom::thread::spawn(move || {
                if !their_queued.load(Ordering::Relaxed) {
                    their_idle.sleep(0, || their_queued.load(Ordering::Relaxed));
                }
                assert!(their_queued.load(Ordering::Relaxed), "woken without work");
            });
            queued.store(true, Ordering::Relaxed);
            idle.wake_one();
            worker.join().expect("the worker ends");
        });
    }

    /// Two sleepers and two tasks: both wake.
    #[test]
    fn loom_two_wakes_reach_two_sleepers() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(PREEMPTIONS); // all of them would take hours
        model.check(|| {
            let idle = Arc::new(Idle::new(2));
            let left = Arc::new(AtomicUsize::new(0));
            let workers: Vec<_> = (0..2)
                .map(|index| {
                    let (idle, left) = (idle.clone(), left.clone());
                    loom::thread::spawn(move || idle.sleep(index, || left.load(Ordering::Relaxed) >= 2))
                })
                .collect();
            for _ in 0..2 {
                left.fetch_add(1, Ordering::Relaxed);
                idle.wake_one();
            }
            idle.wake_all();
            workers.into_iter().for_each(|worker| worker.join().expect("the worker ends"));
        });
    }
}
