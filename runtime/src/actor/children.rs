//! A parent's book of living children, in start order, with names and restart budgets.
//!
//! I1 ids rise in the order of creation, so the map's order is the start order.
//! I2 a child that has ended takes itself out before it tells anybody, so its name is free when the news is heard.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::Shutdown;
use super::cell::AnyCell;
use super::path::SpawnError;
use crate::id::ActorId;
use crate::rng::Rng;
use crate::supervise::{AutoShutdown, ChildBudget, RestartType};

/// The book.
#[derive(Default)]
pub(crate) struct Children {
    living: BTreeMap<ActorId, Child>,
    names: BTreeMap<Arc<str>, ActorId>,
    generated: u64,
    closed: Option<SpawnError>,
    ended: Option<Box<Ended>>,
}

/// The significant children that have ended for good.
pub(crate) struct Ended {
    pub(crate) count: u32,
    pub(crate) last: ActorId,
    pub(crate) path: Arc<str>,
}

/// One entry.
pub(crate) struct Child {
    pub(crate) cell: Arc<dyn AnyCell>,
    pub(crate) name: Arc<str>,
    pub(crate) budget: ChildBudget,
    pub(crate) rng: Rng,
    pub(crate) restart_type: RestartType,
    pub(crate) shutdown: Shutdown,
    /// It was told to stop because its parent stops or restarts.
    pub(crate) told: bool,
    /// It is suspended for a failure or a restart of its parent.
    pub(crate) held: bool,
    /// Its parent waits for its start.
    pub(crate) declared: bool,
    /// Its end may be that of its parent, see [`AutoShutdown`].
    pub(crate) significant: bool,
}

impl Children {
    /// Takes a name, or makes one if it is empty (`$` and a counter).
    ///
    /// # Errors
    /// If the parent takes no more children, or a living sibling has the name.
    pub(crate) fn reserve(&mut self, name: &str) -> Result<Arc<str>, SpawnError> {
        if let Some(why) = &self.closed {
            return Err(why.clone());
        }
        let name: Arc<str> = if name.is_empty() {
            self.generated += 1;
            format!("${}", self.generated).into()
        } else {
            name.into()
        };
        if self.names.contains_key(&name) {
            return Err(SpawnError::NameTaken(name.to_string()));
        }
        Ok(name)
    }

    pub(crate) fn insert(&mut self, id: ActorId, child: Child) {
        self.names.insert(child.name.clone(), id);
        self.living.insert(id, child);
    }

    pub(crate) fn remove(&mut self, id: ActorId) {
        if let Some(child) = self.living.remove(&id) {
            self.names.remove(&child.name);
            if child.significant && !child.told {
                let count = self.ended.as_ref().map_or(0, |ended| ended.count).saturating_add(1);
                self.ended = Some(Box::new(Ended { count, last: id, path: child.cell.head().path.clone() }));
            }
        }
    }

    pub(crate) fn get_mut(&mut self, id: ActorId) -> Option<&mut Child> {
        self.living.get_mut(&id)
    }

    pub(crate) fn cell(&self, id: ActorId) -> Option<Arc<dyn AnyCell>> {
        self.living.get(&id).map(|child| child.cell.clone())
    }

    pub(crate) fn named(&self, name: &str) -> Option<Arc<dyn AnyCell>> {
        self.names.get(name).and_then(|id| self.cell(*id))
    }

    /// Lists the living, in start order.
    pub(crate) fn ids(&self) -> Vec<ActorId> {
        self.living.keys().copied().collect()
    }

    pub(crate) fn cells(&self) -> Vec<Arc<dyn AnyCell>> {
        self.living.values().map(|child| child.cell.clone()).collect()
    }

    /// Gives the child that was started last.
    pub(crate) fn last(&self) -> Option<Arc<dyn AnyCell>> {
        self.living.last_key_value().map(|(_, child)| child.cell.clone())
    }

    /// Is true if no child lives.
    pub(crate) fn is_empty(&self) -> bool {
        self.living.is_empty()
    }

    /// Gives the children that are to be told to stop next, last started first: one, or the unnamed ones that were started
    /// last, or all if they stop in parallel. None if those told before are still to be waited for.
    pub(crate) fn stop_next(&mut self, parallel: bool) -> Vec<(Arc<dyn AnyCell>, Shutdown)> {
        let mut to_stop = Vec::new();
        for child in self.living.values_mut().rev() {
            let together = parallel || child.name.starts_with('$') || to_stop.is_empty();
            if child.told || !together {
                break;
            }
            child.told = true;
            to_stop.push((child.cell.clone(), child.shutdown));
            if !parallel && !child.name.starts_with('$') {
                break;
            }
        }
        to_stop
    }

    /// Gives all children, last started first, to be told to stop.
    pub(crate) fn stopping_all(&mut self) -> Vec<(Arc<dyn AnyCell>, Shutdown)> {
        self.living.values_mut().rev().map(|child| (child.cell.clone(), child.shutdown)).collect()
    }

    /// Marks all children as suspended for their parent, or as no longer so; gives those for whom that is news.
    pub(crate) fn hold(&mut self, held: bool) -> Vec<Arc<dyn AnyCell>> {
        let changed = self.living.values_mut().filter(|child| child.held != held);
        changed.map(|child| (child.held = held, child.cell.clone()).1).collect()
    }

    /// Says whether the ends of significant children are that of their parent, once.
    pub(crate) fn take_ended(&mut self, mode: AutoShutdown) -> Option<Box<Ended>> {
        let is_due = match mode {
            AutoShutdown::Never => false,
            AutoShutdown::AnySignificant => true,
            AutoShutdown::AllSignificant => !self.living.values().any(|child| child.significant),
        };
        if is_due { self.ended.take() } else { None }
    }

    /// Refuses new children from now on.
    pub(crate) fn close(&mut self, why: SpawnError) {
        self.closed = Some(why);
    }

    /// Takes new children again, for a new instance; unless the old ones were kept, it is a new set of them.
    pub(crate) fn open(&mut self, kept: bool) {
        self.closed = None;
        if !kept {
            self.ended = None;
        }
    }
}
