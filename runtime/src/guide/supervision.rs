//! Supervision: who decides when a handler fails, by which rules, in which order.
//!
//! A handler that returns `Err` or panics has failed. The actor is suspended: it reads no further message, nor do its children.
//! Its parent decides, by its [`Strategy`](crate::supervise::Strategy):
//!
//! | directive | what happens |
//! |---|---|
//! | Restart (default) | a new state behind the same reference; the mailbox is kept, the failing message is gone |
//! | Resume | the state is kept, the failing message is gone |
//! | Stop | it ends; whoever watches is told |
//! | Escalate | the parent fails with it, and *its* parent decides |
//!
//! ```
//! use footlights::actor::{Actor, Context, Failure, Props};
//! use footlights::supervise::{Directive, FailureKind, Strategy};
//! use footlights::system::ActorSystem;
//! use std::time::Duration;
//!
//! struct Worker;
//!
//! impl Actor for Worker {
//!     type Msg = &'static str;
//!
//!     fn receive(&mut self, _cx: &mut Context<'_, Self>, text: &'static str) -> Result<(), Failure> {
//!         text.parse::<i64>()?; // any error will do
//!         Ok(())
//!     }
//! }
//!
//! struct Office;
//!
//! impl Actor for Office {
//!     type Msg = ();
//!
//!     fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
//!         let worker = cx.spawn("worker", Props::new(|| Worker))?;
//!         worker.tell("12");
//!         worker.tell("twelve"); // fails: a restart
//!         worker.tell("13"); // still in the mailbox, handled by the new instance
//!         Ok(())
//!     }
//!
//!     fn receive(&mut self, _cx: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> {
//!         Ok(())
//!     }
//! }
//!
//! let strategy = Strategy::one_for_one()
//!     .max_restarts(3, Duration::from_secs(10))
//!     .on(FailureKind::Panic, Directive::Escalate);
//! let system = ActorSystem::builder("office").stepper().build()?;
//! system.spawn("office", Props::new(|| Office).supervise(strategy))?;
//! system.run_until_quiet(1_000);
//!
//! let worker = system.find("/user/office/worker").expect("it lives").snapshot();
//! assert_eq!((worker.restarts, worker.ledger.handled, worker.ledger.failed), (1, 2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why did it do that?
//! Each decision is one event that carries what it was made from. [`why`](crate::supervise::Decision::why) says it in a sentence:
//!
//! ```
//! use footlights::{rng::Rng, supervise::*, time::Instant};
//! use std::time::Duration;
//!
//! let strategy = Strategy::one_for_one().max_restarts(1, Duration::from_secs(1));
//! let (mut budget, mut rng) = (ChildBudget::default(), Rng::new(1));
//! let mut fail_at = |ms| {
//!     let now = Instant::ZERO + Duration::from_millis(ms);
//!     decide(&strategy, FailureKind::Error, "", budget.own(), now, &mut rng, RestartType::Transient)
//! };
//! assert_eq!(fail_at(100).taken, Directive::Restart);
//! assert_eq!(fail_at(2_000).taken, Directive::Restart); // the first is out of the window
//! let third = fail_at(2_500);
//! assert_eq!(third.taken, Directive::Stop);
//! assert!(third.why().contains("1 allowed"), "{}", third.why());
//! # Ok::<(), ()>(())
//! ```
//! `decide` is a pure function; the runtime calls the same one.
//!
//! # Whom it acts on
//! - *one-for-one*: the child that failed.
//! - *all-for-one*: all children. They stop last first and start again first first, each when the one before runs.
//! - *rest-for-one*: the child that failed and those started after it.
//!
//! # How often
//! A restart is allowed if fewer than `max` were made in the window, counted before this one. The window *slides* by default; it
//! can *tumble* (the first restart opens it, and it ends as a whole) or need a *gap* (as long without a restart). When the budget
//! is used up the child is stopped, or the failure is escalated
//! ([`escalate_when_exhausted`](crate::supervise::Strategy::escalate_when_exhausted)). A failing start counts in the same budget, so an actor that cannot
//! start does not try for ever.
//!
//! # How fast
//! A [`Backoff`](crate::supervise::Backoff) delays restarts, doubling from its minimum to its maximum, with seeded jitter. Meanwhile the mailbox takes at most
//! 1,000 more messages.
//!
//! # What a restart does, in order
//! 1. `pre_restart` on the old instance: it learns why, and gets the failing message back if it was kept.
//! 2. Its children stop, last started first.
//! 3. Its timers, tasks and open questions end. What they would still bring is never delivered to the new instance.
//! 4. The old instance is dropped. Two instances of one actor never live at once.
//! 5. The delay passes, if there is one.
//! 6. The factory makes a new instance, and `post_restart` runs on it (by default: `started`).
//! 7. It reads its mailbox again. Reference, name, mailbox and watches are those of before; watchers are not told.
//!
//! On each instance exactly one of `pre_restart` and `stopped` is called. A panic in one of these, or in a `Drop`, is reported with
//! the actor's path and decides nothing.
//!
//! # Actors that fail together
//! Two actors that are of no use without each other are *linked*: when one ends abnormally (by a failure, a kill or force; not by
//! a stop), the other fails with [`Linked`](crate::supervise::FailureKind::Linked), and its supervisor decides. By default it
//! stops. A restart is no end, and links outlive it. What the dead had told the other is handled first.
//!
//! ```
//! use footlights::actor::{Actor, AnyRef, Context, Failure, Props};
//! use footlights::supervise::{Directive, FailureKind, Strategy};
//! use footlights::system::ActorSystem;
//!
//! struct Half;
//!
//! impl Actor for Half {
//!     type Msg = AnyRef;
//!
//!     fn receive(&mut self, cx: &mut Context<'_, Self>, other: AnyRef) -> Result<(), Failure> {
//!         Ok(cx.link(&other)?)
//!     }
//! }
//!
//! struct Pair;
//!
//! impl Actor for Pair {
//!     type Msg = ();
//!
//!     fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
//!         let reader = cx.spawn("reader", Props::new(|| Half))?;
//!         let writer = cx.spawn("writer", Props::new(|| Half))?;
//!         reader.tell(writer.any());
//!         Ok(())
//!     }
//!
//!     fn receive(&mut self, _cx: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> {
//!         Ok(())
//!     }
//! }
//!
//! // Without the rule the reader would stop, as the writer does.
//! let strategy = Strategy::one_for_one().on(FailureKind::Linked, Directive::Restart);
//! let system = ActorSystem::builder("pair").stepper().build()?;
//! system.spawn("pair", Props::new(|| Pair).supervise(strategy))?;
//! system.run_until_quiet(1_000);
//! system.find("/user/pair/writer").expect("it lives").kill();
//! system.run_until_quiet(1_000);
//!
//! assert!(system.find("/user/pair/writer").is_none());
//! assert_eq!(system.find("/user/pair/reader").expect("it lives").snapshot().restarts, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Declared children
//! Children can be declared instead of spawned. They start one after another, each when the one before runs, and whoever waits for
//! their supervisor to be ready waits for all of them. They stop in the opposite order. A start that fails is tried again in the
//! child's budget; when that is used up, the supervisor's own start has failed. The child's props are its spec.
//!
//! A child may be *significant*: then its end can be that of the whole, as the strategy says. A restart is no end.
//!
//! ```
//! use footlights::actor::{Actor, Context, Failure, Props, Supervisor};
//! use footlights::observe::EventKind;
//! use footlights::supervise::{AutoShutdown, RestartType, Strategy};
//! use footlights::system::ActorSystem;
//!
//! struct Part;
//!
//! impl Actor for Part {
//!     type Msg = &'static str;
//!
//!     fn receive(&mut self, cx: &mut Context<'_, Self>, text: &'static str) -> Result<(), Failure> {
//!         match text {
//!             "done" => cx.stop(),
//!             _ => return Err(Failure::new("text", text)),
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let strategy = Strategy::rest_for_one().auto_shutdown(AutoShutdown::AllSignificant);
//! let import = Supervisor::props(strategy)
//!     .child("store", || Props::new(|| Part).restart_type(RestartType::Permanent))
//!     .child("reader", || Props::new(|| Part).significant());
//! let system = ActorSystem::builder("import").stepper().build()?;
//! system.block_on(system.spawn_ready("import", import))?; // store runs, then reader does, then this returns
//!
//! let reader = system.find("/user/import/reader").and_then(|found| found.typed()).expect("it runs");
//! reader.tell("oops"); // a restart
//! reader.tell("done"); // its end, and so that of the import
//! system.run_until_quiet(1_000);
//! assert!(system.find("/user/import").is_none());
//! let (events, _) = system.rare_events(0);
//! let why = events.iter().find_map(|event| match &event.kind {
//!     EventKind::AutoShutdown(why) => Some(why.why()),
//!     _ => None,
//! });
//! let said = "/user/import/reader has ended, the only significant child; stopping";
//! assert_eq!(why.as_deref(), Some(said));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! Any actor may declare children, by [`Props::child`](crate::actor::Props::child). With
//! [`keep_children`](crate::actor::Props::keep_children) an actor keeps its children when it is restarted: step 2 suspends them
//! instead, and step 7 lets them go on.
