//! The line at the bottom: time, turn, cores, rate, log hash, seed, regime, what was lost, and the ledger.

use yew::prelude::*;

use super::Part;
use super::stage::StageShown;
use crate::engine::protocol::Speed;
use crate::engine::telemetry::FINISHED;
use crate::model::live::Live;
use crate::model::state::{Engine, State};
use crate::model::{format, locale as text};

/// Properties of [`Status`].
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// State, counters, actions.
    pub part: Part,
    /// What the canvas shows.
    pub shown: StageShown,
}

/// The line.
#[component]
pub fn Status(props: &Props) -> Html {
    let state = &props.part.state;
    let live = props.part.live.borrow();
    let Some(head) = live.head else {
        return html! { <footer class="status" aria-label={text::STATUS}><span>{ waiting(state) }</span></footer> };
    };
    let lost = u64::from(head.lost[0]) + u64::from(head.lost[1]) + live.events_lost;
    let regime = props.shown.0.borrow().regime;
    let sign = match state.run.playing || live.is_replaying() {
        true => "▶",
        false => "❚❚",
    };
    html! {
        <footer class="status" aria-label={text::STATUS}>
            { super::dock::ledger_line(&props.part) }
            <span data-testid="status-time"><i aria-hidden="true">{ sign }</i>{ format::time_ns(head.time_ns) }</span>
            <span data-testid="status-turn" data-turn={head.turns.to_string()}>{ format!("turn #{}", format::grouped(head.turns)) }</span>
            <span>{ format!("{} virtual cores", state.doc.workers) }</span>
            <span data-testid="status-rate">{ live.total_rate().map_or(text::NO_DATA.into(), |r| format!("{} msg/s", format::big(r))) }</span>
            <span data-testid="status-hash" class="mono">{ format!("log {:016x}", head.hash) }</span>
            <span>{ format!("seed {}", state.doc.seed) }</span>
            <span data-testid="status-regime">{ regime.name() }</span>
            <span data-testid="status-lost" class={classes!((lost > 0).then_some("alarm"))}>{ format!("{} {lost}", text::STATUS_LOST) }</span>
            <span class="end">{ ending(state, &live, head.flags & FINISHED != 0) }</span>
        </footer>
    }
}

fn waiting(state: &State) -> String {
    match state.engine {
        Engine::Ready if !state.problems.is_empty() => text::problems(state.problems.len()),
        Engine::Ready => state.run.ended.clone().unwrap_or_else(|| text::NO_DATA.into()),
        _ => text::ENGINE_STARTING.into(),
    }
}

/// What is worth saying last: the end of the run, or a device that cannot keep up.
fn ending(state: &State, live: &Live, finished: bool) -> String {
    if let Some(ended) = &state.run.ended {
        return ended.clone();
    }
    if state.run.stale && !state.problems.is_empty() {
        return text::problems(state.problems.len());
    }
    if live.is_replaying() {
        return text::REPLAYING.into();
    }
    let measured = live.head.map_or(0, |h| h.speed_permille);
    match state.run.speed {
        _ if finished || !state.run.playing || measured == 0 => String::new(),
        Speed::Max => format!(
            "{} real time, {} turns/s",
            format::speed(measured),
            format::big(live.turn_rate().unwrap_or_default())
        ),
        Speed::Permille(wanted) if u64::from(measured) * 10 < u64::from(wanted) * 8 => {
            format!("{} of {}", format::speed(measured), format::speed(wanted))
        }
        Speed::Permille(_) => String::new(),
    }
}
