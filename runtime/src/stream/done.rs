//! The result of a stream: set once by its sink, read by polling, blocking or awaiting.
//!
//! I1 it is always set: a sink that is dropped before its end sets [`StreamError::Abrupt`].
//! I2 the first result stands.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::signal::StreamError;
use crate::sync::{Condvar, Mutex, wait};

/// The result of a stream, now or later.
///
/// # Examples
/// ```
/// use footlights::stream::{Sink, Source, Operators};
/// let done = Source::range(0..4).map(|n| n * n).to(Sink::fold(0, |sum, n| sum + n)).run_local();
/// assert_eq!(done.take(), Some(Ok(14)));
/// ```
#[derive(Debug)]
pub struct Done<T>(Arc<Cell<T>>);

#[derive(Debug)]
struct Cell<T> {
    state: Mutex<State<T>>,
    set: Condvar,
}

#[derive(Debug)]
struct State<T> {
    result: Option<Result<T, StreamError>>,
    settled: bool,
    waker: Option<Waker>,
}

/// The sink's side of a [`Done`]; the default one tells nobody.
pub(crate) struct Completer<T>(Option<Arc<Cell<T>>>);

impl<T> Default for Completer<T> {
    fn default() -> Self {
        Completer(None)
    }
}

/// Makes both sides.
pub(crate) fn done<T>() -> (Completer<T>, Done<T>) {
    let state = State { result: None, settled: false, waker: None };
    let cell = Arc::new(Cell { state: Mutex::new(state), set: Condvar::new() });
    (Completer(Some(cell.clone())), Done(cell))
}

impl<T> Completer<T> {
    /// Sets the result, if it is not set yet.
    pub(crate) fn set(&mut self, result: Result<T, StreamError>) {
        if let Some(cell) = self.0.take() {
            let mut state = cell.state.lock();
            (state.result, state.settled) = (Some(result), true);
            let waker = state.waker.take();
            drop(state);
            cell.set.notify_all();
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        self.set(Err(StreamError::Abrupt));
    }
}

impl<T> Done<T> {
    /// Says whether the stream has ended.
    pub fn is_settled(&self) -> bool {
        self.0.state.lock().settled
    }

    /// Takes the result, if it is there.
    pub fn take(&self) -> Option<Result<T, StreamError>> {
        self.0.state.lock().result.take()
    }

    /// Blocks the calling thread until the result is there; for `main` and tests, never inside an actor.
    ///
    /// # Errors
    /// The error that the stream ended with.
    pub fn wait(self) -> Result<T, StreamError> {
        let mut state = self.0.state.lock();
        loop {
            if let Some(result) = state.result.take() {
                return result;
            }
            if state.settled {
                return Err(StreamError::Abrupt);
            }
            state = wait(&self.0.set, state);
        }
    }
}

impl<T> Future for Done<T> {
    type Output = Result<T, StreamError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.state.lock();
        match state.result.take() {
            Some(result) => Poll::Ready(result),
            None if state.settled => Poll::Ready(Err(StreamError::Abrupt)),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
