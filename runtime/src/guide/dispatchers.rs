//! Dispatchers: who runs an actor, what work costs, and why blocking is expensive.
//!
//! A *Pool* has a thread per worker. A *Stepper* has virtual workers and runs them one turn at a time on the calling thread, in
//! virtual time; it is what runs in the browser and in tests. Both search for work by the same rules, so an actor cannot tell.
//!
//! `cx.work(d)` is d of CPU: a Pool burns it, on a Stepper that virtual worker is busy until then. `cx.block(d)` keeps a worker
//! without using it, the classic mistake. Two workers and four calls of a second each take two seconds:
//!
//! ```
//! use footlights::actor::{Actor, Context, Failure, Props};
//! use footlights::system::ActorSystem;
//! use std::time::Duration;
//!
//! struct Caller;
//! impl Actor for Caller {
//!     type Msg = ();
//!     fn receive(&mut self, cx: &mut Context<'_, Self>, _: ()) -> Result<(), Failure> {
//!         cx.block(Duration::from_secs(1));
//!         Ok(())
//!     }
//! }
//! let system = ActorSystem::builder("demo").stepper().workers(2).build()?;
//! for _ in 0..4 {
//!     system.spawn("", Props::new(|| Caller))?.tell(());
//! }
//! system.run_until_quiet(1_000);
//! assert_eq!(system.now().as_nanos(), 2_000_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! So give what blocks threads of its own: `Props::dispatcher("blocking")` for an actor, `cx.spawn_blocking` for one call, or a
//! dispatcher that you name on the [builder](crate::system::Builder). A run of more than 100 ms, and a blocking call on shared
//! workers, are reported.
//!
//! *Throughput* is how many messages an actor may handle before it makes room for another: more of it is faster, less of it is
//! fairer.
