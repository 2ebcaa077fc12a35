//! What a stream counts: per stage, per boundary and per island, as plain data for any viewer.
//!
//! I1 per stage: `taken + made = emitted + used + held + dropped`.
//! I2 per edge: what one stage emitted = what the next took + what rests on the edge + what was lost there.
//! Typed chains do not count inside light kernels (see [`Caps::light`](super::kernel::Caps)); dynamic ones count everywhere.

use std::sync::Arc;

use super::kernel::StageId;
use super::signal::DropReason;

/// Elements lost, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; DropReason::ALL.len()]);

impl Drops {
    /// Counts `n` more for the reason.
    pub fn add(&mut self, reason: DropReason, n: u64) {
        self.0[reason as usize] += n;
    }

    /// Says how many were lost for the reason.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// Says how many were lost in all.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// What one stage has counted since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Elements taken from upstream.
    pub taken: u64,
    /// Elements that the stage made itself.
    pub made: u64,
    /// Elements emitted.
    pub emitted: u64,
    /// Elements used up.
    pub used: u64,
    /// Elements held now.
    pub held: u64,
    /// The most elements that it ever held.
    pub high_water: u64,
    /// Elements lost.
    pub dropped: Drops,
    /// Elements that rest on the fused edge behind the stage, 0 or 1.
    pub resting: u64,
    /// Elements that were lost on that edge when a cancel passed.
    pub lost_on_edge: u64,
    /// CPU time charged, in nanoseconds; what a request spends on a worker of its own is not in it.
    pub work_ns: u64,
    /// Blocking time charged, in nanoseconds.
    pub block_ns: u64,
}

impl Counts {
    /// Says whether the stage's ledger holds.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::Counts;
    /// assert!(Counts { taken: 3, emitted: 2, used: 1, ..Counts::default() }.balanced());
    /// assert!(!Counts { taken: 3, emitted: 2, ..Counts::default() }.balanced());
    /// ```
    pub fn balanced(&self) -> bool {
        self.taken + self.made == self.emitted + self.used + self.held + self.dropped.total()
    }
}

/// What an island does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activity {
    /// It has not run yet.
    #[default]
    New,
    /// It runs, or will run again by itself.
    Busy,
    /// It waits for elements, a timer or an answer.
    Idle,
    /// It holds output and waits for demand.
    Backpressured,
    /// It has ended.
    Ended,
}

/// A stage in a snapshot.
#[derive(Clone, Debug)]
pub struct StageSnapshot {
    /// Its number.
    pub id: StageId,
    /// Its name; of a drawn node its id.
    pub name: Arc<str>,
    /// The island that runs it.
    pub island: usize,
    /// False for a light kernel of a typed chain: its counters stay 0.
    pub counted: bool,
    /// Its counters.
    pub counts: Counts,
}

/// What an edge waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EdgeState {
    /// Nothing stands on it and nothing is wanted.
    #[default]
    NoDemand,
    /// Below waits for an element.
    Pulling,
    /// It holds elements for below.
    Holding,
    /// Above has completed.
    Completed,
    /// Above has failed.
    Failed,
    /// Below has cancelled.
    Cancelled,
}

/// A boundary, or a fused edge of a graph, in a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeSnapshot {
    /// The boundary's name; of a drawn node its id.
    pub name: Arc<str>,
    /// Elements published by the producer.
    pub pushed: u64,
    /// Elements taken by the consumer.
    pub taken: u64,
    /// Elements in the ring.
    pub fill: u64,
    /// The effective capacity.
    pub capacity: u64,
    /// The most elements that were ever in the ring.
    pub high_water: u64,
    /// Elements lost when a cancel passed.
    pub dropped: u64,
    /// What it waits for.
    pub state: EdgeState,
}

/// An island in a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IslandSnapshot {
    /// What it does now.
    pub activity: Activity,
    /// How often it ran.
    pub runs: u64,
}

/// A whole stream at one moment.
#[derive(Clone, Debug, Default)]
pub struct StreamSnapshot {
    /// The islands, from upstream.
    pub islands: Vec<IslandSnapshot>,
    /// The stages, from upstream.
    pub stages: Vec<StageSnapshot>,
    /// The boundaries and the fused edges of graphs, from upstream.
    pub edges: Vec<EdgeSnapshot>,
}

impl StreamSnapshot {
    /// Finds a stage by its name.
    pub fn stage(&self, name: &str) -> Option<&StageSnapshot> {
        self.stages.iter().find(|s| &*s.name == name)
    }

    /// Finds a boundary by its name.
    pub fn edge(&self, name: &str) -> Option<&EdgeSnapshot> {
        self.edges.iter().find(|e| &*e.name == name)
    }
}
