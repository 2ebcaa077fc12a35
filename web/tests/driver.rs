//! The driver without a browser: commands in, updates and frames out, and the same run however it is driven.

use footlights::rng::Rng;
use footlights::scenario::document::Scenario;
use footlights_web::engine::driver::{Driver, Pace};
use footlights_web::engine::protocol::{
    Breakage, Change, Command, DocError, Logged, RareKind, Speed, StopReason, Target, Unit, Update,
};
use footlights_web::engine::telemetry::{BALANCED, FINISHED, NodeState, PLAYING, REPLAYING, Reader};
use serde_json::json;

fn shipped(name: &str) -> Scenario {
    let path = format!("{}/../web/scenarios/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    Scenario::parse(&text).unwrap_or_else(|e| panic!("{name}: {e:#?}"))
}

/// A driver with a wall clock that the test moves.
struct Stage {
    driver: Driver,
    wall_ms: f64,
    updates: Vec<Update>,
}

impl Stage {
    fn load(scenario: Scenario, commands: Vec<Logged>, at: u64) -> Self {
        let mut stage = Stage { driver: Driver::new(), wall_ms: 0.0, updates: Vec::new() };
        stage.obey(Command::Load { scenario, commands, at });
        stage.settle();
        stage
    }

    fn try_obey(&mut self, command: Command) -> Result<(), Vec<DocError>> {
        self.driver.handle(command, &mut self.updates)
    }

    fn obey(&mut self, command: Command) {
        self.try_obey(command).unwrap_or_else(|e| panic!("{e:?}"));
    }

    /// Lets the driver run without moving the wall clock, until it is idle or waits.
    fn settle(&mut self) {
        while self.driver.advance(self.wall_ms, &mut || true) == Pace::Busy {}
        self.driver.drain(&mut self.updates);
    }

    /// Plays for some wall time in slices of `slice_ms`.
    fn play(&mut self, speed: Speed, wall_ms: f64, slice_ms: f64) {
        self.obey(Command::Play { speed });
        let end = self.wall_ms + wall_ms;
        self.settle();
        while self.wall_ms < end {
            self.wall_ms += slice_ms;
            self.settle();
        }
        self.obey(Command::Pause);
    }

    fn set(&mut self, node: &str, key: &str, value: serde_json::Value) {
        self.obey(Command::Change(Change::Set { node: node.into(), key: key.into(), value }));
    }

    fn logged(&self, change: Change) -> Logged {
        Logged { turn: self.driver.turn(), at_ns: self.driver.time_ns(), change }
    }

    fn hash(&self) -> u64 {
        self.driver.run().expect("loaded").system().log_hash()
    }

    fn frame(&mut self) -> Vec<u32> {
        let mut words = vec![0; self.driver.frame_words()];
        self.driver.write_frame(1, &mut words);
        words
    }
}

#[test]
fn speed_and_slices_do_not_change_the_run() {
    let mut whole = Stage::load(shipped("let-it-crash"), vec![], 0);
    whole.obey(Command::RunTo(Target::TimeNs(3_000_000_000)));
    whole.settle();
    for (speed, wall_ms, slice_ms) in [(1_000, 3_000.0, 16.7), (10_000, 300.0, 1.0), (500, 6_000.0, 250.0)] {
        let mut stage = Stage::load(shipped("let-it-crash"), vec![], 0);
        stage.play(Speed::Permille(speed), wall_ms, slice_ms);
        stage.obey(Command::RunTo(Target::Turn(whole.driver.turn())));
        stage.settle();
        assert_eq!((stage.driver.turn(), stage.hash()), (whole.driver.turn(), whole.hash()), "{speed}");
    }
}

#[test]
fn the_clock_moves_while_nothing_happens() {
    let mut stage = Stage::load(shipped("ten-million-messages"), vec![], 0);
    stage.play(Speed::Permille(1_000), 500.0, 10.0);
    let (time, turn) = (stage.driver.time_ns(), stage.driver.turn());
    assert!((499_000_000..=501_000_000).contains(&time), "{time}");
    stage.play(Speed::Permille(1_000), 100.0, 10.0);
    assert_eq!(stage.driver.turn(), turn, "the timers are due at 1 s");
    assert!(stage.driver.time_ns() > time);
}

#[test]
fn a_replay_of_the_changes_gives_the_same_run() {
    let mut first = Stage::load(shipped("let-it-crash"), vec![], 0);
    first.play(Speed::Permille(1_000), 777.7, 7.3);
    let mut log = Vec::new();
    for change in [
        Change::Set { node: "worker-2".into(), key: "percent".into(), value: json!(50) },
        Change::Inject { node: "worker-1".into(), value: 9 },
        Change::Break { node: "worker-3".into(), how: Breakage::FailNext },
    ] {
        first.obey(Command::Change(change.clone()));
        log.push(first.logged(change));
        first.play(Speed::Permille(1_000), 333.3, 11.1);
    }
    let (turn, hash) = (first.driver.turn(), first.hash());
    let replayed = Stage::load(shipped("let-it-crash"), log.clone(), turn);
    assert_eq!((replayed.driver.turn(), replayed.hash()), (turn, hash));
    first.obey(Command::Seek(turn / 2));
    first.settle();
    assert_eq!(first.driver.turn(), turn / 2);
    first.obey(Command::Seek(turn));
    first.settle();
    assert_eq!((first.driver.turn(), first.hash()), (turn, hash));
    let plain = Stage::load(shipped("let-it-crash"), vec![], turn);
    assert_ne!(plain.hash(), hash, "the changes matter");
}

#[test]
fn a_replay_says_that_it_is_one_until_it_is_over() {
    let flags = |stage: &mut Stage| Reader::new(&stage.frame()).expect("a whole frame").head().flags;
    let mut stage = Stage::load(shipped("let-it-crash"), vec![], 500);
    assert_eq!(flags(&mut stage) & REPLAYING, 0);
    stage.obey(Command::Seek(400));
    stage.driver.advance(0.0, &mut || false);
    assert_eq!(flags(&mut stage) & REPLAYING, REPLAYING);
    stage.obey(Command::Play { speed: Speed::Max });
    assert_eq!(flags(&mut stage) & (REPLAYING | PLAYING), PLAYING);
}

#[test]
fn an_aborted_job_is_no_plain_end() {
    let mut stage = Stage::load(shipped("let-it-crash"), vec![], 100);
    for n in 1..=5 {
        stage.obey(Command::Change(Change::Break { node: format!("worker-{n}"), how: Breakage::Stop }));
    }
    stage.obey(Command::RunTo(Target::TimeNs(u64::MAX / 2)));
    stage.settle();
    let end = stage.updates.iter().rev().find_map(|u| match u {
        Update::Stopped { why, .. } => Some(why.clone()),
        _ => None,
    });
    let Some(StopReason::Aborted { nodes, why }) = end else { panic!("{end:?}") };
    assert_eq!(nodes, ["master"]);
    assert!(why.starts_with("job aborted: "), "{why}");
}

#[test]
fn a_step_is_one_turn_or_one_message_of_a_node() {
    let mut stage = Stage::load(shipped("let-it-crash"), vec![], 0);
    stage.obey(Command::Step(Unit::Turn));
    stage.settle();
    assert_eq!(stage.driver.turn(), 1);
    assert!(matches!(stage.updates.last(), Some(Update::Stopped { at: 1, why: StopReason::Reached })));
    stage.obey(Command::Step(Unit::Message { node: "worker-4".into() }));
    stage.settle();
    let index = stage.driver.run().expect("loaded").plan().node("worker-4").expect("it is there");
    assert_eq!(stage.driver.run().and_then(|r| r.handled(index)), Some(1));
}

#[test]
fn frames_show_what_was_counted() {
    let mut stage = Stage::load(shipped("let-it-crash"), vec![], 0);
    stage.obey(Command::Play { speed: Speed::Max });
    while stage.driver.advance(0.0, &mut || false) != Pace::Idle {
        let words = stage.frame();
        let reader = Reader::new(&words).expect("a whole frame");
        let head = reader.head();
        assert_eq!(head.flags & BALANCED, BALANCED);
        assert_eq!(head.ledger[0], head.ledger[1..].iter().sum::<u64>());
        for row in (0..reader.nodes()).filter_map(|i| reader.node(i)) {
            let sum = row.busy_permille + row.backpressured().unwrap_or(0) + row.blocked_permille;
            assert!(sum <= 1_000, "{row:?}");
        }
    }
    stage.driver.drain(&mut stage.updates);
    let words = stage.frame();
    let reader = Reader::new(&words).expect("a whole frame");
    assert_eq!(reader.head().flags & (FINISHED | PLAYING), FINISHED);
    let master = reader.node(0).expect("the master");
    assert!(matches!(master.state, NodeState::Completed | NodeState::Failed));
    let rare: Vec<_> = stage
        .updates
        .iter()
        .filter_map(|u| match u {
            Update::Rare { events, lost: 0 } => Some(events),
            _ => None,
        })
        .flatten()
        .collect();
    let restarts = rare.iter().filter(|e| e.kind == RareKind::Restarted).count();
    let shown: u32 = (0..reader.nodes()).filter_map(|i| reader.node(i)).map(|row| row.restarts).sum();
    assert_eq!(restarts, shown as usize, "restarts shown are restarts in the log");
}

#[test]
fn a_refused_command_changes_nothing() {
    let mut stage = Stage::load(shipped("let-it-crash"), vec![], 100);
    let hash = stage.hash();
    let mut broken = shipped("let-it-crash");
    broken.nodes[1].kind = "teapot".into();
    let set =
        |key: &str, value| Command::Change(Change::Set { node: "worker-1".into(), key: key.into(), value });
    for (command, node, key) in [
        (Command::Load { scenario: broken, commands: vec![], at: 0 }, Some("router"), None),
        (set("percent", json!(101)), Some("worker-1"), Some("percent")),
        (set("percent", json!("NaN")), Some("worker-1"), Some("percent")),
        (set("then", json!("absorb")), Some("worker-1"), Some("then")),
        (Command::Change(Change::Inject { node: "master".into(), value: 1 }), Some("master"), None),
        (Command::Change(Change::Inject { node: "nobody".into(), value: 1 }), Some("nobody"), None),
        (Command::Watch { node: Some("nobody".into()) }, Some("nobody"), None),
    ] {
        let errors = stage.try_obey(command.clone()).expect_err("it is refused");
        assert_eq!(
            (errors[0].node.as_deref(), errors[0].key.as_deref()),
            (node, key),
            "{command:?} {errors:?}"
        );
        assert!(!errors[0].reason.is_empty());
    }
    assert_eq!((stage.hash(), stage.driver.turn()), (hash, 100));
}

#[test]
fn the_watched_node_comes_in_full() {
    let mut stage = Stage::load(shipped("let-it-crash"), vec![], 0);
    stage.obey(Command::Watch { node: Some("worker-2".into()) });
    stage.set("worker-2", "percent", json!(100));
    stage.play(Speed::Permille(1_000), 3_000.0, 16.0);
    let detail = stage.updates.iter().rev().find_map(|u| match u {
        Update::Detail(detail) => Some(detail),
        _ => None,
    });
    let detail = detail.expect("a detail");
    assert_eq!((detail.node.as_str(), &detail.params["percent"]), ("worker-2", &json!(100)));
    assert!(detail.mailbox.is_some());
    let why = &detail.decisions.iter().find(|d| d.why.contains("restart")).expect("a decision").why;
    assert!(why.contains("task"), "{why}");
}

#[test]
fn the_log_is_paged_by_turn() {
    let mut stage = Stage::load(shipped("let-it-crash"), vec![], 60);
    stage.updates.clear();
    stage.obey(Command::Log { from: 50, len: 20 });
    let Some(Update::LogPage(rows)) = stage.updates.pop() else { panic!("no page") };
    assert!(rows.len() == 20 && rows[0].turn >= 50 && rows.iter().any(|r| r.node.is_some()), "{rows:#?}");
}

#[test]
#[should_panic(expected = "asked to panic")]
fn the_debug_command_panics() {
    let _ = Driver::new().handle(Command::DebugPanic, &mut Vec::new());
}

#[test]
fn the_shipped_scenarios_have_their_golden_hashes() {
    let path = format!("{}/../web/scenarios/golden/hashes.json", env!("CARGO_MANIFEST_DIR"));
    let golden: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("the golden file")).expect("JSON");
    for (name, golden) in golden.as_object().expect("names") {
        let mut stage = Stage::load(shipped(name), vec![], 0);
        stage.obey(Command::RunTo(Target::TimeNs(golden["at_ns"].as_u64().expect("a time"))));
        stage.settle();
        assert_eq!(format!("{:016x}", stage.hash()), golden["hash"].as_str().expect("a hash"), "{name}");
        assert_eq!(stage.driver.turn(), golden["turn"].as_u64().expect("a turn"), "{name}");
    }
}

#[test]
fn an_endless_ping_pong_can_be_stopped() {
    let text = r#"{"version":1,"seed":1,"workers":2,
        "nodes":[{"id":"s","kind":"source","params":{"count":1}},
            {"id":"ping","kind":"worker","params":{"mean_ms":0}},{"id":"pong","kind":"worker","params":{"mean_ms":0}}],
        "edges":[{"id":"a","from":"s.out","to":"ping.in"},{"id":"b","from":"ping.out","to":"pong.in"},
            {"id":"c","from":"pong.out","to":"ping.in"}]}"#;
    let mut stage = Stage::load(Scenario::parse(text).expect("a document"), vec![], 0);
    stage.obey(Command::Play { speed: Speed::Max });
    for _ in 0..10 {
        let mut looks = 0;
        let pace = stage.driver.advance(0.0, &mut || {
            looks += 1;
            looks < 100
        });
        assert_eq!((pace, looks), (Pace::Busy, 100), "each slice ends when it is told to");
    }
    stage.obey(Command::Pause);
    assert_eq!(stage.driver.advance(0.0, &mut || true), Pace::Idle);
    assert!(stage.driver.turn() > 1_000);
}

#[test]
fn a_node_that_waits_for_room_shows_it() {
    let text = r#"{"version":1,"seed":1,"workers":4,
        "nodes":[{"id":"s","kind":"source","params":{"rate_per_s":100}},
            {"id":"w","kind":"worker","params":{"mean_ms":50,"then":"absorb","mailbox":2,"overflow":"backpressure"}}],
        "edges":[{"id":"a","from":"s.out","to":"w.in"}]}"#;
    let mut stage = Stage::load(Scenario::parse(text).expect("a document"), vec![], 0);
    stage.frame();
    stage.obey(Command::RunTo(Target::TimeNs(1_000_000_000)));
    stage.settle();
    stage.frame();
    stage.obey(Command::RunTo(Target::TimeNs(2_000_000_000)));
    stage.settle();
    let words = stage.frame();
    let reader = Reader::new(&words).expect("a whole frame");
    let (source, worker) = (reader.node(0).expect("s"), reader.node(1).expect("w"));
    assert_eq!(worker.busy_permille, 1_000);
    assert!(source.backpressured_permille > 950 && source.queued <= 2, "{source:?}"); // a tick and one that waits
    assert!(worker.queued <= 3, "{worker:?}");
}

#[test]
fn what_a_stream_waited_is_not_guessed() {
    let mut stage = Stage::load(shipped("boundary-and-buffer"), vec![], 0);
    stage.obey(Command::RunTo(Target::TimeNs(1_000_000_000)));
    stage.settle();
    let words = stage.frame();
    let reader = Reader::new(&words).expect("a whole frame");
    let run = stage.driver.run().expect("loaded");
    for (i, meta) in run.nodes().iter().enumerate() {
        let row = reader.node(i).expect("a row");
        assert_eq!(row.backpressured().is_none(), meta.island.is_some(), "{}: {row:?}", meta.id);
    }
}

#[test]
fn losses_of_an_edge_are_counted_in_a_stream_and_unknown_for_wires() {
    let text = r#"{"version":1,"seed":1,"workers":2,
        "nodes":[{"id":"s","kind":"source"},{"id":"c","kind":"collector"},{"id":"r","kind":"range"},
            {"id":"b","kind":"async_boundary"},{"id":"t","kind":"take","params":{"n":9}},{"id":"f","kind":"for_each","params":{"work_ms":20}}],
        "edges":[{"id":"wire","from":"s.out","to":"c.in"},{"id":"e1","from":"r.out","to":"b.in"},
            {"id":"e2","from":"b.out","to":"t.in"},{"id":"e3","from":"t.out","to":"f.in"}]}"#;
    let mut stage = Stage::load(Scenario::parse(text).expect("a document"), vec![], 0);
    stage.obey(Command::RunTo(Target::TimeNs(1_000_000_000)));
    stage.settle();
    let words = stage.frame();
    let reader = Reader::new(&words).expect("a whole frame");
    let dropped: Vec<_> = (0..4).filter_map(|i| reader.edge(i)).map(|e| e.dropped).collect();
    assert_eq!(dropped[0], None, "mailboxes count the fate of messages");
    assert!(dropped[1] > Some(0), "what stood in the ring when the far end had enough: {dropped:?}");
    assert_eq!(dropped[3], Some(0));
}

/// Some change that the scenario allows.
fn some_change(name: &str, rng: &mut Rng) -> Change {
    let set = |node: String, key: &str, value| Change::Set { node, key: key.into(), value };
    let n = 1 + rng.below(5);
    match (name, rng.below(4)) {
        ("boundary-and-buffer", 0..2) => set("first".into(), "work_ms", json!(rng.below(30))),
        ("boundary-and-buffer", _) => set("second".into(), "work_ms", json!(rng.below(30))),
        (_, 0) => Change::Inject { node: format!("worker-{n}"), value: n },
        (_, 1) => Change::Inject { node: "router".into(), value: n },
        (_, 2) => Change::Break { node: format!("worker-{n}"), how: Breakage::FailNext },
        _ => set(format!("worker-{n}"), "mean_ms", json!(rng.below(300))),
    }
}

#[test]
fn however_a_run_was_watched_its_log_of_changes_replays_it() {
    for (seed, name) in (0..).zip(["let-it-crash", "ten-million-messages", "boundary-and-buffer"].repeat(4)) {
        let mut rng = Rng::new(seed);
        let mut stage = Stage::load(shipped(name), vec![], 0);
        let mut log = Vec::new();
        for _ in 0..8 {
            match rng.below(4) {
                0 => stage.obey(Command::Step(Unit::Turn)),
                1 => {
                    let ns = stage.driver.time_ns() + rng.below(200_000_000);
                    stage.obey(Command::RunTo(Target::TimeNs(ns)));
                }
                _ => {
                    let (wall_ms, slice_ms) = (rng.below(300) as f64, 1.0 + rng.below(40) as f64);
                    stage.play(Speed::Permille(1 + rng.below(3_000) as u32), wall_ms, slice_ms);
                }
            }
            stage.settle();
            let change = some_change(name, &mut rng);
            stage.obey(Command::Change(change.clone()));
            log.push(stage.logged(change));
        }
        stage.play(Speed::Permille(1_000), 500.0, 16.0);
        let (turn, hash) = (stage.driver.turn(), stage.hash());
        let replayed = Stage::load(shipped(name), log, turn);
        assert_eq!((replayed.driver.turn(), replayed.hash()), (turn, hash), "{name}, seed {seed}");
        stage.obey(Command::Seek(turn * 2 / 3));
        stage.settle();
        stage.obey(Command::Seek(turn));
        stage.settle();
        assert_eq!((stage.driver.turn(), stage.hash()), (turn, hash), "{name}, seed {seed}, after seeking");
    }
}

#[test]
fn a_forged_log_can_be_stopped() {
    let text = r#"{"version":1,"seed":1,"workers":2,"edges":[{"id":"e","from":"s.out","to":"c.in"}],
        "nodes":[{"id":"s","kind":"source"},{"id":"c","kind":"collector"}]}"#;
    let scenario = Scenario::parse(text).expect("a document");
    let change = Change::Inject { node: "c".into(), value: 1 };
    let log = vec![Logged { turn: 0, at_ns: u64::MAX - 1, change }];
    let mut driver = Driver::new();
    driver.handle(Command::Load { scenario, commands: log, at: 5 }, &mut Vec::new()).expect("it loads");
    assert_eq!(driver.advance(0.0, &mut || false), Pace::Busy);
    driver.handle(Command::Pause, &mut Vec::new()).expect("it stops");
    assert_eq!(driver.advance(0.0, &mut || true), Pace::Idle);
}
