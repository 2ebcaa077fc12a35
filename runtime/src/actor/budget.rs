//! How long an actor may take to stop: the clock that runs while it works itself, and not while it waits for others.
//!
//! Whoever orders a stop from above sets the actor under watch. The clock then runs while one of the actor's own runs lasts
//! (the one in which the order finds it, and the one in which it ends), and stands while it waits: for a worker, or for its
//! children. When it has run for the whole budget, the actor is forced (see `forced`).
//!
//! I1 an end is claimed once, under one lock: by the actor itself or by the force that did not wait for it.
//! I2 an actor that nobody orders to stop pays one load per activation for all of this.
//! In virtual time a run is over before it has lasted: what it charged is known at its end, so the actor is *held* until then,
//! and an alarm before that moment finds it at work.

use std::sync::Arc;
use std::time::Duration;

use super::cell::{AnyCell, signal};
use super::forced::{force, force_at};
use super::head::Head;
use super::signal::Signal;
use crate::dispatch::{Due, Worker};
use crate::observe::StopReason;
use crate::sync::{AtomicBool, Mutex, Ordering};
use crate::time::{Instant, TimerKey};

/// Says how long an actor that is ordered to stop may take before it is forced.
///
/// Only its own work counts: the run in which the order finds it, and [`stopped`](super::Actor::stopped). A run cannot be
/// interrupted; a forced actor's watchers are told, its parent goes on, and when its run returns what it sends is dropped, its
/// mail becomes dead letters, and its state is dropped without a hook.
///
/// # Examples
/// ```
/// use footlights::actor::{Actor, ActorRef, Context, Exit, Failure, Props, Shutdown};
/// use footlights::system::ActorSystem;
/// use std::time::Duration;
///
/// struct Slow;
/// impl Actor for Slow {
///     type Msg = ();
///     fn receive(&mut self, cx: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> {
///         cx.work(Duration::from_secs(60));
///         Ok(())
///     }
/// }
/// let system = ActorSystem::builder("demo").stepper().build()?;
/// let budget = Shutdown::After(Duration::from_secs(1));
/// system.spawn("slow", Props::new(|| Slow).shutdown(budget))?.tell(());
/// system.run_for(Duration::from_millis(1));
/// let exit = system.shutdown(Duration::from_secs(100))?;
/// assert_eq!(exit, Exit::Forced { stuck: vec!["/user/slow".to_owned()] });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shutdown {
    /// Forces it when it has worked for so long.
    After(Duration),
    /// Forces it at once, without its last hook.
    Now,
    /// Waits for as long as it takes.
    Never,
}

impl Default for Shutdown {
    /// Gives 5 s.
    fn default() -> Self {
        Shutdown::After(Duration::from_secs(5))
    }
}

/// Who has ended the actor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    Open,
    Itself,
    /// By force; the end is told when the children have ended as well.
    Forced,
    /// By force, and everybody knows.
    ForcedAndTold,
}

/// The part of a head that measures a stop.
#[derive(Default)]
pub(crate) struct Lapse(Mutex<State>);

#[derive(Default)]
struct State {
    end: End,
    watch: Option<Box<Watch>>,
    held: Option<Box<Held>>,
}

struct Watch {
    left: Duration,
    used: Duration,
    /// Since when the clock runs.
    since: Option<Instant>,
    alarm: Option<TimerKey>,
}

/// A run in virtual time that lasts longer than its turn.
struct Held {
    until: Instant,
    /// True if what it has sent, and is not visible yet, is to be dropped.
    abandoned: Option<Arc<AtomicBool>>,
}

impl Watch {
    fn stand(&mut self, at: Instant) -> Option<TimerKey> {
        if let Some(since) = self.since.take() {
            self.used += at - since;
            self.left = self.left.saturating_sub(at - since);
        }
        self.alarm.take()
    }
}

impl State {
    fn held_until(&self) -> Instant {
        self.held.as_ref().map_or(Instant::ZERO, |held| held.until)
    }
}

/// Orders a stop from above, within a budget.
pub(super) fn order_stop(
    child: &Arc<dyn AnyCell>,
    reason: StopReason,
    budget: Shutdown,
    by: Option<&mut Worker>,
) {
    match budget {
        Shutdown::Now => {
            let dispatcher = &child.head().shared.dispatcher;
            let Some(at) = dispatcher.later() else { return force(child, by) };
            let child = child.clone();
            dispatcher.set_timer(at, Due::Call(Box::new(move || force(&child, None))));
            return;
        }
        Shutdown::After(budget) => watch(child, budget),
        Shutdown::Never => {}
    }
    signal(child, Signal::Stop(reason), by);
}

/// Sets an actor under watch, unless it is already.
fn watch(child: &Arc<dyn AnyCell>, budget: Duration) {
    let head = child.head();
    let now = head.shared.now();
    let mut state = head.lapse.0.lock();
    if state.end != End::Open || state.watch.is_some() {
        return;
    }
    // Ordering: Relaxed; a run that does not see it was begun at about this moment, from which the clock runs.
    head.under_watch.store(true, Ordering::Relaxed);
    // On a Pool it cannot be known here whether it runs: the alarm will see.
    let at_work = !head.shared.dispatcher.is_virtual() || state.held_until() > now;
    let alarm = if at_work { arm(child, now + budget) } else { None };
    let since = at_work.then_some(now);
    state.watch = Some(Box::new(Watch { left: budget, used: Duration::ZERO, since, alarm }));
}

fn arm(child: &Arc<dyn AnyCell>, due: Instant) -> Option<TimerKey> {
    let weak = Arc::downgrade(child);
    let ring = move || {
        if let Some(child) = weak.upgrade() {
            ring(&child, due);
        }
    };
    child.head().shared.dispatcher.set_timer(due, Due::Wish(Box::new(ring)))
}

/// The budget was used up at `due`, if the actor was still at work then. In virtual time the clock may have jumped past that
/// moment, and past the end of the run as well.
fn ring(child: &Arc<dyn AnyCell>, due: Instant) {
    let head = child.head();
    let is_virtual = head.shared.dispatcher.is_virtual();
    {
        let mut state = head.lapse.0.lock();
        let at_work = if is_virtual { state.held_until() > due } else { head.is_at_work(&state) };
        let Some(watch) = &mut state.watch else { return };
        watch.alarm = None;
        if !at_work && !is_virtual {
            watch.since = None; // it waits for a worker; that does not count
        }
        if !at_work || watch.since.is_none() {
            return;
        }
    }
    force_at(child, if is_virtual { due } else { head.shared.now() }, None);
}

impl Head {
    fn is_at_work(&self, state: &State) -> bool {
        match self.shared.dispatcher.is_virtual() {
            true => state.held_until() > self.shared.now(),
            false => self.worker_in_run().is_some(),
        }
    }

    /// Is true if this actor was forced and its run has not returned.
    pub(crate) fn is_stuck(&self) -> bool {
        self.is_forced() && self.is_at_work(&self.lapse.0.lock())
    }

    /// A run begins: the clock runs, if the actor is under watch.
    #[cold]
    pub(super) fn clock_on(&self, me: &Arc<dyn AnyCell>) {
        let now = self.shared.now();
        let mut state = self.lapse.0.lock();
        if state.end != End::Open {
            return;
        }
        if let Some(watch) = &mut state.watch
            && watch.since.is_none()
        {
            watch.since = Some(now);
            if !self.shared.dispatcher.is_virtual() {
                watch.alarm = arm(me, now + watch.left);
            }
        }
    }

    /// A run has ended: the clock stands.
    #[cold]
    pub(super) fn clock_off(&self) {
        let now = self.shared.now();
        let mut state = self.lapse.0.lock();
        let held_until = state.held_until();
        let alarm = state.watch.as_mut().and_then(|watch| {
            // A clock that has jumped past the end of the run says nothing of how long it has lasted.
            let jumped = watch.since.is_some_and(|since| held_until > since);
            watch.stand(if jumped { now.min(held_until) } else { now })
        });
        drop(state);
        if let Some(alarm) = alarm {
            self.shared.dispatcher.cancel_timer(alarm);
        }
    }

    /// A run in virtual time has charged work, so it lasts `until` then.
    pub(super) fn hold(&self, me: &Arc<dyn AnyCell>, until: Instant) {
        let abandoned = self.shared.effects_of_this_run();
        let mut state = self.lapse.0.lock();
        match &mut state.held {
            Some(held) => **held = Held { until, abandoned },
            none => *none = Some(Box::new(Held { until, abandoned })),
        }
        if let Some(watch) = &mut state.watch
            && let Some(since) = watch.since
            && until - since > watch.left
        {
            watch.alarm = arm(me, since + watch.left);
        }
    }

    /// Is true if the present run, which is over in virtual time only, will be found to have taken too long.
    pub(super) fn is_overdue(&self) -> bool {
        let now = self.shared.now();
        let state = self.lapse.0.lock();
        let late = |watch: &Watch| watch.since.is_some_and(|since| now - since > watch.left);
        self.shared.dispatcher.is_virtual() && state.watch.as_deref().is_some_and(late)
    }

    /// Claims the end for the actor itself; false if it was forced before.
    pub(super) fn claim_end(&self) -> bool {
        let mut state = self.lapse.0.lock();
        if state.end != End::Open {
            return false;
        }
        state.end = End::Itself;
        let alarm = state.watch.take().and_then(|watch| watch.alarm);
        drop(state);
        if let Some(alarm) = alarm {
            self.shared.dispatcher.cancel_timer(alarm);
        }
        true
    }

    /// Claims the end for a force at the moment `at`; gives how long the actor has worked under watch, `None` if it has ended before. What its
    /// present run has sent and nobody has seen yet is abandoned.
    pub(super) fn claim_force(&self, at: Instant) -> Option<Duration> {
        let mut state = self.lapse.0.lock();
        if state.end != End::Open {
            return None;
        }
        state.end = End::Forced;
        // Ordering: SeqCst, see Head::is_forced().
        self.forced.store(true, Ordering::SeqCst);
        if let Some(held) = state.held.as_mut().filter(|held| held.until > at)
            && let Some(abandoned) = &held.abandoned
        {
            abandoned.store(true, Ordering::Relaxed);
        }
        let watch = state.watch.take();
        drop(state);
        let Some(mut watch) = watch else { return Some(Duration::ZERO) };
        if let Some(alarm) = watch.stand(at) {
            self.shared.dispatcher.cancel_timer(alarm);
        }
        Some(watch.used)
    }

    /// Claims the telling of a forced end; true once.
    pub(super) fn claim_told(&self) -> bool {
        let mut state = self.lapse.0.lock();
        let first = state.end == End::Forced;
        if first {
            state.end = End::ForcedAndTold;
        }
        first
    }
}
