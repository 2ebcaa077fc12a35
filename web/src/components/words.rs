//! Texts that only the components use; the rest is in [`crate::model::locale`].

/// No port of the list has what was typed.
pub const NOTHING_MATCHES: &str = "Nothing matches the filter.";
