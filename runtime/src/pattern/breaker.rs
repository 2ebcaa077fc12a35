//! Circuit breaker: turns calls away at once while what they call is known to be down.
//!
//! It guards any call: a future ([`CircuitBreaker::call`]), an ask from a handler ([`Context::ask_through`]), or whatever one
//! does between [`CircuitBreaker::admit`] and the verdict on its [`Permit`]. The rules are in `breaker_state`; time is the
//! system's, so all of it works in virtual time.
//!
//! I1 every permit is concluded once: by its verdict, or as given up when it is dropped.
//! I2 changes are logged in the order in which they were made.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::breaker_state::{Admission, Change, Machine, Outcome};
use super::{AskError, Reply, SystemHandle};
use crate::actor::{Actor, ActorRef, Context};
use crate::observe::{BreakerChange, BreakerState, EventKind};
use crate::rng::Rng;
use crate::sync::Mutex;
use crate::time::nanos;

/// Says when a breaker opens, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct BreakerSettings {
    /// Failures in a row that open it; 0 counts as 1.
    pub max_failures: u32,
    /// A call that takes longer is a failure.
    pub call_timeout: Duration,
    /// How long it stays open the first time.
    pub reset_after: Duration,
    /// How much longer after each failed trial, in thousandths: 2,000 doubles it.
    pub factor_permille: u32,
    /// How long it stays open at most, chance included.
    pub reset_max: Duration,
    /// How much chance may add to that time, in thousandths.
    pub jitter_permille: u32,
}

impl Default for BreakerSettings {
    /// Gives 10 failures, calls of 10 s, 15 s open and never longer (factor 1.0, at most 5 min), no jitter.
    fn default() -> Self {
        BreakerSettings {
            max_failures: 10,
            call_timeout: Duration::from_secs(10),
            reset_after: Duration::from_secs(15),
            factor_permille: 1_000,
            reset_max: Duration::from_secs(300),
            jitter_permille: 0,
        }
    }
}

impl BreakerSettings {
    /// Opens after so many failures in a row.
    pub fn max_failures(self, max_failures: u32) -> Self {
        BreakerSettings { max_failures, ..self }
    }

    /// Takes a call that lasts longer for a failure.
    pub fn call_timeout(self, call_timeout: Duration) -> Self {
        BreakerSettings { call_timeout, ..self }
    }

    /// Stays open for so long the first time.
    pub fn reset_after(self, reset_after: Duration) -> Self {
        BreakerSettings { reset_after, ..self }
    }

    /// Stays open longer after each failed trial, in thousandths.
    pub fn factor_permille(self, factor_permille: u32) -> Self {
        BreakerSettings { factor_permille, ..self }
    }

    /// Never stays open longer than this.
    pub fn reset_max(self, reset_max: Duration) -> Self {
        BreakerSettings { reset_max, ..self }
    }

    /// Lets chance add to the time, in thousandths of it.
    pub fn jitter_permille(self, jitter_permille: u32) -> Self {
        BreakerSettings { jitter_permille, ..self }
    }
}

/// Says that a breaker has turned a call away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerOpen {
    /// When it may let one through again.
    pub retry_in: Duration,
}

impl fmt::Display for BreakerOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the circuit breaker is open; try again in {:?}", self.retry_in)
    }
}

impl std::error::Error for BreakerOpen {}

/// Says why a guarded call gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BreakerError<E> {
    /// It was not made.
    Open(BreakerOpen),
    /// It took longer than the breaker allows, and was given up.
    TimedOut,
    /// It failed by itself.
    Failed(E),
}

impl<E: fmt::Display> fmt::Display for BreakerError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BreakerError::Open(open) => open.fmt(f),
            BreakerError::TimedOut => f.write_str("the call took longer than the circuit breaker allows"),
            BreakerError::Failed(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error> std::error::Error for BreakerError<E> {}

/// Guards calls; clones share one state.
///
/// # Examples
/// ```
/// use footlights::pattern::{BreakerError, BreakerSettings, CircuitBreaker};
/// use footlights::system::ActorSystem;
/// let system = ActorSystem::builder("demo").stepper().build()?;
/// let once = BreakerSettings::default().max_failures(1);
/// let breaker = CircuitBreaker::new(&system.handle(), "db", once);
/// let failing = || async { Err::<u32, &str>("down") };
/// assert_eq!(system.block_on(breaker.call(failing)), Err(BreakerError::Failed("down")));
/// let turned_away = system.block_on(breaker.call(failing));
/// assert!(matches!(turned_away, Err(BreakerError::Open(open)) if open.retry_in.as_secs() == 15));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CircuitBreaker(Arc<Inner>);

struct Inner {
    name: Arc<str>,
    settings: BreakerSettings,
    system: SystemHandle,
    state: Mutex<(Machine, Rng)>,
}

impl CircuitBreaker {
    /// Makes a closed breaker; its name is in its events.
    pub fn new(system: &SystemHandle, name: &str, settings: BreakerSettings) -> Self {
        let state = Mutex::new((Machine::new(settings), system.own_rng()));
        CircuitBreaker(Arc::new(Inner { name: name.into(), settings, system: system.clone(), state }))
    }

    /// Gives the name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Gives the present state. One whose time is over stays open until somebody calls.
    pub fn state(&self) -> BreakerState {
        self.0.state.lock().0.state()
    }

    /// Lets a call through, or turns it away at once.
    ///
    /// # Errors
    /// [`BreakerOpen`] while it is open, and in half-open while the trial call is under way.
    pub fn admit(&self) -> Result<Permit, BreakerOpen> {
        let mut state = self.0.state.lock();
        let (call, change) =
            state.0.admit(self.0.system.now()).map_err(|retry_in| BreakerOpen { retry_in })?;
        self.report(change);
        Ok(Permit { breaker: self.clone(), call: Some(call) })
    }

    /// Makes a call if it is let through, and judges it: an error is a failure, and so is a call that takes too long.
    /// Dropping the future gives the call up, which is neither.
    ///
    /// # Errors
    /// If it was turned away, took too long, or failed.
    pub async fn call<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        call: impl FnOnce() -> F,
    ) -> Result<T, BreakerError<E>> {
        let permit = self.admit().map_err(BreakerError::Open)?;
        match self.0.system.within(self.0.settings.call_timeout, call()).await {
            Ok(Ok(value)) => {
                permit.succeeded();
                Ok(value)
            }
            Ok(Err(error)) => {
                permit.failed();
                Err(BreakerError::Failed(error))
            }
            Err(_) => {
                permit.failed();
                Err(BreakerError::TimedOut)
            }
        }
    }

    fn conclude(&self, call: Admission, outcome: Outcome) {
        let (now, mut state) = (self.0.system.now(), self.0.state.lock());
        let (machine, rng) = &mut *state;
        let change = machine.conclude(call, outcome, now, rng);
        self.report(change);
    }

    /// Logs a change, under the lock that ordered it.
    fn report(&self, change: Option<Change>) {
        let Some(Change { from, to, failures, open_for }) = change else { return };
        let shared = &self.0.system.0;
        let (name, failures_max) = (self.0.name.clone(), self.0.settings.max_failures.max(1));
        let change = BreakerChange { name, from, to, failures, failures_max, open_for_ns: nanos(open_for) };
        shared.record(shared.log.current(), EventKind::BreakerChanged(Box::new(change)));
    }
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CircuitBreaker({}: {})", self.0.name, self.state())
    }
}

/// A call that a breaker has let through and that is to be judged; dropping it gives the call up.
#[derive(Debug)]
#[must_use = "a permit that is dropped gives its call up"]
pub struct Permit {
    breaker: CircuitBreaker,
    call: Option<Admission>,
}

impl Permit {
    /// Says that the call went well (unless it took longer than the breaker allows).
    pub fn succeeded(mut self) {
        self.conclude(Outcome::Succeeded);
    }

    /// Says that the call failed.
    pub fn failed(mut self) {
        self.conclude(Outcome::Failed);
    }

    fn conclude(&mut self, outcome: Outcome) {
        if let Some(call) = self.call.take() {
            self.breaker.conclude(call, outcome);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.conclude(Outcome::GivenUp);
    }
}

impl<A: Actor> Context<'_, A> {
    /// Asks `target` if the breaker lets it through, and judges the call by its outcome: any answer is a success, no answer a
    /// failure. The outcome comes back as one message of this actor's own, made by `map`, also when it was turned away.
    pub fn ask_through<M: Send + 'static, R: Send + 'static>(
        &mut self,
        breaker: &CircuitBreaker,
        target: &ActorRef<M>,
        make: impl FnOnce(Reply<R>) -> M,
        timeout: Duration,
        map: impl FnOnce(Result<R, BreakerError<AskError>>) -> A::Msg + Send + 'static,
    ) {
        let permit = match breaker.admit() {
            Ok(permit) => permit,
            Err(open) => {
                let turned_away = map(Err(BreakerError::Open(open)));
                return self.tell_own(turned_away);
            }
        };
        let limit = breaker.0.settings.call_timeout;
        self.ask(target, make, timeout.min(limit), move |outcome| match outcome {
            Ok(answer) => {
                permit.succeeded();
                map(Ok(answer))
            }
            Err(error) => {
                permit.failed();
                let too_slow = error == AskError::Timeout && limit < timeout;
                map(Err(if too_slow { BreakerError::TimedOut } else { BreakerError::Failed(error) }))
            }
        });
    }
}
