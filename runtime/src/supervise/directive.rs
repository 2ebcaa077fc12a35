//! The words of a supervision decision: what failed, what is asked, what kind of child it was.
//!
//! Decisions are made by kind or by code, never by text. It is vocabulary only; the rules are in [`super`].

use crate::code::codes;

codes! {
    /// Says what a supervisor does about a failure.
    ///
    /// # Examples
    /// ```
    /// use footlights::supervise::Directive;
    /// assert_eq!(Directive::Restart.to_string(), "restart");
    /// assert_eq!(Directive::from_code(Directive::Stop.code()), Some(Directive::Stop));
    /// ```
    pub enum Directive {
        /// Keeps the state, loses the message, goes on.
        Resume = 0, "resume";
        /// Replaces the instance behind the same ref.
        Restart = 1, "restart";
        /// Ends the actor for ever.
        Stop = 2, "stop";
        /// Makes the supervisor itself fail.
        Escalate = 3, "escalate";
    }
}

codes! {
    /// Says what kind of failure ended a run.
    pub enum FailureKind {
        /// The factory, `started` or `post_restart` failed.
        Start = 0, "start";
        /// `receive` returned an error.
        Error = 1, "error";
        /// The run panicked.
        Panic = 2, "panic";
        /// Somebody called `kill`.
        Killed = 3, "killed";
        /// A linked actor ended abnormally.
        Linked = 4, "linked";
        /// A child's failure was escalated.
        Escalated = 5, "escalated";
        /// A bounded queue overflowed and its policy says that this is a failure.
        Overflow = 6, "overflow";
        /// The stash was full.
        StashFull = 7, "stash full";
        /// A permanent actor stopped itself.
        Exit = 8, "exit";
        /// A sibling failed under a group strategy; shown to hooks, never decided on.
        Sibling = 9, "sibling";
    }
}

codes! {
    /// Says which ends of a child are undone by a restart.
    pub enum RestartType {
        /// Always restarted; its own stop is a failure of kind [`FailureKind::Exit`].
        Permanent = 0, "permanent";
        /// Restarted on failure; a normal stop is final. The default.
        Transient = 1, "transient";
        /// Never restarted: a restart becomes a stop.
        Temporary = 2, "temporary";
    }
}

codes! {
    /// Says which children a restart or a stop acts on.
    pub enum StrategyKind {
        /// The failed child alone.
        OneForOne = 0, "one for one";
        /// All children.
        AllForOne = 1, "all for one";
        /// The failed child and all that were started after it.
        RestForOne = 2, "rest for one";
    }
}

codes! {
    /// Says what happens to a failure that would need one restart too many.
    pub enum OnExhausted {
        /// Stops the strategy's set. The default.
        Stop = 0, "stop";
        /// Makes the supervisor itself fail.
        Escalate = 1, "escalate";
    }
}

codes! {
    /// Says whether a supervisor stops itself when children of it that were marked as significant have ended for good. A
    /// restart is no end.
    pub enum AutoShutdown {
        /// It does not. The default.
        Never = 0, "never";
        /// When any of them has ended.
        AnySignificant = 1, "any significant child";
        /// When all of them have ended.
        AllSignificant = 2, "all significant children";
    }
}

impl StrategyKind {
    /// Gives the children that a restart or stop acts on, as a range in start order, when child `failed` of `children`
    /// failed. Group restarts stop the range from its end and start it from its beginning.
    ///
    /// # Examples
    /// ```
    /// use footlights::supervise::StrategyKind;
    /// assert_eq!(StrategyKind::OneForOne.affected(1, 4), 1..2);
    /// assert_eq!(StrategyKind::AllForOne.affected(1, 4), 0..4);
    /// assert_eq!(StrategyKind::RestForOne.affected(1, 4), 1..4);
    /// ```
    pub fn affected(self, failed: usize, children: usize) -> std::ops::Range<usize> {
        let last = failed.saturating_add(1).min(children);
        match self {
            StrategyKind::OneForOne => failed.min(last)..last,
            StrategyKind::AllForOne => 0..children,
            StrategyKind::RestForOne => failed.min(children)..children,
        }
    }
}

impl OnExhausted {
    /// Gives the directive that is taken instead of the restart.
    pub fn directive(self) -> Directive {
        match self {
            OnExhausted::Stop => Directive::Stop,
            OnExhausted::Escalate => Directive::Escalate,
        }
    }
}
