//! Pan and zoom: how a place of the document becomes a place on the screen.

/// Least and greatest zoom.
pub const ZOOM: (f64, f64) = (0.1, 4.0);

/// The grid that nodes snap to, in document pixels.
pub const GRID: i32 = 20;

/// A point in either space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

/// Makes a point.
pub const fn pt(x: f64, y: f64) -> Point {
    Point { x, y }
}

impl Point {
    /// The distance to another point.
    pub fn distance(self, other: Point) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }
}

/// An axis-parallel rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// A rectangle around a centre.
    pub fn around(centre: Point, w: f64, h: f64) -> Rect {
        Rect { x: centre.x - w / 2.0, y: centre.y - h / 2.0, w, h }
    }

    /// Tells whether the point lies in it.
    pub fn contains(&self, p: Point) -> bool {
        p.x >= self.x && p.x <= self.x + self.w && p.y >= self.y && p.y <= self.y + self.h
    }

    /// The smallest rectangle that holds both.
    #[must_use]
    pub fn union(&self, other: &Rect) -> Rect {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.w).max(other.x + other.w);
        let bottom = (self.y + self.h).max(other.y + other.h);
        Rect { x, y, w: right - x, h: bottom - y }
    }

    /// The rectangle grown by a margin on each side.
    #[must_use]
    pub fn grown(&self, by: f64) -> Rect {
        Rect { x: self.x - by, y: self.y - by, w: self.w + 2.0 * by, h: self.h + 2.0 * by }
    }

    /// Tells whether the two share a point.
    pub fn meets(&self, other: &Rect) -> bool {
        self.x <= other.x + other.w
            && other.x <= self.x + self.w
            && self.y <= other.y + other.h
            && other.y <= self.y + self.h
    }

    /// Its centre.
    pub fn centre(&self) -> Point {
        pt(self.x + self.w / 2.0, self.y + self.h / 2.0)
    }
}

/// What part of the document is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Where the document's origin is on the screen.
    pub origin: Point,
    /// Screen pixels per document pixel.
    pub zoom: f64,
}

impl Default for Viewport {
    fn default() -> Self {
        Viewport { origin: pt(0.0, 0.0), zoom: 1.0 }
    }
}

impl Viewport {
    /// From the document to the screen.
    pub fn to_screen(&self, p: Point) -> Point {
        pt(p.x * self.zoom + self.origin.x, p.y * self.zoom + self.origin.y)
    }

    /// From the screen to the document.
    pub fn to_world(&self, p: Point) -> Point {
        pt((p.x - self.origin.x) / self.zoom, (p.y - self.origin.y) / self.zoom)
    }

    /// Moves what is seen.
    pub fn pan(&mut self, dx: f64, dy: f64) {
        self.origin.x += dx;
        self.origin.y += dy;
    }

    /// Zooms, keeping what lies under `at` where it is.
    pub fn zoom_at(&mut self, at: Point, factor: f64) {
        let under = self.to_world(at);
        self.zoom = (self.zoom * factor).clamp(ZOOM.0, ZOOM.1);
        self.origin = pt(at.x - under.x * self.zoom, at.y - under.y * self.zoom);
    }

    /// Shows the whole rectangle in the middle of a screen, never larger than 1.2:1.
    pub fn fit(bounds: Rect, screen_w: f64, screen_h: f64) -> Viewport {
        let margin = 36.0;
        let (w, h) = (bounds.w.max(1.0), bounds.h.max(1.0));
        let zoom = ((screen_w - 2.0 * margin) / w).min((screen_h - 2.0 * margin) / h).clamp(ZOOM.0, 1.2);
        let c = bounds.centre();
        Viewport { origin: pt(screen_w / 2.0 - c.x * zoom, screen_h / 2.0 - c.y * zoom), zoom }
    }
}

/// Snaps a coordinate to the grid.
pub fn snap(v: f64) -> i32 {
    // Positions of documents are bounded, so the rounding fits; `as` saturates otherwise.
    ((v / f64::from(GRID)).round() as i32).saturating_mul(GRID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_keeps_what_is_under_the_pointer() {
        let mut view = Viewport { origin: pt(13.0, -7.0), zoom: 0.7 };
        let at = pt(200.0, 90.0);
        let under = view.to_world(at);
        view.zoom_at(at, 1.7);
        let back = view.to_screen(under);
        assert!(back.distance(at) < 1e-9);
        view.zoom_at(at, 1e9);
        assert_eq!(view.zoom, ZOOM.1);
    }

    #[test]
    fn fit_shows_all_four_corners() {
        let bounds = Rect { x: -300.0, y: 40.0, w: 2_000.0, h: 100.0 };
        let view = Viewport::fit(bounds, 800.0, 600.0);
        for corner in [pt(-300.0, 40.0), pt(1_700.0, 140.0)] {
            let p = view.to_screen(corner);
            assert!(p.x >= 0.0 && p.x <= 800.0 && p.y >= 0.0 && p.y <= 600.0, "{p:?}");
        }
    }

    #[test]
    fn snapping_goes_to_the_nearest_line() {
        assert_eq!((snap(29.0), snap(31.0), snap(-11.0)), (20, 40, -20));
    }
}
