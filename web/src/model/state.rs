//! The page's state: the document, what is selected, which tool is in hand, how the run and the engine are.

use std::collections::BTreeSet;
use std::rc::Rc;

use footlights::scenario::DocError;
use footlights::scenario::document::{Node, PortRef, Row, Scenario};
use serde_json::Value;

use super::history::History;
use crate::engine::protocol::{Command, Logged, News, Speed, Target, Turn};

/// Nodes that are selected, or one edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Selected nodes.
    pub nodes: BTreeSet<String>,
    /// The selected edge; only if no node is.
    pub edge: Option<String>,
}

impl Selection {
    /// The node, if exactly one is selected.
    pub fn single(&self) -> Option<&str> {
        let mut nodes = self.nodes.iter();
        nodes.next().filter(|_| nodes.next().is_none()).map(String::as_str)
    }

    /// Tells whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.edge.is_none()
    }
}

/// What the next click on the canvas, or the next keys, will do.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Tool {
    /// Select and drag.
    #[default]
    Select,
    /// Put down a node of this kind.
    Place(String),
    /// Wire from this port to the one clicked.
    Wire(PortRef),
    /// Choose a port and a target from a list.
    ConnectList {
        /// The node that was in focus.
        node: String,
        /// Its port, once chosen.
        from: Option<PortRef>,
    },
    /// Move the selection by arrow keys.
    Move {
        /// To the right so far.
        dx: i32,
        /// Down so far.
        dy: i32,
    },
}

/// How the engine worker is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Engine {
    /// It has not said *ready* yet.
    #[default]
    Starting,
    /// It answers.
    Ready,
    /// It did not say *ready* in time.
    Silent,
    /// It has not answered for a while.
    Hung,
    /// It is of another build than the page.
    Outdated,
}

/// How the run is.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Whether the clock runs.
    pub playing: bool,
    /// An edit stopped the clock because the graph cannot run now; it goes on once it can.
    pub resume: bool,
    /// How fast.
    pub speed: Speed,
    /// What the engine runs; its order is the order of the wires.
    pub loaded: Option<Rc<Scenario>>,
    /// Live changes of this run, for a replay.
    pub commands: Vec<Logged>,
    /// Whether the document has changed so that this run no longer shows it.
    pub stale: bool,
    /// Why the clock stopped by itself, in words.
    pub ended: Option<String>,
    /// Runs so far.
    pub number: u32,
}

impl Default for Run {
    fn default() -> Self {
        Run {
            playing: false,
            resume: false,
            speed: Speed::Permille(1_000),
            loaded: None,
            commands: Vec::new(),
            stale: false,
            ended: None,
            number: 0,
        }
    }
}

/// Tabs of the inspector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InspectorTab {
    /// The form.
    #[default]
    Params,
    /// Counters and mailbox.
    Stats,
    /// Decisions.
    Why,
}

/// Tabs of the dock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DockTab {
    /// The conservation sum.
    #[default]
    Ledger,
    /// Rare events, newest first.
    Why,
    /// Nodes and edges as a table.
    Table,
    /// What is wrong with the document.
    Problems,
}

/// The import dialog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// What was refused, with places.
    pub errors: Vec<String>,
}

/// Everything that the page draws from, except counters.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The document on the canvas.
    pub doc: Rc<Scenario>,
    /// Undo and redo.
    pub history: History,
    /// What is selected.
    pub selection: Selection,
    /// The tool in hand.
    pub tool: Tool,
    /// The run.
    pub run: Run,
    /// The engine.
    pub engine: Engine,
    /// The engine's last fault, until dismissed.
    pub fault: Option<String>,
    /// Faults on the same replay; the second one starts at turn 0.
    pub faults_in_a_row: u32,
    /// The turn to which a fresh engine replays after a fault.
    pub resume_at: Turn,
    /// What is wrong with the document.
    pub problems: Vec<DocError>,
    /// The inspector's tab.
    pub inspector: InspectorTab,
    /// The dock's tab.
    pub dock: DockTab,
    /// The import dialog, if open.
    pub import: Option<Import>,
    /// A short message that goes away by itself, and its number.
    pub toast: Option<(u32, String)>,
    /// Toasts so far.
    pub toast_count: u32,
    /// What the live region says.
    pub announce: String,
}

/// Live changes that one run remembers for its replay.
pub const COMMANDS_MAX: usize = 1_000;

impl Default for State {
    fn default() -> Self {
        State {
            doc: Rc::new(super::builtin::empty()),
            history: History::default(),
            selection: Selection::default(),
            tool: Tool::Select,
            run: Run::default(),
            engine: Engine::Starting,
            fault: None,
            faults_in_a_row: 0,
            resume_at: 0,
            problems: Vec::new(),
            inspector: InspectorTab::Params,
            dock: DockTab::Ledger,
            import: None,
            toast: None,
            toast_count: 0,
            announce: String::new(),
        }
    }
}

impl State {
    /// Finds a node of the document.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.doc.nodes.iter().find(|n| n.id == id)
    }

    /// One word for how the page is, in `window.footlights` and on the page's root; `replaying` is what the engine says.
    pub fn mode(&self, replaying: bool) -> &'static str {
        match self.engine {
            _ if self.fault.is_some() && self.engine != Engine::Ready => "fault",
            Engine::Starting => "starting",
            _ if replaying => "replaying",
            _ if self.run.playing => "playing",
            _ if self.run.stale => "edit",
            _ => "paused",
        }
    }

    /// Whether the run that is loaded is not that of the drawing, or none is.
    pub fn is_outdated(&self) -> bool {
        self.run.stale || self.run.loaded.is_none() || !self.problems.is_empty()
    }

    /// The selected node, if it is one.
    pub fn selected_node(&self) -> Option<&Node> {
        self.selection.single().and_then(|id| self.node(id))
    }

    /// What a node is called.
    pub fn label_of(&self, id: &str) -> String {
        self.node(id).filter(|n| !n.label.is_empty()).map_or_else(|| id.to_owned(), |n| n.label.clone())
    }
}

/// Everything that can happen to the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Opens a scenario that ships with the page.
    OpenBuiltin(usize),
    /// Starts from an empty canvas.
    OpenEmpty,
    /// Opens or closes the import dialog.
    ShowImport(bool),
    /// Reads a document's text.
    Import(String),
    /// Says what is wrong with a file that could not be read.
    ImportFailed(String),
    /// Selects nodes.
    Select(Vec<String>),
    /// Adds a node to the selection, or takes it away.
    Toggle(String),
    /// Selects an edge.
    SelectEdge(String),
    /// Selects all nodes.
    SelectAll,
    /// Takes a tool in hand.
    Take(Tool),
    /// Places a node of a kind with its centre at a point.
    Place(String, i32, i32, Option<String>),
    /// Joins two ports, given in either order.
    Connect(PortRef, PortRef),
    /// Deletes what is selected.
    Delete,
    /// Moves nodes, with what they supervise, and perhaps into another supervisor.
    MoveBy(Vec<String>, i32, i32, Reparent),
    /// Moves by arrow keys: one more step.
    Nudge(i32, i32),
    /// Ends moving by arrow keys; `true` keeps the move.
    EndMove(bool),
    /// Sets a parameter; `true` while the gesture goes on.
    SetParam(String, String, Value, bool),
    /// Ends a gesture.
    EndGesture,
    /// Names a node.
    SetLabel(String, String),
    /// Puts nodes under a supervisor, or under none.
    SetParent(Vec<String>, Option<String>),
    /// Puts the selected nodes under a new supervisor.
    Group,
    /// Dissolves the selected supervisor.
    Ungroup,
    /// Sets the document's seed.
    SetSeed(u64),
    /// Sets the document's number of workers.
    SetWorkers(u16),
    /// Sets the messages per activation.
    SetThroughput(u32),
    /// Sets the stream events per turn.
    SetBatch(u32),
    /// Sets the named dispatchers.
    SetDispatchers(Vec<Row>),
    /// Says which dispatcher runs a node; `None` is the system's own.
    SetDispatcher(String, Option<String>),
    /// Sets another setting of the system.
    SetSetting(String, Value),
    /// Undoes a step.
    Undo,
    /// Redoes a step.
    Redo,
    /// Starts or stops the clock.
    TogglePlay,
    /// Stops the clock.
    Pause,
    /// Runs one turn.
    StepTurn,
    /// Runs until the selected node has handled a message.
    StepMessage,
    /// Runs on, as fast as the device can, to a time or turn.
    RunTo(Target),
    /// Goes to a turn, earlier or later, by replay.
    Seek(Turn),
    /// Sets the speed.
    SetSpeed(Speed),
    /// Starts a new run from turn 0.
    Reset,
    /// Starts the new run that an edit asked for.
    Reload,
    /// Sends a message to the selected node.
    Inject,
    /// Makes the selected node's next message fail.
    FailNext,
    /// Shows a tab of the inspector.
    ShowInspector(InspectorTab),
    /// Shows a tab of the dock.
    ShowDock(DockTab),
    /// Takes a toast away.
    DropToast(u32),
    /// Takes the fault banner away.
    DropFault,
    /// The engine said something.
    Engine(News),
    /// Gives up on a hung engine and starts another.
    StopEngine,
    /// Says something short to the person.
    Say(String),
    /// The page is no longer seen.
    Hide,
    /// Asks the engine to panic, for tests.
    DebugPanic,
}

/// What becomes of a moved node's supervisor.
#[derive(Clone, Debug, PartialEq)]
pub enum Reparent {
    /// It stays.
    Keep,
    /// It becomes this one, or none.
    To(Option<String>),
}

/// What the page shall do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send a command.
    Send(Command),
    /// Come back with [`Action::Reload`] in 300 ms, counted from the last such wish.
    ReloadSoon,
    /// Show the whole graph.
    Fit,
    /// Give the keyboard focus to a node.
    Focus(String),
    /// End the worker and start another.
    Respawn,
    /// Forget counters and events: another run begins.
    ClearLive,
    /// Take the toast with this number away after a while.
    ExpireToast(u32),
}
