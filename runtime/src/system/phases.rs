//! The phases of a shutdown and their order: plain data.
//!
//! I1 the order is a topological one, and one only: of the phases whose predecessors are over, those that users have added come
//!    first, in the order of their addition; so a phase begins as soon as it may.
//! I2 `system` is always the last: every other phase precedes it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::ShutdownError;
use crate::actor::Failure;

/// The phases that every system has, each after the one before, with their limits in seconds.
const PHASES: [(&str, u64); 7] =
    [("before", 5), ("unbind", 5), ("requests", 10), ("streams", 10), (USER, 5), ("flush", 5), (SYSTEM, 5)];
/// The phase in which the actors under `/user` are stopped.
pub(super) const USER: &str = "user";
/// The phase after which all actors are stopped.
pub(super) const SYSTEM: &str = "system";
/// How long a phase of a user's may take, by default.
const LIMIT: Duration = Duration::from_secs(5);
/// How long all phases may take, by default.
const LIMIT_OF_ALL: Duration = Duration::from_secs(30);

/// A phase to be added to a shutdown.
///
/// # Examples
/// ```
/// use footlights::system::ShutdownPhase;
/// use std::time::Duration;
/// let phase = ShutdownPhase::new("goodbyes").after("unbind").before("requests").limit(Duration::from_secs(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct ShutdownPhase {
    name: Arc<str>,
    after: Vec<Arc<str>>,
    before: Vec<Arc<str>>,
    limit: Duration,
}

impl ShutdownPhase {
    /// Makes a phase of 5 s at most, which comes before `system` and otherwise when it likes.
    pub fn new(name: &str) -> Self {
        ShutdownPhase { name: name.into(), after: Vec::new(), before: Vec::new(), limit: LIMIT }
    }

    /// Begins only when `phase` is over.
    pub fn after(mut self, phase: &str) -> Self {
        self.after.push(phase.into());
        self
    }

    /// Is over when `phase` begins.
    pub fn before(mut self, phase: &str) -> Self {
        self.before.push(phase.into());
        self
    }

    /// Takes so long at most.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }
}

/// What a task of a shutdown does.
pub(super) type Job = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> + Send>;

/// A task and its name.
pub(super) struct Task {
    pub(super) name: Arc<str>,
    pub(super) job: Job,
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Task({})", self.name)
    }
}

/// A phase as it is planned.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) name: Arc<str>,
    pub(super) limit: Duration,
    pub(super) tasks: Vec<Task>,
    after: Vec<Arc<str>>,
    begun: bool,
}

/// All phases.
#[derive(Debug)]
pub(super) struct Plan {
    phases: Vec<Planned>,
    pub(super) limit: Duration,
    /// Somebody has added something.
    pub(super) in_use: bool,
}

impl Default for Plan {
    fn default() -> Self {
        let mut phases: Vec<Planned> = Vec::new();
        for (name, seconds) in PHASES {
            let after = phases.last().map(|before| before.name.clone()).into_iter().collect();
            let limit = Duration::from_secs(seconds);
            phases.push(Planned { name: name.into(), limit, tasks: Vec::new(), after, begun: false });
        }
        Plan { phases, limit: LIMIT_OF_ALL, in_use: false }
    }
}

impl Plan {
    pub(super) fn find(&mut self, name: &str) -> Result<&mut Planned, ShutdownError> {
        let missing = || ShutdownError::NoSuchPhase(name.to_owned());
        self.phases.iter_mut().find(|phase| &*phase.name == name).ok_or_else(missing)
    }

    pub(super) fn add_phase(&mut self, new: ShutdownPhase) -> Result<(), ShutdownError> {
        if self.find(&new.name).is_ok() {
            return Err(ShutdownError::NameTaken(new.name.to_string()));
        }
        for name in new.after.iter().chain(&new.before) {
            self.find(name)?;
        }
        let ShutdownPhase { name, after, before, limit } = new;
        self.phases.push(Planned { name: name.clone(), limit, tasks: Vec::new(), after, begun: false });
        for later in &before {
            self.find(later)?.after.push(name.clone());
        }
        if self.order().len() < self.phases.len() {
            self.phases.pop();
            self.phases.iter_mut().for_each(|phase| phase.after.retain(|before| *before != name));
            return Err(ShutdownError::Circle(name.to_string()));
        }
        self.in_use = true;
        Ok(())
    }

    /// Takes the task, unless it is refused: then the caller drops it, without the lock.
    pub(super) fn add_task(&mut self, phase: &str, task: &mut Option<Task>) -> Result<(), ShutdownError> {
        let phase = self.find(phase)?;
        if phase.begun {
            return Err(ShutdownError::TooLate);
        }
        phase.tasks.extend(task.take());
        self.in_use = true;
        Ok(())
    }

    /// Gives the phases in the order in which they come; without those that stand in a circle.
    pub(super) fn order(&self) -> Vec<Arc<str>> {
        let mut order: Vec<Arc<str>> = Vec::new();
        let (own, added) = self.phases.split_at(PHASES.len());
        loop {
            let others_over = order.len() + 1 >= self.phases.len();
            let ready = |phase: &&Planned| {
                !order.contains(&phase.name)
                    && phase.after.iter().all(|before| order.contains(before))
                    && (&*phase.name != SYSTEM || others_over)
            };
            match added.iter().chain(own).find(ready) {
                Some(next) => order.push(next.name.clone()),
                None => return order,
            }
        }
    }

    /// Begins a phase: gives its limit and its tasks, and takes no more of them.
    pub(super) fn begin(&mut self, name: &str) -> (Duration, Vec<Task>) {
        match self.find(name) {
            Ok(phase) => {
                phase.begun = true;
                (phase.limit, std::mem::take(&mut phase.tasks))
            }
            Err(_) => unreachable!("the order names phases of the plan"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(plan: &Plan) -> Vec<String> {
        plan.order().iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn the_phases_of_every_system_come_in_their_order() {
        assert_eq!(names(&Plan::default()), PHASES.map(|(name, _)| name));
    }

    #[test]
    fn an_added_phase_begins_as_soon_as_it_may() {
        let mut plan = Plan::default();
        for phase in [
            ShutdownPhase::new("late").after("flush"),
            ShutdownPhase::new("mid").after("unbind").before("requests"),
            ShutdownPhase::new("first"),
            ShutdownPhase::new("after mid").after("mid"),
        ] {
            plan.add_phase(phase).expect("a good phase");
        }
        let expected = "first before unbind mid after_mid requests streams user flush late system";
        assert_eq!(names(&plan).join(" ").replace("after mid", "after_mid"), expected);
    }

    #[test]
    fn a_circle_is_refused_and_leaves_the_plan_as_it_was() {
        let mut plan = Plan::default();
        for bad in [
            ShutdownPhase::new("x").after("flush").before("unbind"),
            ShutdownPhase::new("x").after("system"),
            ShutdownPhase::new("x").after("requests").before("requests"),
        ] {
            assert_eq!(plan.add_phase(bad), Err(ShutdownError::Circle("x".to_owned())));
            assert_eq!(names(&plan), PHASES.map(|(name, _)| name));
        }
        plan.add_phase(ShutdownPhase::new("x").before("unbind")).expect("the name is free");
    }
}
