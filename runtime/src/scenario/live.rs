//! What may be done to a run: turn a knob, inject a message, break a node.
//!
//! On a Stepper these are called between two turns. I1 each is checked by the schema first; a refusal changes nothing.
//! I2 what is done stands in the event log as a command.

use serde_json::Value;

use super::behaviours::{Msg, Task};
use super::build::Run;
use super::error::{DocError, Place};
use super::schema::Carries;

/// Ways to break a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breakage {
    /// Its next message fails.
    FailNext,
    /// It stops, as if told to.
    Stop,
}

impl Run {
    /// Sets a live parameter. On a Stepper, call it between two turns.
    ///
    /// # Errors
    /// If there is no such node or parameter, it is not live, or the value is not allowed.
    pub fn set(&self, node: &str, key: &str, value: &Value) -> Result<(), DocError> {
        let index = self.find(node)?;
        let place = || Place::param(node, key);
        let kind = self.board.plan.nodes[index].kind;
        let param = kind.param(key);
        let param =
            param.ok_or_else(|| DocError::new(place(), format!("{} has no such parameter", kind.name)))?;
        if !param.live {
            let error = DocError::new(place(), "cannot be changed while the graph runs");
            return Err(error.mend("change it in the document: that starts a new run"));
        }
        param.check(value).map_err(|reason| DocError::new(place(), reason))?;
        self.system.record_command(&format!("set {node}.{key} = {value}"));
        self.board.set(index, param.key, value.clone());
        if let ("source" | "master", Some(actor)) = (kind.name, self.board.actor(index)) {
            actor.tell(Msg::Retune);
        }
        if let Some((stream, _)) = self.places[index] {
            self.streams[stream].set(node, key, value);
        }
        Ok(())
    }

    /// Sends one message to a node from outside.
    ///
    /// # Errors
    /// If there is no such node, or it takes no messages.
    pub fn inject(&self, node: &str, value: u64) -> Result<(), DocError> {
        let index = self.find(node)?;
        let kind = self.board.plan.nodes[index].kind;
        if kind.port("in").is_none_or(|p| p.carries != Carries::Message) {
            return Err(DocError::new(Place::node(node), format!("a {} takes no messages", kind.name)));
        }
        self.system.record_command(&format!("inject {value} into {node}"));
        let task = Task::new(value, value as i64, self.system.now());
        match (self.board.router(index), self.board.actor(index)) {
            // By its door, if it has one.
            (_, Some(actor)) => actor.tell(Msg::Task(task)),
            (Some(router), None) => router.tell(Msg::Task(task)),
            (None, None) => {}
        }
        Ok(())
    }

    /// Breaks a node.
    ///
    /// # Errors
    /// If there is no such node, or it is no actor.
    pub fn break_node(&self, node: &str, how: Breakage) -> Result<(), DocError> {
        let index = self.find(node)?;
        let no_actor = || DocError::new(Place::node(node), "is no actor that could be broken");
        let actor = match self.board.router(index) {
            Some(router) if how == Breakage::Stop => router.actor(),
            Some(_) if self.board.plan.nodes[index].kind.name == "router" => return Err(no_actor()),
            Some(router) => router.actor(),
            None => self.board.actor(index).ok_or_else(no_actor)?.any(),
        };
        match how {
            Breakage::FailNext => {
                self.system.record_command(&format!("let the next message of {node} fail"));
                self.board.nodes[index].break_next();
            }
            Breakage::Stop => {
                self.system.record_command(&format!("stop {node}"));
                actor.stop();
            }
        }
        Ok(())
    }

    fn find(&self, node: &str) -> Result<usize, DocError> {
        let missing = || DocError::new(Place::node(node), "there is no such node");
        self.board.plan.node(node).ok_or_else(missing)
    }
}
