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
use crate::supervise::{ChildBudget, RestartType};

/// The book.
#[derive(Default)]
pub(crate) struct Children {
    living: BTreeMap<ActorId, Child>,
    names: BTreeMap<Arc<str>, ActorId>,
    generated: u64,
    closed: Option<SpawnError>,
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

    /// Refuses new children from now on, or takes them again.
    pub(crate) fn close(&mut self, why: Option<SpawnError>) {
        self.closed = why;
    }
}
