//! The kinds that exchange messages, and the group that supervises them.

use super::machine;
use super::param::{choice, find, join};
use super::routers;
use super::supervision::{HOLD, RESTART, STRATEGY};
use super::{Carries::Message, Carries::Stream, Direction::In, Direction::Out};
use super::{Family, Kind, Param, Port, Scale, port};

const HOUR: f64 = 3_600_000.0;

pub(super) static KINDS: [Kind; 11] =
    [SOURCE, MASTER, ROUTER, POOL, WORKER, FRONT_END, MACHINE, COLLECTOR, SUPERVISOR, TO_STREAM, TO_ACTOR];

const IN: Port = port("in", In, Message, "messages to handle").many().optional();
const OUT: Port = port("out", Out, Message, "messages it sends");

const SOURCE: Kind = Kind {
    name: "source",
    family: Family::Actor,
    title: "Source",
    doc: "sends messages at a constant, random or bursty rate",
    ports: &[OUT],
    params: &[
        Param::choice(
            "pattern",
            "Pattern",
            &[choice("constant", "Constant"), choice("poisson", "Poisson"), choice("burst", "Bursts")],
            "constant",
            "how its messages are spread over time",
        ),
        Param::num("rate_per_s", "Rate", (0.001, 1_000_000.0), 10.0, "messages per second, on average")
            .unit("/s")
            .live()
            .when("pattern", &["constant", "poisson"])
            .slider(0.1, 1_000.0, Scale::Log),
        Param::int("burst", "Burst size", (1, 100_000), 10, "messages of one burst")
            .live()
            .when("pattern", &["burst"])
            .slider(1.0, 1_000.0, Scale::Log),
        Param::millis("interval_ms", "Burst interval", (0.001, HOUR), 1_000.0, "time from burst to burst")
            .live()
            .when("pattern", &["burst"])
            .slider(1.0, 10_000.0, Scale::Log),
        Param::int("count", "Count", (0, 1_000_000_000), 0, "sends no more after so many; 0 = never"),
        KEYS,
        PRIORITY,
        URGENT_EVERY,
        RESTART,
        HOLD,
    ],
};

const MARKS: &str = "Its messages";

const KEYS: Param = Param::int(
    "keys",
    "Different keys",
    (0, 1_000_000),
    0,
    "how many things its messages are about, in turn; 0 = each about another one",
)
.section(MARKS);

const PRIORITY: Param = Param::int(
    "priority",
    "Priority",
    (0, 255),
    128,
    "how urgent they are for mailboxes by priority; 0 first",
)
.section(MARKS);

const URGENT_EVERY: Param = Param::int(
    "urgent_every",
    "Urgent every",
    (0, 1_000_000),
    0,
    "each so many-th is urgent: priority 0, and the lane of the urgent where there is one; 0 = none",
)
.section(MARKS);

const MASTER: Kind = Kind {
    name: "master",
    family: Family::Actor,
    title: "Master",
    doc: "runs a job: sends tasks, matches the answers by id, aborts once if a worker is stopped",
    ports: &[
        port("out", Out, Message, "the tasks"),
        port("result", Out, Message, "one message when every task is answered").optional(),
    ],
    params: &[
        Param::int("tasks", "Tasks", (1, 100_000_000), 1_000, "how many tasks the job has").slider(
            1.0,
            10_000_000.0,
            Scale::Log,
        ),
        Param::choice(
            "pacing",
            "Pacing",
            &[
                choice("none", "All at once"),
                choice("rate", "By rate"),
                choice("pending", "By pending tasks"),
            ],
            "none",
            "what keeps it from sending everything at once",
        ),
        Param::num("rate_per_s", "Rate", (0.001, 10_000_000.0), 1_000.0, "tasks sent per second")
            .unit("/s")
            .live()
            .when("pacing", &["rate"])
            .slider(1.0, 1_000_000.0, Scale::Log),
        Param::int(
            "max_pending",
            "Pending at most",
            (1, 100_000_000),
            5_000,
            "tasks sent and not yet answered",
        )
        .live()
        .when("pacing", &["pending"])
        .slider(1.0, 100_000.0, Scale::Log),
        Param::flag(
            "watch",
            "Watch the workers",
            true,
            "abort the job when a worker behind `out` is stopped",
        ),
        Param::millis(
            "timeout_ms",
            "Give up after",
            (0.0, 24.0 * HOUR),
            0.0,
            "abort if not done by then; 0 = never",
        ),
        KEYS,
        PRIORITY,
        URGENT_EVERY,
        RESTART,
        HOLD,
    ],
};

const ROUTER: Kind = Kind {
    name: "router",
    family: Family::Actor,
    title: "Router",
    doc: "gives each message to one of its routees, or to all; routed in the sender",
    ports: &[IN, port("out", Out, Message, "the routees").many()],
    params: &routers::ROUTER,
};

const POOL: Kind = Kind {
    name: "pool",
    family: Family::Actor,
    title: "Router pool",
    doc: "a router that makes its own workers, supervises them, and replaces those that end",
    ports: &[IN, port("out", Out, Message, "what its workers forward").needed_when("then", &["forward"])],
    params: &POOL_PARAMS,
};

static POOL_PARAMS: [Param; 3 + 6 + WORK.len() + 8] = routers::pool(&WORK);

const WORKER: Kind = Kind {
    name: "worker",
    family: Family::Actor,
    title: "Worker",
    doc: "spends its service time on each message, may fail, then forwards or replies",
    ports: &[IN, port("out", Out, Message, "what it forwards").needed_when("then", &["forward"])],
    params: &WORK,
};

/// The settings of a worker, alone or in a pool.
const WORK: [Param; 18] = [
    Param::choice(
        "cost",
        "Spends",
        &[choice("work", "CPU time"), choice("block", "A blocking call")],
        "work",
        "whether the service time is computing or waiting; both occupy a core of the run",
    ),
    SERVICE,
    Param::millis("mean_ms", "Service time", (0.0, HOUR), 10.0, "mean time per message").live().slider(
        0.0,
        2_000.0,
        Scale::Linear,
    ),
    Param::choice(
        "failure",
        "Fails",
        &[choice("none", "Never"), choice("nth", "Every nth"), choice("probability", "By chance")],
        "none",
        "when handling a message fails",
    )
    .live()
    .fault(),
    Param::int("nth", "Every", (1, 1_000_000), 10, "each so many-th message fails, counted over restarts")
        .live()
        .fault()
        .when("failure", &["nth"])
        .slider(1.0, 100.0, Scale::Log),
    Param::num("percent", "Chance", (0.0, 100.0), 10.0, "share of messages that fail")
        .unit("%")
        .live()
        .fault()
        .when("failure", &["probability"])
        .slider(0.0, 100.0, Scale::Linear),
    Param::flag("retry", "Retry", false, "forward the failing message to itself before a restart"),
    Param::choice(
        "then",
        "Then",
        &[
            choice("forward", "Forwards it"),
            choice("reply", "Replies"),
            choice("reply_after", "Replies later"),
            choice("absorb", "Keeps it"),
        ],
        "forward",
        "what it does with a handled message",
    ),
    Param::millis(
        "delay_ms",
        "Later by",
        (0.0, HOUR),
        1_000.0,
        "a timer that runs between the message and its reply",
    )
    .live()
    .when("then", &["reply_after"])
    .slider(0.0, 10_000.0, Scale::Linear),
    Param::int("fail_starts", "Failed starts", (0, 1_000), 0, "its first so many starts fail").fault(),
    Param::int(
        "stop_after",
        "Stops itself after",
        (0, 1_000_000_000),
        0,
        "ends by itself each time that it has handled so many more; 0 = never",
    ),
    CAPACITY,
    OVERFLOW,
    PATIENCE,
    ORDER,
    DEDUP,
    RESTART,
    HOLD,
];

const SERVICE: Param = Param::choice(
    "service",
    "Service time is",
    &[choice("constant", "Constant"), choice("uniform", "Uniform"), choice("exponential", "Exponential")],
    "constant",
    "how service times spread around their mean; uniform runs from 0 to twice the mean",
)
.live();

const CAPACITY: Param =
    Param::int("mailbox", "Mailbox", (0, 1_000_000), 0, "messages that may wait; 0 = unbounded")
        .slider(0.0, 1_000.0, Scale::Linear)
        .section("Mailbox");

const OVERFLOW: Param = Param::choice(
    "overflow",
    "When full",
    &[
        choice("backpressure", "Hold the sender back"),
        choice("timeout", "Hold it back for a while"),
        choice("drop_new", "Drop the new one"),
        choice("drop_oldest", "Drop the oldest"),
        choice("reject_to_sender", "Reject to the sender"),
        choice("fail_receiver", "Fail"),
    ],
    "backpressure",
    "what a full mailbox does; no meaning for an unbounded one",
)
.section("Mailbox");

const PATIENCE: Param = Param::millis(
    "patience_ms",
    "For",
    (0.001, HOUR),
    100.0,
    "how long a sender is held back; then it is dropped",
)
.when("overflow", &["timeout"])
.section("Mailbox");

const ORDER: Param = Param::choice(
    "order",
    "Order",
    &[
        choice("fifo", "First in, first out"),
        choice("priority", "By priority"),
        choice("control", "Urgent ones first, in a lane of their own"),
    ],
    "fifo",
    "in which order waiting messages are read; equals keep theirs",
)
.section("Mailbox");

const DEDUP: Param = Param::choice(
    "dedup",
    "Two with one key",
    &[
        choice("keep_all", "Keep both"),
        choice("keep_first", "Keep the first"),
        choice("keep_last", "Keep the last, in the first one's place"),
    ],
    "keep_all",
    "whether two messages about the same thing may wait at a time; sources say how many things there are",
)
.section("Mailbox");

const COLLECTOR: Kind = Kind {
    name: "collector",
    family: Family::Actor,
    title: "Collector",
    doc: "the end of the line: counts messages and their age",
    ports: &[IN],
    params: &[
        Param::millis("work_ms", "Work", (0.0, HOUR), 0.0, "CPU time per message").live().slider(
            0.0,
            1_000.0,
            Scale::Linear,
        ),
        CAPACITY,
        OVERFLOW,
        PATIENCE,
        ORDER,
        DEDUP,
        RESTART,
        HOLD,
    ],
};

const FRONT_END: Kind = Kind {
    name: "front_end",
    family: Family::Actor,
    title: "Front end",
    doc: "splits each request into parts, and answers when all of them are answered",
    ports: &[IN, port("parts", Out, Message, "one part to each of them, that replies").many()],
    params: &[
        Param::choice(
            "mode",
            "Waits by",
            &[choice("aggregate", "An aggregator per request"), choice("block", "Blocking")],
            "aggregate",
            "a small actor that collects the answers and stops, or a blocking call that keeps the worker",
        ),
        Param::millis("work_ms", "Work", (0.0, HOUR), 0.0, "CPU time per request").live().slider(
            0.0,
            100.0,
            Scale::Linear,
        ),
        Param::millis("block_ms", "Blocks for", (0.0, HOUR), 100.0, "how long a blocking call takes")
            .live()
            .when("mode", &["block"])
            .slider(0.0, 1_000.0, Scale::Linear),
        Param::millis(
            "timeout_ms",
            "Gives up after",
            (1.0, HOUR),
            1_000.0,
            "then the aggregator answers with what it has, and stops",
        )
        .live()
        .when("mode", &["aggregate"])
        .slider(1.0, 10_000.0, Scale::Log),
        CAPACITY,
        OVERFLOW,
        PATIENCE,
        ORDER,
        DEDUP,
        RESTART,
        HOLD,
    ],
};

const MACHINE: Kind = Kind {
    name: "machine",
    family: Family::Actor,
    title: "State machine",
    doc: "is in one of its states, and does with a message what the state says",
    ports: &[IN, port("out", Out, Message, "what it forwards").optional()],
    params: &MACHINE_PARAMS,
};

static MACHINE_PARAMS: [Param; 3 + 3 + 7] = join(&[
    &machine::MACHINE,
    &[find(&WORK, "failure"), find(&WORK, "nth"), find(&WORK, "percent")],
    &[CAPACITY, OVERFLOW, PATIENCE, ORDER, DEDUP, RESTART, HOLD],
]);

const SUPERVISOR: Kind = Kind {
    name: "supervisor",
    family: Family::Group,
    title: "Supervisor",
    doc: "decides what happens when one of its children fails",
    ports: &[],
    params: STRATEGY,
};

const TO_STREAM: Kind = Kind {
    name: "to_stream",
    family: Family::Bridge,
    title: "Messages to stream",
    doc: "an actor whose messages become the elements of a stream",
    ports: &[IN, port("out", Out, Stream, "each message as an element")],
    params: &[
        Param::int("buffer", "Buffer", (1, 4_096), 16, "messages that wait for demand").slider(
            1.0,
            256.0,
            Scale::Log,
        ),
        Param::choice(
            "overflow",
            "When full",
            &[
                choice("drop_head", "Drop the oldest"),
                choice("drop_new", "Drop the new one"),
                choice("fail", "Fail the stream"),
            ],
            "drop_head",
            "what a message without room does",
        ),
        RESTART,
        HOLD,
    ],
};

const TO_ACTOR: Kind = Kind {
    name: "to_actor",
    family: Family::Bridge,
    title: "Stream to messages",
    doc: "sends each element of a stream as a message",
    ports: &[port("in", In, Stream, "the elements"), OUT],
    params: &[],
};
