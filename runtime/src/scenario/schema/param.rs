//! Parameters of a kind: type, bounds, default, and the check of one JSON value against them.
//!
//! I1 [`Param::check`] is the only judge of a value, for files, forms and live knobs alike.
//! I2 what it lets through is finite and within the bounds.

use serde_json::Value;

use super::super::error::short;

/// One of the values of a [`ParamType::Choice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// As written in the document.
    pub value: &'static str,
    /// As shown to a person.
    pub title: &'static str,
}

pub(super) const fn choice(value: &'static str, title: &'static str) -> Choice {
    Choice { value, title }
}

/// What a parameter may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamType {
    /// A whole number.
    Int {
        /// The least allowed.
        min: i64,
        /// The greatest allowed.
        max: i64,
    },
    /// A number.
    Num {
        /// The least allowed.
        min: f64,
        /// The greatest allowed.
        max: f64,
    },
    /// A span of time in milliseconds, fractions allowed; counted in whole nanoseconds.
    Millis {
        /// The least allowed.
        min: f64,
        /// The greatest allowed.
        max: f64,
    },
    /// One of a list.
    Choice(&'static [Choice]),
    /// Yes or no.
    Bool,
    /// Free text.
    Text {
        /// The greatest number of characters.
        chars_max: usize,
    },
    /// A name, such as of a state: 1–64 of `[A-Za-z0-9_-]`.
    Name,
    /// A list of rows, each an object with these columns; a column that a row leaves out has its default.
    List {
        /// The columns, in the order of the form; none of them is a list.
        columns: &'static [Param],
        /// The greatest number of rows.
        rows_max: usize,
    },
}

/// The default of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Preset {
    /// A whole number.
    Int(i64),
    /// A number, milliseconds included.
    Num(f64),
    /// A text or the value of a choice.
    Text(&'static str),
    /// Yes or no.
    Bool(bool),
    /// A list without rows.
    NoRows,
}

impl Preset {
    /// Gives the default as it would stand in a document.
    pub fn to_json(self) -> Value {
        match self {
            Preset::Int(n) => n.into(),
            Preset::Num(x) => x.into(),
            Preset::Text(t) => t.into(),
            Preset::Bool(b) => b.into(),
            Preset::NoRows => Value::Array(Vec::new()),
        }
    }
}

/// How a slider spreads its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps.
    Linear,
    /// Equal factors; for rates and counts over several powers of ten.
    Log,
}

/// Holds when the parameter `key` of the same node has one of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// A parameter of type [`ParamType::Choice`].
    pub key: &'static str,
    /// Its values for which the condition holds.
    pub any_of: &'static [&'static str],
}

/// One setting of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// The key in the document's `params`.
    pub key: &'static str,
    /// The form's label.
    pub title: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// The heading of the form's section that it stands in; empty for the first.
    pub section: &'static str,
    /// Type and bounds.
    pub ty: ParamType,
    /// Shown behind the number: `ms`, `/s`, `%` or nothing.
    pub unit: &'static str,
    /// Used where the document says nothing.
    pub default: Preset,
    /// May be changed while the graph runs; else a change means a new run.
    pub live: bool,
    /// A fault knob: shown in its own section.
    pub fault: bool,
    /// The form shows it only then; its value is checked always.
    pub shown_when: Option<Condition>,
    /// The range a slider offers; the field next to it takes all of `ty`.
    pub usual: Option<(f64, f64)>,
    /// How the slider spreads.
    pub scale: Scale,
}

impl Param {
    /// Checks one JSON value; the error says what is wrong, without naming the node.
    ///
    /// # Errors
    /// A sentence such as `must be 0 or more, not -3`.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        match self.ty {
            ParamType::Int { min, max } => check_int(value, min, max),
            ParamType::Num { min, max } | ParamType::Millis { min, max } => check_num(value, min, max),
            ParamType::Choice(list) => check_choice(value, list),
            ParamType::Bool if value.is_boolean() => Ok(()),
            ParamType::Bool => Err(format!("must be true or false, not {}", brief(value))),
            ParamType::Text { chars_max } => check_text(value, chars_max),
            ParamType::Name => check_name(value),
            ParamType::List { columns, rows_max } => check_rows(value, columns, rows_max),
        }
    }
}

fn check_int(value: &Value, min: i64, max: i64) -> Result<(), String> {
    match value.as_i64() {
        Some(n) if (min..=max).contains(&n) => Ok(()),
        Some(n) => Err(out_of_range(&min.to_string(), &max.to_string(), &n.to_string(), n < min)),
        None => Err(format!("must be a whole number from {min} to {max}, not {}", brief(value))),
    }
}

fn check_num(value: &Value, min: f64, max: f64) -> Result<(), String> {
    match value.as_f64().filter(|x| x.is_finite()) {
        Some(x) if (min..=max).contains(&x) => Ok(()),
        Some(x) => Err(out_of_range(&min.to_string(), &max.to_string(), &x.to_string(), x < min)),
        None => Err(format!("must be a number from {min} to {max}, not {}", brief(value))),
    }
}

fn out_of_range(min: &str, max: &str, got: &str, below: bool) -> String {
    match below {
        true => format!("must be {min} or more, not {got}"),
        false => format!("must be {max} or less, not {got}"),
    }
}

fn check_choice(value: &Value, list: &[Choice]) -> Result<(), String> {
    if value.as_str().is_some_and(|v| list.iter().any(|c| c.value == v)) {
        return Ok(());
    }
    let names: Vec<&str> = list.iter().map(|c| c.value).collect();
    Err(format!("must be one of {}, not {}", names.join(", "), brief(value)))
}

fn check_text(value: &Value, chars_max: usize) -> Result<(), String> {
    match value.as_str().map(|t| t.chars().count()) {
        Some(n) if n <= chars_max => Ok(()),
        Some(n) => Err(format!("must be at most {chars_max} characters, not {n}")),
        None => Err(format!("must be a text, not {}", brief(value))),
    }
}

fn check_name(value: &Value) -> Result<(), String> {
    match value.as_str() {
        Some(name) if super::super::is_id(name) => Ok(()),
        _ => {
            Err(format!("must be a name of 1 to 64 of the characters A-Z a-z 0-9 _ -, not {}", brief(value)))
        }
    }
}

fn check_rows(value: &Value, columns: &[Param], rows_max: usize) -> Result<(), String> {
    let rows = value.as_array().ok_or_else(|| format!("must be a list of rows, not {}", brief(value)))?;
    if rows.len() > rows_max {
        return Err(format!("must have at most {rows_max} rows, not {}", rows.len()));
    }
    rows.iter().enumerate().try_for_each(|(i, row)| {
        let place = |reason: String| format!("row {}: {reason}", i + 1);
        let fields =
            row.as_object().ok_or_else(|| place(format!("must be an object, not {}", brief(row))))?;
        fields.iter().try_for_each(|(key, value)| check_cell(key, value, columns)).map_err(place)
    })
}

fn check_cell(key: &str, value: &Value, columns: &[Param]) -> Result<(), String> {
    match columns.iter().find(|c| c.key == key) {
        Some(column) => column.check(value).map_err(|reason| format!("{key} {reason}")),
        None => {
            let names: Vec<&str> = columns.iter().map(|c| c.key).collect();
            Err(format!("there is no column {}; there are {}", short(key), names.join(", ")))
        }
    }
}

/// Shows a value in at most some 40 characters, so that a hostile one cannot fill the screen.
fn brief(value: &Value) -> String {
    let text = match value {
        Value::String(s) => format!("the text {s:?}"),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        other => other.to_string(),
    };
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Joins lists of parameters into one; N is the sum of their lengths.
pub(super) const fn join<const N: usize>(parts: &[&[Param]]) -> [Param; N] {
    let mut joined = [parts[0][0]; N];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() {
            joined[at] = parts[part][i];
            (i, at) = (i + 1, at + 1);
        }
        part += 1;
    }
    assert!(at == N, "N is not the sum of the lengths");
    joined
}

/// Finds a parameter by its key.
pub(super) const fn find(list: &[Param], key: &str) -> Param {
    let mut i = 0;
    while i < list.len() {
        if same(list[i].key.as_bytes(), key.as_bytes()) {
            return list[i];
        }
        i += 1;
    }
    panic!("no parameter has this key")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// Constructors and modifiers of the tables in this module's siblings.
impl Param {
    pub(super) const fn new(
        key: &'static str,
        title: &'static str,
        doc: &'static str,
        ty: ParamType,
        default: Preset,
    ) -> Param {
        let (live, fault, shown_when, usual, scale) = (false, false, None, None, Scale::Linear);
        Param { key, title, doc, section: "", ty, unit: "", default, live, fault, shown_when, usual, scale }
    }

    pub(super) const fn int(
        key: &'static str,
        title: &'static str,
        bounds: (i64, i64),
        default: i64,
        doc: &'static str,
    ) -> Param {
        Param::new(key, title, doc, ParamType::Int { min: bounds.0, max: bounds.1 }, Preset::Int(default))
    }

    pub(super) const fn num(
        key: &'static str,
        title: &'static str,
        bounds: (f64, f64),
        default: f64,
        doc: &'static str,
    ) -> Param {
        Param::new(key, title, doc, ParamType::Num { min: bounds.0, max: bounds.1 }, Preset::Num(default))
    }

    pub(super) const fn millis(
        key: &'static str,
        title: &'static str,
        bounds: (f64, f64),
        default: f64,
        doc: &'static str,
    ) -> Param {
        let ty = ParamType::Millis { min: bounds.0, max: bounds.1 };
        Param::new(key, title, doc, ty, Preset::Num(default)).unit("ms")
    }

    pub(super) const fn choice(
        key: &'static str,
        title: &'static str,
        list: &'static [Choice],
        default: &'static str,
        doc: &'static str,
    ) -> Param {
        Param::new(key, title, doc, ParamType::Choice(list), Preset::Text(default))
    }

    pub(super) const fn flag(
        key: &'static str,
        title: &'static str,
        default: bool,
        doc: &'static str,
    ) -> Param {
        Param::new(key, title, doc, ParamType::Bool, Preset::Bool(default))
    }

    pub(super) const fn name(
        key: &'static str,
        title: &'static str,
        default: &'static str,
        doc: &'static str,
    ) -> Param {
        Param::new(key, title, doc, ParamType::Name, Preset::Text(default))
    }

    pub(super) const fn text(
        key: &'static str,
        title: &'static str,
        chars_max: usize,
        default: &'static str,
        doc: &'static str,
    ) -> Param {
        Param::new(key, title, doc, ParamType::Text { chars_max }, Preset::Text(default))
    }

    pub(super) const fn list(
        key: &'static str,
        title: &'static str,
        columns: &'static [Param],
        rows_max: usize,
        doc: &'static str,
    ) -> Param {
        Param::new(key, title, doc, ParamType::List { columns, rows_max }, Preset::NoRows)
    }

    pub(super) const fn section(mut self, heading: &'static str) -> Param {
        self.section = heading;
        self
    }

    pub(super) const fn unit(mut self, unit: &'static str) -> Param {
        self.unit = unit;
        self
    }

    pub(super) const fn live(mut self) -> Param {
        self.live = true;
        self
    }

    pub(super) const fn fault(mut self) -> Param {
        self.fault = true;
        self
    }

    pub(super) const fn when(mut self, key: &'static str, any_of: &'static [&'static str]) -> Param {
        self.shown_when = Some(Condition { key, any_of });
        self
    }

    pub(super) const fn slider(mut self, from: f64, to: f64, scale: Scale) -> Param {
        self.usual = Some((from, to));
        self.scale = scale;
        self
    }
}
