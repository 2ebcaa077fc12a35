//! The examples print what their own pages say they print, and the services answer every request.

#![cfg(not(target_family = "wasm"))]
#![allow(clippy::duplicate_mod, reason = "the HTTP examples share a page, and each has it for itself")]

use std::fs;
use std::path::Path;

#[allow(dead_code, reason = "an example's main is not called here")]
#[path = "../examples/chunked_task.rs"]
mod chunked_task;
#[allow(dead_code, reason = "an example's main is not called here")]
#[path = "../examples/junctions.rs"]
mod junctions;
#[allow(dead_code, reason = "an example's main is not called here")]
#[path = "../examples/message_age.rs"]
mod message_age;

#[allow(dead_code, reason = "an example's main is not called here")]
#[path = "../examples/job.rs"]
mod job;
#[allow(dead_code, reason = "an example's main is not called here")]
#[path = "../examples/routers.rs"]
mod routers;

#[allow(dead_code, reason = "an example's main is not called here")]
#[path = "../examples/throughput.rs"]
mod throughput;
#[allow(dead_code, reason = "an example's main is not called here")]
#[path = "../examples/translation.rs"]
mod translation;

/// Gives what the page of an example shows behind its `$ cargo run` line.
fn expected(example: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(format!("{example}.rs"));
    let source = fs::read_to_string(path).expect("an example has a file");
    let page = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line));
    let shown =
        page.skip_while(|line| !line.starts_with("$ cargo run")).skip(1).take_while(|line| *line != "```");
    shown.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Compares the two line by line; blanks at the end of a line do not count.
fn assert_prints(example: &str, run: impl FnOnce(&mut Vec<u8>)) {
    let mut printed = Vec::new();
    run(&mut printed);
    let printed = String::from_utf8(printed).expect("examples print text");
    let printed: String = printed.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    assert_eq!(printed, expected(example), "examples/{example}.rs prints this:\n{printed}");
}

#[test]
fn chunked_task_prints_its_story() {
    assert_prints("chunked_task", |out| chunked_task::run(out).expect("it runs"));
}

#[test]
fn message_age_prints_its_story() {
    assert_prints("message_age", |out| message_age::run(out).expect("it runs"));
}

#[test]
fn job_prints_its_story() {
    assert_prints("job", |out| job::run(out).expect("it runs"));
}

#[test]
fn routers_prints_its_story() {
    assert_prints("routers", |out| routers::run(out).expect("it runs"));
}

#[test]
fn junctions_answer_every_request_in_every_step() {
    for step in 1..=3 {
        let load = junctions::measure(step, 2, 3, 4).expect("it serves on the loopback interface");
        assert_eq!((load.latencies.len(), load.errors.len()), (12, 0), "step {step}: {:?}", load.errors);
    }
}

#[test]
fn throughput_prints_its_tables() {
    assert_prints("throughput", |out| throughput::run(out).expect("it runs"));
}

#[test]
fn throughput_plays_on_threads_too() {
    let mut printed = Vec::new();
    throughput::run_native(&mut printed, 2, std::time::Duration::from_millis(20)).expect("it runs");
    let printed = String::from_utf8(printed).expect("examples print text");
    let (titles, rows) = (3 * 2, 5 + 4 + 7);
    assert_eq!(printed.lines().count(), titles + rows, "a row for each setting:\n{printed}");
}

#[test]
fn translations_are_answered_in_both_variants_and_nobody_is_left() {
    for variant in [translation::Variant::Blocking, translation::Variant::Aggregator] {
        let measured = translation::measure(variant, 2, 2, 0).expect("it serves on the loopback interface");
        let load = &measured.load;
        assert_eq!((load.latencies.len(), load.errors.len()), (4, 0), "{variant}: {:?}", load.errors);
        assert_eq!((measured.threads, measured.left), (8, 0), "{variant}");
    }
}

#[test]
fn a_translation_whose_part_is_lost_is_an_error_and_no_aggregator_is_left() {
    let measured = translation::measure(translation::Variant::Aggregator, 1, 1, 1).expect("it serves");
    assert_eq!((measured.load.latencies.len(), measured.load.errors.len()), (0, 1));
    assert!(measured.load.errors[0].contains("504"), "{:?}", measured.load.errors);
    assert_eq!(measured.left, 0);
}
