//! Routers: one destination for many. A message is routed *in the sender*: a [`RouterRef`] reads the table of routees and puts
//! the message straight into one's mailbox; the router's own actor keeps the table and is never on the path.
//!
//! A *pool* makes its routees and supervises them (one-for-one: only the one that failed restarts); a *group* is told of
//! routees that live elsewhere, or follows a service. Both drop a routee from the table when it has ended.
//!
//! The pages of this room, in reading order: `router` (what one wants), `router_ref` (what one holds), `logic` and `ring` (the
//! choice), `member`, `table` and `queue` (what senders share), `first` (asks), `keeper` (the router's actor), `change` and `follow`
//! (other routees at run time), `refill`, `resize`, `explore`.

mod change;
mod explore;
mod first;
mod follow;
mod keeper;
mod logic;
mod member;
mod queue;
mod refill;
mod resize;
mod ring;
mod router;
mod router_ref;
mod table;

pub use change::{Change, ChangeError};
pub use explore::Explorer;
pub use logic::Logic;
pub use queue::QueueFull;
pub use refill::Refill;
pub use resize::{Pressure, Resizer};
pub use ring::key_of;
pub use router::{Group, Pool, Router, SpawnRouter};
pub use router_ref::RouterRef;
