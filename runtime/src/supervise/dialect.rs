//! Dialects: the habits of other systems as sets of defaults, to learn what they lead to.
//!
//! | | rules | restarts | exhausted | mailbox on restart | notices | children stop |
//! |---|---|---|---|---|---|---|
//! | Footlights | one-for-one, transient, Restart | 10 in 10 s sliding, per child | Stop | kept | in order | last first, one at a time |
//! | Akka | one-for-one, Restart; Start: Stop | unlimited, tumbling, 1 ms apart | Stop | kept | overtaking | all at once |
//! | Otp | one-for-one, permanent | 1 in 5 s sliding, per supervisor | Escalate | dead letters | in order | last first, one at a time |
//!
//! Akka restarts at once; here 1 ms lies between, so that a crash loop lets time pass.
//! I1 a dialect is defaults only: what an actor's props or a system's builder name goes before it.

use std::time::Duration;

use super::{Backoff, Directive, FailureKind, RestartType, Strategy, Window};
use crate::code::codes;

codes! {
    /// Says whose defaults a system has; see [`Builder::dialect`](crate::system::Builder::dialect).
    ///
    /// # Examples
    /// ```
    /// use footlights::supervise::{Dialect, RestartType, SignalOrder};
    /// assert_eq!(Dialect::Otp.restart_type(), RestartType::Permanent);
    /// assert_eq!(Dialect::Akka.signal_order(), SignalOrder::Overtaking);
    /// assert!(Dialect::Akka.strategy().limit.is_endless());
    /// ```
    pub enum Dialect {
        /// Those of this library.
        Footlights = 0, "footlights";
        /// Those of Akka and Pekko.
        Akka = 1, "akka";
        /// Those of Erlang's supervisors.
        Otp = 2, "otp";
    }
}

codes! {
    /// Says where the news of an actor's end stands among the messages that it had sent before.
    pub enum SignalOrder {
        /// Behind them. The default.
        InOrder = 0, "in order";
        /// Before all that is queued: a watcher may hear of an end, and of the dead's last words later.
        Overtaking = 1, "overtaking";
    }
}

codes! {
    /// Says what becomes of the queued messages when an actor is restarted.
    pub enum MailboxOnRestart {
        /// The new instance handles them. The default.
        Kept = 0, "kept";
        /// They are dead letters (Discarded), the stash included.
        Discarded = 1, "discarded";
    }
}

codes! {
    /// Says in which order the children of an actor stop when it stops or restarts.
    pub enum StopOrder {
        /// Last started first, each when the one before has ended; those without a name of their own together. The default.
        LastFirst = 0, "last first";
        /// All at once.
        Parallel = 1, "parallel";
    }
}

impl Dialect {
    /// Gives the strategy of a supervisor that names none.
    pub fn strategy(self) -> Strategy {
        let strategy = Strategy::one_for_one();
        match self {
            Dialect::Footlights => strategy,
            Dialect::Akka => strategy
                .on(FailureKind::Start, Directive::Stop)
                .unlimited()
                .window(Window::Tumbling)
                .backoff(Backoff::new(MS, MS).jitter_permille(0)),
            Dialect::Otp => {
                strategy.max_restarts(1, Duration::from_secs(5)).shared_budget().escalate_when_exhausted()
            }
        }
    }

    /// Gives the restart type of a child that names none.
    pub fn restart_type(self) -> RestartType {
        match self {
            Dialect::Footlights | Dialect::Akka => RestartType::Transient,
            Dialect::Otp => RestartType::Permanent,
        }
    }

    /// Says what becomes of the queue at a restart.
    pub fn mailbox_on_restart(self) -> MailboxOnRestart {
        match self {
            Dialect::Footlights | Dialect::Akka => MailboxOnRestart::Kept,
            Dialect::Otp => MailboxOnRestart::Discarded,
        }
    }

    /// Gives the place of termination notices.
    pub fn signal_order(self) -> SignalOrder {
        match self {
            Dialect::Footlights | Dialect::Otp => SignalOrder::InOrder,
            Dialect::Akka => SignalOrder::Overtaking,
        }
    }

    /// Gives the order in which children stop.
    pub fn stop_order(self) -> StopOrder {
        match self {
            Dialect::Footlights | Dialect::Otp => StopOrder::LastFirst,
            Dialect::Akka => StopOrder::Parallel,
        }
    }
}

/// Between two restarts in the Akka dialect.
const MS: Duration = Duration::from_millis(1);
