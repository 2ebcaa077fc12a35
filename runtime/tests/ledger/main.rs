//! The conservation ledger on random programs: whatever actors do to each other, every message has one fate after every
//! turn, and a shutdown leaves nothing behind.
//!
//! A program is a seed. `FOOTLIGHTS_PROGRAMS=n` sets how many are tried, `FOOTLIGHTS_PROGRAM=seed` runs one alone.

#[path = "../common/mod.rs"]
mod common;
mod node;
mod patterns;
mod program;

use std::collections::BTreeMap;

use common::hush_planned_panics;
use footlights::observe::Asks;
use footlights::system::ActorSystem;
use node::US;
use program::{Outside, at_the_end, programs, rerun, run_program, set_up};

/// Programs tried in virtual time, in so many parts that run side by side, and on threads.
const PROGRAMS: u64 = 10_000;
const PARTS: u64 = 5;
const POOL_PROGRAMS: u64 = 300;

/// What must be seen in the programs, so that they prove something.
const EXPECTED: [&str; 68] = [
    "AwaitingRoom",
    "BreakerChanged",
    "ClockJumped",
    "Deadlock",
    "Forced",
    "MailboxFull",
    "Notified",
    "Published",
    "Registered",
    "Rerouted",
    "Resized",
    "RestartBegan",
    "Restarted",
    "Resumed",
    "Retried",
    "RoomFound",
    "RouteeAdded",
    "RouteeRetired",
    "RouteesChanged",
    "Stashed",
    "StopBegan",
    "Stopped",
    "Suspended",
    "TimerSkipped",
    "Transition",
    "Unhandled",
    "Unregistered",
    "Unstashed",
    "Unwatched",
    "Watched",
    "dead letter: closed",
    "dead letter: no routee",
    "dead letter: overflow",
    "dead letter: rejected",
    "dead letter: stale incarnation",
    "dead letter: stopped with mail",
    "decided: escalate",
    "decided: restart",
    "decided: resume",
    "decided: stop",
    "dropped: abandoned",
    "dropped: duplicate",
    "dropped: evicted",
    "dropped: fault injected",
    "dropped: hold full",
    "dropped: mailbox full",
    "dropped: stale timer",
    "dropped: timeout",
    "dropped: unwatched",
    "failed: error",
    "failed: escalated",
    "failed: exit",
    "failed: killed",
    "failed: overflow",
    "failed: panic",
    "failed: start",
    "failed: stash full",
    "fault: delay",
    "fault: double",
    "fault: drop",
    "fault: fail",
    "fault: slow",
    "hook failed: drop of a message",
    "hook failed: drop of a timer",
    "hook failed: drop of the state",
    "hook failed: order of a mailbox",
    "hook failed: pre_restart",
    "hook failed: stopped",
];

/// Runs one part of the programs in virtual time.
fn in_virtual_time(part: u64) {
    hush_planned_panics();
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let (mut asks, mut tried) = ([0; 5], 0);
    for seed in programs(PROGRAMS, part, PARTS) {
        match run_program(seed) {
            Ok(run) => {
                run.events.into_iter().for_each(|(name, n)| *seen.entry(name).or_insert(0) += n);
                let Asks { replied, timed_out, failed, cancelled, late_replies, .. } = run.asks;
                let all = [replied, timed_out, failed, cancelled, late_replies];
                asks.iter_mut().zip(all).for_each(|(sum, n)| *sum += n);
            }
            Err(what) => panic!("{}: {what}", rerun(seed)),
        }
        tried += 1;
    }
    if tried >= PROGRAMS / PARTS {
        assert!(asks.iter().all(|&n| n > 100), "the programs ask too little: {asks:?}");
        let missing: Vec<_> =
            EXPECTED.iter().filter(|name| seen.get(**name).copied().unwrap_or(0) < 3).collect();
        assert!(missing.is_empty(), "the programs hardly show {missing:?}; they show {seen:#?}");
    }
}

#[test]
fn every_message_has_one_fate_after_every_turn_of_random_programs_1() {
    in_virtual_time(0);
}

#[test]
fn every_message_has_one_fate_after_every_turn_of_random_programs_2() {
    in_virtual_time(1);
}

#[test]
fn every_message_has_one_fate_after_every_turn_of_random_programs_3() {
    in_virtual_time(2);
}

#[test]
fn every_message_has_one_fate_after_every_turn_of_random_programs_4() {
    in_virtual_time(3);
}

#[test]
fn every_message_has_one_fate_after_every_turn_of_random_programs_5() {
    in_virtual_time(4);
}

#[test]
fn the_same_program_has_the_same_log_twice() {
    hush_planned_panics();
    for seed in programs(50, 0, 1) {
        assert_eq!(run_program(seed), run_program(seed), "{}", rerun(seed));
    }
}

#[test]
fn every_message_has_one_fate_on_threads_too() {
    hush_planned_panics();
    for seed in programs(POOL_PROGRAMS, 0, 1) {
        let system = set_up(ActorSystem::builder("program").pool(), seed);
        let mut outside = Outside::new(&system, seed);
        (0..100).for_each(|_| outside.command());
        // What repeats for ever keeps it busy; then only the end is looked at.
        let deadline = system.now() + US * 20_000;
        while !system.is_quiet() && system.now() < deadline {
            std::thread::yield_now();
        }
        if system.is_quiet() && system.snapshot().timers == 0 && system.is_quiet() {
            let ledger = system.ledger();
            assert!(ledger.balanced(), "{}: unbalanced when parked: {ledger:?}", rerun(seed));
        }
        if let Err(what) = at_the_end(&system, outside) {
            panic!("{} on a pool: {what}", rerun(seed));
        }
    }
}
