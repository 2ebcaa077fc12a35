//! The element of dynamic streams: a small value that is cheap to clone.
//!
//! I1 at most 24 bytes. I2 no value is compared or ordered by address.

use std::fmt;
use std::sync::Arc;

/// An element of a drawn stream, and the value of a parameter.
///
/// # Examples
/// ```
/// use footlights::stream::Value;
/// let list = Value::from(vec![Value::from(1), Value::from("two")]);
/// assert_eq!(list.to_string(), "[1, two]");
/// assert_eq!(Value::from(7).as_int(), Some(7));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Nothing but the fact that it came.
    #[default]
    Unit,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Num(f64),
    /// Text.
    Text(Arc<str>),
    /// A list, such as `grouped` makes.
    List(Arc<[Value]>),
}

impl Value {
    /// Gives the whole number, if it is one.
    #[inline]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// Gives the number, whole or not.
    pub fn as_num(&self) -> Option<f64> {
        match self {
            Value::Int(n) => Some(*n as f64),
            Value::Num(n) => Some(*n),
            _ => None,
        }
    }

    /// Gives the text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Gives the truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Self {
        Value::Int(n)
    }
}

impl From<f64> for Value {
    fn from(n: f64) -> Self {
        Value::Num(n)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Value::Bool(b)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl From<Vec<Value>> for Value {
    fn from(list: Vec<Value>) -> Self {
        Value::List(list.into())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Unit => write!(f, "()"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Num(n) => write!(f, "{n}"),
            Value::Text(text) => write!(f, "{text}"),
            Value::List(list) => {
                write!(f, "[")?;
                for (i, x) in list.iter().enumerate() {
                    write!(f, "{}{x}", if i == 0 { "" } else { ", " })?;
                }
                write!(f, "]")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_24_bytes() {
        assert!(size_of::<Value>() <= 24);
    }
}
