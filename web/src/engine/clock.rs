//! How wall time becomes virtual time: the speed that was asked for, and the one that was reached.
//!
//! It only decides how far a run is let go, never what happens in it. I1 the debt of a device that cannot keep up is
//! forgotten after `DEBT_MS_MAX`, so that it does not race later. It reads no clock: the pump passes the time in.

use super::protocol::Speed;

/// Wall time that a run may lag behind before the lag is forgotten.
const DEBT_MS_MAX: f64 = 100.0;
/// Wall time over which the reached speed is measured.
const WINDOW_MS: f64 = 500.0;

/// Maps wall time to virtual time while a run plays.
#[derive(Clone, Debug)]
pub struct Clock {
    speed: Speed,
    /// Wall milliseconds and virtual nanoseconds that belong together.
    anchor: Option<(f64, u64)>,
    window: Option<(f64, u64)>,
    reached_permille: u32,
}

impl Clock {
    /// Makes a stopped clock.
    pub fn new() -> Self {
        Clock { speed: Speed::Permille(1_000), anchor: None, window: None, reached_permille: 0 }
    }

    /// Sets the speed; the mapping starts anew at the next [`Clock::target`].
    pub fn start(&mut self, speed: Speed) {
        self.speed = speed;
        self.stop();
    }

    /// Stops the mapping.
    pub fn stop(&mut self) {
        self.anchor = None;
        self.window = None;
        self.reached_permille = 0;
    }

    /// Gives the virtual time that the run may reach by now; `u64::MAX` at full speed.
    pub fn target(&mut self, wall_ms: f64, virtual_ns: u64) -> u64 {
        self.measure(wall_ms, virtual_ns);
        let Speed::Permille(permille) = self.speed else { return u64::MAX };
        let (wall, start) = *self.anchor.get_or_insert((wall_ms, virtual_ns));
        start.saturating_add(((wall_ms - wall).max(0.0) * f64::from(permille) * 1e3) as u64)
    }

    /// Notes how far the run came; forgets a debt that is too large.
    pub fn reached(&mut self, wall_ms: f64, virtual_ns: u64) {
        let lag_ns = self.target(wall_ms, virtual_ns).saturating_sub(virtual_ns);
        if let Speed::Permille(permille) = self.speed
            && lag_ns as f64 > DEBT_MS_MAX * f64::from(permille) * 1e3
        {
            self.anchor = Some((wall_ms, virtual_ns));
        }
    }

    /// Gives the wall time until virtual time `ns` is due; 0 at full speed.
    pub fn wait_ms(&self, wall_ms: f64, ns: u64) -> f64 {
        match (self.speed, self.anchor) {
            (Speed::Permille(permille), Some((wall, start))) => {
                let from_anchor = ns.saturating_sub(start) as f64 / (f64::from(permille.max(1)) * 1e3);
                (wall + from_anchor - wall_ms).max(0.0)
            }
            _ => 0.0,
        }
    }

    /// Gives virtual time per wall time as measured lately, in thousandths; 0 while stopped.
    pub fn reached_permille(&self) -> u32 {
        self.reached_permille
    }

    fn measure(&mut self, wall_ms: f64, virtual_ns: u64) {
        let (wall, start) = *self.window.get_or_insert((wall_ms, virtual_ns));
        let passed = wall_ms - wall;
        if passed >= WINDOW_MS {
            self.reached_permille = (virtual_ns.saturating_sub(start) as f64 / passed / 1e3) as u32;
            self.window = Some((wall_ms, virtual_ns));
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Clock::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_follows_the_wall_by_the_speed() {
        let mut clock = Clock::new();
        clock.start(Speed::Permille(2_000));
        assert_eq!(clock.target(10.0, 500), 500);
        assert_eq!(clock.target(11.0, 500), 2_000_500);
        assert_eq!(clock.wait_ms(11.0, 4_000_500), 1.0);
        clock.start(Speed::Max);
        assert_eq!(clock.target(11.0, 500), u64::MAX);
    }

    #[test]
    fn a_slow_device_does_not_race_later() {
        let mut clock = Clock::new();
        clock.start(Speed::Permille(1_000));
        clock.target(0.0, 0);
        clock.reached(1_000.0, 10_000_000);
        assert_eq!(clock.target(1_000.0, 10_000_000), 10_000_000);
        assert_eq!(clock.target(1_001.0, 10_000_000), 11_000_000);
    }

    #[test]
    fn the_reached_speed_is_measured() {
        let mut clock = Clock::new();
        clock.start(Speed::Permille(10_000));
        clock.target(0.0, 0);
        clock.target(1_000.0, 3_100_000_000);
        assert_eq!(clock.reached_permille(), 3_100);
    }
}
