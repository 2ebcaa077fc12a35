//! Counts the allocations of a message in the steady state: a figure that does not depend on the machine's speed.
//!
//! The test is alone in its binary, so nothing else allocates meanwhile. What setting up costs is taken out by running two
//! sizes and dividing the difference.

#![allow(unsafe_code, reason = "an allocator is unsafe by its trait; this one only counts and passes on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use footlights_bench::workloads::{Setup, find};

/// Allocations per message that are allowed; the aim is 0.
const PER_MESSAGE_MAX: f64 = 0.1;

struct Counting;

/// How often memory was asked for, growing a block included.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Ordering: Relaxed, a statistic.
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps this function's contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above; `block` came from `System`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above; `block` came from `System`.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Runs `n` of a workload; gives how many were counted and how many allocations that took.
fn allocations(id: &str, param: &str, n: u64) -> (u64, u64) {
    let workload = find(id).expect("it exists");
    let mut setup = Setup { n, ..workload.setup(2) };
    workload.set_params(&mut setup, param).expect("it has the parameter");
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let outcome = (workload.run)(&setup).expect("its checks hold");
    (outcome.n, ALLOCATIONS.load(Ordering::Relaxed) - before)
}

#[test]
fn a_message_in_the_steady_state_allocates_next_to_nothing() {
    for (id, param) in [
        ("W1", "K=1"),
        ("W1", "K=100"),
        ("W2", "K=1"),
        ("W3", "100"),
        ("W4", "8"),
        ("S1", "256"),
        ("S2", "16"),
    ] {
        let (small, large) = (allocations(id, param, 20_000), allocations(id, param, 120_000));
        let per_message = large.1.saturating_sub(small.1) as f64 / (large.0 - small.0) as f64;
        assert!(small.1 > 0, "a system cannot be built without memory: the counter does not count");
        println!("{id} {param}: {per_message:.5} allocations per message");
        assert!(per_message <= PER_MESSAGE_MAX, "{id} {param}: {per_message:.5} allocations per message");
    }
}
