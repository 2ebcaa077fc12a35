//! The schema of documents and the registry of drawn operators say the same.

use footlights::scenario::schema::{self, Arity, Direction, Family, ParamType};
use footlights::stream::registry::operators;
use footlights::stream::{ParamKind, Value};

#[test]
fn every_operator_of_the_registry_is_a_kind_with_the_same_parameters() {
    for op in operators() {
        let kind = schema::kind(op.kind).unwrap_or_else(|| panic!("{} is no kind", op.kind));
        assert_eq!(kind.family, Family::Stream);
        for (name, direction, takes) in
            [("in", Direction::In, op.role.inputs()), ("out", Direction::Out, op.role.outputs())]
        {
            let ports: Vec<_> = kind.ports.iter().filter(|p| p.direction == direction).collect();
            let arities: Vec<_> = ports.iter().map(|p| (p.name, p.arity)).collect();
            let expected = match takes {
                0 => vec![],
                1 => vec![(name, Arity::One)],
                _ => vec![(name, Arity::Many)],
            };
            assert_eq!(arities, expected, "{}", op.kind);
        }
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
    assert_eq!(stream_kinds, operators().count());
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
