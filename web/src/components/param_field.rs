//! One parameter of a node as a field, made from the schema: slider with number, choice, switch, text.

use std::collections::BTreeMap;

use footlights::scenario::document::Node;
use footlights::scenario::schema::{Param, ParamType, Scale};
use serde_json::Value;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use super::Part;
use super::{numeral, text_box::TextBox};
use crate::model::state::Action;
use crate::model::{format, locale as text};

/// Places of a slider.
const PLACES: f64 = 200.0;

/// Where a value stands: what it is now, and who takes another one.
#[derive(Clone)]
pub struct Spot {
    /// The element's id and its name in tests.
    pub id: String,
    /// The value in force.
    pub value: Value,
    /// Takes a value that the schema allows; `true` while a slider is being dragged.
    pub set: Callback<(Value, bool)>,
}

impl Spot {
    /// The parameter of a node: the document's value, or the schema's default.
    pub fn of_node(part: &Part, node: &Node, param: &'static Param) -> Spot {
        let id = if param.fault { format!("fault-{}", param.key) } else { format!("param-{}", param.key) };
        let (act, name) = (part.act.clone(), node.id.clone());
        let set = Callback::from(move |(value, goes_on)| {
            act.emit(Action::SetParam(name.clone(), param.key.to_owned(), value, goes_on));
        });
        Spot { id, value: value_of(&node.params, param), set }
    }

    /// A setting of the system.
    pub fn of_setting(part: &Part, param: &'static Param) -> Spot {
        let act = part.act.clone();
        let set = Callback::from(move |(value, _)| act.emit(Action::SetSetting(param.key.to_owned(), value)));
        Spot { id: format!("setting-{}", param.key), value: value_of(&part.state.doc.settings, param), set }
    }
}

impl Spot {
    /// The list of named dispatchers.
    pub fn of_dispatchers(part: &Part) -> Spot {
        let act = part.act.clone();
        let set = Callback::from(move |(value, _): (Value, bool)| {
            // The form makes rows of the schema alone.
            act.emit(Action::SetDispatchers(serde_json::from_value(value).unwrap_or_default()));
        });
        let value = serde_json::to_value(&part.state.doc.dispatchers).unwrap_or_default();
        Spot { id: "dispatchers".into(), value, set }
    }
}

/// The value in force: the document's, or the schema's default.
pub fn value_of(written: &BTreeMap<String, Value>, param: &Param) -> Value {
    written.get(param.key).cloned().unwrap_or_else(|| param.default.to_json())
}

/// Tells whether the form shows the parameter, given the others.
pub fn is_shown(param: &Param, params: &[Param], value_of: &dyn Fn(&Param) -> Value) -> bool {
    param.shown_when.is_none_or(|when| {
        let value = params.iter().find(|p| p.key == when.key).map(value_of);
        value.as_ref().and_then(Value::as_str).is_some_and(|v| when.any_of.contains(&v))
    })
}

/// The field.
pub fn field(part: &Part, spot: &Spot, param: &'static Param) -> Html {
    if let ParamType::List { columns, rows_max } = param.ty {
        return super::rows_field::rows_field(part, spot, param, columns, rows_max);
    }
    let control = match param.ty {
        ParamType::Choice(list) => {
            let options: Vec<(String, String)> =
                list.iter().map(|c| (c.value.to_owned(), c.title.to_owned())).collect();
            choice(part, spot, param, &options)
        }
        ParamType::Bool => switch(part, spot, param),
        ParamType::Text { .. } | ParamType::Name => text_field(part, spot, param),
        ParamType::Int { .. } | ParamType::Num { .. } | ParamType::Millis { .. } => number(part, spot, param),
        ParamType::List { .. } => Html::default(),
    };
    labelled(&spot.id, param, control)
}

/// A control with its label.
fn labelled(id: &str, param: &'static Param, control: Html) -> Html {
    html! {
        <div class="field" key={param.key} title={param.doc}>
            <label for={id.to_owned()}>
                { param.title }
                if param.live { <span class="live" title={text::LIVE_HINT}>{ text::LIVE }</span> }
            </label>
            { control }
        </div>
    }
}

/// Sends a value if the schema takes it; `goes_on` while a slider is being dragged.
fn set(part: &Part, spot: &Spot, param: &'static Param, goes_on: bool) -> impl Fn(Value) + 'static {
    let (act, set) = (part.act.clone(), spot.set.clone());
    move |value| match param.check(&value) {
        Ok(()) => set.emit((value, goes_on)),
        Err(reason) => act.emit(Action::Say(format!("{}: {reason}", param.title))),
    }
}

fn choice(part: &Part, spot: &Spot, param: &'static Param, list: &[(String, String)]) -> Html {
    let set = set(part, spot, param, false);
    let onchange = Callback::from(move |e: Event| {
        if let Some(select) = e.target_dyn_into::<HtmlSelectElement>() {
            set(Value::from(select.value()));
        }
    });
    let chosen = spot.value.as_str().unwrap_or_default();
    html! {
        <select id={spot.id.clone()} data-testid={spot.id.clone()} {onchange}>
            { for list.iter().map(|(value, title)| html! {
                <option key={value.clone()} value={value.clone()} selected={value == chosen}>{ title }</option>
            }) }
        </select>
    }
}

fn switch(part: &Part, spot: &Spot, param: &'static Param) -> Html {
    let set = set(part, spot, param, false);
    let onchange = Callback::from(move |e: Event| {
        if let Some(input) = e.target_dyn_into::<HtmlInputElement>() {
            set(Value::from(input.checked()));
        }
    });
    let checked = spot.value.as_bool().unwrap_or_default();
    html! { <input type="checkbox" id={spot.id.clone()} data-testid={spot.id.clone()} {checked} {onchange} /> }
}

/// Text; what the schema does not take stays in the field, marked, with its reason.
fn text_field(part: &Part, spot: &Spot, param: &'static Param) -> Html {
    let set = set(part, spot, param, false);
    let commit = Callback::from(move |typed: String| set(Value::from(typed)));
    let act = part.act.clone();
    let check = Callback::from(move |typed: String| {
        let reason = param.check(&Value::from(typed)).err()?;
        act.emit(Action::Say(format!("{}: {reason}", param.title)));
        Some(reason)
    });
    let value = spot.value.as_str().unwrap_or_default().to_owned();
    html! { <TextBox id={spot.id.clone()} {value} {check} {commit} /> }
}

/// A number as a text field, which takes all that the schema takes, and a slider over the usual range.
fn number(part: &Part, spot: &Spot, param: &'static Param) -> Html {
    let now = spot.value.as_f64().unwrap_or_default();
    let set = set(part, spot, param, false);
    let commit = Callback::from(move |typed: String| {
        if let Ok(value) = parse(param, &typed) {
            set(value);
        }
    });
    let act = part.act.clone();
    let check = Callback::from(move |typed: String| {
        let reason = parse(param, &typed).and_then(|value| param.check(&value)).err()?;
        act.emit(Action::Say(format!("{}: {reason}", param.title)));
        Some(reason)
    });
    html! {
        <span class="number-field">
            { slider(part, spot, param, now) }
            <TextBox id={spot.id.clone()} value={shown(param, now)} inputmode="decimal" {check} {commit} />
            <span class="unit">{ param.unit }</span>
        </span>
    }
}

fn shown(param: &Param, now: f64) -> String {
    match param.ty {
        ParamType::Int { .. } => format!("{now:.0}"),
        _ => format!("{now}"),
    }
}

fn parse(param: &Param, text: &str) -> Result<Value, String> {
    match param.ty {
        ParamType::Int { min, max } => numeral::whole(text, min, max).map(Value::from),
        _ => numeral::decimal(text).map(Value::from),
    }
}

fn slider(part: &Part, spot: &Spot, param: &'static Param, now: f64) -> Html {
    let Some(range) = param.usual else { return Html::default() };
    let set = set(part, spot, param, true);
    let oninput = Callback::from(move |e: InputEvent| {
        let place = e.target_dyn_into::<HtmlInputElement>().and_then(|i| i.value().parse::<f64>().ok());
        if let Some(place) = place {
            set(rounded(param, from_place(param.scale, range, place)));
        }
    });
    let onchange = part.on(Action::EndGesture);
    let words = format!("{} {}", format::short(now), param.unit);
    html! {
        <input type="range" data-testid={format!("slider-{}", param.key)} min="0" max={PLACES.to_string()} step="1"
            aria-label={param.title} aria-valuetext={words} value={to_place(param.scale, range, now).to_string()} {oninput} {onchange} />
    }
}

/// Numbers from a slider are short: three digits.
fn rounded(param: &Param, x: f64) -> Value {
    let magnitude = 10_f64.powf(x.abs().max(1e-9).log10().floor() - 1.0);
    let short = (x / magnitude).round() * magnitude;
    match param.ty {
        ParamType::Int { .. } => Value::from(short.round() as i64),
        _ => Value::from(format!("{short:.6}").parse::<f64>().unwrap_or(short)),
    }
}

fn from_place(scale: Scale, (from, to): (f64, f64), place: f64) -> f64 {
    let share = (place / PLACES).clamp(0.0, 1.0);
    match scale {
        Scale::Log if from > 0.0 => from * (to / from).powf(share),
        _ => from + (to - from) * share,
    }
}

fn to_place(scale: Scale, (from, to): (f64, f64), x: f64) -> f64 {
    let share = match scale {
        Scale::Log if from > 0.0 => (x.max(from) / from).ln() / (to / from).ln(),
        _ => (x - from) / (to - from),
    };
    (share.clamp(0.0, 1.0) * PLACES).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slider_reaches_both_ends_and_comes_back() {
        for scale in [Scale::Linear, Scale::Log] {
            let range = (0.1, 1_000.0);
            for place in [0.0, 50.0, PLACES] {
                assert_eq!(to_place(scale, range, from_place(scale, range, place)), place);
            }
            assert!((from_place(scale, range, PLACES) - 1_000.0).abs() < 1e-6);
        }
    }
}
