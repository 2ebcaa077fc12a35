//! The decision: one function from a failure to what happens next, and its explanation in one sentence.
//!
//! The rules are in [`super`]. It changes nothing but the budget that it is given.

use std::fmt::Write;
use std::time::Duration;

use super::backoff::{Attempts, Backoff, Delay};
use super::directive::{Directive, FailureKind, RestartType, StrategyKind};
use super::strategy::Strategy;
use super::window::{Limit, RestartLog, Window};
use crate::rng::Rng;
use crate::time::{Instant, nanos};

/// What a supervisor remembers of one child.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildBudget {
    /// The child's restarts, unused where the supervisor counts for all.
    pub log: RestartLog,
    /// The child's doublings of the delay.
    pub attempts: Attempts,
    /// The backoff of the child's own spec, which goes before the strategy's.
    pub backoff: Option<Backoff>,
}

impl ChildBudget {
    /// Makes the budget of a child that has not failed yet.
    pub fn new(backoff: Option<Backoff>) -> Self {
        ChildBudget { backoff, ..Self::default() }
    }

    /// Notes that the child is RUNNING from `now` on; to be called after every start and restart.
    pub fn running(&mut self, now: Instant) {
        self.attempts.running(now);
    }

    /// Gives the budget with the child's own log.
    pub fn own(&mut self) -> Budget<'_> {
        Budget { log: &mut self.log, attempts: &mut self.attempts, backoff: self.backoff }
    }

    /// Gives the budget with the supervisor's log, for strategies that
    /// [count per supervisor](Strategy::counts_per_supervisor).
    pub fn counted_in<'a>(&'a mut self, shared: &'a mut RestartLog) -> Budget<'a> {
        Budget { log: shared, attempts: &mut self.attempts, backoff: self.backoff }
    }
}

/// The budget of one decision: whose restarts are counted, and the child's delays.
#[derive(Debug)]
pub struct Budget<'a> {
    log: &'a mut RestartLog,
    attempts: &'a mut Attempts,
    backoff: Option<Backoff>,
}

/// Everything that a decision was made from, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The kind of failure that was decided on.
    pub kind: FailureKind,
    /// The index of the rule that matched, from 0; `None` if it was the default.
    pub rule: Option<usize>,
    /// The supervisor's strategy.
    pub strategy: StrategyKind,
    /// The child's restart type.
    pub restart_type: RestartType,
    /// What the rule asks for.
    pub asked: Directive,
    /// What is done.
    pub taken: Directive,
    /// How restarts are counted.
    pub window: Window,
    /// How many restarts are allowed.
    pub limit: Limit,
    /// How many restarts counted before this failure.
    pub count_before: u32,
    /// The last of these, at most [`RECENT_MAX`](super::window::RECENT_MAX), oldest first.
    pub recent: Vec<Instant>,
    /// Whether a restart was asked for and not allowed.
    pub exhausted: bool,
    /// The delay of the restart and how it came about; all zero without backoff or restart.
    pub delay: Delay,
}

/// Decides what happens to a child that failed at `now`, and counts the restart if it is one.
///
/// # Examples
/// ```
/// use footlights::{rng::Rng, supervise::*, time::Instant};
/// let strategy = Strategy::one_for_one().lifetime(1);
/// let (mut budget, mut rng, now) = (ChildBudget::default(), Rng::new(7), Instant::ZERO);
/// let mut fail = || decide(&strategy, FailureKind::Error, "", budget.own(), now, &mut rng, RestartType::Transient);
/// assert_eq!(fail().taken, Directive::Restart);
/// let last = fail();
/// assert_eq!((last.asked, last.taken), (Directive::Restart, Directive::Stop));
/// assert_eq!(last.why(), "restart 2 with 1 allowed in a lifetime: restarts at 0; stopping");
/// ```
pub fn decide(
    strategy: &Strategy,
    kind: FailureKind,
    code: &str,
    budget: Budget<'_>,
    now: Instant,
    rng: &mut Rng,
    restart_type: RestartType,
) -> Decision {
    let Budget { log, attempts, backoff } = budget;
    let (rule, asked) = strategy.directive(kind, code);
    let (limit, window) = (strategy.limit, strategy.window);
    let (count_before, recent) = (log.count(limit, window, now), log.recent(limit, window, now));
    // What never ran has no state to go on with.
    let restart_asked =
        asked == Directive::Restart || (asked == Directive::Resume && kind == FailureKind::Start);
    let wants_restart = restart_asked && restart_type != RestartType::Temporary;
    let exhausted = wants_restart && !log.try_record(limit, window, now);
    let taken = match asked {
        _ if exhausted => strategy.on_exhausted.directive(),
        _ if wants_restart => Directive::Restart,
        _ if restart_asked => Directive::Stop,
        other => other,
    };
    let delay = next_delay(taken, strategy.backoff_for(backoff), attempts, now, rng);
    Decision {
        kind,
        rule,
        strategy: strategy.kind,
        restart_type,
        asked,
        taken,
        window,
        limit,
        count_before,
        recent,
        exhausted,
        delay,
    }
}

/// Notes the failure and, for a restart, computes its delay.
fn next_delay(
    taken: Directive,
    backoff: Option<Backoff>,
    attempts: &mut Attempts,
    now: Instant,
    rng: &mut Rng,
) -> Delay {
    attempts.failed(backoff.unwrap_or_default().reset_after, now);
    match taken {
        Directive::Restart => {
            let delay = backoff.map(|backoff| backoff.delay(attempts.k(), rng));
            attempts.restarted();
            delay.unwrap_or_default()
        }
        Directive::Resume => {
            attempts.running(now);
            Delay::default()
        }
        Directive::Stop | Directive::Escalate => Delay::default(),
    }
}

impl Decision {
    /// Gives the children that this decision acts on, as a range in start order, when child `failed` of `children`
    /// failed: Restart and Stop act on the strategy's set, Resume and Escalate on the failed child.
    pub fn affected(&self, failed: usize, children: usize) -> std::ops::Range<usize> {
        match self.taken {
            Directive::Restart | Directive::Stop => self.strategy.affected(failed, children),
            Directive::Resume | Directive::Escalate => StrategyKind::OneForOne.affected(failed, children),
        }
    }

    /// Explains the decision in one English sentence; times are milliseconds since the start of the system, rules are
    /// counted from 1.
    pub fn why(&self) -> String {
        let reason = match self.asked {
            Directive::Restart if self.restart_type != RestartType::Temporary => self.why_restart(),
            Directive::Restart => {
                format!("{} {}, but a temporary child is never restarted", self.kind, self.why_asked())
            }
            Directive::Resume if self.kind == FailureKind::Start => {
                format!(
                    "{} {}, but there is no state to resume: {}",
                    self.kind,
                    self.why_asked(),
                    self.why_start()
                )
            }
            _ => format!("{} {}", self.kind, self.why_asked()),
        };
        format!("{reason}; {}", self.outcome())
    }

    fn why_asked(&self) -> String {
        match self.rule {
            Some(index) => format!("means {} by rule {}", self.asked, index + 1),
            None => format!("means {} by default", self.asked),
        }
    }

    fn why_start(&self) -> String {
        match self.restart_type {
            RestartType::Temporary => "a temporary child is never restarted".to_owned(),
            _ => self.why_restart(),
        }
    }

    fn why_restart(&self) -> String {
        let number = u64::from(self.count_before) + 1;
        let allowed = match self.limit.count() {
            None => "without limit".to_owned(),
            Some(max) if self.exhausted => format!("with {} allowed {}", grouped(max.into()), self.scope()),
            Some(max) => format!("of {} allowed {}", grouped(max.into()), self.scope()),
        };
        format!("restart {} {allowed}: {}", grouped(number), self.restarts())
    }

    fn scope(&self) -> String {
        match (self.limit.within(), self.window) {
            (None, _) => "in a lifetime".to_owned(),
            (Some(within), Window::Sliding) => format!("in {} ms", millis(nanos(within))),
            (Some(within), Window::Tumbling) => format!("in a window of {} ms", millis(nanos(within))),
            (Some(within), Window::Gap) => format!("without a pause over {} ms", millis(nanos(within))),
        }
    }

    fn restarts(&self) -> String {
        if self.recent.is_empty() {
            return "none before".to_owned();
        }
        let hidden = u64::from(self.count_before) > self.recent.len() as u64;
        let mut text = if hidden { "restarts at …".to_owned() } else { "restarts at".to_owned() };
        for restart in &self.recent {
            let _ = write!(text, " {}", millis(restart.as_nanos()));
        }
        text
    }

    fn outcome(&self) -> String {
        match self.taken {
            Directive::Resume => "resuming".to_owned(),
            Directive::Stop => "stopping".to_owned(),
            Directive::Escalate => "escalating".to_owned(),
            Directive::Restart if self.delay.delay == Duration::ZERO => "restarting".to_owned(),
            Directive::Restart => format!("restarting in {} ms", millis(nanos(self.delay.delay))),
        }
    }
}

/// Writes nanoseconds as milliseconds, to the microsecond, with as many decimals as they need.
fn millis(nanos: u64) -> String {
    let micros = nanos / 1_000;
    let (whole, rest) = (grouped(micros / 1_000), micros % 1_000);
    if rest == 0 { whole } else { format!("{whole}.{rest:03}").trim_end_matches('0').to_owned() }
}

/// Writes a number with a comma between groups of three digits.
fn grouped(n: u64) -> String {
    if n < 1_000 { n.to_string() } else { format!("{},{:03}", grouped(n / 1_000), n % 1_000) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::Strategy as _;

    use super::*;
    use crate::rng::Rng;
    use crate::supervise::Strategy;

    const SECOND: Duration = Duration::from_secs(1);

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// A supervisor of one child, without the actors.
    struct Child {
        strategy: Strategy,
        budget: ChildBudget,
        rng: Rng,
        restart_type: RestartType,
    }

    impl Child {
        fn of(strategy: Strategy) -> Self {
            let restart_type = RestartType::Transient;
            Child { strategy, budget: ChildBudget::default(), rng: Rng::new(1), restart_type }
        }

        fn fail(&mut self, kind: FailureKind, at: Instant) -> Decision {
            let Child { strategy, budget, rng, restart_type } = self;
            decide(strategy, kind, "", budget.own(), at, rng, *restart_type)
        }

        /// Fails at each time in ms and starts running at once after each restart.
        fn taken(&mut self, failures_ms: &[u64]) -> Vec<Directive> {
            let fail = |&at: &u64| {
                let decision = self.fail(FailureKind::Error, ms(at));
                self.budget.running(ms(at));
                decision.taken
            };
            failures_ms.iter().map(fail).collect()
        }
    }

    #[test]
    fn s1_restart_budget_resets_after_window() {
        let mut child = Child::of(Strategy::one_for_one().max_restarts(3, SECOND));
        let got = child.taken(&[0, 100, 200, 1_300, 1_400, 1_500]);
        assert_eq!(got, [Directive::Restart; 6]);
        let last = child.fail(FailureKind::Error, ms(1_600));
        assert_eq!((last.asked, last.taken, last.exhausted), (Directive::Restart, Directive::Stop, true));
        assert_eq!((last.count_before, last.recent.clone()), (3, vec![ms(1_300), ms(1_400), ms(1_500)]));
        let why = "restart 4 with 3 allowed in 1,000 ms: restarts at 1,300 1,400 1,500; stopping";
        assert_eq!(last.why(), why);
    }

    #[test]
    fn s1_restart_budget_is_not_shared_between_siblings() {
        let strategy = Strategy::one_for_one().max_restarts(2, SECOND);
        let mut siblings: Vec<_> = (0..5).map(|_| Child::of(strategy.clone())).collect();
        for sibling in &mut siblings {
            let decision = sibling.fail(FailureKind::Error, ms(0));
            assert_eq!((decision.taken, decision.count_before), (Directive::Restart, 0));
        }
    }

    #[test]
    fn s1_restart_budget_is_shared_where_the_strategy_says_so() {
        let strategy = Strategy::one_for_one().max_restarts(2, SECOND).shared_budget();
        assert!(strategy.counts_per_supervisor() && Strategy::all_for_one().counts_per_supervisor());
        let (mut shared, mut rng) = (RestartLog::new(), Rng::new(1));
        let mut fail_sibling = || {
            let mut sibling = ChildBudget::default();
            let budget = sibling.counted_in(&mut shared);
            decide(&strategy, FailureKind::Error, "", budget, ms(0), &mut rng, RestartType::Transient).taken
        };
        let got = [fail_sibling(), fail_sibling(), fail_sibling()];
        assert_eq!(got, [Directive::Restart, Directive::Restart, Directive::Stop]);
    }

    #[test]
    fn s1_restart_budget_of_zero_stops_at_the_first_failure() {
        for window in [Duration::ZERO, SECOND, Duration::MAX] {
            let mut child = Child::of(Strategy::one_for_one().max_restarts(0, window));
            assert_eq!(child.taken(&[0]), [Directive::Stop]);
        }
        assert_eq!(Child::of(Strategy::one_for_one().lifetime(0)).taken(&[0]), [Directive::Stop]);
    }

    #[test]
    fn s1_restart_budget_of_n_without_window_starts_n_plus_one_instances() {
        let mut child = Child::of(Strategy::one_for_one().lifetime(4));
        let failures: Vec<u64> = (0..9).map(|n| n * 1_000_000).collect();
        let restarts = child.taken(&failures).iter().filter(|&&taken| taken == Directive::Restart).count();
        assert_eq!(restarts + 1, 5, "instances");
    }

    #[test]
    fn s1_restart_budget_counts_failed_starts_too() {
        let mut child = Child::of(Strategy::one_for_one());
        let tries = (0..).take_while(|_| child.fail(FailureKind::Start, ms(0)).taken == Directive::Restart);
        assert_eq!(tries.count() + 1, 11, "tries by default");
    }

    #[test]
    fn s1_restart_budget_holds_for_a_supervisor_with_backoff() {
        let backoff = Backoff::new(Duration::from_millis(1), SECOND);
        let mut child = Child::of(Strategy::one_for_one().max_restarts(3, SECOND).backoff(backoff));
        let got = child.taken(&[0, 100, 200, 300]);
        assert_eq!(got[..3], [Directive::Restart; 3]);
        assert_eq!(got[3], Directive::Stop);
    }

    #[test]
    fn s1_restart_budget_backoff_falls_back_to_the_minimum_after_the_quiet_period() {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(10)).jitter_permille(0);
        let mut child = Child::of(Strategy::one_for_one().backoff(backoff));
        let mut now = ms(0);
        child.budget.running(now);
        let mut delays = Vec::new();
        for ran_ms in [0, 0, 9_999, 10_000, 0] {
            now = now + Duration::from_millis(ran_ms);
            let delay = child.fail(FailureKind::Error, now).delay.delay;
            delays.push(delay.as_millis());
            now = now + delay;
            child.budget.running(now);
        }
        assert_eq!(delays, [100, 200, 400, 100, 200]);
    }

    #[test]
    fn s1_restart_budget_backoff_does_not_reset_while_the_child_never_runs() {
        let mut child = Child::of(Strategy::one_for_one().unlimited());
        let delays: Vec<_> = (0..80).map(|n| child.fail(FailureKind::Start, ms(n * 60_000)).delay).collect();
        assert_eq!(delays[79].delay, Duration::from_secs(10));
        assert_eq!(delays.iter().map(|delay| delay.k).collect::<Vec<_>>(), (0..80).collect::<Vec<_>>());
    }

    #[test]
    fn s1_restart_budget_without_limit_restarts_only_with_delay() {
        let zero_window = Strategy::one_for_one().max_restarts(5, Duration::ZERO);
        let zero_backoff =
            Strategy::one_for_one().unlimited().backoff(Backoff::new(Duration::ZERO, Duration::ZERO));
        for strategy in [Strategy::one_for_one().unlimited(), zero_window, zero_backoff] {
            let mut child = Child::of(strategy);
            for n in 0..200 {
                let decision = child.fail(FailureKind::Error, ms(n));
                assert_eq!(decision.taken, Directive::Restart);
                assert!(decision.delay.delay >= Duration::from_millis(1));
            }
        }
    }

    #[test]
    fn s1_restart_budget_ignores_failures_that_are_not_restarted() {
        let strategy =
            Strategy::one_for_one().max_restarts(1, SECOND).on(FailureKind::Error, Directive::Resume);
        let mut child = Child::of(strategy);
        assert_eq!(child.taken(&[0, 1, 2, 3]), [Directive::Resume; 4]);
        assert_eq!(child.fail(FailureKind::Panic, ms(4)).taken, Directive::Restart);
    }

    #[test]
    fn an_exhausted_budget_may_escalate() {
        let mut child = Child::of(Strategy::all_for_one().lifetime(0).escalate_when_exhausted());
        let decision = child.fail(FailureKind::Panic, ms(0));
        assert_eq!((decision.taken, decision.affected(1, 3)), (Directive::Escalate, 1..2));
        assert_eq!(decision.why(), "restart 1 with 0 allowed in a lifetime: none before; escalating");
    }

    #[test]
    fn a_temporary_child_is_only_stopped() {
        let mut child = Child::of(Strategy::one_for_one());
        child.restart_type = RestartType::Temporary;
        let decision = child.fail(FailureKind::Panic, ms(0));
        assert_eq!((decision.asked, decision.taken), (Directive::Restart, Directive::Stop));
        let why = "panic means restart by default, but a temporary child is never restarted; stopping";
        assert_eq!((decision.why().as_str(), decision.exhausted), (why, false));
    }

    #[test]
    fn every_decision_says_why() {
        let backoff = Backoff::new(Duration::from_micros(1_500), SECOND).jitter_permille(0);
        let strategy = Strategy::one_for_one().backoff(backoff).on(FailureKind::Exit, Directive::Resume);
        let mut child = Child::of(strategy);
        let mut why = |kind| child.fail(kind, ms(1_234)).why();
        assert_eq!(why(FailureKind::Killed), "killed means stop by default; stopping");
        assert_eq!(why(FailureKind::Exit), "exit means resume by rule 1; resuming");
        let first = "restart 1 of 10 allowed in 10,000 ms: none before; restarting in 1.5 ms";
        assert_eq!(why(FailureKind::Error), first);
        let second = "restart 2 of 10 allowed in 10,000 ms: restarts at 1,234; restarting in 3 ms";
        assert_eq!(why(FailureKind::Error), second);
    }

    #[test]
    fn a_long_history_is_shown_by_its_end() {
        let mut child = Child::of(Strategy::one_for_one().lifetime(100));
        child.taken(&(0..20).collect::<Vec<_>>());
        let why = child.fail(FailureKind::Error, ms(20)).why();
        assert!(why.starts_with("restart 21 of 100 allowed in a lifetime: restarts at … 4 5 "), "{why}");
    }

    fn any_limit() -> impl proptest::strategy::Strategy<Value = Limit> {
        prop_oneof![
            (0..5u32, any::<Duration>()).prop_map(|(count, within)| Limit::Within { count, within }),
            any::<u32>().prop_map(Limit::Lifetime),
            Just(Limit::Unlimited),
        ]
    }

    proptest! {
        #[test]
        fn no_number_panics_and_restarting_for_ever_takes_time(
            limit in any_limit(), window in 0..3u8, min in any::<Duration>(), max in any::<Duration>(),
            delayed in any::<bool>(), mut times in proptest::collection::vec(any::<u64>(), 1..40),
        ) {
            times.sort_unstable();
            let mut strategy = Strategy::one_for_one();
            strategy.limit = limit;
            strategy.window = Window::from_code(window).expect("three windows");
            strategy.backoff = delayed.then(|| Backoff::new(min, max));
            let mut child = Child::of(strategy);
            for time in times {
                let now = Instant::from_nanos(time);
                let decision = child.fail(FailureKind::Error, now);
                let allowed = limit.count().is_none_or(|max| decision.count_before < max);
                prop_assert_eq!(decision.taken == Directive::Restart, allowed);
                prop_assert_eq!(decision.exhausted, !allowed);
                if allowed && (delayed || limit.is_endless()) {
                    prop_assert!(!decision.delay.delay.is_zero());
                }
                prop_assert!(!decision.why().is_empty());
                child.budget.running(now);
            }
        }
    }
}
