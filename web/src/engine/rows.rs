//! The rows of a telemetry frame, from what a run counts.
//!
//! Work is charged when it begins, so a share of the last interval is not a difference of two totals: what was charged and
//! has not passed yet is kept back as a *debt* and spent as time goes by. So a node with a 400 ms task shows as busy for
//! 400 ms. I1 busy, backpressured and blocked never add up to more than the interval.
//! I2 an island of a stream writes no events, so how long it waited is not known and not guessed from what it does now.

use footlights::observe::{ActorState, Event, EventKind};
use footlights::scenario::meta::NodeMeta;
use footlights::scenario::{EdgeEnd, EdgeSnapshot, NodeSnapshot, NodeState as Seen, Run};
use footlights::time::Instant;

use super::telemetry::{EdgeRow, NO_AGE, NO_SHARE, NodeRow, NodeState};

/// Makes rows; remembers what it needs from frame to frame.
#[derive(Debug, Default)]
pub struct Rows {
    at: u64,
    nodes: Vec<Charged>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Charged {
    busy_ns: u64,
    blocked_ns: u64,
    busy_debt_ns: u64,
    blocked_debt_ns: u64,
    /// Since when it waits for room.
    waits_since: Option<u64>,
    /// Waited since the last frame and over.
    waited_ns: u64,
    shares: [u16; 3],
}

impl Rows {
    /// Notes an event that begins or ends a wait for room.
    pub fn note(&mut self, run: &Run, event: &Event) {
        let begins = matches!(event.kind, EventKind::AwaitingRoom { .. });
        let ends = matches!(
            event.kind,
            EventKind::RoomFound { .. } | EventKind::RestartBegan | EventKind::Stopped { .. }
        );
        if !(begins || ends) {
            return;
        }
        let Some(node) = run.node_of(event.actor) else { return };
        self.nodes.resize(run.nodes().len(), Charged::default());
        let (charged, at) = (&mut self.nodes[node], event.at.as_nanos());
        if let Some(since) = charged.waits_since.take() {
            charged.waited_ns += at.saturating_sub(since.max(self.at));
        }
        charged.waits_since = begins.then_some(at);
    }

    /// Makes the rows of all nodes and edges at a virtual time.
    pub fn take(&mut self, run: &Run, now: Instant) -> (Vec<NodeRow>, Vec<EdgeRow>) {
        let interval = Interval { from: self.at, to: now.as_nanos() };
        self.at = interval.to;
        self.nodes.resize(run.nodes().len(), Charged::default());
        let view = run.view();
        let rows = run.nodes().iter().zip(&mut self.nodes).enumerate();
        let row = |(i, (meta, charged)): (usize, (&NodeMeta, &mut Charged))| {
            let seen = view.node(i)?;
            let waited = charged.waited(interval);
            let mut shares = charged.spend(&seen, waited, interval);
            if meta.island.is_some() {
                shares[1] = NO_SHARE;
            }
            Some(node(&seen, shares, now))
        };
        let nodes = rows.map(|r| row(r).unwrap_or_default()).collect();
        (nodes, (0..run.edges().len()).map(|i| edge(view.edge(i))).collect())
    }
}

/// The virtual time between two frames.
#[derive(Clone, Copy)]
struct Interval {
    from: u64,
    to: u64,
}

fn node(seen: &NodeSnapshot, [busy, backpressured, blocked]: [u16; 3], now: Instant) -> NodeRow {
    NodeRow {
        handled: seen.handled as u32,
        queued: narrow(seen.queued),
        stashed: narrow(seen.stashed),
        oldest_age_us: seen.oldest.map_or(NO_AGE, |at| age_us(now, at)),
        busy_permille: busy,
        backpressured_permille: backpressured,
        blocked_permille: blocked,
        restarts: seen.restarts as u32,
        lost: seen.lost as u32,
        state: state(seen.state),
    }
}

impl Charged {
    /// Says how long the node has waited for room.
    fn waited(&mut self, interval: Interval) -> u64 {
        let still = self.waits_since.map_or(0, |at| interval.to.saturating_sub(at.max(interval.from)));
        std::mem::take(&mut self.waited_ns) + still
    }

    fn spend(&mut self, seen: &NodeSnapshot, waited: u64, interval: Interval) -> [u16; 3] {
        let passed = interval.to.saturating_sub(interval.from);
        self.busy_debt_ns += seen.busy_ns.saturating_sub(self.busy_ns);
        self.blocked_debt_ns += seen.blocked_ns.saturating_sub(self.blocked_ns);
        (self.busy_ns, self.blocked_ns) = (seen.busy_ns, seen.blocked_ns);
        if passed == 0 {
            return self.shares;
        }
        let busy = self.busy_debt_ns.min(passed);
        let blocked = self.blocked_debt_ns.min(passed - busy);
        self.busy_debt_ns -= busy;
        self.blocked_debt_ns -= blocked;
        let waited = waited.min(passed - busy - blocked);
        let share = |part: u64| (u128::from(part) * 1_000 / u128::from(passed)) as u16;
        self.shares = [share(busy), share(waited), share(blocked)];
        self.shares
    }
}

fn edge(seen: EdgeSnapshot) -> EdgeRow {
    EdgeRow {
        passed: seen.passed as u32,
        in_flight: narrow(seen.in_flight),
        blocked_permille: if seen.is_blocked { 1_000 } else { 0 },
        port_state: match seen.end {
            EdgeEnd::Open => 0,
            EdgeEnd::Completed => 1,
            EdgeEnd::Failed => 2,
        },
        dropped: seen.dropped.map(narrow),
    }
}

fn narrow(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn age_us(now: Instant, at: Instant) -> u32 {
    u32::try_from((now - at).as_micros()).map_or(NO_AGE - 1, |us| us.min(NO_AGE - 1))
}

/// Narrows the life of an actor to what a card shows.
pub fn state(state: Seen) -> NodeState {
    match state {
        Seen::Completed => NodeState::Completed,
        Seen::Failed => NodeState::Failed,
        Seen::Actor(actor) => match actor {
            ActorState::Starting => NodeState::Starting,
            ActorState::Running => NodeState::Running,
            ActorState::Suspended => NodeState::Suspended,
            ActorState::Restarting | ActorState::Backoff => NodeState::Restarting,
            ActorState::AwaitingRoom => NodeState::AwaitingRoom,
            ActorState::Stopping | ActorState::Stopped => NodeState::Stopped,
        },
    }
}
