//! What a number was had on, and with what: without this it cannot be compared with another.

use std::fmt;

/// The machine and the build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// The commit that the binary was built from; `-dirty` if there was more.
    pub commit: &'static str,
    /// The compiler.
    pub rustc: &'static str,
    /// The profile: `release` or `debug`.
    pub profile: &'static str,
}

impl Machine {
    /// Looks at this machine.
    pub fn look() -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Machine {
            cpu: cpu_name(&info).unwrap_or("an unknown processor").to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            commit: env!("FOOTLIGHTS_COMMIT"),
            rustc: env!("FOOTLIGHTS_RUSTC"),
            profile: env!("FOOTLIGHTS_PROFILE"),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cpu, cores, commit, rustc, profile } = self;
        write!(f, "{cpu}, {cores} cores; commit {commit}, {rustc}, {profile} build")
    }
}

/// Finds the processor's name in Linux's list of processors.
fn cpu_name(info: &str) -> Option<&str> {
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_found_by_its_name() {
        let info = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC \nstepping\t: 1\n";
        assert_eq!(cpu_name(info), Some("AMD EPYC"));
        assert_eq!(cpu_name("processor: 0"), None);
    }
}
