//! Control over a Stepper: turn by turn, actor by actor, and a clock that stands still until it is moved.

use std::time::Duration;

use super::readable::last_events;
use crate::actor::{ActorRef, AnyRef};
use crate::system::{ActorSystem, Turn};
use crate::time::Instant;

/// Turns before a run that should come to rest is given up.
const TURNS_MAX: u64 = 1_000_000;

/// Drives a system in virtual time by hand.
///
/// # Examples
/// ```
/// use footlights::system::ActorSystem;
/// use footlights::testkit::{Probe, Stepping};
/// use std::time::Duration;
/// let system = ActorSystem::builder("test").stepper().build()?;
/// let (a, b) = (Probe::new(&system, "a"), Probe::new(&system, "b"));
/// let steps = Stepping::of(&system);
/// steps.run_until_quiet();
/// a.actor().tell(1);
/// b.actor().tell(2);
/// // b goes first, because the test says so; a has not run yet.
/// assert!(steps.step_message(b.actor()));
/// assert_eq!((a.take(), b.take()), (vec![], vec![2]));
/// // Nothing is due within the next hour but a's message.
/// assert_eq!(steps.advance(Duration::from_secs(3_600)), 1);
/// assert_eq!(steps.next_timer(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stepping<'s> {
    system: &'s ActorSystem,
}

impl<'s> Stepping<'s> {
    /// Takes control of a system.
    ///
    /// # Panics
    /// If it runs on a Pool, which nobody can stop in between.
    #[track_caller]
    pub fn of(system: &'s ActorSystem) -> Self {
        assert!(system.is_stepper(), "a Pool runs by itself: build the system with stepper()");
        Stepping { system }
    }

    /// Runs one turn; `None` if nothing is left to do. An idle clock jumps to the next timer.
    pub fn step(&self) -> Option<Turn> {
        self.system.step()
    }

    /// Lets an actor handle its next message now, before everybody else; what it has to do first (to start, to obey its
    /// supervisor) is done, too. False if it has nothing that it could handle at this moment.
    pub fn step_message<M: Send + 'static>(&self, actor: &ActorRef<M>) -> bool {
        let any = actor.any();
        let before = runs(&any);
        while runs(&any) == before {
            if self.system.step_actor(any.id(), 1).is_none() {
                return false;
            }
        }
        true
    }

    /// Runs turn by turn until `reached` says so.
    ///
    /// # Panics
    /// If the system comes to rest before, or does not within a million turns; shows the last events.
    #[track_caller]
    pub fn run_until(&self, mut reached: impl FnMut(&ActorSystem) -> bool) {
        let mut turns = 0;
        while !reached(self.system) {
            turns += 1;
            if turns > TURNS_MAX || self.system.step().is_none() {
                panic!("it was not reached in {turns} turns; {}", last_events(self.system));
            }
        }
    }

    /// Runs until nothing runs and nothing is queued; timers may be armed. Gives the number of turns.
    ///
    /// # Panics
    /// If it does not come to rest within a million turns; shows the last events.
    #[track_caller]
    pub fn run_until_quiet(&self) -> u64 {
        let mut turns = 0;
        while !self.system.is_quiet() && self.system.step().is_some() {
            turns += 1;
            if turns > TURNS_MAX {
                panic!("it did not come to rest in {turns} turns; {}", last_events(self.system));
            }
        }
        turns
    }

    /// Moves the clock by `d`: whatever is due on the way happens at its time and in its order. Gives the number of turns.
    pub fn advance(&self, d: Duration) -> u64 {
        self.system.run_for(d)
    }

    /// Says when the next timer is due; a message that is on its way until its sender's work is done counts as one.
    pub fn next_timer(&self) -> Option<Instant> {
        self.system.next_timer()
    }
}

/// Counts the messages that an actor has run on.
fn runs(actor: &AnyRef) -> u64 {
    let ledger = actor.snapshot().ledger;
    ledger.handled + ledger.failed
}
