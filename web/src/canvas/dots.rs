//! The middle canvas: dots that fly along the edges, each standing for one message or for 10^k of them.
//!
//! Dots come from differences of exact totals, so their number is right; their spacing is the rate; their flight is drawn,
//! not modelled. I1 both regimes are never on one canvas: a change of regime takes all dots away.

use super::pen::Pen;
use super::{Scene, edges};
use crate::engine::telemetry::delta;
use crate::model::live::Live;
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
        let went_back =
            passed.iter().zip(&self.passed).any(|(now, before)| delta(*now, *before) > u32::MAX / 2);
        if run != self.run || passed.len() != self.passed.len() || went_back {
            *self = Dots { clock_ms: self.clock_ms, run, carry: vec![0.0; passed.len()], ..Dots::default() };
            // A run begins with totals of 0, so that its first messages are seen too.
            self.passed = vec![0; passed.len()];
        }
        let before = self.chooser.regime();
        let regime = self.chooser.observe(&live.wall_rates(), now_ms);
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
        self.carry[edge] -= n;
        let n = n.min(EDGE_DOTS_MAX * 2.0);
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
