//! The fused edges of one graph island: each holds at most one element, and says who must move next.
//!
//! ```text
//!   from ──put──▶ [ slot ] ──take──▶ to
//!        ◀──ask── demand
//!        ──end──▶  behind the element        ◀──cancel── at once, with its cause
//! ```
//!
//! I1 an edge holds one element at most; `put` without demand is a fault of a stage.
//! I2 every change queues the node on the other side, once: nobody is looked at without a reason.
//! I3 an end is seen only when the slot is empty; after a cancel the edge takes nothing and shows nothing.
//! It does not know what a node does.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::rng::Rng;
use crate::stream::counts::{EdgeSnapshot, EdgeState};
use crate::stream::shared::EdgeView;
use crate::stream::signal::{Cause, End};
use crate::sync::Mutex;

/// The number of an edge in its stream while it is built, and in its island while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeId(pub(crate) usize);

/// In which order the nodes of an island are looked at.
#[derive(Clone, Debug, Default)]
pub(crate) enum Order {
    /// Whoever was queued first.
    #[default]
    Fifo,
    /// Any of those queued, by chance: for tests.
    Fuzzed(Rng),
}

/// One edge, without its element's type.
pub(crate) struct Edge {
    /// Holds an `Option<T>`.
    slot: Box<dyn Any + Send>,
    clear: fn(&mut (dyn Any + Send)) -> bool,
    pub(crate) from: usize,
    pub(crate) to: usize,
    full: bool,
    asked: bool,
    end: Option<End>,
    cancel: Option<Cause>,
    /// The node above has acted on the cancel.
    cancel_seen: bool,
    pushed: u64,
    taken: u64,
    lost: u64,
    /// It has changed since it was last shown.
    dirty: bool,
    view: Arc<FusedView>,
}

fn clear<T: Send + 'static>(slot: &mut (dyn Any + Send)) -> bool {
    slot.downcast_mut::<Option<T>>().is_some_and(|slot| slot.take().is_some())
}

impl Edge {
    /// Makes an edge for elements of type `T` to the node `to`.
    pub(crate) fn new<T: Send + 'static>(to: usize) -> Self {
        Edge {
            slot: Box::new(None::<T>),
            clear: clear::<T>,
            from: usize::MAX,
            to,
            full: false,
            asked: false,
            end: None,
            cancel: None,
            cancel_seen: false,
            pushed: 0,
            taken: 0,
            lost: 0,
            dirty: false,
            view: Arc::default(),
        }
    }

    /// The same edge between nodes of an island.
    pub(crate) fn between(self, from: usize, to: usize) -> Self {
        Edge { from, to, ..self }
    }

    /// Names it and gives what can be seen of it from outside.
    pub(crate) fn view(&mut self, name: Arc<str>) -> Arc<FusedView> {
        self.view =
            Arc::new(FusedView(Mutex::new(EdgeSnapshot { name, capacity: 1, ..EdgeSnapshot::default() })));
        self.view.clone()
    }

    fn slot<T: Send + 'static>(&mut self) -> &mut Option<T> {
        // The builder makes an edge of the type of its inlet and wires outlets of that type only.
        self.slot.downcast_mut().expect("an edge is used with the type that it was made for")
    }

    fn state(&self) -> EdgeState {
        match (&self.cancel, &self.end) {
            (Some(_), _) => EdgeState::Cancelled,
            (None, Some(End::Failed(_))) => EdgeState::Failed,
            (None, Some(_)) => EdgeState::Completed,
            (None, None) if self.full => EdgeState::Holding,
            (None, None) if self.asked => EdgeState::Pulling,
            _ => EdgeState::NoDemand,
        }
    }
}

/// A fused edge, as it was at the end of its island's last run.
#[derive(Default)]
pub(crate) struct FusedView(Mutex<EdgeSnapshot>);

impl EdgeView for FusedView {
    fn view(&self) -> EdgeSnapshot {
        self.0.lock().clone()
    }
}

/// The edges of one island, and the nodes that have something to do.
#[derive(Default)]
pub(crate) struct Edges {
    all: Vec<Edge>,
    ready: VecDeque<usize>,
    queued: Vec<bool>,
    /// Those that have changed since they were last shown.
    dirty: Vec<usize>,
    order: Order,
}

/// What stands on an edge.
pub(crate) enum Arrival<T> {
    Item(T),
    End(End),
    Nothing,
}

impl Edges {
    /// Takes the edges of an island with so many nodes.
    pub(crate) fn new(all: Vec<Edge>, nodes: usize) -> Self {
        Edges {
            all,
            ready: VecDeque::new(),
            queued: vec![false; nodes],
            dirty: Vec::new(),
            order: Order::Fifo,
        }
    }

    /// Says in which order nodes are looked at.
    pub(crate) fn set_order(&mut self, order: Order) {
        self.order = order;
    }

    /// Notes that an edge is to be shown anew, and gives it.
    #[inline]
    fn change(&mut self, edge: EdgeId) -> &mut Edge {
        let e = &mut self.all[edge.0];
        if !std::mem::replace(&mut e.dirty, true) {
            self.dirty.push(edge.0);
        }
        e
    }

    /// Queues a node, if it is not queued.
    pub(crate) fn queue(&mut self, node: usize) {
        if let Some(queued) = self.queued.get_mut(node)
            && !std::mem::replace(queued, true)
        {
            self.ready.push_back(node);
        }
    }

    /// Takes the next node that has something to do.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let node = match &mut self.order {
            Order::Fifo => self.ready.pop_front(),
            Order::Fuzzed(rng) => {
                let n = self.ready.len() as u64;
                let at = if n < 2 { 0 } else { rng.below(n) as usize };
                self.ready.swap_remove_back(at)
            }
        }?;
        self.queued[node] = false;
        Some(node)
    }

    /// Takes what stands on an edge; with `want`, asks for an element if there is none.
    #[inline]
    pub(crate) fn arrival<T: Send + 'static>(&mut self, edge: EdgeId, want: bool) -> Arrival<T> {
        let e = &mut self.all[edge.0];
        if e.full {
            if !want {
                return Arrival::Nothing;
            }
            let e = self.change(edge);
            (e.full, e.asked) = (false, false);
            e.taken += 1;
            return e.slot::<T>().take().map_or(Arrival::Nothing, Arrival::Item);
        }
        if e.cancel.is_some() {
            return Arrival::Nothing;
        }
        if let Some(end) = &e.end {
            return Arrival::End(end.clone());
        }
        if want {
            self.ask(edge);
        }
        Arrival::Nothing
    }

    /// Asks for an element.
    #[inline]
    pub(crate) fn ask(&mut self, edge: EdgeId) {
        let e = &self.all[edge.0];
        if !e.full && e.end.is_none() && e.cancel.is_none() && !e.asked {
            let e = self.change(edge);
            e.asked = true;
            let from = e.from;
            self.queue(from);
        }
    }

    /// Says whether an element stands on the edge.
    pub(crate) fn holds(&self, edge: EdgeId) -> bool {
        self.all[edge.0].full
    }

    /// Shows the element that stands on the edge.
    pub(crate) fn peek<T: Send + 'static>(&self, edge: EdgeId) -> Option<&T> {
        self.all[edge.0].slot.downcast_ref::<Option<T>>()?.as_ref()
    }

    /// Says how the edge ended, once nothing stands on it.
    pub(crate) fn ended(&self, edge: EdgeId) -> Option<&End> {
        let e = &self.all[edge.0];
        if e.full { None } else { e.end.as_ref() }
    }

    /// Says whether the edge can still bring something: an element, or a failure, which is no completion.
    pub(crate) fn is_open(&self, edge: EdgeId) -> bool {
        let e = &self.all[edge.0];
        e.cancel.is_none() && (e.full || !matches!(e.end, Some(End::Completed | End::Cancelled(_))))
    }

    /// Says whether an element is wanted and has its place.
    #[inline]
    pub(crate) fn demand(&self, edge: EdgeId) -> bool {
        let e = &self.all[edge.0];
        e.asked && !e.full && e.cancel.is_none() && e.end.is_none()
    }

    /// Puts an element on an edge that has demand.
    #[inline]
    pub(crate) fn put<T: Send + 'static>(&mut self, edge: EdgeId, x: T) {
        let e = self.change(edge);
        e.pushed += 1;
        if e.cancel.is_some() {
            e.lost += 1;
            return;
        }
        debug_assert!(e.asked && !e.full, "put without demand");
        e.full = true;
        *e.slot::<T>() = Some(x);
        let to = e.to;
        self.queue(to);
    }

    /// Ends an edge from above, behind what stands on it.
    pub(crate) fn end(&mut self, edge: EdgeId, end: End) {
        let e = self.change(edge);
        if e.end.is_none() {
            e.end = Some(end);
            let to = e.to;
            self.queue(to);
        }
    }

    /// Cancels an edge from below; what stands on it is lost and counted.
    pub(crate) fn cancel(&mut self, edge: EdgeId, cause: Cause) {
        let e = self.change(edge);
        if e.cancel.is_some() {
            return;
        }
        if std::mem::take(&mut e.full) && (e.clear)(&mut *e.slot) {
            e.lost += 1;
        }
        e.asked = false;
        e.cancel = Some(cause);
        let from = e.from;
        self.queue(from);
    }

    /// Says how an edge was cancelled.
    pub(crate) fn cancelled(&self, edge: EdgeId) -> Option<&Cause> {
        self.all[edge.0].cancel.as_ref()
    }

    /// As `cancelled`, but only the first time, and only if the edge had not ended before.
    pub(crate) fn new_cancel(&mut self, edge: EdgeId) -> Option<Cause> {
        let e = &mut self.all[edge.0];
        if e.cancel.is_none() || std::mem::replace(&mut e.cancel_seen, true) || e.end.is_some() {
            return None;
        }
        e.cancel.clone()
    }

    /// Shows those that have changed.
    pub(crate) fn report(&mut self) {
        for at in self.dirty.drain(..) {
            let e = &mut self.all[at];
            e.dirty = false;
            let mut seen = e.view.0.lock();
            (seen.pushed, seen.taken, seen.dropped) = (e.pushed, e.taken, e.lost);
            (seen.state, seen.fill) = (e.state(), u64::from(e.full));
            seen.high_water = seen.high_water.max(u64::from(e.pushed > 0));
        }
    }
}
