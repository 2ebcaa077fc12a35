//! The middle canvas: dots that fly along the edges, each standing for one message or for 10^k of them.
//!
//! Dots come from differences of exact totals, so their number is right; their spacing is the rate; their flight is drawn,
//! not modelled. I1 both regimes are never on one canvas: a change of regime takes all dots away.

use super::pen::Pen;
use super::{Scene, edges};
use crate::engine::telemetry::delta;
use crate::model::live::{Live, WALL_SPAN_S};
use crate::model::regime::{Chooser, EDGE_DOTS_MAX, FLIGHT_S, Regime};

/// Dots fly at so many document pixels per second.
const PIXELS_PER_S: f64 = 260.0;

#[derive(Clone, Copy, Debug)]
struct Dot {
    edge: usize,
    starts_ms: f64,
}

/// All dots in flight.
#[derive(Debug, Default)]
pub struct Dots {
    flying: Vec<Dot>,
    carry: Vec<f64>,
    passed: Vec<u32>,
    run: u32,
    replayed: bool,
    chooser: Chooser,
    clock_ms: f64,
    seen_ms: f64,
}

impl Dots {
    /// The regime in force.
    pub fn regime(&self) -> Regime {
        self.chooser.regime()
    }

    /// Takes new totals at a wall time and lets the messages since the last ones fly off, evenly spread.
    pub fn feed(&mut self, live: &Live, now_ms: f64) {
        let passed: Vec<u32> = live.edges.iter().filter_map(|e| live.edge(&e.id)).map(|r| r.passed).collect();
        let run = live.head.map_or(0, |h| h.run);
        let went_back = run == self.run
            && passed.iter().zip(&self.passed).any(|(now, before)| delta(*now, *before) > u32::MAX / 2);
        if run != self.run || passed.len() != self.passed.len() || went_back {
            *self = Dots { clock_ms: self.clock_ms, run, carry: vec![0.0; passed.len()], ..Dots::default() };
            // A run begins with totals of 0, so that its first messages are seen too.
            self.passed = vec![0; passed.len()];
        }
        // A replay is no traffic: its totals are taken as they are.
        let replays = live.is_replaying();
        if went_back || replays || self.replayed {
            self.passed.clone_from(&passed);
        }
        self.replayed = replays;
        let before = self.chooser.regime();
        // What came at once counts even where the rates do not know it yet, so that no regime is promised that it breaks.
        let mut rates = live.wall_rates();
        rates.resize(passed.len(), 0.0);
        for ((rate, now), before) in rates.iter_mut().zip(&passed).zip(&self.passed) {
            *rate = rate.max(f64::from(delta(*now, *before)) / WALL_SPAN_S);
        }
        let regime = self.chooser.observe(&rates, now_ms);
        if regime != before {
            self.flying.clear();
            self.carry.iter_mut().for_each(|c| *c = 0.0);
        }
        let span_ms = (now_ms - self.seen_ms).clamp(16.0, 250.0);
        self.seen_ms = now_ms;
        for (edge, now) in passed.iter().enumerate() {
            self.carry[edge] += f64::from(delta(*now, self.passed[edge])) / regime.per_dot();
            self.launch(edge, span_ms);
        }
        self.passed = passed;
    }

    fn launch(&mut self, edge: usize, span_ms: f64) {
        let n = self.carry[edge].floor();
        let n = match self.regime() {
            // Every message is shown, and the regime bounds how many they are.
            Regime::Each => n,
            // More than an edge can show wait for the next frame, or for a larger scale.
            Regime::Aggregate { .. } => n.min(EDGE_DOTS_MAX * 2.0),
        };
        self.carry[edge] -= n;
        for i in 0..n as u32 {
            let starts_ms = self.clock_ms + span_ms * f64::from(i) / n;
            self.flying.push(Dot { edge, starts_ms });
        }
    }

    /// Lets the dots fly on for a while.
    pub fn advance(&mut self, by_ms: f64) {
        self.clock_ms += by_ms.clamp(0.0, 100.0);
        let oldest = self.clock_ms - FLIGHT_S * 1_000.0;
        self.flying.retain(|d| d.starts_ms >= oldest);
    }

    /// Tells whether nothing flies.
    pub fn is_empty(&self) -> bool {
        self.flying.is_empty()
    }

    /// Paints the canvas.
    pub fn paint(&self, pen: &Pen<'_>, scene: &Scene<'_>) {
        let curves = edges::curves(scene);
        let flights: Vec<f64> = curves
            .iter()
            .map(|c| c.map_or(1.0, |c| (c.length() / PIXELS_PER_S).clamp(0.25, FLIGHT_S) * 1_000.0))
            .collect();
        let radius = if self.regime() == Regime::Each { 4.5 } else { 3.6 };
        pen.ctx.begin_path();
        for dot in &self.flying {
            let (Some(Some(curve)), Some(flight)) = (curves.get(dot.edge), flights.get(dot.edge)) else {
                continue;
            };
            let t = (self.clock_ms - dot.starts_ms) / flight;
            if (0.0..=1.0).contains(&t) {
                let p = curve.at(t);
                pen.ctx.move_to(p.x + radius, p.y);
                let _ = pen.ctx.arc(p.x, p.y, radius, 0.0, std::f64::consts::TAU);
            }
        }
        pen.ctx.set_fill_style_str(scene.theme.dot);
        pen.ctx.set_stroke_style_str(scene.theme.dot_rim);
        // Rims first, so that dots which overlap are one shape and not a tangle of rims.
        pen.ctx.set_line_width(2.4);
        pen.ctx.stroke();
        pen.ctx.fill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::{EdgeKind, EdgeMeta};
    use crate::engine::telemetry::{EdgeRow, Frame, PLAYING, frame_words, write};

    fn live_with(live: &mut Live, passed: u32, wall_ms: f64) {
        let mut words = vec![0; frame_words(0, 1)];
        let turns = u64::from(passed);
        let head = Frame { run: 1, turns, time_ns: turns, flags: PLAYING, ..Frame::default() };
        assert!(write(&head, &[], &[EdgeRow { passed, ..EdgeRow::default() }], &mut words));
        assert!(live.take(&words, wall_ms));
    }

    fn live() -> Live {
        let mut live = Live::default();
        let text = |s: &str| s.to_owned();
        let (id, from, to) = (text("e"), text("a"), text("b"));
        live.load(vec![], vec![EdgeMeta { id, from, to, kind: EdgeKind::Wire, capacity: None }]);
        live
    }

    #[test]
    fn where_each_message_is_promised_each_one_flies() {
        let (mut live, mut dots) = (live(), Dots::default());
        live_with(&mut live, 0, 0.0);
        dots.feed(&live, 0.0);
        live_with(&mut live, 30, 50.0);
        dots.feed(&live, 50.0);
        assert_eq!((dots.regime(), dots.flying.len()), (Regime::Each, 30));
    }

    #[test]
    fn a_burst_is_not_thinned_under_that_promise() {
        let (mut live, mut dots) = (live(), Dots::default());
        live_with(&mut live, 100_000, 0.0);
        dots.feed(&live, 0.0);
        assert_ne!(dots.regime(), Regime::Each, "the first frame has one sample and no rate");
        assert!(dots.flying.len() <= 24);
    }
}
