//! The bar at the top: play, step, reset, speed, cores, seed, undo.

use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::Part;
use super::text_box::TextBox;
use super::{numeral, words};
use crate::engine::protocol::{Speed, Target};
use crate::model::state::{Action, State};
use crate::model::{format, locale as text};

/// The end of the slider that stands for *max*; below it are ×0.001 … ×10 in steps of a fifth of a power.
const SLIDER_MAX: u32 = 21;

/// The bar.
#[component]
pub fn Transport(part: &Part) -> Html {
    let state = &part.state;
    let (name, face) = if state.run.playing { (text::PAUSE, "❚❚") } else { (text::PLAY, "▶") };
    let play_state = if state.run.playing { "playing" } else { "paused" };
    html! {
        <div class="transport" role="toolbar" aria-label="Transport">
            <button type="button" class="play" data-testid="transport-play" data-state={play_state} aria-label={name}
                title={text::PLAY_HINT} onclick={part.on(Action::TogglePlay)}>
                <span aria-hidden="true">{ face }</span>{ name }
            </button>
            { back(part) }
            { button(part, "transport-step", "▸|", text::STEP, text::STEP_HINT, Action::StepTurn, true) }
            { button(part, "transport-step-message", "✉▸", text::STEP_MESSAGE, text::STEP_MESSAGE_HINT, Action::StepMessage,
                state.selection.single().is_some()) }
            { run_to(part) }
            { button(part, "reset", "⟲", text::RESET, text::RESET_HINT, Action::Reset, true) }
            <span class="gap"></span>
            { speed(part) }
            { number(part, "cores", text::CORES, u64::from(state.doc.workers), (1, 64), |n| Action::SetWorkers(n as u16)) }
            { number(part, "seed", text::SEED, state.doc.seed, (0, u64::MAX), Action::SetSeed) }
            <span class="gap"></span>
            { button(part, "undo", "↶", text::UNDO, text::UNDO_HINT, Action::Undo, state.history.can_undo()) }
            { button(part, "redo", "↷", text::REDO, text::REDO_HINT, Action::Redo, state.history.can_redo()) }
        </div>
    }
}

fn button(
    part: &Part,
    id: &'static str,
    face: &'static str,
    name: &'static str,
    hint: &'static str,
    action: Action,
    enabled: bool,
) -> Html {
    html! {
        <button type="button" data-testid={id} aria-label={name} title={hint} disabled={!enabled} onclick={part.on(action)}>
            <span aria-hidden="true">{ face }</span>
        </button>
    }
}

/// One turn back, by replay.
fn back(part: &Part) -> Html {
    let (act, live) = (part.act.clone(), part.live.clone());
    let onclick = Callback::from(move |_: MouseEvent| {
        let turn = live.borrow().turns();
        act.emit(Action::Seek(turn.saturating_sub(1)));
    });
    html! {
        <button type="button" data-testid="transport-back" aria-label={text::BACK} title={text::BACK_HINT} {onclick}>
            <span aria-hidden="true">{ "|◂" }</span>
        </button>
    }
}

/// Run on to a virtual time, in seconds.
fn run_to(part: &Part) -> Html {
    let check = {
        let (act, live) = (part.act.clone(), part.live.clone());
        Callback::from(move |typed: String| {
            let now_ns = live.borrow().head.map_or(0, |h| h.time_ns);
            let reason = match time_ns(&typed)? {
                Ok(at_ns) if at_ns >= now_ns => return None,
                Ok(_) => words::TIME_HAS_PASSED.to_owned(),
                Err(reason) => reason,
            };
            act.emit(Action::Say(format!("{}: {reason}", text::RUN_TO)));
            Some(reason)
        })
    };
    let act = part.act.clone();
    let commit = Callback::from(move |typed: String| {
        if let Some(Ok(at_ns)) = time_ns(&typed) {
            act.emit(Action::RunTo(Target::TimeNs(at_ns)));
        }
    });
    html! {
        <label class="number" title={text::RUN_TO_HINT}>
            <span>{ text::RUN_TO }</span>
            <TextBox id="transport-run-to" value="" placeholder="s" inputmode="decimal" {check} {commit} />
        </label>
    }
}

/// Seconds as typed, in nanoseconds; `None` for an emptied field.
fn time_ns(typed: &str) -> Option<Result<u64, String>> {
    let seconds = Some(typed).filter(|t| !t.trim().is_empty()).map(numeral::decimal)?;
    Some(seconds.and_then(|s| match (0.0..1e9).contains(&s) {
        true => Ok((s * 1e9).round() as u64),
        false => Err(words::SECONDS.into()),
    }))
}

fn speed(part: &Part) -> Html {
    let act = part.act.clone();
    let oninput = Callback::from(move |e: InputEvent| {
        let at = e.target_dyn_into::<HtmlInputElement>().and_then(|i| i.value().parse().ok());
        if let Some(at) = at {
            act.emit(Action::SetSpeed(speed_at(at)));
        }
    });
    let words = speed_words(&part.state);
    html! {
        <label class="speed">
            <span>{ text::SPEED }</span>
            <input type="range" data-testid="speed" min="0" max={SLIDER_MAX.to_string()} step="1"
                value={place_of(part.state.run.speed).to_string()} aria-valuetext={words.clone()} {oninput} />
            <output>{ words }</output>
        </label>
    }
}

fn speed_words(state: &State) -> String {
    match state.run.speed {
        Speed::Max => text::SPEED_MAX.into(),
        Speed::Permille(p) => format::speed(p),
    }
}

/// Five places to each power of ten: 1, 1.6, 2.5, 4, 6.3, rounded to what reads well.
fn speed_at(place: u32) -> Speed {
    const STEPS: [u32; 21] = [
        1, 2, 3, 4, 6, 10, 16, 25, 40, 63, 100, 160, 250, 400, 630, 1_000, 1_600, 2_500, 4_000, 6_300, 10_000,
    ];
    usize::try_from(place).ok().and_then(|i| STEPS.get(i)).map_or(Speed::Max, |p| Speed::Permille(*p))
}

fn place_of(speed: Speed) -> u32 {
    (0..=SLIDER_MAX).find(|at| speed_at(*at) == speed).unwrap_or(SLIDER_MAX)
}

fn number(
    part: &Part,
    id: &'static str,
    label: &'static str,
    value: u64,
    (from, to): (u64, u64),
    action: impl Fn(u64) -> Action + 'static,
) -> Html {
    let act = part.act.clone();
    let check = {
        let act = act.clone();
        Callback::from(move |typed: String| {
            let reason = numeral::whole(&typed, from, to).err()?;
            act.emit(Action::Say(format!("{label}: {reason}")));
            Some(reason)
        })
    };
    let commit = Callback::from(move |typed: String| {
        if let Ok(n) = numeral::whole(&typed, from, to) {
            act.emit(action(n));
        }
    });
    html! {
        <label class="number" title={label}>
            <span>{ label }</span>
            <TextBox {id} value={value.to_string()} inputmode="numeric" {check} {commit} />
        </label>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_the_slider_is_a_speed_and_back() {
        for at in 0..=SLIDER_MAX {
            assert_eq!(place_of(speed_at(at)), at);
        }
        assert_eq!(
            (speed_at(0), speed_at(15), speed_at(21)),
            (Speed::Permille(1), Speed::Permille(1_000), Speed::Max)
        );
    }
}
