//! The one door to atomics and locks: std's, or loom's when built with `--cfg footlights_loom`.
//!
//! Why: a lock-free piece is model-checked with exactly the code that ships. Locks here ignore poisoning: a panic of user
//! code is caught while no lock of ours guards broken data (the runtime moves messages out before it runs them).

#[cfg(not(footlights_loom))]
mod door {
    #[cfg(not(target_family = "wasm"))]
    pub(crate) use std::sync::atomic::fence;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
}

#[cfg(footlights_loom)]
mod door {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
}

#[cfg(not(target_family = "wasm"))]
pub(crate) use door::fence;
pub(crate) use door::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Condvar, MutexGuard, Ordering};

/// A mutual exclusion lock that takes no notice of poisoning.
#[derive(Debug)]
pub(crate) struct Mutex<T>(door::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Mutex(door::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Gives the guard if nobody holds the lock.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

/// Waits on `condvar`, handing the lock back and forth, without regard to poisoning.
pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A counter with one writer at a time: a load and a store, no read-modify-write.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds `n`; only the worker that runs the owner may call this.
    pub(crate) fn add(&self, n: u64) {
        // Ordering: Relaxed, a statistic; the owner's lock orders its writers.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// Sets the count, of something that comes and goes; the same worker only.
    pub(crate) fn set(&self, n: u64) {
        // Ordering: Relaxed, as in add().
        self.0.store(n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Waits on `condvar` for at most `limit`.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn wait_timeout<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    limit: std::time::Duration,
) -> MutexGuard<'a, T> {
    match condvar.wait_timeout(guard, limit) {
        Ok((guard, _)) => guard,
        Err(poisoned) => poisoned.into_inner().0,
    }
}
