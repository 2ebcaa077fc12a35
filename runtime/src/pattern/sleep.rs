//! Waiting in the system's time: a future that is ready later, and a limit on another future.
//!
//! I1 the timer is armed when the future is first polled and disarmed when it is dropped: none is left behind.
//! I2 when the system has ended time stands still, so every sleep is over: no task waits for what never comes.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::SystemHandle;
use crate::actor::shared::Shared;
use crate::dispatch::Due;
use crate::sync::Mutex;
use crate::time::{Instant, TimerKey};

/// A future that is ready at a point of the system's time; got by [`SystemHandle::sleep`].
#[must_use = "a sleep does nothing until it is awaited"]
pub struct Sleep {
    shared: Arc<Shared>,
    due: Instant,
    armed: bool,
    key: Option<TimerKey>,
    alarm: Arc<Mutex<Alarm>>,
}

#[derive(Default)]
struct Alarm {
    rung: bool,
    waker: Option<Waker>,
}

fn ring(alarm: &Mutex<Alarm>) {
    let waker = {
        let mut alarm = alarm.lock();
        alarm.rung = true;
        alarm.waker.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        this.alarm.lock().waker = Some(cx.waker().clone());
        if !std::mem::replace(&mut this.armed, true) {
            let alarm = this.alarm.clone();
            this.key = this.shared.dispatcher.set_timer(this.due, Due::Call(Box::new(move || ring(&alarm))));
        }
        // After the timer is armed, so that an end that comes now is seen by one of the two.
        let over = this.alarm.lock().rung || this.shared.ended.lock().is_some();
        if over { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.shared.dispatcher.cancel_timer(key);
        }
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sleep(until {:?})", self.due)
    }
}

/// Says that a future was not ready in time; it has been dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time is over")
    }
}

impl std::error::Error for Elapsed {}

impl SystemHandle {
    /// Waits for `d` of the system's time from now on; `Duration::MAX` is for ever. For tasks and for outside; an actor uses
    /// its timers.
    ///
    /// # Examples
    /// ```
    /// use footlights::system::ActorSystem;
    /// use std::time::Duration;
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let hour = Duration::from_secs(3_600);
    /// system.block_on(system.handle().sleep(hour));
    /// assert_eq!(system.now(), footlights::time::Instant::ZERO + hour);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sleep(&self, d: Duration) -> Sleep {
        let due = self.0.now() + d;
        Sleep { shared: self.0.clone(), due, armed: false, key: None, alarm: Arc::default() }
    }

    /// Waits for `future`, for `d` of the system's time at most.
    ///
    /// # Errors
    /// [`Elapsed`] if it was not ready by then.
    pub async fn within<F: Future>(&self, d: Duration, future: F) -> Result<F::Output, Elapsed> {
        let (mut future, mut alarm) = (pin!(future), self.sleep(d));
        std::future::poll_fn(move |cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => Pin::new(&mut alarm).poll(cx).map(|()| Err(Elapsed(()))),
        })
        .await
    }
}
