//! `Chain`: the blueprint of a drawn linear stream: a [`Drawing`] in which each node is wired to the one before.
//!
//! I1 all errors are found at once, each with its node; nothing is half-built.
//! I2 the stages' names are the drawn nodes' ids: snapshots and live changes go by them.

use std::sync::Arc;

use super::drawing::{DrawError, Drawing};
use crate::stream::blueprint::Built;
use crate::stream::done::Done;
use crate::stream::kernel::Cx;
use crate::stream::ops::feed::Feed;
use crate::stream::params::Params;
use crate::stream::registry::Role;
use crate::stream::signal::End;
use crate::stream::value::Value;

/// The blueprint of a drawn linear stream.
///
/// # Examples
/// ```
/// use footlights::stream::{Chain, Params, Value};
/// let count = Params::from([("count".to_string(), Value::from(10))]);
/// let chain = Chain::new()
///     .op("numbers", "range", count)
///     .op("evens", "filter", Params::new())
///     .op("cut", "async_boundary", Params::new())
///     .op("sum", "fold", Params::new());
/// assert_eq!(chain.run_local().unwrap().take(), Some(Ok(Value::from(20))));
/// ```
#[derive(Clone, Default)]
pub struct Chain {
    drawing: Drawing,
    last: Option<Arc<str>>,
}

impl Chain {
    /// Makes an empty chain.
    pub fn new() -> Self {
        Chain::default()
    }

    fn then(mut self, name: &str, add: impl FnOnce(Drawing) -> Drawing) -> Self {
        self.drawing = add(self.drawing);
        if let Some(last) = self.last.replace(name.into()) {
            self.drawing = self.drawing.wire(&last, name);
        }
        self
    }

    /// Adds an operator of the registry.
    pub fn op(self, name: &str, kind: &str, params: Params) -> Self {
        self.then(name, |drawing| drawing.op(name, kind, params))
    }

    /// Begins with a source that is fed from outside.
    pub fn feed(self, name: &str, feed: Feed<Value>) -> Self {
        self.then(name, |drawing| drawing.feed(name, feed))
    }

    /// Ends with a sink that calls `f` for each element and `at_end` once: the bridge to an actor.
    pub fn tell(
        self,
        name: &str,
        f: impl FnMut(&mut Cx, Value) + Send + 'static,
        at_end: impl FnMut(&mut Cx, &End) + Send + 'static,
    ) -> Self {
        self.then(name, |drawing| drawing.tell(name, f, at_end))
    }

    /// Finds everything that is wrong with the chain.
    pub fn check(&self) -> Vec<DrawError> {
        let roles = self.drawing.roles();
        let last = roles.len().saturating_sub(1);
        let mut errors = self.drawing.check_nodes();
        if errors.contains(&DrawError::TooLarge) {
            return errors;
        }
        for (i, (name, role)) in roles.iter().enumerate() {
            let place = if i == 0 { Some(Role::Source) } else { (i == last).then_some(Role::Sink) };
            errors.extend(role.and_then(|role| check_place(name, role, place)));
        }
        match roles.len() {
            0 => errors.push(DrawError::NoSource),
            1 => errors.push(DrawError::NoSink),
            _ => {}
        }
        errors
    }

    /// Builds the islands of one run, and its result.
    ///
    /// # Errors
    /// Everything that is wrong with the chain.
    pub fn build(&self, seed: u64) -> Result<(Built, Done<Value>), Vec<DrawError>> {
        let errors = self.check();
        if !errors.is_empty() {
            return Err(errors);
        }
        let (built, results) = self.drawing.build(seed)?;
        let done = results.into_iter().next().map(|(_, done)| done);
        done.map(|done| (built, done)).ok_or_else(|| vec![DrawError::NoSink])
    }

    /// Runs it on the calling thread to its end, in virtual time with one worker.
    ///
    /// # Errors
    /// Everything that is wrong with the chain.
    pub fn run_local(&self) -> Result<Done<Value>, Vec<DrawError>> {
        let (built, done) = self.build(0)?;
        crate::stream::local::LocalRun::new(built, 1).run();
        Ok(done)
    }
}

fn check_place(name: &Arc<str>, role: Role, place: Option<Role>) -> Option<DrawError> {
    match (role, place) {
        (Role::Source, Some(Role::Source)) | (Role::Sink, Some(Role::Sink)) => None,
        (_, Some(Role::Source)) => Some(DrawError::NoSource),
        (_, Some(_)) => Some(DrawError::NoSink),
        (Role::Flow | Role::Boundary, None) => None,
        (_, None) => Some(DrawError::Misplaced { node: name.clone() }),
    }
}
