//! The order of an actor's mailbox, as its [`Props`] set it: ranks, a control lane, keys.
//!
//! The functions get the user's message, never a wrapper. They are called on the sender's side, once per message; a panic in
//! one is reported of the owner, and the message then counts as least urgent, in the main lane, equal to none.

use super::{Actor, Context, Props};
use crate::mailbox::Keep;

impl<A: Actor> Props<A> {
    /// Reads the mailbox by rank, 0 first; messages of one rank keep their order. What the actor has ordered itself (ticks,
    /// notices, answers) is due once nothing that arrived before it is left. A full mailbox with DropNew or DropOldest drops
    /// the least urgent of queue and newcomer: of equals the youngest, or the oldest.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::system::ActorSystem;
    /// struct Clinic(Vec<u8>);
    /// impl Actor for Clinic {
    ///     type Msg = u8;
    ///     fn receive(&mut self, _: &mut Context<'_, Self>, pain: u8) -> Result<(), Failure> {
    ///         self.0.push(pain);
    ///         assert!(self.0.is_sorted_by(|a, b| a >= b));
    ///         Ok(())
    ///     }
    /// }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let clinic = system.spawn("clinic", Props::new(|| Clinic(Vec::new())).priority(|pain| 10 - pain))?;
    /// [3, 9, 1].into_iter().for_each(|pain| clinic.tell(pain));
    /// system.run_until_quiet(100);
    /// assert_eq!(system.ledger().handled, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn priority(mut self, rank: fn(&A::Msg) -> u8) -> Self {
        self.rules.rank = Some(rank);
        self
    }

    /// Gives the messages for which `urgent` is true a lane of their own, read before the other. It has a capacity of its
    /// own: that of the mailbox, or 1,000 where that is no number of messages.
    pub fn control(mut self, urgent: fn(&A::Msg) -> bool) -> Self {
        self.rules.urgent = Some(urgent);
        self
    }

    /// Lets no two messages with the same `key` be queued in one lane: `keep` says which of them stays, the other is dropped
    /// (Duplicate). A message without a key has no equal.
    pub fn dedup(mut self, keep: Keep, key: fn(&A::Msg) -> Option<u64>) -> Self {
        self.rules.key = Some((keep, key));
        self
    }
}

impl<A: Actor> Context<'_, A> {
    /// Says that this actor has no use for the message in hand. It counts as handled, and as `unhandled` among these.
    pub fn unhandled(&mut self) {
        self.own.unhandled = true;
    }
}
