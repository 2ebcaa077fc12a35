//! Mailboxes: what if messages come faster than they are handled?
//!
//! A mailbox is *capacity × what happens when it is full × order*. By default it has no bound of its own, but all such mailboxes
//! of a system share a bound on memory. A bound is one line:
//!
//! ```
//! use footlights::actor::{Actor, Context, Failure, Props, TellError};
//! use footlights::mailbox::{Mailbox, OverflowStrategy};
//! use footlights::system::ActorSystem;
//!
//! struct Slow;
//! impl Actor for Slow {
//!     type Msg = u32;
//!     fn receive(&mut self, _: &mut Context<'_, Self>, _: u32) -> Result<(), Failure> { Ok(()) }
//! }
//! let system = ActorSystem::builder("demo").stepper().build()?;
//! let small = Mailbox::bounded(2, OverflowStrategy::DropNew);
//! let slow = system.spawn("slow", Props::new(|| Slow).mailbox(small))?;
//! slow.tell(1);
//! slow.tell(2);
//! slow.tell(3); // dropped, and counted as that
//! assert_eq!(slow.try_tell(4), Err(TellError::Full(4))); // handed back
//! system.run_until_quiet(100);
//! let ledger = system.ledger();
//! assert_eq!((ledger.handled, ledger.dropped, ledger.refused), (2, 1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | when it is full | a tell | a send (waits) |
//! |---|---|---|
//! | `Backpressure` | is dropped | waits for room, first come, first served |
//! | `Timeout(d)` | is dropped | waits for at most d |
//! | `DropNew` | is dropped | as a tell |
//! | `DropOldest` | pushes the oldest out | as a tell |
//! | `RejectToSender` | becomes a dead letter | hears of it at once |
//! | `FailReceiver` | is dropped, and the receiver fails | as a tell |
//!
//! What an actor has ordered itself (ticks, notices of ends, answers) has its room beside the bound; nothing else goes around it.
//! Decisions of the supervisor use a lane of their own: a million queued messages do not delay a stop.
//!
//! # Which length is too long?
//! Look at the *age* of the oldest message, not at the length: ten slow requests are worse than a thousand quick ones. A snapshot
//! has both. The example `message_age` shows it.
