//! The tasks that an incarnation has started and that end with it.
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
    tasks: Vec<Arc<dyn Cancel>>,
    tidy_at: usize,
}

impl Tasks {
    pub(crate) fn add(&mut self, task: Arc<dyn Cancel>) {
        if self.tasks.len() >= self.tidy_at.max(SLACK) {
            self.tasks.retain(|task| !task.is_over());
            self.tidy_at = 2 * self.tasks.len();
        }
        self.tasks.push(task);
    }

    /// Cancels all.
    pub(crate) fn cancel(&mut self) {
        self.tasks.drain(..).for_each(|task| task.cancel());
    }
}
