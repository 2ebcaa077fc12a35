//! Parameters of drawn operators: their schema, and reading them with defaults and bounds.
//!
//! Why one table: the same schema validates a document, fills a form and documents the operator.
//! I1 a value that passed [`ParamSchema::check`] is what the kernel gets; what is left out has the default.

use std::collections::BTreeMap;
use std::time::Duration;

use super::value::Value;

/// Settings by key.
pub type Params = BTreeMap<String, Value>;

/// What values a parameter may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// A whole number in `min ..= max`.
    Int {
        /// If left out.
        default: i64,
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// A number in `min ..= max`.
    Num {
        /// If left out.
        default: f64,
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
    },
    /// Yes or no.
    Flag {
        /// If left out.
        default: bool,
    },
    /// One of some words.
    Choice {
        /// If left out.
        default: &'static str,
        /// The words.
        choices: &'static [&'static str],
    },
}

/// One parameter of an operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParamSchema {
    /// Its key in a document.
    pub key: &'static str,
    /// What values it may have.
    pub kind: ParamKind,
    /// Its unit, such as `ms`; empty if it has none.
    pub unit: &'static str,
    /// May change while the stream runs.
    pub live: bool,
    /// What it does, in one line.
    pub doc: &'static str,
}

/// Why a parameter is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// Its key.
    pub key: String,
    /// What is wrong with it.
    pub reason: String,
}

impl ParamSchema {
    /// Gives the value that is used when it is left out.
    pub fn default(&self) -> Value {
        match self.kind {
            ParamKind::Int { default, .. } => Value::Int(default),
            ParamKind::Num { default, .. } => Value::Num(default),
            ParamKind::Flag { default } => Value::Bool(default),
            ParamKind::Choice { default, .. } => Value::from(default),
        }
    }

    /// Checks a value.
    ///
    /// # Errors
    /// The reason why it is refused.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        match self.kind {
            ParamKind::Int { min, max, .. } => match value.as_int() {
                Some(n) if (min..=max).contains(&n) => Ok(()),
                Some(n) => Err(format!("{n} is not in {min} to {max}")),
                None => Err(format!("{value} is no whole number")),
            },
            ParamKind::Num { min, max, .. } => match value.as_num() {
                Some(n) if (min..=max).contains(&n) => Ok(()),
                Some(n) => Err(format!("{n} is not in {min} to {max}")),
                None => Err(format!("{value} is no number")),
            },
            ParamKind::Flag { .. } => match value.as_bool() {
                Some(_) => Ok(()),
                None => Err(format!("{value} is neither true nor false")),
            },
            ParamKind::Choice { choices, .. } => match value.as_text() {
                Some(text) if choices.contains(&text) => Ok(()),
                _ => Err(format!("{value} is none of {}", choices.join(", "))),
            },
        }
    }
}

/// Checks all settings against a schema and gives every error.
pub fn check_all(schema: &[ParamSchema], params: &Params) -> Vec<ParamError> {
    let check = |(key, value): (&String, &Value)| {
        let known = schema.iter().find(|p| p.key == key);
        let reason = match known {
            Some(p) => p.check(value).err()?,
            None => "there is no such parameter".into(),
        };
        Some(ParamError { key: key.clone(), reason })
    };
    params.iter().filter_map(check).collect()
}

/// Gives a number of milliseconds as a duration; `None` below 0, for no number, and above 584 years.
pub(crate) fn millis(value: &Value) -> Option<Duration> {
    let d = Duration::try_from_secs_f64(value.as_num()? / 1e3).ok()?;
    (d.as_nanos() <= u128::from(u64::MAX)).then_some(d)
}

/// Checks what can be checked of a value without the schema: a time must be one.
pub(crate) fn check_time(key: &str, value: &Value) -> Result<(), ParamError> {
    if !key.ends_with("_ms") || millis(value).is_some() {
        return Ok(());
    }
    Err(ParamError { key: key.into(), reason: format!("{value} is no time in milliseconds") })
}

/// Checked settings with their defaults.
pub(crate) struct Settings<'a> {
    pub(crate) schema: &'a [ParamSchema],
    pub(crate) params: &'a Params,
}

impl Settings<'_> {
    fn get(&self, key: &str) -> Value {
        let default = || self.schema.iter().find(|p| p.key == key).map(ParamSchema::default);
        self.params.get(key).cloned().or_else(default).unwrap_or_default()
    }

    pub(crate) fn int(&self, key: &str) -> i64 {
        self.get(key).as_int().unwrap_or_default()
    }

    pub(crate) fn size(&self, key: &str) -> usize {
        usize::try_from(self.int(key)).unwrap_or_default()
    }

    pub(crate) fn value(&self, key: &str) -> Value {
        self.get(key)
    }

    pub(crate) fn ms(&self, key: &str) -> Duration {
        millis(&self.get(key)).unwrap_or_default()
    }
}
