//! Editing without a browser: undo and redo over random edits, and what an edit means for the run.

#![cfg(not(target_family = "wasm"))]

use std::rc::Rc;

use footlights::scenario::document::{PortRef, Scenario};
use footlights_web::engine::protocol::{Change, Command, DocError, News, StopReason, Update};
use footlights_web::model::reduce::reduce;
use footlights_web::model::state::{Action, Effect, Engine, Reparent, State, Tool};
use proptest::prelude::*;
use serde_json::Value;

fn ready() -> State {
    let mut state = State::default();
    reduce(&mut state, Action::Engine(News::Ready));
    assert_eq!(state.engine, Engine::Ready);
    state
}

/// Places a node and gives its id.
fn place(state: &mut State, kind: &str, x: i32) -> String {
    reduce(state, Action::Place(kind.into(), x, 0, None));
    state.selection.single().expect("what was placed is selected").to_owned()
}

fn connect(state: &mut State, from: &str, to: &str) {
    reduce(state, Action::Connect(PortRef::new(from, "out"), PortRef::new(to, "in")));
}

/// A run that can be run: source → worker → collector.
fn pipeline() -> State {
    let mut state = ready();
    let (s, w, c) = (
        place(&mut state, "source", 0),
        place(&mut state, "worker", 300),
        place(&mut state, "collector", 600),
    );
    connect(&mut state, &s, &w);
    connect(&mut state, &w, &c);
    assert_eq!(state.doc.edges.len(), 2, "{}", state.announce);
    reduce(&mut state, Action::Reload);
    assert_eq!(state.problems, vec![]);
    state
}

fn loads(effects: &[Effect]) -> usize {
    effects.iter().filter(|e| matches!(e, Effect::Send(Command::Load { .. }))).count()
}

fn edit() -> impl Strategy<Value = Action> {
    let kinds = prop::sample::select(vec![
        "source",
        "router",
        "worker",
        "collector",
        "supervisor",
        "range",
        "map",
        "ignore",
    ]);
    let node = || {
        (0_usize..6).prop_map(|n| {
            format!("{}-{}", ["worker", "router", "source", "supervisor", "map", "range"][n], 1 + n % 2)
        })
    };
    prop_oneof![
        3 => (kinds, -500..500_i32, -500..500_i32).prop_map(|(k, x, y)| Action::Place(k.into(), x, y, None)),
        2 => (node(), node()).prop_map(|(a, b)| Action::Connect(PortRef::new(a, "out"), PortRef::new(b, "in"))),
        1 => Just(Action::Delete),
        2 => node().prop_map(|n| Action::Select(vec![n])),
        1 => Just(Action::SelectAll),
        1 => (node(), -90..90_i32).prop_map(|(n, d)| Action::MoveBy(vec![n], d, d, Reparent::Keep)),
        1 => (node(), node()).prop_map(|(n, p)| Action::MoveBy(vec![n], 20, 0, Reparent::To(Some(p)))),
        1 => (node(), 0..100_i64, any::<bool>()).prop_map(|(n, v, g)| Action::SetParam(n, "mean_ms".into(), v.into(), g)),
        1 => (node(), "[a-c]{0,3}").prop_map(|(n, l)| Action::SetLabel(n, l)),
        1 => Just(Action::Group),
        1 => Just(Action::Ungroup),
        1 => any::<u64>().prop_map(Action::SetSeed),
        1 => (0..3_usize).prop_map(Action::OpenBuiltin),
        1 => Just(Action::OpenEmpty),
        1 => Just(Action::Undo),
        1 => Just(Action::Redo),
    ]
}

proptest! {
    // A regression becomes a test by hand, not a file beside it.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn u1_undo_all_is_the_start_and_redo_all_is_the_end(edits in prop::collection::vec(edit(), 1..60)) {
        let mut state = ready();
        let start = state.doc.to_text();
        for action in edits {
            reduce(&mut state, action);
            let ids: std::collections::BTreeSet<_> = state.doc.nodes.iter().map(|n| &n.id).collect();
            prop_assert_eq!(ids.len(), state.doc.nodes.len(), "ids are unique");
            prop_assert!(state.doc.edges.iter().all(|e| ids.contains(&e.from.node) && ids.contains(&e.to.node)));
            prop_assert!(state.selection.nodes.iter().all(|n| ids.contains(n)));
        }
        let mut end = state.doc.to_text();
        while state.history.can_redo() {
            reduce(&mut state, Action::Redo);
            end = state.doc.to_text();
        }
        while state.history.can_undo() {
            reduce(&mut state, Action::Undo);
        }
        prop_assert_eq!(state.doc.to_text(), start);
        while state.history.can_redo() {
            reduce(&mut state, Action::Redo);
        }
        prop_assert_eq!(state.doc.to_text(), end);
    }
}

#[test]
fn u1_undo_of_a_delete_brings_the_edges_back() {
    let mut state = pipeline();
    let before = Rc::clone(&state.doc);
    reduce(&mut state, Action::Select(vec!["worker-1".into()]));
    reduce(&mut state, Action::Delete);
    assert_eq!((state.doc.nodes.len(), state.doc.edges.len()), (2, 0));
    reduce(&mut state, Action::Undo);
    assert_eq!(state.doc, before);
}

#[test]
fn a_sliders_drag_is_one_step() {
    let mut state = pipeline();
    for ms in 1..20 {
        reduce(&mut state, Action::SetParam("worker-1".into(), "mean_ms".into(), Value::from(ms), true));
    }
    reduce(&mut state, Action::EndGesture);
    reduce(&mut state, Action::Undo);
    assert!(state.node("worker-1").expect("it is there").params.is_empty());
}

#[test]
fn a_live_parameter_goes_to_the_run_and_its_undo_too() {
    let mut state = pipeline();
    let set = |v: i32| Action::SetParam("worker-1".into(), "mean_ms".into(), Value::from(v), false);
    let expected = |value: Value| {
        let (node, key) = ("worker-1".into(), "mean_ms".into());
        Effect::Send(Command::Change(Change::Set { node, key, value }))
    };
    assert_eq!(reduce(&mut state, set(70)), vec![expected(70.into())]);
    assert_eq!(reduce(&mut state, Action::Undo), vec![expected(10.0.into())], "the schema's default");
}

#[test]
fn a_structural_edit_asks_for_one_new_run() {
    let mut state = pipeline();
    let effects = reduce(&mut state, Action::SetParam("worker-1".into(), "mailbox".into(), 5.into(), false));
    assert_eq!(effects, vec![Effect::ReloadSoon]);
    assert_eq!(loads(&reduce(&mut state, Action::Reload)), 1);
    assert!(!state.run.stale);
}

#[test]
fn moving_and_naming_disturb_no_run() {
    let mut state = pipeline();
    assert_eq!(reduce(&mut state, Action::MoveBy(vec!["worker-1".into()], 20, 0, Reparent::Keep)), vec![]);
    assert_eq!(reduce(&mut state, Action::SetLabel("worker-1".into(), "w".into())), vec![]);
}

#[test]
fn a_half_wired_graph_does_not_run_and_says_why() {
    let mut state = pipeline();
    place(&mut state, "router", 900);
    let effects = reduce(&mut state, Action::Reload);
    assert_eq!(loads(&effects), 0);
    assert!(
        state.problems.iter().any(|p| p.place.node.as_deref() == Some("router-1")),
        "{:?}",
        state.problems
    );
}

#[test]
fn bad_input_names_the_place_and_changes_nothing() {
    let node = |rest: &str| format!(r#"{{"version":1,"seed":1,"workers":1,"edges":[],"nodes":[{rest}]}}"#);
    let table = [
        (node(r#"{"id":"n","kind":"teapot"}"#), "node \"n\""),
        (node(r#"{"id":"n","kind":"router"},{"id":"n","kind":"router"}"#), "node \"n\""),
        (node(r#"{"id":"n","kind":"source","params":{"rate_per_s":-1}}"#), "rate_per_s"),
        (node(r#"{"id":"n","kind":"source","params":{"rate_per_s":NaN}}"#), "line 1"),
        (r#"{"version":1,"seed":1,"workers":1,"nodes":[],"edges":[{"id":"e","from":"a.out","to":"b.in"}]}"#.into(), "edge \"e\""),
        (r#"{"version":1,"seed":1,"#.into(), "line 1"),
        ("x".repeat(10_000_000), "10000000 bytes"),
        (r#"{"version":9,"seed":1,"workers":1,"nodes":[],"edges":[]}"#.into(), "version"),
    ];
    for (text, place) in table {
        let mut state = pipeline();
        let (doc, run) = (Rc::clone(&state.doc), state.run.clone());
        let effects = reduce(&mut state, Action::Import(text));
        let errors = state.import.clone().expect("the dialog stays").errors.join("\n");
        assert!(errors.contains(place), "{place}: {errors}");
        assert_eq!((effects, &state.doc, &state.run), (vec![], &doc, &run));
    }
}

#[test]
fn what_is_exported_can_be_imported() {
    let mut state = pipeline();
    let text = state.doc.to_text();
    reduce(&mut state, Action::OpenEmpty);
    reduce(&mut state, Action::Import(text.clone()));
    assert_eq!(state.import, None);
    assert_eq!(Scenario::parse(&text).expect("it reads"), *state.doc);
}

#[test]
fn grouping_wraps_actors_and_leaves_stream_stages_alone() {
    let mut state = pipeline();
    place(&mut state, "map", 0);
    reduce(&mut state, Action::SelectAll);
    reduce(&mut state, Action::Group);
    let parent = |id: &str| state.node(id).and_then(|n| n.parent.clone());
    assert_eq!(parent("worker-1").as_deref(), Some("supervisor-1"));
    assert_eq!(parent("map-1"), None);
    reduce(&mut state, Action::Ungroup);
    assert_eq!(state.node("worker-1").and_then(|n| n.parent.clone()), None);
}

#[test]
fn a_stream_is_wired_stage_by_stage() {
    let mut state = ready();
    let ids: Vec<String> =
        ["range", "map", "buffer", "for_each"].iter().map(|kind| place(&mut state, kind, 0)).collect();
    for pair in ids.windows(2) {
        connect(&mut state, &pair[0], &pair[1]);
    }
    assert_eq!(state.doc.edges.len(), 3, "{}", state.announce);
    reduce(&mut state, Action::Reload);
    assert_eq!(state.problems, vec![]);
}

#[test]
fn a_supervisor_never_comes_under_its_own_child() {
    let mut state = ready();
    let outer = place(&mut state, "supervisor", 0);
    let inner = place(&mut state, "supervisor", 0);
    reduce(&mut state, Action::SetParent(vec![inner.clone()], Some(outer.clone())));
    reduce(&mut state, Action::SetParent(vec![outer.clone()], Some(inner)));
    assert_eq!(state.node(&outer).and_then(|n| n.parent.clone()), None);
}

#[test]
fn moving_by_keys_is_one_step_and_esc_puts_it_back() {
    let mut state = pipeline();
    reduce(&mut state, Action::Select(vec!["worker-1".into()]));
    for keep in [false, true] {
        reduce(&mut state, Action::Take(Tool::Move { dx: 0, dy: 0 }));
        reduce(&mut state, Action::Nudge(20, 0));
        reduce(&mut state, Action::Nudge(20, 20));
        reduce(&mut state, Action::EndMove(keep));
        let expected = if keep { (340, 20) } else { (300, 0) };
        assert_eq!(state.node("worker-1").map(|n| (n.x, n.y)), Some(expected));
    }
}

#[test]
fn after_a_fault_a_fresh_engine_gets_the_same_run_then_its_start_then_nothing() {
    let mut state = pipeline();
    state.run.playing = true;
    let fault = || Action::Engine(News::Update(Update::Fault { message: "boom".into(), at: 50 }));
    for expected in [Some(50), Some(0), None] {
        let effects = reduce(&mut state, fault());
        assert!(effects.contains(&Effect::Respawn) && !state.run.playing && state.fault.is_some());
        let effects = reduce(&mut state, Action::Engine(News::Ready));
        let at = effects.iter().find_map(|e| match e {
            Effect::Send(Command::Load { at, .. }) => Some(*at),
            _ => None,
        });
        assert_eq!(at, expected);
        assert!(!effects.iter().any(|e| matches!(e, Effect::Send(Command::Play { .. }))), "paused");
    }
    assert_eq!(state.doc.nodes.len(), 3, "the graph is kept");
    let said = (state.fault.clone().unwrap_or_default(), state.run.ended.clone().unwrap_or_default());
    assert!(said.0.contains("Nothing is loaded") && said.1.contains("Nothing is loaded"), "{said:?}");
    let effects = reduce(&mut state, Action::TogglePlay);
    assert_eq!((loads(&effects), state.run.ended.clone()), (1, None), "Play tries again");
}

#[test]
fn a_finished_run_says_so_and_play_starts_it_again() {
    let mut state = pipeline();
    reduce(&mut state, Action::TogglePlay);
    reduce(&mut state, Action::Engine(News::Update(Update::Stopped { at: 9, why: StopReason::Finished })));
    assert!(!state.run.playing && state.run.ended.is_some());
    let effects = reduce(&mut state, Action::TogglePlay);
    assert_eq!(loads(&effects), 1);
    assert!(effects.iter().any(|e| matches!(e, Effect::Send(Command::Play { .. }))));
}

fn watches(effects: &[Effect]) -> Vec<Option<String>> {
    let watch = |e: &Effect| match e {
        Effect::Send(Command::Watch { node }) => Some(node.clone()),
        _ => None,
    };
    effects.iter().filter_map(watch).collect()
}

#[test]
fn only_nodes_of_the_run_are_watched_and_a_refusal_is_not_told() {
    let mut state = pipeline();
    reduce(&mut state, Action::Select(vec!["worker-1".into()]));
    let effects = reduce(&mut state, Action::Place("router".into(), 0, 0, None));
    assert_eq!(watches(&effects), vec![None], "the run has no such node yet");
    let toasts = state.toast_count;
    let refusal = Err(vec![DocError { reason: "there is no such node".into(), ..DocError::default() }]);
    let watch = Command::Watch { node: Some("router-1".into()) };
    reduce(&mut state, Action::Engine(News::Answered(watch, refusal)));
    assert_eq!(state.toast_count, toasts);
    reduce(&mut state, Action::Undo);
    assert_eq!(
        watches(&reduce(&mut state, Action::Select(vec!["source-1".into()]))),
        vec![Some("source-1".into())]
    );
}

#[test]
fn an_edit_that_cannot_run_stops_the_clock_until_it_can() {
    let mut state = pipeline();
    reduce(&mut state, Action::TogglePlay);
    place(&mut state, "router", 900);
    assert!(state.run.playing, "the old run goes on until the edit is taken up");
    let effects = reduce(&mut state, Action::Reload);
    assert!(!state.run.playing && effects.contains(&Effect::Send(Command::Pause)));
    let effects = reduce(&mut state, Action::StepTurn);
    assert!(!effects.iter().any(|e| matches!(e, Effect::Send(Command::Step(_)))), "{effects:?}");
    reduce(&mut state, Action::Undo);
    reduce(&mut state, Action::Reload);
    assert!(!state.run.playing, "a step has let it stand");
    reduce(&mut state, Action::TogglePlay);
    place(&mut state, "router", 900);
    reduce(&mut state, Action::Reload);
    reduce(&mut state, Action::Undo);
    let effects = reduce(&mut state, Action::Reload);
    assert!(state.run.playing && loads(&effects) == 1);
}

#[test]
fn a_step_after_an_edit_is_one_of_the_new_run() {
    let mut state = pipeline();
    reduce(&mut state, Action::SetParam("worker-1".into(), "mailbox".into(), 5.into(), false));
    let effects = reduce(&mut state, Action::StepTurn);
    assert_eq!(loads(&effects), 1);
    assert!(matches!(effects.last(), Some(Effect::Send(Command::Step(_)))) && !state.run.playing);
}

#[test]
fn a_half_built_graph_can_be_imported_and_a_contradictory_one_cannot() {
    let mut state = pipeline();
    place(&mut state, "router", 900);
    place(&mut state, "map", 900);
    let text = state.doc.to_text();
    reduce(&mut state, Action::OpenBuiltin(0));
    let effects = reduce(&mut state, Action::Import(text.clone()));
    assert_eq!((state.import.clone(), loads(&effects)), (None, 0));
    assert_eq!(state.doc.to_text(), text);
    assert!(state.problems.len() >= 2 && state.problems.iter().all(|p| p.is_unfinished()));
    assert!(!state.run.playing && effects.contains(&Effect::ClearLive));
    let doc = Rc::clone(&state.doc);
    reduce(&mut state, Action::Import(text.replacen("\"map\"", "\"teapot\"", 1)));
    let errors = state.import.clone().expect("the dialog stays").errors;
    assert!(errors.iter().any(|e| e.contains("teapot")) && !errors.iter().any(|e| e.contains("not wired")));
    assert_eq!(state.doc, doc);
}

#[test]
fn a_message_sent_into_a_finished_run_lets_it_go_on() {
    let mut state = pipeline();
    reduce(&mut state, Action::Engine(News::Update(Update::Stopped { at: 9, why: StopReason::Finished })));
    let inject = Command::Change(Change::Inject { node: "worker-1".into(), value: 1 });
    reduce(&mut state, Action::Engine(News::Answered(inject, Ok((9, 0)))));
    assert_eq!(state.run.ended, None);
    let effects = reduce(&mut state, Action::TogglePlay);
    assert_eq!(loads(&effects), 0, "it goes on");
    assert!(effects.iter().any(|e| matches!(e, Effect::Send(Command::Play { .. }))));
}
