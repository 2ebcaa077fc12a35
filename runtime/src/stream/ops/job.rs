//! `Job`: what an asynchronous operator does for one element, and how its answer comes back.
//!
//! I1 a job that is ready at once costs no request. I2 a job is dropped with the stage that began it: its late answer is
//! nobody's. It does not know in which order results go out: that is the operators' own.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::stream::host::{Effort, Request};
use crate::stream::kernel::Cx;
use crate::stream::signal::StreamError;
use crate::sync::Mutex;

/// What a task does.
type Work<B> = Box<dyn FnOnce(&mut dyn Effort) -> Result<B, String> + Send>;
/// Makes the error of a stage with this name.
type Blame = Box<dyn FnOnce(Arc<str>) -> StreamError + Send>;

/// A future that is polled by the island that waits for it.
pub struct JobFuture<B>(Pin<Box<dyn Future<Output = Result<B, Blame>> + Send>>);

/// What to do for one element of an asynchronous operator.
pub enum Job<B> {
    /// The result is there.
    Ready(B),
    /// It failed before it began.
    Failed(String),
    /// The result is there after a time that takes no worker.
    After(Duration, Result<B, String>),
    /// The result is computed on a worker beside the island.
    Task(Work<B>),
    /// The result is that of a future, which may be woken from anywhere.
    Future(JobFuture<B>),
}

impl<B> Job<B> {
    /// Makes a task that may charge work and block.
    pub fn task(f: impl FnOnce(&mut dyn Effort) -> Result<B, String> + Send + 'static) -> Self {
        Job::Task(Box::new(f))
    }

    /// Waits for a future. It is polled in the island's turns; one that is ready at its first poll costs no wake.
    ///
    /// ```
    /// use footlights::stream::{Job, Operators, Sink, Source};
    /// let later = Source::range(0..3).map_async(2, |n| Job::future(async move { Ok::<_, &str>(n * 2) }));
    /// assert_eq!(later.to(Sink::to_vec(9)).run_local().take(), Some(Ok(vec![0, 2, 4])));
    /// ```
    pub fn future<E: fmt::Display>(f: impl Future<Output = Result<B, E>> + Send + 'static) -> Self {
        let f = async {
            f.await.map_err(|e| {
                let text = e.to_string();
                Box::new(move |node| StreamError::Stage { node, text: text.into() }) as Blame
            })
        };
        Job::Future(JobFuture(Box::pin(f)))
    }

    /// Waits for a future whose error is one of the stream's own.
    pub(crate) fn future_of<E>(
        f: impl Future<Output = Result<B, E>> + Send + 'static,
        blame: impl FnOnce(Arc<str>, E) -> StreamError + Send + 'static,
    ) -> Self
    where
        E: Send + 'static,
    {
        let f = async { f.await.map_err(|e| Box::new(move |node| blame(node, e)) as Blame) };
        Job::Future(JobFuture(Box::pin(f)))
    }
}

type Slot<B> = Arc<Mutex<Option<Result<B, String>>>>;

/// A job under way, or its result.
pub(crate) enum Entry<B> {
    Ready(B),
    Waits(Result<B, String>),
    Runs(Slot<B>),
    Polls(JobFuture<B>),
}

fn failed<B>(result: Result<B, String>, cx: &Cx) -> Result<Entry<B>, StreamError> {
    result.map(Entry::Ready).map_err(|text| StreamError::Stage { node: cx.node(), text: text.into() })
}

/// Wraps a task so that its result waits in a slot for the answer.
fn start<B: Send + 'static>(task: Work<B>) -> (Request, Slot<B>) {
    let slot: Slot<B> = Arc::default();
    let result = slot.clone();
    let task = Box::new(move |effort: &mut dyn Effort| {
        let y = task(effort);
        *result.lock() = Some(y);
    });
    (Request::Task(task), slot)
}

impl<B: Send + 'static> Entry<B> {
    /// Begins a job as the request `number` of its stage.
    pub(crate) fn begin(job: Job<B>, number: u64, cx: &mut Cx) -> Result<Entry<B>, StreamError> {
        match job {
            Job::Ready(y) => Ok(Entry::Ready(y)),
            Job::Failed(text) => failed(Err(text), cx),
            Job::After(d, result) => {
                cx.request(number, Request::After(d));
                Ok(Entry::Waits(result))
            }
            Job::Task(task) => {
                let (request, slot) = start(task);
                cx.request(number, request);
                Ok(Entry::Runs(slot))
            }
            Job::Future(f) => Entry::poll(f, number, cx),
        }
    }

    fn poll(mut f: JobFuture<B>, number: u64, cx: &mut Cx) -> Result<Entry<B>, StreamError> {
        let waker = cx.waker(number);
        match f.0.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            Poll::Pending => Ok(Entry::Polls(f)),
            Poll::Ready(Ok(y)) => Ok(Entry::Ready(y)),
            Poll::Ready(Err(blame)) => Err(blame(cx.node())),
        }
    }

    /// The answer to the request `number` is there.
    pub(crate) fn answer(&mut self, number: u64, cx: &mut Cx) -> Result<(), StreamError> {
        let gone = || Entry::Waits(Err("its answer was used".into()));
        *self = match std::mem::replace(self, gone()) {
            Entry::Ready(y) => Entry::Ready(y),
            Entry::Waits(result) => failed(result, cx)?,
            Entry::Runs(slot) => {
                let result = slot.lock().take();
                failed(result.unwrap_or_else(|| Err("the task ended without a result".into())), cx)?
            }
            Entry::Polls(f) => Entry::poll(f, number, cx)?,
        };
        Ok(())
    }

    /// Says whether the result is there.
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self, Entry::Ready(_))
    }

    /// Takes the result, if it is there.
    pub(crate) fn take(self) -> Option<B> {
        match self {
            Entry::Ready(y) => Some(y),
            _ => None,
        }
    }
}
