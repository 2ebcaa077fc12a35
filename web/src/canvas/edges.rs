//! The lowest canvas: grid, supervisors' boxes, edges with their widths, rates and buffers.

use footlights::scenario::document::{Edge, Node};
use footlights::scenario::schema::Carries;

use super::Scene;
use super::pen::{Align, Pen, Weight};
use super::theme::FAILED;
use crate::engine::protocol::EdgeKind;
use crate::model::geometry::{Curve, HEADER};
use crate::model::viewport::{GRID, Point, Rect, pt};
use crate::model::{connect, format, reduce};

/// Below this zoom there is no text.
pub const TEXT_ZOOM: f64 = 0.4;

/// Paints the canvas.
pub fn paint(pen: &Pen<'_>, scene: &Scene<'_>) {
    grid(pen, scene);
    for id in &scene.layout.groups {
        if let Some(node) = scene.state.node(id) {
            group(pen, scene, node);
        }
    }
    for edge in &scene.state.doc.edges {
        if let Some(curve) = scene.layout.curve(&edge.id) {
            wire(pen, scene, edge, &curve);
        }
    }
    replies(pen, scene);
}

/// Faint dots where nodes snap to, every second line.
fn grid(pen: &Pen<'_>, scene: &Scene<'_>) {
    let step = f64::from(GRID) * if scene.view.zoom < 0.7 { 4.0 } else { 2.0 };
    let v = scene.visible;
    if v.w / step * (v.h / step) > 8_000.0 {
        return;
    }
    pen.ctx.set_fill_style_str(scene.theme.grid);
    let size = 1.6 / scene.view.zoom.clamp(0.6, 2.0);
    let mut y = (v.y / step).floor() * step;
    while y < v.y + v.h {
        let mut x = (v.x / step).floor() * step;
        while x < v.x + v.w {
            pen.ctx.fill_rect(x - size / 2.0, y - size / 2.0, size, size);
            x += step;
        }
        y += step;
    }
}

fn group(pen: &Pen<'_>, scene: &Scene<'_>, node: &Node) {
    let Some(r) = scene.layout.bounds(&node.id) else { return };
    let theme = scene.theme;
    let selected = scene.state.selection.nodes.contains(&node.id);
    let receives = scene.drop_group.as_deref() == Some(&node.id);
    pen.round_fill(r, 12.0, theme.group);
    pen.round_fill(Rect { h: HEADER, ..r }, 12.0, theme.group_head);
    let wrong = !reduce::problems_of_node(scene.state, &node.id).is_empty();
    let (colour, width) = match (receives, selected, wrong) {
        (true, ..) => (theme.accent, 3.0),
        (_, true, _) => (theme.accent, 2.0),
        (_, _, true) => (FAILED, 2.0),
        _ => (theme.group_frame, 1.2),
    };
    pen.round_stroke(r, 12.0, colour, width);
    if scene.view.zoom >= TEXT_ZOOM {
        header(pen, scene, node, r);
    }
}

fn header(pen: &Pen<'_>, scene: &Scene<'_>, node: &Node, r: Rect) {
    let strategy = strategy_of(node);
    let restarts = scene.live.node(&node.id).map_or(0, |row| row.restarts);
    let badge = if restarts > 0 { format!("↻{restarts}") } else { String::new() };
    pen.font(12.0, Weight::Bold);
    let room = r.w - 24.0 - pen.width(&badge);
    let name = pen.fitted(&scene.state.label_of(&node.id), room);
    pen.text(&name, pt(r.x + 12.0, r.y + 18.5), Align::Left, scene.theme.ink);
    let used = pen.width(&name) + 8.0;
    pen.text(&badge, pt(r.x + r.w - 12.0, r.y + 18.5), Align::Right, scene.theme.restarted_ink);
    pen.font(11.0, Weight::Normal);
    let rest = pen.fitted(&strategy, room - used);
    pen.text(&rest, pt(r.x + 12.0 + used, r.y + 18.5), Align::Left, scene.theme.quiet);
}

/// A supervisor's strategy in words: `one for one, 3 in 10 s`.
pub fn strategy_of(node: &Node) -> String {
    let value = |key: &str| {
        node.params.get(key).cloned().or_else(|| crate::model::edits::default_of(&node.kind, key))
    };
    let word =
        |key: &str| value(key).and_then(|v| v.as_str().map(|s| s.replace('_', " "))).unwrap_or_default();
    let number = |key: &str| value(key).and_then(|v| v.as_f64()).unwrap_or_default();
    let (max, within_s) = (number("max_restarts"), number("within_ms") / 1_000.0);
    match word("directive").as_str() {
        "restart" => {
            format!("{}, {} in {} s", word("strategy"), format::short(max), format::short(within_s))
        }
        directive => format!("{}, {directive}", word("strategy")),
    }
}

fn wire(pen: &Pen<'_>, scene: &Scene<'_>, edge: &Edge, curve: &Curve) {
    let stream =
        connect::schema_port(&scene.state.doc, &edge.from).is_some_and(|p| p.carries == Carries::Stream);
    let selected = scene.state.selection.edge.as_deref() == Some(&edge.id);
    let colour = match (selected, stream) {
        (true, _) => scene.theme.accent,
        (_, true) => scene.theme.stream,
        _ => scene.theme.wire,
    };
    let rate = scene.live.edge_rate(&edge.id);
    let width = width_of(rate) + if selected { 1.5 } else { 0.0 };
    pen.curve(curve, colour, width);
    pen.arrow(curve, colour, 9.0 + width);
    let faulty = scene.state.problems.iter().any(|p| p.place.edge.as_deref() == Some(&edge.id));
    if faulty {
        cross(pen, curve.at(0.5));
    }
    if scene.view.zoom >= TEXT_ZOOM {
        labels(pen, scene, edge, curve, rate);
    }
}

fn cross(pen: &Pen<'_>, at: Point) {
    pen.font(16.0, Weight::Bold);
    pen.text("✕", pt(at.x, at.y + 5.0), Align::Middle, FAILED);
}

/// Rate as a number; a buffer on the edge as a bar with its tick; what waits at a blocked port as a pile.
fn labels(pen: &Pen<'_>, scene: &Scene<'_>, edge: &Edge, curve: &Curve, rate: Option<f64>) {
    // One slot is the wire itself; only what can pile up is a bar.
    let capacity = scene.live.edge_meta(&edge.id).and_then(|m| m.capacity).filter(|c| *c > 1);
    let row = scene.live.edge(&edge.id);
    let middle = curve.at(0.5);
    if let (Some(capacity), Some(row)) = (capacity, row) {
        ring(pen, scene, middle, row.in_flight, capacity);
    }
    if let Some(rate) = rate.filter(|r| *r > 0.0) {
        let up = if capacity.is_some() { 18.0 } else { 8.0 };
        pen.font(10.0, Weight::Normal);
        let text = format!("{}/s", format::big(rate));
        let w = pen.width(&text) + 8.0;
        let y = middle.y - up;
        pen.round_fill(Rect { x: middle.x - w / 2.0, y: y - 10.0, w, h: 13.0 }, 6.0, scene.theme.stage);
        pen.text(&text, pt(middle.x, y), Align::Middle, scene.theme.quiet);
    }
    if row.is_some_and(|r| r.blocked_permille >= 500) {
        pile(pen, scene, curve);
    }
}

/// A boundary's ring: a bar `n/16` that fills as elements wait in it.
fn ring(pen: &Pen<'_>, scene: &Scene<'_>, at: Point, depth: u32, capacity: u32) {
    let r = Rect { x: at.x - 24.0, y: at.y - 8.0, w: 48.0, h: 16.0 };
    pen.round_fill(r, 5.0, scene.theme.card);
    let share = f64::from(depth) / f64::from(capacity.max(1));
    let fill = Rect { x: r.x + 2.0, y: r.y + 2.0, w: (r.w - 4.0) * share.min(1.0), h: r.h - 4.0 };
    pen.fill(fill, scene.theme.backpressured);
    pen.round_stroke(r, 5.0, scene.theme.stream, 1.2);
    pen.font(9.5, Weight::Bold);
    pen.text(&format!("{depth}/{capacity}"), pt(at.x, at.y + 3.5), Align::Middle, scene.theme.ink);
}

/// Dots that stand still before the port: pressure is seen at the end of the edge and grows upstream.
fn pile(pen: &Pen<'_>, scene: &Scene<'_>, curve: &Curve) {
    for i in 0..4 {
        let at = curve.at(0.9 - 0.06 * f64::from(i));
        pen.circle(at, 3.4, scene.theme.backpressured, scene.theme.stage, 1.0);
    }
}

/// Replies go without a wire of the document: thin and dashed.
fn replies(pen: &Pen<'_>, scene: &Scene<'_>) {
    pen.dashes(3.0, 5.0);
    for edge in scene.live.implicit_edges() {
        if let Some(curve) = scene.layout.reply_curve(&edge.from, &edge.to) {
            let width = width_of(scene.live.edge_rate(&edge.id)).min(2.0) * 0.8;
            pen.ctx.set_global_alpha(0.6);
            pen.curve(&curve, scene.theme.wire, width);
            pen.ctx.set_global_alpha(1.0);
        }
    }
    pen.dashes(0.0, 0.0);
}

/// Eight log buckets of width, from 1.4 to 5.6.
pub fn width_of(rate: Option<f64>) -> f64 {
    let bucket = rate.filter(|r| *r > 0.0).map_or(0.0, |r| (r.log10() + 1.0).floor().clamp(0.0, 7.0));
    1.4 + 0.6 * bucket
}

/// The curve and the row of each edge that dots fly on, in the order of the counters.
pub fn curves(scene: &Scene<'_>) -> Vec<Option<Curve>> {
    scene
        .live
        .edges
        .iter()
        .map(|meta| match meta.kind {
            EdgeKind::Reply => scene.layout.reply_curve(&meta.from, &meta.to),
            _ => scene.layout.curve(&meta.id),
        })
        .collect()
}
