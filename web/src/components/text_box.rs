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
    /// Says what is wrong with what was typed; then it stays in the field, marked, and is not committed.
    #[prop_or_default]
    pub check: Option<Callback<String, Option<String>>>,
    /// Takes what was typed; what is not taken falls back to [`Props::value`].
    pub commit: Callback<String>,
}

/// The field.
#[component]
pub fn TextBox(props: &Props) -> Html {
    let draft = use_state(|| None::<String>);
    let wrong = use_state(|| None::<String>);
    {
        // What was refused is stale once another value holds.
        let (draft, wrong) = (draft.clone(), wrong.clone());
        use_effect_with(props.value.clone(), move |_| {
            if wrong.is_some() {
                draft.set(None);
                wrong.set(None);
            }
        });
    }
    let oninput = {
        let (draft, wrong) = (draft.clone(), wrong.clone());
        Callback::from(move |e: InputEvent| {
            if let Some(input) = e.target_dyn_into::<HtmlInputElement>() {
                wrong.set(None);
                draft.set(Some(input.value()));
            }
        })
    };
    let onchange = {
        let (draft, wrong) = (draft.clone(), wrong.clone());
        let (check, commit) = (props.check.clone(), props.commit.clone());
        Callback::from(move |e: Event| {
            let Some(input) = e.target_dyn_into::<HtmlInputElement>() else { return };
            let reason = check.as_ref().and_then(|check| check.emit(input.value()));
            if reason.is_none() {
                draft.set(None);
                commit.emit(input.value());
            }
            wrong.set(reason);
        })
    };
    // Esc takes back what was typed.
    let onkeydown = {
        let (draft, wrong, value) = (draft.clone(), wrong.clone(), props.value.clone());
        Callback::from(move |e: KeyboardEvent| {
            if let ("Escape", Some(input)) = (e.key().as_str(), e.target_dyn_into::<HtmlInputElement>()) {
                input.set_value(&value);
                draft.set(None);
                wrong.set(None);
            }
        })
    };
    let invalid = wrong.is_some().then_some("true");
    let title = (*wrong).clone().or_else(|| Some(props.value.clone()).filter(|v| v.len() > 7));
    let value = (*draft).clone().unwrap_or_else(|| props.value.clone());
    html! {
        <input type="text" id={props.id.clone()} data-testid={props.id.clone()} placeholder={props.placeholder.clone()}
            inputmode={props.inputmode} autocomplete="off" aria-invalid={invalid} {title} {value} {oninput} {onchange} {onkeydown} />
    }
}
