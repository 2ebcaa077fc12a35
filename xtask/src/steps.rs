//! The steps of `cargo xtask test`, each a function that makes sure of its tools, runs them and judges what they said.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build_page::{self, Weight};
use crate::error::{Context, Error, Result};
use crate::report::{Counts, Verdict};
use crate::tools;
use crate::workspace::{Workspace, succeeds, tee};

/// The end-to-end tests' folder.
const E2E: &str = "web/tests/e2e";

/// The acceptance cases whose tests are run once more, with many seeds; a test's name begins with its case.
const CASES: [&str; 10] = ["m2", "m3", "s1", "s3", "s5", "d1", "a2", "t1", "r1", "r3"];
/// So many.
const CASE_SEEDS: &str = "200";

/// One step.
pub(crate) struct Step {
    /// Its name in `--only`, in the table and in the closing lines.
    pub(crate) name: &'static str,
    /// What it does, in a few words.
    pub(crate) about: &'static str,
    /// Runs it.
    pub(crate) run: fn(&mut Session) -> Result<Verdict>,
}

/// All steps: what is quick to fail comes first.
pub(crate) const STEPS: [Step; 13] = [
    Step { name: "fmt", about: "the code is formatted", run: fmt },
    Step { name: "clippy", about: "no lint fires in native code", run: clippy },
    Step { name: "native", about: "unit and integration tests on this machine", run: native },
    Step { name: "cases", about: "acceptance cases in virtual time, in 200 orders each", run: cases },
    Step { name: "doctest", about: "the examples in the docs run", run: doctest },
    Step { name: "docs", about: "the docs build without a warning", run: docs },
    Step { name: "loom", about: "models of the lock-free parts, every interleaving", run: loom },
    Step { name: "wasm-clippy", about: "no lint fires in code for the browser", run: wasm_clippy },
    Step { name: "wasm", about: "unit and integration tests in headless Chromium", run: wasm },
    Step { name: "page", about: "the page builds in release", run: page },
    Step { name: "e2e", about: "journeys through the built page in Chromium", run: e2e },
    Step { name: "deny", about: "licences and sources of the dependencies", run: deny },
    Step {
        name: "advisories",
        about: "known holes in the dependencies, where the database can be reached",
        run: advisories,
    },
];

/// What the steps of one run share.
pub(crate) struct Session {
    workspace: Workspace,
    /// The page was built in this run, so that `e2e` tests what is in the clone and not an older build.
    page_is_built: bool,
}

impl Session {
    /// Starts a run.
    pub(crate) fn new(workspace: Workspace) -> Session {
        Session { workspace, page_is_built: false }
    }

    fn cargo(&self, args: &[&str]) -> Result<Command> {
        let mut cargo = self.workspace.command("cargo")?;
        cargo.args(args);
        Ok(cargo)
    }
}

fn fmt(session: &mut Session) -> Result<Verdict> {
    tools::component(&session.workspace, "rustfmt")?;
    judge(&mut session.cargo(&["fmt", "--all", "--check"])?, "not formatted: run cargo fmt --all")
}

fn clippy(session: &mut Session) -> Result<Verdict> {
    tools::component(&session.workspace, "clippy")?;
    let args = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    judge(&mut session.cargo(&args)?, "lints fired")
}

fn native(session: &mut Session) -> Result<Verdict> {
    judge_tests(&mut session.cargo(&["test", "--workspace", "--all-targets", "--no-fail-fast"])?)
}

fn cases(session: &mut Session) -> Result<Verdict> {
    let args = ["test", "-p", "footlights", "--lib", "--tests", "--no-fail-fast", "--"];
    let mut cargo = session.cargo(&args)?;
    let names = CASES.map(|case| format!("{case}_"));
    Ok(must_run(judge_tests(cargo.args(names).env("FOOTLIGHTS_SEEDS", CASE_SEEDS))?, "no case ran"))
}

fn doctest(session: &mut Session) -> Result<Verdict> {
    judge_tests(&mut session.cargo(&["test", "--workspace", "--doc", "--no-fail-fast"])?)
}

fn docs(session: &mut Session) -> Result<Verdict> {
    let mut cargo = session.cargo(&["doc", "--workspace", "--no-deps"])?;
    judge(cargo.env("RUSTDOCFLAGS", "-D warnings"), "the docs have warnings")
}

fn loom(session: &mut Session) -> Result<Verdict> {
    if !any_source(&session.workspace.root.join("runtime/src"), "fn loom_")? {
        return Ok(Verdict::Skipped("there are no loom models yet".to_owned()));
    }
    let mut cargo = session.cargo(&["test", "-p", "footlights", "--lib", "--release", "loom_"])?;
    // Its own target folder: the flag would else have everything compiled anew, back and forth.
    cargo
        .env("RUSTFLAGS", "--cfg footlights_loom")
        .env("CARGO_TARGET_DIR", session.workspace.target.join("loom"));
    Ok(must_run(judge_tests(&mut cargo)?, "there are loom models, but none ran"))
}

fn wasm_clippy(session: &mut Session) -> Result<Verdict> {
    tools::component(&session.workspace, "clippy")?;
    let mut cargo = tools::wasm_target(&session.workspace)?.command("cargo")?;
    cargo.args([
        "clippy",
        "-p",
        "footlights",
        "-p",
        "footlights-web",
        "--lib",
        "--bins",
        "--target",
        tools::WASM,
    ]);
    judge(cargo.args(["--", "-D", "warnings"]), "lints fired")
}

fn wasm(session: &mut Session) -> Result<Verdict> {
    let workspace = &session.workspace;
    let mut suites = Vec::new();
    for (package, folder) in [("footlights", "runtime"), ("footlights-web", "web")] {
        let targets = wasm_targets(&workspace.root.join(folder))?;
        if !targets.is_empty() {
            suites.push((package, targets));
        }
    }
    if suites.is_empty() {
        return Ok(Verdict::Skipped(
            "there are no browser tests yet (none names wasm_bindgen_test)".to_owned(),
        ));
    }
    let toolchain = tools::wasm_target(workspace)?;
    tools::wasm_bindgen(workspace)?;
    let browser = tools::chromium(workspace)?;
    let mut verdicts = Vec::new();
    for (package, targets) in &suites {
        let mut cargo = toolchain.command("cargo")?;
        cargo.args(["test", "-p", package, "--target", tools::WASM, "--no-fail-fast"]).args(targets);
        cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", "wasm-bindgen-test-runner");
        cargo.env("CHROMEDRIVER", &browser.driver).env("WASM_BINDGEN_USE_BROWSER", "1");
        cargo.env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", workspace.root.join("web/tests/webdriver.json"));
        cargo.env("WASM_BINDGEN_TEST_TIMEOUT", "180").env_remove("RUSTFLAGS");
        verdicts.push(judge_tests(&mut cargo)?);
    }
    Ok(all_of(verdicts))
}

/// Lists the cargo options that name a package's targets with browser tests: its library, and each file of `tests/`.
fn wasm_targets(package: &Path) -> Result<Vec<String>> {
    const MARK: &str = "wasm_bindgen_test";
    let mut targets = Vec::new();
    if any_source(&package.join("src"), MARK)? {
        targets.push("--lib".to_owned());
    }
    for file in rust_files(&package.join("tests"))? {
        let is_suite = file.parent().is_some_and(|folder| folder.ends_with("tests"));
        if let (true, Some(name)) = (is_suite && any_source(&file, MARK)?, file.file_stem()) {
            targets.extend(["--test".to_owned(), name.to_string_lossy().into_owned()]);
        }
    }
    Ok(targets)
}

fn page(session: &mut Session) -> Result<Verdict> {
    // Before the build, so that the page which is tested has gone through wasm-opt like the one that is shipped.
    if let Err(error) = tools::node(&session.workspace) {
        eprintln!("{error}");
    }
    build_page::build(&session.workspace, Weight::Small)?;
    session.page_is_built = true;
    Ok(Verdict::Passed(None))
}

fn e2e(session: &mut Session) -> Result<Verdict> {
    if !session.page_is_built {
        page(session)?;
    }
    let workspace = &session.workspace;
    tools::node(workspace)?;
    tools::npm_packages(workspace, E2E, "they drive the browser and check accessibility")?;
    let browser = tools::chromium(workspace)?;
    let mut node = workspace.command("node")?;
    node.arg(format!("{E2E}/run.mjs")).env("FOOTLIGHTS_CHROMIUM", &browser.program);
    Ok(must_run(judge_tests(&mut node)?, "no journey ran"))
}

fn deny(session: &mut Session) -> Result<Verdict> {
    tools::cargo_deny(&session.workspace)?;
    let args = ["deny", "--workspace", "check", "--hide-inclusion-graph", "licenses", "bans", "sources"];
    judge(&mut session.cargo(&args)?, "a dependency breaks a rule of deny.toml")
}

fn advisories(session: &mut Session) -> Result<Verdict> {
    tools::cargo_deny(&session.workspace)?;
    if !succeeds(&mut session.cargo(&["deny", "fetch", "db"])?)? {
        return Ok(Verdict::Skipped("the advisory database cannot be reached from here".to_owned()));
    }
    let args = ["deny", "--workspace", "check", "--disable-fetch", "advisories"];
    judge(&mut session.cargo(&args)?, "a dependency has a known hole")
}

/// Runs a command that succeeds or not.
fn judge(command: &mut Command, complaint: &str) -> Result<Verdict> {
    Ok(if succeeds(command)? { Verdict::Passed(None) } else { Verdict::Failed(complaint.to_owned(), None) })
}

/// Runs a runner of tests and counts them.
fn judge_tests(command: &mut Command) -> Result<Verdict> {
    let output = tee(command)?;
    let counts = Counts::of(&output.stdout);
    Ok(match (output.ok, counts.failed) {
        (true, 0) => Verdict::Passed(Some(counts)),
        (false, 0) => Verdict::Failed("it did not build, or its runner broke off".to_owned(), Some(counts)),
        (_, failed) => Verdict::Failed(format!("{failed} tests failed"), Some(counts)),
    })
}

/// Takes a run of no tests for a failure.
fn must_run(verdict: Verdict, complaint: &str) -> Verdict {
    match verdict {
        Verdict::Passed(Some(counts)) if counts.ran() == 0 => {
            Verdict::Failed(complaint.to_owned(), Some(counts))
        }
        verdict => verdict,
    }
}

/// Makes one verdict of those of several runners.
fn all_of(verdicts: Vec<Verdict>) -> Verdict {
    let mut sum = Counts::default();
    let mut failures = Vec::new();
    for verdict in verdicts {
        let counts = match verdict {
            Verdict::Passed(counts) => counts,
            Verdict::Failed(why, counts) => {
                failures.push(why);
                counts
            }
            Verdict::Skipped(_) => None,
        };
        sum = sum.plus(counts.unwrap_or_default());
    }
    if failures.is_empty() {
        Verdict::Passed(Some(sum))
    } else {
        Verdict::Failed(failures.join("; "), Some(sum))
    }
}

/// Tells whether the Rust file `path`, or one under it, contains `text`.
fn any_source(path: &Path, text: &str) -> Result<bool> {
    for file in rust_files(path)? {
        if std::fs::read_to_string(&file).context(|| format!("reading {}", file.display()))?.contains(text) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Lists the Rust file `path`, or all under it, in the order of their names; none where there is no such path.
fn rust_files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        return Ok(if is_rust { vec![path.to_path_buf()] } else { Vec::new() });
    }
    let mut files = Vec::new();
    if path.is_dir() {
        let reading = || format!("reading {}", path.display());
        for entry in std::fs::read_dir(path).context(reading)? {
            let entry = entry.map_err(|cause| Error::new(format!("{}: {cause}", reading())))?;
            files.extend(rust_files(&entry.path())?);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_tests_are_found_by_their_attribute() {
        let package = std::env::temp_dir().join(format!("footlights-steps-{}", std::process::id()));
        for (file, text) in [
            ("src/lib.rs", "fn a() {}"),
            ("tests/wasm.rs", "#[wasm_bindgen_test] fn a() {}"),
            ("tests/native.rs", "#[test] fn a() {}"),
            ("tests/common/mod.rs", "wasm_bindgen_test"),
        ] {
            let file = package.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let targets = wasm_targets(&package).unwrap();
        std::fs::remove_dir_all(package).unwrap();
        assert_eq!(targets, ["--test", "wasm"]);
    }

    #[test]
    fn one_failed_runner_fails_the_step_and_all_tests_are_counted() {
        let counts = |passed, failed| Some(Counts { passed, failed, skipped: 0 });
        let verdict = all_of(vec![
            Verdict::Passed(counts(3, 0)),
            Verdict::Failed("1 tests failed".into(), counts(1, 1)),
        ]);
        let Verdict::Failed(why, Some(sum)) = verdict else { panic!("the step must fail") };
        assert_eq!((why.as_str(), sum.passed, sum.failed), ("1 tests failed", 4, 1));
    }
}
