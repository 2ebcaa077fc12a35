//! The binary keeps its promises to scripts: lines, exit codes, and messages that name what is wrong.

use std::process::{Command, Output};

fn bench(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_footlights-bench"));
    command.args(line.split_whitespace()).output().expect("the binary runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("it is text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("it is text")
}

/// Runs a command line that is not right, and gives what is said about it.
fn complaint(line: &str) -> String {
    let output = bench(line);
    assert_eq!(output.status.code(), Some(2), "{line}: {output:?}");
    assert_eq!(stdout(&output), "", "{line}: nothing is printed as a result");
    stderr(&output)
}

#[test]
fn list_names_every_workload() {
    let output = bench("list");
    assert!(output.status.success(), "{output:?}");
    let text = stdout(&output);
    for workload in footlights_bench::workloads::ALL {
        assert!(text.contains(workload.id) && text.contains(workload.name), "{}: {text}", workload.id);
    }
}

#[test]
fn run_prints_one_line_of_json_with_the_agreed_keys_first() {
    let output = bench("run W1 --n 1000 --param K=10 --workers 2 --json");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stderr(&output), "", "--json leaves out all words");
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.ends_with('\n'), "{text}");
    let begin = r#"{"runtime":"footlights","workload":"W1","param":"K=10","n":1056,"secs":"#;
    assert!(text.starts_with(begin), "{text}");
    let (secs, per_sec) = (text.find("\"secs\":"), text.find("\"per_sec\":"));
    assert!(secs < per_sec, "{text}");
    let line: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert!(line["secs"].as_f64().is_some_and(|secs| secs > 0.0), "{text}");
    assert!(line["per_sec"].as_u64().is_some_and(|rate| rate > 0), "{text}");
    assert_eq!(line["threads"], 2, "{text}");
}

#[test]
fn rounds_print_a_line_each_and_a_summary_apart() {
    let output = bench("run W3 --n 1_000 --rounds 3 --workers 1");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stdout(&output).lines().count(), 3);
    let words = stderr(&output);
    assert!(words.contains("cores; commit "), "{words}");
    assert!(words.contains("median ") && words.contains(" messages/s"), "{words}");
    assert!(!words.contains('\r'), "no progress where there is no terminal: {words:?}");
}

#[test]
fn every_workload_runs_by_id_and_by_name() {
    for workload in footlights_bench::workloads::ALL {
        for name in [workload.id, workload.name] {
            let output = bench(&format!("run {name} --n 500 --json"));
            assert!(output.status.success(), "{name}: {output:?}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn workloads_of_memory_tell_what_was_resident_and_the_peak() {
    for name in ["W5", "idle-actors"] {
        let output = bench(&format!("run {name} --n 2000"));
        assert!(output.status.success(), "{output:?}");
        let line: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("it is JSON");
        let bytes = |key: &str| line[key].as_u64().unwrap_or_else(|| panic!("{name} tells {key}: {line}"));
        assert!(
            bytes("peak_bytes") >= bytes("resident_bytes") && bytes("resident_bytes") > 1 << 20,
            "{line}"
        );
        assert!(stderr(&output).contains(" MiB resident at the end, "), "{}", stderr(&output));
    }
}

#[test]
fn an_unknown_workload_is_answered_with_the_known_ones() {
    let text = complaint("run W77");
    assert!(text.contains("W77") && text.contains("W1 (pingpong-pairs)"), "{text}");
}

#[test]
fn a_bad_number_is_named() {
    assert!(complaint("run W1 --n many").contains("--n \"many\""));
    assert!(complaint("run W1 --n -1").contains("\"-1\""));
    assert!(complaint("run W1 --workers 0").contains("--workers \"0\""));
    assert!(complaint("run W1 --param K=0").contains("\"0\" is no value for K"));
}

#[test]
fn nothing_and_nonsense_are_refused() {
    assert!(complaint("").contains("Usage"));
    assert!(complaint("walk").contains("walk"));
    assert!(complaint("run W1 --fast").contains("--fast"));
}

#[test]
fn every_subcommand_explains_itself() {
    for line in ["--help", "help", "list --help", "run --help", "scenario --help"] {
        let output = bench(line);
        assert!(output.status.success(), "{line}: {output:?}");
        assert!(stdout(&output).contains("Usage"), "{line}");
    }
}
