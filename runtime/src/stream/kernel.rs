//! The operator kernel: what one stage does with an element, a demand, an end, a timer or an answer.
//!
//! Why so: an operator is written once, as a synchronous state machine without I/O, and then driven in two ways, by the
//! typed driver (one inlined loop) and by the dynamic one (the same kernel over [`Value`]).
//!
//! I1 a kernel emits at most [`Out::demand`] elements per call and keeps the rest for [`Kernel::on_pull`].
//! I2 [`Cx`] is the only door to clock, randomness, timers, requests and the price of work.
//! I3 a call that charged work or block is the last one of its island's run: what it emitted rests on the edge.
//! It does not know who drives it, nor how its neighbours look.

use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

use super::counts::Counts;
use super::graph::edges::Edges;
use super::host::{Host, Request, RequestKey, TimerKey};
use super::shared::Doorbell;
use super::signal::{Cause, DropReason, StreamError};
use super::value::Value;
use crate::rng::Rng;
use crate::time::{Instant, nanos};

/// One operator, for one run.
pub trait Kernel: Send + 'static {
    /// What it takes; [`Never`] for a source.
    type In: Send + 'static;
    /// What it emits; [`Never`] for a sink.
    type Out: Send + 'static;
    /// What the drivers may assume of it.
    const CAPS: Caps;

    /// Is called once, before anything else.
    fn on_start(&mut self, _cx: &mut Cx) -> Sig {
        Sig::Continue
    }
    /// Takes an element. Without [`Caps::eager`] there is demand for at least one element.
    fn on_push(&mut self, x: Self::In, out: &mut Out<'_, Self::Out>, cx: &mut Cx) -> Sig;
    /// Emits what is held, as far as there is demand (an eager kernel is asked also when there is none).
    fn on_pull(&mut self, _out: &mut Out<'_, Self::Out>, _cx: &mut Cx) -> Sig {
        Sig::Continue
    }
    /// Learns that upstream completed; one that still holds elements answers `Continue` and `Done` later.
    fn on_finish(&mut self, _out: &mut Out<'_, Self::Out>, _cx: &mut Cx) -> Sig {
        Sig::Done
    }
    /// Learns that upstream failed.
    fn on_fail(&mut self, e: StreamError, _out: &mut Out<'_, Self::Out>, _cx: &mut Cx) -> Sig {
        Sig::fail(e)
    }
    /// Learns that downstream cancelled; nothing is called afterwards.
    fn on_cancel(&mut self, _cause: &Cause, _cx: &mut Cx) {}
    /// A timer set by [`Cx::timer`] is due.
    fn on_timer(&mut self, _key: u32, _out: &mut Out<'_, Self::Out>, _cx: &mut Cx) -> Sig {
        Sig::Continue
    }
    /// A request made by [`Cx::request`] is done.
    fn on_done(&mut self, _request: u64, _out: &mut Out<'_, Self::Out>, _cx: &mut Cx) -> Sig {
        Sig::Continue
    }
    /// The island starts a run; only for [`Caps::external`] kernels, which share something with the outside.
    fn on_wake(&mut self, _out: &mut Out<'_, Self::Out>, _cx: &mut Cx) -> Sig {
        Sig::Continue
    }
    /// The island ends a run; only for [`Caps::external`] kernels.
    fn on_park(&mut self, _park: Park, _cx: &mut Cx) -> Sleep {
        Sleep::Deep
    }
    /// Says how many elements may be moved into it, or out of a source, in one go, without anybody seeing a difference.
    fn chunk(&self) -> usize {
        if Self::CAPS.light && Self::CAPS.chunk { usize::MAX } else { 0 }
    }
    /// Counts the elements that it holds.
    fn held(&self) -> usize {
        0
    }
    /// Changes a live-editable parameter; false if it has none of that name, or not with that value.
    fn set(&mut self, _key: &str, _value: &Value) -> bool {
        false
    }
}

/// The type without values: the input of a source and the output of a sink.
pub type Never = std::convert::Infallible;

/// What a driver may assume of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Does nothing but compute: no timer, no request, no charge, no `Full`. Typed chains do not count inside such kernels.
    pub light: bool,
    /// Takes elements without demand from downstream, until it answers `Full`.
    pub eager: bool,
    /// Has something to emit on its own: `on_pull` is called before upstream is asked.
    pub pulls: bool,
    /// Shares something with the outside: `on_wake` and `on_park` are called.
    pub external: bool,
    /// Is a source, which a stop of the stream completes.
    pub source: bool,
    /// May be handed several elements in one go without anybody seeing a difference.
    pub chunk: bool,
}

impl Caps {
    /// A kernel that only computes and never ends on data.
    pub const LIGHT: Caps =
        Caps { light: true, eager: false, pulls: false, external: false, source: false, chunk: true };
    /// A source that only computes.
    pub const LIGHT_SOURCE: Caps = Caps { pulls: true, source: true, ..Caps::LIGHT };
    /// A kernel that may hold an element, use timers or charge work.
    pub const TIMED: Caps = Caps { light: false, pulls: true, chunk: false, ..Caps::LIGHT };
    /// A kernel that takes elements before they are asked of it.
    pub const EAGER: Caps = Caps { eager: true, ..Caps::TIMED };
    /// A source or sink that is fed or drained from outside.
    pub const EXTERNAL: Caps = Caps { external: true, ..Caps::TIMED };
}

/// What a kernel answers.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Sig {
    /// It may take more.
    Continue,
    /// Nothing may be pushed before the next `on_pull`.
    Full,
    /// It has ended: complete downstream, cancel upstream.
    Done,
    /// It has ended as `Done`, and hands this cause upstream.
    Cancel(Box<Cause>),
    /// It has failed: fail downstream, cancel upstream.
    Fail(Box<StreamError>),
}

impl Sig {
    /// Fails with an error; boxed, so that an answer stays small on the way of the elements.
    #[cold]
    pub fn fail(e: StreamError) -> Sig {
        Sig::Fail(Box::new(e))
    }
}

/// Why an island's run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Park {
    /// Nothing can move before an event arrives.
    Waiting,
    /// The budget is used up or work was charged; the island runs again by itself.
    Pausing,
}

/// Whether a kernel lets its island sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// Nothing has arrived.
    Deep,
    /// Something arrived while the run ended: run again.
    Again,
}

/// Where a kernel puts what it emits: an edge that holds one element.
pub struct Out<'a, T> {
    demand: usize,
    slot: &'a mut Option<T>,
}

impl<'a, T> Out<'a, T> {
    /// Makes an outlet; `demand` is 0 or 1.
    #[inline(always)]
    pub(crate) fn slot(slot: &'a mut Option<T>, demand: usize) -> Self {
        Out { demand, slot }
    }

    /// Says how many elements may still be emitted in this call.
    #[inline(always)]
    pub fn demand(&self) -> usize {
        self.demand
    }

    /// Emits an element and returns the demand left.
    ///
    /// # Panics
    /// In debug builds, if there is no demand.
    #[inline(always)]
    pub fn emit(&mut self, x: T) -> usize {
        debug_assert!(self.demand > 0, "emit without demand");
        self.demand = self.demand.saturating_sub(1);
        *self.slot = Some(x);
        self.demand
    }
}

/// The number of a stage in its stream, counted from upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageId(pub u32);

/// Who a stage is: its number and its name.
#[derive(Clone, Debug)]
pub struct Tag {
    pub(crate) id: StageId,
    pub(crate) name: Arc<str>,
}

/// One run of an island: its host, its budget, and what was charged.
pub struct Run<'h> {
    pub(crate) host: &'h mut dyn Host,
    pub(crate) seed: &'h Rng,
    pub(crate) left: usize,
    pub(crate) charge: Charge,
    /// The edges of the graph that runs; of a chain there are none.
    pub(crate) edges: Edges,
    /// The stage whose kernel has panicked.
    pub(crate) blamed: &'h OnceLock<Arc<str>>,
    /// The island, as it is seen from outside.
    door: &'h Doorbell,
}

/// Names the stage that is called, if the call unwinds: forget it where the call returns.
pub(crate) struct Blame<'a>(pub(crate) &'a OnceLock<Arc<str>>, pub(crate) &'a Tag);

impl Drop for Blame<'_> {
    #[cold]
    fn drop(&mut self) {
        let _ = self.0.set(self.1.name.clone());
    }
}

/// Work and block that a call has charged and that the host has not been told of yet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Charge {
    work: Duration,
    block: Duration,
    /// Something was charged in this run, told or not.
    pub(crate) any: bool,
}

impl<'h> Run<'h> {
    pub(crate) fn new(
        host: &'h mut dyn Host,
        seed: &'h Rng,
        budget: usize,
        blamed: &'h OnceLock<Arc<str>>,
        door: &'h Doorbell,
    ) -> Self {
        let (left, charge, edges) = (budget.max(1), Charge::default(), Edges::default());
        Run { host, seed, left, charge, edges, blamed, door }
    }

    /// Tells the host what was charged. Everything that the run did before is visible by then.
    pub(crate) fn settle(&mut self) {
        let (work, block) = (std::mem::take(&mut self.charge.work), std::mem::take(&mut self.charge.block));
        if !work.is_zero() {
            self.host.work(work);
        }
        if !block.is_zero() {
            self.host.block(block);
        }
    }
}

/// A kernel's only door to the world, for one call.
pub struct Cx<'a, 'h> {
    pub(crate) run: &'a mut Run<'h>,
    pub(crate) tag: &'a Tag,
    pub(crate) counts: &'a mut Counts,
}

impl Cx<'_, '_> {
    /// Tells the time; during a call it does not move, whatever the call charges.
    pub fn now(&self) -> Instant {
        self.run.host.now()
    }

    /// Makes the stage's own generator: the same one each time, so call it once and keep it.
    pub fn rng(&self) -> Rng {
        self.run.seed.split(u64::from(self.tag.id.0))
    }

    /// Names the stage.
    pub fn node(&self) -> Arc<str> {
        self.tag.name.clone()
    }

    /// Charges CPU time: the worker is taken that long, and what this call emits moves on afterwards.
    pub fn work(&mut self, d: Duration) {
        self.run.charge.work += d;
        self.counts.work_ns = self.counts.work_ns.saturating_add(nanos(d));
        self.run.charge.any |= !d.is_zero();
    }

    /// Charges time in which the worker is taken without using the CPU.
    pub fn block(&mut self, d: Duration) {
        self.run.charge.block += d;
        self.counts.block_ns = self.counts.block_ns.saturating_add(nanos(d));
        self.run.charge.any |= !d.is_zero();
    }

    /// Sets the stage's timer `key`, replacing an earlier one of that key.
    pub fn timer(&mut self, key: u32, after: Duration) {
        self.run.settle();
        self.run.host.set_timer(TimerKey { stage: self.tag.id, key }, after);
    }

    /// Forgets the stage's timer `key`.
    pub fn cancel_timer(&mut self, key: u32) {
        self.run.host.cancel_timer(TimerKey { stage: self.tag.id, key });
    }

    /// Asks the host for something that takes time; the answer comes as [`Kernel::on_done`] with the same number.
    pub fn request(&mut self, number: u64, request: Request) {
        self.run.settle();
        self.run.host.request(RequestKey { stage: self.tag.id, number }, request);
    }

    /// Makes a waker: a wake comes as [`Kernel::on_done`] with this number.
    pub fn waker(&mut self, number: u64) -> Waker {
        self.run.settle();
        self.run.host.waker(RequestKey { stage: self.tag.id, number })
    }

    /// Gives what wakes this island from outside, for a kernel with [`Caps::external`]; it may be kept.
    pub(crate) fn doorbell(&self) -> Doorbell {
        self.run.door.clone()
    }

    /// Wakes another island of this stream: at once, for what a ring holds was there before this run charged.
    pub(crate) fn wake(&mut self, island: usize) {
        self.run.host.wake(island);
    }

    /// Counts elements that were taken and leave nothing behind: rejected, summed up, consumed.
    #[inline(always)]
    pub fn used(&mut self, n: u64) {
        self.counts.used += n;
    }

    /// Counts elements that the stage made without taking them from upstream.
    #[inline(always)]
    pub fn made(&mut self, n: u64) {
        self.counts.made += n;
    }

    /// Counts elements that were lost on purpose.
    pub fn dropped(&mut self, reason: DropReason, n: u64) {
        self.counts.dropped.add(reason, n);
    }
}
