//! A stage at run time: a kernel, the fused edge behind it, and the rules of push, pull and ends.
//!
//! Both drivers walk a chain in the same way. Demand goes up: `ask` says whether the stage can answer at once or must ask
//! upstream. Answers come down: `answer` hands the kernel what upstream said and tells how to go on.
//!
//! ```text
//!            ask(demand)                        answer(Item x)
//!   down  ───────────────▶  cell  ─ Up(want) ─▶  up
//!         ◀── Down(Item) ──       ◀── Item ────
//! ```
//!
//! I1 the edge behind a stage holds at most one element, and only if the call that emitted it charged work, or was no
//! answer to a demand (a timer, a request).
//! I2 an end is told downstream only when the edge is empty: completion never overtakes an element.
//! I3 upstream is cancelled in the step in which the stage ends, exactly once.
//! I4 after its end no kernel is called, except that a ring says that it is closed.
//! It does not know how its neighbours are found: that is what the drivers are for.

use super::counts::Counts;
use super::host::Event;
use super::kernel::{Blame, Cx, Kernel, Out, Park, Run, Sig, Sleep, Tag};
use super::signal::{Cause, DropReason, End, StreamError};

/// What a stage says to the one below.
pub enum Answer<T> {
    /// An element.
    Item(T),
    /// Nothing before an event.
    Blocked,
    /// Nothing in this run: its budget is used up, or work was charged.
    Yield,
    /// Nothing ever again.
    End(Box<End>),
}

/// How a driver goes on.
pub enum Step<T> {
    /// Ask upstream, with demand or only for its end.
    Up(bool),
    /// Tell downstream.
    Down(Answer<T>),
    /// Cancel upstream, then tell downstream.
    Stop(Box<Cause>, Answer<T>),
}

/// A stage at run time.
pub struct Cell<K: Kernel, const TRACE: bool> {
    tag: Tag,
    kernel: K,
    /// The edge behind the stage.
    rest: Option<K::Out>,
    /// Downstream has asked and was not answered (not kept up for light kernels).
    asked: bool,
    full: bool,
    closed_in: bool,
    end: Option<End>,
    /// One of `rest`, `closed_in`, `end` is set: leave the fast path.
    special: bool,
    counts: Counts,
}

macro_rules! call {
    ($cell:ident, $run:ident, $room:expr, |$out:ident, $cx:ident| $call:expr) => {{
        let mut slot = None;
        let blame = Blame($run.blamed, &$cell.tag);
        let $out = &mut Out::slot(&mut slot, $room);
        let $cx = &mut Cx { run: $run, tag: &$cell.tag, counts: &mut $cell.counts };
        let sig = $call;
        std::mem::forget(blame);
        (sig, slot)
    }};
}

impl<K: Kernel, const TRACE: bool> Cell<K, TRACE> {
    const COUNTED: bool = TRACE || !K::CAPS.light;

    /// Makes the stage of a kernel.
    pub(crate) fn new(tag: Tag, kernel: K) -> Self {
        let (rest, end, counts) = (None, None, Counts::default());
        Cell { tag, kernel, rest, asked: false, full: false, closed_in: false, end, special: false, counts }
    }

    /// Says that nothing rests, has ended or is full: the short way of light chains is open.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        K::CAPS.light && !self.special
    }

    /// Pushes into a light kernel that is plain.
    #[inline(always)]
    pub(crate) fn push_light(&mut self, x: K::In, run: &mut Run) -> (Sig, Option<K::Out>) {
        call!(self, run, 1, |out, cx| self.kernel.on_push(x, out, cx))
    }

    /// Pulls a light source that is plain.
    #[inline(always)]
    pub(crate) fn pull_light(&mut self, run: &mut Run) -> (Sig, Option<K::Out>) {
        call!(self, run, 1, |out, cx| self.kernel.on_pull(out, cx))
    }

    /// Says how many elements may move into the stage, or out of a source, in one go; 0 if it must be asked one by one.
    pub(crate) fn chunk(&self) -> usize {
        if self.special || self.full { 0 } else { self.kernel.chunk() }
    }

    /// Pulls at most `n` elements out of a source; gives the cause to cancel with if it has ended.
    pub(crate) fn pull_chunk<T>(&mut self, n: usize, into: &mut Vec<T>, run: &mut Run, f: fn(K::Out) -> T) {
        for _ in 0..n {
            let (sig, slot) = call!(self, run, 1, |out, cx| self.kernel.on_pull(out, cx));
            let got = slot.is_some();
            self.counts.emitted += u64::from(got);
            into.extend(slot.map(f));
            match sig {
                Sig::Continue if got => {}
                Sig::Continue => return,
                sig => {
                    self.close(sig);
                    return;
                }
            }
        }
    }

    /// Pushes elements one after the other; if the stage ends on one, stops there and gives the cause to cancel with.
    pub(crate) fn push_chunk(
        &mut self,
        from: &mut impl Iterator<Item = K::In>,
        run: &mut Run,
        mut emit: impl FnMut(K::Out),
    ) -> Option<Cause> {
        for x in from {
            self.counts.taken += 1;
            let (sig, slot) = call!(self, run, 1, |out, cx| self.kernel.on_push(x, out, cx));
            if let Some(y) = slot {
                self.counts.emitted += 1;
                emit(y);
            }
            self.counts.high_water = self.counts.high_water.max(self.kernel.held() as u64);
            match sig {
                Sig::Continue => {}
                Sig::Full => self.full = true,
                sig => return self.close(sig),
            }
        }
        None
    }

    /// Counts elements that were on the edge behind the stage when the next one ended.
    pub(crate) fn lose_on_edge(&mut self, n: u64) {
        self.counts.lost_on_edge += n;
    }

    /// Downstream asks: for an element, or only for the end.
    #[inline(always)]
    pub(crate) fn ask(&mut self, demand: bool, run: &mut Run) -> Step<K::Out> {
        if !K::CAPS.light {
            self.asked = demand;
        }
        if self.special {
            return self.ask_special(demand, run);
        }
        if K::CAPS.pulls {
            return self.pull(demand, run);
        }
        Step::Up(K::CAPS.eager || demand)
    }

    #[cold]
    fn ask_special(&mut self, demand: bool, run: &mut Run) -> Step<K::Out> {
        if demand && self.rest.is_some() {
            self.asked = false;
            let item = self.rest.take();
            self.see();
            return Step::Down(item.map_or(Answer::Blocked, Answer::Item));
        }
        match &self.end {
            Some(_) if self.rest.is_some() => Step::Down(Answer::Blocked),
            Some(end) => Step::Down(Answer::End(Box::new(end.clone()))),
            None if self.closed_in || K::CAPS.pulls => self.pull(demand, run),
            None => Step::Up(demand || K::CAPS.eager),
        }
    }

    #[inline(always)]
    fn pull(&mut self, demand: bool, run: &mut Run) -> Step<K::Out> {
        let room = usize::from(demand && self.rest.is_none());
        let (sig, slot) = call!(self, run, room, |out, cx| self.kernel.on_pull(out, cx));
        self.settle(sig, slot, demand, run)
    }

    /// Upstream answers, after `Step::Up`; `demand` as it was asked.
    #[inline(always)]
    pub(crate) fn answer(&mut self, answer: Answer<K::In>, demand: bool, run: &mut Run) -> Step<K::Out> {
        match answer {
            Answer::Item(x) => {
                if Self::COUNTED {
                    self.counts.taken += 1;
                }
                let room = usize::from(demand && (K::CAPS.light || self.rest.is_none()));
                let (sig, slot) = call!(self, run, room, |out, cx| self.kernel.on_push(x, out, cx));
                self.settle(sig, slot, demand, run)
            }
            Answer::Blocked => Step::Down(Answer::Blocked),
            Answer::Yield => Step::Down(Answer::Yield),
            Answer::End(end) => self.answer_end(*end, demand, run),
        }
    }

    #[cold]
    fn answer_end(&mut self, end: End, demand: bool, run: &mut Run) -> Step<K::Out> {
        self.closed_in = true;
        self.special = true;
        let room = usize::from(demand && self.rest.is_none());
        let (sig, slot) = match end {
            End::Failed(e) => call!(self, run, room, |out, cx| self.kernel.on_fail(e, out, cx)),
            _ => call!(self, run, room, |out, cx| self.kernel.on_finish(out, cx)),
        };
        self.settle(sig, slot, demand, run)
    }

    /// Acts on what a call said and emitted.
    #[inline(always)]
    fn settle(&mut self, sig: Sig, slot: Option<K::Out>, demand: bool, run: &mut Run) -> Step<K::Out> {
        if Self::COUNTED && slot.is_some() {
            self.counts.emitted += 1;
        }
        match sig {
            Sig::Continue if K::CAPS.pulls => self.full = false,
            Sig::Continue => {}
            Sig::Full => self.full = true,
            sig => return self.conclude(sig, slot, run),
        }
        if Self::COUNTED {
            self.counts.high_water = self.counts.high_water.max(self.kernel.held() as u64);
        }
        if !K::CAPS.light && run.charge.any {
            self.keep(slot);
            return Step::Down(Answer::Yield);
        }
        match slot {
            Some(x) => {
                if !K::CAPS.light {
                    self.asked = false;
                }
                Step::Down(Answer::Item(x))
            }
            None if self.special && self.closed_in => Step::Down(Answer::Blocked),
            None => Step::Up(!(K::CAPS.pulls && self.full) && (K::CAPS.eager || demand)),
        }
    }

    #[cold]
    fn conclude(&mut self, sig: Sig, slot: Option<K::Out>, run: &mut Run) -> Step<K::Out> {
        let cause = self.close(sig);
        let answer = match slot {
            Some(x) if run.charge.any => {
                self.keep(Some(x));
                Answer::Yield
            }
            Some(x) => Answer::Item(x),
            None if run.charge.any => Answer::Yield,
            None if self.rest.is_some() => Answer::Blocked,
            None => self.end.clone().map_or(Answer::Blocked, |end| Answer::End(Box::new(end))),
        };
        match cause {
            Some(cause) => Step::Stop(Box::new(cause), answer),
            None => Step::Down(answer),
        }
    }

    /// Ends the stage by its kernel's word; gives the cause to cancel upstream with.
    #[cold]
    pub(crate) fn close(&mut self, sig: Sig) -> Option<Cause> {
        let (end, cause) = match sig {
            Sig::Fail(e) => (End::Failed((*e).clone()), Cause::Failure(*e)),
            Sig::Cancel(cause) => (End::Completed, *cause),
            _ => (End::Completed, Cause::StageDone),
        };
        let reason =
            if matches!(end, End::Failed(_)) { DropReason::StageFailed } else { DropReason::Cancelled };
        self.counts.dropped.add(reason, self.kernel.held() as u64);
        self.end = Some(end);
        self.special = true;
        (!std::mem::replace(&mut self.closed_in, true)).then_some(cause)
    }

    fn keep(&mut self, slot: Option<K::Out>) {
        if slot.is_some() {
            self.asked = false;
            self.rest = slot;
            self.special = true;
        }
    }

    fn see(&mut self) {
        self.special = self.rest.is_some() || self.closed_in || self.end.is_some();
    }

    /// Downstream cancels; gives the cause if upstream must be cancelled too.
    pub(crate) fn cancel(&mut self, cause: Cause, run: &mut Run) -> Option<Cause> {
        self.counts.lost_on_edge += u64::from(self.rest.take().is_some());
        if self.end.is_some() {
            return None;
        }
        let cx = &mut Cx { run, tag: &self.tag, counts: &mut self.counts };
        self.kernel.on_cancel(&cause, cx);
        self.counts.dropped.add(DropReason::Cancelled, self.kernel.held() as u64);
        self.end = Some(End::Cancelled(cause.clone()));
        self.special = true;
        (!std::mem::replace(&mut self.closed_in, true)).then_some(cause)
    }

    /// Calls `on_start`; gives the cause if upstream must be cancelled.
    pub(crate) fn start(&mut self, run: &mut Run) -> Option<Cause> {
        let cx = &mut Cx { run, tag: &self.tag, counts: &mut self.counts };
        match self.kernel.on_start(cx) {
            Sig::Continue | Sig::Full => None,
            sig => self.close(sig),
        }
    }

    /// Calls `on_wake` of a kernel that shares something with the outside.
    #[inline(always)]
    pub(crate) fn wake(&mut self, run: &mut Run) -> Option<Cause> {
        if !K::CAPS.external || self.end.is_some() {
            return None;
        }
        let (sig, slot) = call!(self, run, self.room(), |out, cx| self.kernel.on_wake(out, cx));
        self.happen(sig, slot)
    }

    /// Hands the kernel an event, if it is for this stage.
    pub(crate) fn event(&mut self, event: &Event, run: &mut Run) -> Option<Cause> {
        if self.end.is_some() {
            return None;
        }
        let id = self.tag.id;
        let (sig, slot) = match event {
            Event::Timer(t) if t.stage == id => {
                call!(self, run, self.room(), |out, cx| self.kernel.on_timer(t.key, out, cx))
            }
            Event::Done(r) if r.stage == id => {
                call!(self, run, self.room(), |out, cx| self.kernel.on_done(r.number, out, cx))
            }
            Event::Set { stage, key, value } if *stage == id => {
                self.kernel.set(key, value);
                return None;
            }
            _ => return None,
        };
        self.happen(sig, slot)
    }

    fn room(&self) -> usize {
        usize::from(self.asked && self.rest.is_none())
    }

    /// As `settle`, outside of an answer.
    fn happen(&mut self, sig: Sig, slot: Option<K::Out>) -> Option<Cause> {
        if slot.is_some() {
            self.counts.emitted += 1;
        }
        self.keep(slot);
        match sig {
            Sig::Continue => self.full = false,
            Sig::Full => self.full = true,
            sig => return self.close(sig),
        }
        self.counts.high_water = self.counts.high_water.max(self.kernel.held() as u64);
        None
    }

    /// Calls `on_park`.
    #[inline(always)]
    pub(crate) fn park(&mut self, park: Park, run: &mut Run) -> Sleep {
        if !K::CAPS.external || self.end.is_some() {
            return Sleep::Deep;
        }
        self.kernel.on_park(park, &mut Cx { run, tag: &self.tag, counts: &mut self.counts })
    }

    /// Fails the stage from outside; gives the cause if upstream must be cancelled.
    pub(crate) fn abort(&mut self, e: StreamError, run: &mut Run) -> Option<Cause> {
        if self.end.is_some() {
            return None;
        }
        let (_, _) = call!(self, run, 0, |out, cx| self.kernel.on_fail(e.clone(), out, cx));
        self.close(Sig::fail(e))
    }

    /// Completes a source from outside.
    pub(crate) fn stop(&mut self, cause: &Cause, run: &mut Run) {
        if self.end.is_none() {
            self.kernel.on_cancel(cause, &mut Cx { run, tag: &self.tag, counts: &mut self.counts });
            let _ = self.close(Sig::Done);
        }
    }

    /// Says how the stage ended, if it did.
    pub(crate) fn ended(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Says whether the stage waits for demand.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Gives the counters as they are now.
    pub(crate) fn counts(&self) -> Counts {
        if !Self::COUNTED {
            return Counts::default();
        }
        let held = if self.end.is_some() { 0 } else { self.kernel.held() as u64 };
        Counts { held, resting: u64::from(self.rest.is_some()), ..self.counts }
    }

    /// Gives the stage's name and number.
    pub(crate) fn tag(&self) -> &Tag {
        &self.tag
    }
}
