//! Room in a mailbox, waited for: [`Send`] waits with a message, [`Reserve`] without one.
//!
//! I1 those who wait are served first come, first served.
//! I2 a future, permit or batch of permits that is dropped gives its room to the next in line.
//! I3 the end of the actor wakes everybody who waits.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use super::ActorRef;
use super::cell::Cell;
use super::doors::{Door, Refusal};
use crate::dispatch::Due;
use crate::mailbox::order::Lane;
use crate::mailbox::{OverflowStrategy, Ticket};
use crate::sync::Mutex;
use crate::time::TimerKey;

/// Says why a wait for room ended without it; the message comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError<M> {
    /// The actor has ended.
    Closed(M),
    /// There is no room, and nobody waits for it: the mailbox's policy is to say so at once, or more was asked for than it
    /// can ever hold.
    Full(M),
    /// No room came in the time that the mailbox's policy sets.
    Timeout(M),
}

impl<M> fmt::Display for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::Closed(_) => write!(f, "the actor has ended"),
            SendError::Full(_) => write!(f, "the mailbox is full"),
            SendError::Timeout(_) => write!(f, "no room came in time"),
        }
    }
}

impl<M: fmt::Debug> std::error::Error for SendError<M> {}

/// One place in the line of one mailbox, with the time limit that its policy sets.
struct Wait<M: std::marker::Send + 'static> {
    cell: Arc<Cell<M>>,
    ticket: Ticket,
    lane: Lane,
    n: usize,
    deadline: Option<Deadline>,
}

struct Deadline {
    timer: Option<TimerKey>,
    alarm: Arc<Mutex<Alarm>>,
}

struct Alarm {
    rung: bool,
    waker: Waker,
}

/// Why a wait ended without room.
enum NoRoom {
    Closed,
    Timeout,
}

impl<M: std::marker::Send + 'static> Wait<M> {
    fn new(cell: &Arc<Cell<M>>, lane: Lane, n: usize) -> Self {
        Wait { cell: cell.clone(), ticket: Ticket::default(), lane, n, deadline: None }
    }

    fn poll(&mut self, waker: &Waker) -> Poll<Result<(), NoRoom>> {
        match self.cell.poll_room(&mut self.ticket, self.lane, self.n, waker) {
            Poll::Ready(granted) => {
                self.disarm();
                Poll::Ready(granted.map_err(|_| NoRoom::Closed))
            }
            Poll::Pending if self.is_overdue(waker) => {
                self.give_up();
                Poll::Ready(Err(NoRoom::Timeout))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    /// Is true if the time is over; arms the timer at the first call.
    fn is_overdue(&mut self, waker: &Waker) -> bool {
        let Some(patience) = self.cell.mailbox.overflow().patience() else { return false };
        if let Some(deadline) = &self.deadline {
            let mut alarm = deadline.alarm.lock();
            alarm.waker.clone_from(waker);
            return alarm.rung;
        }
        let alarm = Arc::new(Mutex::new(Alarm { rung: false, waker: waker.clone() }));
        let rings = alarm.clone();
        let ring = move || {
            let waker = {
                let mut alarm = rings.lock();
                alarm.rung = true;
                alarm.waker.clone()
            };
            waker.wake();
        };
        let shared = &self.cell.head.shared;
        let timer = shared.dispatcher.set_timer(shared.now() + patience, Due::Call(Box::new(ring)));
        self.deadline = Some(Deadline { timer, alarm });
        false
    }

    fn disarm(&mut self) {
        if let Some(timer) = self.deadline.take().and_then(|deadline| deadline.timer) {
            self.cell.head.shared.dispatcher.cancel_timer(timer);
        }
    }

    fn give_up(&mut self) {
        self.disarm();
        self.cell.release(std::mem::take(&mut self.ticket));
    }
}

/// The future of [`ActorRef::send`].
#[must_use = "a send does nothing until it is awaited"]
pub struct Send<M: std::marker::Send + 'static> {
    message: Option<M>,
    wait: Wait<M>,
}

// The message is moved out, never pinned.
impl<M: std::marker::Send + 'static> Unpin for Send<M> {}

impl<M: std::marker::Send + 'static> Future for Send<M> {
    type Output = Result<(), SendError<M>>;

    fn poll(self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Some(done) = this.try_without_waiting() {
            return Poll::Ready(done);
        }
        let Poll::Ready(granted) = this.wait.poll(cx.waker()) else { return Poll::Pending };
        let Some(message) = this.message.take() else { return Poll::Ready(Ok(())) };
        Poll::Ready(match granted {
            Ok(()) => this.wait.cell.send_granted(this.wait.ticket, message, None).map_err(SendError::Closed),
            Err(NoRoom::Closed) => Err(SendError::Closed(message)),
            Err(NoRoom::Timeout) => Err(SendError::Timeout(message)),
        })
    }
}

impl<M: std::marker::Send + 'static> Send<M> {
    /// Sends at once if the mailbox's policy is not to make senders wait.
    fn try_without_waiting(&mut self) -> Option<Result<(), SendError<M>>> {
        let door = match self.wait.cell.mailbox.overflow() {
            OverflowStrategy::Backpressure | OverflowStrategy::Timeout(_) => return None,
            OverflowStrategy::RejectToSender => Door::Try,
            OverflowStrategy::DropNew | OverflowStrategy::DropOldest | OverflowStrategy::FailReceiver => {
                Door::Route
            }
        };
        let message = self.message.take()?;
        let sent = self.wait.cell.send(message, door, None);
        Some(sent.map_err(|refusal| match refusal {
            Refusal::Full(message) => SendError::Full(message),
            Refusal::Closed(message) => SendError::Closed(message),
        }))
    }
}

impl<M: std::marker::Send + 'static> Drop for Send<M> {
    fn drop(&mut self) {
        if self.message.is_some() {
            self.wait.give_up();
        }
    }
}

impl<M: std::marker::Send + 'static> fmt::Debug for Send<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Send(to {})", self.wait.cell.head.path)
    }
}

/// The future of [`ActorRef::reserve_many`]; dropping it gives back the room that it has got so far.
#[must_use = "nothing is reserved until this is awaited"]
pub struct Reserve<M: std::marker::Send + 'static> {
    wait: Option<Wait<M>>,
}

impl<M: std::marker::Send + 'static> Unpin for Reserve<M> {}

impl<M: std::marker::Send + 'static> Future for Reserve<M> {
    type Output = Result<Permits<M>, SendError<()>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let Some(mut wait) = self.wait.take() else { return Poll::Ready(Err(SendError::Closed(()))) };
        let mailbox = &wait.cell.mailbox;
        if mailbox.capacity().is_some_and(|capacity| capacity < wait.n) {
            return Poll::Ready(Err(SendError::Full(())));
        }
        let waits = mailbox.overflow().makes_wait();
        match wait.poll(cx.waker()) {
            Poll::Ready(Ok(())) => Poll::Ready(Ok(Permits { left: wait.n, wait })),
            Poll::Ready(Err(NoRoom::Closed)) => Poll::Ready(Err(SendError::Closed(()))),
            Poll::Ready(Err(NoRoom::Timeout)) => Poll::Ready(Err(SendError::Timeout(()))),
            Poll::Pending if waits => {
                self.wait = Some(wait);
                Poll::Pending
            }
            Poll::Pending => {
                wait.give_up();
                Poll::Ready(Err(SendError::Full(())))
            }
        }
    }
}

impl<M: std::marker::Send + 'static> Drop for Reserve<M> {
    fn drop(&mut self) {
        if let Some(wait) = &mut self.wait {
            wait.give_up();
        }
    }
}

impl<M: std::marker::Send + 'static> fmt::Debug for Reserve<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reserve({} left to come)", self.wait.as_ref().map_or(0, |wait| wait.n))
    }
}

/// Room for some messages in one mailbox. What is not used goes back when this is dropped.
pub struct Permits<M: std::marker::Send + 'static> {
    wait: Wait<M>,
    left: usize,
}

impl<M: std::marker::Send + 'static> Permits<M> {
    /// Sends a message into reserved room. It goes into the main lane, however urgent it is.
    ///
    /// # Errors
    /// [`SendError::Closed`] if the actor has ended, [`SendError::Full`] if all permits are used.
    pub fn send(&mut self, message: M) -> Result<(), SendError<M>> {
        if self.left == 0 {
            return Err(SendError::Full(message));
        }
        self.left -= 1;
        self.wait.cell.send_granted(self.wait.ticket, message, None).map_err(SendError::Closed)
    }

    /// Counts the messages that there is still room for.
    pub fn left(&self) -> usize {
        self.left
    }
}

impl<M: std::marker::Send + 'static> Drop for Permits<M> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.wait.give_up();
        }
    }
}

impl<M: std::marker::Send + 'static> fmt::Debug for Permits<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permits({} for {})", self.left, self.wait.cell.head.path)
    }
}

/// Room for one message in one mailbox; dropping it unused gives the room to the next in line.
#[derive(Debug)]
pub struct Permit<M: std::marker::Send + 'static>(Permits<M>);

impl<M: std::marker::Send + 'static> Permit<M> {
    /// Sends the message. It goes into the main lane, however urgent it is.
    ///
    /// # Errors
    /// [`SendError::Closed`] if the actor has ended.
    pub fn send(mut self, message: M) -> Result<(), SendError<M>> {
        self.0.send(message)
    }
}

impl<M: std::marker::Send + 'static> ActorRef<M> {
    /// Sends a message. To a mailbox with Backpressure or Timeout it waits for room; waiting senders are served first come,
    /// first served, and dropping the future gives the place up. With DropNew, DropOldest and FailReceiver it does as
    /// [`ActorRef::tell`]. In a handler use [`Context::send`](super::Context::send).
    ///
    /// # Errors
    /// [`SendError::Closed`] if the actor ends meanwhile; [`SendError::Timeout`] if no room comes in the time of that policy;
    /// [`SendError::Full`] at once if the policy is RejectToSender.
    pub fn send(&self, message: M) -> Send<M> {
        let lane = self.0.lane_of(&message);
        Send { message: Some(message), wait: Wait::new(&self.0, lane, 1) }
    }

    /// Waits for room for one message, before there is one.
    ///
    /// # Errors
    /// As [`ActorRef::reserve_many`].
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::mailbox::{Mailbox, OverflowStrategy};
    /// use footlights::system::ActorSystem;
    /// struct Sink;
    /// impl Actor for Sink {
    ///     type Msg = u64;
    ///     fn receive(&mut self, _: &mut Context<'_, Self>, _: u64) -> Result<(), Failure> { Ok(()) }
    /// }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let small = Mailbox::bounded(1, OverflowStrategy::Backpressure);
    /// let sink = system.spawn("sink", Props::new(|| Sink).mailbox(small))?;
    /// let permit = system.block_on(sink.reserve())?;
    /// assert!(sink.try_tell(1).is_err(), "the room is promised");
    /// permit.send(2)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn reserve(&self) -> Result<Permit<M>, SendError<()>> {
        self.reserve_many(1).await.map(Permit)
    }

    /// Waits for room for `n` messages. It is collected as it comes, in turn with all others who wait.
    ///
    /// # Errors
    /// [`SendError::Closed`] if the actor ends meanwhile, [`SendError::Timeout`] if no room comes in the time of that policy,
    /// [`SendError::Full`] at once if the mailbox can never hold so many, or if its policy is not to make senders wait.
    pub fn reserve_many(&self, n: usize) -> Reserve<M> {
        Reserve { wait: Some(Wait::new(&self.0, Lane::Main, n)) }
    }
}
