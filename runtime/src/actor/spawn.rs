//! Spawning: takes the name, makes the cell, sends Start. The same for guardians, children and routees.

use std::sync::{Arc, Weak};

use super::actor_ref::{ActorRef, AnyRef};
use super::cell::{AnyCell, Cell, signal};
use super::children::Child;
use super::feed::Post;
use super::head::Head;
use super::life::Life;
use super::path::{self, DEPTH_MAX, SpawnError};
use super::shared::Shared;
use super::signal::Signal;
use super::{Actor, Props};
use crate::dispatch::{Home, Worker};
use crate::id::ActorId;
use crate::mailbox::{Arrangement, Lanes};
use crate::observe::EventKind;
use crate::supervise::ChildBudget;
use crate::sync::{Mutex, Ordering};

/// Labels of the generators that an actor needs, derived from its id.
const RNG_BEHAVIOUR: u64 = 1 << 60;
const RNG_SUPERVISION: u64 = 2 << 60;

/// Makes a child of `parent`; it starts on its own dispatcher.
pub(crate) fn spawn_child<A: Actor>(
    parent: &Arc<dyn AnyCell>,
    name: &str,
    props: Props<A>,
    by: Option<&mut Worker>,
) -> Result<ActorRef<A::Msg>, SpawnError> {
    let child = prepare_child(parent, name, props)?;
    begin(&child.any(), by);
    Ok(child)
}

/// As [`spawn_child`], but it waits for [`begin`] before it starts.
pub(crate) fn prepare_child<A: Actor>(
    parent: &Arc<dyn AnyCell>,
    name: &str,
    props: Props<A>,
) -> Result<ActorRef<A::Msg>, SpawnError> {
    path::check(name)?;
    let head = parent.head();
    let props = props.settle(head.shared.dialect);
    if head.depth >= DEPTH_MAX {
        return Err(SpawnError::TooDeep);
    }
    let shared = &head.shared;
    let place = shared.place(props.dispatcher.as_ref())?;
    let (restart_type, backoff, shutdown) = (props.restart_type, props.backoff, props.shutdown);
    let significant = props.significant;
    let (cell, enrolled) = {
        let mut book = head.children.lock();
        let name = book.reserve(name)?;
        let home = shared.open(&place)?;
        let id = shared.next_actor();
        let path = format!("{}/{name}", head.path).into();
        let cell = make(shared, (id, home), path, head.depth + 1, Some(parent.clone()), props);
        let budget = ChildBudget::new(backoff);
        let rng = shared.rng(RNG_SUPERVISION | id.0);
        // Known to the system before its parent knows it: from then on it may be stopped by another thread.
        let enrolled = enroll(&cell, head.id);
        let child = Child {
            cell: cell.clone(),
            name,
            budget,
            rng,
            restart_type,
            shutdown,
            told: false,
            held: false,
            declared: false,
            significant,
        };
        if enrolled {
            book.insert(id, child);
        }
        (cell, enrolled)
    };
    if !enrolled {
        shared.dispatcher.release(cell.head.home);
        return Err(SpawnError::TooMany);
    }
    Ok(ActorRef(cell))
}

impl AnyRef {
    /// Gives the reference with its message type back, if that is `M`.
    ///
    /// # Examples
    /// ```
    /// # use footlights::{actor::*, system::ActorSystem};
    /// # struct Echo;
    /// # impl Actor for Echo {
    /// #     type Msg = u32;
    /// #     fn receive(&mut self, _: &mut Context<'_, Self>, _: u32) -> Result<(), Failure> { Ok(()) }
    /// # }
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let echo = system.spawn("echo", Props::new(|| Echo))?;
    /// let found = system.find("/user/echo").ok_or("not found")?;
    /// assert_eq!(found.typed::<u32>(), Some(echo));
    /// assert_eq!(found.typed::<String>(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn typed<M: Send + 'static>(&self) -> Option<ActorRef<M>> {
        self.0.clone().into_any().downcast::<Cell<M>>().ok().map(ActorRef)
    }
}

/// Makes an actor without a parent.
pub(crate) fn spawn_guardian<A: Actor>(
    shared: &Arc<Shared>,
    name: &str,
    props: Props<A>,
) -> ActorRef<A::Msg> {
    let cell = make(shared, (shared.next_actor(), Home::DEFAULT), name.into(), 0, None, props);
    let enrolled = enroll(&cell, ActorId::NOBODY);
    debug_assert!(enrolled, "guardians are not counted");
    let guardian = ActorRef(cell);
    begin(&guardian.any(), None);
    guardian
}

fn make<A: Actor>(
    shared: &Arc<Shared>,
    (id, home): (ActorId, Home),
    path: Arc<str>,
    depth: u16,
    parent: Option<Arc<dyn AnyCell>>,
    props: Props<A>,
) -> Arc<Cell<A::Msg>> {
    // Ordering: Relaxed, written by the parent's own runs.
    let suspends = parent.as_ref().map_or(0, |parent| parent.head().suspends.load(Ordering::Relaxed));
    let head = Head::new(id, path, depth, parent, shared.clone(), home);
    head.suspends.store(suspends, Ordering::Relaxed);
    let rules = (!props.rules.is_plain()).then(|| Box::new(props.rules));
    let keep = props.rules.key.map(|(keep, _)| keep);
    let arrangement = Arrangement { rich: rules.is_some(), keep };
    let mailbox = Lanes::new(props.mailbox, arrangement, &shared.memory);
    let rng = shared.rng(RNG_BEHAVIOUR | id.0);
    let letters = props.letters.boxed();
    let behaviour = Mutex::new(Box::new(Life::new(props, rng, suspends)) as Box<_>);
    Arc::new(Cell { head, mailbox, rules, behaviour, post: Post::new(), letters })
}

/// Takes a cell into the book of the living; false if that is full.
fn enroll<M: Send + 'static>(cell: &Arc<Cell<M>>, parent: ActorId) -> bool {
    let weak: Weak<dyn AnyCell> = Arc::downgrade(cell) as Weak<Cell<M>>;
    if !cell.head.shared.enter(cell.head.id, weak) {
        return false;
    }
    cell.head.record(EventKind::Spawned { parent, path: cell.head.path.clone() });
    true
}

/// Has a prepared actor start.
pub(crate) fn begin(prepared: &AnyRef, by: Option<&mut Worker>) {
    signal(&prepared.0, Signal::Start, by);
}
