//! The receive timeout: a message to an actor that has heard nothing for a while.
//!
//! Silence is counted from the end of the last run that handled a user message; a message that is only stashed, or that
//! fails, does not end it, and neither does the timeout's own tick, which comes again after each further spell of the
//! same length until it is cancelled.
//!
//! ```text
//!   Armed ──due──▶ Queued ──handled──▶ Armed (in phase)
//!     │ ▲ message handled: a new token, armed anew; a tick that is queued is outdated
//!     ▼ │ resumed
//!   Paused (suspended: what was left of the silence is kept)
//! ```
//! I1 a tick is taken only with the present token: one that was queued before the silence ended is dropped (StaleTimer).
//! I2 of one silence at most one tick is queued at a time.
//! I3 it ends with the incarnation, as all timers do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Actor;
use super::cell::Cell;
use super::context::Context;
use super::life::Own;
use super::timers::{TimerError, arm};
use crate::observe::EventKind;
use crate::time::{Instant, TimerKey, nanos};

/// The shortest silence that can be asked for.
const SHORTEST: Duration = Duration::from_millis(1);
/// Marks the tokens of silences among those of timers.
const SILENCE: u64 = 1 << 63;

/// Says which messages pass without ending the silence.
type Ignores<M> = Box<dyn Fn(&M) -> bool + Send>;

/// An actor's receive timeout.
pub(super) struct Silence<M> {
    after: Duration,
    make: Box<dyn FnMut() -> M + Send>,
    ignores: Option<Ignores<M>>,
    token: u64,
    due: Instant,
    wait: Wait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Armed(Option<TimerKey>),
    /// It has fired, and its tick has not been handled.
    Queued,
    /// The actor is suspended; so much of the silence is left.
    Paused(Duration),
}

/// The receive timeout that was just set; see [`Context::set_receive_timeout`].
pub struct ReceiveTimeout<'a, M> {
    silence: Option<&'a mut Silence<M>>,
}

impl<M> fmt::Debug for ReceiveTimeout<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = self.silence.as_ref().map(|silence| silence.after);
        f.debug_struct("ReceiveTimeout").field("after", &after).finish()
    }
}

impl<M> ReceiveTimeout<'_, M> {
    /// Lets messages of which `pred` is true pass without ending the silence.
    pub fn ignoring(self, pred: impl Fn(&M) -> bool + Send + 'static) {
        if let Some(silence) = self.silence {
            silence.ignores = Some(Box::new(pred));
        }
    }
}

impl<A: Actor> Context<'_, A> {
    /// Sends this actor a message whenever it has handled none for `after`, again and again until it is cancelled. Replaces
    /// the one that was set before. It pauses while the actor is suspended.
    ///
    /// # Errors
    /// If `after` is shorter than 1 ms.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::system::ActorSystem;
    /// use footlights::time::Instant;
    /// use std::time::Duration;
    /// struct Session;
    /// enum Msg { Begin, Ping, Expired }
    /// impl Actor for Session {
    ///     type Msg = Msg;
    ///     fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
    ///         match msg {
    ///             Msg::Begin => cx
    ///                 .set_receive_timeout(Duration::from_secs(30), || Msg::Expired)?
    ///                 .ignoring(|msg| matches!(msg, Msg::Ping)),
    ///             Msg::Ping => {}
    ///             Msg::Expired => cx.stop(),
    ///         }
    ///         Ok(())
    ///     }
    /// }
    /// let system = ActorSystem::builder("web").stepper().build()?;
    /// let session = system.spawn("session", Props::new(|| Session))?;
    /// session.tell(Msg::Begin);
    /// system.run_until(Instant::ZERO + Duration::from_secs(20));
    /// session.tell(Msg::Ping);
    /// system.run_until(Instant::ZERO + Duration::from_secs(31));
    /// assert!(session.is_closed());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_receive_timeout(
        &mut self,
        after: Duration,
        make: impl FnMut() -> A::Msg + Send + 'static,
    ) -> Result<ReceiveTimeout<'_, A::Msg>, TimerError> {
        if after < SHORTEST {
            return Err(TimerError::TooShort);
        }
        self.cancel_receive_timeout();
        let mut silence = Silence {
            after,
            make: Box::new(make),
            ignores: None,
            token: 0,
            due: Instant::ZERO,
            wait: Wait::Queued,
        };
        silence.begin(self.cell, self.own.timers.next_token());
        self.own.silence = Some(Box::new(silence));
        Ok(ReceiveTimeout { silence: self.own.silence.as_deref_mut() })
    }

    /// Takes the receive timeout back, a tick that is queued already included; false if there was none.
    pub fn cancel_receive_timeout(&mut self) -> bool {
        let Some(silence) = self.own.silence.take() else { return false };
        silence.disarm(self.cell);
        self.cell.head.record(EventKind::TimerCancelled);
        true
    }
}

impl<M: Send + 'static> Silence<M> {
    /// Counts the silence from now on, under a new token.
    fn begin(&mut self, cell: &Arc<Cell<M>>, token: u64) {
        self.disarm(cell);
        self.token = token | SILENCE;
        self.arm_at(cell, cell.head.shared.now() + self.after);
    }

    fn arm_at(&mut self, cell: &Arc<Cell<M>>, due: Instant) {
        self.due = due;
        self.wait = Wait::Armed(arm(cell, self.token, due));
    }

    /// Disarms the timer; false if it has fired.
    fn disarm(&self, cell: &Arc<Cell<M>>) -> bool {
        match self.wait {
            Wait::Armed(Some(key)) => cell.head.shared.dispatcher.cancel_timer(key),
            Wait::Armed(None) | Wait::Paused(_) => true,
            Wait::Queued => false,
        }
    }

    fn message(&mut self, cell: &Arc<Cell<M>>) -> M {
        let now = cell.head.shared.now();
        let late = nanos(now - self.due) / nanos(self.after).max(1);
        let steps = nanos(self.after).saturating_mul(late.saturating_add(1));
        self.arm_at(cell, self.due + Duration::from_nanos(steps));
        (self.make)()
    }

    fn pause(&mut self, cell: &Arc<Cell<M>>) {
        if matches!(self.wait, Wait::Armed(_)) {
            let left = self.due - cell.head.shared.now();
            self.wait = if self.disarm(cell) { Wait::Paused(left) } else { Wait::Queued };
        }
    }

    fn resume(&mut self, cell: &Arc<Cell<M>>) {
        if let Wait::Paused(left) = self.wait {
            self.arm_at(cell, cell.head.shared.now() + left);
        }
    }
}

/// Says whether a tick's token belongs to a receive timeout.
pub(super) fn is_silence(token: u64) -> bool {
    token & SILENCE != 0
}

impl<M: Send + 'static> Own<M> {
    /// Says whether a message passes without ending the silence.
    pub(super) fn is_ignored(&self, message: &M) -> bool {
        let ignores = self.silence.as_ref().and_then(|silence| silence.ignores.as_ref());
        ignores.is_some_and(|ignores| ignores(message))
    }

    /// Turns the tick of a receive timeout into its message; `None` if it is outdated.
    pub(super) fn silence_message(&mut self, cell: &Arc<Cell<M>>, token: u64) -> Option<M> {
        let silence = self.silence.as_mut().filter(|silence| silence.token == token)?;
        Some(silence.message(cell))
    }

    /// Counts the silence anew, after a run that has handled a message.
    #[cold]
    pub(super) fn break_silence(&mut self, cell: &Arc<Cell<M>>) {
        let token = self.timers.next_token();
        if let Some(silence) = &mut self.silence {
            silence.begin(cell, token);
        }
    }

    /// Stops the count, or goes on with it.
    pub(super) fn pause_silence(&mut self, cell: &Arc<Cell<M>>, suspended: bool) {
        match &mut self.silence {
            Some(silence) if suspended => silence.pause(cell),
            Some(silence) => silence.resume(cell),
            None => {}
        }
    }

    /// Ends all that time would bring to this incarnation.
    pub(super) fn end_time(&mut self, cell: &Arc<Cell<M>>) {
        self.timers.clear(cell);
        if let Some(silence) = self.silence.take() {
            silence.disarm(cell);
            cell.head.discard("drop of a timer", silence);
        }
    }
}
