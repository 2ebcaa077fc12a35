//! Coming from actix: what it is called here, and what is different.
//!
//! | actix | here |
//! |---|---|
//! | `impl Handler<M> for A` for each message | one `enum` as `type Msg`, one `receive` |
//! | `Addr<A>`, `Recipient<M>` | [`ActorRef<M>`](crate::actor::ActorRef), [`Recipient<N>`](crate::actor::Recipient) |
//! | `addr.do_send(m)` | [`tell`](crate::actor::ActorRef::tell) |
//! | `addr.try_send(m)` | [`try_tell`](crate::actor::ActorRef::try_tell): the message comes back |
//! | `addr.send(m).await` | [`ask`](crate::actor::ActorRef::ask) for an answer, [`send`](crate::actor::ActorRef::send) to wait for room |
//! | `type Result = …` of a message | a [`Reply<R>`](crate::pattern::Reply) field in the message |
//! | `Actor::started`, `stopped` | the same |
//! | `Supervisor`, `Supervised::restarting` | every parent supervises; [`Strategy`](crate::supervise::Strategy), `pre_restart`, `post_restart` |
//! | `ctx.run_interval`, `run_later` | [`cx.timers()`](crate::actor::Context::timers) |
//! | `ctx.spawn(fut.into_actor(self))`, `ctx.wait` | [`cx.pipe_to_self`](crate::actor::Context::pipe_to_self): the result is a message |
//! | `Arbiter`, `SyncArbiter` | dispatchers; see [`dispatchers`](super::dispatchers) |
//! | `System::new().run()` | [`ActorSystem::builder(..).build()`](crate::system::ActorSystem::builder), `shutdown` |
//! | `ctx.set_mailbox_capacity(16)` | `Props::mailbox(Mailbox::bounded(..))`; no door goes around the bound |
//!
//! # What will surprise you
//! - **A panic does not kill the thread's arbiter.** It is the actor's failure, and its supervisor decides.
//! - **Actors are not bound to a thread.** An idle worker steals; state must be `Send`.
//! - **No futures on the actor's state.** A handler is synchronous; what is asynchronous runs beside it and comes back as a message, so
//!   nothing else can happen to the state in the middle of a handler.
//! - **The capacity of a mailbox is a bound** for every way to send. Only what the actor has ordered itself (timer ticks, termination
//!   notices, answers) has its room beside it.
//! - **Timers do not burst** after a pause, unless you ask for that.
//! - **No executor is needed.** The runtime has its own threads; futures of any library can be awaited outside, and an answer can be
//!   awaited on any executor.
