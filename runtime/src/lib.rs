//! Footlights.
