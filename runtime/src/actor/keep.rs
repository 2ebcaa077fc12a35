//! Children that stay when their parent is restarted.
//!
//! I1 a child is suspended at most once for the failures and restarts of its parent, and resumed when the parent runs: the book
//!    of children knows which are.
//! I2 a kept child keeps its identity, state, mailbox and watches; one whose failure was its parent's is restarted itself.

use std::sync::Arc;

use super::actor_ref::{ActorRef, AnyRef};
use super::cell::{AnyCell, Cell, signal};
use super::life::Life;
use super::path::SpawnError;
use super::signal::Signal;
use super::{Actor, Context, Props};
use crate::dispatch::Worker;

impl<A: Actor> Props<A> {
    /// Keeps this actor's children when it is restarted: they are suspended, and go on with their state when the new instance
    /// runs. Its `started` finds them by [`Context::child_or_spawn`]. A child whose own failure has led to the restart is
    /// restarted as well.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::system::ActorSystem;
    /// # struct Till;
    /// # impl Actor for Till {
    /// #     type Msg = u32;
    /// #     fn receive(&mut self, _: &mut Context<'_, Self>, _: u32) -> Result<(), Failure> { Ok(()) }
    /// # }
    /// struct Shop;
    /// impl Actor for Shop {
    ///     type Msg = ();
    ///     fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
    ///         let till = cx.child_or_spawn("till", || Props::new(|| Till))?;
    ///         cx.tell(&till, 5);
    ///         Ok(())
    ///     }
    ///     fn receive(&mut self, _: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> {
    ///         Err(Failure::new("fire", "in the shop"))
    ///     }
    /// }
    /// let system = ActorSystem::builder("town").stepper().build()?;
    /// system.spawn("shop", Props::new(|| Shop).keep_children())?.tell(());
    /// system.run_until_quiet(1_000);
    /// let till = system.find("/user/shop/till").ok_or("no till")?.snapshot();
    /// assert_eq!((till.incarnation, till.ledger.handled), (1, 2), "the same till, told by two shops");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep_children(mut self) -> Self {
        self.keep_children = true;
        self
    }
}

impl<A: Actor> Context<'_, A> {
    /// Finds the living child of this name, or makes it.
    ///
    /// # Errors
    /// As [`Context::spawn`]; [`SpawnError::NameTaken`] also if the child of this name takes other messages, or is about to end.
    pub fn child_or_spawn<B: Actor>(
        &mut self,
        name: &str,
        props: impl FnOnce() -> Props<B>,
    ) -> Result<ActorRef<B::Msg>, SpawnError> {
        let living = self.cell.head.children.lock().named(name);
        match living {
            None => self.spawn(name, props()),
            Some(cell) if cell.is_closed() => Err(SpawnError::NameTaken(name.to_owned())),
            Some(cell) => AnyRef(cell).typed().ok_or_else(|| SpawnError::NameTaken(name.to_owned())),
        }
    }
}

impl<A: Actor> Life<A> {
    /// Suspends the children for a failure or a restart of this actor.
    pub(super) fn hold_children(&self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        let children = cell.head.children.lock().hold(true);
        children.iter().for_each(|child| signal(child, Signal::Suspend, Some(&mut *worker)));
    }

    /// This actor runs again: so do the children.
    pub(super) fn release_children(&self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        let children = cell.head.children.lock().hold(false);
        children.iter().for_each(|child| signal(child, Signal::Resume, Some(&mut *worker)));
    }

    /// The new instance runs, and the old one's children with it.
    pub(super) fn go_on_with_kept(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        let me: Arc<dyn AnyCell> = cell.clone();
        self.release_children(cell, worker);
        for (child, report) in self.own.conduct.kept(&cell.head, &me, worker) {
            self.child_failed(cell, child, report, worker);
        }
    }
}
