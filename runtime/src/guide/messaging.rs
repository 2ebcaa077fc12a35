//! Messaging: which way to send is the right one, and what becomes of a message.
//!
//! Delivery is at most once, and **every message that was taken in has exactly one fate**. The conservation
//! [`Ledger`](crate::observe::Ledger) counts them, and it balances after every step:
//!
//! > sent = handled + queued + stashed + failed + dead-lettered + dropped
//!
//! Two messages of one sender to one receiver are handled in the order they were sent, whichever way they were sent. A notice that
//! an actor has ended comes after everything that it had sent.
//!
//! # From inside a handler
//! | I want to | call | it waits |
//! |---|---|---|
//! | send | [`cx.tell`](crate::actor::Context::tell) | never |
//! | send, and read no more until there is room there | [`cx.send`](crate::actor::Context::send) | the actor, not the thread |
//! | send, and get it back if it is refused | [`cx.tell_or`](crate::actor::Context::tell_or) | never |
//! | send later | [`cx.tell_after`](crate::actor::Context::tell_after) | never |
//! | ask, and get the answer as a message of mine | [`cx.ask`](crate::actor::Context::ask) | never |
//! | run something long, and get its result as a message | [`cx.spawn_task`](crate::actor::Context::spawn_task), [`cx.pipe_to_self`](crate::actor::Context::pipe_to_self) | never |
//! | give away an address for another type of message | [`cx.adapter`](crate::actor::Context::adapter) | |
//!
//! # From outside, or from a task
//! | I want to | call |
//! |---|---|
//! | send | [`actor.tell`](crate::actor::ActorRef::tell) |
//! | know at once whether it was taken | [`actor.try_tell`](crate::actor::ActorRef::try_tell): it hands the message back |
//! | wait for room | [`actor.send(m).await`](crate::actor::ActorRef::send) |
//! | an answer | [`actor.ask(make, timeout).await`](crate::actor::ActorRef::ask) |
//!
//! # An answer that never comes
//! comes at once, as an error. If the target has ended, or ends with the question queued, if its handler fails or drops the reply
//! handle, the asker is told which of these it was ([`AskError`](crate::pattern::AskError)). The timeout is only for a target that thinks too long.
//!
//! ```
//! use footlights::actor::{Actor, Context, Failure, Props};
//! use footlights::pattern::{AskError, Reply};
//! use footlights::system::ActorSystem;
//! use std::time::Duration;
//!
//! struct Oracle;
//!
//! impl Actor for Oracle {
//!     type Msg = (&'static str, Reply<u32>);
//!
//!     fn receive(&mut self, _cx: &mut Context<'_, Self>, (question, reply): Self::Msg) -> Result<(), Failure> {
//!         match question {
//!             "the answer?" => {
//!                 reply.send(42);
//!                 Ok(())
//!             }
//!             "why?" => Ok(()), // the handle is dropped
//!             _ => Err(Failure::new("confused", question)),
//!         }
//!     }
//! }
//!
//! let system = ActorSystem::builder("delphi").stepper().build()?;
//! let oracle = system.spawn("oracle", Props::new(|| Oracle))?;
//! let ask = |question| system.block_on(oracle.ask(|reply| (question, reply), Duration::from_secs(3_600)));
//! assert_eq!(ask("the answer?"), Ok(42));
//! assert_eq!(ask("why?"), Err(AskError::NoReply));
//! assert!(matches!(ask("what?"), Err(AskError::HandlerFailed(_))));
//! assert_eq!(system.now().as_nanos(), 0); // and nobody has waited
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Dead letters
//! A message to an actor that has ended is not an error of the sender, and it is not lost without a trace: it is a
//! [`DeadLetter`](crate::actor::DeadLetter) with its address and its reason.
