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

/// The longest text kept of a failure, in bytes; what its sources say included.
const TEXT_MAX: usize = 1_024;
/// The longest chain of sources kept of a failure.
const SOURCES_MAX: usize = 16;

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
    more: Option<Box<More>>,
}

/// What few failures have.
#[derive(Debug, Default)]
struct More {
    message: Option<Box<dyn Any + Send>>,
    source: Option<Source>,
}

/// What is kept of an error that another came from: its text, and where it came from itself.
#[derive(Debug)]
struct Source {
    text: String,
    source: Option<Box<Source>>,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Source {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl Source {
    /// Copies a chain, at most `links` long and `room` bytes in all.
    fn copy(error: &(dyn std::error::Error + 'static), links: usize, room: usize) -> Option<Source> {
        if links == 0 || room == 0 {
            return None;
        }
        let text = error.to_string();
        let text = cut(&text, room);
        let next = error.source().and_then(|next| Source::copy(next, links - 1, room - text.len()));
        Some(Source { text: text.to_owned(), source: next.map(Box::new) })
    }
}

/// Gives the first `max` bytes of a text, or as many as are whole characters.
fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
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
        Failure { report: Report { kind, code, text: cut(text, TEXT_MAX).into() }, more: None }
    }

    /// Hands the failing message on, so that `pre_restart` gets it.
    pub fn returning<M: Send + 'static>(mut self, message: M) -> Self {
        self.more.get_or_insert_default().message = Some(Box::new(message));
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

    /// Gives the error that the error of this failure came from, as [`std::error::Error::source`] does. Of each error in the
    /// chain only its text is kept, of all together (this failure's included) at most 1 KiB, and at most 16 of them.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::Failure;
    /// #[derive(Debug)]
    /// struct NoConfig(std::num::ParseIntError);
    /// impl std::fmt::Display for NoConfig {
    ///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("no configuration") }
    /// }
    /// impl std::error::Error for NoConfig {
    ///     fn source(&self) -> Option<&(dyn std::error::Error + 'static)> { Some(&self.0) }
    /// }
    /// let failure = Failure::from(NoConfig("x".parse::<i32>().unwrap_err()));
    /// assert_eq!(failure.text(), "no configuration");
    /// assert_eq!(failure.source().unwrap().to_string(), "invalid digit found in string");
    /// assert!(Failure::new("code", "text").source().is_none());
    /// ```
    pub fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.more.as_ref()?.source.as_ref().map(|source| source as _)
    }

    pub(crate) fn report(&self) -> Report {
        self.report.clone()
    }

    pub(crate) fn from_report(report: Report) -> Self {
        Failure { report, more: None }
    }

    pub(crate) fn with_kind(mut self, kind: FailureKind) -> Self {
        self.report.kind = kind;
        self
    }

    /// Takes out the message that was handed on, if it is an `M`.
    pub(crate) fn take_message<M: 'static>(&mut self) -> Option<M> {
        let message = self.more.as_mut()?.message.take()?;
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
        let mut failure = Failure::of(FailureKind::Error, "", &error.to_string());
        let room = TEXT_MAX - failure.report.text.len();
        let source = error.source().and_then(|source| Source::copy(source, SOURCES_MAX, room));
        failure.more = source.map(|source| Box::new(More { message: None, source: Some(source) }));
        failure
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
