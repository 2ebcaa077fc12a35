//! Ways of talking that are built from messages: asking, piping a task's result to oneself.

pub mod ask;
mod blocking;
pub mod task;

pub use ask::{Ask, AskError, Reply};
pub use task::{TaskContext, TaskError, TaskHandle};
