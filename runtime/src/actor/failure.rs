//! Failures as values, and the one place where a panic becomes one.
//!
//! The rules: a handler that returns `Err` or panics has *failed*; its actor is suspended and its supervisor decides. A hook
//! that ends an instance (`pre_restart`, `stopped`) or a `Drop` that panics is only reported: nothing is decided on it.
//! I1 no panic of user code unwinds into the runtime: every call of user code goes through [`catch`].
//! On a target that aborts on panic, `catch` catches nothing: there the whole engine ends, and its host says so.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::supervise::FailureKind;

/// The longest text kept of a failure, in bytes.
const TEXT_MAX: usize = 1_024;

/// Why a run failed. Made from any error by `?`, or by [`Failure::new`].
///
/// # Examples
/// ```
/// use footlights::actor::Failure;
/// use footlights::supervise::FailureKind;
/// fn parse(text: &str) -> Result<i32, Failure> {
///     Ok(text.parse::<i32>()?)
/// }
/// let failure = parse("x").unwrap_err();
/// assert_eq!(failure.kind(), FailureKind::Error);
/// assert_eq!(Failure::new("no_stock", "sold out").code(), "no_stock");
/// ```
#[derive(Debug)]
pub struct Failure {
    report: Report,
    message: Option<Box<dyn Any + Send>>,
}

/// What others are told of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) kind: FailureKind,
    pub(crate) code: &'static str,
    pub(crate) text: Arc<str>,
}

impl Failure {
    /// Makes a failure of kind Error with a code that supervisors can match, and a text for people.
    pub fn new(code: &'static str, text: impl AsRef<str>) -> Self {
        Failure::of(FailureKind::Error, code, text.as_ref())
    }

    pub(crate) fn of(kind: FailureKind, code: &'static str, text: &str) -> Self {
        let mut end = text.len().min(TEXT_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Failure { report: Report { kind, code, text: text[..end].into() }, message: None }
    }

    /// Hands the failing message on, so that `pre_restart` gets it.
    pub fn returning<M: Send + 'static>(mut self, message: M) -> Self {
        self.message = Some(Box::new(message));
        self
    }

    /// Gives the kind that supervisors decide by.
    pub fn kind(&self) -> FailureKind {
        self.report.kind
    }

    /// Gives the code, empty if none was named.
    pub fn code(&self) -> &'static str {
        self.report.code
    }

    /// Gives the text for people, at most 1 KiB.
    pub fn text(&self) -> &str {
        &self.report.text
    }

    pub(crate) fn report(&self) -> Report {
        self.report.clone()
    }

    pub(crate) fn from_report(report: Report) -> Self {
        Failure { report, message: None }
    }

    pub(crate) fn with_kind(mut self, kind: FailureKind) -> Self {
        self.report.kind = kind;
        self
    }

    /// Takes out the message that was handed on, if it is an `M`.
    pub(crate) fn take_message<M: 'static>(&mut self) -> Option<M> {
        let message = self.message.take()?;
        message.downcast().ok().map(|message| *message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.report.kind, self.report.text)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::of(FailureKind::Error, "", &error.to_string())
    }
}

/// Calls user code; a panic becomes a failure of kind Panic.
pub(crate) fn catch<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // The instance that panicked is never used again except by `pre_restart` and `stopped`, whose contract says so.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result,
        Err(panic) => Err(Failure::of(FailureKind::Panic, "panic", panic_text(&*panic))),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "panic with a value that is no text"
    }
}
