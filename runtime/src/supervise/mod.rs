//! Supervision as pure functions: from a failure and what is remembered to a decision and its reason.
//!
//! The rules, in the order in which they apply to a failure of kind f at time t:
//! 1. The directive *asked* is that of the first rule of the [`Strategy`] that matches, or the default.
//!    A failure to start has no state to go on with, so Resume is taken as Restart there.
//! 2. A Temporary child is never restarted: Restart becomes Stop. Nothing is counted.
//! 3. Restart is allowed iff the restarts that [`window`] counts at t are fewer than the limit, compared before this one
//!    is added. One that is not allowed becomes Stop or Escalate, as the strategy says, and is not counted.
//! 4. A restart waits as [`backoff`] says, if there is one.
//!
//! Why pure: the same rules hold in tests, in the browser and on every core, they can be checked against their wording,
//! and a decision can be explained after the fact.
//!
//! I1 a decision depends on its arguments alone; chance is drawn from the child's own generator.
//! I2 a [`Decision`] carries everything that it was made from.
//! It does not restart, stop or wait: the actor cell does, and tells [`Attempts`] when a child runs.

pub mod backoff;
mod decide;
mod dialect;
mod directive;
mod strategy;
pub mod window;

pub use backoff::{Attempts, Backoff, Delay};
pub use decide::{Budget, ChildBudget, Decision, decide};
pub use dialect::{Dialect, MailboxOnRestart, SignalOrder, StopOrder};
pub use directive::{AutoShutdown, Directive, FailureKind, OnExhausted, RestartType, StrategyKind};
pub use strategy::{BudgetScope, Match, Rule, Strategy};
pub use window::{Limit, RestartLog, Window};
