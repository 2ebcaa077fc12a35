//! The schema of documents and the registry of drawn operators say the same.

use footlights::scenario::schema::{self, Direction, Family, ParamType};
use footlights::stream::registry::OPERATORS;
use footlights::stream::{ParamKind, Value};

#[test]
fn every_operator_of_the_registry_is_a_kind_with_the_same_parameters() {
    for op in OPERATORS {
        let kind = schema::kind(op.kind).unwrap_or_else(|| panic!("{} is no kind", op.kind));
        assert_eq!(kind.family, Family::Stream);
        let names = |d| kind.ports.iter().filter(|p| p.direction == d).map(|p| p.name).collect::<Vec<_>>();
        assert_eq!(names(Direction::In), op.role.inputs(), "{}", op.kind);
        assert_eq!(names(Direction::Out), op.role.outputs(), "{}", op.kind);
        assert!(kind.params.iter().map(|p| p.key).eq(op.params.iter().map(|p| p.key)), "{}", op.kind);
        for (mine, theirs) in kind.params.iter().zip(op.params) {
            let place = format!("{}.{}", op.kind, mine.key);
            assert!(!mine.live || theirs.live, "{place}: live");
            assert_eq!(mine.unit, theirs.unit, "{place}: unit");
            assert_eq!(mine.default.to_json().to_string(), json(&theirs.default()), "{place}: default");
            let bounds = match theirs.kind {
                ParamKind::Int { min, max, .. } => {
                    matches!(mine.ty, ParamType::Int { min: a, max: b } if a >= min && b <= max)
                }
                ParamKind::Num { min, max, .. } => {
                    matches!(mine.ty, ParamType::Millis { min: a, max: b } if a >= min && b <= max)
                }
                ParamKind::Flag { .. } => mine.ty == ParamType::Bool,
                ParamKind::Choice { choices, .. } => match mine.ty {
                    ParamType::Choice(list) => list.iter().map(|c| c.value).eq(choices.iter().copied()),
                    _ => false,
                },
            };
            assert!(bounds, "{place}: {:?} is not within {:?}", mine.ty, theirs.kind);
        }
    }
    let stream_kinds = schema::kinds().filter(|k| k.family == Family::Stream).count();
    assert_eq!(stream_kinds, OPERATORS.len());
}

fn json(value: &Value) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        Value::Num(n) => serde_json::json!(n).to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Text(t) => serde_json::json!(&**t).to_string(),
        other => panic!("{other:?} is no default"),
    }
}
