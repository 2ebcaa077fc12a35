//! The topmost canvas: node cards with name, health, queue, rate and badges; ports; the wire in hand.

use footlights::scenario::document::Node;
use footlights::scenario::schema::{self, Carries, Family};

use super::edges::TEXT_ZOOM;
use super::pen::{Align, Pen, Weight};
use super::theme::{BUSY, FAILED, family};
use super::{Scene, WireInHand};
use crate::engine::protocol::RareKind;
use crate::engine::telemetry::{NO_AGE, NodeRow, NodeState};
use crate::model::geometry::{Curve, is_group};
use crate::model::viewport::{Rect, pt};
use crate::model::{connect, format, reduce};

/// How long a restart or failure pulses.
const PULSE_MS: f64 = 700.0;

/// Paints the canvas.
pub fn paint(pen: &Pen<'_>, scene: &Scene<'_>) {
    for node in scene.state.doc.nodes.iter().filter(|n| !is_group(n)) {
        match scene.layout.bounds(&node.id) {
            Some(r) if scene.visible.meets(&r.grown(20.0)) => card(pen, scene, node, r),
            _ => {}
        }
    }
    ports(pen, scene);
    if let Some(wire) = &scene.wire {
        wire_in_hand(pen, scene, wire);
    }
    if let Some(r) = scene.marquee {
        pen.ctx.set_global_alpha(0.15);
        pen.fill(r, scene.theme.accent);
        pen.ctx.set_global_alpha(1.0);
        pen.round_stroke(r, 2.0, scene.theme.accent, 1.0);
    }
}

/// Tells whether a pulse is still to be seen.
pub fn is_pulsing(scene: &Scene<'_>) -> bool {
    !scene.calm && scene.live.pulses.values().any(|(_, at)| scene.now_ms - at < PULSE_MS)
}

fn card(pen: &Pen<'_>, scene: &Scene<'_>, node: &Node, r: Rect) {
    let theme = scene.theme;
    let kind = schema::kind(&node.kind);
    let row = scene.live.node(&node.id);
    pulse(pen, scene, node, r);
    pen.round_fill(Rect { y: r.y + 2.5, ..r }, 10.0, theme.shadow);
    pen.round_fill(r, 10.0, theme.card);
    stripe(pen, r, family(kind.map(|k| k.family)));
    frame(pen, scene, node, r);
    if scene.view.zoom < TEXT_ZOOM {
        return;
    }
    title(pen, scene, node, r, row.filter(|_| scene.live.turns() > 0));
    if let Some(row) = row {
        health(pen, scene, r, row);
        queue(pen, scene, node, r, row);
    }
    bottom(pen, scene, node, r, row);
}

fn pulse(pen: &Pen<'_>, scene: &Scene<'_>, node: &Node, r: Rect) {
    let Some((kind, at)) = scene.live.pulses.get(&node.id).filter(|_| !scene.calm) else { return };
    let age = (scene.now_ms - at) / PULSE_MS;
    if !(0.0..1.0).contains(&age) {
        return;
    }
    let colour = if *kind == RareKind::Failed { FAILED } else { scene.theme.restarted_ink };
    pen.ctx.set_global_alpha(0.6 * (1.0 - age));
    pen.round_stroke(r.grown(3.0 + 9.0 * age), 14.0, colour, 3.0);
    pen.ctx.set_global_alpha(1.0);
}

fn stripe(pen: &Pen<'_>, r: Rect, colour: &str) {
    pen.ctx.save();
    pen.ctx.begin_path();
    let _ = pen.ctx.round_rect_with_f64(r.x, r.y, r.w, r.h, 10.0);
    pen.ctx.clip();
    pen.fill(Rect { w: 5.0, ..r }, colour);
    pen.ctx.restore();
}

fn frame(pen: &Pen<'_>, scene: &Scene<'_>, node: &Node, r: Rect) {
    let state = scene.live.node(&node.id).map(|row| row.state);
    let broken = matches!(state, Some(NodeState::Failed | NodeState::Suspended));
    let wrong = !reduce::problems_of_node(scene.state, &node.id).is_empty();
    let (colour, width) = match (scene.state.selection.nodes.contains(&node.id), wrong || broken) {
        (true, _) => (scene.theme.accent, 2.5),
        (_, true) => (FAILED, 2.0),
        _ => (scene.theme.frame, 1.0),
    };
    pen.round_stroke(r, 10.0, colour, width);
}

fn title(pen: &Pen<'_>, scene: &Scene<'_>, node: &Node, r: Rect, row: Option<&NodeRow>) {
    let theme = scene.theme;
    let mut right = r.x + r.w - 12.0;
    let failures = scene.live.failures.get(&node.id).copied().unwrap_or_default();
    let restarts = row.map_or(0, |row| row.restarts);
    pen.font(11.0, Weight::Bold);
    for (n, sign, colour) in
        [(failures, "✕", theme.failed_ink), (u64::from(restarts), "↻", theme.restarted_ink)]
    {
        if n > 0 {
            let text = format!("{sign}{n}");
            pen.text(&text, pt(right, r.y + 18.0), Align::Right, colour);
            right -= pen.width(&text) + 7.0;
        }
    }
    pen.font(13.0, Weight::Bold);
    let name = pen.fitted(&scene.state.label_of(&node.id), right - r.x - 16.0);
    pen.text(&name, pt(r.x + 14.0, r.y + 19.0), Align::Left, theme.ink);
    pen.font(10.5, Weight::Normal);
    let kind = pen.fitted(&subtitle(node, row), r.w - 26.0);
    pen.text(&kind, pt(r.x + 14.0, r.y + 33.0), Align::Left, theme.quiet);
}

/// The kind and its most telling parameter; a state that is not the usual one.
fn subtitle(node: &Node, row: Option<&NodeRow>) -> String {
    let title = schema::kind(&node.kind).map_or(node.kind.as_str(), |k| k.title);
    let state = match row.map(|r| r.state) {
        None | Some(NodeState::Running | NodeState::Starting) => return with_detail(node, title),
        Some(state) => state.name().replace('_', " "),
    };
    format!("{title} · {state}")
}

fn with_detail(node: &Node, title: &str) -> String {
    let value = |key: &str| {
        node.params.get(key).cloned().or_else(|| crate::model::edits::default_of(&node.kind, key))
    };
    let number = |key: &str| value(key).and_then(|v| v.as_f64()).map(format::short).unwrap_or_default();
    let word =
        |key: &str| value(key).and_then(|v| v.as_str().map(|s| s.replace('_', " "))).unwrap_or_default();
    match node.kind.as_str() {
        "worker" => format!("{title} · {} ms", number("mean_ms")),
        "router" => format!("{title} · {}", word("logic")),
        "master" => format!("{title} · {} tasks", number("tasks")),
        "range" => format!("{title} · {}", number("count")),
        "map" | "fold" | "for_each" if number("work_ms") != "0" => {
            format!("{title} · {} ms", number("work_ms"))
        }
        "map" | "filter" | "fold" => format!("{title} · {}", word("op")),
        "map_async" => format!("{title} {}", number("parallelism")),
        "buffer" => format!("{title} · {}", word("overflow")),
        _ => title.to_owned(),
    }
}

/// Busy, waiting for room, blocked and idle as one bar that adds up to the last interval.
fn health(pen: &Pen<'_>, scene: &Scene<'_>, r: Rect, row: &NodeRow) {
    let bar = Rect { x: r.x + 14.0, y: r.y + 40.0, w: r.w - 66.0, h: 8.0 };
    pen.round_fill(bar, 2.0, scene.theme.trough);
    let mut x = bar.x;
    for (share, colour, hatched) in [
        (row.busy_permille, BUSY, false),
        (row.backpressured().unwrap_or(0), scene.theme.backpressured, true),
        (row.blocked_permille, scene.theme.blocked, true),
    ] {
        let part = Rect { x, w: bar.w * f64::from(share) / 1_000.0, ..bar };
        match hatched {
            true => pen.hatch(part, colour),
            false => pen.fill(part, colour),
        }
        x += part.w;
    }
    pen.font(10.0, Weight::Normal);
    let at = pt(r.x + r.w - 12.0, r.y + 48.0);
    pen.text(&format!("{} %", row.busy_permille / 10), at, Align::Right, scene.theme.quiet);
}

/// A bounded queue is a bar with its tick and number; an unbounded one a bar on a log scale.
fn queue(pen: &Pen<'_>, scene: &Scene<'_>, node: &Node, r: Rect, row: &NodeRow) {
    let capacity = scene.live.node_meta(&node.id).and_then(|m| m.capacity);
    let is_stage = schema::kind(&node.kind).is_some_and(|k| k.family == Family::Stream);
    if (capacity.is_none() && is_stage) || node.kind == "router" {
        return;
    }
    let theme = scene.theme;
    let bar = Rect { x: r.x + 14.0, y: r.y + 54.0, w: r.w - 66.0, h: 8.0 };
    pen.round_fill(bar, 2.0, theme.trough);
    let share = match capacity {
        Some(capacity) => f64::from(row.queued) / f64::from(capacity.max(1)),
        None => f64::from(row.queued + 1).log10() / 6.0,
    };
    pen.fill(Rect { w: bar.w * share.min(1.0), ..bar }, theme.backpressured);
    let text = match capacity {
        Some(capacity) => {
            pen.fill(Rect { x: bar.x + bar.w - 1.5, y: bar.y - 2.0, w: 2.0, h: bar.h + 4.0 }, theme.ink);
            format!("{}/{}", row.queued, format::big(f64::from(capacity)))
        }
        None => format::big(f64::from(row.queued)),
    };
    pen.font(10.0, Weight::Normal);
    pen.text(&text, pt(r.x + r.w - 12.0, r.y + 62.0), Align::Right, theme.quiet);
}

fn bottom(pen: &Pen<'_>, scene: &Scene<'_>, node: &Node, r: Rect, row: Option<&NodeRow>) {
    let theme = scene.theme;
    let Some(row) = row else { return };
    pen.font(10.5, Weight::Bold);
    let rate = format::rate(scene.live.node_rate(&node.id));
    pen.text(&rate, pt(r.x + 14.0, r.y + 77.0), Align::Left, theme.ink);
    pen.font(10.0, Weight::Normal);
    let right = match row.oldest_age_us {
        NO_AGE => format::big(f64::from(row.handled)),
        us => format!("oldest {}", format::time_ns(u64::from(us) * 1_000)),
    };
    let room = r.w - 36.0 - pen.width(&rate) * 1.1;
    let right = pen.fitted(&right, room);
    pen.text(&right, pt(r.x + r.w - 12.0, r.y + 77.0), Align::Right, theme.quiet);
}

/// A message port is a circle, a stream port a square on its tip.
fn ports(pen: &Pen<'_>, scene: &Scene<'_>) {
    let theme = scene.theme;
    for spot in &scene.layout.ports {
        let port = connect::schema_port(&scene.state.doc, &spot.port);
        let stream = port.is_some_and(|p| p.carries == Carries::Stream);
        let verdict = scene.wire.as_ref().map(|w| {
            if w.from == spot.port { Ok(()) } else { connect::verdict(&scene.state.doc, &w.from, &spot.port) }
        });
        let hover = scene.hover.as_ref() == Some(&spot.port);
        let (radius, alpha, rim) = match verdict {
            Some(Ok(())) => (9.0, 1.0, theme.accent),
            Some(Err(_)) => (4.0, 0.3, theme.wire),
            None if hover => (7.5, 1.0, theme.accent),
            None => (5.0, 1.0, if stream { theme.stream } else { theme.wire }),
        };
        pen.ctx.set_global_alpha(alpha);
        match stream {
            true => pen.diamond(spot.at, radius + 1.0, theme.card, rim, 2.0),
            false => pen.circle(spot.at, radius, theme.card, rim, 2.0),
        }
        pen.ctx.set_global_alpha(1.0);
    }
}

fn wire_in_hand(pen: &Pen<'_>, scene: &Scene<'_>, wire: &WireInHand) {
    let outward = connect::direction(&scene.state.doc, &wire.from) == Some(schema::Direction::Out);
    let curve = match outward {
        true => Curve::between(wire.start, wire.end),
        false => Curve::between(wire.end, wire.start),
    };
    let refused = matches!(&wire.target, Some((_, Err(_))));
    let colour = if refused { FAILED } else { scene.theme.accent };
    pen.dashes(6.0, 4.0);
    pen.curve(&curve, colour, 2.5);
    pen.dashes(0.0, 0.0);
    if let Some((_, Err(reason))) = &wire.target {
        pen.font(12.0, Weight::Normal);
        let w = pen.width(reason) + 16.0;
        let r = Rect { x: wire.end.x - w / 2.0, y: wire.end.y + 16.0, w, h: 24.0 };
        pen.round_fill(r, 6.0, scene.theme.card);
        pen.round_stroke(r, 6.0, FAILED, 1.0);
        pen.text(reason, pt(wire.end.x, r.y + 16.0), Align::Middle, scene.theme.ink);
    }
}
