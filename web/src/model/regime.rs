//! The two honest regimes of moving dots, and the one scale of the whole canvas.
//!
//! *Each*: no visible edge passes more than [`EACH_RATE_MAX`] messages per second of wall time; one dot is one message.
//! *Aggregate*: one dot is 10^k messages, one k for the whole canvas, so that at most [`DOTS_MAX`] dots are in flight and
//! at most [`EDGE_DOTS_MAX`] on an edge. I1 the two are never mixed; I2 the scale changes only after [`HOLD_MS`] beyond the
//! bounds, so that it does not flicker.

/// Messages per second of wall time that an edge may pass for each one to be drawn.
pub const EACH_RATE_MAX: f64 = 15.0;
/// Dots on the whole canvas at most.
pub const DOTS_MAX: f64 = 1_500.0;
/// Dots on one edge at most.
pub const EDGE_DOTS_MAX: f64 = 12.0;
/// How long a dot flies over an edge of usual length, in seconds.
pub const FLIGHT_S: f64 = 0.9;
/// How long rates must be out of bounds before the regime changes.
pub const HOLD_MS: f64 = 2_000.0;

/// How dots stand for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Regime {
    /// One dot is one message.
    #[default]
    Each,
    /// One dot is 10^k messages.
    Aggregate {
        /// The power of ten.
        k: u32,
    },
}

impl Regime {
    /// Messages that one dot stands for.
    pub fn per_dot(self) -> f64 {
        match self {
            Regime::Each => 1.0,
            Regime::Aggregate { k } => 10_f64.powi(k.cast_signed()),
        }
    }

    /// The name in `window.footlights`.
    pub fn name(self) -> &'static str {
        match self {
            Regime::Each => "each",
            Regime::Aggregate { .. } => "aggregate",
        }
    }
}

/// Chooses the regime over time.
#[derive(Clone, Debug, Default)]
pub struct Chooser {
    regime: Regime,
    wanted_since_ms: Option<f64>,
}

impl Chooser {
    /// The regime in force.
    pub fn regime(&self) -> Regime {
        self.regime
    }

    /// Takes the rates of all visible edges, in messages per second of wall time, at a wall time.
    pub fn observe(&mut self, rates: &[f64], now_ms: f64) -> Regime {
        let wanted = wanted(rates);
        if wanted == self.regime || self.still_tolerable(rates) {
            self.wanted_since_ms = None;
            return self.regime;
        }
        let since = *self.wanted_since_ms.get_or_insert(now_ms);
        if now_ms - since >= HOLD_MS || self.much_too_many(rates) {
            self.regime = wanted;
            self.wanted_since_ms = None;
        }
        self.regime
    }

    /// Within ±30 % of the bounds nothing changes.
    fn still_tolerable(&self, rates: &[f64]) -> bool {
        let busiest = rates.iter().copied().fold(0.0, f64::max);
        match self.regime {
            Regime::Each => busiest <= EACH_RATE_MAX,
            Regime::Aggregate { .. } => {
                fits(rates, self.regime.per_dot() / 1.3)
                    && !fits(rates, self.regime.per_dot() / 13.0)
                    && busiest > EACH_RATE_MAX * 0.7
            }
        }
    }

    /// A burst that would flood the canvas does not wait: a false "each message" is worse than a jump.
    fn much_too_many(&self, rates: &[f64]) -> bool {
        match self.regime {
            Regime::Each => rates.iter().any(|r| *r > EACH_RATE_MAX),
            Regime::Aggregate { .. } => !fits(rates, self.regime.per_dot() * 10.0),
        }
    }
}

fn wanted(rates: &[f64]) -> Regime {
    if rates.iter().all(|r| *r <= EACH_RATE_MAX) {
        return Regime::Each;
    }
    let k = (0..18).find(|k| fits(rates, 10_f64.powi(*k))).unwrap_or(18);
    Regime::Aggregate { k: k.cast_unsigned() }
}

fn fits(rates: &[f64], per_dot: f64) -> bool {
    let dots = |rate: f64| rate * FLIGHT_S / per_dot;
    rates.iter().all(|r| dots(*r) <= EDGE_DOTS_MAX) && rates.iter().map(|r| dots(*r)).sum::<f64>() <= DOTS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_edges_show_each_message() {
        assert_eq!(Chooser::default().observe(&[0.0, 15.0], 0.0), Regime::Each);
    }

    #[test]
    fn each_message_is_left_at_once_and_taken_up_after_two_seconds() {
        let mut chooser = Chooser::default();
        assert_eq!(chooser.observe(&[16.0], 0.0), Regime::Aggregate { k: 1 }, "16 × 0.9 s > 12 dots");
        assert_eq!(chooser.observe(&[5.0], 100.0), Regime::Aggregate { k: 1 });
        assert_eq!(chooser.observe(&[5.0], 2_000.0), Regime::Aggregate { k: 1 });
        assert_eq!(chooser.observe(&[5.0], 2_101.0), Regime::Each);
    }

    #[test]
    fn one_scale_keeps_every_edge_and_the_canvas_below_their_bounds() {
        for rate in [1e2, 1e3, 12_345.0, 1e6, 3e9] {
            let rates = vec![rate; 400];
            let regime = Chooser::default().observe(&rates, 0.0);
            assert!(fits(&rates, regime.per_dot()), "{rate}: {regime:?}");
        }
    }

    #[test]
    fn a_small_change_does_not_move_the_scale() {
        let mut chooser = Chooser::default();
        let first = chooser.observe(&[1_000.0], 0.0);
        for i in 0..100 {
            assert_eq!(chooser.observe(&[1_000.0 + f64::from(i % 7) * 40.0], f64::from(i) * 100.0), first);
        }
    }
}
