//! The guide: one page per idea, each with programs that run.
//!
//! Read [`actors`] and [`supervision`] first; the other pages stand by themselves.
//!
//! | page | what it answers |
//! |---|---|
//! | [`actors`] | What is an actor, how do I talk to one, how do I get an answer? |
//! | [`supervision`] | What happens when a handler fails, in which order, and who decides? |
//! | [`messaging`] | Which way to send is the right one? What becomes of a message, always? |
//! | [`mailboxes`] | What if messages come faster than they are handled? |
//! | [`time`] | Timers, timeouts, and virtual time. |
//! | [`routing`] | One reference in front of many actors. |
//! | [`dispatchers`] | Who runs an actor, what does work cost, and why is blocking expensive? |
//! | [`testing`] | How do I test actors without sleeping? |
//! | [`coming_from_akka`] [`coming_from_erlang`] [`coming_from_actix`] | What is it called here, and what is different? |
//!
//! The `examples/` folder of the crate has whole programs, each with its story and what it prints.

pub mod actors;
pub mod coming_from_actix;
pub mod coming_from_akka;
pub mod coming_from_erlang;
pub mod dispatchers;
pub mod mailboxes;
pub mod messaging;
pub mod routing;
pub mod supervision;
pub mod testing;
pub mod time;
