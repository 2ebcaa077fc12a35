//! A text field that keeps what is being typed, however often the page is drawn anew, and hands it over at the end.

use web_sys::HtmlInputElement;
use yew::prelude::*;

/// Properties of [`TextBox`].
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// What holds now.
    pub value: String,
    /// The element's id and its name in tests.
    pub id: String,
    /// Shown while the field is empty.
    #[prop_or_default]
    pub placeholder: String,
    /// Which keyboard a phone shows.
    #[prop_or("text")]
    pub inputmode: &'static str,
    /// Takes what was typed; what is not taken falls back to [`Props::value`].
    pub commit: Callback<String>,
}

/// The field.
#[component]
pub fn TextBox(props: &Props) -> Html {
    let draft = use_state(|| None::<String>);
    let oninput = {
        let draft = draft.clone();
        Callback::from(move |e: InputEvent| {
            if let Some(input) = e.target_dyn_into::<HtmlInputElement>() {
                draft.set(Some(input.value()));
            }
        })
    };
    let onchange = {
        let (draft, commit) = (draft.clone(), props.commit.clone());
        Callback::from(move |e: Event| {
            if let Some(input) = e.target_dyn_into::<HtmlInputElement>() {
                draft.set(None);
                commit.emit(input.value());
            }
        })
    };
    let value = (*draft).clone().unwrap_or_else(|| props.value.clone());
    html! {
        <input type="text" id={props.id.clone()} data-testid={props.id.clone()} placeholder={props.placeholder.clone()}
            inputmode={props.inputmode} autocomplete="off" {value} {oninput} {onchange} />
    }
}
