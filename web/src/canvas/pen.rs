//! The few strokes that all pictures are made of, on top of the browser's 2D context.

use web_sys::CanvasRenderingContext2d;

use crate::model::geometry::Curve;
use crate::model::viewport::{Point, Rect, Viewport};

/// The font of the canvas.
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif";

/// Weight of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// As running text.
    Normal,
    /// As a name.
    Bold,
}

/// Where a text stands, relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// It begins there.
    Left,
    /// Its middle is there.
    Middle,
    /// It ends there.
    Right,
}

/// A context with a memory for the cheap strokes.
pub struct Pen<'a> {
    /// The browser's context.
    pub ctx: &'a CanvasRenderingContext2d,
}

impl Pen<'_> {
    /// Clears the canvas and sets the scale so that strokes are in document pixels.
    pub fn begin(&self, view: Viewport, width: f64, height: f64, ratio: f64) {
        let _ = self.ctx.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
        self.ctx.clear_rect(0.0, 0.0, width * ratio, height * ratio);
        let scale = view.zoom * ratio;
        let _ = self.ctx.set_transform(scale, 0.0, 0.0, scale, view.origin.x * ratio, view.origin.y * ratio);
    }

    /// Fills a rectangle with round corners.
    pub fn round_fill(&self, r: Rect, radius: f64, colour: &str) {
        self.ctx.set_fill_style_str(colour);
        self.round_path(r, radius);
        self.ctx.fill();
    }

    /// Strokes a rectangle with round corners.
    pub fn round_stroke(&self, r: Rect, radius: f64, colour: &str, width: f64) {
        self.ctx.set_stroke_style_str(colour);
        self.ctx.set_line_width(width);
        self.round_path(r, radius);
        self.ctx.stroke();
    }

    fn round_path(&self, r: Rect, radius: f64) {
        self.ctx.begin_path();
        let _ = self.ctx.round_rect_with_f64(r.x, r.y, r.w.max(0.0), r.h.max(0.0), radius);
    }

    /// Fills a rectangle.
    pub fn fill(&self, r: Rect, colour: &str) {
        self.ctx.set_fill_style_str(colour);
        self.ctx.fill_rect(r.x, r.y, r.w.max(0.0), r.h.max(0.0));
    }

    /// Draws slanted lines over a rectangle: the second sign of a colour.
    pub fn hatch(&self, r: Rect, colour: &str) {
        self.ctx.save();
        self.ctx.begin_path();
        self.ctx.rect(r.x, r.y, r.w.max(0.0), r.h);
        self.ctx.clip();
        self.ctx.set_stroke_style_str(colour);
        self.ctx.set_line_width(1.4);
        self.ctx.begin_path();
        let mut x = r.x - r.h;
        while x < r.x + r.w {
            self.ctx.move_to(x, r.y + r.h);
            self.ctx.line_to(x + r.h, r.y);
            x += 4.5;
        }
        self.ctx.stroke();
        self.ctx.restore();
    }

    /// Fills a circle and, if wanted, its rim.
    pub fn circle(&self, at: Point, radius: f64, fill: &str, rim: &str, rim_width: f64) {
        self.ctx.begin_path();
        let _ = self.ctx.arc(at.x, at.y, radius, 0.0, std::f64::consts::TAU);
        self.ctx.set_fill_style_str(fill);
        self.ctx.fill();
        self.ctx.set_stroke_style_str(rim);
        self.ctx.set_line_width(rim_width);
        self.ctx.stroke();
    }

    /// Fills a square on its tip.
    pub fn diamond(&self, at: Point, radius: f64, fill: &str, rim: &str, rim_width: f64) {
        self.ctx.begin_path();
        self.ctx.move_to(at.x, at.y - radius);
        self.ctx.line_to(at.x + radius, at.y);
        self.ctx.line_to(at.x, at.y + radius);
        self.ctx.line_to(at.x - radius, at.y);
        self.ctx.close_path();
        self.ctx.set_fill_style_str(fill);
        self.ctx.fill();
        self.ctx.set_stroke_style_str(rim);
        self.ctx.set_line_width(rim_width);
        self.ctx.stroke();
    }

    /// Strokes a curve.
    pub fn curve(&self, curve: &Curve, colour: &str, width: f64) {
        let [a, b, c, d] = curve.points;
        self.ctx.set_stroke_style_str(colour);
        self.ctx.set_line_width(width);
        self.ctx.begin_path();
        self.ctx.move_to(a.x, a.y);
        self.ctx.bezier_curve_to(b.x, b.y, c.x, c.y, d.x, d.y);
        self.ctx.stroke();
    }

    /// Draws the head of an arrow at the end of a curve.
    pub fn arrow(&self, curve: &Curve, colour: &str, size: f64) {
        let tip = curve.points[3];
        let back = curve.at(0.97);
        let angle = (tip.y - back.y).atan2(tip.x - back.x);
        let wing = |turn: f64| {
            let a = angle + std::f64::consts::PI + turn;
            (tip.x + size * a.cos(), tip.y + size * a.sin())
        };
        let ((ax, ay), (bx, by)) = (wing(0.42), wing(-0.42));
        self.ctx.set_fill_style_str(colour);
        self.ctx.begin_path();
        self.ctx.move_to(tip.x, tip.y);
        self.ctx.line_to(ax, ay);
        self.ctx.line_to(bx, by);
        self.ctx.close_path();
        self.ctx.fill();
    }

    /// Switches dashes on or off.
    pub fn dashes(&self, on: f64, off: f64) {
        let pattern =
            if on > 0.0 { js_sys::Array::of2(&on.into(), &off.into()) } else { js_sys::Array::new() };
        let _ = self.ctx.set_line_dash(&pattern);
    }

    /// Sets the font.
    pub fn font(&self, px: f64, weight: Weight) {
        let bold = if weight == Weight::Bold { "600 " } else { "" };
        self.ctx.set_font(&format!("{bold}{px}px {FONT}"));
    }

    /// Writes a text in the font that was set.
    pub fn text(&self, text: &str, at: Point, align: Align, colour: &str) {
        self.ctx.set_text_align(match align {
            Align::Left => "left",
            Align::Middle => "center",
            Align::Right => "right",
        });
        self.ctx.set_text_baseline("alphabetic");
        self.ctx.set_fill_style_str(colour);
        let _ = self.ctx.fill_text(text, at.x, at.y);
    }

    /// How wide a text is in the font that was set.
    pub fn width(&self, text: &str) -> f64 {
        self.ctx.measure_text(text).map_or(0.0, |m| m.width())
    }

    /// Cuts a text so that it fits, with an ellipsis.
    pub fn fitted(&self, text: &str, width: f64) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let mut cut: Vec<char> = text.chars().take(80).collect();
        while cut.pop().is_some() {
            let short: String = cut.iter().collect::<String>() + "…";
            if self.width(&short) <= width {
                return short;
            }
        }
        String::new()
    }
}
