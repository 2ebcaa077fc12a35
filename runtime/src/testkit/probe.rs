//! An actor that keeps what it is told, for a test to look at.
//!
//! I1 messages are kept in the order of their arrival; an end is shown only when everything that had come before it is kept.
//! I2 waiting drives a Stepper and sleeps on a Pool, in both for at most the given time of the system.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::readable::last_events;
use crate::actor::{Actor, ActorRef, AnyRef, Context, Failure, Props, Recipient, Terminated};
use crate::pattern::Reply;
use crate::supervise::RestartType;
use crate::sync::{Condvar, Mutex};
use crate::system::ActorSystem;
use crate::time::Instant;

/// How long a probe waits for something, in the system's time.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long [`Probe::expect_none`] waits for nothing, in the system's time.
const QUIET: Duration = Duration::from_millis(100);

/// Collects messages of type `M`.
///
/// # Examples
/// ```
/// use footlights::system::ActorSystem;
/// use footlights::testkit::Probe;
/// let system = ActorSystem::builder("test").stepper().build()?;
/// let probe = Probe::new(&system, "probe");
/// probe.actor().tell(7);
/// assert_eq!(probe.expect(&system), 7);
/// probe.expect_none(&system);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It stands in for an actor that is asked, too:
///
/// ```
/// # use footlights::system::ActorSystem;
/// # use footlights::testkit::Probe;
/// use footlights::pattern::Reply;
/// use std::time::Duration;
/// enum Shop { Price(&'static str, Reply<u32>) }
/// let system = ActorSystem::builder("test").stepper().build()?;
/// let shop = Probe::new(&system, "shop");
/// let price = shop.actor().ask(|reply| Shop::Price("tea", reply), Duration::from_secs(1));
/// let what = shop.reply(&system, |Shop::Price(what, reply)| (what, reply), 3);
/// assert_eq!((what, system.block_on(price)?), ("tea", 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Probe<M: Send + 'static> {
    actor: ActorRef<M>,
    watcher: Mutex<Option<ActorRef<Watch>>>,
    inbox: Arc<Inbox<M>>,
}

struct Inbox<M> {
    state: Mutex<Received<M>>,
    bell: Condvar,
}

struct Received<M> {
    messages: VecDeque<M>,
    /// Messages that have come ever.
    count: u64,
    /// Ends, each with the number of messages that had been sent to the probe before.
    ends: VecDeque<(u64, Terminated)>,
    watches: usize,
}

struct Collector<M> {
    inbox: Arc<Inbox<M>>,
}

impl<M: Send + 'static> Actor for Collector<M> {
    type Msg = M;

    fn receive(&mut self, _cx: &mut Context<'_, Self>, message: M) -> Result<(), Failure> {
        let mut state = self.inbox.state.lock();
        state.messages.push_back(message);
        state.count += 1;
        drop(state);
        self.inbox.bell.notify_all();
        Ok(())
    }
}

/// Watches for a probe: the probe's own protocol is the test's.
struct Watcher<M: Send + 'static> {
    probe: ActorRef<M>,
    inbox: Arc<Inbox<M>>,
}

enum Watch {
    Begin(AnyRef),
    End(Terminated),
}

impl<M: Send + 'static> Actor for Watcher<M> {
    type Msg = Watch;

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Watch) -> Result<(), Failure> {
        match message {
            Watch::Begin(target) => {
                cx.watch(&target, Watch::End)?;
                self.inbox.state.lock().watches += 1;
            }
            Watch::End(news) => {
                // What the dead had sent to the probe is in its mailbox by now.
                let sent = self.probe.any().snapshot().ledger.sent;
                self.inbox.state.lock().ends.push_back((sent, news));
            }
        }
        self.inbox.bell.notify_all();
        Ok(())
    }
}

impl<M: Send + 'static> Probe<M> {
    /// Makes a probe under `/user`.
    ///
    /// # Panics
    /// If the name is taken or bad.
    #[track_caller]
    pub fn new(system: &ActorSystem, name: &str) -> Self {
        let received = Received { messages: VecDeque::new(), count: 0, ends: VecDeque::new(), watches: 0 };
        let inbox = Arc::new(Inbox { state: Mutex::new(received), bell: Condvar::new() });
        let kept = inbox.clone();
        let make = move || Collector { inbox: kept.clone() };
        let props = Props::new(make).restart_type(RestartType::Transient);
        let actor = system.spawn(name, props);
        Probe { actor: actor.expect("a free name for the probe"), watcher: Mutex::new(None), inbox }
    }

    /// Gives the probe's actor, to be told, asked or passed on like any other.
    pub fn actor(&self) -> &ActorRef<M> {
        &self.actor
    }

    /// Gives a destination whose messages this probe keeps.
    pub fn recipient(&self) -> Recipient<M> {
        self.actor.adapt(|message| message)
    }

    /// Watches an actor from now on (it waits until the watch is set); see [`Probe::expect_terminated`].
    ///
    /// # Panics
    /// If the watch cannot be set.
    #[track_caller]
    pub fn watch(&self, system: &ActorSystem, target: &AnyRef) {
        let watcher = self.watcher.lock().get_or_insert_with(|| self.spawn_watcher(system)).clone();
        watcher.tell(Watch::Begin(target.clone()));
        self.wait(system, PATIENCE, "a watch to be set", |received| {
            received.watches.checked_sub(1).map(|n| received.watches = n)
        });
    }

    fn spawn_watcher(&self, system: &ActorSystem) -> ActorRef<Watch> {
        let (probe, inbox) = (self.actor.clone(), self.inbox.clone());
        let props = Props::new(move || Watcher { probe: probe.clone(), inbox: inbox.clone() });
        system.spawn("", props).expect("a generated name is free")
    }

    /// Waits for the next message, at most 3 s of the system's time.
    ///
    /// # Panics
    /// If none comes; shows the last events.
    #[track_caller]
    pub fn expect(&self, system: &ActorSystem) -> M {
        self.expect_within(system, PATIENCE)
    }

    /// Waits for the next message, at most `patience` of the system's time.
    ///
    /// # Panics
    /// If none comes; shows the last events.
    #[track_caller]
    pub fn expect_within(&self, system: &ActorSystem, patience: Duration) -> M {
        self.wait(system, patience, "a message", |received| received.messages.pop_front())
    }

    /// Waits for the next message, at most 3 s, and compares it.
    ///
    /// # Panics
    /// If none comes, or if it is another one; shows the last events.
    #[track_caller]
    pub fn expect_eq(&self, system: &ActorSystem, expected: M)
    where
        M: PartialEq + fmt::Debug,
    {
        let message = self.expect(system);
        if message != expected {
            let path = self.actor.path();
            panic!("{path} got {message:?}, expected {expected:?}; {}", last_events(system));
        }
    }

    /// Waits for a message that carries a [`Reply`], and answers it; gives what `split` found beside the handle.
    ///
    /// # Panics
    /// If no message comes within 3 s, or if the asker no longer waits; shows the last events.
    #[track_caller]
    pub fn reply<R: Send + 'static, T>(
        &self,
        system: &ActorSystem,
        split: impl FnOnce(M) -> (T, Reply<R>),
        answer: R,
    ) -> T {
        let (rest, reply) = split(self.expect(system));
        if !reply.send(answer) {
            panic!("{} answered, and nobody waits for it; {}", self.actor.path(), last_events(system));
        }
        rest
    }

    /// Waits for the news of an end, at most 3 s. What the dead actor had sent to the probe has come by then.
    ///
    /// # Panics
    /// If none comes; shows the last events.
    #[track_caller]
    pub fn expect_terminated(&self, system: &ActorSystem) -> Terminated {
        self.wait(system, PATIENCE, "a termination", |received| {
            let (sent, _) = received.ends.front()?;
            if received.count < *sent { None } else { received.ends.pop_front().map(|(_, news)| news) }
        })
    }

    /// Checks that nothing has come, and that nothing comes within 100 ms of the system's time.
    ///
    /// # Panics
    /// If something has; shows the last events.
    #[track_caller]
    pub fn expect_none(&self, system: &ActorSystem) {
        self.expect_none_within(system, QUIET);
    }

    /// Checks that nothing has come, and that nothing comes within `d` of the system's time.
    ///
    /// # Panics
    /// If something has; shows the last events.
    #[track_caller]
    pub fn expect_none_within(&self, system: &ActorSystem, d: Duration) {
        let deadline = system.now() + d;
        let come = self.wait_until(system, deadline, |received| {
            let (messages, ends) = (received.messages.len(), received.ends.len());
            (messages + ends > 0).then_some((messages, ends))
        });
        if let Some((messages, ends)) = come {
            let path = self.actor.path();
            panic!("{path} got {messages} messages and {ends} ends, none expected; {}", last_events(system));
        }
        if let Some(rest) = system.is_stepper().then_some(deadline) {
            system.run_until(rest);
        }
    }

    /// Takes everything that has come so far.
    pub fn take(&self) -> Vec<M> {
        self.inbox.state.lock().messages.drain(..).collect()
    }

    /// Takes the news of ends that have come so far.
    pub fn take_ends(&self) -> Vec<Terminated> {
        self.inbox.state.lock().ends.drain(..).map(|(_, news)| news).collect()
    }

    #[track_caller]
    fn wait<T>(
        &self,
        system: &ActorSystem,
        patience: Duration,
        what: &str,
        take: impl FnMut(&mut Received<M>) -> Option<T>,
    ) -> T {
        match self.wait_until(system, system.now() + patience, take) {
            Some(found) => found,
            None => {
                let path = self.actor.path();
                panic!("{path} waited {patience:?} for {what} in vain; {}", last_events(system))
            }
        }
    }

    fn wait_until<T>(
        &self,
        system: &ActorSystem,
        deadline: Instant,
        mut take: impl FnMut(&mut Received<M>) -> Option<T>,
    ) -> Option<T> {
        loop {
            let mut state = self.inbox.state.lock();
            if let Some(found) = take(&mut state) {
                return Some(found);
            }
            let more = if system.is_stepper() {
                drop(state);
                system.step_until(deadline).is_some()
            } else {
                self.sleep(system, state, deadline)
            };
            if !more {
                return None;
            }
        }
    }

    #[cfg(not(target_family = "wasm"))]
    fn sleep(
        &self,
        system: &ActorSystem,
        state: crate::sync::MutexGuard<'_, Received<M>>,
        deadline: Instant,
    ) -> bool {
        drop(crate::sync::wait_timeout(&self.inbox.bell, state, deadline - system.now()));
        system.now() < deadline
    }

    #[cfg(target_family = "wasm")]
    fn sleep(
        &self,
        _system: &ActorSystem,
        _state: crate::sync::MutexGuard<'_, Received<M>>,
        _deadline: Instant,
    ) -> bool {
        false
    }
}

impl<M: Send + 'static> fmt::Debug for Probe<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Probe({})", self.actor.path())
    }
}
