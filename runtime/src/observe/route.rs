//! What routers decide, as plain data: why this routee, why this size, and what a router is at one moment.
//!
//! The numbers are those that the decision was made by, so that a viewer need not guess; `why()` makes a sentence of them.

use std::fmt;
use std::sync::Arc;

use crate::id::ActorId;

/// Says why a router chose as it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RouteWhy {
    /// It was its turn.
    Turn {
        /// Its place in the table, from 0.
        index: u64,
        /// Routees in the table.
        of: u64,
    },
    /// Chance chose it.
    Chance {
        /// Its place in the table, from 0.
        index: u64,
        /// Routees in the table.
        of: u64,
    },
    /// It had nothing to do.
    Idle,
    /// It had the fewest messages.
    Fewest {
        /// Messages that it had.
        queued: u64,
    },
    /// All routees wait for a restart or a decision; it had the fewest messages of them.
    AllSuspended {
        /// Messages that it had.
        queued: u64,
    },
    /// Whoever is free first takes it from the shared queue.
    Shared {
        /// Messages that were in the queue before it.
        queued: u64,
    },
    /// All of them.
    Everyone {
        /// Routees that got it.
        routees: u64,
    },
    /// Its key belongs to this routee.
    Key {
        /// The message's place on the ring.
        hash: u64,
    },
    /// It was asked as one of several, whose first answer counts.
    Asked {
        /// Which of them it was, from 1.
        nth: u64,
        /// How many may be asked.
        of: u64,
    },
    /// The one that was chosen first had ended.
    Passed {
        /// Routees that were found closed.
        closed: u64,
    },
    /// There is no routee yet: it waits until there is one.
    Held {
        /// Messages that waited before it.
        waiting: u64,
    },
}

impl RouteWhy {
    /// Gives the reason in one sentence.
    pub fn why(&self) -> String {
        match self {
            RouteWhy::Turn { index, of } => format!("it is the turn of routee {} of {of}", index + 1),
            RouteWhy::Chance { index, of } => format!("chance chose routee {} of {of}", index + 1),
            RouteWhy::Idle => "it has nothing to do".to_owned(),
            RouteWhy::Fewest { queued } => format!("nobody has fewer messages than its {queued}"),
            RouteWhy::AllSuspended { queued } => {
                format!("all wait for a restart, and nobody has fewer messages than its {queued}")
            }
            RouteWhy::Shared { queued } => {
                format!("it waits behind {queued} in the shared queue for whoever is free first")
            }
            RouteWhy::Everyone { routees } => format!("each of {routees} routees gets a copy"),
            RouteWhy::Key { hash } => format!("the place {hash:016x} on the ring is its own"),
            RouteWhy::Asked { nth, of } => format!("it is number {nth} of {of} that may be asked"),
            RouteWhy::Passed { closed } => format!("{closed} before it had ended"),
            RouteWhy::Held { waiting } => format!("there is no routee yet, and {waiting} wait before it"),
        }
    }

    /// Gives the reason's code and number, as they are hashed.
    pub(crate) fn words(self) -> (u64, u64) {
        match self {
            RouteWhy::Turn { index, .. } => (0, index),
            RouteWhy::Chance { index, .. } => (1, index),
            RouteWhy::Idle => (2, 0),
            RouteWhy::Fewest { queued } => (3, queued),
            RouteWhy::AllSuspended { queued } => (4, queued),
            RouteWhy::Shared { queued } => (5, queued),
            RouteWhy::Everyone { routees } => (6, routees),
            RouteWhy::Key { hash } => (7, hash),
            RouteWhy::Asked { nth, .. } => (8, nth),
            RouteWhy::Passed { closed } => (9, closed),
            RouteWhy::Held { waiting } => (10, waiting),
        }
    }
}

impl fmt::Display for RouteWhy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why())
    }
}

/// A decision about the number of routees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resized {
    /// Routees before.
    pub from: u64,
    /// Routees that there are to be.
    pub to: u64,
    /// Why.
    pub why: ResizeWhy,
}

impl Resized {
    /// Gives the decision in one sentence.
    pub fn why(&self) -> String {
        format!("{} routees become {}: {}", self.from, self.to, self.why)
    }
}

/// Says why a router changed its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResizeWhy {
    /// Somebody asked for this size.
    Asked,
    /// There were fewer than the least or more than the most that are allowed.
    Bounds {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// Every routee that can work is at work and has messages waiting.
    AllBusy {
        /// How many that are.
        busy: u64,
        /// By how many thousandths the pool grows.
        grow_permille: u64,
    },
    /// Few of the routees that can work have messages waiting.
    FewBusy {
        /// How many have.
        busy: u64,
        /// How many can work.
        able: u64,
        /// The share, in thousandths, below which the pool shrinks.
        below_permille: u64,
    },
    /// A size was tried out.
    Explored {
        /// The number that was drawn, of 1,000.
        drawn: u64,
        /// Tried if the drawn number is below this.
        chance_permille: u64,
    },
    /// A step was made towards the neighbouring size that was the fastest.
    Optimised {
        /// The fastest size.
        best: u64,
        /// Time per message at that size, in nanoseconds.
        best_ns: u64,
        /// Time per message at the present size, in nanoseconds; 0 if not known.
        now_ns: u64,
    },
    /// The routees were not all in use for a long time.
    Underused {
        /// The most that were in use in that time.
        peak: u64,
        /// How long, in nanoseconds.
        for_ns: u64,
    },
}

impl ResizeWhy {
    /// Gives the reason in one sentence.
    pub fn why(&self) -> String {
        match self {
            ResizeWhy::Asked => "somebody asked for it".to_owned(),
            ResizeWhy::Bounds { min, max } => format!("there may be {min} to {max}"),
            ResizeWhy::AllBusy { busy, grow_permille } => {
                format!("all {busy} that can work have messages waiting, so there are {grow_permille} ‰ more")
            }
            ResizeWhy::FewBusy { busy, able, below_permille } => {
                format!("{busy} of {able} that can work have messages waiting, fewer than {below_permille} ‰")
            }
            ResizeWhy::Explored { drawn, chance_permille } => {
                format!("a size is tried out, {drawn} being below {chance_permille} of 1,000")
            }
            ResizeWhy::Optimised { best, best_ns, now_ns } => {
                format!("{best} took {best_ns} ns per message, the present size {now_ns}")
            }
            ResizeWhy::Underused { peak, for_ns } => {
                format!("at most {peak} were in use for {} s", for_ns / 1_000_000_000)
            }
        }
    }

    /// Gives the reason's code and main number, as they are hashed.
    pub(crate) fn word(self) -> u64 {
        let (code, number) = match self {
            ResizeWhy::Asked => (0, 0),
            ResizeWhy::Bounds { min, .. } => (1, min),
            ResizeWhy::AllBusy { busy, .. } => (2, busy),
            ResizeWhy::FewBusy { busy, .. } => (3, busy),
            ResizeWhy::Explored { drawn, .. } => (4, drawn),
            ResizeWhy::Optimised { best, .. } => (5, best),
            ResizeWhy::Underused { peak, .. } => (6, peak),
        };
        number << 8 | code
    }
}

impl fmt::Display for ResizeWhy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why())
    }
}

/// A router at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterSnapshot {
    /// The kind of choice.
    pub kind: &'static str,
    /// The routees in its table, with how often each was chosen. In a balancing router nobody is chosen: the routees take.
    pub routees: Vec<RouteeSnapshot>,
    /// Messages that lie with the router itself: in the shared queue, or held until there is a routee.
    pub queued: u64,
    /// The last choice and its why; kept where messages are logged.
    pub last: Option<(ActorId, RouteWhy)>,
}

impl RouterSnapshot {
    /// Counts the routees.
    pub fn size(&self) -> usize {
        self.routees.len()
    }
}

/// One routee in a router's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteeSnapshot {
    /// Who.
    pub id: ActorId,
    /// What a consistent-hash router knows it by: its name in a pool; its path, or the label it was given, in a group.
    pub label: Arc<str>,
    /// How often it was chosen.
    pub chosen: u64,
}
