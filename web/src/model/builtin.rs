//! The scenarios that ship with the page, and the empty canvas.

use footlights::scenario::document::{Scenario, VERSION};

/// Titles and texts, in the order of the picker; the first one is what a first visit shows.
pub const ALL: [(&str, &str); 12] = [
    ("Let it crash", include_str!("../../scenarios/let-it-crash.json")),
    ("Ten million messages", include_str!("../../scenarios/ten-million-messages.json")),
    ("Boundary and buffer", include_str!("../../scenarios/boundary-and-buffer.json")),
    ("Parallel lanes", include_str!("../../scenarios/parallel-lanes.json")),
    ("Three restart windows", include_str!("../../scenarios/restart-windows.json")),
    ("Eight routers, one uneven load", include_str!("../../scenarios/eight-routers.json")),
    ("A pool that breathes", include_str!("../../scenarios/breathing-pool.json")),
    ("Kinds of mailbox", include_str!("../../scenarios/mailbox-kinds.json")),
    ("Throughput and fairness", include_str!("../../scenarios/throughput-and-fairness.json")),
    ("Translation service", include_str!("../../scenarios/translation-service.json")),
    ("A kitchen as a state machine", include_str!("../../scenarios/state-machine.json")),
    ("Junction deciders", include_str!("../../scenarios/junction-deciders.json")),
];

/// Reads a scenario that ships with the page.
///
/// # Errors
/// A sentence where there is none, or it cannot be read.
pub fn load(at: usize) -> Result<Scenario, String> {
    let (_, text) = ALL.get(at).ok_or_else(|| format!("there is no scenario number {at}"))?;
    Scenario::parse(text)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// An empty document.
pub fn empty() -> Scenario {
    let text =
        format!(r#"{{"version":{VERSION},"name":"Untitled","seed":1,"workers":4,"nodes":[],"edges":[]}}"#);
    Scenario::parse(&text).expect("the empty document is one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_that_ships_can_be_run() {
        for (at, (title, _)) in ALL.iter().enumerate() {
            let doc = load(at).unwrap_or_else(|e| panic!("{title}: {e}"));
            assert_eq!(&doc.name, title);
            footlights::scenario::validate(&doc).unwrap_or_else(|e| panic!("{title}: {e:?}"));
        }
    }
}
