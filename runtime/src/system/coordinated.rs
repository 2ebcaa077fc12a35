//! Coordinated shutdown: tasks in phases, each phase after those it depends on, and then the end.
//!
//! `before ▸ unbind ▸ requests ▸ streams ▸ user ▸ flush ▸ system`, and what users add. An actor under `/system` walks through
//! them; the tasks are futures on the dispatcher. In the phase `user`, when its tasks are over, the actors under `/user` are
//! stopped; after `system` all others.
//!
//! I1 it happens once: the first reason stands, and later calls change nothing.
//! I2 tasks of a phase run side by side; a phase is over when they are, or when its time is.
//! I3 a task that fails or is late is reported and passed over: nothing keeps a system from ending.
//! I4 without a task or an added phase, `shutdown` is what it always was: no phase, no event.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::ShutdownError;
use super::phases::{Plan, SYSTEM, ShutdownPhase, Task, USER};
use super::shutdown::relieve_workers;
use crate::actor::cell::{AnyCell, signal};
use crate::actor::shared::Shared;
use crate::actor::signal::Signal;
use crate::actor::spawn::spawn_child;
use crate::actor::{Actor, AnyRef, Context, Failure, Props};
use crate::id::ActorId;
use crate::observe::{EventKind, PhaseEnd, PhaseTaskEnd, StopReason};
use crate::pattern::{SystemHandle, TaskError, TaskHandle};
use crate::supervise::RestartType;
use crate::sync::{Mutex, Ordering};
use crate::time::{Instant, nanos};

/// The guardians, in the order of their creation.
const ROOT: ActorId = ActorId(1);
const SYSTEM_GUARDIAN: ActorId = ActorId(2);
const USER_GUARDIAN: ActorId = ActorId(3);
/// The key of the one timer.
const TIME: &str = "time";
/// What the stop of the actors under `/user` is called where it is late.
const ACTORS: &str = "the actors under /user";

/// A task that did not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedTask {
    /// Its phase.
    pub phase: Arc<str>,
    /// Its name.
    pub task: Arc<str>,
    /// How it ended.
    pub how: PhaseTaskEnd,
    /// What it said; empty if it was late.
    pub text: String,
}

/// How a coordinated shutdown went, as far as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShutdownReport {
    /// Why it began.
    pub reason: Arc<str>,
    /// The phases that are over, in order.
    pub phases: Vec<PhaseEnd>,
    /// The tasks that failed or were late.
    pub failed: Vec<FailedTask>,
    /// The phases for which there was no time.
    pub skipped: Vec<Arc<str>>,
}

/// What a system knows of its coordinated shutdown.
#[derive(Debug, Default)]
pub(super) struct Coordination(Mutex<(Plan, Option<ShutdownReport>)>);

/// What a caller who wants the end gets of it.
#[derive(PartialEq)]
enum Claim {
    /// Nothing: it has begun.
    None,
    /// The end without phases.
    Plain,
    /// The end with phases.
    Phases,
}

/// The door to the phases of a system's shutdown; got by `coordinated_shutdown()` of a system or a handle.
///
/// # Examples
/// ```
/// use footlights::system::ActorSystem;
/// use std::time::Duration;
/// let system = ActorSystem::builder("demo").stepper().build()?;
/// let coordinated = system.coordinated_shutdown();
/// coordinated.add_task("flush", "write the log", || async { Ok(()) })?;
/// system.shutdown(Duration::from_secs(30))?;
/// let report = coordinated.report().expect("it has happened");
/// assert_eq!((report.phases.len(), report.failed.len()), (7, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CoordinatedShutdown(SystemHandle);

impl SystemHandle {
    /// Gives the phases of the system's shutdown.
    pub fn coordinated_shutdown(&self) -> CoordinatedShutdown {
        CoordinatedShutdown(self.clone())
    }
}

impl CoordinatedShutdown {
    /// Adds a task to a phase: `job` is called when the phase begins, and its future runs beside the other tasks of the phase.
    ///
    /// # Errors
    /// If there is no such phase, or it has begun.
    pub fn add_task<F>(
        &self,
        phase: &str,
        name: &str,
        job: impl FnOnce() -> F + Send + 'static,
    ) -> Result<(), ShutdownError>
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let task = Task { name: name.into(), job: Box::new(move || Box::pin(job())) };
        let mut task = Some(task);
        self.change(|plan| plan.add_task(phase, &mut task))
    }

    /// Adds a phase.
    ///
    /// # Errors
    /// If its name is taken, it names a phase that does not exist, its order would be a circle, or the shutdown has begun.
    pub fn add_phase(&self, phase: ShutdownPhase) -> Result<(), ShutdownError> {
        if self.report().is_some() {
            return Err(ShutdownError::TooLate);
        }
        self.change(|plan| plan.add_phase(phase))
    }

    /// Lets a phase take so long at most.
    ///
    /// # Errors
    /// If there is no such phase.
    pub fn limit(&self, phase: &str, limit: Duration) -> Result<(), ShutdownError> {
        self.change(|plan| plan.find(phase).map(|phase| phase.limit = limit))
    }

    /// Lets all phases together take so long at most (default 30 s); then the rest is skipped.
    ///
    /// # Errors
    /// If the shutdown has begun.
    pub fn limit_of_all(&self, limit: Duration) -> Result<(), ShutdownError> {
        if self.report().is_some() {
            return Err(ShutdownError::TooLate);
        }
        self.change(|plan| {
            plan.limit = limit;
            Ok(())
        })
    }

    /// Begins to go through the phases and to end the system; does not wait. False if the end has begun already: then the
    /// first reason stands.
    pub fn begin(&self, reason: &str) -> bool {
        let first = self.claim(reason, true) == Claim::Phases;
        if first {
            self.walk();
        }
        first
    }

    /// Begins the end for a caller who stops the actors himself if there is nothing to coordinate: then it is true.
    pub(super) fn end(&self) -> bool {
        let claim = self.claim("shutdown", false);
        if claim == Claim::Phases {
            self.walk();
        }
        claim == Claim::Plain
    }

    /// Lets the first caller have the end. Under the lock, so that nothing is added to phases that will not come.
    fn claim(&self, reason: &str, always: bool) -> Claim {
        let (coordination, shared) = (self.coordination(), &self.0.0);
        let mut state = coordination.0.lock();
        // Ordering: Relaxed, the lock orders it.
        if shared.ended.lock().is_some() || shared.stopping.swap(true, Ordering::Relaxed) {
            return Claim::None;
        }
        if !always && !state.0.in_use {
            return Claim::Plain;
        }
        let (phases, failed, skipped) = (Vec::new(), Vec::new(), Vec::new());
        state.1 = Some(ShutdownReport { reason: reason.into(), phases, failed, skipped });
        Claim::Phases
    }

    /// Makes the actor that walks through the phases.
    fn walk(&self) {
        let shared = &self.0.0;
        relieve_workers(shared);
        let (root, over) = (guardian(shared, ROOT), guardian(shared, SYSTEM_GUARDIAN));
        let (Some(root), Some(over)) = (root, over) else { return };
        let (doors, stop) = (self.clone(), AnyRef(root.clone()));
        let make = move || Coordinator {
            doors: doors.clone(),
            root: stop.clone(),
            order: Vec::new(),
            at: 0,
            deadline: Instant::ZERO,
            running: None,
        };
        let props = Props::new(make).restart_type(RestartType::Transient);
        if spawn_child(&over, "shutdown", props, None).is_err() {
            signal(&root, Signal::Stop(StopReason::SystemShutdown), None); // the guardian is ending already
        }
    }

    /// Says how the shutdown went, as far as it is; `None` if it has not begun.
    pub fn report(&self) -> Option<ShutdownReport> {
        self.coordination().0.lock().1.clone()
    }

    fn coordination(&self) -> Arc<Coordination> {
        self.0.0.groups.get(Coordination::default)
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut Plan) -> Result<T, ShutdownError>,
    ) -> Result<T, ShutdownError> {
        let coordination = self.coordination();
        let mut state = coordination.0.lock();
        // An end that does not go through the phases has come before.
        let ending = self.0.0.stopping.load(Ordering::Relaxed) || self.0.0.ended.lock().is_some();
        if ending && state.1.is_none() {
            return Err(ShutdownError::TooLate);
        }
        change(&mut state.0)
    }

    fn note(&self, note: impl FnOnce(&mut ShutdownReport)) {
        if let Some(report) = &mut self.coordination().0.lock().1 {
            note(report);
        }
    }
}

impl fmt::Debug for CoordinatedShutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CoordinatedShutdown({})", self.0.name())
    }
}

fn guardian(shared: &Shared, id: ActorId) -> Option<Arc<dyn AnyCell>> {
    shared.cells.lock().get(&id)?.upgrade()
}

/// Goes through the phases.
struct Coordinator {
    doors: CoordinatedShutdown,
    root: AnyRef,
    order: Vec<Arc<str>>,
    at: usize,
    deadline: Instant,
    running: Option<Running>,
}

/// The phase under way.
struct Running {
    name: Arc<str>,
    began: Instant,
    limit: Duration,
    tasks: Vec<(Arc<str>, TaskHandle, Option<PhaseTaskEnd>)>,
    /// The actors under `/user` are still to be stopped, or being stopped.
    user: Option<AnyRef>,
    user_is_stopping: bool,
}

enum Msg {
    Done(usize, usize, Result<Result<(), Failure>, TaskError>),
    UserIsGone,
    TimeIsOver(usize),
}

impl Actor for Coordinator {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let coordination = self.doors.coordination();
        let state = coordination.0.lock();
        self.order = state.0.order();
        self.deadline = cx.now() + state.0.limit;
        drop(state);
        self.begin(cx)
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        match message {
            Msg::Done(phase, task, outcome) if phase == self.at => self.done(task, outcome),
            Msg::UserIsGone => {
                if let Some(running) = &mut self.running {
                    running.user = None;
                }
            }
            Msg::TimeIsOver(phase) if phase == self.at => {
                self.pass_over();
                return self.end_phase(cx);
            }
            Msg::Done(..) | Msg::TimeIsOver(_) => return Ok(()), // of a phase that is over
        }
        self.go_on(cx)
    }

    fn stopped(&mut self, _cx: &mut Context<'_, Self>) {
        if self.at < self.order.len() {
            signal(&self.root.0, Signal::Stop(StopReason::SystemShutdown), None); // I3, also if somebody stops this actor
        }
    }
}

impl Coordinator {
    /// Begins the phase that is next.
    fn begin(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let Some(name) = self.order.get(self.at).cloned() else {
            signal(&self.root.0, Signal::Stop(StopReason::SystemShutdown), None);
            return Ok(());
        };
        let (at, now) = (self.at, cx.now());
        if now >= self.deadline {
            self.doors.note(|report| report.skipped.push(name));
            self.at += 1;
            return self.begin(cx);
        }
        let (limit, tasks) = self.doors.coordination().0.lock().0.begin(&name);
        let (limit, count) = (limit.min(self.deadline - now), tasks.len() as u64);
        self.record(cx, EventKind::PhaseBegan { phase: name.clone(), tasks: count });
        let tasks = tasks.into_iter().enumerate().map(|(n, Task { name, job })| {
            // The call of the job belongs to the task: a panic in it is the task's.
            let handle =
                cx.pipe_to_self(async move { job().await }, move |outcome| Msg::Done(at, n, outcome));
            (name, handle, None)
        });
        let tasks = tasks.collect();
        let guardian = (*name == *USER).then(|| guardian(&cx.system().0, USER_GUARDIAN)).flatten();
        let user = guardian.map(AnyRef);
        cx.timers().once(TIME, limit, Msg::TimeIsOver(at));
        self.running = Some(Running { name, began: now, limit, tasks, user, user_is_stopping: false });
        self.go_on(cx)
    }

    fn done(&mut self, task: usize, outcome: Result<Result<(), Failure>, TaskError>) {
        let Some(running) = &mut self.running else { return };
        let Some((name, _, end)) = running.tasks.get_mut(task) else { return };
        let text = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(failure)) => Some(failure.text().to_owned()),
            Err(error) => Some(error.to_string()),
        };
        let how = if text.is_some() { PhaseTaskEnd::Failed } else { PhaseTaskEnd::Done };
        *end = Some(how);
        if let Some(text) = text {
            let failed = FailedTask { phase: running.name.clone(), task: name.clone(), how, text };
            self.doors.note(|report| report.failed.push(failed));
        }
    }

    /// The time is over: gives up what is not done.
    fn pass_over(&mut self) {
        let Some(running) = &mut self.running else { return };
        for (name, handle, end) in running.tasks.iter_mut().filter(|(_, _, end)| end.is_none()) {
            handle.cancel();
            *end = Some(PhaseTaskEnd::Late);
            let (phase, task) = (running.name.clone(), name.clone());
            let late = FailedTask { phase, task, how: PhaseTaskEnd::Late, text: String::new() };
            self.doors.note(|report| report.failed.push(late));
        }
        if let Some(user) = &running.user {
            if !running.user_is_stopping {
                signal(&user.0, Signal::Stop(StopReason::SystemShutdown), None); // beside the phases that follow
            }
            let (phase, task) = (running.name.clone(), ACTORS.into());
            let late = FailedTask { phase, task, how: PhaseTaskEnd::Late, text: String::new() };
            self.doors.note(|report| report.failed.push(late));
        }
    }

    /// Ends the phase if all its tasks are over; in the phase `user`, stops the actors of the user first.
    fn go_on(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let Some(running) = &mut self.running else { return Ok(()) };
        if running.tasks.iter().any(|(_, _, end)| end.is_none()) {
            return Ok(());
        }
        match &running.user {
            None => self.end_phase(cx),
            Some(user) if !running.user_is_stopping => {
                running.user_is_stopping = true;
                relieve_workers(&cx.system().0);
                cx.watch(user, |_| Msg::UserIsGone)?;
                signal(&user.0, Signal::Stop(StopReason::SystemShutdown), None);
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    fn end_phase(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let Some(running) = self.running.take() else { return Ok(()) };
        cx.timers().cancel(TIME);
        let count = |how| running.tasks.iter().filter(|(_, _, end)| *end == Some(how)).count() as u32;
        for (task, _, how) in &running.tasks {
            if let Some(how @ (PhaseTaskEnd::Failed | PhaseTaskEnd::Late)) = *how {
                let (phase, task) = (running.name.clone(), task.clone());
                self.record(cx, EventKind::PhaseTaskFailed { phase, task, how });
            }
        }
        if running.user.is_some() {
            let (phase, how) = (running.name.clone(), PhaseTaskEnd::Late);
            self.record(cx, EventKind::PhaseTaskFailed { phase, task: ACTORS.into(), how });
        }
        let end = PhaseEnd {
            phase: running.name.clone(),
            tasks: running.tasks.len() as u32,
            failed: count(PhaseTaskEnd::Failed),
            late: count(PhaseTaskEnd::Late) + u32::from(running.user.is_some()),
            took_ns: nanos(cx.now() - running.began),
            limit_ns: nanos(running.limit),
        };
        self.record(cx, EventKind::PhaseEnded(Box::new(end.clone())));
        self.doors.note(|report| report.phases.push(end));
        debug_assert!(*running.name != *SYSTEM || self.at + 1 == self.order.len(), "I2 of the plan");
        self.at += 1;
        self.begin(cx)
    }

    fn record(&self, cx: &Context<'_, Self>, kind: EventKind) {
        let me = cx.myself().id();
        cx.system().0.record(me, kind);
    }
}
