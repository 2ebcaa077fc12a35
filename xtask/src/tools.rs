//! What is there, what is missing, and how to get it.
//!
//! Each function makes sure of one thing: it returns at once where that is there, and otherwise says what it installs,
//! why and for how long, and on failure names the command that a person can run instead. Cargo tools go to
//! `target/tools`; system packages are installed only by root on a Debian-like system.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Context, Error, Result};
use crate::workspace::{Workspace, succeeds};

/// The Trunk that is installed where there is none; 0.22 needs a newer compiler than the workspace does.
const TRUNK: &str = "0.21.14";
/// The cargo-deny that `cargo xtask test` is written for.
const CARGO_DENY: &str = "0.20.2";
/// The target of the page and of its engine worker.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";
/// Debian's packages of a whole toolchain for the web, standard library in source included.
const DEBIAN_WASM: [&str; 5] = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "lld-22"];

/// How to compile for the browser here: with rustup's target, or with Debian's toolchain.
pub(crate) struct WasmToolchain {
    workspace: Workspace,
    vars: &'static [(&'static str, &'static str)],
}

impl WasmToolchain {
    /// Prepares a command that compiles for the browser.
    pub(crate) fn command(&self, program: &str) -> Result<Command> {
        let mut command = self.workspace.command(program)?;
        command.envs(self.vars.iter().copied());
        Ok(command)
    }
}

/// Makes sure that the compiler knows the browser's target.
pub(crate) fn wasm_target(workspace: &Workspace) -> Result<WasmToolchain> {
    let own = WasmToolchain { workspace: workspace.clone(), vars: &[] };
    if has_target(workspace) {
        return Ok(own);
    }
    say(&format!("Rust's target {WASM}"), "the page and its engine are compiled to WebAssembly", "seconds");
    let added = match workspace.command("rustup") {
        Ok(mut rustup) => succeeds(rustup.args(["target", "add", WASM]))? && has_target(workspace),
        Err(_) => false,
    };
    if added { Ok(own) } else { debian_toolchain(workspace) }
}

fn has_target(workspace: &Workspace) -> bool {
    workspace
        .ask("rustc", &["--print", "target-libdir", "--target", WASM])
        .is_some_and(|folder| Path::new(&folder).is_dir())
}

/// Falls back to Debian's toolchain, which has the standard library's source and compiles it along with the page.
fn debian_toolchain(workspace: &Workspace) -> Result<WasmToolchain> {
    let by_hand = format!("rustup target add {WASM}");
    say(
        "Debian's Rust toolchain for the web",
        "rustup could not add the target",
        "a minute, and 90 s more per first build",
    );
    apt_install(&DEBIAN_WASM)
        .map_err(|_| Error::new(format!("the target {WASM} could not be added")).mend(by_hand))?;
    Ok(WasmToolchain {
        workspace: workspace.with_path("/usr/bin"),
        vars: &[
            ("RUSTC_BOOTSTRAP", "1"),
            ("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort"),
            // `cargo fetch` leaves out what the standard library itself depends on, so cargo must not be kept offline.
            ("TRUNK_OFFLINE", "false"),
        ],
    })
}

/// Makes sure of `wasm-bindgen` and its test runner, in the very version of the crate that Cargo.lock names.
pub(crate) fn wasm_bindgen(workspace: &Workspace) -> Result<()> {
    let version = workspace.locked_version("wasm-bindgen")?;
    let wanted = format!("wasm-bindgen {version}");
    let there = || {
        workspace.ask("wasm-bindgen", &["--version"]).is_some_and(|found| found == wanted)
            && workspace.which("wasm-bindgen-test-runner").is_some()
    };
    if there() {
        return Ok(());
    }
    say(
        &format!("wasm-bindgen-cli {version}"),
        "it writes the JavaScript that loads the module; its version must equal the crate's",
        "3 to 5 minutes, once",
    );
    // Not `--locked`: its lock file names a version that the registry no longer has.
    cargo_install(workspace, &[&format!("wasm-bindgen-cli@{version}")])?;
    if there() { Ok(()) } else { Err(not_used(workspace, "wasm-bindgen")) }
}

/// Makes sure of Trunk, which builds the page.
pub(crate) fn trunk(workspace: &Workspace) -> Result<()> {
    let there = || {
        let minor = TRUNK.rsplit_once('.').map_or(TRUNK, |(minor, _)| minor);
        workspace
            .ask("trunk", &["--version"])
            .is_some_and(|found| found.starts_with(&format!("trunk {minor}.")))
    };
    if there() {
        return Ok(());
    }
    say(&format!("Trunk {TRUNK}"), "it builds the page", "3 to 5 minutes, once");
    // Unoptimised: that installs in a third of the time, and Trunk spends its own in cargo.
    cargo_install(workspace, &["--locked", "--debug", &format!("trunk@{TRUNK}")])?;
    if there() { Ok(()) } else { Err(not_used(workspace, "trunk")) }
}

/// Makes sure of cargo-deny, which checks licences and sources.
pub(crate) fn cargo_deny(workspace: &Workspace) -> Result<()> {
    if workspace.which("cargo-deny").is_some() {
        return Ok(());
    }
    say(
        &format!("cargo-deny {CARGO_DENY}"),
        "it checks the dependencies' licences and sources",
        "3 to 5 minutes, once",
    );
    cargo_install(workspace, &["--locked", "--debug", &format!("cargo-deny@{CARGO_DENY}")])
}

/// Makes sure of a component of the toolchain, such as `clippy`, whose program is `cargo-clippy`.
pub(crate) fn component(workspace: &Workspace, name: &str) -> Result<()> {
    let subcommand = if name == "rustfmt" { "fmt" } else { name };
    if workspace.ask("cargo", &[subcommand, "--version"]).is_some() {
        return Ok(());
    }
    say(name, "a step of the tests is made of it", "seconds");
    let by_hand = format!("rustup component add {name}");
    let failed = || Error::new(format!("{name} could not be added to the toolchain")).mend(&by_hand);
    let mut rustup = workspace.command("rustup").map_err(|_| failed())?;
    if succeeds(rustup.args(["component", "add", name]))? { Ok(()) } else { Err(failed()) }
}

/// Makes sure of Node.js and npm, which run the end-to-end tests.
pub(crate) fn node(workspace: &Workspace) -> Result<()> {
    system_programs(workspace, &["node", "npm"], &["nodejs", "npm"], "they run the end-to-end tests")
}

/// The browser that the page is tested in.
pub(crate) struct Browser {
    /// Chromium, or Chrome.
    pub(crate) program: PathBuf,
    /// Its WebDriver server.
    pub(crate) driver: PathBuf,
}

/// Makes sure of Chromium, or Chrome, and of its driver; `FOOTLIGHTS_CHROMIUM` and `CHROMEDRIVER` name others.
pub(crate) fn chromium(workspace: &Workspace) -> Result<Browser> {
    const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let find = |variable: &str, names: &[&str]| match std::env::var_os(variable) {
        Some(path) => Some(PathBuf::from(path)),
        None => names.iter().find_map(|name| workspace.which(name)),
    };
    let browser = || {
        let program = find("FOOTLIGHTS_CHROMIUM", &NAMES)?;
        Some(Browser { program, driver: find("CHROMEDRIVER", &["chromedriver"])? })
    };
    if let Some(browser) = browser() {
        return Ok(browser);
    }
    say("Chromium and its driver", "the page is tested in a real browser", "a minute");
    apt_install(&["chromium", "chromium-driver"])?;
    browser().ok_or_else(|| Error::new("Chromium or its driver is still missing after they were installed"))
}

/// Makes sure of the npm packages that the lock file in `folder` names; `why` says what they are for.
pub(crate) fn npm_packages(workspace: &Workspace, folder: &str, why: &str) -> Result<()> {
    let wanted = workspace.read(&format!("{folder}/package-lock.json"))?;
    let stamp = workspace.root.join(folder).join("node_modules").join(".footlights-lock");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    say(&format!("the npm packages of {folder}"), why, "seconds");
    let mut npm = workspace.command("npm")?;
    npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(workspace.root.join(folder));
    if !succeeds(&mut npm)? {
        return Err(Error::new("npm could not install the packages").mend(format!("(cd {folder} && npm ci)")));
    }
    std::fs::write(&stamp, wanted).context(|| format!("writing {}", stamp.display()))
}

/// Makes sure that each of `programs` is there, by installing system packages where it may.
fn system_programs(workspace: &Workspace, programs: &[&str], packages: &[&str], why: &str) -> Result<()> {
    let missing =
        || programs.iter().filter(|program| workspace.which(program).is_none()).copied().collect::<Vec<_>>();
    if missing().is_empty() {
        return Ok(());
    }
    say(&missing().join(" and "), why, "a minute");
    apt_install(packages)?;
    match missing().as_slice() {
        [] => Ok(()),
        still => Err(Error::new(format!(
            "{} is still missing after its package was installed",
            still.join(" and ")
        ))),
    }
}

/// Installs system packages where that needs no password: as root, on a system with apt-get.
fn apt_install(packages: &[&str]) -> Result<()> {
    let by_hand = format!("sudo apt-get install {}   (or your system's like)", packages.join(" "));
    let failed =
        |why: &str| Error::new(format!("{} not installed: {why}", packages.join(", "))).mend(&by_hand);
    if !is_root() || !Path::new("/usr/bin/apt-get").exists() {
        return Err(failed("only root on a Debian-like system can be served without a question"));
    }
    let apt_get = |args: &[&str]| {
        let mut command = Command::new("/usr/bin/apt-get");
        // An installation that another process has under way is waited for, not fought.
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["-q", "-o", "DPkg::Lock::Timeout=300"])
            .args(args);
        succeeds(&mut command)
    };
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(packages);
    // The package lists of a fresh machine may be empty or old: renew them once if the first try fails.
    if apt_get(&install)? || (apt_get(&["update"])? && apt_get(&install)?) {
        return Ok(());
    }
    Err(failed("apt-get failed, see above"))
}

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|data| data.uid() == 0)
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

/// Installs a package from crates.io into the tools' folder.
fn cargo_install(workspace: &Workspace, args: &[&str]) -> Result<()> {
    let tools = workspace.tools();
    // Its own build folder, kept until it is done: an interrupted installation goes on where it stopped.
    let scratch = tools.join("build");
    let mut cargo = workspace.command("cargo")?;
    cargo.args(["install", "--root"]).arg(&tools).args(args).env("CARGO_TARGET_DIR", &scratch);
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env_remove("RUSTFLAGS");
    if !succeeds(&mut cargo)? {
        let by_hand = format!("cargo install {}", args.join(" "));
        return Err(
            Error::new(format!("cargo could not install {}", args.last().unwrap_or(&""))).mend(by_hand)
        );
    }
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(())
}

fn not_used(workspace: &Workspace, program: &str) -> Error {
    let folder = workspace.tools().join("bin");
    Error::new(format!("{program} was installed into {} but does not run", folder.display()))
        .mend(format!("{} --version", folder.join(program).display()))
}

fn say(what: &str, why: &str, how_long: &str) {
    eprintln!("Installing {what}: {why} (takes {how_long}).");
}
