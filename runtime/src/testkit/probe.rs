//! An actor that keeps what it is told, for a test to look at.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::actor::{Actor, ActorRef, AnyRef, Context, Failure, Props, Terminated};
use crate::sync::{Condvar, Mutex};
use crate::system::ActorSystem;

/// How long a probe waits for a message, in the system's time.
const PATIENCE: Duration = Duration::from_secs(3);

/// Collects messages of type `M`.
///
/// # Examples
/// ```
/// use footlights::system::ActorSystem;
/// use footlights::testkit::Probe;
/// let system = ActorSystem::builder("test").stepper().build()?;
/// let probe = Probe::new(&system, "probe");
/// probe.actor().tell(ProbeMsg::Message(7));
/// assert_eq!(probe.expect(&system), 7);
/// # use footlights::testkit::ProbeMsg;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Probe<M: Send + 'static> {
    actor: ActorRef<ProbeMsg<M>>,
    inbox: Arc<Inbox<M>>,
}

struct Inbox<M> {
    state: Mutex<Received<M>>,
    bell: Condvar,
}

struct Received<M> {
    messages: VecDeque<M>,
    ends: VecDeque<Terminated>,
    watches: usize,
}

/// What a probe's actor understands.
pub enum ProbeMsg<M> {
    /// Keep this.
    Message(M),
    /// Watch this actor, and keep the news of its end.
    Watch(AnyRef),
    /// The news.
    End(Terminated),
}

impl<M> fmt::Debug for ProbeMsg<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProbeMsg::Message(_) => "Message",
            ProbeMsg::Watch(_) => "Watch",
            ProbeMsg::End(_) => "End",
        })
    }
}

struct ProbeActor<M> {
    inbox: Arc<Inbox<M>>,
}

impl<M: Send + 'static> Actor for ProbeActor<M> {
    type Msg = ProbeMsg<M>;

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: ProbeMsg<M>) -> Result<(), Failure> {
        match message {
            ProbeMsg::Message(message) => self.inbox.state.lock().messages.push_back(message),
            ProbeMsg::End(news) => self.inbox.state.lock().ends.push_back(news),
            ProbeMsg::Watch(target) => {
                cx.watch(&target, ProbeMsg::End)?;
                self.inbox.state.lock().watches += 1;
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
    pub fn new(system: &ActorSystem, name: &str) -> Self {
        let received = Received { messages: VecDeque::new(), ends: VecDeque::new(), watches: 0 };
        let inbox = Arc::new(Inbox { state: Mutex::new(received), bell: Condvar::new() });
        let kept = inbox.clone();
        let actor = system.spawn(name, Props::new(move || ProbeActor { inbox: kept.clone() }));
        Probe { actor: actor.expect("a free name for the probe"), inbox }
    }

    /// Gives the probe's actor.
    pub fn actor(&self) -> &ActorRef<ProbeMsg<M>> {
        &self.actor
    }

    /// Gives a destination whose messages this probe keeps.
    pub fn recipient(&self) -> crate::actor::Recipient<M> {
        self.actor.adapt(ProbeMsg::Message)
    }

    /// Watches an actor from now on (it waits until the watch is set); see [`Probe::expect_terminated`].
    ///
    /// # Panics
    /// If the watch cannot be set.
    pub fn watch(&self, system: &ActorSystem, target: &AnyRef) {
        self.actor.tell(ProbeMsg::Watch(target.clone()));
        self.wait(system, "a watch to be set", |received| {
            received.watches.checked_sub(1).map(|n| received.watches = n)
        });
    }

    /// Waits for the next message, at most 3 s of the system's time.
    ///
    /// # Panics
    /// If none comes; prints the last events.
    pub fn expect(&self, system: &ActorSystem) -> M {
        self.wait(system, "a message", |received| received.messages.pop_front())
    }

    /// Waits for the news of an end.
    ///
    /// # Panics
    /// If none comes; prints the last events.
    pub fn expect_terminated(&self, system: &ActorSystem) -> Terminated {
        self.wait(system, "a termination", |received| received.ends.pop_front())
    }

    /// Checks that nothing has come and, in virtual time, that nothing comes within `d`.
    ///
    /// # Panics
    /// If something has.
    pub fn expect_none(&self, system: &ActorSystem, d: Duration) {
        system.run_for(d);
        let received = self.inbox.state.lock();
        let (messages, ends) = (received.messages.len(), received.ends.len());
        assert!(
            messages + ends == 0,
            "{} got {messages} messages and {ends} ends, none expected",
            self.actor.path()
        );
    }

    /// Takes everything that has come so far.
    pub fn take(&self) -> Vec<M> {
        self.inbox.state.lock().messages.drain(..).collect()
    }

    /// Takes the news of ends that have come so far.
    pub fn take_ends(&self) -> Vec<Terminated> {
        self.inbox.state.lock().ends.drain(..).collect()
    }

    fn wait<T>(
        &self,
        system: &ActorSystem,
        what: &str,
        mut take: impl FnMut(&mut Received<M>) -> Option<T>,
    ) -> T {
        let deadline = system.now() + PATIENCE;
        loop {
            let state = self.inbox.state.lock();
            let mut state = state;
            if let Some(found) = take(&mut state) {
                return found;
            }
            let more = if system.is_stepper() {
                drop(state);
                system.step_until(deadline).is_some()
            } else {
                self.sleep(system, state, deadline)
            };
            if !more {
                self.fail(system, what);
            }
        }
    }

    #[cfg(not(target_family = "wasm"))]
    fn sleep(
        &self,
        system: &ActorSystem,
        state: crate::sync::MutexGuard<'_, Received<M>>,
        deadline: crate::time::Instant,
    ) -> bool {
        drop(crate::sync::wait_timeout(&self.inbox.bell, state, deadline - system.now()));
        system.now() < deadline
    }

    #[cfg(target_family = "wasm")]
    fn sleep(
        &self,
        _system: &ActorSystem,
        _state: crate::sync::MutexGuard<'_, Received<M>>,
        _deadline: crate::time::Instant,
    ) -> bool {
        false
    }

    fn fail(&self, system: &ActorSystem, what: &str) -> ! {
        let (events, next) = system.rare_events(0);
        let last: Vec<String> =
            events.iter().rev().take(20).rev().map(|event| format!("  {event:?}")).collect();
        panic!(
            "{} waited {PATIENCE:?} for {what} in vain; the last of {next} events:\n{}",
            self.actor.path(),
            last.join("\n")
        );
    }
}

impl<M: Send + 'static> fmt::Debug for Probe<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Probe({})", self.actor.path())
    }
}
