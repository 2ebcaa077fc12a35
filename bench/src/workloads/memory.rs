//! Reads how much memory the process has resident, where the system tells (Linux).
//!
//! The baseline is what was resident before the first run of the process, so that memory which an allocator has kept from an
//! earlier round counts for the actors that lie in it now.

use std::fs;
use std::sync::OnceLock;

/// What a run has had of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Resident bytes above the baseline for each of what was counted.
    pub each: u64,
    /// Resident bytes of the process when it was looked at.
    pub resident: u64,
    /// The most that the process has had resident so far, earlier rounds included.
    pub peak: u64,
}

impl Memory {
    /// Looks at the memory now, for so many of what is counted; `None` where the system does not tell.
    pub(super) fn look(baseline: Option<u64>, n: u64) -> Option<Self> {
        let (resident, peak) = (resident()?, field("VmHWM:")?);
        Some(Memory { each: resident.saturating_sub(baseline?) / n.max(1), resident, peak })
    }
}

/// Gives the resident bytes; `None` where the system does not tell.
fn resident() -> Option<u64> {
    field("VmRSS:")
}

/// Reads a number of bytes of the process's status.
fn field(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Gives the resident bytes as they were at the first call.
pub(super) fn baseline() -> Option<u64> {
    static BASELINE: OnceLock<Option<u64>> = OnceLock::new();
    *BASELINE.get_or_init(resident)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_is_written_is_resident() {
        let before = resident().expect("Linux tells");
        let block = vec![1u8; 64 << 20];
        let after = resident().expect("Linux tells");
        assert!(after >= before + (48 << 20), "{before} {after} {}", block[12_345]);
        assert_eq!(baseline(), baseline());
        let memory = Memory::look(Some(before), 64 << 20).expect("Linux tells");
        assert!(memory.peak >= after && memory.resident >= after && memory.each <= 2, "{memory:?}");
    }
}
