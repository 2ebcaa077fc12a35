//! Routing: one reference in front of many actors.
//!
//! A router does not pass messages on: whoever sends chooses the routee from a table and puts the message straight into its
//! mailbox. The router's own actor makes, supervises and replaces the routees and is never on the way.
//!
//! ```
//! use footlights::actor::{Actor, Context, Failure, Props};
//! use footlights::routing::Router;
//! use footlights::supervise::Strategy;
//! use footlights::system::ActorSystem;
//!
//! struct Worker;
//! impl Actor for Worker {
//!     type Msg = u32;
//!     fn receive(&mut self, _: &mut Context<'_, Self>, n: u32) -> Result<(), Failure> {
//!         if n == 13 { Err(Failure::new("unlucky", "thirteen")) } else { Ok(()) }
//!     }
//! }
//! let system = ActorSystem::builder("demo").stepper().build()?;
//! let pool = Router::round_robin().pool(4, Props::new(|| Worker)).supervise(Strategy::one_for_one());
//! let workers = system.spawn_router("workers", pool)?;
//! (0..20).for_each(|n| workers.tell(n));
//! system.run_until_quiet(1_000);
//! assert_eq!((system.ledger().handled, system.ledger().failed), (19, 1)); // one has restarted, alone
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | router | who gets the message |
//! |---|---|
//! | round robin | the next one |
//! | random | any, by the system's seed |
//! | smallest mailbox | whoever has least to do |
//! | balancing | whoever is free first: there is one queue for all |
//! | broadcast | all |
//! | scatter-gather-first | all; the first answer counts |
//! | tail-chopping | one, then another if it is slow; the first answer counts |
//! | consistent hash | the one that is responsible for the message's key |
//!
//! The routees of a *pool* are the router's children; those of a *group* live elsewhere. A pool replaces who has ended, may be
//! resized by hand or by a resizer, and lets a routee finish its work before it goes.
//! A group is a list of references, or follows a [`ServiceKey`](crate::pattern::ServiceKey): who registers with the receptionist is
//! a routee, who stops is none any more ([`Router::group_of`](crate::routing::Router::group_of)).
//!
//! The queue of a balancing router may have a bound ([`Router::balancing_bounded`](crate::routing::Router::balancing_bounded)); the
//! mailboxes of all other routees have their own.
