//! What the islands of one stream and its handle share: counters, the kill switch, and a bell to wake islands by.
//!
//! I1 an island writes its counters once per run, at the run's end, and only there. I2 no lock is held while the bell rings.
//! It holds no elements.

use std::sync::{Arc, OnceLock};

use super::counts::{Activity, Counts, EdgeSnapshot, IslandSnapshot, StageSnapshot, StreamSnapshot};
use super::host::Event;
use super::kernel::StageId;
use super::signal::StreamError;
use crate::sync::{Mutex, MutexGuard};

/// Wakes an island by its number.
pub(crate) type Bell = Arc<dyn Fn(usize) + Send + Sync>;

/// Wakes one island of one stream from outside.
#[derive(Clone)]
pub(crate) struct Doorbell {
    shared: Arc<Shared>,
    island: usize,
}

impl Doorbell {
    pub(crate) fn new(shared: Arc<Shared>, island: usize) -> Self {
        Doorbell { shared, island }
    }

    /// Wakes the island, unless it has ended. Hold no lock that the island takes.
    pub(crate) fn ring(&self) {
        let living = |island: &IslandSnapshot| island.activity != Activity::Ended;
        let lives = self.shared.lock().islands.get(self.island).is_some_and(living);
        if lives {
            self.shared.ring(self.island);
        }
    }
}

/// What the handle wants of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Go on.
    Run,
    /// Complete at the sources.
    Stop,
    /// Fail at once.
    Abort(StreamError),
}

/// A boundary that can be looked at.
pub(crate) trait EdgeView: Send + Sync {
    /// Gives its counters.
    fn view(&self) -> EdgeSnapshot;
}

/// What a stage is, for snapshots.
#[derive(Clone, Debug)]
pub(crate) struct StageInfo {
    pub(crate) name: Arc<str>,
    /// Its island; while the stream is built its part.
    pub(crate) island: usize,
    pub(crate) counted: bool,
}

/// Which island each part of a stream belongs to: parts that are fused run in one island. Known when all is built.
#[derive(Default)]
pub(crate) struct Homes(OnceLock<Vec<usize>>);

impl Homes {
    /// Gives the island of a part.
    pub(crate) fn island_of(&self, part: usize) -> usize {
        self.0.get().and_then(|islands| islands.get(part).copied()).unwrap_or(part)
    }
}

/// The part of a stream that outlives its islands.
#[derive(Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    homes: Arc<Homes>,
}

struct State {
    control: Control,
    bell: Option<Bell>,
    /// Events from outside, for an island's next turn.
    posted: Vec<(usize, Event)>,
    stages: Vec<StageInfo>,
    counts: Vec<Counts>,
    islands: Vec<IslandSnapshot>,
    edges: Vec<Arc<dyn EdgeView>>,
}

impl Default for State {
    fn default() -> Self {
        let (posted, stages, counts, islands, edges) = Default::default();
        State { control: Control::Run, bell: None, posted, stages, counts, islands, edges }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Adds a stage; its number is its place.
    pub(crate) fn add_stage(&self, info: StageInfo) -> StageId {
        let mut state = self.lock();
        state.stages.push(info);
        state.counts.push(Counts::default());
        StageId(u32::try_from(state.counts.len() - 1).unwrap_or(u32::MAX))
    }

    /// Gives the number that the next stage will have.
    pub(crate) fn next_stage(&self) -> StageId {
        StageId(u32::try_from(self.lock().counts.len()).unwrap_or(u32::MAX))
    }

    /// Adds a boundary.
    pub(crate) fn add_edge(&self, edge: Arc<dyn EdgeView>) {
        self.lock().edges.push(edge);
    }

    /// Says which island each part is in: stages were added with their part.
    pub(crate) fn settle_parts(&self, islands: Vec<usize>) {
        let mut state = self.lock();
        let n = islands.iter().max().map_or(0, |last| last + 1);
        state.islands.resize(n, IslandSnapshot::default());
        for stage in &mut state.stages {
            stage.island = islands[stage.island];
        }
        let _ = self.homes.0.set(islands);
    }

    /// Gives where parts are.
    pub(crate) fn homes(&self) -> &Arc<Homes> {
        &self.homes
    }

    /// As `ring`, by a part's number.
    pub(crate) fn ring_part(&self, part: usize) {
        self.ring(self.homes.island_of(part));
    }

    /// Gives the host's way to wake an island.
    pub(crate) fn set_bell(&self, bell: Bell) {
        self.lock().bell = Some(bell);
    }

    /// Wakes an island from outside of any run.
    pub(crate) fn ring(&self, island: usize) {
        let bell = self.lock().bell.clone();
        if let Some(bell) = bell {
            bell(island);
        }
    }

    /// Changes what is wanted of the stream and wakes all islands; an abort stands.
    pub(crate) fn set_control(&self, control: Control) {
        let living: Vec<usize> = {
            let mut state = self.lock();
            if !matches!(state.control, Control::Abort(_)) {
                state.control = control;
            }
            let living = |i: &usize| state.islands[*i].activity != Activity::Ended;
            (0..state.islands.len()).filter(living).collect()
        };
        living.into_iter().for_each(|island| self.ring(island));
    }

    /// As `set_control`, for an island that is gone already.
    pub(crate) fn leave(&self, island: usize, control: Control) {
        if let Some(gone) = self.lock().islands.get_mut(island) {
            gone.activity = Activity::Ended;
        }
        self.set_control(control);
    }

    /// Says what is wanted, if that is news, and what was posted for an island.
    pub(crate) fn news(&self, island: usize, known: &Control) -> (Option<Control>, Vec<Event>) {
        let mut state = self.lock();
        let control = (state.control != *known).then(|| state.control.clone());
        if state.posted.is_empty() {
            return (control, Vec::new());
        }
        let posted = std::mem::take(&mut state.posted);
        let (mine, others) = posted.into_iter().partition::<Vec<_>, _>(|(to, _)| *to == island);
        state.posted = others;
        (control, mine.into_iter().map(|(_, event)| event).collect())
    }

    /// Hands an event to an island from outside and wakes it.
    pub(crate) fn post(&self, island: usize, event: Event) {
        let ended = {
            let mut state = self.lock();
            let ended = state.islands.get(island).is_none_or(|i| i.activity == Activity::Ended);
            if !ended {
                state.posted.push((island, event));
            }
            ended
        };
        if !ended {
            self.ring(island);
        }
    }

    /// Takes an island's counters at the end of its run.
    pub(crate) fn report(&self, island: usize, activity: Activity, runs: u64, f: impl FnOnce(&mut [Counts])) {
        let mut state = self.lock();
        f(&mut state.counts);
        if let Some(slot) = state.islands.get_mut(island) {
            *slot = IslandSnapshot { activity, runs };
        }
    }

    /// Finds a stage by its name.
    pub(crate) fn find(&self, name: &str) -> Option<(StageId, usize)> {
        let state = self.lock();
        let at = state.stages.iter().position(|s| &*s.name == name)?;
        Some((StageId(u32::try_from(at).ok()?), state.stages[at].island))
    }

    /// Gives everything as it is now.
    pub(crate) fn snapshot(&self) -> StreamSnapshot {
        let (mut snapshot, edges) = {
            let state = self.lock();
            let stages = state.stages.iter().zip(&state.counts).enumerate();
            let stages = stages.map(|(i, (info, counts))| StageSnapshot {
                id: StageId(i as u32),
                name: info.name.clone(),
                island: info.island,
                counted: info.counted,
                counts: *counts,
            });
            let stages = stages.collect();
            (
                StreamSnapshot { islands: state.islands.clone(), stages, edges: Vec::new() },
                state.edges.clone(),
            )
        };
        snapshot.edges = edges.iter().map(|e| e.view()).collect();
        snapshot
    }
}
