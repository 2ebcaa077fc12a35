//! Undo and redo: a log of steps, each with its inverse.
//!
//! I1 undoing all gives the start, redoing all gives the end (a property test says so). A new edit drops the redo branch;
//! beyond [`STEPS_MAX`] the oldest step is forgotten. One gesture, such as a slider's drag, is one step.

use std::collections::VecDeque;

use footlights::scenario::document::Scenario;

use super::edit::Step;

/// Steps that can be undone at most.
pub const STEPS_MAX: usize = 500;

/// The log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    done: VecDeque<Step>,
    undone: Vec<Step>,
    gesture: Option<String>,
}

impl History {
    /// Records a step that has been applied; `gesture` names what it is a part of.
    pub fn record(&mut self, step: Step, gesture: Option<&str>) {
        if step.is_empty() {
            return;
        }
        self.undone.clear();
        let goes_on = gesture.is_some() && self.gesture.as_deref() == gesture;
        self.gesture = gesture.map(str::to_owned);
        if goes_on && self.done.back_mut().is_some_and(|last| last.absorb(&step)) {
            return;
        }
        self.done.push_back(step);
        if self.done.len() > STEPS_MAX {
            self.done.pop_front();
        }
    }

    /// Ends a gesture: what follows is a step of its own.
    pub fn end_gesture(&mut self) {
        self.gesture = None;
    }

    /// Undoes the latest step and gives what was applied.
    pub fn undo(&mut self, doc: &mut Scenario) -> Option<Step> {
        self.end_gesture();
        let step = self.done.pop_back()?;
        let inverse = step.inverse();
        inverse.apply(doc);
        self.undone.push(step);
        Some(inverse)
    }

    /// Does the latest undone step again and gives it.
    pub fn redo(&mut self, doc: &mut Scenario) -> Option<Step> {
        self.end_gesture();
        let step = self.undone.pop()?;
        step.apply(doc);
        self.done.push_back(step.clone());
        Some(step)
    }

    /// Tells whether there is a step to undo.
    pub fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    /// Tells whether there is a step to redo.
    pub fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }
}
