//! The one door through which the state changes: an action comes in, effects come out.

use std::rc::Rc;

use footlights::scenario::document::{PortRef, Scenario};
use footlights::scenario::validate;

use super::edit::Draft;
use super::state::{Action, Effect, Engine, Import, Reparent, Selection, State, Tool};
use super::{builtin, connect, edits, locale as text, runs};
use crate::engine::protocol::{Breakage, Change, Command};

/// Changes the state and says what the page shall do.
pub fn reduce(state: &mut State, action: Action) -> Vec<Effect> {
    let mut effects = Vec::new();
    let watched = watchable(state).map(str::to_owned);
    match action {
        Action::OpenBuiltin(_) | Action::OpenEmpty | Action::ShowImport(_) | Action::Import(_) => {
            open(state, action, &mut effects);
        }
        Action::ImportFailed(error) => state.import = Some(Import { errors: vec![error] }),
        Action::Select(_) | Action::Toggle(_) | Action::SelectEdge(_) | Action::SelectAll => {
            select(state, action);
        }
        Action::Take(tool) => state.tool = tool,
        Action::Nudge(dx, dy) => nudge(state, dx, dy),
        Action::EndGesture => state.history.end_gesture(),
        Action::Undo | Action::Redo => travel(state, &action, &mut effects),
        Action::SetSpeed(speed) => set_speed(state, speed, &mut effects),
        Action::Inject | Action::FailNext => poke(state, &action, &mut effects),
        Action::ShowInspector(tab) => state.inspector = tab,
        Action::ShowDock(tab) => state.dock = tab,
        Action::DropToast(number) => {
            state.toast.take_if(|(n, _)| *n == number);
        }
        Action::DropFault => state.fault = None,
        Action::Engine(news) => runs::engine(state, news, &mut effects),
        Action::StopEngine => runs::stop_engine(state, &mut effects),
        Action::Say(message) => toast(state, &message, &mut effects),
        Action::Hide => hide(state, &mut effects),
        Action::DebugPanic => effects.push(Effect::Send(Command::DebugPanic)),
        Action::TogglePlay
        | Action::Pause
        | Action::StepTurn
        | Action::StepMessage
        | Action::RunTo(_)
        | Action::Seek(_)
        | Action::Reset
        | Action::Reload => runs::transport(state, &action, &mut effects),
        edit => change(state, edit, &mut effects),
    }
    watch_selection(state, watched.as_deref(), &mut effects);
    if !matches!(state.engine, Engine::Ready | Engine::Hung) {
        // Nobody listens yet; once the engine is ready it is told all that holds then.
        effects.retain(|e| !matches!(e, Effect::Send(_)));
    }
    effects
}

/// Shows a short message, also to the live region.
pub fn toast(state: &mut State, message: &str, effects: &mut Vec<Effect>) {
    let number = state.toast_count.wrapping_add(1);
    state.toast_count = number;
    state.toast = Some((number, message.to_owned()));
    state.announce = message.to_owned();
    effects.push(Effect::ExpireToast(number));
}

/// The selected node, if the run that is loaded has it.
pub fn watchable(state: &State) -> Option<&str> {
    let nodes = &state.run.loaded.as_ref()?.nodes;
    state.selection.single().filter(|id| nodes.iter().any(|n| n.id == *id))
}

fn watch_selection(state: &State, before: Option<&str>, effects: &mut Vec<Effect>) {
    let now = watchable(state);
    let told = effects.iter().any(|e| matches!(e, Effect::Send(Command::Watch { .. })));
    if now != before && !told && state.engine == Engine::Ready {
        effects.push(Effect::Send(Command::Watch { node: now.map(str::to_owned) }));
    }
}

fn open(state: &mut State, action: Action, effects: &mut Vec<Effect>) {
    match action {
        Action::ShowImport(open) => state.import = open.then(Import::default),
        Action::OpenEmpty => exchange(state, builtin::empty(), effects),
        Action::OpenBuiltin(at) => match builtin::load(at) {
            Ok(doc) => exchange(state, doc, effects),
            Err(error) => state.import = Some(Import { errors: vec![error] }),
        },
        Action::Import(text) => match read(&text) {
            Ok(doc) => {
                state.import = None;
                exchange(state, doc, effects);
            }
            Err(errors) => state.import = Some(Import { errors }),
        },
        _ => {}
    }
}

/// Reads and checks a document's text; nothing is half-loaded. Missing wires are no reason to refuse it: whoever drew half a
/// graph can go on with it.
fn read(text: &str) -> Result<Scenario, Vec<String>> {
    let lines = |errors: Vec<footlights::scenario::DocError>| {
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let doc = Scenario::parse(text).map_err(lines)?;
    match validate(&doc) {
        Err(mut errors) if errors.iter().any(|e| !e.is_unfinished()) => {
            errors.retain(|e| !e.is_unfinished());
            Err(lines(errors))
        }
        _ => Ok(doc),
    }
}

fn exchange(state: &mut State, doc: Scenario, effects: &mut Vec<Effect>) {
    let mut draft = Draft::of(&state.doc);
    draft.replace(doc);
    commit(state, draft, None, &mut Vec::new());
    state.selection = Selection::default();
    state.tool = Tool::Select;
    effects.push(Effect::Fit);
    runs::reload(state, effects);
    if !state.problems.is_empty() {
        // What the last graph did is nothing to show on this one.
        state.run.loaded = None;
        state.run.ended = None;
        state.dock = super::state::DockTab::Problems;
        effects.push(Effect::ClearLive);
    }
}

fn select(state: &mut State, action: Action) {
    match action {
        Action::Select(ids) => {
            state.selection = Selection { nodes: ids.into_iter().collect(), edge: None };
        }
        Action::Toggle(id) => {
            state.selection.edge = None;
            if !state.selection.nodes.remove(&id) {
                state.selection.nodes.insert(id);
            }
        }
        Action::SelectEdge(id) => {
            state.selection = Selection { edge: Some(id), ..Selection::default() };
        }
        Action::SelectAll => {
            let nodes = state.doc.nodes.iter().map(|n| n.id.clone()).collect();
            state.selection = Selection { nodes, edge: None };
        }
        _ => {}
    }
    forget_missing(state);
}

fn nudge(state: &mut State, dx: i32, dy: i32) {
    if let Tool::Move { dx: x, dy: y } = &mut state.tool {
        *x += dx;
        *y += dy;
    }
}

fn set_speed(state: &mut State, speed: crate::engine::protocol::Speed, effects: &mut Vec<Effect>) {
    state.run.speed = speed;
    if state.run.playing {
        effects.push(Effect::Send(Command::Play { speed }));
    }
}

/// Nobody watches: the clock stops, and nothing is lost behind the person's back.
fn hide(state: &mut State, effects: &mut Vec<Effect>) {
    if state.run.playing {
        runs::transport(state, &Action::Pause, effects);
        toast(state, text::PAUSED_WHILE_HIDDEN, effects);
    }
}

fn poke(state: &mut State, action: &Action, effects: &mut Vec<Effect>) {
    let Some(node) = state.selection.single().map(str::to_owned) else { return };
    let change = match action {
        Action::Inject => Change::Inject { node, value: state.run.commands.len() as u64 + 1 },
        _ => Change::Break { node, how: Breakage::FailNext },
    };
    effects.push(Effect::Send(Command::Change(change)));
}

fn travel(state: &mut State, action: &Action, effects: &mut Vec<Effect>) {
    let mut doc = (*state.doc).clone();
    let step = match action {
        Action::Undo => state.history.undo(&mut doc),
        _ => state.history.redo(&mut doc),
    };
    let Some(step) = step else { return };
    state.doc = Rc::new(doc);
    forget_missing(state);
    runs::follow(state, &step, effects);
}

/// A selection names only what is there.
fn forget_missing(state: &mut State) {
    let doc = Rc::clone(&state.doc);
    state.selection.nodes.retain(|id| doc.nodes.iter().any(|n| &n.id == id));
    state.selection.edge.take_if(|id| !doc.edges.iter().any(|e| &e.id == id));
}

fn change(state: &mut State, action: Action, effects: &mut Vec<Effect>) {
    let mut draft = Draft::of(&state.doc);
    let mut gesture = None;
    match action {
        Action::Place(kind, x, y, parent) => {
            let id = edits::place(&mut draft, &kind, x, y, parent);
            state.tool = Tool::Select;
            state.selection = Selection { nodes: [id.clone()].into(), edge: None };
            effects.push(Effect::Focus(id));
        }
        Action::Connect(a, b) => wire(state, &mut draft, &a, &b, effects),
        Action::Delete => {
            edits::delete(&mut draft, &state.selection);
            state.selection = Selection::default();
        }
        Action::MoveBy(ids, dx, dy, reparent) => edits::move_by(&mut draft, &ids, dx, dy, &reparent),
        Action::EndMove(keep) => end_move(state, &mut draft, keep),
        Action::SetParam(id, key, value, goes_on) => {
            gesture = goes_on.then(|| format!("{id}.{key}"));
            edits::set_param(&mut draft, &id, &key, value);
        }
        Action::SetLabel(id, label) => draft.change_node(&id, |n| n.label = label),
        Action::SetParent(ids, parent) => edits::set_parent(&mut draft, &ids, parent.as_deref()),
        Action::Group => group(state, &mut draft),
        Action::Ungroup => {
            if let Some(id) = state.selection.single().map(str::to_owned) {
                edits::ungroup(&mut draft, &id);
            }
        }
        Action::SetSeed(seed) => draft.change_run(|run| run.seed = seed),
        Action::SetWorkers(workers) => draft.change_run(|run| run.workers = workers),
        Action::SetThroughput(messages) => draft.change_run(|run| run.throughput = messages),
        Action::SetBatch(events) => draft.change_run(|run| run.batch = events),
        Action::SetDispatchers(rows) => edits::set_dispatchers(&mut draft, rows),
        Action::SetDispatcher(id, name) => draft.change_node(&id, |n| n.dispatcher = name),
        Action::SetSetting(key, value) => edits::set_setting(&mut draft, &key, value),
        _ => return,
    }
    commit(state, draft, gesture.as_deref(), effects);
}

fn commit(state: &mut State, draft: Draft, gesture: Option<&str>, effects: &mut Vec<Effect>) {
    let (doc, step) = draft.finish();
    if step.is_empty() {
        return;
    }
    state.doc = Rc::new(doc);
    forget_missing(state);
    state.history.record(step.clone(), gesture);
    runs::follow(state, &step, effects);
}

fn wire(state: &mut State, draft: &mut Draft, a: &PortRef, b: &PortRef, effects: &mut Vec<Effect>) {
    state.tool = Tool::Select;
    match connect::verdict(&state.doc, a, b) {
        Ok(()) => {
            let (from, to) = connect::in_order(&state.doc, a, b);
            state.announce = text::connected(&from.to_string(), &to.to_string());
            edits::connect(draft, from, to);
        }
        Err(reason) => toast(state, &text::refused(&reason), effects),
    }
}

fn end_move(state: &mut State, draft: &mut Draft, keep: bool) {
    let Tool::Move { dx, dy } = std::mem::take(&mut state.tool) else { return };
    if keep {
        let ids: Vec<String> = state.selection.nodes.iter().cloned().collect();
        edits::move_by(draft, &ids, dx, dy, &Reparent::Keep);
    }
}

fn group(state: &mut State, draft: &mut Draft) {
    let ids: Vec<String> = state.selection.nodes.iter().cloned().collect();
    match edits::group(draft, &ids) {
        Some(id) => state.selection = Selection { nodes: [id].into(), edge: None },
        None => state.announce = text::SELECT_ACTORS_TO_GROUP.into(),
    }
}

/// Lists what is wrong with a node, in words.
pub fn problems_of_node(state: &State, id: &str) -> Vec<String> {
    let about = |e: &&footlights::scenario::DocError| e.place.node.as_deref() == Some(id);
    state.problems.iter().filter(about).map(ToString::to_string).collect()
}
