//! `cargo xtask build`: makes `dist/`, the playground for any static host, and says how heavy its parts are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::args;
use crate::error::{Context, Error, Result};
use crate::tools;
use crate::workspace::{Workspace, succeeds};

/// The text of `cargo xtask help build`.
pub(crate) const USAGE: &str = "\
Makes dist/: the playground, built in release, for any static host.

Usage: cargo xtask build

The files work from any folder of any host and need no special headers.
Installs the wasm target, wasm-bindgen-cli and Trunk first where they are missing. Where Node.js and npm are there,
wasm-opt makes the modules a third smaller; without them they stay as the compiler made them.
";

/// The folder whose package.json names wasm-opt.
const TOOLS: &str = "web/tools";

/// What rustc's modules use, and every browser of these years knows; wasm-opt may use no more.
const WASM_FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// How much care is taken for small files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// As the compiler made them: enough where the page comes from this very machine.
    AsCompiled,
    /// Run through wasm-opt, where that can be had.
    Small,
}

/// The sources that the page is made of; where they differ from the commit, the build's name says so.
const SOURCES: [&str; 6] = ["Cargo.lock", "Cargo.toml", "Trunk.toml", "index.html", "runtime", "web"];
/// Folders inside them that are no sources.
const NOT_SOURCES: [&str; 3] = ["node_modules", "tests", "tools"];

/// Runs the command.
pub(crate) fn run(argv: &[String]) -> Result<ExitCode> {
    args::parse("build", &[], argv)?;
    let workspace = Workspace::find()?;
    let dist = build(&workspace, Weight::Small)?;
    println!("Built {}; serve it with any static server, or run: cargo xtask play", dist.display());
    Ok(ExitCode::SUCCESS)
}

/// Builds the page in release and prints its sizes; hands back the folder.
pub(crate) fn build(workspace: &Workspace, weight: Weight) -> Result<PathBuf> {
    let toolchain = tools::wasm_target(workspace)?;
    tools::wasm_bindgen(workspace)?;
    tools::trunk(workspace)?;
    let build = build_name(workspace)?;
    eprintln!("Building the playground {build} in release (a minute or two when nothing is built yet).");
    // Trunk's `offline` keeps cargo from the registry too, so the dependencies have to be here before.
    if !succeeds(toolchain.command("cargo")?.args(["fetch", "--quiet"]))? {
        return Err(Error::new("the dependencies could not be downloaded").mend("cargo fetch"));
    }
    let mut trunk = toolchain.command("trunk")?;
    trunk.arg("build").env("FOOTLIGHTS_BUILD", &build).env("TRUNK_SKIP_VERSION_CHECK", "true");
    // Trunk 0.21 takes any value of NO_COLOR but `true` or `false` for an error; an own RUSTFLAGS would not fit the target.
    trunk.env_remove("NO_COLOR").env_remove("RUSTFLAGS");
    if !succeeds(&mut trunk)? {
        return Err(Error::new("the page did not build, see above"));
    }
    let dist = workspace.root.join("dist");
    if weight == Weight::Small {
        optimise(workspace, &dist)?;
    }
    print_sizes(workspace, &dist)?;
    Ok(dist)
}

/// Runs the modules through wasm-opt: the page for size, the engine, which must be fast, for speed.
fn optimise(workspace: &Workspace, dist: &Path) -> Result<()> {
    if workspace.which("node").is_none() || workspace.which("npm").is_none() {
        eprintln!(
            "The modules stay as the compiler made them: wasm-opt comes from npm, and Node.js or npm is missing."
        );
        return Ok(());
    }
    if let Err(error) = tools::npm_packages(workspace, TOOLS, "wasm-opt makes the modules a third smaller") {
        eprintln!("The modules stay as the compiler made them: {error}");
        return Ok(());
    }
    let mut files = Vec::new();
    collect_files(dist, &mut files)?;
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "wasm")) {
        let is_page = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("page"));
        let small = file.with_extension("wasm-opt");
        let mut node = workspace.command("node")?;
        node.arg(format!("{TOOLS}/node_modules/binaryen/bin/wasm-opt")).arg(if is_page {
            "-Oz"
        } else {
            "-O3"
        });
        node.args(WASM_FEATURES).arg(file).arg("-o").arg(&small);
        if !succeeds(&mut node)? {
            return Err(Error::new(format!("wasm-opt failed on {}, see above", file.display())));
        }
        fs::rename(&small, file).context(|| format!("replacing {}", file.display()))?;
    }
    Ok(())
}

/// Names the build: version and commit, and a hash of the sources where they are not the commit's.
fn build_name(workspace: &Workspace) -> Result<String> {
    let version = env!("CARGO_PKG_VERSION");
    let commit = workspace.ask("git", &["rev-parse", "--short=7", "HEAD"]);
    let mut status = vec!["status", "--porcelain", "--"];
    status.extend(SOURCES);
    let clean = workspace.ask("git", &status).is_some_and(|changes| changes.is_empty());
    Ok(match (commit, clean) {
        (Some(commit), true) => format!("{version}+{commit}"),
        (Some(commit), false) => format!("{version}+{commit}.{}", hash_sources(workspace)?),
        (None, _) => format!("{version}+{}", hash_sources(workspace)?),
    })
}

/// Hashes the sources' names and contents (FNV-1a, eight hex digits: it tells builds apart, it proves nothing).
fn hash_sources(workspace: &Workspace) -> Result<String> {
    let mut files = Vec::new();
    for source in SOURCES {
        collect_files(&workspace.root.join(source), &mut files)?;
    }
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for file in &files {
        let name = file.strip_prefix(&workspace.root).unwrap_or(file).to_string_lossy().into_owned();
        let content = fs::read(file).context(|| format!("reading {}", file.display()))?;
        for byte in name.bytes().chain(content) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(format!("{:08x}", hash >> 32))
}

/// Lists `path`, or all files under it, in the order of their names.
fn collect_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let reading = || format!("reading {}", path.display());
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).context(reading)? {
        entries.push(entry.context(reading)?.path());
    }
    entries.sort();
    for entry in entries {
        if !entry.file_name().is_some_and(|name| NOT_SOURCES.iter().any(|not| name == *not)) {
            collect_files(&entry, files)?;
        }
    }
    Ok(())
}

/// Prints each file's size, as it is and as a host would send it.
fn print_sizes(workspace: &Workspace, dist: &Path) -> Result<()> {
    let mut files = Vec::new();
    collect_files(dist, &mut files)?;
    let mut total = [0, 0];
    let method = Compression::find(workspace);
    println!("{:>10} {:>10}", "bytes", method.name());
    for file in &files {
        let raw = file.metadata().context(|| format!("reading {}", file.display()))?.len();
        let packed = method.size(workspace, file);
        total = [total[0] + raw, total[1] + packed.unwrap_or(0)];
        let packed = packed.map_or("-".to_owned(), |size| size.to_string());
        println!("{raw:>10} {packed:>10}  {}", file.strip_prefix(dist).unwrap_or(file).display());
    }
    println!("{:>10} {:>10}  in {} files", total[0], total[1], files.len());
    Ok(())
}

/// How the sizes that a host would send are found: with Node's brotli, else gzip, else not at all.
enum Compression {
    Brotli,
    Gzip,
    None,
}

impl Compression {
    fn find(workspace: &Workspace) -> Compression {
        match (workspace.which("node"), workspace.which("gzip")) {
            (Some(_), _) => Compression::Brotli,
            (None, Some(_)) => Compression::Gzip,
            (None, None) => Compression::None,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Compression::Brotli => "brotli",
            Compression::Gzip => "gzip",
            Compression::None => "packed",
        }
    }

    fn size(&self, workspace: &Workspace, file: &Path) -> Option<u64> {
        const SCRIPT: &str = "const { readFileSync } = require('fs'); \
             console.log(require('zlib').brotliCompressSync(readFileSync(process.argv[1])).length)";
        match self {
            Compression::Brotli => workspace.ask("node", &["-e", SCRIPT, file.to_str()?])?.parse().ok(),
            Compression::Gzip => {
                let output = workspace.command("gzip").ok()?.args(["-9", "-c"]).arg(file).output().ok()?;
                output.status.success().then_some(output.stdout.len() as u64)
            }
            Compression::None => None,
        }
    }
}
