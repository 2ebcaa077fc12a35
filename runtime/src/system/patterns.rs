//! The doors from a system to its patterns.

use super::{ActorSystem, CoordinatedShutdown};
use crate::actor::DeadLetterLog;
use crate::pattern::{EventStream, Receptionist, SystemHandle};

impl ActorSystem {
    /// Gives a handle for tasks, breakers and whoever else stands outside.
    pub fn handle(&self) -> SystemHandle {
        SystemHandle(self.shared.clone())
    }

    /// Gives the phases through which the system ends, to add tasks and phases to.
    pub fn coordinated_shutdown(&self) -> CoordinatedShutdown {
        self.handle().coordinated_shutdown()
    }

    /// Gives the system's event stream.
    pub fn event_stream(&self) -> EventStream {
        self.handle().event_stream()
    }

    /// Gives the system's receptionist.
    pub fn receptionist(&self) -> Receptionist {
        self.handle().receptionist()
    }

    /// Says how many dead letters a log would have shown, and passed over.
    pub fn dead_letter_log(&self) -> DeadLetterLog {
        self.shared.letters.log()
    }
}
