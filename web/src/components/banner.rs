//! What must be said about the engine, and short messages that go away by themselves.

use yew::prelude::*;

use super::Part;
use crate::model::locale as text;
use crate::model::state::{Action, Engine};

/// Banners at the top of the stage.
#[component]
pub fn Banner(part: &Part) -> Html {
    html! {
        <>
        <div class="banners">
            { engine(part) }
            if let Some(message) = &part.state.fault {
                <div class="banner fault" role="alert" data-testid="fault-banner">
                    <p>{ text::fault(message) }</p>
                    <button type="button" onclick={part.on(Action::DropFault)}>{ text::DISMISS }</button>
                </div>
            }
        </div>
        // Low, so that it covers no banner and not the list of targets.
        if let Some((_, message)) = &part.state.toast {
            <p class="toast" data-testid="toast">{ message }</p>
        }
        </>
    }
}

fn engine(part: &Part) -> Html {
    let reload = Callback::from(|_: MouseEvent| {
        if let Some(window) = web_sys::window() {
            let _ = window.location().reload();
        }
    });
    let (message, button) = match part.state.engine {
        Engine::Starting | Engine::Ready => return Html::default(),
        Engine::Silent => (
            text::ENGINE_SILENT.to_owned(),
            html! { <button type="button" onclick={reload}>{ text::RELOAD_PAGE }</button> },
        ),
        Engine::Outdated => (
            text::ENGINE_OUTDATED.to_owned(),
            html! { <button type="button" onclick={reload}>{ text::RELOAD_PAGE }</button> },
        ),
        Engine::Hung => (
            format!("{} {}", text::ENGINE_HUNG, text::WAIT),
            html! { <button type="button" data-testid="watchdog-stop" onclick={part.on(Action::StopEngine)}>{ text::STOP_ENGINE }</button> },
        ),
    };
    html! { <div class="banner" role="alert" data-testid="engine-banner"><p>{ message }</p>{ button }</div> }
}
