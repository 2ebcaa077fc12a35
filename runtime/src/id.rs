//! Newtypes for everything that is counted: identities follow the order of creation.
//!
//! Why: decisions and logs may use these numbers, never an address or a hash, so that a run can be repeated.
//! An id is never used twice in the life of one system.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $mark:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub u64);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($mark, "{}"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self, f)
            }
        }
    };
}

id!(
    /// Identifies one actor of a system; 0 is "nobody" (a send from outside the system).
    ActorId, "a"
);
id!(
    /// Identifies one accepted user message of a system; 0 where messages are not numbered (on a Pool).
    MsgId, "m"
);
id!(
    /// Identifies one stream of a system.
    StreamId, "s"
);

impl ActorId {
    /// The sender of what comes from outside the system.
    pub const NOBODY: ActorId = ActorId(0);
}
