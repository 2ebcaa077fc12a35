//! `cargo xtask`: set-up and the project's chores, so that a fresh clone needs two commands and no manual.
//!
//! It has no dependencies, asks no questions and installs only what is missing; whatever it cannot do, it names the
//! one command that a person can run instead.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a native tool beside the runtime: it starts threads and times its steps by the wall clock"
)]

mod args;
mod build_page;
mod error;
mod play;
mod report;
mod serve;
mod steps;
mod test;
mod tools;
mod workspace;

use std::process::ExitCode;

use crate::error::{Error, Result};

const USAGE: &str = "\
Sets up, builds, serves and tests Footlights.

Usage: cargo xtask COMMAND [OPTIONS]

Commands:
  play    Build the playground, serve it on this machine and open it
  test    Run everything that CI runs
  build   Make dist/: the playground for any static host
  help    Show this text, or that of one command: cargo xtask help test

Each command installs what it lacks into target/tools and says so; none asks a question.
";

const COMMANDS: [&str; 4] = ["play", "test", "build", "help"];

fn main() -> ExitCode {
    let argv: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&argv) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command that the first argument names.
fn dispatch(argv: &[String]) -> Result<ExitCode> {
    let Some((command, rest)) = argv.split_first() else {
        print!("{USAGE}");
        return Ok(ExitCode::FAILURE);
    };
    if rest.iter().any(|arg| arg == "--help" || arg == "-h") {
        return help(command);
    }
    match command.as_str() {
        "play" => play::run(rest),
        "test" => test::run(rest),
        "build" => build_page::run(rest),
        "help" if rest.len() > 1 => {
            Err(Error::new("`help` takes one command at most").mend("cargo xtask help"))
        }
        "help" => help(rest.first().map_or("", String::as_str)),
        "--help" | "-h" => help(""),
        unknown => Err(unknown_command(unknown)),
    }
}

/// Prints the text of `command`, or of the whole tool where it is empty.
fn help(command: &str) -> Result<ExitCode> {
    match command {
        "" | "help" | "--help" | "-h" => print!("{USAGE}"),
        "play" => print!("{}", play::USAGE),
        "test" => print!("{}", test::usage()),
        "build" => print!("{}", build_page::USAGE),
        unknown => return Err(unknown_command(unknown)),
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown_command(name: &str) -> Error {
    let hint =
        args::nearest(name, &COMMANDS).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Error::new(format!("unknown command `{name}`{hint}")).mend("cargo xtask help")
}
