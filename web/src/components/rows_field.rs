//! A list of a node as rows of fields: add one, change one, take one out.

use footlights::scenario::schema::{Param, ParamType};
use serde_json::{Map, Value};
use yew::prelude::*;

use super::Part;
use super::param_field::{Spot, field, is_shown};
use crate::model::locale as text;

/// The rows, and a button for another one.
pub(super) fn rows_field(
    part: &Part,
    spot: &Spot,
    param: &'static Param,
    columns: &'static [Param],
    rows_max: usize,
) -> Html {
    let rows: Vec<Value> = spot.value.as_array().cloned().unwrap_or_default();
    let add = {
        let (set, mut all) = (spot.set.clone(), rows.clone());
        all.push(fresh(columns, &rows));
        let all = Value::from(all);
        Callback::from(move |_: MouseEvent| set.emit((all.clone(), false)))
    };
    let full = rows.len() >= rows_max;
    html! {
        <div class="rows" key={param.key} role="group" aria-label={param.title} title={param.doc}>
            <span class="rows-title">{ param.title }</span>
            { for (0..rows.len()).map(|at| row(part, spot, param, columns, &rows, at)) }
            <button type="button" data-testid={format!("{}-add", spot.id)} disabled={full} onclick={add}>
                { text::add_row(param.title) }
            </button>
        </div>
    }
}

fn row(
    part: &Part,
    spot: &Spot,
    param: &'static Param,
    columns: &'static [Param],
    rows: &[Value],
    at: usize,
) -> Html {
    let cell = |column: &Param| cell(&rows[at], column);
    let remove = {
        let (set, mut rest) = (spot.set.clone(), rows.to_vec());
        rest.remove(at);
        let rest = Value::from(rest);
        Callback::from(move |_: MouseEvent| set.emit((rest.clone(), false)))
    };
    let title = text::row(param.title, at + 1);
    html! {
        <fieldset key={at}>
            <legend>{ title.clone() }</legend>
            { for columns.iter().filter(|c| is_shown(c, columns, &cell)).map(|column| {
                field(part, &cell_spot(spot, column, rows, at), column)
            }) }
            <button type="button" class="quiet" data-testid={format!("{}-{at}-remove", spot.id)} onclick={remove}
                aria-label={text::remove_row(&title)}>{ text::REMOVE }</button>
        </fieldset>
    }
}

fn cell(row: &Value, column: &Param) -> Value {
    row.get(column.key).cloned().unwrap_or_else(|| column.default.to_json())
}

/// Where a cell stands: a change of it is a change of the whole list.
fn cell_spot(spot: &Spot, column: &'static Param, rows: &[Value], at: usize) -> Spot {
    let (set, rows) = (spot.set.clone(), rows.to_vec());
    let value = cell(&rows[at], column);
    let set = Callback::from(move |(value, goes_on)| {
        let mut rows = rows.clone();
        if let Some(row) = rows[at].as_object_mut() {
            row.insert(column.key.to_owned(), value);
        }
        set.emit((Value::from(rows), goes_on));
    });
    Spot { id: format!("{}-{at}-{}", spot.id, column.key), value, set }
}

/// A new row: every column has its default; a name that another row has gets a number.
fn fresh(columns: &[Param], rows: &[Value]) -> Value {
    let mut row = Map::new();
    for (i, column) in columns.iter().enumerate() {
        let default = column.default.to_json();
        let value = match default.as_str() {
            Some(stem) if i == 0 && matches!(column.ty, ParamType::Name) => {
                let taken = |name: &String| {
                    rows.iter().any(|r| r.get(column.key) == Some(&Value::from(name.as_str())))
                };
                let mut names = std::iter::once(stem.to_owned()).chain((2..).map(|n| format!("{stem}-{n}")));
                names.find(|name| !taken(name)).map_or(default.clone(), Value::from)
            }
            _ => default,
        };
        row.insert(column.key.to_owned(), value);
    }
    Value::Object(row)
}
