//! The settings of the system that a document may make, in its `settings`.

use super::Param;

/// The settings, in the order of the form.
pub static SETTINGS: [Param; 1] = [Param::flag(
    "seeded_order",
    "Seeded order",
    false,
    "let the seed decide which of several turns at one instant comes first; else the order is fixed",
)];
