//! What actors tell each other without user code: the system lane's vocabulary.

use std::sync::Arc;

use super::Terminated;
use super::cell::AnyCell;
use super::failure::Report;
use super::ready::{OnEnd, Ready};
use crate::id::ActorId;
use crate::observe::StopReason;

/// A system message. Each is handled before the next user message, and none carries user data.
pub(crate) enum Signal {
    /// Makes the first instance.
    Start,
    /// Ends the actor after its present run.
    Stop(StopReason),
    /// Fails the actor, kind Killed.
    Kill,
    /// Fails the actor, kind Overflow: its full mailbox has dropped a message.
    Overflow,
    /// An actor above has failed: stop reading the user lane.
    Suspend,
    /// Takes back one Suspend.
    Resume,
    /// The supervisor's answer Resume: go on with the state as it is.
    Continue,
    /// The supervisor's answer Restart, first half: end the old instance.
    Halt(Report),
    /// The second half: make the new one.
    Begin,
    /// A child's run has failed.
    ChildFailed(ActorId, Report),
    /// A child's old instance has wholly stopped.
    ChildHalted(ActorId),
    /// A child's new instance runs.
    ChildStarted(ActorId),
    /// A child has ended; its name is free already.
    ChildStopped(ActorId),
    /// The delay of a restart group is over.
    BackoffOver(u64),
    /// Somebody wants to hear of this actor's end.
    Watch(Arc<dyn AnyCell>, u64),
    /// Somebody no longer does.
    Unwatch(ActorId),
    /// Somebody waits for this actor to run.
    TellReady(Ready),
    /// Somebody waits for this actor's end.
    OnEnd(OnEnd),
    /// The actor was forced, and its run has returned: drop everything.
    Abandoned,
    /// Room may have come for what waits in the outbox.
    Flush,
    /// The news of an end, where it overtakes what is queued.
    Notice(u64, Box<Terminated>),
}
