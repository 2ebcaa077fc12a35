//! Hubs: streams that others join and leave while they run.
//!
//! A joiner is a stream of its own: its source, or its sink, shares the hub's state with the stage that is the hub's place in the
//! stream that hosts it. They wake each other's islands by their bells.
//!
//! I1 joining and leaving are each one step under the hub's lock, so a joiner is in from a defined element on.
//! I2 who waits was seen to wait under that lock: no wake is lost. I3 no lock is held while a bell rings.
//! I4 the host's end reaches every joiner, and is there at once for those that come later.

pub mod broadcast_hub;
pub mod merge_hub;

pub use broadcast_hub::{BroadcastHub, HubSettings, WhenEmpty};
pub use merge_hub::MergeHub;

use super::shared::Doorbell;

/// The bells to ring once the lock is released.
#[derive(Default)]
struct Bells(Vec<Doorbell>);

impl Bells {
    /// Adds who waits, if anybody does; it waits no more.
    fn add(&mut self, waits: &mut bool, door: Option<&Doorbell>) {
        if std::mem::take(waits) {
            self.0.extend(door.cloned());
        }
    }

    fn ring(self) {
        self.0.iter().for_each(Doorbell::ring);
    }
}
