//! The documents that ship with the playground.

use footlights::scenario::document::Scenario;
use footlights::scenario::{plan::Plan, validate};

fn plan(name: &str) -> Plan {
    let path = format!("{}/../web/scenarios/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{name}: {e:#?}"));
    validate(&scenario).unwrap_or_else(|e| panic!("{name}: {e:#?}"))
}

#[test]
fn the_three_are_valid() {
    let crash = plan("let-it-crash");
    assert_eq!(crash.replies.len(), 5, "every worker replies to the master");
    assert_eq!(crash.nodes.iter().filter(|n| n.parent.is_some()).count(), 5);
    let million = plan("ten-million-messages");
    assert_eq!((million.replies.len(), million.streams.len()), (10, 0));
    let boundary = plan("boundary-and-buffer");
    assert_eq!(boundary.streams[0].nodes, [0, 1, 2, 3, 4]);
}
