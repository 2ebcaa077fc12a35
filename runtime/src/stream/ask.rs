//! `ask`: a question to an actor for each element of a stream.
//!
//! It is `map_async` over the answer's future: questions under way are given up when the stage ends.

use std::sync::Arc;
use std::time::Duration;

use super::Operators;
use super::dsl::operators::{Factory, Make};
use super::ops::job::Job;
use super::ops::map_async::MapAsync;
use super::signal::StreamError;
use crate::actor::ActorRef;
use crate::pattern::{AskError, Reply};

/// Streams that ask actors; every [`Operators`] does.
pub trait AskOperator: Operators {
    /// Asks `target` what `make` makes of each element, at most `parallelism` questions at a time, and emits the answers in
    /// order. An actor that has ended fails the stream at once.
    ///
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::pattern::Reply;
    /// use footlights::stream::{AskOperator, Sink, Source};
    /// use footlights::system::ActorSystem;
    /// use std::time::Duration;
    ///
    /// struct Doubler;
    /// impl Actor for Doubler {
    ///     type Msg = (i64, Reply<i64>);
    ///     fn receive(&mut self, _: &mut Context<'_, Self>, (n, reply): Self::Msg) -> Result<(), Failure> {
    ///         reply.send(2 * n);
    ///         Ok(())
    ///     }
    /// }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let doubler = system.spawn("doubler", Props::new(|| Doubler))?;
    /// let answers = Source::range(0..3).ask(2, &doubler, Duration::from_secs(1), |n, reply| (n, reply));
    /// let (done, _) = answers.to(Sink::to_vec(9)).run(&system)?;
    /// assert_eq!(system.block_on(done)?, [0, 2, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn ask<M, R, F>(
        self,
        parallelism: usize,
        target: &ActorRef<M>,
        timeout: Duration,
        make: F,
    ) -> Self::With<impl Factory<In = Self::Item, Out = R>>
    where
        M: Send + 'static,
        R: Send + 'static,
        F: FnMut(Self::Item, Reply<R>) -> M + Clone + Send + Sync + 'static,
    {
        let target = target.clone();
        let kernel = move || {
            let (target, mut make) = (target.clone(), make.clone());
            MapAsync::new(parallelism, move |x| question(&target, |reply| make(x, reply), timeout))
        };
        self.stage(Make("ask", kernel))
    }
}

impl<T: Operators> AskOperator for T {}

/// Asks `target`; an actor that has ended, or ends before it answers, fails the stage with its path.
fn question<M, R>(target: &ActorRef<M>, make: impl FnOnce(Reply<R>) -> M, timeout: Duration) -> Job<R>
where
    M: Send + 'static,
    R: Send + 'static,
{
    let path: Arc<str> = target.path().into();
    Job::future_of(target.ask(make, timeout), |node, error| match error {
        AskError::Dead | AskError::Stopped => StreamError::TargetStopped { node, path },
        error => StreamError::Ask { node, error },
    })
}
