//! Where things are, and how commands are started from there.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Context, Error, Result};

/// The folders of this clone, and the places where its tools are looked for.
#[derive(Clone)]
pub(crate) struct Workspace {
    /// The folder of the workspace's Cargo.toml.
    pub(crate) root: PathBuf,
    /// Cargo's target folder.
    pub(crate) target: PathBuf,
    /// Folders before the environment's PATH, first one first.
    path: Vec<PathBuf>,
}

/// What a command printed, and whether it succeeded.
pub(crate) struct Output {
    /// The command exited with zero.
    pub(crate) ok: bool,
    /// All that it printed on standard output.
    pub(crate) stdout: String,
}

impl Workspace {
    /// Finds the workspace that this tool belongs to.
    pub(crate) fn find() -> Result<Workspace> {
        let package =
            std::env::var_os("CARGO_MANIFEST_DIR").map_or(env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = package.parent().map(Path::to_path_buf).ok_or_else(|| {
            Error::new(format!(
                "{} has no parent folder, so it is not this tool's package",
                package.display()
            ))
        })?;
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => root.join(folder),
            None => root.join("target"),
        };
        let path = vec![target.join("tools").join("bin")];
        Ok(Workspace { root, target, path })
    }

    /// The folder that missing tools are installed into.
    pub(crate) fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }

    /// The same workspace, with `folder` looked through before the PATH.
    pub(crate) fn with_path(&self, folder: impl Into<PathBuf>) -> Workspace {
        let mut workspace = self.clone();
        workspace.path.push(folder.into());
        workspace
    }

    /// Looks a program up, in the tools' folder first, then on the PATH.
    pub(crate) fn which(&self, program: &str) -> Option<PathBuf> {
        let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        std::env::split_paths(&self.search_path())
            .map(|folder| folder.join(&name))
            .find(|file| is_program(file))
    }

    /// Prepares a command that runs in the workspace's root and sees the tools' folder on its PATH.
    ///
    /// # Errors
    ///
    /// The program is not there.
    pub(crate) fn command(&self, program: &str) -> Result<Command> {
        let file =
            self.which(program).ok_or_else(|| Error::new(format!("the program `{program}` is missing")))?;
        let mut command = Command::new(file);
        command.current_dir(&self.root).env("PATH", self.search_path());
        Ok(command)
    }

    fn search_path(&self) -> OsString {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let folders = self.path.iter().cloned().chain(std::env::split_paths(&inherited));
        std::env::join_paths(folders).unwrap_or(inherited)
    }

    /// Reads what `program ARGS` prints, or `None` where it is missing or fails; for questions such as `--version`.
    pub(crate) fn ask(&self, program: &str, args: &[&str]) -> Option<String> {
        let output = self.command(program).ok()?.args(args).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Reads a file of the workspace, named from its root.
    pub(crate) fn read(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.root.join(path)).context(|| format!("reading {path}"))
    }

    /// Finds the version of `package` in Cargo.lock.
    pub(crate) fn locked_version(&self, package: &str) -> Result<String> {
        let lock = self.read("Cargo.lock")?;
        find_locked(&lock, package).ok_or_else(|| {
            Error::new(format!("Cargo.lock does not name {package}")).mend("cargo generate-lockfile")
        })
    }
}

/// Runs a command to its end with its output on the terminal, and tells whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> Result<bool> {
    say_command(command);
    Ok(command.stdin(Stdio::null()).status().context(|| describe(command))?.success())
}

/// Runs a command to its end, passes its standard output on line by line, and keeps a copy.
pub(crate) fn tee(command: &mut Command) -> Result<Output> {
    say_command(command);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context(|| describe(command))?;
    let mut stdout = String::new();
    if let Some(pipe) = child.stdout.take() {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).context(|| describe(command))? > 0 {
            let text = String::from_utf8_lossy(&line);
            print!("{text}");
            stdout.push_str(&text);
            line.clear();
        }
        let _ = std::io::stdout().flush();
    }
    let ok = child.wait().context(|| describe(command))?.success();
    Ok(Output { ok, stdout })
}

fn say_command(command: &Command) {
    eprintln!("  $ {}", describe(command));
}

/// Writes a command down as one would type it, without the folder of its program.
fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args()).map(|word| word.to_string_lossy());
    words
        .map(|word| if word.contains(' ') { format!("'{word}'") } else { word.into_owned() })
        .collect::<Vec<_>>()
        .join(" ")
}

fn find_locked(lock: &str, package: &str) -> Option<String> {
    let entry =
        lock.split("[[package]]").find(|entry| entry.contains(&format!("\nname = \"{package}\"\n")))?;
    let line = entry.lines().find_map(|line| line.strip_prefix("version = \""))?;
    Some(line.trim_end_matches('"').to_owned())
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locked_version_is_that_of_the_very_package() {
        let lock = "version = 4\n\n[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"9.9.9\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.1\"\n";
        assert_eq!(find_locked(lock, "wasm-bindgen").as_deref(), Some("0.2.1"));
        assert_eq!(find_locked(lock, "yew"), None);
    }

    #[test]
    fn a_command_is_described_as_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["test", "--", "a b"]);
        assert_eq!(describe(&command), "cargo test -- 'a b'");
    }
}
