//! Retry: makes a call again when it has failed, with growing pauses, a limited number of times.
//!
//! I1 the error that is given back is that of the last attempt.
//! I2 the deadline is for beginning an attempt: none is begun after it, and one that runs is not cut short (its own timeout
//!    does that).
//! I3 every decision is an event, the last one included.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::SystemHandle;
use crate::observe::{EventKind, Retried, RetryVerdict};
use crate::rng::Rng;
use crate::supervise::Backoff;
use crate::time::{Instant, nanos};

/// Attempts, by default.
const ATTEMPTS: u32 = 3;

/// Says how often a call is made, and with what pauses.
///
/// # Examples
/// ```
/// use footlights::pattern::Retry;
/// use footlights::system::ActorSystem;
/// let system = ActorSystem::builder("demo").stepper().build()?;
/// let third_time = |attempt| async move { if attempt < 3 { Err("not yet") } else { Ok(attempt) } };
/// let got = system.block_on(Retry::new("demo").run(&system.handle(), third_time));
/// assert_eq!(got, Ok(3));
/// assert!(system.now().as_nanos() >= 300_000_000, "pauses of 100 and 200 ms, and some jitter");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Retry {
    name: Arc<str>,
    attempts: u32,
    backoff: Backoff,
    deadline: Option<Duration>,
}

impl Retry {
    /// Makes 3 attempts with pauses of 100 ms and 200 ms, and 200 ‰ jitter; the name is in the events.
    pub fn new(name: &str) -> Self {
        Retry { name: name.into(), attempts: ATTEMPTS, backoff: Backoff::default(), deadline: None }
    }

    /// Makes so many attempts at most, the first included; 0 counts as 1.
    pub fn attempts(self, attempts: u32) -> Self {
        Retry { attempts: attempts.max(1), ..self }
    }

    /// Pauses by `backoff` between attempts.
    pub fn backoff(self, backoff: Backoff) -> Self {
        Retry { backoff, ..self }
    }

    /// Begins no attempt later than `d` after the first one.
    pub fn deadline(self, d: Duration) -> Self {
        Retry { deadline: Some(d), ..self }
    }

    /// Makes the call until it succeeds; `call` is told the number of the attempt, from 1.
    ///
    /// # Errors
    /// The error of the last attempt.
    pub async fn run<T, E, F>(self, system: &SystemHandle, call: impl FnMut(u32) -> F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        self.run_if(system, |_| true, call).await
    }

    /// As [`Retry::run`], but only errors that `retryable` names are worth another attempt.
    ///
    /// # Errors
    /// The error of the last attempt.
    pub async fn run_if<T, E, F>(
        self,
        system: &SystemHandle,
        mut retryable: impl FnMut(&E) -> bool,
        mut call: impl FnMut(u32) -> F,
    ) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        let (began, mut rng) = (system.now(), system.own_rng());
        let mut attempt = 1;
        loop {
            let error = match call(attempt).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let (verdict, delay) = self.decide(attempt, retryable(&error), system.now() - began, &mut rng);
            let Retry { name, attempts, .. } = &self;
            let (name, attempts) = (name.clone(), *attempts);
            let retried = Retried { name, attempt, attempts, verdict, delay_ns: nanos(delay) };
            system.0.record(system.0.log.current(), EventKind::Retried(Box::new(retried)));
            if verdict != RetryVerdict::Again {
                return Err(error);
            }
            system.sleep(delay).await;
            attempt += 1;
        }
    }

    fn decide(
        &self,
        attempt: u32,
        retryable: bool,
        took: Duration,
        rng: &mut Rng,
    ) -> (RetryVerdict, Duration) {
        if !retryable {
            return (RetryVerdict::NotRetryable, Duration::ZERO);
        }
        if attempt >= self.attempts {
            return (RetryVerdict::Exhausted, Duration::ZERO);
        }
        let delay = self.backoff.delay(attempt - 1, rng).delay;
        let next = Instant::ZERO + took + delay;
        let too_late = self.deadline.is_some_and(|deadline| next > Instant::ZERO + deadline);
        (if too_late { RetryVerdict::DeadlinePassed } else { RetryVerdict::Again }, delay)
    }
}
