//! An actor's timers: one registry of keys; a tick says which timer it belongs to, so that an outdated one is known.
//!
//! I1 starting a key again replaces its timer; other keys are untouched.
//! I2 a tick carries its timer's token; cancel, replacement, restart and stop forget the token, so a tick that is queued
//!    already finds nothing and is dropped (StaleTimer).
//! I3 of one timer at most one tick is queued at a time.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::cell::{AnyCell, Cell};
use crate::dispatch::Due;
use crate::observe::EventKind;
use crate::time::{Instant, TimerKey, nanos};

/// Names a timer within one actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A fixed name.
    Name(&'static str),
    /// A number, for timers that come in families.
    Number(u64),
}

impl From<&'static str> for Key {
    fn from(name: &'static str) -> Self {
        Key::Name(name)
    }
}

impl From<u64> for Key {
    fn from(number: u64) -> Self {
        Key::Number(number)
    }
}

/// Says why a timer was not armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimerError {
    /// A period or delay of zero would repeat for ever at one instant.
    ZeroPeriod,
}

impl fmt::Display for TimerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a repeating timer needs a period above zero")
    }
}

impl std::error::Error for TimerError {}

pub(crate) struct Timers<M> {
    by_token: BTreeMap<u64, Timer<M>>,
    by_key: BTreeMap<Key, u64>,
    last_token: u64,
}

struct Timer<M> {
    key: Key,
    kind: Kind<M>,
    armed: Option<TimerKey>,
}

enum Kind<M> {
    Once(M),
    FixedDelay { delay: Duration, make: Box<dyn FnMut() -> M + Send> },
    FixedRate { start: Instant, period: Duration, ticks: u64, make: Box<dyn FnMut() -> M + Send> },
}

impl<M> Default for Timers<M> {
    fn default() -> Self {
        Timers { by_token: BTreeMap::new(), by_key: BTreeMap::new(), last_token: 0 }
    }
}

/// Arms and disarms the timers of one actor; got by [`Context::timers`](super::Context::timers).
///
/// Times are monotonic; a timer never fires early. On a Pool it is late by what the machine needs, on a Stepper it is exact.
pub struct TimerScope<'a, M: Send + 'static> {
    pub(super) timers: &'a mut Timers<M>,
    pub(super) cell: &'a Arc<Cell<M>>,
}

impl<M: Send + 'static> fmt::Debug for TimerScope<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimerScope").field("armed", &self.timers.by_key.len()).finish()
    }
}

impl<M: Send + 'static> TimerScope<'_, M> {
    /// Sends `message` to this actor once, after `delay`; zero means in a later turn, `Duration::MAX` never.
    pub fn once(&mut self, key: impl Into<Key>, delay: Duration, message: M) {
        self.start(key.into(), delay, Kind::Once(message));
    }

    /// Sends a message after `delay`, and again `delay` after the handling of the last one ended.
    ///
    /// # Errors
    /// If `delay` is zero.
    pub fn fixed_delay(
        &mut self,
        key: impl Into<Key>,
        delay: Duration,
        make: impl FnMut() -> M + Send + 'static,
    ) -> Result<(), TimerError> {
        if delay.is_zero() {
            return Err(TimerError::ZeroPeriod);
        }
        self.start(key.into(), delay, Kind::FixedDelay { delay, make: Box::new(make) });
        Ok(())
    }

    /// Sends a message at start + n · `period`; a tick that falls due while one is queued is skipped, and the phase kept.
    ///
    /// # Errors
    /// If `period` is zero.
    pub fn fixed_rate(
        &mut self,
        key: impl Into<Key>,
        period: Duration,
        make: impl FnMut() -> M + Send + 'static,
    ) -> Result<(), TimerError> {
        if period.is_zero() {
            return Err(TimerError::ZeroPeriod);
        }
        let kind = Kind::FixedRate { start: self.now(), period, ticks: 1, make: Box::new(make) };
        self.start(key.into(), period, kind);
        Ok(())
    }

    /// Disarms a timer; false if there is none with this key, or if it has fired and was handled.
    pub fn cancel(&mut self, key: impl Into<Key>) -> bool {
        let Some(token) = self.timers.by_key.remove(&key.into()) else { return false };
        let timer = self.timers.by_token.remove(&token);
        if let Some(armed) = timer.and_then(|timer| timer.armed) {
            self.cell.head.shared.dispatcher.cancel_timer(armed);
        }
        self.cell.head.record(EventKind::TimerCancelled);
        true
    }

    /// Is true if a timer with this key is armed, or its tick is queued.
    pub fn is_active(&self, key: impl Into<Key>) -> bool {
        self.timers.by_key.contains_key(&key.into())
    }

    fn now(&self) -> Instant {
        self.cell.head.shared.now()
    }

    fn start(&mut self, key: Key, delay: Duration, kind: Kind<M>) {
        if self.is_active(key) {
            self.cancel(key);
        }
        self.timers.last_token += 1;
        let token = self.timers.last_token;
        let armed = arm(self.cell, token, self.now() + delay);
        self.timers.by_key.insert(key, token);
        self.timers.by_token.insert(token, Timer { key, kind, armed });
    }
}

fn arm<M: Send + 'static>(cell: &Arc<Cell<M>>, token: u64, due: Instant) -> Option<TimerKey> {
    cell.head.record(EventKind::TimerSet { due });
    let target = cell.clone().on_timer_target();
    cell.head.shared.dispatcher.set_timer(due, Due::Signal(target, token))
}

impl<M: Send + 'static> Timers<M> {
    /// Turns a tick into its message; `None` if it is outdated.
    pub(crate) fn message_of(&mut self, cell: &Arc<Cell<M>>, token: u64) -> Option<M> {
        let timer = self.by_token.get_mut(&token)?;
        timer.armed = None;
        match &mut timer.kind {
            Kind::Once(_) => {
                let timer = self.by_token.remove(&token)?;
                self.by_key.remove(&timer.key);
                match timer.kind {
                    Kind::Once(message) => Some(message),
                    Kind::FixedDelay { .. } | Kind::FixedRate { .. } => None,
                }
            }
            Kind::FixedDelay { make, .. } => Some(make()),
            Kind::FixedRate { start, period, ticks, make } => {
                // The next tick that is still to come; those missed are skipped.
                let passed = nanos(cell.head.shared.now() - *start) / nanos(*period).max(1);
                *ticks = (*ticks + 1).max(passed.saturating_add(1));
                let due = *start + Duration::from_nanos(nanos(*period).saturating_mul(*ticks));
                timer.armed = arm(cell, token, due);
                Some(make())
            }
        }
    }

    /// Arms a fixed-delay timer again, after the run that handled its tick.
    pub(crate) fn rearm(&mut self, cell: &Arc<Cell<M>>, token: u64) {
        let now = cell.head.shared.now();
        if let Some(timer) = self.by_token.get_mut(&token)
            && let Kind::FixedDelay { delay, .. } = timer.kind
        {
            timer.armed = arm(cell, token, now + delay);
        }
    }

    /// Disarms all timers, as a restart and a stop do.
    pub(crate) fn clear(&mut self, cell: &Arc<Cell<M>>) {
        self.by_key.clear();
        for timer in std::mem::take(&mut self.by_token).into_values() {
            if let Some(armed) = timer.armed {
                cell.head.shared.dispatcher.cancel_timer(armed);
            }
            cell.head.discard("drop of a timer", timer);
        }
    }
}
