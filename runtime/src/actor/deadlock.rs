//! The graph of waits: who waits for room in whose mailbox, and whether such waits have closed a cycle.
//!
//! Each actor waits for one other at most, the target of the first message in its outbox, so a cycle is found by following
//! the waits from the actor whose wait is new. The wait is noted before the look: of two that close a cycle at once, at
//! least the later one sees all of it.
//! It breaks nothing: it says so.

use std::sync::Arc;

use super::head::Head;
use crate::id::ActorId;
use crate::observe::EventKind;

/// Waits that are followed, at most.
const CYCLE_MAX: usize = 10_000;

/// Who waits for whom, each for the next.
type Cycle = Arc<[(ActorId, Arc<str>)]>;

/// Raises Deadlock if the wait of this actor, which is noted, closes a cycle.
pub(super) fn look_for_cycle(head: &Head) {
    if let Some(cycle) = cycle_of(head) {
        head.record(EventKind::Deadlock { cycle });
    }
}

/// Follows the waits from an actor; gives all whom they lead through if they lead back to it.
fn cycle_of(head: &Head) -> Option<Cycle> {
    let mut cycle = vec![(head.id, head.path.clone())];
    let mut next = head.waits_on()?;
    while next != head.id {
        let cell = head.shared.cells.lock().get(&next)?.upgrade()?;
        if cycle.len() >= CYCLE_MAX {
            return None; // a cycle that this actor waits for, but is not in
        }
        cycle.push((next, cell.head().path.clone()));
        next = cell.head().waits_on()?;
    }
    Some(cycle.into())
}
