//! Time: timers that belong to an actor, timeouts, and virtual time.
//!
//! A system has one clock. On threads it is the machine's; on a Stepper it is virtual: it stands still while something runs and
//! jumps to the next moment at which anything happens. A program that asks only this clock (`cx.now()`, timers, timeouts, `work`,
//! `block`) behaves the same on both, and an hour of virtual time passes in milliseconds.
//!
//! ```
//! use footlights::actor::{Actor, Context, Failure, Props};
//! use footlights::system::ActorSystem;
//! use std::time::Duration;
//!
//! /// Counts its heartbeats.
//! #[derive(Default)]
//! struct Heart {
//!     beats: u32,
//! }
//!
//! impl Actor for Heart {
//!     type Msg = ();
//!
//!     fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
//!         cx.timers().fixed_rate("beat", Duration::from_secs(1), || ())?;
//!         Ok(())
//!     }
//!
//!     fn receive(&mut self, cx: &mut Context<'_, Self>, _beat: ()) -> Result<(), Failure> {
//!         self.beats += 1;
//!         if self.beats == 3_600 {
//!             cx.stop();
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let system = ActorSystem::builder("hour").stepper().build()?;
//! let heart = system.spawn("heart", Props::new(Heart::default))?;
//! system.run_until_quiet(100_000);
//! assert!(heart.is_closed());
//! assert_eq!(system.now().as_nanos(), 3_600_000_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Timers
//! A timer has a key. Starting a key again replaces its timer, and *only* it. Cancelling, replacing, a restart and a stop reach ticks
//! that are queued already: an outdated tick is dropped and counted, never handled.
//!
//! | timer | the next tick is due |
//! |---|---|
//! | [`once`](crate::actor::TimerScope::once) | never |
//! | [`fixed_delay`](crate::actor::TimerScope::fixed_delay) | the delay after the last tick was handled |
//! | [`fixed_rate`](crate::actor::TimerScope::fixed_rate) | at start + n · period, whatever the handling takes |
//!
//! [`tell_after`](crate::actor::Context::tell_after) is different: the message is on its way from now on and belongs to the system, so it arrives even if its
//! sender has ended.
