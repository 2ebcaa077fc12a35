//! The run under the document: when a new one begins, what goes to the engine, what its answers mean.

use std::rc::Rc;

use footlights::scenario::schema;
use footlights::scenario::validate;
use serde_json::Value;

use super::edit::Step;
use super::edits::default_of;
use super::locale as text;
use super::state::{Action, Effect, Engine, State};
use crate::engine::protocol::{
    Change, Command, DocError, Logged, News, PROTOCOL, StopReason, Turn, Unit, Update,
};

/// Starts a new run of the document from turn 0, or says why it cannot.
pub fn reload(state: &mut State, effects: &mut Vec<Effect>) {
    match validate(&state.doc) {
        Err(problems) => {
            state.problems = problems;
            state.announce = text::problems(state.problems.len());
            state.run.stale = true;
            state.run.resume |= std::mem::take(&mut state.run.playing);
            effects.push(Effect::Send(Command::Pause));
        }
        Ok(_) => {
            state.problems.clear();
            state.faults_in_a_row = 0;
            state.run.stale = false;
            state.run.playing |= std::mem::take(&mut state.run.resume);
            state.run.ended = None;
            state.run.commands.clear();
            state.run.loaded = Some(Rc::clone(&state.doc));
            load(state, effects, 0);
        }
    }
}

/// Sends the loaded document with its commands, up to a turn.
fn load(state: &State, effects: &mut Vec<Effect>, at: Turn) {
    let Some(doc) = &state.run.loaded else { return };
    if state.engine != Engine::Ready {
        return; // sent once it is
    }
    effects.push(Effect::ClearLive);
    let scenario = (**doc).clone();
    effects.push(Effect::Send(Command::Load { scenario, commands: state.run.commands.clone(), at }));
    let node = super::reduce::watchable(state).map(str::to_owned);
    effects.push(Effect::Send(Command::Watch { node }));
    if state.run.playing {
        effects.push(Effect::Send(Command::Play { speed: state.run.speed }));
    }
}

/// Follows an edit: live parameters go to the engine, anything else asks for a new run.
pub fn follow(state: &mut State, step: &Step, effects: &mut Vec<Effect>) {
    let Some(changes) = step.param_changes() else { return ask_for_new_run(state, effects) };
    for (node, key, value) in changes {
        let kind = state.node(&node).map(|n| n.kind.clone()).unwrap_or_default();
        let live = schema::kind(&kind).and_then(|k| k.param(&key)).is_some_and(|p| p.live);
        if !live || state.run.stale {
            return ask_for_new_run(state, effects);
        }
        let value = value.or_else(|| default_of(&kind, &key)).unwrap_or(Value::Null);
        effects.push(Effect::Send(Command::Change(Change::Set { node, key, value })));
    }
}

fn ask_for_new_run(state: &mut State, effects: &mut Vec<Effect>) {
    state.run.stale = true;
    effects.push(Effect::ReloadSoon);
}

/// Carries out the actions of the transport.
pub fn transport(state: &mut State, action: &Action, effects: &mut Vec<Effect>) {
    match action {
        Action::TogglePlay if state.run.playing => pause(state, effects),
        Action::TogglePlay => play(state, effects),
        Action::Pause => pause(state, effects),
        Action::RunTo(target) => go(state, Command::RunTo(*target), effects),
        // The turns of a run that an edit has overtaken are no longer there to go to.
        Action::Seek(_) if state.is_outdated() => renew(state, effects),
        Action::Seek(turn) => go(state, Command::Seek(*turn), effects),
        Action::StepTurn => step(state, Unit::Turn, effects),
        Action::StepMessage => match state.selection.single().map(str::to_owned) {
            Some(node) => step(state, Unit::Message { node }, effects),
            None => state.announce = text::SELECT_A_NODE_FIRST.into(),
        },
        Action::Reset => {
            stand_still(state);
            reload(state, effects);
        }
        Action::Reload if state.run.stale => {
            reload(state, effects);
            if state.problems.is_empty() {
                super::reduce::toast(state, text::NEW_RUN, effects);
            }
        }
        _ => {}
    }
}

/// Starts the clock; a run that has ended, or that an edit has overtaken, is started anew first.
fn play(state: &mut State, effects: &mut Vec<Effect>) {
    if !state.is_outdated() && state.run.ended.is_none() {
        state.run.playing = true;
        effects.push(Effect::Send(Command::Play { speed: state.run.speed }));
        return;
    }
    let resume = std::mem::replace(&mut state.run.playing, true) || state.run.resume;
    reload(state, effects);
    if !state.problems.is_empty() {
        state.run.resume = resume;
        state.dock = super::state::DockTab::Problems;
    }
}

fn pause(state: &mut State, effects: &mut Vec<Effect>) {
    stand_still(state);
    effects.push(Effect::Send(Command::Pause));
}

/// The clock stands, and no edit sets it going again.
fn stand_still(state: &mut State) {
    state.run.playing = false;
    state.run.resume = false;
}

fn step(state: &mut State, unit: Unit, effects: &mut Vec<Effect>) {
    go(state, Command::Step(unit), effects);
}

/// Moves the clock and leaves it standing; a run that an edit has overtaken is started anew first.
fn go(state: &mut State, command: Command, effects: &mut Vec<Effect>) {
    if state.is_outdated() {
        renew(state, effects);
        if !state.problems.is_empty() {
            return;
        }
    }
    stand_still(state);
    state.run.ended = None;
    effects.push(Effect::Send(command));
}

/// Loads the drawing at turn 0 with the clock standing, or shows why it cannot run.
fn renew(state: &mut State, effects: &mut Vec<Effect>) {
    stand_still(state);
    reload(state, effects);
    if !state.problems.is_empty() {
        state.dock = super::state::DockTab::Problems;
    }
}

/// Takes what the engine says.
pub fn engine(state: &mut State, news: News, effects: &mut Vec<Effect>) {
    match news {
        News::Ready => ready(state, effects),
        News::Silent => state.engine = Engine::Silent,
        News::Hung => state.engine = Engine::Hung,
        News::Back => state.engine = Engine::Ready,
        News::Outdated => state.engine = Engine::Outdated,
        News::Answered(command, Ok((turn, at_ns))) => answered(state, command, turn, at_ns),
        // The page watches by itself what is selected: nobody asked, so nobody is told.
        News::Answered(Command::Watch { .. }, Err(_)) => {}
        News::Answered(_, Err(errors)) => refused(state, &errors, effects),
        News::Update(update) => updated(state, update, effects),
    }
}

/// A fresh worker gets what the last one ran: first everything, after a second fault the start,
/// after a third one nothing.
fn ready(state: &mut State, effects: &mut Vec<Effect>) {
    state.engine = Engine::Ready;
    if state.run.loaded.is_none() {
        return reload(state, effects);
    }
    let at = match state.faults_in_a_row {
        0 => 0,
        1 => state.resume_at,
        2 => {
            state.run.commands.clear();
            0
        }
        // It cannot even be loaded: the graph stays, and a person may try again.
        _ => {
            state.run.loaded = None;
            state.run.ended = Some(text::NOTHING_LOADED.into());
            return effects.push(Effect::ClearLive);
        }
    };
    load(state, effects, at);
}

fn answered(state: &mut State, command: Command, turn: Turn, at_ns: u64) {
    match command {
        Command::Change(change) => {
            if matches!(change, Change::Inject { .. }) && state.run.ended.take().is_some() {
                // There is something to do again: the run goes on from here, it need not start anew.
                state.announce = text::GOES_ON.into();
            }
            if state.run.commands.len() < super::state::COMMANDS_MAX {
                state.run.commands.push(Logged { turn, at_ns, change });
            }
        }
        Command::Play { .. } => state.faults_in_a_row = 0,
        Command::Load { .. } => state.run.number += 1,
        _ => {}
    }
}

fn refused(state: &mut State, errors: &[DocError], effects: &mut Vec<Effect>) {
    let reason = errors.first().map(|e| e.reason.clone()).unwrap_or_default();
    super::reduce::toast(state, &text::refused(&reason), effects);
}

fn updated(state: &mut State, update: Update, effects: &mut Vec<Effect>) {
    match update {
        Update::Stopped { why, .. } => stopped(state, why),
        Update::Fault { message, at } => {
            stand_still(state);
            state.engine = Engine::Starting;
            state.faults_in_a_row += 1;
            state.fault = Some(match state.faults_in_a_row {
                1 => text::fault_then(&message, text::FAULT_RELOADED),
                2 => text::fault_then(&message, text::FAULT_RESTARTED),
                _ => text::fault_then(&message, text::NOTHING_LOADED),
            });
            state.resume_at = at;
            effects.push(Effect::Respawn);
        }
        _ => {}
    }
}

fn stopped(state: &mut State, why: StopReason) {
    state.run.ended = match why {
        StopReason::Paused | StopReason::Reached => return,
        StopReason::Finished => Some(text::FINISHED.into()),
        StopReason::Aborted { nodes, why } => Some(text::aborted(&nodes, &why)),
        StopReason::Stalled { nodes, why } => Some(text::stalled(&nodes, &why)),
    };
    state.run.playing = false;
    state.announce = state.run.ended.clone().unwrap_or_default();
}

/// Gives up on the engine at the person's wish.
pub fn stop_engine(state: &mut State, effects: &mut Vec<Effect>) {
    stand_still(state);
    state.engine = Engine::Starting;
    state.resume_at = 0;
    state.run.commands.clear();
    state.announce = text::ENGINE_STOPPED.into();
    effects.push(Effect::Respawn);
}

/// The page's half of the handshake.
pub fn hello() -> Command {
    Command::Hello { protocol: PROTOCOL, build: crate::BUILD.into() }
}
