//! Names and paths: `/user/pool/w3`.

use std::fmt;

/// The longest name.
const NAME_MAX: usize = 64;
/// The deepest path.
pub(crate) const DEPTH_MAX: u16 = 256;

/// Says why an actor could not be spawned. Nothing was made, unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnError {
    /// A living sibling has this name.
    NameTaken(String),
    /// The name is not 1–64 of `[A-Za-z0-9_.-]`.
    BadName(String),
    /// The parent, or the system, is stopping.
    ParentStopping,
    /// The parent is being restarted.
    ParentRestarting,
    /// The path would be deeper than 256.
    TooDeep,
    /// The system has as many living actors as it may have.
    TooMany,
    /// The actor was made, and has ended before it ever ran; why its start failed.
    StartFailed(String),
    /// The system has no dispatcher of this name.
    NoDispatcher(String),
    /// The actor was to have a thread of its own, and the operating system refused it.
    NoThread(String),
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpawnError::NameTaken(name) => write!(f, "the name \"{name}\" is taken by a living sibling"),
            SpawnError::BadName(name) => {
                write!(f, "\"{name}\" is no name: write 1 to {NAME_MAX} of letters, digits, _ . -")
            }
            SpawnError::ParentStopping => write!(f, "the parent is stopping"),
            SpawnError::ParentRestarting => write!(f, "the parent is being restarted"),
            SpawnError::TooDeep => write!(f, "the path would be deeper than {DEPTH_MAX}"),
            SpawnError::TooMany => write!(f, "the system has as many living actors as it may have"),
            SpawnError::StartFailed(why) => write!(f, "the actor has ended before it ran: {why}"),
            SpawnError::NoDispatcher(name) => write!(f, "the system has no dispatcher \"{name}\""),
            SpawnError::NoThread(why) => write!(f, "no thread for a pinned actor: {why}"),
        }
    }
}

impl std::error::Error for SpawnError {}

/// Checks a name that a user chose; an empty one asks for a generated name.
pub(crate) fn check(name: &str) -> Result<(), SpawnError> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if name.len() > NAME_MAX || !name.chars().all(good) {
        return Err(SpawnError::BadName(name.to_owned()));
    }
    Ok(())
}
