//! Wiring: which end is which, which targets are open, and why one is refused. The rules are the scenario's own.

use footlights::scenario::can_connect;
use footlights::scenario::document::{PortRef, Scenario};
use footlights::scenario::schema::{self, Direction, Port};

use super::geometry::Layout;

/// Puts two ports in the order output, input, if they are one of each.
pub fn in_order(doc: &Scenario, a: &PortRef, b: &PortRef) -> (PortRef, PortRef) {
    match (direction(doc, a), direction(doc, b)) {
        (Some(Direction::In), Some(Direction::Out)) => (b.clone(), a.clone()),
        _ => (a.clone(), b.clone()),
    }
}

/// Judges a wire between two ports, given in either order.
///
/// # Errors
/// The reason, as a sentence.
pub fn verdict(doc: &Scenario, a: &PortRef, b: &PortRef) -> Result<(), String> {
    let (from, to) = in_order(doc, a, b);
    can_connect(doc, &from, &to)
}

/// Lists the ports that a wire from `from` may reach, nearest first.
pub fn targets(doc: &Scenario, layout: &Layout, from: &PortRef) -> Vec<PortRef> {
    let start = layout.spot(from).map(|s| s.at).unwrap_or_default();
    let mut open: Vec<(f64, PortRef)> = layout
        .ports
        .iter()
        .filter(|spot| verdict(doc, from, &spot.port).is_ok())
        .map(|spot| (spot.at.distance(start), spot.port.clone()))
        .collect();
    open.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    open.into_iter().map(|(_, port)| port).collect()
}

/// Lists the ports of a node, inputs first.
pub fn ports_of(doc: &Scenario, node: &str) -> Vec<PortRef> {
    let kind = doc.nodes.iter().find(|n| n.id == node).and_then(|n| schema::kind(&n.kind));
    kind.map_or(Vec::new(), |k| k.ports.iter().map(|p| PortRef::new(node, p.name)).collect())
}

/// Whether a port is an input or an output.
pub fn direction(doc: &Scenario, port: &PortRef) -> Option<Direction> {
    schema_port(doc, port).map(|p| p.direction)
}

/// What the schema says of a port.
pub fn schema_port(doc: &Scenario, port: &PortRef) -> Option<&'static Port> {
    let node = doc.nodes.iter().find(|n| n.id == port.node)?;
    schema::kind(&node.kind)?.port(&port.port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc() -> Scenario {
        Scenario::parse(
            r#"{"version":1,"seed":1,"workers":1,"edges":[],"nodes":[
            {"id":"s","kind":"source","x":0},{"id":"far","kind":"collector","x":900},
            {"id":"near","kind":"collector","x":300},{"id":"m","kind":"map","x":100}]}"#,
        )
        .expect("a document")
    }

    #[test]
    fn targets_are_those_that_fit_nearest_first() {
        let doc = doc();
        let layout = Layout::of(&doc, &|_| None);
        let found = targets(&doc, &layout, &PortRef::new("s", "out"));
        assert_eq!(found, vec![PortRef::new("near", "in"), PortRef::new("far", "in")]);
    }

    #[test]
    fn a_wire_may_be_drawn_from_either_end() {
        let doc = doc();
        let (a, b) = (PortRef::new("near", "in"), PortRef::new("s", "out"));
        assert_eq!(in_order(&doc, &a, &b), (b.clone(), a.clone()));
        assert!(verdict(&doc, &a, &b).is_ok());
        assert!(verdict(&doc, &PortRef::new("m", "in"), &b).is_err());
    }
}
