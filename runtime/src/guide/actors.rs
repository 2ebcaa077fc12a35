//! Actors: state that nobody shares.
//!
//! An actor has a state, a mailbox, and one handler. It handles one message at a time, so the state needs no lock; others hold
//! an [`ActorRef`](crate::actor::ActorRef) and can only send. The type of its messages is part of the reference: what an actor
//! does not understand does not compile.
//!
//! ```
//! use footlights::actor::{Actor, Context, Failure, Props};
//! use footlights::pattern::Reply;
//! use footlights::system::ActorSystem;
//! use std::time::Duration;
//!
//! /// A bank account that cannot be overdrawn.
//! #[derive(Default)]
//! struct Account {
//!     balance: u64,
//! }
//!
//! enum Msg {
//!     Deposit(u64),
//!     Withdraw(u64, Reply<Result<u64, Short>>),
//! }
//!
//! #[derive(Debug, PartialEq)]
//! struct Short;
//!
//! impl Actor for Account {
//!     type Msg = Msg;
//!
//!     fn receive(&mut self, _cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
//!         match msg {
//!             Msg::Deposit(amount) => self.balance += amount,
//!             Msg::Withdraw(amount, reply) => {
//!                 let left = self.balance.checked_sub(amount).ok_or(Short);
//!                 self.balance = *left.as_ref().unwrap_or(&self.balance);
//!                 reply.send(left);
//!             }
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let system = ActorSystem::builder("bank").stepper().build()?;
//! let account = system.spawn("account", Props::new(Account::default))?;
//! account.tell(Msg::Deposit(100));
//! let second = Duration::from_secs(1);
//! assert_eq!(system.block_on(account.ask(|reply| Msg::Withdraw(30, reply), second))?, Ok(70));
//! assert_eq!(system.block_on(account.ask(|reply| Msg::Withdraw(99, reply), second))?, Err(Short));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Three things in there carry far:
//!
//! - **A business error is an answer, a failure is not.** "Too little money" goes back to whoever asked. An `Err` from
//!   `receive` says that the *actor* cannot go on as it is: its supervisor decides what then, see
//!   [`supervision`](super::supervision).
//! - **[`Reply`](crate::pattern::Reply) is a value.** It can be kept, sent on, answered later. Dropping it is an answer, too: the asker hears
//!   at once that none will come, and does not wait for the timeout.
//! - **The system was a Stepper**: everything ran on the calling thread, in virtual time, in the same order each time. Without
//!   `.stepper()` the same actors run on threads. See [`dispatchers`](super::dispatchers).
//!
//! # Children
//! An actor may make others; they are its children, it supervises them, and they stop before it does. Names are unique among
//! living siblings and make a path, such as `/user/bank/account-7`.
//!
//! ```
//! use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
//! use footlights::system::ActorSystem;
//! use std::collections::BTreeMap;
//!
//! # struct Account;
//! # impl Actor for Account {
//! #     type Msg = u64;
//! #     fn receive(&mut self, _: &mut Context<'_, Self>, _: u64) -> Result<(), Failure> { Ok(()) }
//! # }
//! /// One account per customer, made when it is first needed.
//! #[derive(Default)]
//! struct Bank {
//!     accounts: BTreeMap<u32, ActorRef<u64>>,
//! }
//!
//! impl Actor for Bank {
//!     type Msg = (u32, u64);
//!
//!     fn receive(&mut self, cx: &mut Context<'_, Self>, (customer, amount): (u32, u64)) -> Result<(), Failure> {
//!         if !self.accounts.contains_key(&customer) {
//!             let account = cx.spawn(&format!("account-{customer}"), Props::new(|| Account))?;
//!             self.accounts.insert(customer, account);
//!         }
//!         cx.tell(&self.accounts[&customer], amount);
//!         Ok(())
//!     }
//! }
//!
//! let system = ActorSystem::builder("bank").stepper().build()?;
//! let bank = system.spawn("bank", Props::new(Bank::default))?;
//! bank.tell((7, 100));
//! system.run_until_quiet(100);
//! assert!(system.find("/user/bank/account-7").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The end
//! | call | ends it |
//! |---|---|
//! | `cx.stop()`, `actor.stop()` | after its present run; what is queued becomes dead letters |
//! | `actor.drain()` | when it has handled everything that is queued now |
//! | `actor.kill()` | by a failure of kind Killed, which its supervisor decides about |
//!
//! Children stop first, last started first; then `stopped` runs; then the name is free; then whoever
//! [watches](crate::actor::Context::watch) is told, exactly once, also if the actor had ended before.
