//! Events in words: rare ones for the page's log, all of them for the log table.
//!
//! The sentences are English; they are made of numbers that the event carries, and decide nothing.

use footlights::id::ActorId;
use footlights::observe::{Event, EventKind, StopReason};
use footlights::scenario::Run;

use super::protocol::{EventRow, RareEvent, RareKind};

/// Makes a rare event of an event, if it is one that a page shows; the second part is the node's index.
pub fn rare(run: &Run, event: &Event) -> Option<(RareEvent, Option<usize>)> {
    let (kind, actor) = match &event.kind {
        EventKind::Failed { .. } => (RareKind::Failed, event.actor),
        EventKind::Decided(decided) => (RareKind::Decided, decided.child),
        EventKind::Restarted { .. } => (RareKind::Restarted, event.actor),
        EventKind::Stopped { .. } => (RareKind::Stopped, event.actor),
        EventKind::Dropped { .. } => (RareKind::Dropped, event.actor),
        EventKind::DeadLettered { .. } => (RareKind::DeadLettered, event.actor),
        EventKind::Note { .. } => (RareKind::Noted, event.actor),
        // Of long runs the first one is told, by its lint: where all are long the rest would hide everything else.
        EventKind::LintRaised { .. } => (RareKind::Slow, event.actor),
        EventKind::ClockPushed => (RareKind::ClockPushed, event.actor),
        EventKind::RouteeAdded { .. }
        | EventKind::RouteeRetired { .. }
        | EventKind::RouteesChanged { .. } => (RareKind::Routees, event.actor),
        EventKind::Transition { .. } => (RareKind::Moved, event.actor),
        EventKind::Resized(_) => (RareKind::Resized, event.actor),
        EventKind::Routed { .. } => (RareKind::Routed, event.actor),
        _ => return None,
    };
    let index = run.node_of(actor);
    // Of what happens in the system itself only the clock is told.
    if index.is_none() && kind != RareKind::ClockPushed {
        return None;
    }
    let meta = index.map(|i| &run.nodes()[i]);
    let node = meta.map(|m| m.id.clone()).unwrap_or_default();
    let turn = run.turn_of_event(event.turn);
    let why = match event.kind {
        EventKind::Stopped { reason: StopReason::Stopped } if meta.is_some_and(|m| m.island.is_some()) => {
            "its part of the stream has ended".into()
        }
        _ => words(run, &event.kind),
    };
    Some((RareEvent { turn, at_ns: event.at.as_nanos(), node, kind, why }, index))
}

/// Makes a row of the log table of an event.
pub fn row(run: &Run, event: &Event) -> EventRow {
    let actor = match &event.kind {
        EventKind::Decided(decided) => decided.child,
        _ => event.actor,
    };
    EventRow {
        turn: run.turn_of_event(event.turn),
        at_ns: event.at.as_nanos(),
        node: run.node_of(actor).map(|i| run.nodes()[i].id.clone()),
        kind: name(&event.kind),
        text: words(run, &event.kind),
    }
}

/// Gives the event's name: that of its variant.
fn name(kind: &EventKind) -> String {
    let text = format!("{kind:?}");
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    text[..end].into()
}

fn words(run: &Run, kind: &EventKind) -> String {
    let who = |actor| who(run, actor);
    match kind {
        EventKind::Failed { kind, text, .. } => format!("{kind}: {text}"),
        EventKind::Decided(decided) => format!("failure '{}': {}", decided.text, decided.why()),
        EventKind::Restarted { incarnation } => {
            format!("incarnation {incarnation} runs; its mailbox was kept")
        }
        EventKind::Stopped { reason } => stopped(*reason),
        EventKind::Dropped { reason, message } => format!("message {message} dropped: {reason}"),
        EventKind::DeadLettered { reason, message } => {
            format!("message {message} is a dead letter: {reason}")
        }
        EventKind::BackoffBegan { delay_ns } => format!("waits {} before its restart", millis(*delay_ns)),
        EventKind::AwaitingRoom { target } => format!("waits for room at {}", who(*target)),
        EventKind::RoomFound { target } => format!("found room at {}", who(*target)),
        EventKind::Watched { target } => format!("watches {}", who(*target)),
        EventKind::Linked { target } => format!("shares the fate of {}", who(*target)),
        EventKind::Unlinked { target } => format!("no longer shares the fate of {}", who(*target)),
        EventKind::Unwatched { target } => format!("watches {} no longer", who(*target)),
        EventKind::AutoShutdown(why) => why.why(),
        EventKind::Notified { target, reason } => format!("hears of {}: {}", who(*target), stopped(*reason)),
        EventKind::MailboxHigh { depth } => format!("{depth} messages wait"),
        EventKind::MailboxFull { capacity } => format!("its mailbox of {capacity} is full"),
        EventKind::Deadlock { cycle } => {
            let names: Vec<String> = cycle.iter().map(|(actor, _)| who(*actor)).collect();
            format!("each waits for room at the next: {}, and the last for the first", names.join(", "))
        }
        EventKind::Unhandled { message } => format!("message {message} was not meant for it"),
        EventKind::RouteesChanged { routees } => format!("{routees} routees are left"),
        EventKind::RouteeAdded { routee, routees } => {
            format!("{} is its routee number {routees}", who(*routee))
        }
        EventKind::RouteeRetired { routee, routees } => {
            format!("{} is no routee any more: {routees} are left", who(*routee))
        }
        EventKind::Resized(resized) => resized.why(),
        EventKind::Transition { from, to } if from == to => format!("enters {to} anew"),
        EventKind::Transition { from, to } => format!("goes from {from} to {to}"),
        EventKind::Stashed { message } => format!("message {message} is put aside"),
        EventKind::Unstashed { messages } => format!("{messages} messages come back from the stash"),
        EventKind::Rerouted { message } => format!("message {message} goes to another routee"),
        EventKind::Routed { routee, why } if *routee == ActorId::NOBODY => why.why(),
        EventKind::Routed { routee, why } => format!("to {}: {}", who(*routee), why.why()),
        EventKind::Note { what, value } => format!("{what} ({value} answered)"),
        EventKind::Command { what } => what.to_string(),
        EventKind::Sent { message, from, .. } => format!("message {message} from {}", who(*from)),
        EventKind::Received { message, waited_ns } => {
            format!("message {message} after {}", millis(*waited_ns))
        }
        EventKind::Handled { message, took_ns } => format!("message {message} took {}", millis(*took_ns)),
        EventKind::TimerSet { due } => format!("due at {due:?}"),
        EventKind::HookFailed { hook, text } => format!("{hook}: {text}"),
        EventKind::SlowHandler { took_ns } => {
            format!("a run kept its worker for {}, more than 100 ms", millis(*took_ns))
        }
        EventKind::LintRaised { lint, ns } => format!("{} ({})", lint.why(), millis(*ns)),
        EventKind::ClockPushed => {
            "100,000 runs at one instant: each further one costs 1 µs until nothing is left to do".into()
        }
        _ => String::new(),
    }
}

/// Names an actor by its node; one of several of a node also by its own name.
pub(super) fn who(run: &Run, actor: ActorId) -> String {
    match run.node_of(actor) {
        Some(node) if run.nodes()[node].kind == "pool" => match run.name_of(actor) {
            Some(name) => format!("{}/{name}", run.nodes()[node].id),
            None => run.nodes()[node].id.clone(),
        },
        Some(node) => run.nodes()[node].id.clone(),
        None => format!("{actor}"),
    }
}

fn stopped(reason: StopReason) -> String {
    match reason {
        StopReason::Stopped => "stopped when asked to".into(),
        StopReason::Failed(kind) => format!("stopped by its supervisor after a failure ({kind})"),
        StopReason::ParentStopped => "stopped with its supervisor".into(),
        StopReason::SystemShutdown => "stopped with the system".into(),
        StopReason::AlreadyGone => "had ended before".into(),
        StopReason::Killed => "stopped by its supervisor after a kill".into(),
        StopReason::Forced => "did not stop in time and was left behind".into(),
    }
}

/// Shows nanoseconds as milliseconds, to the microsecond.
pub(super) fn millis(ns: u64) -> String {
    format!("{}.{:03} ms", ns / 1_000_000, ns / 1_000 % 1_000)
}
