//! The layout of a telemetry frame: one buffer of u32, struct of arrays, written by the engine and read by the page.
//!
//! ```text
//! 0..32    magic, layout, run, frame, N, E, flags, speed ‰, time lo/hi, turns lo/hi, hash lo/hi, 7 ledger terms lo/hi,
//!          lost ×2, spare ×2
//! 8 × N    handled | queued | stashed | oldest age µs | busy, backpressured, blocked ‰ | restarts | lost | state + flags
//! 4 × E    passed | in flight | blocked ‰ + port state | dropped
//! ```
//! I1 counters are totals and wrap at 2^32; a reader subtracts with [`delta`], so a skipped frame costs smoothness only.
//! I2 a reader takes nothing that is not whole: [`Reader::new`] checks magic, layout and length before any access.
//! I3 [`NO_AGE`] says "there is none" and [`NO_SHARE`] "not counted", never 0. It knows no DOM: buffers are slices.

/// The first word of every frame: "FLTE".
pub const MAGIC: u32 = 0x464c_5445;
/// The version of this layout.
pub const LAYOUT: u32 = 1;
/// Words before the node columns.
pub const HEAD: usize = 32;
/// Columns of a node.
pub const NODE_COLUMNS: usize = 8;
/// Columns of an edge.
pub const EDGE_COLUMNS: usize = 4;
/// Stands for "no message is queued" in [`NodeRow::oldest_age_us`].
pub const NO_AGE: u32 = u32::MAX;
/// Stands for "not counted" in [`NodeRow::backpressured_permille`].
pub const NO_SHARE: u16 = 0x3ff;
/// Stands for "not counted" in the column of [`EdgeRow::dropped`].
pub const NO_COUNT: u32 = u32::MAX;
/// Set in [`Frame::flags`] while the clock runs.
pub const PLAYING: u32 = 1;
/// Set in [`Frame::flags`] when nothing can happen any more.
pub const FINISHED: u32 = 2;
/// Set in [`Frame::flags`] while the ledger adds up.
pub const BALANCED: u32 = 4;

/// Set in [`Frame::flags`] while a run is taken to a turn by replay: totals may have fallen.
pub const REPLAYING: u32 = 8;

/// The terms of the ledger in the order of the frame.
pub const LEDGER_TERMS: [&str; 7] =
    ["sent", "handled", "queued", "stashed", "failed", "dead_lettered", "dropped"];

/// The head of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Which run, as in `Loaded`.
    pub run: u32,
    /// Counted from 1.
    pub frame: u32,
    /// [`PLAYING`], [`FINISHED`], [`BALANCED`].
    pub flags: u32,
    /// Virtual time per wall time as measured, in thousandths.
    pub speed_permille: u32,
    /// Virtual time.
    pub time_ns: u64,
    /// Turns executed.
    pub turns: u64,
    /// Hash of the event log.
    pub hash: u64,
    /// See [`LEDGER_TERMS`].
    pub ledger: [u64; 7],
    /// Telemetry lost: rare events, frames.
    pub lost: [u32; 2],
}

/// What a node is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum NodeState {
    /// Its first instance is being made.
    #[default]
    Starting = 0,
    /// It handles what comes.
    Running = 1,
    /// It failed, or something above it did, and a decision is due.
    Suspended = 2,
    /// Its old instance is stopping, or its restart waits.
    Restarting = 3,
    /// It waits for room elsewhere.
    AwaitingRoom = 4,
    /// It has ended, or is about to.
    Stopped = 5,
    /// Its stream completed.
    Completed = 6,
    /// Its stream failed.
    Failed = 7,
}

impl NodeState {
    /// Gives the state with this code; an unknown one reads as stopped.
    pub fn from_code(code: u8) -> Self {
        use NodeState::*;
        let all = [Starting, Running, Suspended, Restarting, AwaitingRoom, Stopped, Completed, Failed];
        all.get(usize::from(code)).copied().unwrap_or(Stopped)
    }

    /// Gives the word that details and `window.footlights` use.
    pub fn name(self) -> &'static str {
        match self {
            NodeState::Starting => "starting",
            NodeState::Running => "running",
            NodeState::Suspended => "suspended",
            NodeState::Restarting => "restarting",
            NodeState::AwaitingRoom => "awaiting_room",
            NodeState::Stopped => "stopped",
            NodeState::Completed => "completed",
            NodeState::Failed => "failed",
        }
    }
}

/// The row of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeRow {
    /// Messages or elements handled.
    pub handled: u32,
    /// Messages or elements waiting.
    pub queued: u32,
    /// Messages stashed.
    pub stashed: u32,
    /// Age of the oldest waiting message; [`NO_AGE`] if none waits.
    pub oldest_age_us: u32,
    /// Share of the last interval spent working, in thousandths.
    pub busy_permille: u16,
    /// Share of the last interval spent waiting for room; [`NO_SHARE`] if that is not counted, as in a stream.
    pub backpressured_permille: u16,
    /// Share of the last interval spent in blocking calls.
    pub blocked_permille: u16,
    /// Restarts.
    pub restarts: u32,
    /// Messages or elements failed, dropped or dead-lettered here.
    pub lost: u32,
    /// What it is doing.
    pub state: NodeState,
}

impl NodeRow {
    /// The share spent waiting for room, in thousandths; `None` if it is not counted.
    pub fn backpressured(&self) -> Option<u16> {
        (self.backpressured_permille != NO_SHARE).then_some(self.backpressured_permille)
    }
}

/// The row of an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeRow {
    /// Messages or elements that passed.
    pub passed: u32,
    /// Those that have left and not arrived: elements in the boundary's ring.
    pub in_flight: u32,
    /// Share of the last interval in which the far end took nothing, in thousandths.
    pub blocked_permille: u16,
    /// 0 open, 1 completed, 2 failed, 3 cancelled.
    pub port_state: u8,
    /// Elements lost on the way; `None` where messages go, whose fates are counted at their mailboxes.
    pub dropped: Option<u32>,
}

/// Gives the length of a frame in words.
pub fn frame_words(nodes: usize, edges: usize) -> usize {
    HEAD + NODE_COLUMNS * nodes + EDGE_COLUMNS * edges
}

/// Writes a frame; gives false, and writes nothing, where `out` is not exactly [`frame_words`] long.
pub fn write(head: &Frame, nodes: &[NodeRow], edges: &[EdgeRow], out: &mut [u32]) -> bool {
    if out.len() != frame_words(nodes.len(), edges.len()) {
        return false;
    }
    write_head(head, nodes.len(), edges.len(), out);
    let (node_part, edge_part) = out[HEAD..].split_at_mut(NODE_COLUMNS * nodes.len());
    for (i, row) in nodes.iter().enumerate() {
        for (column, word) in node_words(row).into_iter().enumerate() {
            node_part[column * nodes.len() + i] = word;
        }
    }
    for (i, row) in edges.iter().enumerate() {
        let blocked = u32::from(row.blocked_permille) | u32::from(row.port_state) << 16;
        for (column, word) in
            [row.passed, row.in_flight, blocked, row.dropped.unwrap_or(NO_COUNT)].into_iter().enumerate()
        {
            edge_part[column * edges.len() + i] = word;
        }
    }
    true
}

fn write_head(head: &Frame, nodes: usize, edges: usize, out: &mut [u32]) {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    out[..8].copy_from_slice(&[
        MAGIC,
        LAYOUT,
        head.run,
        head.frame,
        count(nodes),
        count(edges),
        head.flags,
        head.speed_permille,
    ]);
    let wide = [head.time_ns, head.turns, head.hash].into_iter().chain(head.ledger);
    for (i, value) in wide.enumerate() {
        out[8 + 2 * i] = value as u32;
        out[9 + 2 * i] = (value >> 32) as u32;
    }
    out[28..32].copy_from_slice(&[head.lost[0], head.lost[1], 0, 0]);
}

fn node_words(row: &NodeRow) -> [u32; NODE_COLUMNS] {
    let part = |permille: u16| u32::from(if permille == NO_SHARE { NO_SHARE } else { permille.min(1_000) });
    let shares =
        part(row.busy_permille) | part(row.backpressured_permille) << 10 | part(row.blocked_permille) << 20;
    let (age, state) = (row.oldest_age_us, u32::from(row.state as u8));
    [row.handled, row.queued, row.stashed, age, shares, row.restarts, row.lost, state]
}

/// A frame that was checked and can be read in any order.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    words: &'a [u32],
    nodes: usize,
    edges: usize,
}

impl<'a> Reader<'a> {
    /// Checks a buffer; `None` if it is no whole frame of this layout.
    pub fn new(words: &'a [u32]) -> Option<Self> {
        if words.len() < HEAD || words[0] != MAGIC || words[1] != LAYOUT {
            return None;
        }
        let (nodes, edges) = (words[4] as usize, words[5] as usize);
        let is_whole =
            nodes <= words.len() && edges <= words.len() && words.len() == frame_words(nodes, edges);
        is_whole.then_some(Reader { words, nodes, edges })
    }

    /// Reads the head.
    pub fn head(&self) -> Frame {
        let w = self.words;
        let wide = |i: usize| u64::from(w[i]) | u64::from(w[i + 1]) << 32;
        Frame {
            run: w[2],
            frame: w[3],
            flags: w[6],
            speed_permille: w[7],
            time_ns: wide(8),
            turns: wide(10),
            hash: wide(12),
            ledger: std::array::from_fn(|i| wide(14 + 2 * i)),
            lost: [w[28], w[29]],
        }
    }

    /// Counts the node rows.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Counts the edge rows.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// Reads the row of a node; `None` beyond the last.
    pub fn node(&self, index: usize) -> Option<NodeRow> {
        let word = |column: usize| self.words[HEAD + column * self.nodes + index];
        (index < self.nodes).then(|| {
            let share = |shift: u32| (word(4) >> shift & 0x3ff) as u16;
            NodeRow {
                handled: word(0),
                queued: word(1),
                stashed: word(2),
                oldest_age_us: word(3),
                busy_permille: share(0),
                backpressured_permille: share(10),
                blocked_permille: share(20),
                restarts: word(5),
                lost: word(6),
                state: NodeState::from_code(word(7) as u8),
            }
        })
    }

    /// Reads the row of an edge; `None` beyond the last.
    pub fn edge(&self, index: usize) -> Option<EdgeRow> {
        let first = HEAD + NODE_COLUMNS * self.nodes;
        let word = |column: usize| self.words[first + column * self.edges + index];
        (index < self.edges).then(|| EdgeRow {
            passed: word(0),
            in_flight: word(1),
            blocked_permille: word(2) as u16,
            port_state: (word(2) >> 16) as u8,
            dropped: Some(word(3)).filter(|n| *n != NO_COUNT),
        })
    }
}

/// Gives how far a wrapping total has moved since an earlier frame.
pub fn delta(now: u32, before: u32) -> u32 {
    now.wrapping_sub(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Frame, Vec<NodeRow>, Vec<EdgeRow>) {
        let head = Frame {
            run: 3,
            frame: 9,
            flags: PLAYING | BALANCED,
            speed_permille: 1_000,
            time_ns: u64::MAX - 1,
            turns: 1 << 40,
            hash: 0x9f3c_0000_0000_00a1,
            ledger: [u64::MAX, 2, 3, 4, 5, 6, 7],
            lost: [1, 2],
        };
        let node = |i: u32| NodeRow {
            handled: u32::MAX - i,
            queued: i,
            stashed: 2 * i,
            oldest_age_us: NO_AGE,
            busy_permille: 1_000,
            backpressured_permille: if i == 3 { NO_SHARE } else { 7 },
            blocked_permille: 333,
            restarts: i,
            lost: 5,
            state: NodeState::from_code(i as u8),
        };
        let edge = |i: u32| EdgeRow {
            passed: i,
            in_flight: 16,
            blocked_permille: 999,
            port_state: 2,
            dropped: (i > 0).then_some(7 * i),
        };
        (head, (0..8).map(node).collect(), (0..5).map(edge).collect())
    }

    #[test]
    fn what_was_written_is_read() {
        let (head, nodes, edges) = sample();
        let mut words = vec![0; frame_words(nodes.len(), edges.len())];
        assert!(write(&head, &nodes, &edges, &mut words));
        let reader = Reader::new(&words).expect("a whole frame");
        assert_eq!(reader.head(), head);
        assert_eq!((0..reader.nodes()).filter_map(|i| reader.node(i)).collect::<Vec<_>>(), nodes);
        assert_eq!((0..reader.edges()).filter_map(|i| reader.edge(i)).collect::<Vec<_>>(), edges);
        assert!(reader.node(8).is_none() && reader.edge(5).is_none());
    }

    #[test]
    fn a_frame_that_is_not_whole_is_not_read() {
        let (head, nodes, edges) = sample();
        let mut words = vec![0; frame_words(nodes.len(), edges.len())];
        assert!(!write(&head, &nodes, &edges, &mut words[1..]));
        assert!(write(&head, &nodes, &edges, &mut words));
        (0..words.len()).for_each(|cut| assert!(Reader::new(&words[..cut]).is_none(), "cut at {cut}"));
        for (at, bad) in [(0, 0), (1, LAYOUT + 1), (4, u32::MAX), (5, u32::MAX)] {
            let mut broken = words.clone();
            broken[at] = bad;
            assert!(Reader::new(&broken).is_none(), "word {at}");
        }
    }

    #[test]
    fn wrapped_totals_subtract() {
        assert_eq!(delta(3, u32::MAX - 1), 5);
    }

    #[test]
    fn the_frame_of_a_large_graph_has_the_size_that_the_budget_names() {
        assert_eq!(4 * frame_words(1_000, 5_000), 112_128);
    }
}
