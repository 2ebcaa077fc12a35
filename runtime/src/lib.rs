//! Footlights: an actor and stream runtime that you can watch.
//!
//! Three ideas carry it:
//!
//! - **Actors** ([`actor`]): state that nobody shares, handled one message at a time, kept alive by a supervisor that
//!   decides by plain rules ([`supervise`]).
//! - **Streams** ([`stream`]): chains of operators with backpressure; what lies between two boundaries runs as one actor.
//! - **Two dispatchers, one scheduler** ([`system`]): threads on all cores, or virtual workers in virtual time on the
//!   caller's thread, natively and in the browser. The same seed gives the same event log everywhere ([`observe`]).
//!
//! The [`guide`] teaches it, one page per idea. Start there, or with [`actor::Actor`], [`stream::Source`] and [`system::ActorSystem`]; `testkit` helps to test them.

#![deny(missing_debug_implementations)]

pub mod actor;
mod code;
mod dispatch;
pub mod guide;
pub mod id;
pub mod mailbox;
pub mod observe;
pub mod pattern;
pub mod rng;
pub mod routing;
#[cfg(feature = "scenario")]
pub mod scenario;
pub mod stream;
pub mod supervise;
mod sync;
pub mod system;
pub mod testkit;
pub mod time;

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct ReadmeExamples;
