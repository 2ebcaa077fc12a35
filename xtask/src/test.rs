//! `cargo xtask test`: runs everything that CI runs, goes on when a step fails, and says at the end what failed.

use std::process::ExitCode;
use std::time::Instant;

use crate::args::{self, Opt};
use crate::error::{Error, Result};
use crate::report::{self, Line, Verdict};
use crate::steps::{STEPS, Session, Step};
use crate::workspace::Workspace;

const OPTIONS: [Opt; 2] =
    [Opt { name: "--only", value: Some("STEP[,STEP]") }, Opt { name: "--list", value: None }];

/// The text of `cargo xtask help test`.
pub(crate) fn usage() -> String {
    format!(
        "\
Runs everything that CI runs: each step is timed, and a failed one does not stop the rest.

Usage: cargo xtask test [--only STEP[,STEP]] [--list]

Options:
  --only STEP[,STEP]   Run these steps only
  --list               Name the steps and run none

Steps, in their order:
{}
Missing tools are installed first: cargo's into target/tools, and Chromium and Node.js from the system's packages
where that needs no password; else the step fails and names the command to run.
",
        list()
    )
}

/// Runs the command.
pub(crate) fn run(argv: &[String]) -> Result<ExitCode> {
    let given = args::parse("test", &OPTIONS, argv)?;
    if given.has("--list") {
        print!("{}", list());
        return Ok(ExitCode::SUCCESS);
    }
    let steps = chosen(given.value("--only"))?;
    let mut session = Session::new(Workspace::find()?);
    let lines: Vec<Line> = steps.iter().map(|step| run_step(step, &mut session)).collect();
    print!("{}", report::closing(&lines));
    Ok(if lines.iter().any(Line::failed) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn list() -> String {
    STEPS.iter().map(|step| format!("  {:<12} {}\n", step.name, step.about)).collect()
}

/// Picks the steps that `--only` names, in the order of the table.
fn chosen(only: Option<&str>) -> Result<Vec<&'static Step>> {
    let Some(only) = only else {
        return Ok(STEPS.iter().collect());
    };
    let names: Vec<&str> = only.split(',').map(str::trim).collect();
    let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    for name in &names {
        if !known.contains(name) {
            let hint =
                args::nearest(name, &known).map_or(String::new(), |near| format!("; did you mean {near}?"));
            return Err(
                Error::new(format!("--only: unknown step `{name}`{hint}")).mend("cargo xtask test --list")
            );
        }
    }
    Ok(STEPS.iter().filter(|step| names.contains(&step.name)).collect())
}

fn run_step(step: &Step, session: &mut Session) -> Line {
    eprintln!("\n== {}: {}", step.name, step.about);
    let start = Instant::now();
    let verdict = (step.run)(session).unwrap_or_else(|error| Verdict::Failed(error.to_string(), None));
    match &verdict {
        Verdict::Passed(_) => {}
        Verdict::Failed(why, _) => eprintln!("== {} failed: {why}", step.name),
        Verdict::Skipped(why) => eprintln!("== {} skipped: {why}", step.name),
    }
    Line { step: step.name, verdict, took: start.elapsed() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(only: Option<&str>) -> std::result::Result<Vec<&'static str>, String> {
        let names = |steps: Vec<&Step>| steps.iter().map(|step| step.name).collect();
        chosen(only).map(names).map_err(|error| error.to_string())
    }

    #[test]
    fn steps_are_chosen_by_name_and_run_in_their_own_order() {
        assert_eq!(check(Some("native, fmt")).unwrap(), ["fmt", "native"]);
        assert_eq!(check(None).unwrap().len(), STEPS.len());
        assert!(check(Some("natve")).unwrap_err().contains("unknown step `natve`; did you mean native?"));
    }
}
