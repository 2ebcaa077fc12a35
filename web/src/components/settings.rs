//! The settings of the system as a whole, shown while nothing is selected.

use footlights::scenario::schema;
use yew::prelude::*;

use super::inspector::sections;
use super::numeral;
use super::param_field::{Spot, field};
use super::{Part, text_box::TextBox};
use crate::model::locale as text;
use crate::model::state::Action;

/// The form.
pub(super) fn settings(part: &Part) -> Html {
    let doc = &part.state.doc;
    html! {
        <section data-testid="settings" aria-label={text::SYSTEM}>
            <h3>{ text::SYSTEM }</h3>
            { whole(part, "throughput", text::THROUGHPUT, text::THROUGHPUT_HINT, doc.throughput, 1_000_000, Action::SetThroughput) }
            { whole(part, "batch", text::BATCH, text::BATCH_HINT, doc.batch, 256, Action::SetBatch) }
            { for sections(&schema::SETTINGS.iter().collect::<Vec<_>>()).into_iter().map(|(heading, params)| html! {
                <section key={heading}>
                    if !heading.is_empty() { <h3>{ heading }</h3> }
                    { for params.into_iter().map(|p| field(part, &Spot::of_setting(part, p), p)) }
                </section>
            }) }
            <h3>{ text::DISPATCHERS }</h3>
            { field(part, &Spot::of_dispatchers(part), &schema::DISPATCHERS) }
        </section>
    }
}

/// A whole number from 1 on that is a field of the document itself.
fn whole(
    part: &Part,
    key: &'static str,
    title: &'static str,
    hint: &'static str,
    now: u32,
    max: u32,
    action: fn(u32) -> Action,
) -> Html {
    let act = part.act.clone();
    let commit = Callback::from(move |typed: String| {
        if let Ok(n) = numeral::whole(&typed, 1, max) {
            act.emit(action(n));
        }
    });
    let act = part.act.clone();
    let check = Callback::from(move |typed: String| {
        let reason = numeral::whole(&typed, 1, max).err()?;
        act.emit(Action::Say(format!("{title}: {reason}")));
        Some(reason)
    });
    let id = format!("setting-{key}");
    html! {
        <div class="field" key={key} title={hint}>
            <label for={id.clone()}>{ title }</label>
            <TextBox {id} value={now.to_string()} inputmode="numeric" {check} {commit} />
        </div>
    }
}
