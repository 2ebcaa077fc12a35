//! Testing: how to test actors without sleeping.
//!
//! On a Stepper a test decides when time passes, and every run with one seed is the same. A [`Probe`](crate::testkit::Probe) is an
//! actor that a test looks into.
//!
//! ```
//! use footlights::actor::{Actor, Context, Failure, Props, Recipient};
//! use footlights::testkit::{Probe, on_each_dispatcher};
//! use std::time::Duration;
//!
//! struct Alarm {
//!     bell: Recipient<&'static str>,
//! }
//! impl Actor for Alarm {
//!     type Msg = ();
//!     fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
//!         cx.timers().once("ring", Duration::from_millis(20), ());
//!         Ok(())
//!     }
//!     fn receive(&mut self, cx: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> {
//!         cx.tell(&self.bell, "ring");
//!         Ok(())
//!     }
//! }
//! // In virtual time with one worker and with four, by sixteen seeds each, and on threads:
//! on_each_dispatcher(|system| {
//!     let probe = Probe::new(system, "probe");
//!     let bell = probe.recipient();
//!     let alarm = Props::new(move || Alarm { bell: bell.clone() });
//!     system.spawn("alarm", alarm).expect("a free name");
//!     probe.expect_eq(system, "ring");
//! });
//! ```
//! Afterwards the harness shuts the system down and checks the ledger: nothing may be left, and everything that was sent must have a
//! fate. A failure prints the seed, and how to run that seed alone.
//!
//! [`Stepping`](crate::testkit::Stepping) goes by hand, [`Script`](crate::testkit::Script) says which message must be next and which never, [`Faults`](crate::testkit::Faults) plants failures and delays, and
//! [`assert_log`](crate::testkit::assert_log) compares a whole event log with a golden one.
