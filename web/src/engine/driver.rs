//! The driver: owns the run, obeys commands, tells what happened. Pure Rust: no browser, no thread, no clock of its own.
//!
//! ```text
//!            Play                       target reached, nothing left
//!  Paused ─────────▶ Playing(clock) ──────────────────────────▶ Paused
//!     ▲  └─Step, RunTo, Seek─▶ Chasing(goal) ─────────────────────┘
//!     └── Pause, Load ──┘
//! ```
//! I1 speed and slices decide when turns are run, never which: the log hash depends on the document and the changes alone.
//! I2 a refused command has changed nothing; a document with a fault leaves the run that is loaded untouched.
//! I3 [`Driver::advance`] asks `keep_going` at least every `TURNS_PER_LOOK` turns.

use std::collections::{BTreeMap, VecDeque};

use footlights::observe::{Event, EventKind};
use footlights::scenario::Run;
use footlights::scenario::document::Scenario;
use footlights::time::Instant;

use super::clock::Clock;
use super::detail;
use super::protocol::{
    Command, Decision, DocError, LOG_PAGE_MAX, Logged, RARE_MAX, RareEvent, RareKind, StopReason, Target,
    Turn, Unit, Update,
};
use super::rows::Rows;
use super::session::{Moved, Session};
use super::telemetry::{self, BALANCED, FINISHED, Frame, PLAYING, REPLAYING};
use super::why;

/// Turns between two looks at the clock.
const TURNS_PER_LOOK: u32 = 64;
/// Wall time between two details of the watched node.
const DETAIL_MS: f64 = 250.0;
/// Choices of a router that one look tells of.
const CHOICES_MAX: usize = 20;
/// Decisions kept of each node.
const DECISIONS_MAX: usize = 20;

/// When the pump shall call again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At once.
    Busy,
    /// Nothing is due before.
    Wait {
        /// Wall milliseconds.
        ms: f64,
    },
    /// Not before the next command.
    Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Paused,
    Playing,
    Chasing(Goal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Turn(Turn),
    Time(Instant),
    /// Until the node has handled so many.
    Handled(usize, u64),
}

/// Owns the run and obeys commands.
#[derive(Debug)]
pub struct Driver {
    session: Option<Session>,
    number: u32,
    mode: Mode,
    finished: bool,
    replaying: bool,
    clock: Clock,
    rows: Rows,
    rare_seen: u64,
    /// Some node is a state machine.
    has_machines: bool,
    /// Rare events for the page, at most [`RARE_MAX`], and how many more there were.
    rare: Vec<RareEvent>,
    rare_lost: u32,
    lost_total: u32,
    decisions: BTreeMap<usize, VecDeque<Decision>>,
    out: Vec<Update>,
    watched: Option<usize>,
    detailed: Option<(f64, Turn)>,
    wall_ms: f64,
}

impl Default for Driver {
    fn default() -> Self {
        Driver::new()
    }
}

impl Driver {
    /// Makes a driver with nothing loaded.
    pub fn new() -> Self {
        Driver {
            session: None,
            number: 0,
            mode: Mode::Paused,
            finished: false,
            replaying: false,
            clock: Clock::new(),
            rows: Rows::default(),
            rare_seen: 0,
            has_machines: false,
            rare: Vec::new(),
            rare_lost: 0,
            lost_total: 0,
            decisions: BTreeMap::new(),
            out: Vec::new(),
            watched: None,
            detailed: None,
            wall_ms: 0.0,
        }
    }

    /// Counts the turns executed.
    pub fn turn(&self) -> Turn {
        self.session.as_ref().map_or(0, Session::turn)
    }

    /// Gives the virtual time that is shown.
    pub fn time_ns(&self) -> u64 {
        self.now().as_nanos()
    }

    /// Gives the run that is loaded.
    pub fn run(&self) -> Option<&Run> {
        self.session.as_ref().map(Session::run)
    }

    fn now(&self) -> Instant {
        self.session.as_ref().map_or(Instant::ZERO, Session::now)
    }

    /// Obeys a command.
    ///
    /// # Errors
    /// Every reason why it is refused; nothing has changed then.
    ///
    /// # Panics
    /// On [`Command::DebugPanic`], as asked.
    pub fn handle(&mut self, command: Command, updates: &mut Vec<Update>) -> Result<(), Vec<DocError>> {
        match command {
            Command::Hello { .. } => {}
            Command::Ping => updates.push(Update::Pong),
            Command::DebugPanic => panic!("asked to panic"),
            Command::Load { scenario, commands, at } => self.load(scenario, commands, at, updates)?,
            Command::Change(change) => {
                let session = self.session.as_mut().ok_or_else(nothing_loaded)?;
                session.change(change).map_err(|e| vec![e.into()])?;
                self.finished = false;
            }
            Command::Play { speed } => {
                self.session.as_ref().ok_or_else(nothing_loaded)?;
                self.clock.start(speed);
                self.replaying = false;
                self.mode = Mode::Playing;
            }
            Command::Pause => self.stop(StopReason::Paused),
            Command::Step(unit) => self.chase(self.goal_of(&unit)?)?,
            Command::RunTo(Target::TimeNs(ns)) => self.chase(Goal::Time(Instant::from_nanos(ns)))?,
            Command::RunTo(Target::Turn(turn)) => self.chase(Goal::Turn(turn))?,
            Command::Seek(turn) => self.seek(turn)?,
            Command::Watch { node } => self.watch(node)?,
            Command::Log { from, len } => updates.push(self.log_page(from, len)?),
        }
        Ok(())
    }

    fn load(
        &mut self,
        scenario: Scenario,
        commands: Vec<Logged>,
        at: Turn,
        updates: &mut Vec<Update>,
    ) -> Result<(), Vec<DocError>> {
        let session = Session::start(scenario, commands).map_err(detail::errors)?;
        let (nodes, edges) = detail::metas(session.run());
        let number = self.number + 1;
        let has_machines = nodes.iter().any(|n| n.kind == "machine");
        let wall_ms = self.wall_ms;
        *self = Driver { session: Some(session), number, wall_ms, has_machines, ..Driver::new() };
        updates.push(Update::Loaded { run: number, nodes, edges });
        if at > 0 {
            self.replaying = true;
            self.mode = Mode::Chasing(Goal::Turn(at));
        }
        Ok(())
    }

    fn goal_of(&self, unit: &Unit) -> Result<Goal, Vec<DocError>> {
        match unit {
            Unit::Turn => Ok(Goal::Turn(self.turn() + 1)),
            Unit::Message { node } => {
                let index = self.find(node)?;
                Ok(Goal::Handled(index, self.handled(index) + 1))
            }
        }
    }

    fn handled(&self, node: usize) -> u64 {
        self.run().and_then(|run| run.handled(node)).unwrap_or(0)
    }

    fn chase(&mut self, goal: Goal) -> Result<(), Vec<DocError>> {
        self.session.as_ref().ok_or_else(nothing_loaded)?;
        self.clock.stop();
        self.replaying = false;
        self.mode = Mode::Chasing(goal);
        Ok(())
    }

    fn seek(&mut self, turn: Turn) -> Result<(), Vec<DocError>> {
        let session = self.session.as_mut().ok_or_else(nothing_loaded)?;
        if turn < session.turn() {
            session.rewind().map_err(detail::errors)?;
            self.rows = Rows::default();
            (self.rare_seen, self.detailed, self.finished) = (0, None, false);
            self.decisions.clear();
        }
        self.chase(Goal::Turn(turn))?;
        self.replaying = true;
        Ok(())
    }

    fn watch(&mut self, node: Option<String>) -> Result<(), Vec<DocError>> {
        self.watched = node.map(|id| self.find(&id)).transpose()?;
        self.detailed = None;
        Ok(())
    }

    fn find(&self, id: &str) -> Result<usize, Vec<DocError>> {
        let run = self.run().ok_or_else(nothing_loaded)?;
        let missing = || DocError {
            node: Some(id.into()),
            reason: "there is no such node".into(),
            ..Default::default()
        };
        run.nodes().iter().position(|n| n.id == id).ok_or_else(|| vec![missing()])
    }

    fn log_page(&self, from: Turn, len: u16) -> Result<Update, Vec<DocError>> {
        let run = self.run().ok_or_else(nothing_loaded)?;
        let events = run.system().events(0, usize::MAX);
        let wanted = events.iter().filter(|e| run.turn_of_event(e.turn) >= from);
        Ok(Update::LogPage(wanted.take(len.min(LOG_PAGE_MAX).into()).map(|e| why::row(run, e)).collect()))
    }

    fn stop(&mut self, why: StopReason) {
        self.mode = Mode::Paused;
        self.replaying = false;
        self.clock.stop();
        self.out.push(Update::Stopped { at: self.turn(), why });
    }

    /// Runs turns until the clock has caught up with the wall, a goal is reached, nothing is left, or `keep_going` says no.
    pub fn advance(&mut self, now_ms: f64, keep_going: &mut dyn FnMut() -> bool) -> Pace {
        self.wall_ms = now_ms;
        match self.mode {
            Mode::Paused => Pace::Idle,
            Mode::Playing => {
                let target = self.clock.target(now_ms, self.time_ns());
                let moved = self.run_to(Instant::from_nanos(target), None, keep_going);
                self.clock.reached(now_ms, self.time_ns());
                match moved {
                    Moved::Finished => self.finish(),
                    Moved::Quiet => Pace::Wait { ms: self.wait_ms(now_ms) },
                    Moved::Turn | Moved::Change => Pace::Busy,
                }
            }
            Mode::Chasing(goal) => self.chase_on(goal, keep_going),
        }
    }

    fn chase_on(&mut self, goal: Goal, keep_going: &mut dyn FnMut() -> bool) -> Pace {
        let limit = if let Goal::Time(at) = goal { at } else { Instant::FAR_FUTURE };
        let moved = self.run_to(limit, Some(goal), keep_going);
        if self.has_reached(goal) || moved == Moved::Quiet {
            self.stop(StopReason::Reached);
            return Pace::Idle;
        }
        match moved {
            Moved::Finished => self.finish(),
            _ => Pace::Busy,
        }
    }

    fn has_reached(&self, goal: Goal) -> bool {
        match goal {
            Goal::Turn(turn) => {
                self.turn() >= turn && !self.session.as_ref().is_some_and(|s| s.owes_change(turn))
            }
            Goal::Time(_) => false,
            Goal::Handled(node, count) => self.handled(node) >= count,
        }
    }

    fn run_to(&mut self, limit: Instant, goal: Option<Goal>, keep_going: &mut dyn FnMut() -> bool) -> Moved {
        let mut turns = 0;
        loop {
            if goal.is_some_and(|goal| self.has_reached(goal)) {
                return Moved::Turn;
            }
            let Some(session) = self.session.as_mut() else { return Moved::Finished };
            let moved = session.advance(limit);
            if matches!(moved, Moved::Quiet | Moved::Finished) {
                return moved;
            }
            turns += 1;
            if turns % TURNS_PER_LOOK == 0 && !keep_going() {
                return moved;
            }
        }
    }

    fn wait_ms(&self, now_ms: f64) -> f64 {
        let next = self.run().and_then(|run| run.system().next_moment());
        next.map_or(f64::MAX, |at| self.clock.wait_ms(now_ms, at.as_nanos()))
    }

    fn finish(&mut self) -> Pace {
        self.finished = true;
        let why = match self.run().map(detail::waiting) {
            Some(nodes) if !nodes.is_empty() => {
                let why = "they wait for room in each other's mailboxes, and nothing else can run".to_owned();
                self.stalled(&nodes, &why);
                StopReason::Stalled { nodes, why }
            }
            _ => self.aborted().unwrap_or(StopReason::Finished),
        };
        self.stop(why);
        Pace::Idle
    }

    /// Tells of jobs that were given up, and why the last one was, in the words of its master.
    fn aborted(&mut self) -> Option<StopReason> {
        self.collect();
        let nodes = detail::aborted(self.run()?);
        let run = self.run()?;
        let is_one = |node: &usize| nodes.contains(&run.nodes()[*node].id);
        let said = self.decisions.iter().filter(|(node, _)| is_one(node)).flat_map(|(_, all)| all);
        let said = said.filter(|d| d.why.starts_with("job aborted")).max_by_key(|d| d.turn);
        let why = said.map_or_else(String::new, |d| d.why.clone());
        (!nodes.is_empty()).then_some(StopReason::Aborted { nodes, why })
    }

    fn stalled(&mut self, nodes: &[String], why: &str) {
        let (turn, at_ns) = (self.turn(), self.time_ns());
        let event = |node: &String| RareEvent {
            turn,
            at_ns,
            node: node.clone(),
            kind: RareKind::Stalled,
            why: why.into(),
        };
        let events = nodes.iter().take(RARE_MAX).map(event).collect();
        self.out.push(Update::Rare { events, lost: 0 });
    }

    /// Gives what happened since the last call: rare events, the watched node, stops.
    pub fn drain(&mut self, updates: &mut Vec<Update>) {
        self.rare(updates);
        updates.append(&mut self.out);
        self.detail(updates);
    }

    fn rare(&mut self, updates: &mut Vec<Update>) {
        self.collect();
        if !self.rare.is_empty() {
            let (events, lost) = (std::mem::take(&mut self.rare), std::mem::take(&mut self.rare_lost));
            updates.push(Update::Rare { events, lost });
        }
    }

    /// Takes the new rare events out of the log: for the page, for the decisions of each node, for who waits.
    fn collect(&mut self) {
        let Some(session) = &self.session else { return };
        let run = session.run();
        let (mut all, next) = run.system().rare_events(self.rare_seen);
        // Choices are made with every message: the latest ones of the node that is looked at are enough.
        let chooser = self.watched.filter(|&node| run.plan().is_router(node));
        let wanted = |e: &Event| match e.kind {
            EventKind::Transition { .. } => true,
            EventKind::Routed { .. } => chooser.is_some() && run.node_of(e.actor) == chooser,
            _ => false,
        };
        if chooser.is_some() || self.has_machines {
            let most = if chooser.is_some() { CHOICES_MAX } else { RARE_MAX };
            all.extend(run.system().message_events(self.rare_seen, most, &wanted));
            all.sort_by_key(|e| e.seq);
        }
        self.rare_seen = next;
        for event in &all {
            self.rows.note(run, event);
            let Some((event, node)) = why::rare(run, event) else { continue };
            node.into_iter().for_each(|node| remember(&mut self.decisions, node, &event));
            match self.rare.len() < RARE_MAX {
                true => self.rare.push(event),
                false => {
                    self.rare_lost += 1;
                    self.lost_total = self.lost_total.wrapping_add(1);
                }
            }
        }
    }

    fn detail(&mut self, updates: &mut Vec<Update>) {
        let (Some(node), Some(run)) = (self.watched, self.run()) else { return };
        let turn = self.turn();
        let is_due = match self.detailed {
            None => true,
            Some((at_ms, shown)) => {
                shown != turn && (self.mode == Mode::Paused || self.wall_ms - at_ms >= DETAIL_MS)
            }
        };
        if is_due {
            let decisions = self.decisions.get(&node).into_iter().flatten().rev().cloned().collect();
            updates.extend(detail::of(run, node, turn, decisions).map(Update::Detail));
            self.detailed = Some((self.wall_ms, turn));
        }
    }

    /// Gives the length of a frame of the run that is loaded.
    pub fn frame_words(&self) -> usize {
        let (nodes, edges) = self.run().map_or((0, 0), |run| (run.nodes().len(), run.edges().len()));
        telemetry::frame_words(nodes, edges)
    }

    /// Writes the counters of this moment; does nothing where `out` is not [`Driver::frame_words`] long.
    pub fn write_frame(&mut self, frame: u32, out: &mut [u32]) {
        self.collect();
        let now = self.now();
        let (nodes, edges) = match &self.session {
            Some(session) => self.rows.take(session.run(), now),
            None => (Vec::new(), Vec::new()),
        };
        telemetry::write(&self.head(frame), &nodes, &edges, out);
    }

    fn head(&self, frame: u32) -> Frame {
        let Some(run) = self.run() else { return Frame { frame, flags: BALANCED, ..Frame::default() } };
        let ledger = run.system().ledger();
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        let flags = flag(self.mode != Mode::Paused, PLAYING)
            | flag(self.finished, FINISHED)
            | flag(ledger.balanced(), BALANCED)
            | flag(self.replaying, REPLAYING);
        let l = &ledger;
        Frame {
            run: self.number,
            frame,
            flags,
            speed_permille: self.clock.reached_permille(),
            time_ns: self.time_ns(),
            turns: self.turn(),
            hash: run.system().log_hash(),
            ledger: [l.sent, l.handled, l.queued, l.stashed, l.failed, l.dead_lettered, l.dropped],
            lost: [self.lost_total, 0],
        }
    }
}

fn nothing_loaded() -> Vec<DocError> {
    vec![DocError { reason: "nothing is loaded".into(), ..Default::default() }]
}

fn remember(decisions: &mut BTreeMap<usize, VecDeque<Decision>>, node: usize, event: &RareEvent) {
    let kept = decisions.entry(node).or_default();
    if kept.len() == DECISIONS_MAX {
        kept.pop_front();
    }
    kept.push_back(Decision { turn: event.turn, at_ns: event.at_ns, why: event.why.clone() });
}
