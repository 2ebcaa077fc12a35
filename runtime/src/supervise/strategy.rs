//! A supervisor's strategy: plain data that says how failures of children are answered.
//!
//! The directive of a failure is that of the first matching rule; without one, `Killed` and `Linked` are answered by
//! Stop and all else by the default directive, Restart.
//!
//! I1 any combination of numbers is valid: nothing here panics, see [`Limit`] and [`Backoff`] for the ends of ranges.
//! I2 restarting for ever always takes time: an endless limit has a backoff, 100 ms … 10 s if none is named.
//! It holds no state of a running supervisor.

use std::borrow::Cow;
use std::time::Duration;

use super::backoff::Backoff;
use super::directive::{AutoShutdown, Directive, FailureKind, OnExhausted, StrategyKind};
use super::window::{Limit, Window};

/// Says how a supervisor answers the failures of its children.
///
/// # Examples
/// ```
/// use footlights::supervise::{Directive, FailureKind, Strategy};
/// use std::time::Duration;
/// let strategy = Strategy::one_for_one()
///     .max_restarts(3, Duration::from_secs(10))
///     .on("bad_input", Directive::Resume)
///     .on(FailureKind::Panic, Directive::Escalate);
/// assert_eq!(strategy.directive(FailureKind::Error, "bad_input"), (Some(0), Directive::Resume));
/// assert_eq!(strategy.directive(FailureKind::Panic, ""), (Some(1), Directive::Escalate));
/// assert_eq!(strategy.directive(FailureKind::Error, "other"), (None, Directive::Restart));
/// assert_eq!(strategy.directive(FailureKind::Killed, ""), (None, Directive::Stop));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// Which children a restart or a stop acts on.
    pub kind: StrategyKind,
    /// The rules, in the order in which they are tried.
    pub rules: Vec<Rule>,
    /// The directive of what no rule matches, `Killed` and `Linked` excepted.
    pub default: Directive,
    /// How many restarts are allowed.
    pub limit: Limit,
    /// How restarts are counted against time.
    pub window: Window,
    /// What happens to a failure that would need one restart too many.
    pub on_exhausted: OnExhausted,
    /// How restarts are delayed, if they are.
    pub backoff: Option<Backoff>,
    /// Whether the children of a one-for-one supervisor share one budget.
    pub budget: BudgetScope,
    /// Whether the supervisor stops itself when significant children have ended.
    pub auto_shutdown: AutoShutdown,
}

/// One line of a strategy: what it matches, and the directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The failures that it is about.
    pub matches: Match,
    /// The answer to them.
    pub directive: Directive,
}

/// Picks failures, by their kind or by their code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// All failures of this kind.
    Kind(FailureKind),
    /// All failures with this code.
    Code(Cow<'static, str>),
}

/// Says whose restarts are counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BudgetScope {
    /// Each child has its own budget; a group strategy has one for the group all the same.
    #[default]
    PerChild,
    /// All children of the supervisor share one budget.
    Shared,
}

impl Match {
    /// Tells whether a failure of this kind and code is meant.
    pub fn is_met(&self, kind: FailureKind, code: &str) -> bool {
        match self {
            Match::Kind(wanted) => *wanted == kind,
            Match::Code(wanted) => wanted == code,
        }
    }
}

impl From<FailureKind> for Match {
    fn from(kind: FailureKind) -> Self {
        Match::Kind(kind)
    }
}

impl From<&'static str> for Match {
    fn from(code: &'static str) -> Self {
        Match::Code(Cow::Borrowed(code))
    }
}

impl From<String> for Match {
    fn from(code: String) -> Self {
        Match::Code(Cow::Owned(code))
    }
}

impl Strategy {
    /// Makes the default strategy: the failed child alone, 10 restarts in 10 s, then Stop.
    pub const fn one_for_one() -> Self {
        Strategy::of(StrategyKind::OneForOne)
    }

    /// Makes a strategy whose restarts and stops act on all children.
    pub const fn all_for_one() -> Self {
        Strategy::of(StrategyKind::AllForOne)
    }

    /// Makes a strategy whose restarts and stops act on the failed child and all that were started after it.
    pub const fn rest_for_one() -> Self {
        Strategy::of(StrategyKind::RestForOne)
    }

    const fn of(kind: StrategyKind) -> Self {
        Strategy {
            kind,
            rules: Vec::new(),
            default: Directive::Restart,
            limit: Limit::DEFAULT,
            window: Window::Sliding,
            on_exhausted: OnExhausted::Stop,
            backoff: None,
            budget: BudgetScope::PerChild,
            auto_shutdown: AutoShutdown::Never,
        }
    }

    /// Allows at most `count` restarts in a window; 0 means that the first failure stops.
    pub fn max_restarts(mut self, count: u32, within: Duration) -> Self {
        self.limit = Limit::Within { count, within };
        self
    }

    /// Allows at most `count` restarts ever: `count` + 1 instances are started.
    pub fn lifetime(mut self, count: u32) -> Self {
        self.limit = Limit::Lifetime(count);
        self
    }

    /// Restarts for ever, with a backoff of 100 ms … 10 s if no other is named.
    pub fn unlimited(mut self) -> Self {
        self.limit = Limit::Unlimited;
        self
    }

    /// Sets how restarts are counted against time.
    pub fn window(mut self, window: Window) -> Self {
        self.window = window;
        self
    }

    /// Delays restarts.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = Some(backoff);
        self
    }

    /// Adds a rule for failures of a kind or with a code; the first rule that matches decides.
    pub fn on(mut self, kind_or_code: impl Into<Match>, directive: Directive) -> Self {
        self.rules.push(Rule { matches: kind_or_code.into(), directive });
        self
    }

    /// Sets the directive of what no rule matches; `Killed` and `Linked` still stop unless a rule names them.
    pub fn default_directive(mut self, directive: Directive) -> Self {
        self.default = directive;
        self
    }

    /// Makes the supervisor fail, not stop the child, when one restart too many would be needed.
    pub fn escalate_when_exhausted(mut self) -> Self {
        self.on_exhausted = OnExhausted::Escalate;
        self
    }

    /// Counts the restarts of all children together.
    pub fn shared_budget(mut self) -> Self {
        self.budget = BudgetScope::Shared;
        self
    }

    /// Stops the supervisor itself, as if it had asked for it, when significant children
    /// ([`Props::significant`](crate::actor::Props::significant)) have ended for good.
    pub fn auto_shutdown(mut self, mode: AutoShutdown) -> Self {
        self.auto_shutdown = mode;
        self
    }

    /// Gives the answer to a failure, with the index of the rule that gave it, `None` for the default.
    pub fn directive(&self, kind: FailureKind, code: &str) -> (Option<usize>, Directive) {
        match self.rules.iter().position(|rule| rule.matches.is_met(kind, code)) {
            Some(index) => (Some(index), self.rules[index].directive),
            None if matches!(kind, FailureKind::Killed | FailureKind::Linked) => (None, Directive::Stop),
            None => (None, self.default),
        }
    }

    /// Tells whether restarts are counted in the supervisor's log instead of the child's.
    pub fn counts_per_supervisor(&self) -> bool {
        self.budget == BudgetScope::Shared || self.kind != StrategyKind::OneForOne
    }

    /// Gives the backoff that holds for a child, whose own spec goes first; an endless limit always has one.
    pub fn backoff_for(&self, own: Option<Backoff>) -> Option<Backoff> {
        own.or(self.backoff).or_else(|| self.limit.is_endless().then(Backoff::default))
    }
}

impl Default for Strategy {
    fn default() -> Self {
        Strategy::one_for_one()
    }
}
