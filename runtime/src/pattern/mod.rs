//! Ways of talking that are built from messages: asking, piping a task's result to oneself, publishing, finding each other.

pub mod ask;
pub mod event_stream;
pub mod handle;
pub mod receptionist;
pub mod task;

pub use ask::{Ask, AskError, Reply};
pub use event_stream::EventStream;
pub use handle::SystemHandle;
pub use receptionist::{Listing, Receptionist, ServiceKey};
pub use task::{TaskContext, TaskError, TaskHandle};
