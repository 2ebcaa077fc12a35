//! The tasks that an actor has started: they end with their incarnation, or, if so ordered, with the actor.
//!
//! I1 a task that has not ended is kept alive here, also one that nobody can wake any more: it can still be cancelled.
//! I2 those that have ended are let go of in time: at most half of the book, or 64, are such.

use std::sync::Arc;

use super::Cancel;

/// Ended tasks that are tolerated whatever the number of running ones.
const SLACK: usize = 64;

/// The book.
#[derive(Default)]
pub(crate) struct Tasks {
    /// Each with whether it outlives a restart.
    tasks: Vec<(Arc<dyn Cancel>, bool)>,
    tidy_at: usize,
}

impl Tasks {
    pub(crate) fn add(&mut self, task: Arc<dyn Cancel>, lasting: bool) {
        if self.tasks.len() >= self.tidy_at.max(SLACK) {
            self.tasks.retain(|(task, _)| !task.is_over());
            self.tidy_at = 2 * self.tasks.len();
        }
        self.tasks.push((task, lasting));
    }

    /// Cancels those that belong to one incarnation.
    pub(crate) fn cancel_own(&mut self) {
        let ended: Vec<_> = self.tasks.extract_if(.., |(_, lasting)| !*lasting).collect();
        ended.into_iter().for_each(|(task, _)| task.cancel());
    }

    /// Cancels all.
    pub(crate) fn cancel(&mut self) {
        self.tasks.drain(..).for_each(|(task, _)| task.cancel());
    }
}
