//! The dock under the canvas: ledger, why log, table, problems.

use yew::prelude::*;

use super::table::Table;
use super::{Part, tab_keys};
use crate::engine::protocol::{RareEvent, RareKind};
use crate::engine::telemetry::{BALANCED, LEDGER_TERMS};
use crate::model::state::{Action, DockTab};
use crate::model::{format, locale as text};

/// Rows of the why log that are drawn.
const ROWS_MAX: usize = 100;

/// The dock.
#[component]
pub fn Dock(part: &Part) -> Html {
    let problems = part.state.problems.len();
    let tabs = [
        (DockTab::Ledger, "ledger", text::TAB_LEDGER.to_owned()),
        (DockTab::Why, "why", text::TAB_WHY.to_owned()),
        (DockTab::Table, "table", text::TAB_TABLE.to_owned()),
        (
            DockTab::Problems,
            "problems",
            if problems > 0 {
                format!("{} {problems}", text::TAB_PROBLEMS)
            } else {
                text::TAB_PROBLEMS.into()
            },
        ),
    ];
    let now = tabs.iter().position(|(tab, ..)| *tab == part.state.dock).unwrap_or(0);
    let keys = tabs.iter().map(|(tab, id, _)| (format!("dock-tab-{id}"), Action::ShowDock(*tab))).collect();
    let onkeydown = tab_keys(part, now, keys);
    html! {
        <section class="dock" aria-label={text::DOCK}>
            <div class="tabs">
            <div class="tablist" role="tablist" aria-label={text::DOCK} {onkeydown}>
                { for tabs.into_iter().map(|(tab, id, name)| html! {
                    <button key={id} type="button" role="tab" aria-selected={(part.state.dock == tab).to_string()}
                        tabindex={if part.state.dock == tab { "0" } else { "-1" }}
                        class={classes!((tab == DockTab::Problems && problems > 0).then_some("alarm"))}
                        data-testid={format!("dock-tab-{id}")} onclick={part.on(Action::ShowDock(tab))}>{ name }</button>
                }) }
            </div>
            </div>
            <div class="panel" role="tabpanel" tabindex="0" aria-label={text::DOCK}>
                { match part.state.dock {
                    DockTab::Ledger => ledger_terms(part),
                    DockTab::Why => why(part),
                    DockTab::Table => html! { <Table ..part.clone() /> },
                    DockTab::Problems => problem_list(part),
                } }
            </div>
        </section>
    }
}

/// The sum in one line, always on screen: `sent 96 = handled 71 + queued 22 + failed 3 ✓`.
pub(super) fn ledger_line(part: &Part) -> Html {
    let live = part.live.borrow();
    let Some(head) = live.head else {
        return html! { <p class="ledger-line" data-testid="ledger">{ text::NO_DATA }</p> };
    };
    let [sent, rest @ ..] = head.ledger;
    let names = &LEDGER_TERMS[1..];
    let parts: Vec<String> = names
        .iter()
        .zip(rest)
        .filter(|(name, n)| *n > 0 || **name == "handled")
        .map(|(name, n)| format!("{} {}", name.replace('_', "-"), format::grouped(n)))
        .collect();
    let balanced = head.flags & BALANCED != 0;
    let sum: u64 = rest.iter().fold(0, |a, b| a.wrapping_add(*b));
    let verdict = match balanced {
        true => "✓".to_owned(),
        false => format!("✕ differs by {}", sent.abs_diff(sum)),
    };
    html! {
        <p class="ledger-line" data-testid="ledger">
            <b>{ format!("sent {}", format::grouped(sent)) }</b>{ format!(" = {} ", parts.join(" + ")) }
            <span data-testid="ledger-balanced" data-balanced={balanced.to_string()} aria-label={text::BALANCED}
                role="img" class={if balanced { "good" } else { "bad" }}>{ verdict }</span>
        </p>
    }
}

/// Each term large, so that it can be read from the last row.
fn ledger_terms(part: &Part) -> Html {
    let live = part.live.borrow();
    let terms = live.head.map(|h| h.ledger).unwrap_or_default();
    let known = live.head.is_some();
    html! {
        <dl class="ledger-terms">
            { for LEDGER_TERMS.iter().zip(terms).enumerate().map(|(i, (name, n))| html! {
                <div key={*name} class={classes!("term", format!("term-{name}"))}>
                    <dt>{ name.replace('_', "-") }</dt>
                    <dd data-testid={format!("ledger-{name}")} data-value={n.to_string()}>
                        { if known { format::grouped(n) } else { text::NO_DATA.into() } }
                    </dd>
                    <span aria-hidden="true" class="sign">{ match i { 0 => "=", 6 => "", _ => "+" } }</span>
                </div>
            }) }
        </dl>
    }
}

fn why(part: &Part) -> Html {
    let live = part.live.borrow();
    html! {
        if live.events.is_empty() {
            <p class="quiet" data-testid="why-log">{ text::NO_EVENTS }</p>
        } else {
            <ol class="why" data-testid="why-log">
                { for live.events.iter().take(ROWS_MAX).map(|e| event(part, e)) }
            </ol>
        }
    }
}

fn event(part: &Part, e: &RareEvent) -> Html {
    let (sign, class) = match e.kind {
        RareKind::Failed => ("✕", "failed"),
        RareKind::Restarted => ("↻", "restarted"),
        RareKind::Decided => ("⚖", ""),
        RareKind::Stopped => ("■", ""),
        RareKind::Dropped => ("↓", "failed"),
        RareKind::DeadLettered => ("†", "failed"),
        RareKind::Stalled => ("∞", "failed"),
        RareKind::Changed => ("✎", ""),
        RareKind::Noted => ("¶", ""),
        RareKind::Slow => ("⧗", "failed"),
        RareKind::ClockPushed => ("⏩", ""),
        RareKind::Full => ("▮", "failed"),
        RareKind::Routees => ("⑂", ""),
        RareKind::Resized => ("↔", ""),
        RareKind::Moved => ("⇢", ""),
        RareKind::Routed => ("→", ""),
    };
    let select = part.on(Action::Select(vec![e.node.clone()]));
    html! {
        <li class={class} data-kind={format!("{:?}", e.kind)}>
            <span class="when">{ format!("#{} {}", format::grouped(e.turn), format::time_ns(e.at_ns)) }</span>
            <span class="sign" aria-hidden="true">{ sign }</span>
            if e.node.is_empty() {
                { text::SYSTEM }
            } else {
                <button type="button" class="link" onclick={select}>{ part.state.label_of(&e.node) }</button>
            }
            { format!(" {}", e.why) }
        </li>
    }
}

fn problem_list(part: &Part) -> Html {
    html! {
        if part.state.problems.is_empty() {
            <p class="quiet" data-testid="problems">{ text::NO_PROBLEMS }</p>
        } else {
            <ul class="why problems" data-testid="problems">
                { for part.state.problems.iter().map(|p| {
                    let go = match (&p.place.node, &p.place.edge) {
                        (Some(node), _) => Action::Select(vec![node.to_string()]),
                        (_, Some(edge)) => Action::SelectEdge(edge.to_string()),
                        _ => Action::Select(Vec::new()),
                    };
                    html! { <li><button type="button" class="link" onclick={part.on(go)}>{ p.to_string() }</button></li> }
                }) }
            </ul>
        }
    }
}
