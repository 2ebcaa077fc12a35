//! Where an actor runs: which dispatcher, and what it may do to the worker there.
//!
//! I1 an actor keeps its home from its spawn to its end, restarts included.
//! I2 a lint is raised once per actor and kind; the event beside it comes every time.

use std::sync::Arc;

use super::head::Head;
use super::path::SpawnError;
use super::shared::Shared;
use super::{Actor, Props};
use crate::dispatch::{Home, Place};
use crate::observe::{EventKind, Lint};
use crate::sync::Ordering;

impl<A: Actor> Props<A> {
    /// Runs the actor on the dispatcher of this name, as [`Builder::dispatcher`](crate::system::Builder::dispatcher) made it;
    /// built in are `default`, `blocking` and `pinned`. Without this it is `default`, wherever its parent runs. Its futures
    /// and tasks run where it does.
    ///
    /// # Examples
    /// ```
    /// # use footlights::actor::{Actor, Context, Failure, Props};
    /// # struct Disk;
    /// # impl Actor for Disk {
    /// #     type Msg = ();
    /// #     fn receive(&mut self, _: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> { Ok(()) }
    /// # }
    /// use footlights::actor::SpawnError;
    /// use footlights::system::ActorSystem;
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// assert!(system.spawn("disk", Props::new(|| Disk).dispatcher("blocking")).is_ok());
    /// let error = system.spawn("other", Props::new(|| Disk).dispatcher("disks")).unwrap_err();
    /// assert_eq!(error, SpawnError::NoDispatcher("disks".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dispatcher(mut self, name: &str) -> Self {
        self.dispatcher = Some(name.into());
        self
    }
}

impl Shared {
    /// Finds where the actors of a dispatcher go.
    pub(super) fn place(&self, name: Option<&Arc<str>>) -> Result<Place, SpawnError> {
        let Some(name) = name else { return Ok(Place::Crew(Home::DEFAULT)) };
        self.dispatcher.roster().place(name).ok_or_else(|| SpawnError::NoDispatcher(name.to_string()))
    }

    /// Gives an actor its home.
    pub(super) fn open(&self, place: &Place) -> Result<Home, SpawnError> {
        self.dispatcher.open(place).map_err(|error| SpawnError::NoThread(error.to_string()))
    }
}

impl Head {
    /// Notes that a run has lasted for too long.
    #[cold]
    pub(crate) fn ran_long(&self, took_ns: u64) {
        self.record(EventKind::SlowHandler { took_ns });
        if self.shared.dispatcher.roster().is_shared(self.home) {
            self.raise(Lint::SlowHandler, took_ns);
        }
    }

    /// Notes that a run is about to occupy its worker without using it.
    pub(super) fn will_block(&self, ns: u64) {
        if self.shared.dispatcher.roster().is_shared(self.home) {
            self.raise(Lint::BlockOnShared, ns);
        }
    }

    fn raise(&self, lint: Lint, ns: u64) {
        let bit = 1 << lint as u32;
        // Ordering: Relaxed, written by the actor's own runs.
        if self.lints.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            self.record(EventKind::LintRaised { lint, ns });
        }
    }
}
