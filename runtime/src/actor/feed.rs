//! What a router may give to an actor that is its routee: a shared queue to take work from, and an heir for late mail.
//!
//! A [`Feed`] is one queue for many actors: whoever is free takes the oldest message. An actor reads its own lane first and
//! the feed only when that is empty, one message at a time. It is *parked* while it has nothing to do; a push wakes the one
//! that has been parked longest.
//!
//! I1 an actor is parked at most once, and only if it could read a message at that moment.
//! I2 a message in the feed and a parked actor exist together only while a wake-up is on its way: whoever cannot take the
//!    message that it was woken for passes the wake-up on ([`Feed::pass_on`]).
//! I3 a message in the feed is in the books of the feed's owner; from [`Post::take_fed`] on it is in those of the taker.
//! I4 an actor takes from one feed at most.
//! I5 a feed holds no more messages than its capacity, whatever door they came by.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::cell::{Cell, Item};
use crate::id::ActorId;
use crate::mailbox::{Envelope, Nudged};
use crate::observe::EventKind;
use crate::sync::{AtomicBool, Mutex, Ordering};

/// Takes messages over that came too late for an actor that has been retired.
pub(crate) trait Heir<M>: Send + Sync {
    /// Finds another receiver.
    fn take_over(&self, message: M);
}

/// What a cell has of its router; nothing, for nearly all.
pub(crate) struct Post<M: Send + 'static> {
    /// Whether there is anything in `inner`: the only thing that an actor without a router looks at.
    has: AtomicBool,
    inner: Mutex<Given<M>>,
}

struct Given<M: Send + 'static> {
    feed: Option<Arc<Feed<M>>>,
    heir: Option<Arc<dyn Heir<M>>>,
}

impl<M: Send + 'static> Post<M> {
    pub(crate) fn new() -> Self {
        Post { has: AtomicBool::new(false), inner: Mutex::new(Given { feed: None, heir: None }) }
    }

    #[inline]
    fn is_given(&self) -> bool {
        // Ordering: Acquire, pairs with the Release in give(); a router nudges the actor after it has given something.
        self.has.load(Ordering::Acquire)
    }

    /// Changes what is given; what was given before is dropped when the lock is free.
    fn give<T>(&self, change: impl FnOnce(&mut Given<M>) -> T) -> T {
        let mut inner = self.inner.lock();
        let before = change(&mut inner);
        self.has.store(inner.feed.is_some() || inner.heir.is_some(), Ordering::Release);
        before
    }

    /// Gives the actor a feed; false if it has another one already.
    pub(crate) fn attach(&self, feed: &Arc<Feed<M>>) -> bool {
        self.give(|given| match &given.feed {
            Some(old) => Arc::ptr_eq(old, feed),
            None => {
                given.feed = Some(feed.clone());
                true
            }
        })
    }

    /// Names who takes over what comes too late.
    pub(crate) fn bequeath(&self, heir: Arc<dyn Heir<M>>) {
        drop(self.give(|given| given.heir.replace(heir)));
    }

    /// Gives the heir, if there is one.
    pub(crate) fn heir(&self) -> Option<Arc<dyn Heir<M>>> {
        if !self.is_given() {
            return None;
        }
        self.inner.lock().heir.clone()
    }

    /// Gives the feed, if there is one.
    #[inline]
    pub(crate) fn feed(&self) -> Option<Arc<Feed<M>>> {
        if !self.is_given() {
            return None;
        }
        self.inner.lock().feed.clone()
    }

    /// Takes the feed away.
    pub(crate) fn detach(&self, id: ActorId) {
        if let Some(feed) = self.feed() {
            feed.unpark(id);
            drop(self.give(|given| given.feed.take()));
            feed.pass_on();
        }
    }

    /// Lets go of everything.
    pub(crate) fn clear(&self) {
        drop(self.give(|given| std::mem::replace(given, Given { feed: None, heir: None })));
    }
}

/// Which message a full feed gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivesUp {
    Newest,
    Oldest,
}

/// What a push into a feed has done.
pub(crate) enum Fed<T> {
    Taken,
    /// It was taken, and this one had to go for it.
    Evicted(T),
    /// There is no room for it.
    Full(T),
    /// The feed takes no more.
    Closed(T),
}

/// One queue for many actors.
pub(crate) struct Feed<M: Send + 'static> {
    capacity: usize,
    gives_up: GivesUp,
    inner: Mutex<Inner<M>>,
}

struct Inner<M: Send + 'static> {
    queue: VecDeque<Envelope<Item<M>>>,
    /// The parked, by the number of their parking: the one that has been free longest is first.
    parked: BTreeMap<u64, Arc<Cell<M>>>,
    by_id: BTreeMap<ActorId, u64>,
    last: u64,
    closed: bool,
    /// What to do when a closed feed has been emptied.
    on_empty: Option<Box<dyn FnOnce() + Send>>,
}

impl<M: Send + 'static> Inner<M> {
    fn unpark(&mut self, id: ActorId) {
        if let Some(number) = self.by_id.remove(&id) {
            self.parked.remove(&number);
        }
    }

    fn pop_parked(&mut self) -> Option<Arc<Cell<M>>> {
        let (_, cell) = self.parked.pop_first()?;
        self.by_id.remove(&cell.head.id);
        Some(cell)
    }

    fn emptied(&mut self) -> Option<Box<dyn FnOnce() + Send>> {
        if self.closed && self.queue.is_empty() { self.on_empty.take() } else { None }
    }
}

impl<M: Send + 'static> Feed<M> {
    /// Makes a feed of so many messages at most, and one at least.
    pub(crate) fn new(capacity: usize, gives_up: GivesUp) -> Self {
        let inner = Inner {
            queue: VecDeque::new(),
            parked: BTreeMap::new(),
            by_id: BTreeMap::new(),
            last: 0,
            closed: false,
            on_empty: None,
        };
        Feed { capacity: capacity.max(1), gives_up, inner: Mutex::new(inner) }
    }

    /// Puts a message at the end, if there is room or one that goes for it, and wakes whoever has been free longest.
    pub(crate) fn push(&self, envelope: Envelope<Item<M>>) -> Fed<Envelope<Item<M>>> {
        let evicted = {
            let mut inner = self.inner.lock();
            if inner.closed {
                return Fed::Closed(envelope);
            }
            let full = inner.queue.len() >= self.capacity;
            if full && self.gives_up == GivesUp::Newest {
                return Fed::Full(envelope);
            }
            let evicted = if full { inner.queue.pop_front() } else { None };
            inner.queue.push_back(envelope);
            evicted
        };
        self.pass_on();
        evicted.map_or(Fed::Taken, Fed::Evicted)
    }

    /// Wakes a parked actor if there is work for one.
    pub(crate) fn pass_on(&self) {
        loop {
            let next = {
                let mut inner = self.inner.lock();
                if inner.queue.is_empty() {
                    return;
                }
                inner.pop_parked()
            };
            let Some(cell) = next else { return };
            match cell.mailbox.nudge() {
                Nudged::Woken => return cell.wake(true, None),
                Nudged::Awake => return,
                Nudged::Unable => {}
            }
        }
    }

    /// Takes the oldest.
    fn take(&self) -> Option<Envelope<Item<M>>> {
        let (envelope, emptied) = {
            let mut inner = self.inner.lock();
            (inner.queue.pop_front(), inner.emptied())
        };
        if let Some(emptied) = emptied {
            emptied();
        }
        envelope
    }

    /// Parks an actor, unless there is work: then false.
    fn park(&self, cell: &Arc<Cell<M>>) -> bool {
        let mut inner = self.inner.lock();
        if !inner.queue.is_empty() {
            return false;
        }
        inner.unpark(cell.head.id);
        inner.last += 1;
        let number = inner.last;
        inner.parked.insert(number, cell.clone());
        inner.by_id.insert(cell.head.id, number);
        true
    }

    /// Takes an actor off the list of the parked.
    fn unpark(&self, id: ActorId) {
        self.inner.lock().unpark(id);
    }

    /// Counts what is queued.
    pub(crate) fn len(&self) -> usize {
        self.inner.lock().queue.len()
    }

    /// Takes no more messages; calls `emptied` when what is queued has been taken, or at once.
    pub(crate) fn close(&self, emptied: impl FnOnce() + Send + 'static) {
        let emptied = {
            let mut inner = self.inner.lock();
            inner.closed = true;
            inner.on_empty = Some(Box::new(emptied));
            inner.emptied()
        };
        if let Some(emptied) = emptied {
            emptied();
        }
    }

    /// Takes all that is queued, for good: nobody is left to take from here.
    pub(crate) fn take_all(&self) -> VecDeque<Envelope<Item<M>>> {
        std::mem::take(&mut self.inner.lock().queue)
    }
}

impl<M: Send + 'static> Cell<M> {
    /// Gives a message that somebody sent to the heir, if there is one; gives back anything else.
    pub(super) fn pass_on(
        &self,
        heir: Option<&Arc<dyn Heir<M>>>,
        envelope: Envelope<Item<M>>,
    ) -> Option<Envelope<Item<M>>> {
        match (heir, envelope) {
            (Some(heir), Envelope { item: Item::Message(message), id, .. }) => {
                self.head.record(EventKind::Rerouted { message: id });
                heir.take_over(message);
                None
            }
            (_, envelope) => Some(envelope),
        }
    }

    /// Takes one message from the feed, into this actor's books.
    pub(super) fn take_fed(&self) -> Option<Envelope<Item<M>>> {
        let envelope = self.post.feed()?.take()?;
        self.mailbox.adopt();
        Some(envelope)
    }

    /// An activation with messages of its own begins: work that waits in the feed is for others.
    pub(super) fn leave_feed(&self) {
        if let Some(feed) = self.post.feed() {
            feed.unpark(self.head.id);
            feed.pass_on();
        }
    }

    /// The actor has nothing to do: parks it; true if there is work in the feed after all, and it stays scheduled for that.
    pub(super) fn rest(self: &Arc<Self>, readable: bool) -> bool {
        let Some(feed) = self.post.feed() else { return false };
        if !readable {
            feed.unpark(self.head.id);
            feed.pass_on();
            return false;
        }
        // Another worker that was told to wake it will find it parked, or here.
        !feed.park(self) && matches!(self.mailbox.nudge(), Nudged::Woken)
    }
}
