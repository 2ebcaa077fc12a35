//! The rows of a telemetry frame, from what a run counts.
//!
//! Work is charged when it begins, so a share of the last interval is not a difference of two totals: what was charged and
//! has not passed yet is kept back as a *debt* and spent as time goes by. So a node with a 400 ms task shows as busy for
//! 400 ms. I1 busy, backpressured and blocked never add up to more than the interval.

use footlights::observe::ActorState;
use footlights::scenario::{NodeSnapshot, NodeState as Seen, Run};
use footlights::time::Instant;

use super::telemetry::{EdgeRow, NO_AGE, NodeRow, NodeState};

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
    shares: [u16; 3],
}

impl Rows {
    /// Makes the rows of all nodes and edges at a virtual time.
    pub fn take(&mut self, run: &Run, now: Instant) -> (Vec<NodeRow>, Vec<EdgeRow>) {
        let passed = now.as_nanos().saturating_sub(self.at);
        self.at = now.as_nanos();
        self.nodes.resize(run.nodes().len(), Charged::default());
        let nodes =
            (0..run.nodes().len()).filter_map(|i| run.look(i).map(|seen| self.node(i, &seen, passed, now)));
        let nodes = nodes.collect();
        (nodes, (0..run.edges().len()).map(|i| edge(run, i)).collect())
    }

    fn node(&mut self, index: usize, seen: &NodeSnapshot, passed: u64, now: Instant) -> NodeRow {
        let waits = seen.state == Seen::Actor(ActorState::AwaitingRoom);
        let [busy, backpressured, blocked] = self.nodes[index].spend(seen, passed, waits);
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
}

impl Charged {
    fn spend(&mut self, seen: &NodeSnapshot, passed: u64, waits: bool) -> [u16; 3] {
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
        let waited = if waits { passed - busy - blocked } else { 0 };
        let share = |part: u64| (u128::from(part) * 1_000 / u128::from(passed)) as u16;
        self.shares = [share(busy), share(waited), share(blocked)];
        self.shares
    }
}

fn edge(run: &Run, index: usize) -> EdgeRow {
    let seen = run.look_at_edge(index);
    EdgeRow {
        passed: seen.passed as u32,
        in_flight: narrow(seen.in_flight),
        blocked_permille: if seen.is_blocked { 1_000 } else { 0 },
        port_state: seen.end,
        dropped: seen.dropped as u32,
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
