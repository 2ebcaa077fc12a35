//! When what is painted: sizes, frames, and the scene handed to the painters.

use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement};
use yew::prelude::*;

use super::super::Part;
use super::pointer::{Drag, marquee};
use super::{Msg, Stage};
use crate::canvas::pen::Pen;
use crate::canvas::theme::{DARK, LIGHT};
use crate::canvas::{Scene, edges, nodes};
use crate::model::live::Live;
use crate::model::viewport::{Point, Rect, Viewport, pt};

/// Edges are painted anew so often while counters change.
const EDGES_MS: f64 = 250.0;

impl Stage {
    pub(super) fn frame(&mut self, ctx: &Context<Self>, part: &Part, now_ms: f64) {
        self.measure(ctx);
        if self.size.0 < 1.0 {
            return;
        }
        self.fit_if_asked(ctx);
        let by_ms = now_ms - self.last_ms;
        self.last_ms = now_ms;
        let live = part.live.borrow();
        let fresh = live.frames() != self.frames_seen;
        if fresh {
            self.frames_seen = live.frames();
            self.dots.feed(&live, now_ms);
        }
        if part.state.run.playing || now_ms < self.drift_until_ms {
            self.dots.advance(by_ms);
        }
        self.repaint(ctx, part, &live, fresh);
    }

    fn repaint(&mut self, ctx: &Context<Self>, part: &Part, live: &Live, fresh: bool) {
        let scene = self.scene(part, live);
        let edges_due = self.dirty || (fresh && self.last_ms - self.edges_ms >= EDGES_MS);
        let nodes_due = self.dirty || fresh || nodes::is_pulsing(&scene);
        if edges_due {
            self.on_canvas(0, |pen| edges::paint(pen, &scene));
        }
        if !scene.calm && scene.view.zoom >= 0.2 {
            self.on_canvas(1, |pen| self.dots.paint(pen, &scene));
        }
        if nodes_due {
            self.on_canvas(2, |pen| nodes::paint(pen, &scene));
        }
        if edges_due {
            self.edges_ms = self.last_ms;
        }
        self.dirty = false;
        let mut shown = ctx.props().shown.0.borrow_mut();
        shown.regime = self.dots.regime();
        shown.view = self.view;
        shown.painted += 1;
    }

    fn scene<'a>(&'a self, part: &'a Part, live: &'a Live) -> Scene<'a> {
        let corner = self.view.to_world(pt(0.0, 0.0));
        let (w, h) = (self.size.0 / self.view.zoom, self.size.1 / self.view.zoom);
        let world = self.view.to_world(self.pointer);
        Scene {
            state: &part.state,
            live,
            layout: &self.layout,
            view: self.view,
            visible: Rect { x: corner.x, y: corner.y, w, h },
            theme: if self.dark { &DARK } else { &LIGHT },
            wire: self.wire(part),
            marquee: match &self.drag {
                Some(Drag::Marquee { start }) => Some(marquee(*start, world)),
                _ => None,
            },
            drop_group: self.drop_group(part, world),
            hover: self.hover.clone(),
            now_ms: self.last_ms,
            calm: is_calm(),
        }
    }

    fn drop_group(&self, part: &Part, world: Point) -> Option<String> {
        match &self.drag {
            Some(Drag::Nodes { ids, shift, frozen, .. }) if *shift != (0.0, 0.0) => {
                self.group_under(part, ids, frozen, world)
            }
            _ => None,
        }
    }

    fn on_canvas(&self, at: usize, paint: impl FnOnce(&Pen<'_>)) {
        let Some(ctx) = self.canvas(at).as_ref().and_then(context) else { return };
        let pen = Pen { ctx: &ctx };
        pen.begin(self.view, self.size.0, self.size.1, self.ratio);
        paint(&pen);
    }

    /// Follows the size of the window and the density of the screen.
    fn measure(&mut self, ctx: &Context<Self>) {
        let Some(root) = self.root.cast::<Element>() else { return };
        let size = (f64::from(root.client_width()), f64::from(root.client_height()));
        let dark = matches("(prefers-color-scheme: dark)");
        self.dirty |= std::mem::replace(&mut self.dark, dark) != dark;
        let ratio = web_sys::window().map_or(1.0, |w| w.device_pixel_ratio()).clamp(1.0, 3.0);
        if size == self.size && ratio == self.ratio {
            return;
        }
        let first = self.size.0 < 1.0;
        if !first {
            // A picture that nobody has moved is fitted again; else what was in the middle stays there.
            self.fitted = self.fit != Some(self.view);
            self.view.pan((size.0 - self.size.0) / 2.0, (size.1 - self.size.1) / 2.0);
        }
        (self.size, self.ratio, self.dirty) = (size, ratio, true);
        for canvas in (0..3).filter_map(|i| self.canvas(i)) {
            canvas.set_width((size.0 * ratio).round() as u32);
            canvas.set_height((size.1 * ratio).round() as u32);
        }
        let rect = root.get_bounding_client_rect();
        ctx.props().shown.0.borrow_mut().corner = pt(rect.left(), rect.top());
        ctx.link().send_message(Msg::Slow);
    }

    fn fit_if_asked(&mut self, ctx: &Context<Self>) {
        if self.fitted {
            return;
        }
        self.fitted = true;
        self.view = match self.layout.extent() {
            Some(extent) => Viewport::fit(extent.grown(8.0), self.size.0, self.size.1 - 24.0),
            None => Viewport::default(),
        };
        self.fit = Some(self.view);
        self.dirty = true;
        ctx.link().send_message(Msg::Slow);
    }
}

/// Whether the person asked for less motion: then no dots fly.
pub(super) fn is_calm() -> bool {
    matches("(prefers-reduced-motion: reduce)")
}

fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok().flatten()?.dyn_into().ok()
}

fn matches(query: &str) -> bool {
    let list = web_sys::window().and_then(|w| w.match_media(query).ok().flatten());
    list.is_some_and(|l| l.matches())
}
