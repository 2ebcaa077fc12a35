//! Other routees at run time: wishes to the router's actor, and the futures of their fulfilment.
//!
//! I1 a wish is on its way when the call returns; its future may be dropped without calling it back.
//! I2 the future is ready when the new table is out: whoever routes after that uses it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::RouterRef;
use super::keeper::KeeperMsg;
use crate::actor::{ActorRef, AnyRef, SpawnError};
use crate::pattern::{Ask, Reply};

/// Says why a router's routees are as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeError {
    /// The router has ended, or is being drained.
    Stopped,
    /// A group makes no routees, so it has no size to be set.
    NotAPool,
    /// There is no such routee in the table.
    Unknown,
    /// The actor takes its work from another balancing router.
    Taken,
    /// No routee could be made.
    Spawn(SpawnError),
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeError::Stopped => write!(f, "the router has ended, or is being drained"),
            ChangeError::NotAPool => write!(f, "a group makes no routees: add or remove them"),
            ChangeError::Unknown => write!(f, "there is no such routee in the table"),
            ChangeError::Taken => write!(f, "the actor takes its work from another balancing router"),
            ChangeError::Spawn(error) => write!(f, "no routee could be made: {error}"),
        }
    }
}

impl std::error::Error for ChangeError {}

/// What the router's actor answers: the number of routees in the new table.
pub(super) type Changed = Result<usize, ChangeError>;

/// The future of a change: ready when the new table is out, with the number of routees in it.
#[must_use = "the change happens anyway; awaiting it tells when and whether"]
#[derive(Debug)]
pub struct Change(Ask<Changed>);

impl Change {
    /// Lets the change happen without waiting for it.
    pub fn forget(self) {}
}

impl Future for Change {
    type Output = Result<usize, ChangeError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.get_mut().0).poll(cx).map(|asked| asked.unwrap_or(Err(ChangeError::Stopped)))
    }
}

impl<M: Send + 'static> RouterRef<M> {
    /// Adds a routee that lives elsewhere, known to a consistent-hash router by its path; it is watched, and taken out when it
    /// has ended. Adding one that is in the table changes nothing.
    ///
    /// # Errors
    /// The future says [`ChangeError::Stopped`], or [`ChangeError::Taken`].
    pub fn add_routee(&self, routee: &ActorRef<M>) -> Change {
        self.add(routee, None)
    }

    /// As [`RouterRef::add_routee`], known to a consistent-hash router by `label`.
    ///
    /// # Errors
    /// As [`RouterRef::add_routee`].
    pub fn add_labelled(&self, label: &str, routee: &ActorRef<M>) -> Change {
        self.add(routee, Some(label.into()))
    }

    fn add(&self, routee: &ActorRef<M>, label: Option<Arc<str>>) -> Change {
        let routee = routee.clone();
        self.wish(move |reply| KeeperMsg::Add(routee, label, reply))
    }

    /// Takes a routee out of the table. One that the pool has made is retired: it handles what it has, what comes too late goes
    /// to another routee, and then it stops. Others live on.
    ///
    /// # Errors
    /// The future says [`ChangeError::Stopped`], or [`ChangeError::Unknown`].
    pub fn remove_routee(&self, routee: &AnyRef) -> Change {
        let routee = routee.clone();
        self.wish(move |reply| KeeperMsg::Remove(routee, reply))
    }

    /// Makes or retires routees until the pool has `routees` of them, within the bounds of its resizer if it has one. A pool
    /// that is set to 0 stops when the last one has handled what it has.
    ///
    /// # Errors
    /// The future says [`ChangeError::Stopped`], [`ChangeError::NotAPool`], or [`ChangeError::Spawn`].
    pub fn set_size(&self, routees: usize) -> Change {
        self.wish(move |reply| KeeperMsg::SetSize(routees, reply))
    }

    /// As [`RouterRef::set_size`], relative to the present number of routees.
    ///
    /// # Errors
    /// As [`RouterRef::set_size`].
    pub fn adjust_size(&self, by: isize) -> Change {
        self.wish(move |reply| KeeperMsg::Adjust(by, reply))
    }

    fn wish(&self, make: impl FnOnce(Reply<Changed>) -> KeeperMsg<M>) -> Change {
        Change(self.actor.ask(make, Duration::MAX))
    }
}
