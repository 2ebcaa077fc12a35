//! Every English text of the page in one table; another language is another such file.

pub const APP: &str = "Footlights";
pub const FILE: &str = "File";
pub const FILE_IMPORT: &str = "Import JSON…";
pub const FILE_EXPORT: &str = "Export JSON";
pub const FILE_NEW: &str = "Empty canvas";
pub const SCENARIOS: &str = "Scenario";
pub const SCENARIO_OWN: &str = "Your graph";
pub const PLAY: &str = "Play";
pub const PAUSE: &str = "Pause";
pub const PLAY_HINT: &str = "Play or pause (Space)";
pub const STEP: &str = "Step";
pub const STEP_HINT: &str = "Run one turn (.)";
pub const STEP_MESSAGE: &str = "Step message";
pub const STEP_MESSAGE_HINT: &str = "Run until the selected node has handled its next message (Shift+.)";
pub const BACK: &str = "Step back";
pub const BACK_HINT: &str = "Go one turn back, by replay (,)";
pub const RUN_TO: &str = "Run to";
pub const RUN_TO_HINT: &str = "Virtual time in seconds; runs there as fast as it can, then stops";
pub const RESET: &str = "Reset";
pub const RESET_HINT: &str = "Start again from turn 0 with the same seed";
pub const SPEED: &str = "Speed";
pub const SPEED_MAX: &str = "max";
pub const SPEED_MAX_HINT: &str = "As fast as this device can";
pub const CORES: &str = "Cores";
pub const SEED: &str = "Seed";
pub const UNDO: &str = "Undo";
pub const REDO: &str = "Redo";
pub const UNDO_HINT: &str = "Undo (Ctrl+Z)";
pub const REDO_HINT: &str = "Redo (Ctrl+Shift+Z)";
pub const PALETTE: &str = "Palette";
pub const PALETTE_SEARCH: &str = "Search kinds";
pub const PALETTE_NONE: &str = "No kind has that in its name.";
pub const PLACE_HINT: &str = "Click the canvas to place it, or press Enter there. Esc puts it back.";
pub const CANVAS: &str = "Graph";
pub const CANVAS_HELP: &str =
    "Tab goes from node to node. Arrows pan. Space plays, dot steps, C connects, M moves, Delete deletes.";
pub const EMPTY_TITLE: &str = "An empty stage";
pub const EMPTY_HELP: &str = "Click a kind in the palette, then click here. Drag from port to port to wire.";
pub const ZOOM_IN: &str = "Zoom in";
pub const ZOOM_OUT: &str = "Zoom out";
pub const ZOOM_FIT: &str = "Show all";
pub const INSPECTOR: &str = "Inspector";
pub const TAB_PARAMS: &str = "Params";
pub const TAB_STATS: &str = "Stats";
pub const TAB_WHY: &str = "Why";
pub const LABEL: &str = "Label";
pub const SUPERVISED_BY: &str = "Supervised by";
pub const NOBODY: &str = "nobody";
pub const FAULTS: &str = "Faults";
pub const LIVE: &str = "live";
pub const LIVE_HINT: &str = "Takes effect while the graph runs";
pub const CONNECT: &str = "Connect…";
pub const DELETE: &str = "Delete";
pub const GROUP: &str = "Group under a supervisor";
pub const UNGROUP: &str = "Dissolve the supervisor";
pub const INJECT: &str = "Send it a message";
pub const FAIL_NEXT: &str = "Fail its next message";
pub const NOTHING_SELECTED: &str = "Select a node to see and change its parameters.";
pub const NO_DECISIONS: &str = "No decision yet.";
pub const NO_DATA: &str = "n/a";
pub const TAB_LEDGER: &str = "Ledger";
pub const TAB_TABLE: &str = "Table";
pub const TAB_PROBLEMS: &str = "Problems";
pub const DOCK: &str = "Details of the run";
pub const NO_PROBLEMS: &str = "Nothing is wrong with this graph.";
pub const NO_EVENTS: &str = "Nothing rare has happened in this run yet.";
pub const BALANCED: &str = "balanced";
pub const STATUS: &str = "Status";
pub const STATUS_LOST: &str = "telemetry lost";
pub const NEW_RUN: &str = "graph changed: new run";
pub const PAUSED_WHILE_HIDDEN: &str = "paused while the page was hidden";
pub const FINISHED: &str = "Finished: nothing is left to do.";
pub const GOES_ON: &str = "The message waits: press Play to let the run go on.";
pub const REPLAYING: &str = "Replaying the run up to the turn asked for…";
pub const FAULT_RELOADED: &str = "The run was loaded again, paused.";
pub const FAULT_RESTARTED: &str = "The run was loaded again at turn 0, paused.";
pub const NOTHING_LOADED: &str = "Nothing is loaded: Reset or Play tries again from turn 0.";
pub const ENGINE_STARTING: &str = "The engine is starting.";
pub const ENGINE_STOPPED: &str = "The engine was stopped and started again, paused at turn 0.";
pub const ENGINE_SILENT: &str = "The engine did not start. The browser may have blocked it.";
pub const ENGINE_HUNG: &str = "The engine does not answer.";
pub const ENGINE_OUTDATED: &str = "The cache holds files of another version.";
pub const RELOAD_PAGE: &str = "Reload the page";
pub const STOP_ENGINE: &str = "Stop it";
pub const WAIT: &str = "It may come back: wait, or stop it.";
pub const DISMISS: &str = "Dismiss";
pub const IMPORT_TITLE: &str = "Import a scenario";
pub const IMPORT_TEXT: &str = "Scenario as JSON";
pub const IMPORT_FILE: &str = "From a file";
pub const IMPORT_OPEN: &str = "Open";
pub const IMPORT_KEPT: &str = "The graph on the canvas is as it was.";
pub const FILE_TOO_LARGE: &str = "The file is larger than 2 MB: this is no scenario.";
pub const FILE_UNREADABLE: &str = "The file could not be read.";
pub const REMOVE: &str = "Remove";
pub const SYSTEM: &str = "System";
pub const THROUGHPUT: &str = "Throughput";
pub const THROUGHPUT_HINT: &str = "Messages that an actor handles before it goes to the back of the queue";
pub const BATCH: &str = "Stream batch";
pub const BATCH_HINT: &str = "Stream events that an island handles in one turn";
pub const DISPATCHERS: &str = "Dispatchers";
pub const DISPATCHER: &str = "Dispatcher";
pub const DISPATCHER_HINT: &str =
    "The group of workers that runs it; named ones are set up while nothing is selected";
pub const DISPATCHER_DEFAULT: &str = "the system's own";
pub const CANCEL: &str = "Cancel";
pub const SELECT_A_NODE_FIRST: &str = "Select a node first.";
pub const SELECT_ACTORS_TO_GROUP: &str = "Select actors to group; stream operators have no supervisor.";
pub const CONNECT_FROM: &str = "Connect from which port?";
pub const CONNECT_TO: &str = "Connect to";
pub const CONNECT_FILTER: &str = "Filter";
pub const CONNECT_NONE: &str = "No port is free that fits.";
pub const LEGEND_HINT: &str = "Spacing is the rate; the flight is drawn, not modelled. The width of an edge is its rate on a log scale.";
pub const MOVE_HINT: &str = "Arrows move it, Enter keeps, Esc puts it back.";
pub const WIRE_HINT: &str = "Click the port to connect to. Esc cancels.";
pub const SCENARIO_ABOUT: &str = "About this scenario";

/// What went wrong with the engine; `message` is what [`fault_then`] made.
pub fn fault(message: &str) -> String {
    format!("The engine stopped: {message}")
}

/// What went wrong with the engine, and what became of the run.
pub fn fault_then(message: &str, then: &str) -> String {
    format!("{message}. This is a fault in Footlights. Your graph is kept. {then}")
}

/// How many problems there are.
pub fn problems(n: usize) -> String {
    match n {
        1 => "1 problem to solve before the graph can run".into(),
        n => format!("{n} problems to solve before the graph can run"),
    }
}

/// Why something was not done.
pub fn refused(reason: &str) -> String {
    format!("Not possible: {reason}")
}

/// What waits for what.
pub fn stalled(nodes: &[String], why: &str) -> String {
    format!("Stalled: {} ({why})", nodes.join(", "))
}

/// Whose job was given up, and why: as `job aborted: the time is over (12 answered)`.
pub fn aborted(nodes: &[String], why: &str) -> String {
    let why = why.strip_prefix("job aborted: ").unwrap_or(why);
    let who = nodes.join(", ");
    match why.is_empty() {
        true => format!("Finished: the job of {who} was aborted."),
        false => format!("Finished: the job of {who} was aborted, because {why}."),
    }
}

/// Adds a row to a list.
pub fn add_row(list: &str) -> String {
    format!("Add to {}", list.to_lowercase())
}

/// A row of a list, from 1.
pub fn row(list: &str, n: usize) -> String {
    format!("{list} {n}")
}

/// Takes a row out of a list.
pub fn remove_row(row: &str) -> String {
    format!("{REMOVE} {row}")
}

/// A new wire.
pub fn connected(from: &str, to: &str) -> String {
    format!("{from} now leads to {to}")
}

/// The legend of the canvas.
pub fn legend(per_dot: &str, each: bool, speed: &str) -> String {
    match each {
        true => format!("● = 1 message · every message shown · time {speed}"),
        false => format!("● = {per_dot} messages · time {speed} · counters exact"),
    }
}
