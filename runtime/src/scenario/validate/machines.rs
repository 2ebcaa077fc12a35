//! Checks of state machines: every state that is named exists, once.

use super::super::behaviours::machine::names;
use super::super::error::{DocError, Place, short};
use super::super::plan::Plan;

pub(super) fn check(plan: &Plan, errors: &mut Vec<DocError>) {
    for node in plan.nodes.iter().filter(|n| n.kind.name == "machine") {
        let states = names(&node.params);
        let mut fault =
            |key: &str, reason: String| errors.push(DocError::new(Place::param(&node.id, key), reason));
        for (i, name) in states.iter().enumerate() {
            if states[..i].contains(name) {
                fault("states", format!("row {}: two states are called {}", i + 1, short(name)));
            }
        }
        let initial = node.params.text("initial");
        if !states.contains(&initial) {
            fault("states", format!("there is no state {}, in which it begins", short(initial)));
        }
        for (i, row) in node.params.rows("states").iter().enumerate() {
            let (to, ends) = (row.text("after_to"), !row.millis("after_ms").is_zero());
            if ends && !states.contains(&to) {
                fault("states", format!("row {}: there is no state {} to follow", i + 1, short(to)));
            }
        }
        for (i, row) in node.params.rows("transitions").iter().enumerate() {
            for key in ["from", "to"] {
                if !states.contains(&row.text(key)) {
                    let name = short(row.text(key));
                    fault("transitions", format!("row {}: {key} names no state: {name}", i + 1));
                }
            }
        }
    }
}
