//! Become: functions that handle messages in place of `receive`, the last one first.
//!
//! I1 the function on top handles from the *next* message on; the present run goes on as it began.
//! I2 there are at most [`HANDLERS_MAX`], and a restart takes them all away: a new instance begins with `receive`.
//!
//! The method is [`Context::become_`] with an underscore, since the word alone is reserved in Rust.

use std::fmt;
use std::sync::Arc;

use super::Actor;
use super::context::Context;
use super::failure::Failure;
use crate::observe::EventKind;

/// Functions on the stack of one actor, at most.
pub(super) const HANDLERS_MAX: usize = 64;

/// A function that handles messages in place of [`Actor::receive`].
pub type Handler<A> = fn(&mut A, &mut Context<'_, A>, <A as Actor>::Msg) -> Result<(), Failure>;

/// Says why an actor cannot become something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BecomeError {
    /// There are 64 functions on its stack already.
    TooMany,
}

impl fmt::Display for BecomeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an actor cannot become something 65 times without going back")
    }
}

impl std::error::Error for BecomeError {}

impl<A: Actor> Context<'_, A> {
    /// Has `handler` handle the messages from the next one on, in place of `receive` and of what was there before.
    ///
    /// # Errors
    /// If 64 are on the stack already.
    ///
    /// # Examples
    /// ```
    /// use footlights::actor::{Actor, Context, Failure, Props};
    /// use footlights::system::ActorSystem;
    /// struct Light { seen: Vec<&'static str> }
    /// impl Light {
    ///     fn on(&mut self, cx: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> {
    ///         self.seen.push("on");
    ///         cx.unbecome();
    ///         Ok(())
    ///     }
    /// }
    /// impl Actor for Light {
    ///     type Msg = ();
    ///     fn receive(&mut self, cx: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> {
    ///         self.seen.push("off");
    ///         Ok(cx.become_(Light::on)?)
    ///     }
    ///     fn stopped(&mut self, _: &mut Context<'_, Self>) {
    ///         assert_eq!(self.seen, ["off", "on", "off"]);
    ///     }
    /// }
    /// let system = ActorSystem::builder("lamp").stepper().build()?;
    /// let light = system.spawn("light", Props::new(|| Light { seen: vec![] }))?;
    /// (0..3).for_each(|_| light.tell(()));
    /// system.run_until_quiet(100);
    /// assert_eq!(system.ledger().handled, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn become_(&mut self, handler: Handler<A>) -> Result<(), BecomeError> {
        if self.handlers.len() >= HANDLERS_MAX {
            return Err(BecomeError::TooMany);
        }
        self.handlers.push(handler);
        Ok(())
    }

    /// Goes back to what handled messages before the last [`Context::become_`]; false if that is `receive` already.
    pub fn unbecome(&mut self) -> bool {
        self.handlers.pop().is_some()
    }

    /// Shows in the actor's snapshot that it is in this state, until another is shown or the instance is dropped.
    pub(crate) fn show_state(&mut self, name: Arc<str>) {
        self.own.doing = Some(name);
    }

    /// Shows the state `to` and puts on record that the actor came there from `from`.
    pub(crate) fn show_transition(&mut self, from: Arc<str>, to: Arc<str>) {
        self.own.doing = Some(to.clone());
        self.cell.head.record(EventKind::Transition { from, to });
    }
}
