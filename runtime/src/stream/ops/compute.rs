//! The drawn `map`, and the drawn operators with a rule (`filter`, `filter_not`, `take_while`, `drop_while`): a few
//! functions on whole numbers, chosen by name, with live parameters. std, but that `take_while` completes and cancels
//! upstream at the first element for which the rule does not hold.
//!
//! A whole number that leaves the range wraps. An element of another type fails the stage (WrongType), except for
//! `identity` and `every_nth`, which take all.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::signal::StreamError;
use crate::stream::value::Value;

/// The functions of the drawn `map`.
pub(crate) const FUNCTIONS: &[&str] = &["identity", "add", "multiply", "square"];
/// The rules of the drawn `filter`.
pub(crate) const RULES: &[&str] = &["even", "odd", "multiple_of", "less_than", "every_nth"];

/// The kernel of the drawn `map`.
pub struct Compute {
    function: Function,
    k: i64,
}

#[derive(Clone, Copy)]
enum Function {
    Identity,
    Add,
    Multiply,
    Square,
}

impl Function {
    fn named(name: &Value) -> Option<Self> {
        match name.as_text()? {
            "identity" => Some(Function::Identity),
            "add" => Some(Function::Add),
            "multiply" => Some(Function::Multiply),
            "square" => Some(Function::Square),
            _ => None,
        }
    }
}

impl Compute {
    /// Makes the kernel; an unknown function counts as `identity`.
    pub fn new(function: &Value, k: i64) -> Self {
        Compute { function: Function::named(function).unwrap_or(Function::Identity), k }
    }
}

impl Kernel for Compute {
    type In = Value;
    type Out = Value;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: Value, out: &mut Out<'_, Value>, cx: &mut Cx) -> Sig {
        let y = match (self.function, &x) {
            (Function::Identity, _) => x,
            (Function::Add, Value::Int(n)) => Value::Int(n.wrapping_add(self.k)),
            (Function::Multiply, Value::Int(n)) => Value::Int(n.wrapping_mul(self.k)),
            (Function::Square, Value::Int(n)) => Value::Int(n.wrapping_mul(*n)),
            _ => return wrong_type(cx),
        };
        out.emit(y);
        Sig::Continue
    }

    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, value.as_int(), Function::named(value)) {
            ("operand", Some(k), _) => self.k = k,
            ("op", _, Some(function)) => self.function = function,
            _ => return false,
        }
        true
    }
}

fn wrong_type(cx: &mut Cx) -> Sig {
    cx.used(1);
    Sig::fail(StreamError::WrongType { node: cx.node(), expected: "whole numbers" })
}

/// What a rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// Which elements are emitted.
    Keeps,
    /// Which elements are left out.
    LeavesOut,
    /// Until where elements are emitted; the one that breaks the rule is left out.
    TakesWhile,
    /// Until where elements are emitted; the one that breaks the rule is the last.
    TakesThrough,
    /// From where on elements are emitted.
    DropsWhile,
}

/// The kernel of the drawn operators with a rule.
pub struct Keep {
    ruling: Ruling,
    /// `DropsWhile` has let an element pass.
    begun: bool,
    rule: Rule,
    n: i64,
    seen: i64,
}

#[derive(Clone, Copy)]
enum Rule {
    Even,
    Odd,
    MultipleOf,
    LessThan,
    EveryNth,
}

impl Rule {
    fn named(name: &Value) -> Option<Self> {
        match name.as_text()? {
            "even" => Some(Rule::Even),
            "odd" => Some(Rule::Odd),
            "multiple_of" => Some(Rule::MultipleOf),
            "every_nth" => Some(Rule::EveryNth),
            "less_than" => Some(Rule::LessThan),
            _ => None,
        }
    }
}

impl Keep {
    /// Makes the kernel; an unknown rule counts as `even`.
    pub fn new(rule: &Value, n: i64) -> Self {
        let rule = Rule::named(rule).unwrap_or(Rule::Even);
        Keep { ruling: Ruling::Keeps, begun: false, rule, n, seen: 0 }
    }

    /// Says what the rule decides.
    pub fn ruling(self, ruling: Ruling) -> Self {
        Keep { ruling, ..self }
    }

    /// Says whether an element is emitted and whether the stage goes on.
    fn rules(&mut self, x: &Value) -> Option<(bool, Sig)> {
        if self.begun {
            return Some((true, Sig::Continue));
        }
        let holds = self.keeps(x)?;
        let end = if holds { Sig::Continue } else { Sig::Done };
        Some(match self.ruling {
            Ruling::Keeps => (holds, Sig::Continue),
            Ruling::LeavesOut => (!holds, Sig::Continue),
            Ruling::TakesWhile => (holds, end),
            Ruling::TakesThrough => (true, end),
            Ruling::DropsWhile => {
                self.begun = !holds;
                (self.begun, Sig::Continue)
            }
        })
    }

    fn keeps(&mut self, x: &Value) -> Option<bool> {
        if matches!(self.rule, Rule::EveryNth) {
            self.seen += 1;
            let keep = self.seen >= self.n;
            self.seen = if keep { 0 } else { self.seen };
            return Some(keep);
        }
        let x = x.as_int()?;
        Some(match self.rule {
            Rule::Even => x % 2 == 0,
            Rule::Odd => x % 2 != 0,
            Rule::MultipleOf => self.n == 0 || x.wrapping_rem(self.n) == 0,
            _ => x < self.n,
        })
    }
}

impl Kernel for Keep {
    type In = Value;
    type Out = Value;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: Value, out: &mut Out<'_, Value>, cx: &mut Cx) -> Sig {
        let Some((emit, sig)) = self.rules(&x) else { return wrong_type(cx) };
        if emit {
            out.emit(x);
        } else {
            cx.used(1);
        }
        sig
    }

    /// One by one, if it may end on an element.
    fn chunk(&self) -> usize {
        match self.ruling {
            Ruling::TakesWhile | Ruling::TakesThrough => 0,
            _ => usize::MAX,
        }
    }

    fn set(&mut self, key: &str, value: &Value) -> bool {
        match (key, value.as_int(), Rule::named(value)) {
            ("operand", Some(n), _) => self.n = n,
            ("op", _, Some(rule)) => self.rule = rule,
            _ => return false,
        }
        true
    }
}
