//! Calls that block, beside the actor: they run on the threads that may be kept waiting, and their result is piped back.
//!
//! I1 at most so many jobs wait as the system's builder says; one more is refused with `PoolFull`, as a message like any
//!    other result.
//! I2 a job waits from its spawn until it begins or is cancelled.

use super::task::{TaskContext, TaskError, TaskHandle};
use crate::actor::{Actor, Context};
use crate::dispatch::Home;

impl<A: Actor> Context<'_, A> {
    /// Runs a `job` that may block on the dispatcher `blocking`; its result comes back as one message of this actor's own,
    /// made by `map`. When 1,024 jobs wait already (see [`Builder::blocking_queue`](crate::system::Builder::blocking_queue))
    /// the message tells of [`TaskError::PoolFull`]. A restart or stop of this actor cancels the job if it has not begun.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::system::ActorSystem;
    /// use std::time::Duration;
    /// struct Reader;
    /// impl Actor for Reader {
    ///     type Msg = Option<u32>;
    ///     fn receive(&mut self, cx: &mut Context<'_, Self>, read: Option<u32>) -> Result<(), Failure> {
    ///         match read {
    ///             None => _ = cx.spawn_blocking(|cx| { cx.block(Duration::from_secs(1)); 7 }, |read| read.ok()),
    ///             Some(read) => assert_eq!(read, 7),
    ///         }
    ///         Ok(())
    ///     }
    /// }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// system.spawn("reader", Props::new(|| Reader))?.tell(None);
    /// assert!(system.run_until_quiet(100));
    /// assert_eq!(system.ledger().handled, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn_blocking<T: Send + 'static>(
        &mut self,
        job: impl FnOnce(&mut TaskContext) -> T + Send + 'static,
        map: impl FnOnce(Result<T, TaskError>) -> A::Msg + Send + 'static,
    ) -> TaskHandle {
        let done = self.done(map);
        match self.cell.head.shared.dispatcher.roster().gate.enter() {
            Some(place) => self.spawn_job(Home::BLOCKING, (job, done, Some(place))),
            None => {
                done(Err(TaskError::PoolFull));
                TaskHandle::ended()
            }
        }
    }
}
