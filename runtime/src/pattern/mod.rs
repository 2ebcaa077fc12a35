//! Ways of talking that are built from messages: asking, piping a task's result to oneself, publishing, finding each other,
//! and guarding calls that may fail.

pub mod aggregate;
pub mod ask;
mod blocking;
pub mod breaker;
mod breaker_state;
pub mod event_stream;
pub mod fsm;
pub mod handle;
pub mod receptionist;
pub mod retry;
pub mod sleep;
pub mod task;

pub use aggregate::{Aggregated, Collector};
pub use ask::{Ask, AskError, Reply};
pub use breaker::{BreakerError, BreakerOpen, BreakerSettings, CircuitBreaker, Permit};
pub use event_stream::EventStream;
pub use fsm::{Fsm, FsmState, Machine, Next, Step};
pub use handle::SystemHandle;
pub use receptionist::{Listing, Receptionist, ServiceKey};
pub use retry::Retry;
pub use sleep::{Elapsed, Sleep};
pub use task::{TaskContext, TaskError, TaskHandle};
