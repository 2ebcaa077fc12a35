//! Golden log hashes: the shipped scenarios give the same event log on every machine, native or in a browser.
//!
//! `FOOTLIGHTS_RENEW=1 cargo test -p footlights --test scenario_golden` writes them anew after a wanted change.

use footlights::scenario::document::Scenario;
use footlights::scenario::{On, Run, validate};
use footlights::time::Instant;
use serde_json::{Map, Value, json};

const NAMES: [&str; 12] = [
    "boundary-and-buffer",
    "breathing-pool",
    "eight-routers",
    "junction-deciders",
    "let-it-crash",
    "mailbox-kinds",
    "parallel-lanes",
    "restart-windows",
    "state-machine",
    "ten-million-messages",
    "throughput-and-fairness",
    "translation-service",
];
/// Virtual time at which the hash is taken.
const AT_NS: u64 = 3_000_000_000;

fn path(name: &str) -> String {
    format!("{}/../web/scenarios/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

fn run(name: &str) -> Value {
    let text = std::fs::read_to_string(path(name)).expect(name);
    let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{name}: {e:#?}"));
    let plan = validate(&scenario).unwrap_or_else(|e| panic!("{name}: {e:#?}"));
    let run = Run::start(plan, On::Stepper).expect(name);
    run.system().run_until(Instant::from_nanos(AT_NS));
    let ledger = run.system().ledger();
    assert!(ledger.balanced(), "{name}: {ledger:?}");
    json!({
        "at_ns": AT_NS,
        "turn": run.turn(),
        "hash": format!("{:016x}", run.system().log_hash()),
        "sent": ledger.sent,
        "handled": ledger.handled,
    })
}

#[test]
fn the_shipped_scenarios_have_their_golden_hashes() {
    let once: Map<String, Value> = NAMES.iter().map(|name| ((*name).to_owned(), run(name))).collect();
    let twice: Map<String, Value> = NAMES.iter().map(|name| ((*name).to_owned(), run(name))).collect();
    assert_eq!(once, twice, "a run that differs from itself");
    let got = serde_json::to_string_pretty(&once).expect("plain data") + "\n";
    let file = path("golden/hashes");
    if std::env::var_os("FOOTLIGHTS_RENEW").is_some() {
        std::fs::write(&file, &got).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(&file).expect("the golden file");
    assert_eq!(got, golden, "if the change is wanted, renew with FOOTLIGHTS_RENEW=1");
}
