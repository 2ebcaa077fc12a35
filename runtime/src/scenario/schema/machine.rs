//! The settings of a state machine: its states, and what leads from one to another.

use super::param::choice;
use super::{Param, Scale};

const HOUR: f64 = 3_600_000.0;

const STATE: &[Param] = &[
    Param::name("name", "Name", "idle", "what transitions call it"),
    Param::choice(
        "does",
        "Messages",
        &[
            choice("forward", "Forwards them"),
            choice("reply", "Replies"),
            choice("absorb", "Keeps them"),
            choice("postpone", "Postpones them"),
        ],
        "forward",
        "what it does with a message; what is postponed comes back at the next change of state",
    ),
    Param::millis("work_ms", "Work", (0.0, HOUR), 0.0, "CPU time per message"),
    Param::millis("after_ms", "Ends after", (0.0, HOUR), 0.0, "ends by itself after this time; 0 = never"),
    Param::name("after_to", "Then", "idle", "the state that follows then"),
];

const TRANSITION: &[Param] = &[
    Param::name("from", "From", "idle", "the state in which it is looked at"),
    Param::choice(
        "on",
        "On",
        &[
            choice("message", "Any message"),
            choice("nth", "The nth message in this state"),
            choice("urgent", "An urgent message"),
            choice("even", "An even value"),
            choice("odd", "An odd value"),
        ],
        "message",
        "which message it is; the first transition that is met is taken, after the message was treated",
    ),
    Param::int("n", "Nth", (1, 1_000_000), 1, "counted from the moment at which the state was entered")
        .when("on", &["nth"])
        .slider(1.0, 100.0, Scale::Log),
    Param::name("to", "To", "idle", "the state that follows"),
];

/// The settings of a machine, but those of faults and mailbox.
pub(super) const MACHINE: [Param; 3] = [
    Param::name("initial", "Begins in", "idle", "its state at the start, and after a restart"),
    Param::list("states", "States", STATE, 32, "without any it has the initial one alone, which forwards"),
    Param::list("transitions", "Transitions", TRANSITION, 128, "what leads from one state to another"),
];
