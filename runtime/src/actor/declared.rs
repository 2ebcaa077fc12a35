//! Declared children: they start one after another, and their supervisor runs when all of them do.
//!
//! ```text
//!  factory, started ─▶ Rearing: first declared child ──runs──▶ second … ──all run──▶ Running
//!                         └── one has ended before it ran: a failure of kind Start
//! ```
//! I1 a declared child is made when the one before it runs, so start order is the order of declaration.
//! I2 until all run, this actor handles no message, and who waits for it to be ready waits.
//! It also ends a supervisor whose significant children have ended.

use std::convert::Infallible;
use std::sync::Arc;

use super::actor_ref::AnyRef;
use super::cell::{AnyCell, Cell};
use super::children::Ended;
use super::failure::{Failure, Report, catch};
use super::life::{Life, Order, Phase, Ran};
use super::path::SpawnError;
use super::spawn::{begin, prepare_child};
use super::{Actor, Context, Props};
use crate::dispatch::Worker;
use crate::id::{ActorId, MsgId};
use crate::observe::{AutoShutdownBegan, EventKind, StopReason};
use crate::supervise::{FailureKind, RestartType, Strategy};

/// Prepares a child; it is still to begin.
type Make = dyn Fn(&Arc<dyn AnyCell>, &str) -> Result<AnyRef, SpawnError> + Send + Sync;

/// One declared child.
#[derive(Clone)]
pub(super) struct Declared {
    name: Arc<str>,
    make: Arc<Make>,
}

/// How far the start of the declared children has come.
pub(super) struct Rearing {
    incarnation: u32,
    order: Order,
    next: usize,
    /// The child whose start is waited for, its name, and why it has last failed.
    awaited: ActorId,
    name: Arc<str>,
    why: Option<Report>,
}

/// An actor that does nothing but supervise its declared children.
///
/// # Examples
/// ```
/// use footlights::actor::{Actor, Context, Failure, Props, Supervisor};
/// use footlights::supervise::{AutoShutdown, RestartType, Strategy};
/// use footlights::system::ActorSystem;
/// # struct Part;
/// # impl Actor for Part {
/// #     type Msg = ();
/// #     fn receive(&mut self, cx: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> { cx.stop(); Ok(()) }
/// # }
/// let strategy = Strategy::rest_for_one().auto_shutdown(AutoShutdown::AnySignificant);
/// let shop = Supervisor::props(strategy)
///     .child("stock", || Props::new(|| Part).restart_type(RestartType::Permanent))
///     .child("till", || Props::new(|| Part).significant());
/// let system = ActorSystem::builder("town").stepper().build()?;
/// let shop = system.block_on(system.spawn_ready("shop", shop))?; // both run now
/// let till = system.find("/user/shop/till").and_then(|till| till.typed::<()>()).ok_or("no till")?;
/// till.tell(()); // it stops, and so does the shop
/// system.run_until_quiet(1_000);
/// assert!(system.find("/user/shop").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Supervisor(());

impl Supervisor {
    /// Gives the props of a supervisor without children, to declare them by [`Props::child`].
    pub fn props(strategy: Strategy) -> Props<Supervisor> {
        Props::new(|| Supervisor(())).supervise(strategy)
    }
}

impl Actor for Supervisor {
    type Msg = Infallible;

    fn receive(&mut self, _cx: &mut Context<'_, Self>, message: Infallible) -> Result<(), Failure> {
        match message {}
    }
}

impl<A: Actor> Props<A> {
    /// Declares a child. Declared children are made after `started`, one after another, each when the one before runs; this
    /// actor runs when all of them do. They stop last first, and are made anew when this actor is restarted.
    ///
    /// The child's props are its spec: restart type, shutdown budget, backoff, significance. A start that fails is tried again
    /// in the child's budget; when that is used up, this actor's own start has failed.
    pub fn child<B: Actor>(
        mut self,
        name: &str,
        props: impl Fn() -> Props<B> + Send + Sync + 'static,
    ) -> Self {
        let make = move |parent: &Arc<dyn AnyCell>, name: &str| {
            prepare_child(parent, name, props()).map(|child| child.any())
        };
        let declared = self.declared.get_or_insert_default();
        Arc::make_mut(declared).push(Declared { name: name.into(), make: Arc::new(make) });
        self
    }

    /// Marks the actor as significant for its supervisor, see [`Strategy::auto_shutdown`].
    pub fn significant(mut self) -> Self {
        self.significant = true;
        self
    }
}

impl<A: Actor> Life<A> {
    /// The first hook has run well: makes the declared children, if there are any, and runs.
    pub(super) fn rear(
        &mut self,
        cell: &Arc<Cell<A::Msg>>,
        incarnation: u32,
        order: Order,
        worker: &mut Worker,
    ) {
        if self.props.declared.is_none() || self.own.stop_asked {
            return self.running(cell, incarnation, order, worker);
        }
        let (awaited, name) = (ActorId::NOBODY, "".into());
        self.own.rearing = Some(Box::new(Rearing { incarnation, order, next: 0, awaited, name, why: None }));
        self.own.phase = Phase::Rearing;
        self.open_or_shut(cell);
        self.next_declared(cell, worker);
    }

    fn next_declared(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) {
        let me: Arc<dyn AnyCell> = cell.clone();
        while let Some(rearing) = &mut self.own.rearing {
            let declared = self.props.declared.as_ref().and_then(|declared| declared.get(rearing.next));
            let Some(Declared { name, make }) = declared.cloned() else {
                let (incarnation, order) = (rearing.incarnation, rearing.order);
                self.own.rearing = None;
                return self.running(cell, incarnation, order, worker);
            };
            rearing.next += 1;
            if self.props.keep_children && cell.head.children.lock().named(&name).is_some() {
                continue; // it was kept
            }
            // What makes the child's props is the user's code as well.
            match catch(|| Ok(make(&me, &name)?)) {
                Ok(child) => {
                    (rearing.awaited, rearing.name, rearing.why) = (child.id(), name, None);
                    if let Some(entry) = cell.head.children.lock().get_mut(child.id()) {
                        entry.declared = true;
                    }
                    return begin(&child, Some(worker));
                }
                Err(why) => {
                    rearing.name = name;
                    return self.not_reared(cell, Some(&why.report()), worker);
                }
            }
        }
    }

    /// A child runs: if it is the one that is waited for, makes the next.
    pub(super) fn child_started(&mut self, cell: &Arc<Cell<A::Msg>>, child: ActorId, worker: &mut Worker) {
        if self.awaits(child) {
            self.next_declared(cell, worker);
        }
    }

    /// Remembers why the child that is waited for has failed.
    pub(super) fn note_failed_start(&mut self, child: ActorId, report: &Report) {
        if let Some(rearing) = self.own.rearing.as_mut().filter(|rearing| rearing.awaited == child) {
            rearing.why = Some(report.clone());
        }
    }

    /// A child has ended for good: if it is the one that is waited for, this actor has failed to start.
    pub(super) fn child_ended(&mut self, cell: &Arc<Cell<A::Msg>>, child: ActorId, worker: &mut Worker) {
        if self.awaits(child) {
            self.not_reared(cell, None, worker);
        }
    }

    fn awaits(&self, child: ActorId) -> bool {
        let rearing = self.own.rearing.as_ref().filter(|_| self.own.phase == Phase::Rearing);
        rearing.is_some_and(|rearing| rearing.awaited == child)
    }

    /// Fails: a declared child could not be started.
    pub(super) fn not_reared(
        &mut self,
        cell: &Arc<Cell<A::Msg>>,
        report: Option<&Report>,
        worker: &mut Worker,
    ) {
        let Some(rearing) = self.own.rearing.take() else { return };
        let report = report.or(rearing.why.as_ref());
        let (code, reason) = report.map_or(("child", "it has ended"), |report| (report.code, &*report.text));
        let text = format!("child {} did not start: {reason}", rearing.name);
        let why = Failure::of(FailureKind::Start, code, &text);
        self.record_failed(cell, &why, MsgId(0));
        self.fail(cell, why, None, worker);
    }

    /// Stops this actor if the ends of its significant children say so.
    pub(super) fn auto_shutdown(&mut self, cell: &Arc<Cell<A::Msg>>, worker: &mut Worker) -> Ran {
        let mode = self.props.strategy.auto_shutdown;
        if self.own.phase != Phase::Running {
            return Ran::Nothing;
        }
        let Some(ended) = cell.head.children.lock().take_ended(mode) else { return Ran::Nothing };
        let Ended { count, last, path } = *ended;
        let why = AutoShutdownBegan { mode, child: last, path, ended: count };
        cell.head.record(EventKind::AutoShutdown(Box::new(why)));
        if self.props.restart_type == RestartType::Permanent {
            self.own.stop_asked = true; // which is a failure of kind Exit
            self.after_run(cell, worker);
            return Ran::Nothing;
        }
        self.stop(cell, StopReason::Stopped, worker)
    }
}
