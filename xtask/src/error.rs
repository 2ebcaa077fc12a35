//! One error for the whole tool: what went wrong, and the command that mends it.

use std::fmt;

/// What a function of this tool returns.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Something that went wrong, worded for the person at the terminal.
#[derive(Debug)]
pub(crate) struct Error {
    what: String,
    mend: Option<String>,
}

impl Error {
    /// Makes an error that says `what` happened, and where.
    pub(crate) fn new(what: impl Into<String>) -> Error {
        Error { what: what.into(), mend: None }
    }

    /// Adds the one command that a person can run to get further.
    pub(crate) fn mend(mut self, command: impl Into<String>) -> Error {
        self.mend = Some(command.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.mend {
            Some(command) => write!(f, "\n  run instead: {command}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Adds what was being done to an error of the standard library.
pub(crate) trait Context<T> {
    /// Turns the error into ours, as "`what`: cause".
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|cause| Error::new(format!("{}: {cause}", what())))
    }
}
