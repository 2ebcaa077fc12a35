//! Delivery scripts: the test says which message is handled next, and which never may be.
//!
//! The order of a script is its own, and simple: of all messages that could be handled now, the one that was sent first; with
//! [`Script::choose`], one that chance picks. What is no message (a start, a decision, a task) happens as soon as it can, and
//! when there is nothing else the clock moves to the next timer.
//!
//! I1 two messages of one sender to one target are never exchanged, so a script shows only what another schedule could show.
//! I2 every message that the script lets through is checked, whichever method let it through.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::readable::{Names, last_events};
use crate::actor::{ActorRef, AnyRef};
use crate::id::{ActorId, MsgId};
use crate::observe::EventKind;
use crate::rng::Rng;
use crate::system::ActorSystem;

/// Steps at one instant without a message before a script gives up.
const STEPS_MAX: u64 = 1_000_000;
/// Labels the script's own chance.
const CHOICE: u64 = 4 << 60;

/// Who sent a message: an actor, or somebody outside the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin(ActorId);

impl Origin {
    /// Somebody outside the system, such as the test itself; timers count as well.
    pub const OUTSIDE: Origin = Origin(ActorId::NOBODY);
}

impl<M: Send + 'static> From<&ActorRef<M>> for Origin {
    fn from(actor: &ActorRef<M>) -> Self {
        Origin(actor.id())
    }
}

impl From<&AnyRef> for Origin {
    fn from(actor: &AnyRef) -> Self {
        Origin(actor.id())
    }
}

/// One message that was handled under a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its number in the log.
    pub message: MsgId,
    /// Who sent it.
    pub from: ActorId,
    /// Who handled it.
    pub to: ActorId,
}

type Matches = Box<dyn Fn() -> BTreeSet<MsgId>>;

/// Says message by message what happens in a system in virtual time.
///
/// # Examples
/// ```
/// use footlights::system::ActorSystem;
/// use footlights::testkit::{Origin, Probe, Script};
/// let system = ActorSystem::builder("test").stepper().build()?;
/// let (a, b) = (Probe::new(&system, "a"), Probe::new(&system, "b"));
/// a.actor().tell("first");
/// b.actor().tell("second");
/// b.actor().tell("third");
/// let mut script = Script::new(&system);
/// script.disallow(b.actor(), |text| *text == "fourth");
/// // Unless something is preferred, they are handled in the order in which they were sent.
/// script.prepone(b.actor(), |text| *text == "second");
/// script.expect(Origin::OUTSIDE, b.actor(), |text| *text == "second");
/// script.expect(Origin::OUTSIDE, a.actor(), |text| *text == "first");
/// assert_eq!(script.run(), 1);
/// assert_eq!(b.take(), ["second", "third"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Script<'s> {
    system: &'s ActorSystem,
    /// Who sent which message, of those that have not been handled.
    senders: BTreeMap<MsgId, ActorId>,
    /// The first event that was not looked at.
    seq: u64,
    forbidden: Vec<(ActorId, Matches)>,
    preferred: Vec<(ActorId, MsgId)>,
    chance: Option<Rng>,
}

impl<'s> Script<'s> {
    /// Takes over a system.
    ///
    /// # Panics
    /// If it runs on a Pool, or does not log messages.
    #[track_caller]
    pub fn new(system: &'s ActorSystem) -> Self {
        assert!(system.is_stepper(), "a Pool runs by itself: build the system with stepper()");
        assert!(system.logs_messages(), "a script reads the log of messages: build with Level::Message");
        let mut script = Script {
            system,
            senders: BTreeMap::new(),
            seq: 0,
            forbidden: Vec::new(),
            preferred: Vec::new(),
            chance: None,
        };
        script.read_log();
        script
    }

    /// From now on lets chance pick the next message: any order that keeps each pair's own, one for each seed.
    pub fn choose(&mut self, seed: u64) {
        self.chance = Some(Rng::new(seed).split(CHOICE));
    }

    /// Lets the next message be handled. It must be one from `from` to `to` that fits the pattern.
    ///
    /// # Panics
    /// If it is another one, if there is none, or if it is disallowed; shows the last events.
    #[track_caller]
    pub fn expect<M: Send + 'static>(
        &mut self,
        from: impl Into<Origin>,
        to: &ActorRef<M>,
        pattern: impl Fn(&M) -> bool,
    ) -> Delivery {
        let Origin(from) = from.into();
        let (delivery, fits) = self.deliver(&mut || matching(to, &pattern));
        let wanted = format!("a message from {} to {} that fits", self.path(from), to.path());
        match delivery {
            None => self.fail(&format!("nothing is left to be handled, expected {wanted}")),
            Some(found) if (found.from, found.to) != (from, to.id()) => {
                let (from, to) = (self.path(found.from), self.path(found.to));
                self.fail(&format!("the next message went from {from} to {to}, expected {wanted}"))
            }
            Some(_) if !fits => self.fail(&format!("the next message does not fit, expected {wanted}")),
            Some(found) => found,
        }
    }

    /// Lets the next thing be handled; it must be something that `to` had ordered itself and that becomes a message only when
    /// it is handled: the tick of a timer, or the notice of a watched actor's end.
    ///
    /// # Panics
    /// If it is something else, or if there is nothing; shows the last events.
    #[track_caller]
    pub fn expect_own<M: Send + 'static>(&mut self, to: &ActorRef<M>) -> Delivery {
        let (delivery, plain) = self.deliver(&mut || matching(to, &|_: &M| true));
        match delivery {
            Some(found) if found.to == to.id() && !plain => found,
            Some(found) => {
                let (from, got) = (self.path(found.from), self.path(found.to));
                let what = format!("the next message went from {from} to {got}");
                self.fail(&format!("{what}, expected a tick or a notice of {}", to.path()))
            }
            None => self.fail(&format!("nothing is left to be handled, expected a tick of {}", to.path())),
        }
    }

    /// Forbids from now on that `to` handles a message that fits the pattern.
    pub fn disallow<M: Send + 'static>(&mut self, to: &ActorRef<M>, pattern: impl Fn(&M) -> bool + 'static) {
        let (id, to) = (to.id(), to.clone());
        self.forbidden.push((id, Box::new(move || matching(&to, &pattern))));
    }

    /// Lets the first message queued at `to` that fits the pattern overtake everything that other senders have sent: it is
    /// the next one. Of several, the one preponed last is the first.
    ///
    /// # Panics
    /// If there is none, or if it would overtake a message of its own sender.
    #[track_caller]
    pub fn prepone<M: Send + 'static>(&mut self, to: &ActorRef<M>, pattern: impl Fn(&M) -> bool) {
        self.settle();
        let fits = matching(to, &pattern);
        let queue = self.queues().remove(&to.id()).unwrap_or_default();
        let Some(message) = queue.iter().copied().find(|message| fits.contains(message)) else {
            self.fail(&format!("no message that could be preponed is queued at {}", to.path()))
        };
        let sender = self.sender(message);
        let before = queue.iter().take_while(|queued| **queued != message);
        if before.filter(|queued| self.sender(**queued) == sender).count() > 0 {
            let (from, to) = (self.path(sender), to.path());
            self.fail(&format!("it would overtake what {from} had sent to {to} before"))
        }
        self.move_to_front(to.id(), message);
        self.preferred.push((to.id(), message));
    }

    /// Lets the next message be handled, whatever it is; `None` if nothing is left to do.
    ///
    /// # Panics
    /// If it is disallowed; shows the last events.
    #[track_caller]
    pub fn step(&mut self) -> Option<Delivery> {
        self.deliver(&mut BTreeSet::new).0
    }

    /// Lets message after message be handled until nothing is left to do; gives how many. For a system whose timers repeat
    /// for ever see [`Script::run_until`].
    ///
    /// # Panics
    /// If one is disallowed, or if it does not end; shows the last events.
    #[track_caller]
    pub fn run(&mut self) -> u64 {
        let mut handled = 0;
        while self.step().is_some() {
            handled += 1;
            if handled > STEPS_MAX {
                self.fail("it does not come to rest");
            }
        }
        handled
    }

    /// Lets message after message be handled until `reached` says so; gives how many.
    ///
    /// # Panics
    /// If one is disallowed, or if nothing is left to do before; shows the last events.
    #[track_caller]
    pub fn run_until(&mut self, mut reached: impl FnMut(&ActorSystem) -> bool) -> u64 {
        let mut handled = 0;
        while !reached(self.system) {
            handled += 1;
            if handled > STEPS_MAX || self.step().is_none() {
                self.fail("it was not reached");
            }
        }
        handled
    }

    /// Lets one message be handled; says also whether it is one of `wanted`, which is asked when all is ready for it.
    #[track_caller]
    fn deliver(&mut self, wanted: &mut dyn FnMut() -> BTreeSet<MsgId>) -> (Option<Delivery>, bool) {
        loop {
            let Some(actor) = self.next_actor() else { return (None, false) };
            let fits = wanted();
            let mut never = BTreeSet::new();
            for (to, matches) in &self.forbidden {
                if *to == actor {
                    never.extend(matches());
                }
            }
            self.system.step_actor(actor, 1);
            // A turn that has found only an outdated tick has handled nothing.
            if let Some(delivery) = self.read_log() {
                if never.contains(&delivery.message) {
                    let (from, to) = (self.path(delivery.from), self.path(delivery.to));
                    self.fail(&format!("a message from {from} to {to} was handled that is disallowed"));
                }
                return (Some(delivery), fits.contains(&delivery.message));
            }
        }
    }

    /// Makes all ready for the next message, and says who is to handle it.
    fn next_actor(&mut self) -> Option<ActorId> {
        loop {
            self.settle();
            let queues = self.queues();
            self.preferred.retain(|(_, message)| self.senders.contains_key(message));
            let preferred = self.preferred.last().map(|(to, _)| *to).filter(|to| queues.contains_key(to));
            if let Some(actor) = preferred.or_else(|| self.pick(&queues)) {
                return Some(actor);
            }
            let next = self.system.next_moment()?;
            assert!(next > self.system.now(), "what could run has run");
            self.system.set_clock(next);
        }
    }

    /// Picks the actor of the oldest message, or one by chance, with one of its senders.
    fn pick(&mut self, queues: &BTreeMap<ActorId, Vec<MsgId>>) -> Option<ActorId> {
        let Some(mut chance) = self.chance.take() else {
            let heads = queues.iter().filter_map(|(actor, queue)| Some((*queue.first()?, *actor)));
            return heads.min().map(|(_, actor)| actor);
        };
        let mut first_of_pair = BTreeMap::new();
        for (to, queue) in queues {
            for message in queue {
                first_of_pair.entry((*to, self.sender(*message))).or_insert(*message);
            }
        }
        let drawn = match first_of_pair.len() as u64 {
            0 => None,
            pairs => first_of_pair.into_iter().nth(chance.below(pairs) as usize),
        };
        self.chance = Some(chance);
        let ((to, _), message) = drawn?;
        self.move_to_front(to, message);
        Some(to)
    }

    /// Runs what is no message: signals and tasks.
    fn settle(&mut self) {
        for _ in 0..STEPS_MAX {
            let before = self.system.turns();
            for actor in self.system.ready_actors() {
                let outlook = self.system.shared.cell(actor).map(|cell| cell.outlook());
                match outlook {
                    None => drop(self.system.step_actor(actor, 1)),
                    Some(outlook) if outlook.signals || outlook.messages.is_empty() => {
                        self.system.step_actor(actor, 0);
                    }
                    Some(_) => {}
                }
            }
            if self.system.turns() == before {
                self.read_log();
                return;
            }
        }
        panic!("signals and tasks do not come to an end; {}", last_events(self.system));
    }

    /// Lists what the actors that are ready have queued.
    fn queues(&self) -> BTreeMap<ActorId, Vec<MsgId>> {
        let ready = self.system.ready_actors().into_iter();
        let queues = ready.filter_map(|id| Some((id, self.system.shared.cell(id)?.outlook().messages)));
        queues.filter(|(_, queue)| !queue.is_empty()).collect()
    }

    fn move_to_front(&self, actor: ActorId, message: MsgId) {
        let moved = self.system.shared.cell(actor).is_some_and(|cell| cell.clone().prefer(message));
        assert!(moved, "a queued message can be moved");
    }

    fn sender(&self, message: MsgId) -> ActorId {
        self.senders.get(&message).copied().unwrap_or(ActorId::NOBODY)
    }

    /// Learns who has sent what, and gives the message that was handled since, if one was.
    fn read_log(&mut self) -> Option<Delivery> {
        let mut delivery = None;
        let events = self.system.events(self.seq, usize::MAX);
        self.seq = events.last().map_or(self.seq, |event| event.seq + 1);
        for event in events {
            match event.kind {
                EventKind::Sent { message, from, .. } => {
                    self.senders.insert(message, from);
                }
                EventKind::Received { message, .. } => {
                    let from = self.senders.remove(&message).unwrap_or(ActorId::NOBODY);
                    delivery = Some(Delivery { message, from, to: event.actor });
                }
                EventKind::Dropped { message, .. } | EventKind::DeadLettered { message, .. } => {
                    self.senders.remove(&message);
                }
                _ => {}
            }
        }
        delivery
    }

    fn path(&self, actor: ActorId) -> String {
        Names::of(self.system).path(actor)
    }

    #[track_caller]
    fn fail(&self, what: &str) -> ! {
        panic!("{what}; {}", last_events(self.system));
    }
}

fn matching<M: Send + 'static>(to: &ActorRef<M>, pattern: &impl Fn(&M) -> bool) -> BTreeSet<MsgId> {
    to.0.fitting(pattern)
}

impl fmt::Debug for Script<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("preferred", &self.preferred).finish_non_exhaustive()
    }
}
