//! Notes what the binary was built from: the commit, the compiler, the profile. A number without these cannot be compared.

use std::process::Command;

fn main() {
    let commit = output("git", &["describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]);
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let rustc = output(&rustc, &["--version"]);
    let profile = std::env::var("PROFILE").unwrap_or_default();
    println!("cargo::rustc-env=FOOTLIGHTS_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=FOOTLIGHTS_RUSTC={}", rustc.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=FOOTLIGHTS_PROFILE={profile}");
    println!("cargo::rerun-if-changed=build.rs");
    // Both change with every commit; without a repository there is nothing to watch.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = output("git", &["rev-parse", "--path-format=absolute", "--git-path", file])
            && std::path::Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
