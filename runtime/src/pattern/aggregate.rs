//! Aggregator: a child that collects a known number of answers and is gone when it has them, or when the time is over.
//!
//! It is the way to ask several others without waiting in a handler: the child stands for the one request, holds its `Reply`,
//! and gives it what has come. Answers are told to it ([`Collector`] is a destination), or asked for
//! ([`Collector::ask`]), or any future's result ([`Collector::collect`]).
//!
//! I1 it finishes once: with all answers, or with those that came in time.
//! I2 whatever ends it (completion, time, its parent), its open asks are given up: no ask, timer or actor is left.
//! I3 a question that ends without an answer counts as one that failed; nobody waits for it.
//! It is never restarted: its answers would be gone. If it fails, what it holds is dropped, and a `Reply` in it says so.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::Reply;
use crate::actor::cell::Item;
use crate::actor::{Actor, ActorRef, AnyRef, Context, Failure, Props, SpawnError, Tell, Via};
use crate::supervise::RestartType;
use crate::sync::Mutex;

/// The key of the aggregator's one timer.
const TIME: &str = "time";

/// What an aggregator has collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregated<S> {
    /// The answers, folded.
    pub value: S,
    /// How many came.
    pub answers: usize,
    /// How many questions ended without an answer.
    pub failures: usize,
    /// How many were wanted.
    pub wanted: usize,
}

impl<S> Aggregated<S> {
    /// Is true if every answer came.
    pub fn is_complete(&self) -> bool {
        self.answers >= self.wanted
    }
}

type Question<T> = Pin<Box<dyn Future<Output = Option<T>> + Send>>;

/// What an aggregator understands.
enum Part<T> {
    Answer(T),
    NoAnswer,
    Question(Question<T>),
    TimeIsOver,
}

type Fold<S, T> = Box<dyn FnMut(&mut S, T) + Send>;
type Finish<S> = Box<dyn FnOnce(Aggregated<S>) + Send>;

struct Work<S, T> {
    value: S,
    fold: Fold<S, T>,
    finish: Finish<S>,
}

struct Aggregator<S, T> {
    work: Option<Work<S, T>>,
    answers: usize,
    failures: usize,
    wanted: usize,
    timeout: Duration,
}

impl<S: Send + 'static, T: Send + 'static> Actor for Aggregator<S, T> {
    type Msg = Part<T>;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.timers().once(TIME, self.timeout, Part::TimeIsOver);
        self.finish_if_complete(cx);
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, part: Part<T>) -> Result<(), Failure> {
        match (part, &mut self.work) {
            (Part::Answer(answer), Some(work)) => {
                (work.fold)(&mut work.value, answer);
                self.answers += 1;
                self.finish_if_complete(cx);
            }
            (Part::NoAnswer, _) => {
                self.failures += 1;
                self.finish_if_complete(cx);
            }
            (Part::Question(question), _) => {
                cx.pipe_to_self(question, |outcome| match outcome {
                    Ok(Some(answer)) => Part::Answer(answer),
                    Ok(None) | Err(_) => Part::NoAnswer,
                });
            }
            (Part::TimeIsOver, _) => self.finish(cx),
            (Part::Answer(_), None) => {}
        }
        Ok(())
    }
}

impl<S: Send + 'static, T: Send + 'static> Aggregator<S, T> {
    fn finish_if_complete(&mut self, cx: &mut Context<'_, Self>) {
        if self.answers + self.failures >= self.wanted {
            self.finish(cx);
        }
    }

    fn finish(&mut self, cx: &mut Context<'_, Self>) {
        if let Some(Work { value, finish, .. }) = self.work.take() {
            let Aggregator { answers, failures, wanted, .. } = *self;
            finish(Aggregated { value, answers, failures, wanted });
            cx.stop();
        }
    }
}

/// The destination of the answers that an aggregator collects; it may be cloned and sent around.
pub struct Collector<T: Send + 'static>(ActorRef<Part<T>>);

impl<T: Send + 'static> Collector<T> {
    /// Sends an answer and does not wait.
    pub fn tell(&self, answer: T) {
        self.0.tell(Part::Answer(answer));
    }

    /// Asks `target` now; its answer, made fit by `map`, is collected. The question is given up with the aggregator.
    pub fn ask<M: Send + 'static, R: Send + 'static>(
        &self,
        target: &ActorRef<M>,
        make: impl FnOnce(Reply<R>) -> M,
        map: impl FnOnce(R) -> T + Send + 'static,
    ) {
        let answer = target.ask(make, Duration::MAX);
        self.collect(async move { answer.await.ok().map(map) });
    }

    /// Collects the result of a future; `None` counts as a question without an answer. It is dropped with the aggregator.
    pub fn collect(&self, future: impl Future<Output = Option<T>> + Send + 'static) {
        self.0.tell(Part::Question(Box::pin(future)));
    }

    /// Gives the aggregator's actor, to watch or to stop.
    pub fn any(&self) -> AnyRef {
        self.0.any()
    }
}

impl<T: Send + 'static> Tell<T> for Collector<T> {
    fn tell_via(&self, answer: T, via: Via<'_>) {
        self.0.tell_via(Part::Answer(answer), via);
    }
}

impl<T: Send + 'static> Clone for Collector<T> {
    fn clone(&self) -> Self {
        Collector(self.0.clone())
    }
}

impl<T: Send + 'static> fmt::Debug for Collector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collector({})", self.0.path())
    }
}

impl<A: Actor> Context<'_, A> {
    /// Makes a child that collects `wanted` answers, each folded into `start` by `fold`, and then calls `finish`, in a run of
    /// its own; after `timeout` with what has come until then. Either way it is gone after that.
    ///
    /// # Errors
    /// If this actor is ending.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::pattern::Reply;
    /// use footlights::system::ActorSystem;
    /// use std::time::Duration;
    ///
    /// struct Sum;
    /// impl Actor for Sum {
    ///     type Msg = Reply<u32>;
    ///     fn receive(&mut self, cx: &mut Context<'_, Self>, reply: Reply<u32>) -> Result<(), Failure> {
    ///         let second = Duration::from_secs(1);
    ///         let sum = cx.aggregate(2, second, 0, |sum, n| *sum += n, |all| {
    ///             reply.send(all.value);
    ///         })?;
    ///         cx.tell(&sum, 20);
    ///         cx.tell(&sum, 22);
    ///         Ok(())
    ///     }
    /// }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let sum = system.spawn("sum", Props::new(|| Sum))?;
    /// assert_eq!(system.block_on(sum.ask(|reply| reply, Duration::MAX))?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn aggregate<S: Send + 'static, T: Send + 'static>(
        &mut self,
        wanted: usize,
        timeout: Duration,
        start: S,
        fold: impl FnMut(&mut S, T) + Send + 'static,
        finish: impl FnOnce(Aggregated<S>) + Send + 'static,
    ) -> Result<Collector<T>, SpawnError> {
        let work = Work { value: start, fold: Box::new(fold), finish: Box::new(finish) };
        let work = Arc::new(Mutex::new(Some(work)));
        let make = move || match work.lock().take() {
            Some(work) => Ok(Aggregator { work: Some(work), answers: 0, failures: 0, wanted, timeout }),
            None => Err(Failure::new("aggregate", "an aggregator is made once")),
        };
        let props = Props::try_new(make).restart_type(RestartType::Temporary);
        Ok(Collector(self.spawn("", props)?))
    }

    /// As [`Context::aggregate`]; the result comes back as one message of this actor's own, made by `map`.
    ///
    /// # Errors
    /// As [`Context::aggregate`].
    pub fn aggregate_to_self<S: Send + 'static, T: Send + 'static>(
        &mut self,
        wanted: usize,
        timeout: Duration,
        start: S,
        fold: impl FnMut(&mut S, T) + Send + 'static,
        map: impl FnOnce(Aggregated<S>) -> A::Msg + Send + 'static,
    ) -> Result<Collector<T>, SpawnError> {
        let (cell, incarnation) = (self.cell.clone(), self.incarnation());
        let finish = move |result| {
            // A parent that has ended is told nothing.
            let _ = cell.send_own(Item::Answer(incarnation, map(result)), None);
        };
        self.aggregate(wanted, timeout, start, fold, finish)
    }
}
