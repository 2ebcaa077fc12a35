//! Coming from Erlang or Elixir: what it is called here, and what is different.
//!
//! | OTP | here |
//! |---|---|
//! | process, pid | actor, [`ActorRef<M>`](crate::actor::ActorRef): typed, and it names one actor for ever |
//! | `gen_server:call`, `cast` | [`ask`](crate::actor::ActorRef::ask), [`tell`](crate::actor::ActorRef::tell) |
//! | `{noreply, State}` and `gen_server:reply(From, R)` | keep the [`Reply`](crate::pattern::Reply) and `send` it later; it may move to another actor |
//! | `init`, `terminate`, `handle_*` | `started`, `stopped`, `receive` |
//! | `supervisor`, `one_for_one`, `one_for_all`, `rest_for_one` | any actor is a supervisor; [`Strategy`](crate::supervise::Strategy)`::one_for_one`, `all_for_one`, `rest_for_one` |
//! | a supervisor's child specs | [`Supervisor`](crate::actor::Supervisor)`::props(strategy).child(name, props)`; the child's props are its spec |
//! | `auto_shutdown`, `significant` | [`auto_shutdown`](crate::supervise::Strategy::auto_shutdown), [`Props::significant`](crate::actor::Props::significant) |
//! | `intensity`, `period` | `max_restarts(intensity, period)` |
//! | `permanent`, `transient`, `temporary` | [`RestartType`](crate::supervise::RestartType) of the child's props |
//! | `monitor`, `{'DOWN', …}` | [`cx.watch`](crate::actor::Context::watch): the notice comes mapped into your own message type |
//! | `link`, `unlink` | [`cx.link`](crate::actor::Context::link), `cx.unlink`: the other *fails*, and its supervisor decides. There is no `trap_exit`: who wants to be told watches |
//! | `erlang:send_after`, `cancel_timer` | [`cx.timers()`](crate::actor::Context::timers) with keys; a cancelled tick is never handled, even if it was queued |
//! | `register`, `whereis`, `pg` | names among siblings, [`find`](crate::system::ActorSystem::find) by path; [`ServiceKey`](crate::pattern::ServiceKey) for groups |
//! | `shutdown => 5000` | [`Props::shutdown`](crate::actor::Props::shutdown), 5 s as well |
//! | `sys:get_state`, `observer` | [`snapshot`](crate::system::ActorSystem::snapshot), the event log, the playground |
//! | selective `receive` | [`cx.stash`](crate::actor::Context::stash) what is not for now, and take it back later |
//! | `gen_statem` | [`Fsm`](crate::pattern::Fsm) |
//!
//! # What will surprise you
//! - **A restart keeps the mailbox** and the reference. In OTP the new process has a new pid and an empty queue.
//! - **The default child is transient, one-for-one, and stopped when its budget (10 in 10 s, per child) is used up.** OTP's default is
//!   permanent, 1 in 5 s for the supervisor, who then fails itself: `shared_budget()` and `escalate_when_exhausted()` give you that, or the dialect below.
//! - **Actors are compiled and typed**: a message that an actor does not understand does not compile.
//! - **No preemption.** A handler runs to its end; one that takes more than 100 ms is reported. Split long work, or give it to a task.
//! - **Mailboxes can be bounded**, with a policy for what happens when they are full. See [`mailboxes`](super::mailboxes).
//! - **Groups restart in order**: stop last first, start first first, each when the one before runs; also for the member of a group that
//!   takes its time.
//! - **"Let it crash" can be watched.** Every decision says why, with its numbers. See [`supervision`](super::supervision).
//!
//! # With OTP's defaults
//! [`Dialect::Otp`](crate::supervise::Dialect) gives a system the defaults that you know: permanent children, 1 restart in 5 s for all
//! children of a supervisor, who then fails itself, and a restart that begins with an empty mailbox (what was in it becomes dead
//! letters, reason Discarded). `/user` is such a supervisor as well: a second failure there ends the system.
//!
//! ```
//! use footlights::supervise::Dialect;
//! use footlights::system::ActorSystem;
//!
//! let system = ActorSystem::builder("demo").stepper().dialect(Dialect::Otp).build()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
