//! From the parameters of a node to the settings of its actor: strategy, mailbox, and what a child's own spec adds.

use std::time::Duration;

use super::super::plan::{Params, PlanNode};
use super::Msg;
use crate::actor::{Actor, Props};
use crate::mailbox::{Keep, Mailbox, OverflowStrategy};
use crate::supervise::{Backoff, Directive, FailureKind, Limit, RestartType, Strategy, Window};

/// Gives an actor what its node says of its mailbox, its restarts and its dispatcher.
pub(super) fn apply<A: Actor<Msg = Msg>>(node: &PlanNode, props: Props<A>) -> Props<A> {
    let params = &node.params;
    let props = match &node.dispatcher {
        Some(name) => props.dispatcher(name),
        None => props,
    };
    let restart_type = match params.text("restart") {
        "permanent" => RestartType::Permanent,
        "temporary" => RestartType::Temporary,
        _ => RestartType::Transient,
    };
    let hold = u32::try_from(params.count("hold")).unwrap_or(u32::MAX);
    let props = props.mailbox(mailbox(params)).restart_type(restart_type).hold(hold);
    let props = match params.text("order") {
        "priority" => props.priority(Msg::rank),
        "control" => props.control(Msg::is_urgent),
        _ => props,
    };
    match params.text("dedup") {
        "keep_first" => props.dedup(Keep::First, Msg::equal),
        "keep_last" => props.dedup(Keep::Last, Msg::equal),
        _ => props,
    }
}

fn mailbox(params: &Params) -> Mailbox {
    match usize::try_from(params.count("mailbox")) {
        Ok(0) | Err(_) => Mailbox::unbounded(),
        Ok(capacity) => Mailbox::bounded(capacity, overflow(params)),
    }
}

/// Reads what a full mailbox does.
pub(super) fn overflow(params: &Params) -> OverflowStrategy {
    match params.text("overflow") {
        "timeout" => OverflowStrategy::Timeout(params.millis("patience_ms")),
        name => OverflowStrategy::from_name(name).unwrap_or(OverflowStrategy::Backpressure),
    }
}

/// Makes a supervisor's strategy.
pub(super) fn strategy(params: &Params) -> Strategy {
    let base = match params.text("strategy") {
        "all_for_one" => Strategy::all_for_one(),
        "rest_for_one" => Strategy::rest_for_one(),
        _ => Strategy::one_for_one(),
    };
    let strategy = base.default_directive(directive(params)).window(match params.text("window") {
        "tumbling" => Window::Tumbling,
        "gap" => Window::Gap,
        _ => Window::Sliding,
    });
    let strategy = Strategy { limit: budget(params), ..strategy };
    let strategy = match params.text("budget") {
        "shared" => strategy.shared_budget(),
        _ => strategy,
    };
    let strategy = match params.text("on_exhausted") {
        "escalate" => strategy.escalate_when_exhausted(),
        _ => strategy,
    };
    let strategy = match params.millis("backoff_min_ms") {
        Duration::ZERO => strategy,
        min => strategy.backoff(backoff(min, params)),
    };
    params.rows("rules").iter().fold(strategy, with_rule)
}

/// Reads how many restarts, or replacements, are allowed.
pub(super) fn budget(params: &Params) -> Limit {
    let count = u32::try_from(params.count("max_restarts")).unwrap_or(u32::MAX);
    match params.text("limit") {
        "lifetime" => Limit::Lifetime(count),
        "unlimited" => Limit::Unlimited,
        _ => Limit::Within { count, within: params.millis("within_ms") },
    }
}

fn directive(params: &Params) -> Directive {
    match params.text("directive") {
        "resume" => Directive::Resume,
        "stop" => Directive::Stop,
        "escalate" => Directive::Escalate,
        _ => Directive::Restart,
    }
}

fn backoff(min: Duration, params: &Params) -> Backoff {
    let jitter = u32::try_from(params.count("backoff_jitter_permille")).unwrap_or(u32::MAX);
    Backoff::new(min, params.millis("backoff_max_ms"))
        .jitter_permille(jitter)
        .reset_after(params.millis("backoff_reset_ms"))
}

fn with_rule(strategy: Strategy, rule: &Params) -> Strategy {
    let kind = match rule.text("on") {
        "code" => return strategy.on(rule.text("code").to_owned(), directive(rule)),
        "start" => FailureKind::Start,
        "killed" => FailureKind::Killed,
        "linked" => FailureKind::Linked,
        "escalated" => FailureKind::Escalated,
        "overflow" => FailureKind::Overflow,
        "stash_full" => FailureKind::StashFull,
        "exit" => FailureKind::Exit,
        _ => FailureKind::Error,
    };
    strategy.on(kind, directive(rule))
}
