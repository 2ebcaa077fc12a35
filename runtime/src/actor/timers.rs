//! An actor's timers: one registry of keys; a tick says which timer it belongs to, so that an outdated one is known.
//!
//! I1 starting a key again replaces its timer; other keys are untouched.
//! I2 a tick carries its timer's token; cancel, replacement, restart and stop forget the token, so a tick that is queued
//!    already finds nothing and is dropped (StaleTimer).
//! I3 of one timer at most one tick is queued at a time; what becomes of the others is said by [`MissedTicks`].

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
    /// A receive timeout of less than 1 ms would be at the mercy of chance.
    TooShort,
}

/// Says what becomes of the ticks of a fixed-rate timer that fall due while one is queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissedTicks {
    /// They are left out, counted, and told by an event; the next tick is in phase.
    #[default]
    Skip,
    /// They are owed: each is queued when the one before has been handled, until none is left.
    Burst,
    /// They are put off: the next tick comes one period after the late one was read, and the phase moves with it.
    Delay,
}

impl fmt::Display for TimerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimerError::ZeroPeriod => "a repeating timer needs a period above zero",
            TimerError::TooShort => "a receive timeout needs at least 1 ms",
        })
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
    FixedRate { rate: Rate, make: Box<dyn FnMut() -> M + Send> },
}

/// The calendar of a fixed-rate timer.
struct Rate {
    start: Instant,
    period: Duration,
    missed: MissedTicks,
    /// The tick that is armed or queued: it is due at start + `tick` · period.
    tick: u64,
    skipped: u64,
}

impl Rate {
    /// Gives when the next tick is due.
    fn due(&self) -> Instant {
        self.start + Duration::from_nanos(nanos(self.period).saturating_mul(self.tick))
    }

    /// Counts the ticks that have fallen due until `now` behind the one that is queued.
    fn behind(&self, now: Instant) -> u64 {
        (nanos(now - self.start) / nanos(self.period).max(1)).saturating_sub(self.tick)
    }

    /// Goes on to the next tick when one is read at `now`; says how many were skipped.
    fn advance(&mut self, now: Instant) -> u64 {
        let behind = self.behind(now);
        self.tick = self.tick.saturating_add(1);
        match self.missed {
            MissedTicks::Skip => {
                self.tick = self.tick.saturating_add(behind);
                self.skipped += behind;
                return behind;
            }
            MissedTicks::Delay if behind > 0 => (self.start, self.tick) = (now, 1),
            MissedTicks::Delay | MissedTicks::Burst => {}
        }
        0
    }
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

    /// Sends a message after `delay`, and again `delay` after the handling of the last one ended. Gives the delay that takes
    /// effect: on a Pool at least 1 ms.
    ///
    /// # Errors
    /// If `delay` is zero.
    pub fn fixed_delay(
        &mut self,
        key: impl Into<Key>,
        delay: Duration,
        make: impl FnMut() -> M + Send + 'static,
    ) -> Result<Duration, TimerError> {
        let delay = self.effective(delay)?;
        self.start(key.into(), delay, Kind::FixedDelay { delay, make: Box::new(make) });
        Ok(delay)
    }

    /// Sends a message at start + n · `period`; a tick that falls due while one is queued is skipped, and the phase kept.
    /// Gives the period that takes effect: on a Pool at least 1 ms.
    ///
    /// # Errors
    /// If `period` is zero.
    pub fn fixed_rate(
        &mut self,
        key: impl Into<Key>,
        period: Duration,
        make: impl FnMut() -> M + Send + 'static,
    ) -> Result<Duration, TimerError> {
        self.fixed_rate_with(key, period, MissedTicks::Skip, make)
    }

    /// As [`TimerScope::fixed_rate`], and `missed` says what becomes of ticks that fall due while one is queued.
    ///
    /// # Errors
    /// If `period` is zero.
    pub fn fixed_rate_with(
        &mut self,
        key: impl Into<Key>,
        period: Duration,
        missed: MissedTicks,
        make: impl FnMut() -> M + Send + 'static,
    ) -> Result<Duration, TimerError> {
        let period = self.effective(period)?;
        let rate = Rate { start: self.now(), period, missed, tick: 1, skipped: 0 };
        self.start(key.into(), period, Kind::FixedRate { rate, make: Box::new(make) });
        Ok(period)
    }

    /// Counts the ticks that a fixed-rate timer has skipped so far; 0 if there is none with this key.
    pub fn skipped(&self, key: impl Into<Key>) -> u64 {
        self.rate(&key.into()).map_or(0, |rate| rate.skipped)
    }

    /// Counts the ticks that are due and not read yet of a timer that bursts; 0 if there is none with this key.
    pub fn owed(&self, key: impl Into<Key>) -> u64 {
        let rate = self.rate(&key.into()).filter(|rate| rate.missed == MissedTicks::Burst);
        rate.map_or(0, |rate| if rate.due() > self.now() { 0 } else { rate.behind(self.now()) + 1 })
    }

    fn rate(&self, key: &Key) -> Option<&Rate> {
        match &self.timers.by_token.get(self.timers.by_key.get(key)?)?.kind {
            Kind::FixedRate { rate, .. } => Some(rate),
            Kind::Once(_) | Kind::FixedDelay { .. } => None,
        }
    }

    /// Gives the period that can be kept here.
    fn effective(&self, period: Duration) -> Result<Duration, TimerError> {
        match period.is_zero() {
            true => Err(TimerError::ZeroPeriod),
            false => Ok(period.max(self.cell.head.shared.dispatcher.shortest_period())),
        }
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
        let token = self.timers.next_token();
        let armed = arm(self.cell, token, self.now() + delay);
        self.timers.by_key.insert(key, token);
        self.timers.by_token.insert(token, Timer { key, kind, armed });
    }
}

pub(super) fn arm<M: Send + 'static>(cell: &Arc<Cell<M>>, token: u64, due: Instant) -> Option<TimerKey> {
    cell.head.record(EventKind::TimerSet { due });
    let target = cell.clone().on_timer_target();
    cell.head.shared.dispatcher.set_timer(due, Due::Signal(target, token))
}

impl<M: Send + 'static> Timers<M> {
    /// Gives a number that no timer of this actor has had.
    pub(super) fn next_token(&mut self) -> u64 {
        self.last_token += 1;
        self.last_token
    }

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
            Kind::FixedRate { rate, make } => {
                let now = cell.head.shared.now();
                let ticks = rate.advance(now);
                if ticks > 0 {
                    cell.head.record(EventKind::TimerSkipped { ticks });
                }
                // What is owed already waits for the end of this run.
                if rate.due() > now {
                    timer.armed = arm(cell, token, rate.due());
                }
                Some(make())
            }
        }
    }

    /// Arms a fixed-delay timer again, and one that owes ticks, after the run that handled its tick.
    pub(crate) fn rearm(&mut self, cell: &Arc<Cell<M>>, token: u64) {
        let now = cell.head.shared.now();
        let Some(timer) = self.by_token.get_mut(&token).filter(|timer| timer.armed.is_none()) else { return };
        match &timer.kind {
            Kind::FixedDelay { delay, .. } => timer.armed = arm(cell, token, now + *delay),
            Kind::FixedRate { rate, .. } if rate.due() <= now => timer.armed = arm(cell, token, now),
            Kind::Once(_) | Kind::FixedRate { .. } => {}
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
