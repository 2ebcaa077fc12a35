//! Kinds of node that are told by the registry of operators alone: their words become titles, their bounds the forms.
//!
//! An operator whose form deserves more words has its kind in `streams`.

use std::sync::LazyLock;

use super::param::{Choice, Param, ParamType, Preset};
use super::streams::{FAN_IN, FAN_OUT, FLOW, SINK, SOURCE, is_written};
use super::{Family, Kind, Port};
use crate::stream::ParamKind;
use crate::stream::params::ParamSchema;
use crate::stream::registry::{OpSchema, Role, operators};

/// The kinds, in the order of the registry. They are made once and live as long as the process.
pub(super) static KINDS: LazyLock<Vec<Kind>> =
    LazyLock::new(|| operators().filter(|op| !is_written(op.kind)).map(kind).collect());

fn kind(op: &'static OpSchema) -> Kind {
    let ports: &'static [Port] = match op.role {
        Role::Source => SOURCE,
        Role::Sink => SINK,
        Role::FanIn => FAN_IN,
        Role::FanOut => FAN_OUT,
        Role::Flow | Role::Boundary => FLOW,
    };
    let params: Vec<Param> = op.params.iter().map(param).collect();
    Kind {
        name: op.kind,
        family: Family::Stream,
        title: title(op.kind),
        doc: op.doc,
        ports,
        params: params.leak(),
    }
}

fn param(schema: &'static ParamSchema) -> Param {
    let (ty, default) = match schema.kind {
        ParamKind::Int { default, min, max } => (ParamType::Int { min, max }, Preset::Int(default)),
        ParamKind::Num { default, min, max } if schema.unit == "ms" => {
            (ParamType::Millis { min, max }, Preset::Num(default))
        }
        ParamKind::Num { default, min, max } => (ParamType::Num { min, max }, Preset::Num(default)),
        ParamKind::Flag { default } => (ParamType::Bool, Preset::Bool(default)),
        ParamKind::Choice { default, choices } => {
            let list: Vec<Choice> =
                choices.iter().map(|value| Choice { value, title: title(value) }).collect();
            (ParamType::Choice(list.leak()), Preset::Text(default))
        }
    };
    let word = schema.key.strip_suffix("_ms").unwrap_or(schema.key);
    let param = Param::new(schema.key, title(word), schema.doc, ty, default).unit(schema.unit);
    if schema.live { param.live() } else { param }
}

/// Makes a title of a word: `take_while` is shown as `Take while`.
fn title(word: &str) -> &'static str {
    let mut title = word.replace('_', " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    title.leak()
}
