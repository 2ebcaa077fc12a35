//! What the engine counts, as last told: rows, rates over the last second or so, rare events, the watched node.
//!
//! It changes up to twenty times a second and is therefore no part of `State`; canvas and panels look when they draw.
//! I1 rates are differences of totals, so a skipped frame makes no wrong number; I2 no data is `None`, never 0.

use std::collections::{BTreeMap, VecDeque};

use crate::engine::protocol::{EdgeKind, EdgeMeta, NodeDetail, NodeMeta, RareEvent, RareKind};
use crate::engine::telemetry::{EdgeRow, Frame, NodeRow, PLAYING, REPLAYING, Reader, delta};

/// Frames that rates look back on: about 2 s of wall time.
const WINDOW: usize = 40;
/// A burst is spread over so much wall time before it counts as a rate.
pub const WALL_SPAN_S: f64 = 2.0;
/// Rare events that are kept.
pub const EVENTS_MAX: usize = 500;
/// Points of a sparkline, one a second.
pub const SPARK_POINTS: usize = 60;

#[derive(Clone, Debug, Default)]
struct Sample {
    wall_ms: f64,
    time_ns: u64,
    turns: u64,
    handled: Vec<u32>,
    passed: Vec<u32>,
}

/// Counters and events of the run on screen.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Nodes in the order of the rows.
    pub nodes: Vec<NodeMeta>,
    /// Edges in the order of the rows.
    pub edges: Vec<EdgeMeta>,
    /// The latest head; `None` before the first frame of a run.
    pub head: Option<Frame>,
    /// Rare events, newest first.
    pub events: VecDeque<RareEvent>,
    /// Rare events that were not sent.
    pub events_lost: u64,
    /// The watched node.
    pub detail: Option<NodeDetail>,
    /// Wall time of each node's latest restart or failure.
    pub pulses: BTreeMap<String, (RareKind, f64)>,
    /// Failures by node, counted from the rare events.
    pub failures: BTreeMap<String, u64>,
    node_rows: Vec<NodeRow>,
    edge_rows: Vec<EdgeRow>,
    node_index: BTreeMap<String, usize>,
    edge_index: BTreeMap<String, usize>,
    window: VecDeque<Sample>,
    sparks: Vec<VecDeque<f32>>,
    spark_at_ms: f64,
    spark_handled: Vec<u32>,
    spark_time_ns: u64,
    frames: u64,
}

impl Live {
    /// Forgets everything: another run begins.
    pub fn clear(&mut self) {
        *self = Live { frames: self.frames, ..Live::default() };
    }

    /// Takes the nodes and edges of a new run.
    pub fn load(&mut self, nodes: Vec<NodeMeta>, edges: Vec<EdgeMeta>) {
        self.clear();
        self.node_index = nodes.iter().enumerate().map(|(i, n)| (n.id.clone(), i)).collect();
        self.edge_index = edges.iter().enumerate().map(|(i, e)| (e.id.clone(), i)).collect();
        self.sparks = vec![VecDeque::new(); nodes.len()];
        self.nodes = nodes;
        self.edges = edges;
    }

    /// Takes a frame; one of another run or shape is not for us.
    pub fn take(&mut self, words: &[u32], wall_ms: f64) -> bool {
        let Some(reader) = Reader::new(words) else { return false };
        if reader.nodes() != self.nodes.len() || reader.edges() != self.edges.len() {
            return false;
        }
        let head = reader.head();
        if self.head.is_some_and(|h| h.run != head.run || h.turns > head.turns) {
            self.window.clear();
        }
        self.node_rows = (0..reader.nodes()).filter_map(|i| reader.node(i)).collect();
        self.edge_rows = (0..reader.edges()).filter_map(|i| reader.edge(i)).collect();
        self.head = Some(head);
        self.frames += 1;
        self.remember(head, wall_ms);
        self.draw_sparks(head, wall_ms);
        true
    }

    /// A frame in which nothing happened, neither turns nor time, moves no rate.
    fn remember(&mut self, head: Frame, wall_ms: f64) {
        if self.window.back().is_some_and(|s| (s.turns, s.time_ns) == (head.turns, head.time_ns)) {
            return;
        }
        self.window.push_back(Sample {
            wall_ms,
            time_ns: head.time_ns,
            turns: head.turns,
            handled: self.node_rows.iter().map(|r| r.handled).collect(),
            passed: self.edge_rows.iter().map(|r| r.passed).collect(),
        });
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
    }

    fn draw_sparks(&mut self, head: Frame, wall_ms: f64) {
        if wall_ms - self.spark_at_ms < 1_000.0 {
            return;
        }
        let span_s = head.time_ns.saturating_sub(self.spark_time_ns) as f64 / 1e9;
        for (i, row) in self.node_rows.iter().enumerate() {
            let before = self.spark_handled.get(i).copied();
            if let Some(before) = before.filter(|_| span_s > 0.0) {
                let line = &mut self.sparks[i];
                line.push_back((f64::from(delta(row.handled, before)) / span_s) as f32);
                if line.len() > SPARK_POINTS {
                    line.pop_front();
                }
            }
        }
        self.spark_handled = self.node_rows.iter().map(|r| r.handled).collect();
        (self.spark_at_ms, self.spark_time_ns) = (wall_ms, head.time_ns);
    }

    /// Takes rare events.
    pub fn rare(&mut self, events: Vec<RareEvent>, lost: u32, wall_ms: f64) {
        self.events_lost += u64::from(lost);
        for event in events {
            match event.kind {
                RareKind::Restarted => drop(self.pulses.insert(event.node.clone(), (event.kind, wall_ms))),
                RareKind::Failed => {
                    *self.failures.entry(event.node.clone()).or_default() += 1;
                    self.pulses.insert(event.node.clone(), (event.kind, wall_ms));
                }
                _ => {}
            }
            self.events.push_front(event);
        }
        self.events.truncate(EVENTS_MAX);
    }

    /// Frames taken so far, over all runs.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Turns executed.
    pub fn turns(&self) -> u64 {
        self.head.map_or(0, |h| h.turns)
    }

    /// Whether the clock runs.
    pub fn is_playing(&self) -> bool {
        self.head.is_some_and(|h| h.flags & PLAYING != 0)
    }

    /// Whether the run is being taken to a turn by replay.
    pub fn is_replaying(&self) -> bool {
        self.head.is_some_and(|h| h.flags & REPLAYING != 0)
    }

    /// The row of a node, if it is in the run.
    pub fn node(&self, id: &str) -> Option<&NodeRow> {
        self.node_rows.get(*self.node_index.get(id)?)
    }

    /// What the engine said of a node.
    pub fn node_meta(&self, id: &str) -> Option<&NodeMeta> {
        self.nodes.get(*self.node_index.get(id)?)
    }

    /// The row of an edge, if it is in the run.
    pub fn edge(&self, id: &str) -> Option<&EdgeRow> {
        self.edge_rows.get(*self.edge_index.get(id)?)
    }

    /// What the engine said of an edge.
    pub fn edge_meta(&self, id: &str) -> Option<&EdgeMeta> {
        self.edges.get(*self.edge_index.get(id)?)
    }

    /// Edges that the engine made: replies without a wire.
    pub fn implicit_edges(&self) -> impl Iterator<Item = &EdgeMeta> {
        self.edges.iter().filter(|e| e.kind == EdgeKind::Reply)
    }

    fn span(&self) -> Option<(&Sample, &Sample)> {
        let (first, last) = (self.window.front()?, self.window.back()?);
        (last.time_ns > first.time_ns).then_some((first, last))
    }

    /// Messages that a node handles per second of virtual time.
    pub fn node_rate(&self, id: &str) -> Option<f64> {
        let i = *self.node_index.get(id)?;
        let (first, last) = self.span()?;
        let handled = delta(*last.handled.get(i)?, *first.handled.get(i)?);
        Some(f64::from(handled) / (last.time_ns - first.time_ns) as f64 * 1e9)
    }

    /// Messages that an edge passes per second of virtual time.
    pub fn edge_rate(&self, id: &str) -> Option<f64> {
        let i = *self.edge_index.get(id)?;
        let (first, last) = self.span()?;
        let passed = delta(*last.passed.get(i)?, *first.passed.get(i)?);
        Some(f64::from(passed) / (last.time_ns - first.time_ns) as f64 * 1e9)
    }

    /// Messages that each edge passes per second of wall time, in the order of the rows: those of the last 2 s.
    pub fn wall_rates(&self) -> Vec<f64> {
        let (Some(first), Some(last)) = (self.window.front(), self.window.back()) else { return Vec::new() };
        // A pause lies between two samples: what passed before it is not of now, what passed since is not stretched over it.
        let begin = last.wall_ms - WALL_SPAN_S * 1_000.0;
        let first = self.window.iter().rev().find(|s| s.wall_ms <= begin).unwrap_or(first);
        last.passed
            .iter()
            .zip(&first.passed)
            .map(|(now, before)| f64::from(delta(*now, *before)) / WALL_SPAN_S)
            .collect()
    }

    /// Messages handled per second of virtual time, over all nodes.
    pub fn total_rate(&self) -> Option<f64> {
        let (first, last) = self.span()?;
        let handled: f64 = last
            .handled
            .iter()
            .zip(&first.handled)
            .map(|(now, before)| f64::from(delta(*now, *before)))
            .sum();
        Some(handled / (last.time_ns - first.time_ns) as f64 * 1e9)
    }

    /// Turns per second of wall time.
    pub fn turn_rate(&self) -> Option<f64> {
        let (first, last) = (self.window.front()?, self.window.back()?);
        let span_ms = last.wall_ms - first.wall_ms;
        (span_ms > 0.0).then(|| last.turns.saturating_sub(first.turns) as f64 / span_ms * 1_000.0)
    }

    /// A node's rate over the last minute of wall time, one point a second.
    pub fn spark(&self, id: &str) -> Vec<f32> {
        let line = self.node_index.get(id).and_then(|i| self.sparks.get(*i));
        line.map_or(Vec::new(), |l| l.iter().copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::telemetry::{frame_words, write};

    fn meta(id: &str) -> NodeMeta {
        NodeMeta {
            id: id.into(),
            kind: "worker".into(),
            label: id.into(),
            parent: None,
            capacity: None,
            island: None,
        }
    }

    fn frame(time_ns: u64, handled: u32) -> Vec<u32> {
        let mut words = vec![0; frame_words(1, 0)];
        let head = Frame { run: 1, time_ns, turns: u64::from(handled), ..Frame::default() };
        let row = NodeRow { handled, ..NodeRow::default() };
        assert!(write(&head, &[row], &[], &mut words));
        words
    }

    #[test]
    fn a_rate_is_a_difference_even_over_a_wrap() {
        let mut live = Live::default();
        live.load(vec![meta("w")], Vec::new());
        assert_eq!(live.node_rate("w"), None, "no data is none");
        assert!(live.take(&frame(0, u32::MAX - 9), 0.0));
        live.head = None;
        assert!(live.take(&frame(2_000_000_000, 10), 50.0));
        assert_eq!(live.node_rate("w"), Some(10.0));
        assert_eq!(live.node_rate("x"), None);
    }

    #[test]
    fn a_standing_clock_moves_no_rate() {
        let mut live = Live::default();
        live.load(vec![meta("w")], Vec::new());
        live.take(&frame(0, 0), 0.0);
        live.take(&frame(1_000_000_000, 100), 50.0);
        live.take(&frame(2_000_000_000, 110), 100.0);
        let before = (live.node_rate("w"), live.total_rate(), live.turn_rate());
        assert_eq!(before.0, Some(55.0));
        for i in 0..100 {
            live.take(&frame(2_000_000_000, 110), 150.0 + 50.0 * f64::from(i));
        }
        assert_eq!((live.node_rate("w"), live.total_rate(), live.turn_rate()), before);
    }

    #[test]
    fn a_frame_of_another_graph_is_refused() {
        let mut live = Live::default();
        assert!(!live.take(&frame(0, 0), 0.0));
        assert!(!live.take(&[], 0.0));
    }
}
