//! The operators that control a stream from outside, as far as they can be drawn.

use std::sync::Arc;

use super::{Live::Yes, OpSchema, Role, choice, op};
use crate::stream::blueprint::Builder;
use crate::stream::interpreter::DynCell;
use crate::stream::ops::valve::{Gate, Valve};
use crate::stream::params::Settings;
use crate::stream::value::Value;

pub(super) const OPERATORS: &[OpSchema] = &[op(
    "valve",
    Role::Flow,
    "Lets elements pass while it is open.",
    &[choice("state", &["open", "closed"], Yes, "whether elements pass")],
)];

/// Makes the stage of an operator of this group.
pub(super) fn cell(b: &Builder, name: &Arc<str>, op: &OpSchema, set: &Settings) -> Option<Box<dyn DynCell>> {
    let valve = match (op.kind, set.value("state").as_text()) {
        ("valve", Some("closed")) => Valve::closed(),
        ("valve", _) => Valve::new(),
        _ => return None,
    };
    Some(b.dynamic(name, Gate::<Value>::new(valve)))
}
