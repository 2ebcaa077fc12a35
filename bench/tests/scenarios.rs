//! `footlights-bench scenario` runs the playground's files, and refuses what cannot run.

use std::process::{Command, Output};

use serde_json::Value;

fn scenario(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_footlights-bench"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("scenario").args(line.split_whitespace());
    command.output().expect("the binary runs")
}

fn report(line: &str) -> Value {
    let output = scenario(&format!("{line} --json"));
    assert!(output.status.success(), "{line}: {output:?}");
    assert!(output.stderr.is_empty(), "{line}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn complaint(line: &str) -> String {
    let output = scenario(line);
    assert_eq!(output.status.code(), Some(2), "{line}: {output:?}");
    assert!(output.stdout.is_empty(), "{line}: {output:?}");
    String::from_utf8(output.stderr).expect("it is text")
}

#[test]
fn a_stepper_gives_ledger_time_and_log_hash() {
    let report = report("tests/scenarios/five.json --dispatcher stepper");
    assert_eq!(report["ended"], "rest", "{report}");
    assert!(report["ledger"]["handled"].as_u64().is_some_and(|handled| handled >= 5), "{report}");
    assert!(report["log_hash"].as_str().is_some_and(|hash| hash.len() == 16), "{report}");
    assert!(report["turns"].as_u64().is_some_and(|turns| turns > 0), "{report}");
}

#[test]
fn a_pool_comes_to_rest_and_has_no_log_hash() {
    let report = report("tests/scenarios/five.json --workers 1");
    assert_eq!((&report["dispatcher"], &report["ended"]), (&"pool".into(), &"rest".into()), "{report}");
    assert!(report["ledger"]["handled"].as_u64().is_some_and(|handled| handled >= 5), "{report}");
    assert!(report["log_hash"].is_null() && report["turns"].is_null(), "{report}");
}

#[test]
fn the_seed_decides_the_run() {
    let hash = |seed: u32| {
        let line = format!("../web/scenarios/let-it-crash.json --dispatcher stepper --seed {seed}");
        report(&line)["log_hash"].clone()
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn until_ends_a_run_in_the_midst() {
    let line = "../web/scenarios/let-it-crash.json --dispatcher stepper --until 1.5s";
    let report = report(line);
    assert_eq!(
        (&report["ended"], &report["time_ns"]),
        (&"until".into(), &1_500_000_000u64.into()),
        "{report}"
    );
}

#[test]
fn people_read_words() {
    let output = scenario("tests/scenarios/five.json --dispatcher stepper");
    let text = String::from_utf8(output.stdout).expect("it is text");
    for word in ["Five: stepper, seed 7, 2 workers", "nothing is left to do", "log ", "messages  sent "] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn every_fault_of_a_file_is_told_with_its_place() {
    let text = complaint("tests/scenarios/wrong.json");
    for word in ["wrong.json", "source", "sauce", "nowhere"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_file_that_is_missing_or_no_scenario_is_named() {
    assert!(complaint("tests/scenarios/none.json").contains("none.json"));
    assert!(complaint("Cargo.toml").contains("Cargo.toml"));
    assert!(complaint("tests/scenarios").contains("tests/scenarios"));
}
