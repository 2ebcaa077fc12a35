//! Dead letters: what is kept, shown and told of messages that had nobody to go to.
//!
//! Every dead letter is counted and is an event; beyond that its receiver's [`Props`] say how much is kept of it: its text
//! ([`Props::describe_messages`]), or nothing at all ([`Props::quiet_dead_letters`]).
//!
//! I1 the flow into a log is bounded: after [`SHOWN_IN_A_ROW`] letters it pauses for [`PAUSE`], and the first letter after a
//!    pause says how many were passed over.
//! I2 the letters of an actor that has subscribed to dead letters are counted and kept, but told to nobody: none of them can
//!    bring forth another.
//! The sender is known only where the letter dies in its hands on a Stepper; an envelope carries none, since every tell would
//! pay for it. Nothing is printed here.

use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use super::cell::Cell;
use super::failure::catch;
use super::head::Head;
use super::shared::Shared;
use super::{Actor, Props};
use crate::dispatch::Dispatcher;
use crate::id::{ActorId, MsgId};
use crate::observe::{DeadLetterReason, EventKind};
use crate::sync::{Mutex, Ordering};
use crate::time::Instant;

/// Dead letters kept for inspection.
const KEPT: usize = 100;
/// Dead letters shown before the log pauses.
const SHOWN_IN_A_ROW: u32 = 10;
/// How long the log pauses.
const PAUSE: Duration = Duration::from_secs(300);
/// The longest text kept of a message, in bytes.
const TEXT_MAX: usize = 200;

/// A message that had nobody to go to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The path that it was sent to.
    pub to: Arc<str>,
    /// The path of its sender, where it is known: on a Stepper, for what was refused in the sender's own run.
    pub from: Option<Arc<str>>,
    /// Its number; 0 where messages are not numbered.
    pub message: MsgId,
    /// The name of its type; empty where that is not known.
    pub type_name: &'static str,
    /// Its text, at most 200 bytes, if its receiver describes messages.
    pub text: Option<Arc<str>>,
    /// Why it could not be delivered.
    pub reason: DeadLetterReason,
    /// When.
    pub at: Instant,
    /// Whether a log should show it: the first ten in a row, then none for five minutes.
    pub shown: bool,
    /// How many were passed over in the pause before this one.
    pub passed_over: u64,
}

/// How many dead letters a log would have shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeadLetterLog {
    /// Letters to be shown.
    pub shown: u64,
    /// Letters passed over in pauses.
    pub passed_over: u64,
    /// When the present pause ends, if there is one.
    pub paused_until: Option<Instant>,
}

/// Says which letters are shown: a few, then a pause.
#[derive(Debug, Default)]
struct Quota {
    log: DeadLetterLog,
    in_a_row: u32,
    hidden: u64,
}

impl Quota {
    /// Counts a letter; gives whether it is shown, and how many were passed over before it.
    fn admit(&mut self, now: Instant) -> (bool, u64) {
        match self.log.paused_until {
            Some(end) if now < end => {
                self.log.passed_over += 1;
                self.hidden += 1;
                return (false, 0);
            }
            Some(_) => (self.log.paused_until, self.in_a_row) = (None, 0),
            None => {}
        }
        self.in_a_row += 1;
        self.log.shown += 1;
        if self.in_a_row == SHOWN_IN_A_ROW {
            self.log.paused_until = Some(now + PAUSE);
        }
        (true, std::mem::take(&mut self.hidden))
    }
}

/// Takes every dead letter that is not quiet.
pub(crate) type Sink = Arc<dyn Fn(&DeadLetter) + Send + Sync>;

/// The dead letters of one system.
#[derive(Default)]
pub(crate) struct LetterBook(Mutex<Book>);

#[derive(Default)]
struct Book {
    kept: VecDeque<DeadLetter>,
    quota: Quota,
    sink: Option<Sink>,
}

impl LetterBook {
    /// Gives what is kept, the oldest first.
    pub(crate) fn kept(&self) -> Vec<DeadLetter> {
        self.0.lock().kept.iter().cloned().collect()
    }

    /// Gives the state of the flow into a log.
    pub(crate) fn log(&self) -> DeadLetterLog {
        self.0.lock().quota.log
    }

    /// Sets who is told of dead letters.
    pub(crate) fn set_sink(&self, sink: Option<Sink>) {
        let old = std::mem::replace(&mut self.0.lock().sink, sink);
        drop(old);
    }

    fn keep(&self, mut letter: DeadLetter) -> (DeadLetter, Option<Sink>) {
        let mut book = self.0.lock();
        (letter.shown, letter.passed_over) = book.quota.admit(letter.at);
        if book.kept.len() == KEPT {
            book.kept.pop_front();
        }
        book.kept.push_back(letter.clone());
        (letter, book.sink.clone())
    }
}

/// What an actor's props say about its dead letters.
pub(crate) struct LetterRules<M> {
    describe: Option<fn(&M, &mut Brief)>,
    quiet: Option<fn(&M) -> bool>,
}

impl<M> Clone for LetterRules<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for LetterRules<M> {}

impl<M> Default for LetterRules<M> {
    fn default() -> Self {
        LetterRules { describe: None, quiet: None }
    }
}

impl<M> LetterRules<M> {
    /// Gives the rules if there are any: a cell without rules holds no more than a null.
    pub(crate) fn boxed(self) -> Option<Box<Self>> {
        (self.describe.is_some() || self.quiet.is_some()).then(|| Box::new(self))
    }
}

/// Takes the first bytes of a text and refuses the rest.
pub(crate) struct Brief(String);

impl Write for Brief {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut end = text.len().min(TEXT_MAX - self.0.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.0.push_str(&text[..end]);
        if end < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

fn describe<M: fmt::Debug>(message: &M, brief: &mut Brief) {
    // An error means that the text is longer than what is kept of it.
    let _ = write!(brief, "{message:?}");
}

impl<A: Actor> Props<A> {
    /// Keeps the first 200 bytes of the text of each message to this actor that becomes a dead letter.
    pub fn describe_messages(mut self) -> Self
    where
        A::Msg: fmt::Debug,
    {
        self.letters.describe = Some(describe::<A::Msg>);
        self
    }

    /// Only counts those dead letters of this actor that `quiet` names (`suppressed` in the ledger): they are events, but are
    /// neither kept nor told to anybody.
    pub fn quiet_dead_letters(mut self, quiet: fn(&A::Msg) -> bool) -> Self {
        self.letters.quiet = Some(quiet);
        self
    }
}

/// Where a letter died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiedIn {
    /// In the run of its sender.
    SendersHands,
    /// Later.
    Mailbox,
}

impl<M: Send + 'static> Cell<M> {
    /// Notes a dead letter that is counted already.
    #[cold]
    pub(crate) fn note_letter(&self, id: MsgId, reason: DeadLetterReason, died: DiedIn, message: Option<&M>) {
        let (mut text, mut quiet) = (None, false);
        if let (Some(rules), Some(message)) = (&self.letters, message) {
            // Both are the receiver's code; a panic in it only costs the text.
            quiet = rules.quiet.is_some_and(|quiet| catch(|| Ok(quiet(message))).unwrap_or(false));
            text = rules.describe.and_then(|describe| {
                let mut brief = Brief(String::new());
                catch(|| {
                    describe(message, &mut brief);
                    Ok(())
                })
                .ok()
                .map(|()| brief.0.into())
            });
        }
        let head = &self.head;
        head.record(EventKind::DeadLettered { reason, message: id });
        if quiet {
            return head.shared.suppress();
        }
        let from = match died {
            DiedIn::SendersHands => head.shared.current_path(),
            DiedIn::Mailbox => None,
        };
        head.tell_letter(DeadLetter { from, text, ..head.letter(id, reason, std::any::type_name::<M>()) });
    }

    /// Counts and notes a message to an actor that takes none any more.
    #[cold]
    pub(crate) fn late_letter(&self, id: MsgId, reason: DeadLetterReason, message: Option<&M>) {
        self.head.shared.count_late_letter();
        self.note_letter(id, reason, DiedIn::SendersHands, message);
    }
}

impl Head {
    /// Counts and notes a letter of which no more than its type is known.
    pub(crate) fn late_letter(&self, id: MsgId, reason: DeadLetterReason, type_name: &'static str) {
        self.shared.count_late_letter();
        self.record(EventKind::DeadLettered { reason, message: id });
        self.tell_letter(self.letter(id, reason, type_name));
    }

    fn letter(&self, message: MsgId, reason: DeadLetterReason, type_name: &'static str) -> DeadLetter {
        self.shared.letter(&self.path, message, reason, type_name)
    }

    fn tell_letter(&self, letter: DeadLetter) {
        let (letter, sink) = self.shared.letters.keep(letter);
        // Ordering: Relaxed, set before the subscription that could make this matter.
        if let Some(sink) = sink
            && !self.hears_letters.load(Ordering::Relaxed)
        {
            sink(&letter);
        }
    }
}

impl Shared {
    /// Counts and notes a letter to an actor that is known by its number and path only.
    pub(crate) fn late_letter(
        &self,
        to: (ActorId, &Arc<str>),
        id: MsgId,
        reason: DeadLetterReason,
        type_name: &'static str,
    ) {
        self.count_late_letter();
        self.record(to.0, EventKind::DeadLettered { reason, message: id });
        let (letter, sink) = self.letters.keep(self.letter(to.1, id, reason, type_name));
        if let Some(sink) = sink {
            sink(&letter);
        }
    }

    fn letter(
        &self,
        to: &Arc<str>,
        message: MsgId,
        reason: DeadLetterReason,
        type_name: &'static str,
    ) -> DeadLetter {
        DeadLetter {
            to: to.clone(),
            from: None,
            message,
            type_name,
            text: None,
            reason,
            at: self.now(),
            shown: false,
            passed_over: 0,
        }
    }

    /// Gives the path of the actor whose run it is, on a Stepper.
    fn current_path(&self) -> Option<Arc<str>> {
        let current = self.log.current();
        if current == ActorId::NOBODY || !matches!(self.dispatcher, Dispatcher::Stepper(_)) {
            return None;
        }
        let cell = self.cells.lock().get(&current)?.upgrade()?;
        Some(cell.head().path.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_shows_ten_in_a_row_and_then_pauses_for_five_minutes() {
        let mut quota = Quota::default();
        let shown = (0..10).filter(|_| quota.admit(Instant::ZERO).0).count();
        assert_eq!(shown, 10);
        let last = Instant::ZERO + (PAUSE - Duration::from_nanos(1));
        assert_eq!((quota.admit(Instant::ZERO), quota.admit(last)), ((false, 0), (false, 0)));
        assert_eq!(
            quota.admit(Instant::ZERO + PAUSE),
            (true, 2),
            "the first after the pause says what was missed"
        );
        assert_eq!(quota.admit(Instant::ZERO + PAUSE), (true, 0));
        let log = DeadLetterLog { shown: 12, passed_over: 2, paused_until: None };
        assert_eq!(quota.log, log);
    }

    #[test]
    fn a_text_is_cut_between_two_characters() {
        let mut brief = Brief(String::new());
        describe(&"ä".repeat(150), &mut brief);
        assert_eq!(brief.0.len(), 199, "a quote and 99 letters of two bytes");
        assert!(brief.0.ends_with('ä'));
    }
}
