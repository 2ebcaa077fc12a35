//! Coming from Akka or Pekko: what it is called here, and what is different.
//!
//! | Akka | here |
//! |---|---|
//! | `AbstractBehavior[T]`, `Behavior[T]` | [`Actor`](crate::actor::Actor) with `type Msg` |
//! | `ActorRef[T]`, `ActorRef[Nothing]` | [`ActorRef<M>`](crate::actor::ActorRef), [`AnyRef`](crate::actor::AnyRef) |
//! | `Props`, `Behaviors.setup` | [`Props`](crate::actor::Props), its factory, and `started` |
//! | `tell`, `!` | `tell`; inside a handler [`cx.tell`](crate::actor::Context::tell), which is the faster door |
//! | `ask`, `context.ask` | [`actor.ask`](crate::actor::ActorRef::ask), [`cx.ask`](crate::actor::Context::ask) |
//! | `replyTo: ActorRef[R]` | a [`Reply<R>`](crate::pattern::Reply) in the message; dropping it fails the ask at once |
//! | `pipeToSelf` | [`cx.pipe_to_self`](crate::actor::Context::pipe_to_self) |
//! | `messageAdapter` | [`cx.adapter`](crate::actor::Context::adapter) |
//! | `SupervisorStrategy`, `Behaviors.supervise` | [`Strategy`](crate::supervise::Strategy), set on the *parent* by `Props::supervise` |
//! | not stopping children in `preRestart` | [`keep_children`](crate::actor::Props::keep_children), [`child_or_spawn`](crate::actor::Context::child_or_spawn) |
//! | `preRestart(reason, message)`, `postStop` | `pre_restart(why, message)`, `stopped` |
//! | `BackoffSupervisor` | [`Backoff`](crate::supervise::Backoff), part of a strategy or of a child's props |
//! | `watch`, `watchWith`, `Terminated` | [`cx.watch`](crate::actor::Context::watch) with a mapping into your own messages |
//! | `withTimers` | [`cx.timers()`](crate::actor::Context::timers) |
//! | `Routers.pool`, `Routers.group` | [`Router`](crate::routing::Router) |
//! | `dispatcher { throughput = 5 }` | `ActorSystem::builder(..).throughput(64)`, [`Props::dispatcher`](crate::actor::Props::dispatcher) |
//! | `CallingThreadDispatcher`, `BehaviorTestKit` | a *Stepper* system: `ActorSystem::builder(..).stepper()` |
//! | `TestProbe`, `ManualTime` | [`Probe`](crate::testkit::Probe), virtual time |
//! | `deadLetters`, event stream, `Receptionist` | [`dead_letters`](crate::system::ActorSystem::dead_letters), [`event_stream`](crate::system::ActorSystem::event_stream), [`ServiceKey`](crate::pattern::ServiceKey) |
//! | `withStash`, `Behaviors.same`, `become` | [`cx.stash`](crate::actor::Context::stash), [`cx.become_`](crate::actor::Context::become_) |
//! | `FSM` | [`Fsm`](crate::pattern::Fsm) |
//! | `CircuitBreaker`, `retry` | [`CircuitBreaker`](crate::pattern::CircuitBreaker), [`Retry`](crate::pattern::Retry) |
//! | `CoordinatedShutdown` | [`coordinated_shutdown`](crate::system::ActorSystem::coordinated_shutdown) |
//! | `Source`, `Flow`, `Sink`, `.async` | [`Source`](crate::stream::Source), [`Flow`](crate::stream::Flow), [`Sink`](crate::stream::Sink), `.async_boundary()` |
//!
//! # What will surprise you
//! - **A failure is a value.** `receive` returns a `Result`, `?` works on any error, and a panic is caught and treated the same.
//! - **Restarts have a budget by default**: 10 in 10 s, then Stop. Akka's default is without limit.
//! - **A failing start is restarted**, in the same budget, where Akka stops the actor.
//! - **One failing routee restarts alone.** In a classic Akka pool without a strategy of its own the router escalates, and all
//!   routees go down with it.
//! - **The failing message** can be given to `pre_restart`: `Failure::returning(message)`, or `Props::keep_failing_message()` where
//!   messages are `Clone`. Telling it to yourself there puts it at the back of the mailbox, as it does in Akka.
//! - **Termination notices keep the order**: whatever an actor had told you, you handle before you hear of its end.
//! - **An ask never waits for the dead.** You hear which of [ten things](crate::pattern::AskError) went wrong, when it does.
//! - **No ambient context, no `sender()`.** What a handler may do, it does by its `Context`; who is to be answered stands in the message.
//! - **Nothing blocks a worker**: there is no `Await.result` in a handler. See [`dispatchers`](super::dispatchers).
//!
//! # With Akka's defaults
//! [`Dialect::Akka`](crate::supervise::Dialect) gives a system the defaults that you know: restarts without limit (1 ms apart, so that
//! a crash loop lets time pass), Stop for a failed start, children that stop all at once, and termination notices that may overtake
//! what the dead had told. What props name goes before it.
//!
//! ```
//! use footlights::supervise::{Dialect, SignalOrder};
//! use footlights::system::ActorSystem;
//!
//! let builder = ActorSystem::builder("demo").stepper().dialect(Dialect::Akka);
//! let system = builder.signal_order(SignalOrder::InOrder).build()?; // all of it but the race
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
