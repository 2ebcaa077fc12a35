//! The settings of supervision: a supervisor's strategy, and what a child's own spec adds to it.

use super::param::choice;
use super::{Choice, Param};

const MINUTE: f64 = 60_000.0;
const HOUR: f64 = 3_600_000.0;

const DIRECTIVES: &[Choice] = &[
    choice("restart", "Restart"),
    choice("resume", "Resume"),
    choice("stop", "Stop"),
    choice("escalate", "Escalate"),
];

/// The kinds of failure that a rule may name, and `code` for one by its code.
const FAILURES: &[Choice] = &[
    choice("error", "An error in a handler"),
    choice("start", "A failed start"),
    choice("killed", "A kill"),
    choice("linked", "A linked actor's end"),
    choice("escalated", "An escalated failure"),
    choice("overflow", "A mailbox overflow"),
    choice("stash_full", "A full stash"),
    choice("exit", "A permanent child's own stop"),
    choice("code", "A failure with the code"),
];

const RULE: &[Param] = &[
    Param::choice("on", "On", FAILURES, "error", "which failures the rule is about"),
    Param::text("code", "Code", 64, "task", "the failure's code; a failing worker says task")
        .when("on", &["code"]),
    Param::choice("directive", "Then", DIRECTIVES, "restart", "what is decided"),
];

/// A supervisor's strategy.
pub(super) const STRATEGY: &[Param] = &[
    Param::choice(
        "strategy",
        "Strategy",
        &[
            choice("one_for_one", "One for one"),
            choice("all_for_one", "All for one"),
            choice("rest_for_one", "Rest for one"),
        ],
        "one_for_one",
        "who is treated when a child fails: that child, all of them, or it and those started after it",
    ),
    Param::choice(
        "directive",
        "On failure",
        DIRECTIVES,
        "restart",
        "what it decides where no rule says else",
    ),
    Param::list(
        "rules",
        "Rules",
        RULE,
        16,
        "answers to certain failures; the first rule that matches decides",
    ),
    Param::choice(
        "limit",
        "Restarts allowed",
        &[
            choice("within", "Within a window"),
            choice("lifetime", "In a lifetime"),
            choice("unlimited", "Without limit"),
        ],
        "within",
        "without limit there is always a backoff: 100 ms to 10 s if none is set",
    )
    .section("Budget"),
    Param::int(
        "max_restarts",
        "Restarts at most",
        (0, 1_000_000),
        10,
        "one more, and the budget is exhausted",
    )
    .when("limit", &["within", "lifetime"])
    .section("Budget"),
    Param::millis("within_ms", "Within", (1.0, 24.0 * HOUR), 10_000.0, "the length of the window")
        .when("limit", &["within"])
        .section("Budget"),
    Param::choice(
        "window",
        "Window",
        &[
            choice("sliding", "Sliding: the restarts of the last while"),
            choice("tumbling", "Tumbling: windows do not overlap"),
            choice("gap", "Gap: until there was none for long enough"),
        ],
        "sliding",
        "how restarts are counted against time",
    )
    .when("limit", &["within"])
    .section("Budget"),
    Param::choice(
        "budget",
        "Counted per",
        &[choice("per_child", "Child"), choice("shared", "Supervisor")],
        "per_child",
        "whose restarts are counted together; a group strategy counts them all in any case",
    )
    .section("Budget"),
    Param::choice(
        "on_exhausted",
        "When exhausted",
        &[choice("stop", "Stop"), choice("escalate", "Escalate")],
        "stop",
        "what becomes of a failure that would need one restart too many",
    )
    .section("Budget"),
    Param::millis(
        "backoff_min_ms",
        "First delay",
        (0.0, 10.0 * MINUTE),
        0.0,
        "wait before a restart, doubled each time; 0 = none",
    )
    .section("Backoff"),
    Param::millis("backoff_max_ms", "Longest delay", (0.0, HOUR), 10_000.0, "upper end of the wait")
        .section("Backoff"),
    Param::int(
        "backoff_jitter_permille",
        "Jitter",
        (0, 1_000),
        200,
        "how much chance may add, in thousandths of the delay, before it is capped",
    )
    .unit("‰")
    .section("Backoff"),
    Param::millis(
        "backoff_reset_ms",
        "Reset after",
        (0.0, 24.0 * HOUR),
        10_000.0,
        "running so long without failure starts the delays from the first one again",
    )
    .section("Backoff"),
    RESTART,
    HOLD,
];

const AS_CHILD: &str = "As a child";

/// Which ends a restart undoes.
pub(super) const RESTART: Param = Param::choice(
    "restart",
    "Restart type",
    &[
        choice("permanent", "Permanent: whatever ended it"),
        choice("transient", "Transient: after a failure"),
        choice("temporary", "Temporary: never"),
    ],
    "transient",
    "which of its ends its supervisor undoes by a restart",
)
.section(AS_CHILD);

/// How much it takes in meanwhile.
pub(super) const HOLD: Param = Param::int(
    "hold",
    "Hold",
    (0, 1_000_000),
    1_000,
    "messages taken in while it waits for its restart; more are dropped",
)
.section(AS_CHILD);
